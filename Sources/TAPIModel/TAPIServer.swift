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

  private let place = InPlace()
  /// The overload rule of the configuration, until an action changes its Retry-After.
  private(set) var overload: Overload
  private let configuredRetryAfter: RetryAfterPolicy
  let key: RandomKey
  private var timeline: IncidentTimeline
  private var nextCondition = 1
  /// The capacity factor of the incidents that are on.
  private var conditionFactor: Int64 = 1_000_000
  /// The factor that actions put on the configured capacity, parts per million.
  private var actionScale: Int64 = 1_000_000
  /// The outage that is on, and that of an incident alone.
  var outage: OutageAnswer?
  private var incidentOutage: OutageAnswer?
  /// With `hasFastAnswers`, until `nextOwnTime`: whoever finds a token is accepted, anyone else gets `refusalAnswer`.
  public var bucket: TokenBucket
  let isBucket: Bool
  let bucketServiceTime: Sampler
  /// Then somebody else has to look at each answer.
  let isBehindProxies: Bool
  private let bucketRate: Int64
  private let workerCount: Int
  var pool: WorkerPool
  /// The dependency that workers wait for after their own work, and the answer to a request that fails for its sake.
  private var dependency: DependencyStation?
  private let dependencyStatus: Int
  /// The outcomes of requests that stopped being pending, not yet handed out.
  var outcomes: [Completion] = []
  private var nextOutcome = 0
  /// Bookings since the caller last took them; only workers book time.
  public var usage: [Usage] {
    _read { yield pool.usage }
    _modify { yield &pool.usage }
  }
  /// When the server itself has something to do next: an incident's boundary, a change of capacity or a completion.
  public private(set) var nextOwnTime = Instant.never
  /// The rules beyond admission; nil where a scenario has none of them.
  private(set) var rules: RuleBook?
  /// nil where connections cost nothing.
  var connections: ConnectionTable?
  /// nil where a fetch of Settings is no request.
  var settings: SettingsDesk?
  /// The backlog that `RetryAfterPolicy.backlog` answers with.
  var refused = RefusedBacklog()

  /// Whether `commonAnswer` and `bucket` may stand in for `arrive` until `nextOwnTime`: a bucket without service time
  /// whose refusals and outage are the same for everybody.
  public internal(set) var hasFastAnswers = false
  /// With `hasFastAnswers`: what everybody is answered, in an outage.
  public internal(set) var downAnswer: FastAnswer?
  public internal(set) var refusalAnswer = FastAnswer.silence

  /// Microseconds; a longer Retry-After counts as this one.
  public static var longestRetryAfter: Int64 { 4_294_000_000 }

  struct OutageAnswer {
    /// nil: silence.
    var status: Int?
    var retryAfter = RetryAfterPolicy.none
    /// Nobody gets a connection, and each is told.
    var refuses = false

    /// nil of incidents that are no outage.
    init?(_ kind: Incident.Kind) {
      switch kind {
      case .outage(let status, let retryAfter, _): (self.status, self.retryAfter) = (status, retryAfter)
      case .refused: refuses = true
      default: return nil
      }
    }
  }

  /// - `key`: the run's key; draws are (device, batch, attempt) below it.
  /// - `sources`: who sends, by `UploadRequest.shard`; only rules and connections ask.
  /// - `interval`: of a row of `connectionCounts`.
  public init(
    _ configuration: TAPIConfiguration, key: RandomKey, sources: [UploadSource] = [],
    interval: Span = .seconds(1)
  ) {
    overload = configuration.overload
    configuredRetryAfter = configuration.overload.retryAfter
    self.key = key
    isBehindProxies = configuration.proxies != nil
    timeline = IncidentTimeline(configuration)
    switch configuration.server {
    case .bucket(let settings):
      isBucket = true
      bucket = TokenBucket(settings)
      bucketServiceTime = Sampler(settings.serviceTime)
      bucketRate = settings.capacityMilliRequestsPerSecond
      pool = WorkerPool(WorkersConfiguration(count: 0, serviceTime: .constant(.zero)), key: key)
      workerCount = 0
      dependencyStatus = 0
    case .workers(let settings):
      isBucket = false
      bucket = TokenBucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 0, burst: 0))
      bucketServiceTime = Sampler(.constant(.zero))
      bucketRate = 0
      pool = WorkerPool(settings, key: key)
      workerCount = settings.count
      dependency = settings.dependency.map { DependencyStation($0, key: key) }
      dependencyStatus = settings.dependency?.status ?? 0
    }
    rules = RuleBook(configuration, sources: sources)
    connections = configuration.connections.map {
      ConnectionTable($0, sources: sources, key: key, interval: interval)
    }
    settings = configuration.settings.map(SettingsDesk.init)
    apply(timeline.conditions[0])
    noteNextOwnTime()
  }

  /// A copy of the server, which may go on under other incidents and actions: all that differs lies ahead.
  /// - `configuration`: the same but for these; those of both do the same up to the server's time (`commonUntil`).
  package init(
    copying other: borrowing TAPIServer, _ configuration: TAPIConfiguration, sources: [UploadSource]
  ) {
    self.init(configuration, key: other.key, sources: sources)
    nextCondition = other.nextCondition
    conditionFactor = other.conditionFactor
    actionScale = other.actionScale
    overload = other.overload
    (outage, incidentOutage) = (other.outage, other.incidentOutage)
    bucket = other.bucket
    pool = other.pool
    dependency = other.dependency
    outcomes = other.outcomes
    nextOutcome = other.nextOutcome
    if rules != nil, let past = other.rules { rules = RuleBook(copying: past) }
    refused = other.refused
    connections = other.connections
    settings = other.settings
    noteFastAnswers()
    noteNextOwnTime()
  }

  /// Returns a digest of all that decides on what the server answers from now on.
  ///
  /// - Parameter request: returns the digest of a request that waits or is served.
  /// - Returns: nil while an incident or an action goes on or lies ahead, and for servers with memory that nobody looks at here.
  package func state(at now: Instant, _ request: (UploadRequest) -> StateDigest) -> StateDigest? {
    guard nextCondition == timeline.conditions.count, outage == nil, conditionFactor == 1_000_000,
      actionScale == 1_000_000, overload.retryAfter == configuredRetryAfter, dependency == nil,
      connections == nil, settings == nil, !isBehindProxies, rules?.areIdle ?? true,
      nextOutcome == outcomes.count, usage.isEmpty
    else { return nil }
    var digest = StateDigest()
    bucket.addState(to: &digest, at: now)
    if case .backlog = configuredRetryAfter { refused.addState(to: &digest) }
    return pool.addState(to: &digest, request) ? digest : nil
  }

  /// Requests waiting for a worker.
  public var queued: Int { pool.queued }
  /// Workers at work; 0 for a bucket.
  public var busyWorkers: Int { pool.busy }
  /// The times since when workers have waited for the dependency. Their waits are not in `usage` before they have done with it.
  package var waitingSince: [Instant] { dependency?.waitingSince ?? [] }

  var nextBoundary: Instant {
    nextCondition < timeline.conditions.count ? timeline.conditions[nextCondition].start : .never
  }

  mutating func noteNextOwnTime() {
    if nextOutcome < outcomes.count {
      nextOwnTime = outcomes[nextOutcome].at
      return
    }
    nextOwnTime = min(nextBoundary, pool.nextCompletion)
    if let next = dependency?.nextTime { nextOwnTime = min(nextOwnTime, next) }
    if let next = rules?.nextTime { nextOwnTime = min(nextOwnTime, next) }
    if let next = connections?.nextTime { nextOwnTime = min(nextOwnTime, next) }
  }

  /// The next request that stops being pending at or before `limit`; nil when there is none. Passes incident boundaries and changes
  /// of capacity on the way.
  public mutating func nextCompletion(through limit: Instant) -> Completion? {
    defer { noteNextOwnTime() }
    while true {
      if nextOutcome < outcomes.count {
        nextOutcome += 1
        if connections != nil { release(outcomes[nextOutcome - 1]) }
        return outcomes[nextOutcome - 1]
      }
      outcomes.removeAll(keepingCapacity: true)
      nextOutcome = 0
      let (boundary, completion) = (nextBoundary, pool.nextCompletion)
      let scaling = rules?.nextTime ?? .never
      let call = dependency?.nextTime ?? .never
      let connected = connections?.nextTime ?? .never
      if min(boundary, completion, scaling, call, connected) > limit { return nil }
      if boundary <= min(completion, scaling, call, connected) {
        apply(timeline.conditions[nextCondition])
        nextCondition += 1
      } else if scaling <= min(completion, call, connected) {
        if rules?.crash?.nextTime == scaling { watchLoad(at: scaling) } else { scale(at: scaling) }
      } else if completion <= min(call, connected) {
        complete(at: completion)
      } else if connected < call {
        admitConnected(at: connected)
      } else {
        stepDependency(at: call)
      }
    }
  }

  private mutating func complete(at now: Instant) {
    if rules != nil { noteUse(at: now) }
    let request = pool.takeDone()
    if dependency == nil { return end(request, isServed: true, at: now) }
    dependency?.call(for: request, at: now)
  }

  @inline(never)
  private mutating func stepDependency(at now: Instant) {
    guard let ended = dependency?.step() else { return }
    if rules != nil { noteUse(at: now) }
    usage.append(Usage(start: ended.since, end: now, sign: 1))
    end(ended.request, isServed: ended.isServed, at: now)
  }

  /// A worker has done with a request and takes the next one.
  @inline(__always)
  private mutating func end(_ request: UploadRequest, isServed: Bool, at now: Instant) {
    pool.release(request, now: now)
    var outcome = Completion.Outcome.answered(ServerAnswer(status: 200, retryAfter: nil, at: now))
    if !isServed {
      let status = UInt16(truncatingIfNeeded: dependencyStatus)
      outcome = .answered(delayed(ServerAnswer(status: status, retryAfter: nil, at: now), request))
    } else if rules != nil {
      outcome = delayedOutcome(request, at: now)
    }
    outcomes.append(Completion(request: request, at: now, outcome: outcome))
    if !pool.shed.isEmpty { answerShed(at: now) }
  }

  @inline(never)
  private mutating func answerShed(at now: Instant) {
    for request in pool.shed {
      var answer = refusal(overload.status, overload.retryAfter, request, now)
      answer.cause = .shed
      outcomes.append(Completion(request: request, at: now, outcome: .answered(delayed(answer, request))))
    }
    pool.shed.removeAll()
  }

  /// A measurement of the autoscaler, or a change that takes effect.
  @inline(never)
  private mutating func scale(at now: Instant) {
    noteUse(at: now)
    guard rules?.stepAutoscaler() ?? false else { return }
    setRate(at: now)
    resize(at: now)
  }

  /// The server may die of its load, or be back.
  @inline(never)
  private mutating func watchLoad(at now: Instant) {
    noteUse(at: now)
    rules?.crash?.noteQueue(pool.queued, at: now)
    guard let dies = rules?.crash?.step(at: now) else { return }
    chooseOutage()
    if dies { loseWork(at: now) }
  }

  private mutating func chooseOutage() {
    outage =
      incidentOutage ?? (rules?.crash?.isDown ?? false ? OutageAnswer(.refused(keepsWork: false)) : nil)
  }

  /// As many workers as the scales say.
  private mutating func resize(at now: Instant) {
    if isBucket { return }
    pool.setWorkers(Self.whole(workerCount, by: capacityScale), now: now)
    answerShed(at: now)
  }

  private var capacityScale: Int64 { Self.scaled(rules?.autoscaler?.scale ?? 1_000_000, by: actionScale) }

  private mutating func setRate(at now: Instant) {
    noteUse(at: now)
    bucket.setRate(Self.scaled(Self.scaled(bucketRate, by: conditionFactor), by: capacityScale), at: now)
  }

  private mutating func apply(_ condition: IncidentTimeline.Condition) {
    incidentOutage = condition.outage.flatMap { OutageAnswer($0.kind) }
    chooseOutage()
    conditionFactor = condition.factor
    let isResized = actionScale != condition.scale
    actionScale = condition.scale
    overload.retryAfter = condition.retryAfter ?? configuredRetryAfter
    setRate(at: condition.start)
    rules?.faults = condition.faults
    settings?.isDown = condition.isCDNDown
    noteFastAnswers()
    pool.speed = condition.factor
    if condition.losesWork { loseWork(at: condition.start) }
    if isResized { resize(at: condition.start) }
  }

  /// Queued and running work is lost, and every connection.
  private mutating func loseWork(at now: Instant) {
    var lost: [Completion] = []
    var unbooked: [Usage] = []
    pool.loseAll(at: now) { lost.append(Completion(request: $0, at: now, outcome: .lost)) }
    dependency?.loseAll { request, since in
      lost.append(Completion(request: request, at: now, outcome: .lost))
      unbooked.append(Usage(start: since, end: now, sign: 1))
    }
    connections?.loseAll(at: now) { request in
      lost.append(Completion(request: request, at: now, outcome: .lost))
    }
    outcomes += lost
    usage += unbooked
  }

  static func scaled(_ rate: Int64, by factor: Int64) -> Int64 {
    rate / 1_000_000 * factor + rate % 1_000_000 * factor / 1_000_000
  }

  /// Workers that are left, at least one.
  static func whole(_ workers: Int, by scale: Int64) -> Int {
    max(1, (workers * Int(scale) + 500_000) / 1_000_000)
  }

  /// Decides on a request that arrives now. Everything due before must have been drained.
  /// - `retryCount`: its `X-Retry-Count`.
  public mutating func arrive(_ request: UploadRequest, retryCount: Int = 0) -> Admission {
    if settings != nil, request.fetchesSettings, let answer = settings!.answer(at: request.arrival) {
      return .answered(answer)
    }
    if connections != nil { return arriveOverConnection(request, retryCount: retryCount) }
    return decide(request, retryCount: retryCount)
  }

  @inline(__always)
  mutating func decide(_ request: UploadRequest, retryCount: Int) -> Admission {
    if rules != nil { return arriveUnderRules(request, retryCount: retryCount) }
    if outage != nil { return answerInOutage(request) }
    return admit(request, retryCount: retryCount, cost: TokenBucket.token)
  }

  /// - Parameter cost: at a bucket, in the units of its level.
  @inline(__always)
  mutating func admit(_ request: UploadRequest, retryCount: Int, cost: Int64) -> Admission {
    let now = request.arrival
    if isBucket {
      guard cost == TokenBucket.token ? bucket.take(at: now) : bucket.take(cost, at: now) else {
        return .answered(refusal(overload.status, overload.retryAfter, request, now))
      }
      let service = bucketServiceTime.sample(request.key(key).child(RandomPurpose.service))
      return .answered(ServerAnswer(status: 200, retryAfter: nil, at: now + service))
    }
    if pool.admit(request, retryCount: retryCount, now: now) {
      if !pool.shed.isEmpty { answerShed(at: now) }
      noteNextOwnTime()
      return .pending
    }
    return .answered(refusal(overload.status, overload.retryAfter, request, now))
  }

  @inline(never)
  mutating func answerInOutage(_ request: UploadRequest) -> Admission {
    guard let outage else { return .lost }
    if outage.refuses, request.downlink != .max {
      let heard = request.arrival + Span(microseconds: Int64(request.downlink))
      return .unconnected(at: heard, isKnown: true, isRefusal: true)
    }
    guard let status = outage.status else { return .lost }
    return .answered(refusal(status, outage.retryAfter, request, request.arrival))
  }

  mutating func refusal(
    _ status: Int, _ policy: RetryAfterPolicy, _ request: UploadRequest, _ now: Instant
  ) -> ServerAnswer {
    var capacity = 0.0
    var refusedRequest = request
    if case .backlog = policy {
      let cost = rules?.cost(of: request) ?? TokenBucket.token
      capacity = isBucket ? Double(bucket.rate) / Double(cost) : pool.capacity(events: request.events)
      // A shed request arrived long ago; it comes back from now on.
      refusedRequest.arrival = now
    }
    let retryAfter = policy.header(
      for: refusedRequest, key, &refused, capacity: capacity, waiting: pool.queued)
    return ServerAnswer(status: UInt16(truncatingIfNeeded: status), retryAfter: retryAfter, at: now)
  }
}

extension TAPIConfiguration {
  /// Nominal capacity in thousandths of a request per second; for workers W over the mean service time of a batch of `meanEvents` events.
  public func nominalCapacityMilli(meanEvents: Double) -> Int64 {
    switch server {
    case .bucket(let bucket):
      if bucket.costPerEvent == 0 { return bucket.capacityMilliRequestsPerSecond }
      let cost = 1 + Double(bucket.costPerEvent) / 1e6 * meanEvents
      return Int64((Double(bucket.capacityMilliRequestsPerSecond) / cost).rounded())
    case .workers(let workers):
      let time = workers.meanTime(events: meanEvents)
      let capacity = min(Double(workers.atOnce) * 1e9 / max(time, 1e-3), workers.dependencyCapacity * 1e9)
      return capacity < 1e15 ? Int64(capacity.rounded()) : 1_000_000_000_000_000
    }
  }
}
