import Foundation
import Synchronization

/// Threads that run one job after another side by side, each job ended before the next begins.
///
/// A job is a millisecond or less of work, many thousands of times, so the threads wait by looking rather than by sleeping, and
/// give way to others only after a while.
final class WindowCrew: Sendable {
  private let work: @Sendable (_ member: Int) -> Void
  private let size: Int
  /// Counts the jobs begun; negative: no more will come.
  private let begun = Atomic<Int>(0)
  private let working = Atomic<Int>(0)

  /// - Parameters:
  ///   - size: how many run a job, the caller of `run` included; at least 1.
  ///   - work: a member's part of a job; it must not touch what another member's does.
  init(size: Int, work: @escaping @Sendable (_ member: Int) -> Void) {
    self.size = size
    self.work = work
    for member in 1..<max(size, 1) {
      let thread = Thread { [self] in follow(member) }
      thread.stackSize = 1 << 20
      thread.start()
    }
  }

  /// Runs one job and returns when every member has done its part.
  func run() {
    working.store(size - 1, ordering: .relaxed)
    begun.wrappingAdd(1, ordering: .releasing)
    work(0)
    Self.wait { working.load(ordering: .acquiring) == 0 }
  }

  /// Lets the threads end. No job may run any more.
  func dismiss() { begun.store(-1, ordering: .releasing) }

  private func follow(_ member: Int) {
    var seen = 0
    while true {
      Self.wait { begun.load(ordering: .acquiring) != seen }
      seen = begun.load(ordering: .acquiring)
      if seen < 0 { return }
      work(member)
      working.wrappingSubtract(1, ordering: .releasing)
    }
  }

  @inline(__always)
  private static func wait(until isTrue: () -> Bool) {
    var looks = 0
    while !isTrue() {
      looks &+= 1
      if looks > 2_000 { sched_yield() }
    }
  }
}
