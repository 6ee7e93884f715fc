import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestSupport
import Testing
import UploadRetry

/// The floor of recovery against clients on random servers: the eager ones reach it, and nobody is below it.
@Suite("Recovery floor")
struct RecoveryFloorTests {
  /// A fleet at 30 to 80 % of its server's capacity, with an outage of 2 to 10 minutes, and half of them with a brownout behind it.
  private static func scenario(_ random: inout SeededGenerator, _ seed: UInt64) -> Scenario {
    let devices = Int.random(in: 300...900, using: &random)
    var cohort = Cohort(name: "phones", devices: devices, events: .poisson(meanGap: .seconds(10)))
    cohort.retries = .timer
    cohort.timeout = .seconds(60)
    cohort.latency = .constant(.milliseconds(100))
    // 30 s of events, each 10 s on average, make a batch unless there are none: 1 - 1/e^3 of the flushes.
    let load = Double(devices) / 30 * (1 - 0.049787)
    let capacity = load / Double.random(in: 0.3...0.8, using: &random)
    let server: TAPIConfiguration.Server
    if Bool.random(using: &random) {
      server = .bucket(.init(capacityMilliRequestsPerSecond: Int64(capacity * 1_000), burst: 5))
    } else {
      let workers = Int64((capacity / 5).rounded(.up))
      server = .workers(
        WorkersConfiguration(
          count: Int(workers),
          serviceTime: .constant(Span(microseconds: workers * 1_000_000 / Int64(capacity))),
          queueLimit: Int(capacity)))
    }
    let length = Span.seconds(Int64.random(in: 120...600, using: &random))
    var incidents = [
      Incident(
        kind: .outage(status: 503, retryAfter: .none, keepsWork: false), start: .start + .minutes(5),
        duration: length)
    ]
    if Bool.random(using: &random) {
      incidents.append(
        Incident(
          kind: .brownout(factorPartsPerMillion: 700_000), start: incidents[0].end, duration: .minutes(3)))
    }
    return Scenario(
      seed: seed, duration: .hours(2), interval: .seconds(5),
      tapi: TAPIConfiguration(server: server, overload: Overload(status: 503), incidents: incidents),
      fleet: [cohort])
  }

  private static func changed(_ scenario: Scenario, _ change: (inout BackoffConfig) -> Void) -> Scenario {
    var scenario = scenario
    change(&scenario.fleet[0].settings.backoff)
    return scenario
  }

  @Test(
    "A client that asks each second and never gives up is within 5 % of the floor, and no client is below it")
  func idealClient() throws {
    var random = SeededGenerator(seed: 20)
    for seed in 1...UInt64(TestDepth.cases(4, exhaustively: 20)) {
      let scenario = Self.scenario(&random, seed)
      let row = Double(scenario.interval.microseconds)
      let eager = Self.changed(scenario) {
        $0.baseBackoffInterval = 100_000
        $0.maxBackoffInterval = 1_000_000
        $0.maxRetryCount = 1_000
        $0.jitter = .full
      }
      let lazy = Self.changed(scenario) {
        $0.baseBackoffInterval = Int64.random(in: 500_000...30_000_000, using: &random)
        $0.maxBackoffInterval = Int64.random(in: 60_000_000...600_000_000, using: &random)
        $0.maxRetryCount = Int.random(in: 3...100, using: &random)
        $0.jitter =
          [.full, .equal, .decorrelated, .additive(percent: 10)].randomElement(using: &random) ?? .full
      }
      let found = try ExperimentFiles.summaries(of: [eager, lazy])
      let (recovery, floor) = (try #require(found[0].recoveryTime), try #require(found[0].recoveryFloor))
      #expect(recovery >= floor, "seed \(seed)")
      #expect(Double(recovery) <= Double(floor) * 1.05 + row, "seed \(seed): \(recovery) of \(floor)")
      if let recovery = found[1].recoveryTime {
        #expect(recovery >= found[1].recoveryFloor ?? .max, "seed \(seed)")
      }
    }
  }
}
