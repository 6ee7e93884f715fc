import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// A small fleet in front of a server that has room for all, whose answers are worked out on paper: a request that leaves at t
/// is answered at t + 0.2 s. Devices flush together, at 0, I, 2I …
struct GatedFleet {
  var preset = ClientPreset.tapiDocument
  var devices = 1
  /// Seconds.
  var duration: Int64 = 600
  var eventGap = Span.seconds(1)
  var flushInterval = Span.seconds(1)
  var latency = Span.milliseconds(100)
  var change: (inout Cohort) -> Void = { _ in }
  /// (status or nil for silence, from, for), seconds.
  var outages: [(status: Int?, at: Double, length: Double)] = []
  var retryAfter = RetryAfterPolicy.none
  var server = TAPIConfiguration.Server.bucket(
    TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000_000))

  /// What else there is to the server.
  var adjustServer: (inout TAPIConfiguration) -> Void = { _ in }

  var scenario: Scenario {
    var cohort = Cohort(
      name: "phones", devices: devices, events: .periodic(every: eventGap, phase: .flush),
      flush: FlushPolicy(count: nil, interval: flushInterval, isSynchronised: true),
      latency: .constant(latency), settings: preset.settingsDefaults)
    cohort.take(preset)
    change(&cohort)
    let incidents = outages.map {
      Incident(
        kind: .outage(status: $0.status, retryAfter: retryAfter, keepsWork: true),
        start: Instant(microseconds: Int64($0.at * 1e6)), duration: Span(microseconds: Int64($0.length * 1e6))
      )
    }
    var tapi = TAPIConfiguration(server: server, incidents: incidents)
    adjustServer(&tapi)
    return Scenario(duration: .seconds(duration), tapi: tapi, fleet: [cohort])
  }

  /// The run and what happens to device 0, and when it sends something, questions too (O4); with all checkers on.
  func run() throws -> (summary: RunSummary, sent: [Double], events: [DeviceTrace.Event]) {
    var options = RunOptions()
    options.checks = true
    let (record, trace) = try Simulation.trace(scenario, device: 0, options: options)
    let summary = RunAnalysis.summary(of: record, ReferenceRuns(twin: record), name: "gated", seed: 1)
    let sent = trace.events.compactMap { event -> Double? in
      switch event.kind {
      case .sent, .asked: Double(event.time) / 1e6
      default: nil
      }
    }
    return (summary, sent, trace.events)
  }
}

extension Cohort {
  /// Waits without jitter: `seconds`, twice as long, four times …
  mutating func backOffExactly(from seconds: Int64) {
    settings.backoff.jitter = .none
    settings.backoff.baseBackoffInterval = seconds * 1_000_000
  }
}

extension [Double] {
  /// The largest number of times within a half-open span.
  func most(within span: Double) -> Int {
    indices.map { i in self[i...].prefix { $0 < self[i] + span - 1e-9 }.count }.max() ?? 0
  }

  var gaps: [Double] { zip(self.dropFirst(), self).map { ($0 - $1) } }

  func isClose(to other: [Double]) -> Bool {
    count == other.count && zip(self, other).allSatisfy { abs($0 - $1) < 1e-6 }
  }
}
