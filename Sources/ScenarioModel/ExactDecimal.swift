/// A decimal number read exactly: no floating point on the way from a file to the model.
///
/// value = ± `mantissa` · 10^`exponent`. Up to 19 significant digits; more are `nil` at the reader unless
/// they are zeros.
package struct ExactDecimal: Sendable, Hashable {
  package var isNegative: Bool
  package var mantissa: UInt64
  package var exponent: Int

  package enum Scaled: Sendable, Hashable {
    case exact(Int64)
    /// Finer than the target's unit.
    case fraction
    case tooLarge
  }

  /// Reads `12`, `-0.5`, `.5`, `5.`, `1e3`, and with `hex` also `0x1F`.
  /// - Returns: nil for anything else, `Infinity` and `NaN` included, and for more than 19 significant
  /// digits.
  package init?(_ text: some StringProtocol) { self.init(Array(text.utf8)[...]) }

  private init?(_ text: ArraySlice<UInt8>) {
    var bytes = text
    isNegative = bytes.first == Ascii.minus
    if let first = bytes.first, first == Ascii.minus || first == Ascii.plus { bytes.removeFirst() }
    mantissa = 0
    exponent = 0
    if bytes.count > 2, bytes.first == Ascii.zero, bytes[bytes.startIndex + 1] | 0x20 == UInt8(ascii: "x") {
      for byte in bytes.dropFirst(2) {
        guard let digit = Ascii.hexValue(byte), mantissa >> 60 == 0 else { return nil }
        mantissa = mantissa << 4 | UInt64(digit)
      }
      trimZeros()
      return
    }
    guard readDigits(&bytes), readExponent(bytes) else { return nil }
    trimZeros()
  }

  /// Digits with at most one dot; false if there is no digit or too many.
  private mutating func readDigits(_ bytes: inout ArraySlice<UInt8>) -> Bool {
    var digits = 0
    var pastDot = false
    var pendingZeros = 0
    while let byte = bytes.first {
      if byte == Ascii.dot, !pastDot {
        pastDot = true
      } else if Ascii.isDigit(byte) {
        digits += 1
        if pastDot { exponent -= 1 }
        if byte == Ascii.zero {
          // Zeros count only when a digit follows them.
          if mantissa > 0 { pendingZeros += 1 }
        } else {
          for _ in 0..<min(pendingZeros, 20) {
            guard append(0) else { return false }
          }
          if pendingZeros > 20 { return false }
          pendingZeros = 0
          guard append(UInt64(byte - Ascii.zero)) else { return false }
        }
      } else {
        break
      }
      bytes.removeFirst()
    }
    exponent += pendingZeros
    return digits > 0
  }

  private mutating func append(_ digit: UInt64) -> Bool {
    let (tens, overflow) = mantissa.multipliedReportingOverflow(by: 10)
    let (sum, carry) = tens.addingReportingOverflow(digit)
    mantissa = sum
    return !overflow && !carry
  }

  private mutating func readExponent(_ bytes: ArraySlice<UInt8>) -> Bool {
    var bytes = bytes
    guard let e = bytes.popFirst() else { return true }
    guard e | 0x20 == UInt8(ascii: "e") else { return false }
    let negative = bytes.first == Ascii.minus
    if let sign = bytes.first, sign == Ascii.minus || sign == Ascii.plus { bytes.removeFirst() }
    guard !bytes.isEmpty else { return false }
    var value = 0
    for byte in bytes {
      guard Ascii.isDigit(byte) else { return false }
      value = min(value * 10 + Int(byte - Ascii.zero), 1_000_000_000)
    }
    exponent += negative ? -value : value
    return true
  }

  private mutating func trimZeros() {
    if mantissa == 0 {
      exponent = 0
      isNegative = false
      return
    }
    while mantissa.isMultiple(of: 10) {
      mantissa /= 10
      exponent += 1
    }
  }

  /// This number times `factor`, if that is a whole number that fits.
  package func times(_ factor: UInt64) -> Scaled {
    var product = UInt128(mantissa) * UInt128(factor)
    if product == 0 { return .exact(0) }
    var exponent = exponent
    while exponent < 0 {
      guard product.isMultiple(of: 10) else { return .fraction }
      product /= 10
      exponent += 1
    }
    while exponent > 0 {
      guard product <= UInt64.max else { return .tooLarge }
      product *= 10
      exponent -= 1
    }
    guard let magnitude = Int64(exactly: product) else { return .tooLarge }
    return .exact(isNegative ? -magnitude : magnitude)
  }

  /// The whole number, if it is one and fits into 64 bits without a sign.
  package var unsigned: UInt64? {
    guard !isNegative, exponent >= 0 else { return nil }
    var value = mantissa
    for _ in 0..<min(exponent, 20) {
      let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
      guard !overflow else { return nil }
      value = tens
    }
    return exponent > 20 && mantissa > 0 ? nil : value
  }

  /// `numerator` / this number, rounded to the nearest, halves up.
  /// - Returns: nil if this number is not positive, or the quotient does not fit.
  package func dividing(_ numerator: UInt64) -> Int64? {
    guard !isNegative, mantissa > 0 else { return nil }
    guard let power = Self.powerOfTen(abs(exponent)) else { return exponent < 0 ? nil : 0 }
    return exponent < 0
      ? Self.roundedQuotient(UInt128(numerator) * power, UInt128(mantissa))
      : Self.roundedQuotient(UInt128(numerator), UInt128(mantissa) * power)
  }

  /// This number times `factor` divided by `divisor`, rounded to the nearest, halves up; nil if it does not
  /// fit.
  package func times(_ factor: UInt64, dividedBy divisor: UInt64) -> Int64? {
    guard !isNegative else { return nil }
    var (product, decimals) = (UInt128(mantissa) * UInt128(factor), max(0, -exponent))
    // The last decimals go for which there is no room.
    // Halves of an even divisor are whole, so that moves no rounding.
    while decimals > Self.largestPower, product > 0 { (product, decimals) = (product / 10, decimals - 1) }
    guard let power = Self.powerOfTen(exponent < 0 ? min(decimals, Self.largestPower) : exponent) else {
      return nil
    }
    if exponent < 0 { return Self.roundedQuotient(product, UInt128(divisor) * power) }
    return product > UInt64.max ? nil : Self.roundedQuotient(product * power, UInt128(divisor))
  }

  private static func roundedQuotient(_ dividend: UInt128, _ divisor: UInt128) -> Int64? {
    let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
    return Int64(exactly: quotient + (remainder >= divisor - remainder ? 1 : 0))
  }

  /// The largest power of ten that has 64 bits, by its exponent.
  private static let largestPower = 19

  private static func powerOfTen(_ n: Int) -> UInt128? {
    guard n <= largestPower else { return nil }
    var power: UInt128 = 1
    for _ in 0..<n { power *= 10 }
    return power
  }
}
