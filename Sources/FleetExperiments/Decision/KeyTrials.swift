import FleetMetrics
import FleetStatistics
import ScenarioModel

/// The search for the changed key that does the harm an answer names first. It runs the proposed Settings again, with one key
/// after the other as it is today.
package struct KeyTrials: Sendable {
  /// The proposed Settings with one key as it is today.
  package struct Trial: Sendable {
    /// From the section on: `backoffConfig.maxRetryCount`.
    package var key: String
    package var scenario: Scenario

    package init(key: String, scenario: Scenario) { (self.key, self.scenario) = (key, scenario) }
  }

  /// The case that was run again: its place.
  package let place: Int
  /// How many runs each key had.
  package let seeds: Int
  /// The keys that were tried.
  package let tried: [String]
  /// Those without whose change it is not worse any more. The one is first that leaves something of the change, then the fewest criteria
  /// worse, then the most better.
  package let harmful: [Cause]

  /// The first of them, where nothing else stays worse in that case.
  package var cause: Cause? { harmful.first.flatMap { $0.stillWorse == 0 ? $0 : nil } }

  package struct Cause: Sendable, Hashable {
    package var key: String
    /// Criteria of the case that stay worse, and better.
    package var stillWorse: Int
    package var stillBetter = 0
    /// Whether the case is as with today's Settings then, run by run.
    package var isAsToday = false

    package init(key: String, stillWorse: Int, stillBetter: Int = 0, isAsToday: Bool = false) {
      (self.key, self.stillWorse, self.stillBetter) = (key, stillWorse, stillBetter)
      self.isAsToday = isAsToday
    }
  }

  /// nil where nothing is worse, or fewer than two keys are named: then there is nothing to tell apart.
  ///
  /// - Parameter run: summaries of scenarios, in their order.
  /// - Throws: what `run` throws.
  package init?(_ decision: Decision, _ trials: [Trial], run: ([Scenario]) throws -> [RunSummary]) throws {
    guard trials.count > 1, let worst = decision.cells(.worse).first(where: \.cell.counts) else { return nil }
    let one = decision.cases[worst.place]
    let count = one.pairs
    let scenarios = trials.flatMap { trial in
      let scenario = decision.suite.scenario(one.suite, of: trial.scenario)
      return (0..<count).map { scenario.with(seed: decision.seed($0)) }
    }
    var made = try run(scenarios)[...]
    var ended: [Cause] = []
    for trial in trials {
      let (today, runs) = (Array(one.today.prefix(count)), Array(made.prefix(count)))
      made = made.dropFirst(count)
      let standings = decision.standings(today, runs)
      func criteria(_ standing: MetricRule.Standing) -> [Criterion] {
        standings.criteria(0, 1).filter { standings.finding(of: 1, to: 0, on: $0).standing == standing }
      }
      let worse = criteria(.worse).filter { !decision.isAllowed($0) }
      if !worse.contains(worst.cell.criterion) {
        ended.append(
          Cause(
            key: trial.key, stillWorse: worse.count, stillBetter: criteria(.better).count,
            isAsToday: zip(today, runs).allSatisfy {
              $0.totals == $1.totals && $0.recoveryTime == $1.recoveryTime
            }))
      }
    }
    (place, seeds, tried) = (worst.place, count, trials.map(\.key))
    harmful = ended.sorted { first, second in
      if first.isAsToday != second.isAsToday { return second.isAsToday }
      return (first.stillWorse, -first.stillBetter) < (second.stillWorse, -second.stillBetter)
    }
  }
}
