import FleetMetrics
import ScenarioModel

/// What a run depends on: two scenarios with equal identities give equal records, because a run depends on nothing else.
///
/// It is the scenario itself, so a property added to `Scenario` later counts here without anybody remembering it.
package struct RunIdentity: Hashable, Sendable {
  private let scenario: Scenario

  package init(_ scenario: Scenario) {
    var scenario = scenario
    scenario.question = nil
    scenario.scale = 1
    self.scenario = scenario
  }

  /// The identity of `scenario` but for how long its clients wait before a retry.
  ///
  /// A wait is drawn only after a failed upload. If a run saw no failure, then the same run with any other
  /// waits is the same run, byte for byte: nobody ever asked for one. That is what lets strategies share a
  /// healthy twin. Limits and switches count as different all the same, since they may be asked before a
  /// first attempt.
  package init(ignoringWaitsOf scenario: Scenario) {
    var scenario = scenario
    for i in scenario.fleet.indices {
      scenario.fleet[i].settings.backoff.jitter = .none
      scenario.fleet[i].settings.backoff.baseBackoffInterval = 0
      scenario.fleet[i].settings.backoff.maxBackoffInterval = 0
      scenario.fleet[i].settings.rateLimit.maxRetryInterval = 0
      scenario.fleet[i].policy.clampAfterJitter = false
    }
    self.init(scenario)
  }

  /// The identity of `scenario` but for what its clients do after a failed upload.
  ///
  /// If a run saw no failure, no client ever asked its Settings: waits, statuses and ages are looked up only after one,
  /// and so are counts as long as they allow at least one failure.
  package init(ignoringReactionsOf scenario: Scenario) { self.init(scenario.withoutReactions) }
}

extension RunRecord {
  /// Whether no upload of the run failed in any way that a client could notice, so that no retry was ever
  /// decided.
  package var sawNoFailure: Bool {
    series.rows.allSatisfy { row in
      row[.answers429] == 0 && row[.answers503] == 0 && row.answersOther == 0 && row[.unanswered] == 0
        && row[.timeouts] == 0 && row.droppedEvents == 0 && row[.retries] == 0
    }
  }
}
