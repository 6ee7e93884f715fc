import FleetMetrics
import ScenarioModel
import SimulationKernel
import TAPIModel

/// The engine: virtual time in windows no longer than the network's look-ahead (Design.md, Windows).
///
/// Inside such a window devices and server can't see one another, so each window is a server pass (arrivals in the one global
/// order, together with the server's own work) and then a device pass, shard by shard (`ShardRunner.devicePass`).
struct WindowedEngine: ~Copyable {
  struct Runners: ~Copyable, DeliverySink {
    let base: UnsafeMutablePointer<ShardRunner>
    let count: Int
    let job: UnsafeMutablePointer<DevicePasses.Job>

    @inline(__always)
    subscript(index: Int) -> ShardRunner {
      unsafeAddress { UnsafePointer(base + index) }
      nonmutating unsafeMutableAddress { base + index }
    }

    func contribute(
      _ index: Int, to assembly: inout RunAssembly, _ layout: [ShardLayout], _ scenario: Scenario
    ) {
      assembly.add(self[index].shard, cohort: scenario.fleet[layout[index].cohort])
    }

    mutating func deliver(_ delivery: Delivery, due: Instant, toShard shard: Int) {
      self[shard].calendar.schedule(delivery, due: due)
    }

    func request(_ word: UInt64, at now: Instant) -> UploadRequest {
      let runner = base + ArrivalWord.shard(word)
      return runner.pointee.shard.request(runner.pointee.arrivals[ArrivalWord.index(word)], at: now)
    }

    func retryCount(_ word: UInt64) -> Int {
      (base + ArrivalWord.shard(word)).pointee.arrivals[ArrivalWord.index(word)].retryCount
    }

    deinit {
      base.deinitialize(count: count)
      base.deallocate()
      job.deallocate()
    }
  }

  let scenario: Scenario
  let layout: [ShardLayout]
  /// How many run a device pass.
  let threads: Int
  let clock: WindowClock
  let slotCount: Int
  var runners: Runners
  var front: ServerFront
  private var words = GrowableBuffer<UInt64>()
  private var scratch = GrowableBuffer<UInt64>()
  private var counts = GrowableBuffer<UInt32>()
  private var ties = GrowableBuffer<ArrivalOrder.Tie>()
  private let orderKey: RandomKey
  /// Whether the runners may give a common answer side by side: each reaches its client in time.
  private let answersComeInTime: Bool

  init(_ scenario: Scenario, options: RunOptions) {
    self.scenario = scenario
    clock = WindowClock(notLongerThan: Self.lookAhead(scenario, asked: options.window))
    slotCount = clock.slot(of: scenario.duration.microseconds - 1) + 1
    threads = options.threads(for: scenario)
    layout = ShardLayout.cut(scenario.fleet, perCohort: max(options.shards, threads))
    let rowCount = RunAssembly.rowCount(scenario)
    let end = Instant.start + scenario.duration
    let base = UnsafeMutablePointer<ShardRunner>.allocate(capacity: layout.count)
    var firstDevices: [Int] = []
    var total = 0
    for cohort in scenario.fleet {
      firstDevices.append(total)
      total += cohort.devices
    }
    for (number, piece) in layout.enumerated() {
      let plan = CohortPlan(
        scenario.fleet[piece.cohort], firstDevice: firstDevices[piece.cohort], scenario: scenario,
        checks: options.checks, windowWidth: clock.width)
      (base + number).initialize(
        to: ShardRunner(
          shard: DeviceShard(
            plan: plan, interval: scenario.interval, number: number, first: piece.first, count: piece.count,
            rowCount: rowCount),
          calendar: ShardCalendar(clock: clock, slotCount: slotCount, end: end, devices: piece.count)))
    }
    runners = Runners(base: base, count: layout.count, job: .allocate(capacity: 1))
    runners.job.initialize(to: .start)
    front = ServerFront(scenario, shards: layout, rowCount: rowCount, checks: options.checks)
    orderKey = RandomKey(seed: scenario.seed).child(RandomPurpose.order)
    answersComeInTime = threads > 1 && (0..<layout.count).allSatisfy { base[$0].shard.plan.answersComeInTime }
  }

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

  mutating func run(control: RunControl) throws {
    let passes = DevicePasses(runners)
    let crew =
      threads > 1 ? WindowCrew(size: threads) { [threads] in passes.run(member: $0, of: threads) } : nil
    defer { crew?.dismiss() }
    func runAll() { if let crew { crew.run() } else { passes.run(member: 0, of: 1) } }
    passes.job.pointee = .start
    runAll()
    let end = scenario.duration.microseconds
    var slot = 0
    var sinceReport = 0
    // Adding the counters up is O(intervals), so a long run is not looked at more often than a short one.
    let slotsBetweenChecks = slotCount / 2_000
    var nextCheck = 0
    while slot < slotCount {
      let start = clock.start(of: slot)
      let windowEnd = min(start &+ clock.width, end)
      gatherArrivals()
      let common = answersComeInTime ? front.commonAnswer(to: words, from: start, until: windowEnd) : nil
      let nothingArrived = common == nil && serverPass(start: start, end: windowEnd)
      passes.job.pointee = .window(
        slot: slot, start: start, end: windowEnd, isLast: slot == slotCount - 1, commonAnswer: common)
      runAll()
      if let common {
        var first = 0
        for i in 0..<runners.count { first &+= runners[i].firstAttempts }
        front.countCommon(common, all: words.count, first: first, at: start)
      }
      slot += 1
      if nothingArrived { slot = skipEmptyWindows(from: slot) }
      sinceReport += 1
      if sinceReport == 64 {
        sinceReport = 0
        if control.isCancelled { throw CancellationError() }
        control.report(virtualTime: Instant(microseconds: windowEnd), attempts: attempts)
        if slot >= nextCheck {
          nextCheck = slot + slotsBetweenChecks
          try check(at: windowEnd)
        }
      }
    }
    front.advance(through: Instant(microseconds: end - 1), &runners)
    for i in 0..<runners.count { runners[i].countLateAcceptances() }
    control.report(virtualTime: Instant(microseconds: end), attempts: attempts)
    try check(at: end)
  }

  /// The next window in which something happens, from `slot` on, for which the runners have prepared the arrivals.
  private mutating func skipEmptyWindows(from slot: Int) -> Int {
    for i in 0..<runners.count where !runners[i].wasIdle || runners[i].arrivals.count > 0 { return slot }
    var next = min(
      slotCount, clock.slot(of: min(front.nextOwnTime.microseconds, scenario.duration.microseconds)))
    for i in 0..<runners.count where next > slot { next = runners[i].nextOccupied(from: slot, limit: next) }
    if next <= slot || next >= slotCount { return next >= slotCount ? slotCount : slot }
    for i in 0..<runners.count {
      runners[i].calendar.skip(to: next)
      runners[i].prepareArrivals(slot: next)
    }
    return next
  }

  private var attempts: Int64 {
    var sum: Int64 = 0
    for i in 0..<runners.count { sum += runners[i].shard.attempts }
    return sum
  }

  /// Returns whether nothing arrived.
  private mutating func serverPass(start: Int64, end: Int64) -> Bool {
    if words.count == 0 && front.nextOwnTime.microseconds >= end { return true }
    // With one answer to all, nothing depends on who is first.
    if !front.hasCommonAnswer(words.count, from: start, until: end) { orderTies(start: start) }
    let runners = runners.base
    var i = 0
    while true {
      i = front.arriveFast(words, from: i, windowStart: start, runners)
      if i >= words.count { break }
      let now = Instant(microseconds: start &+ ArrivalWord.offset(words[i]))
      if front.nextOwnTime <= now { front.advance(through: now, &self.runners) }
      front.arrive(
        self.runners.request(words[i], at: now), retryCount: self.runners.retryCount(words[i]), &self.runners)
      i &+= 1
    }
    if front.nextOwnTime.microseconds < end {
      front.advance(through: Instant(microseconds: end &- 1), &self.runners)
    }
    return false
  }

  /// Merges what the runners have prepared into one order of time.
  private mutating func gatherArrivals() {
    words.removeAll()
    let base = runners.base
    if runners.count == 2 {
      merge(base, base + 1)
      return
    }
    for i in 0..<runners.count {
      words.append(from: base[i].arrivalWords.base, count: base[i].arrivalWords.count)
    }
    if runners.count == 1 { return }
    WindowOrder.sort(
      &words, scratch: &scratch, counts: &counts, lowBit: ArrivalWord.offsetShift, keyBits: clock.offsetBits)
  }

  private mutating func merge(_ a: UnsafeMutablePointer<ShardRunner>, _ b: UnsafeMutablePointer<ShardRunner>)
  {
    let (first, second) = (a.pointee.arrivalWords.base, b.pointee.arrivalWords.base)
    let (n, m) = (a.pointee.arrivalWords.count, b.pointee.arrivalWords.count)
    words.resizeUninitialized(to: n &+ m)
    let out = words.base
    var (i, j) = (0, 0)
    while i < n, j < m {
      let takesFirst = first[i] <= second[j]
      out[i &+ j] = takesFirst ? first[i] : second[j]
      if takesFirst { i &+= 1 } else { j &+= 1 }
    }
    while i < n {
      out[i &+ j] = first[i]
      i &+= 1
    }
    while j < m {
      out[i &+ j] = second[j]
      j &+= 1
    }
  }

  /// Arrivals of one instant go by a hash of (device, batch, attempt), then device, so that no device is always first in line.
  private mutating func orderTies(start: Int64) {
    var i = 1
    while i < words.count {
      if ArrivalWord.offset(words[i]) != ArrivalWord.offset(words[i &- 1]) {
        i &+= 1
        continue
      }
      let first = i &- 1
      while i < words.count, ArrivalWord.offset(words[i]) == ArrivalWord.offset(words[first]) { i &+= 1 }
      orderTied(first..<i, at: Instant(microseconds: start &+ ArrivalWord.offset(words[first])))
      i &+= 1
    }
  }

  private mutating func orderTied(_ range: Range<Int>, at now: Instant) {
    if range.count > 32 {
      orderManyTied(range, at: now)
      return
    }
    // Insertion by what decides, computed once each.
    ties.removeAll()
    for i in range {
      let tie = ArrivalOrder.Tie(word: words[i], request: runners.request(words[i], at: now), key: orderKey)
      ties.append(tie)
      var j = ties.count &- 1
      while j > 0, tie < ties[j &- 1] {
        ties[j] = ties[j &- 1]
        j &-= 1
      }
      ties[j] = tie
    }
    for i in range { words[i] = ties[i &- range.lowerBound].word }
  }

  @inline(never)
  private mutating func orderManyTied(_ range: Range<Int>, at now: Instant) {
    let sorted = range.map {
      ArrivalOrder.Tie(word: words[$0], request: runners.request(words[$0], at: now), key: orderKey)
    }.sorted { $0 < $1 }
    for i in range { words[i] = sorted[i - range.lowerBound].word }
  }

  /// Checkers that look at the whole fleet (Design.md, Checkers): events are conserved.
  private func check(at time: Int64) throws {
    for i in 0..<runners.count {
      if let violation = runners[i].shard.violation(at: time) { throw CheckFailure(description: violation) }
    }
    if let violation = front.violation { throw CheckFailure(description: violation) }
  }
}

/// The device passes of one window, for one thread or several: a runner is only ever touched by one of them.
struct DevicePasses: @unchecked Sendable {
  enum Job {
    case start
    /// `commonAnswer`: what every arrival of the window is answered; nil: the server pass has answered.
    case window(slot: Int, start: Int64, end: Int64, isLast: Bool, commonAnswer: TAPIServer.FastAnswer?)
  }

  let runners: UnsafeMutablePointer<ShardRunner>
  let count: Int
  /// What to do next; written while nobody works.
  let job: UnsafeMutablePointer<Job>

  init(_ runners: borrowing WindowedEngine.Runners) {
    self.runners = runners.base
    count = runners.count
    job = runners.job
  }

  /// The part of one of `members`: every `members`-th runner, so that the pieces of each cohort go to different threads.
  func run(member: Int, of members: Int) {
    for i in stride(from: member, to: count, by: members) {
      switch job.pointee {
      case .start:
        runners[i].start()
        runners[i].prepareArrivals(slot: 0)
      case .window(let slot, let start, let end, let isLast, let commonAnswer):
        if let commonAnswer { runners[i].answerAll(commonAnswer, start: start) }
        runners[i].devicePass(slot: slot, start: start, end: end)
        if !isLast { runners[i].prepareArrivals(slot: slot + 1) }
      }
    }
  }
}
