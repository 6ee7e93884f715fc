import FleetExperiments
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import UploadRetry

extension InitCommand {
  /// The answers given on the command line.
  package struct Answers {
    /// A client of the fleet: one that ships or a file, and its part in parts per million.
    struct Part: Hashable {
      var client: ClientPreset
      /// As a scenario names it; of a file its path.
      var name: String
      var share: Int64
    }

    private let files: Files
    private var texts: [Question: String] = [:]

    package init(_ files: Files) { self.files = files }

    private func text(_ question: Question) -> String? { texts[question] ?? question.standard }
    var clients: [Part] { texts[.client].flatMap { try? parts($0) } ?? [] }
    package var devices: Int? { texts[.devices].flatMap(Self.count) }
    /// A device's events in the mean over the day; nil: not known.
    package var events: Quantity? {
      guard let (rate, isWhileOpen) = texts[.events].flatMap(Self.events) else { return nil }
      guard isWhileOpen, let use, let daily = rate.converted(to: Self.daily) else { return rate }
      return Quantity(value: daily.value * use.part, unit: daily.unit)
    }
    /// nil: not known.
    var capacity: Quantity? { texts[.capacity].flatMap { Quantity($0) } }
    var outage: Quantity { text(.outage).flatMap { Quantity($0) }! }
    /// How long the last incident's trouble lasted, its outage included; nil: not known.
    var trouble: Quantity? { texts[.trouble].flatMap { Quantity($0) } }
    /// 1 where the rate does not vary.
    var peak: Double { text(.peak).flatMap(Self.factor) ?? 1 }
    /// nil: the apps are always open.
    var use: Use? { text(.use).flatMap(Use.init) }
    /// nil: the client's defaults.
    var settingsPath: String? { text(.settings).flatMap { $0 == Question.defaults ? nil : $0 } }
    /// Whether a client of the fleet fetches Settings: the others have none but their own.
    var fetchesSettings: Bool { clients.contains { $0.client.settingsFetch != .never } }
  }

  /// When apps are open, and which system they run on.
  package struct Use: Hashable {
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
      "always, or the time a day or the share that it is open, a session's length and the system, as 15m:3m:\(systems[0]) or "
        + "25%:3m; systems: \(([closed] + systems).joined(separator: ", "))"
    }
  }
}

extension InitCommand {
  /// The questions that the options of the same names answer.
  package enum Question: CaseIterable {
    case client, devices, events, peak, use, capacity, settings, outage, trouble

    static let always = "always"
    static let defaults = "defaults"
    /// The answer that leaves a figure open.
    static let unknown = "unknown"
    /// Behind a rate: it is of an open app.
    static let whileOpen = "-open"

    /// The answer of whoever leaves the option out; nil: there is no default.
    var standard: String? {
      switch self {
      case .client, .devices, .events, .capacity: nil
      case .peak: "160%"
      case .use: Self.always
      case .settings: Self.defaults
      case .outage: "10m"
      case .trouble: Self.unknown
      }
    }

    var takesUnknown: Bool { [.events, .capacity, .trouble].contains(self) }

    var placeholder: String {
      switch self {
      case .client: "preset"
      case .devices: "n"
      case .events, .capacity: "rate"
      case .peak: "factor"
      case .use: "use"
      case .settings: "file"
      case .outage, .trouble: "span"
      }
    }

    var help: String {
      switch self {
      case .client:
        "The client, or several with their shares, as segment-swift:55%,segment-kotlin:35%,mine.json5:10%. Those that ship: "
          + "\(ClientPreset.nameList)."
      case .devices: "How many devices are in use, as 20000, 200k or 3M."
      case .events:
        "Events that a device creates, in the mean over the whole day, as 30/h; while its app is open, as 8/min-open; unknown: "
          + "\(Answers.proposedEvents), to be replaced."
      case .peak:
        "How high the evening's peak is by the mean of the day, as 160%: more apps are open, or without --use each creates more."
      case .use:
        "How the app is used: always open, or the time a day (15m) or the share (25%) for which it is, the length of a session "
          + "(3m unless said), and in the background the system (closed unless said, else one of "
          + "\(Use.systems.joined(separator: ", "))), as 15m:3m:android-doze."
      case .capacity:
        "Requests that the endpoint can take, as 60000/s; unknown: what leaves the peak 60 % of it."
      case .settings: "Settings JSON as the CDN serves it today, or defaults: those of the client."
      case .outage: "How long it is down, as 20m."
      case .trouble:
        "How long the last such incident's trouble lasted, its outage included, as 90m: runs the fleet and says whether that is the "
          + "model's, and what may explain the difference."
      }
    }
  }
}

extension Option where Value == String? {
  static func answer(_ question: InitCommand.Question) -> Self {
    Self(
      "\(question)", question.placeholder, .answer(to: question),
      help: question.help + (question.standard.map { " (default: \($0))" } ?? ""))
  }
}

extension ClientPreset {
  fileprivate static var nameList: String { names.joined(separator: ", ") }
}

extension InitCommand.Answers {
  /// Takes an answer that is right.
  package mutating func take(_ text: String, as question: InitCommand.Question) { texts[question] = text }

  /// What is wrong with an answer; nil: nothing.
  package func problem(with text: String, as question: InitCommand.Question) -> String? {
    let quantity = Quantity(text)
    func rateProblem(_ example: String) -> String? {
      if case .rate? = quantity?.unit, quantity!.value > 0 { return nil }
      return quantity?.unit == .number
        ? "the unit is missing, as in \(example)" : "a rate above 0, as \(example)"
    }
    switch question {
    case .client:
      do { _ = try parts(text) } catch { return "\(error)" }
      return nil
    case .devices:
      return Self.count(text) == nil ? "a number from 1 to 4000M, as 20000, 200k or 3M" : nil
    case .events:
      if text == InitCommand.Question.unknown { return nil }
      return (Self.events(text)?.rate.value ?? 0) > 0
        ? nil : rateProblem("30/h, 60/day or 8/min-open") ?? "a rate above 0, as 30/h"
    case .capacity: return text == InitCommand.Question.unknown ? nil : rateProblem("60000/s")
    case .peak: return Self.factor(text) == nil ? "a factor from 100% to 500%, as 160%" : nil
    case .use:
      return text == InitCommand.Question.always || InitCommand.Use(text) != nil
        ? nil : InitCommand.Use.allowed
    case .settings:
      if text == InitCommand.Question.defaults { return nil }
      return access(files.place(text), R_OK) == 0 ? nil : "a file that can be read, or defaults"
    case .outage, .trouble:
      if question == .trouble, text == InitCommand.Question.unknown { return nil }
      let isSpan = quantity?.unit == .span && (1e6...86_400e6).contains(quantity!.value)
      return isSpan ? nil : "a span from 1s to 24h, as 20m"
    }
  }

  /// `segment-swift`, or clients with their shares: `a:55%,b:45%`.
  fileprivate func parts(_ text: String) throws(RangeProblem) -> [Part] {
    var parts: [Part] = []
    let entries = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    for entry in entries {
      let words = entry.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let share =
        words.count == 2 ? try? Units.partsPerMillion(words[1]) : entries.count == 1 ? 1_000_000 : nil
      guard let share, (1...1_000_000).contains(share) else {
        throw RangeProblem(
          "'\(entry)' needs a share, as \(words[0].isEmpty ? "segment-swift" : words[0]):55%")
      }
      let preset = try client(words[0])
      guard !parts.contains(where: { $0.name == words[0] }) else {
        throw RangeProblem("'\(words[0])' is there twice")
      }
      parts.append(Part(client: preset, name: words[0], share: share))
    }
    let sum = parts.reduce(0) { $0 + $1.share }
    guard abs(sum - 1_000_000) <= 10 else {
      throw RangeProblem("the shares make \(Units.text(partsPerMillion: sum)); they have to make 100%")
    }
    return parts
  }

  private func client(_ name: String) throws(RangeProblem) -> ClientPreset {
    if let preset = ClientPreset.builtIn(name) { return preset }
    if ClientPreset.isFileName(name) {
      do {
        return try ClientPreset(file: files.text(name), name: name)
      } catch {
        throw RangeProblem("\(error)")
      }
    }
    let names = ClientPreset.names
    // Repositories are called analytics-swift, presets segment-swift.
    let preset = name.replacing("analytics-", with: "segment-")
    let hint =
      (nearest(to: name, among: names) ?? nearest(to: preset, among: names)).map { "; perhaps '\($0)'" } ?? ""
    throw RangeProblem("a client is one of \(names.joined(separator: ", ")), or a file as mine.json5\(hint)")
  }

  /// `160%`, `1.6`.
  private static func factor(_ text: String) -> Double? {
    let number = text.hasSuffix("%") ? Double(text.dropLast()).map { $0 / 100 } : Double(text)
    return number.flatMap { (1...5).contains($0) ? $0 : nil }
  }

  /// Returns the capacity, rounded up to two digits, of which a peak load is 60 %.
  package static func capacity(for peak: Double) -> String {
    // No endpoint takes more than 10^9 a second.
    var (value, unit) = (Int64(min(peak / 0.6, 1e9).rounded(.up)), Int64(1))
    while value / unit >= 100 { unit *= 10 }
    value = (value + unit - 1) / unit * unit
    return "\(max(1, value))/s"
  }

  private static let daily = Quantity.Unit.rate(per: 86_400_000_000, name: "day")

  /// `30/h`, or of an open app `8/min-open`; nil for anything else.
  private static func events(_ text: String) -> (rate: Quantity, isWhileOpen: Bool)? {
    let ending = InitCommand.Question.whileOpen
    let isWhileOpen = text.hasSuffix(ending)
    guard let rate = Quantity(isWhileOpen ? String(text.dropLast(ending.count)) : text),
      case .rate = rate.unit
    else { return nil }
    return (rate, isWhileOpen)
  }

  /// The proposal for a rate that nobody knows yet.
  static let proposedEvents = "30/h"

  /// The rate of events that the scenario has, a device's mean over the day.
  var rate: Quantity { events ?? Quantity(Self.proposedEvents)! }

  /// `20000`, `20_000`, `200k`, `3M`, `1.5M`.
  private static func count(_ text: String) -> Int? {
    let factors: [Character: Double] = ["k": 1e3, "K": 1e3, "M": 1e6, "m": 1e6]
    let factor = text.last.flatMap { factors[$0] }
    let digits = text.dropLast(factor == nil ? 0 : 1).filter { $0 != "_" && $0 != "," }
    guard digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), let value = Double(digits),
      let count = Int(exactly: (value * (factor ?? 1)).rounded()), (1...4_000_000_000).contains(count)
    else { return nil }
    return count
  }
}

extension ValueReader where Value == String {
  /// Reads an answer to the question.
  fileprivate static func answer(to question: InitCommand.Question) -> ValueReader {
    ValueReader(readingFiles: { text, files in
      let answers = InitCommand.Answers(files)
      if let problem = answers.problem(with: text, as: question) { throw InvalidValue("\(problem).") }
      return text
    })
  }
}
