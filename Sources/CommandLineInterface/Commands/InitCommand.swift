import FleetExperiments
import ScenarioFormat
import ScenarioModel
import UploadRetry

/// `fleetsim init`: a commented scenario of the user's own fleet, and Settings beside it.
struct InitCommand: Command {
  static let help = CommandSpecification(
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
  @Option("client", "preset", .answer(to: .client), help: "The client: \(ClientPreset.nameList).")
  private var client: String?
  @Option(
    "devices", "n", .answer(to: .devices), help: "How many devices are in use, as 20000, 200k or 3M.")
  private var devices: String?
  @Option(
    "events", "rate", .answer(to: .events),
    help: "Events that a device creates, in the mean over the day, as 30/h.")
  private var events: String?
  @Option(
    "capacity", "rate", .answer(to: .capacity),
    help: "Requests that the endpoint can take, as 60000/s.")
  private var capacity: String?
  @Option("outage", "span", .answer(to: .outage), help: "How long it is down, as 20m. (default: 10m)")
  private var outage: String?

  /// The options that are also questions, in the order in which they are asked.
  private var options: [(question: Question, option: Option<String?>)] {
    [
      (.client, $client), (.devices, $devices), (.events, $events), (.capacity, $capacity),
      (.outage, $outage),
    ]
  }

  /// What was answered, on the command line or on a terminal.
  struct Answers {
    private var texts: [Question: String] = [.outage: "10m"]
    var client: ClientPreset? { texts[.client].flatMap { ClientPreset.builtIn($0) } }
    var devices: Int? { texts[.devices].flatMap(Self.count) }
    var events: Quantity? { texts[.events].flatMap { Quantity($0) } }
    var capacity: Quantity? { texts[.capacity].flatMap { Quantity($0) } }
    var outage: Quantity { texts[.outage].flatMap { Quantity($0) }! }
  }

  func execute(_ invocation: Invocation) throws {
    let folder = OutputDirectory.split(path).parent
    let settingsPath = folder == "." ? Self.settingsName : folder + "/" + Self.settingsName
    for file in [path, settingsPath] {
      var status = stat()
      guard lstat(file, &status) != 0 else {
        throw CommandFailure(
          .cannotCreate,
          "\(file): is there already and stays as it is; name a scenario in another folder, or move it away")
      }
    }
    // A folder of its own is made; what is wrong with it, the files will say.
    if folder != "." { _ = mkdir(folder, 0o777) }
    let files = try [path, settingsPath].map { try SingleFile($0, ours: [], option: "'fleetsim init FILE'") }
    let answers = try asked()
    let (text, scenario) = try best(answers)
    try files[1].write(answers.settings.cdnJSON)
    try files[0].write(text)
    try Console.print(closing(answers, scenario, settingsPath))
  }

  // MARK: Questions

  /// What the command line leaves open, asked on a terminal.
  /// - Throws: `UsageError` that names what is missing where there is nobody to ask.
  private func asked() throws -> Answers {
    var answers = Answers()
    for (question, option) in options {
      if let text = option.wrappedValue { _ = answers.take(text, as: question) }
    }
    let missing = options.filter { !answers.has($0.question) }
    guard !missing.isEmpty else { return answers }
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else {
      throw UsageError(
        "Missing expected \(missing.count == 1 ? "option" : "options") "
          + missing.map { "'\($0.option.synopsis)'" }.joined(separator: ", ")
          + "; on a terminal fleetsim asks for them.")
    }
    try Console.print("Return takes what stands in brackets.\n\n")
    for (option, _) in missing {
      let suggestion = answers.suggestion(for: option)
      while !answers.has(option) {
        try Console.print("\(option.text) [\(suggestion)] ")
        try Interruption.check()
        guard let line = readLine() else { throw UsageError("The questions were not answered to the end.") }
        let text = line.filter { $0 != " " }
        if let problem = answers.take(text.isEmpty ? suggestion : text, as: option) {
          try Console.print("  '\(text)' is no answer: \(problem).\n")
        }
      }
    }
    try Console.print("\n")
    return answers
  }

  // MARK: The scenario

  /// The scenario at the smallest scale that keeps its answer, and what it decodes to at full size.
  private func best(_ answers: Answers) throws -> (text: String, scenario: Scenario) {
    let full = try decoded(answers.scenario(scale: 1), answers.settings.cdnJSON)
    let devices = answers.devices ?? 1
    // Some thousand devices run in seconds.
    let divisor = [1_000, 500, 200, 100, 50, 20, 10, 5, 2].first {
      devices / $0 >= 2_000 && Scaling(divisor: $0).refusal(of: full) == nil
    }
    return (answers.scenario(scale: divisor ?? 1), full)
  }

  private func decoded(_ text: String, _ settings: String) throws -> Scenario {
    try ScenarioFile(text: text, name: path, settingsText: nil) { _ in settings }
      .decode(overrides: []).scenario
  }

  private func closing(_ answers: Answers, _ scenario: Scenario, _ settingsPath: String) -> String {
    let load = NormalLoad(scenario)
    var text = "Written: \(path), and \(settingsPath) as the CDN would serve it.\n"
    text +=
      "At its peak the fleet uploads \(FigureText.decimal(load.peakBatchesPerSecond)) batches/s, "
      + "\(percent(load.peakUtilisation)) of the capacity.\n"
    if load.peakUtilisation > 1 {
      text +=
        "That is more than the server can take, even without an incident: look at --events, --devices and --capacity.\n"
    }
    return text + """

      Next:
        fleetsim validate \(path)
        fleetsim run \(path) --out out/today
        fleetsim compare \(path) --out out/compare

      Then open out/compare/report.html. What you know better than this file, put into it: fleetsim help scenario.

      """
  }
}

extension InitCommand {
  /// What is asked on a terminal.
  enum Question: CaseIterable {
    case client, devices, events, capacity, outage

    var text: String {
      switch self {
      case .client: "Which client? \(ClientPreset.nameList)"
      case .devices: "How many devices are in use?"
      case .events: "How many events does a device create, in the mean over the day?"
      case .capacity: "How many requests can the endpoint take?"
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
  mutating func take(_ text: String, as question: InitCommand.Question) -> String? {
    if let problem = Self.problem(with: text, as: question) { return problem }
    texts[question] = text
    return nil
  }

  private static func problem(with text: String, as question: InitCommand.Question) -> String? {
    let quantity = Quantity(text)
    func rateProblem(_ example: String) -> String? {
      if case .rate? = quantity?.unit, quantity!.value > 0 { return nil }
      return quantity?.unit == .number
        ? "the unit is missing, as in \(example)" : "a rate above 0, as \(example)"
    }
    switch question {
    case .client:
      if ClientPreset.builtIn(text) != nil { return nil }
      let names = ClientPreset.names
      let hint = nearest(to: text, among: names).map { "; perhaps '\($0)'" } ?? ""
      return "it is one of \(names.joined(separator: ", "))\(hint)"
    case .devices:
      return count(text) == nil ? "a number from 1 to 4000M, as 20000, 200k or 3M" : nil
    case .events: return rateProblem("30/h or 2/min")
    case .capacity: return rateProblem("60000/s")
    case .outage:
      let isSpan = quantity?.unit == .span && (1e6...86_400e6).contains(quantity!.value)
      return isSpan ? nil : "a span from 1s to 24h, as 20m"
    }
  }

  func has(_ question: InitCommand.Question) -> Bool { texts[question] != nil }

  func suggestion(for question: InitCommand.Question) -> String {
    switch question {
    case .client: ClientPreset.names[0]
    case .devices: "1M"
    case .events: "30/h"
    case .capacity: "\(Int64((Double(devices ?? 1) * (perSecond(events) ?? 0) * 1.6 * 1.5).rounded(.up)))/s"
    case .outage: "10m"
    }
  }

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

  /// What the client has by default, to be replaced by what its CDN serves.
  var settings: SettingsDocument {
    guard let client, client.dialect != .document else { return SettingsDocument(HTTPConfig()) }
    return SettingsDocument(defaultsOf: client.dialect)
  }

  /// The key that is worth comparing first for this client, and its values.
  private var comparison: (path: String, values: String, reason: String) {
    let read = Set((client?.dialect ?? .document).readKeyPaths)
    if read.contains("backoffConfig.jitterStrategy") {
      return (
        "settings.backoffConfig.jitterStrategy", #"["additive:10", "full", "equal", "decorrelated"]"#,
        "Which jitter brings the fleet back best?"
      )
    }
    if read.contains("backoffConfig.maxBackoffInterval") {
      return (
        "settings.backoffConfig.maxBackoffInterval", "[60, 120, 300, 900]",
        "Which longest wait between retries brings the fleet back best?"
      )
    }
    return (
      "tapi.overload.retryAfter", #"["none", "30s", "5m"]"#,
      "The client reads no Settings; which Retry-After brings the fleet back best?"
    )
  }

  /// The scenario as a commented file. The fleet's peak is where the incident is.
  func scenario(scale: Int) -> String {
    let client = client ?? .tapiDocument
    let events = events?.text() ?? "30/h"
    let capacity = capacity?.text() ?? "1000/s"
    let devices = String(devices ?? 1)
    let outage = outage.text()
    let flush =
      client.flush == nil ? #"flush: { count: 20, interval: "30s" },"# : "// It flushes as the client does."
    let (key, values, question) = comparison
    // An hour before, and time enough to drain a backlog at a third of the speed at which it grew.
    let hours = 2 + Int64((self.outage.value * 4 / 3_600e6).rounded(.up))
    let scaled: String =
      scale > 1
      ? """
        // A part that runs in seconds: counts are 1 in \(scale), times and shares nearly the same; --scale 1:1 runs all of it.
        scale: "1:\(scale)",
      """
      : """
        // Small enough to be run as it is; of a larger fleet scale: "1:20" runs a part that gives the same answer.
        scale: "1:1",
      """
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
          // What the endpoint can take. Beyond it, and what it held back for a burst, it answers 429 with a Retry-After.
          bucket: { capacity: "\(capacity)" },
          // Below the flush interval: clients retry at a flush, so what is due just after one waits for the next.
          overload: { status: 429, retryAfter: "20s" },
          // Down at the evening's peak. status: "none" is silence: clients wait for their time-out.
          incidents: [{ kind: "outage", at: "1h", for: "\(outage)", status: 503 }],
        },
        network: { latency: { median: "80ms", p99: "600ms", minimum: "10ms" } },
        fleet: [
          {
            name: "phones",
            devices: \(devices),
            // How the client behaves; fleetsim presets \(client.name) shows every switch.
            client: "\(client.name)",
            // The mean of a day whose peak, 60 % above it, is an hour and a half after this run begins.
            events: { rate: "\(events)", curve: { amplitude: "60%", peak: "1h30m", period: "24h" } },
            \(flush)
            // As the CDN serves it: put yours in its place.
            settings: "\(InitCommand.settingsName)",
          },
        ],
        // \(question)
        compare: {
          "\(key)": \(values),
        },
      }

      """
  }
}

extension ValueReader where Value == String {
  /// What is taken for an answer.
  fileprivate static func answer(to question: InitCommand.Question) -> ValueReader {
    ValueReader { text in
      var answers = InitCommand.Answers()
      if let problem = answers.take(text, as: question) { throw InvalidValue("\(problem).") }
      return text
    }
  }
}
