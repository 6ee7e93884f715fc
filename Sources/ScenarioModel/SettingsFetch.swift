import SimulationKernel
import TAPIModel

/// When a client asks for its Settings, where that is a request (`TAPIConfiguration.settings`).
///
/// Until the answer to a launch's fetch, and if it brings nothing, an app runs on what is built in; a page sends nothing at all.
public enum SettingsFetch: String, Sendable, Hashable, CaseIterable {
  /// The client has its Settings from elsewhere.
  case never
  /// At each launch of the app or page (S19).
  case launch
  /// Also when the app comes back to the foreground.
  case foreground
}

extension Cohort {
  /// Whether Settings that a CDN serves reach it.
  package var fetchesSettings: Bool { behaviour.settingsFetch != .never }

  /// Fetches of Settings a second of one device when nothing fails, about.
  var settingsFetchesPerSecond: Double {
    if !fetchesSettings { return 0 }
    let sessions = sessions.map { $0.perSecond(at: $0.share) } ?? 0
    let restarts = lifecycle?.meanTimeBetweenRestarts.map { 1 / max($0.seconds, 1e-6) } ?? 0
    return restarts + (behaviour.page != nil || behaviour.settingsFetch == .foreground ? sessions : 0)
  }
}

extension Scenario {
  /// Fetches of Settings a second of the whole fleet when nothing fails, about; 0 where they are no requests.
  public var normalFetchesPerSecond: Double {
    if tapi.settings == nil { return 0 }
    return fleet.reduce(0) { $0 + $1.settingsFetchesPerSecond * Double($1.devices) }
  }
}
