import ShippedQuirks
import TestClients
import TestSupport
import Testing
import UploadGating
import UploadPipeline
import UploadRetry

/// Clients of every kind, to which anything happens in any order.
@Suite("Any client, whatever happens to it")
struct RandomClientTests {
  /// What is known of a client from the outside: where each of its events is.
  private struct Watcher: ~Copyable {
    var client: UploadClient
    let options: ClientOptions
    let config: HTTPConfig
    var random: SeededGenerator
    var now: Int64 = seconds(1_000)
    var created: UInt32 = 0
    var gone: Set<UInt32> = []
    var underWay: [BatchIndex: Range<UInt32>] = [:]
    var isOffline = false
    var violations: [String] = []
    /// How often something was sent, delivered and lost.
    var sent = 0
    var delivered = 0
    var lost = 0

    init(seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      let (options, config) = RandomClientTests.draw(&random)
      client = UploadClient(
        options: options, config: config, flushCount: FlushCount(Int(random.next() % 9) + 1), random: random)
      (self.options, self.config, self.random) = (options, config, random)
    }

    mutating func below(_ limit: Int) -> Int { Int(random.next() >> 33) % limit }

    mutating func step() {
      now += [0, 1, seconds(0.3), seconds(5), seconds(70)][below(5)]
      let wait = client.snapshot.waitUntil
      var mayLeave = true
      switch below(10) {
      case 0, 1:
        let n = below(5) + 1
        created += UInt32(n)
        client.add(n, at: now)
        mayLeave = now >= wait
      case 2, 3, 4:
        let trigger = ClientTrigger.allCases[below(ClientTrigger.allCases.count)]
        client.trigger(trigger, at: now)
        mayLeave = now >= wait || options.triggersThatSkipWaits.contains(trigger)
      case 5 where below(3) == 0:
        isOffline.toggle()
        client.setOnline(!isOffline)
      case 6 where below(8) == 0: relaunch()
      default:
        let oldest = underWay.keys.sorted { $0.rawValue < $1.rawValue }
        guard let batch = oldest.dropFirst(below(max(underWay.count, 1))).first else { break }
        underWay[batch] = nil
        if client.triggered.host.batch(batch).isAsking, below(2) == 0 {
          client.answered(batch, wasApplied: below(2) == 0, at: now)
        } else {
          client.answered(batch, response(), at: now)
        }
      }
      act(mayLeave: mayLeave || options.actsAtFlushEnd)
      check()
    }

    mutating func act(mayLeave: Bool) {
      for action in client.takeActions() {
        switch action {
        case .send(let batch, let events, _, _):
          sent += 1
          if underWay.updateValue(events, forKey: batch) != nil { violations.append("\(events) leave twice") }
          if isOffline, client.triggered.state.flags.contains(.offline) {
            violations.append("\(events) leave without a network")
          }
          if !mayLeave { violations.append("\(events) leave during a wait") }
          for event in events where gone.contains(event) { violations.append("\(event) leaves, and is gone") }
        case .delivered(let events):
          delivered += events.count
          settle(events)
        case .lost(let events, _):
          lost += events.count
          settle(events)
        case .wake, .step: break
        }
      }
    }

    mutating func settle(_ events: Range<UInt32>) {
      for event in events where !gone.insert(event).inserted { violations.append("\(event) is gone twice") }
    }

    mutating func check() {
      if let bug = client.triggered.host.bug { violations.append(bug) }
      var held: Set<UInt32> = []
      var last: UInt32 = 0
      for batch in client.held {
        if batch.events.isEmpty || batch.events.lowerBound < last {
          violations.append("the queue is out of order")
        }
        last = batch.events.upperBound
        for event in batch.events where gone.contains(event) || !held.insert(event).inserted {
          violations.append("\(event) is held, and elsewhere")
        }
        if batch.isUploading != (underWay[batch.id] == batch.events) {
          violations.append("\(batch.events) are under way to the one, not to the other")
        }
      }
      let unsealed = Int(client.triggered.unsealed)
      if held.count + gone.count + unsealed != Int(created) {
        violations.append(
          "of \(created) events \(held.count) are held, \(gone.count) gone, \(unsealed) unsealed")
      }
      if underWay.count > Int(options.uploads) { violations.append("\(underWay.count) uploads at once") }
    }

    /// Killed and launched.
    mutating func relaunch() {
      let stored = client.snapshot
      let unsealed = client.triggered.unsealed
      var holding = client.held.map {
        (firstEvent: $0.events.lowerBound, events: UInt32($0.events.count), createdAt: now)
      }
      if unsealed > 0 { holding.append((firstEvent: created - unsealed, events: unsealed, createdAt: now)) }
      client = UploadClient(options: options, config: config, random: SeededGenerator(seed: random.next()))
      underWay = [:]
      isOffline = false
      _ = client.launch(stored, holding: holding, nextEvent: created, at: now)
    }

    mutating func response() -> UploadResponse {
      let wait: Int64? = below(2) == 0 ? nil : Int64(below(20)) * 1_000_000
      let statuses = [200, 200, 200, 204, 429, 429, 503, 500, 400, 401, 408, 413, 511, 100, 302, 0, 600]
      let i = below(statuses.count + 2)
      return i < statuses.count ? .status(statuses[i], retryAfter: wait) : .noStatus
    }
  }

  private static func draw(_ random: inout SeededGenerator) -> (ClientOptions, HTTPConfig) {
    func below(_ limit: Int) -> Int { Int(random.next() >> 33) % limit }
    func chance(_ percent: Int) -> Bool { below(100) < percent }
    func pick<T>(_ values: [T]) -> T { values[below(values.count)] }
    var policy = pick([
      ClientPolicy.tapiDocument, .segmentSwift, .segmentKotlin, .segmentReactNative, .offlineFirst, .datafly,
      .withoutRetryState,
    ])
    for entry in ClientPolicy.switches where chance(15) {
      let value = pick(entry.values).replacing(":S", with: ":\(below(30))").replacing(":P", with: ":20")
      _ = entry.set(value, in: &policy)
    }
    let isRebatch = chance(50)
    var gates = ClientGates()
    if chance(40) {
      if chance(40) { gates.rateGate = RateGate(RateWindow(slots: below(4) + 1, span: seconds(8))) }
      gates.reservesWholeRun = chance(50)
      gates.restartsRun = chance(30)
      if chance(40) {
        gates.breaker = CircuitBreaker(
          requests: 4, minimumFailures: 2, openTime: seconds(6), retriesOnly: chance(30),
          failsWhenOpen: chance(30))
      }
      if chance(30) { gates.failureWindow = FailureWindow(failures: 3, span: seconds(20), queries: 2) }
      let refuses = chance(50)
      gates.failureWindow?.refuses = refuses
      if chance(30) { gates.projectDelay = ProjectDelay(base: seconds(2), longest: seconds(20)) }
      if chance(30) { gates.retryBudget = RetryBudget(perRun: below(3)) }
      if chance(20) { gates.retryBudget = RetryBudget(maxTokens: 4, tokenRatio: 500) }
      if chance(30) { gates.throttle = AdaptiveThrottle() }
      if chance(30) { gates.controller = BackpressureController(longestConcurrency: 3, smallestBatch: 1) }
      gates.reconciles = chance(40)
      gates.losesWhileRateLimited = chance(20)
      if !isRebatch, !gates.reservesWholeRun, refuses, policy.limitsCheck == .whenDue {
        gates.lanes = PriorityLanes(
          interactivePartsPerMillion: 400_000, oneBelowAfter: gates.restartsRun ? nil : 2)
      }
    }
    var options = ClientOptions {
      $0.uploads = pick([1, 2, 3, .max])
      $0.isRebatch = isRebatch
      $0.flushWhileUploading = pick(FlushWhileUploading.allCases)
      $0.rateLimitEndsLoop = chance(50)
      $0.saving = pick([.atOnce, .atOnceAsItIs])
      $0.triggersThatSkipWaits = chance(20) ? ClientTriggers([.manual]) : []
      $0.wakesByTimer = chance(50)
      $0.maximumBatchEvents = pick([1, 2, 7])
      $0.limit = pick([3, 12, 1_000])
      $0.splitsOn413 = !isRebatch && chance(30) && gates.lanes == nil
      $0.growsUntilFailure = !isRebatch && chance(20)
      $0.credentialRefresh = seconds(1)
      $0.gates = gates
    }.with(policy, actsAtFlushEnd: isRebatch && chance(50))
    if !isRebatch, options.flushWhileUploading == .joins, gates.lanes == nil, !gates.reservesWholeRun,
      !gates.restartsRun, chance(50)
    {
      options.whileWaiting = .blocks
      options.batchLimit = pick([.max, 2, 5])
      if !options.growsUntilFailure, chance(50) { options.overflow = .refusesNewest }
    }
    var config = HTTPConfig()
    config.isManaged = !chance(15)
    config.rateLimit.isEnabled = chance(80)
    config.rateLimit.keepsWhenOff = chance(20)
    config.rateLimit.maxRetryCount = pick([0, 1, 3, 100])
    config.rateLimit.maxRetryInterval = seconds(pick([1, 20]))
    config.backoff.isEnabled = chance(80)
    config.backoff.keepsWhenOff = chance(20)
    config.backoff.maxRetryCount = pick([0, 1, 3, 100])
    config.backoff.maxTotalBackoffDuration = seconds(pick([0, 60, 43_200]))
    config.backoff.jitter = pick([.none, .full, .additive(percent: 10), .additive(percent: 500)])
    config.backoff.statuses.dropsRateLimited = chance(20)
    if chance(20) { config.backoff.statuses = StatusTable(everything: .retry) }
    return (options, config)
  }

  @Test(
    "Every event is in one place, nothing leaves twice at once or when it may not: 150 clients, exhaustively 1,000, 300 steps each"
  )
  func everything() {
    var (sent, delivered, lost) = (0, 0, 0)
    let clients = TestDepth.cases(150, exhaustively: 1_000)
    for seed in 1...UInt64(clients) {
      var watcher = Watcher(seed: seed)
      for step in 1...300 where watcher.violations.isEmpty {
        watcher.step()
        for violation in watcher.violations.prefix(1) {
          Issue.record("seed \(seed), step \(step): \(violation)\n\(watcher.options)\n\(watcher.config)")
        }
      }
      sent += watcher.sent
      delivered += watcher.delivered
      lost += watcher.lost
    }
    #expect(min(sent, delivered, lost) > 10 * clients, "\(sent) \(delivered) \(lost)")
  }
}
