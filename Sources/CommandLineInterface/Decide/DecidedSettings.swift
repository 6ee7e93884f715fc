import ScenarioFormat
import ScenarioModel
import ShippedClients
import UploadRetry

/// The Settings to decide on, and how the fleet's clients read them.
struct DecidedSettings: Sendable {
  /// Today's file and the proposed one, as they were named.
  var names: (today: String, proposed: String)
  var differences: [SettingsDocument.Difference] = []
  /// How each client of the fleet reads the proposed Settings, a line for each finding: client, key, effect.
  var readings: [(client: String, path: String, message: String)] = []
  /// The same as people read it.
  var readingLines: [String] {
    readings.map { "\($0.client), \($0.path.isEmpty ? "the file" : $0.path): \($0.message)" }
  }
  /// Values in the files that harm a client, whatever the runs show: by client and key, whose file says so.
  var harms: [Harm] = []
  /// By a key that changes, the clients of the fleet that read it.
  var readers: [String: [String]] = [:]
  /// By a key, the clients that take another value in place of the proposed one, and their findings.
  private var repairs: [String: [(client: String, message: String)]] = [:]
  /// The fleet's clients that fetch Settings, each once.
  private var clients: [(name: String, dialect: SettingsDialect)] = []
  private var documents: (today: SettingsDocument?, proposed: SettingsDocument?)
  /// As the CDN would serve the proposed ones, where a search has found them.
  var found: String?

  /// - Throws: `CommandFailure` 65 of a proposed file that has no retry Settings, or a key misspelt.
  init(
    fleet: [Cohort], today: SettingsDocument?, proposed: SettingsDocument?,
    names: (today: String, proposed: String)
  ) throws {
    (self.names, documents) = (names, (today, proposed))
    if let proposed, proposed.holdsNothing {
      throw CommandFailure(.data, "\(names.proposed): \(SettingsTree.nothingFound)")
    }
    guard let proposed else { return }
    differences = (today ?? SettingsDocument(HTTPConfig())).differences(to: proposed)
    for difference in differences where difference.new != nil {
      guard let right = SettingsDocument.correction(of: difference.path) else { continue }
      throw CommandFailure(
        .data,
        "\(names.proposed): \(difference.path) is no key of Settings, and every client ignores it; did you mean \(right)?"
      )
    }
    var seen: Set<String> = []
    for cohort in fleet where cohort.fetchesSettings && seen.insert(cohort.preset.name).inserted {
      let (name, dialect) = (cohort.preset.name, cohort.settingsDialect)
      clients.append((name, dialect))
      let (old, new) = (
        today?.findings(of: cohort.preset, in: dialect) ?? [],
        proposed.findings(of: cohort.preset, in: dialect)
      )
      for finding in new where [.repaired, .readDifferently].contains(finding.finding.effect) {
        repairs[finding.path, default: []].append((name, finding.finding.message))
      }
      readings += new.map { (name, $0.path, $0.finding.message) }
      let ignored = Set((old + new).filter { $0.finding.effect == .notRead }.map(\.path))
      for path in differences.map(\.path) where Self.reads(dialect, path) && !ignored.contains(path) {
        readers[path, default: []].append(name)
      }
      for (findings, isProposed) in [(old, false), (new, true)] {
        for (path, finding) in findings where finding.effect.isHarmful {
          let known = harms.firstIndex {
            ($0.client, $0.path, $0.finding.message) == (name, path, finding.message)
          }
          if let known {
            harms[known].isProposed = isProposed
          } else {
            harms.append(
              Harm(client: name, path: path, finding: finding, isToday: !isProposed, isProposed: isProposed))
          }
        }
      }
    }
  }

  /// A finding that does harm, and whose file it is in.
  struct Harm: Sendable {
    var client: String
    var path: String
    var finding: SettingsFinding
    var isToday: Bool
    var isProposed: Bool

    /// Those of the proposed file first, then the worst effects.
    var severity: Int {
      (isProposed ? 100 : 0) + (SettingsFinding.Effect.allCases.firstIndex(of: finding.effect) ?? 0)
    }

    /// `segment-swift loses data by key: message`
    var text: String {
      let files = isToday ? (isProposed ? " (as today)" : " (today's file)") : ""
      return "\(client) \(words)\(files): \(path.isEmpty ? "" : path + ": ")\(finding.message)"
    }

    private var words: String {
      switch finding.effect {
      case .endsProcess: "ends the app"
      case .losesData: "loses data"
      case .legacy: "runs without Settings"
      case .resetsValues: "goes back to its defaults"
      default: "uses values that work against each other"
      }
    }
  }

  /// The proposed Settings with a key as it is today; nil where a file is missing.
  func keeping(_ key: String) -> SettingsDocument? {
    guard let (today, proposed) = documents.today.flatMap({ today in documents.proposed.map { (today, $0) } })
    else { return nil }
    return proposed.taking(key, from: today)
  }

  /// What the proposed file does to a client that today's does not, and that no figure of a run could outweigh.
  var breaks: [Harm] {
    harms.filter { harm in
      harm.isProposed && harm.finding.effect.breaksClient
        && !harms.contains { $0.isToday && $0.client == harm.client && $0.finding.effect.breaksClient }
    }
  }

  /// The harm that the proposed file does to a client and today's does not, whatever runs show.
  var newHarms: [Harm] {
    harms.filter { harm in
      harm.isProposed
        && !harms.contains {
          $0.isToday
            && ($0.client, $0.path, $0.finding.effect) == (harm.client, harm.path, harm.finding.effect)
        }
    }
  }

  /// The changed values that no client takes as they are written: key and finding.
  var untaken: [(path: String, message: String)] {
    differences.compactMap { difference in
      guard difference.new != nil, let readers = readers[difference.path] else { return nil }
      let repairs = RateLimitDurationKey.names(of: difference.path).flatMap { self.repairs[$0] ?? [] }
      let isTaken = readers.contains { reader in !repairs.contains { $0.client == reader } }
      return isTaken ? nil : repairs.first.map { (difference.path, $0.message) }
    }
  }

  /// Whether the files differ, and no client of the fleet reads any of it.
  var reachesNobody: Bool { !differences.isEmpty && readers.isEmpty }

  /// What no run need show, a line each: the proposed file is not to be published.
  var refusals: [String] {
    newHarms.sorted { $0.severity > $1.severity }.map(\.text)
      + untaken.map { "\($0.path): \($0.message)" }
  }

  /// The first of them that is about one key; nil: none is.
  func refusal(of key: String) -> String? {
    newHarms.first { $0.path == key }.map { "\($0.client): \($0.finding.message)" }
      ?? untaken.first { $0.path == key }?.message
  }

  /// Whether some client is broken by a file, and not by the proposed one.
  func breaksMore(_ document: SettingsDocument) -> Bool {
    clients.contains { client in
      let broken = document.findings(in: client.dialect).contains { $0.finding.effect.breaksClient }
      return broken
        && !harms.contains { $0.isProposed && $0.client == client.name && $0.finding.effect.breaksClient }
    }
  }

  /// Keys that change and that no client of the fleet reads.
  var unread: [String] { differences.map(\.path).filter { readers[$0] == nil } }

  /// Whether a client reads a key, or the object that it is in, by the document's name for it or the CDN's.
  private static func reads(_ dialect: SettingsDialect, _ path: String) -> Bool {
    dialect.readKeyPaths.contains { key in
      RateLimitDurationKey.names(of: path).contains { $0 == key || $0.hasPrefix(key + ".") }
    }
  }
}
