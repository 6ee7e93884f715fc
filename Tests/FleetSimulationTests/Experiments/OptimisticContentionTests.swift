import FleetStatistics
import Foundation
import PlainEngine
import SimulationKernel
import TestSupport
import Testing

/// Experiment 021: the published figures against ours, point by point.
@Suite struct OptimisticContentionTests {
  private struct Point {
    var clients: Int
    var strategy: Substring
    /// Rounded down in print.
    var published: Double
    var calls: SampleStatistics
    var times: SampleStatistics

    /// Of the mean, 95 %.
    var halfWidth: Double { ConfidenceInterval(calls)?.halfWidth ?? 0 }
    /// What counts as the same: 2 %, one call, or the interval.
    var tolerance: Double { max(1, published * 0.02, halfWidth) }
    /// From what may have been rounded down to the published figure.
    var distance: Double { max(published - calls.mean, calls.mean - published - 1, 0) }
  }

  private static let published = ExperimentFiles.folder.appending(
    path: "021-optimistic-contention/published.csv")
  private static let ours = ExperimentFiles.folder.appending(
    path: "../results/021-optimistic-contention/contest.csv")

  /// Those of every third number of clients; all if exhaustive.
  private static func points() throws -> [Point] {
    let rows = try String(contentsOf: published, encoding: .utf8).split(separator: "\n").dropFirst()
    return try rows.map { $0.split(separator: ",") }.filter {
      TestDepth.isExhaustive || ["10", "40", "70", "100", "130", "160", "190"].contains($0[0])
    }.map { row in
      let (clients, calls) = try (#require(Int(row[0])), #require(Double(row[2])))
      let strategy = try #require(OptimisticContest.strategies.first { $0.name == row[3] })
      let contest = OptimisticContest(clients: clients, jitter: strategy.jitter, base: strategy.base)
      let runs = (0..<100).map { contest.run(RandomKey(seed: 1).child(UInt64(clients)).child($0)) }
      return Point(
        clients: clients, strategy: row[3], published: calls,
        calls: SampleStatistics(runs.map { Double($0.calls) }),
        times: SampleStatistics(runs.map { Double($0.microseconds) / 1_000 }))
    }
  }

  @Test("021: calls are the published ones at every point, and the strategies come in the published order")
  func contest() throws {
    let points = try Self.points()
    #expect(points.count == (TestDepth.isExhaustive ? 19 : 7) * OptimisticContest.strategies.count)
    for point in points {
      #expect(
        point.distance <= point.tolerance,
        "\(point.clients) clients, \(point.strategy): \(point.calls.mean) against \(point.published)")
      for other in points where other.clients == point.clients && other.published > point.published {
        #expect(
          point.calls.mean < other.calls.mean || other.published - point.published <= point.tolerance,
          "\(point.clients) clients: \(point.strategy) needs more calls than \(other.strategy)")
      }
    }
    func text(_ value: Double) -> String { String(format: "%.2f", value) }
    let lines =
      ["clients,strategy,published_calls,calls,calls_95,time_ms"]
      + points.map {
        "\($0.clients),\($0.strategy),\(Int($0.published)),\(text($0.calls.mean)),\(text($0.halfWidth)),\(text($0.times.mean))"
      }
    if TestDepth.isExhaustive {
      let table = lines.map { $0 + "\n" }.joined()
      #expect(try Snapshot.recorded(in: Self.ours, now: table) == table)
    } else {
      let recorded = try String(contentsOf: Self.ours, encoding: .utf8).split(separator: "\n").map(
        String.init)
      let others = lines.filter { !recorded.contains($0) }
      #expect(others.isEmpty)
    }
  }
}
