import FleetMetrics
import ScenarioModel
import Synchronization

/// Makes the runs of candidates, each once.
package final class CandidateRuns: Sendable {
  /// The candidate, scenario, seed and scale of one run.
  package struct Request: Sendable, Hashable {
    package var candidate: SearchCandidate
    package var scenario = 0
    /// From 0.
    package var seed: Int
    package var scale = Scaling.whole
  }

  private let scenario: @Sendable (Request) throws -> Scenario
  /// Those that are compared, and those that need only tell whether they fail.
  private let runs: (compared: Runs<RunSummary>, alone: Runs<RunSummary>)
  private let known = Mutex<[Request: RunSummary]>([:])

  /// - Parameter failures: makes runs that need only tell whether they fail; nil: as all others.
  /// - Parameter scenario: what a run is of, but for the number of its seed, which is added, and its scale.
  package init(
    _ runs: Runs<RunSummary>, failures: Runs<RunSummary>? = nil,
    of scenario: @escaping @Sendable (Request) throws -> Scenario
  ) {
    self.runs = (runs, failures ?? runs)
    self.scenario = scenario
  }

  /// Runs made anew and runs found in the store, twins not counted.
  package var counts: (made: Int, readBack: Int) {
    let (all, alone) = (runs.compared.counts, runs.alone.counts)
    return runs.alone === runs.compared ? all : (all.made + alone.made, all.readBack + alone.readBack)
  }

  /// Makes the runs asked for, as far as they are not there.
  /// - Throws: `CancellationError` where it was stopped before all were there.
  package func make(_ requests: [Request]) throws {
    let left = known.withLock { known in requests.uniqued.filter { known[$0] == nil } }
    let scenarios = try left.map(scenario(of:))
    let summaries = try runs.compared.valuesUntilCancelled(of: scenarios)
    known.withLock { known in
      for (request, summary) in zip(left, summaries) where summary != nil { known[request] = summary }
    }
    if summaries.contains(nil) { throw CancellationError() }
  }

  func scenario(of request: Request) throws -> Scenario {
    let scenario = request.scale.scaled(try scenario(request)).withoutQuestion
    return scenario.with(seed: scenario.seed &+ UInt64(request.seed))
  }

  func decide(_ decision: inout Decision) throws {
    try decision.run(
      runs.compared.valuesUntilCancelled, failures: runs.alone.valuesUntilCancelled)
  }

  /// Returns the results of the runs, in order; nil where not all of them are there.
  func summaries(_ requests: [Request]) -> [RunSummary]? {
    let found = known.withLock { known in requests.compactMap { known[$0] } }
    return found.count == requests.count ? found : nil
  }
}
