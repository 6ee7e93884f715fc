import UploadPipeline
import UploadRetry

/// The strategies of clients that keep all in memory: posthog-js 9b2a1b18 (*polls*), @amplitude/analytics-node 6deb0623
/// (*oneTimer*) and @amplitude/node 2ef295e (*userLoops*). Events wait in `buffer`, and leave when its timer fires.
extension BrowserPage {
  /// The status that the client makes of its own time-out; nil: none.
  public var statusOfTimeOut: Int? {
    options.strategy == .oneTimer || options.strategy == .userLoops ? 408 : nil
  }

  private var retriesAllowed: Double { options.maxRetries ?? settings?.retryCount ?? 0 }

  /// An event is tracked.
  mutating func keep(_ event: UInt32, of user: UInt32) {
    if user != 0 { memory.users[event] = user }
    if options.strategy == .oneTimer {
      memory.arriving.append(event)
      if memory.arriving.count == 1 { arm(.arrival, after: 1) }
      return
    }
    buffer.events.append(event)
    if buffer.timer == nil { setFlushTimer(after: options.timeout) }
  }

  /// The app asks for a flush.
  public mutating func flush(at now: Int64) {
    clock = max(clock, now)
    switch options.strategy {
    case .oneTimer:
      while !memory.arriving.isEmpty { takeArrival() }
      flushQueue(retrying: false)
    case .userLoops:
      clearFlushTimer()
      flushUsers()
    case .standard, .batching, .polls: break
    }
  }

  /// An upload has ended.
  mutating func end(_ ended: OpenUpload, status: Int?, _ body: AnswerBody?, _ settings: BrowserSettings) {
    switch options.strategy {
    case .polls: endPolled(ended, status, body, settings)
    case .oneTimer: endFlushed(ended, status, body)
    case .userLoops: endOfLine(ended, status, body)
    case .standard, .batching: break
    }
  }

  /// The page goes: *polls* sends what it holds once, whatever comes of it.
  mutating func sendLast() {
    if options.strategy != .polls { return }
    if !buffer.events.isEmpty { begin(buffer.events, retryCount: 0, isCopy: true) }
    for batch in memory.waiting { begin(batch.events, retryCount: batch.failures &- 1, isCopy: true) }
  }

  // MARK: Timers

  @discardableResult
  private mutating func arm(_ act: ScriptTimer.Act, after milliseconds: Double) -> PageTimer {
    let timer = timer(after: milliseconds)
    memory.timers.insert(ScriptTimer(timer: timer, act: act))
    return timer
  }

  /// Node makes a delay of 0 one of 1 ms.
  mutating func setFlushTimer(after milliseconds: Double) {
    buffer.timer = (arm(.flush, after: max(milliseconds, 1)), RetrySeries())
  }

  private mutating func clearFlushTimer() {
    if let timer = buffer.timer?.timer { memory.cleared.insert(timer.order) }
    buffer.timer = nil
  }

  /// When it has to run next; polls that find nothing are made up for then.
  var nextScriptTimer: Int64? {
    var next = memory.timers.first?.timer.time
    if let poll = memory.poll?.time, isOnline, let due = memory.waiting.lazy.map({ $0.dueAt }).min() {
      let late = max(0, due &+ 1 &- poll)
      let time =
        poll &+ (late &+ ScriptMemory.pollPeriod &- 1) / ScriptMemory.pollPeriod &* ScriptMemory.pollPeriod
      next = min(next ?? time, time)
    }
    return next
  }

  mutating func runScript(until end: Int64) {
    while true {
      let first = memory.timers.first?.timer ?? .never
      if let poll = memory.poll, poll < first {
        if poll.time > end { break }
        self.poll(poll, before: min(first.time &- 1, end))
        continue
      }
      if first.time > end { break }
      guard let fired = memory.timers.removeFirst() else { break }
      clock = max(clock, fired.timer.time)
      if memory.cleared.remove(fired.timer.order) != nil { continue }
      switch fired.act {
      case .arrival:
        // One a millisecond.
        takeArrival()
        if !memory.arriving.isEmpty { arm(.arrival, after: 1) }
      case .loop(let user): beginLoop(of: user)
      case .retry(let user): retry(of: user)
      case .flush: fireFlush(fired.timer)
      }
    }
    clock = max(clock, end)
  }

  private mutating func fireFlush(_ timer: PageTimer) {
    if options.strategy == .oneTimer {
      memory.asked = [:]
      flushQueue(retrying: true)
      return
    }
    buffer.timer = nil
    if options.strategy == .userLoops {
      flushUsers()
    } else if !buffer.events.isEmpty {
      let events = buffer.events
      buffer.events = []
      leave(events, failures: 0)
    }
  }

  // MARK: polls

  /// A batch leaves, unless an answer has said that the quota is spent.
  private mutating func leave(_ events: [UInt32], failures: UInt32) {
    if clock < memory.limitedUntil {
      lose(events, .refused)
      return
    }
    begin(events, retryCount: failures, series: RetrySeries(retries: failures))
  }

  /// A poll at its time; those up to `end` that find nothing are passed over at once.
  private mutating func poll(_ poll: PageTimer, before end: Int64) {
    clock = max(clock, poll.time)
    var next = poll.time
    let due = isOnline ? memory.waiting.lazy.map({ $0.dueAt }).min() ?? 0 : .max
    let idle = (min(due, end) &- next) / ScriptMemory.pollPeriod
    if idle > 0, !memory.waiting.isEmpty {
      next &+= idle &* ScriptMemory.pollPeriod
      clock = max(clock, next)
      polls &+= UInt64(idle)
    }
    polls &+= 1
    memory.poll = nil
    if isOnline { sendDue() }
    if !memory.waiting.isEmpty { startPolling() }
  }

  private mutating func startPolling() {
    memory.poll = timer(after: Double(ScriptMemory.pollPeriod / 1_000))
  }

  /// What became due before now leaves.
  mutating func sendDue() {
    let due = memory.waiting.filter { $0.dueAt < clock }
    if due.isEmpty { return }
    memory.waiting.removeAll { $0.dueAt < clock }
    for batch in due { leave(batch.events, failures: batch.failures) }
  }

  private mutating func endPolled(
    _ ended: OpenUpload, _ status: Int?, _ body: AnswerBody?, _ settings: BrowserSettings
  ) {
    if body?.isOverQuota == true { memory.limitedUntil = clock &+ 60_000_000 }
    if status == 200 {
      deliver(ended.events)
      return
    }
    if let status, status >= 400, settings.verdict(status: status, retryAfter: nil) == .drop {
      giveUp(ended.events, .status)
      return
    }
    let failures = ended.series.retries
    if Double(failures) >= (status == nil ? min(3, retriesAllowed) : retriesAllowed) {
      giveUp(ended.events, .retryLimit)
      return
    }
    let power = Double(sign: .plus, exponent: Int(min(failures, 1_000)), significand: 1)
    let wait = min(settings.baseBackoffInterval * 1_000 * power, settings.maxBackoffInterval * 1_000)
    let draw = BrowserDraws.unit(draws.wait(ended.events[0], failures))
    let delay = (wait + (draw - 0.5) * wait / 2).rounded(.up)
    let dueAt = clock &+ (delay < 1e15 ? Int64(delay) : 0) &* 1_000
    memory.waiting.append(WaitingBatch(events: ended.events, failures: failures &+ 1, dueAt: dueAt))
    actions.append(.decided(ended.events[0], .retry(at: dueAt)))
    if memory.poll == nil { startPolling() }
  }

  // MARK: oneTimer

  private mutating func takeArrival() {
    if memory.arriving.isEmpty { return }
    memory.queue.append(memory.arriving.removeFirst())
    schedule(after: options.timeout)
  }

  /// A longer wait replaces a shorter one.
  private mutating func schedule(after milliseconds: Double) {
    if buffer.timer != nil {
      if milliseconds <= memory.scheduledFor { return }
      clearFlushTimer()
    }
    memory.scheduledFor = milliseconds
    setFlushTimer(after: milliseconds)
  }

  private mutating func schedule(_ events: [UInt32]) {
    for event in events { schedule(after: memory.asked[event] ?? options.timeout) }
  }

  /// All that asks for no wait leaves, one upload after another; nothing does while a flush of the timer runs.
  private mutating func flushQueue(retrying: Bool) {
    let timer = buffer.timer?.timer.order
    buffer.timer = nil
    if memory.flushOfTimer != nil { return }
    memory.flushOfTimer = timer
    let size = max(options.size > 0 ? Double(options.size) / memory.halvings : 1, 1)
    var chunks: [[UInt32]] = []
    for (index, event) in memory.queue.filter({ memory.asked[$0] == nil }).enumerated() {
      if Int(Double(index) / size) == chunks.count { chunks.append([]) }
      chunks[chunks.count - 1].append(event)
    }
    memory.flushes &+= 1
    memory.chunks[memory.flushes] = (chunks, retrying)
    goOn(memory.flushes)
  }

  private mutating func goOn(_ flush: UInt32) {
    guard let chunks = memory.chunks[flush]?.rest, !chunks.isEmpty else {
      memory.chunks[flush] = nil
      memory.flushOfTimer = nil
      schedule(memory.queue)
      return
    }
    memory.chunks[flush]?.rest.removeFirst()
    begin(chunks[0], retryCount: 0, part: flush)
  }

  private mutating func endFlushed(_ ended: OpenUpload, _ status: Int?, _ body: AnswerBody?) {
    let flush = ended.part ?? 0
    defer { goOn(flush) }
    let status = body.map({ $0.code }) ?? status
    if let status, 200...299 ~= status {
      leaveQueue(ended.events)
      deliver(ended.events)
      return
    }
    var (kept, lost): ([UInt32], [UInt32]) = ([], ended.events)
    if let status, memory.chunks[flush]?.retrying == true {
      switch AnswerClass(status) {
      case .invalid where body?.isAboutAll != true: (kept, lost) = body.split(ended.events)
      case .invalid: break
      case .tooLarge:
        if ended.events.count > 1 {
          memory.halvings *= 2
          (kept, lost) = (lost, [])
        }
      case .rateLimited:
        lost = ended.events.filter { body?.exhausted.contains(memory.user(of: $0)) ?? false }
        kept = ended.events.filter { !lost.contains($0) }
        for (index, event) in ended.events.enumerated() where body?.throttled.contains(index) ?? false {
          memory.asked[event] = 30_000
        }
      case .other:
        (kept, lost) = (lost, [])
        for event in kept where attempts(of: event) > 0 {
          memory.asked[event] = Double(attempts(of: event)) * 1_000
        }
      }
    }
    for event in kept { counts[event, default: EventCounts()].attempts &+= 1 }
    let spent = kept.filter { Double(attempts(of: $0)) >= retriesAllowed + 1 }
    leaveQueue(lost + spent)
    lose(lost, .limit(.status))
    lose(spent, .limit(.retryLimit))
    let waiting = kept.filter { !spent.contains($0) }
    schedule(waiting)
    if let first = waiting.first, let timer = buffer.timer?.timer {
      actions.append(.decided(first, .pause(until: timer.time)))
    }
  }

  private mutating func leaveQueue(_ events: [UInt32]) {
    let gone = Set(events)
    memory.queue.removeAll { gone.contains($0) }
  }

  // MARK: userLoops

  /// What is in the buffer leaves as one upload, but for events of users whose loops hold some.
  private mutating func flushUsers() {
    if buffer.events.isEmpty { return }
    var sent: [UInt32] = []
    for event in buffer.events {
      let user = memory.user(of: event)
      if memory.loops[user]?.events.isEmpty ?? true {
        sent.append(event)
      } else {
        memory.loops[user]?.events.append(event)
      }
    }
    buffer.events = []
    standInLine(sent, loopOf: nil)
  }

  /// One upload at a time.
  private mutating func standInLine(_ events: [UInt32], loopOf user: UInt32?) {
    memory.line.append((events, user))
    if memory.line.count == 1 { begin(events, retryCount: 0, part: user) }
  }

  private mutating func endOfLine(_ ended: OpenUpload, _ status: Int?, _ body: AnswerBody?) {
    memory.line.removeFirst()
    if let next = memory.line.first { begin(next.events, retryCount: 0, part: next.user) }
    let status = body.map({ $0.code }) ?? status
    if let user = ended.part {
      endRetry(ended.events, of: user, status, body)
      return
    }
    if let status, 200...299 ~= status {
      deliver(ended.events)
      return
    }
    var (kept, lost): ([UInt32], [UInt32]) = (ended.events, [])
    switch status.map(AnswerClass.init) ?? .other {
    case .rateLimited:
      lost = kept.filter { body?.exhausted.contains(memory.user(of: $0)) ?? false }
      kept.removeAll(where: lost.contains)
    case .invalid:
      (kept, lost) = body?.isAboutAll == true || kept.count <= 1 ? ([], kept) : body.split(kept)
    case .tooLarge, .other: break
    }
    lose(lost, .limit(.status))
    for event in kept {
      let user = memory.user(of: event)
      if memory.loops[user] == nil {
        memory.loops[user] = UserLoop()
        arm(.loop(user), after: 1)
      }
      memory.loops[user]?.events.append(event)
    }
  }

  /// A loop goes on with what its user's buffer holds now, or ends.
  private mutating func beginLoop(of user: UInt32) {
    guard let events = memory.loops[user]?.events, !events.isEmpty else {
      memory.loops[user] = nil
      return
    }
    memory.loops[user] = UserLoop(events: events, limit: events.count)
    waitForRetry(0, of: user, events[0])
  }

  /// Milliseconds: 100, 100, 200, 200, 400 … 3,200.
  private mutating func waitForRetry(_ n: Int, of user: UInt32, _ first: UInt32) {
    let timer = arm(.retry(user), after: 100 * Double(1 << min(n / 2, 5)))
    actions.append(.decided(first, .retry(at: timer.time)))
  }

  private mutating func retry(of user: UInt32) {
    guard let loop = memory.loops[user] else { return }
    standInLine(Array(loop.events.prefix(loop.limit)), loopOf: user)
  }

  private mutating func endRetry(_ events: [UInt32], of user: UInt32, _ status: Int?, _ body: AnswerBody?) {
    guard var loop = memory.loops[user] else { return }
    var (ends, halves, isDelivered) = (status == nil, false, false)
    if let status, 200...299 ~= status {
      (ends, isDelivered) = (true, true)
    } else if let status {
      switch AnswerClass(status) {
      case .rateLimited:
        halves = true
        ends = body?.exhausted.contains(user) ?? false
      case .tooLarge: halves = true
      case .invalid:
        ends = events.count == 1
        if !ends {
          let lost = body.split(events).lost
          loop.events.removeAll(where: lost.contains)
          loop.limit -= lost.count
          lose(lost, .limit(.status))
          ends = loop.limit < 1
        }
      case .other: break
      }
    }
    loop.retries += 1
    if ends || Double(loop.retries) >= retriesAllowed {
      let over = Array(loop.events.prefix(loop.limit))
      loop.events.removeFirst(min(loop.limit, loop.events.count))
      if isDelivered { deliver(over) } else { lose(over, .limit(ends ? .status : .retryLimit)) }
      arm(.loop(user), after: 1)
    } else {
      if halves { loop.limit = max(loop.limit / 2, 1) }
      waitForRetry(loop.retries, of: user, loop.events[0])
    }
    memory.loops[user] = loop
  }
}

/// What the body of an answer says that a client reads.
public struct AnswerBody: Sendable {
  /// `code`, which counts before the status; 0: the body has none.
  var code: Int
  /// Whether the whole upload is refused: `missing_field`, or an invalid API key.
  var isAboutAll = false
  /// Places in the upload of events that are refused, and of those that are throttled.
  var refused: Set<Int> = []
  var throttled: Set<Int> = []
  /// Users over their daily quota.
  public var exhausted: Set<UInt32> = []
  /// `quota_limited` names events.
  var isOverQuota = false

  /// - Parameters:
  ///   - body: the answer's JSON.
  ///   - user: the number of a user by name.
  public init(_ body: SettingsValue, user: (String) -> UInt32) {
    func places(_ name: String) -> [Int] { body.member(name)?.places ?? [] }
    code = body.member("code")?.place ?? 0
    if case .string(let text)? = body.member("error") { isAboutAll = text.hasPrefix("Invalid API key") }
    if body.member("missing_field") != nil { isAboutAll = true }
    for name in [
      "events_with_invalid_fields", "events_with_missing_fields", "events_with_invalid_id_lengths",
    ] {
      if case .object(let fields)? = body.member(name) {
        for field in fields { refused.formUnion(field.value.places) }
      }
    }
    refused.formUnion(places("silenced_events"))
    throttled = Set(places("throttled_events"))
    if case .object(let users)? = body.member("exceeded_daily_quota_users") {
      exhausted = Set(users.map { user($0.key) })
    }
    if case .array(let kinds)? = body.member("quota_limited") {
      isOverQuota = kinds.contains(.string("events"))
    }
  }
}

extension SettingsValue {
  fileprivate var place: Int? { if case .number(let number) = self { Int(exactly: number) } else { nil } }
  fileprivate var places: [Int] {
    if case .array(let items) = self { items.compactMap({ $0.place }) } else { [] }
  }
}

extension AnswerBody? {
  /// The events of an upload that the body does not refuse, and those that it does.
  fileprivate func split(_ events: [UInt32]) -> (kept: [UInt32], lost: [UInt32]) {
    let refused = self?.refused ?? []
    let parts = Dictionary(grouping: events.enumerated()) { refused.contains($0.offset) }
    return (parts[false, default: []].map({ $0.element }), parts[true, default: []].map({ $0.element }))
  }
}

/// The statuses that Amplitude's clients tell apart beside success.
private enum AnswerClass {
  case invalid, tooLarge, rateLimited, other

  init(_ status: Int) {
    self =
      switch status {
      case 413: .tooLarge
      case 429: .rateLimited
      case 408: .other
      case 400...499: .invalid
      default: .other
      }
  }
}

struct ScriptTimer: Timed {
  enum Act {
    /// The buffer, or the queue, leaves.
    case flush
    /// *oneTimer*: an event reaches the queue.
    case arrival
    /// *userLoops*: the loop of a user begins; it tries again.
    case loop(UInt32)
    case retry(UInt32)
  }

  var timer: PageTimer
  var act: Act
}

/// *polls*: a batch that has failed.
struct WaitingBatch: Sendable {
  var events: [UInt32]
  var failures: UInt32
  /// The first poll behind this time takes it.
  var dueAt: Int64
}

/// *userLoops*: the events of a user that wait, of which the loop tries the first `limit`.
struct UserLoop: Sendable {
  var events: [UInt32] = []
  var limit = 0
  var retries = 0
}

/// The state of the strategies that keep all in memory.
struct ScriptMemory: Sendable {
  /// *polls*: microseconds from poll to poll.
  static let pollPeriod: Int64 = 3_000_000

  var timers = PageTimers<ScriptTimer>()
  /// Orders of timers that will not act.
  var cleared: Set<UInt64> = []

  /// *polls*: in the order of their failures.
  var waiting: [WaitingBatch] = []
  var poll: PageTimer?
  var limitedUntil = Int64.min

  /// *oneTimer*: events on their way to the queue, and in it, those in flight too.
  var arriving: [UInt32] = []
  var queue: [UInt32] = []
  /// By event: the wait that its answer asks for, milliseconds.
  var asked: [UInt32: Double] = [:]
  /// The wait of the timer that runs, milliseconds.
  var scheduledFor = 0.0
  /// Flushes so far, the uploads of those that run, and the order of the timer whose flush runs.
  var flushes: UInt32 = 0
  var chunks: [UInt32: (rest: [[UInt32]], retrying: Bool)] = [:]
  var flushOfTimer: UInt64?
  /// By how much the size of an upload is divided.
  var halvings = 1.0

  /// *userLoops*, and quotas: whose events; 0 is left out.
  var users: [UInt32: UInt32] = [:]
  var loops: [UInt32: UserLoop] = [:]
  /// Uploads one after another, the first under way.
  var line: [(events: [UInt32], user: UInt32?)] = []

  func user(of event: UInt32) -> UInt32 { users[event] ?? 0 }

  /// Those that it holds, beside the buffer and what is in flight.
  var events: [UInt32] {
    arriving + queue + waiting.flatMap({ $0.events }) + loops.values.flatMap({ $0.events })
      + line.flatMap({ $0.events })
  }
  var waitingEvents: Int {
    waiting.reduce(0) { $0 + $1.events.count } + loops.values.reduce(0) { $0 + $1.events.count } + queue.count
  }

  /// *polls*: by event that waits. nil: nothing waits for a poll.
  var failures: [UInt32: UInt32]? {
    if waiting.isEmpty { return nil }
    return Dictionary(
      uniqueKeysWithValues: waiting.flatMap { batch in batch.events.map { ($0, batch.failures) } })
  }
  var dueTimes: [UInt32: Int64] {
    Dictionary(uniqueKeysWithValues: waiting.flatMap { batch in batch.events.map { ($0, batch.dueAt) } })
  }
}
