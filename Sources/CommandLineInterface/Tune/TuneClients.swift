import FleetExperiments
import ScenarioFormat
import ScenarioModel
import ShippedClients
import UploadRetry

/// Whom a search finds Settings for, and what of them these clients read.
struct TuneClients {
  /// The clients of cohorts that read Settings as a shipped SDK does, each once, in the order of `ClientPreset.names`, then those of
  /// files.
  private var shipped: [ClientPreset] = []
  /// Everyone whose reading decides which keys make sense.
  private var readers: [(name: String, dialect: SettingsDialect)] = []

  /// - Parameter asked: the client that the user names; nil: those of the cohorts.
  init(_ cohorts: [Cohort], asked: ClientPreset?) {
    let clients = Dictionary(
      (cohorts.map(\.preset) + [asked].compactMap(\.self)).map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first })
    let own = clients.keys.filter { !ClientPreset.names.contains($0) }.sorted()
    for preset in (ClientPreset.names + own).compactMap({ clients[$0] }) {
      let dialects = Set(cohorts.filter { $0.client == preset.name }.map(\.settingsDialect))
      for dialect in SettingsDialect.allCases where dialects.contains(dialect) && asked == nil {
        readers.append((preset.name, dialect))
      }
      let isShipped = preset.dialect != .document
      if isShipped, dialects.contains(preset.dialect) || preset.name == asked?.name { shipped.append(preset) }
    }
    if let asked { readers = [(asked.name, asked.dialect)] }
  }

  /// Whether clients of that kind read the key of a parameter; of a key that there is not, something else is said.
  static func reads(_ dialect: SettingsDialect, _ parameter: SearchParameter) -> Bool {
    let key = parameter.path.dropFirst(SearchableSettings.prefix.count)
    return !HTTPConfig.knownKeyPaths.contains(String(key)) || dialect.readKeyPaths.contains(String(key))
  }

  /// - Throws: `UsageError` about the first key that none of the clients reads.
  func check(_ space: SearchSpace) throws {
    for parameter in space.parameters
    where !readers.contains(where: { Self.reads($0.dialect, parameter) }) {
      let names = readers.map(\.name).joined(separator: " nor ")
      throw UsageError(
        "'\(parameter.path)' is not read by \(names), so a search of it finds nothing; leave it out of the search, or "
          + "give --all-keys to search it all the same.")
    }
  }

  /// What to publish where the scenarios give no Settings; nil: the document's defaults, which someone reads.
  var defaults: SettingsDocument? {
    guard let first = readers.first, readers.allSatisfy({ $0.dialect == first.dialect }),
      first.dialect != .document
    else { return nil }
    return SettingsDocument(defaultsOf: first.dialect)
  }

  /// What each shipped client makes of each recommended value, and of the rest of the file; empty without such clients.
  func sentences(_ result: TuneResult, _ settings: SettingsDocument) -> [(client: String, lines: [String])] {
    shipped.map { preset in
      var rest = settings.findings(in: preset.dialect)
      var lines: [String] = []
      for (index, parameter) in result.study.space.parameters.enumerated() {
        let key = parameter.path.dropFirst(SearchableSettings.prefix.count)
        let own = rest.filter { Self.isAbout($0.path, key) }
        rest.removeAll { Self.isAbout($0.path, key) }
        let plain =
          Self.reads(preset.dialect, parameter) ? "read as written" : "not read, and not in the file"
        let words = own.isEmpty ? [plain] : own.map(\.finding.message)
        lines += words.map { "\(key) \(result.value(index, of: result.winner.candidate)): \($0)" }
      }
      lines += rest.map { $0.path.isEmpty ? $0.finding.message : "\($0.path): \($0.finding.message)" }
      return (preset.name, lines)
    }
  }

  /// The rate limit's longest duration has two names; what is published has the one that SDKs know.
  private static func isAbout(_ path: String, _ key: Substring) -> Bool {
    path == key
      || path == "rateLimitConfig.maxRateLimitDuration" && key == "rateLimitConfig.maxTotalBackoffDuration"
  }
}
