import ScenarioModel
import ShippedClients
import SimulationKernel
import UploadPipeline
import UploadRetry

/// A cohort, prepared for the hot loop: plain values only.
package struct CohortPlan {
  /// What the cohort's clients are. The first field: `DeviceShard.options` is its address.
  let client: ClientOptions
  /// By `SettingsVersion`.
  let machines: InlineArray<3, RetryStateMachine>
  let key: RandomKey
  /// Global number of the cohort's first device.
  let firstDevice: Int
  /// Events and triggers at or after it do not happen.
  let end: Int64
  /// Strictly periodic events, and nothing else.
  let isPeriodic: Bool
  /// Event times that need more than a gap; nil: they don't.
  let schedule: EventSchedule?
  let meanGap: Double
  let period: Int64
  let phaseIsFlush: Bool
  let flushCount: UInt32
  /// `Cohort.countsAllEvents`.
  let countsAllEvents: Bool
  /// Devices have a `SavedState`.
  let keepsSavedStates: Bool
  /// `.max`: none.
  let flushInterval: Int64
  let isSynchronised: Bool
  /// Strictly periodic events and no count trigger: event times are computed, nothing is drawn ahead.
  let isRegular: Bool
  let periods: FastDivider
  /// Interval triggers are found by scanning devices laid out by phase; they are in no queue.
  let scansTriggers: Bool
  /// A device's next triggers are kept in a `TriggerPlan`; otherwise its phase says them.
  let keepsTriggerPlans: Bool
  /// Devices have an `UploadLoopState`: several uploads at once, batches apart, or a loop that ends early.
  let keepsLoopState: Bool
  let hasLifecycle: Bool
  /// Devices have a `WorldPlan`: spikes make them flush, or they are offline or closed at times.
  let hasWorld: Bool
  /// Up to so many events are one batch within the queue's limit; 0 with checkers on, which see every transition.
  let fastEvents: UInt32
  /// ... none of which is older than this, microseconds; `.max`: no client looks at the age of events (`RetryPolicy.ageLimit`).
  let fastAge: Int64
  /// Events in a flush interval, where each flush finds the same number; else 0.
  let eventsPerInterval: UInt32
  let timeout: Int64
  let latency: Sampler
  /// Uploads may take longer than their latency, or get lost (`crossLink`).
  let hasFaultyLink: Bool
  let link: Link
  /// `.max`: none.
  let connectTimeout: Int64
  let eventBytes: Int64
  let requestBytes: Int64
  /// Zeros: the latency is drawn.
  let constantLatency: Latency
  /// Events created before it are *old*: they tell when the backlog of the last incident has drained.
  let oldBefore: Int64
  /// `.max`: no rollout.
  let rolloutTime: Int64
  /// Parts per million.
  let rolloutShare: Int64
  /// Microseconds; 0: no restarts at random.
  let meanRestartGap: Double
  let keepsState: Bool
  let flushesAtLaunch: Bool
  /// Whether the server asks for `X-Retry-Count`.
  let tellsRetryCount: Bool
  /// Whether the clients read the header in which the server says how long to wait (O11).
  let readsWaits: Bool
  /// Microseconds after a batch's first acceptance in which the server recognises it; negative: it never does.
  let deduplicationWindow: Int64
  let checks: Bool
  /// What is given up is blocked, not lost (O3).
  let blocksGivenUp: Bool

  /// - Parameter windowWidth: of the engine that runs it, microseconds; nil: an engine without windows.
  package init(
    _ cohort: Cohort, firstDevice: Int, scenario: Scenario, checks: Bool, windowWidth: Int64?
  ) {
    self.init(
      cohort, firstDevice: firstDevice, scenario: scenario, checks: checks, windowWidth: windowWidth,
      script: nil)
  }

  /// - Parameter script: when events are created, of a device that is driven by hand.
  init(
    _ cohort: Cohort, firstDevice: Int, scenario: Scenario, checks: Bool, windowWidth: Int64?,
    script: ScriptedTimes?
  ) {
    var client = ClientOptions(cohort)
    // Who never restarts need not know what is saved.
    if cohort.lifecycle == nil, script == nil, client.saving != .atOnce { client.saving = .atOnceAsItIs }
    self.client = client
    keepsSavedStates = client.saving == .afterAnswers || client.saving == .delayed
    countsAllEvents = cohort.countsAllEvents
    let builtIn = cohort.settingsDialect.config(
      of: .object([]), missingSection: cohort.policy.missingSection, defaults: cohort.settingsDefaults)
    machines = [
      RetryStateMachine(config: cohort.settings, policy: cohort.policy),
      RetryStateMachine(config: cohort.rollout?.settings ?? cohort.settings, policy: cohort.policy),
      RetryStateMachine(config: builtIn, policy: cohort.policy),
    ]
    rolloutTime = cohort.rollout?.time.microseconds ?? .max
    rolloutShare = cohort.rollout?.sharePartsPerMillion ?? 0
    meanRestartGap = Double(cohort.lifecycle?.meanTimeBetweenRestarts?.microseconds ?? 0)
    keepsState = cohort.lifecycle?.keepsState ?? true
    flushesAtLaunch = cohort.lifecycle?.flushesAtLaunch ?? true
    key = RandomKey(seed: scenario.seed)
    self.firstDevice = firstDevice
    end = scenario.duration.microseconds
    schedule = script.map(EventSchedule.init(script:)) ?? EventSchedule(cohort, end: end)
    switch cohort.events {
    case .poisson(let gap), .varying(let gap, _):
      isPeriodic = false
      meanGap = Double(gap.microseconds)
      period = 0
      phaseIsFlush = false
    case .periodic(let every, let phase):
      isPeriodic = schedule == nil
      meanGap = 0
      period = every.microseconds
      phaseIsFlush = phase == .flush
    case .replay:
      isPeriodic = false
      meanGap = 0
      period = 0
      phaseIsFlush = false
    }
    flushCount = UInt32(clamping: cohort.eventsUntilFlush ?? .max)
    flushInterval = cohort.flush.interval?.microseconds ?? .max
    isSynchronised = cohort.flush.isSynchronised
    blocksGivenUp = cohort.policy.givenUp == .blocked
    var fastAge = Int64.max
    for index in machines.indices where client.actsAtFlushEnd {
      fastAge = min(fastAge, machines[index].maximumEventAge ?? .max)
    }
    self.fastAge = fastAge
    fastEvents = checks || client.keepsGates ? 0 : min(client.limit, client.maximumBatchEvents)
    eventsPerInterval =
      isPeriodic && flushInterval != .max && flushInterval % period == 0
        && client.flushWhileUploading != .ignored
      ? UInt32(clamping: flushInterval / period) : 0
    timeout = cohort.timeout.microseconds
    latency = Sampler(cohort.latency)
    var constantLatency = Latency(up: 0, down: 0)
    hasFaultyLink = !cohort.link.isPerfect || cohort.connectTimeout != nil
    link = cohort.link
    connectTimeout = cohort.connectTimeout?.microseconds ?? .max
    (eventBytes, requestBytes) = (Int64(cohort.eventBytes), Int64(cohort.requestBytes))
    if case .constant(let span) = cohort.latency, !hasFaultyLink {
      let microseconds = UInt32(clamping: span.microseconds)
      constantLatency = Latency(up: microseconds, down: microseconds)
    }
    self.constantLatency = constantLatency
    isRegular = isPeriodic && cohort.eventsUntilFlush == nil
    periods = FastDivider(max(period, 1))
    hasLifecycle = cohort.lifecycle != nil
    hasWorld =
      cohort.spikes.contains(where: \.flushes) || cohort.connectivity != nil || cohort.sessions != nil
    // A scan passes each device once a window at most, and a phase has 32 bits.
    let interval = cohort.flush.interval?.microseconds ?? .max
    scansTriggers =
      interval >= windowWidth ?? .max && interval <= Int64(UInt32.max) && cohort.lifecycle == nil && !hasWorld
    keepsTriggerPlans = !scansTriggers || cohort.eventsUntilFlush != nil
    keepsLoopState =
      !client.isRebatch || client.uploads > 1 || client.flushWhileUploading != .joins
      || client.actsAtFlushEnd || client.keepsGates
    oldBefore = scenario.tapi.incidents.map(\.end.microseconds).max() ?? .min
    tellsRetryCount = scenario.tapi.rules.retryCountLimit != nil
    readsWaits =
      scenario.tapi.retryAfterHeader.isRead(byReaderOfRateLimitReset: cohort.policy.readsRateLimitReset)
      && (scenario.tapi.retryAfterForm == .seconds || cohort.policy.retryAfterForms == .secondsOrDate)
    deduplicationWindow = scenario.tapi.rules.deduplicationWindow?.microseconds ?? -1
    self.checks = checks
  }
}

extension CohortPlan {
  /// One way each, microseconds.
  struct Latency: BitwiseCopyable {
    var up: UInt32
    var down: UInt32
  }
}

/// On the pointer, because a method of a large struct may copy it.
extension UnsafePointer<CohortPlan> {
  /// Whether an answer given at once always reaches its client before the client gives up; a link with faults makes no promise.
  var answersComeInTime: Bool {
    let latency = pointee.constantLatency
    return latency.up > 0 && Int64(latency.up) + Int64(latency.down) <= pointee.timeout
  }

  /// What a client makes of an answer: a wait in a header that it does not read is none (O11).
  ///
  /// - Parameter retryAfter: microseconds; `.max`: no header.
  @inline(__always)
  func response(status: UInt16, retryAfter: UInt32) -> UploadResponse {
    .status(
      Int(status), retryAfter: retryAfter == .max || !pointee.readsWaits ? nil : Int64(retryAfter))
  }

  /// When a device's flush interval ends first, microseconds.
  func flushPhase(_ key: RandomKey) -> Int64 {
    pointee.flushInterval == .max || pointee.isSynchronised
      ? 0 : key.child(RandomPurpose.flushPhase).uniform(0, through: pointee.flushInterval - 1)
  }

  /// The first event of a device with periodic events.
  func eventPhase(_ key: RandomKey) -> Int64 {
    pointee.phaseIsFlush
      ? flushPhase(key) : key.child(RandomPurpose.eventPhase).uniform(0, through: pointee.period - 1)
  }

  @inline(__always)
  func deviceKey(_ device: Int) -> RandomKey {
    pointee.key.child(UInt64(truncatingIfNeeded: pointee.firstDevice &+ device))
  }

  /// When event `ordinal` of a device is created, the one before it at `time`: a draw of its own, so that event times depend on
  /// nothing else.
  @inline(__always)
  func next(after time: Int64, before ordinal: UInt32, _ draws: EventDraws) -> Int64 {
    if pointee.isPeriodic { return time &+ pointee.period }
    if pointee.schedule != nil { return scheduled(after: time, before: ordinal, draws) }
    return time
      &+ Distribution.exponentialGap(mean: pointee.meanGap, key: draws.events.child(UInt64(ordinal)))
  }

  @inline(never)
  private func scheduled(after time: Int64, before ordinal: UInt32, _ draws: EventDraws) -> Int64 {
    pointee.schedule.unsafelyUnwrapped.next(
      after: time, before: ordinal, draws, phase: pointee.period > 0 ? eventPhase(draws.device) : 0)
  }

  func firstEvent(_ draws: EventDraws) -> Int64 {
    if pointee.isPeriodic { return eventPhase(draws.device) }
    return next(after: pointee.schedule == nil ? 0 : -1, before: 0, draws)
  }
}

extension ClientOptions {
  /// What the clients of a cohort are.
  package init(_ cohort: Cohort) {
    self.init(
      policy: cohort.policy, uploads: cohort.uploadConcurrency, isRebatch: cohort.queue.mode == .rebatch,
      flushWhileUploading: cohort.flushWhileUploading, actsAtFlushEnd: cohort.actsAtFlushEnd,
      rateLimitEndsLoop: cohort.rateLimitEndsLoop, saving: cohort.saving, triggers: cohort.triggers,
      triggersThatSkipWaits: cohort.triggersThatSkipWaits,
      wakesByTimer: cohort.retries == .timer, maximumBatchEvents: cohort.largestBatch,
      limit: cohort.queue.limit, splitsOn413: cohort.queue.splitsOn413 && cohort.queue.mode == .files,
      credentialRefresh: cohort.credentialRefresh.microseconds, gates: cohort.gates)
  }
}
