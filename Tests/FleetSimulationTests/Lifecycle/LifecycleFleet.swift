import FleetMetrics
import FleetSimulation
import ScenarioModel
import ShippedQuirks
import SimulationKernel
import TAPIModel
import TestScenarios
import UploadRetry

/// Fleets whose every upload can be worked out on paper: all devices flush at 0, I, 2I … and create an event at 0, P, 2P …;
/// a request reaches the server 0.1 s after it leaves and its answer comes 0.1 s after that; waits have no jitter; the
/// server has room for all.
///
/// So an upload that leaves at t is decided at t + 0.1 s and heard of at t + 0.2 s.
struct LifecycleFleet {
  var devices = 1
  var duration: Int64 = 300
  /// Seconds between events.
  var events: Int64 = 3_600
  var flush = FlushPolicy(count: nil, interval: .hours(1), isSynchronised: true)
  var mode = QueuePolicy.Mode.files
  var retries = RetryWakeUp.timer
  var settings = Self.backoff(from: 8)
  var policy = ClientPolicy()
  var lifecycle: Lifecycle?
  var rollout: SettingsRollout?
  var incidents: [Incident] = []

  /// Waits of exactly `base`, 2 · `base`, 4 · `base` … seconds, at most 300.
  static func backoff(from base: Int64) -> HTTPConfig {
    var config = HTTPConfig()
    config.backoff.jitter = .none
    config.backoff.baseBackoffInterval = base * 1_000_000
    return config
  }

  var scenario: Scenario {
    var cohort = Cohort(
      name: "phones", devices: devices, events: .periodic(every: .seconds(events), phase: .flush),
      flush: flush, queue: QueuePolicy(mode: mode), retries: retries, latency: .constant(.milliseconds(100)),
      settings: settings,
      policy: policy)
    cohort.lifecycle = lifecycle
    cohort.rollout = rollout
    return Scenario(
      duration: .seconds(duration),
      tapi: TAPIConfiguration(
        server: .bucket(
          TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000_000)),
        incidents: incidents),
      fleet: [cohort])
  }

  /// The run's record, with all checkers on.
  func run() throws -> RunRecord {
    var options = RunOptions()
    options.checks = true
    return try Simulation.run(scenario, options: options)
  }

  /// What happens to device 0, with all checkers on.
  func story() throws -> Story {
    var options = RunOptions()
    options.checks = true
    let (record, trace) = try Simulation.trace(scenario, device: 0, options: options)
    return Story(record: record, events: trace.events)
  }

  /// A run as it is told by one device.
  struct Story {
    var record: RunRecord
    var events: [DeviceTrace.Event]

    /// When uploads leave, seconds.
    var sent: [Double] {
      events.compactMap { event in
        if case .sent = event.kind { seconds(event) } else { nil }
      }
    }

    /// `X-Retry-Count` of each upload.
    var retryCounts: [Int?] {
      events.compactMap { event -> Int?? in
        if case .sent(_, _, _, let count) = event.kind { .some(count) } else { nil }
      }
    }

    /// Time and new events of each trigger of a kind.
    func triggers(_ kind: DeviceTrace.Trigger) -> [Flush] {
      events.compactMap { event in
        if case .trigger(kind, let newEvents) = event.kind {
          Flush(time: seconds(event), newEvents: newEvents)
        } else {
          nil
        }
      }
    }

    /// When events are lost, and why.
    var losses: [Loss] {
      events.compactMap { event in
        if case .dropped(_, _, _, let reason) = event.kind {
          Loss(time: seconds(event), reason: reason)
        } else {
          nil
        }
      }
    }

    var delivered: Int64 { record.series.rows.reduce(0) { $0 + $1[.deliveredEvents] } }
    var duplicates: Int64 { record.series.rows.reduce(0) { $0 + $1[.duplicateEvents] } }

    private func seconds(_ event: DeviceTrace.Event) -> Double { Double(event.time) / 1e6 }
  }

  struct Flush: Hashable {
    var time: Double
    var newEvents: Int
  }

  struct Loss: Hashable {
    var time: Double
    var reason: DeviceTrace.Loss
  }
}

extension RunRecord {
  /// Requests that reach the server from one tenth of a second on and before another, in tenths of a second.
  func offered(_ tenths: Range<Int>) -> Int { offeredPer100ms[tenths].reduce(0) { $0 + Int($1) } }
}

extension Lifecycle {
  /// Every app restarts once at each of these seconds.
  static func at(_ seconds: Int64..., keepsState: Bool = true, flushesAtLaunch: Bool = false) -> Lifecycle {
    Lifecycle(
      synchronised: seconds.map { SynchronisedRestart(time: .second($0)) }, keepsState: keepsState,
      flushesAtLaunch: flushesAtLaunch)
  }
}

extension Instant {
  static func second(_ n: Int64) -> Instant { Instant(microseconds: n * 1_000_000) }
}

extension Incident {
  /// The endpoint answers with `status` from one second to another.
  static func outage(
    _ start: Int64, until end: Int64, status: Int = 503, retryAfter: RetryAfterPolicy = .none
  ) -> Incident {
    Incident(
      kind: .outage(status: status, retryAfter: retryAfter, keepsWork: false), start: .second(start),
      duration: .seconds(end - start))
  }

  /// The Settings CDN is down.
  static func cdnOutage(_ start: Int64, until end: Int64) -> Incident {
    Incident(kind: .cdnOutage, start: .second(start), duration: .seconds(end - start))
  }
}
