import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios

/// Random valid servers.
extension ScenarioGenerator {
  mutating func rules() -> ServerRules {
    var rules = ServerRules()
    rules.keyLimits = (0..<draw(0...2)).map { _ in
      let requests: Int64 = draw(1...1_000_000_000)
      let rate = KeyLimit.Rule.bucket(rate: draw(1...1_000_000_000_000), burst: requests)
      let window = KeyLimit.Rule.window(
        .init(span(1_000...31_622_400_000_000), slides: random.chance(50)), requests: requests)
      var limit = KeyLimit(
        key: random.pick([nil, "cohort-0", "a key"]), per: random.pick([.key, .device]),
        random.pick([rate, window]), retryAfter: retryAfter())
      if limit.key == nil, random.chance(30) { limit.per = .all }
      if limit.rule == window, random.chance(50) { (limit.saysWindowEnd, limit.retryAfter) = (true, .none) }
      return limit
    }
    rules.retryCountLimit = random.chance(50) ? nil : draw(1...8_191)
    rules.requestSizeLimit = random.chance(50) ? nil : draw(1...1_000_000_000)
    rules.deduplicationWindow = random.chance(50) ? nil : span(0...31_622_400_000_000)
    if random.chance(50) {
      let bounds: [Int64] = [draw(10_000...100_000_000), draw(10_000...100_000_000)].sorted()
      rules.autoscaling = Autoscaling(
        target: draw(10_000...1_000_000), interval: span(1_000_000...86_400_000_000),
        delay: span(0...86_400_000_000), minimum: bounds[0], maximum: bounds[1])
    }
    if random.chance(30) {
      let limits = random.pick([(true, true), (true, false), (false, true)])
      rules.crash = LoadCrash(
        queue: limits.0 ? draw(0...1_000_000_000) : nil,
        rateMilliRequestsPerSecond: limits.1 ? draw(1...1_000_000_000_000) : nil,
        patience: span(1_000...31_622_400_000_000), downtime: span(1_000...31_622_400_000_000))
    }
    return rules
  }

  mutating func server() -> TAPIConfiguration.Server {
    if random.chance(50) {
      var bucket = TokenBucketConfiguration(
        capacityMilliRequestsPerSecond: draw(1...random.pick([100, 1_000_000, 1_000_000_000_000])),
        burst: draw(1...1_000_000_000))
      bucket.serviceTime = distribution(least: 0, most: 86_400_000_000, exponential: true)
      bucket.costPerEvent = random.chance(50) ? 0 : draw(0...1_000_000_000)
      return .bucket(bucket)
    }
    let target: Int64 = draw(1...10_000_000)
    var workers = WorkersConfiguration(
      count: draw(1...1_000_000),
      serviceTime: distribution(least: 1, most: 86_400_000_000, exponential: true),
      serviceTimePerEvent: span(0...3_600_000_000),
      queueLimit: random.chance(50) ? draw(0...1_000_000_000) : nil)
    if random.chance(30) { workers.queueTimeout = span(1_000...86_400_000_000) }
    if random.chance(30) {
      workers.congestion = Congestion(slowdown: draw(1...1_000_000_000), queue: draw(1...1_000_000_000))
    }
    workers.order = random.pick(QueueOrder.allCases)
    if random.chance(30) {
      workers.delayControl = ControlledDelay(
        target: span(target...target), interval: span(target + 1...86_400_000_000))
    }
    if random.chance(30) { workers.concurrencyLimit = concurrencyLimit() }
    if random.chance(30) { workers.dependency = dependency() }
    return .workers(workers)
  }

  mutating func connections(at server: TAPIConfiguration.Server) -> Connections {
    var least = 1
    if case .workers(let workers) = server { least = workers.count }
    var connections = Connections(
      handshakes: .init(
        count: draw(1...1_000_000), time: span(1...60_000_000),
        queueLimit: random.chance(30) ? nil : draw(0...1_000_000_000)))
    connections.limit = random.chance(50) ? nil : draw(least...1_000_000_000)
    connections.idleTimeout = span(1_000...31_622_400_000_000)
    connections.refusal = random.pick(Connections.Refusal.allCases)
    return connections
  }

  mutating func proxies() -> Proxies {
    let base = span(1...3_600_000_000)
    let statuses = random.pick([[502, 503, 504], [400, 599], []])
    var proxies = Proxies(
      count: draw(1...1_000_000), retries: draw(0...100),
      tryTimeout: random.chance(50) ? nil : span(1_000...31_622_400_000_000),
      backoff: .init(base: base, maximum: span(base.microseconds...3_600_000_000)),
      budget: random.chance(30) ? nil : .init(share: draw(0...1_000_000), minimum: draw(0...1_000_000_000)))
    // Something has to be tried again.
    (proxies.statuses, proxies.retriesUnanswered) = (statuses, statuses.isEmpty || random.chance(50))
    return proxies
  }

  private mutating func concurrencyLimit() -> ConcurrencyLimit {
    let limits = (0..<3).map { _ in draw(1...1_000_000_000) }.sorted()
    var limit = ConcurrencyLimit(initial: limits[1], minimum: limits[0], maximum: limits[2])
    (limit.queue, limit.smoothing) = (draw(0...1_000_000), draw(1...1_000_000))
    limit.tolerance = draw(1_000_000...1_000_000_000)
    (limit.window, limit.longWindow) = (span(1_000...3_600_000_000), draw(1...1_000_000))
    return limit
  }

  private mutating func dependency() -> Dependency {
    let roundTrip: Int64 = draw(1...3_600_000_000)
    return Dependency(
      count: draw(1...1_000_000),
      serviceTime: distribution(least: 0, most: 86_400_000_000, exponential: true),
      queueLimit: random.chance(30) ? nil : draw(0...1_000_000_000), retries: draw(0...100),
      roundTrip: span(roundTrip...roundTrip),
      timeout: random.chance(50) ? nil : span(roundTrip + 1...86_400_000_000), status: draw(400...599))
  }

  /// Incidents one after another, so that none overlaps.
  mutating func incidents() -> [Incident] {
    var start = Instant.start
    return (0..<draw(0...4)).map { _ in
      start += span(0...600_000_000)
      let length = span(1...600_000_000)
      defer { start += length }
      let status = random.pick([nil, 100, 302, 404, 503, 999])
      let kinds: [Incident.Kind] = [
        .outage(
          status: status, retryAfter: status == nil ? .none : retryAfter(), keepsWork: random.chance(50)),
        .refused(keepsWork: random.chance(50)), .brownout(factorPartsPerMillion: draw(1_000...1_000_000)),
        .cdnOutage,
        .errors(
          status: draw(300...599), share: draw(1...1_000_000), afterWork: random.chance(50),
          retryAfter: retryAfter()), .lostAnswers(share: draw(1...1_000_000)),
        .latency(
          added: distribution(least: 0, most: 86_400_000_000, exponential: true),
          factor: draw(1_000_000...1_000_000_000)), .tokenExpiry,
      ]
      var incident = Incident(kind: random.pick(kinds), start: start, duration: length)
      if incident.kind.isOutage { incident.warmUp = random.pick([.zero, span(0...86_400_000_000)]) }
      return incident
    }
  }

  mutating func cuts(of fleet: [Cohort]) -> [Incident] {
    let names = fleet.filter(\.holdsOpen).map(\.name)
    return (0..<(names.isEmpty ? 0 : draw(0...2))).map { _ in
      Incident(
        kind: .cut(cohorts: random.pick([nil, names]), share: draw(1...1_000_000)),
        start: .start + span(0...600_000_000), duration: span(0...600_000_000))
    }
  }

  /// None of them contradicts another.
  mutating func actions(in scenario: Scenario) -> [ServerAction] {
    let keys = [nil] + scenario.fleet.map { $0.writeKey ?? $0.name }
    let actions = (0..<draw(0...4)).map { _ in
      let shedding = Shedding(
        share: draw(1...1_000_000), key: random.pick(keys), isByDevice: random.chance(50),
        status: random.pick([nil, 400, 599]))
      let kinds: [ServerAction.Kind] = [
        .retryAfter(retryAfter()), .shed(shedding), .readmit(shedding),
        .capacity(factorPartsPerMillion: draw(10_000...100_000_000)), .restart,
      ]
      let kind = random.pick(kinds)
      var length = random.pick([nil, span(1...600_000_000)])
      if case .readmit = kind { length = length ?? .hours(1) }
      return ServerAction(kind, at: .start + span(0...scenario.duration.microseconds - 1), for: length)
    }
    return actions.contradictions.isEmpty ? actions : Array(actions.prefix(1))
  }

  mutating func retryAfter() -> RetryAfterPolicy {
    let seconds: [Int64] = [draw(0...600_000), draw(0...600_000)].sorted()
    return random.pick([
      .none, .fixed(.seconds(seconds[0])), .spread(from: .seconds(seconds[0]), to: .seconds(seconds[1])),
      .backlog(atLeast: .seconds(seconds[0]), atMost: .seconds(seconds[1])),
    ])
  }
}
