import FleetSimulation
import UploadRetry

/// A client to be tested: one column of the requirements' last table.
public struct ConformanceClient: Sendable {
  /// The preset's name, `tapi-document`.
  public let name: String
  /// The switches that the retry machine and the gate follow.
  public let policy: RetryPolicy
  /// Uploads at once (S3).
  package let uploads: Int
  /// One retry record for the whole client, where batches have no identity, instead of one a batch.
  package let hasOneRetryRecord: Bool
  /// A flush that comes while uploads run does nothing (S17).
  package let ignoresFlushesWhileUploading: Bool

  /// The presets that follow the document's Settings, its own first.
  public static let presets = ClientPreset.all.filter { $0.settings == HTTPConfig() }
    .map(ConformanceClient.init)

  /// Their names.
  public static let names = presets.map(\.name)

  /// The preset of that name.
  public init?(name: String) {
    guard let preset = Self.presets.first(where: { $0.name == name }) else { return nil }
    self = preset
  }

  private init(_ preset: ClientPreset) {
    self.init(
      name: preset.name, policy: preset.policy, uploads: preset.uploadConcurrency,
      hasOneRetryRecord: preset.queueMode == .rebatch,
      ignoresFlushesWhileUploading: preset.ignoresFlushWhileUploading)
  }

  package init(
    name: String, policy: RetryPolicy, uploads: Int, hasOneRetryRecord: Bool,
    ignoresFlushesWhileUploading: Bool
  ) {
    self.name = name
    self.policy = policy
    self.uploads = uploads
    self.hasOneRetryRecord = hasOneRetryRecord
    self.ignoresFlushesWhileUploading = ignoresFlushesWhileUploading
  }
}
