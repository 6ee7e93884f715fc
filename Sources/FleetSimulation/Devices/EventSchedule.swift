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

/// When events are created that need more than one gap after another: rates that vary, several at once, spikes, cuts.
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
  private let moments: CommonMoments
  /// Events come in these only; nil: at any time.
  let sessions: SessionPlan?
  /// Of the time in the foreground.
  private let share: Double
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
    moments = CommonMoments()
    sessions = nil
    share = 1
    end = .max
  }

  /// nil for a cohort whose events need none of this.
  ///
  /// - Parameters:
  ///   - sessions: of the cohort, as `moments` are.
  ///   - end: of the run, microseconds.
  init?(_ cohort: Cohort, _ sessions: SessionPlan?, _ moments: CommonMoments, end: Int64) {
    self.end = end
    let sessions = sessions?.withEventsInSessions
    self.sessions = sessions
    share = sessions?.share ?? 1
    self.moments = moments
    script = nil
    rate = cohort.events.cumulativeRate(devices: cohort.devices) ?? CumulativeRate([])
    atOnce = UInt32(clamping: max(cohort.eventsAtOnce, 1))
    let needsMore = atOnce > 1 || sessions != nil || moments.haveEvents
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
      if sessions != nil {
        var gap = Distribution.exponentialGap(mean: mean * share, key: key)
        next = inForeground(from: time, draws) { from, session in
          if gap < session.end &- from { return from &+ gap }
          gap &-= session.end &- from
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
      if sessions != nil {
        var left = gap * share
        next = inForeground(from: time, draws) { from, session in
          let past = rate.count(through: from)
          if session.countAtEnd.isNaN { session.countAtEnd = rate.count(through: session.end) }
          let count = session.countAtEnd - past
          if left < count { return min(max(from, rate.time(of: past + left)), session.end &- 1) }
          left -= count
          return nil
        }
      } else {
        next = max(max(time, 0), rate.time(of: rate.count(through: time) + gap))
      }
    }
    if !moments.isEmpty { moments.moveToEarlier(&next, after: time, draws.device) }
    return next
  }
}

extension EventSchedule {
  /// Where the process gets to in sessions, which there are.
  @inline(__always)
  private func inForeground(
    from time: Int64, _ draws: EventDraws,
    _ advance: (_ from: Int64, _ session: inout SessionPlan.Period) -> Int64?
  ) -> Int64 {
    // Nobody lets go of the plan meanwhile: it need not be retained for each event.
    Unmanaged.passUnretained(sessions.unsafelyUnwrapped)._withUnsafeGuaranteedRef {
      $0.inForeground(from: time, before: end, draws.device, latest: draws.period, advance)
    }
  }
}
