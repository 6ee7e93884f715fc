import TestSupport
import Testing
import UploadRetry

@Suite("Jitter (J, S10)")
struct JitterTests {
  static let all: [Jitter] = [
    .none, .additive(percent: 10), .symmetric(percent: 10), .full, .equal, .decorrelated,
    .additive(upTo: 3_000_000), .additive(percent: 50, atMost: 30_000_000), .between(2_000_000, 10_000_000),
  ]

  private func draw(
    _ jitter: Jitter, retryCount: Int = 0, base: Int64 = 500_000, cap: Int64 = 300_000_000,
    previous: Int64 = 0,
    clamp: Bool = false, _ random: inout some RandomNumberGenerator
  ) -> Int64 {
    jitter.delay(
      retryCount: retryCount, base: base, cap: cap, previousDelay: previous, clampAfterJitter: clamp,
      word: random.next())
  }

  private func ends(
    _ jitter: Jitter, retryCount: Int = 0, cap: Int64 = 300_000_000, previous: Int64 = 0, clamp: Bool = false
  ) -> [Int64] {
    var low = Constant.low
    var high = Constant.high
    return [
      draw(jitter, retryCount: retryCount, cap: cap, previous: previous, clamp: clamp, &low),
      draw(jitter, retryCount: retryCount, cap: cap, previous: previous, clamp: clamp, &high),
    ]
  }

  @Test("The backoff doubles from base and stays at the cap: 0.5 1 2 4 … 256 300 300 s")
  func schedule() {
    let waits = (0...11).map { Jitter.backoff(retryCount: $0, base: 500_000, cap: 300_000_000) }
    #expect(waits == [0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map(seconds))
  }

  @Test("The backoff never overflows", arguments: [11, 40, 62, 63, 64, 65_535, Int.max])
  func noOverflow(retryCount: Int) {
    #expect(Jitter.backoff(retryCount: retryCount, base: 500_000, cap: 300_000_000) == 300_000_000)
    #expect(Jitter.backoff(retryCount: retryCount, base: .max, cap: .max) == .max)
    #expect(Jitter.backoff(retryCount: retryCount, base: 0, cap: 300_000_000) == 0)
    #expect(Jitter.backoff(retryCount: retryCount, base: .min, cap: .min) == 0)
  }

  @Test("The largest doubling that fits is exact, and a negative count is none")
  func backoffEdges() {
    #expect(Jitter.backoff(retryCount: 62, base: 1, cap: .max) == 1 << 62)
    #expect(Jitter.backoff(retryCount: 3, base: 100, cap: 800) == 800)
    #expect(Jitter.backoff(retryCount: 3, base: 100, cap: 799) == 799)
    #expect(Jitter.backoff(retryCount: 3, base: 100, cap: 801) == 800)
    #expect(Jitter.backoff(retryCount: -5, base: 100, cap: 800) == 100)
    #expect(Jitter.backoff(retryCount: 0, base: 900, cap: 800) == 800)
  }

  @Test("Each strategy reaches exactly its bounds")
  func bounds() {
    // The third failure: 0.5 · 2² = 2 s.
    #expect(ends(.none, retryCount: 2) == [2_000_000, 2_000_000])
    #expect(ends(.additive(percent: 10), retryCount: 2) == [2_000_000, 2_200_000])
    #expect(ends(.additive(percent: 50), retryCount: 2) == [2_000_000, 3_000_000])
    #expect(ends(.additive(percent: 12.5), retryCount: 2) == [2_000_000, 2_250_000])
    #expect(ends(.additive(percent: 0), retryCount: 2) == [2_000_000, 2_000_000])
    // No Settings as the document reads them ask for more than 100 %; a client that does not clamp them may.
    #expect(ends(.additive(percent: 900), retryCount: 2) == [2_000_000, 20_000_000])
    #expect(ends(.additive(percent: 1e6), retryCount: 2) == [2_000_000, 20_002_000_000])
    #expect(ends(.additive(percent: 1e7), retryCount: 2) == [2_000_000, 20_002_000_000])
    #expect(ends(.additive(upTo: 3_000_000), retryCount: 2) == [2_000_000, 5_000_000])
    #expect(ends(.additive(percent: 50, atMost: 3_000_000), retryCount: 2) == [2_000_000, 3_000_000])
    #expect(ends(.additive(percent: 50, atMost: 3_000_000), retryCount: 6) == [32_000_000, 35_000_000])
    #expect(ends(.between(2_000_000, 10_000_000), retryCount: 0) == [2_000_000, 10_000_000])
    #expect(ends(.between(2_000_000, 10_000_000), retryCount: 20) == [2_000_000, 10_000_000])
    #expect(ends(.full, retryCount: 2) == [0, 2_000_000])
    #expect(ends(.equal, retryCount: 2) == [1_000_000, 2_000_000])
    #expect(ends(.decorrelated) == [500_000, 1_500_000])
    #expect(ends(.decorrelated, previous: 2_000_000) == [500_000, 6_000_000])
    #expect(ends(.decorrelated, previous: 200_000_000) == [500_000, 300_000_000])
    #expect(ends(.decorrelated, cap: 100_000, previous: 200_000) == [100_000, 100_000])
  }

  @Test("O2: the chapter's delays reach exactly their bounds: none, full, equal, decorrelated")
  func chapterDelays() {
    func ends(_ jitter: Jitter, retryCount: Int = 2, previous: Int64 = 0) -> [Int64] {
      [Constant.low, .high].map { constant in
        var random = constant
        return draw(jitter, retryCount: retryCount, base: seconds(1), previous: previous, &random)
      }
    }
    // The third failure, 1 s · 2² = 4 s, and one at the cap of 300 s.
    #expect(ends(.none) == [4, 4].map(seconds) && ends(.none, retryCount: 20) == [300, 300].map(seconds))
    #expect(ends(.full) == [0, 4].map(seconds) && ends(.full, retryCount: 20) == [0, 300].map(seconds))
    #expect(ends(.equal) == [2, 4].map(seconds) && ends(.equal, retryCount: 20) == [150, 300].map(seconds))
    #expect(ends(.decorrelated, previous: seconds(7)) == [1, 21].map(seconds))
    #expect(ends(.decorrelated, previous: seconds(200)) == [1, 300].map(seconds))
  }

  @Test("Additive jitter goes beyond the cap to 330 s, unless it is clamped again")
  func additiveAtTheCap() {
    #expect(ends(.additive(percent: 10), retryCount: 20) == [300_000_000, 330_000_000])
    #expect(ends(.additive(percent: 10), retryCount: 20, clamp: true) == [300_000_000, 300_000_000])
    #expect(ends(.additive(percent: 10), retryCount: 9, clamp: true) == [256_000_000, 281_600_000])
    #expect(ends(.additive(upTo: 3_000_000), retryCount: 20) == [300_000_000, 303_000_000])
    #expect(ends(.additive(upTo: 3_000_000), retryCount: 20, clamp: true)[1] == 300_000_000)
    #expect(ends(.between(400_000_000, 500_000_000), clamp: true) == [300_000_000, 300_000_000])
    #expect(ends(.additive(percent: 900), retryCount: 20) == [300_000_000, 3_000_000_000])
    #expect(ends(.additive(percent: 900), retryCount: 2, clamp: true) == [2_000_000, 20_000_000])
    #expect(ends(.additive(percent: 900), retryCount: 8, clamp: true) == [128_000_000, 300_000_000])
    for jitter in [Jitter.none, .full, .equal, .decorrelated] {
      #expect(ends(jitter, retryCount: 20, previous: 300_000_000)[1] == 300_000_000)
    }
  }

  private static let hostile =
    [100, 1e300, -.infinity, .infinity, .nan, -3].map {
      Jitter.additive(percent: $0)
    } + [
      .additive(upTo: .max), .additive(percent: .nan, atMost: .min), .between(.max, .min), .between(0, .max),
    ]

  @Test("No argument makes any strategy trap or go below zero", arguments: all + hostile)
  func hostileArguments(jitter: Jitter) {
    let lengths: [Int64] = [.min, -1, 0, 1, 3, 500_000, 3_600_000_000, .max / 3, .max - 1, .max]
    for base in lengths {
      for cap in lengths {
        for previous in lengths {
          for word in [UInt64.min, 1 << 63, .max] {
            for retryCount in [Int.min, 0, 1, 62, 63, 64, .max] {
              for clamp in [false, true] {
                let wait = jitter.delay(
                  retryCount: retryCount, base: base, cap: cap, previousDelay: previous,
                  clampAfterJitter: clamp, word: word)
                if wait < 0 { Issue.record("\(jitter) \(base) \(cap) \(previous) \(word) \(retryCount)") }
              }
            }
          }
        }
      }
    }
  }

  // MARK: Distributions

  private static let samples = 20_000
  /// The Kolmogorov–Smirnov statistic exceeds this in one of a hundred samples of the right distribution.
  private static let critical = 1.628 / Double(samples).squareRoot()

  /// The largest distance between the sample and the uniform distribution on 0 … 1.
  private func distance(_ sample: [Double]) -> Double {
    let count = Double(sample.count)
    return sample.sorted().enumerated().map { index, value in
      max(value - Double(index) / count, Double(index + 1) / count - value)
    }.max() ?? 1
  }

  @Test(
    "The wait is uniform over its range, with the mean in the middle",
    arguments: [
      (Jitter.additive(percent: 10), 2_000_000.0, 2_200_000.0),
      (.additive(percent: 50), 2_000_000, 3_000_000),
      (.full, 0, 2_000_000), (.equal, 1_000_000, 2_000_000),
      (.additive(upTo: 3_000_000), 2_000_000, 5_000_000),
      (.between(3_000_000, 9_000_000), 3_000_000, 9_000_000),
      (.additive(percent: 50, atMost: 400_000), 2_000_000, 2_400_000),
    ])
  func distribution(jitter: Jitter, low: Double, high: Double) {
    var random = SeededGenerator(seed: 20_240_607)
    let waits = (0..<Self.samples).map { _ in Double(draw(jitter, retryCount: 2, &random)) }
    #expect(waits.allSatisfy { $0 >= low && $0 <= high })
    #expect(distance(waits.map { ($0 - low) / (high - low) }) < Self.critical)
    let standardError = (high - low) / (12 * Double(Self.samples)).squareRoot()
    #expect(abs(waits.reduce(0, +) / Double(Self.samples) - (low + high) / 2) < 3 * standardError)
  }

  @Test("No jitter is a point")
  func pointDistribution() {
    var random = SeededGenerator(seed: 1)
    #expect(Set((0..<1_000).map { _ in draw(.none, retryCount: 2, &random) }) == [2_000_000])
  }

  @Test("A decorrelated wait is uniform on base … 3 · previous, and what lies beyond the cap is the cap")
  func decorrelatedChain() {
    let base = 500_000.0
    let cap = 300_000_000.0
    var random = SeededGenerator(seed: 20_240_608)
    var previous: Int64 = 0
    var belowCap: [Double] = []
    var capped = 0.0
    var expectedCapped = 0.0
    for _ in 0..<Self.samples {
      let upper = 3 * (previous == 0 ? base : Double(previous))
      let wait = draw(.decorrelated, previous: previous, &random)
      // Below the cap the wait is uniform up to the smaller of the two ends; the rest of the weight sits on
      // the cap.
      if Double(wait) < cap {
        belowCap.append((Double(wait) - base) / (min(upper, cap) - base))
      } else {
        capped += 1
      }
      if upper > cap { expectedCapped += (upper - cap) / (upper - base) }
      previous = wait
    }
    #expect(belowCap.count > 5_000 && capped > 2_000, "\(capped) at the cap")
    #expect(belowCap.allSatisfy { $0 >= 0 && $0 <= 1 })
    #expect(distance(belowCap) < 1.628 / Double(belowCap.count).squareRoot())
    #expect(abs(capped - expectedCapped) < 3 * (Double(Self.samples) / 4).squareRoot())
  }

  @Test("The mean of decorrelated waits follows its recurrence: (base + 3 · mean before) / 2")
  func decorrelatedMeans() {
    // 0.5 s base: 1, 1.75, 2.875 s. The deviation of the third is below 2 s.
    var random = SeededGenerator(seed: 7)
    var sums = [0.0, 0.0, 0.0]
    for _ in 0..<Self.samples {
      var previous: Int64 = 0
      for step in 0..<3 {
        previous = draw(.decorrelated, previous: previous, &random)
        sums[step] += Double(previous) / 1_000_000
      }
    }
    for (sum, expected) in zip(sums, [1, 1.75, 2.875]) {
      #expect(abs(sum / Double(Self.samples) - expected) < 3 * 2 / Double(Self.samples).squareRoot())
    }
  }

  @Test("Decorrelated waits grow to a cap of days as far as one of seconds, each from the wait before it")
  func longDecorrelated() {
    var config = HTTPConfig()
    config.backoff.jitter = .decorrelated
    config.backoff.baseBackoffInterval = seconds(600)
    config.backoff.maxBackoffInterval = seconds(86_400 * 20)
    let machine = RetryStateMachine(config: config)
    var batch = BatchRetryState()
    var pipeline = PipelineRetryState()
    var random = Constant.high
    for wait in [1_800, 5_400, 16_200, 48_600, 145_800, 437_400, 1_312_200, 1_728_000, 1_728_000] {
      let outcome = machine.afterResponse(
        .status(503, retryAfter: nil), batch: &batch, pipeline: &pipeline, now: 0, random: &random)
      guard case .retry(let time) = outcome else {
        Issue.record("\(outcome)")
        return
      }
      // Rounded to 50 ms each time, and three times as much.
      #expect(abs(time - seconds(Double(wait))) <= 200_000, "\(wait) \(time)")
    }
  }

  // MARK: Names

  @Test(
    "A name reads back as it is written",
    arguments: [
      ("none", Jitter.none), ("full", .full), ("equal", .equal), ("decorrelated", .decorrelated),
      ("additive:10", .additive(percent: 10)), ("additive:0", .additive(percent: 0)),
      ("additive:100", .additive(percent: 100)), ("additive:12.5", .additive(percent: 12.5)),
      ("additive:0.000001", .additive(percent: 0.000001)),
      ("additive:33.333333", .additive(percent: 33.333333)),
      ("additive:3s", .additive(upTo: 3_000_000)), ("additive:0s", .additive(upTo: 0)),
      ("additive:50:30s", .additive(percent: 50, atMost: 30_000_000)),
      ("between:2s:10s", .between(2_000_000, 10_000_000)), ("between:0s:1h", .between(0, 3_600_000_000)),
      ("between:1.5ms:90m", .between(1_500, 5_400_000_000)),
    ])
  func names(name: String, jitter: Jitter) {
    #expect(Jitter(name: name) == jitter)
    #expect(jitter.description == name)
  }

  @Test("An object of its parts is the same jitter as its name")
  func objects() {
    func jitter(_ members: [(String, SettingsValue)]) -> Jitter? { Jitter(SettingsValue.object(members)) }
    #expect(jitter([("additive", .string("3s"))]) == Jitter(name: "additive:3s"))
    #expect(jitter([("additive", .string("12.5%"))]) == Jitter(name: "additive:12.5"))
    let capped = Jitter(name: "additive:50:30s")
    #expect(jitter([("additive", .string("50%")), ("atMost", .string("30s"))]) == capped)
    #expect(jitter([("atMost", .string("30s")), ("additive", .string("50%"))]) == capped)
    #expect(jitter([("between", .array([.string("2s"), .string("10s")]))]) == Jitter(name: "between:2s:10s"))
    for wrong: [(String, SettingsValue)] in [
      [], [("additive", .number(3))], [("between", .array([.string("10s"), .string("2s")]))],
      [("between", .string("2s"))], [("additive", .string("3s")), ("atMost", .string("9s"))],
      [("full", .string("3s"))], [("additive", .string("3s")), ("symmetric", .string("3%"))],
      [("atMost", .string("3s"))],
    ] { #expect(jitter(wrong) == nil, "\(wrong)") }
  }

  @Test("What only lengthens a wait is never shorter, and nothing that stays below the cap is longer")
  func sides() {
    for jitter in Self.all {
      let (low, high) = (ends(jitter, retryCount: 20)[0], ends(jitter, retryCount: 20)[1])
      #expect(jitter.lengthens == (low == 300_000_000 && high > low), "\(jitter)")
      #expect(jitter.exceedsCap || high <= 300_000_000, "\(jitter)")
    }
  }

  @Test("A percentage may have superfluous zeros")
  func zeros() {
    #expect(Jitter(name: "additive:007.500") == .additive(percent: 7.5))
    #expect(Jitter(name: "additive:100.000000") == .additive(percent: 100))
  }

  @Test(
    "Anything else is no strategy",
    arguments: [
      "", "None", "full ", "additive", "additive:", "additive:-1", "additive:100.1", "additive:100.000001",
      "additive:101", "additive:1e1", "additive:nan", "additive:inf", "additive:.5", "additive:5.",
      "additive:1.2.3", "additive:0.0000001", "additive:+5", "additive: 5", "additive:١٠",
      "additive:9999999999999", "additive:3d", "additive:s", "additive:-3s", "between:10s:2s",
      "between:2s", "between:2s:3s:4s", "additive:3s:50", "symmetric:3s", "full:3s", "additive:999999999s",
      "decorelated", "equal\0",
    ])
  func refusals(name: String) {
    #expect(Jitter(name: name) == nil)
  }
}
