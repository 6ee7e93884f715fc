/// So many failures within a span of the first block everything until the span has passed; then counting starts over
/// (K1). A configuration; the state is 16 bytes.
public struct FailureWindow: Sendable, Hashable, BitwiseCopyable {
  /// 1 … 65,535.
  public let failures: Int
  /// Microseconds.
  public let span: Int64

  /// Keen's numbers: ten failures within an hour.
  public init(failures: Int = 10, span: Int64 = 3_600_000_000) {
    self.failures = min(max(failures, 1), Int(UInt16.max))
    self.span = max(span, 1)
  }

  /// Failures since the first of a span; a fresh value has none.
  @frozen
  public struct State: Sendable, Hashable, BitwiseCopyable {
    public var firstFailure: Int64 = 0
    public var failures: UInt16 = 0
    @inlinable public init() {}
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
