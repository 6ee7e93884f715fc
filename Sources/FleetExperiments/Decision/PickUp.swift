import FleetMetrics
import FleetStatistics
import ScenarioModel
import SimulationKernel

/// The effect if not everybody reads the proposed Settings: a part of the fleet, or the clients of one cohort alone.
package struct PickUp: Sendable {
  /// `50 % of the fleet`, `swift alone`
  package var words: String
  package private(set) var runs: [RunSummary] = []
  private let scenario: Scenario

  /// Each share of the fleet, and where it has several cohorts each of them alone.
  ///
  /// - Parameter shares: parts per million of each cohort's devices, which have the proposed Settings from the start.
  package init?(share: Int64, today: Scenario, proposed: Scenario) {
    guard (0...1_000_000).contains(share) else { return nil }
    var scenario = today
    for place in scenario.fleet.indices {
      let new = proposed.fleet[place]
      if share == 1_000_000 {
        scenario.fleet[place] = new
      } else if share > 0 {
        var rollout = SettingsRollout(time: .start, sharePartsPerMillion: share, settings: new.settings)
        rollout.source = new.settingsSource
        scenario.fleet[place].rollout = rollout
      }
    }
    words = "\(Units.text(partsPerMillion: share)) of the fleet"
    self.scenario = scenario
  }

  /// The clients of one cohort alone.
  package init(cohort: Int, today: Scenario, proposed: Scenario) {
    var scenario = today
    scenario.fleet[cohort] = proposed.fleet[cohort]
    words = "\(today.fleet[cohort].name) alone"
    self.scenario = scenario
  }

  /// Runs all of `pickUps` through a case, under the same seeds.
  package static func run(
    _ pickUps: [PickUp], _ one: IncidentSuite.Case, of suite: IncidentSuite, seeds: Int,
    run: ([Scenario]) throws -> [RunSummary]
  ) throws -> [PickUp] {
    let scenarios = pickUps.flatMap { pickUp in
      let scenario = suite.scenario(one, of: pickUp.scenario)
      return (0..<seeds).map { scenario.with(seed: scenario.seed &+ UInt64($0)) }
    }
    var made = try run(scenarios)[...]
    return pickUps.map { pickUp in
      var pickUp = pickUp
      pickUp.runs = Array(made.prefix(seeds))
      made = made.dropFirst(seeds)
      return pickUp
    }
  }
}
