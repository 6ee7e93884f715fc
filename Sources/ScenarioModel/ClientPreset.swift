import ShippedClients
import SimulationKernel
import UploadGating
import UploadPipeline
import UploadRetry

/// A client that a source document describes: its switches, and what its queue, its Settings and its gates are unless the
/// scenario says otherwise.
public struct ClientPreset: Sendable, Hashable {
  public var name: String
  /// What it is, on one line.
  public var meaning: String
  public var policy: RetryPolicy
  /// How it reads its Settings, and a Retry-After.
  public var dialect = SettingsDialect.document
  /// What a value that the Settings leave out is.
  public var settings = HTTPConfig()
  public var queueMode: QueuePolicy.Mode
  public var maximumBatchEvents = 500
  /// Bytes of an upload; nil: no limit.
  public var maximumBatchBytes: Int?
  public var uploadConcurrency: Int
  public var flushWhileUploading = FlushWhileUploading.joins
  public var actsAtFlushEnd = false
  public var rateLimitEndsLoop = true
  public var saving = Saving.atOnce
  public var triggers = ClientTriggers.all
  /// Triggers that cut a wait of the client short.
  public var triggersThatSkipWaits: ClientTriggers = []
  /// Sealed events held at most; nil: no limit.
  public var queueLimit: Int?
  /// Of the flush policy's count, each event counts so much (1 or 2), and the count goes on over flushes for other reasons.
  public var countOfAnEvent = 1
  public var countsAllEvents = false
  public var retries = RetryWakeUp.gate
  public var gates = ClientGates()
  /// Of a shipped client: the SDK, its commit and the place in its source that a switch has its value from, by the switch's path.
  public var sources: [String: String] { dialect.switchSources }

  init(
    _ name: String, _ meaning: String, _ policy: RetryPolicy, _ queueMode: QueuePolicy.Mode, uploads: Int,
    _ change: (inout ClientPreset) -> Void = { _ in }
  ) {
    self.name = name
    self.meaning = meaning
    self.policy = policy
    self.queueMode = queueMode
    uploadConcurrency = uploads
    change(&self)
  }

  public static let all = [
    tapiDocument, segmentSwift, segmentKotlin, segmentReactNative, keenExisting, keenProposed, offlineFirst,
    toggl, togglPush, datafly,
  ]

  // MARK: TAPI

  public static let tapiDocument = ClientPreset(
    "tapi-document", "the design document's own client", .tapiDocument, .files, uploads: 1)

  public static let segmentSwift = ClientPreset(
    "segment-swift", "analytics-swift: all batch files of a flush at once", .segmentSwift, .files,
    uploads: .max
  ) {
    $0.dialect = .analyticsSwift
    $0.flushWhileUploading = .ignored
    $0.saving = .atOnceAsItIs
    $0.triggers = ClientTriggers([.count, .interval, .manual, .reconnect, .background])
    $0.countOfAnEvent = 2
    $0.countsAllEvents = true
  }

  public static let segmentKotlin = ClientPreset(
    "segment-kotlin", "analytics-kotlin: one batch file after another", .segmentKotlin, .files, uploads: 1
  ) {
    $0.dialect = .analyticsKotlin
    $0.flushWhileUploading = .queued
    $0.rateLimitEndsLoop = false
    $0.saving = .afterAnswers
    $0.triggers = .shipped
  }

  public static let segmentReactNative = ClientPreset(
    "segment-react-native", "analytics-react-native: re-chunks its events, all chunks at once",
    .segmentReactNative, .rebatch, uploads: .max
  ) {
    $0.dialect = .analyticsReactNative
    $0.actsAtFlushEnd = true
    $0.saving = .never
    $0.triggers = .shipped
    $0.maximumBatchEvents = 1_000
    $0.maximumBatchBytes = 512_000
  }

  // MARK: The other documents

  /// K1. An event is a query, and a request of its own.
  public static let keenExisting = ClientPreset(
    "keen-existing", "Keen as it is: ten 4xx of a query within an hour refuse it until then",
    .withoutRetryState, .files, uploads: .max
  ) {
    $0.settings = .withoutWaits
    $0.maximumBatchEvents = 1
    // The document names no number of queries; ten of them repeat here.
    $0.gates.failureWindow = FailureWindow(queries: 10)
  }

  /// K2.
  public static let keenProposed = ClientPreset(
    "keen-proposed",
    "Keen as proposed: after a 429 or a 503 each request waits, with full jitter",
    .withoutRetryState, .files, uploads: .max
  ) {
    $0.settings = .withoutWaits
    $0.maximumBatchEvents = 1
    $0.retries = .timer
    $0.gates.projectDelay = ProjectDelay()
  }

  /// O1–O9, O11.
  public static let offlineFirst = ClientPreset(
    "offline-first",
    "operations that wait by themselves, a circuit breaker; given up means blocked",
    .offlineFirst, .files, uploads: 4
  ) {
    $0.settings = .offlineFirst(.background)
    $0.retries = .timer
    $0.gates.breaker = CircuitBreaker()
    $0.gates.retryBudget = RetryBudget(perRun: 20)
    $0.gates.controller = BackpressureController(longestConcurrency: 4)
    $0.gates.reconciles = true
  }

  /// T1–T4. An event is a request of a sync, and a flush is a pull: its requests go together or not at all.
  public static let toggl = ClientPreset(
    "toggl", "Toggl's syncs: at most 60 requests a minute and 3 a second",
    .withoutRetryState, .files, uploads: 3
  ) {
    $0.settings = .withoutWaits
    $0.maximumBatchEvents = 1
    $0.retries = .timer
    $0.gates.rateGate = RateGate(
      RateWindow(slots: 60, span: 60_000_000), RateWindow(slots: 3, span: 1_000_000))
    $0.gates.reservesWholeRun = true
  }

  /// T3. A flush is a push: one request after another, a slot each; without one it waits and starts over.
  public static let togglPush = ClientPreset(
    "toggl-push", "Toggl's push: one request at a time; without a slot it waits and starts over",
    .withoutRetryState, .files, uploads: 1
  ) {
    $0.settings = .withoutWaits
    $0.maximumBatchEvents = 1
    $0.retries = .timer
    $0.gates.rateGate = RateGate(
      RateWindow(slots: 60, span: 60_000_000), RateWindow(slots: 3, span: 1_000_000))
    $0.gates.restartsRun = true
  }

  /// D1–D7.
  public static let datafly = ClientPreset(
    "datafly",
    "Datafly: seven tries, then pending again; nearly every status is retried",
    .datafly, .rebatch, uploads: 1
  ) {
    $0.settings = .datafly
    $0.retries = .timer
    // D3's 500 KB, of 1,024 bytes each: 500 events of 1,000 bytes fit.
    $0.maximumBatchBytes = 512_000
    $0.queueLimit = 1_000
    $0.triggersThatSkipWaits = ClientTriggers([.manual, .reconnect])
    // Not on entering the background (D2).
    $0.triggers = ClientTriggers([.count, .interval, .manual, .reconnect, .foreground, .wakeUp])
  }
}

extension ClientTriggers {
  /// Every kind but the timer of a wait, which no shipped SDK sets.
  fileprivate static let shipped = ClientTriggers([
    .count, .interval, .manual, .reconnect, .foreground, .background,
  ])
}

extension Cohort {
  /// Becomes a client of that kind.
  package mutating func take(_ preset: ClientPreset) {
    client = preset.name
    policy = preset.policy
    queue.mode = preset.queueMode
    queue.maximumBatchEvents = preset.maximumBatchEvents
    queue.maximumBatchBytes = preset.maximumBatchBytes
    uploadConcurrency = preset.uploadConcurrency
    flushWhileUploading = preset.flushWhileUploading
    actsAtFlushEnd = preset.actsAtFlushEnd
    rateLimitEndsLoop = preset.rateLimitEndsLoop
    saving = preset.saving
    triggers = preset.triggers
    triggersThatSkipWaits = preset.triggersThatSkipWaits
    countOfAnEvent = preset.countOfAnEvent
    countsAllEvents = preset.countsAllEvents
    queue.limit = preset.queueLimit ?? .max
    retries = preset.retries
    gates = preset.gates
    settingsDefaults = preset.settings
    settingsDialect = preset.dialect
  }
}
