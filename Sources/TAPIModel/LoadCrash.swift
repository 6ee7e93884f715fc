import SimulationKernel

/// A server that dies of its load. It loses what it has, and every connection is refused until it is back.
public struct LoadCrash: Sendable, Hashable {
  /// Waiting requests that are too many only beyond this; nil: any number may wait.
  public var queue: Int?
  /// Arrivals a second that are too many only beyond this, counted from full second to full second; thousandths, 1 … 10^12.
  public var rateMilliRequestsPerSecond: Int64?
  /// The server dies of so long a time without a break; at least 1 ms.
  public var patience: Span
  /// Until it is back; at least 1 ms.
  public var downtime: Span

  public init(patience: Span, downtime: Span) {
    self.patience = patience
    self.downtime = downtime
  }
}

/// Decides when a server dies of its load, and when it is back.
struct CrashWatch {
  private let rule: LoadCrash
  /// Since when too many wait, and since when each second has had too many arrivals; `.never`: they don't.
  private var queueSince = Instant.never
  private var rateSince = Instant.never
  private var second = Instant.start
  private var arrivals: Int64 = 0
  private var backAt: Instant?

  init(_ rule: LoadCrash) { self.rule = rule }

  var isDown: Bool { backAt != nil }

  /// When there is something to decide.
  var nextTime: Instant {
    if let backAt { return backAt }
    let end = isTooFast ? second + .seconds(1) : .never
    return queueSince == .never ? end : min(end, queueSince + rule.patience)
  }

  private var isTooFast: Bool {
    rule.rateMilliRequestsPerSecond.map { arrivals * 1_000 > $0 } ?? false
  }

  /// Nothing that is due before is left (`step`).
  mutating func noteArrival(at now: Instant) {
    if isDown { return }
    let begin = Instant(microseconds: now.microseconds / 1_000_000 * 1_000_000)
    if begin > second { (second, arrivals, rateSince) = (begin, 0, .never) }
    arrivals += 1
  }

  /// So many have waited since the latest arrival, or wait from now on.
  mutating func noteQueue(_ waiting: Int, at now: Instant) {
    if isDown { return }
    queueSince = waiting > rule.queue ?? .max ? min(queueSince, now) : .never
  }

  /// Does what is due at `nextTime`. Returns whether it dies then (true), or is back (false); nil: neither.
  mutating func step(at now: Instant) -> Bool? {
    if let backAt {
      if now < backAt { return nil }
      self = CrashWatch(rule)
      second = Instant(microseconds: now.microseconds / 1_000_000 * 1_000_000)
      return false
    }
    var dies = queueSince != .never && queueSince + rule.patience <= now
    if isTooFast, second + .seconds(1) <= now {
      rateSince = min(rateSince, second)
      (second, arrivals) = (second + .seconds(1), 0)
      dies = dies || rateSince + rule.patience <= second
    }
    if dies { backAt = now + rule.downtime }
    return dies ? true : nil
  }
}
