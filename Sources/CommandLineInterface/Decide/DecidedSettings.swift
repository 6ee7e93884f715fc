import ScenarioFormat
import ScenarioModel
import ShippedClients
import UploadRetry

/// The Settings to decide on, and how the fleet's clients read them.
struct DecidedSettings: Sendable {
  /// Today's file and the proposed one, as they were named.
  var names: (today: String, proposed: String)
  private(set) var differences: [SettingsDocument.Difference] = []
  /// The fleet's clients that fetch Settings, each once.
  private var clients: [Client] = []
  private let documents: (today: SettingsDocument?, proposed: SettingsDocument?)
  /// As the CDN would serve the proposed ones, where a search has found them.
  var found: String?

  /// A client, and how it reads both files.
  private struct Client {
    var name: String
    var dialect: SettingsDialect
    var today: [Finding]
    var proposed: [Finding]

    /// Whether a file breaks it, and another does not.
    func isBroken(by file: [Finding], notBy other: [Finding]) -> Bool {
      let broken = [file, other].map { $0.contains(where: \.finding.effect.breaksClient) }
      return broken == [true, false]
    }
  }
  private typealias Finding = SettingsDocument.Finding

  /// - Throws: `CommandFailure` 65 of a proposed file without retry Settings, or with a key misspelt.
  init(
    fleet: [Cohort], today: SettingsDocument?, proposed: SettingsDocument?,
    names: (today: String, proposed: String)
  ) throws {
    (self.names, documents) = (names, (today, proposed))
    guard let proposed else { return }
    if proposed.holdsNothing {
      throw CommandFailure(.data, "\(names.proposed): \(SettingsTree.nothingFound)")
    }
    differences = (today ?? SettingsDocument(HTTPConfig())).differences(to: proposed)
    for difference in differences where difference.new != nil {
      guard let right = SettingsDocument.correction(of: difference.path) else { continue }
      throw CommandFailure(
        .data,
        "\(place(of: difference.path)): \(difference.path) is no key of Settings, and every client ignores it; "
          + "did you mean \(right)?"
      )
    }
    var seen: Set<String> = []
    for cohort in fleet where cohort.fetchesSettings && seen.insert(cohort.preset.name).inserted {
      let dialect = cohort.settingsDialect
      clients.append(
        Client(
          name: cohort.preset.name, dialect: dialect,
          today: today?.findings(of: cohort.preset, in: dialect) ?? [],
          proposed: proposed.findings(of: cohort.preset, in: dialect)))
    }
  }

  /// `new.json:16`; of Settings that stand in no file their name alone.
  private func place(of path: String, isProposed: Bool = true) -> String {
    let (name, document) =
      isProposed ? (names.proposed, documents.proposed) : (names.today, documents.today)
    return name + (document?.line(of: path).map { ":\($0)" } ?? "")
  }

  /// How each client reads the proposed Settings, a line for each finding.
  var readings: [String] {
    clients.flatMap { client in
      client.proposed.map {
        "\(client.name), \($0.path.isEmpty ? "the file" : $0.path): \($0.finding.message)"
      }
    }
  }

  /// The clients that read a key, or the object that it is in, by either of its names.
  func readers(of key: String) -> [String] {
    let names = RateLimitDurationKey.names(of: key)
    return clients.filter { client in
      client.dialect.readKeyPaths.contains { read in
        names.contains { $0 == read || $0.hasPrefix(read + ".") }
      }
        && !(client.today + client.proposed).contains { $0.path == key && $0.finding.effect == .notRead }
    }.map(\.name)
  }

  /// A finding that does harm, and whose file it is in.
  struct Harm {
    var client: String
    var path: String
    var finding: SettingsFinding
    /// `new.json:16`
    var place: String
    var isToday: Bool
    var isProposed: Bool

    /// The higher, the worse; those of the proposed file are worse than all others.
    var severity: Int {
      (isProposed ? 100 : 0) + (SettingsFinding.Effect.allCases.firstIndex(of: finding.effect) ?? 0)
    }

    /// `segment-swift loses data: key: message (new.json:16)`
    var text: String {
      let files = isToday ? (isProposed ? " (as today)" : " (today's file)") : ""
      let key = path.isEmpty ? "" : path + ": "
      return "\(client) \(words)\(files): \(key)\(finding.message) (\(place))"
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

  /// Values that harm a client, whatever runs show: the proposed file's first, then the worst.
  var harms: [Harm] {
    clients.flatMap { client in
      var seen: Set<[String]> = []
      return (client.today + client.proposed).filter {
        $0.finding.effect.isHarmful && seen.insert([$0.path, $0.finding.message]).inserted
      }.map { one in
        func has(_ file: [Finding]) -> Bool {
          file.contains { ($0.path, $0.finding.message) == (one.path, one.finding.message) }
        }
        let isProposed = has(client.proposed)
        return Harm(
          client: client.name, path: one.path, finding: one.finding,
          place: place(of: one.path, isProposed: isProposed), isToday: has(client.today),
          isProposed: isProposed)
      }
    }.sorted { $0.severity > $1.severity }
  }

  /// The proposed Settings with a key as it is today; nil where a file is missing.
  func keeping(_ key: String) -> SettingsDocument? {
    documents.today.flatMap { documents.proposed?.taking(key, from: $0) }
  }

  /// Whether the proposed file breaks a client that today's does not; no run outweighs that.
  var isBreaking: Bool { clients.contains { $0.isBroken(by: $0.proposed, notBy: $0.today) } }

  /// Whether some client is broken by a file, and not by the proposed one.
  func breaksMore(_ document: SettingsDocument) -> Bool {
    clients.contains { $0.isBroken(by: document.findings(in: $0.dialect), notBy: $0.proposed) }
  }

  /// The harm that the proposed file does to a client and today's does not, whatever runs show.
  private var newHarms: [Harm] {
    let harms = harms
    return harms.filter { harm in
      harm.isProposed
        && !harms.contains {
          $0.isToday
            && ($0.client, $0.path, $0.finding.effect) == (harm.client, harm.path, harm.finding.effect)
        }
    }
  }

  /// The changed values that no client takes as they are written: key and finding.
  private var untaken: [(path: String, message: String)] {
    differences.filter { $0.new != nil }.compactMap { difference in
      let names = RateLimitDurationKey.names(of: difference.path)
      let readers = readers(of: difference.path)
      let repairs = clients.flatMap { client in
        client.proposed.filter {
          names.contains($0.path) && [.repaired, .readDifferently].contains($0.finding.effect)
        }.map { (client: client.name, message: $0.finding.message) }
      }
      let isRepaired = readers.allSatisfy { reader in repairs.contains { $0.client == reader } }
      return readers.isEmpty || !isRepaired ? nil : repairs.first.map { (difference.path, $0.message) }
    }
  }

  /// Keys that change and that no client of the fleet reads.
  var unread: [String] { differences.map(\.path).filter { readers(of: $0).isEmpty } }

  /// What no run need show, a line each: the proposed file is not to be published.
  var refusals: [String] {
    newHarms.map(\.text) + untaken.map { "\($0.path): \($0.message) (\(place(of: $0.path)))" }
  }

  /// The first of them that is about one key; nil: none is.
  func refusal(of key: String) -> String? {
    newHarms.first { $0.path == key }.map { "\($0.client): \($0.finding.message)" }
      ?? untaken.first { $0.path == key }?.message
  }
}
