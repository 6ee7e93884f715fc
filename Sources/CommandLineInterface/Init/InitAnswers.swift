import FleetExperiments
import ScenarioModel
import SimulationKernel

extension InitCommand {
  package struct Answers: ParameterGroup {
    /// A client of the fleet: one that ships or a file, and its part in parts per million.
    struct Part: Sendable, Hashable {
      var client: ClientPreset
      /// As a scenario names it; of a file its path.
      var name: String
      var share: Int64
    }

    /// How many events a device creates, in the mean over the day or while its app is open.
    struct Events: Sendable {
      var rate: Quantity
      var isWhileOpen: Bool
    }

    @Option(
      "client", "preset", parts, because: ", as --client segment-swift",
      help:
        "The client, or several with their shares, as segment-swift:55%,segment-kotlin:35%,mine.json5:10%. Those that ship: "
        + "\(ClientPreset.names.joined(separator: ", ")).")
    var clients: [Part]
    @Option(
      "devices", "n", .fleet, because: ", as --devices 3M",
      help: "How many devices are in use, as 20000, 200k or 3M.")
    var devices: Int
    @Option(
      "events", "rate", .word(unknown, or: eventRate),
      because: ", as --events 30/h (unknown if you do not know)",
      help:
        "Events that a device creates, in the mean over the whole day, as 30/h; while its app is open, as 8/min-open; unknown: "
        + "\(Self.proposedEvents), to be replaced.")
    var askedEvents: Events?
    @Option(
      "peak", "factor", factor,
      help:
        "How high the day's peak is, of the day's mean, as 160%: more apps are open, or without --use each creates more. "
        + "(default: 160%, or what --use leaves room for)")
    private var askedPeak = 1.6
    @Option(
      "use", "use", .word("always", or: ValueReader("\(Use.allowed).") { Use($0) }),
      help:
        "How the app is used: always open, or the time a day (15m) or the share (25%) for which it is, the length of a session "
        + "(3m unless said), and in the background the system (closed unless said, else one of "
        + "\(Use.systems.joined(separator: ", "))), as 15m:3m:android-doze. (default: always)")
    var use: Use? = nil
    @Option(
      "capacity", "rate", .word(unknown, or: capacityRate),
      because: ", as --capacity 60000/s (unknown if you do not know)",
      help:
        "Requests that the endpoint can take, as 60000/s, or of the peak, as 150%; unknown: so much that the peak takes 60 % of it."
    )
    var capacity: Quantity?
    @Option(
      "settings", "file", .word("defaults", or: readableFile),
      help:
        "Settings JSON as the CDN serves it today, or defaults: those of the client. (default: defaults)")
    var settingsPath: String? = nil
    @Option("outage", "span", length, help: "How long it is down, as 20m. (default: 10m)")
    var outage = Quantity("10m")!
    @Option(
      "restart", "span", length,
      help:
        "In place of the outage its servers restart: they are gone for so long, as 1m, and capacity then rises for twice as long. "
        + "(default: none)"
    )
    var restart: Quantity?
    @Option(
      "trouble", "span", .word(unknown, or: length),
      help:
        "How long the last such incident's trouble lasted, its outage included, as 90m: runs the fleet and says whether that is the "
        + "model's, and what may explain the difference. (default: unknown)")
    var trouble: Quantity? = nil

    /// The factor of the peak; of apps that are nearly always open less than the default.
    var peak: Double { $askedPeak.isGiven ? askedPeak : min(askedPeak, max(1, highestPeak)) }
    /// With nearly all apps open.
    private var highestPeak: Double { use.map { 0.95 / $0.part } ?? .infinity }

    /// - Throws: `UsageError` about answers that can't be true together.
    func check() throws(UsageError) {
      if peak > max(1, highestPeak) {
        throw UsageError(
          "'--peak' and '--use' make more apps open at the peak than there are: --peak \(Int(max(1, highestPeak) * 100))% at most."
        )
      }
      if use?.system != nil, clients.allSatisfy({ $0.client.page != nil }) {
        throw UsageError(
          "Pages of a browser have no system that lets them send when they are closed: leave it out of '--use'."
        )
      }
    }

    /// A device's events in the mean over the day; nil: not known.
    var events: Quantity? {
      guard let askedEvents else { return nil }
      let rate = askedEvents.rate
      guard askedEvents.isWhileOpen, let use, let daily = rate.converted(to: Self.daily) else { return rate }
      return Quantity(value: daily.value * use.part, unit: daily.unit)
    }
    /// Whether a client of the fleet fetches Settings: the others have none but their own.
    var fetchesSettings: Bool { clients.contains { $0.client.settingsFetch != .never } }

    /// The answer that leaves a figure open.
    static let unknown = "unknown"
  }

  /// When apps are open, and which system they run on.
  package struct Use: Sendable, Hashable {
    /// Of the time, exactly.
    package var part: Double
    /// The same in parts per million, as a scenario has it.
    package var share: Int64 { Int64((part * 1e6).rounded()) }
    /// A session's length in the mean, as a scenario has it.
    package var session = "3m"
    /// nil: a closed app sends nothing.
    package var system: String?

    static let systems = BackgroundWindows.System.allCases.map(\.rawValue)
    private static let closed = "closed"

    /// `25%`, `15m:3m` or `15m:3m:android-doze`; nil for anything else.
    package init?(_ text: String) {
      let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      let day = 86_400e6
      func span(_ text: String, _ range: ClosedRange<Double>) -> Double? {
        Quantity(text).flatMap { $0.unit == .span && range.contains($0.value) ? $0.value : nil }
      }
      let part =
        (try? Units.partsPerMillion(parts[0])).map { Double($0) / 1e6 }
        ?? span(parts[0], 1e6...day).map { $0 / day }
      guard let part, (0.001...0.99).contains(part), parts.count <= 3 else { return nil }
      self.part = part
      if parts.count > 1 {
        guard span(parts[1], 1e6...day) != nil else { return nil }
        session = parts[1]
      }
      if parts.count > 2, parts[2] != Self.closed {
        guard Self.systems.contains(parts[2]) else { return nil }
        system = parts[2]
      }
    }

    static var allowed: String {
      "always, or the time a day or the share that it is open (0.1% to 99%), a session's length and the system, as 15m:3m:\(systems[0]) or "
        + "25%:3m; systems: \(([closed] + systems).joined(separator: ", "))"
    }
  }
}

extension InitCommand.Answers {
  /// Returns the capacity that is so many times a peak load; where nobody knows, that of which the peak is 60 %, rounded up to two
  /// digits.
  package static func capacity(for peak: Double, times factor: Double? = nil) -> String {
    // No endpoint takes more than 10^9 a second.
    let exact = factor.map { peak * $0 } ?? peak / 0.6
    var (value, unit) = (Int64(min(exact, 1e9).rounded(.up)), Int64(1))
    while factor == nil, value / unit >= 100 { unit *= 10 }
    value = (value + unit - 1) / unit * unit
    return "\(max(1, value))/s"
  }

  private static let daily = Quantity.Unit.rate(per: 86_400_000_000, name: "day")

  /// The proposal for a rate that nobody knows yet.
  static let proposedEvents = "30/h"

  /// The rate of events that the scenario has, a device's mean over the day.
  var rate: Quantity { events ?? Quantity(Self.proposedEvents)! }

  // MARK: How the answers are read

  /// `segment-swift`, or clients with their shares: `a:55%,b:45%`.
  private static let parts = ValueReader(readingFiles: { text, files in
    var parts: [Part] = []
    let entries = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    for entry in entries {
      let words = entry.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let share =
        words.count == 2 ? try? Units.partsPerMillion(words[1]) : entries.count == 1 ? 1_000_000 : nil
      guard let share, (1...1_000_000).contains(share) else {
        throw InvalidValue(
          "'\(entry)' needs a share, as \(words[0].isEmpty ? "segment-swift" : words[0]):55%.")
      }
      let preset = try ClientPreset.namedOrFile(words[0], files)
      guard !parts.contains(where: { $0.name == words[0] }) else {
        throw InvalidValue("'\(words[0])' is there twice.")
      }
      parts.append(Part(client: preset, name: words[0], share: share))
    }
    let sum = parts.reduce(0) { $0 + $1.share }
    guard abs(sum - 1_000_000) <= 10 else {
      throw InvalidValue("the shares make \(Units.text(partsPerMillion: sum)); they have to make 100%.")
    }
    return parts
  })

  /// `160%`, `1.6`.
  private static let factor = ValueReader<Double>("a factor from 100% to 500%, as 160%.") { text in
    guard let factor = Quantity(text), [.number, .percent].contains(factor.unit) else { return nil }
    return (1...5).contains(factor.baseValue) ? factor.baseValue : nil
  }

  /// `30/h`, or of an open app `8/min-open`.
  private static let eventRate = ValueReader(readingFiles: { text, files in
    let ending = "-open"
    let isWhileOpen = text.hasSuffix(ending)
    return Events(
      rate: try rate("30/h, 60/day or 8/min-open").read(
        isWhileOpen ? String(text.dropLast(ending.count)) : text, files),
      isWhileOpen: isWhileOpen)
  })

  private static func rate(_ example: String) -> ValueReader<Quantity> {
    ValueReader { text in
      let quantity = Quantity(text)
      if let quantity, case .rate = quantity.unit, quantity.value > 0 { return quantity }
      throw InvalidValue(
        quantity?.unit == .number
          ? "the unit is missing, as in \(example)." : "a rate above 0, as \(example).")
    }
  }

  /// `60000/s`, or of the peak `150%`.
  private static let capacityRate = ValueReader(readingFiles: { text, files in
    if let share = Quantity(text), share.unit == .percent, share.value > 0 { return share }
    return try rate("60000/s or 150% of the peak").read(text, files)
  })

  /// The length of an incident.
  private static let length = ValueReader<Quantity>("a span from 1s to 24h, as 20m.") { text in
    Quantity(text).flatMap { $0.unit == .span && (1e6...86_400e6).contains($0.value) ? $0 : nil }
  }

  private static let readableFile = ValueReader(readingFiles: { text, files in
    if access(files.place(text), R_OK) == 0 { return text }
    throw InvalidValue("a file that can be read, or defaults.")
  })
}

extension ValueReader where Value == Int {
  package static let fleet = people(1...4_000_000_000, "a number from 1 to 4000M, as 20000, 200k or 3M.")
}
