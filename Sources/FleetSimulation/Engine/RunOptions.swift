import FleetMetrics
import ScenarioModel
import SimulationKernel
import Synchronization

/// Lets another thread watch a run and stop it.
public final class RunControl: Sendable {
  private let cancelled = Atomic<Bool>(false)
  private let virtualMicroseconds = Atomic<Int64>(0)
  private let attemptsSoFar = Atomic<Int64>(0)
  private let passesSoFar = Atomic<Int64>(0)
  /// The run stops soon after it has made more.
  private let mostAttempts: Int64
  public init() { mostAttempts = .max }
  /// - Parameter mostAttempts: after which the run stops.
  package init(mostAttempts: Int64) { self.mostAttempts = mostAttempts }
  /// Asks the run to stop; it throws `CancellationError` within milliseconds.
  public func cancel() { cancelled.store(true, ordering: .relaxed) }
  /// Whether the run has been asked to stop; it may not have noticed yet.
  public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
  /// How far the run has come.
  public var virtualTime: Instant { Instant(microseconds: virtualMicroseconds.load(ordering: .relaxed)) }
  /// Upload attempts of the whole fleet so far.
  public var attempts: Int64 { attemptsSoFar.load(ordering: .relaxed) }
  /// How often a shard has been asked for what is due in a window, added up over shards and windows.
  package var devicePasses: Int64 { passesSoFar.load(ordering: .relaxed) }
  package func report(virtualTime: Instant, attempts: Int64, devicePasses: Int64 = 0) {
    virtualMicroseconds.store(virtualTime.microseconds, ordering: .relaxed)
    attemptsSoFar.store(attempts, ordering: .relaxed)
    passesSoFar.store(devicePasses, ordering: .relaxed)
    if attempts > mostAttempts { cancel() }
  }
}

/// How to run, as against what to run: nothing here changes a byte of the result.
public struct RunOptions: Sendable {
  /// Checkers on (engine.md, Checkers): a violation throws `CheckFailure`.
  public var checks = false
  /// Device shards of a cohort, at least; there are as many as threads in any case.
  public var shards = 1
  /// Threads that run the devices of a run. If nil, as many run as have enough to do in a window, at most 8 and at most one a
  /// core.
  public var threads: Int?
  /// Window width; nil: the look-ahead (the smallest one-way latency).
  public var window: Span?
  public init() {}
}

extension RunOptions {
  /// So many of a cohort's batches in a window are worth a thread.
  static let batchesForThread = 25.0

  package func threads(for scenario: Scenario) -> Int {
    if let threads { return max(1, threads) }
    let window = WindowClock(notLongerThan: WindowedEngine.lookAhead(scenario, asked: window)).width
    let batches = NormalLoad(scenario).batchesPerSecond * Double(window) / 1e6
    let wanted = batches / Self.batchesForThread / Double(scenario.fleet.count)
    return wanted >= 2 ? Int(min(wanted, Double(min(SystemThreads.cores, 8)))) : 1
  }
}

/// Why a run has not come to its end.
enum Interruption: Error {
  case cancelled
  case inconsistent(String)
}

/// A checker found the model inconsistent with itself: a bug in fleetsim, never a user's fault.
public struct CheckFailure: Error, CustomStringConvertible {
  public var description: String
  public init(description: String) { self.description = description }
}

extension WindowedEngine {
  /// The record of a run that has ended.
  func record(as scenario: Scenario) -> RunRecord {
    var assembly = RunAssembly(scenario)
    for i in 0..<runners.count {
      assembly.add(runners[i].shard, held: heldAtEnd?[i], cohort: scenario.fleet[layout[i].cohort])
    }
    // The device records that the assembly counts are the engine's.
    return assembly.record(front)
  }
}
