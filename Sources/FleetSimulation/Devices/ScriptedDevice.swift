import FleetMetrics
import ScenarioModel
import ShippedClients
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

/// One device of the engine, driven by hand: a fleet of one, whose events, triggers and answers are told instead of simulated. It runs
/// the shard's own memory and handlers; conformance looks here whether the fleet's devices do what the clients do.
///
/// Times are microseconds; earlier ones than 0 are allowed, down to a hundred days before it, and later ones up to 250 days.
package struct ScriptedDevice: ~Copyable {
  package var triggered: TriggeredClient<DeviceShard>
  private let calendar: UnsafeMutablePointer<ShardCalendar>
  private let tracer = DeviceTracer()
  private let source: ScriptedDraws
  private var seen = 0
  /// The machine of the latest launch's Settings; the shard's table does not keep it alive.
  private var fetched: RetryStateMachine

  /// The origin of times in a shard's tables; they know no time before 0.
  package static var origin: Int64 { 100 * 86_400 * 1_000_000 }

  /// - Parameter draws: words for all jitter.
  package init(_ cohort: Cohort, flushCount: FlushCount, draws: any RandomNumberGenerator) {
    let span = Span.hours(24 * 366)
    let scenario = Scenario(
      duration: span, interval: span,
      tapi: TAPIConfiguration(
        server: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000, burst: 1))),
      fleet: [cohort])
    let script = ScriptedTimes()
    let plan = CohortPlan(
      cohort, firstDevice: 0, scenario: scenario, lastIncidentEnd: scenario.lastIncidentEnd, checks: true,
      windowWidth: nil, script: script)
    var shard = DeviceShard(plan: plan, interval: span, number: 0, first: 0, count: 1, rowCount: 2)
    shard.script = script
    source = ScriptedDraws(draws)
    shard.scriptedGates = GateWords(salt: source.next())
    shard.scriptedDraws = .passUnretained(source)
    shard.tracer = tracer
    shard.tracedDevice = .only
    if let loops = shard.loops { loops[DeviceIndex(0)].pointee = UploadLoopState() }
    fetched = cohort.behaviour.policy.machine(cohort.settings)
    triggered = TriggeredClient(shard, flushCount: flushCount)
    calendar = .allocate(capacity: 1)
    calendar.initialize(to: ShardCalendar(collecting: span.microseconds))
  }

  deinit {
    calendar.deinitialize(count: 1)
    calendar.deallocate()
  }

  package mutating func add(_ n: UInt32, counting: Int?, at now: Int64) {
    triggered.add(n, counting: counting, at: now + Self.origin, calendar)
  }

  package mutating func trigger(_ trigger: ClientTrigger, at now: Int64) {
    triggered.trigger(trigger, at: now + Self.origin, calendar)
  }

  /// An upload ends that is under way.
  package mutating func answered(_ response: UploadResponse, _ batch: BatchIndex, at now: Int64) {
    let time = now + Self.origin
    triggered.host.batches[batch].attemptEnds()
    switch response {
    case .status(let code, _) where (200...299).contains(code): triggered.host.accept(batch, .only, at: time)
    case .status: break
    case .noStatus: triggered.host.noteUnknownOutcome(batch, at: time)
    }
    triggered.answered(response, batch, at: time, calendar)
  }

  /// A batch that was stored is there.
  package mutating func adopt(_ events: UInt32, createdAt time: Int64, at now: Int64) {
    let first = triggered.host.nextOrdinal(of: .only)
    triggered.host.note(events, eventsCreatedAt: time + Self.origin, .only)
    triggered.host.append(
      events, firstOrdinal: first, firstTime: time + Self.origin, .only, at: now + Self.origin)
    triggered.host.willSeal(events, through: first + events, .only)
  }

  /// The process ends; what a launch will find, in the device's times (`origin`).
  package mutating func endProcess(at now: Int64) -> RetrySnapshot {
    let time = now + Self.origin
    let snapshot = triggered.host.endProcess(.only, at: time)
    triggered.host.giveUpUploads(.only, at: time)
    triggered.host[.only].pointee.flags.remove(.wakes)
    return snapshot
  }

  /// A launch has fetched other Settings (S19).
  package mutating func follow(_ config: HTTPConfig) {
    let options = triggered.host.options
    fetched = RetryStateMachine(
      config: config, policy: options.pointee.policy, quirks: options.pointee.quirks)
    triggered.host.machines[Int(DeviceRecord.SettingsVersion.rollout.rawValue)] = .passUnretained(fetched)
    triggered.host[.only].pointee.settings = .rollout
  }

  package mutating func restore(_ snapshot: RetrySnapshot, at now: Int64) -> [SnapshotRepair] {
    triggered.host.restore(snapshot, .only, at: now + Self.origin)
  }

  package mutating func adopt(_ snapshot: RetrySnapshot, at now: Int64) {
    triggered.host.adopt(snapshot, .only, at: now + Self.origin)
  }

  /// Takes the events since the last call.
  package mutating func takeEvents() -> [DeviceTrace.Event] {
    defer { seen = tracer.events.count }
    calendar.pointee.collected = .init()
    return Array(tracer.events[seen...])
  }

  /// A batch's record, with when it is due (*files*).
  package func record(of batch: BatchIndex) -> BatchRetryState {
    var record = triggered.host.retryState(of: batch, .only)
    if !triggered.host.options.pointee.isRebatch { record.retryAt = triggered.host.batches.dueTime(batch) }
    return record
  }
}

/// A browser that is driven by hand.
extension ScriptedDevice {
  private var browser: UnsafeMutablePointer<BrowserDevice> { triggered.host.pages.unsafelyUnwrapped }

  /// The state of its page; nil: none is open.
  package var page: BrowserPage? { browser.pointee.page }

  /// An event that is in store at time 0.
  package mutating func store(failures: UInt32) {
    let number = triggered.host.nextOrdinal(of: .only)
    adopt(1, createdAt: 0, at: 0)
    triggered.host.removeReady(at: number, .only)
    browser.pointee.batches[number] = triggered.host.newest(of: .only)
    browser.pointee.stored.append(SavedEvent(number: number, attempts: failures))
  }

  /// - Parameter word: every draw of it.
  package mutating func openPage(_ settings: BrowserSettings, word: UInt64, at now: Int64) {
    (triggered.host.scriptedSettings, triggered.host.scriptedWord) = (settings, word)
    triggered.host.openPage(.only, at: now + Self.origin, calendar)
  }

  /// - Parameter breaksStore: what is in store is no JSON from then on.
  package mutating func closePage(isKilled: Bool, breaksStore: Bool, at now: Int64) {
    triggered.host.closePage(.only, isKilled: isKilled, at: now + Self.origin, calendar)
    if breaksStore { triggered.host.breakStore(.only, at: now + Self.origin) }
  }

  package mutating func runPage(until now: Int64) {
    triggered.host.act(.only, at: now + Self.origin, calendar)
  }

  package mutating func track(user: UInt32, at now: Int64) {
    triggered.host.note(1, eventsCreatedAt: now + Self.origin, .only)
    triggered.host.track(
      CreatedEvents(count: 1, firstTime: now + Self.origin), user: user, .only, at: now + Self.origin,
      calendar)
  }

  /// The app asks for a flush.
  package mutating func flushPage(at now: Int64) {
    browser.pointee.page?.flush(at: now + Self.origin)
    triggered.host.act(.only, at: now + Self.origin, calendar)
  }

  /// - Parameter retryAfter: seconds; nil: none.
  package mutating func answer(
    _ upload: UInt32, status: Int?, retryAfter: Double?, body: AnswerBody?, at now: Int64
  ) {
    triggered.host.answer(
      upload, status: status, retryAfter: retryAfter, body: body, .only, at: now + Self.origin, calendar)
    triggered.host.act(.only, at: now + Self.origin, calendar)
  }

  /// `navigator.onLine`, without an end of what is under way.
  package mutating func setOnline(_ isOnline: Bool, at now: Int64) {
    let state = triggered.host.state(of: .only)
    if isOnline { state.pointee.flags.remove(.offline) } else { state.pointee.flags.insert(.offline) }
    browser.pointee.page?.setOnline(isOnline, at: now + Self.origin)
  }

  package mutating func setVisible(_ isVisible: Bool, at now: Int64) {
    browser.pointee.page?.setVisible(isVisible, at: now + Self.origin)
    triggered.host.act(.only, at: now + Self.origin, calendar)
  }

  /// Takes the actions of pages since the last call.
  package mutating func takePageActions() -> [BrowserAction] {
    defer { browser.pointee.log = [] }
    calendar.pointee.collected = .init()
    return browser.pointee.log
  }

  /// The first broken rule that the shard's checks have found.
  package var violation: String? { triggered.host.violation }
}
