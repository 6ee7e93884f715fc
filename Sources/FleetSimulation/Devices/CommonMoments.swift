import ScenarioModel
import SimulationKernel
import TAPIModel

/// The moments at which devices of a cohort act together: spikes, and cuts of what they hold open.
struct CommonMoments: Sendable {
  private let spikes: [Spike]
  /// As spikes, each with an event that is flushed.
  private let cuts: [Spike]
  /// When something is open; nil: always.
  private let reach: Reachability?
  /// Whether the first attempt after a cut fails. That of an ideal client does not.
  let failUploads: Bool

  init() {
    (spikes, cuts, reach, failUploads) = ([], [], nil, false)
  }

  init(_ cohort: Cohort, _ scenario: Scenario) {
    spikes = cohort.spikes
    cuts = scenario.cuts(of: cohort).map { incident in
      var cut = Spike(time: incident.start, spread: incident.duration)
      if case .cut(_, let share) = incident.kind { cut.sharePartsPerMillion = share }
      return cut
    }
    reach = cuts.isEmpty ? nil : Reachability(cohort, scenario)
    failUploads = !cuts.isEmpty && !scenario.isIdeal
  }

  var isEmpty: Bool { spikes.isEmpty && cuts.isEmpty }
  var haveEvents: Bool { !cuts.isEmpty || spikes.contains { $0.events > 0 } }
  var flush: Bool { !cuts.isEmpty || spikes.contains { $0.flushes } }

  /// Moves to the earliest of their events if that is earlier.
  @inline(never)
  func moveToEarlier(_ next: inout Int64, after past: Int64, _ device: RandomKey) {
    for (index, spike) in spikes.enumerated() {
      let draws = device.child(RandomPurpose.spike)
      spike.moveToEarlier(&next, after: past) { spike.ownTime($0, index, draws) }
    }
    for index in cuts.indices {
      cuts[index].moveToEarlier(&next, after: past) { _ in ownTime(index, device) }
    }
  }

  /// The first flush behind `past` and before `end`; `.max`: none.
  func nextFlush(after past: Int64, before end: Int64, _ device: RandomKey) -> Int64 {
    var next = Int64.max
    for (index, spike) in spikes.enumerated() {
      let draws = device.child(RandomPurpose.spike)
      next = min(next, spike.nextFlush(after: past, before: end) { spike.ownTime($0, index, draws) })
    }
    for index in cuts.indices {
      next = min(next, cuts[index].nextFlush(after: past, before: end) { _ in ownTime(index, device) })
    }
    return next
  }

  /// Whether an upload that leaves now is what a device was cut off from.
  func isCut(_ device: RandomKey, at now: Int64) -> Bool {
    cuts.indices.contains { index in
      let start = cuts[index].time.microseconds
      return start < now && now <= start + cuts[index].spread.microseconds + 1
        && ownTime(index, device) == now - 1
    }
  }

  /// When a device is cut off; nil: it is not, or has nothing open then.
  private func ownTime(_ index: Int, _ device: RandomKey) -> Int64? {
    let time = cuts[index].ownTime(0, index, device.child(RandomPurpose.cut))
    guard let time, let reach else { return time }
    return reach.next(device, from: time) == time ? time : nil
  }
}

extension Spike {
  /// When a device takes part in an occurrence: its own time, or nil if it does not.
  fileprivate func ownTime(_ occurrence: Int64, _ index: Int, _ draws: RandomKey) -> Int64? {
    let draws = draws.child(UInt64(index) << 40 | UInt64(occurrence))
    guard Int64(draws.child(0).uniform(below: 1_000_000)) < sharePartsPerMillion else { return nil }
    let start = time.microseconds &+ occurrence &* (every?.microseconds ?? 0)
    return start &+ draws.child(1).uniform(0, through: spread.microseconds)
  }

  /// The first occurrence that can have anything behind `past`.
  private func firstOccurrence(after past: Int64) -> Int64 {
    guard let every else { return 0 }
    return max(
      0, (past &- time.microseconds &- spread.microseconds &- Int64(events)) / every.microseconds &- 1)
  }

  /// Whether it has no occurrence with anything behind `past`.
  private func isOver(at past: Int64) -> Bool {
    every == nil && time.microseconds &+ spread.microseconds &+ Int64(events) <= past
  }

  /// Moves to the spike's events if they are earlier. They come a microsecond apart, the first of them a microsecond behind the
  /// device's time. So none falls together with one of the ordinary process where that is strictly periodic.
  fileprivate func moveToEarlier(
    _ next: inout Int64, after past: Int64, _ ownTime: (_ occurrence: Int64) -> Int64?
  ) {
    guard events > 0, !isOver(at: past) else { return }
    var occurrence = firstOccurrence(after: past)
    while time.microseconds &+ occurrence &* (every?.microseconds ?? 0) < next {
      if let own = ownTime(occurrence), own &+ Int64(events) > past {
        next = min(next, max(own, past) &+ 1)
      }
      if every == nil { return }
      occurrence &+= 1
    }
  }

  /// The first flush behind `past` and before `end`, with all events of its occurrence; `.max`: none.
  fileprivate func nextFlush(
    after past: Int64, before end: Int64, _ ownTime: (_ occurrence: Int64) -> Int64?
  ) -> Int64 {
    guard flushes, !isOver(at: past) else { return .max }
    var first = Int64.max
    var occurrence = firstOccurrence(after: past)
    while true {
      let start = time.microseconds &+ occurrence &* (every?.microseconds ?? 0)
      if start >= min(end, first) { return first }
      if let own = ownTime(occurrence), own &+ Int64(events) > past {
        first = min(first, own &+ Int64(events))
      }
      if every == nil { return first }
      occurrence &+= 1
    }
  }
}
