/// So many failures within a span of the first block a query until the span has passed; then counting starts over
/// (K1). Each query has a window of its own. A configuration; the state is 16 bytes.
public struct FailureWindow: Sendable, Hashable, BitwiseCopyable {
  /// 1 … 65,535.
  public package(set) var failures: Int
  /// Microseconds.
  public package(set) var span: Int64
  /// Different queries that a client makes, each with a window of its own. 1 … 1,000.
  public package(set) var queries: Int
  /// The share of requests that no window counts or blocks (multi-analysis queries), percent.
  public package(set) var exemptPercent: Int
  /// Whether what is asked for while a window blocks is refused and lost, not held.
  public var refuses = true

  /// Keen's numbers: ten failures within an hour.
  public init(
    failures: Int = 10, span: Int64 = 3_600_000_000, queries: Int = 1, exemptPercent: Int = 0
  ) {
    self.failures = min(max(failures, 1), Int(UInt16.max))
    self.span = max(span, 1)
    self.queries = min(max(queries, 1), 1_000)
    self.exemptPercent = min(max(exemptPercent, 0), 100)
  }

  /// Failures since the first of a span; a fresh value has none.
  @frozen
  public struct State: Sendable, Hashable, BitwiseCopyable {
    public var firstFailure: Int64 = 0
    public var failures: UInt16 = 0
    @inlinable public init() {}
  }

  /// Returns the window that a request belongs to, 0 … `queries` − 1; nil: none, it is exempt.
  ///
  /// - Parameter word: 64 uniform bits, the request's own.
  public func window(of word: UInt64) -> Int? {
    if exemptPercent > 0,
      (word & 0xFFFF_FFFF).multipliedReportingOverflow(by: 100).partialValue >> 32 < exemptPercent
    {
      return nil
    }
    return Int((word >> 32).multipliedReportingOverflow(by: UInt64(queries)).partialValue >> 32)
  }

  /// Until when nothing may leave, microseconds; nil: nothing is blocked.
  public func blockedUntil(_ state: State, now: Int64) -> Int64? {
    guard Int(state.failures) >= failures else { return nil }
    let end = sum(state.firstFailure, span)
    return now < end ? end : nil
  }

  /// Counts a failure; the first one behind a span starts the next. A success changes nothing.
  public func recordFailure(_ state: inout State, now: Int64) {
    if state.failures == 0 || now >= sum(state.firstFailure, span) || now < state.firstFailure {
      state = State()
      state.firstFailure = now
    }
    if state.failures < .max { state.failures += 1 }
  }
}

/// Waits that hold requests for a project after an overloaded answer (K2). Each request draws its own when it is made. The wait
/// is uniform between 0 and min(longest, base · 2^(failures − 1)) from the latest failure on. A success clears the failures.
/// Where both a 503 and a 429 were seen, the 503s count. A configuration; the state is 24 bytes and survives a restart as it is.
public struct ProjectDelay: Sendable, Hashable, BitwiseCopyable {
  /// Microseconds.
  public package(set) var base: Int64
  public package(set) var longest: Int64

  /// Keen's 30 s, and 600 s at most.
  public init(base: Int64 = 30_000_000, longest: Int64 = 600_000_000) {
    self.base = max(base, 0)
    self.longest = max(longest, 0)
  }

  /// Failures since the latest success; a fresh value has none.
  @frozen
  public struct State: Sendable, Hashable, BitwiseCopyable {
    /// When the latest 429 came, and the latest 503, microseconds.
    public var rateLimitedAt: Int64 = 0
    public var unavailableAt: Int64 = 0
    /// How many there were, saturating.
    public var rateLimits: UInt16 = 0
    public var unavailables: UInt16 = 0
    @inlinable public init() {}

    /// The failures that a request goes by: the 503s, if there are any.
    var counting: (failures: UInt16, latest: Int64) {
      unavailables > 0 ? (unavailables, unavailableAt) : (rateLimits, rateLimitedAt)
    }
  }

  /// Whether a status makes a project wait: 429 and 503.
  public static func counts(status: Int) -> Bool { status == 429 || status == 503 }

  /// Until when a request is held, microseconds; nil: it may leave.
  ///
  /// - `word`: 64 uniform bits, the request's own: the same for the same request after the same number of failures.
  public func heldUntil(_ state: State, now: Int64, word: UInt64) -> Int64? {
    let (failures, latest) = state.counting
    if failures == 0 { return nil }
    let end = sum(latest, uniform(through: bound(failures: Int(failures)), word))
    return now < end ? end : nil
  }

  /// How many failures count, which names a request's draw.
  public func failures(_ state: State) -> UInt16 { state.counting.failures }

  /// Counts a 429 or a 503.
  public func recordFailure(_ state: inout State, status: Int, now: Int64) {
    if status == 503 {
      if state.unavailables < .max { state.unavailables += 1 }
      state.unavailableAt = now
    } else {
      if state.rateLimits < .max { state.rateLimits += 1 }
      state.rateLimitedAt = now
    }
  }

  /// The longest wait after so many failures.
  public func bound(failures: Int) -> Int64 {
    let shift = max(failures - 1, 0)
    if shift >= 62 { return base == 0 ? 0 : longest }
    return base <= longest >> Int64(shift) ? base << Int64(shift) : longest
  }

  public func recordSuccess(_ state: inout State) { state = State() }
}

/// Uniform over 0 … high, both included; `high` is not negative.
func uniform(through high: Int64, _ word: UInt64) -> Int64 {
  Int64((UInt64(high) + 1).multipliedFullWidth(by: word).high)
}
