import FleetMetrics
import ScenarioModel
import Synchronization

/// One run of one candidate: a row of `summary.csv`, with the digits that stand there.
package struct Trial: Sendable, Hashable {
  private var numbers: [String: Double] = [:]

  package init(_ summary: RunSummary) {
    var summary = summary
    summary.run = "run"
    let lines = String(decoding: SummaryCSV.bytes(of: [summary]), as: UTF8.self).split(separator: "\n")
      .map { $0.split(separator: ",", omittingEmptySubsequences: false) }
    for (name, value) in zip(lines[0], lines[1]) {
      switch value {
      case "true": numbers[String(name)] = 1
      case "false": numbers[String(name)] = 0
      default: numbers[String(name)] = Double(value)
      }
    }
  }

  package func column(_ name: String) -> Double? { numbers[name] }

  /// Whether the fleet got over its incidents, if there were any.
  package var recovered: Bool { column("has_incidents") != 1 || column("recovery_s") != nil }
}

extension Collection<Double> {
  /// Nil of nothing.
  var mean: Double? { isEmpty ? nil : reduce(0, +) / Double(count) }
}

/// The runs of one candidate over seeds, and what they come to.
struct Ensemble: Sendable {
  var trials: [Trial]
  init(_ trials: [Trial]) { self.trials = trials }

  /// Of a column, over the runs that have a value.
  func mean(_ column: String) -> Double? { trials.compactMap { $0.column(column) }.mean }

  /// Of a metric; a time that did not come counts up to its horizon.
  func mean(_ metric: Metric) -> Double? { trials.compactMap { metric.value($0.column).restricted }.mean }

  func share(where isMeant: (Trial) -> Bool) -> Double {
    trials.isEmpty ? 0 : Double(trials.count(where: isMeant)) / Double(trials.count)
  }
}

/// Candidates in the order in which they were first tried, and how a search goes on from the best of them: to their neighbours, in
/// smaller and smaller steps.
struct Race: Sendable {
  var order: [SearchCandidate] = []
  /// Steps to a neighbour, by parameter.
  private(set) var stride: [Int] = []
  private static let elites = 4

  /// Begins with wide steps, so many to each parameter.
  mutating func begin(_ space: SearchSpace, parts: Int) {
    stride = space.parameters.map { max(1, $0.values.count / parts) }
  }

  mutating func narrow() { stride = stride.map { max(1, $0 / 2) } }
  var isNarrow: Bool { stride.allSatisfy { $0 == 1 } }

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

/// Makes trials of candidates, each once.
package final class TrialMaker: Sendable {
  /// What one trial is of.
  package struct Request: Sendable, Hashable {
    package var candidate: SearchCandidate
    package var scenario: Int
    /// From 0.
    package var seed: Int
    package var scale: Scaling
    package init(candidate: SearchCandidate, scenario: Int, seed: Int, scale: Scaling = .whole) {
      self.candidate = candidate
      self.scenario = scenario
      self.seed = seed
      self.scale = scale
    }
  }

  private let scenario: @Sendable (Request) throws -> Scenario
  private let runs: Runs<RunSummary>
  private struct Known {
    var trials: [Request: Trial] = [:]
    var scenarios: Set<Scenario> = []
    var readBack = 0
  }
  private let known = Mutex(Known())

  /// - Parameter scenario: what a trial is of, but for the number of its seed, which is added, and its scale.
  package init(_ runs: Runs<RunSummary>, of scenario: @escaping @Sendable (Request) throws -> Scenario) {
    self.runs = runs
    self.scenario = scenario
  }

  /// Runs made anew and runs found in the store, twins not counted.
  package var counts: (made: Int, readBack: Int) {
    known.withLock { ($0.scenarios.count - $0.readBack, $0.readBack) }
  }

  /// The trials asked for, in order.
  package func trials(_ requests: [Request]) throws -> [Trial] {
    let left = known.withLock { known in requests.filter { known.trials[$0] == nil } }
    let scenarios = try left.map { request in
      var scenario = request.scale.scaled(try scenario(request))
      scenario.seed &+= UInt64(request.seed)
      scenario.question = nil
      return scenario
    }
    let summaries = try runs.values(of: scenarios)
    return known.withLock { known in
      let new = scenarios.filter { known.scenarios.insert($0).inserted }
      known.readBack += runs.readBack(of: new)
      for (request, summary) in zip(left, summaries) { known.trials[request] = Trial(summary) }
      return requests.compactMap { known.trials[$0] }
    }
  }
}
