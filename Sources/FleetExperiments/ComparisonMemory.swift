import FleetSimulation

/// What a comparison will need of memory, by the number of runs at a time.
public struct ComparisonMemory: Sendable {
  /// Of each run, twins included, the largest first.
  private let estimates: [MemoryEstimate]
  /// The record of every run stays until the end.
  private let results: Int64

  /// - Parameter variants: at least one.
  public init(_ variants: [Variant], options: RunOptions = .init()) {
    let jobs = RunPlan(variants).firstJobs
    estimates = jobs.map { MemoryEstimate($0.scenario, options: options) }.sorted {
      $0.expected > $1.expected
    }
    results = estimates.reduce(0) { Self.sum($0, $1.resultBytes) }
  }

  /// How many runs there are, and so how many can run at once.
  public var runs: Int { estimates.count }

  /// The run that needs most.
  public var largest: MemoryEstimate { estimates[0] }

  /// Expected bytes with `workers` runs at a time: the largest ones, and what the others leave.
  public func expected(workers: Int) -> Int64 {
    estimates.prefix(max(workers, 1)).reduce(results) { Self.sum($0, $1.expected - $1.resultBytes) }
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
