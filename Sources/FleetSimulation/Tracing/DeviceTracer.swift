import FleetMetrics
import SimulationKernel
import UploadPipeline
import UploadRetry

/// Collects what happens to the one traced device.
package final class DeviceTracer {
  package private(set) var events: [DeviceTrace.Event] = []
  package init() {}
  fileprivate func append(_ event: DeviceTrace.Event) { events.append(event) }
}

extension DeviceShard {
  /// Whether somebody wants to hear of a device: one comparison.
  @inline(__always)
  func isTraced(_ device: DeviceIndex) -> Bool { device == tracedDevice }

  /// Notes an event of the device that is traced.
  @inline(never)
  mutating func note(_ kind: DeviceTrace.Kind, _ device: DeviceIndex, at now: Instant) {
    let record = self[device]
    let queued = Int(heldEvents(of: device))
    tracer?.append(
      DeviceTrace.Event(
        time: now.microseconds, kind: kind, queuedEvents: queued,
        waitUntil: record.pointee.gate.waitUntil))
  }
}

extension DeviceShard {
  /// From now on `tracer` hears of a device, by its global number, if the shard has it.
  fileprivate mutating func trace(_ device: Int, _ tracer: DeviceTracer) {
    guard let place = place(ofGlobal: device) else { return }
    self.tracer = tracer
    tracedDevice = place
  }

  /// Before the send, which counts the attempt.
  func tracedSend(_ batch: BatchIndex, _ retryCount: UInt16) -> DeviceTrace.Kind {
    .sent(
      batch: Int(batches[batch].firstOrdinal), events: Int(batches[batch].events),
      attempt: batches[batch].attempts == .max ? 2 : Int(batches[batch].attempts) + 1,
      retryCount: options.pointee.policy.headerValue(retryCount).map(Int.init))
  }

  /// A batch that has left the queue; its record still tells which it was.
  func tracedDrop(_ batch: BatchIndex, _ reason: Measure) -> DeviceTrace.Kind {
    .dropped(batch: Int(batches[batch].firstOrdinal), events: Int(batches[batch].events), .init(reason))
  }

  mutating func traceUnheard(_ delivery: Delivery, at now: Instant) {
    guard isTraced(delivery.device) else { return }
    let first = batches[delivery.batch].firstOrdinal
    note(
      .acceptedUnheard(batch: Int(first), attempt: Int(delivery.attempt)), delivery.device, at: now)
  }
}

extension WindowedEngine {
  /// From now on `tracer` hears of a device, by its global number.
  func trace(device: Int, _ tracer: DeviceTracer) {
    for i in 0..<runners.count { runners[i].shard.trace(device, tracer) }
  }
}

extension DeviceTrace.Loss {
  init(_ counter: Measure) {
    switch counter {
    case .droppedByStatus: self = .limit(.status)
    case .droppedByRetryLimit: self = .limit(.retryLimit)
    case .droppedByRateLimitRetryLimit: self = .limit(.rateLimitRetryLimit)
    case .droppedByAge: self = .limit(.age)
    case .refusedByGate: self = .refused
    default: self = counter.blockReason == nil ? .overflow : .blocked
    }
  }
}

extension DeviceTrace.LaunchSettings {
  init(_ version: DeviceRecord.SettingsVersion) {
    switch version {
    case .base: self = .base
    case .rollout: self = .rollout
    case .builtIn: self = .builtIn
    }
  }
}
