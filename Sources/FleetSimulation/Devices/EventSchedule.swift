import ScenarioModel
import SimulationKernel

/// The key of a device, and that of its events: every draw of an event time comes from one of them.
struct EventDraws {
  var device: RandomKey
  var events: RandomKey
  /// Where events come in sessions: the period in which the latest was created.
  fileprivate var period: UnsafeMutablePointer<SessionPlan.Period>?

  @inline(__always)
  init(_ device: RandomKey, period: UnsafeMutablePointer<SessionPlan.Period>? = nil) {
    self.device = device
    events = device.child(RandomPurpose.events)
    self.period = period
  }
}

extension DeviceShard {
  /// Returns the draws of events that no flush has sealed.
  @inline(__always)
  func drawsAhead(of device: DeviceIndex) -> EventDraws {
    EventDraws(key(of: device), period: periods.map { $0 + 2 &* device.place })
  }

  /// Returns the draws of events that have been drawn before.
  @inline(__always)
  func drawsAgain(of device: DeviceIndex) -> EventDraws {
    EventDraws(key(of: device), period: periods.map { $0 + (2 &* device.place &+ 1) })
  }
}

/// When events are created that need more than one gap after another: rates that vary, several at once, spikes.
///
/// The next time follows from the time before it, the event's number and the device alone. So any part of the engine can
/// recompute any event (engine.md, Randomness).
final class EventSchedule: Sendable {
  private let process: Process
  // Not within `process`: whoever asks for the next event would retain them each time.
  /// The rate of `Process.rate`.
  private let rate: CumulativeRate
  /// The times of `Process.script`.
  private let script: ScriptedTimes?
  /// Events created at each time of the process.
  private let atOnce: UInt32
  private let spikes: [Spike]
  /// Events come in these only; nil: at any time.
  let sessions: SessionPlan?
  /// The end of the run.
  private let end: Int64

  private enum Process: BitwiseCopyable {
    case poisson(meanGap: Double)
    case periodic(Int64)
    case rate
    case script
  }

  /// Events at the times of a script.
  init(script: ScriptedTimes) {
    process = .script
    self.script = script
    rate = CumulativeRate([])
    atOnce = 1
    spikes = []
    sessions = nil
    end = .max
  }

  /// nil for a cohort whose events need none of this.
  ///
  /// - Parameters:
  ///   - sessions: of the cohort.
  ///   - end: of the run, microseconds.
  init?(_ cohort: Cohort, _ sessions: SessionPlan?, end: Int64) {
    self.end = end
    let sessions = sessions?.withEventsInSessions
    self.sessions = sessions
    spikes = cohort.spikes
    script = nil
    rate = cohort.events.cumulativeRate(devices: cohort.devices) ?? CumulativeRate([])
    atOnce = UInt32(clamping: max(cohort.eventsAtOnce, 1))
    let needsMore = atOnce > 1 || sessions != nil || spikes.contains { $0.events > 0 }
    switch cohort.events {
    case .poisson(let gap):
      guard needsMore else { return nil }
      process = .poisson(meanGap: Double(gap.microseconds))
    case .periodic(let every, _):
      guard needsMore else { return nil }
      process = .periodic(max(every.microseconds, 1))
    case .varying, .replay:
      process = .rate
    }
  }

  /// - Parameters:
  ///   - time: of event `ordinal` − 1; −1 before the first.
  ///   - phase: of periodic events.
  func next(after time: Int64, before ordinal: UInt32, _ draws: EventDraws, phase: Int64) -> Int64 {
    if atOnce > 1, !ordinal.isMultiple(of: atOnce) { return time }
    var next: Int64
    switch process {
    case .poisson(let mean):
      let key = draws.events.child(UInt64(ordinal))
      if let sessions {
        var gap = Distribution.exponentialGap(mean: mean * sessions.share, key: key)
        next = sessions.inForeground(from: time, before: self.end, draws.device, latest: draws.period) {
          from, to in
          if gap < to &- from { return from &+ gap }
          gap &-= to &- from
          return nil
        }
      } else {
        next = max(time, 0) &+ Distribution.exponentialGap(mean: mean, key: key)
      }
    case .periodic(let period):
      next = time < phase ? phase : phase &+ ((time &- phase) / period &+ 1) &* period
    case .script: return script.unsafelyUnwrapped.time(of: ordinal)
    case .rate:
      let gap = -DeterministicMath.log(draws.events.child(UInt64(ordinal)).unitAboveZero)
      if let sessions {
        var left = gap * sessions.share
        next = sessions.inForeground(from: time, before: self.end, draws.device, latest: draws.period) {
          from, to in
          let past = rate.count(through: from)
          let count = rate.count(through: to) - past
          if left < count { return min(max(from, rate.time(of: past + left)), to &- 1) }
          left -= count
          return nil
        }
      } else {
        next = max(max(time, 0), rate.time(of: rate.count(through: time) + gap))
      }
    }
    if !spikes.isEmpty { moveToSpikes(&next, after: time, draws.device) }
    return next
  }

  @inline(never)
  private func moveToSpikes(_ next: inout Int64, after time: Int64, _ device: RandomKey) {
    for index in spikes.indices { spikes[index].moveToEarlier(&next, after: time, index, device) }
  }
}

extension Spike {
  /// When a device takes part in an occurrence: its own time, or nil if it does not.
  private func ownTime(_ occurrence: Int64, _ index: Int, _ device: RandomKey) -> Int64? {
    let draws = device.child(RandomPurpose.spike).child(UInt64(index) << 40 | UInt64(occurrence))
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

  /// Moves to the spike's events if they are earlier. They come a microsecond apart, the first of them a microsecond behind the
  /// device's time. So none falls together with one of the ordinary process where that is strictly periodic.
  fileprivate func moveToEarlier(_ next: inout Int64, after past: Int64, _ index: Int, _ device: RandomKey) {
    guard events > 0 else { return }
    var occurrence = firstOccurrence(after: past)
    while time.microseconds &+ occurrence &* (every?.microseconds ?? 0) < next {
      if let own = ownTime(occurrence, index, device), own &+ Int64(events) > past {
        next = min(next, max(own, past) &+ 1)
      }
      if every == nil { return }
      occurrence &+= 1
    }
  }

  /// The first flush behind `past` and before `end`, with all events of its occurrence; `.max`: none.
  func nextFlush(after past: Int64, before end: Int64, _ index: Int, _ device: RandomKey) -> Int64 {
    guard flushes else { return .max }
    var first = Int64.max
    var occurrence = firstOccurrence(after: past)
    while true {
      let start = time.microseconds &+ occurrence &* (every?.microseconds ?? 0)
      if start >= min(end, first) { return first }
      if let own = ownTime(occurrence, index, device), own &+ Int64(events) > past {
        first = min(first, own &+ Int64(events))
      }
      if every == nil { return first }
      occurrence &+= 1
    }
  }
}

/// When the events of a scripted device are created, by their numbers; only one thread has it.
package final class ScriptedTimes: @unchecked Sendable {
  private var times: [Int64] = []

  func append(_ n: UInt32, at time: Int64) { times.append(contentsOf: repeatElement(time, count: Int(n))) }

  func time(of ordinal: UInt32) -> Int64 { Int(ordinal) < times.count ? times[Int(ordinal)] : .max }
}
