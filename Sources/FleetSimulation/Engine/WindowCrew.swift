import Synchronization

/// Threads that run one job after another side by side, each job ended before the next begins.
///
/// A job is a millisecond or less of work, many thousands of times, so a thread that has to wait looks first, then gives way to
/// others, and sleeps only when that has not helped: on a machine that is busy with other things.
final class WindowCrew: Sendable {
  private let work: @Sendable (_ member: Int) -> Void
  private let size: Int
  /// Threads, the caller of `run` included: never more than cores, because they wait for each other. With fewer threads than
  /// members each runs the parts of several.
  private let threads: Int
  /// Counts the jobs begun; negative: no more will come.
  private let begun = Atomic<Int>(0)
  private let working = Atomic<Int>(0)
  private let sleepers = Atomic<Int>(0)
  private let alarm = SystemCondition()

  /// - Parameters:
  ///   - size: how many parts a job has; at least 1.
  ///   - work: a member's part of a job; it must not touch what another member's does.
  init(size: Int, work: @escaping @Sendable (_ member: Int) -> Void) {
    self.size = size
    self.work = work
    threads = max(min(size, SystemThreads.cores), 1)
    for first in 1..<threads {
      SystemThreads.start { [self] in follow(from: first) }
    }
  }

  /// Runs one job and returns when every member has done its part; alone, the caller does them all.
  func run(alone: Bool) {
    if alone {
      for member in 0..<size { work(member) }
      return
    }
    working.store(threads - 1, ordering: .relaxed)
    begun.wrappingAdd(1, ordering: .sequentiallyConsistent)
    wakeSleepers()
    workParts(from: 0)
    wait { working.load(ordering: .sequentiallyConsistent) == 0 }
  }

  /// Lets the threads end. No job may run any more.
  func dismiss() {
    begun.store(-1, ordering: .sequentiallyConsistent)
    wakeSleepers()
  }

  private func workParts(from first: Int) {
    var member = first
    while member < size {
      work(member)
      member += threads
    }
  }

  private func follow(from first: Int) {
    var seen = 0
    while true {
      wait { begun.load(ordering: .sequentiallyConsistent) != seen }
      seen = begun.load(ordering: .acquiring)
      if seen < 0 { return }
      workParts(from: first)
      if working.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue == 0 { wakeSleepers() }
    }
  }

  private func wakeSleepers() {
    guard sleepers.load(ordering: .sequentiallyConsistent) > 0 else { return }
    alarm.lock()
    alarm.broadcast()
    alarm.unlock()
  }

  @inline(__always)
  private func wait(until isTrue: () -> Bool) {
    var looks = 0
    while !isTrue() {
      looks &+= 1
      if looks > 2_000 { SystemThreads.giveWay() }
      if looks > 2_100 { return sleep(until: isTrue) }
    }
  }

  /// Counts itself first and looks once more then: whoever makes `isTrue` true afterwards sees the sleeper.
  @inline(never)
  private func sleep(until isTrue: () -> Bool) {
    alarm.lock()
    sleepers.wrappingAdd(1, ordering: .sequentiallyConsistent)
    while !isTrue() { alarm.wait() }
    sleepers.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    alarm.unlock()
  }
}
