import ShippedQuirks
import UploadRetry

extension SettingsDialect {
  /// Reads Settings as the document's client does: the page has no other.
  package func config(of settings: SettingsValue, policy: ClientPolicy, defaults: HTTPConfig) -> HTTPConfig {
    HTTPConfig.decode(
      settings, missingSection: policy.retry.missingSection,
      overrides429: policy.retry.overridden429 != .ignored, defaults: defaults
    ).config
  }
}
