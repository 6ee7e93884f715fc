import UploadGating
import UploadRetry

/// What a client knows after its process has ended (S18): events always, and of its retry state what it has kept.
extension UploadClientHost where Self: ~Copyable {
  /// What a client has stored when it is killed, its batches in the order of their events. With one record for the client
  /// (*rebatch*) that record stands for all of them.
  @inlinable
  public func retrySnapshot(of client: UInt32) -> RetrySnapshot {
    let state = state(of: client)
    var snapshot = RetrySnapshot(
      waitUntil: state.pointee.gate.waitUntil, isWaitBackoff: state.pointee.gate.kind == .backoff,
      pipeline: state.pointee.pipeline)
    if options.pointee.isRebatch {
      let record = retryState(of: oldest(of: client), client)
      snapshot.batches = [.init(id: 0, state: record, isInFlight: uploads(of: client) > 0)]
      return snapshot
    }
    let dueTimes = dueTimes(of: client)
    var batch = oldest(of: client)
    while batch != 0 {
      var record = retryState(of: batch, client)
      record.retryAt = dueTimes[batch] ?? 0
      snapshot.batches.append(
        .init(id: UInt64(firstOrdinal(of: batch)), state: record, isInFlight: isUploading(batch)))
      batch = newer(than: batch)
    }
    return snapshot
  }

  /// The process has ended: no loop runs, and no upload is waited for. The host takes back the uploads under way.
  @inlinable
  public mutating func forgetLoop(_ client: UInt32) {
    state(of: client).pointee.flags.remove([.looping, .draining, .byTrigger, .loopHadFailure])
  }

  /// The launched client acts on its snapshot as `UploadRetry` validates it against the clock and the Settings just
  /// fetched. What exists is said by the stored batches; one that the snapshot does not know has never failed.
  @inlinable
  public mutating func restore(_ stored: RetrySnapshot, _ client: UInt32, at now: Int64) -> [SnapshotRepair] {
    let state = state(of: client)
    let machine = machine(of: client).takeUnretainedValue()
    let (snapshot, repairs) = stored.validated(now: now, config: machine.config, policy: machine.policy)
    state.pointee.gate.reset()
    if snapshot.waitUntil != 0 {
      state.pointee.gate.pause(
        until: snapshot.waitUntil, kind: snapshot.isWaitBackoff ? .backoff : .rateLimit)
    }
    state.pointee.pipeline = snapshot.pipeline
    let shared = snapshot.batches.first?.state ?? BatchRetryState()
    if options.pointee.isRebatch { setRetryState(shared, of: oldest(of: client), client) }

    forgetDueTimes(client)
    var known = snapshot.batches[...]
    var batch = oldest(of: client)
    while batch != 0 {
      var record = BatchRetryState()
      if !options.pointee.isRebatch, known.first?.id == UInt64(firstOrdinal(of: batch)) {
        record = known.removeFirst().state
      }
      if !options.pointee.isRebatch { setRetryState(record, of: batch, client) }
      let failed = options.pointee.isRebatch ? shared : record
      setWaitsForTrigger(machine.config.retriesAtTriggersOnly(after: failed.latestFailure), batch)
      if record.retryAt > now {
        putOff(batch, until: record.retryAt, client)
      } else {
        putLast(batch, client)
      }
      batch = newer(than: batch)
    }
    return repairs
  }
}

extension HTTPConfig {
  /// S15: legacy sections have no wait; what failed under one is tried again at triggers, with a timer too.
  @usableFromInline
  func retriesAtTriggersOnly(after failure: BatchRetryState.LatestFailure) -> Bool {
    switch failure {
    case .none: false
    case .rateLimited: !rateLimit.isEnabled
    case .transient: !backoff.isEnabled
    }
  }
}
