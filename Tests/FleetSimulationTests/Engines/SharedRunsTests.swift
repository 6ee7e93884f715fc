import Dispatch
import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import Synchronization
import TAPIModel
import TestScenarios
import TestSupport
import Testing
import UploadRetry

/// Runs scenarios one after another, a twin first; each record has to be that of the scenario by itself. Each run is expected
/// alone, so that none shares its beginning.
func expectSameInTurn(
  _ scenarios: [Scenario], seed: UInt64, saving savings: inout SharedRuns.Savings
) throws {
  let runs = SharedRuns(options: RunOptions())
  for scenario in scenarios {
    let record = try runs.run(runs.expect(scenario), control: RunControl())
    expectSame(record, try Simulation.run(scenario), "in turn and by itself", seed: seed)
  }
  savings.attempts += runs.savings.attempts
  savings.savedAttempts += runs.savings.savedAttempts
}

/// Runs that share a beginning: the records are those of separate runs, and the beginning is run once.
@Suite("Runs that share a beginning")
struct SharedRunsTests {
  static let seeds = Array(1...UInt64(TestDepth.cases(3, exhaustively: 10, wholly: 500)))

  /// How a client may react otherwise to a failure; what a search varies.
  static let reactions: [@Sendable (inout Cohort) -> Void] = [
    { $0.settings.backoff.jitter = .full },
    { $0.settings.backoff.jitter = .decorrelated },
    {
      $0.settings.backoff.jitter = .additive(percent: 10)
      $0.policy.clampAfterJitter = true
    },
    { $0.settings.backoff.baseBackoffInterval = 3_000_000 },
    { $0.settings.backoff.maxBackoffInterval = 5_000_000 },
    { $0.settings.backoff.maxRetryCount = 2 },
    { $0.settings.backoff.maxTotalBackoffDuration = 20_000_000 },
    { $0.settings.rateLimit.maxRetryInterval = 4_000_000 },
    { $0.settings.rateLimit.maxRetryCount = 1 },
    { $0.settings.rateLimit.maxTotalBackoffDuration = 0 },
    { $0.settings.backoff.statuses = .document },
  ]

  private func varying(_ scenario: Scenario) -> [Scenario] {
    let reacting = Self.reactions.map { react in
      var variant = scenario
      for i in variant.fleet.indices { react(&variant.fleet[i]) }
      return variant
    }
    let incidents = scenario.tapi.incidents.indices.flatMap { index in
      [Span.seconds(1), .seconds(5), .seconds(50)].map { more in
        var variant = scenario
        variant.tapi.incidents[index].duration = variant.tapi.incidents[index].duration + more
        return variant
      }
    }
    let both = zip(reacting, incidents).map { reacting, incident in
      var variant = reacting
      variant.tapi.incidents = incident.tapi.incidents
      return variant
    }
    let acting = [60, 120].map { (second: Int64) -> Scenario in
      var variant = scenario
      variant.tapi.actions = [
        ServerAction(.shed(Shedding(share: 500_000)), at: .start + .seconds(second), for: .seconds(30))
      ]
      return variant
    }
    var publishing = scenario
    for i in publishing.fleet.indices where scenario.fleet[i].rollout == nil {
      publishing.fleet[i].rollout = SettingsRollout(
        time: .start + .seconds(50), settings: scenario.fleet[i].settings)
      publishing.fleet[i].rollout?.settings.backoff.maxBackoffInterval = 2_000_000
      publishing.fleet[i].rollout?.isAction = true
    }
    return [scenario] + reacting + incidents + both + acting + [publishing, publishing]
  }

  /// A healthy fleet until an outage in the last third.
  private func herd() -> Scenario {
    let outage = Incident.outage(at: .seconds(600), for: .seconds(120))
    let server = TAPIConfiguration.Server.bucket(
      TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000, burst: 1_000))
    var cohort = Cohort(name: "phones", devices: 200, events: .poisson(meanGap: .seconds(10)))
    cohort.retries = .timer
    return Scenario(
      duration: .seconds(900), tapi: TAPIConfiguration(server: server, incidents: [outage]), fleet: [cohort])
  }

  @Test("Fleets of thirty cohorts, most of which rest where runs part, give the records of separate runs")
  func manyCohorts() throws {
    for seed in Self.seeds.prefix(TestDepth.cases(1, exhaustively: 2, wholly: 30)) {
      let scenarios = Array(
        varying(RandomScenario.scenario(seed: seed).inCohorts(30)).prefix(
          TestDepth.cases(8, exhaustively: 40)))
      let runs = SharedRuns(options: RunOptions())
      for (record, scenario) in zip(try together(scenarios, runs, order: seed), scenarios) {
        expectSame(record, try Simulation.run(scenario), "together and by itself", seed: seed)
      }
    }
  }

  private func separately(_ scenarios: [Scenario], _ options: RunOptions = .init()) throws -> [RunRecord] {
    try scenarios.map { try Simulation.run($0, options: options) }
  }

  /// In an order that is not the one in which they are expected.
  private func together(_ scenarios: [Scenario], _ runs: SharedRuns, order: UInt64 = 1) throws -> [RunRecord]
  {
    let numbers = scenarios.map(runs.expect)
    let key = RandomKey(seed: order)
    var records: [Int: RunRecord] = [:]
    for index in scenarios.indices.sorted(by: { key.child(UInt64($0)).bits < key.child(UInt64($1)).bits }) {
      records[index] = try runs.run(numbers[index], control: RunControl())
    }
    return scenarios.indices.compactMap { records[$0] }
  }

  @Test(
    "Random scenarios with other retry settings, other incidents and without any give the records of separate runs",
    arguments: [false, true])
  func sameRecords(checks: Bool) throws {
    var options = RunOptions()
    options.checks = checks
    var savings = SharedRuns.Savings()
    for seed in checks ? Array(Self.seeds.prefix(TestDepth.cases(1, exhaustively: 5))) : Self.seeds {
      for scenario in [
        RandomScenario.scenario(seed: seed), RandomScenario.fastPath(seed: seed),
        RandomScenario.fastFiles(seed: seed),
      ] + (seed % 5 == 3 ? [RandomScenario.crowd(seed: seed)] : []) {
        var variants = varying(scenario)
        var key = SeededGenerator(seed: seed)
        variants.shuffle(using: &key)
        let scenarios = variants.prefix(7).flatMap { [$0, $0.withoutIncidents] }
        let runs = SharedRuns(options: options)
        let records = try together(scenarios, runs, order: seed)
        for (index, (one, other)) in zip(records, try separately(scenarios, options)).enumerated() {
          expectSame(one, other, "run \(index) together and by itself", seed: seed)
        }
        // What happens to clients once their twins have not, and these share nothing with them.
        guard scenario.withoutIncidents.fleet == scenario.fleet, scenario.push.isEmpty else { continue }
        savings.attempts += runs.savings.attempts
        savings.savedAttempts += runs.savings.savedAttempts
      }
    }
    #expect(savings.savedAttempts > savings.attempts / 10)
  }

  @Test("Runs that may end as their twins did give the records of separate runs, and many do end so")
  func sharedEnds() throws {
    var savings = SharedRuns.Savings()
    let seeds = TestDepth.cases(10, exhaustively: 40, wholly: 500)
    for seed in 1_001...UInt64(1_000 + seeds) {
      let kinds = [RandomScenario.scenario, RandomScenario.fastPath, RandomScenario.fastFiles]
      var scenario = kinds[Int(seed % 3)](seed)
      // Time to come back.
      scenario.duration = scenario.duration + .seconds(400)
      let variants = [scenario] + varying(scenario)
      let variant = variants[Int(seed) % variants.count]
      try expectSameInTurn([scenario.withoutIncidents, variant], seed: seed, saving: &savings)
    }
    #expect(savings.savedAttempts > 0)
  }

  @Test(
    "A herd that comes back within a quarter of an hour ends as its twin did, whatever its strategy, with an attempt run or saved"
  )
  func endIsTakenFromTheTwin() throws {
    var herd = herd()
    herd.duration = .seconds(3_600)
    herd.fleet[0].settings.backoff.jitter = .full
    var other = herd
    other.fleet[0].settings.backoff.baseBackoffInterval = 2_000_000
    let scenarios = [herd.withoutIncidents, herd, other]
    let runs = SharedRuns(options: RunOptions())
    var records: [RunRecord] = []
    for scenario in scenarios { records.append(try runs.run(runs.expect(scenario), control: RunControl())) }
    #expect(records == (try separately(scenarios)))
    #expect(
      runs.savings.attempts + runs.savings.savedAttempts
        == records.reduce(0) { $0 + $1.cost.total[.attempts] })
    // The outage is over after 720 s of 3,600.
    #expect(runs.savings.savedAttempts > records[0].cost.total[.attempts])
  }

  @Test("What several threads run together are the records of separate runs")
  func threads() throws {
    for seed in Self.seeds.prefix(TestDepth.cases(1, exhaustively: 5)) {
      let variants = varying(RandomScenario.scenario(seed: seed))
      let scenarios = variants + variants.map(\.withoutIncidents)
      let runs = SharedRuns(options: RunOptions())
      let numbers = scenarios.map(runs.expect)
      let records = Mutex<[Int: RunRecord]>([:])
      DispatchQueue.concurrentPerform(iterations: scenarios.count) { index in
        let record = try? runs.run(numbers[index], control: RunControl())
        records.withLock { $0[index] = record }
      }
      let separate = try separately(scenarios)
      #expect(records.withLock { found in scenarios.indices.allSatisfy { found[$0] == separate[$0] } })
    }
  }

  @Test("What comes before the outage is run once for six strategies, and every attempt is run or saved")
  func beginningIsRunOnce() throws {
    let scenarios =
      [herd()]
      + Self.reactions.prefix(5).map { react in
        var variant = herd()
        react(&variant.fleet[0])
        return variant
      }
    let runs = SharedRuns(options: RunOptions())
    let records = try together(scenarios, runs)
    #expect(records == (try separately(scenarios)))
    let all = records.reduce(0) { $0 + $1.cost.total[.attempts] }
    #expect(runs.savings.attempts + runs.savings.savedAttempts == all)
    let before = records[0].series.rows[..<600].reduce(0) { $0 + $1[.firstAttempts] }
    #expect(runs.savings.savedAttempts >= 5 * (before - 5))
  }

  @Test("The twin begins with the run that it is the twin of, and strategies that nobody asks are one run")
  func twin() throws {
    var other = herd()
    other.fleet[0].settings.backoff.jitter = .full
    let scenarios = [herd(), herd().withoutIncidents, other.withoutIncidents]
    let runs = SharedRuns(options: RunOptions())
    let records = try together(scenarios, runs)
    #expect(records == (try separately(scenarios)))
    let before = records[1].series.rows[..<600].reduce(0) { $0 + $1[.firstAttempts] }
    #expect(runs.savings.savedAttempts >= records[2].cost.total[.attempts] + before - 5)
  }

  @Test("Runs that differ in an action alone are one run until it happens")
  func actions() throws {
    let actions = [
      ServerAction(.capacity(factorPartsPerMillion: 2_000_000), at: .start + .seconds(650)),
      ServerAction(.retryAfter(.fixed(.seconds(5))), at: .start + .seconds(700)),
      ServerAction(.shed(Shedding(share: 500_000)), at: .start + .seconds(750)),
    ]
    let scenarios =
      [herd()]
      + actions.map { action in
        var variant = herd()
        variant.tapi.actions = [action]
        return variant
      }
    let runs = SharedRuns(options: RunOptions())
    let records = try together(scenarios, runs)
    #expect(records == (try separately(scenarios)))
    #expect(Set(records).count == 4)
    let before = records[0].series.rows[..<650].reduce(0) { $0 + $1.attempts }
    #expect(runs.savings.savedAttempts >= 3 * (before - 5))
  }

  @Test("A run that begins with that of its twin, which has fewer workers, passes the checks")
  func workersOfAnAction() throws {
    var scenario = herd()
    scenario.tapi.server = .workers(WorkersConfiguration(count: 1, serviceTime: .constant(.seconds(10))))
    scenario.tapi.incidents = []
    scenario.tapi.actions = [
      ServerAction(.capacity(factorPartsPerMillion: 2_000_000), at: .start + .seconds(300))
    ]
    var options = RunOptions()
    options.checks = true
    let runs = SharedRuns(options: options)
    #expect(try together([scenario.withoutIncidents, scenario], runs).count == 2)
    #expect(runs.savings.savedAttempts > 0)
  }

  @Test("What has no room is run again")
  func noRoom() throws {
    let scenarios = [herd(), herd().withoutIncidents]
    let runs = SharedRuns(options: RunOptions(), budget: 0)
    let records = try together(scenarios, runs)
    #expect(records == (try separately(scenarios)))
    #expect(runs.savings.savedAttempts == 0)
  }

  @Test("What happens to the clients once is in the run and not in its twin, whichever is made first")
  func clientIncidents() throws {
    let moment = Instant.start + .seconds(300)
    let changes: [(inout Cohort) -> Void] = [
      { $0.spikes = [Spike(time: moment, events: 20)] },
      {
        $0.connectivity = Connectivity()
        $0.connectivity?.interruptions = [.init(start: moment, duration: .minutes(2))]
      },
    ]
    for change in changes {
      var run = herd()
      run.tapi.incidents = []
      change(&run.fleet[0])
      let twin = run.withoutIncidents
      #expect(run.hasIncidents && !twin.hasIncidents)
      let separate = try separately([run, twin])
      #expect(separate[0] != separate[1])
      for order in [[0, 1], [1, 0]] {
        let found = try together(order.map { [run, twin][$0] }, SharedRuns(options: RunOptions()))
        #expect(found == order.map { separate[$0] })
      }
    }
  }

  @Test("Scenarios that differ in what may matter from the start share nothing")
  func strangers() throws {
    var (seed, devices, gate) = (herd(), herd(), herd())
    seed.seed = 2
    devices.fleet[0].devices += 1
    gate.fleet[0].retries = .gate
    let runs = SharedRuns(options: RunOptions())
    _ = try together([herd(), seed, devices, gate], runs)
    #expect(runs.savings.savedAttempts == 0)
  }

  @Test("A beginning that is cancelled leaves the others to run by themselves")
  func cancelled() throws {
    let runs = SharedRuns(options: RunOptions())
    let numbers = [herd(), herd().withoutIncidents].map(runs.expect)
    let control = RunControl()
    control.cancel()
    #expect(throws: CancellationError.self) { _ = try runs.run(numbers[0], control: control) }
    let record = try runs.run(numbers[1], control: RunControl())
    #expect(record == (try separately([herd().withoutIncidents])[0]))
  }
}
