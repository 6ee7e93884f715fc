import Dispatch
import FleetMetrics
import Synchronization

/// Threads that share the work of a command.
enum Workers {
  /// Calls `step` again and again on each of `count` threads, at least one, until it says false there or fails anywhere;
  /// a failure stops the control's runs.
  /// - Throws: the first failure. A cancellation only if there was no other, for it is what a failure brings on the other runs.
  static func run(_ count: Int, control: ComparisonControl, _ step: @Sendable () throws -> Bool) throws {
    let failure = Mutex<(any Error)?>(nil)
    DispatchQueue.concurrentPerform(iterations: max(1, count)) { _ in
      do {
        while failure.withLock({ $0 == nil }), try step() {}
      } catch {
        failure.withLock { if $0 == nil || $0 is CancellationError { $0 = error } }
        control.cancel()
      }
    }
    if let error = failure.withLock({ $0 }) { throw error }
  }
}

/// The twins that were made so far: one in which no upload failed stands for its whole group (`RunIdentity`).
struct TwinRecords: Sendable {
  struct Key: Sendable, Hashable {
    var identity: RunIdentity
    var group: RunIdentity
  }

  private var own: [RunIdentity: RunRecord] = [:]
  private var shared: [RunIdentity: RunRecord] = [:]

  subscript(key: Key) -> RunRecord? { own[key.identity] ?? shared[key.group] }

  mutating func add(_ record: RunRecord, as key: Key) {
    if record.sawNoFailure { shared[key.group] = record } else { own[key.identity] = record }
  }
}
