import CMemory
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Threads that run one job after another side by side, each job ended before the next begins.
///
/// A job is a millisecond or less of work, many thousands of times. A thread that has to wait looks first, then gives way to
/// others. It sleeps only when that has not helped: on a machine that is busy with other things.
final class ThreadTeam: Sendable {
  private let work: @Sendable (_ member: Int) -> Void
  private let size: Int
  /// Threads, the caller of `run` included: never more than cores, because they wait for each other, and fewer where the system
  /// gives no more. With fewer threads than members each runs the parts of several. It is set before the first job.
  private let threads = Atomic<Int>(1)
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
    var started = 1
    while started < min(size, SystemThreads.cores) {
      let first = started
      do { try SystemThreads.start { [self] in follow(from: first) } } catch { break }
      started += 1
    }
    threads.store(started, ordering: .sequentiallyConsistent)
  }

  /// Runs one job and returns when every member has done its part; alone, the caller does them all.
  func run(alone: Bool) {
    if alone {
      for member in 0..<size { work(member) }
      return
    }
    working.store(threads.load(ordering: .relaxed) - 1, ordering: .relaxed)
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
    let threads = threads.load(ordering: .relaxed)
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

/// Decides from time to time whether a team's threads work side by side or the caller does all the work.
///
/// Threads that wait for one another thousands of times a second gain nothing while the machine is busy, or where jobs are too
/// short. So now and then a round of jobs goes the other way, between two rounds that go as before. If it takes less time a job,
/// and in a second trial too, that is the way from then on. Rounds have a length of time, so trials cost under 1 %.
package struct ParallelismController {
  /// Whether the next job is the caller's alone.
  package private(set) var isSerial = false
  /// Whether the caller is preferred to the team.
  private var prefersSerial = false
  private var jobs = 0
  private var roundStart: UInt64
  /// Nanoseconds a job: of the latest round of the preferred way, and of the trial after it.
  private var preferredTime = 0.0
  private var trialTime: Double?
  private var wins = 0
  private var roundsToTrial = Self.fewestRounds
  /// Rounds from a trial to the next: more and more as long as it loses.
  private var roundsBetweenTrials = Self.fewestRounds

  private static var jobsBetweenLooks: Int { 16 }
  private static var roundNanoseconds: UInt64 { 5_000_000 }
  private static var fewestRounds: Int { 2 }
  private static var mostRounds: Int { 128 }

  /// - Parameter now: of a clock in nanoseconds.
  package init(now: UInt64) { roundStart = now }

  /// A job has ended. `now` is asked for now and then.
  @inline(__always)
  package mutating func jobEnded(now: () -> UInt64) {
    jobs &+= 1
    if jobs % Self.jobsBetweenLooks == 0 { look(now: now()) }
  }

  @inline(never)
  private mutating func look(now: UInt64) {
    let time = now &- roundStart
    if time < Self.roundNanoseconds { return }
    let perJob = Double(time) / Double(jobs)
    (jobs, roundStart) = (0, now)
    if isSerial != prefersSerial {
      trialTime = perJob
      isSerial = prefersSerial
      return
    }
    if let trialTime {
      self.trialTime = nil
      judge(trialTime, against: (preferredTime + perJob) / 2)
    }
    preferredTime = perJob
    roundsToTrial -= 1
    if roundsToTrial <= 0 { isSerial = !prefersSerial }
  }

  private mutating func judge(_ trialTime: Double, against usual: Double) {
    wins = trialTime < usual ? wins + 1 : 0
    if wins == 1 {
      roundsToTrial = 0
      return
    }
    if wins == 2 {
      prefersSerial.toggle()
      isSerial = prefersSerial
      wins = 0
      roundsBetweenTrials = Self.fewestRounds
    } else {
      roundsBetweenTrials = min(roundsBetweenTrials * 2, Self.mostRounds)
    }
    roundsToTrial = roundsBetweenTrials
  }
}

/// The calls that a team makes to the system's library: Foundation has the same, and is nearly three quarters of a statically
/// linked program.
package enum SystemThreads {
  /// Cores that this process may use, at least 1.
  package static var cores: Int { Int(fleetsim_usable_cores()) }

  /// Returns the time of a clock that only goes forward.
  static func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Lets others run first.
  static func giveWay() { sched_yield() }

  /// The system starts no more threads.
  package struct Failure: Error, CustomStringConvertible {
    /// The system's code (`errno`).
    package let code: Int32

    package var description: String {
      "the system starts no more threads: \(String(cString: strerror(code)))"
    }
  }

  /// Starts a thread that nobody waits for.
  /// - Parameters:
  ///   - stack: size of its stack, bytes.
  ///   - run: its work.
  /// - Throws: `Failure` where this process, its user or its container may have no more of them; `run` is not called then.
  package static func start(stack: Int = 1 << 20, _ run: @escaping @Sendable () -> Void) throws(Failure) {
    let retained = Unmanaged.passRetained(ThreadBody(run: run))
    let body = retained.toOpaque()
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setstacksize(&attributes, stack)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    #if canImport(Darwin)
      var thread: pthread_t?
      let code = pthread_create(&thread, &attributes, runThreadBody, body)
    #else
      var thread = pthread_t()
      let code = pthread_create(&thread, &attributes, { runThreadBody($0!) }, body)
    #endif
    pthread_attr_destroy(&attributes)
    if code != 0 {
      retained.release()
      throw Failure(code: code)
    }
  }

  /// Calls `work` on this thread and on others at once, and returns when all calls have returned.
  ///
  /// Dispatch has the same, but waits for ever, deaf to signals, where the system gives no thread.
  /// - Parameters:
  ///   - count: calls; fewer where the system gives no more threads, and at least one.
  ///   - work: must be content with fewer calls.
  package static func perform(_ count: Int, _ work: @escaping @Sendable () -> Void) {
    let crew = Crew()
    for _ in 1..<max(count, 1) {
      do {
        try crew.start(work)
      } catch {
        break
      }
    }
    work()
    crew.wait()
  }

  /// The stack of a thread that does any work of a command: the 8 MiB that Linux gives a process.
  package static let deepStack = 8 << 20
}

/// Threads that do the same work, once each.
private final class Crew: Sendable {
  private let running = Atomic<Int>(0)
  private let ended = SystemCondition()

  func start(_ work: @escaping @Sendable () -> Void) throws(SystemThreads.Failure) {
    running.wrappingAdd(1, ordering: .relaxed)
    do {
      try SystemThreads.start(stack: SystemThreads.deepStack) { [self] in
        work()
        leave()
      }
    } catch {
      running.wrappingSubtract(1, ordering: .relaxed)
      throw error
    }
  }

  private func leave() {
    ended.lock()
    running.wrappingSubtract(1, ordering: .releasing)
    ended.broadcast()
    ended.unlock()
  }

  /// Returns when all of them have ended.
  func wait() {
    ended.lock()
    while running.load(ordering: .acquiring) > 0 { ended.wait() }
    ended.unlock()
  }
}

/// The work of a thread.
private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void
  init(run: @escaping @Sendable () -> Void) { self.run = run }
}

private func runThreadBody(_ body: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  Unmanaged<ThreadBody>.fromOpaque(body).takeRetainedValue().run()
  return nil
}

/// A lock that threads sleep at until another wakes them all.
final class SystemCondition: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }
  func wait() { pthread_cond_wait(condition, mutex) }
  func broadcast() { pthread_cond_broadcast(condition) }
}
