import CMemory
import ShippedClients
import ShippedQuirks
import SimulationKernel
import UploadPipeline
import UploadRetry

/// Memory that a device will touch is asked for ahead of the time when it is handled.
extension DeviceShard {
  /// Asks for a device's record.
  @inline(__always)
  func prefetch(_ device: DeviceIndex) {
    devices.prefetch(device)
  }

  /// Asks for what the record, touched earlier, leads to: the batch a loop will most likely send. For cohorts with
  /// `CohortPlan.Tables.loops`; others find nearly all of their batches beside their records.
  @inline(__always)
  func prefetchBatch(of device: DeviceIndex) {
    let due = loop(device).pointee.ready
    if let address = ready.address(due) {
      fleetsim_prefetch(address)
    } else if due.count > 0 {
      prefetch(batch: ready.entry(0, of: due).batch)
    }
    if options.pointee.isRebatch { return }
    let place = self[device].pointee.waiting
    if place.count > 0 {
      let heap = waiting.address(place)
      fleetsim_prefetch(heap)
      fleetsim_prefetch(heap + Int(place.count))
      // Taking out the first entry reads a child, and putting one in at the end reads a parent.
      fleetsim_prefetch(heap + 4)
      fleetsim_prefetch(heap + Int(place.count) / 4)
    }
  }

  @inline(__always)
  func prefetch(batch: BatchIndex) { batches.prefetch(batch) }

  /// Asks for the batch that the loop will send next and for the one that is due first, in the blocks touched earlier.
  @inline(__always)
  func prefetchNextBatches(of device: DeviceIndex) {
    let due = loop(device).pointee.ready
    if due.count > 1 {
      let next = min(Int(truncatingIfNeeded: due.hint), Int(truncatingIfNeeded: due.count) &- 1)
      prefetch(batch: ready.entry(next, of: due).batch)
    }
    if options.pointee.isRebatch { return }
    let place = self[device].pointee.waiting
    if place.count > 0 { prefetch(batch: waiting.first(place).batch) }
  }

  /// Both for devices that are met one after another. Out of line, so that who has no queues does not pay.
  @inline(never)
  mutating func prefetchQueues(behind device: DeviceIndex) {
    if device.place &+ 6 >= count { return }
    prefetchBatch(of: device.advanced(by: 6))
    prefetchNextBatches(of: device.advanced(by: 3))
  }
}
