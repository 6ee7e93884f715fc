import FleetExperiments
import ScenarioFormat
import ScenarioModel
import SimulationKernel

/// `fleetsim calibrate`: the values with which a scenario gives what was measured.
struct CalibrateCommand: Study {
  static let document: CommandDocument<Findings<CalibrationFindings>>? = CalibrationFindings.document
  static let help = CommandSpecification(
    name: "calibrate", abstract: "Fit unknown keys of a scenario to what was measured.",
    discussion: [
      "Looks for the values with which the scenario gives the measured series: requests, 2xx, 429 and 5xx by interval. "
        + "The verdict says whether the fitted scenario explains the series, how far off it is on the "
        + "last fifth of the rows, to which nothing is fitted, and warns of keys that the series says nothing of, or that can't be "
        + "told apart.",
      "A measured file is a timeseries.csv, a CSV with the columns time (seconds), requests, 2xx, 429, 5xx (counts of the interval), or "
        + "the JSON of a Prometheus range query of such counts, with a series for each status (code). Every column that it has "
        + "is fitted to.",
      "With --out it writes fitted.json5 (the fitted scenario, which runs as it is), calibration.svg, report.html and run.json. "
        + "Every run is kept in the journal: a calibration that was killed goes on where it stood and gives "
        + "the same answer.",
    ],
    examples: [
      .init(
        "fleetsim calibrate s.json5 --observed monday.csv --fit tapi.bucket.capacity=1000/s..2000/s",
        "What could the server take on Monday?")
    ])

  @Argument(.scenario) private var path: String
  @Option("observed", "file", .text, help: "What was measured: CSV, or Prometheus JSON.")
  private var observedPath: String
  @Option(
    "fit", "path=lo..hi", each: ValueReader { try QuantityRange($0) }, isRequired: true,
    help: "A key to fit and its range, as tapi.bucket.capacity=500/s..2000/s, fleet.old.share=5%..60%, "
      + "fleet.phones.flush.phase=0s..30s; with :log behind it in even ratios. At most \(CalibrationStudy.mostKeys)."
  )
  private var keys: [QuantityRange]
  @Option(
    "budget", "runs", .count(CalibrationStudy.leastBudget...1_000_000),
    help:
      "Runs, from \(CalibrationStudy.leastBudget). (default: \(CalibrationStudy.defaultBudget(keys: 0)), and "
      + "\(CalibrationStudy.defaultBudget(keys: 1) - CalibrationStudy.defaultBudget(keys: 0)) for each key)")
  private var budget: Int?
  let options = StudyOptions()

  /// Keys of the run, not of the fleet or the server, which can't be fitted.
  private static let fixed = ["seed", "duration", "interval", "scale"]

  private func check() throws {
    guard keys.count <= CalibrationStudy.mostKeys else {
      throw UsageError(
        "\(keys.count) keys are too many to tell apart: at most \(CalibrationStudy.mostKeys) can be fitted.")
    }
    let paths = keys.map(\.path)
    if let path = paths.firstRepeated { throw UsageError("'\(path)' is to be fitted twice.") }
    if let path = paths.first(where: Self.fixed.contains) {
      throw UsageError("'\(path)' is of the run, not of the fleet or the server, and can't be fitted.")
    }
  }

  func plan(_ environment: CommandEnvironment) throws -> StudyPlan<CalibrationFindings> {
    try check()
    let input = try StudyInput(path, options, environment)
    let (loaded, scenario) = (input.loaded[0], input.scenario)
    let study = try study(scenario, environment.files)
    let interval = Override(
      path: "interval", value: Units.text(Span(microseconds: study.observed.interval)))
    @Sendable func decode(_ values: [String], _ more: [Override] = []) throws -> ScenarioFile.Decoded {
      try loaded.decode(zip(study.keys, values).flatMap { Override.choosing($0.path, $1) } + more)
    }
    try check(study, interval, decode)
    let facts = facts(scenario, study)
    return StudyPlan(
      input: input, heading: input.heading(facts), memory: ComparisonMemory([scenario]),
      find: { [observedPath] runs in
        let runs = runs.runs(.counts(of: study))
        var calibrator = Calibrator(study) { requests in
          try runs.values(
            of: requests.map { request in
              let scenario = try decode(request.values, [interval]).scenario
              return scenario.with(seed: scenario.seed &+ UInt64(request.seed))
            })
        }
        let result = try calibrator.run()
        return CalibrationFindings(
          observedPath: observedPath, result: result, fitted: try decode(result.values).normalisedJSON,
          runs: runs.counts)
      },
      report: .answer { $0.result.answer($0.story, facts: facts, fitted: $0.fitted) })
  }

  // MARK: Input

  /// - Throws: `ScenarioProblems`, `CommandFailure` 65, 66, `UsageError`.
  private func study(_ scenario: Scenario, _ files: Files) throws -> CalibrationStudy {
    let observed = try ObservedSeries(text: files.text(observedPath), name: observedPath)
    let end = scenario.duration.microseconds
    if let last = observed.rows.last, Int64(last) * observed.interval >= end {
      throw CommandFailure(
        .data,
        "\(observedPath): the last row begins at \(FigureText.span(Int64(last) * observed.interval)), when the run of "
          + "\(FigureText.span(end)) is over; give --set duration=\(Units.text(Span(microseconds: (Int64(last) + 1) * observed.interval)))"
      )
    }
    return CalibrationStudy(keys: keys, observed: observed, budget: budget)
  }

  /// Every end of every range, and all of them together.
  private func check(
    _ study: CalibrationStudy, _ interval: Override,
    _ decode: ([String], [Override]) throws -> ScenarioFile.Decoded
  ) throws {
    for number in 0..<1 << study.keys.count {
      let values = study.keys.enumerated().map { index, key in
        key.fitText(number >> index & 1 == 0 ? key.low : key.high)
      }
      _ = try naming(in: decode(values, [interval])) { $0 == "interval" ? "--observed" : "--fit" }
    }
  }

  // MARK: Output

  private func facts(_ scenario: Scenario, _ study: CalibrationStudy) -> String {
    let rows = study.observed.rows.count
    let columns = study.observed.columns.map(\.kind.rawValue).joined(separator: ", ")
    return
      "\(scenario.sizeText), \(FigureText.grouped(Int64(rows))) rows of \(FigureText.span(study.observed.interval)) from "
      + "\(observedPath) (\(columns)), the last \(FigureText.grouped(Int64(rows - study.heldOut))) held out"
  }
}

struct CalibrationFindings: Sendable {
  var observedPath: String
  var result: CalibrationResult
  /// As JSON text.
  var fitted: String
  var runs: (made: Int, readBack: Int)

  var story: Story {
    var story = result.story
    story.add(.note, RunDirectory.readBack(runs))
    return story
  }

  static let document = CommandDocument.study(
    "the values that fit what was measured, and how well.",
    [
      .init("observed", "The measured file as it was named.") { $0.observedPath },
      .init("isExplained", "Whether a run of the fitted scenario could be as far off as the series.") {
        $0.result.scatter.isExplained
      },
      .init("isSettled", "Whether the search came to rest within its budget.") { $0.result.isSettled },
      .init("scatterRatio", "How far the series is from what is expected, divided by how far runs are.") {
        $0.result.scatter.ratio
      },
      .list(
        "keys", "What was fitted.",
        JSONShape<(result: CalibrationResult, index: Int)>([
          .init("path", "A key of the scenario.") { $0.result.study.keys[$0.index].path },
          .init("value", "The fitted value, as a scenario takes it.") { $0.result.values[$0.index] },
          .init("low95", "Lower end of its 95 % interval.") { $0.result.interval($0.index).low.text() },
          .init("high95", "Upper end of the same.") { $0.result.interval($0.index).high.text() },
          .init("isUnknown", "Whether the series says nothing of it.") { $0.result.isUnknown($0.index) },
          .init("isAtEdge", "Whether it lies at the edge of its range.") { $0.result.isAtEdge($0.index) },
        ])
      ) { findings in
        findings.result.study.keys.indices.map { (findings.result, $0) }
      },
      .init(
        "heldOutError",
        "Mean absolute percentage error on the part held out, as a share, of the first column with a count there; null: none has."
      ) { $0.result.scatter.heldOut?.error },
      .init("chanceError", "That error of runs of the fitted scenario.") {
        $0.result.scatter.heldOut?.chance
      },
      .anything("fitted", "The fitted scenario, as normalised.", ["object"]) { .raw($0.fitted) },
      .init("runsMade", "Runs that were made.") { $0.runs.made },
      .init("runsReadBack", "Runs that were taken from the journal.") { $0.runs.readBack },
    ] as [JSONShape<CalibrationFindings>.Member], story: \.story)
}
