import FleetExperiments
import ScenarioFormat
import ScenarioModel
import SimulationKernel

/// `fleetsim adversary`: the incident that hurts most, and the shortest that breaks a limit.
struct AdversaryCommand: Study {
  private static let kinds = AdversaryKind.all
  static let document: CommandDocument<Findings<AdversaryResult>>? = AdversaryResult.document
  static let help = CommandSpecification(
    name: "adversary",
    abstract: "Find the incident that hurts most, and the shortest that the fleet does not stand.",
    discussion: [
      "Looks within bounds for two incidents. The worst, by an objective. And the boundary: the shortest that breaks a limit in most "
        + "seeds, by default the shortest that the fleet does not come back from. Longer and deeper trivially hurts more; what a "
        + "short incident breaks, it does not explain. One incident is put in the place of the scenario's own, or with --join "
        + "beside them.",
      "Kinds: " + kinds.map { "\($0.name) (\($0.meaning))" }.joined(separator: ", ") + ".",
      "First each kind at its longest and deepest and incidents all over the bounds run with one seed, then neighbours of the worst; "
        + "the worst few get all seeds. What breaks the limit is made shorter, by doubled steps and halves, and then others are "
        + "tried at a length one step (4 %) shorter, where one seed dismisses most. What breaks the limit is taken to do so, too, "
        + "if it lasts longer. Both answers get as many fresh seeds, on which no choice was based. Every incident is watched equally "
        + "long; a fleet that is not back by then is never back, and those are ordered by the events that they leave "
        + "undelivered.",
      "With --out it writes worst.json5 and boundary.json5 (scenarios to run), adversary.csv, report.html and run.json. Every run is "
        + "kept in the journal: a search that was killed goes on where it stood and gives the same answer.",
    ],
    examples: [
      .init("fleetsim adversary s.json5 --out out/adversary", "What does this fleet not stand?"),
      .init(
        "fleetsim adversary s.json5 --kind outage --length 1m..30m --limit 'lost_events<=0'",
        "The shortest outage that loses events:"),
    ])

  @Argument(.scenario) private var path: String
  @Option(
    "start", "lo..hi", .spans,
    help: "When it starts, or one time. (default: the second sixth of the run)")
  private var starts: ClosedRange<Span>?
  @Option(
    "length", "lo..hi", .spans,
    help: "How long it lasts. (default: up to a sixth of the run, from a fortieth of that on)")
  private var lengths: ClosedRange<Span>?
  @Option(
    "kind", "a,b,c", .kinds,
    help: "What it is. (default: \(AdversaryKind.standard.map(\.name).joined(separator: ",")))")
  private var kinds: [AdversaryKind]?
  @Option(
    "depth", "lo..hi", ValueReader { try IncidentBounds.shares($0) },
    help: "The share that it takes, where the kind has one. (default: 10%..90%)")
  private var depths: ClosedRange<Int64>?
  @Option(
    "retry-after", "waits",
    ValueReader { text in
      var bounds = IncidentBounds(runOf: .hours(1))
      try bounds.readWaits(text)
      return bounds
    },
    help: "Retry-After of its answers: none, a span or a range, or with a comma both. (default: none,10s..2m)"
  )
  private var waits: IncidentBounds?
  @Option(
    "objective", "metric", .metric,
    help: "The column of summary.csv that the worst is the worst by. (default: "
      + "events lost, then \(AdversaryStudy.standardObjective), from the incident's end on)")
  private var objective: Metric?
  @Option(
    "limit", "metric<=value", ValueReader { try TuneConstraint($0) },
    help:
      "What a run has to keep, as lost_events<=0 or recovery_s<=10m. (default: to be back within the time that every incident "
      + "within the bounds leaves)")
  private var limit: TuneConstraint?
  @Flag("join", help: "Keep the scenario's own incidents.") private var joins: Bool
  @Option(
    "seeds", "n", .count(1...10_000), help: "Seeds that decide on an incident, from the scenario's own on.")
  private var seeds = AdversaryStudy.defaultSeeds
  @Option(
    "runs", "n", .count(1...10_000_000),
    help:
      "Runs at most, not counting twins; at least \(AdversaryStudy.leastRunsPerSeed) a seed. (default: "
      + "\(AdversaryStudy.defaultRuns))")
  private var runs: Int?
  let options = StudyOptions()

  /// The fewest runs that leave something to search with.
  private var leastRuns: Int { seeds * AdversaryStudy.leastRunsPerSeed }

  private func check() throws {
    if let runs, runs < leastRuns {
      throw UsageError(
        "The value '\(runs)' is invalid for '\($runs.synopsis)': a whole number from \(leastRuns) to 10000000."
      )
    }
  }

  func plan(_ environment: CommandEnvironment) throws -> StudyPlan<AdversaryResult> {
    try check()
    let input = try StudyInput(path, options, environment)
    let space = try space(input.scenario)
    let study = try AdversaryStudy(
      space: space, objective: objective, limit: limit, seeds: seeds,
      runs: runs ?? max(AdversaryStudy.defaultRuns, leastRuns))
    let facts = facts(study)
    return StudyPlan(
      input, heading: input.heading(facts),
      largest: [space.corners.first.map(space.scenario) ?? input.scenario],
      find: { runs in
        var adversary = Adversary(study, runs: CandidateRuns(runs.summaries) { space.scenario($0.candidate) })
        return try adversary.run()
      }, isFinished: \.isFinished, answer: { $0.answer(facts: facts) },
      closing: { RunDirectory.closing($0.runs) })
  }

  // MARK: The bounds

  /// - Throws: `UsageError`.
  private func space(_ scenario: Scenario) throws -> IncidentSpace {
    var bounds = IncidentBounds(runOf: scenario.duration)
    if let starts { bounds.starts = starts }
    if let lengths {
      guard lengths.lowerBound > .zero else {
        throw UsageError("'--length' begins at 0s: an incident lasts for some time.")
      }
      bounds.lengths = lengths
    }
    if let depths { bounds.depths = depths }
    if let waits { (bounds.allowsNoWait, bounds.waits) = (waits.allowsNoWait, waits.waits) }
    if let kinds { bounds.kinds = kinds }
    guard bounds.latestEnd < scenario.duration else {
      throw UsageError(
        "An incident could start at \(Units.text(bounds.starts.upperBound)) and last for "
          + "\(Units.text(bounds.lengths.upperBound)), and the run ends at \(Units.text(scenario.duration)): nothing is left to recover "
          + "in. Give an earlier '--start', a shorter '--length', or '--set duration=…'.")
    }
    let space = IncidentSpace(bounds, in: scenario, joins: joins)
    guard space.horizon > .zero else {
      throw UsageError(
        "After the latest incident, at \(Units.text(bounds.latestEnd)), too little of the run of \(Units.text(scenario.duration)) is left "
          + "to see a recovery, which has to hold for a flush interval and at least 1m. Give an earlier '--start', a shorter "
          + "'--length', or '--set duration=…'.")
    }
    guard !space.corners.isEmpty else {
      throw UsageError(
        "The scenario has an incident of each of these kinds at that time, and two of one kind cannot be at once: leave out '--join', "
          + "or give another '--start' or '--kind'.")
    }
    return space
  }

  // MARK: Output

  private func facts(_ study: AdversaryStudy) -> String {
    let bounds = study.space.bounds
    func text(_ range: ClosedRange<Span>) -> String {
      let (low, high) = (
        FigureText.span(range.lowerBound.microseconds), FigureText.span(range.upperBound.microseconds)
      )
      return low == high ? low : "\(low) to \(high)"
    }
    let count = study.space.scenario.tapi.incidents.count
    return
      "\(study.space.scenario.sizeText), \(FigureText.span(study.space.scenario.duration.microseconds)), one incident of "
      + "\(text(bounds.lengths)) at \(text(bounds.starts))"
      + (count > 0 ? " beside \(count) of the scenario" : "")
      + ", watched for \(FigureText.span(study.space.horizon.microseconds)), "
      + "\(FigureText.count(study.seeds, "seed")), \(FigureText.count(study.runs, "run")) at most"
  }
}

extension ValueReader where Value == ClosedRange<Span> {
  fileprivate static let spans = ValueReader { try IncidentBounds.spans($0) }
}

extension ValueReader where Value == [AdversaryKind] {
  fileprivate static let kinds = ValueReader(.several(of: AdversaryKind.all.map(\.name))) { text in
    let names = AdversaryKind.all.map(\.name)
    var kinds: [AdversaryKind] = []
    for name in VariantChoice.splitList(text) {
      guard let kind = AdversaryKind.all.first(where: { $0.name == name }) else {
        throw InvalidValue(
          name, rest: "\(InvalidValue.hint(name, names)) Allowed: \(names.joined(separator: ", ")).")
      }
      if !kinds.contains(kind) { kinds.append(kind) }
    }
    return kinds
  }
}

extension AdversaryResult {
  static let document = CommandDocument.study(
    "the incident that hurts most, and the shortest that breaks the limit.",
    [
      .init("verdict", "What was found, in sentences.") { AdversaryVerdict($0).sentence },
      .init("objective", "The column of `summary.csv` that the worst is the worst by.") {
        $0.study.objective.name
      },
      .init("limit", "What an incident breaks, or not.") { $0.study.limit.text },
      .init("isBroken", "Whether an incident was found that breaks it, fresh seeds included.") {
        $0.boundary?.isConfirmed ?? false
      },
      .init("healthySeeds", "Seeds whose fleet holds its load without incidents.") { $0.healthySeeds },
      .init("seeds", "Seeds that an incident was chosen by; as many fresh ones confirm it.") {
        $0.study.seeds
      },
      .rows("incidents", "The rows of `adversary.csv`.", AdversaryRow.columns) { AdversaryRow.rows($0) },
      .init("runsMade", "Runs that were made.") { $0.runs.made },
      .init("runsReadBack", "Runs that were taken from the journal.") { $0.runs.readBack },
    ] as [JSONShape<AdversaryResult>.Member])
}
