import FleetExperiments
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import UploadRetry

/// `fleetsim init`: a commented scenario of the user's own fleet, and Settings beside it.
package struct InitCommand: Command {
  package static let help = CommandSpecification(
    name: "init", abstract: "Write a scenario of your own fleet to begin with.",
    discussion: [
      "Writes a commented scenario with an evening's peak, an outage, a rate limit and something to compare, and Settings beside "
        + "it, and says what to do next. What is not given is asked for on a terminal. Files that are there stay as they are."
    ],
    examples: [
      .init(
        "fleetsim init --client segment-swift --devices 3M --events 30/h --capacity 60000/s",
        "Three million phones with analytics-swift:")
    ])

  private static let defaultPath = "scenario.json5"
  fileprivate static let settingsName = "settings.json"

  @Argument("scenario", help: "The file to write. (default: \(defaultPath))") private var file: String?
  private var path: String { file ?? Self.defaultPath }
  @Option(
    "client", "preset", .answer(to: .client),
    help:
      "The client, or several with their shares, as segment-swift:55%,segment-kotlin:35%,mine.json5:10%. Those that ship: "
      + "\(ClientPreset.nameList).")
  private var client: String?
  @Option(
    "devices", "n", .answer(to: .devices), help: "How many devices are in use, as 20000, 200k or 3M.")
  private var devices: String?
  @Option(
    "events", "rate", .answer(to: .events),
    help:
      "Events that a device creates, in the mean over the day, as 30/h; unknown: \(Answers.proposedEvents), to be replaced."
  )
  private var events: String?
  @Option(
    "peak", "factor", .answer(to: .peak),
    help: "The rate at the evening's peak by that mean, as 160%. (default: 160%)")
  private var peak: String?
  @Option(
    "use", "use", .answer(to: .use),
    help:
      "How the app is used: always open, or the time a day (15m) or the share (25%) for which it is, the length of a session "
      + "(3m unless said), and in the background the system (closed unless said, else one of "
      + "\(Use.systems.joined(separator: ", "))), as 15m:3m:android-doze. (default: always)")
  private var use: String?
  @Option(
    "capacity", "rate", .answer(to: .capacity),
    help: "Requests that the endpoint can take, as 60000/s; unknown: what leaves the peak 60 % of it.")
  private var capacity: String?
  @Option(
    "settings", "file", .answer(to: .settings),
    help: "Settings JSON as the CDN serves it today, or defaults: those of the client. (default: defaults)")
  private var settings: String?
  @Option("outage", "span", .answer(to: .outage), help: "How long it is down, as 20m. (default: 10m)")
  private var outage: String?

  package init() {}

  /// The options that are also questions, in the order in which they are asked.
  private var options: [(question: Question, option: Option<String?>)] {
    [
      (.client, $client), (.devices, $devices), (.events, $events), (.peak, $peak), (.use, $use),
      (.capacity, $capacity), (.settings, $settings), (.outage, $outage),
    ]
  }

  /// The answers given on the command line or on a terminal.
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
    var events: Quantity? { texts[.events].flatMap { Quantity($0) } }
    /// nil: not known.
    var capacity: Quantity? { texts[.capacity].flatMap { Quantity($0) } }
    var outage: Quantity { text(.outage).flatMap { Quantity($0) }! }
    /// 1 where the rate does not vary.
    var peak: Double { text(.peak).flatMap(Self.factor) ?? 1 }
    /// nil: the apps are always open.
    var use: Use? { text(.use).flatMap(Use.init) }
    /// nil: the client's defaults.
    var settingsPath: String? { text(.settings).flatMap { $0 == Question.defaults ? nil : $0 } }
  }

  /// When apps are open, and which system they run on.
  package struct Use: Hashable {
    /// Of the time, parts per million.
    package var share: Int64
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
      let share =
        (try? Units.partsPerMillion(parts[0]))
        ?? span(parts[0], 1e6...day).map { Int64(($0 / day * 1e6).rounded()) }
      guard let share, (1_000...990_000).contains(share), parts.count <= 3 else { return nil }
      self.share = share
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

  package func execute(_ invocation: Invocation) throws {
    let environment = invocation.environment
    let files = environment.files
    let folder = OutputDirectory.split(path).parent
    let ownSettings = folder == "." ? Self.settingsName : folder + "/" + Self.settingsName
    for file in [path] + (settings == nil ? [ownSettings] : []) {
      var status = stat()
      guard lstat(files.place(file), &status) != 0 else {
        throw CommandFailure(
          .cannotCreate,
          "\(file): is there already and stays as it is; name a scenario in another folder, or move it away")
      }
    }
    // A folder of its own is made; what is wrong with it, the files will say.
    environment.signals.hold()
    if folder != "." { _ = mkdir(files.place(folder), 0o777) }
    let file = try SingleFile(path, ours: [], option: "'fleetsim init FILE'", files)
    let answers = try asked(environment)
    do {
      try write(answers, to: file, folder, ownSettings, environment)
    } catch let problems as ScenarioProblems {
      // Nothing has been written, so that no place in the file would help.
      let first = problems.diagnostics.first.map { "\($0.path): \($0.message)" } ?? "\(problems)"
      throw UsageError("These answers make no fleet that can be run: \(first).")
    }
  }

  private func write(
    _ answers: Answers, to file: borrowing SingleFile, _ folder: String, _ ownSettings: String,
    _ environment: CommandEnvironment
  ) throws {
    let (console, files) = (environment.console, environment.files)
    if let given = answers.settingsPath {
      let text = try files.text(given)
      let draft = try write(answers, folder, settings: text, files)
      try file.write(draft.text)
      for warning in draft.warnings { console.printError("\(warning)\n") }
      return try console.print(closing(answers, draft, "Written: \(path), which reads \(given)."))
    }
    let settings = try SingleFile(ownSettings, ours: [], option: "'fleetsim init FILE'", files)
    let draft = try write(answers, folder, settings: answers.settings.cdnJSON, files)
    try settings.write(answers.settings.cdnJSON)
    try file.write(draft.text)
    try console.print(
      closing(answers, draft, "Written: \(path), and \(ownSettings) as the CDN would serve it."))
  }

  // MARK: Questions

  /// Returns the answers of the command line, and asks on a terminal for those that it leaves open.
  /// - Throws: `UsageError` that names what is missing where there is nobody to ask.
  private func asked(_ environment: CommandEnvironment) throws -> Answers {
    let console = environment.console
    var answers = Answers(environment.files)
    for (question, option) in options {
      if let text = option.wrappedValue { _ = answers.take(text, as: question) }
    }
    // Nothing is asked if the command line answers every question that has no default.
    guard options.contains(where: { $0.question.standard == nil && !answers.has($0.question) }) else {
      return answers
    }
    let isTerminal = console.isDialogue
    let missing = options.filter { !answers.has($0.question) && (isTerminal || $0.question.standard == nil) }
    guard isTerminal else {
      throw UsageError(
        "Missing expected \(missing.count == 1 ? "option" : "options") "
          + missing.map { "'\($0.option.synopsis)'" }.joined(separator: ", ")
          + "; on a terminal fleetsim asks for them.")
    }
    try console.print("Return takes what stands in brackets.\n\n")
    for (option, _) in missing {
      let suggestion = answers.suggestion(for: option)
      while !answers.has(option) {
        try console.print("\(option.text) [\(suggestion)] ")
        try environment.signals.check()
        guard let line = try console.readLine(environment.signals) else {
          throw UsageError("The questions were not answered to the end.")
        }
        let text = line.filter { $0 != " " }
        if let problem = answers.take(text.isEmpty ? suggestion : text, as: option) {
          try console.print("  '\(text)' is no answer: \(problem).\n")
        }
      }
    }
    try console.print("\n")
    return answers
  }

  // MARK: The scenario

  /// A scenario that is right, and what it is at full size.
  private struct Draft {
    var text: String
    var scenario: Scenario
    /// Warnings of how clients read its Settings, and the like.
    var warnings: [Diagnostic] = []
    /// Whether nothing has to be said of its variants that is not said of it.
    var isQuiet = true
    /// The capacity that was proposed for want of an answer.
    var capacity: String?
  }

  /// The scenario at the smallest scale that keeps its answer.
  private func write(
    _ answers: Answers, _ folder: String, settings: String, _ files: Files
  ) throws -> Draft {
    let reference = answers.settingsPath.map { Self.path($0, from: folder, files) } ?? Self.settingsName
    func draft(_ capacity: String, _ scale: Int, _ comparison: Answers.Comparison) throws -> Draft {
      let text = answers.scenario(
        scale: scale, capacity: capacity, settings: reference, comparison: comparison,
        client: { Self.path($0, from: folder, files) })
      let file = try ScenarioFile(text: text, name: path) { name in
        name == reference
          ? settings : try files.text(name.hasPrefix("/") || folder == "." ? name : folder + "/" + name)
      }
      if file.settingsDocument?.holdsNothing ?? false {
        throw CommandFailure(.data, "\(answers.settingsPath ?? reference): \(SettingsDocument.nothingFound)")
      }
      let decoded = try file.decode()
      let variants = try decoded.axes.flatMap { axis in
        try axis.values.map { try file.decode(overrides: Override.choosing(axis.path, $0)) }
      }
      return Draft(
        text: text, scenario: decoded.scenario, warnings: decoded.warnings,
        isQuiet: variants.allSatisfy { $0.warnings.count <= decoded.warnings.count })
    }
    // Clients clamp what others take: the first question that all of them can be asked.
    let comparison =
      answers.comparisons.first { (try? draft("1000/s", 1, $0))?.isQuiet ?? false } ?? answers.comparisons
      .last!
    var capacity = answers.capacity?.text()
    var proposed: String?
    if capacity == nil {
      proposed = Answers.capacity(
        for: NormalLoad(try draft("1000/s", 1, comparison).scenario).peakBatchesPerSecond)
      capacity = proposed
    }
    let full = try draft(capacity ?? "", 1, comparison).scenario
    // Some thousand devices run in seconds.
    let divisor = [1_000, 500, 200, 100, 50, 20, 10, 5, 2].first {
      (answers.devices ?? 1) / $0 >= 2_000 && Scaling(divisor: $0).refusal(of: full) == nil
    }
    let written = try draft(capacity ?? "", divisor ?? 1, comparison)
    return Draft(text: written.text, scenario: full, warnings: written.warnings, capacity: proposed)
  }

  /// A file as a scenario in another folder names it.
  private static func path(_ file: String, from folder: String, _ files: Files) -> String {
    if file.hasPrefix("/") || folder == "." { return file }
    let steps = folder.split(separator: "/").filter { $0 != "." }
    if folder.hasPrefix("/") || steps.contains("..") {
      return (files.directory ?? getcwd(nil, 0).map { String(cString: $0) } ?? ".") + "/" + file
    }
    return String(repeating: "../", count: steps.count) + file
  }

  private func closing(_ answers: Answers, _ draft: Draft, _ written: String) -> String {
    let load = NormalLoad(draft.scenario)
    var text = written + "\n"
    text +=
      "At its peak the fleet uploads \(FigureText.rate(load.peakBatchesPerSecond)) batches/s, "
      + "\(percent(load.peakUtilisation)) of the capacity.\n"
    if answers.events == nil {
      text +=
        "The \(Answers.proposedEvents) events of a device are proposed: put your own rate in their place.\n"
    }
    if let capacity = draft.capacity {
      text += "That capacity, \(capacity), is proposed: put the endpoint's own limit in its place.\n"
    }
    if load.peakUtilisation > 1 {
      text +=
        "That is more than the server can take, even without an incident: look at --events (of the whole day), --devices, --use "
        + "and --capacity.\n"
    }
    return text + """

      Next:
        fleetsim validate \(path)
        fleetsim compare \(path) --out out/compare
        fleetsim decide \(path) --proposed new.json --out out/decision

      new.json has the Settings that you want to publish: decide says whether to. Pages are report.html in these folders. What you
      know better than this file, put into it: fleetsim help scenario.

      """
  }
}

extension InitCommand {
  /// The questions that are asked on a terminal.
  package enum Question: CaseIterable {
    case client, devices, events, peak, use, capacity, settings, outage

    static let always = "always"
    static let defaults = "defaults"
    /// The answer that leaves the capacity open.
    static let unknown = "unknown"

    /// The answer where nobody asks; nil: there is no default.
    var standard: String? {
      switch self {
      case .client, .devices, .events, .capacity: nil
      case .peak: "160%"
      case .use: Self.always
      case .settings: Self.defaults
      case .outage: "10m"
      }
    }

    var text: String {
      switch self {
      case .client:
        "Which client, or which with their shares, as segment-swift:60%,segment-kotlin:40%? Clients: \(ClientPreset.nameList), or a file"
      case .devices: "How many devices are in use?"
      case .events:
        "How many events does a device create, in the mean over the whole day, closed hours too, as 60/day? unknown: a proposal"
      case .peak: "How high is the rate at the evening's peak, by that mean?"
      case .use:
        "How is the app used? always: it never closes; or the time a day, a session and the system, as 15m:3m:android-doze"
      case .capacity: "How many requests can the endpoint take? unknown: a proposal by load"
      case .settings: "Which file has the Settings of today, as the CDN serves them? defaults: the client's"
      case .outage: "How long is it down?"
      }
    }
  }
}

extension ClientPreset {
  fileprivate static var nameList: String { names.joined(separator: ", ") }
}

extension InitCommand.Answers {
  /// Takes an answer; returns what is wrong with it.
  package mutating func take(_ text: String, as question: InitCommand.Question) -> String? {
    if let problem = problem(with: text, as: question) { return problem }
    texts[question] = text
    return nil
  }

  private func problem(with text: String, as question: InitCommand.Question) -> String? {
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
    case .events: return text == InitCommand.Question.unknown ? nil : rateProblem("30/h, 60/day or 2/min")
    case .capacity: return text == InitCommand.Question.unknown ? nil : rateProblem("60000/s")
    case .peak: return Self.factor(text) == nil ? "a factor from 100% to 500%, as 160%" : nil
    case .use:
      return text == InitCommand.Question.always || InitCommand.Use(text) != nil
        ? nil : InitCommand.Use.allowed
    case .settings:
      if text == InitCommand.Question.defaults { return nil }
      return access(files.place(text), R_OK) == 0 ? nil : "a file that can be read, or defaults"
    case .outage:
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

  package func has(_ question: InitCommand.Question) -> Bool { texts[question] != nil }

  package func suggestion(for question: InitCommand.Question) -> String {
    switch question {
    case .client: ClientPreset.names[0]
    case .devices: "1M"
    case .events: Self.proposedEvents
    case .capacity: Self.capacity(for: Double(devices ?? 1) * (perSecond(events) ?? 0) * peak)
    case .peak, .use, .settings, .outage: question.standard ?? ""
    }
  }

  /// The proposal for a rate that nobody knows yet.
  static let proposedEvents = "30/h"

  private func perSecond(_ rate: Quantity?) -> Double? {
    rate?.converted(to: .rate(per: 1_000_000, name: "s"))?.value
  }

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

  /// The defaults of the first client that reads Settings as an SDK does, to be replaced by those that its CDN serves.
  var settings: SettingsDocument {
    let dialects = clients.map(\.client.dialect)
    guard let first = dialects.first(where: { $0 != .document }) else {
      return SettingsDocument(HTTPConfig())
    }
    return SettingsDocument(defaultsOf: first)
  }

  /// A key that is worth comparing, its values, and why.
  struct Comparison {
    var path: String
    var values: String
    var reason: String
  }

  /// The comparisons in the order of their worth. The keys that clients read come first, those that decide whether events are
  /// lost ahead of the rest. Retry-After comes last.
  var comparisons: [Comparison] {
    let read = Set(
      (clients.map(\.client.dialect) + (clients.isEmpty ? [.document] : [])).map { Set($0.readKeyPaths) }
        .reduce(nil) { (sum: Set<String>?, keys) in sum?.intersection(keys) ?? keys } ?? [])
    let limit = "How many 429s may a batch meet before its events are lost?"
    let all = [
      Comparison(
        path: "settings.rateLimitConfig.maxRetryCount", values: "[10, 100, 1000]", reason: limit),
      Comparison(path: "settings.rateLimitConfig.maxRetryCount", values: "[10, 30, 100]", reason: limit),
      Comparison(
        path: "settings.backoffConfig.jitterStrategy",
        values: #"["additive:10", "full", "equal", "decorrelated"]"#,
        reason: "Which jitter brings the fleet back best?"),
      Comparison(
        path: "settings.backoffConfig.maxBackoffInterval", values: "[60, 120, 300, 900]",
        reason: "Which longest wait between retries brings the fleet back best?"),
    ].filter { read.contains(String($0.path.dropFirst("settings.".count))) }
    return all + [
      Comparison(
        path: "tapi.overload.retryAfter", values: #"["none", "20s", "5m"]"#,
        reason: "Which Retry-After brings the fleet back best?")
    ]
  }

  /// The evening's peak, an hour and a half after the run begins; empty where the rate does not vary.
  private var curve: String {
    func text(_ factor: Double) -> String { "\"\(MetricText.plain(factor * 100))%\"" }
    if peak <= 1 { return "" }
    if peak <= 2 { return ", curve: { amplitude: \(text(peak - 1)), peak: \"1h30m\", period: \"24h\" }" }
    // A wave of eight hours on an even rest, with the mean of 1.
    let rest = (1 - peak / 6) * 6 / 5
    let now = rest + (peak - rest) * 2.5 / 4
    let points = [("0s", now), ("1h30m", peak), ("5h30m", rest), ("21h30m", rest)]
      .map { "{ at: \"\($0)\", factor: \(text($1)) }" }
    return ", curve: { points: [\(points.joined(separator: ", "))], period: \"24h\" }"
  }

  /// The scenario as a commented file. The fleet's peak is where the incident is.
  ///
  /// - Parameter client: how the scenario names a client's file.
  func scenario(
    scale: Int, capacity: String, settings: String, comparison: Comparison, client path: (String) -> String
  ) -> String {
    let rate = "\"\(events?.text() ?? Self.proposedEvents)\""
    let outage = outage.text()
    // An hour before, and time enough to drain a backlog at a third of the speed at which it grew.
    let hours = 2 + Int64((self.outage.value * 4 / 3_600e6).rounded(.up))
    let scaled: String =
      scale > 1
      ? """
        // A part that runs in seconds: figures of verdicts are those of the whole fleet; --scale 1:1 runs all of it.
        scale: "1:\(scale)",
      """
      : """
        // Small enough to be run as it is; of a larger fleet scale: "1:20" runs a part that gives the same answer.
        scale: "1:1",
      """
    func sessions(_ client: ClientPreset) -> String {
      guard let use else { return "" }
      var lines = [
        "// Apps are open for a while, and closed apps retry nothing.",
        "sessions: { share: \"\(Units.text(partsPerMillion: use.share))\", length: { exponential: \"\(use.session)\" } },",
      ]
      if let system = use.system, client.page == nil {
        lines += [
          "// In the background the system lets them send in its windows alone.", "os: \"\(system)\",",
        ]
      }
      return lines.map { "\n      " + $0 }.joined()
    }
    let about =
      peak > 1 ? "The mean of a day whose peak is an hour and a half after this run begins." : "All day long."
    let total = devices ?? 1
    var left = total
    let cohorts = clients.enumerated().map { index, part in
      let isLast = index == clients.count - 1
      let own = isLast ? left : Int((Double(total) * Double(part.share) / 1e6).rounded())
      left -= own
      let flush =
        part.client.flush == nil
        ? #"flush: { count: 20, interval: "30s" },"# : "// It flushes as the client does."
      let isFile = ClientPreset.builtIn(part.name) == nil
      return """
            {
              name: "\(clients.count == 1 ? "phones" : part.client.name)",
              devices: \(max(1, own)),
              // How the client behaves; fleetsim presets \(part.name) shows every switch.
              client: "\(isFile ? path(part.name) : part.name)",
              // \(about)
              events: { rate: \(rate)\(curve) },\(sessions(part.client))
              \(flush)
            },
        """
    }
    return """
      // Made by fleetsim init. Every key: fleetsim help scenario
      {
        format: 1,
        question: "An outage at the evening's peak: how does the fleet come back?",
        seed: 1,
        duration: "\(hours)h",
        interval: "5s",
      \(scaled)
        tapi: {
          // \(self.capacity == nil ? "PROPOSED by load, not measured: put the endpoint's own limit here." : "What the endpoint can take.")
          // Beyond it, and what it held back for a burst, it answers 429 with a Retry-After.
          bucket: { capacity: "\(capacity)" },
          // Below the flush interval: clients retry at a flush, so what is due just after one waits for the next.
          overload: { status: 429, retryAfter: "20s" },
          // It is down at the evening's peak, from an hour into the run on. status: "none" is silence: clients wait for their time-out.
          incidents: [{ kind: "outage", at: "1h", for: "\(outage)", status: 503 }],
        },
        network: { latency: { median: "80ms", p99: "600ms", minimum: "10ms" } },
        // As the CDN serves it today.
        settings: "\(settings)",
        fleet: [
      \(cohorts.joined(separator: "\n"))
        ],
        // \(comparison.reason)
        compare: {
          "\(comparison.path)": \(comparison.values),
        },
      }

      """
  }
}

extension ValueReader where Value == String {
  /// Reads an answer to the question.
  fileprivate static func answer(to question: InitCommand.Question) -> ValueReader {
    ValueReader(readingFiles: { text, files in
      var answers = InitCommand.Answers(files)
      if let problem = answers.take(text, as: question) { throw InvalidValue("\(problem).") }
      return text
    })
  }
}
