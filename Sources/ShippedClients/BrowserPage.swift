import UploadPipeline
import UploadRetry

/// A page that runs analytics-next's browser SDK (analytics-next 0c4fa881), from its load to its end.
///
/// It has no pipeline and no loop over batches. By the *standard* strategy each event is a request of its own, sent at once
/// whatever else fails. An event that failed waits by itself, and polling loops look every 100 to 600 ms for what has become due.
/// By the *batching* strategy one buffer holds all events (`BrowserPage+Batching.swift`).
///
/// Times are microseconds on one clock. The page runs on its own timers: whoever owns it calls `run(until:)` before it tells it
/// anything, and at `nextTimer`. The page puts its acts into `actions`, in their order.
public struct BrowserPage: Sendable {
  /// The options that the page itself gives to the SDK.
  public let options: BrowserOptions
  /// nil: its request for Settings has failed, and it sends nothing, and saves nothing, as long as it lives.
  public let settings: BrowserSettings?
  /// The page's actions since somebody emptied the list.
  public var actions: [BrowserAction] = []
  /// Timers of polling loops that have fired.
  public internal(set) var polls: UInt64 = 0
  /// `navigator.onLine`.
  public private(set) var isOnline: Bool

  /// By event: how often it was queued or failed, pages before this one included; how often a 429 asked it to wait.
  var counts: [UInt32: EventCounts] = [:]
  /// The events that the next poll takes, first to last.
  var queue: [UInt32] = []
  /// Events that wait, each on a timer of its own.
  private var waiting = PageTimers<WaitingEvent>()
  private var loops = PageTimers<PollingLoop>()
  /// Requests without an answer, by their numbers.
  var open: [UInt32: OpenUpload] = [:]
  /// Events whose sending has not come to an end, by its turn: what a `pagehide` queues again, in the order of their turns.
  private var inFlight: [UInt32: UInt64] = [:]
  private var turns: UInt64 = 0
  /// Tracked by a page without Settings.
  var unsent: [UInt32] = []
  /// *batching*, and the strategies that keep all in memory.
  var buffer = BatchBuffer()
  var memory = ScriptMemory()
  var clock: Int64
  private var timersSet: UInt64 = 0
  private var uploadsBegun: UInt32 = 0
  private var loopsStarted: UInt32 = 0
  let draws: BrowserDraws

  /// A page is loaded.
  ///
  /// - `settings`: nil: they could not be fetched; then nothing may be `saved`, which stays in store.
  /// - `saved`: what the page before has left; it is no longer in store.
  /// - `now`: microseconds.
  public init(
    _ options: BrowserOptions, _ settings: BrowserSettings?, saved: [SavedEvent] = [], isOnline: Bool = true,
    draws: BrowserDraws, at now: Int64
  ) {
    self.options = options
    self.settings = settings
    self.isOnline = isOnline
    self.draws = draws
    clock = now
    for event in saved {
      queue.append(event.number)
      counts[event.number] = EventCounts(attempts: event.attempts)
    }
    if !queue.isEmpty { startLoop() }
    if options.strategy == .polls { setFlushTimer(after: options.timeout) }
  }

  /// How often one event is sent at most; NaN: without an end.
  var sendsAllowed: Double { options.retriesEvents ? settings?.retryCount ?? 0 : 1 }

  // MARK: What happens to it

  /// An event is tracked.
  ///
  /// - `number`: no other event of the page has it.
  /// - `user`: whose event it is; *userLoops* alone asks.
  public mutating func track(_ number: UInt32, user: UInt32 = 0, at now: Int64) {
    clock = max(clock, now)
    if options.strategy.isInMemory {
      keep(number, of: user)
      return
    }
    if settings == nil {
      unsent.append(number)
      return
    }
    if !isOnline, !options.retriesEvents {
      actions.append(.lost(number, .refused))
      return
    }
    counts[number] = EventCounts()
    _ = send(number, in: nil)
  }

  /// An upload has ended.
  ///
  /// - `status`: nil: without one.
  /// - `retryAfter`: seconds as `BrowserSettings.seconds(ofRetryAfter:)` reads the header; nil: none.
  /// - `body`: nil: it says nothing that the client reads.
  public mutating func answered(
    _ upload: UInt32, status: Int?, retryAfter: Double?, body: AnswerBody? = nil, at now: Int64
  ) {
    clock = max(clock, now)
    guard let settings, let ended = open.removeValue(forKey: upload) else { return }
    if options.strategy.isInMemory {
      if !ended.isCopy { end(ended, status: status, body, settings) }
      return
    }
    let verdict = status.map { settings.verdict(status: $0, retryAfter: retryAfter) } ?? .retry
    if ended.isCopy { return }
    if options.strategy == .batching {
      endBatch(ended, verdict, settings)
    } else {
      endEvent(ended.events[0], verdict)
    }
    if let event = ended.awaited { inFlight[event] = nil }
    if let loop = ended.loop { continueLoop(loop) }
  }

  /// `navigator.onLine` changes, which *polls* alone is told of.
  public mutating func setOnline(_ isOnline: Bool, at now: Int64) {
    clock = max(clock, now)
    self.isOnline = isOnline
    if isOnline, options.strategy == .polls { sendDue() }
  }

  /// Ends the page, with `pagehide`, and returns the events that it saves. The page loses the others that it holds.
  public mutating func hide(at now: Int64) -> [SavedEvent] {
    clock = max(clock, now)
    if options.strategy.isInMemory {
      sendLast()
      return []
    }
    setVisible(false, at: now)
    for (event, _) in inFlight.sorted(by: { $0.value < $1.value }) { _ = enqueue(event) }
    sortQueue()
    if !options.savesEvents { return [] }
    let inTurn = waiting.all.sorted { $0.timer.order < $1.timer.order }
    return (queue + inTurn.map { $0.event }).map { SavedEvent(number: $0, attempts: attempts(of: $0)) }
  }

  // MARK: One event

  func attempts(of event: UInt32) -> UInt32 { counts[event]?.attempts ?? 0 }

  /// Whether a request has left whose answer the caller has to wait for.
  mutating func send(_ event: UInt32, in loop: PollingLoop?) -> Bool {
    if !isOnline {
      if enqueue(event) { sortQueue() } else { lose(event, .limit(.retryLimit)) }
      startLoop()
      return false
    }
    if Double(attempts(of: event)) >= sendsAllowed {
      lose(event, .limit(.retryLimit))
      return false
    }
    if options.strategy == .batching { return dispatch(event, in: loop) }
    beginSending(event)
    begin([event], retryCount: attempts(of: event), in: loop, awaited: event)
    return true
  }

  mutating func beginSending(_ event: UInt32) {
    turns &+= 1
    inFlight[event] = turns
  }

  /// A request leaves.
  mutating func begin(
    _ events: [UInt32], retryCount: UInt32, in loop: PollingLoop? = nil, awaited: UInt32? = nil,
    isCopy: Bool = false, series: RetrySeries = RetrySeries(), part: UInt32? = nil
  ) {
    uploadsBegun &+= 1
    open[uploadsBegun] = OpenUpload(
      events: events, loop: loop, awaited: awaited, isCopy: isCopy, series: series, part: part)
    let outlivesPage = options.strategy == .batching && (options.keepsAlive || buffer.isPageHidden)
    actions.append(
      .send(
        upload: uploadsBegun, events, retryCount: retryCount == 0 ? nil : retryCount,
        keepsAlive: outlivesPage || options.strategy.isInMemory && isCopy, isCopy: isCopy))
  }

  /// *standard*: the upload of an event has ended.
  private mutating func endEvent(_ event: UInt32, _ verdict: BrowserSettings.Verdict) {
    switch verdict {
    case .delivered:
      deliver([event])
      return
    case .drop:
      giveUp([event], .status)
    case .retry: wait(event, asked: nil)
    case .wait(let seconds):
      let rateLimits = (counts[event]?.rateLimits ?? 0) &+ 1
      counts[event]?.rateLimits = rateLimits
      if Double(rateLimits) > settings?.rateLimitRetryCount ?? 0 {
        giveUp([event], .retryLimit)
      } else {
        wait(event, asked: seconds * 1_000)
      }
    }
    startLoop()
  }

  /// An event that failed waits: after its first failure for the next poll only, then on a timer of its own.
  ///
  /// - `asked`: milliseconds that a 429 asked for; nil: none did.
  private mutating func wait(_ event: UInt32, asked: Double?) {
    let earlier = attempts(of: event)
    guard countAttempt(of: event) else {
      giveUp([event], .retryLimit)
      return
    }
    if asked ?? 0 == 0, earlier == 0 {
      queue.append(event)
      sortQueue()
      actions.append(.decided(event, .retry(at: clock)))
      return
    }
    let draw = BrowserDraws.unit(draws.wait(event, earlier))
    let doubled = earlier > 1_000 ? .infinity : Double(sign: .plus, exponent: Int(earlier), significand: 1)
    let timer = timer(after: asked ?? (draw + 1) * 500 * doubled)
    waiting.insert(WaitingEvent(timer: timer, event: event))
    actions.append(.decided(event, .retry(at: timer.time)))
  }

  /// Counts that an event is queued once more, or has failed; false: that is more often than it may.
  private mutating func countAttempt(of event: UInt32) -> Bool {
    let attempts = attempts(of: event) &+ 1
    counts[event, default: EventCounts()].attempts = attempts
    return !(Double(attempts) > sendsAllowed)
  }

  /// Queues an event once more; false: that would be more often than it may.
  private mutating func enqueue(_ event: UInt32) -> Bool {
    guard countAttempt(of: event) else { return false }
    queue.append(event)
    return true
  }

  /// By how often events were queued, those queued as often in their order.
  private mutating func sortQueue() {
    if queue.count < 2 { return }
    let ranks = queue.enumerated().map { (attempts(of: $0.element), $0.offset, $0.element) }
    queue = ranks.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map { $0.2 }
  }

  mutating func lose(_ event: UInt32, _ loss: ClientLoss) {
    counts[event] = nil
    actions.append(.lost(event, loss))
  }

  mutating func lose(_ events: [UInt32], _ loss: ClientLoss) {
    for event in events { lose(event, loss) }
  }

  // MARK: Timers

  /// Makes a timer as a browser does. The delay is cut to a whole number of milliseconds of 32 bits with a sign, and a negative
  /// one is none.
  mutating func timer(after milliseconds: Double) -> PageTimer {
    timersSet &+= 1
    return PageTimer(time: clock &+ Self.delay(milliseconds), order: timersSet)
  }

  /// Microseconds.
  static func delay(_ milliseconds: Double) -> Int64 {
    guard milliseconds.isFinite, milliseconds.magnitude < 0x1p63 else { return 0 }
    return max(0, Int64(Int32(truncatingIfNeeded: Int64(milliseconds)))) &* 1_000
  }

  /// One more polling loop.
  mutating func startLoop() {
    loopsStarted &+= 1
    goOn(PollingLoop(timer: .never, number: loopsStarted, polls: 0))
  }

  /// A polling loop sets its next timer.
  private mutating func goOn(_ loop: PollingLoop) {
    var loop = loop
    loop.timer = timer(after: draws.pollDelay(loop))
    loop.polls &+= 1
    loops.insert(loop)
  }

  /// Whether anything is queued or waits.
  private var hasWork: Bool { !queue.isEmpty || !waiting.isEmpty }

  /// When the page has to run next, microseconds; nil: nothing will happen by itself. Polls that find nothing are counted when it runs.
  public var nextTimer: Int64? {
    if options.strategy.isInMemory { return nextScriptTimer }
    var next = buffer.timer?.timer.time
    func take(_ time: Int64) { next = min(next ?? time, time) }
    if !queue.isEmpty, isOnline, let poll = loops.first?.timer.time { take(poll) }
    if let due = waiting.first?.timer.time { take(due) }
    return next
  }

  /// All timers up to a time fire, that time included.
  public mutating func run(until end: Int64) {
    if options.strategy.isInMemory {
      runScript(until: end)
      return
    }
    while true {
      let due = waiting.first?.timer
      let flush = buffer.timer?.timer
      var first = flush ?? PageTimer.never
      if let due, due < first { first = due }
      if let poll = loops.first, poll.timer < first {
        if poll.timer.time > end { break }
        if queue.isEmpty || !isOnline {
          let end = min(first, PageTimer(time: end, order: .max))
          polls &+= hasWork ? loops.poll(before: end, draws, &timersSet) : loops.end(before: end)
        } else {
          clock = max(clock, poll.timer.time)
          polls &+= 1
          loops.removeFirst()
          continueLoop(poll)
        }
        continue
      }
      if first.time > end { break }
      clock = max(clock, first.time)
      if first == flush {
        fireBufferTimer()
      } else if let due = waiting.removeFirst() {
        queue.append(due.event)
      }
    }
    clock = max(clock, end)
  }

  /// Goes on with a polling loop. The loop sends what is queued, one after another, each after the answer to the last. Then it
  /// waits, if there is anything to wait for.
  private mutating func continueLoop(_ loop: PollingLoop) {
    while !queue.isEmpty, isOnline {
      if send(queue.removeFirst(), in: loop) { return }
    }
    if hasWork { goOn(loop) }
  }
}

/// The options that the page itself gives to the SDK.
public struct BrowserOptions: Sendable, Hashable {
  /// `deliveryStrategy.strategy`.
  public enum Strategy: String, Sendable, Hashable, CaseIterable {
    /// One event a request.
    case standard
    /// A buffer of events.
    case batching
    /// posthog-js: what failed waits for a poll.
    case polls
    /// Amplitude's analytics-node: one timer for all events.
    case oneTimer
    /// Amplitude's former node SDK: a loop for each user whose events failed.
    case userLoops

    /// Whether nothing outlives the page, and the strategy is one of `BrowserPage+InMemory.swift`.
    public var isInMemory: Bool { self != .standard && self != .batching }
  }

  /// How the client sends, and sends again.
  public var strategy = Strategy.standard
  /// `retryQueue`: a failed event is sent again, and one that is tracked offline waits.
  public var retriesEvents = true
  /// False: `disableClientPersistence`, or a store that can't be read: nothing is saved.
  public var savesEvents = true
  /// *batching*: events that make a flush; *oneTimer*: of an upload at most.
  public var size = 10
  /// From the first event in the buffer to its flush, milliseconds. Not *standard*.
  public var timeout = 5_000.0
  /// Retries of a buffer, an event or a loop; nil: `backoffConfig.maxRetryCount`. Not *standard*.
  public var maxRetries: Double?
  /// *batching*: every request has the flag `keepalive`.
  public var keepsAlive = false

  /// The SDK's own.
  public init() {}
}

/// The saved part of an event between two pages.
public struct SavedEvent: Sendable, Hashable {
  /// The event's.
  public var number: UInt32
  /// How often it was queued or failed.
  public var attempts: UInt32

  /// An event that was queued or has failed so often.
  public init(number: UInt32, attempts: UInt32) { (self.number, self.attempts) = (number, attempts) }
}

/// An act of a page.
public enum BrowserAction: Sendable {
  /// A request leaves. `retryCount`: its `X-Retry-Count`; nil: without. `isCopy`: of events that the page holds on to, whatever comes of
  /// it.
  case send(upload: UInt32, [UInt32], retryCount: UInt32?, keepsAlive: Bool, isCopy: Bool)
  /// The page has learned that these were delivered.
  case delivered([UInt32])
  /// The page gives an event up: at an answer or a limit, or *refused*, as it was tracked offline by a page that does not retry.
  case lost(UInt32, ClientLoss)
  /// The outcome of an upload, by its first event. A batch whose events wait together has a pause as its outcome.
  case decided(UInt32, RetryOutcome)
}

/// Where a page draws from: each draw has a name of its own.
public struct BrowserDraws: Sendable {
  /// The delay of a loop's timer, by the loop's number and how many it has set before.
  private let poll: @Sendable (_ loop: UInt32, _ number: UInt64) -> UInt64
  /// The wait of an event that has failed so often before.
  let wait: @Sendable (_ event: UInt32, _ attempts: UInt32) -> UInt64
  /// Many polls in vain of one loop are drawn at once.
  private let leaps: Bool

  /// - `leaps`: of a loop that has nothing to do for ten seconds or more its polls are not drawn one by one. Their number is the one to
  ///   expect, and the time of the last is drawn from the distribution that it has after a long time.
  public init(
    leaps: Bool, poll: @escaping @Sendable (_ loop: UInt32, _ number: UInt64) -> UInt64,
    wait: @escaping @Sendable (_ event: UInt32, _ attempts: UInt32) -> UInt64
  ) {
    (self.leaps, self.poll, self.wait) = (leaps, poll, wait)
  }

  /// `Math.random()`: a number from 0 to below 1.
  static func unit(_ word: UInt64) -> Double { Double(word >> 11) * 0x1p-53 }

  /// Milliseconds to the next poll of a loop.
  func pollDelay(_ loop: PollingLoop) -> Double { 100 + 500 * Self.unit(poll(loop.number, loop.polls)) }

  private static let meanDelay: Int64 = 350_000

  /// Returns the first poll of a loop at or behind a time that is far away, and the number of timers set until then. Nil: the
  /// time is near.
  func leap(_ loop: PollingLoop, to end: Int64) -> (time: Int64, polls: UInt64)? {
    guard leaps, end &- loop.timer.time >= 10_000_000 else { return nil }
    // The rest of a delay from 100 to 600 ms at a random time: shorter delays are met less often.
    let draw = Self.unit(poll(loop.number, loop.polls)) * 3.5
    let rest = draw < 1 ? draw * 100 : 600 - 500 * ((3.5 - draw) / 2.5).squareRoot()
    let time = end &+ Int64(rest) &* 1_000
    return (time, UInt64((time &- loop.timer.time &+ Self.meanDelay / 2) / Self.meanDelay))
  }
}

/// How often an event was sent.
struct EventCounts: Sendable {
  var attempts: UInt32 = 0
  var rateLimits: UInt32 = 0
}

/// A timer of a page; those of one time fire in the order in which they were set.
struct PageTimer: Sendable, Comparable {
  var time: Int64
  var order: UInt64

  static let never = PageTimer(time: .max, order: .max)

  static func < (a: Self, b: Self) -> Bool { (a.time, a.order) < (b.time, b.order) }
}

/// A loop that looks for what is due. While it waits for an answer it has no timer.
struct PollingLoop: Timed {
  var timer: PageTimer
  /// Within its page, from 1 on.
  var number: UInt32
  /// How many timers it has set.
  var polls: UInt64
}

/// A request without an answer.
struct OpenUpload: Sendable {
  var events: [UInt32]
  /// The polling loop that goes on when it is answered.
  var loop: PollingLoop?
  /// The event whose sending ends with it.
  var awaited: UInt32?
  var isCopy: Bool
  var series: RetrySeries
  /// *oneTimer*: its flush; *userLoops*: the user whose loop it is.
  var part: UInt32?
}

// MARK: - What it holds

extension BrowserPage {
  /// The events of the page that are neither delivered nor lost, by their numbers.
  public var held: [UInt32] {
    var held = Set(queue).union(unsent).union(waiting.all.map { $0.event }).union(buffer.events)
    held.formUnion(memory.events)
    for upload in open.values where !upload.isCopy { held.formUnion(upload.events) }
    return held.sorted()
  }

  /// Uploads without an answer, the oldest first.
  public var uploads: [(number: UInt32, events: [UInt32])] {
    open.sorted { $0.key < $1.key }.map { ($0.key, $0.value.events) }
  }

  /// The events that are queued or wait, with how often they were queued or failed.
  public var retryCounts: [UInt32: UInt32] {
    if options.strategy.isInMemory { return memory.failures ?? counts.mapValues({ $0.attempts }) }
    return Dictionary(
      uniqueKeysWithValues: (queue + waiting.all.map { $0.event }).map { ($0, attempts(of: $0)) })
  }

  /// When each event is due that waits on a timer of its own, microseconds.
  public var dueTimes: [UInt32: Int64] {
    if options.strategy.isInMemory { return memory.dueTimes }
    return Dictionary(uniqueKeysWithValues: waiting.all.map { ($0.event, $0.timer.time) })
  }

  /// Polling loops that have a timer.
  public var pollingTimers: Int { loops.count }

  /// When the buffer's timer fires, microseconds; nil: it does not run. Not *standard*.
  public var flushTimer: Int64? { buffer.timer?.timer.time }
  /// *batching*: whether the flush of that timer is a retry.
  public var isFlushRetry: Bool { buffer.isWaiting }

  /// How many events wait, each on a timer of its own or together.
  public var waitingEvents: Int {
    memory.waitingEvents + waiting.count + (buffer.isWaiting ? buffer.events.count : 0)
  }
}
