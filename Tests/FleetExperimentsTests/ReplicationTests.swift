import FleetExperiments
import FleetMetrics
import FleetStatistics
import ScenarioModel
import SimulationKernel
import Synchronization
import TAPIModel
import Testing
import UploadRetry

/// Replications with a stand-in for the engine, so that which runs are made can be seen.
@Suite("Replications")
struct ReplicationTests {
  /// A run's attempts depend on its seed, and on the devices of its scenario: "noise of the seed + effect of the variant".
  final class Engine: Sendable {
    let seeds = Mutex<[UInt64]>([])
    let failsAt: UInt64?
    init(failsAt: UInt64? = nil) { self.failsAt = failsAt }

    struct Failure: Error {}

    func record(_ scenario: Scenario) throws -> RunRecord {
      seeds.withLock { $0.append(scenario.seed) }
      if scenario.seed == failsAt { throw Failure() }
      let noise = Int64((scenario.seed &* 2_654_435_761) % 97)
      let effect = Int64(scenario.fleet[0].devices)
      let isTwin = scenario.tapi.incidents.isEmpty
      var series = TimeSeries(interval: 1_000_000, duration: 200_000_000, rows: 200)
      for i in 0..<200 {
        series[i, .firstAttempts] = 1_000 + noise * 10 + effect
        series[i, .backlogEvents] = !isTwin && i >= 10 && i < 60 + Int(noise) / 10 ? 100 : 10
      }
      var cost = DeviceCost()
      cost.attempts = 1_000 + noise * 10 + effect
      return RunRecord(
        series: series, deliveries: Histogram(),
        offeredPer100ms: [], nominalCapacityMilli: 1_000_000,
        incidents: isTwin
          ? [] : [IncidentSpan(label: "outage 503", isOutage: true, start: 0, end: 10_000_000)],
        devices: 1, longestFlushInterval: 0, cost: cost)
    }
  }

  func variant(_ name: String, effect: Int) -> Variant {
    let outage = Incident(
      kind: .outage(status: 503, retryAfter: .none, keepsWork: false), start: .start, duration: .seconds(10))
    let server = TAPIConfiguration.Server.bucket(
      TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000, burst: 1))
    return Variant(
      name: name,
      scenario: Scenario(
        seed: 99, duration: .seconds(200), tapi: TAPIConfiguration(server: server, incidents: [outage]),
        fleet: [Cohort(name: "phones", devices: effect, events: .poisson(meanGap: .seconds(1)))]))
  }

  var variants: [Variant] { [variant("a", effect: 1), variant("b", effect: 4), variant("c", effect: 4)] }

  func run(_ plan: ReplicationPlan, _ engine: Engine = Engine(), workers: Int = 2) throws
    -> ReplicatedComparison
  {
    try Replications.run(variants, plan: plan, options: .init(), workers: workers, control: .init()) {
      scenario, _, _ in try engine.record(scenario)
    }
  }

  @Test("all variants of a replication have one seed, and seeds count up from the first")
  func seeds() throws {
    let found = try run(ReplicationPlan(firstSeed: 7, count: 4))
    #expect(found.rows.map(\.seed) == [7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10])
    #expect(found.rows.map(\.run).prefix(4) == ["a", "b", "c", "a"])
    #expect(found.replications == 4)
    #expect(found.rows(of: 1).map(\.seed) == [7, 8, 9, 10])
  }

  @Test("nothing that comes out depends on the number of workers", arguments: [1, 2, 3, 8])
  func workers(count: Int) throws {
    for plan in [
      ReplicationPlan(firstSeed: 1, count: 13),
      ReplicationPlan(
        firstSeed: 1, count: 300,
        precision: [.init(metric: MetricCatalogue.attempts, target: .relative(0.1))]),
    ] {
      let expected = try run(plan, workers: 1)
      let found = try run(plan, workers: count)
      #expect(found.rows == expected.rows)
      #expect(StatisticsCSV.bytes(of: found.metrics) == StatisticsCSV.bytes(of: expected.metrics))
      #expect(found.curves.map(\.offered) == expected.curves.map(\.offered))
    }
  }

  @Test("sequential mode stops where the rule is first met by every variant, and not before ten")
  func sequential() throws {
    let precise = ReplicationPlan.Precision(metric: MetricCatalogue.attempts, target: .relative(0.1))
    let found = try run(ReplicationPlan(firstSeed: 1, count: 300, precision: [precise]))
    #expect(found.unmet.isEmpty)
    #expect(found.replications > 10 && found.replications < 300)
    let rule = SequentialStoppingRule(precise.target)
    let index = try #require(found.metrics.metrics.firstIndex { $0.name == precise.metric })
    for variant in 0..<3 {
      let values = found.metrics.values(of: index, variant: variant).compactMap(\.restricted)
      #expect(rule.isMet(by: SampleStatistics(values)))
    }
    let before = (0..<3).map { variant in
      rule.isMet(
        by: SampleStatistics(
          found.metrics.values(of: index, variant: variant).dropLast().compactMap(\.restricted)))
    }
    #expect(before.contains(false))
    let easy = ReplicationPlan.Precision(metric: MetricCatalogue.attempts, target: .relative(10))
    #expect(try run(ReplicationPlan(firstSeed: 1, count: 300, precision: [easy])).replications == 10)
  }

  @Test("at the most replications the run ends and says what is not precise enough")
  func upperBound() throws {
    let precision = ReplicationPlan.Precision(metric: MetricCatalogue.attempts, target: .absolute(0.001))
    let found = try run(ReplicationPlan(firstSeed: 1, count: 12, precision: [precision]))
    #expect(found.replications == 12)
    #expect(found.unmet == [precision])
    #expect(
      ReplicatedVerdict.text(found).contains(
        "attempts_mean_per_device_day is not as precise as the 0.001 asked for after 12 replications."))
  }

  @Test("a run that fails ends the comparison with its error")
  func failure() {
    #expect(throws: Engine.Failure.self) {
      _ = try run(ReplicationPlan(firstSeed: 1, count: 50), Engine(failsAt: 5))
    }
  }

  @Test("a cancelled comparison throws and makes no further run")
  func cancelled() {
    let control = ComparisonControl()
    let engine = Engine()
    #expect(throws: CancellationError.self) {
      _ = try Replications.run(
        variants, plan: ReplicationPlan(firstSeed: 1, count: 1_000), options: .init(), workers: 2,
        control: control
      ) { scenario, _, runControl in
        if scenario.seed == 3 { control.cancel() }
        if runControl.isCancelled { throw CancellationError() }
        return try engine.record(scenario)
      }
    }
    #expect(engine.seeds.withLock { $0.count } < 100)
  }

  @Test("a small effect under a large noise is found, equal variants tie, and the sentences say both")
  func verdict() throws {
    let found = try run(ReplicationPlan(firstSeed: 1, count: 20))
    let index = try #require(found.metrics.metrics.firstIndex { $0.name == MetricCatalogue.attempts })
    #expect(found.metrics.ranking(index).ranks == [1, 2, 2])
    // Far below 1 % of the mean: significant, yet no reason to choose.
    let text = ReplicatedVerdict.text(found)
    #expect(text.hasPrefix("No difference that 20 replications can show and that matters between a, b and c"))
    #expect(text.contains("attempts/device/day: a, then b and c."))
    #expect(text.contains("(seeds 1 to 20, the same for every variant)"))
  }

  @Test("a difference that matters decides, and the sentence says by how much and how surely")
  func decided() throws {
    let variants = [variant("a", effect: 1), variant("b", effect: 400)]
    let engine = Engine()
    let found = try Replications.run(
      variants, plan: ReplicationPlan(firstSeed: 1, count: 20), options: .init(), workers: 2, control: .init()
    ) { scenario, _, _ in try engine.record(scenario) }
    let text = ReplicatedVerdict.text(found)
    // 399 attempts of one device in 200 s are 172,368 a day, in every pair.
    #expect(text.hasPrefix("a brings the fleet back best: it needs "), "\(text)")
    #expect(
      text.contains(" attempts per device and day, b (next) 172,368 more, with nothing that decides in"))
  }

  @Test("variants that no seed tells apart are said to be the same, and one variant is only described")
  func same() throws {
    func verdict(_ variants: [Variant]) throws -> String {
      let engine = Engine()
      return ReplicatedVerdict.text(
        try Replications.run(
          variants, plan: ReplicationPlan(firstSeed: 1, count: 5), options: .init(), workers: 2,
          control: .init()
        ) { scenario, _, _ in try engine.record(scenario) })
    }
    #expect(
      try verdict([variant("a", effect: 1), variant("b", effect: 1)])
        .hasPrefix("All variants gave the same figures with every seed"))
    #expect(try verdict([variant("alone", effect: 1)]).hasPrefix("alone: events lost 0, recovered in "))
  }

  @Test("a curve's band holds the mean of the runs and narrows with their number")
  func curves() throws {
    let few = try run(ReplicationPlan(firstSeed: 1, count: 5)).curves[0]
    let many = try run(ReplicationPlan(firstSeed: 1, count: 80)).curves[0]
    #expect(few.offered.count == 200)
    let (a, b) = (try #require(few.offered[50]), try #require(many.offered[50]))
    #expect(a.low < a.mean && a.mean < a.high)
    #expect(b.high - b.low < (a.high - a.low) / 2)
    #expect(few.backlog[5]?.mean == 10 && few.backlog[40]?.mean == 100)
    #expect(few.twinBacklog[40]?.mean == 10)
    #expect(few.facts?.incidents.count == 1)
  }
}
