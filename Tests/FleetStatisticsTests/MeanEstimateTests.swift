import FleetStatistics
import TestSupport
import Testing

@Suite("What a sample says of a mean, and when it says nothing")
struct MeanEstimateTests {
  /// Uniform in 0 ..< 1.
  private struct Uniform {
    var generator: SeededGenerator
    mutating func next() -> Double { Double(generator.next() >> 11) * 0x1p-53 }
  }

  @Test(
    "McNemar's exact test is the two-sided binomial one",
    arguments: [
      // scipy 1.17: binomtest(min(a, b), a + b).pvalue
      (0, 0, 1), (0, 1, 1), (0, 5, 0.0625), (0, 6, 0.031_25), (3, 7, 0.343_75), (1, 9, 0.021_484_375),
      (10, 30, 0.002_221_433_773_229_3), (400, 700, 1.173_588_805_586_06e-19), (0, 1_200, 0),
    ])
  func mcNemar(first: Int, second: Int, p: Double) {
    for found in [
      McNemar.pValue(onlyFirst: first, onlySecond: second),
      McNemar.pValue(onlyFirst: second, onlySecond: first),
    ] {
      #expect(abs(found - p) <= 1e-9 * p + 1e-300, "\(found)")
    }
  }

  @Test(
    "Three losses in twenty runs are too rare for an interval, and Wilson's says how many runs may have one")
  func rare() {
    let estimate = MeanEstimate([0, 3, 1] + Array(repeating: 0, count: 16) + [8])
    #expect(estimate.method == .tooRare)
    #expect(abs(estimate.mean - 0.6) < 1e-12 && estimate.low == nil && estimate.halfWidth == nil)
    // Wilson (1927): 3 of 20 is 5.24 % to 36.04 %.
    #expect(abs(estimate.others.low - 0.052_4) < 1e-4 && abs(estimate.others.high - 0.360_4) < 1e-4)
  }

  @Test("Equal values say nothing of how they vary")
  func constant() {
    let estimate = MeanEstimate(Array(repeating: 7, count: 10))
    #expect(estimate.method == .constant && estimate.mean == 7 && estimate.halfWidth == nil)
    // Wilson: 0 of 10 is up to 27.75 %.
    #expect(abs(estimate.others.high - 0.277_5) < 1e-4)
  }

  @Test("Values without a long tail get Student's interval, others a bootstrap's, which leans to the tail")
  func method() throws {
    let even = MeanEstimate([4, 5, 6, 5.5, 4.5, 5.2, 4.8, 6.1, 3.9, 5])
    #expect(even.method == .student)
    let tailed = MeanEstimate([1, 1.1, 1.3, 1.4, 1.6, 1.9, 2.3, 3, 4.5, 9])
    #expect(tailed.method == .bootstrap)
    let (low, high) = (try #require(tailed.low), try #require(tailed.high))
    #expect(high - tailed.mean > 1.5 * (tailed.mean - low))
  }

  @Test(
    "95 % intervals hold the expected value in 91 to 98.5 % of samples, whatever the shape",
    arguments: ["exponential", "rare losses", "uniform"])
  func coverage(shape: String) {
    var random = Uniform(generator: SeededGenerator(seed: 11))
    func draw() -> Double {
      let u = random.next()
      switch shape {
      // By the inverse of the distribution function; a table of ln from a series would be the code under test's business.
      case "exponential":
        // The sum of -ln by halving: geometric number of halves plus a uniform within, mean 1 (Knuth 3.4.1 C is more than needed).
        var x = 1.0
        var n = 0.0
        while x > u, n < 60 {
          x /= 2
          n += 1
        }
        return n - (u - x) / x
      case "rare losses": return u < 0.3 ? (1 + (random.next() * 4).rounded(.down)) : 0
      default: return u
      }
    }
    // Expected values: the first by symbolic sum (sum of n 2^-n - 1/2), the second 0.3 times 2.5, the third 1/2.
    let expected = shape == "exponential" ? 1.5 : shape == "rare losses" ? 0.75 : 0.5
    var (held, told) = (0, 0)
    for _ in 0..<600 {
      let estimate = MeanEstimate((0..<20).map { _ in draw() })
      guard let low = estimate.low, let high = estimate.high else { continue }
      told += 1
      held += low <= expected && expected <= high ? 1 : 0
    }
    #expect(told > 400)
    #expect((0.91...0.985).contains(Double(held) / Double(told)), "\(held) of \(told)")
  }

  @Test("a sample whose mean is made by fewer than five of its values has no interval")
  func spread() {
    let small = [0.1, 0.2, 0.1, 0.3, 0.2, 0.1, 0.4, 0.2, 9, 0.3]
    #expect(MeanEstimate(small).method == .tooRare && MeanEstimate(small).halfWidth == nil)
    // Six large ones are enough for a bootstrap.
    let large = (0..<60).map { i -> Double in small[i % 10] + Double(i) / 1_000 }
    #expect(MeanEstimate(large).method == .bootstrap)
  }
}
