/// Decides from time to time whether a crew's threads work side by side or the caller does all the work.
///
/// Threads that wait for one another thousands of times a second gain nothing while the machine is busy with other things, or where
/// jobs are too short. So now and then a round of jobs goes the other way, between two rounds that go as before; if it takes less
/// time a job, and in a second trial too, that is the way from then on. Rounds have a length of time, so trials cost under 1 %.
struct CrewPace {
  /// Whether the next job is the caller's alone.
  private(set) var isAlone = false
  /// Which way is preferred.
  private var prefersAlone = false
  private var jobs = 0
  private var roundStart: UInt64
  /// Nanoseconds a job: of the latest round of the preferred way, and of the trial after it.
  private var preferred = 0.0
  private var trial: Double?
  private var wins = 0
  private var roundsToTrial = Self.fewestRounds
  /// Rounds from a trial to the next: more and more as long as it loses.
  private var distance = Self.fewestRounds

  private static var jobsBetweenLooks: Int { 16 }
  private static var roundNanoseconds: UInt64 { 5_000_000 }
  private static var fewestRounds: Int { 2 }
  private static var mostRounds: Int { 128 }

  /// - Parameter now: of a clock in nanoseconds.
  init(now: UInt64) { roundStart = now }

  /// A job has ended. `now` is asked for now and then.
  @inline(__always)
  mutating func jobEnded(now: () -> UInt64) {
    jobs &+= 1
    if jobs % Self.jobsBetweenLooks == 0 { look(now: now()) }
  }

  @inline(never)
  private mutating func look(now: UInt64) {
    let time = now &- roundStart
    if time < Self.roundNanoseconds { return }
    let perJob = Double(time) / Double(jobs)
    (jobs, roundStart) = (0, now)
    if isAlone != prefersAlone {
      trial = perJob
      isAlone = prefersAlone
      return
    }
    if let trial {
      self.trial = nil
      judge(trial, against: (preferred + perJob) / 2)
    }
    preferred = perJob
    roundsToTrial -= 1
    if roundsToTrial <= 0 { isAlone = !prefersAlone }
  }

  private mutating func judge(_ trial: Double, against usual: Double) {
    wins = trial < usual ? wins + 1 : 0
    if wins == 1 {
      roundsToTrial = 0
      return
    }
    if wins == 2 {
      prefersAlone.toggle()
      isAlone = prefersAlone
      wins = 0
      distance = Self.fewestRounds
    } else {
      distance = min(distance * 2, Self.mostRounds)
    }
    roundsToTrial = distance
  }
}
