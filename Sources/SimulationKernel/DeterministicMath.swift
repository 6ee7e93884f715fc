/// Elementary functions that give the same bits on every platform: only + − × ÷ √ and integer operations.
///
/// The functions of libm differ between platforms in the last bit, and the results of a seed must not. Swift
/// does not contract `a * b + c` into a fused operation, so the expressions below are evaluated as they are
/// written.
public enum DeterministicMath {
  /// Returns the natural logarithm, within one unit in the last place; −∞ for 0, NaN below 0.
  ///
  /// The method: x = 2ᵏ(1 + f) with 1 + f in [√½, √2]; log(1 + f) = 2s + s·R(s²), s = f / (2 + f). R is a
  /// minimax polynomial.
  /// Source: method and coefficients of fdlibm's e_log.c, Copyright (C) 1993 by Sun Microsystems, Inc.
  /// Permission to use, copy, modify, and distribute is freely granted, provided that this notice is
  /// preserved.
  @inlinable public static func log(_ x: Double) -> Double {
    var bits = x.bitPattern
    var exponent: Int64 = 0
    if bits &- 0x0010_0000_0000_0000 >= 0x7fe0_0000_0000_0000 {  // not a positive normal number
      if x == 0 { return -.infinity }
      if !(x > 0) { return .nan }
      if x == .infinity { return x }
      bits = (x * 0x1p54).bitPattern
      exponent = -54
    }
    // 0x3fe6a09e667f3bcd is √½: adding its distance from 1 makes the exponent step at √½·2ᵏ instead of 2ᵏ.
    let shifted = bits &+ (0x3ff0_0000_0000_0000 &- 0x3fe6_a09e_667f_3bcd)
    exponent &+= Int64(bitPattern: shifted &>> 52) &- 1023
    let fraction = (shifted & 0x000f_ffff_ffff_ffff) &+ 0x3fe6_a09e_667f_3bcd
    let f = Double(bitPattern: fraction) - 1
    let k = Double(exponent)
    let s = f / (2 + f)
    let z = s * s
    let w = z * z
    let even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    let odd =
      z
      * (6.666666666666735130e-01 + w
        * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)))
    let halfSquare = 0.5 * f * f
    return k * ln2High - ((halfSquare - (s * (halfSquare + (even + odd)) + k * ln2Low)) - f)
  }

  /// Returns e to the power x, within one unit in the last place; ∞ above 709.78…, 0 below −745.13….
  ///
  /// The method: x = k·ln 2 + r with |r| ≤ ½ ln 2; exp(r) from a rational function in r² (Remes).
  /// Source: method and coefficients of fdlibm's e_exp.c, Copyright (C) 2004 by Sun Microsystems, Inc.
  /// Permission to use, copy, modify, and distribute is freely granted, provided that this notice is
  /// preserved.
  @inlinable public static func exp(_ x: Double) -> Double {
    if !(x > -745.13321910194122) { return x.isNaN ? x : 0 }
    if x > 709.782712893383973096 { return .infinity }
    let k = Int64(x * 1.44269504088896338700 + (x < 0 ? -0.5 : 0.5))
    let high = x - Double(k) * ln2High
    let low = Double(k) * ln2Low
    let r = high - low
    let t = r * r
    let c =
      r - t
      * (1.66666666666666019037e-01 + t
        * (-2.77777777770155933842e-03 + t
          * (6.61375632143793436117e-05 + t
            * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))))
    let y = 1 - ((low - (r * c) / (2 - c)) - high)
    if k >= -1021 && k <= 1023 {
      return y * Double(bitPattern: UInt64(bitPattern: k &+ 1023) &<< 52)
    }
    if k > 1023 { return y * 0x1p1023 * 2 }
    return y * Double(bitPattern: UInt64(bitPattern: k &+ (1000 + 1023)) &<< 52) * 0x1p-1000
  }

  /// The quantile of the standard normal distribution: z with Φ(z) = p, to about 16 digits.
  ///
  /// −∞ for 0, ∞ for 1, NaN outside 0 … 1. Close above, p near 1 has few digits of 1 − p left; draws are
  /// symmetric about ½.
  /// Source: Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", Appl. Statist.
  /// 37 (1988), PPND16.
  @inlinable public static func inverseNormalCDF(_ p: Double) -> Double {
    let q = p - 0.5
    guard q >= -0.425 && q <= 0.425 else { return inverseNormalTail(p) }
    let r = 0.180625 - q * q
    let numerator = polynomial(
      r, 3.3871328727963666080e0, 1.3314166789178437745e+2,
      1.9715909503065514427e+3, 1.3731693765509461125e+4,
      4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3)
    let denominator = polynomial(
      r, 1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
      2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3)
    return q * numerator / denominator
  }

  /// The part of `inverseNormalCDF` outside 0.075 … 0.925.
  @inlinable static func inverseNormalTail(_ p: Double) -> Double {
    let nearer = p < 0.5 ? p : 1 - p
    guard nearer > 0 else { return nearer == 0 ? (p < 0.5 ? -.infinity : .infinity) : .nan }
    var r = (-log(nearer)).squareRoot()
    let numerator: Double
    let denominator: Double
    if r <= 5 {
      r -= 1.6
      numerator = polynomial(
        r, 1.42343711074968357734e0, 4.63033784615654529590e0,
        5.76949722146069140550e0, 3.64784832476320460504e0,
        1.27045825245236838258e0, 2.41780725177450611770e-1,
        2.27238449892691845833e-2, 7.74545014278341407640e-4)
      denominator = polynomial(
        r, 1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
        1.48103976427480074590e-1, 1.51986665636164571966e-2,
        5.47593808499534494600e-4, 1.05075007164441684324e-9)
    } else {
      r -= 5
      numerator = polynomial(
        r, 6.65790464350110377720e0, 5.46378491116411436990e0,
        1.78482653991729133580e0, 2.96560571828504891230e-1,
        2.65321895265761230930e-2, 1.24266094738807843860e-3,
        2.71155556874348757815e-5, 2.01033439929228813265e-7)
      denominator = polynomial(
        r, 1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
        7.86869131145613259100e-4, 1.84631831751005468180e-5,
        1.42151175831644588870e-7, 2.04426310338993978564e-15)
    }
    return p < 0.5 ? -(numerator / denominator) : numerator / denominator
  }

  /// A polynomial of degree 7, coefficients from the constant term on (Estrin's scheme: short chains of
  /// dependence).
  @inlinable @inline(__always)
  static func polynomial(
    _ x: Double, _ c0: Double, _ c1: Double, _ c2: Double, _ c3: Double,
    _ c4: Double, _ c5: Double, _ c6: Double, _ c7: Double
  ) -> Double {
    let x2 = x * x
    let x4 = x2 * x2
    return ((c0 + c1 * x) + (c2 + c3 * x) * x2) + ((c4 + c5 * x) + (c6 + c7 * x) * x2) * x4
  }

  /// The leading bits of ln 2, few enough that k·ln2High is exact for every exponent k.
  @inlinable static var ln2High: Double { 6.93147180369123816490e-01 }
  /// ln 2 − ln2High.
  @inlinable static var ln2Low: Double { 1.90821492927058770002e-10 }
}
