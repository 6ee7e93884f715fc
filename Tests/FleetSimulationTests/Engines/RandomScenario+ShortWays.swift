import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadGating
import UploadPipeline
import UploadRetry

/// Scenarios of the kinds for which the engine has short ways.
extension RandomScenario {
  /// A random scenario with cohorts for which the engine has its shortest way: re-chunked batches, one upload at a time, events in step
  /// with the flush interval, constant latency; most of them one cohort before a bucket that answers at once, often everybody alike.
  static func fastPath(seed: UInt64) -> Scenario {
    var draw = RandomScenario(key: RandomKey(seed: seed).child(0))
    var scenario = draw.scenario(seed: seed)
    // No app is ever closed, so that no window has to be waited for.
    scenario.duration = min(scenario.duration, .seconds(400))
    for i in scenario.fleet.indices {
      let interval = Span.seconds(Int64(draw.pick([3, 10, 30])))
      let every = Span(microseconds: interval.microseconds / Int64(draw.pick([1, 1, 2, 3])))
      scenario.fleet[i].devices *= 4
      scenario.fleet[i].events = .periodic(every: every, phase: draw.chance(50) ? .flush : .random)
      scenario.fleet[i].flush = FlushPolicy(count: nil, interval: interval, isSynchronised: draw.chance(10))
      scenario.fleet[i].queue.mode = .rebatch
      scenario.fleet[i].uploadConcurrency = 1
      scenario.fleet[i].flushWhileUploading = .joins
      scenario.fleet[i].actsAtFlushEnd = false
      scenario.fleet[i].latency = .constant(.milliseconds(Int64(draw.pick([7, 50, 200]))))
      scenario.fleet[i].lifecycle = nil
      scenario.fleet[i].spikes = []
      scenario.fleet[i].link = Link()
      scenario.fleet[i].connectTimeout = nil
      scenario.fleet[i].connectivity = nil
      scenario.fleet[i].sessions = nil
      scenario.fleet[i].queue.maximumBatchBytes = nil
      scenario.fleet[i].eventsAtOnce = 1
      scenario.fleet[i].gates = ClientGates()
    }
    if draw.chance(70) {
      scenario.fleet.removeSubrange(1...)
      scenario.fleet[0].timeout = .seconds(Int64(draw.pick([1, 30])))
      let cohort = scenario.fleet[0]
      let load = NormalLoad.batchesPerSecond(of: cohort) * Double(cohort.devices)
      scenario.tapi.server = .bucket(
        TokenBucketConfiguration(
          capacityMilliRequestsPerSecond: Int64(max(load * Double(draw.int(80...400)) * 10, 50)),
          burst: Int64(draw.int(1...60))))
    }
    if draw.chance(25) { draw.drawRules(&scenario) }
    draw.drawRetryAfterHeader(&scenario.tapi)
    draw.drawDisciplines(&scenario.tapi)
    draw.drawActions(&scenario)
    draw.drawForms(&scenario)
    return scenario
  }

  /// The same with cohorts that keep their batches apart and upload one after the other, for which the engine has a short way:
  /// retries by timer and at triggers, silent outages, time-outs, limits, at times restarts and offline periods.
  static func fastFiles(seed: UInt64) -> Scenario {
    var draw = RandomScenario(key: RandomKey(seed: seed).child(1))
    var scenario = draw.scenario(seed: seed)
    for i in scenario.fleet.indices {
      scenario.fleet[i].queue.mode = .files
      scenario.fleet[i].uploadConcurrency = 1
      scenario.fleet[i].flushWhileUploading = .joins
      scenario.fleet[i].actsAtFlushEnd = false
      scenario.fleet[i].saving = draw.chance(50) ? .atOnce : .atOnceAsItIs
      scenario.fleet[i].policy.limitsCheck = .whenDue
      scenario.fleet[i].link = Link()
      scenario.fleet[i].connectTimeout = nil
      scenario.fleet[i].gates = ClientGates()
      if draw.chance(70) { scenario.fleet[i].retries = .timer }
      if draw.chance(60) {
        scenario.fleet[i].lifecycle = nil
        scenario.fleet[i].connectivity = nil
        scenario.fleet[i].sessions = nil
      }
    }
    draw.drawRetryAfterHeader(&scenario.tapi)
    draw.drawDisciplines(&scenario.tapi)
    draw.drawActions(&scenario)
    draw.drawForms(&scenario)
    return scenario
  }

  /// A short run of so many devices that hundreds of arrivals come in a window, before a bucket near its limits.
  static func crowd(seed: UInt64) -> Scenario {
    var scenario = fastPath(seed: seed)
    var draw = RandomScenario(key: RandomKey(seed: seed).child(1))
    let interval = Span.milliseconds(Int64(draw.pick([1_000, 1_300])))
    for i in scenario.fleet.indices {
      scenario.fleet[i].devices = draw.int(800...2_000) / scenario.fleet.count
      scenario.fleet[i].events = .periodic(every: interval, phase: .flush)
      scenario.fleet[i].flush = FlushPolicy(count: nil, interval: interval, isSynchronised: draw.chance(20))
      scenario.fleet[i].latency = draw.pick([
        .constant(.milliseconds(150)),
        .logNormal(median: .milliseconds(200), p99: .seconds(1), minimum: .milliseconds(140)),
      ])
      scenario.fleet[i].timeout = .milliseconds(Int64(draw.pick([700, 5_000])))
      scenario.fleet[i].rollout = nil
    }
    let devices = scenario.fleet.reduce(0) { $0 + $1.devices }
    let load = Double(devices) / (Double(interval.microseconds) / 1e6)
    scenario.duration = .seconds(12)
    scenario.tapi = TAPIConfiguration(
      server: .bucket(
        TokenBucketConfiguration(
          capacityMilliRequestsPerSecond: Int64(load * Double(draw.int(60...200)) * 10),
          burst: Int64(draw.pick([1, 20, devices / 10, devices])))),
      overload: Overload(status: draw.pick([429, 503]), retryAfter: draw.pick([.none, .fixed(.seconds(1))])))
    if draw.chance(70) {
      scenario.tapi.incidents = [
        Incident(
          kind: .outage(
            status: draw.pick([nil, 503, 429]), retryAfter: .fixed(.seconds(1)), keepsWork: true),
          start: Instant(microseconds: Int64(draw.int(3_000_000...5_000_000))), duration: .seconds(3))
      ]
    }
    return scenario
  }
}
