import FleetExperiments
import FleetReports
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import TAPIModel

/// `fleetsim rescue`: the smallest action that ends an ill state.
struct RescueCommand: Study {
  private static let kinds = RescueAction.Kind.allCases
  static let document: CommandDocument<Findings<Rescue>>? = Rescue.document
  static let help = CommandSpecification(
    name: "rescue", abstract: "Find the smallest action that ends an ill state, and what it costs.",
    discussion: [
      "Looks for "
        + kinds.map { "\($0.quantity) (\($0.rawValue))" }.joined(separator: ", ")
        + " that brings back a fleet which does not recover by itself, to a thirty-second of the range, by bisection.",
      "First the seeds are run without the action; those whose fleet holds without incidents and does not recover with them are "
        + "ill. A value ends the ill state if the fleet recovers in every ill seed, after the action is over. Too much can be as bad as "
        + "too little, so where the largest value does not end it, the middle is tried, then the quarters, and so on; what lies between "
        + "two values that end it is taken to end it too. There are more seeds until 59 of them are ill and the answer ends it in "
        + "all, as far as --budget carries: then it works in 95 % of such cases. --every tries all 33 values instead. The "
        + "cost is in delivered events: lost, blocked, or late beyond those of a fleet that was never ill.",
      "With --out it writes rescue.csv, report.html and run.json.",
    ],
    examples: [
      .init(
        "fleetsim rescue s.json5 --action shed --at 25m",
        "Which share of the requests has to be turned away for ten minutes?")
    ])

  private static let span = Span.minutes(10)

  @Argument(.scenario) private var path: String
  @Option(
    "action", "kind",
    .name { InvalidValue(rest: "\(InvalidValue.hint($0, $1)) Allowed: \($1.joined(separator: ", ")).") },
    help: "What is done: \(kinds.map(\.rawValue).joined(separator: ", ")).")
  private var kind: RescueAction.Kind
  @Option(
    "range", "lo..hi", .text,
    help: "Values to look at. (default: "
      + kinds.map { "\($0.rawValue) \($0.range)" }.joined(separator: ", ")
      + ", where there is room for it)")
  private var range: String?
  @Option(
    "at", "span", .span,
    help: "When. (default: 10m after the last incident, or a quarter of what is left then)")
  private var at: Span?
  @Option(
    "for", "span", .span,
    help: "How long a share is shed, or the capacity there. (default: 10m, or a quarter of what is left)")
  private var length: Span?
  @Option("key", "writeKey", .text, help: "Shed or readmit the requests with this write key alone.")
  private var key: String?
  @Option(
    "by", "what", .name { _, names in InvalidValue(rest: ". Allowed: \(names.joined(separator: ", ")).") },
    help: "Whether a share is one of requests, or of devices, always the same. (default: request)")
  private var unit: Unit?
  @Option(
    "seeds", "n", .count(1...10_000),
    help:
      "Seeds, from the scenario's own on. (default: until 59 ill seeds all come back, within --budget; one with --seed)"
  )
  private var seeds: Int?
  @Option(.budget) private var budget: Int64?
  @Flag("every", help: "Try every value in place of bisection.") private var triesAll: Bool
  let options = StudyOptions()

  /// The unit of a share.
  private enum Unit: String, CaseIterable { case request, device }

  private func check() throws {
    if length == .zero {
      throw UsageError("'--for 0s' is no time at all: write how long it holds, like 10m.")
    }
    if length != nil, kind == .readmit {
      throw UsageError(
        "'--for' does not go with readmit, whose length is what is looked for: give '--range'.")
    }
    if budget != nil, seeds != nil || options.input.seed != nil {
      throw UsageError("'--budget' goes without '--seeds' and '--seed', which say how many there are.")
    }
    for (isGiven, option) in [(key != nil, "key"), (unit != nil, "by")] where isGiven && kind == .capacity {
      throw UsageError("'--\(option)' goes with shed and readmit: capacity serves everybody.")
    }
  }

  func plan(_ environment: CommandEnvironment) throws -> StudyPlan<Rescue> {
    try check()
    let input = try StudyInput(path, options, environment)
    let scenario = input.scenario
    let action = try action(in: scenario, input.path)
    let seeds = seeds ?? (options.input.seed == nil ? nil : 1)
    let plan = budget.map(SeedPlan.init) ?? SeedPlan()
    let asked = seeds.map { FigureText.count($0, "seed") }
    return StudyPlan(
      input,
      heading: input.heading(
        facts(scenario, action)
          + (asked ?? "more seeds until it is decided, at most \(plan.budgetText)")),
      largest: [action.scenario(scenario, with: action.range.high)],
      find: { [triesAll] runs in
        // The journal keeps runs that were made before.
        let summaries = runs.summaries
        guard let seeds else {
          return try Rescue(scenario, action, until: plan, triesAll: triesAll, run: summaries.values)
        }
        return try Rescue(scenario, action, seeds: seeds, triesAll: triesAll, run: summaries.values)
      }, isFinished: \.isFinished,
      answer: { $0.answer(facts: facts(scenario, action) + FigureText.count($0.seeds, "seed")) })
  }

  // MARK: The action

  /// - Throws: `CommandFailure` 65 where the scenario has no room for it; `UsageError`.
  private func action(in scenario: Scenario, _ path: String) throws -> RescueAction {
    guard let lastEnd = scenario.lastIncidentEnd else {
      throw CommandFailure(
        .data,
        "\(path): tapi.incidents: there is no incident that could leave the fleet ill; rescue needs one")
    }
    let end = Instant.start + scenario.duration
    func quarter(from time: Instant) -> Span { Self.wholeSeconds((end - time).microseconds / 4) }
    guard at != nil || lastEnd < end else {
      throw CommandFailure(
        .data,
        "\(path): the last incident ends with the run or after it: nothing is left to recover in; give a longer duration"
      )
    }
    let start = at.map { Instant.start + $0 } ?? lastEnd + min(Self.span, quarter(from: lastEnd))
    guard start < end else {
      throw UsageError(
        "'--at' is \(Units.text(start - .start)), when the run of \(Units.text(scenario.duration)) is over.")
    }
    let keys = scenario.fleet.map(\.effectiveWriteKey)
    if let key, !keys.contains(key) {
      throw UsageError(
        "No cohort has the writeKey '\(key)'\(InvalidValue.hint(key, keys)) There are: \(keys.joined(separator: ", "))."
      )
    }
    var range = range
    if range == nil, kind == .readmit {
      range = "0s..\(Units.text(min(.minutes(30), Self.wholeSeconds((end - start).microseconds / 2))))"
    }
    var action: RescueAction
    do {
      action = try RescueAction(
        kind, range: range, at: start, for: length ?? min(Self.span, quarter(from: start)))
    } catch {
      throw UsageError("The value '\(range ?? "")' is invalid for '--range <lo..hi>': \(error)")
    }
    (action.key, action.isByDevice) = (key, unit == .device)
    let longest = action.scenario(scenario, with: action.range.high).tapi.actions
    if let last = longest.last, longest.count > scenario.tapi.actions.count {
      guard longest.ends[longest.count - 1] < end else {
        throw UsageError(
          "The action would last from \(Units.text(start - .start)) for \(Units.text(last.duration ?? .zero)) and the run ends at "
            + "\(Units.text(scenario.duration)): nothing is left to recover in.")
      }
    }
    if let (_, other) = longest.contradictions.first(where: {
      $0.action == longest.count - 1 || $0.other == longest.count - 1
    }) {
      throw UsageError(
        "The action contradicts action \(min(other, longest.count - 2)) of the scenario, which decides on the same then: "
          + "give another '--at' or '--for'.")
    }
    return action
  }

  private static func wholeSeconds(_ microseconds: Int64) -> Span {
    .seconds(max(1, microseconds / 1_000_000))
  }

  // MARK: Output

  private func facts(_ scenario: Scenario, _ action: RescueAction) -> String {
    let start = FigureText.span(action.start.microseconds)
    let length = kind == .readmit ? "" : " for \(FigureText.span(action.duration.microseconds))"
    return
      "\(scenario.sizeText), \(FigureText.span(scenario.duration.microseconds)), \(kind.rawValue) from \(action.range.words) at "
      + "\(start)\(length), "
  }
}

extension Rescue {
  static let document = CommandDocument.study(
    "the smallest action that ends an ill state, and what was tried.",
    [
      .init("verdict", "What was found, in sentences.") { RescueVerdict($0).sentence },
      .choice("action", "What was tried.", RescueAction.Kind.allCases.map(\.rawValue)) {
        $0.action.kind.rawValue
      },
      .init("low", "The smallest value of the range.") { $0.action.range.low.text() },
      .init("high", "The largest.") { $0.action.range.high.text() },
      .init(
        "answer", "The smallest value that ends the ill state; null: none does, or there is nothing to end."
      ) { $0.answer?.value?.text() },
      .init("seeds", "Seeds looked at.") { $0.seeds },
      .init("healthySeeds", "Of these: the fleet holds its load without incidents.") { $0.healthySeeds },
      .init("illSeeds", "Of these: it does not recover without the action.") { $0.untreated.seeds },
      .rows("trials", "The rows of `rescue.csv`.", columns) { $0.table.rows },
    ] as [JSONShape<Rescue>.Member])
}
