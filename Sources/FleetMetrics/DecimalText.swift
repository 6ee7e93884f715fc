/// Decimal numbers for files, made from whole numbers alone, so that every platform writes the same bytes.
enum DecimalText {
  /// Appends `value` / 10^`decimals` with exactly that many decimals.
  static func append(_ value: Int64, decimals: Int = 0, to text: inout [UInt8]) {
    if value < 0 { text.append(UInt8(ascii: "-")) }
    append(magnitude: value.magnitude, decimals: decimals, to: &text)
  }

  static func append(magnitude: UInt64, decimals: Int = 0, to text: inout [UInt8]) {
    let first = text.count
    var rest = magnitude
    var written = 0
    while rest > 0 || written <= decimals {
      if written == decimals && decimals > 0 { text.append(UInt8(ascii: ".")) }
      text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
      written += 1
    }
    // By hand: `text[first...].reverse()` would copy the digits of every field to the heap and back.
    var (low, high) = (first, text.count - 1)
    while low < high {
      text.swapAt(low, high)
      low += 1
      high -= 1
    }
  }

  /// `value` · `factor` / `divisor` rounded to the nearest whole number, halves up; nil when `divisor` is not
  /// positive, a factor is negative or the result needs more than 63 bits.
  static func rounded(_ value: Int64, times factor: Int64, over divisor: Int64) -> Int64? {
    quotient(value, times: factor, over: divisor).flatMap { quotient, remainder in
      let up: Int64 = remainder >= divisor - remainder ? 1 : 0
      let (sum, overflow) = quotient.addingReportingOverflow(up)
      return overflow ? nil : sum
    }
  }

  /// The same, rounded down.
  static func floored(_ value: Int64, times factor: Int64, over divisor: Int64) -> Int64? {
    quotient(value, times: factor, over: divisor)?.quotient
  }

  private static func quotient(
    _ value: Int64, times factor: Int64, over divisor: Int64
  ) -> (quotient: Int64, remainder: Int64)? {
    guard value >= 0, factor >= 0, divisor > 0 else { return nil }
    let (high, low) = value.magnitude.multipliedFullWidth(by: factor.magnitude)
    guard high < divisor.magnitude else { return nil }
    let (quotient, remainder) = divisor.magnitude.dividingFullWidth((high, low))
    guard let quotient = Int64(exactly: quotient) else { return nil }
    return (quotient, Int64(remainder))
  }

  /// `value` · 10^`decimals` rounded to the nearest whole number, halves away from zero; nil if that is not
  /// an `Int64`.
  static func scaled(_ value: Double, decimals: Int) -> Int64? {
    var power = 1.0
    for _ in 0..<decimals { power *= 10 }
    return Int64(exactly: (value * power).rounded(.toNearestOrAwayFromZero))
  }
}
