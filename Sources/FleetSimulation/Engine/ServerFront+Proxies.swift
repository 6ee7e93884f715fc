import FleetMetrics
import SimulationKernel
import TAPIModel

/// Proxies between the devices and the server (`Proxies`). Each try counts as the server sees it; devices hear of the last.
extension ServerFront {
  /// The work of the server and the proxies up to and including `limit`. At one instant the server's comes first.
  @inline(never)
  mutating func advanceWithProxies(through limit: Instant, _ sink: inout some DeliverySink & ~Copyable) {
    while let due = proxies?.pointee.nextTime {
      if server.nextOwnTime <= min(due, limit) {
        advanceServer(through: server.nextOwnTime, &sink)
      } else if due <= limit {
        if let task = proxies?.pointee.takeTask() { run(task, at: due, &sink) }
      } else {
        return
      }
    }
  }

  /// A client's request arrives at its proxy.
  @inline(never)
  mutating func arriveAtProxy(
    _ request: UploadRequest, retryCount: Int, _ sink: inout some DeliverySink & ~Copyable
  ) {
    let now = request.arrival
    count(1, request.attempt == 1 ? .firstAttempts : .retries, at: now)
    let deadline = deadline(request)
    guard let call = proxies?.pointee.open(request, retryCount: retryCount, until: deadline) else { return }
    if deadline >= now { sink.deliver(.timeOut, request, due: deadline) }
    send(call, at: now, &sink)
  }

  /// A try goes to the server.
  private mutating func send(_ call: Int, at now: Instant, _ sink: inout some DeliverySink & ~Copyable) {
    guard let (request, retryCount) = proxies?.pointee.send(call, at: now) else { return }
    check(now)
    offered[tenths.row(at: now.microseconds)] &+= 1
    let admission = admit(request, retryCount: retryCount, at: now)
    let isHeard = proxies?.pointee.isHeard(call) ?? false
    switch admission {
    case .answered(let answer):
      countAnswer(answer, at: now)
      if isHeard, answer.at > now {
        proxies?.pointee.keep(call, answer: answer)
      } else {
        end(call, answer, at: now, &sink)
      }
    case .unconfirmed(let time): acceptUnconfirmed(call, at: time, knownAt: now, &sink)
    case .unconnected(at: _, isKnown: _, isRefusal: true) where isHeard:
      count(1, .unanswered, at: now)
      endUnanswered(call, status: 503, at: now, &sink)
    case .lost, .unconnected:
      count(1, .unanswered, at: now)
      if isHeard { proxies?.pointee.keepSilent(call) } else { lose(call, at: now, &sink) }
    case .pending: if isHeard { proxies?.pointee.keep(call) }
    }
  }

  /// A try that was pending is so no longer.
  @inline(never)
  mutating func endTry(_ completion: Completion, _ sink: inout some DeliverySink & ~Copyable) {
    let (call, now) = (Int(completion.request.id.place), completion.at)
    switch completion.outcome {
    case .answered(let answer):
      countAnswer(answer, at: now)
      end(call, answer, at: now, &sink)
    case .lost:
      count(1, .unanswered, at: now)
      if proxies?.pointee.isHeard(call) ?? false {
        endUnanswered(call, status: 503, at: now, &sink)
      } else {
        lose(call, at: now, &sink)
      }
    case .unconfirmed(let time): acceptUnconfirmed(call, at: time, knownAt: now, &sink)
    }
  }

  private mutating func run(
    _ task: ProxyTier.Task, at now: Instant, _ sink: inout some DeliverySink & ~Copyable
  ) {
    switch task {
    case .send(let call):
      count(1, .proxyRetries, at: now)
      send(call, at: now, &sink)
    case .end(let call, let answer): end(call, answer, at: now, &sink)
    case .giveUp(let number):
      guard let givenUp = proxies?.pointee.giveUp(number, at: now) else { return }
      if givenUp.isAnswered {
        sink.deliver(.acceptance, givenUp.request, due: now, status: Delivery.opening)
      }
      if let answer = givenUp.answer { ignore(answer, givenUp.request, &sink) }
      endUnanswered(givenUp.call, status: 504, at: now, &sink)
    case .drop(let request): sink.deliver(.loss, request, due: now)
    case .ignore(let request, let answer): ignore(answer, request, &sink)
    }
  }

  /// The server answers a try.
  private mutating func end(
    _ call: Int, _ answer: ServerAnswer, at now: Instant, _ sink: inout some DeliverySink & ~Copyable
  ) {
    let isHeard = proxies?.pointee.isHeard(call) ?? false
    if isHeard, proxies?.pointee.tryAgain(call, status: answer.status, at: now) ?? false { return }
    guard let request = proxies?.pointee.close(call, at: now) else { return }
    if isHeard {
      self.answer(answer, request, wasPending: true, &sink)
    } else {
      ignore(answer, request, &sink)
    }
  }

  /// The server has lost a try, or takes too long for it. Unless it is tried again, the proxy answers by itself.
  private mutating func endUnanswered(
    _ call: Int, status: UInt16, at now: Instant, _ sink: inout some DeliverySink & ~Copyable
  ) {
    if proxies?.pointee.tryAgain(call, status: nil, at: now) ?? false { return }
    guard let request = proxies?.pointee.close(call, isOwn: true, at: now) else { return }
    answer(ServerAnswer(status: status, retryAfter: nil, at: now), request, wasPending: true, &sink)
  }

  /// A try is lost for which nobody waits.
  private mutating func lose(_ call: Int, at now: Instant, _ sink: inout some DeliverySink & ~Copyable) {
    guard let request = proxies?.pointee.close(call, at: now) else { return }
    sink.deliver(.loss, request, due: now)
  }

  /// The server accepts a try at `time`, and an incident loses the answer, behind the proxy.
  private mutating func acceptUnconfirmed(
    _ call: Int, at time: Instant, knownAt now: Instant, _ sink: inout some DeliverySink & ~Copyable
  ) {
    guard let request = proxies?.pointee.close(call, at: now) else { return }
    acceptUnconfirmed(request, at: time, knownAt: now, &sink)
  }
}
