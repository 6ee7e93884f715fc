import FleetExperiments
import FleetMetrics

/// The files of a search: page, picture, table of candidates.
package struct TuneReport {
  private let result: TuneResult
  package init(_ result: TuneResult) { self.result = result }

  /// A picture that stands alone: white background, fixed colours, no script.
  package var picture: String { ParetoPlot(result, theme: .fixed).svg() }

  /// `pareto.csv`: the recommended Settings first, then every candidate in the order of the search.
  package var table: [UInt8] {
    let study = result.study
    var header = ["candidate", "kind", "seeds", "violations_ratio", "score_ratio"]
    header += study.space.parameters.map(\.path)
    header += study.objectives.map { "\($0.metric.name)_vs_today_ratio" }
    header += study.scenarios.map { "\($0)_score_ratio" }
    let front = Set(result.front)
    var rows = [row(result.winner, number: 0, kind: .recommended)]
    for (index, standing) in result.standings.enumerated() {
      let kind: ParetoPlot.Kind =
        standing.candidate == result.today.candidate
        ? .today : standing.violations > 0 ? .broken : front.contains(index) ? .front : .beaten
      rows.append(row(standing, number: index + 1, kind: kind))
    }
    let lines = ([header] + rows).map { $0.map(Self.field).joined(separator: ",") + "\n" }
    return Array(lines.joined().utf8)
  }

  private func row(_ standing: Standing, number: Int, kind: ParetoPlot.Kind) -> [String] {
    func ratio(_ log: Double) -> String { Self.fixed(TuneVerdict.ratio(log)) }
    var fields = [
      "\(number)", kind.name, "\(standing.seeds)", Self.fixed(standing.violations), ratio(standing.score),
    ]
    fields += result.study.space.parameters.indices.map { result.value($0, of: standing.candidate) }
    fields += result.coordinates(standing).map(ratio)
    return fields + standing.scenarioScores.map(ratio)
  }

  /// Six decimals.
  private static func fixed(_ value: Double) -> String {
    guard let scaled = Int64(exactly: (value * 1e6).rounded()), scaled >= 0 else { return "" }
    let digits = String(scaled % 1_000_000)
    return "\(scaled / 1_000_000)." + String(repeating: "0", count: 6 - digits.count) + digits
  }

  private static func field(_ text: String) -> String {
    guard text.contains(where: { ",\"\n\r".contains($0) }) else { return text }
    return "\"" + text.replacing("\"", with: "\"\"") + "\""
  }

  /// `report.html`: verdict, what each key buys, candidates, comparison with today's, the Settings to publish.
  package func page(
    title: String, facts: String, settings: String?, command: String, version: String
  ) -> String {
    let verdict = TuneVerdict(result)
    var sections = ""
    let keys = verdict.keySentences
    if !keys.isEmpty {
      sections += "<section>\n<h2>What each key buys</h2>\n<ul>\n"
      for sentence in keys { sections += "<li>\(Markup.escape(sentence))</li>\n" }
      sections += """
        </ul>
        <p class="facts">Measured by putting that one key back to today's value, with the same seeds; changes are over all \
        scenarios, in brackets 95 % intervals. Objectives without a difference that could be measured are left out.</p>
        </section>

        """
    }
    if !verdict.comparisons.isEmpty {
      sections += "<section>\n<h2>Scenario by scenario</h2>\n<ul>\n"
      for sentence in verdict.comparisons { sections += "<li>\(Markup.escape(sentence))</li>\n" }
      sections += "</ul>\n</section>\n"
    }
    let comparison = verdict.comparison
    sections += HTMLPage.table(
      "Against today's Settings", header: comparison.header, rows: comparison.rows,
      note:
        "Means over \(result.winner.seeds) fresh \(FigureText.noun("seed", result.winner.seeds)), on which no choice was based: "
        + "today → recommended."
    )
    sections += HTMLPage.figure(
      "Candidates",
      "Each against today's Settings under the same seeds, as a geometric mean over the scenarios; left and down is "
        + "better. Hover a mark for its Settings.", ParetoPlot(result, theme: .variables).svg())
    if let settings {
      sections +=
        "<section>\n<h2>The Settings to publish</h2>\n<pre><code>\(Markup.escape(settings))</code></pre>\n</section>\n"
    }
    sections += HTMLPage.terms(Self.terms(result))
    return HTMLPage(
      title: title, question: nil, verdict: verdict.sentence, facts: facts, sections: sections,
      command: command,
      version: version
    ).text
  }

  private static func terms(_ result: TuneResult) -> [(String, String)] {
    [
      (
        "Score",
        "The geometric mean of the objectives divided by today's, run by run with the same seed; 1 is as today, smaller is "
          + "better. A floor is added to both (a thousandth of the events created, ten seconds, a tenth of the twin's attempts), "
          + "so that none against a few counts as little. What neither has, as a recovery without an incident, has no weight."
      ),
      (
        "Holds",
        "A setting is recommended only if in each scenario its runs recover and keep the constraints more often than today's, or "
          + "as often with a score at most 5 % above today's; if no scenario delivers less than today, and compare's verdict "
          + "ranks it behind today in none; and if fresh seeds confirm all of that and a score below 1."
      ),
      (
        "Pareto front",
        "Candidates that no other candidate beats in one objective without being beaten in another."
      ),
    ]
      + result.study.objectives.map { (TuneVerdict(result).title($0), $0.metric.definition) }
  }
}
