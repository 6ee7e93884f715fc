import FleetMetrics
import ScenarioModel
import Synchronization

extension RunSummary {
  /// The number in a column of `summary.csv`, with the digits that stand there; nil if it is empty.
  func column(_ name: String) -> Double? { MetricCatalogue.columns[name]?.value(self).number }

  /// Whether the fleet got over its incidents, if there were any.
  var recovers: Bool { !neverRecovers }
}

extension Collection<Double> {
  /// Nil of nothing.
  var mean: Double? { isEmpty ? nil : reduce(0, +) / Double(count) }
}

/// The runs of one candidate over seeds, and what they come to.
struct Ensemble: Sendable, Hashable {
  var runs: [RunSummary]
  init(_ runs: [RunSummary]) { self.runs = runs }

  /// Over the runs that have a value.
  func mean(_ value: (RunSummary) -> Double?) -> Double? { runs.compactMap(value).mean }
  /// Returns the mean of a column of `summary.csv`.
  func mean(_ column: String) -> Double? { mean { $0.column(column) } }
  /// Returns the mean of a metric; a time that did not come counts up to its horizon.
  func mean(_ metric: Metric) -> Double? { mean { metric.value(of: $0).restricted } }

  func share(where isMeant: (RunSummary) -> Bool) -> Double {
    runs.isEmpty ? 0 : Double(runs.count(where: isMeant)) / Double(runs.count)
  }
}

/// The candidates in the order in which they were first tried. From the best of them a search goes on to their neighbours, in
/// smaller and smaller steps.
struct Race: Sendable {
  var order: [SearchCandidate] = []
  /// Steps to a neighbour, by parameter.
  private(set) var stride: [Int] = []
  /// The place in the sequence of spread candidates behind which none was looked at.
  private(set) var nextSpread = 0
  private static let elites = 4

  /// Begins with wide steps, so many to each parameter.
  mutating func begin(_ space: SearchSpace, parts: Int) {
    stride = space.parameters.map { max(1, $0.values.count / parts) }
  }

  mutating func narrow() { stride = stride.map { max(1, $0 / 2) } }
  var isNarrow: Bool { stride.allSatisfy { $0 == 1 } }

  /// Returns the next spread candidates that have not been tried.
  /// - Parameter limit: the place in the sequence to give up at.
  /// - Parameter candidate: the candidate at a place of the sequence; nil where there is none.
  mutating func fresh(
    _ count: Int, before limit: Int, candidate: (Int) -> SearchCandidate?
  ) -> [SearchCandidate] {
    var seen = Set(order)
    var found: [SearchCandidate] = []
    while found.count < count, nextSpread < limit {
      if let candidate = candidate(nextSpread), seen.insert(candidate).inserted { found.append(candidate) }
      nextSpread += 1
    }
    return found
  }

  /// Those that have a standing, the best first; of equals the one that was tried first.
  func ranked<Standing>(
    by standing: (SearchCandidate) -> Standing?, isBetter: (Standing, Standing) -> Bool
  ) -> [SearchCandidate] {
    order.enumerated().compactMap { index, candidate in standing(candidate).map { (index, candidate, $0) } }
      .sorted { a, b in isBetter(a.2, b.2) || (!isBetter(b.2, a.2) && a.0 < b.0) }
      .map(\.1)
  }

  /// The neighbours of the best that have not been tried.
  func proposals(
    of ranked: [SearchCandidate], atMost room: Int,
    neighbours: (_ candidate: SearchCandidate, _ stride: [Int]) -> [SearchCandidate]
  ) -> [SearchCandidate] {
    var seen = Set(order)
    return Array(
      ranked.prefix(Self.elites).flatMap { neighbours($0, stride) }.filter { seen.insert($0).inserted }
        .prefix(room))
  }
}

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
    var seen: Set<Request> = []
    let left = known.withLock { known in
      requests.filter { known.summaries[$0] == nil && seen.insert($0).inserted }
    }
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
  func ensemble(_ requests: [Request]) -> Ensemble? {
    let found = known.withLock { known in requests.compactMap { known.summaries[$0] } }
    return found.count == requests.count ? Ensemble(found) : nil
  }
}
