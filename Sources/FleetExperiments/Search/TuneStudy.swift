import FleetMetrics
import FleetStatistics
import ScenarioFormat
import ScenarioModel
import SimulationKernel

/// The question to a search for better Settings.
package struct TuneStudy: Sendable {
  /// How the scores of several scenarios become one.
  package enum Across: String, Sendable, Hashable, CaseIterable {
    case mean, worst
  }

  package var space: SearchSpace
  /// Today's value of each parameter, as an override would write it; nil if that is not known.
  package var todaysValues: [String?]
  package var objectives: [TuneObjective]
  package var requirements: [Requirement]
  /// Names of the scenarios.
  package var scenarios: [String]
  /// Width of a row of each scenario's time series, microseconds: what its verdict takes for equal.
  package var intervals: [Int64]
  /// Share of the events created that may be lost beyond today's.
  package var allowedLoss = 0.0
  /// Seeds of the best finalists.
  package var seeds: Int
  /// Fresh seeds, at most, by which the best finalist is confirmed.
  package var freshSeeds = Self.defaultFreshSeeds
  /// The most fresh seeds that what the search leaves of the budget may go to, and that budget in runs; nil: there is none.
  private(set) var rest: (freshSeeds: Int, budget: Int)?
  package var finalists = 4
  /// Whether the answer says what each key of the winner is worth, which takes runs without it.
  package var tellsEffects = true
  /// How many of them, the best first, fresh seeds may refuse before the search gives up.
  package var tries = 3
  package var across = Across.mean
  /// The seed of the draw of candidates.
  package var seed: UInt64 = 1
  /// Whether a candidate's Settings may be published at all, whatever runs show.
  package var isPublishable: @Sendable (SearchCandidate) -> Bool = { _ in true }
  /// Candidates of the first round.
  package var candidates = Self.defaultCandidates
  /// The scale of the fleets on which candidates race. The finalists, and all that is said of them, have the whole fleets.
  package var raceScale = Scaling.whole

  package static let defaultCandidates = 200
  package static let defaultSeeds = 10
  /// The looks at them double (`SeedPlan.looks`), and end as soon as all is shown or something is worse.
  package static let defaultFreshSeeds = 120

  package init(
    space: SearchSpace, todaysValues: [String?], objectives: [TuneObjective], requirements: [Requirement],
    scenarios: [String], intervals: [Int64] = [], seeds: Int
  ) {
    self.intervals = scenarios.indices.map { $0 < intervals.count ? intervals[$0] : 0 }
    self.space = space
    self.todaysValues = todaysValues
    self.objectives = objectives
    self.requirements = requirements
    self.scenarios = scenarios
    self.seeds = max(1, seeds)
  }

  /// By how much a setting may be worse than today's in one scenario and still hold there.
  package static let tolerance = 1.05

  /// The metrics that are judged on fresh seeds: the verdict's, then objectives that are none of them.
  package var judged: [Metric] {
    let names = Set(objectives.map(\.metric.name)).subtracting(MetricCatalogue.headline.map(\.name))
    return MetricCatalogue.headline + MetricCatalogue.all.filter { names.contains($0.name) }
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

  // MARK: Seeds

  /// The seed by which candidates are found, those of the race, which begin with it, and fresh ones.
  static let found = 0..<1
  var raced: Range<Int> { 0..<seeds }
  func fresh(_ count: Int) -> Range<Int> { raced.upperBound..<raced.upperBound + count }

  // MARK: Rounds

  /// Seeds by which finalists are thinned: enough for a test, and more than any other candidate has.
  var firstLook: Int { min(seeds, max(MetricRule.fewestForTest, (ladder.dropLast().last ?? 0) + 1)) }

  /// Whether finalists may end before they have had all seeds.
  package var thinsFinalists: Bool { firstLook < seeds }

  /// Seeds at which it looks what each key of a winner is worth: a few first, then all that the winner has.
  func looksAtKeys(_ all: Int) -> [Int] {
    let few = MetricRule.fewestForTest
    return few < all ? [few, all] : [all]
  }

  /// The devices that a race has by default, if the scenarios have more and keep their answers with so few. The document
  /// how-searches-work.md has how close the scores are.
  package static let raceDevices = 5_000

  /// Seeds of each round, doubling up to those of the finalists.
  package var ladder: [Int] {
    var seeds = [1]
    while let last = seeds.last, last * 2 <= self.seeds / 2 { seeds.append(last * 2) }
    return self.seeds > 1 || raceScale != .whole ? seeds + [self.seeds] : seeds
  }

  /// Returns the scale of a round of the ladder: the last round is the finalists'.
  func scale(round: Int) -> Scaling { round == ladder.count - 1 ? .whole : raceScale }

  /// Candidates of each round of the ladder, if the first has `first`.
  package func field(first: Int) -> [Int] {
    var field = [first]
    for round in ladder.indices.dropFirst() {
      let divisor = round == 1 ? 4 : 3
      field.append(
        round == ladder.count - 1
          ? min(finalists, first) : min(first, max(finalists, field[round - 1] / divisor)))
    }
    return field
  }

  /// The most runs of a seed that tell which keys of a winner are needed. They are the winner and each key put back on the
  /// race's fleets, two choices without some keys, and each key of that put back.
  var runsOfKeys: Int {
    let keys = space.parameters.count
    return raceScale == .whole ? 2 * keys : 2 * keys + 3
  }

  /// Returns the most runs, without twins, if the first round has `first` candidates. They are the race, today's Settings, the
  /// keys of the winner put back, and fresh seeds for both of them.
  package func runs(first: Int) -> Int {
    var perScenario = (1 + runsOfKeys) * seeds + 2 * freshSeeds
    var before = (seeds: 0, scale: scale(round: 0))
    for (round, (count, seeds)) in zip(field(first: first), ladder).enumerated() {
      // Seeds on another scale are others.
      let scale = scale(round: round)
      perScenario += count * (scale == before.scale ? seeds - before.seeds : seeds)
      before = (seeds, scale)
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

  /// Returns the study with as many candidates as the budget is enough for. Its fresh seeds leave three in four of these
  /// candidates. They are no more than exclude a failure in 5 % of the runs.
  ///
  /// The rest of the budget then goes to more fresh seeds.
  /// - Returns: nil if the budget is not enough for `finalists`.
  package func spending(_ budget: Int) -> TuneStudy? {
    func with(_ fresh: Int) -> TuneStudy? {
      var study = self
      study.freshSeeds = fresh
      guard let count = study.candidates(budget: budget) else { return nil }
      study.candidates = count
      study.rest = (freshSeeds, budget)
      return study
    }
    let fewest = min(seeds, freshSeeds)
    guard let least = with(fewest) else { return nil }
    let most = min(freshSeeds, ExactBinomial.trials(excluding: MetricRule.relevantRisk))
    return (fewest + 1..<max(most, fewest) + 1).reversed().lazy.compactMap(with).first {
      $0.candidates >= least.candidates - least.candidates / 4
    } ?? least
  }
}

/// How a candidate fares against today's Settings under the same seeds.
package struct Standing: Sendable {
  package var candidate: SearchCandidate
  /// The seeds that today's Settings have, too: means and differences are over these.
  package var seeds: Int
  /// All of its seeds: how many runs fail, lose events or break a requirement is of these.
  package var runs: Int
  package var scale: Scaling
  /// How often a criterion of `evidence` may be told wrong.
  package var level: MetricRule.Level
  /// Mean value for each scenario and objective; times up to the horizon, nil where no run has one.
  package var values: [[Double?]]
  /// Mean of ln(value / today's) for each scenario and objective; nil where neither has a value.
  package var logRatios: [[Double?]]
  /// ln of the score for each scenario: the weighted mean over the objectives.
  package var scenarioScores: [Double]
  /// ln of the score over all scenarios.
  package var score: Double
  /// The same for each seed.
  package var scoreBySeed: [Double]
  /// Share of runs that did not recover or broke a requirement.
  package var violations: Double

  /// For each requirement, how its runs keep it.
  package var requirements: [RequirementRecord]
  /// Whether each of its runs keeps each of them.
  package var keepsRequirements: Bool { requirements.allSatisfy { $0.broken == 0 } }

  /// The same as `violations` for each scenario, less today's share.
  package var violationsAgainstToday: [Double]

  /// The evidence of its runs against today's Settings, by scenario and criterion of the verdict.
  package var evidence: [[CriterionEvidence]]
  /// The same of the objectives that are no criterion of the verdict, in their order.
  package var objectiveEvidence: [[CriterionEvidence]]
  /// The judgement of `compare` on it and today's Settings in each scenario.
  package var comparison: [Standings.Pair]

  /// Whether every criterion is shown not worse than today in every scenario.
  package var isShownSafe: Bool { evidence.joined().allSatisfy(\.isNotWorse) }
  /// Whether a criterion, or an objective, is shown better in a scenario.
  package var isShownBetter: Bool {
    (evidence + objectiveEvidence).joined().contains { $0.finding.standing == .better }
  }
  /// Whether runs without today's Settings show no more than that it does not fail, lose events or break a requirement.
  var needsNoToday: Bool { violations == 0 && !evidence.joined().contains(where: \.needsToday) }

  /// Whether nothing is left to show but that it does not fail or lose events, which runs without today's Settings may show.
  var needsOnlyNew: Bool {
    isShownBetter && violations == 0 && evidence.joined().allSatisfy { $0.isNotWorse || $0.needsOnlyNew }
  }

  /// About how many seeds would show that no criterion is worse and one is better; nil: these do, or no number is likely to.
  package var seedsNeeded: Int? {
    let open = evidence.joined().filter { !$0.isNotWorse }
    var needed = open.compactMap(\.seedsNeeded)
    if needed.count < open.count { return nil }
    if !isShownBetter {
      let better = (evidence + objectiveEvidence).joined().compactMap {
        $0.finding.seedsToShowBetter(of: seeds, at: level)
      }
      guard let least = better.min() else { return nil }
      needed.append(least)
    }
    return needed.max()
  }

  /// The order of the race after `violations`: the score, and what is worse than today in a scenario. A race compares each many
  /// times.
  package private(set) var cost = 0.0

  /// Whether it is in no scenario worse than today's. It recovers and keeps the requirements as often, with a score within the
  /// tolerance, and no criterion of the verdict looks worse by what matters.
  package var holdsEverywhere: Bool {
    violationsAgainstToday.allSatisfy { $0 <= 0 } && scoreLosses.allSatisfy { $0 == 0 }
      && !evidence.joined().contains(where: \.looksWorse)
  }

  /// The loss of each scenario beyond the tolerance, as ln of the score. Nothing where it recovers more often: not to recover
  /// costs few attempts.
  private var scoreLosses: [Double] {
    let limit = DeterministicMath.log(TuneStudy.tolerance)
    return zip(scenarioScores, violationsAgainstToday).map { $1 < 0 ? 0 : max(0, $0 - limit) }
  }

  /// 1 is as today; 0.5 half of it.
  package var ratio: Double { DeterministicMath.exp(score) }

  package func isBetter(than other: Standing) -> Bool {
    (violations, cost) < (other.violations, other.cost)
  }
}

extension Standing {
  /// - Parameter all: its runs by scenario: first those under the seeds of `today`, then any others.
  init(
    _ candidate: SearchCandidate, _ all: [[RunSummary]], today: [[RunSummary]], scale: Scaling,
    study: TuneStudy, level: MetricRule.Level
  ) {
    self.candidate = candidate
    self.scale = scale
    self.level = level
    let seeds = today.first?.count ?? 0
    self.seeds = seeds
    runs = all.first?.count ?? 0
    let own = all.map { Array($0.prefix(seeds)) }
    let objectives = study.objectives
    let weights = objectives.map(\.weight)
    // Scenario, objective, seed.
    let ratios = zip(own, today).map { own, today in
      objectives.map { objective in zip(own, today).map { objective.logRatio($0, to: $1) } }
    }
    func combined(_ scores: [Double]) -> Double {
      study.across == .mean ? scores.mean ?? 0 : scores.max() ?? 0
    }
    /// An objective without a value in a scenario, as a recovery without an incident, has no weight in it.
    func weighted(_ values: [Double?]) -> Double {
      var (sum, weight) = (0.0, 0.0)
      for case (let value?, let share) in zip(values, weights) {
        sum += value * share
        weight += share
      }
      return weight > 0 ? sum / weight : 0
    }
    logRatios = ratios.map { $0.map { $0.compactMap(\.self).mean } }
    values = own.map { own in
      objectives.map { objective in own.compactMap { objective.metric.value(of: $0).restricted }.mean }
    }
    scenarioScores = logRatios.map(weighted)
    score = combined(scenarioScores)
    scoreBySeed = (0..<seeds).map { k in combined(ratios.map { weighted($0.map { $0[k] }) }) }
    func bad(_ runs: [RunSummary]) -> Double {
      runs.share { run in run.neverRecovers || study.requirements.contains { !$0.isKept(by: run) } }
    }
    violations = all.map(bad).mean ?? 0
    requirements = study.requirements.map { RequirementRecord($0, all) }
    violationsAgainstToday = zip(own, today).map { bad($0) - bad($1) }
    let metrics = study.judged
    let standings = study.scenarios.indices.map { s in
      Standings(
        ["today", "new"], rows: [today[s], own[s]], interval: study.intervals[s], metrics: metrics,
        level: level)
    }
    evidence = zip(standings, all).map { standings, all in
      standings.evidence(
        of: 1, against: 0, allowedLoss: study.allowedLoss, alone: Array(all.dropFirst(seeds)))
    }
    objectiveEvidence = standings.map { standings in
      let judged = standings.criteria(0, 1)
      let others = objectives.compactMap { objective in
        metrics.firstIndex { $0.name == objective.metric.name }.map(Criterion.metric)
      }
      return standings.evidence(of: 1, against: 0, on: others.filter { !judged.contains($0) })
    }
    comparison = standings.map { $0.pair(1, against: 0) }
    cost = score + 5 * scoreLosses.reduce(0, +) + evidence.joined().reduce(0) { $0 + $1.harm }
  }
}

/// A metric to make small (or large, if that is its better direction).
package struct TuneObjective: Sendable {
  package var metric: Metric
  package var weight: Double

  /// The verdict's metrics: events lost, recovery time, events late, the affected events' p99, attempts above the twin's.
  package static let standard: [TuneObjective] = MetricCatalogue.ranked
    .filter { $0 != MetricCatalogue.attempts }
    .compactMap { MetricCatalogue.metric(named: $0) }.map { TuneObjective(metric: $0, weight: 1) }
}

extension TuneObjective {
  /// Reads `name` or `name:weight`.
  package init(_ text: String) throws(RangeProblem) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard (1...2).contains(parts.count), let metric = MetricCatalogue.metric(named: parts[0]) else {
      throw RangeProblem(
        "'\(text)' is no metric: an objective is a column of summary.csv that measures something, as "
          + "\(MetricCatalogue.timeToDelivery), and may have a weight, as \(MetricCatalogue.timeToDelivery):2."
      )
    }
    self.init(metric: metric, weight: 1)
    if parts.count == 2 {
      guard let quantity = Quantity(parts[1]), quantity.unit == .number, quantity.value > 0 else {
        throw RangeProblem("'\(parts[1])' in '\(text)' is no weight: write a number above 0.")
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

/// How the runs of a setting keep a requirement.
package struct RequirementRecord: Sendable {
  /// Share of the runs that break it, the mean over the scenarios.
  package var broken: Double
  /// The run that is furthest from keeping it; nil where no run has a value.
  package var worst: Requirement.Reading?

  /// - Parameter runs: by scenario.
  init(_ requirement: Requirement, _ runs: [[RunSummary]]) {
    broken = runs.map { $0.share { !requirement.isKept(by: $0) } }.mean ?? 0
    worst = runs.joined().compactMap(requirement.reading).max { $0.badness < $1.badness }
  }
}

extension [RunSummary] {
  /// The share of them that are meant; 0 of none.
  fileprivate func share(where isMeant: (RunSummary) -> Bool) -> Double {
    isEmpty ? 0 : Double(self.count(where: isMeant)) / Double(count)
  }
}

/// The finding that no searched candidate keeps all requirements.
package struct UnmetRequirements: Sendable {
  /// Whether that is so of all candidates, or of those that had all seeds.
  package var isOfAll: Bool
  /// The number of candidates that it holds for.
  package var count: Int
  /// The requirements that none of them keeps, each with the candidate whose worst run is nearest to it. Empty: each is kept by some
  /// of them, all together by none.
  package var best: [(requirement: Int, standing: Standing)]
}

extension TuneResult {
  /// Nil without requirements, and where a candidate or today's Settings keep all of them in every run of the search.
  package var unmetRequirements: UnmetRequirements? {
    guard !study.requirements.isEmpty else { return nil }
    let judged = standings.filter { $0.scale == .whole && $0.seeds >= study.seeds }
    guard !(judged + [today, winner]).contains(where: \.keepsRequirements) else { return nil }
    // The results of a part of a fleet are no figure of the whole.
    let isOfAll = study.raceScale == .whole && !standings.contains(where: \.keepsRequirements)
    let field = (isOfAll ? standings : judged) + [today, winner]
    let best = study.requirements.indices.compactMap { index -> (Int, Standing)? in
      guard !field.contains(where: { $0.requirements[index].broken == 0 }) else { return nil }
      let reached = field.compactMap { standing in
        standing.requirements[index].worst.map { (standing, $0) }
      }
      return reached.min { $0.1.badness < $1.1.badness }.map { (index, $0.0) }
    }
    return UnmetRequirements(isOfAll: isOfAll, count: isOfAll ? standings.count : judged.count, best: best)
  }
}
