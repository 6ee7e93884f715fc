/// Exact division by a number known at run time, without a division: a product, then a correction by at most one.
///
/// Slots and rows are found with it. Exact for 0 … 2^52 divided by 1 … 2^52.
@frozen
public struct FastDivider: Sendable, Hashable, BitwiseCopyable {
  public let divisor: Int64
  @usableFromInline let reciprocal: Double

  public init(_ divisor: Int64) {
    precondition(divisor > 0, "a divisor is positive")
    self.divisor = divisor
    reciprocal = 1 / Double(divisor)
  }

  @inlinable @inline(__always)
  public func quotient(_ dividend: Int64) -> Int64 {
    var q = Int64(Double(dividend) * reciprocal)
    let remainder = dividend &- q &* divisor
    if remainder < 0 { q &-= 1 } else if remainder >= divisor { q &+= 1 }
    return q
  }
}
