import ScenarioModel
import ShippedClients
import UploadPipeline
import UploadRetry

/// A client to be tested: a preset.
public struct ConformanceClient: Sendable {
  package var preset: ClientPreset

  /// The preset's name, `tapi-document`.
  public var name: String { preset.name }

  /// The presets that follow the document's Settings, its own first.
  public static let presets = ClientPreset.documented.filter { $0.settings == HTTPConfig() }
    .map { ConformanceClient(preset: $0) }

  /// Their names.
  public static let names = presets.map(\.name)

  /// Every preset's; those that are not in `names` have vectors of their own.
  public static let allNames = ClientPreset.documentedNames

  /// The preset of that name.
  public init?(name: String) {
    guard let preset = ClientPreset.documented.first(where: { $0.name == name }) else { return nil }
    self.init(preset: preset)
  }

  /// Whether the cases of a file are about this client.
  package func isMeant(by file: VectorFile) -> Bool { file.client.map { $0 == name } ?? followsTAPI }

  private var followsTAPI: Bool { preset.settings == HTTPConfig() }

  package init(preset: ClientPreset) { self.preset = preset }

  /// Whether the SDK says what it makes of its Settings, so that `effective` can be compared; the others are judged by what they do.
  var tellsEffectiveSettings: Bool { preset.dialect != .analyticsKotlin }

  /// Waits that its clock can't tell apart, microseconds.
  var resolution: Int64 { preset.policy.waitsInMilliseconds ? 1_000 : 0 }

  /// The wait that a server asks for, microseconds, by the headers of its answer.
  func wait(retryAfter: String?, rateLimitReset: String?, nowUnixMicroseconds now: Int64) -> Int64? {
    preset.dialect.wait(
      retryAfter: retryAfter, rateLimitReset: rateLimitReset, policy: preset.policy, nowUnixMicroseconds: now)
  }

  /// What it makes of Settings, and what is to be said of them.
  func settings(_ settings: SettingsValue) -> (config: HTTPConfig, findings: [SettingsFinding]) {
    var read = preset.dialect.decode(settings, defaults: preset.settings)
    if preset.dialect == .document {
      read.config = preset.dialect.config(of: settings, policy: preset.policy, defaults: preset.settings)
    }
    return read
  }

  /// The client that a case asks for.
  func cohort(for vector: VectorCase, config: HTTPConfig) -> Cohort {
    var cohort = Cohort(name: "vector", devices: 1, events: .poisson(meanGap: .hours(1)))
    cohort.take(preset)
    cohort.settings = config
    cohort.credentialRefresh = .zero
    if let supportsOAuth = vector.client.supportsOAuth { cohort.policy.supportsOAuth = supportsOAuth }
    if preset.dialect == .document {
      if let uploads = vector.client.uploads { cohort.uploadConcurrency = uploads }
      if let limit = vector.client.maximumEvents { cohort.queue.limit = limit }
    }
    cohort.queue.maximumBatchBytes = nil
    // Where the document is silent, a batch is what a case says that it is.
    let events = followsTAPI ? (isRebatch ? 1 : 65_535) : preset.maximumBatchEvents
    cohort.queue.maximumBatchEvents = isRebatch ? vector.client.maximumBatchEvents ?? events : events
    if cohort.saving == .never, vector.client.isPersistent == true { cohort.saving = .delayed }
    return cohort
  }

  /// Whether its events are chunked anew at each flush: then a name of the vectors is one event.
  var isRebatch: Bool { preset.queueMode == .rebatch }
}
