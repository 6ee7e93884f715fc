/// How a kind of client reads its Settings and the Retry-After header: as the document says, or as a shipped SDK does.
///
/// The SDKs are analytics-swift c9a0d63, analytics-kotlin a14649b, analytics-react-native 74884be and the browser SDK of
/// analytics-next 0c4fa881. Their readings were seen when their own code was run.
public enum SettingsDialect: String, Sendable, Hashable, CaseIterable {
  /// The document's: S13, S14 and S4.
  case document
  case analyticsSwift = "analytics-swift"
  case analyticsKotlin = "analytics-kotlin"
  case analyticsReactNative = "analytics-react-native"
  case analyticsNext = "analytics-next"
}
