import SimulationKernel

/// The row of the time series that a time lies in, remembered: most times lie in the row of the one before.
struct RowCursor: BitwiseCopyable {
  private let divider: FastDivider
  private var start: Int64 = 0
  private var current = 0

  init(interval: Span) { divider = FastDivider(interval.microseconds) }

  /// Where the current row ends, microseconds.
  @inline(__always)
  var end: Int64 { start &+ divider.divisor }

  /// The length of a row, microseconds.
  var interval: Int64 { divider.divisor }

  @inline(__always)
  mutating func row(at time: Int64) -> Int {
    if UInt64(bitPattern: time &- start) >= UInt64(bitPattern: divider.divisor) { move(to: time) }
    return current
  }

  /// The row of a time; the row of the time before stays the remembered one.
  @inline(__always)
  func rowWithoutMoving(at time: Int64) -> Int {
    UInt64(bitPattern: time &- start) < UInt64(bitPattern: divider.divisor)
      ? current : rowByDivision(at: time)
  }

  /// For times that hardly ever lie in the row of the one before.
  @inline(__always)
  func rowByDivision(at time: Int64) -> Int { Int(truncatingIfNeeded: divider.quotient(time)) }

  @inline(never)
  private mutating func move(to time: Int64) {
    current = rowByDivision(at: time)
    start = Int64(current) &* divider.divisor
  }
}
