import UploadGating
import UploadPipeline
import UploadRetry

/// The results of the uploads of a flush, taken in the order of their events.
public struct FlushTally: Sendable, Hashable {
  /// A batch was delivered, one was failed with a wait that the server asked for, one without.
  var hasDelivered = false
  var hasWait = false
  var hasFailed = false
  /// The limit that the failure counted last has reached: what the flush has failed with is dropped.
  public internal(set) var verdict: DropReason?
  /// The wait that the flush leads to; 0: none.
  public internal(set) var waitUntil: Int64 = 0
  public internal(set) var isBackoff = false
  /// All retry state starts over.
  public internal(set) var startsOver = false

  public init() {}
}

extension RetryStateMachine {
  /// Returns the result of an answer for its batch; no state changes.
  public func result(of response: UploadResponse) -> UploadResult {
    guard case .status(let code, let asked) = response else {
      return .failed(wait: nil, isRateLimit: false)
    }
    let retryAfter = asked.map { min($0, policy.longestRetryAfter) }
    switch config.backoff.statuses.classify(code) {
    case .success: return .delivered
    case .drop: return .dropped
    case .authenticate: return policy.supportsOAuth ? .failed(wait: nil, isRateLimit: false) : .dropped
    case .rateLimited:
      if policy.overridden429 == .drops, config.backoff.statuses.dropsRateLimited { return .dropped }
      if !config.rateLimit.isEnabled, !config.rateLimit.keepsWhenOff, policy.rateLimitingOff == .drop {
        return .dropped
      }
      return .failed(
        wait: retryAfter ?? waitWithoutRetryAfter ?? config.rateLimit.maxRetryInterval, isRateLimit: true)
    case .retry:
      if !config.backoff.isEnabled, !config.backoff.keepsWhenOff, policy.backoffOff == .drop {
        return .dropped
      }
      let isRead = policy.retryAfterOnOtherCodes == .pausesPipeline
      return .failed(wait: isRead ? retryAfter : nil, isRateLimit: false)
    }
  }

  /// Takes the next result of a flush into account. Each wait that a server asks for counts as a failure of the client.
  public func add(
    _ result: UploadResult, to tally: inout FlushTally, client record: inout BatchRetryState,
    pipeline: inout PipelineRetryState, now: Int64
  ) {
    switch result {
    case .delivered: tally.hasDelivered = true
    case .dropped: break
    case .failed(nil, _): tally.hasFailed = true
    case .failed(let wait?, _):
      tally.hasWait = true
      guard config.rateLimit.isEnabled else { return }
      let until = saturatingSum(now, min(wait, longestWait))
      let earlier = tally.isBackoff || tally.waitUntil == 0 ? until : tally.waitUntil
      fail(
        until: min(earlier, until), isBackoff: false,
        limits: (config.rateLimit.maxRetryCount, .rateLimitRetryLimit),
        maximumAge: config.rateLimit.maxTotalBackoffDuration, &tally, &record, &pipeline, now: now)
    }
  }

  /// The flush is over: a backoff, if something failed without a wait that the server asked for, or a fresh start, if nothing failed.
  ///
  /// - `random`: one word is taken if a backoff is drawn, none otherwise.
  public func finish(
    _ tally: inout FlushTally, client record: inout BatchRetryState, pipeline: inout PipelineRetryState,
    now: Int64, random: inout some RandomNumberGenerator
  ) {
    if tally.hasWait { return }
    if tally.hasFailed {
      guard config.backoff.isEnabled else { return }
      let count = failuresCounted(record.failureCount, pipeline)
      let wait = drawDelay(count, bounds, batch: &record, word: random.next())
      fail(
        until: saturatingSum(now, wait), isBackoff: true, limits: (config.backoff.maxRetryCount, .retryLimit),
        maximumAge: config.backoff.maxTotalBackoffDuration, &tally, &record, &pipeline, now: now)
    } else if tally.hasDelivered {
      startOver(&tally, &record, &pipeline)
    }
  }

  private func fail(
    until: Int64, isBackoff: Bool, limits: (count: Int, reason: DropReason), maximumAge: Int64,
    _ tally: inout FlushTally, _ record: inout BatchRetryState, _ pipeline: inout PipelineRetryState,
    now: Int64
  ) {
    let count = Int(record.failureCount) + Int(pipeline.retryCount) + 1
    let first = record.firstFailureTime == .min ? now : record.firstFailureTime
    let age = now.subtractingReportingOverflow(first)
    if count > limits.count || !age.overflow && age.partialValue > maximumAge {
      startOver(&tally, &record, &pipeline)
      tally.verdict = count > limits.count ? limits.reason : .age
      return
    }
    record.firstFailureTime = first
    record.latestFailure = isBackoff ? .transient : .rateLimited
    record.retryAt = 0
    if isBackoff {
      record.failureCount = record.failureCount == .max ? .max : record.failureCount + 1
    } else {
      pipeline.retryCount = pipeline.retryCount == .max ? .max : pipeline.retryCount + 1
    }
    (tally.verdict, tally.startsOver) = (nil, false)
    (tally.waitUntil, tally.isBackoff) = (until, isBackoff)
  }

  private func startOver(
    _ tally: inout FlushTally, _ record: inout BatchRetryState, _ pipeline: inout PipelineRetryState
  ) {
    record = BatchRetryState()
    pipeline.retryCount = 0
    (tally.waitUntil, tally.isBackoff, tally.startsOver) = (0, false, true)
  }

  /// Whether a wait of the whole client that ends at `until` can't be one of its own. Then the clock has moved, or the cap has
  /// (`RetryPolicy.limitReached` at `resetStateAndDropFlush`). The wait is further away than 1.1 times the cap, or the first
  /// failure lies in the future.
  public func isImpossible(
    waitUntil until: Int64, isBackoff: Bool, client record: BatchRetryState, now: Int64
  ) -> Bool {
    let cap = isBackoff ? capOfBackoffs : longestWait
    if record.firstFailureTime != .min, record.firstFailureTime > now { return true }
    return until > saturatingSum(saturatingSum(now, max(0, cap)), max(0, cap) / 10)
  }

  private var longestWait: Int64 { max(config.rateLimit.maxRetryInterval, config.longestRetryAfter(policy)) }

  /// The cap of the Settings, where a backoff is at most a tenth longer, as the shipped client's is; else the longest that is drawn.
  private var capOfBackoffs: Int64 {
    let jitter = config.backoff.jitter
    let isShort = policy.waits.isEmpty && (!jitter.exceedsCap || jitter.additivePercent != nil)
    return isShort ? config.backoff.maxBackoffInterval : config.backoff.longestWait(policy)
  }
}

/// The rules of a client that re-chunks its events at each flush and acts when the flush ends. Until the last upload has been
/// answered, queue, state and counts stay as they are.
public struct TalliedFlushEnd: FlushEndRules {
  @inlinable
  public init() {}

  /// Events that are too old go, and if the client may send, everything is cut anew and sent.
  @inlinable
  @inline(never)
  public func run<Host: UploadClientHost & ~Copyable>(
    _ host: inout Host, _ client: ClientIndex, byTrigger: Bool, at now: Int64, _ sink: Host.Sink
  ) {
    let state = host.state(of: client)
    host.dropAged(client, at: now)
    if host.oldest(of: client) == .noBatch {
      host.endRest(client, at: now)
      host.startOver(client, at: now)
      return
    }
    if state.pointee.flags.contains(.offline) {
      host.observe(.heldBackOffline, client, at: now)
      host.rest(client, at: now, sink)
      return
    }
    let gate = state.pointee.gate
    if gate.waitUntil != 0 {
      let record = host.retryState(of: .noBatch, client)
      let isImpossible = host.machine(of: client)._withUnsafeGuaranteedRef {
        $0.isImpossible(
          waitUntil: gate.waitUntil, isBackoff: gate.kind == .backoff, client: record, now: now)
      }
      if isImpossible {
        host.startOver(client, at: now)
      } else if gate.isReady(at: now) {
        if host.options.pointee.saving == .delayed { host.noteChange(client, at: now) }
        state.pointee.gate.reset()
      } else {
        host.observe(.heldBack, client, at: now)
        host.rest(client, at: now, sink)
        return
      }
    }
    var (byTrigger, cursor) = (byTrigger, UInt32(0))
    if host.options.pointee.keepsGates {
      if byTrigger { host.forgetHoldAtTrigger(client, whole: true, at: now) }
      if !host.gatesLetRunStart(client, byTrigger: &byTrigger, cursor: &cursor, at: now, sink) { return }
    }
    host.endRest(client, at: now)
    host.begin(client, byTrigger: byTrigger, cursor: cursor)
    if host.oldest(of: client) != host.newest(of: client) {
      host.rechunk(client, atMost: host.maximumBatch(client), at: now)
    }
    host.continueLoop(client, from: cursor, at: now, sink)
  }

  @inlinable
  @inline(never)
  public func hear<Host: UploadClientHost & ~Copyable>(
    _ response: UploadResponse, of batch: BatchIndex, _ host: inout Host, _ client: ClientIndex,
    at now: Int64, _ sink: Host.Sink
  ) {
    let result = host.machine(of: client)._withUnsafeGuaranteedRef { $0.result(of: response) }
    if result != .delivered { host.state(of: client).pointee.flags.insert(.loopHadFailure) }
    let ordinal = host.firstOrdinal(of: batch)
    host.change(batch, .result(result))
    host.continueLoop(client, from: host.cursor(of: client, behind: ordinal), at: now, sink)
  }

  @inlinable
  @inline(never)
  public func finish<Host: UploadClientHost & ~Copyable>(
    _ host: inout Host, _ client: ClientIndex, at now: Int64
  ) {
    let state = host.state(of: client)
    var tally = FlushTally()
    var record = host.retryState(of: .noBatch, client)
    var pipeline = state.pointee.pipeline
    var last = BatchIndex.noBatch
    var batch = host.oldest(of: client)
    while batch != .noBatch {
      if let result = host.result(of: batch) {
        last = batch
        host.machine(of: client)._withUnsafeGuaranteedRef {
          $0.add(result, to: &tally, client: &record, pipeline: &pipeline, now: now)
        }
      }
      batch = host.newer(than: batch)
    }
    if last == .noBatch { return }
    var draws = host.draws(for: last, question: nil, client)
    host.machine(of: client)._withUnsafeGuaranteedRef {
      $0.finish(&tally, client: &record, pipeline: &pipeline, now: now, random: &draws)
    }
    if host.options.pointee.saving == .delayed,
      record != host.retryState(of: .noBatch, client) || pipeline != state.pointee.pipeline
    {
      host.noteChange(client, at: now)
    }
    host.setRetryState(record, of: .noBatch, client)
    state.pointee.pipeline = pipeline
    if tally.startsOver { state.pointee.gate.reset() }
    if tally.waitUntil != 0 {
      state.pointee.gate.reset()
      state.pointee.gate.pause(until: tally.waitUntil, kind: tally.isBackoff ? .backoff : .rateLimit)
      host.countBackoff(until: tally.waitUntil, client, at: now)
    }
    host.applyResults(tally, client, at: now)
  }
}

extension UploadClientHost where Self: ~Copyable {
  /// All retry state is fresh.
  @inlinable
  mutating func startOver(_ client: ClientIndex, at now: Int64) {
    let state = state(of: client)
    let record = retryState(of: .noBatch, client)
    if record == BatchRetryState(), state.pointee.pipeline.retryCount == 0, state.pointee.gate.waitUntil == 0
    {
      return
    }
    if options.pointee.saving == .delayed { noteChange(client, at: now) }
    setRetryState(BatchRetryState(), of: .noBatch, client)
    state.pointee.pipeline.retryCount = 0
    state.pointee.gate.reset()
    observe(.stateReset, client, at: now)
  }

  /// Each batch of the flush goes where its result, and the flush's, send it.
  @inlinable
  mutating func applyResults(_ tally: FlushTally, _ client: ClientIndex, at now: Int64) {
    let wait = state(of: client).pointee.gate
    var batch = oldest(of: client)
    while batch != .noBatch {
      let (next, ordinal) = (newer(than: batch), firstOrdinal(of: batch))
      guard let result = result(of: batch) else {
        batch = next
        continue
      }
      change(batch, .result(nil))
      let outcome: RetryOutcome
      switch result {
      case .delivered:
        outcome = .delivered
        settle(batch, client, at: now)
      case .dropped:
        outcome = .drop(.status)
        giveUp(batch, oldest: nil, .limit(.status), client, at: now)
      case .failed:
        if let reason = tally.verdict {
          outcome = .drop(reason)
          giveUp(batch, oldest: nil, .limit(reason), client, at: now)
        } else {
          outcome =
            wait.waitUntil == 0
            ? .retryAtNextTrigger
            : wait.kind == .backoff ? .retry(at: wait.waitUntil) : .pause(until: wait.waitUntil)
          schedule(batch, .due, client)
        }
      }
      observe(.decided(batch: ordinal, outcome), client, at: now)
      batch = next
    }
    if tally.verdict != nil { observe(.stateReset, client, at: now) }
  }
}
