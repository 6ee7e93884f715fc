import ScenarioFormat
import ScenarioModel
import ShippedQuirks
import UploadPipeline
import UploadRetry

/// Parts of clients that ship as files, for tests of the modules that an app embeds.
extension ClientPolicy {
  public static let tapiDocument = ClientPolicy()
  public static let segmentSwift = ClientPreset.segmentSwift.policy
  public static let segmentKotlin = ClientPreset.segmentKotlin.policy
  public static let segmentReactNative = ClientPreset.segmentReactNative.policy
  public static let datafly = ClientPreset.datafly.policy
  public static let withoutRetryState = ClientPreset.toggl.policy
  public static let offlineFirst = ClientPreset.offlineFirst.policy
}

extension ClientOptions {
  /// The options with all that a client's policy says.
  public func with(_ policy: ClientPolicy, actsAtFlushEnd: Bool = false) -> ClientOptions {
    var options = self
    options.policy = policy.retry
    options.quirks = policy.machineQuirks
    options.refreshesCredentials = policy.unauthorized == .refreshThenRetryOnce
    options.flushEnd = actsAtFlushEnd ? TalliedFlushEnd() : nil
    return options
  }
}

extension RetrySnapshot {
  public func validated(
    now: Int64, config: HTTPConfig, policy: ClientPolicy
  ) -> (snapshot: RetrySnapshot, repairs: [SnapshotRepair]) {
    validated(now: now, config: config, policy: policy.retry, quirks: policy.machineQuirks)
  }
}

extension HTTPConfig {
  public static let datafly = ClientPreset.datafly.settingsDefaults
  public static let withoutWaits = ClientPreset.toggl.settingsDefaults
}

extension StatusTable {
  public static let datafly = HTTPConfig.datafly.backoff.statuses
}
