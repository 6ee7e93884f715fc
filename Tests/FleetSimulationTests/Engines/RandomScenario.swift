import ScenarioModel
import ShippedClients
import ShippedQuirks
import SimulationKernel
import TAPIModel
import TestClients
import TestScenarios
import UploadGating
import UploadPipeline
import UploadRetry

/// Draws small scenarios that between them use everything the model has: the seed names the scenario.
struct RandomScenario {
  let key: RandomKey
  private(set) var drawn: UInt64 = 0

  static func scenario(seed: UInt64) -> Scenario {
    var draw = RandomScenario(key: RandomKey(seed: seed))
    var scenario = draw.scenario(seed: seed)
    draw.drawRules(&scenario)
    draw.drawRetryAfterHeader(&scenario.tapi)
    draw.drawDisciplines(&scenario.tapi)
    draw.drawActions(&scenario)
    draw.drawConnections(&scenario)
    draw.drawSettingsFetches(&scenario)
    draw.drawProxies(&scenario.tapi)
    draw.drawPush(&scenario)
    draw.drawForms(&scenario)
    draw.drawCuts(&scenario)
    draw.drawCrash(&scenario.tapi)
    return scenario
  }

  init(key: RandomKey) { self.key = key }

  mutating func int(_ range: ClosedRange<Int>) -> Int {
    drawn += 1
    return Int(key.child(drawn).uniform(Int64(range.lowerBound), through: Int64(range.upperBound)))
  }

  mutating func chance(_ percent: Int) -> Bool { int(1...100) <= percent }

  mutating func pick<T>(_ choices: [T]) -> T { choices[int(0...choices.count - 1)] }

  mutating func scenario(seed: UInt64) -> Scenario {
    let duration = Span.seconds(Int64(int(60...400)))
    var fleet = (0..<int(1...3)).map { cohort(number: $0) }
    let long = longDuration(&fleet)
    let load = fleet.reduce(0.0) { $0 + NormalLoad.batchesPerSecond(of: $1) * Double($1.devices) }
    let capacity = max(load * Double(int(30...300)) / 100, 0.05)
    let server: TAPIConfiguration.Server
    if chance(50) {
      var bucket = TokenBucketConfiguration(
        capacityMilliRequestsPerSecond: Int64(capacity * 1_000), burst: Int64(int(1...20)))
      if !chance(50) { bucket.serviceTime = .exponential(mean: .milliseconds(Int64(int(1...4_000)))) }
      server = .bucket(bucket)
    } else {
      let workers = int(1...6)
      let mean = Int64(Double(workers) * 1e6 / capacity)
      server = .workers(
        WorkersConfiguration(
          count: workers,
          serviceTime: pick([
            .exponential(mean: Span(microseconds: mean)), .constant(Span(microseconds: mean)),
            .uniform(.zero, Span(microseconds: mean * 2)),
          ]), serviceTimePerEvent: chance(30) ? .milliseconds(5) : .zero,
          queueLimit: chance(70) ? int(0...30) : nil))
    }
    let overload = Overload(
      status: pick([429, 429, 503, 500, 400, 401]),
      retryAfter: pick([
        .none, .fixed(.seconds(Int64(int(0...20)))), .spread(from: .seconds(1), to: .seconds(30)),
      ]))
    var incidents: [Incident] = []
    var time = Instant(microseconds: Int64(int(0...100_000_000)))
    for _ in 0..<int(0...3) {
      let length = Span(microseconds: Int64(int(1...80_000_000)))
      let kind: Incident.Kind =
        chance(60)
        ? .outage(
          status: pick([503, 500, 429, 404, 401, 413, nil, nil]),
          retryAfter: pick([.none, .fixed(.seconds(7))]),
          keepsWork: chance(50))
        : .brownout(factorPartsPerMillion: Int64(int(0...2_000_000)))
      incidents.append(Incident(kind: kind, start: time, duration: length))
      time = time + length + Span(microseconds: Int64(int(0...60_000_000)))
    }
    if chance(30) {
      incidents.append(
        Incident(
          kind: .cdnOutage, start: Instant(microseconds: chance(40) ? 0 : Int64(int(1...60_000_000))),
          duration: Span(microseconds: Int64(int(1...120_000_000)))))
    }
    let interval = pick([Span.seconds(1), .milliseconds(700), .seconds(30)])
    if long != nil {
      for i in incidents.indices {
        incidents[i].start = Instant(microseconds: 12 * incidents[i].start.microseconds)
      }
    }
    return Scenario(
      seed: seed, duration: long ?? duration, interval: long != nil ? .seconds(30) : interval,
      tapi: TAPIConfiguration(server: server, overload: overload, incidents: incidents), fleet: fleet)
  }

  private mutating func cohort(number: Int) -> Cohort {
    let interval = pick([Span.seconds(30), .seconds(10), .milliseconds(7_777), .seconds(1)])
    let phase: EventPhase = chance(50) ? .flush : .random
    let steady: EventProcess =
      chance(60)
      ? .poisson(meanGap: .milliseconds(Int64(int(200...20_000))))
      : .periodic(every: chance(50) ? interval : .milliseconds(Int64(int(500...30_000))), phase: phase)
    let events = chance(35) ? varying() : steady
    let count = chance(60) ? int(1...30) : nil
    let hasInterval = count == nil || chance(80)
    var cohort = Cohort(name: "cohort-\(number)", devices: int(1...25), events: events)
    cohort.flush = FlushPolicy(
      count: count, interval: hasInterval ? interval : nil, isSynchronised: chance(20))
    if cohort.flush.isSynchronised, hasInterval, number % 2 == 1 {
      cohort.flush.phase = Span(microseconds: interval.microseconds / 3)
    }
    if hasInterval { drawPhases(&cohort.flush, interval) }
    cohort.queue = QueuePolicy(
      mode: chance(50) ? .files : .rebatch, limit: pick([5, 30, 1_000]),
      maximumBatchEvents: pick([3, 20, 500]))
    if chance(20) { cohort.eventsAtOnce = int(2...9) }
    if chance(40) {
      cohort.spikes = (0..<int(1...2)).map { _ in spike(withEvents: cohort.eventsAtOnce == 1) }
    }
    cohort.retries = chance(50) ? .gate : .timer
    cohort.uploadConcurrency = pick([1, 1, 2, 3, Int.max])
    cohort.timeout = .milliseconds(Int64(pick([300, 1_000, 5_000, 15_000, 30_000])))
    cohort.latency = pick([
      .constant(.milliseconds(50)), .constant(.milliseconds(7)),
      .logNormal(median: .milliseconds(80), p99: .milliseconds(600), minimum: .milliseconds(10)),
      .logNormal(median: .milliseconds(150), p99: .seconds(4), minimum: .milliseconds(20)),
      .uniform(.milliseconds(5), .milliseconds(400)),
    ])
    cohort.settings = settings()
    drawClient(&cohort)
    drawWorld(&cohort)
    drawSizes(&cohort)
    if chance(50) {
      cohort.lifecycle = Lifecycle(
        meanTimeBetweenRestarts: chance(60) ? .seconds(Int64(int(5...200))) : nil,
        synchronised: (0..<int(0...2)).map { _ in
          Lifecycle.SynchronisedRestart(
            time: chance(30) ? .start + interval : Instant(microseconds: Int64(int(0...200_000_000))),
            spread: chance(50) ? .zero : .seconds(Int64(int(1...30))))
        }, keepsState: chance(50), flushesAtLaunch: chance(60))
    }
    if chance(30) {
      cohort.rollout = SettingsRollout(
        time: Instant(microseconds: chance(30) ? 0 : Int64(int(1...100_000_000))),
        sharePartsPerMillion: pick([0, 1_000_000, Int64(int(0...1_000_000))]), settings: settings())
    }
    if drawn % 3 == 1, case .periodic(let every, _) = cohort.events, cohort.queue.mode == .files,
      cohort.page == nil
    {
      (cohort.events, cohort.eventsAtOnce) = (.periodic(every: every, phase: .random), 1)
      cohort.holdOnePoll()
    }
    return cohort
  }

  /// Rates that vary in time.
  private mutating func varying() -> EventProcess {
    let gap = Span.milliseconds(Int64(int(200...5_000)))
    let period = chance(60) ? Span.seconds(Int64(int(60...200))) : nil
    switch int(0...2) {
    case 0: return .varying(meanGap: gap, sine(period ?? .seconds(90)))
    case 1: return .varying(meanGap: gap, points(period))
    default:
      let rows = (0..<int(1...5)).map {
        ArrivalRates.Row(
          time: .start + .seconds(Int64($0 * 40 + int(0...30))),
          microEventsPerSecond: Int64(int(0...20_000_000)))
      }
      return .replay(ArrivalRates(rows: rows, sharePartsPerMillion: pick([1_000_000, 300_000])))
    }
  }

  private mutating func sine(_ period: Span) -> RateCurve {
    RateCurve(
      .sine(amplitudePartsPerMillion: Int64(int(0...1_000_000)), peak: .seconds(Int64(int(0...100)))),
      period: period)
  }

  private mutating func points(_ period: Span?) -> RateCurve {
    let points = (0..<int(1...4)).map {
      RateCurve.Point(
        time: .seconds(Int64($0 * 13 + int(0...10))),
        factorPartsPerMillion: Int64(pick([0, 500_000, 3_000_000]) + int(0...9)))
    }
    return RateCurve(.points(points), period: period)
  }

  private mutating func rateCurve() -> RateCurve {
    let period = Span.seconds(Int64(int(60...200)))
    return chance(50) ? sine(period) : points(chance(60) ? period : nil)
  }

  /// Links, time-outs, sizes and offline periods.
  private mutating func drawWorld(_ cohort: inout Cohort) {
    if chance(30) {
      cohort.link.uploadBytesPerSecond = chance(50) ? pick([800, 5_000, 1_000_000]) : nil
      cohort.link.requestLossPartsPerMillion = pick([0, 100_000, 600_000])
      cohort.link.answerLossPartsPerMillion = pick([0, 100_000, 600_000])
    }
    if chance(20) {
      cohort.connectTimeout = min(cohort.timeout, .milliseconds(Int64(pick([20, 300, 5_000]))))
    }
    if chance(20) { cohort.queue.maximumBatchBytes = pick([100, 4_000, 20_000]) }
    if chance(30), cohort.queue.mode == .files { cohort.queue.splitsOn413 = true }
    drawSessions(&cohort)
    guard chance(35) else { return }
    func some(_ draw: inout RandomScenario) -> Distribution {
      let span = Span.milliseconds(Int64(draw.int(1_000...60_000)))
      return draw.chance(50) ? .constant(span) : .exponential(mean: span)
    }
    var connectivity = Connectivity(flushesOnReconnect: chance(60))
    if chance(70) {
      let (online, offline) = (some(&self), some(&self))
      connectivity.periods = .init(
        online: online, offline: offline, sharePartsPerMillion: pick([1_000_000, 500_000]))
    }
    connectivity.interruptions = (0..<int(0...2)).map { _ in
      .init(
        start: Instant(microseconds: pick([0, 30_000_000, Int64(int(0...200_000_000))])),
        duration: .milliseconds(Int64(int(1...60_000))), sharePartsPerMillion: pick([1_000_000, 500_000]))
    }
    cohort.connectivity = connectivity
  }

  /// Messages that open closed apps.
  private mutating func drawPush(_ scenario: inout Scenario) {
    guard scenario.fleet.contains(where: { $0.sessions != nil }), chance(60) else { return }
    scenario.push = (0..<int(1...3)).map { _ in
      let time = Instant(microseconds: pick([0, Int64(int(0...200_000_000))]))
      let cohorts = chance(50) ? nil : ["cohort-\(int(0...2))"]
      var campaign = PushCampaign(
        time: time, over: pick([.zero, .seconds(1), Span.milliseconds(Int64(int(0...60_000)))]),
        opensPartsPerMillion: pick([1_000_000, 400_000]),
        delay: pick([.constant(.zero), .exponential(mean: .seconds(10)), .uniform(.zero, .seconds(90))]))
      campaign.every = chance(40) ? Span.seconds(Int64(int(60...90))) : nil
      campaign.cohorts = cohorts
      return campaign
    }
  }

  /// The app is closed at times.
  private mutating func drawSessions(_ cohort: inout Cohort) {
    guard chance(15) else { return }
    var inBackground = chance(50)
    if case .periodic = cohort.events { inBackground = true }
    let length = Span.milliseconds(Int64(int(100...60_000)))
    cohort.sessions = Sessions(
      sharePartsPerMillion: pick([20_000, 300_000, 900_000]),
      length: chance(50) ? .constant(length) : .exponential(mean: length),
      createsEventsInBackground: inBackground)
    cohort.sessions?.curve = chance(50) ? rateCurve() : nil
    if chance(60), cohort.page == nil { cohort.os = windows() }
    drawSystem(&cohort)
  }

  /// Devices that share a part of their phases, and clocks and answers that move them.
  private mutating func drawPhases(_ flush: inout FlushPolicy, _ interval: Span) {
    if flush.isSynchronised, chance(30) {
      flush.togetherPartsPerMillion = 400_000
      flush.spread = chance(50) ? .zero : Span(microseconds: interval.microseconds / 2)
    }
    if chance(35) { flush.rearm = pick([.afterFlush, .afterAnswer, .wallClock]) }
    if flush.rearm != .wallClock, chance(20) { flush.driftPartsPerMillion = pick([50, 10_000]) }
  }

  private mutating func windows() -> BackgroundWindows {
    let first = Span.milliseconds(Int64(int(1_000...20_000)))
    return BackgroundWindows(
      first: first, growthPartsPerMillion: chance(50) ? 1_000_000 : 2_500_000,
      longest: chance(50) ? nil : first + .seconds(20),
      length: pick([.milliseconds(1), .seconds(2), .seconds(15)]),
      flexibility: pick([.zero, .milliseconds(1), .seconds(7)]),
      alignment: pick(BackgroundWindows.Alignment.allCases))
  }

  private mutating func spike(withEvents: Bool) -> Spike {
    let flushes = !withEvents || chance(70)
    return Spike(
      time: Instant(microseconds: pick([0, 30_000_000, Int64(int(0...200_000_000))])),
      spread: chance(40) ? .zero : .milliseconds(Int64(int(1...40_000))),
      sharePartsPerMillion: pick([1_000_000, 500_000]), events: withEvents ? int((flushes ? 0 : 1)...30) : 0,
      flushes: flushes, every: chance(40) ? .seconds(Int64(int(60...120))) : nil)
  }

  private mutating func settings() -> HTTPConfig {
    var settings = HTTPConfig()
    settings.backoff.jitter = pick(
      Jitter.names.flatMap { name in
        ["10", "100"].compactMap {
          Jitter(
            name: name.replacing("P", with: $0).replacing("T:T", with: "1s:9s").replacing("T", with: "2s"))
        }
      } + [.additive(percent: 400)])
    // What clients make of Settings that are not there, or strange.
    settings.isManaged = !chance(10)
    settings.rateLimit.keepsWhenOff = chance(10)
    settings.backoff.keepsWhenOff = chance(10)
    settings.backoff.statuses.dropsRateLimited = chance(15)
    settings.backoff.isEnabled = chance(85)
    settings.backoff.maxRetryCount = pick([0, 2, 100])
    settings.backoff.baseBackoffInterval = pick([100_000, 500_000, 5_000_000])
    settings.backoff.maxBackoffInterval = pick([1_000_000, 30_000_000, 300_000_000])
    settings.backoff.maxTotalBackoffDuration = pick([0, 20_000_000, 43_200_000_000])
    settings.rateLimit.isEnabled = chance(85)
    settings.rateLimit.maxRetryCount = pick([0, 3, 100])
    settings.rateLimit.maxRetryInterval = pick([1_000_000, 10_000_000, 300_000_000])
    settings.rateLimit.maxTotalBackoffDuration = pick([10_000_000, 43_200_000_000])
    return settings
  }

  /// Half of the cohorts run a preset as it is or with a few switches turned, the others any mixture of switches.
  private mutating func drawClient(_ cohort: inout Cohort) {
    drawUploadLoop(&cohort)
    var turned = 50
    if chance(50) {
      let preset = pick(ClientPreset.all)
      cohort.take(preset)
      if preset.settingsDefaults != HTTPConfig() || chance(20) { cohort.settings = preset.settingsDefaults }
      turned = pick([0, 0, 15])
    }
    if chance(turned == 0 ? 20 : 50) { drawGates(&cohort) }
    for entry in ClientPolicy.switches
    where !["retryAfterCap", "backoffHolds"].contains(entry.name) && chance(turned) {
      let value = pick(entry.values).replacing(":S", with: ":\(int(0...90))")
        .replacing(":P", with: ":\(int(1...100))").replacing(":T", with: ":\(drawn % 9)s")
      precondition(entry.set(value, in: &cohort.policy), "\(entry.name) does not take \(value)")
    }
    // A preset as it is stays so.
    if turned != 0, drawn % 4 == 1 { cohort.policy.retryAfterCap = .longestRetryAfter }
    if turned != 0, drawn % 9 == 5 { cohort.gates.losesWhileRateLimited = true }
    if turned != 0, drawn % 8 == 6 { cohort.policy.backoffHolds = .client }
    drawNewerParts(&cohort)
    if turned != 0 { drawReactions(&cohort) }
  }

  private static func isRare(_ events: EventProcess) -> Bool {
    switch events {
    case .poisson(let gap), .periodic(let gap, _), .varying(let gap, _): gap >= .seconds(1)
    case .replay: false
    }
  }

  /// Parts that take no draw of their own, so that those of earlier ones stay.
  private func drawNewerParts(_ cohort: inout Cohort) {
    if drawn % 5 == 2 { cohort.failureEndsLoop.toggle() }
    if drawn % 7 == 3 { cohort.countsHeldEvents.toggle() }
    if drawn % 6 == 4 { cohort.countFlushWhileFailing.toggle() }
    if drawn % 4 == 3, cohort.queue.mode == .files { cohort.queue.growsUntilFailure = true }
    // Each failure of a page leaves a loop that polls three times a second: what happens often makes a run that nobody waits for.
    if drawn % 11 == 7, Self.isRare(cohort.events) {
      var page = page()
      let strategies = BrowserOptions.Strategy.allCases
      page.strategy = strategies[Int(drawn / 11) % strategies.count]
      page.savesEvents = drawn % 3 != 0
      cohort.page = page
    }
    if drawn % 10 == 5, cohort.queue.mode == .files {
      cohort.whileWaiting = .blocks
      cohort.flushWhileUploading = .joins
      (cohort.gates.reservesWholeRun, cohort.gates.restartsRun) = (false, false)
      cohort.queue.batchLimit = drawn % 3 == 0 ? .max : 4
      cohort.queue.overflow = drawn % 4 == 1 ? .refusesNewest : .dropsOldest
    }
    if cohort.whileWaiting == .blocks {
      let gates = cohort.gates
      if cohort.flushWhileUploading != .joins || gates.reservesWholeRun || gates.restartsRun {
        cohort.whileWaiting = .frees
      }
    }
    if cohort.queue.overflow == .refusesNewest { cohort.queue.growsUntilFailure = false }
    if drawn % 3 == 1, cohort.queue.mode == .files, !cohort.queue.splitsOn413, !cohort.gates.reservesWholeRun,
      cohort.policy.limitsCheck == .whenDue, cohort.whileWaiting == .frees
    {
      cohort.gates.lanes = PriorityLanes(
        interactivePartsPerMillion: 400_000, oneBelowAfter: drawn % 2 == 0 ? nil : 2)
    }
  }

  /// What else a client's loop may do in its own way.
  private mutating func drawUploadLoop(_ cohort: inout Cohort) {
    cohort.flushWhileUploading = pick([.joins, .joins, .ignored, .queued])
    cohort.actsAtFlushEnd = cohort.queue.mode == .rebatch && chance(40)
    cohort.rateLimitEndsLoop = chance(60)
    cohort.saving = pick([.atOnce, .atOnceAsItIs, .afterAnswers, .delayed, .never])
    if chance(40) {
      cohort.triggers = ClientTriggers(ClientTrigger.allCases.filter { _ in chance(75) })
      // A device that never flushes says nothing.
      cohort.triggers.formUnion(ClientTriggers([.count, .interval]))
    }
    if chance(20) { cohort.triggersThatSkipWaits = ClientTriggers([.manual, .reconnect]) }
    cohort.countOfAnEvent = pick([1, 1, 2])
    cohort.countsAllEvents = chance(30)
  }

  /// Any mixture of gates, small enough that they matter in a short run.
  private mutating func drawGates(_ cohort: inout Cohort) {
    var gates = ClientGates()
    if chance(35) {
      let first = RateWindow(slots: int(1...8), span: Int64(int(1...30)) * 1_000_000)
      let second = RateWindow(slots: int(1...3), span: Int64(int(1...3_000)) * 1_000)
      gates.rateGate = RateGate(first, chance(50) ? second : nil)
      gates.reservesWholeRun = chance(50)
      gates.restartsRun = chance(30)
    }
    if chance(35) {
      gates.breaker = CircuitBreaker(
        requests: pick([1, 5, 20, 64]), window: pick([1_000_000, 120_000_000]),
        thresholdPercent: pick([0, 50]),
        minimumFailures: int(1...5), openTime: pick([100_000, 5_000_000, 30_000_000]), probes: int(1...3),
        retriesOnly: drawn % 3 == 0)
    }
    if chance(25) {
      gates.failureWindow = FailureWindow(
        failures: int(1...10), span: Int64(int(1...90)) * 1_000_000, queries: pick([1, 3]),
        exemptPercent: pick([0, 20]))
      gates.failureWindow?.refuses = chance(50)
    }
    if chance(25) {
      gates.projectDelay = ProjectDelay(
        base: pick([0, 500_000, 30_000_000]), longest: pick([0, 60_000_000]))
    }
    if chance(35) {
      let bucket = RetryBudget.Bucket(
        capacity: int(1...5), perSuccess: pick([0, 100, 1_000]), trickle: pick([nil, 5_000_000]))
      gates.retryBudget = RetryBudget(perRun: pick([nil, 0, 3]), bucket: pick([nil, bucket]))
    }
    if chance(35) {
      gates.throttle = AdaptiveThrottle(
        factor: pick([1_000, 2_000]), window: pick([1_000_000, 120_000_000]))
      gates.throttle?.pause = pick([1_000, 5_000_000])
    }
    if chance(35) {
      gates.controller = BackpressureController(
        longestConcurrency: int(1...6), smallestBatch: int(1...5), largestBatch: pick([5, 100]),
        batchStep: int(0...10), decreasePercent: pick([10, 50, 99]))
    }
    gates.reconciles = chance(30)
    cohort.gates = gates
    cohort.credentialRefresh = pick([.milliseconds(1), .seconds(1)])
  }
}
