import ScenarioFormat
import ScenarioModel
import UploadRetry

/// Parts of clients that ship as files, for tests of the modules that an app embeds.
extension RetryPolicy {
  public static let segmentSwift = ClientPreset.segmentSwift.policy
  public static let segmentKotlin = ClientPreset.segmentKotlin.policy
  public static let segmentReactNative = ClientPreset.segmentReactNative.policy
  public static let datafly = ClientPreset.datafly.policy
  public static let withoutRetryState = ClientPreset.toggl.policy
}

extension HTTPConfig {
  public static let datafly = ClientPreset.datafly.settings
  public static let withoutWaits = ClientPreset.toggl.settings
}

extension StatusTable {
  public static let datafly = HTTPConfig.datafly.backoff.statuses
}
