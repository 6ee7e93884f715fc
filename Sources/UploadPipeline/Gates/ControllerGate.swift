import UploadGating

/// O5: `ClientGates.controller`.
extension UploadClientHost where Self: ~Copyable {
  @inlinable
  func controllerState(of client: ClientIndex) -> UnsafeMutablePointer<BackpressureController.State> {
    part(options.pointee.gateLayout.controller, client, as: BackpressureController.State.self)
  }

  @inlinable
  func pace(of client: ClientIndex) -> UnsafeMutablePointer<BackpressureController.Pace> {
    part(options.pointee.gateLayout.pace, client, as: BackpressureController.Pace.self)
  }

  /// Events of a batch at most, now.
  @inlinable
  @inline(never)
  mutating func gatedMaximumBatch(_ client: ClientIndex) -> UInt32 {
    guard let controller = options.pointee.gates.controller else { return options.pointee.maximumBatchEvents }
    return min(
      UInt32(controller.batchEvents(controllerState(of: client).pointee)), options.pointee.maximumBatchEvents)
  }

  @inlinable
  mutating func controllerSays(
    _ client: ClientIndex, at now: Int64, _ look: inout GateHold
  ) -> GateVerdict? {
    guard let controller = options.pointee.gates.controller else { return nil }
    if Int(uploads(of: client)) >= controller.concurrency(controllerState(of: client).pointee) {
      return .held
    }
    if controller.paces, case let end = controller.earliest(pace(of: client).pointee), end > now {
      look.until = end
      look.flags.insert(.wakes)
    }
    return nil
  }

  @inlinable
  func controllerTakes(_ batch: BatchIndex, _ client: ClientIndex, at now: Int64) {
    guard let controller = options.pointee.gates.controller else { return }
    if controller.paces { pace(of: client).pointee.latest = now }
    if controller.needsLatencies { noteSent(batch, controller, client, at: now) }
  }

  @inlinable
  func controllerHears(_ answer: GateAnswer, of batch: BatchIndex, _ client: ClientIndex, at now: Int64) {
    guard let controller = options.pointee.gates.controller else { return }
    let latency = controller.needsLatencies ? takeLatency(of: batch, controller, client, at: now) : nil
    let signal = controller.signal(status: answer.status, latency: latency)
    controller.record(signal, &controllerState(of: client).pointee)
    if controller.paces { controller.record(signal, &pace(of: client).pointee) }
  }

  /// When an upload left, in a place that is free: there are as many as uploads at once.
  @inlinable
  func noteSent(
    _ batch: BatchIndex, _ controller: BackpressureController, _ client: ClientIndex, at now: Int64
  ) {
    let places = part(options.pointee.gateLayout.sentUploads, client, as: SentUpload.self)
    let name = UInt64(firstOrdinal(of: batch)) + 1
    for index in 0..<controller.longestConcurrency where places[index].name == 0 || places[index].name == name
    {
      places[index] = SentUpload(name: name, time: now)
      return
    }
  }

  /// How long an answer took; nil: the upload is not known any more.
  @inlinable
  func takeLatency(
    of batch: BatchIndex, _ controller: BackpressureController, _ client: ClientIndex, at now: Int64
  ) -> Int64? {
    let places = part(options.pointee.gateLayout.sentUploads, client, as: SentUpload.self)
    let name = UInt64(firstOrdinal(of: batch)) + 1
    for index in 0..<controller.longestConcurrency where places[index].name == name {
      places[index].name = 0
      return now - places[index].time
    }
    return nil
  }

  /// Nothing is under way any more.
  @inlinable
  func relaunchController(_ client: ClientIndex) {
    guard let controller = options.pointee.gates.controller, controller.needsLatencies else { return }
    part(options.pointee.gateLayout.sentUploads, client, as: SentUpload.self)
      .update(repeating: SentUpload(name: 0, time: 0), count: controller.longestConcurrency)
  }
}
