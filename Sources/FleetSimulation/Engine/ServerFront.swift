import FleetMetrics
import ScenarioModel
import SimulationKernel
import TAPIModel

/// Where answers go: the shards' calendars, or a test's heap.
package protocol DeliverySink: ~Copyable {
  mutating func deliver(_ delivery: Delivery, due: Instant, toShard shard: Int)
}

extension DeliverySink where Self: ~Copyable {
  /// Delivers to the sender of a request.
  mutating func deliver(
    _ kind: Delivery.Kind, _ request: UploadRequest, due: Instant, status: UInt16 = 0, resolves: Bool = false
  ) {
    deliver(
      Delivery(kind, request.id, status: status, resolves: resolves), due: due, toShard: Int(request.shard))
  }
}

/// The server with what observes it: counts its answers and turns them into deliveries to devices.
///
/// The front also knows each client's time-out, so that a time-out is only queued for an upload that is not answered in time.
package struct ServerFront: ~Copyable {
  var server: TAPIServer
  /// nil: there are none. The tier lies apart: each window looks whether there is one, and would copy it for that.
  let proxies: UnsafeMutablePointer<ProxyTier>?
  /// The line before the server of an ideal run; nil: it is none.
  let line: UnsafeMutablePointer<IdealTier>?
  /// By shard, microseconds.
  private let timeouts: UnsafeMutablePointer<Int64>
  var rows: RowCursor
  private var busyRows: RowCursor
  let end: Instant
  var tenths = RowCursor(interval: .milliseconds(100))
  let counters: IntervalCounters<ServerSide>
  let offered: UnsafeMutablePointer<UInt32>
  /// The pieces of a window with fast answers.
  var pieces = WindowPieces()
  /// The status of answers that are not counted yet, if they are not 200; 0: none.
  var refusedStatus: UInt16 = 0
  private let tenthCount: Int
  /// The most that there can be.
  private let workers: Int
  let costsByEvent: Bool
  let checks: Bool
  private(set) var violation: String?
  private var lastTime = Instant.start

  package init(_ scenario: Scenario, shards: [ShardLayout], rowCount: Int, checks: Bool) {
    server = TAPIServer(
      scenario.tapi, key: RandomKey(seed: scenario.seed), sources: scenario.uploadSources(of: shards),
      interval: scenario.interval)
    server.beginConnections()
    proxies = scenario.tapi.proxies.map {
      Self.apart(ProxyTier($0, key: RandomKey(seed: scenario.seed), interval: scenario.interval))
    }
    line = scenario.isIdeal ? Self.apart(IdealTier(scenario, shards: shards)) : nil
    costsByEvent = scenario.tapi.server.costsByEvent
    timeouts = .allocate(capacity: max(shards.count, 1))
    for (i, shard) in shards.enumerated() { timeouts[i] = scenario.fleet[shard.cohort].timeout.microseconds }
    rows = RowCursor(interval: scenario.interval)
    busyRows = rows
    end = .start + scenario.duration
    counters = IntervalCounters(rows: rowCount)
    tenthCount = RunAssembly.tenthCount(scenario)
    offered = PlainMemory.zeroed(byteCount: tenthCount * MemoryLayout<UInt32>.stride)
      .bindMemory(to: UInt32.self, capacity: tenthCount)
    workers = Self.mostWorkers(scenario.tapi)
    self.checks = checks
  }

  /// A copy that goes on under the incidents of `scenario`.
  init(copying other: borrowing ServerFront, _ scenario: Scenario, shards: [ShardLayout]) {
    server = TAPIServer(
      copying: other.server, scenario.tapi, sources: scenario.uploadSources(of: shards))
    proxies = other.proxies.map { Self.apart($0.pointee) }
    line = other.line.map { Self.apart(IdealTier(copying: $0.pointee)) }
    timeouts = .allocate(capacity: max(shards.count, 1))
    timeouts.update(from: other.timeouts, count: shards.count)
    (rows, busyRows, tenths) = (other.rows, other.busyRows, other.tenths)
    (end, tenthCount) = (other.end, other.tenthCount)
    counters = other.counters.copy()
    offered = PlainMemory.copy(of: other.offered, count: tenthCount)
    // The other's scenario may have no actions.
    workers = Self.mostWorkers(scenario.tapi)
    (costsByEvent, checks) = (other.costsByEvent, other.checks)
    (violation, lastTime) = (other.violation, other.lastTime)
  }

  private static func apart<Tier: ~Copyable>(_ tier: consuming Tier) -> UnsafeMutablePointer<Tier> {
    let place = UnsafeMutablePointer<Tier>.allocate(capacity: 1)
    place.initialize(to: tier)
    return place
  }

  deinit {
    proxies?.deinitialize(count: 1).deallocate()
    line?.deinitialize(count: 1).deallocate()
    timeouts.deallocate()
    PlainMemory.release(offered)
  }

  /// Requests that arrived in each tenth of a second.
  var offeredPer100ms: [UInt32] { Array(UnsafeBufferPointer(start: offered, count: tenthCount)) }

  package var nextOwnTime: Instant {
    if let line { return min(server.nextOwnTime, line.pointee.nextTime) }
    guard let proxies else { return server.nextOwnTime }
    return min(server.nextOwnTime, proxies.pointee.nextTime)
  }

  @inline(__always)
  mutating func count(_ n: Int64, _ counter: Measure, at now: Instant) {
    counters.add(n, to: counter, row: rows.row(at: now.microseconds))
  }

  /// The server's own work up to and including `limit`: incidents begin and end, requests complete or are lost.
  package mutating func advance(through limit: Instant, _ sink: inout some DeliverySink & ~Copyable) {
    if line != nil { return advanceWithLine(through: limit, &sink) }
    if proxies != nil { return advanceWithProxies(through: limit, &sink) }
    advanceServer(through: limit, &sink)
  }

  @inline(__always)
  mutating func advanceServer(through limit: Instant, _ sink: inout some DeliverySink & ~Copyable) {
    while server.nextOwnTime <= limit {
      let queued = server.queued
      let tokens = costsByEvent ? server.microTokensTaken : 0
      // No further: the queue may change without a completion, and that belongs to its own row.
      let next = server.nextOwnTime
      guard let completion = server.nextCompletion(through: next) else {
        count(Int64(server.queued - queued), .serverQueue, at: min(next, end - Span(microseconds: 1)))
        continue
      }
      check(completion.at)
      count(Int64(server.queued - queued), .serverQueue, at: completion.at)
      if costsByEvent { count(server.microTokensTaken - tokens, .busyMicroseconds, at: completion.at) }
      book()
      let request = completion.request
      if proxies != nil, !request.fetchesSettings {
        endTry(completion, &sink)
        continue
      }
      if line != nil, !completion.isServed {
        rejoin(request, at: completion.at)
        continue
      }
      switch completion.outcome {
      case .answered(let decision):
        countAnswer(decision, at: completion.at)
        answer(decision, request, wasPending: true, &sink)
      case .lost:
        count(1, .unanswered, at: completion.at)
        sink.deliver(.loss, request, due: completion.at)
      case .unconfirmed(let time):
        acceptUnconfirmed(request, at: time, knownAt: completion.at, &sink)
      }
    }
    book()
  }

  /// A request arrives. The caller has advanced the server through its time of arrival.
  /// - Parameter retryCount: its `X-Retry-Count`, where the server asks for it.
  package mutating func arrive(
    _ request: UploadRequest, retryCount: Int, _ sink: inout some DeliverySink & ~Copyable
  ) {
    if !server.concerns(request) {
      answerFetch(request, &sink)
      return
    }
    // Proxies stand before the tracking endpoint alone.
    if proxies != nil, !request.fetchesSettings {
      return arriveAtProxy(request, retryCount: retryCount, &sink)
    }
    let now = request.arrival
    check(now)
    let isFirst = request.attempt == 1 || request.fetchesSettings
    count(1, isFirst ? .firstAttempts : .retries, at: now)
    offered[tenths.row(at: now.microseconds)] &+= 1
    if line != nil { return arriveInLine(request, &sink) }
    let admission = admit(request, retryCount: retryCount, at: now)
    switch admission {
    case .answered(let decision):
      countAnswer(decision, at: now)
      answer(decision, request, wasPending: false, &sink)
    case .unconfirmed(let time):
      acceptUnconfirmed(request, at: time, &sink)
    case .lost, .unconnected:
      count(1, .unanswered, at: now)
      if isGivenUp(request, at: now) { return sink.deliver(.loss, request, due: now) }
      var (due, status) = (deadline(request), UInt16(0))
      // A refusal that comes after the time-out is not heard.
      if case .unconnected(let time, let isKnown, let isRefusal) = admission, time <= due {
        (due, status) = (time, isRefusal ? Delivery.refused : isKnown ? Delivery.notSent : 0)
      }
      sink.deliver(.timeOut, request, due: due, status: status, resolves: true)
    case .pending:
      if !isGivenUp(request, at: now) { sink.deliver(.timeOut, request, due: deadline(request)) }
    }
  }

  /// The one door of the server: a request comes in, and what it takes and whether it waits is counted.
  /// - Parameter isRest: whether its events belong to a request that was served before.
  mutating func admit(
    _ request: UploadRequest, retryCount: Int = 0, isRest: Bool = false, at now: Instant
  ) -> Admission {
    let queued = server.queued
    let tokens = costsByEvent ? server.microTokensTaken : 0
    let admission =
      isRest ? server.admitRest(request, at: now) : server.arrive(request, retryCount: retryCount)
    if costsByEvent { count(server.microTokensTaken - tokens, .busyMicroseconds, at: now) }
    if case .pending = admission {
      count(Int64(server.queued - queued), .serverQueue, at: now)
      book()
    }
    return admission
  }

  /// A fetch of Settings arrives that the server has nothing to do with: no measure of the server counts it.
  @inline(never)
  private mutating func answerFetch(
    _ request: UploadRequest, _ sink: inout some DeliverySink & ~Copyable
  ) {
    guard case .answered(let decision) = server.arrive(request) else { return }
    answer(decision, request, wasPending: false, isCounted: false, &sink)
  }

  /// Whether the client has given the upload up before `time`; then it arranged that itself.
  func isGivenUp(_ request: UploadRequest, at time: Instant) -> Bool { deadline(request) < time }

  func deadline(_ request: UploadRequest) -> Instant {
    Instant(
      microseconds: request.arrival.microseconds &- Int64(request.uplink) &+ timeouts[Int(request.shard)])
  }

  /// Sends an answer on its way, if its client will still be there: otherwise only the observers hear of it.
  mutating func answer(
    _ answer: ServerAnswer, _ request: UploadRequest, wasPending: Bool, isCounted: Bool = true,
    _ sink: inout some DeliverySink & ~Copyable
  ) {
    let deadline = deadline(request)
    let isLost = request.downlink == .max
    let downlink =
      answer.delay == 0 || isLost
      ? request.downlink
      : UInt32(clamping: min(Int64(UInt32.max) - 1, Int64(request.downlink) + answer.delay))
    let due = isLost ? .never : answer.at + Span(microseconds: Int64(downlink))
    if due <= deadline {
      sink.deliver(
        Delivery(
          .answer, request.id, downlink: downlink, status: answer.status,
          retryAfter: answer.retryAfter.map {
            UInt32(clamping: min($0, TAPIServer.longestRetryAfter))
          } ?? .max), due: due, toShard: Int(request.shard))
      return
    }
    if !wasPending, request.arrival <= deadline {
      sink.deliver(.timeOut, request, due: deadline)
    }
    ignore(answer, request, isCounted: isCounted, &sink)
  }

  /// Nobody waits for an answer: only the observers hear of it.
  mutating func ignore(
    _ answer: ServerAnswer, _ request: UploadRequest, isCounted: Bool = true,
    _ sink: inout some DeliverySink & ~Copyable
  ) {
    if isCounted, request.downlink != .max {
      count(1, .unheardAnswers, at: min(answer.at, end - Span(microseconds: 1)))
    }
    sink.deliver(answer.status == 200 ? .acceptance : .loss, request, due: answer.at)
  }

  /// The server accepts an upload at `time` and its answer gets lost.
  /// - Parameter knownAt: when a request that was pending is so no longer; nil: it has just arrived.
  @inline(never)
  mutating func acceptUnconfirmed(
    _ request: UploadRequest, at time: Instant, knownAt: Instant? = nil,
    _ sink: inout some DeliverySink & ~Copyable
  ) {
    let now = knownAt ?? request.arrival
    count(1, .answers2xx, at: now)
    count(1, .lostAnswers, at: now)
    if knownAt == nil, request.arrival <= deadline(request) {
      sink.deliver(.timeOut, request, due: deadline(request))
    }
    sink.deliver(.acceptance, request, due: time)
  }

  @inline(__always)
  mutating func countAnswer(_ answer: ServerAnswer, at now: Instant) {
    count(1, Self.counter(of: answer.status), at: now)
    switch answer.cause {
    case .other: break
    case .keyLimit: count(1, .keyLimited, at: now)
    case .shed: count(1, .shed, at: now)
    }
  }

  @inline(__always)
  static func counter(of status: UInt16) -> Measure {
    switch status {
    case 200..<300: .answers2xx
    case 401: .answers401
    case 429: .answers429
    case 503: .answers503
    case 400..<500: .answers4xxOther
    default: .answers5xxOther
    }
  }

  /// Spreads booked worker time over the intervals it lies in.
  mutating func book() {
    if server.usage.isEmpty { return }
    for usage in server.usage {
      var start = usage.start.microseconds
      let stop = min(usage.end.microseconds, end.microseconds)
      while start < stop {
        let row = busyRows.row(at: start)
        let next = min(Int64(row + 1) * busyRows.interval, stop)
        counters.add(usage.sign * (next - start), to: .busyMicroseconds, row: row)
        start = next
      }
    }
    server.usage.removeAll(keepingCapacity: true)
  }

  /// As many as there ever are; none with a bucket.
  private static func mostWorkers(_ tapi: TAPIConfiguration) -> Int {
    guard case .workers(let pool) = tapi.server else { return 0 }
    let most = max(tapi.rules.autoscaling?.maximum ?? 0, 1_000_000) * tapi.largestScale / 1_000_000
    return (pool.count * Int(most) + 500_000) / 1_000_000
  }

  mutating func check(_ now: Instant) {
    if !checks || violation != nil { return }
    if now < lastTime { violation = "the server's time went back at \(now.microseconds) µs" }
    if server.busyWorkers > workers {
      violation = "more workers busy than there are at \(now.microseconds) µs"
    }
    lastTime = now
  }
}
