import FleetExperiments
import TextEscaping

/// The answer of a study, for everyone who reads it: sentences, tables, figures and files.
///
/// A study makes one from what it found; one writer (`AnswerWriter`) turns it into a terminal's text, a directory with its
/// manifest, and a page.
///
/// ```swift
/// var answer = Answer(verdict: "20% is the smallest share that ends it.", facts: "20,000 devices, 2 h")
/// answer.terminal = [.table(table), .verdict]
/// answer.page = [.table(table, title: "What was tried"), .terms([("Ill", "It does not come back.")])]
/// answer.data = [OutputFile(.stability, map.table.csv)]
/// ```
package struct Answer: Sendable {
  package enum Part: Sendable {
    /// Where a terminal has the verdict; a page begins with it.
    case verdict
    /// Sentences, each a point of its own.
    case list([String], title: String? = nil, note: String? = nil)
    case table(TextTable, title: String = "", note: String? = nil)
    /// A table of words, which stays one on a narrow page.
    case matrix(TextTable, title: String, note: String? = nil)
    /// An SVG element.
    case figure(String, title: String, caption: String)
    /// A text with its own lines.
    case text(String, title: String = "")
    case terms([(term: String, meaning: String)], title: String = "What the words mean")
    case html(String)
  }

  /// The finding first, then its reasons, a line each.
  package var verdict: String
  /// The text that `--quiet` prints.
  package var brief: String
  /// One line about what was asked, below the verdict of a page.
  package var facts: String
  /// Where its random numbers came from: `seed 1`.
  package var seeds: String?
  package var terminal: [Part] = [.verdict]
  package var page: [Part] = []
  /// The verdict's figures, ready as HTML.
  package var headline = ""
  /// Files of data, whose digests the manifest has.
  package var data: [OutputFile] = []
  /// Files that only show the same.
  package var pictures: [OutputFile] = []
  /// The files by name, in the order in which a terminal lists them; nil: that in which they are written.
  package var listing: [String]?
  /// The files that `--out` would write: `the table and a report`.
  package var offer = "the CSV files and a report"

  package init(verdict: String, brief: String? = nil, facts: String = "") {
    self.verdict = verdict
    self.brief = brief ?? verdict
    self.facts = facts
  }

  /// `: summary.csv, report.html`
  package var listed: String {
    let names = listing ?? (data + pictures).map(\.path) + [FileName.report, .manifest].map(\.rawValue)
    return names.isEmpty ? "" : ": " + names.joined(separator: ", ")
  }

  /// `report.html`.
  /// - Parameters:
  ///   - command: the command line that makes this page again.
  ///   - scenarioJSON: the scenario as normalised, folded away.
  package func html(
    title: String, question: String?, command: String, scenarioJSON: String? = nil, version: String
  ) -> String {
    HTMLPage(
      title: title, question: question, verdict: verdict, headline: headline, facts: facts,
      sections: page.map(\.html).joined(), command: command, scenarioJSON: scenarioJSON,
      version: seeds.map { "\(version), \($0)" } ?? version
    ).text
  }

  /// Says whether what was required is kept, a line each: behind the verdict, and on top of a page's sections.
  package mutating func add(requirements: [String]) {
    guard !requirements.isEmpty else { return }
    let lines = requirements.joined(separator: "\n")
    brief += "\n" + lines
    terminal.append(.text("\n" + lines + "\n"))
    page.insert(.list(requirements, title: "What was required"), at: 0)
  }

  /// What the verdict says first.
  package var finding: String { String(Verdict.headline(of: verdict)) }

  /// Returns the text that a terminal shows.
  package func text(width: Int) -> String {
    var text = ""
    var last: Part?
    for part in terminal {
      if let last, last.standsApart || part.standsApart || part.isHeading { text += "\n" }
      switch part {
      case .verdict: text += verdict + "\n"
      case .list(let items, let title, _):
        text += title.map { $0 + "\n" } ?? ""
        for item in items { text += "- \(item)\n" }
      case .table(let table, _, _), .matrix(let table, _, _): text += table.terminal(width: width)
      case .text(let lines, _): text += lines
      case .figure, .terms, .html: break
      }
      last = part
    }
    return text
  }
}

extension Answer.Part {
  /// Whether an empty line is before and behind it.
  fileprivate var standsApart: Bool {
    switch self {
    case .table, .matrix: true
    default: false
    }
  }

  /// Whether an empty line is before it.
  fileprivate var isHeading: Bool {
    switch self {
    case .verdict, .list(_, title: _?, _): true
    default: false
    }
  }

  fileprivate var html: String {
    switch self {
    case .verdict: ""
    case .list(let items, let title, let note): HTMLPage.list(title ?? "", items, note: note)
    case .table(let table, let title, let note): HTMLPage.table(title, table.page, note: note)
    case .matrix(let table, let title, let note): HTMLPage.table(title, table.matrix, note: note)
    case .figure(let svg, let title, let caption): HTMLPage.figure(title, caption, svg)
    case .text(let text, let title):
      HTMLPage.section(title, "<pre><code>\(Escaping.markup(text))</code></pre>\n")
    case .terms(let terms, let title): HTMLPage.terms(terms, title: title)
    case .html(let html): html
    }
  }
}

/// A file of the output directory before it is written.
package struct OutputFile: Sendable, Hashable {
  /// Below the output directory: `summary.csv`, `full/timeseries.csv`.
  package var path: String
  package var bytes: [UInt8]

  package init(_ path: String, _ bytes: [UInt8]) {
    self.path = path
    self.bytes = bytes
  }

  package init(_ path: String, text: String) { self.init(path, Array(text.utf8)) }

  package init(_ name: FileName, _ bytes: [UInt8]) { self.init(name.rawValue, bytes) }
  package init(_ name: FileName, text: String) { self.init(name.rawValue, text: text) }
}

/// The name of a file or folder that fleetsim writes. All of these may stand at the top of an output directory, beside folders of
/// variants.
package enum FileName: String, CaseIterable, CustomStringConvertible, Sendable {
  case timeSeries = "timeseries.csv"
  case deliveries = "delivery_histogram.csv"
  case cohorts = "cohorts.csv"
  case connections = "connections.csv"
  case settingsFetches = "settings.csv"
  case proxies = "proxies.csv"
  case summary = "summary.csv"
  case statistics = "statistics.csv"
  case differences = "differences.csv"
  case replications = "replications.csv"
  case curves = "curves.csv"
  case twinTimeSeries = "twin_timeseries.csv"
  case openMetrics = "timeseries.openmetrics"
  case manifest = "run.json"
  case report = "report.html"
  case picture = "comparison.svg"
  case stability = "stability.csv"
  case stabilityPicture = "stability.svg"
  case escape = "escape.csv"
  case decision = "decision.csv"
  case suite
  case limit = "limit.csv"
  case limitPicture = "limit.svg"
  case live = "live.csv"
  case pareto = "pareto.csv"
  case paretoPicture = "pareto.svg"
  case fitted = "fitted.json5"
  case residuals = "residuals.csv"
  case calibrationPicture = "calibration.svg"
  case explorer = "explore.html"
  case settings = "settings.json"
  case documentSettings = "settings-document.json"
  case withoutCause = "without-cause.json"

  package var description: String { rawValue }

  package static func isTopLevel(_ name: String) -> Bool { FileName(rawValue: name) != nil }
}
