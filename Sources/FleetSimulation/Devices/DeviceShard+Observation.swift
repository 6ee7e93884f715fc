import FleetMetrics
import SimulationKernel

/// What observers read off the devices; nothing here changes a run.
extension DeviceShard {
  /// After the end of the run: an answer still under way tells of an acceptance that happened in the run.
  package mutating func countLateAcceptance(_ delivery: Delivery, end: Instant) {
    guard batches[delivery.batch].generation == delivery.generation, delivery.kind == .answer, delivery.status == 200
    else { return }
    let accepted = delivery.due - Span(microseconds: Int64(delivery.downlink))
    if accepted < end { accept(delivery.batch, delivery.device, at: accepted) }
  }

  /// Events that the server has accepted and whose client still holds them.
  package var acceptedUnconfirmedEvents: Int64 {
    var sum: Int64 = 0
    for device in 0..<UInt32(count) {
      var batch = self[device].pointee.oldest
      while batch != 0 {
        if batches[batch].flags.contains(.accepted) { sum += Int64(batches[batch].events) }
        batch = batches[batch].newer
      }
    }
    return sum
  }

  /// Checks that events created = delivered + dropped + held, by walking every device's queue.
  func conservationViolation(at time: Int64) -> String? {
    var created: Int64 = 0
    var open: Int64 = 0
    for device in 0..<UInt32(count) {
      let record = self[device]
      let events = key(of: device).child(RandomPurpose.events)
      var ordinal = record.pointee.nextOrdinal
      var eventTime = record.pointee.unsealedTime
      while eventTime < time {
        ordinal &+= 1
        eventTime &+= plan.pointee.gap(before: ordinal, events)
        open += 1
      }
      created += Int64(ordinal)
      var held: Int64 = 0
      var uploads = 0
      var previous: UInt32?
      var batch = record.pointee.oldest
      while batch != 0 {
        held += Int64(batches[batch].events)
        if batches[batch].flags.contains(.inFlight) { uploads += 1 }
        if !batches[batch].flags.contains(.accepted) { open += Int64(batches[batch].events) }
        if let previous, previous >= batches[batch].firstOrdinal {
          return "device \(firstGlobal + Int(device)): batches out of order at \(time) µs"
        }
        previous = batches[batch].firstOrdinal
        batch = batches[batch].newer
      }
      if held != Int64(record.pointee.heldEvents) || uploads != Int(record.pointee.inFlight) {
        return "device \(firstGlobal + Int(device)): its counts do not match its queue at \(time) µs"
      }
    }
    let settled =
      sum(.deliveredEvents) + sum(.droppedByStatus) + sum(.droppedByRetryLimit) + sum(.droppedByRateLimitRetryLimit)
      + sum(.droppedByAge) + sum(.droppedByOverflow) - sum(.acceptedAfterDropEvents)
    if created != settled + open {
      return "events are not conserved at \(time) µs: \(created) created, \(settled) settled, \(open) open"
    }
    return nil
  }

  func sum(_ counter: DeviceCounter) -> Int64 {
    var sum: Int64 = 0
    for row in 0..<counters.rows { sum += counters[row, counter] }
    return sum
  }
}
