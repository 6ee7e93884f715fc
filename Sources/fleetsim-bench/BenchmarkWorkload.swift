import ScenarioFormat
import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// A scenario for any number of devices, at least 1. The server's capacity grows with the fleet, so an attempt costs the
/// same work at every size.
struct BenchmarkWorkload: Sendable {
  let name: String
  /// The purpose of the workload, on one line.
  let meaning: String
  let scenario: @Sendable (_ devices: Int) -> Scenario

  static let all = own + ofPresets

  private static let own: [BenchmarkWorkload] =
    [
      .init(
        name: "herd-1-150",
        meaning: "the reference workload: an outage, then 150 % of the normal load as capacity"
      ) { herd1(devices: $0, capacityPercent: 150) },
      .init(
        name: "herd-1-90", meaning: "the same with 90 %: half of all attempts are answered 429"
      ) { herd1(devices: $0, capacityPercent: 90) },
      .init(
        name: "001", meaning: "experiment 001 with full jitter: files, log-normal latency, a silent outage"
      ) { phones(devices: $0, status: nil) { ($0.retries, $0.settings.backoff.jitter) = (.timer, .full) } },
      .init(
        name: "429-gate", meaning: "experiment 001 answered with 429 and a Retry-After, retries at triggers"
      ) { phones(devices: $0, status: 429, retryAfter: .fixed(.seconds(5))) },
      .init(
        name: "at-once", meaning: "experiment 001 answered with 503, every due batch uploaded at once"
      ) {
        phones(devices: $0, status: 503) {
          ($0.retries, $0.uploadConcurrency, $0.settings.backoff.jitter) = (.timer, .max, .full)
        }
      },
      .init(name: "sparse", meaning: "a day with one batch an hour from each device") { sparse(devices: $0) },
    ]

  /// The benchmark measures the upload loop, which a page has not. Names tell it, so that no client file is read at a start.
  private static let ofPresets =
    ClientPreset.documentedNames.filter { !$0.hasPrefix("segment-browser") }.map { name in
      BenchmarkWorkload(name: "preset-" + name, meaning: "experiment 001 answered with 503, with that client")
      {
        answeredOutage(devices: $0, client: .shipped(name))
      }
    }

  // MARK: Scenarios

  /// `experiments/bench/herd-1.json5`.
  private static func herd1(devices: Int, capacityPercent: Int64) -> Scenario {
    let flushInterval = Span.seconds(30)
    // Percent of devices / 30 s, in thousandths of a request.
    let capacity = Int64(devices) * capacityPercent * 10 / 30
    return Scenario(
      duration: .hours(1),
      tapi: TAPIConfiguration(
        server: bucket(capacity), overload: Overload(status: 429, retryAfter: .fixed(.seconds(5))),
        incidents: [outage(status: 503, at: .minutes(10), for: .minutes(10))]),
      fleet: [
        Cohort(
          name: "clients", devices: devices, events: .periodic(every: flushInterval, phase: .flush),
          flush: FlushPolicy(count: nil, interval: flushInterval),
          queue: QueuePolicy(mode: .rebatch, maximumBatchEvents: 1_000), retries: .timer,
          latency: .constant(.milliseconds(50)), settings: settings(.full))
      ])
  }

  /// Returns `experiments/001-outage-herd/gate.json5` with another client. A client that uploads each event by itself gets a
  /// capacity of twice its load, as it is of the others'. Before the file's capacity it would never be rid of its backlog.
  private static func answeredOutage(devices: Int, client: ClientPreset) -> Scenario {
    var scenario = phones(devices: devices, status: 503) { phones in
      phones.take(client)
      if client.settingsDefaults != HTTPConfig() { phones.settings = client.settingsDefaults }
    }
    // Six events a minute.
    if scenario.fleet[0].largestBatch == 1 { scenario.tapi.server = bucket(Int64(devices) * 200) }
    return scenario
  }

  /// Returns `experiments/001-outage-herd/gate.json5` with that answer during the outage and to what is too much.
  private static func phones(
    devices: Int, status: Int?, retryAfter: RetryAfterPolicy = .none,
    _ change: (inout Cohort) -> Void = { _ in }
  ) -> Scenario {
    // 1267/s for 20,000 devices.
    let capacity = Int64(devices) * 6_335 / 100
    var settings = HTTPConfig()
    // The CDN's `default5xxBehavior`.
    settings.backoff.statuses.set(.retry, for: 511)
    var phones = Cohort(
      name: "phones", devices: devices, events: .poisson(meanGap: .seconds(10)), timeout: .seconds(15),
      latency: .logNormal(median: .milliseconds(80), p99: .milliseconds(600), minimum: .milliseconds(10)),
      settings: settings)
    change(&phones)
    return Scenario(
      duration: .hours(2),
      tapi: TAPIConfiguration(
        server: bucket(capacity), overload: Overload(status: status ?? 503, retryAfter: retryAfter),
        incidents: [outage(status: status, retryAfter: retryAfter, at: .minutes(20), for: .minutes(10))]),
      fleet: [phones])
  }

  private static func sparse(devices: Int) -> Scenario {
    Scenario(
      duration: .hours(24), interval: .minutes(1),
      tapi: TAPIConfiguration(
        // 1.5 times the normal load.
        server: bucket(Int64(devices) * 1_500 / 3_600), overload: Overload(status: 503),
        incidents: [outage(status: 503, at: .hours(12), for: .minutes(30))]),
      fleet: [
        Cohort(
          name: "phones", devices: devices, events: .periodic(every: .hours(1), phase: .random),
          flush: FlushPolicy(count: nil, interval: .hours(1)), retries: .timer, settings: settings(.full))
      ])
  }

  /// A bucket with a tenth of a second's worth of burst.
  private static func bucket(_ capacityMilli: Int64) -> TAPIConfiguration.Server {
    let capacity = max(1, capacityMilli)
    return .bucket(
      TokenBucketConfiguration(
        capacityMilliRequestsPerSecond: capacity, burst: max(1, (capacity + 5_000) / 10_000)))
  }

  private static func outage(
    status: Int?, retryAfter: RetryAfterPolicy = .none, at start: Span, for duration: Span
  ) -> Incident {
    Incident(
      kind: .outage(status: status, retryAfter: retryAfter, keepsWork: false), start: .start + start,
      duration: duration)
  }

  private static func settings(_ jitter: Jitter) -> HTTPConfig {
    var settings = HTTPConfig()
    settings.backoff.jitter = jitter
    return settings
  }
}
