import FleetExperiments
import ScenarioFormat
import ScenarioModel
import UploadRetry

/// Looks for Settings to propose where none are: among safe values of the keys that the fleet's clients read, by the race of `tune`.
struct ProposalSearch: Sendable {
  /// The fleet with today's Settings.
  var loaded: LoadedScenario
  var suite: IncidentSuite
  /// Places of the cases that the candidates race in: those in which Settings matter most.
  private var cases: [Int]
  let space: SearchSpace
  private let todaysValues: [String?]
  private let today: Scenario

  /// Candidates, and seeds of the finalists.
  private static let candidates = 24
  private static let seeds = 2
  /// The decision's seeds begin behind all that the search has seen.
  static let seedsBehind = 1_000
  /// One of each: patience is good for an outage, haste for a share of errors, and refusals use up another limit.
  private static let raced = [["own", "outage"], ["refusals"], ["errors"]]

  /// From cautious to patient; no base is above a cap.
  private static let keys: [(path: String, values: String)] = [
    ("backoffConfig.baseBackoffInterval", "0.5,2,8,30"),
    ("backoffConfig.maxBackoffInterval", "60,150,300,600"),
    ("backoffConfig.jitterPercent", "10,20,50,100"), ("backoffConfig.maxRetryCount", "100,300,1000"),
    ("rateLimitConfig.maxRetryCount", "100,300,1000"), ("rateLimitConfig.maxRetryInterval", "60,150,300"),
    ("backoffConfig.maxTotalBackoffDuration", "43200,604800"),
    ("rateLimitConfig.maxTotalBackoffDuration", "43200,604800"),
  ]

  /// - Throws: `CommandFailure` 65 where no client reads any of the keys.
  init(_ loaded: LoadedScenario, _ base: Scenario, suite: IncidentSuite) throws {
    self.loaded = loaded
    self.suite = suite
    today = base
    let hurting = Self.raced.compactMap { names in
      // An own case in which the server has no incident is no outage.
      names.lazy.compactMap { name in
        suite.cases.firstIndex { $0.name == name && !$0.incidents.isEmpty }
      }.first
    }
    let others = suite.cases.indices.filter { suite.cases[$0].hasIncidents }
    cases = hurting.isEmpty ? Array(others.prefix(3)) : hurting
    let fetching = base.fleet.filter(\.fetchesSettings)
    let parameters = try Self.parameters(of: fetching)
    guard !parameters.isEmpty else {
      throw CommandFailure(
        .data,
        "\(loaded.path): no client of this fleet reads a key of Settings that could be searched; name Settings with --proposed"
      )
    }
    space = try SearchSpace(parameters)
    todaysValues = parameters.map { SearchableSettings.value(of: $0.path, in: fetching[0].settings) }
  }

  /// The keys that clients read, with the values that one takes as they are and that harm none.
  static func parameters(of fleet: [Cohort]) throws -> [SearchParameter] {
    try keys.compactMap { key, values in
      let path = SearchableSettings.prefix + key
      let readers = fleet.map(\.settingsDialect).filter { $0.readKeyPaths.contains(key) }
      // A client that takes less of a value in its place is no reason to keep it from the others.
      let taken = VariantChoice.splitList(values).filter { value in
        let document = SettingsDocument(HTTPConfig()).setting([Override(path: path, value: value)])
        let effects = readers.map { reader in
          document.findings(in: reader).filter { $0.path == key }.map(\.finding.effect)
        }
        return effects.contains { !$0.contains(.repaired) }
          && !effects.joined().contains(where: \.isHarmful)
      }
      return taken.count > 1 ? try SearchParameter("\(path)=\(taken.joined(separator: ","))") : nil
    }
  }

  /// The best that was found, as overrides, or else today's with the limits raised that lose events; nil: neither is there.
  mutating func best(_ runs: StudyRuns) throws -> [Override]? {
    suite = try suite.lengthened(for: [today], run: runs.summaries.values)
    let suite = suite
    var study = TuneStudy(
      space: space, todaysValues: todaysValues, objectives: TuneObjective.standard, requirements: [],
      scenarios: cases.map { suite.cases[$0].name }, seeds: Self.seeds)
    study.candidates = Self.candidates
    var tuner = Tuner(study, runs: runs.summaries) { [self] candidate, place in
      try suite.scenario(suite.cases[cases[place]], of: scenario(space.overrides(candidate)))
    }
    // Whether it is any good the decision says, by seeds of its own.
    return try tuner.best().map(space.overrides) ?? withoutLosingLimits(runs)
  }

  /// Today's Settings with every limit raised that loses events in a case; nil: none does.
  private func withoutLosingLimits(_ runs: StudyRuns) throws -> [Override]? {
    let summaries = try runs.summaries.values(of: suite.cases.flatMap { todays($0, Self.seeds) })
    let keys = Set(
      summaries.flatMap { LossCharge.charges(of: $0.cohorts) }.flatMap { $0.limit?.settingsKeys ?? [] })
    let raised = zip(space.parameters, todaysValues).compactMap { parameter, today -> Override? in
      guard keys.contains(String(parameter.path.dropFirst(SearchableSettings.prefix.count))),
        let most = parameter.values.max(by: { Self.number($0) < Self.number($1) }),
        Self.number(most) > Self.number(today ?? "0")
      else { return nil }
      return Override(path: parameter.path, value: most)
    }
    return raised.isEmpty ? nil : raised
  }

  private static func number(_ value: String) -> Double { Quantity(value)?.value ?? 0 }

  func scenario(_ overrides: [Override]) throws -> Scenario {
    try loaded.decode(overrides).scenario
  }

  /// About the runs that it takes: each candidate in each case.
  var scenarios: [Scenario] {
    cases.flatMap { todays(suite.cases[$0], count * Self.seeds) }
  }

  /// A case with today's Settings under so many seeds.
  private func todays(_ one: IncidentSuite.Case, _ seeds: Int) -> [Scenario] {
    let scenario = suite.scenario(one, of: today)
    return (0..<seeds).map { scenario.with(seed: scenario.seed &+ UInt64($0)) }
  }

  var count: Int { min(Self.candidates, space.size) }
}
