import FleetExperiments
import FleetMetrics
import TextEscaping

/// The findings of `run` and `compare` as an answer. One seed is a sample of one: its tables, pictures and pages leave out
/// figures that need several. Those of several seeds leave out figures that need every interval of a run.
package struct TrialReport: Sendable {
  package let trial: Trial
  /// What sets the variants apart, in their order; without any, sentences call them by their names.
  package let choices: [VariantChoice]
  package let standings: Standings

  package init(_ trial: Trial, choices: [VariantChoice] = []) {
    (self.trial, self.choices) = (trial, choices)
    standings = Standings(trial).telling(choices)
  }

  package var names: [String] { trial.variants }
  /// The names as people read them.
  var labels: [String] {
    choices.count == names.count ? zip(names, choices).map { $0 + $1.mark } : names
  }
  package var story: Story { trial.story(standings) }
  private var picture: ComparisonPicture { ComparisonPicture(self) }

  // MARK: Files

  /// Where the files of each variant's first run go; the directory itself is "". Where nothing was kept of it, it has none.
  /// - Parameter isComparison: a single run has no folder.
  package static func folders(of trial: Trial, isComparison: Bool) -> [String] {
    isComparison && !trial.first.isEmpty ? folders(trial.variants) : trial.variants.map { _ in "" }
  }

  private func data(isComparison: Bool, _ extras: Set<FileName>) -> [OutputFile] {
    var files: [OutputFile] = []
    if !trial.isOfOneRun {
      files = [
        OutputFile(
          .statistics,
          choices.bytes(StatisticsCSV.rows(of: standings), StatisticsCSV.columns, variant: \.name)),
        OutputFile(.differences, DifferencesCSV.bytes(of: standings)),
        OutputFile(.replications, choices.bytes(trial.rows, SummaryCSV.columns, variant: \.run)),
        OutputFile(.curves, CurvesCSV.bytes(of: trial.curves)),
      ]
    }
    let results = trial.first
    if results.isEmpty { return files }
    let runs = results.map { ($0.name, $0.summary.seed, $0.record.series) }
    let summary = choices.bytes(results.map(\.summary), SummaryCSV.columns, variant: \.run)
    return files + [OutputFile(.summary, summary)]
      + (extras.contains(.openMetrics) ? [OutputFile(.openMetrics, OpenMetrics.bytes(of: runs))] : [])
      + zip(results, Self.folders(of: trial, isComparison: isComparison)).flatMap {
        $0.files(in: $1, twin: extras.contains(.twinTimeSeries))
      }
  }

  /// Returns a folder for each name: letters, digits and `.+-_` stay, all else becomes `-`. Names that would share a folder are
  /// numbered, also for file systems that take capitals for small letters.
  static func folders(_ names: [String]) -> [String] {
    var taken = Set(FileName.allCases.map(\.rawValue))
    return names.map { name in
      var folder = String(
        name.map { $0.isASCII && ($0.isLetter || $0.isNumber || "+-_.".contains($0)) ? $0 : "-" }.prefix(100))
      // No folder is taken for an option, and runs of what became a dash are one.
      while folder.contains("--") { folder = folder.replacing("--", with: "-") }
      while let first = folder.first, first == "-" || first == "." { folder.removeFirst() }
      while folder.last == "-" { folder.removeLast() }
      if folder.isEmpty { folder = "variant" }
      var unique = folder
      var number = 2
      while !taken.insert(unique.lowercased()).inserted {
        unique = "\(folder)-\(number)"
        number += 1
      }
      return unique
    }
  }

  // MARK: Answer

  /// The verdict and its figures, the picture, then the tables. Folded below them a page has a chart per quantity with a panel for
  /// each variant, and the meanings of the words. It is well-formed XML as well as HTML.
  /// - Parameters:
  ///   - isComparison: a single run has neither a picture nor a folder.
  ///   - losses: who lost events, and where late ones wait; nil: not known.
  ///   - clients: in what cohorts are not as their client presets; nil: not known.
  ///   - scaleNote: what is said of a scenario that is a part of a larger one.
  ///   - extras: large files, which are only written where they are asked for.
  package func answer(
    _ story: Story, isComparison: Bool = true, losses: LossReport? = nil, clients: ClientDifferences? = nil,
    scaleNote: String? = nil, extras: Set<FileName> = []
  ) -> Answer {
    let picture = picture
    func tables(isPage: Bool) -> [Answer.Part] {
      details(isPage: isPage) + (losses?.table(isWhole: isPage).map { [$0] } ?? [])
    }
    var answer = Answer(story, facts: factsLine + (scaleNote.map { " · \($0)" } ?? ""))
    answer.seeds = trial.seedsText
    answer.terminal = [.table(table)]
    answer.details = tables(isPage: false)
    // With the table of four variants that is ten lines.
    answer.mostLines = 4
    answer.data = data(isComparison: isComparison, extras)
    if !names.isEmpty {
      let wholeRun = picture.wholeRun.map { chart, meaning in
        Answer.Part.figure(chart.html, title: chart.title, caption: Self.sentences(meaning, band))
      }
      answer.page =
        [overlays(picture)] + tables(isPage: true) + [
          .folded(wholeRun, title: "The whole run" + (names.count > 1 ? ", variant by variant" : ""))
        ]
    }
    if !trial.isOfOneRun {
      answer.page.append(.terms(PageWords.replications.terms, title: "What the statistics mean"))
    }
    if let clients { answer.page.append(Self.part(of: clients)) }
    answer.page.append(.terms(PageWords.comparison.terms))
    if isComparison {
      answer.pictures = [OutputFile(.picture, text: picture.svg)]
      PairMap(trial, choices)?.add(to: &answer)
    }
    return answer
  }

  /// `2 h of virtual time · capacity 1,267 requests/s · outage without answer from 20 min for 10 min`
  var factsLine: String {
    let runs = trial.facts.compactMap(\.self)
    var facts: [String] = []
    func add<Value: Hashable>(_ value: (RunFacts) -> Value, _ text: (Value) -> [String]) {
      if let first = runs.first.map(value), runs.allSatisfy({ value($0) == first }) { facts += text(first) }
    }
    add(\.duration) { ["\(FigureText.duration($0)) of virtual time"] }
    add(\.fullSizeCapacity) { ["capacity \(FigureText.compact($0)) requests/s"] }
    add(\.shaded) { $0.isEmpty ? ["no incident"] : $0.map(\.text) }
    return facts.joined(separator: " · ")
  }

  /// Lists the parts of the scenario that differ from the client presets that it names.
  private static func part(of clients: ClientDifferences) -> Answer.Part {
    let title = "In what the clients differ from their presets"
    guard !clients.lines.isEmpty else {
      return .html(
        HTMLPage.section(title, "<p>In nothing: \(Escaping.markup(clients.text.joined())).</p>\n"))
    }
    let most = 100
    let rows = clients.lines.prefix(most).map { line in
      [
        line.path + (line.scope.isEmpty ? "" : " (\(line.scope))"), line.difference.value,
        "\(line.difference.preset) (\(line.client))", line.difference.meaning,
      ]
    }
    return .table(
      TextTable(header: ["key", "here", "in the preset", "what it decides"], rows: rows), title: title,
      note: clients.lines.count > most ? "And \(clients.lines.count - most) more." : nil)
  }

  /// All variants round the incident; without one, over the whole run.
  /// - Parameter title: nil: says which of the two.
  package func overlays(
    _ picture: ComparisonPicture? = nil, title: String? = nil, note: String = ""
  ) -> Answer.Part {
    let picture = picture ?? self.picture
    let normal = picture.isRoundIncident ? "Normal is the twin, the same run without incidents." : ""
    return .figure(
      picture.chart.html, title: title ?? (picture.isRoundIncident ? "Round the incident" : "The load"),
      caption: note + Self.sentences(normal, band))
  }

  private static func sentences(_ texts: String...) -> String {
    texts.filter { !$0.isEmpty }.joined(separator: " ")
  }

  private var band: String {
    trial.isOfOneRun ? "" : "Line: mean of the replications; band: its 95 % interval at each time by itself."
  }
}

extension VariantResult {
  /// The tables of a run in its folder; "" is the directory itself.
  package func files(in folder: String, twin withTwin: Bool = false) -> [OutputFile] {
    let prefix = folder.isEmpty ? "" : folder + "/"
    /// The table of a part that not every scenario has.
    func part<Row>(_ name: FileName, _ rows: [Row], _ bytes: ([Row]) -> [UInt8]) -> OutputFile? {
      rows.isEmpty ? nil : OutputFile("\(prefix)\(name)", bytes(rows))
    }
    let hasCohorts = record.cohorts.count > 1 || record.cohorts.contains { !$0.lanes.isEmpty }
    return [
      OutputFile("\(prefix)\(FileName.timeSeries)", TimeSeriesCSV.bytes(of: record)),
      withTwin
        ? OutputFile("\(prefix)\(FileName.twinTimeSeries)", TimeSeriesCSV.bytes(of: twin)) : nil,
      OutputFile("\(prefix)\(FileName.deliveries)", HistogramCSV.bytes(of: record.deliveries)),
      hasCohorts ? OutputFile("\(prefix)\(FileName.cohorts)", CohortCSV.bytes(of: record.cohorts)) : nil,
      part(.connections, record.connections, SideRow.csv),
      part(.settingsFetches, record.settings, SideRow.csv),
      part(.proxies, record.proxies, SideRow.csv),
    ].compactMap(\.self)
  }
}
