/// Quantile functions of the standard exponential and normal distributions, and powers of two, from tables: some twenty
/// instructions a draw where the exact functions of `DeterministicMath` take a hundred.
///
/// A cell of a table holds what the function is in its middle, and a short polynomial does the rest; the cells of the tails shrink
/// with the probability, so that they are as exact as the middle. What a table gives is rounded to microseconds, and where its error
/// might decide the rounding (`rounded`), the exact function is asked: so samples are the exact ones, bit for bit, on every platform.
///
/// The tables are made once a process, from the exact functions, and never given back.
@frozen
public struct QuantileTables: @unchecked Sendable, Hashable, BitwiseCopyable {
  @usableFromInline let base: UnsafePointer<Double>

  /// 56 KB, of which the tails are hardly touched; made when first asked for, in a millisecond.
  public static let shared = QuantileTables()

  // MARK: Layout, in numbers of doubles

  @inlinable static var logBits: UInt64 { 7 }
  @inlinable static var powerBits: UInt64 { 6 }
  @inlinable static var normalBits: UInt64 { 5 }
  /// Powers begin behind the logarithms: 2 a cell.
  @inlinable static var powers: Int { 2 &<< Int(logBits) }
  @inlinable static var normals: Int { powers &+ 1 &<< Int(powerBits) }
  /// Binary orders of magnitude between the middle and the smallest probability that a draw of 52 bits can have.
  private static var octaves: Int { 52 }
  private static var size: Int { normals + octaves << (Int(normalBits) + 2) }

  private init() {
    let table = UnsafeMutablePointer<Double>.allocate(capacity: Self.size)
    for cell in 0..<1 << Int(Self.logBits) {
      let middle = 1 + (Double(cell) + 0.5) / Double(1 << Self.logBits)
      table[2 * cell] = DeterministicMath.log(middle)
      table[2 * cell + 1] = 1 / middle
    }
    let steps = Double(1 << Self.powerBits)
    for step in 0..<1 << Int(Self.powerBits) {
      table[Self.powers + step] = DeterministicMath.exp(Double(step) / steps * Self.ln2)
    }
    for octave in 0..<Self.octaves {
      // The smallest probability of the octave: a quarter first.
      let start = 1 / Double(UInt64(4) << UInt64(octave))
      for cell in 0..<1 << Int(Self.normalBits) {
        let first = Self.normals + (octave << Int(Self.normalBits) + cell) << 2
        let width = start / Double(1 << Self.normalBits)
        let coefficients = Self.cubic {
          DeterministicMath.inverseNormalCDF(start + (Double(cell) + $0) * width)
        }
        for i in 0..<4 { table[first + i] = coefficients[i] }
      }
    }
    base = UnsafePointer(table)
  }

  @inlinable static var ln2: Double { 0.693_147_180_559_945_3 }
  /// The natural logarithm of a step of `power`.
  static var logOfStep: Double { ln2 / Double(1 << powerBits) }

  /// The cubic through a function at the four Chebyshev nodes of 0 … 1, in powers of the distance from ½.
  private static func cubic(_ f: (Double) -> Double) -> [Double] {
    // cos(π/8) and cos(3π/8), halved.
    let (outer, inner) = (0.461_939_766_255_643_4, 0.191_341_716_182_544_9)
    let (a, b, c, d) = (f(0.5 - outer), f(0.5 - inner), f(0.5 + inner), f(0.5 + outer))
    let (o2, i2) = (outer * outer, inner * inner)
    let (evenOuter, evenInner) = ((d + a) / 2, (c + b) / 2)
    let (oddOuter, oddInner) = ((d - a) / (2 * outer), (c - b) / (2 * inner))
    let second = (evenOuter - evenInner) / (o2 - i2)
    let third = (oddOuter - oddInner) / (o2 - i2)
    return [evenInner - second * i2, oddInner - third * i2, second, third]
  }

  // MARK: Functions

  @inlinable static var exponentialError: Double { 0x1p-41 }
  @inlinable static var normalError: Double { 0x1p-29 }
  @inlinable static var powerError: Double { 0x1p-34 }

  /// Added to a number of less than 2⁵¹, it leaves the nearest whole one in the lowest bits of the sum.
  @inlinable static var rounder: Double { 0x1.8p52 }

  /// The nearest whole number to something that lies within `error` of `x`; nil if that may be another.
  ///
  /// - `error`: positive, and ½ or more for an `x` from 2⁵¹ on.
  @inlinable @inline(__always)
  static func rounded(_ x: Double, within error: Double) -> Int64? {
    let sum = x + rounder
    guard abs(x - (sum - rounder)) < 0.5 - error else { return nil }
    return Int64(bitPattern: sum.bitPattern &- rounder.bitPattern)
  }

  /// −ln(u) for u = (bits / 2¹¹ + 1) / 2⁵³, in (0, 1]: the standard exponential distribution, within
  /// `exponentialError` times 1 + itself.
  @inlinable @inline(__always)
  public func exponential(_ key: RandomKey) -> Double {
    let bits = key.unitAboveZero.bitPattern
    let exponent = Double(Int64(bitPattern: bits &>> 52) &- 1023)
    let cell = Int(truncatingIfNeeded: bits &>> (52 &- Self.logBits)) & (1 &<< Int(Self.logBits) &- 1)
    let mantissa = Double(bitPattern: bits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000)
    let r = mantissa * base[2 &* cell &+ 1] - 1
    let rest = r - r * r * (0.5 - r * (1.0 / 3 - r * 0.25))
    return -(exponent * Self.ln2 + (base[2 &* cell] + rest))
  }

  /// The quantile of the standard normal distribution at `RandomKey.unitOpen`, within `normalError`.
  @inlinable @inline(__always)
  public func normal(_ key: RandomKey) -> Double {
    let bits = key.bits &>> 12
    let isUpper = bits &>> 51
    // Both halves from the lower one: symmetric to the bit.
    let lower = (isUpper == 0 ? bits : ~bits) & (1 &<< 51 &- 1)
    let p = ((Double(Int64(bitPattern: lower)) + 0.5) * 0x1p-52).bitPattern
    // p's octave, the cell in it, and the place in the cell, from −½ to ½.
    let cell =
      Int(
        truncatingIfNeeded: 0x3fd0_0000_0000_0000 &>> 52 &- p &>> 52) &<< Int(Self.normalBits)
      | Int(truncatingIfNeeded: p &>> (52 &- Self.normalBits)) & (1 &<< Int(Self.normalBits) &- 1)
    let place =
      Double(bitPattern: p &<< Self.normalBits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000) - 1.5
    let c = base + (Self.normals &+ cell &<< 2)
    let z = (c[0] + c[1] * place) + (c[2] + c[3] * place) * (place * place)
    return Double(bitPattern: z.bitPattern ^ isUpper &<< 63)
  }

  /// `normal` of two keys, side by side, bit for bit.
  @inlinable @inline(__always)
  func normals(_ a: RandomKey, _ b: RandomKey) -> SIMD2<Double> {
    let bits = SIMD2(a.bits, b.bits) &>> 12
    let isUpper = bits &>> 51
    let lower = (bits ^ (0 &- isUpper)) & (1 &<< 51 &- 1)
    // A whole number below 2⁵² in the mantissa of 2⁵²: less 2⁵² it is the same as a double.
    let whole = unsafeBitCast(lower | 0x4330_0000_0000_0000, to: SIMD2<Double>.self) - 0x1p52
    let p = unsafeBitCast((whole + 0.5) * 0x1p-52, to: SIMD2<UInt64>.self)
    let cells =
      (0x3fd &- p &>> 52) &<< Self.normalBits | p &>> (52 &- Self.normalBits) & (1 &<< Self.normalBits &- 1)
    let place =
      unsafeBitCast(
        p &<< Self.normalBits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000, to: SIMD2<Double>.self) - 1.5
    let c = base + Self.normals
    let (first, second) = (
      c + Int(truncatingIfNeeded: cells[0]) &<< 2, c + Int(truncatingIfNeeded: cells[1]) &<< 2
    )
    let z =
      (SIMD2(first[0], second[0]) + SIMD2(first[1], second[1]) * place)
      + (SIMD2(first[2], second[2]) + SIMD2(first[3], second[3]) * place) * (place * place)
    return unsafeBitCast(
      unsafeBitCast(z, to: SIMD2<UInt64>.self) ^ isUpper &<< 63, to: SIMD2<Double>.self)
  }

  /// `power` of two, bit for bit.
  @inlinable @inline(__always)
  func powers(_ x: SIMD2<Double>) -> SIMD2<Double> {
    let sum = x + Self.rounder
    let whole = unsafeBitCast(sum, to: SIMD2<UInt64>.self) &- Self.rounder.bitPattern
    let r = (x - (sum - Self.rounder)) * (Self.ln2 / 64)
    let steps = whole & (1 &<< Self.powerBits &- 1)
    let c = base + Self.powers
    let step = SIMD2(c[Int(truncatingIfNeeded: steps[0])], c[Int(truncatingIfNeeded: steps[1])])
    let fraction = step + step * (r + r * r * (0.5 + r * (1.0 / 6)))
    let exponent = (whole &- steps) &<< (52 &- Self.powerBits)
    return unsafeBitCast(unsafeBitCast(fraction, to: SIMD2<UInt64>.self) &+ exponent, to: SIMD2<Double>.self)
  }

  /// 2 to the power x / 64, for |x| < 60,000, within `powerError` of itself.
  @inlinable @inline(__always)
  public func power(_ x: Double) -> Double {
    let sum = x + Self.rounder
    let whole = Int64(bitPattern: sum.bitPattern &- Self.rounder.bitPattern)
    let r = (x - (sum - Self.rounder)) * (Self.ln2 / 64)
    let step = base[Self.powers &+ Int(truncatingIfNeeded: whole) & (1 &<< Int(Self.powerBits) &- 1)]
    let fraction = step + step * (r + r * r * (0.5 + r * (1.0 / 6)))
    let exponent = UInt64(bitPattern: whole &>> Int64(Self.powerBits)) &<< 52
    return Double(bitPattern: fraction.bitPattern &+ exponent)
  }
}
