import FleetExperiments
import FleetMetrics
import SimulationKernel

package struct ParetoRow: Sendable {
  fileprivate var number: Int64
  fileprivate var kind: Kind
  fileprivate var standing: Standing

  /// The columns that `pareto.csv` has of every search.
  package static let firstColumns: [CSVColumn<ParetoRow>] = [
    .init("candidate", "", "Its number; 0: the best finalist.") { .integer($0.number) },
    .init(
      "kind", "",
      "`recommended`, `finalist` (the best one, where it is not recommended), `today`, `front`, `beaten` or `broken` (a requirement)."
    ) {
      .text($0.kind.rawValue)
    },
    .init("seeds", "runs", "Seeds that it had.") { .integer(Int64($0.standing.seeds)) },
    .init("scale", "", "The part of the fleets that it had: `1:1`, the whole.") {
      .text($0.standing.scale.text)
    },
    .init("violations_ratio", "1", "Share of the runs that do not recover or break a requirement.") {
      .decimal($0.standing.violations, decimals: 6)
    },
    .init("score_ratio", "1", "The score divided by today's; below 1 is better.") {
      ratio($0.standing.score)
    },
  ]

  fileprivate static func ratio(_ log: Double) -> CSVValue {
    .decimal(DeterministicMath.exp(log), decimals: 6)
  }

  /// A candidate's part in the picture, in the order of drawing, as `pareto.csv` has it.
  fileprivate enum Kind: String, CaseIterable {
    case broken, beaten, front, today, finalist, recommended

    var drawing: (words: String, look: Chart.Dot.Look, ink: Ink) {
      switch self {
      case .broken: ("does not always recover, or breaks a requirement", .point(width: 3), .incident)
      case .beaten: ("beaten by another candidate", .point(width: 4), .other)
      case .front: ("on the Pareto front", .point(width: 6), .text)
      case .today: ("today's Settings", .ring, .text)
      case .finalist: ("best finalist, not recommended", .star, .other)
      case .recommended: ("recommended", .star, .accent)
      }
    }
  }
}

extension TuneResult {
  /// The rows of `pareto.csv`: the best finalist first, then every candidate in the order of the search.
  package var rows: [ParetoRow] {
    let front = Set(front)
    let stays = isToday && unmet == nil
    let first = isRecommended || stays ? ParetoRow.Kind.recommended : .finalist
    return [ParetoRow(number: 0, kind: first, standing: winner)]
      + standings.enumerated().map { index, standing in
        let kind: ParetoRow.Kind =
          standing.candidate == today.candidate
          ? .today : standing.violations > 0 ? .broken : front.contains(index) ? .front : .beaten
        return ParetoRow(number: Int64(index + 1), kind: kind, standing: standing)
      }
  }

  /// The first columns of `pareto.csv`, and one for each key, objective and scenario.
  package var columns: [CSVColumn<ParetoRow>] {
    let keys = study.space.parameters.enumerated().map { index, parameter in
      CSVColumn<ParetoRow>(parameter.path, "", "Its value.") {
        .text(value(index, of: $0.standing.candidate))
      }
    }
    let objectives = study.objectives.enumerated().map { index, objective in
      CSVColumn<ParetoRow>("\(objective.metric.name)_vs_today_ratio", "1", "Divided by today's.") {
        ParetoRow.ratio(coordinates($0.standing)[index])
      }
    }
    let scenarios = study.scenarios.enumerated().map { index, scenario in
      CSVColumn<ParetoRow>("\(scenario)_score_ratio", "1", "The score divided by today's.") {
        ParetoRow.ratio($0.standing.scenarioScores[index])
      }
    }
    return ParetoRow.firstColumns + keys + objectives + scenarios
  }

  /// The Settings to publish, why each key is changed, and how they fare against today's.
  /// - Parameters:
  ///   - settings: to publish, as the CDN serves them and in the document's shape; nil: none are recommended.
  ///   - readings: what the clients make of them.
  package func answer(
    _ story: Story, facts: String, settings: (cdn: String, document: String)?,
    readings: [String]
  ) -> Answer {
    var answer = Answer(story, facts: facts)
    let figures: [Answer.Part] =
      decision.map {
        [
          .table(
            $0.figures, title: "Against today's Settings",
            note: "Proposed is "
              + "\(isRecommended ? "what is recommended" : "the best finalist, which is not recommended"). "
              + "Means over the fresh seeds that both have, on which no choice was based; failures are of all runs."
          )
        ]
      } ?? []
    answer.details = figures
    answer.page = [
      .figure(
        chart.html, title: "Candidates",
        caption:
          "Each against today's Settings under the same seeds, as a geometric mean over the scenarios; left and down is "
          + "better. Hover a mark for its Settings.")
    ]
    answer.data = [OutputFile(.pareto, CSVFile.bytes(columns, rows))]
    if let settings { answer.page.append(.text(settings.cdn, title: "The Settings to publish")) }
    if let decision {
      answer.page.append(.folded(figures, title: "What was better or worse?"))
      answer.data.append(OutputFile(.decision, CSVFile.bytes(Decision.columns, decision.rows)))
    }
    if !readings.isEmpty {
      answer.details.append(.list(readings, title: "What the clients make of these Settings"))
      answer.page.append(.folded([.list(readings)], title: "What do the clients make of them?"))
    }
    if let settings {
      answer.data += [
        OutputFile(.settings, text: settings.cdn), OutputFile(.documentSettings, text: settings.document),
      ]
    }
    let objectives = study.objectives.map { ($0.metric.title, $0.metric.definition) }
    answer.page.append(.terms(PageWords.tune.terms + PageWords.decision.terms + objectives))

    answer.pictures = [OutputFile(.paretoPicture, text: chart.svg)]
    return answer
  }

  // MARK: Picture

  /// A plot for each objective in which candidates differ, against that in which they differ most; the score stands in where there
  /// is one alone.
  package var chart: Chart {
    let rows = rows
    let points = ParetoRow.Kind.allCases.flatMap { kind in rows.filter { $0.kind == kind } }.map { row in
      (row: row, coordinates: coordinates(row.standing) + [row.standing.score])
    }
    let titles = study.objectives.map(\.metric.title) + ["score"]
    let axes = titles.enumerated().map { axis, title in
      let values = points.filter { $0.row.kind != .broken }.map { $0.coordinates[axis] } + [0]
      let (low, high) = (max(values.min() ?? 0, -2.5), min(values.max() ?? 0, 2.5))
      let margin = max((high - low) * 0.08, 0.03)
      return Axis.ticked(low - margin...high + margin, title: "\(title) →", Self.ratios)
    }
    let objectives = axes.indices.dropLast().filter { axes[$0].length > 0.07 }
    let first = objectives.max { axes[$0].length < axes[$1].length } ?? 0
    let others = objectives.count > 1 ? objectives.filter { $0 != first } : [axes.count - 1]
    let panels = others.map { axis in
      Chart.Panel(
        name: "↑ " + titles[axis], y: axes[axis], height: 220,
        dots: points.map { point in
          let (words, look, ink) = point.row.kind.drawing
          return Chart.Dot(
            x: point.coordinates[first], y: point.coordinates[axis], look: look, ink: ink,
            name: words, details: details(point.row, zip(titles.dropLast(), point.coordinates)))
        })
    }
    return Chart(
      title: story.finding,
      description:
        "Candidates by \(([first] + others).map { titles[$0] }.joined(separator: ", ")), relative to today's Settings",
      sections: [Chart.Section(x: axes[first], panels: panels, columns: min(panels.count, 2))])
  }

  private func details(_ row: ParetoRow, _ coordinates: some Sequence<(String, Double)>) -> String {
    let standing = row.standing
    var lines = [row.kind.drawing.words]
    if standing.violations > 0 {
      lines[0] += ": \(FigureText.decimal(standing.violations * 100, decimals: 1)) % of its runs"
    }
    if row.kind == .today { return lines[0] }
    lines += study.space.parameters.indices.map { "\(path($0)): \(value($0, of: standing.candidate))" }
    lines += coordinates.map { "\($0): \(Self.change($1)) against today" }
    lines.append(
      "score: \(Quantity.decimal(standing.ratio)), \(FigureText.count(standing.seeds, "seed"))"
        + (standing.scale == .whole ? "" : " of \(standing.scale.text) of the fleet"))
    return lines.joined(separator: "\n")
  }

  /// ln of a ratio as `-42 %` or, from twice as much on, `× 2.5`.
  private static func change(_ logRatio: Double) -> String {
    let ratio = DeterministicMath.exp(logRatio)
    if ratio >= 1.995 { return "× " + Quantity.decimal(ratio, digits: 2) }
    let tenths = Int64(((ratio - 1) * 1_000).rounded())
    if tenths == 0 { return "± 0 %" }
    let text = abs(tenths) >= 100 ? "\((abs(tenths) + 5) / 10)" : "\(abs(tenths) / 10).\(abs(tenths) % 10)"
    return (tenths < 0 ? "-" : "+") + text + " %"
  }

  /// Ratios that people know by their logarithms; those first that stay where room is short.
  private static let ratios: [Axis.Tick] = [
    (1, "today"), (0.1, "÷ 10"), (0.25, "÷ 4"), (0.5, "÷ 2"), (2, "× 2"), (4, "× 4"), (10, "× 10"),
    (0.7, "−30 %"), (1.4, "+40 %"), (0.8, "−20 %"), (1.2, "+20 %"), (0.9, "−10 %"), (1.1, "+10 %"),
    (0.95, "−5 %"), (1.05, "+5 %"), (0.98, "−2 %"), (1.02, "+2 %"), (0.99, "−1 %"), (1.01, "+1 %"),
  ].map { Axis.Tick(value: DeterministicMath.log($0), label: $1) }
}
