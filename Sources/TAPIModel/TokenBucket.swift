import SimulationKernel

/// An exact token bucket in integers: the level is kept in thousand-millionths of a token.
@frozen
public struct TokenBucket: BitwiseCopyable, Sendable {
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

  /// Adds the level that it has at a time, from which it goes on as it would by itself.
  func addState(to digest: inout StateDigest, at now: Instant) {
    var later = self
    later.refill(at: max(now, updated))
    digest.add(later.level)
    digest.add(later.updated.microseconds)
    digest.add(rate)
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

  /// Takes `cost` (in units of `level`) if it is there. A full bucket that holds no more gives it too; then the bucket owes the
  /// rest.
  mutating func take(_ cost: Int64, at now: Instant) -> Bool {
    refill(at: now)
    if level < min(cost, full) { return false }
    level -= cost
    return true
  }

  /// Takes a token if there is a whole one.
  @inlinable @inline(__always)
  public mutating func take(at now: Instant) -> Bool {
    refill(at: now)
    if level < Self.token { return false }
    level -= Self.token
    return true
  }
}

/// Requests of which only numbers are known, not their order.
extension TokenBucket {
  /// When the next whole token is there, if there is none now and nobody takes it.
  @inlinable public var nextToken: Instant { time(of: Self.token) }

  /// When `take` gives so much (in units of `level`), if nobody takes anything before.
  @inlinable
  func time(of cost: Int64) -> Instant {
    let missing = min(cost, full) - level
    if missing <= 0 { return updated }
    return rate == 0 ? .never : Instant(microseconds: updated.microseconds &+ (missing + rate - 1) / rate)
  }

  /// Whether there are so many tokens at a time that is not before the latest.
  public func holds(_ tokens: Int, at now: Instant) -> Bool {
    var later = self
    later.refill(at: max(now, updated))
    return later.level / Self.token >= tokens
  }

  /// Gives each of so many requests between two times its token. It does so if, in any order, each finds one and the bucket does
  /// not fill up on the way: then only their number matters. False: nothing has happened.
  mutating func giveAll(_ requests: Int, from start: Instant, until end: Instant) -> Bool {
    var later = self
    later.refill(at: start)
    let (gain, overflow) = (end - start).microseconds.multipliedReportingOverflow(by: rate)
    if later.level / Self.token < requests || overflow || gain > full - later.level { return false }
    later.level += gain - Int64(requests) * Self.token
    later.updated = end
    self = later
    return true
  }

  /// Gives the requests of a window their tokens, of which only the last need their order. All find one, and the bucket's level
  /// at the end depends on those after it was last full.
  ///
  /// - Parameters:
  ///   - requests: of the window, in all parts together.
  ///   - parts: how many requests come in each part of the window, which all have one width.
  ///   - width: of a part, microseconds.
  ///   - least: so many parts at least are to be passed over.
  ///   - start: of the window.
  /// - Returns: how many parts it has passed over. Each request of the others takes its token in order. The bucket behaves as if
  ///   it were full before them, which they can't tell. Nil, with nothing done: it is not certain that all find a token, or that
  ///   the bucket fills up.
  public mutating func giveAll(
    _ requests: Int, in parts: UnsafeBufferPointer<UInt32>, width: Int64, atLeast least: Int,
    from start: Instant
  ) -> Int? {
    refill(at: start)
    let (product, overflow) = width.multipliedReportingOverflow(by: rate)
    // Less than it gains is on the safe side.
    let gain = min(overflow ? .max : product, .max / 256)
    // `missing`: the most that can be missing at the start of a part. `missing` + `balance`: the shortage at the end if so much
    // is missing and the bucket is never full. Negative means that it fills up in any case.
    var missing = full - level
    var balance = Int64(requests) * Self.token - gain * Int64(parts.count)
    var passed: Int?
    for part in parts.indices {
      if missing + balance <= 0 { passed = part }
      let cost = Int64(parts[part]) * Self.token
      if missing + cost > full { return nil }
      missing = max(missing - gain, 0) + cost
      balance += gain - cost
    }
    guard let passed, passed >= least else { return nil }
    level = full
    updated = start + Span(microseconds: width * Int64(passed))
    return passed
  }
}
