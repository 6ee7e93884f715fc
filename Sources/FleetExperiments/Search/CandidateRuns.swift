import FleetMetrics
import ScenarioModel
import Synchronization

/// Makes the runs of candidates, each once.
package final class CandidateRuns: Sendable {
  /// The candidate, scenario, seed and scale of one run.
  package struct Request: Sendable, Hashable {
    package var candidate: SearchCandidate
    package var scenario: Int
    /// From 0.
    package var seed: Int
    package var scale: Scaling
    package init(candidate: SearchCandidate, scenario: Int = 0, seed: Int, scale: Scaling = .whole) {
      self.candidate = candidate
      self.scenario = scenario
      self.seed = seed
      self.scale = scale
    }
  }

  private let scenario: @Sendable (Request) throws -> Scenario
  private let runs: Runs<RunSummary>
  private struct Known {
    var summaries: [Request: RunSummary] = [:]
    /// Each counts once, whoever else asked for it: what a budget allows does not depend on what was there before.
    var scenarios: Set<Scenario> = []
    var readBack = 0
  }
  private let known = Mutex(Known())

  /// - Parameter scenario: what a run is of, but for the number of its seed, which is added, and its scale.
  package init(_ runs: Runs<RunSummary>, of scenario: @escaping @Sendable (Request) throws -> Scenario) {
    self.runs = runs
    self.scenario = scenario
  }

  /// Runs made anew and runs found in the store, twins not counted.
  package var counts: (made: Int, readBack: Int) {
    known.withLock { ($0.scenarios.count - $0.readBack, $0.readBack) }
  }

  /// Makes the runs asked for, as far as they are not there.
  /// - Throws: `CancellationError` where it was stopped before all were there.
  package func make(_ requests: [Request]) throws {
    let left = known.withLock { known in requests.uniqued.filter { known.summaries[$0] == nil } }
    let scenarios = try left.map(scenario(of:))
    let summaries = try runs.valuesUntilCancelled(of: scenarios)
    known.withLock { known in
      for (request, (scenario, summary)) in zip(left, zip(scenarios, summaries)) where summary != nil {
        known.summaries[request] = summary
        if known.scenarios.insert(scenario).inserted, runs.isReadBack(scenario) { known.readBack += 1 }
      }
    }
    if summaries.contains(nil) { throw CancellationError() }
  }

  /// Returns the scenario that is run for a request.
  func scenario(of request: Request) throws -> Scenario {
    let scenario = request.scale.scaled(try scenario(request)).withoutQuestion
    return scenario.with(seed: scenario.seed &+ UInt64(request.seed))
  }

  /// A run beside those of candidates.
  func summary(of scenario: Scenario) throws -> RunSummary { try runs.values(of: [scenario])[0] }

  /// Returns the results of the runs, in order; nil where not all of them are there.
  func summaries(_ requests: [Request]) -> [RunSummary]? {
    let found = known.withLock { known in requests.compactMap { known.summaries[$0] } }
    return found.count == requests.count ? found : nil
  }
}
