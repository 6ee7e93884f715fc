import FleetExperiments
import ScenarioFormat
import ScenarioModel
import SimulationKernel

/// `fleetsim limit`: how far a key of a scenario can go, and how long incidents may last.
struct LimitCommand: Study {
  static let document: CommandDocument<Findings<Limits>>? = Limits.document
  static let help = CommandSpecification(
    name: "limit",
    abstract: "Find the least or greatest value of a key, or the longest incident, that keeps a limit.",
    discussion: [
      "Looks for the value of --key, between the two ends of its range, at which every run begins to keep what --require asks. The "
        + "least value is the answer where larger ones do, the greatest where smaller ones do. Any key with a number will do: workers, "
        + "a rate, a share, the length of an incident or an action, the span over which a push message is sent.",
      "With --incident it looks for the longest incident of each kind that the fleet stands, in place of the scenario's own: "
        + IncidentSuite.Trouble.allCases.map { "\($0.rawValue) (\($0.meaning))" }.joined(separator: ", ")
        + ". An incident lies at the busiest time, and the run goes on until a recovery can be seen.",
      "A few values with \(LimitSearch.scouts) seeds each find where that changes, and bisection narrows it down to a hundredth of "
        + "the answer or a whole number. The answer then has to do in every seed: \(LimitSearch.defaultSeeds) runs without a failure "
        + "leave at most 5 % of such runs that may fail, with 95 % confidence. If one fails, the next value has to. The fleet is taken to "
        + "do better towards one end of the range; what lies between two values that do is taken to do too.",
      "With --out it writes limit.csv, limit.svg, report.html and run.json.",
    ],
    examples: [
      .init(
        "fleetsim limit s.json5 --key tapi.workers.count=10..40 --require 'recovery <= 20m'",
        "How many workers bring the fleet back within 20 minutes?"),
      .init("fleetsim limit s.json5 --key push.0.over=0s..2h", "How fast may a push message be sent?"),
      .init(
        "fleetsim limit s.json5 --incident outage,silence --require 'lost = 0'",
        "The longest outage, and the longest silence, that lose nothing:"),
    ])

  @Argument(.scenario) private var path: String
  @Option(
    "key", "path=lo..hi", ValueReader<QuantityRange> { try QuantityRange($0) },
    help: "The key and its range, as tapi.workers.count=10..40; with :log behind it in even ratios.")
  private var range: QuantityRange?
  @Option(
    "incident", "a,b,c", .names(),
    help: "Kinds of incidents, in place of a key: lengths from 1 s to 4 h.")
  private var asked: [IncidentSuite.Trouble]?
  private var troubles: [IncidentSuite.Trouble] { asked ?? [] }
  @Option(
    "require", "limit", each: ValueReader { try Requirement($0) },
    help:
      "What every run has to keep, as 'recovery <= 20m': one of \(Requirement.criteriaNames), or a column of summary.csv. "
      + "(default: failures = 0, or peak_offered_ratio <= 100% without incidents of the server)")
  private var requirements: [Requirement]
  @Option("seeds", "n", .count(1...10_000), help: "Seeds of the answer, from the scenario's own on.")
  private var seeds = LimitSearch.defaultSeeds
  let options = StudyOptions()

  /// A key or a kind of incident, of which the limit is looked for.
  /// Its scenarios come by the text of a value.
  private typealias Subject = (
    search: LimitSearch, largest: [Scenario],
    scenario: @Sendable (StudyRuns) -> (String) throws -> Scenario
  )

  func plan(_ environment: CommandEnvironment) throws -> StudyPlan<Limits> {
    guard (range == nil) == !troubles.isEmpty else {
      throw UsageError(
        "'limit' looks for one thing: give '--key path=lo..hi' or '--incident outage', one of the two.")
    }
    try requirements.checkEachRun()
    var input = try StudyInput(path, options, environment)
    if range == nil { try input.takeSmallFleet() }
    // A message alone breaks nothing: it must not ask for more than there is.
    let hasIncidents = range == nil || !input.scenario.tapi.incidents.isEmpty
    let standard = try Requirement(hasIncidents ? "failures = 0" : "peak_offered_ratio <= 100%")
    let required = requirements.isEmpty ? [standard] : requirements
    let subjects =
      try range.map { [try subject($0, required, input)] }
      ?? troubles.map { try subject($0, required, input.scenario) }
    let names = troubles.map(\.rawValue).joined(separator: ", ")
    let what = range.map { "\($0.path) from \($0.words)" } ?? "\(names) of 1 s to 4 h"
    let facts = "\(input.scenario.sizeText), \(what), \(FigureText.count(seeds, "seed")) for the answer"
    return StudyPlan(
      input: input, heading: input.heading(facts), memory: ComparisonMemory(subjects.flatMap(\.largest)),
      find: { runs in
        var limits = Limits(searches: [])
        for subject in subjects where limits.isFinished {
          do {
            var search = subject.search
            try search.run(subject.scenario(runs), runs.summaries.values)
            limits.searches.append(search)
            limits.isFinished = search.isFinished
          } catch let error as CancellationError {
            guard !limits.searches.isEmpty else { throw error }
            limits.isFinished = false
          }
        }
        return limits
      }, isFinished: \.isFinished, report: .answer { $0.answer(facts: facts) })
  }

  private func subject(
    _ range: QuantityRange, _ required: [Requirement], _ input: StudyInput
  ) throws -> Subject {
    let scenario = { @Sendable [loaded = input.loaded[0]] (value: String) in
      try loaded.decode([Override(path: range.path, value: value)]).scenario
    }
    let ends = try naming(in: [range.low, range.high].map { try scenario($0.text()) }) {
      $0 == range.path ? "--key" : nil
    }
    var search = LimitSearch(range, requirements: required, seeds: seeds)
    // A key has the figures of the whole fleet.
    search.own = try Override.value(at: range.path, in: input.whole.bases[0].normalisedJSON)
      .flatMap { Quantity($0) }
    search.meaning = { ends[0].pace(of: range.path, $0) }
    return (search, ends, { _ in scenario })
  }

  /// A kind by itself, with the shortest run in which its recovery can be seen.
  private func subject(
    _ trouble: IncidentSuite.Trouble, _ required: [Requirement], _ scenario: Scenario
  ) throws -> Subject {
    let range = try QuantityRange(path: "length of \(trouble.rawValue)", range: "1s..4h:log")
    var search = LimitSearch(range, requirements: required, seeds: seeds)
    search.isLessBetter = true
    @Sendable func suite(_ length: Span) -> IncidentSuite {
      IncidentSuite(of: scenario, given: [.init(trouble, length, in: scenario)], isStandard: false)
    }
    @Sendable func alone(_ suite: IncidentSuite) -> Scenario { suite.scenario(suite.cases[0], of: scenario) }
    return (
      search, [alone(suite(.hours(4)))],
      { runs in
        var known: [String: Scenario] = [:]
        return { text in
          if let found = known[text] { return found }
          let scenario = try alone(
            suite(Units.span(text)).lengthened(for: [scenario], run: runs.summaries.values))
          known[text] = scenario
          return scenario
        }
      }
    )
  }
}

extension Scenario {
  /// The speed at which a span sends a campaign's messages, where a path sets that span: a push service takes a rate.
  fileprivate func pace(of path: String, _ value: Quantity) -> String? {
    guard let campaign = campaign(pacedBy: path), value.unit == .span, value.value > 0 else { return nil }
    let messages = Double(devices(of: campaign)) * Double(scale)
    return
      "\(FigureText.amount(messages)) messages at \(FigureText.amount(messages / value.value * 60e6)) a minute"
  }
}
