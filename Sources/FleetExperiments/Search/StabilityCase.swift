import FleetMetrics
import FleetStatistics
import ScenarioModel

/// The fate of one scenario over its seeds: whether it recovers, and how long it takes to come back by chance.
package struct StabilityCase: Sendable {
  package let point: StabilityPoint
  package let risk: StabilityRisk
  /// Whether all of its runs were made; false: it was stopped, and says what was known then.
  package let isFinished: Bool

  /// Runs the scenario's seed and those that follow it, as many as the risk takes at most.
  /// - Parameter run: summaries of scenarios, in their order; nil for those that were not there yet when it was stopped.
  /// - Throws: what `run` throws; `CancellationError` without any run.
  package init(
    _ scenario: Scenario, risk: StabilityRisk, run: ([Scenario]) throws -> [RunSummary?]
  ) throws {
    let runs = try run((0..<risk.most).map { scenario.with(seed: scenario.seed &+ UInt64($0)) })
    let made = runs.compactMap(\.self)
    if made.isEmpty { throw CancellationError() }
    var point = StabilityPoint(made)
    point.judge(risk)
    (self.point, self.risk, isFinished) = (point, risk, made.count == runs.count)
  }

  /// A row of `stability.csv` without parameters.
  package var table: Table<StabilityMap.Row> {
    Table(StabilityMap.columns, [StabilityMap.Row(x: nil, y: nil, point: point)])
  }

  /// When its runs recovered, with the share that takes longer.
  package var steps: [CensoredTimes.Step] { point.escapes?.recoveries.steps ?? [] }

  /// The finding, in a few sentences.
  package var sentence: String {
    (isFinished ? "" : "Of a part of the seeds: ") + finding
      + (point.escapes?.sentence("An ill fleet").map { " " + $0 } ?? "")
  }

  private var finding: String {
    let chance =
      "in \(point.recoveredSeeds) of \(FigureText.count(point.seeds, "seed")) (95 %: \(FigureText.percent(point.chance.low)) to "
      + "\(FigureText.percent(point.chance.high)))"
    let slowest = point.longestRecovery.map { ", the slowest after \(FigureText.span($0))" } ?? ""
    switch point.kind {
    case .recovers: return "The fleet recovers: \(chance)\(slowest)."
    case .neverRecovers: return "The fleet rarely recovers within the run: \(chance)."
    case .undecided: return "Whether the fleet recovers within the run is undecided: it does \(chance)."
    case .overloaded:
      return "The fleet does not hold its load even without any incident: "
        + HealthWording([point.baselines]).text { _ in "" } + "."
    }
  }

  /// By when a quarter, half and three quarters of the runs had recovered, with those that the run was too short for.
  package var quartiles: [(share: String, time: String)] {
    let recoveries = point.escapes?.recoveries ?? CensoredTimes()
    return [("a quarter", 0.25), ("half", 0.5), ("three quarters", 0.75)].map { name, share in
      (name, recoveries.quantile(share).map { FigureText.span(Int64($0)) } ?? "not within the run")
    }
  }
}
