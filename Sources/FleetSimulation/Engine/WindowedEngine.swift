import ScenarioModel
import SimulationKernel
import TAPIModel

/// The engine: virtual time in windows no longer than the network's look-ahead (engine.md, Windows).
///
/// Inside such a window devices and server can't see one another, so each window is a server pass and then a device pass. The
/// server pass takes arrivals in the one global order, together with the server's own work. The device pass goes shard by
/// shard (`ShardRunner.devicePass`).
struct WindowedEngine: ~Copyable {
  struct Runners: ~Copyable, DeliverySink {
    let base: UnsafeMutablePointer<ShardRunner>
    let count: Int
    /// By member of the team.
    let rosters: UnsafeMutablePointer<Roster>
    let members: Int

    /// Takes over runners that have been initialised. All are busy at first.
    init(_ base: UnsafeMutablePointer<ShardRunner>, count: Int, members: Int, slot: Int) {
      (self.base, self.count, self.members) = (base, count, members)
      rosters = .allocate(capacity: members)
      for member in 0..<members {
        (rosters + member).initialize(to: Roster(member, of: members, runners: count, slot: slot))
      }
    }

    @inline(__always)
    subscript(index: Int) -> ShardRunner {
      unsafeAddress { UnsafePointer(base + index) }
      nonmutating unsafeMutableAddress { base + index }
    }

    mutating func deliver(_ delivery: Delivery, due: Instant, toShard shard: Int) {
      if self[shard].isResting { rosters[shard % members].bringBack(shard, base, inOrder: false) }
      self[shard].calendar.schedule(delivery, due: due.microseconds)
    }

    /// Whether no runner has anything to do in the window at hand.
    var areResting: Bool { (0..<members).allSatisfy { rosters[$0].busy.count == 0 } }

    /// Whether there is only one, which does not rest but passes over windows.
    var isLone: Bool { count == 1 }

    /// Device passes of single runners so far.
    var devicePasses: Int { (0..<members).reduce(0) { $0 &+ rosters[$1].passes } }

    var attempts: Int64 { (0..<count).reduce(0) { $0 &+ base[$1].shard.ledger.attempts } }

    @inline(__always)
    func forEachBusy(_ body: (UnsafeMutablePointer<ShardRunner>) -> Void) {
      for member in 0..<members {
        let (busy, count) = (rosters[member].busy.base, rosters[member].busy.count)
        for i in 0..<count { body(base + Int(busy[i])) }
      }
    }

    func request(_ word: UInt64, at now: Int64) -> UploadRequest {
      let runner = base + ArrivalWord.shard(word)
      return runner.pointee.shard.request(runner.pointee.arrivals[ArrivalWord.index(word)], at: now)
    }

    func retryCount(_ word: UInt64) -> Int {
      (base + ArrivalWord.shard(word)).pointee.arrivals[ArrivalWord.index(word)].retryCount
    }

    deinit {
      base.deinitialize(count: count)
      base.deallocate()
      rosters.deinitialize(count: members)
      rosters.deallocate()
    }
  }

  private(set) var scenario: Scenario
  let layout: [ShardLayout]
  /// How many run a device pass.
  let threads: Int
  let clock: WindowClock
  let slotCount: Int
  var runners: Runners
  var front: ServerFront
  var arrivals: WindowArrivals
  /// Where the run stands: the window that comes next, and whether it has begun at all.
  private(set) var slot = 0
  private var hasStarted = false
  /// By shard, if the run ended as another one did: what that one's devices held then.
  var heldAtEnd: [DeviceShard.HeldEvents]?

  init(_ scenario: Scenario, options: RunOptions) {
    self.scenario = scenario
    clock = WindowClock(notLongerThan: Self.lookAhead(scenario, asked: options.window))
    slotCount = clock.slotCount(of: scenario)
    threads = options.threads(for: scenario)
    layout = ShardLayout.cut(
      scenario.fleet,
      perCohort: min(max(options.shards, threads), ArrivalWord.mostShards / max(scenario.fleet.count, 1)))
    let rowCount = RunAssembly.rowCount(scenario)
    let end = scenario.duration.microseconds
    nonisolated(unsafe) let base = UnsafeMutablePointer<ShardRunner>.allocate(capacity: layout.count)
    let plans = Self.plans(of: layout, scenario, checks: options.checks, clock)
    // Each thread makes its own shards: a large fleet's memory takes a while to come.
    let team = ThreadTeam(size: threads) { [layout, threads, clock, slotCount] member in
      for number in stride(from: member, to: layout.count, by: threads) {
        let piece = layout[number]
        (base + number).initialize(
          to: ShardRunner(
            shard: DeviceShard(
              plan: plans[number], interval: scenario.interval, number: number, first: piece.first,
              count: piece.count, rowCount: rowCount),
            calendar: ShardCalendar(clock: clock, slotCount: slotCount, end: end, devices: piece.count)))
      }
    }
    team.run(alone: false)
    team.dismiss()
    runners = Runners(base, count: layout.count, members: threads, slot: 0)
    front = ServerFront(scenario, shards: layout, rowCount: rowCount, checks: options.checks)
    arrivals = WindowArrivals(clock, key: RandomKey(seed: scenario.seed).child(RandomPurpose.order))
  }

  /// The plan of each shard.
  private static func plans(
    of layout: [ShardLayout], _ scenario: Scenario, checks: Bool, _ clock: WindowClock
  ) -> [CohortPlan] {
    let lastIncidentEnd = scenario.lastIncidentEnd
    return layout.map { piece in
      CohortPlan(
        scenario.fleet[piece.cohort], firstDevice: piece.firstOfCohort, scenario: scenario,
        lastIncidentEnd: lastIncidentEnd, checks: checks, windowWidth: clock.width)
    }
  }

  /// A copy of a run that stands, which goes on as another scenario: one with which the past is in common
  /// (`Scenario.commonBeginning`).
  init(copying other: borrowing WindowedEngine, as scenario: Scenario) {
    self.scenario = scenario
    (layout, threads, clock, slotCount) = (other.layout, other.threads, other.clock, other.slotCount)
    let base = UnsafeMutablePointer<ShardRunner>.allocate(capacity: layout.count)
    let checks = other.runners[0].shard.plan.pointee.checks
    for (number, plan) in Self.plans(of: layout, scenario, checks: checks, clock).enumerated() {
      (base + number).initialize(to: ShardRunner(copying: other.runners[number], plan: plan))
      if other.runners[number].isResting {
        base[number].comeBack(slot: other.slot, inOrder: other.arrivals.areOrdered)
      }
    }
    runners = Runners(base, count: layout.count, members: threads, slot: other.slot)
    front = ServerFront(copying: other.front, scenario, shards: layout)
    arrivals = WindowArrivals(clock, key: RandomKey(seed: scenario.seed).child(RandomPurpose.order))
    arrivals.areOrdered = other.arrivals.areOrdered
    (slot, hasStarted) = (other.slot, other.hasStarted)
  }

  /// Goes on as another scenario, with which the past is in common.
  mutating func follow(_ scenario: Scenario) {
    self.scenario = scenario
    let checks = runners[0].shard.plan.pointee.checks
    for (number, plan) in Self.plans(of: layout, scenario, checks: checks, clock).enumerated() {
      runners[number].shard.follow(plan)
    }
    front = ServerFront(copying: front, scenario, shards: layout)
  }

  /// The conditions at which a run stands before its end.
  struct Halt {
    /// Before a window in which the server gets to this time, microseconds.
    var time = Int64.max
    /// Before a window in which a device may hear this.
    var feedback: Feedback?
  }

  /// How far the run has got, and where the window ends that comes next; microseconds.
  var time: (reached: Int64, nextEnd: Int64) { (clock.start(of: slot), clock.start(of: slot + 1)) }

  /// No answer and no upload takes less; no client's time-out is shorter. At most 2^19 µs, which a timer word can hold.
  ///
  /// A large fleet has shorter windows, not below 4 ms, so that what moves in one stays in the processor's caches.
  static func lookAhead(_ scenario: Scenario, asked: Span?) -> Span {
    var width = Span(microseconds: 1 << 19)
    for cohort in scenario.fleet {
      width = min(width, cohort.latency.minimum, cohort.timeout, cohort.connectTimeout ?? cohort.timeout)
    }
    let devices = scenario.fleet.reduce(0) { $0 + $1.devices }
    width = min(width, Span(microseconds: max(1 << 12, (1 << 37) / Int64(max(devices, 1)))))
    if let asked { width = min(width, asked) }
    return max(width, Span(microseconds: 1))
  }

  /// Runs on to the end, or until it has to stand. Returns whether it has ended.
  @discardableResult
  mutating func run(control: RunControl, until halt: Halt = Halt()) throws(Interruption) -> Bool {
    // Between two halts may lie fewer windows than between two looks.
    if control.isCancelled { throw .cancelled }
    var passes = DevicePasses(runners, slotCount: slotCount, threads: threads)
    if !hasStarted {
      passes.run(.start)
      hasStarted = true
    }
    let end = scenario.duration.microseconds
    var windows = 0
    var nextLook = runners.devicePasses + 64 * runners.count
    // Adding the counters up is O(intervals), so a long run is not looked at more often than a short one.
    let slotsBetweenChecks = slotCount / 2_000
    var nextCheck = 0
    while slot < slotCount {
      let start = clock.start(of: slot)
      let windowEnd = min(start &+ clock.width, end)
      if windowEnd > halt.time || halt.feedback.map({ feedback >= $0 }) ?? false {
        front.countAnswers(runners)
        return false
      }
      runWindow(start: start, end: windowEnd, before: halt.time, &passes)
      windows += 1
      if windows % 64 > 0 { continue }
      if control.isCancelled { throw .cancelled }
      // A look at all runners is a small part of what they have done since the latest one.
      if runners.devicePasses >= nextLook {
        nextLook = runners.devicePasses + 64 * runners.count
        report(to: control, at: windowEnd)
        if slot >= nextCheck {
          nextCheck = slot + slotsBetweenChecks
          try check(at: windowEnd)
        }
      }
    }
    front.advance(through: Instant(microseconds: end - 1), &runners)
    front.countAnswers(runners)
    for i in 0..<runners.count { runners[i].countLateAcceptances() }
    report(to: control, at: end)
    try check(at: end)
    return true
  }

  /// The most that devices are to hear in the window that comes next.
  var feedback: Feedback {
    var feedback = Feedback.nothing
    let slot = slot
    runners.forEachBusy { feedback = max(feedback, $0.pointee.feedback(slot: slot)) }
    return feedback
  }

  /// Runs the window at hand, and goes on to the next one in which something happens.
  private mutating func runWindow(start: Int64, end: Int64, before time: Int64, _ passes: inout DevicePasses)
  {
    let count = arrivals.count(runners)
    var answers: WindowAnswers?
    if count > 0 || front.nextOwnTime.microseconds < end {
      answers = serverPass(count, start: start, end: end, &passes)
    }
    if runners.isLone {
      runners.rosters[0].passes &+= 1
      let tallies = runners.rosters[0].tallies.base
      runners[0].pass(slot, until: end, answers, pieces: front.pieces.base, tallies)
      slot = runners[0].passOver(
        from: slot &+ 1, limit: serverWindow(before: time), inOrder: arrivals.areOrdered,
        slotCount: slotCount)
      return
    }
    passes.run(.window(slot, end: end, answers, pieces: front.pieces.base, inOrder: arrivals.areOrdered))
    slot &+= 1
    if runners.areResting { slot = nextWindow(from: slot, before: time) }
  }

  /// The window in which the server has something of its own to do, or of the time if that comes first.
  @inline(__always)
  private func serverWindow(before time: Int64) -> Int {
    min(
      slotCount,
      clock.slot(of: min(front.nextOwnTime.microseconds, min(time, scenario.duration.microseconds))))
  }

  /// The next window in which something happens, from `slot` on, while all rest. Its runners have prepared the arrivals for it.
  private mutating func nextWindow(from slot: Int, before time: Int64) -> Int {
    var next = serverWindow(before: time)
    for member in 0..<runners.members { next = min(next, runners.rosters[member].nextReturn) }
    if next <= slot || next >= slotCount { return next >= slotCount ? slotCount : slot }
    for member in 0..<runners.members {
      runners.rosters[member].open(slot: next, runners.base, inOrder: arrivals.areOrdered)
    }
    return next
  }

  private func report(to control: RunControl, at time: Int64) {
    control.report(
      virtualTime: Instant(microseconds: time), attempts: runners.attempts,
      devicePasses: Int64(runners.devicePasses))
  }

  /// The server's part of a window in which something arrives or it has something of its own to do.
  private mutating func serverPass(_ count: Int, start: Int64, end: Int64, _ passes: inout DevicePasses)
    -> WindowAnswers?
  {
    let isFast = count > 0 && front.hasFastAnswers(from: start, until: end)
    // In an ideal run nobody is refused: fast answers are for windows in which all are accepted.
    let isIdeal = front.line != nil
    let hasFewArrivals =
      isFast && !isIdeal && count < WindowArrivals.few && front.server.downAnswer != .silence
    let isInPieces = isFast && !hasFewArrivals && front.cut(from: start, until: end, runners)
    if isInPieces, let answer = arrivals.commonAnswer(count, from: start, until: end, &front.server, runners)
    {
      return .common(answer)
    }
    if !arrivals.areOrdered { passes.run(.order) }
    if arrivals.isSortedInSlices(count, runners, threads: threads) {
      passes.run(.merge(words: arrivals.makeRoom(for: count)))
    } else {
      arrivals.gather(runners)
    }
    if hasFewArrivals {
      arrivals.answerFew(from: start, &front, runners)
      return nil
    }
    if isInPieces, !isIdeal {
      arrivals.admit(from: start, until: end, &front.server, runners)
      return .byAdmission(refusal: front.server.refusalAnswer)
    }
    if !front.server.hasFastAnswers { arrivals.areOrdered = true }
    arrivals.orderTies(start: start, runners)
    for i in 0..<arrivals.words.count {
      let word = arrivals.words[i]
      let now = Instant(microseconds: start &+ ArrivalWord.offset(word))
      if front.nextOwnTime <= now { front.advance(through: now, &runners) }
      let request = runners.request(word, at: now.microseconds)
      front.arrive(request, retryCount: runners.retryCount(word), &runners)
    }
    if front.nextOwnTime.microseconds < end {
      front.advance(through: Instant(microseconds: end &- 1), &runners)
    }
    return nil
  }

  /// Checkers that look at the whole fleet (engine.md, Checkers): events are conserved.
  private func check(at time: Int64) throws(Interruption) {
    for i in 0..<runners.count {
      if let violation = runners[i].shard.violation(at: time) { throw .inconsistent(violation) }
    }
    if let violation = front.violation { throw .inconsistent(violation) }
  }
}

extension WindowClock {
  /// The windows of a run.
  func slotCount(of scenario: Scenario) -> Int { slot(of: scenario.duration.microseconds - 1) + 1 }
}

/// Has a team do the runners' part of one window after another.
struct DevicePasses: ~Copyable {
  enum Job {
    case start
    /// Puts the arrivals that have been prepared in order, each runner its own.
    case order
    /// Puts the words of all runners in order, each member a slice of the window.
    case merge(words: UnsafeMutablePointer<UInt64>)
    /// `pieces`: of the window (`WindowPieces`); `inOrder`: how the next window's arrivals are prepared.
    case window(Int, end: Int64, WindowAnswers?, pieces: UnsafePointer<Int64>, inOrder: Bool)
  }

  private let members: Members
  /// The next job of the team; written while nobody works.
  private let job = UnsafeMutablePointer<Job>.allocate(capacity: 1)
  private let team: ThreadTeam?
  private var parallelism = ParallelismController(now: SystemThreads.nanoseconds())

  init(_ runners: borrowing WindowedEngine.Runners, slotCount: Int, threads: Int) {
    let members = Members(runners: runners.base, rosters: runners.rosters, slotCount: slotCount)
    nonisolated(unsafe) let job = job
    self.members = members
    team = threads > 1 ? ThreadTeam(size: threads) { members.run(job.pointee, $0, of: threads) } : nil
  }

  deinit {
    team?.dismiss()
    job.deallocate()
  }

  @inline(__always)
  mutating func run(_ next: Job) {
    guard let team else { return members.run(next, 0, of: 1) }
    job.initialize(to: next)
    team.run(alone: parallelism.isSerial)
    parallelism.jobEnded(now: SystemThreads.nanoseconds)
  }
}

/// The members of a team: a runner is only ever touched by one of them.
private struct Members: @unchecked Sendable {
  let runners: UnsafeMutablePointer<ShardRunner>
  let rosters: UnsafeMutablePointer<Roster>
  let slotCount: Int

  /// A member's part of a job.
  @inline(__always)
  func run(_ job: DevicePasses.Job, _ member: Int, of members: Int) {
    guard case .window(let slot, let end, let answers, let pieces, let inOrder) = job else {
      return prepare(job, member, of: members)
    }
    let (roster, next) = (rosters + member, slot &+ 1)
    let tallies = roster.pointee.tallies.base
    roster.pointee.forEachBusy(runners) { runner in
      runner.pass(slot, until: end, answers, pieces: pieces, tallies)
      if next == slotCount { return nil }
      runner.prepareArrivals(slot: next, inOrder: inOrder)
      return runner.rest(from: next, until: slotCount)
    }
    if next < slotCount { roster.pointee.open(slot: next, runners, inOrder: inOrder) }
  }

  /// A member's part of a job before the device pass of a window.
  @inline(never)
  private func prepare(_ job: DevicePasses.Job, _ member: Int, of members: Int) {
    let busy = rosters[member].busy.base
    for i in 0..<rosters[member].busy.count {
      let runner = runners + Int(busy[i])
      switch job {
      case .start:
        runner.pointee.start()
        runner.pointee.prepareArrivals(slot: 0, inOrder: false)
      case .order: runner.pointee.orderArrivals()
      case .merge, .window: break
      }
    }
    if case .merge(let words) = job { merge(slice: member, of: members, into: words) }
  }

  /// Writes the words of all runners that lie in a slice of the window to their place among all, in the order of time.
  private func merge(slice: Int, of slices: Int, into words: UnsafeMutablePointer<UInt64>) {
    let width = runners[0].calendar.clock.width
    func bound(_ slice: Int) -> UInt64 {
      UInt64(width) &* UInt64(slice) / UInt64(slices) &<< UInt64(ArrivalWord.offsetShift)
    }
    var place = 0
    let own = rosters + slice
    own.pointee.merged.removeAll()
    for member in 0..<slices {
      for i in 0..<rosters[member].busy.count {
        let runner = runners + Int(rosters[member].busy[i])
        let (words, count) = (runner.pointee.arrivalWords.base, runner.pointee.arrivalWords.count)
        let first = runner.pointee.place(of: bound(slice))
        let end = slice &+ 1 == slices ? count : runner.pointee.place(of: bound(slice &+ 1))
        own.pointee.merged.append(from: words + first, count: end &- first)
        place &+= first
      }
    }
    own.pointee.sortMerged(runners[0].calendar.clock)
    (words + place).update(from: own.pointee.merged.base, count: own.pointee.merged.count)
  }
}
