import SimulationKernel

/// The modeled tracking endpoint: requests in, answers out, in the one global order.
///
/// At one instant an incident comes before a completion, and a completion before an arrival: callers first drain
/// `nextCompletion(through:)` and then call `arrive`. Both servers count what they do into `usage`.
public struct TAPIServer: ~Copyable {
  /// The time a request kept capacity busy, for utilisation; the caller adds it up by interval.
  public struct Usage: Sendable {
    public var start: Instant
    public var end: Instant
    /// −1 for time that was booked and then lost in an outage.
    public var sign: Int64
  }

  private let overload: Overload
  private let key: RandomKey
  private let timeline: IncidentTimeline
  private var nextCondition = 1
  /// The outage that is on.
  private var outage: OutageAnswer?
  private var bucket: TokenBucket
  private let isBucket: Bool
  private let bucketServiceTime: Sampler
  private let bucketRate: Int64
  private var pool: WorkerPool
  private var losses: [Completion] = []
  private var nextLoss = 0
  /// Bookings since the caller last took them; only workers book time.
  public var usage: [Usage] = []
  /// When the server itself has something to do next: an incident's boundary or a completion.
  public private(set) var nextOwnTime = Instant.never

  /// An answer that leaves at once and does not depend on who asked.
  @frozen
  public struct PlainAnswer: Sendable, Hashable, BitwiseCopyable {
    public var status: UInt16
    /// Microseconds, at most 4,294 s; `UInt32.max`: no header.
    public var retryAfter: UInt32
    @inlinable public init(status: UInt16, retryAfter: UInt32 = .max) {
      self.status = status
      self.retryAfter = retryAfter
    }
  }

  /// Whether `plainAnswers` may stand in for `arrive` until `nextOwnTime`: a bucket without service time whose refusals and
  /// outage are the same for everybody.
  public private(set) var answersPlainly = false
  private var isDown = false
  private var downAnswer = PlainAnswer(status: 0)
  private var refusalAnswer = PlainAnswer(status: 0)

  /// The server's part that answers plainly, taken out to be asked in a tight loop and given back by `resume`.
  @frozen
  public struct PlainAnswers: BitwiseCopyable {
    @usableFromInline var bucket: TokenBucket
    @usableFromInline let isDown: Bool
    @usableFromInline let down: PlainAnswer
    @usableFromInline let refusal: PlainAnswer

    /// Decides on a request that arrives now without looking at it.
    @inlinable @inline(__always)
    public mutating func answer(at now: Instant) -> PlainAnswer {
      if isDown { return down }
      return bucket.take(at: now) ? PlainAnswer(status: 200) : refusal
    }

    /// Of every answer that is not 200.
    public var refusedStatus: UInt16 { isDown ? down.status : refusal.status }

    @usableFromInline init(bucket: TokenBucket, isDown: Bool, down: PlainAnswer, refusal: PlainAnswer) {
      self.bucket = bucket
      self.isDown = isDown
      self.down = down
      self.refusal = refusal
    }
  }

  /// With `answersPlainly` only: whether so many requests from `now` on get the same answer in any order, if nothing happens to the
  /// server meanwhile.
  public func answersAlike(_ requests: Int, at now: Instant) -> Bool {
    isDown || bucket.holds(requests, at: now)
  }

  /// With `answersPlainly` only; until `resume` the server must not be asked anything else.
  public func plainAnswers() -> PlainAnswers {
    PlainAnswers(bucket: bucket, isDown: isDown, down: downAnswer, refusal: refusalAnswer)
  }

  public mutating func resume(_ answers: PlainAnswers) { bucket = answers.bucket }

  private mutating func notePlainAnswers() {
    func plain(_ status: Int, _ policy: RetryAfterPolicy) -> PlainAnswer? {
      switch policy {
      case .none: PlainAnswer(status: UInt16(truncatingIfNeeded: status))
      case .fixed(let span):
        PlainAnswer(
          status: UInt16(truncatingIfNeeded: status),
          retryAfter: UInt32(clamping: min(span.microseconds, Self.longestRetryAfter)))
      case .spread: nil
      }
    }
    answersPlainly = false
    guard isBucket, bucketServiceTime == Sampler(.constant(.zero)),
      let refused = plain(overload.status, overload.retryAfter)
    else { return }
    refusalAnswer = refused
    isDown = false
    if let outage {
      guard let status = outage.status, let answer = plain(status, outage.retryAfter) else { return }
      isDown = true
      downAnswer = answer
    }
    answersPlainly = true
  }

  /// Microseconds; a longer Retry-After counts as this one.
  public static var longestRetryAfter: Int64 { 4_294_000_000 }

  private struct OutageAnswer {
    /// nil: silence.
    var status: Int?
    var retryAfter: RetryAfterPolicy
  }

  /// - Parameter key: the run's key; draws are (device, batch, attempt) below it.
  public init(_ configuration: TAPIConfiguration, key: RandomKey) {
    overload = configuration.overload
    self.key = key
    timeline = IncidentTimeline(configuration.incidents)
    switch configuration.server {
    case .bucket(let settings):
      isBucket = true
      bucket = TokenBucket(settings)
      bucketServiceTime = Sampler(settings.serviceTime)
      bucketRate = settings.capacityMilliRequestsPerSecond
      pool = WorkerPool(WorkersConfiguration(count: 0, serviceTime: .constant(.zero)), key: key)
    case .workers(let settings):
      isBucket = false
      bucket = TokenBucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 0, burst: 0))
      bucketServiceTime = Sampler(.constant(.zero))
      bucketRate = 0
      pool = WorkerPool(settings, key: key)
    }
    apply(timeline.conditions[0])
    noteNextOwnTime()
  }

  /// Requests waiting for a worker.
  public var queued: Int { pool.queued }
  /// Workers at work; 0 for a bucket.
  public var busyWorkers: Int { pool.busy }

  private var nextBoundary: Instant {
    nextCondition < timeline.conditions.count ? timeline.conditions[nextCondition].start : .never
  }

  private mutating func noteNextOwnTime() {
    nextOwnTime = nextLoss < losses.count ? losses[nextLoss].at : min(nextBoundary, pool.nextCompletion)
  }

  /// The next request that stops being pending at or before `limit`; nil when there is none. Passes incident boundaries on the way.
  public mutating func nextCompletion(through limit: Instant) -> Completion? {
    defer { noteNextOwnTime() }
    while true {
      if nextLoss < losses.count {
        nextLoss += 1
        return losses[nextLoss - 1]
      }
      let (boundary, completion) = (nextBoundary, pool.nextCompletion)
      if min(boundary, completion) > limit { return nil }
      if boundary <= completion {
        apply(timeline.conditions[nextCondition])
        nextCondition += 1
        continue
      }
      var booked: Usage?
      let request = pool.complete { booked = Usage(start: $0, end: $1, sign: 1) }
      if let booked { usage.append(booked) }
      return Completion(request: request, at: completion, isServed: true)
    }
  }

  private mutating func apply(_ condition: IncidentTimeline.Condition) {
    outage = nil
    if let incident = condition.outage, case .outage(let status, let retryAfter, _) = incident.kind {
      outage = OutageAnswer(status: status, retryAfter: retryAfter)
    }
    bucket.setRate(scaled(bucketRate, by: condition.factor), at: condition.start)
    notePlainAnswers()
    pool.speed = condition.factor
    losses.removeAll(keepingCapacity: true)
    nextLoss = 0
    if condition.losesWork {
      var lost: [Completion] = []
      var unbooked: [Usage] = []
      pool.loseAll { request, end in
        lost.append(Completion(request: request, at: condition.start, isServed: false))
        if let end { unbooked.append(Usage(start: condition.start, end: end, sign: -1)) }
      }
      losses = lost
      usage += unbooked
    }
  }

  private func scaled(_ rate: Int64, by factor: Int64) -> Int64 {
    rate / 1_000_000 * factor + rate % 1_000_000 * factor / 1_000_000
  }

  /// Decides on a request that arrives now. Everything due before must have been drained.
  public mutating func arrive(_ request: UploadRequest) -> Admission {
    let now = request.arrival
    if outage != nil { return answerInOutage(request) }
    if isBucket {
      guard bucket.take(at: now) else {
        return .answered(refusal(overload.status, overload.retryAfter, request, now))
      }
      let service = bucketServiceTime.sample(request.key(key).child(RandomPurpose.service))
      return .answered(ServerAnswer(status: 200, retryAfter: nil, at: now + service))
    }
    var booked: Usage?
    if pool.admit(request, now: now, onStart: { booked = Usage(start: $0, end: $1, sign: 1) }) {
      if let booked { usage.append(booked) }
      noteNextOwnTime()
      return .pending
    }
    return .answered(refusal(overload.status, overload.retryAfter, request, now))
  }

  @inline(never)
  private func answerInOutage(_ request: UploadRequest) -> Admission {
    guard let outage, let status = outage.status else { return .lost }
    return .answered(refusal(status, outage.retryAfter, request, request.arrival))
  }

  private func refusal(
    _ status: Int, _ policy: RetryAfterPolicy, _ request: UploadRequest, _ now: Instant
  ) -> ServerAnswer {
    let retryAfter: Int64? =
      switch policy {
      case .none: nil
      case .fixed(let span): span.microseconds
      case .spread(let low, let high):
        // The header carries whole seconds.
        request.key(key).child(RandomPurpose.retryAfter.rawValue)
          .uniform(low.microseconds / 1_000_000, through: high.microseconds / 1_000_000) * 1_000_000
      }
    return ServerAnswer(status: UInt16(truncatingIfNeeded: status), retryAfter: retryAfter, at: now)
  }
}

extension TAPIConfiguration {
  /// Nominal capacity in thousandths of a request per second; for workers W over the mean service time of a batch of `meanEvents` events.
  public func nominalCapacityMilli(meanEvents: Double) -> Int64 {
    switch server {
    case .bucket(let bucket): return bucket.capacityMilliRequestsPerSecond
    case .workers(let workers):
      let mean = workers.serviceTime.mean + Double(workers.serviceTimePerEvent.microseconds) * meanEvents
      let capacity = Double(workers.count) * 1e9 / max(mean, 1e-3)
      return capacity < 1e15 ? Int64(capacity.rounded()) : 1_000_000_000_000_000
    }
  }
}
