import FleetMetrics
import ScenarioModel

/// Runs scenarios.
public enum Simulation {
  /// Runs `scenario` to its end.
  /// - Throws: `CancellationError` after `control.cancel()`; `CheckFailure` with `options.checks`.
  public static func run(
    _ scenario: Scenario, options: RunOptions = .init(), control: RunControl = .init()
  ) throws -> RunRecord {
    try run(scenario, options: options, control: control, tracing: nil)
  }

  static func run(
    _ scenario: Scenario, options: RunOptions, control: RunControl, tracing: (device: Int, DeviceTracer)?
  ) throws -> RunRecord {
    var engine = WindowedEngine(scenario, options: options)
    if let (device, tracer) = tracing {
      for i in 0..<engine.runners.count {
        engine.runners[i].shard.trace(engine.runners[i].shard.place(ofGlobal: device), tracer)
      }
    }
    do { try engine.run(control: control) } catch { throw error.cause }
    return engine.record(as: scenario)
  }

  /// Runs `scenario` to its end as `run` does, and keeps what happens to one device.
  ///
  /// The whole fleet runs, because the others decide how the server fares.
  /// - `device`: its number among all cohorts in their order, from 0.
  /// - Throws: `NoSuchDevice`; what `run` throws.
  public static func trace(
    _ scenario: Scenario, device: Int, options: RunOptions = .init(), control: RunControl = .init()
  ) throws -> (record: RunRecord, trace: DeviceTrace) {
    var numberInCohort = device
    var cohort: Cohort?
    for candidate in scenario.fleet where cohort == nil && device >= 0 {
      if numberInCohort < candidate.devices {
        cohort = candidate
      } else {
        numberInCohort -= candidate.devices
      }
    }
    guard let cohort else {
      throw NoSuchDevice(device: device, devices: scenario.fleet.reduce(0) { $0 + $1.devices })
    }
    let tracer = DeviceTracer()
    let record = try run(scenario, options: options, control: control, tracing: (device, tracer))
    var trace = DeviceTrace(
      device: device, numberInCohort: numberInCohort, cohort: cohort, seed: scenario.seed,
      duration: scenario.duration.microseconds,
      incidents: scenario.serverIncidents + scenario.actionSpans,
      events: tracer.events)
    trace.queuedAtEnd = tracer.queuedAtEnd
    trace.fetchesSettings = scenario.tapi.settings != nil && cohort.behaviour.settingsFetch != .never
    if scenario.tapi.retryAfterHeader == .rateLimitReset { trace.waitHeader = "X-RateLimit-Reset" }
    return (record, trace)
  }
}

extension Interruption {
  /// The error that callers hear.
  var cause: any Error {
    switch self {
    case .cancelled: CancellationError()
    case .inconsistent(let violation): CheckFailure(description: violation)
    }
  }
}

/// There is no device of that number.
public struct NoSuchDevice: Error, Sendable, Hashable, CustomStringConvertible {
  public var device: Int
  /// How many the fleet has.
  public var devices: Int

  public init(device: Int, devices: Int) {
    self.device = device
    self.devices = devices
  }

  public var description: String {
    devices == 1
      ? "There is no device \(device): the fleet has one, number 0."
      : "There is no device \(device): the fleet's devices have the numbers 0 to \(devices - 1)."
  }
}
