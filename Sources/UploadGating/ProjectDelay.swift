/// A wait that holds everything that leaves for a project after an overloaded answer (K2): uniform between 0 and
/// min(longest, base · 2^(failures − 1)) from the latest failure on. A success clears it. A configuration; the state is
/// 16 bytes and survives a restart as it is.
public struct ProjectDelay: Sendable, Hashable, BitwiseCopyable {
  /// Microseconds.
  public let base: Int64
  public let longest: Int64

  /// Keen's 30 s, and 600 s at most.
  public init(base: Int64 = 30_000_000, longest: Int64 = 600_000_000) {
    self.base = max(base, 0)
    self.longest = max(longest, 0)
  }

  /// Failures since the latest success and the end of the wait; a fresh value has none.
  @frozen
  public struct State: Sendable, Hashable, BitwiseCopyable {
    /// Microseconds.
    public var heldUntil: Int64 = 0
    /// Saturating.
    public var failures: UInt16 = 0
    @inlinable public init() {}
  }

  /// Whether a status makes a project wait: 429 and 503.
  public static func counts(status: Int) -> Bool { status == 429 || status == 503 }

  /// Until when a request is held, microseconds; nil: it may leave.
  public func heldUntil(_ state: State, now: Int64) -> Int64? {
    now < state.heldUntil ? state.heldUntil : nil
  }

  /// Counts a 429 or a 503 and draws the wait.
  ///
  /// - Parameter word: 64 uniform bits.
  public func recordFailure(_ state: inout State, now: Int64, word: UInt64) {
    if state.failures < .max { state.failures += 1 }
    state.heldUntil = sum(now, uniform(through: bound(failures: Int(state.failures)), word))
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
