import Foundation
import SimulationKernel
import Testing

@Suite struct DistributionTests {
  static let networkLatency = Distribution.logNormal(
    median: .milliseconds(80), p99: .milliseconds(600), minimum: .milliseconds(10))

  static func samples(_ distribution: Distribution, seed: UInt64, count: Int = 30_000) -> [Double] {
    let sampler = Sampler(distribution)
    let root = RandomKey(seed: seed)
    return (0..<count).map { Double(sampler.sample(root.child(UInt64($0))).microseconds) }
  }

  /// Recorded because every committed result depends on these numbers. They were computed apart from this code, in
  /// multiple-precision arithmetic, from the definition: the quantile at the key's draw, to the nearest microsecond.
  @Test("Distributions give the recorded samples")
  func recordedSamples() {
    let root = RandomKey(seed: 1)
    func six(_ distribution: Distribution) -> [Int64] {
      (0..<6).map { distribution.sample(root.child($0)).microseconds }
    }
    #expect(
      six(.uniform(.milliseconds(5), .milliseconds(90))) == [36296, 85203, 8846, 71082, 23625, 70824])
    #expect(
      six(.exponential(mean: .seconds(10)))
        == [9_991_575, 580_908, 30_953_980, 2_517_528, 15_181_580, 2_556_678])
    #expect(six(Self.networkLatency) == [61_420, 309_229, 24_842, 150_914, 44_405, 149_609])
    #expect(six(.constant(.seconds(2))) == Array(repeating: 2_000_000, count: 6))
  }

  @Test("A prepared sampler gives what the distribution gives")
  func samplerEqualsDistribution() {
    let root = RandomKey(seed: 8)
    for distribution in [Self.networkLatency, .exponential(mean: .seconds(3)), .uniform(.zero, .hours(1))] {
      let sampler = Sampler(distribution)
      for n in 0..<100 as Range<UInt64> {
        #expect(sampler.sample(root.child(n)) == distribution.sample(root.child(n)))
      }
    }
  }

  @Test("Uniform samples follow the uniform distribution", arguments: 1...3 as ClosedRange<UInt64>)
  func uniform(seed: UInt64) {
    let values = Self.samples(.uniform(.seconds(5), .seconds(90)), seed: seed)
    #expect(kolmogorovSmirnov(values) { ($0 - 5e6) / 85e6 } < kolmogorovLimit, "seed \(seed)")
  }

  @Test("Exponential samples follow the exponential distribution", arguments: 1...3 as ClosedRange<UInt64>)
  func exponential(seed: UInt64) {
    let values = Self.samples(.exponential(mean: .seconds(10)), seed: seed)
    #expect(kolmogorovSmirnov(values) { 1 - Foundation.exp(-$0 / 10e6) } < kolmogorovLimit, "seed \(seed)")
  }

  @Test("Log-normal samples follow the log-normal distribution", arguments: 1...3 as ClosedRange<UInt64>)
  func logNormal(seed: UInt64) {
    let values = Self.samples(Self.networkLatency, seed: seed)
    // By hand: µ = ln 70,000; σ = ln(590 / 70) / 2.3263.
    let mu = Foundation.log(70_000.0)
    let sigma = Foundation.log(590.0 / 70.0) / 2.3263478740408411
    let distance = kolmogorovSmirnov(values) { x in
      x <= 10_000 ? 0 : normalCDF((Foundation.log(x - 10_000) - mu) / sigma)
    }
    #expect(distance < kolmogorovLimit, "seed \(seed)")
  }

  @Test("Log-normal samples have the median, the 99th percentile and the minimum that were asked for")
  func logNormalPercentiles() {
    let values = Self.samples(Self.networkLatency, seed: 12, count: 100_000)
    let n = Double(values.count)
    let belowMedian = Double(values.count { $0 <= 80_000 }) / n
    let belowP99 = Double(values.count { $0 <= 600_000 }) / n
    #expect(abs(belowMedian - 0.5) < 4 * (0.25 / n).squareRoot())
    #expect(abs(belowP99 - 0.99) < 4 * (0.99 * 0.01 / n).squareRoot())
    #expect(values.allSatisfy { $0 >= 10_000 })
  }

  @Test("A share of the samples is at most its quantile")
  func quantiles() {
    for distribution: Distribution in [
      .uniform(.milliseconds(5), .milliseconds(90)), .exponential(mean: .seconds(10)), Self.networkLatency,
    ] {
      let values = Self.samples(distribution, seed: 41)
      for wanted in [0.1, 0.5, 0.95] {
        let quantile = distribution.quantile(wanted)
        let share = Double(values.count { $0 <= quantile }) / Double(values.count)
        // Four standard deviations.
        let error = 4 * (wanted * (1 - wanted) / Double(values.count)).squareRoot()
        #expect(abs(share - wanted) < error, "\(distribution)")
      }
    }
    #expect(Distribution.constant(.milliseconds(7)).quantile(0.5) == 7_000)
  }

  @Test("Means are those of the formulas, and the samples have them")
  func means() {
    // The last by multiple-precision arithmetic: 10 ms + exp(µ + σ²/2). Standard deviations from the same formulas.
    let logNormalBody = 106516.08583063056509
    let sigma = 0.91629773802823074136
    let cases: [(Distribution, mean: Double, deviation: Double)] = [
      (.constant(.milliseconds(7)), 7000, 0),
      (.uniform(.milliseconds(5), .milliseconds(90)), 47_500, 85_000 / 12.0.squareRoot()),
      (.exponential(mean: .seconds(10)), 1e7, 1e7),
      (Self.networkLatency, 1e4 + logNormalBody, logNormalBody * expm1(sigma * sigma).squareRoot()),
    ]
    for (distribution, expected, deviation) in cases {
      #expect(abs(distribution.mean - expected) <= expected * 1e-13)
      let values = Self.samples(distribution, seed: 40)
      #expect(abs(mean(values) - expected) <= 4 * deviation / Double(values.count).squareRoot())
    }
  }

  @Test("No sample is shorter than the distribution's minimum")
  func minimum() {
    let cases: [(Distribution, Span)] = [
      (.constant(.seconds(3)), .seconds(3)), (.uniform(.seconds(9), .seconds(4)), .seconds(4)),
      (.exponential(mean: .seconds(1)), .zero), (Self.networkLatency, .milliseconds(10)),
    ]
    for (distribution, minimum) in cases {
      #expect(distribution.minimum == minimum)
      let shortest = Self.samples(distribution, seed: 2, count: 10_000).min()!
      #expect(shortest >= Double(minimum.microseconds))
    }
  }

  @Test("Under one key, a larger parameter never gives a smaller sample")
  func commonRandomNumbers() {
    let ladders: [[Distribution]] = [
      [10, 11, 500].map { .exponential(mean: .milliseconds($0)) },
      [20, 80, 300].map {
        .logNormal(median: .milliseconds($0), p99: .seconds(2), minimum: .milliseconds(5))
      },
      [6, 7, 90].map { .uniform(.milliseconds(5), .milliseconds($0)) },
    ]
    let root = RandomKey(seed: 6)
    for n in 0..<2000 as Range<UInt64> {
      let key = root.child(n)
      for ladder in ladders.prefix(1) + ladders.suffix(1) {
        let samples = ladder.map { $0.sample(key) }
        #expect(samples == samples.sorted())
      }
      // The p99 is shared, so log-normals keep their order below it.
      if key.unitOpen < 0.99 {
        let samples = ladders[1].map { $0.sample(key) }
        #expect(samples == samples.sorted())
      }
    }
  }

  @Test("Gaps of a Poisson process are exponential samples, whatever the mean")
  func exponentialGaps() {
    let root = RandomKey(seed: 14)
    let longest = Distribution.longestSample.microseconds
    for n in 0..<500 as Range<UInt64> {
      let key = root.child(n)
      let sample = Distribution.exponential(mean: .seconds(1)).sample(key)
      #expect(Distribution.exponentialGap(mean: 1e6, key: key) == sample.microseconds)
      for mean in [0, -1, -Double.infinity, -0.0] {
        #expect(Distribution.exponentialGap(mean: mean, key: key) == 0)
      }
      for mean in [1e300 as Double, .infinity, .nan] {
        #expect(Distribution.exponentialGap(mean: mean, key: key) == longest)
      }
    }
  }

  @Test("Parameters that make no sense degenerate as documented and never trap")
  func absurdParameters() {
    let huge = Span(microseconds: .max)
    let negative = Span(microseconds: .min)
    let spans = [negative, Span(microseconds: -1), .zero, .milliseconds(1), .hours(24 * 400), huge]
    var distributions: [Distribution] = []
    for a in spans {
      distributions += [.constant(a), .exponential(mean: a)]
      for b in spans {
        distributions.append(.uniform(a, b))
        for c in spans { distributions.append(.logNormal(median: a, p99: b, minimum: c)) }
      }
    }
    let root = RandomKey(seed: 15)
    for distribution in distributions {
      #expect(distribution.mean >= 0)
      for n in 0..<50 as Range<UInt64> {
        let sample = distribution.sample(root.child(n))
        #expect(sample >= distribution.minimum && sample <= Distribution.longestSample, "\(distribution)")
      }
    }
    let key = root.child(1)
    #expect(Distribution.constant(negative).sample(key) == .zero)
    #expect(Distribution.constant(huge).sample(key) == Distribution.longestSample)
    #expect(
      Distribution.uniform(.seconds(9), .seconds(4)).sample(key)
        == Distribution.uniform(.seconds(4), .seconds(9)).sample(key))
    #expect(
      Distribution.logNormal(median: .seconds(1), p99: .seconds(9), minimum: .seconds(2)).sample(key)
        == .seconds(2))
    #expect(
      Distribution.logNormal(median: .seconds(3), p99: .seconds(1), minimum: .seconds(2)).sample(key)
        == .seconds(3))
  }
}
