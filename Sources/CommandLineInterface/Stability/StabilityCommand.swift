import FleetExperiments
import FleetReports
import FleetStatistics
import ScenarioFormat
import ScenarioModel
import SimulationKernel

/// `fleetsim stability`: a map over two parameters, or the scenario by itself.
struct StabilityCommand: Study {
  static let document: CommandDocument<Findings<Stability>>? = Stability.document
  static let help = CommandSpecification(
    name: "stability", abstract: "Map over two parameters where the fleet recovers and where it rarely does.",
    discussion: [
      "Runs a coarse grid over the two ranges, each point with its twin without incidents, and refines it where "
        + "neighbouring points differ in whether most of their runs recover, at a fraction of the runs of a full grid. What is "
        + "smaller than a cell of the coarse grid and touches none of its corners stays unseen. To recover means: within the run; "
        + "--after gives every point the same time.",
      "Without --x and --y the scenario is one point. It says how likely it recovers and how long it takes to come back by chance.",
      "A point recovers if it does in more than 1 - risk of the seeds, with 95 % confidence (Wilson's interval); it rarely does if "
        + "in less than the risk; else it is undecided, and the cliff is named only where it is decided. Every point gets a few "
        + "seeds, which decide where it and its neighbours all agree; more are spent near the cliff. A risk of 20 % takes 4 seeds "
        + "everywhere and 16 to 32 near the cliff, 10 % takes 9 and 35 to 70, 5 % takes 19 and 73 to 146: about 1,000, 2,200 and "
        + "4,500 runs of an ordinary map.",
      "A run is ill that has not recovered after twice the time that is possible, at least 2 min. How long it takes to come back by "
        + "chance from there is said in the mean, with a 95 % interval. Runs that were still ill at their end count with their time.",
      "With --out it writes stability.csv, stability.svg, report.html and run.json; of one point escape.csv besides, with when its "
        + "runs recovered.",
    ],
    examples: [
      .init(
        "fleetsim stability s.json5 --x tapi.bucket.capacity=500/s..900/s --y tapi.incidents.0.for=1m..9m",
        "How long an outage may be, by capacity:"),
      .init(
        "fleetsim stability s.json5 --seeds 100 --after 4h",
        "How long this fleet stays ill, over a hundred seeds:"),
    ])

  @Argument(.scenario) private var path: String
  @Option(
    "x", "path=lo..hi", .range,
    help: "The first parameter, any key that holds a number, share, rate, span or size, as "
      + "tapi.bucket.capacity=500/s..2000/s; with :log behind it in even ratios. (default: the scenario is one point)"
  )
  private var x: QuantityRange?
  @Option("y", "path=lo..hi", .range, help: "The second, as tapi.incidents.0.for=1m..30m; with --x alone.")
  private var y: QuantityRange?
  @Option("resolution", "n", .count(2...512), help: "Cells along each axis where the cliff is.")
  private var fine = StabilityMap.Resolution().fine
  @Option("coarse", "n", .count(1...512), help: "Cells along each axis to begin with. (default: 4)")
  private var coarse: Int?
  @Option(
    "seeds", "n", .count(1...10_000),
    help:
      "Runs of a point at most, with as many seeds from the scenario's on. With fewer than the risk takes, points stay "
      + "undecided. (default: what the risk takes)")
  private var seeds: Int?
  @Option(
    "risk", "share", .share(10_000...500_000, "1% to 50%"),
    help:
      "The chance not to recover that is put up with, 1% to 50%; a quarter of it takes more than four times the runs. (default: 20%)"
  )
  private var tolerated = StabilityRisk().risk
  @Option(
    "after", "span", .span,
    help: "End every run so long after its last incident. (default: the scenario's duration)")
  private var after: Span?
  let options = StudyOptions()

  private var resolution: StabilityMap.Resolution {
    .init(coarse: coarse ?? min(StabilityMap.Resolution().coarse, fine), fine: fine)
  }
  private var risk: StabilityRisk { StabilityRisk(risk: tolerated, most: seeds) }

  /// The parameters of a map; nil: one point.
  private func axes() throws -> (x: QuantityRange, y: QuantityRange)? {
    guard let x, let y else {
      if x == nil, y == nil {
        if coarse != nil { throw UsageError("'--coarse' is of a map: give '--x' and '--y', too.") }
        return nil
      }
      let missing = x == nil ? "x" : "y"
      throw UsageError(
        "Missing expected option '--\(missing) <path=lo..hi>': a map has two parameters. Without both the scenario is one point."
      )
    }
    guard x.path != y.path else {
      throw UsageError("'--x' and '--y' both vary \(x.path); a map has two different parameters.")
    }
    let resolution = resolution
    guard resolution.coarse <= resolution.fine else {
      throw UsageError(
        "'--coarse' is \(resolution.coarse) and '--resolution' \(resolution.fine): the coarse grid has at most as many "
          + "cells as the fine one.")
    }
    return (x, y)
  }

  func plan(_ environment: CommandEnvironment) throws -> StudyPlan<Stability> {
    let axes = try axes()
    let input = try StudyInput(path, options, environment)
    let (loaded, base) = (input.loaded[0], input.bases[0])
    guard base.scenario.hasIncidents else {
      throw CommandFailure(
        .data,
        "\(loaded.path): tapi.incidents: there is no incident to recover from; a stability map needs one")
    }
    let facts = facts(base.scenario, isMap: axes != nil)
    let heading = input.heading(facts)
    guard let (x, y) = axes else {
      let scenario = ending(base.scenario)
      return StudyPlan(
        input, heading: heading, largest: [scenario],
        find: { runs in
          .single(try StabilityCase(scenario, risk: risk, run: runs.summaries.valuesUntilCancelled))
        }, isFinished: \.isFinished, answer: { $0.answer(facts: facts, own: nil, limit: nil) })
    }
    func own(_ path: String) -> Quantity? {
      Override.value(at: path, in: base.normalisedJSON).flatMap { Quantity($0) }
    }
    @Sendable func scenario(_ xValue: String, _ yValue: String) throws -> Scenario {
      let choice = VariantChoice(
        name: "", overrides: [Override(path: x.path, value: xValue), Override(path: y.path, value: yValue)])
      return ending(try loaded.decode(choice).scenario)
    }
    return StudyPlan(
      input, heading: heading, largest: try corners(x, y, scenario),
      find: { runs in
        .map(
          try StabilityMap(
            x: x, y: y, resolution: resolution, risk: risk, scenario: scenario,
            run: runs.summaries.valuesUntilCancelled))
      }, isFinished: \.isFinished,
      answer: { found in
        let own = own(x.path).flatMap { x in own(y.path).map { (x: x, y: $0) } }
        return found.answer(facts: facts, own: own, limit: limit(base.scenario, x, y))
      })
  }

  /// The longest queue whose waits end before the clients give up: beyond it the server may answer those who have gone.
  private func limit(_ scenario: Scenario, _ x: QuantityRange, _ y: QuantityRange) -> StabilityReport.Limit? {
    let path = "tapi.workers.queueLimit"
    let other = x.path == path ? y.path : x.path
    guard case .workers(let workers) = scenario.tapi.server, workers.serviceTimePerEvent == .zero,
      workers.queueTimeout == nil, workers.congestion == nil, workers.delayControl == nil,
      workers.serviceTime.mean > 0, let timeout = scenario.fleet.first?.timeout,
      scenario.fleet.allSatisfy({ $0.timeout == timeout }),
      !other.hasPrefix("tapi.workers"), !other.hasSuffix(".timeout"),
      let most = Int64(
        exactly: (Double(timeout.microseconds) * Double(workers.count) / workers.serviceTime.mean).rounded()),
      let value = Quantity("\(most)")
    else { return nil }
    return StabilityReport.Limit(
      path: path, value: value,
      words: "a full queue takes the clients’ time-out, \(FigureText.span(timeout.microseconds))")
  }

  // MARK: Scenarios

  /// The scenario until as long after its incidents as was asked for.
  private func ending(_ scenario: Scenario) -> Scenario {
    after.flatMap { scenario.ending(afterIncidents: $0) } ?? scenario
  }

  /// The scenarios at the four corners.
  /// - Throws: `ScenarioProblems` as of the command line.
  private func corners(
    _ x: QuantityRange, _ y: QuantityRange, _ scenario: (String, String) throws -> Scenario
  ) throws -> [Scenario] {
    let ends = [(x.low, y.low), (x.high, y.low), (x.low, y.high), (x.high, y.high)]
    do {
      return try ends.map { try scenario($0.0.text(), $0.1.text()) }
    } catch let problems as ScenarioProblems {
      throw problems.naming { $0 == y.path ? "--y" : "--x" }
    }
  }

  // MARK: Output

  private func facts(_ scenario: Scenario, isMap: Bool) -> String {
    let length =
      after.map { "until \(FigureText.span($0.microseconds)) after the last incident" }
      ?? FigureText.span(scenario.duration.microseconds)
    return
      "\(scenario.sizeText), \(length), risk \(FigureText.percent(risk.risk)), "
      + (!isMap
        ? FigureText.count(risk.most, "seed")
        : risk.first == risk.most
          ? FigureText.count(risk.most, "seed") + " a point"
          : "\(FigureText.count(risk.first, "seed")) a point, up to \(risk.most) where the cliff may be")
  }
}

/// Findings: a map, or one point.
enum Stability: Sendable {
  case map(StabilityMap)
  case single(StabilityCase)

  var isFinished: Bool {
    switch self {
    case .map(let map): map.isFinished
    case .single(let point): point.isFinished
    }
  }

  func answer(facts: String, own: (x: Quantity, y: Quantity)?, limit: StabilityReport.Limit?) -> Answer {
    switch self {
    case .map(let map): StabilityReport(map, own: own, limit: limit).answer(facts: facts)
    case .single(let point): EscapeReport(point).answer(facts: facts)
    }
  }

  private var sentence: String {
    switch self {
    case .map(let map): StabilityVerdict(map).sentence
    case .single(let point): point.sentence
    }
  }
  private var axes: (x: QuantityRange, y: QuantityRange)? {
    if case .map(let map) = self { (map.x, map.y) } else { nil }
  }
  private var risk: Double {
    switch self {
    case .map(let map): map.risk.risk
    case .single(let point): point.risk.risk
    }
  }
  private var rows: [StabilityMap.Row] {
    switch self {
    case .map(let map): map.table.rows
    case .single(let point): point.table.rows
    }
  }
  private var steps: [CensoredTimes.Step] {
    if case .single(let point) = self { point.steps } else { [] }
  }

  static let document = CommandDocument.study(
    "where the fleet recovers, point by point.",
    [
      .init("verdict", "What the map shows, in sentences.") { $0.sentence },
      .objectOrNull("x", "The first parameter; null: the scenario is one point.", axis) { $0.axes?.x },
      .objectOrNull("y", "The second parameter.", axis) { $0.axes?.y },
      .init("risk", "The chance of not recovering that is put up with.") { $0.risk },
      .rows("points", "The rows of `stability.csv`.", StabilityMap.columns) { $0.rows },
      .rows("recoveries", "The rows of `escape.csv`; none of a map.", EscapeTimes.columns) { $0.steps },
    ] as [JSONShape<Stability>.Member])

  private static let axis = JSONShape<QuantityRange>([
    .init("path", "A key of the scenario.") { $0.path },
    .init("low", "Where it begins.") { $0.low.text() },
    .init("high", "Where it ends.") { $0.high.text() },
    .init("isLogarithmic", "Whether its steps are even ratios.") { $0.isLogarithmic },
  ])
}
