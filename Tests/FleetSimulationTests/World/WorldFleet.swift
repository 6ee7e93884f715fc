import FleetMetrics
import FleetSimulation
import PlainEngine
import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// Devices that flush together every minute with what they have created, each an event every ten seconds; retries by timer.
struct WorldFleet {
  var devices = 400
  var minutes: Int64 = 30
  var seed: UInt64 = 1
  var server = TAPIConfiguration.Server.bucket(
    TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000_000))
  var incidents: [Incident] = []
  var latency = Span.milliseconds(100)
  /// What the test is about.
  var adjust: (inout Cohort) -> Void = { _ in }

  var scenario: Scenario {
    var cohort = Cohort(
      name: "phones", devices: devices, events: .periodic(every: .seconds(10), phase: .random),
      flush: FlushPolicy(count: nil, interval: .minutes(1), isSynchronised: true), retries: .timer,
      timeout: .seconds(10), latency: .constant(latency))
    cohort.settings.backoff.jitter = .none
    cohort.settings.backoff.baseBackoffInterval = 5_000_000
    adjust(&cohort)
    return Scenario(
      seed: seed, duration: .minutes(minutes), interval: .minutes(1),
      tapi: TAPIConfiguration(server: server, incidents: incidents), fleet: [cohort])
  }

  func run() throws -> RunRecord {
    var options = RunOptions()
    options.checks = true
    return try Simulation.run(scenario, options: options)
  }

  /// Every upload that reached the server, by the plain engine.
  func sent() -> [(time: Double, events: Int, attempt: Int)] {
    PlainEngine.run(scenario).sent.map {
      (($0.arrival - Span(microseconds: Int64($0.uplink))).seconds, Int($0.events), Int($0.attempt))
    }
  }

  func trace(device: Int = 0) throws -> [DeviceTrace.Event] {
    try Simulation.trace(scenario, device: device).trace.events
  }
}

extension RunRecord {
  func sum(_ measure: Measure) -> Int64 { series.rows.reduce(0) { $0 + $1[measure] } }
}

extension Instant {
  static func minute(_ n: Double) -> Instant { Instant(microseconds: Int64(n * 60e6)) }
}
