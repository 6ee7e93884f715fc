/// Waits that hold what leaves for a project after an overloaded answer (K2): each request draws its own when it is made, uniform
/// between 0 and min(longest, base · 2^(failures − 1)) from the latest failure on. A success clears the failures. Where both a 503
/// and a 429 were seen, the 503s count. A configuration; the state is 24 bytes and survives a restart as it is.
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
