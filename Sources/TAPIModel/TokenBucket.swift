import SimulationKernel

/// An exact token bucket in integers: the level is kept in thousand-millionths of a token.
@frozen @usableFromInline
struct TokenBucket: BitwiseCopyable {
  /// One token in the units of `level`.
  @inlinable static var token: Int64 { 1_000_000_000 }

  @usableFromInline let full: Int64
  @usableFromInline var level: Int64
  @usableFromInline var updated = Instant(microseconds: 0)
  /// Thousandths of a request per second are exactly units per microsecond.
  @usableFromInline var rate: Int64

  init(_ configuration: TokenBucketConfiguration) {
    let (product, overflow) = configuration.burst.multipliedReportingOverflow(by: Self.token)
    full = overflow ? .max / 2 : min(product, .max / 2)
    level = full
    rate = configuration.capacityMilliRequestsPerSecond
  }

  mutating func setRate(_ newRate: Int64, at now: Instant) {
    refill(at: now)
    rate = newRate
  }

  @inlinable @inline(__always)
  mutating func refill(at now: Instant) {
    let (gain, overflow) = (now - updated).microseconds.multipliedReportingOverflow(by: rate)
    updated = now
    // `level` and `full` are at most half of the range, so only the product can overflow.
    level = overflow || gain >= full - level ? full : level + gain
  }

  /// Whether there are so many tokens at a time that is not before the latest.
  func holds(_ tokens: Int, at now: Instant) -> Bool {
    var later = self
    later.refill(at: max(now, updated))
    return later.level / Self.token >= tokens
  }

  /// Takes `cost` (in units of `level`) if it is there, or if the bucket is full and holds no more; then the bucket owes the rest.
  mutating func take(_ cost: Int64, at now: Instant) -> Bool {
    refill(at: now)
    if level < min(cost, full) { return false }
    level -= cost
    return true
  }

  /// Takes a token if there is a whole one.
  @inlinable @inline(__always)
  mutating func take(at now: Instant) -> Bool {
    refill(at: now)
    if level < Self.token { return false }
    level -= Self.token
    return true
  }
}
