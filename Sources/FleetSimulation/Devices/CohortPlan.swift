import ScenarioModel
import ShippedClients
import ShippedQuirks
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

/// A cohort, prepared for the hot loop: plain values only.
package struct CohortPlan {
  /// The options of the cohort's clients. The first field: `DeviceShard.options` is its address.
  let client: ClientOptions
  /// By `SettingsVersion`.
  let machines: InlineArray<3, RetryStateMachine>
  let key: RandomKey
  /// Global number of the cohort's first device.
  let firstDevice: Int
  /// Events and triggers at or after it do not happen.
  let end: Int64
  /// Events created before it are *old*: they tell when the backlog of the last incident (`Scenario.lastIncidentEnd`) has drained.
  let oldBefore: Int64
  let checks: Bool
  /// Of an ideal run: a request that is lost on the way keeps its place (`IdealTier`).
  let isIdeal: Bool
  let sendsWhileClosed: Bool
  /// A batch whose request is held by its own delay (K2) waits for that delay's end, and no loop asks for it before. This is so
  /// where nothing else could be said of it, or change it, meanwhile.
  package let keepsHeldApart: Bool
  /// A batch that is given up is blocked, not lost (O3): not by a page, which forgets it.
  let blocksGivenUp: Bool
  let events: Events
  let flush: Flush
  let tables: Tables
  let fastPath: FastPath
  let network: Network
  let rollout: Rollout
  let restarts: Restarts
  let world: World
  /// Whether an app also fetches Settings as it comes to the foreground; nil: no fetch is a request.
  let fetchesAtForeground: Bool?
  let server: Server
  /// nil: the clients are no pages of a browser.
  var pages: Pages?

  /// - Parameters:
  ///   - lastIncidentEnd: the scenario's, which it has to look for in every cohort.
  ///   - windowWidth: of the engine that runs it, microseconds; nil: an engine without windows.
  ///   - isLive: uploads go to a real server, which may want to know their `X-Retry-Count` and say how long to wait as it likes.
  ///   - script: when events are created, of a device that is driven by hand.
  package init(
    _ cohort: Cohort, firstDevice: Int, scenario: Scenario, lastIncidentEnd: Instant?, checks: Bool,
    windowWidth: Int64?, isLive: Bool = false, script: ScriptedTimes? = nil
  ) {
    pages = cohort.behaviour.page.map { options in
      Pages(
        options: options,
        settings: [cohort.settings, cohort.rollout?.settings ?? cohort.settings].map { BrowserSettings($0) }
          + [nil])
    }
    let cohort = cohort.withoutLoop
    var client = ClientOptions(cohort)
    // A client that never restarts need not know its saved state.
    if cohort.lifecycle == nil, script == nil, client.saving != .atOnce { client.saving = .atOnceAsItIs }
    let builtIn = cohort.behaviour.settingsDialect.config(
      of: .object([]), policy: cohort.behaviour.policy, defaults: cohort.behaviour.settingsDefaults)
    self.client = client
    machines = [
      cohort.behaviour.policy.machine(cohort.settings),
      cohort.behaviour.policy.machine(cohort.rollout?.settings ?? cohort.settings),
      cohort.behaviour.policy.machine(builtIn),
    ]
    key = RandomKey(seed: scenario.seed)
    self.firstDevice = firstDevice
    end = scenario.duration.microseconds
    oldBefore = lastIncidentEnd?.microseconds ?? .min
    self.checks = checks
    isIdeal = scenario.isIdeal
    sendsWhileClosed = cohort.sendsWhileClosed
    keepsHeldApart = Self.keepsHeldApart(client)
    blocksGivenUp = cohort.behaviour.policy.givenUp == .blocked && cohort.behaviour.page == nil
    let sessions = SessionPlan(cohort, scenario)
    let moments = CommonMoments(cohort, scenario)
    events = Events(
      cohort,
      schedule: script.map(EventSchedule.init(script:)) ?? EventSchedule(cohort, sessions, moments, end: end),
      flushWhileUploading: client.flushWhileUploading)
    let hasWorld =
      moments.flush || cohort.connectivity != nil || cohort.sessions != nil
      || cohort.rollout?.fetch != nil
    flush = Flush(cohort, hasWorld: hasWorld, windowWidth: windowWidth)
    tables = Tables(
      savedStates: client.saving == .afterAnswers || client.saving == .delayed,
      triggers: !flush.isScanned || cohort.eventsUntilFlush != nil,
      loops: !client.isRebatch || client.uploads > 1 || client.flushWhileUploading != .joins
        || client.actsAtFlushEnd || client.keepsGates || client.countsHeldEvents,
      restarts: cohort.lifecycle != nil, worlds: hasWorld)
    var age = Int64.max
    for index in machines.indices {
      age = min(age, machines[index].maximumEventAge ?? .max)
    }
    fastPath = FastPath(
      // With several uploads at once a loop has gone by the halves of a batch that is too large.
      events: checks || pages != nil || client.keepsGates || client.splitsOn413 && client.uploads > 1
        ? 0 : min(client.limit, client.maximumBatchEvents), age: age)
    network = Network(cohort, cutsFail: moments.failUploads)
    rollout = Rollout(
      time: cohort.rollout?.time.microseconds ?? .max, share: cohort.rollout?.sharePartsPerMillion ?? 0,
      fetch: cohort.rollout?.fetch?.microseconds ?? .max)
    restarts = Restarts(
      meanGap: Double(cohort.lifecycle?.meanTimeBetweenRestarts?.microseconds ?? 0),
      synchronised: cohort.lifecycle?.synchronised ?? [],
      keepsState: cohort.lifecycle?.keepsState ?? true,
      flushesAtLaunch: cohort.lifecycle?.flushesAtLaunch ?? true, fetchesSettings: cohort.fetchesSettings,
      cdnOutages: scenario.tapi.incidents.filter { $0.kind == .cdnOutage }
        .map { $0.start.microseconds..<$0.end.microseconds })
    world = World(
      moments: moments, connectivity: cohort.connectivity, sessions: sessions,
      windows: cohort.sessions == nil || cohort.behaviour.page != nil ? nil : cohort.os)
    let mayFetch = cohort.lifecycle != nil || cohort.sessions != nil || cohort.rollout?.fetch != nil
    fetchesAtForeground =
      scenario.tapi.settings == nil || cohort.behaviour.settingsFetch == .never || !mayFetch
      ? nil : cohort.behaviour.settingsFetch == .foreground
    server = Server(
      asksForRetryCount: isLive || scenario.tapi.rules.retryCountLimit != nil
        || scenario.tapi.server.asksForRetryCount,
      waitsAreRead: isLive
        || scenario.tapi.retryAfterHeader.isRead(
          byReaderOfRateLimitReset: cohort.behaviour.policy.readsRateLimitReset)
          && (scenario.tapi.retryAfterForm == .seconds
            || cohort.behaviour.policy.retry.retryAfterForms == .secondsOrDate),
      deduplicationWindow: scenario.tapi.rules.deduplicationWindow?.microseconds ?? -1)
  }
}

extension CohortPlan {
  private static func keepsHeldApart(_ client: ClientOptions) -> Bool {
    // Another gate might have a say before the delay has.
    var others = client.gates
    others.projectDelay = nil
    guard client.gates.projectDelay != nil, others == ClientGates(), !client.blocks else { return false }
    return !client.isRebatch && !client.growsNewest && !client.actsAtFlushEnd
      && client.policy.limitsCheck == .whenDue
  }

  /// When devices create events.
  struct Events {
    /// Strictly periodic events, and nothing else.
    let isPeriodic: Bool
    /// Strictly periodic events and no count trigger: event times are computed, nothing is drawn ahead.
    let isRegular: Bool
    /// A Poisson process of one rate, and nothing else.
    let isPoisson: Bool
    let phaseIsFlush: Bool
    /// `Cohort.countsAllEvents`.
    let countsAll: Bool
    /// `Cohort.polls`.
    let arePolls: Bool
    /// Events in a flush interval, where each flush finds the same number; else 0.
    let perInterval: UInt32
    let meanGap: Double
    /// The tables that gaps are drawn from.
    let tables = QuantileTables.shared
    let period: Int64
    let periods: FastDivider
    /// Event times that need more than a gap; nil: they don't.
    let schedule: EventSchedule?

    init(_ cohort: Cohort, schedule: EventSchedule?, flushWhileUploading: FlushWhileUploading) {
      var (meanGap, period, phaseIsFlush) = (0.0, Int64(0), false)
      switch cohort.events {
      case .poisson(let gap), .varying(let gap, _): meanGap = Double(gap.microseconds)
      case .periodic(let every, let phase): (period, phaseIsFlush) = (every.microseconds, phase == .flush)
      case .replay: break
      }
      (self.meanGap, self.period, self.phaseIsFlush) = (meanGap, period, phaseIsFlush)
      if case .periodic = cohort.events { isPeriodic = schedule == nil } else { isPeriodic = false }
      if case .periodic = cohort.events { isPoisson = false } else { isPoisson = schedule == nil }
      isRegular = isPeriodic && cohort.eventsUntilFlush == nil
      countsAll = cohort.behaviour.countsAllEvents
      arePolls = cohort.polls
      periods = FastDivider(max(period, 1))
      self.schedule = schedule
      let interval = cohort.flush.interval?.microseconds ?? .max
      perInterval =
        isPeriodic && interval != .max && interval % period == 0 && flushWhileUploading != .ignored
        ? UInt32(clamping: interval / period) : 0
    }
  }

  /// When devices flush.
  struct Flush {
    /// `.max`: none.
    let interval: Int64
    /// Events that trigger a flush.
    let count: UInt32
    /// The count is compared with all events that the device holds.
    let countsHeld: Bool
    /// A count that is reached makes a flush whatever else there is.
    let countAlwaysFlushes: Bool
    /// All devices flush at `phase`.
    let isSynchronised: Bool
    /// The phase of devices that start together, microseconds.
    let phase: Int64
    /// How many start together, parts per million, and in how long a span, microseconds.
    let together: Int64
    let spread: Int64
    let rearm: FlushPolicy.Rearm
    /// How much faster or slower a device's clock may be, parts per thousand millions.
    let drift: Int64
    /// Interval triggers are found by scanning devices laid out by phase; they are in no queue.
    let isScanned: Bool

    init(_ cohort: Cohort, hasWorld: Bool, windowWidth: Int64?) {
      interval = cohort.flush.interval?.microseconds ?? .max
      count = UInt32(clamping: cohort.eventsUntilFlush ?? .max)
      countsHeld = cohort.behaviour.countsHeldEvents
      countAlwaysFlushes = !cohort.behaviour.countsHeldEvents && cohort.behaviour.countFlushWhileFailing
      let isTogether = cohort.flush.isSynchronised
      isSynchronised =
        isTogether && cohort.flush.togetherPartsPerMillion == 1_000_000 && cohort.flush.spread == .zero
      together = isTogether ? cohort.flush.togetherPartsPerMillion : 0
      spread = cohort.flush.spread.microseconds
      rearm = cohort.flush.interval == nil ? .fixedRate : cohort.flush.rearm
      drift = cohort.flush.interval == nil ? 0 : cohort.flush.driftPartsPerMillion * 1_000
      phase = cohort.flush.interval == nil ? 0 : cohort.flush.phase.microseconds
      // A scan passes each device once a window at most, and a phase has 32 bits.
      isScanned =
        interval >= windowWidth ?? .max && interval <= Int64(UInt32.max) && cohort.lifecycle == nil
        && !hasWorld && drift == 0 && !rearm.restartsAtFlush
    }
  }

  /// The tables that a shard has beside its records.
  struct Tables {
    let savedStates: Bool
    /// `TriggerPlan`: a device's next triggers; otherwise its phase says them.
    let triggers: Bool
    /// `UploadLoopState`: several uploads at once, batches apart, or a loop that ends early.
    let loops: Bool
    let restarts: Bool
    /// `WorldPlan`: spikes make devices flush, or they are offline or closed at times.
    let worlds: Bool
  }

  /// Where a trigger's fast path holds.
  struct FastPath {
    /// Up to so many events are one batch within the queue's limit; 0 with checkers on, which see every transition.
    let events: UInt32
    /// ... none of which is older than this, microseconds; `.max`: no client looks at the age of events (`RetryPolicy.ageLimit`).
    let age: Int64
  }

  /// The network between a device and the server.
  struct Network {
    let timeout: Int64
    /// `.max`: none.
    let connectTimeout: Int64
    /// Zeros: the latency is drawn.
    let constantLatency: Latency
    /// Uploads may take longer than their latency, or get lost (`crossLink`).
    let isFaulty: Bool
    let latency: Sampler
    /// The latency's table, where there is one.
    let table: LogNormalTable?
    let quantiles: LogNormalTable.View?
    /// Nothing but the latency says when an upload arrives, and it is drawn for each.
    var isDrawn: Bool { constantLatency.up == 0 && !isFaulty }
    let link: Link
    let eventBytes: Int64
    let requestBytes: Int64

    init(_ cohort: Cohort, cutsFail: Bool) {
      timeout = cohort.timeout.microseconds
      connectTimeout = cohort.connectTimeout?.microseconds ?? .max
      isFaulty = cohort.link != Link() || cohort.connectTimeout != nil || cutsFail
      latency = Sampler(cohort.latency)
      table = LogNormalTable.of(latency)
      quantiles = table?.view
      link = cohort.link
      (eventBytes, requestBytes) = (Int64(cohort.eventBytes), Int64(cohort.requestBytes))
      var constant: UInt32 = 0
      if case .constant(let span) = cohort.latency, !isFaulty {
        constant = UInt32(clamping: span.microseconds)
      }
      constantLatency = Latency(up: constant, down: constant)
    }
  }

  /// One way each, microseconds.
  struct Latency: BitwiseCopyable {
    var up: UInt32
    var down: UInt32
  }

  struct Rollout {
    /// `.max`: no rollout.
    let time: Int64
    /// Parts per million.
    let share: Int64
    /// `.max`: running apps fetch nothing.
    let fetch: Int64
  }

  struct Restarts {
    /// Microseconds; 0: no restarts at random.
    let meanGap: Double
    let synchronised: [Lifecycle.SynchronisedRestart]
    let keepsState: Bool
    let flushesAtLaunch: Bool
    /// Whether a launch needs the Settings CDN.
    let fetchesSettings: Bool
    /// When the Settings CDN is down.
    let cdnOutages: [Range<Int64>]
  }

  /// The world around devices.
  struct World {
    let moments: CommonMoments
    let connectivity: Connectivity?
    let sessions: SessionPlan?
    /// When the operating system lets apps in the background send.
    let windows: BackgroundWindows?
  }

  /// The server's rules as they concern the cohort.
  struct Server {
    /// Whether the server asks for `X-Retry-Count`.
    let asksForRetryCount: Bool
    /// Whether the clients read the header in which the server says how long to wait (O11).
    let waitsAreRead: Bool
    /// Microseconds after a batch's first acceptance in which the server recognises it; negative: it never does.
    let deduplicationWindow: Int64
  }
}

/// On the pointer, because a method of a large struct may copy it.
extension UnsafePointer<CohortPlan> {
  /// Returns the answer as a client reads it: a wait in a header that it does not read is none (O11).
  ///
  /// - Parameter retryAfter: microseconds; `.max`: no header.
  @inline(__always)
  func response(status: UInt16, retryAfter: UInt32) -> UploadResponse {
    .status(
      Int(status), retryAfter: retryAfter == .max || !pointee.server.waitsAreRead ? nil : Int64(retryAfter))
  }

  /// When a device's flush interval ends first, microseconds.
  func flushPhase(_ key: RandomKey) -> Int64 {
    if pointee.flush.interval == .max { return pointee.flush.phase }
    if pointee.flush.isSynchronised { return min(pointee.flush.phase, flushInterval(key) - 1) }
    let draws = key.child(RandomPurpose.flushPhase)
    if pointee.flush.together > 0, Int64(draws.child(0).uniform(below: 1_000_000)) < pointee.flush.together {
      let phase = pointee.flush.phase + draws.child(1).uniform(0, through: pointee.flush.spread)
      return min(phase % pointee.flush.interval, flushInterval(key) - 1)
    }
    return draws.uniform(0, through: flushInterval(key) - 1)
  }

  /// The flush interval of a device by its own clock, microseconds.
  @inline(__always)
  func flushInterval(_ key: @autoclosure () -> RandomKey) -> Int64 {
    pointee.flush.drift == 0 ? pointee.flush.interval : driftingInterval(key())
  }

  @inline(never)
  private func driftingInterval(_ key: RandomKey) -> Int64 {
    let (interval, drift) = (pointee.flush.interval, pointee.flush.drift)
    let rate = key.child(RandomPurpose.flushPhase).child(2).uniform(-drift, through: drift)
    return max(
      1, interval + interval / 1_000_000_000 * rate + interval % 1_000_000_000 * rate / 1_000_000_000)
  }

  /// The first event of a device with periodic events.
  func eventPhase(_ key: RandomKey) -> Int64 {
    pointee.events.phaseIsFlush
      ? flushPhase(key) : key.child(RandomPurpose.eventPhase).uniform(0, through: pointee.events.period - 1)
  }

  @inline(__always)
  func deviceKey(_ device: Int) -> RandomKey {
    pointee.key.child(UInt64(truncatingIfNeeded: pointee.firstDevice &+ device))
  }

  /// Returns the time when event `ordinal` of a device is created, the one before it at `time`. It is a draw of its own, so that
  /// event times depend on nothing else.
  @inline(__always)
  func next(after time: Int64, before ordinal: UInt32, _ draws: EventDraws) -> Int64 {
    if !pointee.events.isPoisson {
      return pointee.events.isPeriodic
        ? time &+ pointee.events.period : scheduled(after: time, before: ordinal, draws)
    }
    return time
      &+ pointee.events.tables.exponentialGap(
        mean: pointee.events.meanGap, key: draws.events.child(UInt64(ordinal)))
  }

  @inline(never)
  private func scheduled(after time: Int64, before ordinal: UInt32, _ draws: EventDraws) -> Int64 {
    Unmanaged.passUnretained(pointee.events.schedule.unsafelyUnwrapped)._withUnsafeGuaranteedRef {
      $0.next(
        after: time, before: ordinal, draws, phase: pointee.events.period > 0 ? eventPhase(draws.device) : 0)
    }
  }

  func firstEvent(_ draws: EventDraws) -> Int64 {
    if pointee.events.isPeriodic { return eventPhase(draws.device) }
    return next(after: pointee.events.schedule == nil ? 0 : -1, before: 0, draws)
  }
}

extension ClientOptions {
  /// Takes the options of a cohort's clients.
  package init(_ cohort: Cohort) {
    let (client, isRebatch) = (cohort.behaviour, cohort.behaviour.queue.mode == .rebatch)
    var options = ClientOptions()
    (options.policy, options.quirks) = (client.policy.retry, client.policy.machineQuirks)
    options.uploads = UInt32(clamping: client.uploadConcurrency)
    options.isRebatch = isRebatch
    options.flushWhileUploading = client.flushWhileUploading
    options.rateLimitEndsLoop = client.rateLimitEndsLoop
    options.failureEndsLoop = client.failureEndsLoop
    options.saving = client.saving
    (options.triggers, options.triggersThatSkipWaits) = (client.triggers, client.triggersThatSkipWaits)
    options.wakesByTimer = client.retries == .timer
    options.maximumBatchEvents = UInt32(clamping: cohort.largestBatch)
    options.limit = UInt32(clamping: client.queue.limit)
    options.batchLimit = UInt32(clamping: client.queue.batchLimit)
    options.overflow = client.queue.overflow
    options.splitsOn413 = client.queue.splitsOn413 && !isRebatch
    options.growsUntilFailure = client.queue.growsUntilFailure && !isRebatch
    options.refreshesCredentials = client.policy.unauthorized == .refreshThenRetryOnce
    options.credentialRefresh = cohort.credentialRefresh.microseconds
    options.gates = client.gates
    options.countFlushWhileFailing = client.countFlushWhileFailing
    options.countsHeldEvents = client.countsHeldEvents
    options.whileWaiting = client.whileWaiting
    options.actsAtFlushEnd = client.actsAtFlushEnd
    self = options
  }
}
