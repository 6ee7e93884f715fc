import FleetMetrics
import SimulationKernel
import UploadRetry

/// Collects what happens to the one traced device.
package final class DeviceTracer {
  package private(set) var events: [DeviceTrace.Event] = []
  package init() {}
  fileprivate func append(_ event: DeviceTrace.Event) { events.append(event) }
}

extension DeviceShard {
  /// Notes an event of a device that is traced. For all others it costs one comparison; `kind` is not even made.
  @inline(__always)
  func trace(_ device: UInt32, at now: Instant, _ kind: @autoclosure () -> DeviceTrace.Kind) {
    if device == tracedDevice { note(kind(), device, at: now) }
  }

  @inline(never)
  private func note(_ kind: DeviceTrace.Kind, _ device: UInt32, at now: Instant) {
    let record = self[device]
    tracer?.append(
      DeviceTrace.Event(
        time: now.microseconds, kind: kind, queuedEvents: Int(heldEvents(device)),
        waitUntil: record.pointee.gate.waitUntil))
  }
}

extension DeviceShard {
  /// Before the send, which counts the attempt.
  func tracedSend(_ batch: UInt32, _ retryCount: UInt16) -> DeviceTrace.Kind {
    .sent(
      batch: Int(batches[batch].firstOrdinal), events: Int(batches[batch].events),
      attempt: batches[batch].attempts == .max ? 2 : Int(batches[batch].attempts) + 1,
      retryCount: plan.pointee.policy.headerValue(retryCount).map(Int.init))
  }

  /// A batch that has left the queue; its record still tells which it was.
  func tracedDrop(_ batch: UInt32, _ reason: DeviceCounter) -> DeviceTrace.Kind {
    .dropped(batch: Int(batches[batch].firstOrdinal), events: Int(batches[batch].events), .init(reason))
  }

  func traceUnheard(_ delivery: Delivery) {
    trace(
      delivery.device, at: delivery.due,
      .acceptedUnheard(batch: Int(delivery.firstOrdinal), attempt: Int(delivery.attempt)))
  }
}

extension WindowedEngine {
  /// From now on `tracer` hears of a device, by its global number.
  func trace(device: Int, _ tracer: DeviceTracer) {
    for i in 0..<rooms.count {
      guard let place = rooms[i].shard.place(ofGlobal: device) else { continue }
      rooms[i].shard.tracer = tracer
      rooms[i].shard.tracedDevice = place
    }
  }
}

extension DeviceTrace.Loss {
  init(_ counter: DeviceCounter) {
    switch counter {
    case .droppedByStatus: self = .limit(.status)
    case .droppedByRetryLimit: self = .limit(.retryLimit)
    case .droppedByRateLimitRetryLimit: self = .limit(.rateLimitRetryLimit)
    case .droppedByAge: self = .limit(.age)
    default: self = .overflow
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
