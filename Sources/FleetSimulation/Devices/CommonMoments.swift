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
    // They come a microsecond apart, the first a microsecond behind the device's time.
    // So none falls together with one of the ordinary process where that is strictly periodic.
    lower(&next, after: past, device, of: { $0.events > 0 }, to: { own, _ in max(own, past) &+ 1 })
  }

  /// The first flush behind `past` and before `end`, after its occurrence's events; `.max`: none.
  func nextFlush(after past: Int64, before end: Int64, _ device: RandomKey) -> Int64 {
    var next = Int64.max
    lower(&next, after: past, before: end, device, of: { $0.flushes }, to: { $0 &+ $1 })
    return next
  }

  /// Lowers `next` to the earliest moment of some of them, of which something lies behind `past`.
  ///
  /// - Parameter moment: from the device's own time, and the number of its events.
  @inline(__always)
  private func lower(
    _ next: inout Int64, after past: Int64, before end: Int64 = .max, _ device: RandomKey,
    of isMeant: (Spike) -> Bool, to moment: (_ own: Int64, _ events: Int64) -> Int64
  ) {
    for (index, spike) in spikes.enumerated() where isMeant(spike) {
      let draws = device.child(RandomPurpose.spike)
      spike.lower(&next, after: past, before: end, { spike.ownTime($0, index, draws) }, to: moment)
    }
    for (index, cut) in cuts.enumerated() where isMeant(cut) {
      cut.lower(&next, after: past, before: end, { _ in ownTime(index, device) }, to: moment)
    }
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

  /// Lowers `next` to the moment of the first occurrence before `end` with anything behind `past`.
  @inline(__always)
  fileprivate func lower(
    _ next: inout Int64, after past: Int64, before end: Int64, _ ownTime: (_ occurrence: Int64) -> Int64?,
    to moment: (_ own: Int64, _ events: Int64) -> Int64
  ) {
    let behind = past &- time.microseconds &- spread.microseconds &- Int64(events)
    if every == nil, behind >= 0 { return }
    var occurrence = every.map { max(0, behind / $0.microseconds &- 1) } ?? 0
    while time.microseconds &+ occurrence &* (every?.microseconds ?? 0) < min(next, end) {
      if let own = ownTime(occurrence), own &+ Int64(events) > past {
        next = min(next, moment(own, Int64(events)))
      }
      if every == nil { return }
      occurrence &+= 1
    }
  }
}
