import FleetMetrics
import ShippedQuirks
import SimulationKernel
import UploadGating
import UploadPipeline
import UploadRetry

/// The figures that observers read off the devices; nothing here changes a run.
extension DeviceShard {
  /// After the end of the run: an answer still under way tells of an acceptance that happened in the run.
  package mutating func countLateAcceptance(_ delivery: Delivery, due: Int64, end: Int64) {
    guard batches[delivery.batch].generation == delivery.generation, delivery.kind == .answer,
      delivery.status == 200, !isQuery(delivery),
      !batches[delivery.batch].fetchesSettings
    else { return }
    let accepted = due &- Int64(delivery.downlink)
    if accepted >= end { return }
    if pages != nil {
      acceptLate(delivery, at: accepted)
    } else {
      accept(delivery.batch, delivery.device, at: accepted)
    }
  }

  /// The events that clients hold when the run is over. The server has accepted some of them all the same; the rest waits in the
  /// places of `pending`.
  package struct HeldEvents: Sendable {
    var acceptedUnconfirmed: Int64 = 0
    var pending = EventsByPlace()
    /// Events of `pending` in closed apps that will be given up before they are sent again, by how.
    var doomed: [Measure: Int64] = [:]
  }

  /// O(devices and their batches).
  var heldEvents: HeldEvents {
    var held = HeldEvents()
    let end = plan.pointee.end
    for device in indices {
      var sealed: Int64 = 0
      var isUploading = false
      var batch = self[device].pointee.oldest
      while batch != .noBatch {
        let accepted = acceptedEvents(of: batch, device)
        let open = Int64(batches[batch].events) - accepted
        held.acceptedUnconfirmed += accepted
        if batches[batch].flags.contains(.inFlight) {
          held.pending[.underway] += open
          isUploading = true
        } else {
          sealed += open
        }
        batch = batches[batch].newer
      }
      var unsealed = unsealedEvents(device, through: end &- 1)
      if sealed + unsealed == 0 { continue }
      let (flags, gate) = (self[device].pointee.flags, self[device].pointee.gate)
      if flags.contains(.suspended) {
        addDoomed(device, to: &held.doomed)
        let waiting = plan.pointee.sendsWhileClosed ? 0 : sealed
        held.pending[.closedApp] += waiting + unsealed
        (sealed, unsealed) = (sealed - waiting, 0)
      }
      if flags.contains(.offline) {
        held.pending[.offline] += sealed + unsealed
      } else if !gate.isReady(at: end) {
        held.pending[gate.kind == .rateLimit ? .rateLimit : .backoff] += sealed + unsealed
      } else {
        let waiting = min(sealed, eventsBehindBackoff(device, at: end))
        held.pending[.backoff] += waiting
        held.pending[isUploading ? .underway : isHeldByGate(device, at: end) ? .gate : .flush] +=
          sealed - waiting
        held.pending[.flush] += unsealed
      }
    }
    return held
  }

  /// Adds the events of a closed app that its client will give up when it looks at them next, as the limits then are.
  private func addDoomed(_ device: DeviceIndex, to doomed: inout [Measure: Int64]) {
    guard pages == nil, let time = nextLook(device) else { return }
    // Nothing is that old where there is no limit on the age of events.
    let limit = machine(of: device)._withUnsafeGuaranteedRef { $0.maximumEventAge }
    let oldestAllowed = limit.map { time - $0 } ?? .min
    // A restart before that, of which the client's state does not survive.
    let forgets =
      restarts.map { $0[device.place].next <= time } ?? false
      && (!plan.pointee.restarts.keepsState || options.pointee.saving == .never)
    func add(_ events: Int64, _ reason: DropReason) {
      if events > 0 { doomed[counter(of: .limit(reason)), default: 0] += events }
    }
    // A batch that stays as it is goes as a whole, and by its age first.
    let goesWhole = !options.pointee.isRebatch
    var pipeline = devices.client(device).pointee.pipeline
    var batch = self[device].pointee.oldest
    while batch != .noBatch {
      let (events, record) = (batches[batch].events, retryState(of: batch, device))
      let open = Int64(events) - acceptedEvents(of: batch, device)
      let old = eventsCreated(before: oldestAllowed, among: UInt32(events), of: batch, device)
      if old > 0, goesWhole {
        add(open, .age)
      } else if !forgets, case .drop(let reason) = decision(on: record, pipeline: &pipeline, device, at: time)
      {
        add(open, reason)
        // The clients' one record starts anew with the first batch.
        if open > 0, !goesWhole { return }
      } else {
        add(min(old, open), .age)
      }
      batch = batches[batch].newer
    }
    if limit == nil { return }
    let old = unsealedEvents(device, through: min(plan.pointee.end, oldestAllowed) &- 1)
    add(old > 0 && goesWhole ? unsealedEvents(device, through: plan.pointee.end &- 1) : old, .age)
  }

  /// When a closed app will next look at what it holds: as its next session begins or at the first flush in it, at a count of
  /// events in the background, or in a window of its operating system.
  private func nextLook(_ device: DeviceIndex) -> Int64? {
    guard let session = worlds?[device.place].session, !session.isForeground else { return nil }
    let interval = plan.pointee.flush.interval
    let waits = !options.pointee.triggers.contains(.foreground) && interval != .max
    var look = session.end &+ (waits ? interval : 0)
    if plan.pointee.sendsWhileClosed {
      // The event that fills the count: so many are missing. One of a recording comes at a time that nobody knows.
      let (events, full) = (plan.pointee.events, Int64(plan.pointee.flush.count))
      let counted = events.countsAll ? Int64(self[device].pointee.nextOrdinal) % full : 0
      let missing = max(1, full - counted - unsealedEvents(device, through: plan.pointee.end &- 1))
      look = min(look, plan.pointee.end &+ missing &* max(events.period, Int64(events.meanGap)))
    }
    let gate = self[device].pointee.gate
    if !gate.isReady(at: look) { look = max(look, gate.waitUntil) }
    guard let systems, systems[device.place].holds else { return look }
    return min(look, systems[device.place].next)
  }

  /// Returns the events in batches that wait, each until a time of its own, on a device whose client does not wait as a whole.
  private func eventsBehindBackoff(_ device: DeviceIndex, at now: Int64) -> Int64 {
    if pages != nil { return waitingEvents(device) }
    if options.pointee.isRebatch || self[device].pointee.waiting.count == 0 { return 0 }
    return dueTimes(of: device).reduce(0) { sum, entry in
      let (batch, due) = entry
      guard due > now, batches[batch].flags.contains(.held), !batches[batch].flags.contains(.inFlight) else {
        return sum
      }
      return sum + Int64(batches[batch].events) - acceptedEvents(of: batch, device)
    }
  }
}

extension ShardRunner {
  /// The run is over; what the server accepted in it is delivered, though the answer is still under way.
  mutating func countLateAcceptances() {
    for i in 0..<calendar.late.count {
      shard.countLateAcceptance(calendar.late[i].delivery, due: calendar.late[i].due, end: calendar.end)
    }
    shard.traceEnd()
  }
}
