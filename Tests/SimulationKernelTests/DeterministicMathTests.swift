import Foundation
import SimulationKernel
import Testing

@Suite struct DeterministicMathTests {
  /// The bound asked for: 1e-15 relative; both sides of the comparison are within 1.2e-16 to 2.3e-16 of the truth.
  static let bound = 1e-15
  static let root = RandomKey(seed: 31)

  func relativeError(_ value: Double, _ truth: Double) -> Double {
    value == truth ? 0 : abs(value - truth) / abs(truth)
  }

  @Test("The logarithm agrees with libm over all magnitudes, subnormal numbers included")
  func logarithmEverywhere() {
    var worst = 0.0
    for n in 0..<200_000 {
      let x = Double(bitPattern: Self.root.child(UInt64(n)).bits >> 1)
      guard x.isFinite, x > 0 else { continue }
      worst = max(worst, relativeError(DeterministicMath.log(x), Foundation.log(x)))
    }
    #expect(worst <= Self.bound)
  }

  @Test("The logarithm keeps its relative accuracy near 1, where it crosses zero")
  func logarithmNearOne() {
    var worst = 0.0
    for n in 0..<100_000 {
      let key = Self.root.child(1).child(UInt64(n))
      let offset = (key.unitOpen - 0.5) * Foundation.exp2(-Double(n % 53))
      worst = max(worst, relativeError(DeterministicMath.log(1 + offset), Foundation.log(1 + offset)))
    }
    #expect(worst <= Self.bound)
    #expect(DeterministicMath.log(1) == 0)
  }

  @Test("The exponential agrees with libm wherever the result is a normal number")
  func exponentialEverywhere() {
    var worst = 0.0
    for n in 0..<200_000 {
      let unit = Self.root.child(2).child(UInt64(n)).unitOpen
      for x in [unit * 1417 - 708, unit * 2 - 1, (unit - 0.5) * 1e-6] {
        worst = max(worst, relativeError(DeterministicMath.exp(x), Foundation.exp(x)))
      }
    }
    #expect(worst <= Self.bound)
  }

  /// Forty-digit values rounded to a double, from multiple-precision arithmetic.
  @Test("Logarithm and exponential give the values of the tables")
  func tableValues() {
    let logarithms: [(Double, Double)] = [
      (2, 0.69314718055994530942), (10, 2.302585092994045684), (0.1, -2.3025850929940456285),
      (0x1p-1030, -713.9415959767436687), (1e308, 709.19620864216607069),
      (0.9999999, -1.0000000494736474329e-7),
    ]
    for (x, truth) in logarithms { #expect(relativeError(DeterministicMath.log(x), truth) <= Self.bound) }
    let powers: [(Double, Double)] = [
      (1, 2.7182818284590452354), (-1, 0.3678794411714423216), (0.5, 1.6487212707001281468),
      (10, 22026.465794806716517), (700, 1.0142320547350045095e+304), (1e-10, 1.0000000001),
      (-700, 9.8596765437597708567e-305), (0, 1),
    ]
    for (x, truth) in powers { #expect(relativeError(DeterministicMath.exp(x), truth) <= Self.bound) }
    // Subnormal: e⁻⁷⁴⁰ is 84.78 times the smallest number there is.
    #expect((84...85).contains(DeterministicMath.exp(-740).bitPattern))
  }

  @Test("Outside their domains the functions answer as IEEE 754 has it, and never trap")
  func specialValues() {
    #expect(DeterministicMath.log(0) == -.infinity)
    #expect(DeterministicMath.log(-0.0) == -.infinity)
    #expect(DeterministicMath.log(-1).isNaN)
    #expect(DeterministicMath.log(.nan).isNaN)
    #expect(DeterministicMath.log(.infinity) == .infinity)
    #expect(DeterministicMath.exp(.infinity) == .infinity)
    #expect(DeterministicMath.exp(1e300) == .infinity)
    #expect(DeterministicMath.exp(709.79) == .infinity)
    #expect(DeterministicMath.exp(709.78).isFinite)
    #expect(DeterministicMath.exp(-1e300) == 0)
    #expect(DeterministicMath.exp(-.infinity) == 0)
    #expect(DeterministicMath.exp(-745) == .leastNonzeroMagnitude)
    #expect(DeterministicMath.exp(.nan).isNaN)
    #expect(DeterministicMath.inverseNormalCDF(0) == -.infinity)
    #expect(DeterministicMath.inverseNormalCDF(1) == .infinity)
    for p in [-0.1, 1.1, .nan, .infinity, -.infinity] {
      #expect(DeterministicMath.inverseNormalCDF(p).isNaN)
    }
  }

  /// Multiple-precision values of √2 · erf⁻¹(2p − 1) at the doubles nearest to these p; 1e-20 is Wichura's own check.
  @Test("The normal quantile gives the values of the tables")
  func normalQuantileTable() {
    let table: [(Double, Double)] = [
      (1e-300, -37.047096299361199237), (1e-20, -9.2623400897984075796), (1e-10, -6.3613409024040561991),
      (1e-5, -4.2648907939228246102), (0.001, -3.0902323061678135354), (0.01, -2.3263478740408410931),
      (0.025, -1.9599639845400542118), (0.075, -1.4395314709384559349), (0.1, -1.2815515655446004353),
      (0.25, -0.6744897501960817432), (0.4, -0.25334710313579974132), (0.6, 0.25334710313579974132),
      (0.9, 1.2815515655446005935), (0.975, 1.9599639845400538556), (0.99, 2.3263478740408407676),
      (0.999, 3.0902323061678132778),
    ]
    for (p, z) in table {
      #expect(relativeError(DeterministicMath.inverseNormalCDF(p), z) <= 2e-15, "p = \(p)")
    }
    #expect(DeterministicMath.inverseNormalCDF(0.5) == 0)
  }

  /// Φ from libm's erfc loses about z²/2 · 2⁻⁵³ relative in the tail, hence the wider bound.
  @Test("The normal distribution function takes the quantile back to its p")
  func normalQuantileInverts() {
    var worst = 0.0
    for n in 0..<100_000 {
      let unit = Self.root.child(3).child(UInt64(n)).unitOpen
      let p = n % 2 == 0 ? unit : Foundation.exp(-700 * unit)
      worst = max(worst, relativeError(normalCDF(DeterministicMath.inverseNormalCDF(p)), p))
    }
    #expect(worst <= 1e-12)
  }

  @Test("The normal quantile is odd about one half and grows across its seams")
  func normalQuantileShape() {
    for n in 0..<10_000 {
      let p = Self.root.child(4).child(UInt64(n)).unitOpen
      #expect(DeterministicMath.inverseNormalCDF(1 - p) == -DeterministicMath.inverseNormalCDF(p))
    }
    let seams = [0.075, 0.925, 1.3887943864964021e-11]  // the last: √(−ln p) = 5
    for seam in seams {
      let below = DeterministicMath.inverseNormalCDF(seam * (1 - 1e-12))
      let above = DeterministicMath.inverseNormalCDF(seam * (1 + 1e-12))
      #expect(below < above)
      #expect(above - below < 1e-10)
    }
  }
}
