import ScenarioFormat
import ScenarioModel
import ShippedQuirks
import UploadPipeline
import UploadRetry

extension ClientPreset {
  public static let segmentSwift = shipped("segment-swift")
  public static let segmentKotlin = shipped("segment-kotlin")
  public static let segmentReactNative = shipped("segment-react-native")
  public static let keenExisting = shipped("keen-existing")
  public static let keenProposed = shipped("keen-proposed")
  public static let offlineFirst = shipped("offline-first")
  public static let toggl = shipped("toggl")
  public static let datafly = shipped("datafly")
}

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

  /// Those of the offline-first client, with the waits of a kind of operation (O2).
  public static func offlineFirst(_ operation: OperationKind) -> HTTPConfig {
    var config = ClientPreset.offlineFirst.settingsDefaults
    let delays = FailureClass.delays(of: operation)
    (config.backoff.baseBackoffInterval, config.backoff.maxBackoffInterval) = (delays.base, delays.longest)
    return config
  }
}

extension StatusTable {
  public static let datafly = HTTPConfig.datafly.backoff.statuses
}
