import UploadRetry

/// Something that a client makes of Settings and that whoever writes them wants to know.
public struct SettingsFinding: Sendable, Hashable {
  /// JSON path in the document given, as `integrations["Segment.io"].httpConfig.backoffConfig.jitterPercent`; empty for the
  /// document as a whole.
  public var path: String
  /// What it leads to.
  public var effect: Effect
  /// What is wrong, what it does in this SDK, which is named, and what would be right.
  public var message: String
  /// The SDK, its commit and the place in its source, as `analytics-swift c9a0d63, HttpConfig.swift:161`; nil: there is none to
  /// name.
  public var source: String?

  public init(path: String, effect: Effect, message: String, source: String? = nil) {
    self.path = path
    self.effect = effect
    self.message = message
    self.source = source
  }

  /// What a finding leads to, the mildest first.
  public enum Effect: String, Sendable, Hashable, CaseIterable {
    /// Another value than the one written is used, as the document would.
    case repaired
    /// The key has no effect, whatever its value.
    case notRead
    /// It means something else than in the document.
    case readDifferently
    /// Every value of the section is back at its default.
    case resetsValues
    /// The client ignores the whole section and runs as it did before there was any.
    case legacy
    /// Batches are dropped that the document would keep.
    case losesData
    /// The app ends.
    case endsProcess

    /// Whether Settings with it are better not published.
    public var isHarmful: Bool {
      switch self {
      case .repaired, .notRead, .readDifferently: false
      case .resetsValues, .legacy, .losesData, .endsProcess: true
      }
    }
  }

  /// What the document's own reading has repaired.
  init(_ repair: SettingsRepair) {
    self.init(path: repair.path, effect: repair.isNotRead ? .notRead : .repaired, message: repair.message)
  }
}

/// Collects what is to be said of Settings in one dialect.
struct FindingCollector {
  let dialect: SettingsDialect
  private(set) var all: [SettingsFinding] = []

  init(_ dialect: SettingsDialect) { self.dialect = dialect }

  /// The SDK's name, for messages.
  var sdk: String { @inline(never) get { dialect.rawValue } }

  /// - Parameter place: in the SDK's source.
  @inline(never)
  mutating func add(
    _ effect: SettingsFinding.Effect, _ path: String, _ message: String, _ place: String?
  ) {
    let source = place.flatMap { place in dialect.commit.map { "\(sdk) \($0), \(place)" } }
    all.append(SettingsFinding(path: path, effect: effect, message: message, source: source))
  }
}
