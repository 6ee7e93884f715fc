import FleetExperiments
import FleetMetrics
import FleetStatistics
import Foundation
import TestSupport
import Testing

/// How often the intervals that a comparison prints hold the truth: `experiments/coverage/run.sh` makes the pools of runs.
@Suite("Coverage of intervals", .enabled(if: Coverage.pools != nil))
struct ConclusionCoverageTests {
  @Test("where an interval is given, it holds the expected value in 92 to 98 % of the cases")
  func coverage() throws {
    let pools = try #require(Coverage.pools)
    for name in ["well-behaved", "rare-losses", "metastable"] {
      let pool = try Coverage(contentsOf: "\(pools)/\(name)/replications.csv")
      for metric in Coverage.shown {
        for mode in Coverage.Mode.allCases {
          let found = pool.measure(metric, mode)
          print("COVERAGE \(name),\(metric),\(mode),\(found.repetitions),\(found.given),\(found.holds)")
          // Three standard errors of the count beside the bounds; few intervals say nothing.
          guard found.given >= 40 else { continue }
          let share = Double(found.holds) / Double(found.given)
          let error = 3 * (0.95 * 0.05 / Double(found.given)).squareRoot()
          #expect(share > 0.95 - max(0.03, error), "\(name), \(metric), \(mode)")
        }
      }
    }
  }
}

struct Coverage {
  /// By the number that seeds its draws: those of a mode stay the same.
  enum Mode: Int, CaseIterable {
    case fixed = 0
    /// As `run` stops by itself.
    case untilKnown = 2
  }

  static var pools: String? { ProcessInfo.processInfo.environment["FLEETSIM_POOLS"] }
  static let shown = [
    MetricCatalogue.undelivered, MetricCatalogue.recovery, MetricCatalogue.affectedDelivery,
    MetricCatalogue.attemptsAboveTwin,
  ]
  static let repetitions = 400

  private let rows: [[String: Double]]
  private let metrics = (shown + [MetricCatalogue.attempts]).compactMap { MetricCatalogue.metric(named: $0) }

  init(contentsOf path: String) throws {
    rows = records(Array(try Data(contentsOf: URL(filePath: path)))).map { $0.compactMapValues(Double.init) }
  }

  /// 400 comparisons of runs drawn from the pool, whose means are the truth.
  func measure(_ name: String, _ mode: Mode) -> (repetitions: Int, given: Int, holds: Int) {
    let index = metrics.firstIndex { $0.name == name }!
    func values(_ rows: [[String: Double]]) -> [Double] {
      rows.compactMap { row in metrics[index].value { row[$0] }.restricted }
    }
    let recovering = rows.filter { $0[MetricCatalogue.recovery] != nil }
    let (all, given) = (SampleStatistics(values(rows)).mean, SampleStatistics(values(recovering)).mean)
    var random = SeededGenerator(seed: UInt64(index * 10 + mode.rawValue))
    var result = (repetitions: Self.repetitions, given: 0, holds: 0)
    for _ in 0..<Self.repetitions {
      var drawn: [[String: Double]] = []
      func add(_ count: Int) {
        for _ in 0..<count { drawn.append(rows[Int.random(in: 0..<rows.count, using: &random)]) }
      }
      add(mode == .untilKnown ? SeedPlan.looks[0] : 10)
      if mode == .untilKnown {
        while let next = Self.decision(drawn.map(Self.summary)).next { add(next - drawn.count) }
      }
      let values = metrics.map { metric in drawn.map { row in metric.value { row[$0] } } }
      let found = ReplicatedMetrics(variants: ["v"], metrics: metrics, values: [values])
      let estimate = found.estimate(index, variant: 0)
      guard let low = estimate.low, let high = estimate.high else { continue }
      let isAll = found.share(1, variant: 0).map { $0.successes < $0.count } ?? false
      result.given += 1
      let truth = isAll ? all : given
      if low <= truth, truth <= high { result.holds += 1 }
    }
    return result
  }

  /// What `SeedPlan` says with a budget that has room for every look.
  private static func decision(_ rows: [RunSummary]) -> SeedPlan.Decision {
    let standings = Standings(["v"], rows: [rows], interval: 10_000_000, level: SeedPlan.level)
    return SeedPlan().decision(standings, attempts: 0)
  }

  /// What a verdict looks at in a row of `replications.csv`.
  private static func summary(_ row: [String: Double]) -> RunSummary {
    func microseconds(_ column: String) -> Int64? { row[column].map { Int64(($0 * 1e6).rounded()) } }
    func count(_ column: String) -> Int64 { Int64(row[column] ?? 0) }
    var run = RunSummary.planted(
      "v", seed: 0, recovery: row[MetricCatalogue.recovery], within: row["recovery_horizon_s"],
      lost: count(MetricCatalogue.lost), of: count("created_events"))
    run[.settledBatches] = count("settled_batches")
    run.lateEvents = count(MetricCatalogue.late)
    run.affectedEvents = count("affected_events")
    run.affectedHorizon = microseconds("affected_horizon_s") ?? 0
    run.affectedDeliveryP99 = microseconds(MetricCatalogue.affectedDelivery)
    run.attemptsAboveTwinPerDevice = row[MetricCatalogue.attemptsAboveTwin] ?? 0
    run.cost.mean[.attempts] = row[MetricCatalogue.attempts] ?? 0
    return run
  }
}
