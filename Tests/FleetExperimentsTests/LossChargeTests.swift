import FleetExperiments
import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestSupport
import Testing

/// What destroyed events, and that it did: without the limit they are not lost so.
@Suite("Loss charges")
struct LossChargeTests {
  /// Two cohorts before a server that is down for a while; one limit of each is low enough to be reached in most.
  private static func lossy(_ random: inout SeededGenerator, _ seed: UInt64) -> Scenario {
    let isLimited = Bool.random(using: &random)
    let fleet = ["phones", "tablets"].map { name in
      var cohort = Cohort(name: name, devices: 40, events: .poisson(meanGap: .seconds(10)))
      cohort.retries = .timer
      cohort.settings.backoff.maxBackoffInterval = 20_000_000
      cohort.settings.rateLimit.maxRetryInterval = 20_000_000
      switch Int.random(in: 0..<4, using: &random) {
      case 0: cohort.settings.backoff.maxRetryCount = Int.random(in: 1...5, using: &random)
      case 1: cohort.settings.rateLimit.maxRetryCount = Int.random(in: 1...5, using: &random)
      case 2:
        let age = Int64.random(in: 60...200, using: &random) * 1_000_000
        cohort.settings.backoff.maxTotalBackoffDuration = age
        cohort.settings.rateLimit.maxTotalBackoffDuration = age
      default: cohort.queue.limit = Int.random(in: 5...20, using: &random)
      }
      return cohort
    }
    let incident = Incident(
      kind: .outage(status: isLimited ? 429 : 503, retryAfter: .none, keepsWork: false),
      start: .start + .minutes(5), duration: .minutes(10))
    return Scenario(
      seed: seed, duration: .minutes(40), interval: .seconds(10),
      tapi: TAPIConfiguration(
        server: .bucket(.init(capacityMilliRequestsPerSecond: 10_000, burst: 1)), incidents: [incident]),
      fleet: fleet)
  }

  @Test("Without the limit that is named, nothing is lost by it: 20 scenarios that lose events")
  func removal() throws {
    var random = SeededGenerator(seed: 33)
    var found = 0
    var limits: Set<LossCharge.Limit> = []
    for seed in 1...100 as ClosedRange<UInt64> where found < 20 {
      let scenario = Self.lossy(&random, seed)
      let record = try Simulation.run(scenario)
      let charges = LossCharge.charges(in: record, of: scenario)
      #expect(
        charges.reduce(0) { $0 + $1.events } - record.series.totals[.acceptedAfterDropEvents]
          == record.series.totals.lostEvents + record.series.totals[.blockedEvents])
      guard let worst = charges.first else { continue }
      found += 1
      #expect(charges.allSatisfy { $0.events <= worst.events })
      limits.insert(try #require(worst.limit))
      let without = try Simulation.run(try #require(worst.without(scenario)))
      #expect(without.cohorts[worst.cohort][worst.reason] == 0, "seed \(seed): \(worst)")
    }
    #expect(found == 20)
    #expect(limits.count >= 4)
  }

  @Test("A charge says whose limit was reached, and which")
  func words() throws {
    var scenario = Scenario(
      duration: .minutes(20),
      tapi: TAPIConfiguration(server: .bucket(.init(capacityMilliRequestsPerSecond: 10_000, burst: 1))),
      fleet: [Cohort(name: "phones", devices: 10, events: .poisson(meanGap: .seconds(10)))])
    scenario.fleet[0].settings.backoff.maxRetryCount = 3
    scenario.fleet[0].preset.name = "segment-swift"
    let charge = LossCharge(cohort: 0, reason: .droppedByRetryLimit, events: 5)
    #expect(charge.text(in: scenario) == "phones (segment-swift): backoffConfig.maxRetryCount 3 reached")
    scenario.fleet[0].preset.name = "phones"
    let status = LossCharge(cohort: 0, reason: .droppedByStatus, events: 5)
    #expect(status.text(in: scenario) == "phones: dropped because of the answer's status")
    #expect(status.without(scenario) == nil)
  }

  @Test("Each variant's worst two charges are sentences, with the variant's name where there are several")
  func notes() throws {
    var random = SeededGenerator(seed: 33)
    let variants = try (1...20 as ClosedRange<UInt64>).map {
      Variant(name: "v\($0)", scenario: Self.lossy(&random, $0))
    }
    .filter { LossCharge.charges(in: try Simulation.run($0.scenario), of: $0.scenario).count > 1 }.prefix(2)
    try #require(variants.count == 2)
    let results = try Comparison.run(Array(variants), workers: 2)
    let notes = LossCharge.notes(results, of: Array(variants))
    #expect(notes.count == 4)
    #expect(notes.allSatisfy { $0.contains(" given up by ") && $0.hasSuffix(".") })
    #expect(notes.prefix(2).allSatisfy { $0.hasPrefix("With \(variants[0].name) ") })
    #expect(LossCharge.notes([results[0]], of: [variants[0]]).allSatisfy { !$0.hasPrefix("With ") })
  }
}
