import UploadGating
import UploadRetry

/// A small client around the real modules: batch files, one upload loop, no timers.
///
/// It does what the document leaves to an SDK (sealing, the loop, the overflow) and nothing of what
/// `RetryStateMachine` and `UploadGate` decide. Times are microseconds since 1970.
struct ClientHarness {
  struct Batch {
    var name: String
    var events: Int
    /// When its first event was queued.
    var queuedAt: Int64
    var retry = BatchRetryState()
    var isInFlight = false
    /// Legacy (S15): a wake-up does not take it.
    var waitsForTrigger = false
    /// Tells batches apart over the whole run, oldest first.
    var number: Int
  }

  /// What a step made the client do.
  struct Observation {
    var sends: [(batch: String, header: Int?)] = []
    var drops: [NamedDrop] = []
    var outcome: RetryOutcome?
    /// What is given up is kept (`RetryPolicy.givenUp`).
    var isBlocked = false
    var restored: VectorExpectation.Restored?
    /// The step makes no sense in this state.
    var impossible: String?
  }

  let machine: RetryStateMachine
  let preset: ConformanceClient
  let options: VectorClient
  let uploads: Int
  var gate = UploadGate()
  var pipeline = PipelineRetryState()
  /// Held batches, oldest first.
  var batches: [Batch] = []
  /// The record of a client that has only one.
  var clientRetry = BatchRetryState()
  private var nextNumber = 0

  // Events that no flush has sealed yet.
  private var openName = ""
  private var openEvents = 0
  private var openSince: Int64 = 0
  var eventsSinceFlush = 0

  // The running loop.
  var isLooping = false
  var isEnding = false
  private var isByTrigger = false
  private var cursor = 0
  private var failedInFlush: Set<String> = []

  private var random: any RandomNumberGenerator
  var seen = Observation()

  init(
    _ vector: VectorCase, config: HTTPConfig, preset: ConformanceClient, random: any RandomNumberGenerator
  ) {
    var policy = preset.policy
    if let supportsOAuth = vector.client.supportsOAuth { policy.supportsOAuth = supportsOAuth }
    machine = RetryStateMachine(config: config, policy: policy)
    self.preset = preset
    options = vector.client
    uploads = vector.client.uploads ?? preset.uploads
    self.random = random
    let origin = vector.wallClock * 1_000_000
    pipeline.retryCount = vector.given.globalRetryCount
    if preset.hasOneRetryRecord, let dueAt = vector.given.batches.compactMap(\.dueAt).first {
      gate.pause(until: origin + dueAt, kind: .backoff)
    }
    if let waitUntil = vector.given.waitUntil { gate.pause(until: origin + waitUntil) }
    for given in vector.given.batches {
      var batch = Batch(name: given.name, events: given.events, queuedAt: origin, number: nextNumber)
      batch.retry.failureCount = given.failures
      batch.retry.latestFailure = given.latestFailure
      if let time = given.firstFailureAt { batch.retry.firstFailureTime = origin + time }
      if let time = given.dueAt { batch.retry.retryAt = origin + time }
      // One record for all: that of the first batch that has failed.
      if clientRetry.latestFailure == .none { clientRetry = batch.retry }
      batches.append(batch)
      nextNumber += 1
    }
  }

  /// Does a step at a time and says what came of it.
  mutating func perform(_ action: VectorStep.Action, at now: Int64) -> Observation {
    seen = Observation()
    switch action {
    case .trigger(let kind): flush(byTrigger: kind != .wakeUp, at: now)
    case .events(let count, let batch): add(count, to: batch, at: now)
    case .answer(let batch, let status, let retryAfter, let rateLimitReset):
      let wait = machine.policy.wait(
        retryAfter: retryAfter, rateLimitReset: rateLimitReset, nowUnixSeconds: now / 1_000_000)
      answer(batch, status.map { .status($0, retryAfter: wait) } ?? .noStatus, at: now)
    case .restart(let saved): restart(saved, at: now)
    }
    return seen
  }

  /// The retry record that counts for a batch; nil if it is not held.
  func retryState(of name: String) -> BatchRetryState? {
    guard let batch = batches.first(where: { $0.name == name }) else { return nil }
    return preset.hasOneRetryRecord ? clientRetry : batch.retry
  }

  // MARK: Triggers

  private mutating func add(_ count: Int, to name: String, at now: Int64) {
    if openEvents == 0 { openSince = now }
    openName = name
    openEvents += count
    eventsSinceFlush += count
    if eventsSinceFlush >= options.flushAt { flush(byTrigger: true, at: now) }
  }

  private mutating func flush(byTrigger: Bool, at now: Int64) {
    let isUploading = batches.contains(where: \.isInFlight)
    if preset.ignoresFlushesWhileUploading && isUploading { return }
    if byTrigger {
      eventsSinceFlush = 0
      seal()
    }
    if isLooping {
      if !isEnding { continueLoop(at: now) }
      return
    }
    guard gate.isReady(at: now) else { return }
    (isLooping, isEnding, isByTrigger, cursor) = (true, false, byTrigger, 0)
    failedInFlush = []
    continueLoop(at: now)
  }

  private mutating func seal() {
    guard openEvents > 0 else { return }
    batches.append(Batch(name: openName, events: openEvents, queuedAt: openSince, number: nextNumber))
    nextNumber += 1
    openEvents = 0
    var held = batches.reduce(0) { $0 + $1.events }
    while held > options.maximumEvents, let oldest = batches.firstIndex(where: { !$0.isInFlight }) {
      held -= batches[oldest].events
      seen.drops.append(NamedDrop(batch: batches[oldest].name, reason: DropName.overflow))
      batches.remove(at: oldest)
    }
  }

  // MARK: The loop

  private mutating func continueLoop(at now: Int64) {
    while !isEnding, gate.isReady(at: now), batches.count(where: \.isInFlight) < uploads,
      let index = batches.firstIndex(where: {
        $0.number >= cursor && !$0.isInFlight && (isByTrigger || !$0.waitsForTrigger)
      })
    {
      cursor = batches[index].number + 1
      decide(index, at: now)
    }
    if !batches.contains(where: \.isInFlight) { isLooping = false }
  }

  private mutating func decide(_ index: Int, at now: Int64) {
    let name = batches[index].name
    var state = preset.hasOneRetryRecord ? clientRetry : batches[index].retry
    if preset.hasOneRetryRecord { state.retryAt = 0 }  // Its wait is the gate's, which is open.
    switch machine.beforeSend(
      batch: state, pipeline: &pipeline, now: now, oldestEventQueuedAt: batches[index].queuedAt)
    {
    case .send(let count):
      batches[index].isInFlight = true
      batches[index].waitsForTrigger = false
      seen.sends.append((name, machine.policy.headerValue(count).map(Int.init)))
    case .notDue:
      break
    case .drop(let reason):
      seen.drops.append(NamedDrop(batch: name, reason: DropName.name(of: reason)))
      batches.remove(at: index)
    case .dropFlush(let reason):
      let lost = batches.filter { $0.number >= batches[index].number && !$0.isInFlight }
      seen.drops += lost.map { NamedDrop(batch: $0.name, reason: DropName.name(of: reason)) }
      batches.removeAll { batch in lost.contains { $0.number == batch.number } }
      for index in batches.indices { batches[index].retry = BatchRetryState() }
      clientRetry = BatchRetryState()
      gate.reset()
    }
  }

  private mutating func answer(_ name: String, _ response: UploadResponse, at now: Int64) {
    guard let index = batches.firstIndex(where: { $0.name == name && $0.isInFlight }) else {
      seen.impossible = "an answer for \(name), which is not being uploaded"
      return
    }
    let othersFailed = failedInFlush.contains { $0 != name }
    var state = preset.hasOneRetryRecord ? clientRetry : batches[index].retry
    let outcome = machine.afterResponse(
      response, batch: &state, pipeline: &pipeline, now: now, otherBatchOfFlushFailed: othersFailed,
      random: &random)
    if preset.hasOneRetryRecord { clientRetry = state } else { batches[index].retry = state }
    batches[index].isInFlight = false
    seen.outcome = outcome
    seen.isBlocked = machine.policy.givenUp == .blocked
    if outcome != .delivered { failedInFlush.insert(name) }
    switch outcome {
    case .delivered:
      batches.remove(at: index)
      if machine.policy.endsWait(otherBatchOfFlushFailed: othersFailed) { gate.reset() }
    case .drop:
      batches.remove(at: index)
    case .retry(let time):
      if preset.hasOneRetryRecord { pause(until: time, .backoff, at: now) }
    case .pause(let time): pause(until: time, .rateLimit, at: now)
    case .backOff(let time): pause(until: time, .backoff, at: now)
    case .retryAtNextTrigger: batches[index].waitsForTrigger = true
    case .refreshCredentials: break
    }
    continueLoop(at: now)
  }

  private mutating func pause(until time: Int64, _ kind: UploadGate.WaitKind, at now: Int64) {
    let rule: UploadGate.WaitRule =
      switch machine.policy.twoWaits {
      case .laterReplaces: .laterReplaces
      case .shorterWinsRateLimitBeatsBackoff: .shorterWinsRateLimitBeatsBackoff
      }
    gate.pause(until: time, kind: kind, rule: rule, now: now)
    isEnding = true
  }
}
