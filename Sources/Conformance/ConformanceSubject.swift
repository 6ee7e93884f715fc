import FleetSimulation
import ScenarioModel
import ShippedClients
import ShippedQuirks
import UploadPipeline
import UploadRetry

/// The subject that runs a case: the client module alone, or a device of the engine. Times are microseconds since the case began.
package protocol ConformanceSubject: AnyObject {
  var held: [HeldBatch] { get }
  var state: ClientState { get }
  /// The record of a client that has one for all batches.
  var clientRecord: BatchRetryState { get }
  /// Events that no flush has sealed.
  var unsealed: UInt32 { get }
  /// The time on its clock at time 0.
  var origin: Int64 { get }

  func add(_ n: UInt32, counting: Int, at now: Int64)
  func trigger(_ trigger: ClientTrigger, at now: Int64)
  func answered(_ response: UploadResponse, _ batch: BatchIndex, at now: Int64)
  func hold(_ events: UInt32, createdAt time: Int64)
  /// The process ends; what it has saved is returned.
  func endProcess(strandingUnsealed: Bool, at now: Int64) -> RetrySnapshot
  /// A launch has fetched other Settings (S19).
  func follow(_ config: HTTPConfig)
  func launch(_ snapshot: RetrySnapshot, at now: Int64) -> [SnapshotRepair]
  func adopt(_ snapshot: RetrySnapshot)
  /// With when it is due, on its own clock.
  func record(of batch: BatchIndex) -> BatchRetryState
  func takeSteps() -> [SubjectStep]
}

package enum SubjectStep {
  case sent(Range<UInt32>, header: Int?)
  /// Events left the queue undelivered; the first is the batch's.
  case lost(Range<UInt32>, reason: String)
  /// The outcome of an upload, by its first event.
  case decided(UInt32, RetryOutcome)
}

// MARK: - The module alone

package final class ModuleSubject: ConformanceSubject {
  private var client: UploadClient
  private let keepsWhatIsGivenUp: Bool
  package let origin: Int64

  package var held: [HeldBatch] { client.triggered.held }
  package var state: ClientState { client.triggered.state }
  package var clientRecord: BatchRetryState { client.triggered.clientRecord }
  package var unsealed: UInt32 { client.triggered.unsealed }

  package init(_ cohort: Cohort, flushCount: FlushCount, draws: any RandomNumberGenerator, origin: Int64) {
    var options = ClientOptions(cohort)
    options.flushEnd = cohort.actsAtFlushEnd ? TalliedFlushEnd() : nil
    client = UploadClient(
      options: options, config: cohort.settings, flushCount: flushCount, random: draws)
    keepsWhatIsGivenUp = cohort.policy.givenUp == .blocked
    self.origin = origin
  }

  package func add(_ n: UInt32, counting: Int, at now: Int64) {
    client.triggered.add(n, counting: counting, at: now + origin, ())
  }
  package func trigger(_ trigger: ClientTrigger, at now: Int64) { client.trigger(trigger, at: now + origin) }
  package func answered(_ response: UploadResponse, _ batch: BatchIndex, at now: Int64) {
    client.answered(batch, response, at: now + origin)
  }
  package func hold(_ events: UInt32, createdAt time: Int64) {
    let first = client.triggered.host.nextOrdinal(of: .only)
    client.triggered.host.adopt(firstEvent: first, events: events, createdAt: time + origin, at: origin)
  }
  package func endProcess(strandingUnsealed: Bool, at now: Int64) -> RetrySnapshot {
    client.triggered.forgetMemory(strandingUnsealed: strandingUnsealed)
    let snapshot = client.triggered.host.endProcess(.only, at: now + origin)
    client.triggered.host.cutOffUploads()
    return snapshot
  }
  package func follow(_ config: HTTPConfig) { client.triggered.host.follow(config) }
  package func launch(_ snapshot: RetrySnapshot, at now: Int64) -> [SnapshotRepair] {
    client.triggered.host.restore(snapshot, .only, at: now + origin)
  }
  package func adopt(_ snapshot: RetrySnapshot) { client.triggered.host.adopt(snapshot, .only, at: origin) }
  package func record(of batch: BatchIndex) -> BatchRetryState {
    client.triggered.host.retryState(of: batch, .only)
  }

  package func takeSteps() -> [SubjectStep] {
    client.takeActions().compactMap { action in
      switch action {
      case .send(_, _, _, asksWhetherApplied: true): nil
      case .send(_, let events, let retryCount, _): .sent(events, header: retryCount.map(Int.init))
      case .lost(let events, .limit) where keepsWhatIsGivenUp: .lost(events, reason: DropName.blocked)
      case .lost(let events, let loss): .lost(events, reason: DropName.name(of: loss))
      case .step(.decided(let batch, let outcome)): .decided(batch, outcome)
      case .delivered, .wake, .step: nil
      }
    }
  }
}

// MARK: - A device of the engine

extension ScriptedDevice: ConformanceSubject {
  package func takeSteps() -> [SubjectStep] {
    takeEvents().compactMap { event in
      switch event.kind {
      case .sent(let batch, let events, _, let retryCount):
        .sent(UInt32(batch)..<UInt32(batch + events), header: retryCount)
      case .dropped(let batch, let events, _, let loss):
        .lost(UInt32(batch)..<UInt32(batch + events), reason: DropName.name(of: loss))
      case .decided(let batch, let outcome): .decided(UInt32(batch), outcome)
      default: nil
      }
    }
  }
}

/// A client to be tested: a preset.
public struct ConformanceClient: Sendable {
  package var preset: ClientPreset

  /// The preset's name, `tapi-document`.
  public var name: String { preset.name }

  /// The presets that follow the document's Settings, its own first.
  public static let presets = ClientPreset.documented.map { ConformanceClient(preset: $0) }
    .filter(\.followsTAPI)

  /// Their names; all other presets have vectors or recordings of their own.
  public static let names = presets.map(\.name)

  /// The preset of that name.
  public init?(name: String) {
    guard let preset = ClientPreset.builtIn(name) else { return nil }
    self.init(preset: preset)
  }

  /// Whether the cases of a file are about this client.
  package func isMeant(by file: VectorFile) -> Bool {
    if let client = file.client { return client == name }
    let strategies = Set(file.cases.map(\.client.strategy))
    return preset.page.map { strategies == [$0.strategy] } ?? (followsTAPI && strategies == [nil])
  }

  /// A client of the catalogue has its own numbers, even where they are the document's.
  private var followsTAPI: Bool {
    preset.settingsDefaults == HTTPConfig() && preset.page == nil
      && !ClientPreset.catalogue.contains { $0.name == name }
  }

  package init(preset: ClientPreset) { self.preset = preset }

  /// Returns the client's reading of Settings, and the findings about them.
  func settings(_ settings: SettingsValue) -> (config: HTTPConfig, findings: [SettingsFinding]) {
    var read = preset.settingsDialect.decode(settings, defaults: preset.settingsDefaults)
    if preset.settingsDialect == .document {
      read.config = preset.settingsDialect.config(
        of: settings, policy: preset.policy, defaults: preset.settingsDefaults)
    }
    return read
  }

  /// The client that a case asks for.
  package func cohort(for vector: VectorCase, config: HTTPConfig) -> Cohort {
    var cohort = Cohort(name: "vector", devices: 1, events: .poisson(meanGap: .hours(1)))
    cohort.take(preset)
    cohort.settings = config
    cohort.credentialRefresh = .zero
    if let supportsOAuth = vector.client.supportsOAuth { cohort.policy.supportsOAuth = supportsOAuth }
    if preset.settingsDialect == .document {
      if let uploads = vector.client.uploads { cohort.uploadConcurrency = uploads }
      if let limit = vector.client.maximumEvents { cohort.queue.limit = limit }
    }
    cohort.queue.maximumBatchBytes = nil
    // Where the document is silent, a batch is what a case says that it is.
    let events = followsTAPI ? (isRebatch ? 1 : 65_535) : preset.queue.maximumBatchEvents
    cohort.queue.maximumBatchEvents = isRebatch ? vector.client.maximumBatchEvents ?? events : events
    if cohort.saving == .never, vector.client.isPersistent == true { cohort.saving = .delayed }
    return cohort
  }

  /// Whether its events are chunked anew at each flush: then a name of the vectors is one event.
  package var isRebatch: Bool { preset.queue.mode == .rebatch }
}
