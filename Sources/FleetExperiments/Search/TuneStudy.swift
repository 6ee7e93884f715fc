import FleetMetrics
import ScenarioFormat
import ScenarioModel
import SimulationKernel

/// The question to a search for better Settings.
package struct TuneStudy: Sendable {
  package var space: SearchSpace
  /// Today's value of each parameter, as an override would write it; nil if that is not known.
  package var todaysValues: [String?]
  package var objectives: [TuneObjective]
  package var requirements: [Requirement]
  package var scenarios: [String]
  /// Width of a row of each scenario's time series, microseconds: what its verdict takes for equal.
  package var intervals: [Int64]
  /// Metrics that may get worse, by their names.
  package var allowed: Set<String> = []
  /// Seeds of the best finalists.
  package var seeds: Int
  package var finalists = 4
  /// How many of them, the best first, decisions may refuse before the search gives up.
  static let tries = 3
  /// The seed of the draw of candidates.
  package var seed: UInt64 = 1
  /// Whether a candidate's Settings may be published at all, whatever runs show.
  package var isPublishable: @Sendable (SearchCandidate) -> Bool = { _ in true }
  package var candidates = Self.defaultCandidates
  /// The scale of the fleets on which candidates race. The finalists, and all that is said of them, have the whole fleets.
  package var raceScale = Scaling.whole

  package static let defaultCandidates = 200
  package static let defaultSeeds = 10

  package init(
    space: SearchSpace, todaysValues: [String?], objectives: [TuneObjective], requirements: [Requirement],
    scenarios: [String], intervals: [Int64] = [], seeds: Int
  ) {
    (self.space, self.todaysValues, self.objectives) = (space, todaysValues, objectives)
    (self.requirements, self.scenarios, self.seeds) = (requirements, scenarios, seeds)
    self.intervals = intervals.isEmpty ? scenarios.map { _ in 0 } : intervals
  }

  /// By how much a setting may be worse than today's in one scenario and still hold there.
  package static let tolerance = 1.05

  /// What fresh seeds have to show.
  var terms: Decision.Terms {
    Decision.Terms(
      allowed: allowed, objectives: objectives.map(\.metric), requirements: requirements, skipping: seeds)
  }

  /// Whether it may be published, and the longest wait is not below the first one, if both are searched: who changes one of them
  /// later would be surprised.
  func isSensible(_ candidate: SearchCandidate) -> Bool {
    guard isPublishable(candidate) else { return false }
    func value(_ key: String) -> Quantity? {
      guard
        let index = space.parameters.firstIndex(where: { $0.path == SearchableSettings.prefix + key }),
        let text = candidate.choices[index].map({ space.parameters[index].values[$0] }) ?? todaysValues[index]
      else { return nil }
      return Quantity(text)
    }
    guard let first = value("backoffConfig.baseBackoffInterval"),
      let longest = value("backoffConfig.maxBackoffInterval"),
      first.unit == longest.unit
    else { return true }
    return first.value <= longest.value
  }

  /// Today's value by another name is no change.
  func withoutUnchanged(_ candidate: SearchCandidate) -> SearchCandidate {
    candidate.without(
      candidate.changed.filter { key in
        guard let choice = candidate.choices[key], let today = todaysValues[key] else { return false }
        let value = space.parameters[key].values[choice]
        return value == today || (Quantity(value)?.value).map { $0 == Quantity(today)?.value } == true
      })
  }

  // MARK: Seeds

  /// The seed by which candidates are found, and those of the race, which begin with it.
  static let found = 0..<1
  var raced: Range<Int> { 0..<seeds }

  // MARK: Rounds

  /// The devices that a race has by default, if the scenarios have more and keep their answers with so few. The document
  /// how-searches-work.md has how close the scores are.
  package static let raceDevices = 5_000

  /// A round of the race: its candidates, the seeds that each has, the fleets' scale.
  typealias Round = (candidates: Int, seeds: Int, scale: Scaling)

  /// Returns the rounds of a race of so many candidates; the last one is the finalists'.
  func rounds(first: Int) -> [Round] {
    var rounds: [Round] = [(first, 1, raceScale)]
    while let last = rounds.last, last.seeds * 2 <= seeds / 2 {
      let kept = last.candidates / (rounds.count == 1 ? 4 : 3)
      rounds.append((min(first, max(finalists, kept)), last.seeds * 2, raceScale))
    }
    return seeds > 1 || raceScale != .whole ? rounds + [(min(finalists, first), seeds, .whole)] : rounds
  }

  /// Returns the most runs, without twins, if the first round has `first` candidates. They are the race, today's Settings, and the
  /// keys of the winner put back. A decision on fresh seeds is not among them.
  package func runs(first: Int) -> Int {
    // The winner and each key put back on the race's fleets, two choices without some keys, and each key of that put back.
    let runsOfKeys = 2 * space.parameters.count + (raceScale == .whole ? 0 : 3)
    var perScenario = (1 + runsOfKeys) * seeds
    var before: Round?
    for round in rounds(first: first) {
      // Seeds on another scale are others.
      let known = before.map { $0.scale == round.scale ? $0.seeds : 0 } ?? 0
      perScenario += round.candidates * (round.seeds - known)
      before = round
    }
    return perScenario * scenarios.count
  }

  /// The most candidates that the budget is enough for; nil if it is not enough for `finalists`.
  package func candidates(budget: Int) -> Int? {
    var (low, high) = (0, min(budget, space.size))
    while low < high {
      let middle = (low + high + 1) / 2
      if runs(first: middle) <= budget { low = middle } else { high = middle - 1 }
    }
    return low >= min(finalists, space.size) ? low : nil
  }
}

/// How a candidate fares against today's Settings under the same seeds.
package struct Standing: Sendable {
  package var candidate: SearchCandidate
  package let scale: Scaling
  /// Mean value for each scenario and objective; times up to the horizon, nil where no run has one.
  let values: [[Double?]]
  /// Mean of ln(value / today's) for each scenario and objective; nil where neither has a value.
  package let logRatios: [[Double?]]
  /// ln of the score for each scenario: the weighted mean over the objectives.
  package let scenarioScores: [Double]
  /// ln of the score over all scenarios, for each seed.
  let scoreBySeed: [Double]
  /// For each requirement the share of the runs that break it, the mean over the scenarios, and what the run comes to that is
  /// furthest from keeping it; nil where no run has a value.
  package let requirements: [(broken: Double, worst: Requirement.Reading?)]
  /// Share of runs that did not recover or broke a requirement.
  package let violations: Double
  /// The same for each scenario, less today's share.
  private let violationsAgainstToday: [Double]
  /// Whether its means are worse than today's by what matters, in a scenario and criterion of the verdict that may not get worse.
  private let looksWorse: Bool
  /// The order of the race after `violations`: the score, and what is worse than today in a scenario. A race compares each many
  /// times.
  private(set) var cost = 0.0

  /// - Parameter own: its runs by scenario.
  /// - Parameter today: those of today's Settings under the same seeds.
  init(
    _ candidate: SearchCandidate, _ own: [[RunSummary]], today: [[RunSummary]], scale: Scaling,
    study: TuneStudy
  ) {
    (self.candidate, self.scale) = (candidate, scale)
    let objectives = study.objectives
    // Scenario, objective, seed.
    let ratios = zip(own, today).map { own, today in
      objectives.map { objective in zip(own, today).map { objective.logRatio($0, to: $1) } }
    }
    /// An objective without a value in a scenario, as a recovery without an incident, has no weight in it.
    func weighted(_ values: [Double?]) -> Double {
      let known = zip(values, objectives).filter { $0.0 != nil }
      let weight = known.reduce(0) { $0 + $1.1.weight }
      return weight > 0 ? known.reduce(0) { $0 + ($1.0 ?? 0) * $1.1.weight } / weight : 0
    }
    logRatios = ratios.map { $0.map { $0.compactMap(\.self).mean } }
    values = own.map { own in
      objectives.map { objective in own.compactMap { objective.metric.value(of: $0).restricted }.mean }
    }
    scenarioScores = logRatios.map(weighted)
    scoreBySeed = (today.first ?? []).indices.map { k in ratios.map { weighted($0.map { $0[k] }) }.mean ?? 0 }
    func bad(_ runs: [RunSummary]) -> Double {
      let bad = runs.count { run in
        run.neverRecovers || study.requirements.contains { !$0.isKept(by: run) }
      }
      return Double(bad) / Double(max(runs.count, 1))
    }
    violations = own.map(bad).mean ?? 0
    requirements = study.requirements.map { ($0.broken(own), $0.worst(own)) }
    violationsAgainstToday = zip(own, today).map { bad($0) - bad($1) }
    let findings = study.scenarios.indices.flatMap { s in
      let standings = Standings(
        ["today", "new"], rows: [today[s], own[s]], interval: study.intervals[s],
        metrics: MetricCatalogue.headline)
      return standings.criteria(0, 1).filter { criterion in
        guard case .metric(let index) = criterion else { return true }
        return !study.allowed.contains(MetricCatalogue.headline[index].name)
      }.map { standings.finding(of: 1, to: 0, on: $0) }
    }
    looksWorse = findings.contains { $0.standing == .worse || $0.mean > 1 }
    cost =
      score + 5 * scoreLosses.reduce(0, +)
      + findings.reduce(0) { $0 + DeterministicMath.log(max(1, $1.mean)) }
  }

  package var seeds: Int { scoreBySeed.count }
  /// ln of the score over all scenarios.
  package var score: Double { scenarioScores.mean ?? 0 }
  /// 1 is as today; 0.5 half of it.
  package var ratio: Double { DeterministicMath.exp(score) }
  /// Whether each of its runs keeps each of them.
  package var keepsRequirements: Bool { requirements.allSatisfy { $0.broken == 0 } }

  /// Whether it is in no scenario worse than today's. It recovers and keeps the requirements as often,
  /// its score is within the tolerance, and no criterion of the verdict looks worse.
  package var holdsEverywhere: Bool {
    violationsAgainstToday.allSatisfy { $0 <= 0 } && scoreLosses.allSatisfy { $0 == 0 } && !looksWorse
  }

  /// The loss of each scenario beyond the tolerance, as ln of the score. Nothing where it recovers
  /// more often: not to recover costs few attempts.
  private var scoreLosses: [Double] {
    let limit = DeterministicMath.log(TuneStudy.tolerance)
    return zip(scenarioScores, violationsAgainstToday).map { $1 < 0 ? 0 : max(0, $0 - limit) }
  }

  package func isBetter(than other: Standing) -> Bool {
    (violations, cost) < (other.violations, other.cost)
  }
}

/// A metric to make small (or large, if that is its better direction).
package struct TuneObjective: Sendable {
  package var metric: Metric
  package var weight: Double

  /// The verdict's metrics: events lost, recovery time, events late, the affected events' p99, attempts above the twin's.
  package static let standard: [TuneObjective] = MetricCatalogue.ranked
    .filter { $0 != MetricCatalogue.attempts }
    .compactMap { try? TuneObjective($0) }

  /// Reads `name` or `name:weight`.
  package init(_ text: String) throws(OptionProblem) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard (1...2).contains(parts.count), let metric = MetricCatalogue.metric(named: parts[0]) else {
      throw OptionProblem(
        "'\(text)' is no metric: an objective is a column of summary.csv that measures something, as "
          + "\(MetricCatalogue.timeToDelivery), and may have a weight, as \(MetricCatalogue.timeToDelivery):2."
      )
    }
    (self.metric, weight) = (metric, 1)
    if parts.count == 2 {
      guard let quantity = Quantity(parts[1]), quantity.unit == .number, quantity.value > 0 else {
        throw OptionProblem("'\(parts[1])' in '\(text)' is no weight: write a number above 0.")
      }
      weight = quantity.value
    }
  }

  /// ln(value / reference), the other way round where more is better; nil where both have none. A run with a value where the
  /// other has none is e times as good.
  ///
  /// A floor is added to both, so that none against few does not become infinitely many times. The floor of counts of events is a
  /// thousandth of those created. The floor of attempts above the twin's is a tenth of the twin's, and that of times ten seconds.
  func logRatio(_ run: RunSummary, to reference: RunSummary) -> Double? {
    let (value, other) = (metric.value(of: run), metric.value(of: reference))
    if value == .none, other == .none { return nil }
    guard let value = value.restricted else { return 1 }
    guard let other = other.restricted else { return -1 }
    let floor = floor(reference)
    let (a, b) = (max(value, 0) + floor, max(other, 0) + floor)
    if a == b { return 0 }
    guard a > 0, b > 0 else { return a < b ? -1 : 1 }
    let ratio = DeterministicMath.log(a / b)
    return metric.direction == .higherIsBetter ? -ratio : ratio
  }

  private func floor(_ reference: RunSummary) -> Double {
    if metric.unit == "events" { return (reference.column("created_events") ?? 0) / 1_000 }
    if metric.unit == "s" { return 10 }
    guard metric.name == MetricCatalogue.attemptsAboveTwin else { return 0 }
    let days = (reference.column("duration_s") ?? 0) / 86_400
    let all = (reference.column(MetricCatalogue.attempts) ?? 0) * days
    return max(0.5, (all - (reference.column(metric.name) ?? 0)) / 10)
  }
}
