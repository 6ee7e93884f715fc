import FleetStatistics
import Testing

@Suite struct HolmTests {
  @Test("Adjusted p values step down as Holm's procedure does")
  func adjusted() {
    // Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1, and never smaller than the one before.
    let adjusted = Holm.adjusted([0.01, 0.04, 0.03, 0.005])
    for (value, expected) in zip(adjusted, [0.03, 0.06, 0.06, 0.02]) {
      #expect(abs(value - expected) < 1e-15)
    }
    #expect(Holm.adjusted([]) == [])
    #expect(Holm.adjusted([0.7]) == [0.7])
    #expect(Holm.adjusted([0.6, 0.9]) == [1, 1])
  }

  @Test("An interval at its Holm confidence excludes 0 exactly where the procedure rejects")
  func consistent() throws {
    for seed in 0..<200 {
      var state = UInt64(seed &* 7_919 &+ 1)
      func draw() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(state >> 40) / Double(1 << 24)
      }
      let pairs = (0..<6).map { k in
        PairedDifference(SampleStatistics((0..<12).map { _ in draw() - 0.5 + 0.08 * Double(k) }))
      }
      let pValues = try pairs.map { try #require($0.pValue) }
      let adjusted = Holm.adjusted(pValues)
      let confidences = Holm.confidences(pValues)
      for (k, pair) in pairs.enumerated() {
        let interval = try #require(pair.interval(confidence: confidences[k]))
        #expect(interval.contains(0) == (adjusted[k] >= 0.05))
        #expect(confidences[k] >= 0.95)
      }
    }
  }

  @Test("Systems tie when their paired interval contains zero, however far apart their means are")
  func ranking() {
    let samples: [[Double]] = [
      [10, 20, 30, 40, 50, 60], [11, 21.1, 31, 40.9, 51, 61], [11, 21, 31.1, 41, 50.9, 61],
      [100, 0, 0, 90, 10, 200],
    ]
    let ranking = PairwiseRanking(systems: 4, lowerIsBetter: true) { first, second in
      PairedDifference(samples[second], minus: samples[first])
    }
    // The second and third are a whole unit behind the first in every pair; the last one's spread hides everything.
    #expect(ranking.ranks == [1, 2, 2, 1])
    #expect(ranking.pair(1, 0).differs)
    #expect(!ranking.pair(2, 1).differs)
    #expect(ranking.pairs.count == 6)
    #expect(ranking.pair(2, 3).first == 2 && ranking.pair(3, 2).second == 3)
  }

  @Test("Where more is better the order turns round, and who has no value has no rank")
  func direction() {
    let samples: [[Double?]] = [[1, 2, 3, 4], [2, 3.1, 4, 5], [nil, nil, nil, nil]]
    let ranking = PairwiseRanking(
      systems: 3, lowerIsBetter: false, hasValues: { samples[$0].contains { $0 != nil } },
      difference: { first, second in PairedDifference(samples[second], minus: samples[first]) })
    #expect(ranking.ranks == [2, 1, nil])
    #expect(PairwiseRanking(systems: 0, lowerIsBetter: true) { _, _ in fatalError() }.ranks == [])
  }
}
