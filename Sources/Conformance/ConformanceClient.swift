import FleetSimulation
import ShippedClients
import UploadPipeline
import UploadRetry

/// A client to be tested: a preset.
public struct ConformanceClient: Sendable {
  package var preset: ClientPreset

  /// The preset's name, `tapi-document`.
  public var name: String { preset.name }

  /// The presets that follow the document's Settings, its own first.
  public static let presets = ClientPreset.all.filter { $0.settings == HTTPConfig() }
    .map { ConformanceClient(preset: $0) }

  /// Their names.
  public static let names = presets.map(\.name)

  /// The preset of that name.
  public init?(name: String) {
    guard let preset = Self.presets.first(where: { $0.name == name }) else { return nil }
    self = preset
  }

  package init(preset: ClientPreset) { self.preset = preset }

  /// Whether the SDK says what it makes of its Settings, so that `effective` can be compared; the others are judged by what they do.
  var tellsEffectiveSettings: Bool { preset.dialect != .analyticsKotlin }

  /// Waits that its clock can't tell apart, microseconds.
  var resolution: Int64 { preset.policy.waitsInMilliseconds ? 1_000 : 0 }

  /// The wait that a server asks for, microseconds, by the headers of its answer.
  func wait(retryAfter: String?, rateLimitReset: String?, nowUnixMicroseconds now: Int64) -> Int64? {
    if preset.dialect == .document {
      return preset.policy.wait(
        retryAfter: retryAfter, rateLimitReset: rateLimitReset, nowUnixSeconds: now / 1_000_000)
    }
    return retryAfter.flatMap { preset.dialect.retryAfter($0, nowUnixMicroseconds: now) }
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
      cohort.queue.limit = vector.client.maximumEvents
    }
    cohort.queue.maximumBatchBytes = nil
    cohort.queue.maximumBatchEvents = isRebatch ? vector.client.maximumBatchEvents ?? 1 : 65_535
    if cohort.saving == .never, vector.client.isPersistent == true { cohort.saving = .delayed }
    return cohort
  }

  /// Whether its events are chunked anew at each flush: then a name of the vectors is one event.
  var isRebatch: Bool { preset.queueMode == .rebatch }
}
