import Foundation
import SimulationKernel
import TestSupport
import Testing

/// The tables against the exact functions, which have tests of their own against other programs (`DeterministicMathTests`).
@Suite struct QuantileTablesTests {
  let tables = QuantileTables.shared

  /// Keys whose draws are at random, near 0, near 1, near ½ and at both sides of every seam between cells.
  static let keys: [RandomKey] = {
    let root = RandomKey(seed: 21)
    var words = (0..<UInt64(TestDepth.cases(40_000, exhaustively: 200_000))).map { root.child($0).bits }
    for shift in 0..<64 as Range<UInt64> {
      for top in 32..<64 as Range<UInt64> {
        let seam = (top << 58) >> shift
        words += [seam &- 4096, seam &- 2048, seam, seam &+ 2048, seam &+ 4096, 0 &- seam, ~seam]
      }
    }
    return words.map(RandomKey.init(state:))
  }()

  @Test("The exponential quantile is the logarithm within the error that is declared")
  func exponential() {
    for key in Self.keys {
      let exact = -Foundation.log(key.unitAboveZero)
      #expect(
        abs(tables.exponential(key) - exact) <= QuantileTables.exponentialError * (1 + exact) / 2,
        "\(key.bits)")
    }
  }

  @Test("The normal quantile is the exact one within the error that is declared, in the farthest tails too")
  func normal() {
    for key in Self.keys {
      let exact = DeterministicMath.inverseNormalCDF(key.unitOpen)
      #expect(abs(tables.normal(key) - exact) <= QuantileTables.normalError / 1.2, "\(key.bits)")
      #expect(tables.normal(RandomKey(state: ~key.bits)) == -tables.normal(key))
    }
  }

  @Test("Powers of two are exact within the error that is declared, over all that a span can be")
  func power() {
    for n in -20_000...20_000 {
      let x = Double(n) * 0.737
      let exact = Foundation.pow(2, x / 64)
      #expect(abs(tables.power(x) / exact - 1) <= QuantileTables.powerError / 1.2, "\(x)")
    }
    #expect(tables.power(0) == 1)
    #expect(tables.power(64) == 2)
    #expect(tables.power(-128) == 0.25)
  }

  @Test("A sample is the exact quantile to the nearest microsecond, with short means and long ones")
  func samples() {
    for (median, p99) in [(80, 600), (30, 31), (3, 400_000), (200_000, 90_000_000)] as [(Int64, Int64)] {
      let latency = Sampler(
        .logNormal(median: .milliseconds(median), p99: .milliseconds(p99), minimum: .milliseconds(1)))
      let gap = Sampler(.exponential(mean: .milliseconds(p99)))
      let mu = DeterministicMath.log(Double(median - 1) * 1e3)
      let sigma =
        (DeterministicMath.log(Double(p99 - 1) * 1e3) - mu) / DeterministicMath.inverseNormalCDF(0.99)
      let longest = Double(Distribution.longestSample.microseconds)
      for key in Self.keys {
        let exact = 1e3 + DeterministicMath.exp(mu + sigma * DeterministicMath.inverseNormalCDF(key.unitOpen))
        #expect(latency.sample(key).microseconds == Int64(min(exact + 0.5, longest)))
        let wait = -DeterministicMath.log(key.unitAboveZero) * (Double(p99) * 1e3)
        #expect(gap.sample(key).microseconds == Int64(min(wait + 0.5, longest)))
      }
    }
  }

  @Test("Hardly any sample of an ordinary latency or gap needs the exact function")
  func exactOnesAreRare() {
    let root = RandomKey(seed: 4)
    var unsure = 0
    for n in 0..<100_000 as Range<UInt64> {
      let key = root.child(n)
      let gap = tables.exponential(key) * 10e6
      if QuantileTables.rounded(gap, within: (10e6 + gap) * QuantileTables.exponentialError) == nil {
        unsure += 1
      }
      let body = 70e3 * tables.power(tables.normal(key) * 0.9 / QuantileTables.logOfStep)
      if QuantileTables.rounded(body, within: body * QuantileTables.normalError) == nil { unsure += 1 }
    }
    #expect(unsure < 200)
  }

  @Test("The table of one log-normal distribution gives the sampler's samples, and hardly ever none")
  func logNormalTables() throws {
    let root = RandomKey(seed: 5)
    for (median, p99, minimum) in [(80, 600, 10), (30, 31, 1), (3, 400_000, 0), (200_000, 90_000_000, 1_000)]
      as [(Int64, Int64, Int64)]
    {
      let sampler = Sampler(
        .logNormal(
          median: .milliseconds(median), p99: .milliseconds(p99), minimum: .milliseconds(minimum)))
      let table = try #require(LogNormalTable.of(sampler))
      for key in Self.keys {
        if let sample = table.view.sample(key) {
          #expect(sample == sampler.sample(key).microseconds, "\(median) ms, \(key.bits)")
        }
      }
      if p99 > 1_000 { continue }
      let unsure = (0..<100_000 as Range<UInt64>).count { table.view.sample(root.child($0)) == nil }
      #expect(unsure < 300, "\(median) ms")
    }
  }

  @Test("Only a log-normal distribution has a table, and one that is asked for again has the same")
  func tablesAreKept() throws {
    #expect(LogNormalTable.of(Sampler(.exponential(mean: .seconds(1)))) == nil)
    // Nothing is left to draw.
    let fixed = Distribution.logNormal(median: .seconds(1), p99: .seconds(1), minimum: .zero)
    #expect(LogNormalTable.of(Sampler(fixed)) == nil)
    let sampler = Sampler(.logNormal(median: .milliseconds(81), p99: .seconds(1), minimum: .zero))
    let table = try #require(LogNormalTable.of(sampler))
    #expect(LogNormalTable.of(sampler) === table)
    // Others push it out, and it goes on for who holds it.
    let sample = table.view.sample(RandomKey(seed: 3))
    for p99 in 2..<20 as Range<Int64> {
      _ = LogNormalTable.of(
        Sampler(.logNormal(median: .milliseconds(81), p99: .seconds(p99), minimum: .zero)))
    }
    #expect(LogNormalTable.of(sampler) !== table)
    #expect(table.view.sample(RandomKey(seed: 3)) == sample)
  }
}
