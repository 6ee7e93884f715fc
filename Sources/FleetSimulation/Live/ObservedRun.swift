import FleetMetrics
import ScenarioModel
import SimulationKernel

/// An event of the fleet, as it can be told in an upload: the device's number in the fleet and the event's on the device.
package struct FleetEvent: Sendable, Hashable {
  package var device: Int
  package var ordinal: Int

  package init(device: Int, ordinal: Int) { (self.device, self.ordinal) = (device, ordinal) }
}

/// A run of real clients, by what an observer saw of their uploads: which events each had, when it came and how it ended.
///
/// The clients create the scenario's own events at their own times. They tell nobody which events they give up. An event counts
/// as lost whose upload failed and never came again, while its client went on and delivered others.
package struct ObservedRun: Sendable {
  /// When each device creates its events, microseconds.
  package let times: [[Int64]]
  /// When each device flushes for the first time, microseconds; 0 without an interval.
  package let phases: [Int64]
  private let scenario: Scenario
  private var series: TimeSeries
  private var deliveries = Histogram()
  private var offered: [UInt32]
  private var sentBefore: Set<FleetEvent> = []
  private var delivered: Set<FleetEvent> = []
  /// When the latest upload with it ended without success.
  private var failedAt: [FleetEvent: Int64] = [:]
  /// When each device delivered something for the last time.
  private var deliveredAt: [Int: Int64] = [:]
  private var uploads: [[FleetEvent]] = []
  private var answered: Int64 = 0
  private var refused: Int64 = 0
  private var unheard: Int64 = 0

  package init(_ scenario: Scenario) {
    self.scenario = scenario
    let devices = scenario.devicePlans()
    (times, phases) = (devices.map(\.events), devices.map(\.phase))
    series = TimeSeries(
      interval: scenario.interval.microseconds, duration: scenario.duration.microseconds,
      rows: RunAssembly.rowCount(scenario))
    offered = Array(repeating: 0, count: RunAssembly.tenthCount(scenario))
  }

  /// Uploads so far.
  package var count: Int { uploads.count }

  private func row(_ time: Int64) -> Int {
    Int(min(max(time, 0), series.duration - 1) / series.interval)
  }

  /// An upload with some of the events came.
  /// - Returns: its number.
  package mutating func arrives(_ events: Set<FleetEvent>, at time: Int64) -> Int {
    let isRetry = !sentBefore.isDisjoint(with: events)
    series[row(time), isRetry ? .retries : .firstAttempts] += 1
    offered[Int(min(max(time, 0), series.duration - 1) / 100_000)] += 1
    sentBefore.formUnion(events)
    uploads.append(Array(events))
    return uploads.count - 1
  }

  /// An upload was answered, or was not.
  package mutating func ended(_ upload: Int, _ end: LiveEnd, at time: Int64) {
    for event in uploads[upload] { failedAt[event] = time }
    guard case .answer(let status, _, _) = end, (100...599).contains(status) else {
      series[row(time), .unanswered] += 1
      if end == .noAnswer(mayHaveArrived: false) { refused += 1 } else { unheard += 1 }
      return
    }
    answered += 1
    series[row(time), ServerFront.counter(of: UInt16(status))] += 1
    guard (200...299).contains(status) else { return }
    series[row(time), .acceptedBatches] += 1
    series[row(time), .settledBatches] += 1
    for event in uploads[upload] where times.indices.contains(event.device) {
      guard times[event.device].indices.contains(event.ordinal) else { continue }
      guard delivered.insert(event).inserted else {
        series[row(time), .duplicateEvents] += 1
        continue
      }
      let wait = max(0, time - times[event.device][event.ordinal])
      deliveredAt[event.device] = time
      series[row(time), .deliveredEvents] += 1
      series[row(time), .timeToDeliverySum] += wait
      deliveries.record(wait)
    }
  }

  /// Returns the outcome until a time.
  package func result(reached: Span) -> LiveRun.Result {
    var series = series
    for time in times.joined() where time < reached.microseconds { series[row(time), .createdEvents] += 1 }
    for event in sentBefore.subtracting(delivered) {
      guard let failed = failedAt[event], let later = deliveredAt[event.device], failed < later else {
        continue
      }
      series[row(failed), .droppedByRetryLimit] += 1
    }
    var open: Int64 = 0
    for index in series.rows.indices {
      open +=
        series[index, .createdEvents] - series[index, .deliveredEvents] - series[index, .droppedByRetryLimit]
      series[index, .backlogEvents] = open
    }
    var cost = DeviceCost()
    cost.total[.attempts] = Int64(uploads.count)
    var record = RunRecord(
      series: series, deliveries: deliveries, offeredPer100ms: offered,
      nominalCapacityMilli: NormalLoad(scenario).nominalCapacityMilli,
      incidents: scenario.incidentSpans, devices: Int64(times.count),
      longestFlushInterval: scenario.fleet.compactMap { $0.flush.interval?.microseconds }.max() ?? 0,
      cost: cost)
    if reached < scenario.duration { record.cut(after: reached.microseconds) }
    return LiveRun.Result(
      record: record, reached: reached, lags: Histogram(), sent: Int64(uploads.count), answered: answered,
      refused: refused, unheard: unheard)
  }
}

extension Scenario {
  /// When each device creates its events and first flushes, in the fleet's order, microseconds: as in a simulated run.
  fileprivate func devicePlans() -> [(events: [Int64], phase: Int64)] {
    var devices: [(events: [Int64], phase: Int64)] = []
    for cohort in fleet {
      let plan = CohortPlan(
        cohort, firstDevice: devices.count, scenario: self, lastIncidentEnd: nil, checks: false,
        windowWidth: nil)
      withUnsafePointer(to: plan) { plan in
        for device in 0..<cohort.devices {
          let phase = cohort.flush.interval == nil ? 0 : plan.flushPhase(plan.deviceKey(device))
          let draws = EventDraws(plan.deviceKey(device))
          var times: [Int64] = []
          var time = plan.firstEvent(draws)
          while time < duration.microseconds {
            times.append(time)
            time = plan.next(after: time, before: UInt32(times.count), draws)
          }
          devices.append((times, phase))
        }
      }
    }
    return devices
  }
}
