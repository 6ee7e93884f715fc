import FleetSimulation
import ScenarioModel

/// What a comparison will need of memory, by the number of runs at a time.
public struct ComparisonMemory: Sendable {
  /// Of each run, twins included, the largest first.
  private let estimates: [MemoryEstimate]
  /// The record of every run stays until its replication ends.
  private let results: Int64
  private let replications: Int

  /// - `variants`: at least one.
  /// - `replications`: how often all of them run, with different seeds.
  public init(_ variants: [Variant], replications: Int = 1, options: RunOptions = .init()) {
    self.replications = max(1, replications)
    estimates = RunPlan.first(of: variants.map(\.scenario)).map { MemoryEstimate($0, options: options) }
      .sorted { $0.expected > $1.expected }
    results = estimates.reduce(0) { Self.sum($0, $1.resultBytes) }
  }

  /// Of runs that each leave memory when they are done: every scenario under `seeds` seeds.
  /// - `scenarios`: at least one.
  public init(leaving scenarios: [Scenario], seeds: Int, options: RunOptions = .init()) {
    let atOnce = 1_024
    let largest = scenarios.map { MemoryEstimate($0, options: options) }
      .sorted { $0.expected > $1.expected }.prefix(atOnce)
    estimates = Array(largest.flatMap { repeatElement($0, count: min(seeds, atOnce)) }.prefix(atOnce))
    results = 0
    replications = 1
  }

  /// How many runs there are, and so how many can run at once.
  public var runs: Int { estimates.count.multipliedReportingOverflow(by: replications).partialValue }

  /// The run that needs most.
  public var largest: MemoryEstimate { estimates[0] }

  /// Expected bytes with `workers` runs at a time: the largest ones, and what the others leave.
  public func expected(workers: Int) -> Int64 {
    let workers = max(workers, 1)
    // A worker opens another replication when all runs of the open ones are taken.
    let open = Int64(min(replications, workers))
    let held = results.multipliedReportingOverflow(by: open)
    let first = held.overflow ? .max : held.partialValue
    return (0..<workers).reduce(first) { sum, worker in
      guard worker < runs else { return sum }
      let estimate = estimates[replications > 1 ? 0 : worker]
      return Self.sum(sum, estimate.expected - estimate.resultBytes)
    }
  }

  /// The most runs at a time, up to `workers`, that stay within `limit` bytes; nil if not even one does.
  public func workersThatFit(_ limit: Int64, atMost workers: Int) -> Int? {
    (1...max(1, min(workers, runs))).last { expected(workers: $0) <= limit }
  }

  private static func sum(_ a: Int64, _ b: Int64) -> Int64 {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? .max : sum
  }
}
