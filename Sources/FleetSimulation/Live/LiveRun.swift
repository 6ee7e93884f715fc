import Dispatch
import FleetMetrics
import ScenarioModel
import SimulationKernel
import Synchronization
import TAPIModel

/// A fleet against a real server: the devices of the engine, on the wall clock, with real requests.
///
/// Devices create events, flush and retry in virtual time, as in a simulated run of the same scenario and with the same draws.
/// The scenario's server does not act. An upload goes to the transport when it has travelled its uplink, and its client hears of
/// the answer a downlink after it has come. Each thing happens at its own virtual time; the wall clock only says when it may.
public struct LiveRun: ~Copyable {
  /// The outcome of a live run.
  public struct Result: Sendable {
    public var record: RunRecord
    /// How far it came: the scenario's duration unless it was stopped.
    public var reached: Span
    /// How late things happened, virtual microseconds: how far the machine was behind.
    public var lags: Histogram
    /// Uploads that were to go over the network, those of them that a server answered, the refused and the unheard ones. The
    /// server may have got an unheard upload, and did not answer in time, or answered with something else than HTTP. What is under
    /// way at the end is none of them.
    public var sent: Int64
    public var answered: Int64
    public var refused: Int64
    public var unheard: Int64
  }

  /// The begin or the end of one of the scenario's incidents, by its place in the scenario.
  public struct Moment: Sendable, Hashable {
    public var incident: Int
    public var begins: Bool

    package init(incident: Int, begins: Bool) { (self.incident, self.begins) = (incident, begins) }
  }

  private enum Item {
    case arrival(UploadRequest, retryCount: UInt16)
    case delivery(Delivery, shard: Int)
    case timer(kind: UInt64, device: DeviceIndex, shard: Int)
    case end(upload: Int, LiveEnd)
    /// The client of an upload waits no longer.
    case timeOut(upload: Int)
    case moment(Moment)
  }

  /// An upload at the server.
  private struct Open {
    var request: UploadRequest
    var deadline: Int64
    /// Its client has given it up.
    var isGivenUp = false
  }

  private let scenario: Scenario
  private let layout: [ShardLayout]
  private let shards: UnsafeMutablePointer<DeviceShard>
  private let timeouts: [Int64]
  private let transport: any LiveTransport
  private let inbox = LiveInbox()
  /// Wall seconds since 1970, for dates in headers.
  private let unixSeconds: @Sendable () -> Double
  private var agenda = EventHeap<Item>()
  private var calendar: ShardCalendar
  private var open: [Int: Open] = [:]
  private var late: [(delivery: Delivery, due: Instant, shard: Int)] = []
  private var counts: ServerCounts
  private var lags = Histogram()
  private let end: Instant

  /// - `transport`: carries the uploads.
  /// - `unixSeconds`: the wall clock, for a `Retry-After` that is a date.
  public init(
    _ scenario: Scenario, transport: any LiveTransport, unixSeconds: @escaping @Sendable () -> Double
  ) {
    self.scenario = scenario
    self.transport = transport
    self.unixSeconds = unixSeconds
    layout = ShardLayout.cut(scenario.fleet, perCohort: 1)
    end = Instant.start + scenario.duration
    timeouts = layout.map { scenario.fleet[$0.cohort].timeout.microseconds }
    let rowCount = RunAssembly.rowCount(scenario)
    shards = .allocate(capacity: layout.count)
    let lastIncidentEnd = scenario.lastIncidentEnd
    var firstDevice = 0
    for (number, piece) in layout.enumerated() {
      let cohort = scenario.fleet[piece.cohort]
      let plan = CohortPlan(
        cohort, firstDevice: firstDevice, scenario: scenario, lastIncidentEnd: lastIncidentEnd, checks: true,
        windowWidth: nil, isLive: true)
      firstDevice += cohort.devices
      (shards + number).initialize(
        to: DeviceShard(
          plan: plan, interval: scenario.interval, number: number, first: 0, count: piece.count,
          rowCount: rowCount))
    }
    calendar = ShardCalendar(collecting: end.microseconds)
    counts = ServerCounts(scenario, rowCount: rowCount)
  }

  deinit {
    shards.deinitialize(count: layout.count)
    shards.deallocate()
  }

  /// Runs to the end, or until `control` says otherwise: the result is everything that has happened by then.
  ///
  /// - Parameters:
  ///   - control: stops it, and is told how far it is.
  ///   - tell: hears of the scenario's incidents when they begin and end.
  ///   - start: makes the clock, which starts then.
  /// - Throws: `CheckFailure`.
  public consuming func run(
    control: RunControl = .init(), tell: (Moment) -> Void = { _ in }, clock start: () -> any LiveClock
  ) throws -> Result {
    for (index, incident) in scenario.tapi.incidents.enumerated() {
      agenda.add(.moment(Moment(incident: index, begins: true)), at: incident.start)
      agenda.add(.moment(Moment(incident: index, begins: false)), at: incident.end)
    }
    for number in layout.indices {
      for device in shards[number].indices { shards[number].start(device: device, &calendar) }
      takeOver(from: number)
    }
    let clock = start()
    var reached = Instant.start
    while !control.isCancelled {
      for message in inbox.takeAll() {
        let time = Instant(microseconds: max(message.time, reached.microseconds))
        agenda.add(.end(upload: message.upload, message.end), at: time)
      }
      let next = min(agenda.nextTime, end)
      let now = clock.now
      if now < next.microseconds {
        clock.wait(until: next.microseconds, for: inbox)
        continue
      }
      reached = next
      if next == end { break }
      control.report(virtualTime: next, attempts: counts.sent)
      let item = agenda.takeFirst().payload
      switch item {
      // Nobody knew its time before, so it is never late.
      case .end, .timeOut: break
      case .arrival, .timer, .delivery, .moment: lags.record(now - next.microseconds)
      }
      handle(item, at: next, clock: clock, tell)
    }
    for number in open.keys { transport.cancel(number) }
    finish(at: reached, tell)
    return try result(reached: reached)
  }

  /// Answers that are on their way yet count, and who was told that an incident begins hears of its end.
  private mutating func finish(at reached: Instant, _ tell: (Moment) -> Void) {
    while agenda.nextTime < .never {
      let entry = agenda.takeFirst()
      switch entry.payload {
      case .delivery(let delivery, let shard): late.append((delivery, entry.time, shard))
      case .moment(let moment):
        if !moment.begins, scenario.tapi.incidents[moment.incident].start < reached { tell(moment) }
      default: break
      }
    }
  }

  private mutating func handle(
    _ item: Item, at time: Instant, clock: any LiveClock, _ tell: (Moment) -> Void
  ) {
    let now = time.microseconds
    switch item {
    case .arrival(let request, let retryCount): send(request, retryCount: retryCount, at: time, clock)
    case .end(let upload, let end): ended(upload, end, at: time)
    case .timeOut(let upload):
      guard let request = open[upload]?.request else { break }
      open[upload]?.isGivenUp = true
      transport.cancel(upload)
      deliver(Delivery(.timeOut, request.id), due: time, toShard: Int(request.shard))
    case .moment(let moment): tell(moment)
    case .delivery(let delivery, let shard):
      shards[shard].handle(delivery, at: now, &calendar)
      takeOver(from: shard)
    case .timer(let kind, let device, let shard):
      switch kind {
      case ItemKind.trigger: shards[shard].handleTrigger(device, at: now, &calendar)
      case ItemKind.wakeUp: shards[shard].handleWakeUp(device, at: now, &calendar)
      case ItemKind.world: shards[shard].handleWorld(device, at: now, &calendar)
      default: shards[shard].handleRestart(device, at: now, &calendar)
      }
      takeOver(from: shard)
    }
  }

  /// Takes over what a shard's devices have planned and sent.
  private mutating func takeOver(from shard: Int) {
    for (kind, device, time) in calendar.collected.timers where time < end.microseconds {
      agenda.add(.timer(kind: kind, device: device, shard: shard), at: Instant(microseconds: time))
    }
    for (delivery, due) in calendar.collected.deliveries {
      deliver(delivery, due: Instant(microseconds: due), toShard: shard)
    }
    for (ticket, arrival) in calendar.collected.uploads where arrival < end.microseconds {
      let request = shards[shard].request(ticket, at: arrival)
      agenda.add(.arrival(request, retryCount: UInt16(ticket.retryCount)), at: request.arrival)
    }
    calendar.collected = .init()
  }

  private mutating func deliver(_ delivery: Delivery, due: Instant, toShard shard: Int) {
    if due < end {
      agenda.add(.delivery(delivery, shard: shard), at: due)
    } else {
      late.append((delivery, due, shard))
    }
  }

  private mutating func send(
    _ request: UploadRequest, retryCount: UInt16, at now: Instant, _ clock: any LiveClock
  ) {
    let shard = Int(request.shard)
    let deadline = now.microseconds - Int64(request.uplink) + timeouts[shard]
    counts.arrives(request, at: now)
    let cohort = scenario.fleet[layout[shard].cohort]
    let number = Int(counts.sent)
    // An upload that its client has given up on the way, which the device has arranged itself, arrives all the same.
    let isGivenUp = deadline < now.microseconds
    open[number] = Open(request: request, deadline: deadline, isGivenUp: isGivenUp)
    if !isGivenUp { agenda.add(.timeOut(upload: number), at: Instant(microseconds: deadline)) }
    let upload = LiveUpload(
      number: number, writeKey: cohort.effectiveWriteKey, device: request.device,
      firstEvent: request.firstOrdinal, events: Int(request.events), eventBytes: cohort.eventBytes,
      retryCount: cohort.behaviour.policy.retry.headerValue(retryCount))
    transport.send(upload) { [inbox] in inbox.post(.init(upload: number, end: $0, time: clock.now)) }
  }

  private mutating func ended(_ number: Int, _ how: LiveEnd, at now: Instant) {
    guard let upload = open.removeValue(forKey: number) else { return }
    let (request, shard) = (upload.request, Int(upload.request.shard))
    guard case .answer(let status, let retryAfter, let rateLimitReset) = how,
      (100...599).contains(status)
    else {
      let arrived = how != .noAnswer(mayHaveArrived: false)
      counts.unanswered(at: now, mayHaveArrived: arrived)
      return deliver(
        upload.isGivenUp
          ? Delivery(.loss, request.id)
          : Delivery(.timeOut, request.id, status: arrived ? 0 : Delivery.notSent, resolves: true),
        due: now, toShard: shard)
    }
    let isAccepted = (200...299).contains(status)
    counts.answered(UInt16(status), at: now)
    let isLost = request.downlink == .max
    let due = now.microseconds + (isLost ? 0 : Int64(request.downlink))
    if !upload.isGivenUp, !isLost, due <= upload.deadline {
      let cohort = scenario.fleet[layout[shard].cohort]
      let wait = cohort.behaviour.settingsDialect.wait(
        retryAfter: retryAfter, rateLimitReset: rateLimitReset, policy: cohort.behaviour.policy,
        nowUnixMicroseconds: Int64(unixSeconds() * 1e6))
      let answer = Delivery(
        .answer, request.id, downlink: request.downlink, status: isAccepted ? 200 : UInt16(status),
        retryAfter: wait.map { UInt32(clamping: min($0, TAPIServer.longestRetryAfter)) } ?? .max)
      return deliver(answer, due: Instant(microseconds: due), toShard: shard)
    }
    // The client hears nothing of it in time.
    if !upload.isGivenUp {
      deliver(
        Delivery(.timeOut, request.id), due: Instant(microseconds: upload.deadline), toShard: shard)
    }
    if !isLost { counts.count(.unheardAnswers, at: now) }
    deliver(Delivery(isAccepted ? .acceptance : .loss, request.id), due: now, toShard: shard)
  }

  private mutating func result(reached: Instant) throws -> Result {
    for item in late {
      shards[item.shard].countLateAcceptance(
        item.delivery, due: item.due.microseconds, end: reached.microseconds)
    }
    for number in layout.indices {
      if let violation = shards[number].violation(at: reached.microseconds) {
        throw CheckFailure(description: violation)
      }
    }
    var assembly = RunAssembly(scenario)
    for number in layout.indices {
      assembly.add(shards[number], cohort: scenario.fleet[layout[number].cohort])
    }
    var record = assembly.record(
      counts.counters, offeredPer100ms: counts.offered, capacity: [], workersWaitingSince: [])
    if reached < end { record.cut(after: (reached - .start).microseconds) }
    return Result(
      record: record, reached: reached - .start, lags: lags, sent: counts.sent, answered: counts.answered,
      refused: counts.refused, unheard: counts.unheard)
  }
}

extension RunRecord {
  /// Leaves what a run had come to that was stopped at a time, microseconds.
  mutating func cut(after time: Int64) {
    series.cut(after: time + 1)
    incidents = incidents.filter { $0.start < time }.map { $0.cut(after: time) }
    actions = []
  }
}

/// The counts of an observer at the server's door in a live run.
private struct ServerCounts: ~Copyable {
  let counters: IntervalCounters<ServerSide>
  private(set) var offered: [UInt32]
  private(set) var sent: Int64 = 0
  private(set) var answered: Int64 = 0
  private(set) var refused: Int64 = 0
  private(set) var unheard: Int64 = 0
  private var rows: RowCursor

  init(_ scenario: Scenario, rowCount: Int) {
    counters = IntervalCounters(rows: rowCount)
    offered = Array(repeating: 0, count: RunAssembly.tenthCount(scenario))
    rows = RowCursor(interval: scenario.interval)
  }

  mutating func count(_ counter: Measure, at now: Instant) {
    counters.add(1, to: counter, row: rows.row(at: now.microseconds))
  }

  mutating func arrives(_ request: UploadRequest, at now: Instant) {
    count(request.attempt == 1 ? .firstAttempts : .retries, at: now)
    offered[Int(now.microseconds / 100_000)] += 1
    sent += 1
  }

  mutating func answered(_ status: UInt16, at now: Instant) {
    count(ServerFront.counter(of: status), at: now)
    answered += 1
  }

  mutating func unanswered(at now: Instant, mayHaveArrived: Bool) {
    count(.unanswered, at: now)
    if mayHaveArrived { unheard += 1 } else { refused += 1 }
  }
}

/// The messages of transports that the run has not heard yet.
public final class LiveInbox: Sendable {
  /// An upload that has ended, and when, in virtual microseconds.
  struct Message: Sendable {
    var upload: Int
    var end: LiveEnd
    var time: Int64
  }

  private let messages = Mutex<[Message]>([])
  private let signal = DispatchSemaphore(value: 0)

  public init() {}

  func post(_ message: Message) {
    let wasEmpty = messages.withLock {
      $0.append(message)
      return $0.count == 1
    }
    if wasEmpty { signal.signal() }
  }

  /// All of them, oldest first.
  func takeAll() -> [Message] {
    messages.withLock { all in
      defer { all = [] }
      return all
    }
  }

  public var isEmpty: Bool { messages.withLock(\.isEmpty) }

  /// Waits for a message, at most so many seconds. It may return without one.
  public func wait(atMost seconds: Double) {
    if seconds > 0 { _ = signal.wait(timeout: .now() + seconds) }
  }
}

/// Wall time, so many times as fast.
public struct AcceleratedClock: LiveClock {
  /// Seconds of a clock that never goes back.
  private let seconds: @Sendable () -> Double
  private let start: Double
  private let speed: Double
  /// A run looks after its control so often, in seconds.
  private static let longestWait = 0.1

  /// Starts now.
  ///
  /// - Parameters:
  ///   - speed: virtual seconds in one of the wall; above 0.
  ///   - monotonicSeconds: a clock that never goes back.
  public init(speed: Double, monotonicSeconds: @escaping @Sendable () -> Double) {
    seconds = monotonicSeconds
    start = monotonicSeconds()
    self.speed = speed
  }

  public var now: Int64 { Int64(((seconds() - start) * speed * 1e6).rounded(.down)) }

  public func wait(until time: Int64, for inbox: LiveInbox) {
    let seconds = Double(time - now) / 1e6 / speed
    inbox.wait(atMost: min(seconds, Self.longestWait))
  }
}

/// One upload of a live run, as it goes over the network.
public struct LiveUpload: Sendable, Hashable {
  /// Tells it from all others of the run.
  public var number: Int
  /// The key in the Authorization header (S1).
  public var writeKey: String
  /// The device's number in the fleet, and the number of the batch's first event on it.
  public var device: UInt32
  public var firstEvent: UInt32
  public var events: Int
  /// The bytes of each event.
  public var eventBytes: Int
  /// `X-Retry-Count`; nil: the client leaves the header out (S2).
  public var retryCount: UInt16?

  public init(
    number: Int, writeKey: String, device: UInt32, firstEvent: UInt32, events: Int, eventBytes: Int,
    retryCount: UInt16?
  ) {
    self.number = number
    self.writeKey = writeKey
    self.device = device
    self.firstEvent = firstEvent
    self.events = events
    self.eventBytes = eventBytes
    self.retryCount = retryCount
  }
}

/// How an upload of a live run ended.
public enum LiveEnd: Sendable, Hashable {
  /// An answer; the headers as they came.
  case answer(status: Int, retryAfter: String?, rateLimitReset: String?)
  /// A refused or broken connection, or something that is no HTTP. `mayHaveArrived`: the server may have got the upload.
  case noAnswer(mayHaveArrived: Bool)
}

/// Carries the uploads of a live run to a server.
public protocol LiveTransport: Sendable {
  /// Sends an upload once: no retry, no redirect, no cache.
  ///
  /// - Parameters:
  ///   - upload: what to send.
  ///   - ended: called once, on any thread, also after `cancel`.
  func send(_ upload: LiveUpload, ended: @escaping @Sendable (LiveEnd) -> Void)
  /// Its client waits no longer: the connection is closed.
  func cancel(_ number: Int)
  /// The reason that has kept an upload from leaving and is not the server's doing; nil: nothing has.
  var trouble: String? { get }
}

extension LiveTransport {
  public var trouble: String? { nil }
}

/// The clock of a live run.
public protocol LiveClock: Sendable {
  /// Virtual microseconds since the start of the run.
  var now: Int64 { get }
  /// Returns at `time`, or as soon as there is something in `inbox`, or now and then.
  func wait(until time: Int64, for inbox: LiveInbox)
}
