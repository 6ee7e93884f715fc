import FleetMetrics
import FleetStatistics
import ScenarioModel

/// Which of several changed keys does the harm that an answer names first: the proposed Settings again, with one key after the other
/// as it is today.
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
  /// Those without whose change it is not worse any more, the one first that leaves the fewest other criteria worse.
  package let harmful: [Cause]

  package struct Cause: Sendable, Hashable {
    package var key: String
    /// Criteria of the case that stay worse.
    package var stillWorse: Int
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
      let standings = decision.standings(Array(one.today.prefix(count)), Array(made.prefix(count)))
      made = made.dropFirst(count)
      let worse = standings.criteria(0, 1).filter { criterion in
        standings.finding(of: 1, to: 0, on: criterion).standing == .worse && !decision.isAllowed(criterion)
      }
      if !worse.contains(worst.cell.criterion) {
        ended.append(Cause(key: trial.key, stillWorse: worse.count))
      }
    }
    (place, seeds, tried) = (worst.place, count, trials.map(\.key))
    harmful = ended.sorted { $0.stillWorse < $1.stillWorse }
  }
}
