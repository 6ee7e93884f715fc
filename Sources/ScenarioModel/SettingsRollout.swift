import SimulationKernel
import UploadRetry

/// A version of Settings published at a time to a share of the devices. Each device picks it up at its first launch from
/// then on (S19), or at its next fetch. The start of the run is a launch: published at 0 it is there from the start.
public struct SettingsRollout: Sendable, Hashable {
  /// When it is published.
  public var time: Instant
  /// Parts per million of the devices, chosen by a hash of their number.
  public var sharePartsPerMillion: Int64
  /// The Settings that the CDN serves to these devices from then on, in place of the cohort's.
  public var settings: HTTPConfig
  /// As `Cohort.settingsSource`.
  public var source: SettingsValue? = nil
  /// How often a running app fetches Settings, each at a time of its own; nil: at launches alone.
  public var fetch: Span? = nil
  /// Whether it answers an incident, as `ServerAction`s do: then the twin does without it.
  public var isAction = false
  public init(time: Instant, sharePartsPerMillion: Int64 = 1_000_000, settings: HTTPConfig) {
    self.time = time
    self.sharePartsPerMillion = sharePartsPerMillion
    self.settings = settings
  }
}
