import Synchronization

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
