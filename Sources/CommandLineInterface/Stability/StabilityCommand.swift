import FleetExperiments
import FleetReports
import ScenarioFormat
import ScenarioModel
import SimulationKernel

/// `fleetsim stability`: a map over two parameters.
struct StabilityCommand: Study {
  static let document: CommandDocument<Findings<StabilityMap>>? = StabilityMap.document
  static let help = CommandSpecification(
    name: "stability", abstract: "Map over two parameters where the fleet recovers and where it rarely does.",
    discussion: [
      "Runs a coarse grid over the two ranges, each point with its twin without incidents, and refines it where "
        + "neighbouring points differ in whether most of their runs recover, at a fraction of the runs of a full grid. What is "
        + "smaller than a cell of the coarse grid and touches none of its corners stays unseen. To recover means: within the run; "
        + "--after gives every point the same time.",
      "A point recovers if it does in more than 1 - risk of the seeds, with 95 % confidence (Wilson's interval); it rarely does if "
        + "in less than the risk; else it is undecided, and the cliff is named only where it is decided. Every point gets a few "
        + "seeds, which decide where it and its neighbours all agree; more are spent near the cliff. A risk of 20 % takes 4 seeds "
        + "everywhere and 16 to 32 near the cliff, 10 % takes 9 and 35 to 70, 5 % takes 19 and 73 to 146: about 1,000, 2,200 and "
        + "4,500 runs of an ordinary map.",
      "With --out it writes stability.csv, stability.svg, report.html and run.json.",
    ],
    examples: [
      .init(
        "fleetsim stability s.json5 --x tapi.bucket.capacity=500/s..900/s --y tapi.incidents.0.for=1m..9m",
        "How long an outage may be, by capacity:")
    ])

  @Argument(.scenario) private var path: String
  @Option(
    "x", "path=lo..hi", .range,
    help: "The first parameter, any key that holds a number, share, rate, span or size, as "
      + "tapi.bucket.capacity=500/s..2000/s; with :log behind it in even ratios.")
  private var x: QuantityRange
  @Option("y", "path=lo..hi", .range, help: "The second, as tapi.incidents.0.for=1m..30m.")
  private var y: QuantityRange
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

  private func check() throws {
    guard x.path != y.path else {
      throw UsageError("'--x' and '--y' both vary \(x.path); a map has two different parameters.")
    }
    let resolution = resolution
    guard resolution.coarse <= resolution.fine else {
      throw UsageError(
        "'--coarse' is \(resolution.coarse) and '--resolution' \(resolution.fine): the coarse grid has at most as many "
          + "cells as the fine one.")
    }
  }

  func plan() throws -> StudyPlan<StabilityMap> {
    try check()
    let input = try StudyInput(path, options)
    let (loaded, base) = (input.loaded[0], input.bases[0])
    guard !base.scenario.tapi.incidents.isEmpty else {
      throw CommandFailure(
        .data,
        "\(loaded.path): tapi.incidents: there is no incident to recover from; a stability map needs one")
    }
    func own(_ path: String) -> Quantity? {
      Override.value(at: path, in: base.normalisedJSON).flatMap { Quantity($0) }
    }
    let facts = facts(base.scenario)
    return StudyPlan(
      input, heading: input.heading(facts), largest: try corners(loaded),
      find: { runs in
        try StabilityMap(
          x: x, y: y, resolution: resolution, risk: risk, scenario: { try scenario(loaded, $0, $1) },
          run: runs.summaries.valuesUntilCancelled)
      }, isFinished: \.isFinished,
      answer: { map in
        let own = own(x.path).flatMap { x in own(y.path).map { (x: x, y: $0) } }
        return StabilityReport(map, own: own, limit: limit(base.scenario)).answer(facts: facts)
      })
  }

  /// The longest queue whose waits end before the clients give up: beyond it the server may answer those who have gone.
  private func limit(_ scenario: Scenario) -> StabilityReport.Limit? {
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

  private func scenario(_ loaded: LoadedScenario, _ x: String, _ y: String) throws -> Scenario {
    let choice = VariantChoice(
      name: "", overrides: [Override(path: self.x.path, value: x), Override(path: self.y.path, value: y)])
    let scenario = try loaded.decode(choice).scenario
    return after.flatMap { scenario.ending(afterIncidents: $0) } ?? scenario
  }

  /// The scenarios at the four corners.
  /// - Throws: `ScenarioProblems` as of the command line.
  private func corners(_ loaded: LoadedScenario) throws -> [Scenario] {
    let ends = [(x.low, y.low), (x.high, y.low), (x.low, y.high), (x.high, y.high)]
    do {
      return try ends.map { try scenario(loaded, $0.0.text(), $0.1.text()) }
    } catch let problems as ScenarioProblems {
      throw problems.naming { $0 == y.path ? "--y" : "--x" }
    }
  }

  // MARK: Output

  private func facts(_ scenario: Scenario) -> String {
    let length =
      after.map { "until \(FigureText.span($0.microseconds)) after the last incident" }
      ?? FigureText.span(scenario.duration.microseconds)
    return
      "\(scenario.sizeText), \(length), risk \(FigureText.percent(risk.risk)), "
      + (risk.first == risk.most
        ? FigureText.count(risk.most, "seed") + " a point"
        : "\(FigureText.count(risk.first, "seed")) a point, up to \(risk.most) where the cliff may be")
  }
}

extension StabilityMap {
  static let document = CommandDocument.study(
    "where the fleet recovers, point by point.",
    [
      .init("verdict", "What the map shows, in sentences.") { StabilityVerdict($0).sentence },
      .object("x", "The first parameter.", axis) { $0.x },
      .object("y", "The second parameter.", axis) { $0.y },
      .init("risk", "The chance of not recovering that is put up with.") { $0.risk.risk },
      .rows("points", "The rows of `stability.csv`.", columns) { $0.table.rows },
    ] as [JSONShape<StabilityMap>.Member])

  private static let axis = JSONShape<QuantityRange>([
    .init("path", "A key of the scenario.") { $0.path },
    .init("low", "Where it begins.") { $0.low.text() },
    .init("high", "Where it ends.") { $0.high.text() },
    .init("isLogarithmic", "Whether its steps are even ratios.") { $0.isLogarithmic },
  ])
}
