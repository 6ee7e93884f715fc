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
  private let known = Mutex<[Request: Trial]>([:])

  /// - Parameter scenario: what a trial is of, but for the number of its seed, which is added, and its scale.
  package init(_ runs: Runs<RunSummary>, of scenario: @escaping @Sendable (Request) throws -> Scenario) {
    self.runs = runs
    self.scenario = scenario
  }

  /// Runs made anew and runs found in the store, twins not counted.
  package var counts: (made: Int, readBack: Int) { runs.counts }

  /// The trials asked for, in order.
  package func trials(_ requests: [Request]) throws -> [Trial] {
    let left = known.withLock { known in requests.filter { known[$0] == nil } }
    let scenarios = try left.map { request in
      var scenario = request.scale.scaled(try scenario(request))
      scenario.seed &+= UInt64(request.seed)
      return scenario
    }
    let summaries = try runs.values(of: scenarios)
    return known.withLock { known in
      for (request, summary) in zip(left, summaries) { known[request] = Trial(summary) }
      return requests.compactMap { known[$0] }
    }
  }
}
