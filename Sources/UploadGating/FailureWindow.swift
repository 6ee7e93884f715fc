/// So many failures within a span of the first block a query until the span has passed; then counting starts over
/// (K1). Each query has a window of its own. A configuration; the state is 16 bytes.
public struct FailureWindow: Sendable, Hashable, BitwiseCopyable {
  /// 1 … 65,535.
  public package(set) var failures: Int
  /// Microseconds.
  public package(set) var span: Int64
  /// Different queries that a client makes, each with a window of its own. 1 … 1,000.
  public package(set) var queries: Int
  /// Of the requests, those that no window counts or blocks (multi-analysis queries), percent.
  public package(set) var exemptPercent: Int

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

  /// Which window a request belongs to, 0 … `queries` − 1; nil: none, it is exempt.
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
