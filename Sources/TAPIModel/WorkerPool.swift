import SimulationKernel

/// W workers in front of a queue.
struct WorkerPool {
  private(set) var workers: Int
  private let queueLimit: Int
  private let serviceTime: Sampler
  private let perEvent: Int64
  private let key: RandomKey
  private let queueTimeout: Span?
  /// How much longer work takes for each request that waits as it starts.
  private let slowdownPerQueued: Double
  private let meanService: Double
  /// Parts per million of the nominal speed, for work that starts from now on.
  var speed: Int64 = 1_000_000

  private struct Running {
    var end: Instant
    var start: Instant
    /// Starts are numbered: the tie between two completions of one instant.
    var number: UInt64
    var request: UploadRequest
  }
  private var running: [Running] = []  // a binary heap by (end, number)
  private var started: UInt64 = 0
  private var line: WaitingLine
  private var delayControl: DelayControl?

  init(_ configuration: WorkersConfiguration, key: RandomKey) {
    workers = configuration.count
    queueLimit = configuration.queueLimit ?? .max
    serviceTime = Sampler(configuration.serviceTime)
    perEvent = configuration.serviceTimePerEvent.microseconds
    self.key = key
    queueTimeout = configuration.queueTimeout
    slowdownPerQueued =
      configuration.congestion.map { Double($0.slowdown) / 1e6 / Double(max($0.queue, 1)) } ?? 0
    meanService = configuration.serviceTime.mean
    line = WaitingLine(configuration.order)
    delayControl = configuration.delayControl.map(DelayControl.init)
    running.reserveCapacity(min(workers, 1 << 16))
  }

  var queued: Int { line.count }
  var busy: Int { running.count }
  var nextCompletion: Instant { running.first?.end ?? .never }

  /// Starts or queues a request; false if it is refused. `onShed` gets one that has to leave the queue for it.
  mutating func admit(
    _ request: UploadRequest, retryCount: Int, now: Instant, onStart: (Instant, Instant) -> Void,
    onShed: (UploadRequest) -> Void
  ) -> Bool {
    if running.count < workers {
      delayControl?.noteFreeWorker()
      start(request, now: now, onStart: onStart)
      return true
    }
    if queued >= queueLimit {
      if queued == 0 || line.isLast(retryCount: retryCount) { return false }
      onShed(line.takeLast())
    }
    line.append(request, retryCount: retryCount)
    return true
  }

  /// Ends the work that is due next and starts the next one that waits. `onShed` gets those whose turn it was and who are not served.
  mutating func complete(
    onStart: (Instant, Instant) -> Void, onShed: (UploadRequest) -> Void
  ) -> UploadRequest {
    let done = popFirst()
    startWaiting(now: done.end, onStart: onStart, onShed: onShed)
    return done.request
  }

  private mutating func startWaiting(
    now: Instant, onStart: (Instant, Instant) -> Void, onShed: (UploadRequest) -> Void
  ) {
    while running.count < workers, let next = takeNext(now: now, onShed: onShed) {
      start(next, now: now, onStart: onStart)
    }
  }

  private mutating func takeNext(now: Instant, onShed: (UploadRequest) -> Void) -> UploadRequest? {
    if queued == 0 && delayControl == nil { return nil }
    let queueTimeout = queueTimeout
    func takeInTime(_ line: inout WaitingLine) -> UploadRequest? {
      while let next = line.takeFirst() {
        guard let queueTimeout, now - next.arrival > queueTimeout else { return next }
        onShed(next)
      }
      return nil
    }
    if delayControl == nil { return takeInTime(&line) }
    return delayControl?.next(from: &line, at: now, take: takeInTime, drop: onShed)
  }

  /// More workers start on what waits; fewer end what they have begun.
  mutating func setWorkers(
    _ count: Int, now: Instant, onStart: (Instant, Instant) -> Void, onShed: (UploadRequest) -> Void
  ) {
    workers = count
    startWaiting(now: now, onStart: onStart, onShed: onShed)
  }

  /// Requests of this size that all workers together serve in a microsecond, without congestion.
  func capacity(events: UInt16) -> Double {
    let time = meanService + Double(perEvent) * Double(events)
    return Double(workers) * Double(speed) / 1e6 / max(time, 1)
  }

  /// Loses everything, running work first, then the queue in order. `onLoss` gets each request and, if it ran, when it would have ended.
  mutating func loseAll(onLoss: (UploadRequest, Instant?) -> Void) {
    for work in running.sorted(by: { $0.number < $1.number }) { onLoss(work.request, work.end) }
    running.removeAll(keepingCapacity: true)
    while let waiting = line.takeFirst() { onLoss(waiting, nil) }
  }

  private mutating func start(_ request: UploadRequest, now: Instant, onStart: (Instant, Instant) -> Void) {
    let draw = serviceTime.sample(request.key(key).child(RandomPurpose.service.rawValue)).microseconds
    var time = draw + perEvent * Int64(request.events)
    if speed != 1_000_000 || slowdownPerQueued > 0 {
      // Slower work takes longer; beyond a thousand days it is as good as never.
      var scaled = Double(time) * 1_000_000 / Double(max(speed, 1))
      if slowdownPerQueued > 0 { scaled *= 1 + slowdownPerQueued * Double(queued) }
      time = scaled < 8.64e13 ? Int64(scaled) : 86_400_000_000_000
    }
    let end = now + Span(microseconds: time)
    started += 1
    running.append(Running(end: end, start: now, number: started, request: request))
    var i = running.count - 1
    while i > 0 {
      let parent = (i - 1) / 2
      if !isBefore(running[i], running[parent]) { break }
      running.swapAt(i, parent)
      i = parent
    }
    onStart(now, end)
  }

  private func isBefore(_ a: Running, _ b: Running) -> Bool {
    a.end != b.end ? a.end < b.end : a.number < b.number
  }

  private mutating func popFirst() -> Running {
    let top = running[0]
    let last = running.removeLast()
    if running.isEmpty { return top }
    running[0] = last
    var i = 0
    while true {
      var child = 2 * i + 1
      if child >= running.count { break }
      if child + 1 < running.count, isBefore(running[child + 1], running[child]) { child += 1 }
      if !isBefore(running[child], running[i]) { break }
      running.swapAt(child, i)
      i = child
    }
    return top
  }
}
