import FleetMetrics
import SimulationKernel
import TAPIModel
import UploadRetry

/// The number of an attempt that asks whether an upload of unknown outcome was applied (O4): those of cohorts that
/// reconcile have 15 bits, and the sixteenth says that it is a question.
enum StatusQuery {
  private static var bit: UInt16 { 0x8000 }

  /// - Parameter next: the number that would come next.
  @inline(__always)
  static func attempt(_ next: UInt16, asQuery: Bool) -> UInt16 {
    (next >= bit ? 2 : next) | (asQuery ? bit : 0)
  }

  /// Without the bit.
  @inline(__always)
  static func number(_ attempt: UInt16) -> UInt16 { attempt & ~bit }

  @inline(__always)
  static func isQuery(_ attempt: UInt16) -> Bool { attempt & bit != 0 }
}

extension DeviceShard {
  /// Whether an item belongs to a question instead of an upload.
  @inline(__always)
  func isQuery(_ delivery: Delivery) -> Bool {
    plan.pointee.reconciles && StatusQuery.isQuery(delivery.attempt)
  }

  /// The answer to a question has come. Applied: as if the upload had been answered. Not applied: the upload leaves at once, if
  /// nothing holds it; otherwise it is asked for again when it is due.
  ///
  /// - Returns: whether it was applied.
  @inline(never)
  mutating func hearsItWasApplied(_ delivery: Delivery, _ sink: inout Outbox) -> Bool {
    let (batch, device, now) = (delivery.batch, delivery.device, delivery.due)
    batches[batch].attempts = StatusQuery.number(batches[batch].attempts)
    if batches[batch].flags.contains(.accepted) { return true }
    let record = self[device]
    endUpload(.status(200, retryAfter: nil), delivery)
    gatesHear(status: 200, of: batch, device, at: now)
    let ordinal = batches[batch].firstOrdinal
    if !record.pointee.flags.contains(.draining), record.pointee.gate.isReady(at: now.microseconds),
      gatesSay(device, at: now) == .allowed, gatesLetLeave(batch, device, at: now) == .leaves
    {
      if isTraced(device) { note(tracedSend(batch, 0), device, at: now) }
      let state = plan.pointee.isRebatch ? record.pointee.clientRetry : batches.retryState(batch)
      send(batch, device, retryCount: state.failureCount, at: now, &sink)
    } else {
      insertReady(batch, device)
    }
    continueLoop(device, from: loopCursor(device, behind: ordinal), at: now, &sink)
    return false
  }
}
