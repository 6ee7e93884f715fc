import FleetExperiments
import FleetMetrics

/// The files of a search: page, picture, table of candidates.
package struct TuneReport {
  private let result: TuneResult
  package init(_ result: TuneResult) { self.result = result }

  /// A picture that stands alone: for light and dark pages, no script.
  package var picture: String { ParetoPlot(result, theme: .fixed).svg() }

  /// `pareto.csv`: the best finalist first, then every candidate in the order of the search.
  package var table: [UInt8] { CSVFile.bytes(columns, rows) }

  /// One line of `pareto.csv`.
  package struct Row: Sendable {
    fileprivate var number: Int64
    fileprivate var kind: ParetoPlot.Kind
    fileprivate var standing: Standing
  }

  package var rows: [Row] {
    let front = Set(result.front)
    return [Row(number: 0, kind: .winner(result), standing: result.winner)]
      + result.standings.enumerated().map { index, standing in
        let kind: ParetoPlot.Kind =
          standing.candidate == result.today.candidate
          ? .today : standing.violations > 0 ? .broken : front.contains(index) ? .front : .beaten
        return Row(number: Int64(index + 1), kind: kind, standing: standing)
      }
  }

  /// The columns that `pareto.csv` has of every search.
  package static let firstColumns: [CSVColumn<Row>] = [
    .init("candidate", "", "Its number; 0: the best finalist.") { .integer($0.number) },
    .init(
      "kind", "",
      "`recommended`, `finalist` (the best one, where it is not recommended), `today`, `front`, `beaten` or `broken` (a constraint)."
    ) {
      .text($0.kind.name)
    },
    .init("seeds", "runs", "Seeds that it had.") { .integer(Int64($0.standing.seeds)) },
    .init("scale", "", "The part of the fleets that it had: `1:1`, the whole.") {
      .text($0.standing.scale.text)
    },
    .init("violations_ratio", "1", "Share of the runs that do not recover or break a constraint.") {
      .decimal($0.standing.violations, decimals: 6)
    },
    .init("score_ratio", "1", "The score divided by today's; below 1 is better.") {
      ratio($0.standing.score)
    },
  ]

  /// Those, and one for each key, objective and scenario.
  package var columns: [CSVColumn<Row>] {
    let (result, study) = (result, result.study)
    let keys = study.space.parameters.enumerated().map { index, parameter in
      CSVColumn<Row>(parameter.path, "", "Its value.") {
        .text(result.value(index, of: $0.standing.candidate))
      }
    }
    let objectives = study.objectives.enumerated().map { index, objective in
      CSVColumn<Row>("\(objective.metric.name)_vs_today_ratio", "1", "Divided by today's.") {
        Self.ratio(result.coordinates($0.standing)[index])
      }
    }
    let scenarios = study.scenarios.enumerated().map { index, scenario in
      CSVColumn<Row>("\(scenario)_score_ratio", "1", "The score divided by today's.") {
        Self.ratio($0.standing.scenarioScores[index])
      }
    }
    return Self.firstColumns + keys + objectives + scenarios
  }

  private static func ratio(_ log: Double) -> CSVValue { .decimal(TuneVerdict.ratio(log), decimals: 6) }

  /// The Settings to publish, why each key is changed, and how they fare against today's.
  /// - Parameters:
  ///   - settings: to publish, as the CDN serves them and in the document's shape; nil: none are recommended.
  ///   - clients: what each shipped client makes of them.
  package func answer(
    facts: String, settings: (cdn: String, document: String)?, clients: [(client: String, lines: [String])]
  ) -> Answer {
    let verdict = TuneVerdict(result)
    let comparison = TextTable(header: verdict.comparison.header, rows: verdict.comparison.rows)
    var answer = Answer(verdict.story, facts: facts)
    answer.details =
      [.table(comparison, title: "Against today's")]
      + clients.map { .list($0.lines, title: "What \($0.client) makes of these Settings:") }
    let (fresh, all) = (result.confirmed.winner.seeds, result.confirmed.winner.runs)
    answer.page += [
      .table(
        comparison, title: "Against today's Settings",
        note:
          "Means over \(fresh) fresh \(FigureText.noun("seed", fresh)), on which no choice was based"
          + (all > fresh
            ? "; \(all - fresh) more of the new Settings alone tell only how many runs fail, lose events or break a constraint. "
            : ". ") + "New is "
          + "\(result.isRecommended ? "what is recommended" : "the best finalist, which is not recommended")."
      ),
      .figure(
        ParetoPlot(result, theme: .variables).svg(), title: "Candidates",
        caption:
          "Each against today's Settings under the same seeds, as a geometric mean over the scenarios; left and down is "
          + "better. Hover a mark for its Settings."),
    ]
    if let settings { answer.page.append(.text(settings.cdn, title: "The Settings to publish")) }
    answer.page.append(.terms(Self.terms(result)))

    let published =
      settings.map {
        [OutputFile(.settings, text: $0.cdn), OutputFile(.documentSettings, text: $0.document)]
      } ?? []
    answer.data = [OutputFile(.pareto, table)] + published
    answer.pictures = [OutputFile(.paretoPicture, text: picture)]
    return answer
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
        "Shown",
        "By compare's rule, on fresh seeds: better; as good (the 90 % interval of the difference lies within what matters); not worse "
          + "(nothing that the interval leaves open is worse by what matters); worse; not decided. "
          + "Failures and lost events that no run has shown are excluded by 59 runs. "
          + "Settings are recommended only if no criterion in any scenario is worse or not decided, and one is better."
      ),
      (
        "Pareto front",
        "Candidates that no other candidate beats in one objective without being beaten in another."
      ),
    ] + result.study.objectives.map { (TuneVerdict(result).title($0), $0.metric.definition) }
  }
}

/// Candidates of a search by what they cost in the objectives, relative to today's Settings.
struct ParetoPlot {
  private let result: TuneResult
  private let theme: Theme
  private let points: [Point]
  private let titles: [String]
  private let limits: [ClosedRange<Double>]

  private struct Point {
    /// ln of the ratio to today's, one for each objective.
    var coordinates: [Double]
    var kind: Kind
    var tooltip: String
  }
  /// In the order in which they are drawn.
  enum Kind: Comparable {
    case broken, beaten, front, today, finalist, recommended

    /// As `pareto.csv` has it.
    var name: String { "\(self)" }

    /// Returns the kind of the best finalist.
    static func winner(_ result: TuneResult) -> Kind {
      let stays = result.isToday && result.unmetConstraints == nil
      return result.isRecommended || stays ? .recommended : .finalist
    }
  }

  private static let width = Lettering.pictureWidth
  private static let left = 74.0
  private static let gap = 84.0
  private static let plotHeight = 220.0
  /// The height of a row of panels, with the parts above and below them.
  private static let pitch = plotHeight + 92

  init(_ result: TuneResult, theme: Theme) {
    self.result = result
    self.theme = theme
    let verdict = TuneVerdict(result)
    var titles = result.study.objectives.map(verdict.title)
    if titles.count == 1 { titles.append("score") }
    self.titles = titles
    let points = TuneReport(result).rows.map { Self.point($0.standing, $0.kind, result, titles) }
      .sorted { $0.kind < $1.kind }
    self.points = points
    limits = titles.indices.map { axis in
      let values = points.filter { $0.kind != .broken }.map { $0.coordinates[axis] } + [0]
      let (low, high) = (max(values.min() ?? 0, -2.5), min(values.max() ?? 0, 2.5))
      let margin = max((high - low) * 0.08, 0.03)
      return low - margin...high + margin
    }
  }

  private static func point(_ standing: Standing, _ kind: Kind, _ result: TuneResult, _ titles: [String])
    -> Point
  {
    var coordinates = result.coordinates(standing)
    if coordinates.count == 1 { coordinates.append(standing.score) }
    let verdict = TuneVerdict(result)
    var lines = [
      kind.words
        + (standing.violations > 0
          ? ": \(Humanised.decimal(standing.violations * 100, decimals: 1)) % of its runs" : "")
    ]
    if kind != .today {
      lines += result.study.space.parameters.indices.map {
        "\(verdict.path($0)): \(result.value($0, of: standing.candidate))"
      }
      lines += zip(titles, coordinates).map { "\($0): \(TuneVerdict.change($1)) against today" }
      lines.append(
        "score: \(TuneVerdict.decimal(standing.ratio)), \(standing.seeds) \(FigureText.noun("seed", standing.seeds))"
          + (standing.scale == .whole ? "" : " of \(standing.scale.text) of the fleet"))
    }
    return Point(coordinates: coordinates, kind: kind, tooltip: lines.joined(separator: "\n"))
  }

  /// The finding, for a picture that stands alone.
  private var title: String { TuneVerdict(result).story.finding }

  func svg() -> String {
    var canvas = SVGCanvas(theme: theme)
    let top = theme == .fixed ? canvas.drawTitle(title) + 8 : 14
    let panels = titles.count - 1
    let columns = min(panels, 2)
    let width = (Self.width - Self.left - Self.gap * Double(columns - 1) - 16) / Double(max(columns, 1))
    for panel in 0..<panels {
      draw(
        panel + 1, x: Self.left + Double(panel % 2) * (width + Self.gap),
        top: top + 32 + Double(panel / 2) * Self.pitch, width: width, on: &canvas)
    }
    let height = drawLegend(top: top + Double((panels + 1) / 2) * Self.pitch + 4, on: &canvas)
    let label = "Candidates by \(titles.joined(separator: ", ")), relative to today's Settings"
    return canvas.svg(
      width: Self.width, height: height, label: theme == .fixed ? title : label, description: label)
  }

  private func draw(_ axis: Int, x left: Double, top: Double, width: Double, on canvas: inout SVGCanvas) {
    let bottom = top + Self.plotHeight
    func px(_ value: Double) -> Double {
      left + Self.share(value, limits[0]) * width
    }
    func py(_ value: Double) -> Double { bottom - Self.share(value, limits[axis]) * Self.plotHeight }

    canvas.text(
      "↑ " + titles[axis], x: left - 58, y: top - 12, size: Lettering.label, ink: .text, isBold: true)
    for tick in Self.ticks(limits[0], apart: 64 / width) {
      canvas.line(px(tick.value), top, px(tick.value), bottom, ink: .grid)
      canvas.text(tick.label, x: px(tick.value), y: bottom + 18, size: Lettering.small, anchor: .middle)
    }
    canvas.drawRatios(limits[axis], x: left, width: width, height: Self.plotHeight, py: py)
    canvas.line(px(0), top, px(0), bottom, ink: .twin, dash: "4 3")
    canvas.line(left, py(0), left + width, py(0), ink: .twin, dash: "4 3")
    canvas.text(
      titles[0] + " →", x: left + width, y: bottom + 40, size: Lettering.label, anchor: .end, ink: .text,
      isBold: true)
    let places = points.map { (x: px($0.coordinates[0]), y: py($0.coordinates[axis])) }
    for kind in [Kind.broken, .beaten, .front] {
      canvas.dots(zip(points, places).filter { $0.0.kind == kind }.map(\.1), ink: kind.ink, width: kind.width)
    }
    for (point, place) in zip(points, places) where point.kind >= .today {
      mark(point.kind, x: place.x, y: place.y, on: &canvas)
    }
    guard theme == .variables else { return }
    for (point, place) in zip(points, places) {
      canvas.hover(x: place.x - 5, y: place.y - 5, width: 10, height: 10, tooltip: point.tooltip)
    }
  }

  private func mark(_ kind: Kind, x: Double, y: Double, on canvas: inout SVGCanvas) {
    switch kind {
    case .broken, .beaten, .front: canvas.dots([(x, y)], ink: kind.ink, width: kind.width)
    case .today: canvas.path(Self.circle(x, y, 5), fill: .surface, stroke: .text, width: 2)
    case .finalist, .recommended:
      let (a, b) = (9.0, 3.4)
      let offsets = [(0, -a), (b, -b), (a, 0), (b, b), (0, a), (-b, b), (-a, 0), (-b, -b)]
      let data = offsets.enumerated().map { index, offset in
        "\(index == 0 ? "M" : "L")\(SVGCanvas.px(x + offset.0)) \(SVGCanvas.px(y + offset.1))"
      }
      canvas.path(
        data.joined() + "z", fill: kind == .finalist ? .surface : .accent,
        stroke: kind == .finalist ? .accent : .surface, width: 1)
    }
  }

  static func circle(_ x: Double, _ y: Double, _ r: Double) -> String {
    let (d, r) = (SVGCanvas.px(2 * r), SVGCanvas.px(r))
    return "M\(SVGCanvas.px(x)) \(SVGCanvas.px(y))m-\(r) 0a\(r) \(r) 0 1 0 \(d) 0a\(r) \(r) 0 1 0 -\(d) 0"
  }

  private func drawLegend(top: Double, on canvas: inout SVGCanvas) -> Double {
    let shown: [Kind] = [.recommended, .finalist, .today, .front, .beaten, .broken]
    let present = shown.filter { kind in points.contains { $0.kind == kind } }
    return canvas.drawLegend(
      present.map { $0 == .today ? "today" : $0.words }, y: top + 20, width: Self.width
    ) { mark(present[$0], x: $1, y: $2, on: &$3) }
  }

  private static func share(_ value: Double, _ limits: ClosedRange<Double>) -> Double {
    min(max((value - limits.lowerBound) / (limits.upperBound - limits.lowerBound), 0), 1)
  }

  /// Ratios that people know, no two closer than a share `apart` of the axis.
  static func ticks(_ limits: ClosedRange<Double>, apart: Double) -> [(value: Double, label: String)] {
    let steps: [[(Double, String)]] = [
      [
        (0.1, "÷ 10"), (0.25, "÷ 4"), (0.5, "÷ 2"), (0.7, "-30 %"), (1, "today"), (1.4, "+40 %"), (2, "× 2"),
        (4, "× 4"), (10, "× 10"),
      ],
      [
        (0.5, "-50 %"), (0.6, "-40 %"), (0.7, "-30 %"), (0.8, "-20 %"), (0.9, "-10 %"), (1, "today"),
        (1.1, "+10 %"),
        (1.2, "+20 %"), (1.35, "+35 %"), (1.5, "+50 %"),
      ],
      [
        (0.9, "-10 %"), (0.95, "-5 %"), (0.98, "-2 %"), (0.99, "-1 %"), (1, "today"), (1.01, "+1 %"),
        (1.02, "+2 %"),
        (1.05, "+5 %"), (1.1, "+10 %"),
      ],
    ]
    let width = limits.upperBound - limits.lowerBound
    let chosen = width > 1.4 ? steps[0] : width > 0.3 ? steps[1] : steps[2]
    let inside = chosen.map { (value: Scale.log2($0.0) * 0.693_147_180_559_945_3, label: $0.1) }
      .filter { limits.contains($0.value) }
    var kept: [(value: Double, label: String)] = []
    for tick in inside {
      if let last = kept.last, tick.value - last.value < width * apart {
        if tick.value == 0 { kept[kept.count - 1] = tick }
        continue
      }
      kept.append(tick)
    }
    return kept
  }
}

extension ParetoPlot.Kind {
  /// The colour of the kinds that are dots.
  fileprivate var ink: Ink { self == .front ? .text : self == .beaten ? .other : .incident }
  fileprivate var width: Double { self == .front ? 6 : self == .beaten ? 4 : 3 }

  var words: String {
    switch self {
    case .broken: "does not always recover, or breaks a constraint"
    case .beaten: "beaten by another candidate"
    case .front: "on the Pareto front"
    case .today: "today's Settings"
    case .finalist: "best finalist, not recommended"
    case .recommended: "recommended"
    }
  }
}

extension SVGCanvas {
  /// The title of a picture that stands alone.
  /// - Returns: the base line of its last line.
  mutating func drawTitle(_ title: String, top: Double = 9) -> Double {
    var y = top
    for line in Lettering.titleLines(title) {
      y += Lettering.titleLine
      text(line, x: Lettering.margin, y: y, size: Lettering.title, ink: .text, isBold: true)
    }
    return y
  }

  /// Dots of one colour, as one path.
  fileprivate mutating func dots(_ places: [(x: Double, y: Double)], ink: Ink, width: Double) {
    let data = places.map { "M\(Self.px($0.x)) \(Self.px($0.y))h0" }
    path(data.joined(), stroke: ink, width: width, hasRoundEnds: true)
  }

  /// Texts in rows, each with its mark, which is drawn by its number and place.
  /// - Returns: where it ends.
  fileprivate mutating func drawLegend(
    _ texts: [String], y top: Double, width: Double, mark: (Int, Double, Double, inout SVGCanvas) -> Void
  ) -> Double {
    var (x, y) = (26.0, top)
    for (index, name) in texts.enumerated() {
      let name = Lettering.fitting(name, width: width - 60, size: Lettering.small)
      let length = Lettering.width(of: name, size: Lettering.small) + 40
      if x + length > width, x > 26 { (x, y) = (26, y + 24) }
      mark(index, x, y - 5, &self)
      text(name, x: x + 14, y: y, size: Lettering.small, ink: .text)
      x += length
    }
    return y + 16
  }

  /// The vertical axis of a plot of ratios to today's.
  fileprivate mutating func drawRatios(
    _ limits: ClosedRange<Double>, x left: Double, width: Double, height: Double, py: (Double) -> Double
  ) {
    for tick in ParetoPlot.ticks(limits, apart: 24 / height) {
      line(left, py(tick.value), left + width, py(tick.value), ink: .grid)
      text(tick.label, x: left - 6, y: py(tick.value) + 5, size: Lettering.small, anchor: .end)
    }
  }
}
