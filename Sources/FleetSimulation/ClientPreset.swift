import UploadRetry

/// A client of the last table of the requirements: its switches, and what its queue does unless the scenario
/// says otherwise.
public struct ClientPreset: Sendable, Hashable {
  public var name: String
  public var policy: RetryPolicy
  public var queueMode: QueuePolicy.Mode
  public var uploadConcurrency: Int
  public var ignoresFlushWhileUploading: Bool

  public static let tapiDocument = ClientPreset(
    name: "tapi-document", policy: .tapiDocument, queueMode: .files, uploadConcurrency: 1,
    ignoresFlushWhileUploading: false)
  /// analytics-swift: all batch files of a flush at once.
  public static let segmentSwift = ClientPreset(
    name: "segment-swift", policy: .segmentSwift, queueMode: .files, uploadConcurrency: .max,
    ignoresFlushWhileUploading: true)
  /// analytics-kotlin: one batch file after another.
  public static let segmentKotlin = ClientPreset(
    name: "segment-kotlin", policy: .segmentKotlin, queueMode: .files, uploadConcurrency: 1,
    ignoresFlushWhileUploading: false)
  /// analytics-react-native: events re-chunked at each flush, all chunks at once.
  public static let segmentReactNative = ClientPreset(
    name: "segment-react-native", policy: .segmentReactNative, queueMode: .rebatch, uploadConcurrency: .max,
    ignoresFlushWhileUploading: false)

  public static let all = [tapiDocument, segmentSwift, segmentKotlin, segmentReactNative]
}

extension Cohort {
  /// Becomes a client of that kind.
  package mutating func take(_ preset: ClientPreset) {
    client = preset.name
    policy = preset.policy
    queue.mode = preset.queueMode
    uploadConcurrency = preset.uploadConcurrency
    ignoresFlushWhileUploading = preset.ignoresFlushWhileUploading
  }
}
