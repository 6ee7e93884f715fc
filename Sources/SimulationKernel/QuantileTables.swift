/// Tables of the quantile functions of the standard exponential and normal distributions, and of powers of two. A draw takes some
/// twenty instructions, where the exact functions of `DeterministicMath` take a hundred.
///
/// A cell of a table holds the value of the function in its middle, and a short polynomial does the rest. The cells of the tails
/// shrink with the probability, so that they are as exact as the middle. The value of a table is rounded to microseconds. Where
/// its error might decide the rounding (`rounded`), the exact function is asked. So samples are the exact ones, bit for bit, on
/// every platform.
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
  package static var logOfStep: Double { ln2 / Double(1 << powerBits) }

  /// The cubic through a function at the four Chebyshev nodes of 0 … 1, in powers of the distance from ½.
  static func cubic(_ f: (Double) -> Double) -> [Double] {
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

  @inlinable package static var exponentialError: Double { 0x1p-41 }
  @inlinable package static var normalError: Double { 0x1p-29 }
  @inlinable package static var powerError: Double { 0x1p-34 }

  /// Added to a number of less than 2⁵¹, it leaves the nearest whole one in the lowest bits of the sum.
  @inlinable static var rounder: Double { 0x1.8p52 }

  /// The nearest whole number to something that lies within `error` of `x`; nil if that may be another.
  ///
  /// - `error`: positive, and ½ or more for an `x` from 2⁵¹ on.
  @inlinable @inline(__always)
  package static func rounded(_ x: Double, within error: Double) -> Int64? {
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
