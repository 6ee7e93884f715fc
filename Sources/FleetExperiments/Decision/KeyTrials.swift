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
    /// Of each case.
    package var scenarios: [Scenario]

    package init(key: String, scenarios: [Scenario]) { (self.key, self.scenarios) = (key, scenarios) }
  }

  /// The case that was run again: its place.
  package let place: Int
  /// How many runs each key had.
  package let seeds: Int
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
  package init?(
    _ decision: Decision, _ trials: [Trial], run: ([Scenario]) throws -> [RunSummary]
  ) throws {
    guard trials.count > 1, let worst = decision.cells(.worse).first(where: \.cell.counts) else { return nil }
    let one = decision.cases[worst.place]
    let today = Array(one.today.prefix(one.pairs))
    var made = try run(
      trials.flatMap { trial in today.map { trial.scenarios[worst.place].with(seed: $0.seed) } })[...]
    var ended: [Cause] = []
    for trial in trials {
      let runs = Array(made.prefix(today.count))
      made = made.dropFirst(today.count)
      var tried = Decision.Case(
        name: one.name, phrase: one.phrase, scenarios: one.scenarios, today: today, proposed: runs)
      tried.judge(decision.terms)
      let worse = tried.cells.filter { $0.finding.standing == .worse && $0.counts }
      if worse.contains(where: { $0.criterion == worst.cell.criterion }) { continue }
      ended.append(
        Cause(
          key: trial.key, stillWorse: worse.count,
          stillBetter: tried.cells.count { $0.finding.standing == .better },
          isAsToday: zip(today, runs).allSatisfy {
            $0.totals == $1.totals && $0.recoveryTime == $1.recoveryTime
          }))
    }
    (place, seeds, tried) = (worst.place, today.count, trials.map(\.key))
    harmful = ended.sorted { first, second in
      if first.isAsToday != second.isAsToday { return second.isAsToday }
      return (first.stillWorse, -first.stillBetter) < (second.stillWorse, -second.stillBetter)
    }
  }
}
