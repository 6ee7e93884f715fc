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
  private var outage: Incident?
  private var bucket: TokenBucket?
  private var bucketServiceTime: Sampler
  private var bucketRate: Int64 = 0
  private var pool: WorkerPool?
  private var losses: [Completion] = []
  private var nextLoss = 0
  /// Bookings since the caller last took them; only workers book time.
  public var usage: [Usage] = []

  /// - Parameter key: the run's key; draws are (device, batch, attempt) below it.
  public init(_ configuration: TAPIConfiguration, key: RandomKey) {
    overload = configuration.overload
    self.key = key
    timeline = IncidentTimeline(configuration.incidents)
    bucketServiceTime = Sampler(.constant(.zero))
    switch configuration.server {
    case .bucket(let bucketConfiguration):
      bucket = TokenBucket(bucketConfiguration)
      bucketServiceTime = Sampler(bucketConfiguration.serviceTime)
      bucketRate = bucketConfiguration.capacityMilliRequestsPerSecond
    case .workers(let workers):
      pool = WorkerPool(workers, key: key)
    }
    apply(timeline.conditions[0])
  }

  /// Requests waiting for a worker.
  public var queued: Int { pool?.queued ?? 0 }
  /// Workers at work; 0 for a bucket.
  public var busyWorkers: Int { pool?.busy ?? 0 }

  /// When the server itself has something to do next: an incident's boundary or a completion.
  public var nextOwnTime: Instant {
    if nextLoss < losses.count { return losses[nextLoss].at }
    let boundary =
      nextCondition < timeline.conditions.count ? timeline.conditions[nextCondition].start : Instant.never
    return min(boundary, pool?.nextCompletion ?? .never)
  }

  /// The next request that stops being pending at or before `limit`; nil when there is none. Passes incident boundaries on the way.
  public mutating func nextCompletion(through limit: Instant) -> Completion? {
    while true {
      if nextLoss < losses.count {
        nextLoss += 1
        return losses[nextLoss - 1]
      }
      let boundary =
        nextCondition < timeline.conditions.count ? timeline.conditions[nextCondition].start : Instant.never
      let completion = pool?.nextCompletion ?? .never
      if min(boundary, completion) > limit { return nil }
      if boundary <= completion {
        apply(timeline.conditions[nextCondition])
        nextCondition += 1
        continue
      }
      var booked: [Usage] = []
      let request = pool!.complete { booked.append(Usage(start: $0, end: $1, sign: 1)) }
      usage += booked
      return Completion(request: request, at: completion, isServed: true)
    }
  }

  private mutating func apply(_ condition: IncidentTimeline.Condition) {
    outage = condition.outage
    let rate = scaled(bucketRate, by: condition.factor)
    bucket?.setRate(rate, at: condition.start)
    pool?.speed = condition.factor
    losses.removeAll(keepingCapacity: true)
    nextLoss = 0
    if condition.losesWork, pool != nil {
      var lost: [Completion] = []
      var unbooked: [Usage] = []
      pool!.loseAll { request, end in
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
    if let outage, case .outage(let status, let retryAfter, _) = outage.kind {
      guard let status else { return .lost }
      return .answered(refusal(status, retryAfter, request, now))
    }
    if bucket != nil {
      guard bucket!.take(at: now) else {
        return .answered(refusal(overload.status, overload.retryAfter, request, now))
      }
      let service = bucketServiceTime.sample(request.key(key).child(RandomPurpose.service.rawValue))
      return .answered(ServerAnswer(status: 200, retryAfter: nil, at: now + service))
    }
    var booked: Usage?
    if pool!.admit(request, now: now, onStart: { booked = Usage(start: $0, end: $1, sign: 1) }) {
      if let booked { usage.append(booked) }
      return .pending
    }
    return .answered(refusal(overload.status, overload.retryAfter, request, now))
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
