import FleetMetrics
import ScenarioModel

/// The search for the changed key that does the harm an answer names first. It runs the proposed Settings again, with one key
/// after the other as it is today.
package struct KeyTrials: Sendable {
  /// A key, from the section on, and the scenario of each case with today's value of it.
  package typealias Trial = (key: String, scenarios: [Scenario])

  /// How many keys were put back.
  let count: Int
  /// Those without whose change it is not worse any more. The one is first that leaves something of the change, then the fewest criteria
  /// worse, then the most better.
  package let harmful: [Cause]
  /// The decision without the first of them, by each case's first seeds; nil: it stays worse.
  package var instead: Decision?

  package struct Cause: Sendable {
    package let key: String
    /// Criteria of the case that stay worse, and better.
    let stillWorse: Int
    let stillBetter: Int
    /// Whether the case is as with today's Settings then, run by run.
    let isAsToday: Bool
  }

  /// nil where nothing is worse, or fewer than two keys are named: then there is nothing to tell apart.
  package init?(
    _ decision: Decision, _ trials: [Trial], run: ([Scenario]) throws -> [RunSummary]
  ) throws {
    guard trials.count > 1, let worst = decision.cells(.worse).first(where: { !$0.cell.isAllowed }) else {
      return nil
    }
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
      let worse = tried.cells.filter { $0.finding.standing == .worse && !$0.isAllowed }
      if worse.contains(where: { $0.criterion == worst.cell.criterion }) { continue }
      ended.append(
        Cause(
          key: trial.key, stillWorse: worse.count,
          stillBetter: tried.cells.count { $0.finding.standing == .better },
          isAsToday: zip(today, runs).allSatisfy {
            $0.totals == $1.totals && $0.recoveryTime == $1.recoveryTime
          }))
    }
    count = trials.count
    harmful = ended.sorted { first, second in
      if first.isAsToday != second.isAsToday { return second.isAsToday }
      return (first.stillWorse, -first.stillBetter) < (second.stillWorse, -second.stillBetter)
    }
    guard let cause = harmful.first, cause.stillWorse == 0,
      let trial = trials.first(where: { $0.key == cause.key })
    else { return }
    // Its first seeds alone: today's runs are there already.
    var decision = Decision(
      zip(decision.cases, trial.scenarios).map { one, scenario in
        Decision.Case(
          name: one.name, phrase: one.phrase, scenarios: (one.scenarios.today, scenario))
      }, Decision.Terms(allowed: decision.terms.allowed, budget: 0))
    try decision.run(run, failures: run)
    instead = decision
  }
}
