import FleetStatistics
import Foundation
import SimulationKernel
import TestSupport
import Testing
import UploadRetry

/// Clients that read a row's version, and write the row if it still has that version; who comes too late waits and starts over,
/// until each has written once. Ways take |normal(10 ms, 2 ms)|.
///
/// Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog (2015).
struct OptimisticContest {
  var clients: Int
  var jitter: Jitter
  /// Microseconds.
  var base: Int64
  static let cap: Int64 = 2_000_000

  /// The published names. There "exponential" is without jitter, and "none" is without a wait.
  static let strategies: [(name: Substring, jitter: Jitter, base: Int64)] = [
    ("Exponential", .none, 5_000), ("Decorr", .decorrelated, 5_000), ("EqualJitter", .equal, 5_000),
    ("FullJitter", .full, 5_000), ("None", .none, 0),
  ]

  /// Writes that were tried, and when the last client knew of its success.
  func run(_ key: RandomKey) -> (calls: Int, microseconds: Int64) {
    var random = RandomStream(key)
    func way() -> Int64 {
      let unit = (Double(random.next() >> 12) + 0.5) * 0x1p-52
      return abs(10_000 + Int64(2_000 * DeterministicMath.inverseNormalCDF(unit)))
    }
    func word(_ time: Int64, _ client: Int, isWrite: Bool) -> UInt64 {
      UInt64(time) << 10 | UInt64(client) << 1 | (isWrite ? 1 : 0)
    }
    var arrivals = WordHeap()
    for client in 0..<clients { arrivals.push(word(way(), client, isWrite: false)) }
    var (version, calls, end) = (0, 0, Int64(0))
    var read = Array(repeating: 0, count: clients)
    var failures = Array(repeating: 0, count: clients)
    var waits = Array(repeating: Int64(0), count: clients)
    while arrivals.first != .max {
      let next = arrivals.popFirst()
      let (time, client) = (Int64(next >> 10), Int(next >> 1 & 511))
      if next & 1 == 0 {
        read[client] = version
        arrivals.push(word(time + way() + way(), client, isWrite: true))
        continue
      }
      calls += 1
      let answer = time + way()
      if read[client] == version {
        version += 1
        end = max(end, answer)
        continue
      }
      // The published program counts a failure before it asks how long to wait.
      failures[client] += 1
      waits[client] = jitter.delay(
        retryCount: failures[client], base: base, cap: Self.cap, previousDelay: waits[client],
        clampAfterJitter: false, random: &random)
      arrivals.push(word(answer + waits[client] + way(), client, isWrite: false))
    }
    return (calls, end)
  }
}

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

  private static func points() throws -> [Point] {
    try String(contentsOf: published, encoding: .utf8).split(separator: "\n").dropFirst().map {
      let row = $0.split(separator: ",")
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
    #expect(points.count == 19 * OptimisticContest.strategies.count)
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
    let table =
      "clients,strategy,published_calls,calls,calls_95,time_ms\n"
      + points.map {
        "\($0.clients),\($0.strategy),\(Int($0.published)),\(text($0.calls.mean)),\(text($0.halfWidth)),\(text($0.times.mean))\n"
      }.joined()
    #expect(try Snapshot.recorded(in: Self.ours, now: table) == table)
  }
}
