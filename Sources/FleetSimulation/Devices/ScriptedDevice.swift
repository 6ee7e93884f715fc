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
package final class ScriptedDevice {
  private var triggered: TriggeredClient<DeviceShard>
  private let calendar: UnsafeMutablePointer<ShardCalendar>
  private let tracer = DeviceTracer()
  private let script: DeviceScript
  private var seen = 0
  /// The machine of the latest launch's Settings; the shard's table does not keep it alive.
  private var fetched: RetryStateMachine

  /// The origin of times in a shard's tables; they know no time before 0.
  package let origin: Int64 = 100 * 86_400 * 1_000_000

  /// - Parameters:
  ///   - draws: words for all jitter.
  ///   - word: every draw of its pages; nil: they draw as the fleet's do.
  package init(
    _ cohort: Cohort, flushCount: FlushCount, draws: any RandomNumberGenerator, word: UInt64? = nil
  ) {
    let span = Span.hours(24 * 366)
    let scenario = Scenario(
      duration: span, interval: span,
      tapi: TAPIConfiguration(
        server: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000, burst: 1))),
      fleet: [cohort])
    script = DeviceScript(draws, pageWord: word)
    let plan = CohortPlan(
      cohort, firstDevice: 0, scenario: scenario, lastIncidentEnd: scenario.lastIncidentEnd, checks: true,
      windowWidth: nil, script: script.times)
    var shard = DeviceShard(plan: plan, interval: span, number: 0, first: 0, count: 1, rowCount: 2)
    shard.script = .passUnretained(script)
    shard.trace(.only, tracer)
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

  package var held: [HeldBatch] { triggered.held }
  package var state: ClientState { triggered.state }
  package var clientRecord: BatchRetryState { triggered.clientRecord }
  package var unsealed: UInt32 { triggered.unsealed }

  package func add(_ n: UInt32, counting: Int, at now: Int64) {
    triggered.add(n, counting: counting, at: now + origin, calendar)
  }

  package func trigger(_ trigger: ClientTrigger, at now: Int64) {
    triggered.trigger(trigger, at: now + origin, calendar)
  }

  /// An upload ends that is under way.
  package func answered(_ response: UploadResponse, _ batch: BatchIndex, at now: Int64) {
    let time = now + origin
    triggered.host.batches[batch].attemptEnds()
    switch response {
    case .status(let code, _) where (200...299).contains(code): triggered.host.accept(batch, .only, at: time)
    case .status: break
    case .noStatus: triggered.host.noteUnknownOutcome(batch, at: time)
    }
    triggered.answered(response, batch, at: time, calendar)
  }

  /// A batch that was stored is there at time 0.
  package func hold(_ events: UInt32, createdAt time: Int64) {
    let first = triggered.host.nextOrdinal(of: .only)
    triggered.host.note(events, eventsCreatedAt: time + origin, .only)
    triggered.host.append(events, firstOrdinal: first, firstTime: time + origin, .only, at: origin)
    triggered.host.willSeal(events, through: first + events, .only)
  }

  /// The process ends; what a launch will find, in the device's times (`origin`).
  package func endProcess(strandingUnsealed: Bool, at now: Int64) -> RetrySnapshot {
    triggered.forgetMemory(strandingUnsealed: strandingUnsealed)
    let time = now + origin
    let snapshot = triggered.host.endProcess(.only, at: time)
    triggered.host.giveUpUploads(.only, at: time)
    triggered.host[.only].pointee.flags.remove(.wakes)
    return snapshot
  }

  /// A launch has fetched other Settings (S19).
  package func follow(_ config: HTTPConfig) {
    let options = triggered.host.options
    fetched = RetryStateMachine(
      config: config, policy: options.pointee.policy, quirks: options.pointee.quirks)
    triggered.host.machines[Int(DeviceRecord.SettingsVersion.rollout.rawValue)] = .passUnretained(fetched)
    triggered.host[.only].pointee.settings = .rollout
  }

  package func launch(_ snapshot: RetrySnapshot, at now: Int64) -> [SnapshotRepair] {
    triggered.host.restore(snapshot, .only, at: now + origin)
  }

  package func adopt(_ snapshot: RetrySnapshot) { triggered.host.adopt(snapshot, .only, at: origin) }

  /// Takes the events since the last call.
  package func takeEvents() -> [DeviceTrace.Event] {
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

  /// The page that is open; there must be one.
  package var page: BrowserPage { browser.pointee.page! }

  /// An event that is in store at time 0.
  package func store(_ number: UInt32, failures: UInt32) {
    hold(1, createdAt: 0)
    triggered.host.removeReady(at: number, .only)
    browser.pointee.batches[number] = triggered.host.newest(of: .only)
    browser.pointee.stored.append(SavedEvent(number: number, attempts: failures))
  }

  package func open(_ settings: BrowserSettings, at now: Int64) {
    script.settings = settings
    triggered.host.openPage(.only, at: now + origin, calendar)
  }

  /// - Parameter breaksStore: what is in store is no JSON from then on.
  package func close(isKilled: Bool, breaksStore: Bool, at now: Int64) {
    triggered.host.closePage(.only, isKilled: isKilled, at: now + origin, calendar)
    if breaksStore { triggered.host.breakStore(.only, at: now + origin) }
  }

  package func run(until now: Int64) { triggered.host.act(.only, at: now + origin, calendar) }

  package func track(_: UInt32, user: UInt32, at now: Int64) {
    triggered.host.note(1, eventsCreatedAt: now + origin, .only)
    triggered.host.track(
      CreatedEvents(count: 1, firstTime: now + origin), user: user, .only, at: now + origin,
      calendar)
  }

  /// The app asks for a flush.
  package func flush(at now: Int64) {
    browser.pointee.page?.flush(at: now + origin)
    triggered.host.act(.only, at: now + origin, calendar)
  }

  /// - Parameter retryAfter: seconds; nil: none.
  package func answer(
    _ upload: UInt32, status: Int?, retryAfter: Double?, body: AnswerBody?, at now: Int64
  ) {
    triggered.host.answer(
      upload, status: status, retryAfter: retryAfter, body: body, .only, at: now + origin, calendar)
    triggered.host.act(.only, at: now + origin, calendar)
  }

  /// `navigator.onLine`, without an end of what is under way.
  package func setOnline(_ isOnline: Bool, at now: Int64) {
    let state = triggered.host.state(of: .only)
    if isOnline { state.pointee.flags.remove(.offline) } else { state.pointee.flags.insert(.offline) }
    browser.pointee.page?.setOnline(isOnline, at: now + origin)
  }

  package func setVisible(_ isVisible: Bool, at now: Int64) {
    browser.pointee.page?.setVisible(isVisible, at: now + origin)
    triggered.host.act(.only, at: now + origin, calendar)
  }

  /// Takes the actions of pages since the last call.
  package func takeActions() -> [BrowserAction] {
    defer { browser.pointee.log = [] }
    calendar.pointee.collected = .init()
    return browser.pointee.log
  }

  /// The first broken rule that the shard's checks have found.
  package var violation: String? { triggered.host.violation }
}
