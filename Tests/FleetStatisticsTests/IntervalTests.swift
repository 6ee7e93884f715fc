import FleetStatistics
import Testing

@Suite struct IntervalTests {
  @Test("The textbook's example of an interval of a mean comes out as printed")
  func lawExample() throws {
    // Law and Kelton, *Simulation Modeling and Analysis*, example 4.26: 1.34 ± 0.24 at 90 %.
    let sample = SampleStatistics([1.20, 1.50, 1.68, 1.89, 0.95, 1.49, 1.58, 1.55, 0.50, 1.09])
    let variance = try #require(sample.variance)
    let interval = try #require(ConfidenceInterval(sample, confidence: 0.9))
    #expect(abs(interval.mean - 1.34) < 0.005)
    #expect(abs(variance - 0.17) < 0.005)
    #expect(abs(interval.halfWidth - 0.24) < 0.005)
  }

  @Test("The textbook's paired comparison of two inventory policies comes out as printed")
  func pairedExample() throws {
    // Law and Kelton, example 10.2: 4.98, variance of the mean 2.44, [1.65, 8.31] at 90 %.
    let pair = PairedDifference(
      [126.97, 124.31, 126.68, 122.66, 127.23], minus: [118.21, 120.22, 122.45, 122.68, 119.40])
    let interval = try #require(pair.interval(confidence: 0.9))
    #expect(abs(pair.mean - 4.98) < 0.005)
    #expect(abs(interval.low - 1.65) < 0.005 && abs(interval.high - 8.31) < 0.005)
  }

  @Test("Student's own paired data give the published t test")
  func sleep() throws {
    // Student (1908), as R's `sleep`: t = -4.0621, df = 9, p-value = 0.002833, interval -2.4598858 to -0.7001142.
    let pair = PairedDifference(
      [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
      minus: [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
    let p = try #require(pair.pValue)
    let interval = try #require(pair.interval())
    #expect(abs(p - 0.002_833) < 5e-7)
    #expect(abs(interval.low + 2.459_885_8) < 1e-7 && abs(interval.high + 0.700_114_2) < 1e-7)
  }

  @Test("Only pairs count where both systems have a value")
  func missing() {
    let pair = PairedDifference([1, nil, 3, 4], minus: [0, 5, nil, 2])
    #expect(pair.sample.count == 2)
    #expect(pair.mean == 1.5)
    #expect(PairedDifference([1], minus: [2]).pValue == nil)
  }

  @Test("Differences without any spread are certain")
  func certain() {
    #expect(PairedDifference([1, 2, 3], minus: [1, 2, 3]).pValue == 1)
    #expect(PairedDifference([2, 3, 4], minus: [1, 2, 3]).pValue == 0)
    #expect(PairedDifference([2, 3, 4], minus: [1, 2, 3]).interval()?.halfWidth == 0)
  }

  @Test("A single observation has no interval, and equal ones have one without width")
  func degenerate() {
    #expect(ConfidenceInterval(SampleStatistics([3])) == nil)
    #expect(ConfidenceInterval(SampleStatistics())?.mean == nil)
    #expect(ConfidenceInterval(SampleStatistics([3, 3, 3]))?.halfWidth == 0)
  }

  @Test("A variance survives a large common part")
  func stability() throws {
    let sample = SampleStatistics([4, 7, 13, 16].map { $0 + 1e9 })
    #expect(try #require(sample.variance) == 30)
  }

  @Test(
    "Wilson's interval agrees with the published comparison of methods",
    arguments: [
      // Newcombe, Statist. Med. 17 (1998), table I, method 3.
      (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718),
    ])
  func wilson(successes: Int, count: Int, low: Double, high: Double) {
    let interval = WilsonInterval(successes: successes, of: count)
    #expect(abs(interval.low - low) <= 0.000_051 && abs(interval.high - high) <= 0.000_051)
    let mirrored = WilsonInterval(successes: count - successes, of: count)
    #expect(abs(mirrored.low - (1 - high)) <= 0.000_051 && abs(mirrored.high - (1 - low)) <= 0.000_051)
  }

  @Test("Of no runs at all, any share is possible")
  func noRuns() {
    #expect(WilsonInterval(successes: 0, of: 0).low == 0)
    #expect(WilsonInterval(successes: 0, of: 0).high == 1)
  }

  @Test("The exact bounds of counts are those of Garwood's table")
  func garwood() {
    // χ²(0.95, 2k + 2) / 2 and χ²(0.05, 2k) / 2.
    let table = [
      (0, 0, 2.9957), (1, 0.0513, 4.7439), (2, 0.3554, 6.2958), (3, 0.8177, 7.7537), (5, 1.9701, 10.5130),
      (10, 5.4254, 16.9622),
    ]
    for (count, low, high) in table {
      #expect(abs(ExactPoisson.lowerBound(of: count) - low) < 1e-4)
      #expect(abs(ExactPoisson.upperBound(of: count) - high) < 1e-4)
    }
    // 1 − 0.95^(1/10); all of ten: 0.05^(1/10).
    #expect(abs(ExactBinomial.lowerBound(of: 1, in: 10) - 0.005_116) < 1e-6)
    #expect(abs(ExactBinomial.lowerBound(of: 10, in: 10) - 0.741_134) < 1e-6)
    #expect(ExactBinomial.lowerBound(of: 0, in: 10) == 0)
    // Of many runs the chance of none is below any number. By the definition, with 60 digits.
    #expect(abs(ExactBinomial.upperBound(of: 234, in: 240) - 0.989_057_748) < 1e-9)
    #expect(abs(ExactBinomial.upperBound(of: 990, in: 1_000) - 0.994_564_860) < 1e-9)
    #expect(abs(ExactBinomial.upperBound(of: 2, in: 30, confidence: 0.992) - 0.259_139_869) < 1e-9)
    #expect([0.1, 0.05, 0.01].map { ExactBinomial.trials(excluding: $0) } == [29, 59, 299])
    // SciPy's beta.ppf(0.95, k + 1, n - k).
    for (count, trials, high) in [
      (0, 10, 0.258_865_6), (1, 10, 0.394_163_3), (3, 59, 0.126_206_6), (0, 0, 1), (5, 5, 1),
    ] {
      #expect(abs(ExactBinomial.upperBound(of: count, in: trials) - high) < 1e-6)
    }
  }
}
