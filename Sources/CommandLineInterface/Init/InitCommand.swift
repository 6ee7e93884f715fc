import FleetExperiments
import ScenarioFormat
import ScenarioModel
import SimulationKernel

/// `fleetsim init`: a commented scenario of the user's own fleet, and Settings beside it.
package struct InitCommand: Command {
  package static let help = CommandSpecification(
    name: "init", abstract: "Write a scenario of your own fleet to begin with.",
    discussion: [
      "Writes a commented scenario with a day's peak, an outage or a restart, a rate limit and something to compare, and Settings beside "
        + "it, and says what to do next. Files that are there stay as they are."
    ],
    examples: [
      .init(
        "fleetsim init --client segment-swift --devices 3M --events 30/h --capacity 60000/s",
        "Three million phones with analytics-swift:")
    ])

  private static let defaultPath = "scenario.json5"
  private static let settingsName = "settings.json"

  @Argument("scenario", help: "The file to write. (default: \(defaultPath))") private var file: String?
  private var path: String { file ?? Self.defaultPath }
  private let answers = Answers()

  package init() {}

  package func execute(_ environment: CommandEnvironment) throws {
    let files = environment.files
    let folder = OutputDirectory.split(path).parent
    let ownSettings = folder == "." ? Self.settingsName : folder + "/" + Self.settingsName
    if files.isThereAtAll(path) {
      try refuse([path] + (answers.$settingsPath.isGiven ? [] : [ownSettings]), files)
    }
    if let given = answers.settingsPath, !answers.fetchesSettings {
      throw UsageError(
        "No client of this fleet fetches Settings, so that none reads \(given): leave '--settings' out.")
    }
    if answers.restart != nil, answers.$outage.isGiven {
      throw UsageError("'--restart' stands in place of '--outage': leave one of them out.")
    }
    try answers.check()
    let writesSettings = answers.settingsPath == nil && answers.fetchesSettings
    if writesSettings { try refuse([ownSettings], files) }
    // A folder of its own stays if the file is written; what is wrong with it, the files will say.
    environment.signals.hold()
    let ownFolder = folder != "." && mkdir(files.place(folder), 0o777) == 0 ? files.place(folder) : nil
    defer { if let ownFolder { rmdir(ownFolder) } }
    let option = "'fleetsim init FILE'"
    let file = try SingleFile(path, ours: [], option: option, files)
    let draft: Draft
    do {
      let text = try answers.settingsPath.map { try files.text($0) } ?? answers.settings.cdnJSON
      draft = try write(answers, folder, settings: text, files)
      if writesSettings {
        try SingleFile(ownSettings, ours: [], option: option, files).write(text)
      }
      try file.write(draft.text)
    } catch let problems as ScenarioProblems {
      // Nothing has been written, so that no place in the file would help.
      let first = problems.diagnostics.first.map { "\($0.path): \($0.message)" } ?? "\(problems)"
      throw UsageError("These answers make no fleet that can be run: \(first).")
    }
    for warning in draft.warnings { environment.console.printError("\(warning)\n") }
    let with =
      answers.settingsPath.map { ", which reads \($0)" }
      ?? (writesSettings ? ", and \(ownSettings) as the CDN would serve it" : "")
    try environment.console.print(closing(answers, draft, "Written: \(path)\(with)."))
    guard let trouble = answers.trouble else { return }
    try environment.console.print(
      ModelledTrouble(of: draft, lasted: Span(microseconds: Int64(trouble.value)), environment).text(path))
  }

  /// - Throws: `CommandFailure` 73 that names all of these files that are there.
  private func refuse(_ paths: [String], _ files: Files) throws {
    let there = paths.filter(files.isThereAtAll)
    if there.isEmpty { return }
    let (stay, them) =
      there.count == 1
      ? ("is there already and stays as it is", "it") : ("are there already and stay as they are", "them")
    throw CommandFailure(
      .cannotCreate,
      "\(there.joined(separator: " and ")): \(stay); name a scenario in another folder, or move \(them) away")
  }

  // MARK: The scenario

  /// A scenario that is right, and what it is at full size.
  struct Draft {
    var text: String
    /// As it is written.
    var file: ScenarioFile
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
        throw CommandFailure(.data, "\(answers.settingsPath ?? reference): \(SettingsTree.nothingFound)")
      }
      let decoded = try file.decode()
      let variants = try decoded.axes.flatMap { axis in
        try axis.values.map {
          try file.decode(overrides: Override.choosing(axis.path, $0), isVariant: true, of: decoded)
        }
      }
      return Draft(
        text: text, file: file, scenario: decoded.scenario, warnings: decoded.warnings,
        isQuiet: variants.allSatisfy { $0.warnings.count <= decoded.warnings.count })
    }
    // Clients clamp what others take: the first question that all of them can be asked.
    let comparisons = answers.comparisons
    let comparison =
      comparisons.first { (try? draft("1000/s", 1, $0))?.isQuiet ?? false } ?? comparisons.last!
    let share = answers.capacity.flatMap { $0.unit == .percent ? $0.baseValue : nil }
    let ofPeak =
      try answers.capacity == nil || share != nil
      ? Answers.capacity(
        for: NormalLoad(draft("1000/s", 1, comparison).scenario).peakBatchesPerSecond, times: share) : nil
    let capacity = ofPeak ?? answers.capacity?.text() ?? ""
    let full = try draft(capacity, 1, comparison).scenario
    // Some thousand devices run in seconds.
    let divisor = [1_000, 500, 200, 100, 50, 20, 10, 5, 2].first {
      answers.devices / $0 >= 2_000 && Scaling(divisor: $0).refusal(of: full) == nil
    }
    var written = try draft(capacity, divisor ?? 1, comparison)
    (written.scenario, written.capacity) = (full, share == nil ? ofPeak : nil)
    return written
  }

  /// A file as a scenario in another folder names it.
  private static func path(_ file: String, from folder: String, _ files: Files) -> String {
    if file.hasPrefix("/") || folder == "." { return file }
    let (parent, name) = OutputDirectory.split(file)
    if parent == folder { return name }
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
    if let use = answers.use, let rate = answers.rate.converted(to: .rate(per: 60_000_000, name: "min")) {
      let open = Double(answers.devices) * use.part
      let each = MetricText.plain(rate.value / use.part)
      text +=
        "In the mean over the day \(FigureText.grouped(Int64(open.rounded()))) apps are open at a time, with "
        + "\(each) \(each == "1" ? "event" : "events") a minute each.\n"
    }
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
    text += "\nNext:\n  fleetsim validate \(path)\n  fleetsim compare \(path) --out out/compare\n"
    if answers.fetchesSettings {
      text +=
        "  fleetsim decide \(path) --proposed new.json --out out/decision\n\n"
        + "new.json has the Settings that you want to publish: decide says whether to. "
    } else {
      text += "\n"
    }
    return text
      + "Pages are report.html in these folders. What you know better than this file, put into it: fleetsim help scenario.\n"
  }
}

extension Files {
  /// Whether anything is there, be it a link that leads nowhere.
  fileprivate func isThereAtAll(_ path: String) -> Bool { stat(at: place(path), followsLinks: false) != nil }
}
