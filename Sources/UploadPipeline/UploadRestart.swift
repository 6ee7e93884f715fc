import UploadGating
import UploadRetry

/// What a client knows after its process has ended (S18): events always, and of its retry state what it has kept.
extension UploadClientHost where Self: ~Copyable {
  /// What a client has stored when it is killed, its batches in the order of their events. With one record for the client
  /// (*rebatch*) that record stands for all of them.
  @inlinable
  public func retrySnapshot(of client: ClientIndex) -> RetrySnapshot {
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
    while batch != .noBatch {
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
  public mutating func forgetLoop(_ client: ClientIndex) {
    state(of: client).pointee.flags.remove([.looping, .draining, .byTrigger, .loopHadFailure])
    if options.pointee.flushWhileUploading == .queued { setQueuedLoops(0, of: client) }
    guard options.pointee.actsAtFlushEnd else { return }
    var batch = oldest(of: client)
    while batch != .noBatch {
      if result(of: batch) != nil { setResult(nil, of: batch) }
      batch = newer(than: batch)
    }
  }

  // MARK: What has been saved

  /// The state as it is becomes what a launch will find.
  @inlinable
  @inline(never)
  mutating func save(_ client: ClientIndex) {
    let (state, saved) = (state(of: client), saved(of: client))
    saved.pointee.gate = state.pointee.gate
    saved.pointee.pipeline = state.pointee.pipeline
    if options.pointee.isRebatch { saved.pointee.record = retryState(of: .noBatch, client) }
  }

  /// The state is about to change: what has been the same for a second is saved by now (`Saving.delayed`).
  @inlinable
  @inline(never)
  mutating func noteChange(_ client: ClientIndex, at now: Int64) {
    let saved = saved(of: client)
    if saved.pointee.changedAt == .min || now &- saved.pointee.changedAt >= 1_000_000 { save(client) }
    saved.pointee.changedAt = now
  }

  /// The process of a client that does not save at once ends: it goes back to what it has saved.
  @inlinable
  public mutating func goBackToSaved(_ client: ClientIndex, at now: Int64) {
    switch options.pointee.saving {
    case .atOnce, .atOnceAsItIs, .never: return
    case .delayed: noteChange(client, at: now)
    case .afterAnswers: break
    }
    let (state, saved) = (state(of: client), saved(of: client))
    state.pointee.gate = saved.pointee.gate
    state.pointee.pipeline = saved.pointee.pipeline
    if options.pointee.isRebatch { setRetryState(saved.pointee.record, of: .noBatch, client) }
    saved.pointee.changedAt = .min
  }

  /// The launched client acts on its snapshot, as `UploadRetry` validates it against the clock and the Settings just fetched, or as
  /// it is (`Saving`). What exists is said by the stored batches; one that the snapshot does not know has never failed.
  @inlinable
  public mutating func restore(_ stored: RetrySnapshot, _ client: ClientIndex, at now: Int64)
    -> [SnapshotRepair]
  {
    let machine = machine(of: client).takeUnretainedValue()
    guard options.pointee.saving == .atOnce else {
      adopt(stored, client, at: now)
      return []
    }
    let (snapshot, repairs) = stored.validated(now: now, config: machine.config, policy: machine.policy)
    adopt(snapshot, client, at: now)
    return repairs
  }

  /// The client's state is that of the snapshot.
  @inlinable
  public mutating func adopt(_ snapshot: RetrySnapshot, _ client: ClientIndex, at now: Int64) {
    let state = state(of: client)
    let machine = machine(of: client).takeUnretainedValue()
    // There is no state without Settings.
    let isStateless = machine.ignoresState && machine.policy.withoutSettings == .drops400
    state.pointee.gate.reset()
    if snapshot.waitUntil != 0, !isStateless {
      state.pointee.gate.pause(
        until: snapshot.waitUntil, kind: snapshot.isWaitBackoff ? .backoff : .rateLimit)
    }
    state.pointee.pipeline = isStateless ? PipelineRetryState() : snapshot.pipeline
    let shared = snapshot.batches.first?.state ?? BatchRetryState()
    if options.pointee.isRebatch { setRetryState(shared, of: oldest(of: client), client) }

    forgetDueTimes(client)
    var known = snapshot.batches[...]
    var batch = oldest(of: client)
    while batch != .noBatch {
      var record = BatchRetryState()
      // A record without events means nothing.
      while let first = known.first, first.id < UInt64(firstOrdinal(of: batch)) { known.removeFirst() }
      if !options.pointee.isRebatch, known.first?.id == UInt64(firstOrdinal(of: batch)) {
        record = known.removeFirst().state
        if isStateless { record = BatchRetryState() }
      }
      if !options.pointee.isRebatch { setRetryState(record, of: batch, client) }
      let failed = options.pointee.isRebatch ? shared : record
      setWaitsForTrigger(machine.config.retriesAtTriggersOnly(after: failed.latestFailure), batch)
      let look = machine.lookAt(record, due: record.retryAt)
      if look > now { putOff(batch, until: look, client) } else { putLast(batch, client) }
      batch = newer(than: batch)
    }
    if options.pointee.saving == .afterAnswers || options.pointee.saving == .delayed { save(client) }
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
