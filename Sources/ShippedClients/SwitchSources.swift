/// What the SDK was seen to do, with no place in its source to name.
let observed = "observed"

extension SettingsDialect {
  /// Where a preset of a shipped client has its switches from, by the switch's path: SDK, commit, and the place in its source or
  /// `observed`. Empty for the document.
  public var switchSources: [String: String] {
    let places: [String: String] =
      switch self {
      case .document: [:]
      case .analyticsSwift: AnalyticsSwiftSettings.switchSources
      case .analyticsKotlin: AnalyticsKotlinSettings.switchSources
      case .analyticsReactNative: AnalyticsReactNativeSettings.switchSources
      }
    return places.mapValues { "\(rawValue) \(commit ?? ""), \($0)" }
  }
}
