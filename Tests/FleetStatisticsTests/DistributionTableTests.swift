import FleetStatistics
import Testing

@Suite struct DistributionTableTests {
  @Test(
    "Student's t agrees with the published table to its last digit",
    arguments: [
      // Fisher and Yates, *Statistical Tables*: degrees of freedom, 0.95, 0.975, 0.995, 0.9995.
      (1, 6.314, 12.706, 63.657, 636.619), (2, 2.920, 4.303, 9.925, 31.599), (3, 2.353, 3.182, 5.841, 12.924),
      (4, 2.132, 2.776, 4.604, 8.610), (5, 2.015, 2.571, 4.032, 6.869), (9, 1.833, 2.262, 3.250, 4.781),
      (10, 1.812, 2.228, 3.169, 4.587), (19, 1.729, 2.093, 2.861, 3.883), (29, 1.699, 2.045, 2.756, 3.659),
      (30, 1.697, 2.042, 2.750, 3.646), (60, 1.671, 2.000, 2.660, 3.460), (120, 1.658, 1.980, 2.617, 3.373),
    ])
  func studentTable(freedom: Int, p95: Double, p975: Double, p995: Double, p9995: Double) {
    for (p, expected) in [(0.95, p95), (0.975, p975), (0.995, p995), (0.9995, p9995)] {
      #expect(abs(StudentT.quantile(p, degreesOfFreedom: freedom) - expected) <= 0.000_501)
      #expect(abs(StudentT.quantile(1 - p, degreesOfFreedom: freedom) + expected) <= 0.000_501)
    }
  }

  @Test(
    "The normal quantile agrees with published values to twelve digits",
    arguments: [
      (0.9, 1.281_551_565_544_600_4), (0.95, 1.644_853_626_951_472_2), (0.975, 1.959_963_984_540_054),
      (0.995, 2.575_829_303_548_900_4), (0.9995, 3.290_526_731_491_894_5),
      (1e-6, -4.753_424_308_822_899), (1e-9, -5.997_807_015_007_687),
    ])
  func normalTable(p: Double, expected: Double) {
    #expect(abs(NormalDistribution.quantile(p) - expected) < 1e-11 * abs(expected))
    #expect(abs(NormalDistribution.cumulative(expected) - p) < 1e-14)
  }

  @Test("One and two degrees of freedom agree with their closed forms")
  func closedForms() {
    // Cauchy: tan(π(p − ½)); two: (2p − 1) / √(2p(1 − p)).
    #expect(abs(StudentT.quantile(0.75, degreesOfFreedom: 1) - 1) < 1e-14)
    for p in [0.6, 0.9, 0.99, 0.9999] {
      let expected = (2 * p - 1) / (2 * p * (1 - p)).squareRoot()
      #expect(abs(StudentT.quantile(p, degreesOfFreedom: 2) / expected - 1) < 1e-11)
    }
  }

  @Test("Quantile and distribution are each other's inverse for any degrees of freedom")
  func inverse() {
    for freedom in [1, 2, 3, 7, 8, 50, 101, 999, 2_000, 2_001, 50_000] {
      for p in [0.500_1, 0.7, 0.95, 0.975, 0.999, 0.999_999] {
        let t = StudentT.quantile(p, degreesOfFreedom: freedom)
        #expect(abs(1 - StudentT.twoSidedP(t, degreesOfFreedom: freedom) / 2 - p) < 1e-7)
      }
    }
  }

  @Test("With many degrees of freedom t becomes normal, without a step where the method changes")
  func limit() {
    let normal = NormalDistribution.quantile(0.975)
    #expect(abs(StudentT.quantile(0.975, degreesOfFreedom: 100_000_000) - normal) < 1e-7)
    let below = StudentT.quantile(0.975, degreesOfFreedom: 2_000)
    let above = StudentT.quantile(0.975, degreesOfFreedom: 2_001)
    #expect(below > above && below - above < 1e-6)
  }

  @Test("What no distribution has is not a number, and never a trap")
  func impossible() {
    #expect(StudentT.quantile(1.5, degreesOfFreedom: 3).isNaN)
    #expect(StudentT.quantile(0.5, degreesOfFreedom: 0).isNaN)
    #expect(StudentT.twoSidedP(.nan, degreesOfFreedom: 3).isNaN)
    #expect(StudentT.quantile(1, degreesOfFreedom: 3) == .infinity)
    #expect(StudentT.quantile(0, degreesOfFreedom: 3) == -.infinity)
    #expect(StudentT.twoSidedP(.infinity, degreesOfFreedom: 4) == 0)
    #expect(NormalDistribution.quantile(-0.1).isNaN)
  }
}
