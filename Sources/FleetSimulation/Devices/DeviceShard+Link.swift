import FleetMetrics
import SimulationKernel
import TAPIModel
import UploadPipeline

/// Slow and lossy links, connections that don't come about, and batches that turn out too large.
extension DeviceShard {
  /// What the link makes of the latency of a batch's latest attempt; `up` of `.max`: nothing reaches the server, and the client's
  /// giving up is arranged; `down` of `.max`: no answer comes back.
  @inline(never)
  mutating func crossLink(
    _ batch: BatchIndex, _ device: DeviceIndex, _ latency: CohortPlan.Latency, at now: Instant,
    _ sink: UnsafeMutablePointer<ShardCalendar>
  ) -> CohortPlan.Latency {
    let draws = key(of: device).child(
      UploadRequest.name(firstOrdinal: batches[batch].firstOrdinal, number: batches[batch].attempts))
    let (link, timeout) = (plan.pointee.network.link, plan.pointee.network.timeout)
    let connecting = min(plan.pointee.network.connectTimeout, timeout)
    var latency = latency
    if plan.pointee.network.connectTimeout < timeout, Int64(latency.up) &+ Int64(latency.down) > connecting {
      giveUp(batch, device, after: connecting, isKnown: true, .noConnection, at: now, sink)
      return CohortPlan.Latency(up: .max, down: .max)
    }
    if Self.isLost(link.requestLossPartsPerMillion, draws.child(RandomPurpose.networkUp)) {
      // Without a time-out for connecting the client can't tell it from a lost answer.
      let isKnown = plan.pointee.network.connectTimeout != .max
      giveUp(batch, device, after: connecting, isKnown: isKnown, .request, at: now, sink)
      count(1, .networkLostRequests, at: now)
      return CohortPlan.Latency(up: .max, down: .max)
    }
    if let speed = link.uploadBytesPerSecond {
      let bytes =
        plan.pointee.network.requestBytes &+ Int64(batches[batch].events) &* plan.pointee.network.eventBytes
      let transfer = RunAssembly.saturating(bytes, times: 1_000_000, over: Int64(speed))
      if transfer > timeout {
        giveUp(batch, device, after: timeout, isKnown: true, .tooSlow, at: now, sink)
        return CohortPlan.Latency(up: .max, down: .max)
      }
      latency.up = UInt32(clamping: min(Int64(latency.up) &+ transfer, Int64(UInt32.max) &- 1))
    }
    if Self.isLost(link.answerLossPartsPerMillion, draws.child(RandomPurpose.networkDown)) {
      latency.down = .max
      count(1, .networkLostAnswers, at: now)
      if isTraced(device) { noteLoss(batch, device, .answer, at: now) }
    }
    return latency
  }

  private static func isLost(_ partsPerMillion: Int64, _ key: RandomKey) -> Bool {
    partsPerMillion > 0 && Int64(key.child(0).uniform(below: 1_000_000)) < partsPerMillion
  }

  /// An attempt that never reaches the server ends with a time-out.
  ///
  /// - Parameter isKnown: whether the client knows that the server has got nothing.
  private mutating func giveUp(
    _ batch: BatchIndex, _ device: DeviceIndex, after wait: Int64, isKnown: Bool,
    _ place: DeviceTrace.LossOnTheWay,
    at now: Instant, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    sink.pointee.schedule(
      Delivery(
        .timeOut, device: device, batch: batch, attempt: batches[batch].attempts,
        generation: batches[batch].generation, status: isKnown ? Delivery.notSent : 0, resolves: true),
      due: now + Span(microseconds: wait))
    if isTraced(device) { noteLoss(batch, device, place, at: now) }
  }

  private mutating func noteLoss(
    _ batch: BatchIndex, _ device: DeviceIndex, _ place: DeviceTrace.LossOnTheWay, at now: Instant
  ) {
    let upload = batches[batch]
    note(.lost(batch: Int(upload.firstOrdinal), attempt: Int(upload.attempts), place), device, at: now)
  }

  /// The client can't know what became of an upload.
  mutating func noteUnknownOutcome(_ batch: BatchIndex, at now: Instant) {
    batches[batch].flags.insert(.unknownOutcome)
    count(1, .unknownOutcomes, at: now)
  }

  // MARK: Too large

  /// 413: the batch keeps the first half of its events, the others become a batch behind it; both are fresh, and due at once.
  /// Returns false, having done nothing, where that can't help or an earlier attempt is still open at the server.
  @inline(never)
  mutating func split(_ batch: BatchIndex, _ device: DeviceIndex, at now: Instant) -> Bool {
    let events = UInt32(batches[batch].events)
    guard events > 1, batches[batch].outstanding == 0, !batches[batch].flags.contains(.accepted) else {
      return false
    }
    let (kept, first) = ((events &+ 1) / 2, batches[batch].firstOrdinal)
    let (time, ordinal) = skip(kept, from: first, at: batches[batch].firstTime, device)
    let other = batches.allocate(
      for: device, firstOrdinal: ordinal, firstTime: time, events: UInt16(truncatingIfNeeded: events &- kept))
    batches[batch].events = UInt16(truncatingIfNeeded: kept)
    batches[batch].flags.remove([.hasRetryState, .atTriggersOnly])
    let newer = batches[batch].newer
    batches[other].older = batch
    batches[other].newer = newer
    batches[batch].newer = other
    if newer == .noBatch { self[device].pointee.newest = other } else { batches[newer].older = other }
    count(1, .sealedBatches, at: now)
    if options.pointee.uploads == 1 {
      // The running loop goes on with the first half.
      loop(device).pointee.cursor = first
    }
    putBack(batch, device)
    putBack(other, device)
    if isTraced(device) {
      note(.split(batch: Int(first), events: Int(events &- kept), into: Int(ordinal)), device, at: now)
    }
    return true
  }
}
