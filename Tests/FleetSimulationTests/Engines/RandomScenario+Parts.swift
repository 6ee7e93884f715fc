import FleetMetrics
import ScenarioModel
import Testing

extension RandomScenario {
  /// A part of the model, and what takes it out of a scenario.
  typealias Part = (name: String, remove: (inout Scenario) -> Void)

  /// Returns the names of the parts without which the run of some random scenario is another.
  ///
  /// - Parameters:
  ///   - seeds: of the scenarios, until all parts have been seen.
  ///   - isConcerned: whether a scenario has any of the parts.
  ///   - observe: sees the record of each of these.
  static func parts(
    _ parts: [Part], thatMatterIn seeds: [UInt64], where isConcerned: (Scenario) -> Bool,
    observe: (RunRecord) -> Void = { _ in }
  ) throws -> Set<String> {
    var seen: Set<String> = []
    for seed in seeds where seen.count < parts.count {
      let scenario = RandomScenario.scenario(seed: seed)
      if !isConcerned(scenario) { continue }
      let record = try windowed(scenario)
      observe(record)
      for part in parts where !seen.contains(part.name) {
        var without = scenario
        part.remove(&without)
        if without != scenario, try windowed(without) != record { seen.insert(part.name) }
      }
    }
    return seen
  }
}
