import FleetMetrics
import FleetSimulation
import PlainEngine
import ScenarioModel
import ShippedQuirks
import SimulationKernel
import TAPIModel
import TestClients
import TestSupport
import Testing
import UploadPipeline
import UploadRetry

func windowed(
  _ scenario: Scenario, window: Span? = nil, shards: Int = 1, threads: Int = 1, checks: Bool = true
) throws -> RunRecord {
  var options = RunOptions()
  options.checks = checks
  options.window = window
  options.shards = shards
  options.threads = threads
  return try Simulation.run(scenario, options: options)
}

func expectSame(_ a: RunRecord, _ b: RunRecord, _ what: String, seed: UInt64) {
  if a == b { return }
  let difference = a.series.rows.indices.lazy.compactMap { row in
    Measure.allCases.first { a.series[row, $0] != b.series[row, $0] }.map {
      "row \(row): \($0) \(a.series[row, $0]) and \(b.series[row, $0])"
    }
  }.first
  Issue.record("seed \(seed): \(what) differ, first in \(difference ?? "what is not the series")")
}

extension Measure {
  /// The retries by how the latest failed upload of their batch ended.
  static let retriesByCause: [Measure] = [
    .retriesAfter429, .retriesAfter5xx, .retriesAfterNoAnswer, .retriesAfterOther,
  ]
}

/// What has several columns by cause has nothing beside them.
func expectSums(of record: RunRecord, _ scenario: Scenario, seed: UInt64) {
  for (row, counts) in record.series.rows.enumerated() {
    func sum(_ parts: [Measure]) -> Int64 { parts.reduce(0) { $0 + counts[$1] } }
    #expect(sum(Measure.retriesByCause) == counts[.retries], "seed \(seed), row \(row)")
    #expect(sum(Measure.blocks) == counts[.blockedEvents], "seed \(seed), row \(row)")
  }
  for cohort in record.cohorts {
    #expect(cohort.pending.total == cohort.openEvents, "seed \(seed), \(cohort.name)")
  }
  let totals = record.series.totals
  let answered = Measure.answers.reduce(0) { $0 + totals[$1] } + totals[.unanswered]
  if case .bucket = scenario.tapi.server, scenario.tapi.connections == nil {
    #expect(answered == totals.attempts, "seed \(seed)")
  } else {
    // Others are still at the server, or shake hands.
    #expect(answered <= totals.attempts, "seed \(seed)")
  }
}

extension Scenario {
  /// The fleet as so many cohorts of a device or two, most of which have nothing to do in most windows.
  func inCohorts(_ count: Int) -> Scenario {
    var scenario = self
    scenario.fleet = (0..<count).map { number in
      var cohort = fleet[number % fleet.count]
      (cohort.name, cohort.devices) = ("c\(number)", 1 + number % 2)
      return cohort
    }
    return scenario
  }
}

/// The proof that windows change nothing: two engines, one result.
@Suite struct EngineEqualityTests {
  static let seeds = Array(1...UInt64(TestDepth.cases(12, exhaustively: 40, wholly: 100)))
  /// Of scenarios with every part of the model, watched by every checker.
  static let watchedSeeds = Array(1...UInt64(TestDepth.cases(120, exhaustively: 250, wholly: 500)))

  private func lookAhead(_ scenario: Scenario) -> Int64 {
    scenario.fleet.map { min($0.latency.minimum.microseconds, $0.timeout.microseconds) }.min()!
  }

  @Test(
    """
    The plain one-heap engine and the windowed engine agree on random scenarios (40; 250 in CI; 500 in all), every checker holds \
    in them, and between them they use every part of the model
    """)
  func plainAndWindowed() throws {
    var seen = ModelParts()
    for seed in Self.watchedSeeds.prefix(TestDepth.cases(40, exhaustively: 250, wholly: 500)) {
      let scenario = RandomScenario.scenario(seed: seed)
      do {
        let record = try windowed(scenario)
        expectSame(PlainEngine.run(scenario).record, record, "engines", seed: seed)
        expectSums(of: record, scenario, seed: seed)
        seen.add(record)
      } catch { Issue.record("seed \(seed): \(error)") }
    }
    if TestDepth.isExhaustive { #expect(seen.missing == []) }
  }

  @Test("Without checkers, when the engine takes its short ways, it agrees with the plain engine too")
  func shortWays() throws {
    for seed in Self.seeds {
      for scenario in [
        RandomScenario.scenario(seed: seed), RandomScenario.fastPath(seed: seed),
        RandomScenario.fastFiles(seed: seed),
      ] {
        expectSame(
          PlainEngine.run(scenario).record, try windowed(scenario, checks: false), "engines", seed: seed)
      }
    }
  }

  @Test("With thirty cohorts, most of which rest, the plain engine and one thread and three agree")
  func manyCohorts() throws {
    for seed in Self.seeds.prefix(TestDepth.cases(6, exhaustively: 12, wholly: 32)) {
      for scenario in [RandomScenario.scenario(seed: seed), RandomScenario.fastPath(seed: seed)] {
        let scenario = scenario.inCohorts(30)
        let plain = PlainEngine.run(scenario).record
        for threads in [1, 3] {
          expectSame(
            plain, try windowed(scenario, threads: threads, checks: threads == 1), "\(threads) threads",
            seed: seed)
        }
      }
    }
  }

  @Test(
    "A window asks the shards with something to do, however many cohorts there are", arguments: [1, 20, 400])
  func devicePasses(cohorts: Int) throws {
    var cohort = Cohort(name: "c", devices: 1, events: .poisson(meanGap: .seconds(10)))
    cohort.flush = FlushPolicy(count: 20, interval: .seconds(30))
    let server = TAPIConfiguration.Server.bucket(
      TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000, burst: 1_000))
    let scenario = Scenario(
      duration: .seconds(600), tapi: TAPIConfiguration(server: server), fleet: [cohort]
    ).inCohorts(cohorts)
    let control = RunControl()
    let attempts = try Simulation.run(scenario, control: control).series.totals.attempts
    #expect(attempts > 15 * Int64(cohorts))
    // An upload leaves, arrives and is answered in a window each, and a shard may be asked once more after each of them. In vain go
    // the first window, and flushes of devices without events: at most 20 a device.
    let devices = scenario.fleet.reduce(0) { $0 + Int64($1.devices) }
    #expect(control.devicePasses <= 6 * attempts + 2 * 21 * devices)
  }

  @Test("Windows of the look-ahead, half of it and a seventh of it agree, and so do 1, 2, 3 and 8 shards")
  func windowsAndShards() throws {
    for seed in Self.seeds.prefix(TestDepth.cases(8, exhaustively: 40, wholly: 100)) {
      let scenario = RandomScenario.scenario(seed: seed)
      let look = lookAhead(scenario)
      let whole = try windowed(scenario)
      for divisor in [2, 7] as [Int64] {
        expectSame(
          whole, try windowed(scenario, window: Span(microseconds: look / divisor)),
          "windows of L/\(divisor)",
          seed: seed)
      }
      for shards in [2, 3, 8] {
        expectSame(whole, try windowed(scenario, shards: shards), "\(shards) shards", seed: seed)
      }
    }
  }

  @Test(
    "The random scenarios between them have every client, every value of every switch, restarts and rollouts")
  func clientCoverage() {
    let scenarios = (1...600).map(RandomScenario.scenario(seed:))
    let cohorts = scenarios.flatMap(\.fleet)
    #expect(Set(cohorts.map(\.client)) == Set(ClientPreset.all.map(\.name)))
    for entry in ClientPolicy.switches {
      let drawn = Set(cohorts.map { entry.value(in: $0.policy) })
      for value in entry.values {
        // A letter stands for a number, behind which that of a time has its unit.
        let parts = value.split(separator: ":")
        let found = drawn.contains {
          let drawn = $0.split(separator: ":")
          return drawn.count == parts.count
            && zip(drawn, parts).allSatisfy {
              $1.count > 1 ? $0 == $1 : ($1 == "T") == ($0.last?.isLetter == true)
            }
        }
        #expect(found, "\(entry.name) \(value)")
      }
    }
    #expect(Set(cohorts.map(\.flushWhileUploading)) == Set(FlushWhileUploading.allCases))
    #expect(Set(cohorts.map(\.saving)) == Set(Saving.allCases))
    #expect(Set(cohorts.map(\.actsAtFlushEnd)).count == 2 && Set(cohorts.map(\.rateLimitEndsLoop)).count == 2)
    #expect(Set(cohorts.map(\.countOfAnEvent)) == [1, 2] && Set(cohorts.map(\.countsAllEvents)).count == 2)
    #expect(cohorts.count { $0.failureEndsLoop } > 20 && cohorts.count { $0.countsHeldEvents } > 20)
    #expect(cohorts.count { !$0.countFlushWhileFailing } > 20)
    #expect(Set(cohorts.compactMap(\.gates.lanes).map(\.oneBelowAfter)) == [nil, 2])
    for trigger in ClientTrigger.allCases where trigger != .count && trigger != .interval {
      #expect(cohorts.contains { !$0.triggers.contains(trigger) }, "\(trigger)")
    }
    #expect(cohorts.contains { !$0.settings.isManaged })
    // The presets as they are.
    for preset in ClientPreset.all {
      var same = Cohort(name: "", devices: 1, events: .poisson(meanGap: .seconds(1)), settings: HTTPConfig())
      same.take(preset)
      let found = cohorts.contains {
        $0.client == preset.name && $0.policy == same.policy && $0.gates == same.gates
          && $0.flushWhileUploading == same.flushWhileUploading && $0.actsAtFlushEnd == same.actsAtFlushEnd
          && $0.saving == same.saving && $0.triggers == same.triggers
      }
      #expect(found, "\(preset.name)")
    }
    let headers = Set(scenarios.map(\.tapi.retryAfterHeader))
    #expect(headers == Set(RetryAfterHeader.allCases))
    let actions = Set(scenarios.flatMap(\.tapi.actions).map { "\($0.kind)".prefix { $0 != "(" } })
    #expect(actions == ["retryAfter", "shed", "readmit", "capacity", "restart"])
    let lifecycles = cohorts.compactMap(\.lifecycle)
    #expect(lifecycles.contains { $0.meanTimeBetweenRestarts != nil && $0.keepsState })
    #expect(lifecycles.contains { $0.meanTimeBetweenRestarts != nil && !$0.keepsState })
    #expect(lifecycles.contains { $0.synchronised.contains { $0.spread == .zero } && !$0.flushesAtLaunch })
    #expect(cohorts.contains { $0.rollout != nil && $0.lifecycle != nil })
    #expect(cohorts.contains { $0.rollout?.fetch != nil && $0.rollout?.isAction == true })
    #expect(scenarios.contains { $0.tapi.incidents.contains { $0.kind == .cdnOutage && $0.start == .start } })
  }
}

/// What has happened in some runs at least once.
private struct ModelParts {
  private var total = MeasureTotals()
  private var unconfirmed: Int64 = 0
  private static let quantities: [(name: String, measure: Measure)] = [
    ("dropped by status", .droppedByStatus), ("dropped by the retry limit", .droppedByRetryLimit),
    ("dropped by the limit of 429s", .droppedByRateLimitRetryLimit), ("dropped by age", .droppedByAge),
    ("dropped by overflow", .droppedByOverflow), ("time-outs", .timeouts),
    ("duplicates", .duplicateEvents), ("accepted after a drop", .acceptedAfterDropEvents),
    ("unanswered", .unanswered), ("server queue", .serverQueue), ("429", .answers429),
    ("limits of a key", .keyLimited), ("shed", .shed), ("unheard answers", .unheardAnswers),
    ("lost answers", .lostAnswers), ("deduplicated", .deduplicatedEvents),
    ("requests lost on the way", .networkLostRequests), ("answers lost on the way", .networkLostAnswers),
    ("unknown outcomes", .unknownOutcomes), ("offline", .offlineDevices), ("held by gates", .heldLoops),
    ("refused by gates", .refusedByGate), ("blocked by status", .blockedByStatus),
    ("blocked by the retry limit", .blockedByRetryLimit), ("blocked by age", .blockedByAge),
    ("blocked by the limit of 429s", .blockedByRateLimitRetryLimit), ("401", .answers401),
    ("retries after a 429", .retriesAfter429), ("after a 5xx", .retriesAfter5xx),
    ("after no answer", .retriesAfterNoAnswer), ("after others", .retriesAfterOther),
    ("backoff", .backoffMicroseconds),
    ("breaker openings", .breakerOpenings), ("throttled", .throttledRequests),
    ("duplicate batches", .duplicateBatches), ("launches", .launches), ("status queries", .statusQueries),
    ("refreshed credentials", .credentialRefreshes), ("retries of proxies", .proxyRetries),
  ]

  mutating func add(_ record: RunRecord) {
    for row in record.series.rows {
      for quantity in Self.quantities { total[quantity.measure] += row[quantity.measure] }
    }
    unconfirmed += record.acceptedUnconfirmedEvents
  }

  var missing: [String] {
    Self.quantities.filter { total[$0.measure] <= 0 }.map(\.name)
      + (unconfirmed > 0 ? [] : ["accepted, not confirmed"])
  }
}
