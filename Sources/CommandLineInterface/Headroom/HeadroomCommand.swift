import FleetExperiments
import ScenarioFormat
import ScenarioModel

/// `fleetsim headroom`: how far one key of a scenario can go.
struct HeadroomCommand: Study {
  static let document: CommandDocument<Findings<Headroom>>? = Headroom.document
  static let help = CommandSpecification(
    name: "headroom", abstract: "Find the least or greatest value of a key with which the fleet copes.",
    discussion: [
      "Looks for the value of --key, between the two ends of its range, at which the fleet begins to do what --so-that asks: "
        + HeadroomGoal.words.map { "\($0.word) (\($0.meaning))" }.joined(separator: ", ")
        + ". Several are asked for together. The least value is the answer where larger ones do, the greatest where smaller ones do.",
      "A few values with \(Headroom.scouts) seeds each find where that changes, and bisection narrows it down to a thirty-second of "
        + "the answer or a whole number. The answer then has to do in every seed: 59 runs without a failure "
        + "leave at most 5 % of such runs that may fail, with 95 % confidence. If one fails, the next value has to. The fleet is taken to "
        + "do better towards one end of the range; what lies between two values that do is taken to do too.",
      "Any key with a number will do: workers, a limit, a rate, a share, or a span such as that over which a push message is sent "
        + "(push.0.over): how fast may it be sent to this fleet?",
      "With --out it writes headroom.csv, headroom.svg, report.html and run.json.",
    ],
    examples: [
      .init(
        "fleetsim headroom s.json5 --key tapi.workers.count=10..40 --so-that recovers-in=20m",
        "How many workers bring the fleet back within 20 minutes?"),
      .init(
        "fleetsim headroom s.json5 --key push.0.over=0s..2h",
        "How fast may a push message be sent?"),
    ])

  @Argument(.scenario) private var path: String
  @Option(
    "key", "path=lo..hi", .range,
    help: "The key and its range, as tapi.workers.count=10..40; with :log behind it in even ratios.")
  private var range: QuantityRange
  @Option(
    "so-that", "goal", each: .goal,
    help: "What every run has to do: \(HeadroomGoal.words.map(\.word).joined(separator: ", ")). "
      + "(default: recovers, or stays-below=100% without incidents)")
  private var goals: [HeadroomGoal]
  @Option(
    "risk", "share", .share(1_000...500_000, "0.1% to 50%"),
    help: "The largest share of runs that may fail with the answer: 5% takes 59 seeds, 1% 299. (default: 5%)")
  private var risk = 0.05
  @Option(
    "seeds", "n", .count(1...10_000),
    help: "Seeds of the answer, from the scenario's own on. (default: what the risk takes)")
  private var seeds: Int?
  let options = StudyOptions()

  func plan(_ environment: CommandEnvironment) throws -> StudyPlan<Headroom> {
    let input = try StudyInput(path, options, environment)
    let hasIncidents = !input.scenario.tapi.incidents.isEmpty
    let goals = self.goals.isEmpty ? [hasIncidents ? .recovers(within: nil) : .staysBelow(1)] : self.goals
    guard input.scenario.hasIncidents || !goals.contains(where: \.needsIncident) else {
      throw CommandFailure(
        .data,
        "\(input.path): tapi.incidents: there is no incident to recover from; give one, or '--so-that loses-nothing' or 'stays-below=100%'"
      )
    }
    let scenario = { @Sendable [range, loaded = input.loaded[0]] (value: String) in
      try loaded.decode(VariantChoice(name: "", overrides: [Override(path: range.path, value: value)]))
        .scenario
    }
    let ends: [Scenario]
    do {
      ends = try [range.low, range.high].map { try scenario($0.text()) }
    } catch let problems as ScenarioProblems {
      throw problems.naming { $0 == range.path ? "--key" : nil }
    }
    let seeds = self.seeds ?? Headroom.seeds(for: risk)
    let facts =
      "\(input.scenario.sizeText), \(FigureText.span(input.scenario.duration.microseconds)), "
      + "\(range.path) from \(range.words), "
      + "\(FigureText.count(seeds, "seed")) for the answer"
    let own = Override.value(at: range.path, in: input.bases[0].normalisedJSON).flatMap { Quantity($0) }
    return StudyPlan(
      input, heading: input.heading(facts), largest: ends,
      find: { [range] runs in
        try Headroom(
          range, own: own, goals: goals, seeds: seeds,
          meaning: { value in ends[0].pace(of: range.path, value) }, scenario: scenario,
          run: runs.summaries.values)
      }, isFinished: \.isFinished, answer: { $0.answer(facts: facts) })
  }
}

extension Scenario {
  /// The speed at which a span sends a campaign's messages, where a path sets that span: a push service takes a rate.
  fileprivate func pace(of path: String, _ value: Quantity) -> String? {
    guard let campaign = campaign(pacedBy: path), value.unit == .span, value.value > 0 else { return nil }
    let messages = Double(devices(of: campaign)) * Double(scale)
    return
      "That is \(FigureText.amount(messages)) messages at \(FigureText.amount(messages / value.value * 60e6)) a minute."
  }
}

extension ValueReader where Value == HeadroomGoal {
  fileprivate static var goal: Self {
    ValueReader { text in
      do { return try HeadroomGoal(text) } catch { throw InvalidValue("\(error)") }
    }
  }
}
