import UploadGating
import UploadRetry

/// What a trigger does to a client, from its new events to the first request (S17).
extension UploadClientHost where Self: ~Copyable {
  /// A flush: `n` new events from number `ordinal` on, the first of them created at `time`, become batches, the queue's limit is
  /// kept, and the loop is asked to run. A client that ignores it (`ignoresFlush`) must not come here.
  @inlinable
  @inline(__always)
  public mutating func flush(
    _ client: ClientIndex, sealing n: UInt32, from ordinal: UInt32, createdAt time: Int64, at now: Int64,
    _ sink: Sink
  ) {
    if n != 0 {
      willSeal(n, client)
      seal(n, from: ordinal, at: time, client, now: now)
      didSeal(through: ordinal &+ n, client)
      if losesNew(client, at: now) { loseNew(client, from: ordinal, at: now) }
      if heldEvents(of: client) > options.pointee.limit { keepLimit(client, at: now) }
    }
    runLoop(client, at: now, byTrigger: true, sink)
  }

  /// A trigger that does not care for waits comes (D7): the client's wait is over; its counts stay.
  @inlinable
  public mutating func skipWait(_ client: ClientIndex, for trigger: ClientTrigger) {
    if options.pointee.triggersThatSkipWaits.contains(trigger) { state(of: client).pointee.gate.reset() }
  }

  /// Whether a flush would do nothing at all: uploads are under way (`FlushWhileUploading.ignored`).
  @inlinable
  @inline(__always)
  public func ignoresFlush(_ client: ClientIndex) -> Bool {
    options.pointee.flushWhileUploading == .ignored && uploads(of: client) > 0
  }

  /// Whether a count trigger would do nothing: while uploads fail (`ClientOptions.countFlushWhileFailing`), or where the count is
  /// that of all events held (`ClientOptions.countsHeldEvents`) and there are fewer.
  ///
  /// - `unsealed`: events that no flush has sealed.
  @inlinable
  public mutating func ignoresCount(_ client: ClientIndex, unsealed: UInt32, count: UInt32) -> Bool {
    if !options.pointee.countFlushWhileFailing, state(of: client).pointee.flags.contains(.loopHadFailure) {
      return true
    }
    return options.pointee.countsHeldEvents && heldEvents(of: client) &+ unsealed < count
  }

  /// An upload has ended, with an answer or without one.
  @inlinable
  public mutating func answered(
    _ response: UploadResponse, _ batch: BatchIndex, _ client: ClientIndex, at now: Int64, _ sink: Sink
  ) {
    if case .status(let code, _) = response, (200...299).contains(code) {
      succeed(batch, client, isOnly: false, at: now, sink)
    } else {
      fail(response, batch, client, at: now, sink)
    }
  }

  /// The process ends at once, whatever it is doing: what a launch will find is returned. Uploads under way are the host's to end.
  @inlinable
  public mutating func endProcess(_ client: ClientIndex, at now: Int64) -> RetrySnapshot {
    switch options.pointee.saving {
    case .atOnce, .atOnceAsItIs: break
    case .afterAnswers, .delayed: goBackToSaved(client, at: now)
    case .never:
      forgetLoop(client)
      return RetrySnapshot()
    }
    let snapshot = retrySnapshot(of: client)
    forgetLoop(client)
    return snapshot
  }
}
