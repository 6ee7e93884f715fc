import FleetExperiments
import TextEscaping

/// The answer of a study, for everyone who reads it: a story, tables, figures and files.
///
/// A study makes one from what it found; one writer (`StudyEnd`) turns it into a terminal's text, a directory with its
/// manifest, and a page.
///
/// ```swift
/// var answer = Answer(story, facts: "20,000 devices, 2 h")
/// answer.terminal = [.table(table)]
/// answer.page = [.table(table, title: "What was tried"), .terms([("Ill", "It does not come back.")])]
/// answer.data = [OutputFile(.limit, bytes)]
/// ```
package struct Answer: Sendable {
  package enum Part: Sendable {
    /// Sentences, each a point of its own.
    case list([String], title: String? = nil, note: String? = nil)
    case table(TextTable, title: String = "", note: String? = nil)
    /// An SVG element.
    case figure(String, title: String, caption: String)
    /// A text with its own lines.
    case text(String, title: String = "")
    case terms([(term: String, meaning: String)], title: String = "What the words mean")
    case html(String)
    /// Parts for whoever wants them, below a title.
    case folded([Part], title: String)
  }

  package var story: Story
  /// One line about what was asked, below the story of a page.
  package var facts: String
  /// Where its random numbers came from: `seed 1`.
  package var seeds: String?
  /// The parts of a terminal's text below the story.
  package var terminal: [Part] = []
  /// How many lines of the story a terminal has below what was required.
  package var mostLines = 10
  /// The parts that a terminal has where everything is asked for, below those.
  package var details: [Part] = []
  package var page: [Part] = []
  /// Files of data, whose digests the manifest has.
  package var data: [OutputFile] = []
  /// Files that only show the same.
  package var pictures: [OutputFile] = []

  package init(_ story: Story, facts: String = "") { (self.story, self.facts) = (story, facts) }

  /// `report.html`.
  /// - Parameters:
  ///   - command: the command line that makes this page again.
  ///   - scenarioJSON: the scenario as normalised, folded away.
  package func html(
    title: String, question: String?, command: String, scenarioJSON: String? = nil, version: String
  ) -> String {
    let version = seeds.map { "\(version), \($0)" } ?? version
    let scenario = scenarioJSON.map {
      """
      <details>
      <summary>The scenario as it was run</summary>
      <pre><code>\(Escaping.markup($0))</code></pre>
      </details>

      """
    }
    let lines = story.lines.map { line in
      "<div class=\"\(line.subject.rawValue)\"><dt>\(line.subject.rawValue)</dt>"
        + "<dd>\(Escaping.markup(line.text))</dd></div>\n"
    }
    let facts = [story.basis, facts].filter { !$0.isEmpty }.joined(separator: " · ")
    return HTMLPage.opening(title: title, question: question) + """
      <section class="verdict" aria-label="Verdict">
      <p class="lead">\(Escaping.markup(story.finding))</p>
      \(lines.isEmpty ? "" : "<dl class=\"story\">\n\(lines.joined())</dl>\n")</section>
      <p class="facts">\(Escaping.markup(facts))</p>
      \(page.map(\.html).joined())<section>
      \(HTMLPage.again(command))\(scenario ?? "")<p class="facts">fleetsim \(Escaping.markup(version))</p>
      </section>
      </main>
      </body>
      </html>

      """
  }

  /// The text that `--quiet` prints: the finding, and whether what was required is kept.
  package var brief: String { ([story.title] + story[.required]).joined(separator: "\n") + "\n" }

  /// Returns the text that a terminal shows.
  /// - Parameter isWhole: with all lines and parts.
  package func text(width: Int, isWhole: Bool = false) -> String {
    var text = story.text(atMost: isWhole ? .max : mostLines + story[.required].count)
    for part in terminal + (isWhole ? details : []) {
      switch part {
      case .list(let items, let title, _):
        text += title.map { $0 + "\n" } ?? ""
        for item in items { text += "- \(item)\n" }
      case .table(let table, _, _) where table.rows.isEmpty: break
      case .table(let table, let title, _):
        text += (title.isEmpty || !isWhole ? "" : "\n\(title)\n") + table.terminal(width: width)
      case .text(let lines, _): text += lines
      case .figure, .terms, .html, .folded: break
      }
    }
    return text
  }
}

extension Story {
  /// Returns the finding, and below it lines of the story, the subjects before them.
  fileprivate func text(atMost most: Int) -> String {
    // The next step is told in any case.
    let steps = lines.filter { $0.subject == .next }
    let others = lines.filter { $0.subject != .next }.prefix(max(0, most - steps.count))
    let shown = lines.count - most <= 1 ? lines : others + steps
    let margin = (shown.map(\.subject.rawValue.count).max() ?? 0) + 2
    let rest = lines.count - shown.count
    return title + "\n"
      + shown.map { line in
        let subject = line.subject.rawValue
        return subject + String(repeating: " ", count: margin - subject.count) + line.text + "\n"
      }.joined() + (rest > 0 ? "\(rest) more lines with --verbose\n" : "")
  }
}

extension Answer.Part {
  fileprivate var html: String {
    switch self {
    case .list(let items, let title, let note):
      HTMLPage.section(
        title ?? "", "<ul>\n\(items.map { "<li>\(Escaping.markup($0))</li>\n" }.joined())</ul>\n", note: note)
    case .table(let table, let title, let note): HTMLPage.section(title, table.html, note: note)
    case .figure(let svg, let title, let caption):
      HTMLPage.section(
        title,
        "<figure>\n\(caption.isEmpty ? "" : "<figcaption>\(Escaping.markup(caption))</figcaption>\n")"
          + "<div class=\"chart\">\n\(svg)</div>\n</figure>\n")
    case .text(let text, let title):
      HTMLPage.section(title, "<pre><code>\(Escaping.markup(text))</code></pre>\n")
    case .terms(let terms, let title):
      HTMLPage.folded(
        title,
        "<dl>\n"
          + terms.map { "<dt>\(Escaping.markup($0))</dt>\n<dd>\(Escaping.markup($1))</dd>\n" }.joined()
          + "</dl>\n")
    case .html(let html): html
    case .folded(let parts, let title): HTMLPage.folded(title, parts.map(\.html).joined())
    }
  }
}

/// A file of the output directory before it is written.
package struct OutputFile: Sendable, Hashable {
  /// Below the output directory: `summary.csv`, `full/timeseries.csv`.
  package var path: String
  package var bytes: [UInt8]

  package init(_ path: String, _ bytes: [UInt8]) {
    (self.path, self.bytes) = (path, bytes)
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
  case map = "map.svg"
  case decision = "decision.csv"
  case suite
  case limit = "limit.csv"
  case limitPicture = "limit.svg"
  case live = "live.csv"
  case pareto = "pareto.csv"
  case paretoPicture = "pareto.svg"
  case fitted = "fitted.json5"
  case calibrationPicture = "calibration.svg"
  case explorer = "explore.html"
  case settings = "settings.json"
  case documentSettings = "settings-document.json"
  case withoutCause = "without-cause.json"

  package var description: String { rawValue }
}
