import FleetExperiments
import FleetMetrics
import FleetSimulation
import ScenarioFormat
import ScenarioModel
import Synchronization
import Testing

@Suite("Sweeps")
struct SweepTests {
  private static let jitters = ["none", "additive:10", "full"]

  private static func scenario(incident: Bool = true, capacity: String = "4/s") -> String {
    """
    { format: 1, seed: 5, duration: "20m", interval: "10s",
      tapi: { bucket: { capacity: "\(capacity)", burst: 20 }, overload: { status: 503 },
              incidents: [\(incident ? #"{ kind: "outage", at: "4m", for: "3m", status: 503 }"# : "")] },
      network: { latency: "200ms" },
      fleet: [{ name: "phones", devices: 20, events: "6/min", retries: "timer" }] }
    """
  }

  private static func plan(
    _ text: String = scenario(), choices: [VariantChoice] = jitters.map(VariantChoice.jitter),
    seeds: SeedRange = SeedRange(first: 5, count: 4), results: Int = 1
  ) throws -> (plan: SweepPlan, scenarios: [Scenario]) {
    let file = try ScenarioFile(text: text, name: "scenario.json5") { _ in "" }
    let scenarios = try choices.map { try file.decode(overrides: $0.overrides).scenario }
    return (
      SweepPlan(
        results: results, variants: zip(choices, scenarios).map { (choice: $0, scenario: $1) }, seeds: seeds),
      scenarios
    )
  }

  private static func run(
    _ sweep: (plan: SweepPlan, scenarios: [Scenario]), shard: SweepShard = .whole, workers: Int = 2,
    in store: MemoryStore,
    engine: Comparison.Engine? = nil
  ) throws -> Sweep.Outcome {
    try Sweep.run(
      sweep.plan, scenarios: sweep.scenarios, shard: shard, options: .init(), workers: workers, store: store,
      control: .init(), engine: engine)
  }

  @Test("a name changes with everything that a run depends on, and with nothing else")
  func names() throws {
    let name = try Self.plan().plan.run(0, 5)
    #expect(try Self.plan(seeds: SeedRange(first: 0, count: 9)).plan.run(0, 5) == name)
    #expect(try Self.plan(#"{ question: "Why?", "# + Self.scenario().dropFirst()).plan.run(0, 5) == name)
    // A comment and the order of keys are no part of the scenario.
    #expect(try Self.plan("// Ours\n" + Self.scenario()).plan.run(0, 5) == name)
    let others = [
      try Self.plan().plan.run(0, 6), try Self.plan().plan.run(1, 5), try Self.plan().plan.twin(0, 5),
      try Self.plan(results: 2).plan.run(0, 5),
      try Self.plan(Self.scenario(capacity: "4.001/s")).plan.run(0, 5),
    ]
    #expect(Set(others + [name]).count == others.count + 1)
  }

  @Test("scenarios have one name if what they say is the same, whatever was named before")
  func namesOfParts() throws {
    let text = """
      { format: 1, seed: 5, duration: "20m", interval: "10s", tapi: { bucket: { capacity: "4/s" } },
        fleet: [{ name: "a", devices: 20, events: "6/min" }, { name: "b", devices: 30, events: "6/min" }] }
      """
    let base = try ScenarioFile(text: text, name: "s") { _ in "" }.decode().scenario
    func changed(_ change: (inout Scenario) -> Void) -> Scenario {
      var scenario = base
      change(&scenario)
      return scenario
    }
    let scenarios = [
      base, base.ideal, changed { $0.fleet.reverse() }, changed { $0.fleet.removeLast() },
      changed { $0.fleet[1].devices += 1 }, changed { $0.fleet[0].name = "c" },
      changed { $0.interval = .seconds(9) },
      changed { $0.tapi.rules.retryCountLimit = 3 }, changed { $0.fleet[0].writeKey = "b" },
      changed { ($0.fleet[0].name, $0.fleet[1].name) = ("b", "a") }, changed { $0.question = "Why?" },
    ]
    let plan = SweepPlan(
      results: 1,
      variants: (scenarios + scenarios.reversed()).map {
        (choice: VariantChoice(name: "", overrides: []), scenario: $0)
      }, seeds: Self.twoSeeds)
    let names = plan.variants.indices.map { plan.run($0, 5) }
    #expect(Array(names.reversed()) == names)
    // The question alone is no other scenario.
    #expect(Set(names).count == scenarios.count - 1)
    #expect(names[0] == names[scenarios.count - 1])
  }

  /// Two seeds, where more would be more of the same.
  private static let twoSeeds = SeedRange(first: 5, count: 2)

  @Test("any number of shards makes the same runs as one, each exactly once")
  func sharding() throws {
    let sweep = try Self.plan(seeds: Self.twoSeeds)
    let whole = MemoryStore()
    _ = try Self.run(sweep, in: whole)
    for count in [2, 3, 4, 8, 20] {
      let parts = MemoryStore()
      for index in 0..<count {
        _ = try Self.run(sweep, shard: SweepShard(index: index, count: count)!, in: parts)
      }
      #expect(parts.files == whole.files)
      #expect(parts.kept.allSatisfy { $0.value == 1 }, "\(count) shards")
    }
  }

  @Test("twins that differ in waits alone are made once a seed, unless they see a failure")
  func twins() throws {
    let healthy = MemoryStore()
    _ = try Self.run(try Self.plan(seeds: Self.twoSeeds), in: healthy)
    #expect(healthy.files.count == 2 * (3 + 1 + 1))
    // With too little capacity the twins meet refusals, and the waits count.
    let overloaded = MemoryStore()
    let sweep = try Self.plan(Self.scenario(capacity: "0.3/s"), seeds: Self.twoSeeds)
    let outcome = try Self.run(sweep, in: overloaded)
    #expect(overloaded.files.count == 2 * (3 + 3 + 1))
    #expect(outcome.planned == 2 * (3 + 3 + 1))
    for count in [2, 5] {
      let parts = MemoryStore()
      for index in 0..<count {
        _ = try Self.run(sweep, shard: SweepShard(index: index, count: count)!, in: parts)
      }
      #expect(parts.files == overloaded.files)
      #expect(parts.kept.allSatisfy { $0.value == 1 })
    }
  }

  @Test("a variant without incidents is its own twin")
  func withoutIncidents() throws {
    let store = MemoryStore()
    _ = try Self.run(try Self.plan(Self.scenario(incident: false)), in: store)
    #expect(store.files.count == 4 * 3)
  }

  @Test("what is there is not made again: a sweep that was stopped anywhere goes on")
  func resumption() throws {
    struct Killed: Error {}
    let sweep = try Self.plan(seeds: Self.twoSeeds)
    let whole = MemoryStore()
    _ = try Self.run(sweep, in: whole)
    for survivors in 0..<10 {
      let store = MemoryStore()
      let left = Mutex(survivors)
      #expect(throws: Killed.self) {
        try Self.run(sweep, workers: 1, in: store) { scenario, options, control in
          guard
            left.withLock({
              $0 -= 1
              return $0 >= 0
            })
          else { throw Killed() }
          return try Simulation.run(scenario, options: options, control: control)
        }
      }
      #expect(store.files.count == survivors)
      let outcome = try Self.run(sweep, in: store)
      #expect(outcome == Sweep.Outcome(planned: 10, foundComplete: survivors))
      #expect(store.files == whole.files)
      #expect(store.kept.allSatisfy { $0.value == 1 })
    }
  }

  @Test("a twin that stands for a group but failed is known again when it is found")
  func resumptionOfTwins() throws {
    let sweep = try Self.plan(Self.scenario(capacity: "0.3/s"))
    let whole = MemoryStore()
    _ = try Self.run(sweep, in: whole)
    for seed in sweep.plan.seeds.all {
      let store = MemoryStore(whole.files)
      store.files[sweep.plan.twin(1, seed).file] = nil
      let outcome = try Self.run(sweep, in: store)
      #expect(outcome == Sweep.Outcome(planned: 28, foundComplete: 27))
      #expect(store.files == whole.files)
    }
  }

  /// What `StoredRecord` keeps of a run.
  private static func stored(_ record: RunRecord) -> RunRecord {
    var record = record
    (record.cohorts, record.reachedRetryLimit) = ([], false)
    return record
  }

  @Test("merged results are those of a comparison")
  func results() throws {
    for capacity in ["4/s", "0.3/s"] {
      let sweep = try Self.plan(Self.scenario(capacity: capacity), seeds: Self.twoSeeds)
      let store = MemoryStore()
      _ = try Self.run(sweep, in: store)
      for seed in sweep.plan.seeds.all {
        let variants = zip(sweep.plan.variants, sweep.scenarios).map { variant, scenario in
          var scenario = scenario
          scenario.seed = seed
          return Variant(name: variant.name, scenario: scenario)
        }
        let compared = try Comparison.run(variants, workers: 2)
        let merged = try SweepResults(sweep.plan, in: store).results(of: seed).get()
        #expect(merged.map(\.name) == compared.map(\.name))
        let summaries = compared.map { result in
          var summary = result.summary
          summary.cohorts = []
          return summary
        }
        #expect(merged.map(\.summary) == summaries)
        #expect(merged.map(\.record) == compared.map { Self.stored($0.record) })
        #expect(merged.map(\.twin) == compared.map { Self.stored($0.twin) })
      }
    }
  }

  @Test("every run that is not there is named, twins too, each once")
  func missing() throws {
    for capacity in ["4/s", "0.3/s"] {
      let sweep = try Self.plan(Self.scenario(capacity: capacity), seeds: Self.twoSeeds)
      let whole = MemoryStore()
      _ = try Self.run(sweep, in: whole)
      for name in whole.files.keys {
        let store = MemoryStore(whole.files)
        store.files[name] = nil
        let lacking = try sweep.plan.seeds.all.flatMap { seed in
          switch try SweepResults(sweep.plan, in: store).results(of: seed) {
          case .success: [String]()
          case .failure(let missing): missing.runs.map(\.name.file)
          }
        }
        #expect(lacking == [name])
      }
    }
  }

  @Test("a plan includes those with fewer seeds or variants, and no other")
  func inclusion() throws {
    let plan = try Self.plan().plan
    #expect(plan.includes(plan))
    #expect(plan.includes(try Self.plan(seeds: SeedRange(first: 6, count: 3)).plan))
    #expect(plan.includes(try Self.plan(choices: [.jitter("full")]).plan))
    #expect(!plan.includes(try Self.plan(seeds: SeedRange(first: 6, count: 4)).plan))
    #expect(!plan.includes(try Self.plan(seeds: SeedRange(first: 4, count: 2)).plan))
    #expect(!plan.includes(try Self.plan(choices: [.jitter("equal")]).plan))
    #expect(!plan.includes(try Self.plan(Self.scenario(capacity: "5/s")).plan))
    #expect(!plan.includes(try Self.plan(results: 2).plan))
    let late = SeedRange(first: .max, count: 3)
    #expect(late.all == [.max, 0, 1])
    #expect(
      try Self.plan(seeds: late).plan.includes(try Self.plan(seeds: SeedRange(first: 0, count: 2)).plan))
  }
}
