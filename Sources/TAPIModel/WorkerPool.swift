import SimulationKernel

/// W workers in front of a queue.
struct WorkerPool {
  /// Bookings of workers' time since the caller last took them.
  var usage: [TAPIServer.Usage] = []
  /// Requests that have left the queue without being served, until the caller answers them.
  var shed: [UploadRequest] = []
  private(set) var workers: Int
  private let queueLimit: Int
  private let configuration: WorkersConfiguration
  private let serviceTime: Sampler
  let perEvent: Int64
  private let key: RandomKey
  private let queueTimeout: Span?
  /// How much longer work takes for each request that waits as it starts.
  private let slowdownPerQueued: Double
  /// Parts per million of the nominal speed, for work that starts from now on.
  var speed: Int64 = 1_000_000

  /// By the end of their work.
  private var running = EventHeap<UploadRequest>()
  /// Workers whose own work is done and who wait for the dependency.
  private var held = 0
  private var line: WaitingLine
  private var delayControl: DelayControl?
  private var limiter: ConcurrencyLimiter?

  init(_ configuration: WorkersConfiguration, key: RandomKey) {
    self.configuration = configuration
    workers = configuration.count
    queueLimit = configuration.queueLimit ?? .max
    serviceTime = Sampler(configuration.serviceTime)
    perEvent = configuration.serviceTimePerEvent.microseconds
    self.key = key
    queueTimeout = configuration.queueTimeout
    slowdownPerQueued =
      configuration.congestion.map { Double($0.slowdown) / 1e6 / Double(max($0.queue, 1)) } ?? 0
    line = WaitingLine(configuration.order)
    delayControl = configuration.delayControl.map(DelayControl.init)
    limiter = configuration.concurrencyLimit.map { ConcurrencyLimiter($0, at: .start) }
    running.reserveCapacity(min(workers, 1 << 16))
  }

  /// Adds all that decides on what it does from now on.
  ///
  /// - Parameter request: returns the digest of a request.
  /// - Returns: false for a pool with memory that nobody looks at here: a limiter, or control of the delay.
  func addState(to digest: inout StateDigest, _ request: (UploadRequest) -> StateDigest) -> Bool {
    guard delayControl == nil, limiter == nil else { return false }
    digest.add(workers)
    digest.add(held)
    digest.add(speed)
    // Requests that end at one instant do so in the order of their starts.
    for work in running.inOrder.sorted(by: { $0.time < $1.time }) {
      digest.add(work.time.microseconds)
      digest.add(request(work.payload))
    }
    for waiting in line.inOrder {
      digest.add(waiting.lane)
      digest.add(request(waiting.request))
    }
    return true
  }

  var queued: Int { line.count }
  var busy: Int { running.count + held }
  var nextCompletion: Instant { running.nextTime }

  /// Starts or queues a request, for which another may have to leave the queue; false if it is refused.
  mutating func admit(_ request: UploadRequest, retryCount: Int, now: Instant) -> Bool {
    if let limiter, busy + queued >= limiter.limit { return false }
    if busy < workers {
      delayControl?.noteFreeWorker()
      start(request, now: now)
      return true
    }
    if queued >= queueLimit {
      if queued == 0 || line.isLast(retryCount: retryCount) { return false }
      shed.append(line.takeLast())
    }
    line.append(request, retryCount: retryCount)
    return true
  }

  /// Ends the work that is due next. Its worker is kept until `release`.
  mutating func takeDone() -> UploadRequest {
    held += 1
    return running.takeFirst().payload
  }

  /// A worker has done with a request and takes the next one that waits, but for those whose turn it was and who are not served.
  mutating func release(_ request: UploadRequest, now: Instant) {
    let present = busy + queued
    limiter?.note(now - request.arrival, present: present, at: now)
    held -= 1
    startWaiting(now: now)
  }

  private mutating func startWaiting(now: Instant) {
    while busy < workers, let next = takeNext(now: now) { start(next, now: now) }
  }

  private mutating func takeNext(now: Instant) -> UploadRequest? {
    if queued == 0 && delayControl == nil { return nil }
    let queueTimeout = queueTimeout
    var shed: [UploadRequest] = []
    defer { if !shed.isEmpty { self.shed += shed } }
    func takeInTime(_ line: inout WaitingLine) -> UploadRequest? {
      while let next = line.takeFirst() {
        guard let queueTimeout, now - next.arrival > queueTimeout else { return next }
        shed.append(next)
      }
      return nil
    }
    if delayControl == nil { return takeInTime(&line) }
    return delayControl?.next(from: &line, at: now, take: takeInTime, drop: { shed.append($0) })
  }

  /// More workers start on what waits; fewer end what they have begun.
  mutating func setWorkers(_ count: Int, now: Instant) {
    workers = count
    startWaiting(now: now)
  }

  /// Requests of this size that all workers together serve in a microsecond, without congestion.
  func capacity(events: UInt16) -> Double {
    let time = max(configuration.meanTime(events: Double(events)), 1)
    return min(Double(workers) * Double(speed) / 1e6 / time, configuration.dependencyCapacity)
  }

  /// Loses everything but what the dependency has, running work first, then the queue in order.
  mutating func loseAll(at now: Instant, onLoss: (UploadRequest) -> Void) {
    for work in running.inOrder {
      onLoss(work.payload)
      usage.append(TAPIServer.Usage(start: now, end: work.time, sign: -1))
    }
    running.removeAll()
    held = 0
    limiter = configuration.concurrencyLimit.map { ConcurrencyLimiter($0, at: now) }
    while let waiting = line.takeFirst() { onLoss(waiting) }
  }

  /// - Parameter isRest: whether its events alone take time.
  mutating func start(_ request: UploadRequest, now: Instant, isRest: Bool = false) {
    let draw = serviceTime.sample(request.key(key).child(RandomPurpose.service.rawValue)).microseconds
    var time = (isRest ? 0 : draw) + perEvent * Int64(request.events)
    if speed != 1_000_000 || slowdownPerQueued > 0 {
      // Slower work takes longer; beyond a thousand days it is as good as never.
      var scaled = Double(time) * 1_000_000 / Double(max(speed, 1))
      if slowdownPerQueued > 0 { scaled *= 1 + slowdownPerQueued * Double(queued) }
      time = scaled < 8.64e13 ? Int64(scaled) : 86_400_000_000_000
    }
    let end = now + Span(microseconds: time)
    running.add(request, at: end)
    usage.append(TAPIServer.Usage(start: now, end: end, sign: 1))
  }
}
