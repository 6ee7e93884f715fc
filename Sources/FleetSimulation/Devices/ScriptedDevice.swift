import FleetMetrics
import ScenarioModel
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
  /// What the latest launch has fetched; the shard's table does not keep it alive.
  private var fetched: RetryStateMachine

  /// What a shard's tables count from; they know no time before 0.
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
      cohort, firstDevice: 0, scenario: scenario, checks: true, windowWidth: nil, script: script)
    var shard = DeviceShard(plan: plan, interval: span, number: 0, first: 0, count: 1, rowCount: 2)
    shard.script = script
    source = ScriptedDraws(draws)
    shard.scriptedGates = GateWords(salt: source.next())
    shard.scriptedDraws = .passUnretained(source)
    shard.tracer = tracer
    shard.tracedDevice = .only
    if let loops = shard.loops { loops[DeviceIndex(0)].pointee = UploadLoopState() }
    fetched = cohort.policy.machine(cohort.settings)
    triggered = TriggeredClient(shard, flushCount: flushCount)
    calendar = .allocate(capacity: 1)
    calendar.initialize(to: ShardCalendar(collecting: Instant(microseconds: span.microseconds)))
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
    let time = Instant(microseconds: now + Self.origin)
    triggered.host.batches[batch].attemptEnds()
    switch response {
    case .status(let code, _) where (200...299).contains(code): triggered.host.accept(batch, .only, at: time)
    case .status: break
    case .noStatus: triggered.host.noteUnknownOutcome(batch, at: time)
    }
    triggered.answered(response, batch, at: time.microseconds, calendar)
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
    triggered.host.giveUpUploads(.only, at: Instant(microseconds: time))
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

  /// What has happened since it was last asked.
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

/// Words for the jitter of a device that is driven by hand.
final class ScriptedDraws {
  private var generator: any RandomNumberGenerator
  init(_ generator: any RandomNumberGenerator) { self.generator = generator }
  func next() -> UInt64 { generator.next() }
}
