import FleetMetrics
import SimulationKernel

/// The requests at the proxies, and when a proxy has something to do.
///
/// The server gets each try as a request whose `place` is the number of the call, and whose draws are the try's own. Whoever drives
/// both hands its end back under that number.
package struct ProxyTier {
  private enum State: UInt8 {
    case free
    /// For its next try.
    case waiting
    /// Its try is at the server.
    case trying
    /// Its try will never be answered.
    case silent
    /// Its try is at the server, and nobody waits for it: it was given up, or its client has gone.
    case unheard
  }

  private struct Call {
    var request: UploadRequest
    var deadline: Instant
    /// When the proxy gives the try up, or sends the next.
    var due = Instant.never
    /// The end of the try, where it is known ahead.
    var answer: ServerAnswer?
    var proxy: UInt32
    /// Tells the latest timer from those before.
    var stamp: UInt32
    var retryCount: UInt16
    /// Sent or waited for.
    var retries: UInt16 = 0
    /// Whether it counts as a retry.
    var isRetry = false
    var state = State.waiting
  }

  private struct Timer {
    var call: UInt32
    var stamp: UInt32
  }

  private struct Proxy {
    /// Tries at the server.
    var active = 0
    var retries = 0
  }

  /// What a proxy has to do.
  package enum Task {
    /// The wait of a call is over.
    case send(call: Int)
    /// A try ends as was known ahead.
    case end(call: Int, ServerAnswer)
    /// A try has taken too long.
    case giveUp(call: Int)
    /// A client has given up, and its request ends with that: nothing of it is at the server.
    case drop(UploadRequest)
    /// A client has given up, and the server has answered by then or will answer at a known time.
    case ignore(UploadRequest, ServerAnswer)
  }

  private let settings: Proxies
  private let key: RandomKey
  private let interval: Int64
  private var proxies: [Proxy]
  private var calls: [Call] = []
  private var free: [UInt32] = []
  private var timers = EventHeap<Timer>()
  package private(set) var counts = SideSeries<ProxyCount>()

  /// The memory of a request at a proxy. An array that grows is copied.
  package static let bytesPerCall =
    2 * MemoryLayout<Call>.stride + 4 * MemoryLayout<EventHeap<Timer>.Entry>.stride

  /// - Parameters:
  ///   - key: the run's.
  ///   - interval: of a row of `counts`.
  package init(_ settings: Proxies, key: RandomKey, interval: Span) {
    self.settings = settings
    self.key = key
    self.interval = interval.microseconds
    proxies = Array(repeating: Proxy(), count: settings.count)
  }

  /// When a proxy may have something to do next.
  package var nextTime: Instant { timers.nextTime }

  private mutating func count(_ count: ProxyCount, by n: Int64 = 1, at time: Instant) {
    counts[Int(time.microseconds / interval), count] += n
  }

  // MARK: A request

  /// A request comes; its client gives up at `deadline`, or has done so. Returns the number of its call, which goes to the server
  /// at once.
  package mutating func open(_ request: UploadRequest, retryCount: Int, until deadline: Instant) -> Int {
    let now = request.arrival
    let device = key.child(UInt64(request.device)).child(RandomPurpose.proxy)
    let call = Call(
      request: request, deadline: deadline,
      proxy: UInt32(device.uniform(below: UInt64(settings.count))), stamp: 0,
      retryCount: UInt16(truncatingIfNeeded: retryCount))
    count(.requests, at: now)
    let number = place(call)
    if deadline < now {
      calls[number].state = .unheard
    } else {
      count(.activeRequests, at: now)
    }
    return number
  }

  private mutating func place(_ call: Call) -> Int {
    if let number = free.popLast() {
      let stamp = calls[Int(number)].stamp &+ 1
      calls[Int(number)] = call
      calls[Int(number)].stamp = stamp
      return Int(number)
    }
    calls.append(call)
    return calls.count - 1
  }

  /// The next try of a call leaves: the server's request, and its `X-Retry-Count`, which is the client's.
  package mutating func send(_ number: Int, at now: Instant) -> (request: UploadRequest, retryCount: Int) {
    let call = calls[number]
    var request = call.request
    request.id.place = UInt32(number)
    request.arrival = now
    if call.retries > 0 {
      // Its draws are its own: the service it needs, and whether an incident hits it.
      let bits = UInt32(truncatingIfNeeded: draws(call).child(1).bits)
      request.firstOrdinal = min(bits, UploadRequest.settingsFetch - 1)
      count(.retries, at: now)
    }
    if call.state == .waiting {
      calls[number].state = .trying
      calls[number].due = settings.tryTimeout.map { now + $0 } ?? .never
      proxies[Int(call.proxy)].active += 1
    }
    return (request, Int(call.retryCount))
  }

  /// The draws of a call's latest retry.
  private func draws(_ call: Call) -> RandomKey {
    call.request.key(key).child(RandomPurpose.proxy).child(UInt64(call.retries))
  }

  /// Whether somebody waits for the end of a call's try.
  package func isHeard(_ number: Int) -> Bool { calls[number].state != .unheard }

  /// The try of a call that somebody waits for is not over at once.
  /// - Parameter answer: the one that it gets, if that is known.
  package mutating func keep(_ number: Int, answer: ServerAnswer? = nil) {
    calls[number].answer = answer
    arm(number)
  }

  /// The try of a call that somebody waits for never gets an answer.
  package mutating func keepSilent(_ number: Int) {
    calls[number].state = .silent
    arm(number)
  }

  // MARK: Its end

  /// The try of a call has failed or not, and somebody waits for it. Returns whether it is tried again.
  /// - Parameter status: of its answer; nil: it has none.
  package mutating func tryAgain(_ number: Int, status: UInt16?, at now: Instant) -> Bool {
    endRetry(number, at: now)
    let call = calls[number]
    let isFailure = status.map { settings.statuses.contains(Int($0)) } ?? settings.retriesUnanswered
    guard isFailure else { return false }
    guard Int(call.retries) < settings.retries else {
      if settings.retries > 0 { count(.exhausted, at: now) }
      return false
    }
    let proxy = proxies[Int(call.proxy)]
    if let budget = settings.budget, proxy.retries >= budget.limit(active: proxy.active) {
      count(.refused, at: now)
      return false
    }
    calls[number].retries += 1
    calls[number].isRetry = true
    calls[number].answer = nil
    proxies[Int(call.proxy)].retries += 1
    count(.activeRetries, at: now)
    leaveServer(number)
    calls[number].state = .waiting
    calls[number].due = now + backoff(calls[number])
    arm(number)
    return true
  }

  private func backoff(_ call: Call) -> Span {
    var longest = settings.backoff.base.microseconds
    for _ in 1..<max(Int(call.retries), 1) where longest < settings.backoff.maximum.microseconds {
      longest *= 2
    }
    longest = min(longest, settings.backoff.maximum.microseconds)
    return Span(microseconds: draws(call).child(0).uniform(0, through: longest - 1))
  }

  private mutating func endRetry(_ number: Int, at now: Instant) {
    guard calls[number].isRetry else { return }
    calls[number].isRetry = false
    proxies[Int(calls[number].proxy)].retries -= 1
    count(.activeRetries, by: -1, at: now)
  }

  private mutating func leaveServer(_ number: Int) {
    switch calls[number].state {
    case .trying, .silent: proxies[Int(calls[number].proxy)].active -= 1
    case .free, .waiting, .unheard: break
    }
  }

  /// A call is over. Returns its client's request.
  /// - Parameter isOwn: whether the proxy answers by itself.
  package mutating func close(_ number: Int, isOwn: Bool = false, at now: Instant) -> UploadRequest {
    if calls[number].state != .unheard {
      endRetry(number, at: now)
      leaveServer(number)
      count(.activeRequests, by: -1, at: now)
      if isOwn { count(.answers, at: now) }
    }
    calls[number].state = .free
    calls[number].answer = nil
    free.append(UInt32(number))
    return calls[number].request
  }

  /// The fate of a try that its proxy waits for no more.
  package struct GivenUp {
    /// The number under which the call goes on. The try keeps the one that the server has.
    package var call: Int
    /// The client's.
    package var request: UploadRequest
    /// The try's, where it is known.
    package var answer: ServerAnswer?
    /// Whether the server answers it at all.
    package var isAnswered: Bool
  }

  /// The proxy waits no more for the try of a call.
  package mutating func giveUp(_ number: Int, at now: Instant) -> GivenUp {
    count(.timeouts, at: now)
    let call = calls[number]
    var givenUp = GivenUp(
      call: number, request: call.request, answer: call.answer, isAnswered: call.state == .trying)
    if call.state == .trying, call.answer == nil {
      calls[number].state = .unheard
      givenUp.call = place(call)
    }
    calls[givenUp.call].answer = nil
    return givenUp
  }

  // MARK: Timers

  private mutating func arm(_ number: Int) {
    let call = calls[number]
    let time = min(call.answer?.at ?? .never, min(call.deadline, call.due))
    calls[number].stamp &+= 1
    timers.add(Timer(call: UInt32(number), stamp: calls[number].stamp), at: time)
  }

  /// Returns what is due at `nextTime`; nil: nothing after all. At one instant an answer comes before a client's giving up, and that
  /// before the proxy's.
  package mutating func takeTask() -> Task? {
    let entry = timers.takeFirst()
    let (number, now) = (Int(entry.payload.call), entry.time)
    let call = calls[number]
    guard call.stamp == entry.payload.stamp else { return nil }
    switch call.state {
    case .free, .unheard: return nil
    case .waiting, .trying, .silent: break
    }
    if let answer = call.answer, answer.at <= now { return .end(call: number, answer) }
    guard call.deadline <= now else {
      return call.state == .waiting ? .send(call: number) : .giveUp(call: number)
    }
    if call.state != .trying { return .drop(close(number, at: now)) }
    if let answer = call.answer { return .ignore(close(number, at: now), answer) }
    endRetry(number, at: now)
    leaveServer(number)
    count(.activeRequests, by: -1, at: now)
    calls[number].state = .unheard
    return nil
  }
}
