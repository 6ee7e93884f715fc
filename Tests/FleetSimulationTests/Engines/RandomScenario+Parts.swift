import FleetMetrics
import ScenarioModel
import Testing

extension RandomScenario {
  /// A part of the model, and what takes it out of a scenario.
  typealias Part = (name: String, remove: (inout Scenario) -> Void)

  /// Returns the names of the parts without which the run of some random scenario is another. No checker watches the runs: they watch
  /// those of the same seeds elsewhere.
  ///
  /// - Parameters:
  ///   - seeds: of the scenarios, until all parts have been seen.
  ///   - isConcerned: whether a scenario has any of the parts.
  ///   - observe: sees the record of each of these that has a part which has not been seen.
  static func parts(
    _ parts: [Part], thatMatterIn seeds: [UInt64], where isConcerned: (Scenario) -> Bool,
    observe: (RunRecord) -> Void = { _ in }
  ) throws -> Set<String> {
    var seen: Set<String> = []
    for seed in seeds where seen.count < parts.count {
      let scenario = RandomScenario.scenario(seed: seed)
      if !isConcerned(scenario) { continue }
      let others = parts.filter { !seen.contains($0.name) }.map { part in
        var without = scenario
        part.remove(&without)
        return (name: part.name, without: without)
      }.filter { $0.without != scenario }
      if others.isEmpty { continue }
      let record = try windowed(scenario, checks: false)
      observe(record)
      for other in others where try windowed(other.without, checks: false) != record {
        seen.insert(other.name)
      }
    }
    return seen
  }
}
