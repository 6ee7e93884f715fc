import SimulationKernel

/// The state behind `ServerRules` and the incidents that concern single requests. It belongs to one server.
final class RuleBook {
  /// The faults of single requests at the moment.
  var faults = RequestFaults() {
    didSet { sortSheddings() }
  }
  private let writeKeys: [String]
  /// The sheddings of `faults`, by source; empty where there are none.
  private var sheddings: [[Shedding]] = []
  fileprivate var keyLimits: KeyLimits
  fileprivate let retryCountLimit: Int
  /// By source: a request with more events is too large.
  private let mostEvents: [Int]
  private let costPerEvent: Int64
  private(set) var autoscaler: Autoscaler?
  var crash: CrashWatch?
  /// Whether none of it holds all the time.
  private let isStanding: Bool
  /// Devices that have been told of the latest expiry of tokens, a bit each.
  private var refreshed: [UInt64] = []
  private var expiry = -1
  private var meter = UtilisationMeter()
  /// Millionths of a token taken so far, where a request costs more than one.
  private(set) var microTokens: Int64 = 0

  /// nil if the scenario has no rule at all.
  init?(_ configuration: TAPIConfiguration, sources: [UploadSource]) {
    let rules = configuration.rules
    writeKeys = sources.map { $0.writeKey }
    keyLimits = KeyLimits(rules.keyLimits, sources: sources)
    retryCountLimit = rules.retryCountLimit ?? .max
    mostEvents = sources.map { source in
      guard let limit = rules.requestSizeLimit else { return .max }
      return limit < source.requestBytes ? -1 : (limit - source.requestBytes) / max(source.eventBytes, 1)
    }
    if case .bucket(let bucket) = configuration.server {
      costPerEvent = bucket.costPerEvent
    } else {
      costPerEvent = 0
    }
    autoscaler = rules.autoscaling.map(Autoscaler.init)
    crash = rules.crash.map(CrashWatch.init)
    isStanding =
      !keyLimits.isEmpty || rules.retryCountLimit != nil || rules.requestSizeLimit != nil || costPerEvent > 0
      || rules.autoscaling != nil || rules.crash != nil
    let timeline = IncidentTimeline(configuration)
    if !isStanding, timeline.conditions.allSatisfy({ $0.faults.areNone }) { return nil }
  }

  /// A copy that goes on by itself.
  init(copying other: RuleBook) {
    faults = other.faults
    writeKeys = other.writeKeys
    sheddings = other.sheddings
    keyLimits = other.keyLimits
    retryCountLimit = other.retryCountLimit
    mostEvents = other.mostEvents
    costPerEvent = other.costPerEvent
    autoscaler = other.autoscaler
    crash = other.crash
    isStanding = other.isStanding
    refreshed = other.refreshed
    expiry = other.expiry
    meter = other.meter
    microTokens = other.microTokens
  }

  /// When the autoscaler or the watch over the load has something to do.
  var nextTime: Instant { min(autoscaler?.nextTime ?? .never, crash?.nextTime ?? .never) }

  /// Whether nothing concerns single requests now.
  var areIdle: Bool { !isStanding && faults.areNone }

  /// Returns the tokens that a request takes from a bucket, in the units of its level.
  func cost(of request: UploadRequest) -> Int64 {
    TokenBucket.token + costPerEvent * 1_000 * Int64(request.events)
  }

  func noteTaken(_ cost: Int64) {
    microTokens += cost / 1_000
    meter.used += Double(cost)
  }

  // MARK: Autoscaling

  /// Does what is due at the autoscaler's `nextTime`. Returns whether the capacity is to change.
  func stepAutoscaler() -> Bool {
    autoscaler?.step { meter.takeUtilisation() } ?? false
  }

  /// Nothing has changed since the latest note: `used` of `possible` for each microsecond up to now.
  func noteUse(_ used: Double, of possible: Double, at now: Instant) {
    if autoscaler == nil { return }
    let time = Double((now - meter.noted).microseconds)
    meter.used += used * time
    meter.possible += possible * time
    meter.noted = now
  }

  // MARK: Single requests

  private func sortSheddings() {
    if faults.sheddings.isEmpty && sheddings.isEmpty { return }
    sheddings =
      faults.sheddings.isEmpty
      ? [] : writeKeys.map { key in faults.sheddings.filter { $0.key == nil || $0.key == key } }
  }

  /// The action that refuses a request at the door. A request or device that a share has is in every larger one.
  func shedding(of request: UploadRequest, _ fleet: RandomKey) -> Shedding? {
    let source = Int(request.shard)
    guard source < sheddings.count else { return nil }
    return sheddings[source].first { shedding in
      let entity = shedding.isByDevice ? fleet.child(UInt64(request.device)) : request.key(fleet)
      return entity.child(RandomPurpose.shedding).uniform(below: 1_000_000) < UInt64(shedding.share)
    }
  }

  /// Returns the status that refuses a request before anything is spent on it; nil: it is not refused.
  fileprivate func rejection(of request: UploadRequest, retryCount: Int) -> UInt16? {
    let source = Int(request.shard)
    if source < mostEvents.count, Int(request.events) > mostEvents[source] { return 413 }
    return retryCount >= retryCountLimit ? 422 : nil
  }

  /// Whether the request is the first of its device since tokens expired.
  fileprivate func carriesExpiredToken(_ request: UploadRequest) -> Bool {
    guard let incident = faults.tokenExpiry else { return false }
    if incident != expiry {
      expiry = incident
      refreshed.removeAll(keepingCapacity: true)
    }
    let (word, bit) = (Int(request.device / 64), UInt64(1) << UInt64(request.device % 64))
    while refreshed.count <= word { refreshed.append(0) }
    if refreshed[word] & bit != 0 { return false }
    refreshed[word] |= bit
    return true
  }

  fileprivate func isDrawn(
    _ share: Int64, _ purpose: RandomPurpose, _ request: UploadRequest, _ fleet: RandomKey
  ) -> Bool {
    share > 0 && request.key(fleet).child(purpose).uniform(below: 1_000_000) < UInt64(share)
  }

  fileprivate func delay(of request: UploadRequest, _ fleet: RandomKey) -> Int64 {
    guard let latency = faults.latency else { return 0 }
    let added = latency.added.sample(request.key(fleet).child(RandomPurpose.answerLatency)).microseconds
    return added + Int64(request.downlink) * (latency.factor - 1_000_000) / 1_000_000
  }
}

/// Work done and work possible since the latest measurement: worker microseconds, or units of a bucket's level.
struct UtilisationMeter {
  var used = 0.0
  var possible = 0.0
  var noted = Instant.start

  mutating func takeUtilisation() -> Double {
    defer { (used, possible) = (0, 0) }
    return possible > 0 ? min(used / possible, 1) : 0
  }
}

extension TAPIServer {
  /// Parts per million of the configured capacity, by time, with an autoscaler; empty without.
  public var capacityHistory: [(time: Instant, scale: Int64)] { rules?.autoscaler?.history ?? [] }

  /// Millionths of a token taken from a bucket where requests cost by their events.
  public var microTokensTaken: Int64 { rules?.microTokens ?? 0 }

  /// In this order: outage, what operators shed, size (413), retries (422), expired token (401), an incident's errors, the limits of
  /// its key (429), capacity.
  @inline(never)
  mutating func arriveUnderRules(_ request: UploadRequest, retryCount: Int) -> Admission {
    if rules?.crash == nil { return delayed(decideUnderRules(request, retryCount: retryCount), request) }
    if outage == nil { rules?.crash?.noteArrival(at: request.arrival) }
    rules?.crash?.noteQueue(queued, at: request.arrival)
    let admission = decideUnderRules(request, retryCount: retryCount)
    rules?.crash?.noteQueue(queued, at: request.arrival)
    noteNextOwnTime()
    return delayed(admission, request)
  }

  private mutating func decideUnderRules(_ request: UploadRequest, retryCount: Int) -> Admission {
    if outage != nil { return answerInOutage(request) }
    let now = request.arrival
    guard let rules else { return .lost }
    if let shedding = rules.shedding(of: request, key) {
      return .answered(refusal(shedding.status ?? overload.status, overload.retryAfter, request, now))
    }
    if let status = rules.rejection(of: request, retryCount: retryCount) {
      return .answered(ServerAnswer(status: status, retryAfter: nil, at: now))
    }
    if rules.carriesExpiredToken(request) {
      return .answered(ServerAnswer(status: 401, retryAfter: nil, at: now))
    }
    if let errors = rules.faults.errors, !errors.afterWork,
      rules.isDrawn(errors.share, .serverError, request, key)
    {
      return .answered(refusal(errors.status, errors.retryAfter, request, now))
    }
    if let answer = rules.keyLimits.refusal(of: request, key) { return .answered(answer) }
    noteUse(at: now)
    let cost = rules.cost(of: request)
    let admission = admit(request, retryCount: retryCount, cost: cost)
    guard case .answered(let answer) = admission, answer.status == 200 else { return admission }
    rules.noteTaken(cost)
    switch outcome(request, at: answer.at) {
    case .answered(let answer): return .answered(answer)
    case .unconfirmed(let time): return .unconfirmed(at: time)
    case .lost: return .lost
    }
  }

  /// Returns the outcome of a request whose work is done at `time`.
  @inline(never)
  mutating func outcome(_ request: UploadRequest, at time: Instant) -> Completion.Outcome {
    if let rules, let errors = rules.faults.errors, errors.afterWork,
      rules.isDrawn(errors.share, .serverError, request, key)
    {
      return .answered(refusal(errors.status, errors.retryAfter, request, time))
    }
    if let rules, rules.isDrawn(rules.faults.lostAnswers, .lostAnswer, request, key) {
      return .unconfirmed(at: time)
    }
    return .answered(ServerAnswer(status: 200, retryAfter: nil, at: time))
  }

  @inline(never)
  mutating func delayedOutcome(_ request: UploadRequest, at time: Instant) -> Completion.Outcome {
    let outcome = outcome(request, at: time)
    guard case .answered(let answer) = outcome else { return outcome }
    return .answered(delayed(answer, request))
  }

  private func delayed(_ admission: Admission, _ request: UploadRequest) -> Admission {
    guard case .answered(let answer) = admission else { return admission }
    return .answered(delayed(answer, request))
  }

  func delayed(_ answer: ServerAnswer, _ request: UploadRequest) -> ServerAnswer {
    guard let rules else { return answer }
    var answer = answer
    answer.delay = rules.delay(of: request, key)
    return answer
  }

  /// Before anything changes that an autoscaler measures.
  mutating func noteUse(at now: Instant) {
    rules?.noteUse(
      isBucket ? 0 : Double(pool.busy), of: isBucket ? Double(bucket.rate) : Double(pool.workers), at: now)
  }
}
