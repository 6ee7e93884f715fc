import FleetMetrics
import SimulationKernel
import TAPIModel
import UploadPipeline

/// What observers read off the devices; nothing here changes a run.
extension DeviceShard {
  /// After the end of the run: an answer still under way tells of an acceptance that happened in the run.
  package mutating func countLateAcceptance(_ delivery: Delivery, due: Instant, end: Instant) {
    guard batches[delivery.batch].generation == delivery.generation, delivery.kind == .answer,
      delivery.status == 200, !isQuery(delivery)
    else { return }
    let accepted = due - Span(microseconds: Int64(delivery.downlink))
    if accepted < end { accept(delivery.batch, delivery.device, at: accepted) }
  }

  /// Events that the server has accepted and whose client still holds them.
  package var acceptedUnconfirmedEvents: Int64 {
    var sum: Int64 = 0
    for device in indices {
      var batch = self[device].pointee.oldest
      while batch != .noBatch {
        sum += acceptedEvents(of: batch, device)
        batch = batches[batch].newer
      }
    }
    return sum
  }
}

extension DeviceShard {
  /// What the server has to know of an upload that arrives: a batch's record stays as it was sent while an attempt is open.
  package func request(_ upload: UploadTicket, at now: Instant) -> UploadRequest {
    var batch = batches[upload.batch]
    if options.pointee.gates.reconciles, StatusQuery.isQuery(upload.attempt) { batch.events = 0 }
    return UploadRequest(
      arrival: now, device: UInt32(truncatingIfNeeded: globalNumber(upload.device)),
      place: upload.device.rawValue, batch: upload.batch.rawValue, firstOrdinal: batch.firstOrdinal,
      uplink: upload.uplink,
      downlink: upload.downlink, events: batch.events, attempt: upload.attempt,
      generation: upload.generation, shard: UInt16(truncatingIfNeeded: number))
  }
}

extension ShardRunner {
  /// The run is over; what the server accepted in it is delivered, though the answer is still under way.
  mutating func countLateAcceptances() {
    for i in 0..<calendar.late.count {
      shard.countLateAcceptance(calendar.late[i].delivery, due: calendar.late[i].due, end: calendar.end)
    }
  }
}
