import FleetStatistics
import SimulationKernel

/// What a search for better Settings is asked.
package struct TuneStudy: Sendable {
  /// How the scores of several scenarios become one.
  package enum Across: String, Sendable, Hashable, CaseIterable {
    case mean, worst
  }

  package var space: SearchSpace
  /// Today's value of each parameter, as an override would write it; nil if that is not known.
  package var todaysValues: [String?]
  package var objectives: [TuneObjective]
  package var constraints: [TuneConstraint]
  /// Names of the scenarios.
  package var scenarios: [String]
  /// Seeds of the finalists.
  package var seeds: Int
  package var finalists = 4
  package var across = Across.mean
  /// Of the draw of candidates.
  package var seed: UInt64 = 1
  /// Candidates of the first round.
  package var candidates = Self.defaultCandidates

  package static let defaultCandidates = 200
  package static let defaultSeeds = 10

  package init(
    space: SearchSpace, todaysValues: [String?], objectives: [TuneObjective], constraints: [TuneConstraint],
    scenarios: [String], seeds: Int
  ) {
    self.space = space
    self.todaysValues = todaysValues
    self.objectives = objectives
    self.constraints = constraints
    self.scenarios = scenarios
    self.seeds = max(1, seeds)
  }

  /// By how much a setting may be worse than today's in one scenario and still hold there.
  package static let tolerance = 1.05

  // MARK: Rounds

  /// Seeds of each round, doubling up to those of the finalists.
  package var ladder: [Int] {
    var seeds = [1]
    while let last = seeds.last, last * 2 <= self.seeds / 2 { seeds.append(last * 2) }
    return self.seeds > 1 ? seeds + [self.seeds] : seeds
  }

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

  /// Runs without twins, at most, if the first round has `first` candidates: the race, today's Settings, twice each
  /// key of the winner put back, and fresh seeds for both.
  package func runs(first: Int) -> Int {
    let field = field(first: first)
    var perScenario = seeds + 2 * space.parameters.count * seeds + 2 * seeds
    var before = 0
    for (count, seeds) in zip(field, ladder) {
      perScenario += count * (seeds - before)
      before = seeds
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
  package var seeds: Int
  /// Mean value for each scenario and objective; times up to the horizon, nil where no run has one.
  package var values: [[Double?]]
  /// Mean of ln(value / today's) for each scenario and objective.
  package var logRatios: [[Double]]
  /// ln of the score for each scenario: the weighted mean over the objectives.
  package var scenarioScores: [Double]
  /// ln of the score over all scenarios.
  package var score: Double
  /// The same for each seed.
  package var scoreBySeed: [Double]
  /// The same for each objective and seed, scenarios averaged.
  package var logRatioBySeed: [[Double]]
  /// Share of runs that did not recover or broke a constraint.
  package var violations: Double

  /// The same for each scenario, less today's share.
  package var violationsAgainstToday: [Double]

  /// What the race orders by, after `violations`: the score, and five times what a scenario loses beyond the tolerance.
  package var cost: Double { score + 5 * losses.reduce(0, +) }

  /// Whether it is in no scenario worse than today's: it recovers and keeps the constraints more often, or as often and with
  /// a score within the tolerance.
  package var holdsEverywhere: Bool {
    losses.allSatisfy { $0 == 0 } && violationsAgainstToday.allSatisfy { $0 <= 0 }
  }

  /// What each scenario loses beyond the tolerance, as ln of the score. Nothing where it recovers more often: not to recover
  /// costs few attempts.
  private var losses: [Double] {
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
  init(_ candidate: SearchCandidate, _ trials: [[Trial]], today: [[Trial]], study: TuneStudy) {
    self.candidate = candidate
    let seeds = trials.first?.count ?? 0
    self.seeds = seeds
    let objectives = study.objectives
    let weights = objectives.map(\.weight)
    let weight = weights.reduce(0, +)
    // Scenario, objective, seed.
    let ratios = zip(trials, today).map { trials, today in
      objectives.map { objective in
        zip(trials, today).map { objective.logRatio($0, to: $1) ?? 1 }
      }
    }
    func mean(_ values: [Double]) -> Double {
      values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count)
    }
    func combined(_ scores: [Double]) -> Double {
      study.across == .mean ? mean(scores) : scores.max() ?? 0
    }
    func weighted(_ values: [Double]) -> Double {
      zip(values, weights).reduce(0) { $0 + $1.0 * $1.1 } / weight
    }
    logRatios = ratios.map { $0.map(mean) }
    values = trials.map { trials in
      objectives.map { objective in
        let values = trials.compactMap { objective.metric.value($0.column).restricted }
        return values.isEmpty ? nil : mean(values)
      }
    }
    scenarioScores = logRatios.map(weighted)
    score = combined(scenarioScores)
    scoreBySeed = (0..<seeds).map { k in combined(ratios.map { weighted($0.map { $0[k] }) }) }
    logRatioBySeed = objectives.indices.map { o in
      (0..<seeds).map { k in mean(ratios.map { $0[o][k] }) }
    }
    func bad(_ trials: [Trial]) -> Double {
      mean(
        trials.map { trial in
          !trial.recovered || study.constraints.contains { !$0.isKept(by: trial) } ? 1 : 0
        })
    }
    violations = mean(trials.map(bad))
    violationsAgainstToday = zip(trials, today).map { bad($0) - bad($1) }
  }
}
