import ScenarioFormat
import ScenarioModel
import ShippedClients
import ShippedQuirks
import SimulationKernel
import TAPIModel
import TestClients
import TestScenarios
import TestSupport
import Testing
import UploadGating
import UploadPipeline
import UploadRetry

/// A small seeded generator of the tests' own, so that a failing seed can be run again.
struct TestRandom: RandomNumberGenerator {
  private var generator: SeededGenerator
  /// The seed is mixed first: SplitMix64 from a multiple of its own increment would give each seed the draws of the seed before,
  /// but for the first.
  init(seed: UInt64) {
    var mixed = SeededGenerator(seed: seed)
    generator = SeededGenerator(seed: mixed.next())
  }

  mutating func next() -> UInt64 { generator.next() }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
  mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &self)] }
}

/// Random valid scenarios, with every form of every field.
struct ScenarioGenerator {
  var random: TestRandom
  init(seed: UInt64) { random = TestRandom(seed: seed) }

  mutating func draw<Whole: FixedWidthInteger>(_ range: ClosedRange<Whole>) -> Whole {
    .random(in: range, using: &random)
  }

  /// A span in a range, sometimes round, sometimes not.
  mutating func span(_ range: ClosedRange<Int64>) -> Span {
    let raw = draw(range)
    let unit = random.pick([1, 1_000, 1_000_000, 60_000_000] as [Int64])
    let round = raw / unit * unit
    return Span(microseconds: range.contains(round) ? round : raw)
  }

  mutating func distribution(least: Int64, most: Int64, exponential: Bool) -> Distribution {
    switch draw(0...(exponential ? 3 : 2)) {
    case 0: return .constant(span(least...most))
    case 1:
      let spans = [span(least...most), span(least...most)].sorted()
      return .uniform(spans[0], spans[1])
    case 2:
      let minimum = span(least...most / 4)
      let median = span(minimum.microseconds + 1...most / 2)
      return .logNormal(median: median, p99: span(median.microseconds...most), minimum: minimum)
    default: return .exponential(mean: span(max(least, 1)...most))
    }
  }

  mutating func settings(from defaults: HTTPConfig) -> HTTPConfig {
    var config = defaults
    config.rateLimit.isEnabled = random.chance(80)
    config.rateLimit.maxRetryCount = draw(0...1_000)
    config.rateLimit.maxRetryInterval = span(1_000_000...3_600_000_000).microseconds
    config.backoff.isEnabled = random.chance(80)
    config.backoff.maxRetryCount = min(config.backoff.maxRetryCount, 1_000)
    config.backoff.baseBackoffInterval = span(100_000...60_000_000).microseconds
    config.backoff.maxBackoffInterval = span(1_000_000...3_600_000_000).microseconds
    config.backoff.maxTotalBackoffDuration = span(0...604_800_000_000).microseconds
    config.backoff.jitter = random.pick(
      Jitter.names.flatMap { name in
        ["0", "10", "12.5"].compactMap {
          Jitter(name: name.replacing("P", with: $0).replacing("T", with: "90s"))
        }
      })
    if random.chance(30) { config.backoff.statuses.set(.retry, for: 404) }
    return config
  }

  /// Settings such as shipped SDKs read in their own ways.
  mutating func shippedSettings() -> SettingsValue {
    let value = random.pick(
      [
        .null, .bool(false), .number(1e18), .number(-3), .number(2.5), .number(.infinity), .string("12"),
        .array([]), .object([("429", .string("drop"))]),
      ] as [SettingsValue])
    let key = random.pick(HTTPConfig.knownKeyPaths.filter { $0.contains(".") }).split(separator: ".")
    let config = SettingsValue.object([(String(key[0]), .object([(String(key[1]), value)]))])
    return random.pick([
      .object([]), .object([("httpConfig", value)]), .object([("httpConfig", config)]),
      .object([("integrations", .object([("Segment.io", .object([("httpConfig", config)]))]))]),
    ])
  }

  mutating func cohort(_ name: String, duration: Span) -> Cohort {
    let leastGap = max(1_000, duration.microseconds / 1_000_000_000 + 1)
    let gap = span(leastGap...Units.longestSpan.microseconds)
    // Such a gap is a rate that can be written.
    let round = random.pick([.seconds(10), .seconds(45), Span.minutes(2)])
    var cohort = Cohort(
      name: name, devices: draw(1...1_000_000),
      events: random.pick([
        .poisson(meanGap: gap), .poisson(meanGap: round), .periodic(every: gap, phase: .random),
        .periodic(every: gap, phase: .flush), .varying(meanGap: random.pick([gap, round]), curve()),
        .replay(
          ArrivalRates(
            rows: [
              .init(time: .start + span(0...1_000_000), microEventsPerSecond: draw(0...1_000_000)),
              .init(time: .start + span(1_000_001...9_000_000), microEventsPerSecond: 1),
            ], sharePartsPerMillion: draw(1...1_000_000))),
      ]))
    cohort.eventsAtOnce = random.pick([1, 1, 9])
    if Self.events(cohort.events, in: duration) > 100_000_000 { cohort.eventsAtOnce = 1 }
    if random.chance(30) {
      cohort.spikes = (0..<draw(1...3)).map { _ in spike(withEvents: cohort.eventsAtOnce == 1) }
    }
    cohort.flush.count = random.chance(70) ? draw(1...1_000_000) : nil
    cohort.flush.interval =
      cohort.flush.count == nil || random.chance(70) ? span(1_000...31_622_400_000_000) : nil
    cohort.flush.isSynchronised = random.chance(50)
    if cohort.flush.isSynchronised, let interval = cohort.flush.interval, random.chance(50) {
      cohort.flush.phase = span(0...interval.microseconds - 1)
    }
    if let interval = cohort.flush.interval {
      if cohort.flush.isSynchronised, random.chance(40) {
        cohort.flush.togetherPartsPerMillion = draw(1...1_000_000)
        cohort.flush.spread = span(0...interval.microseconds - 1)
      }
      cohort.flush.rearm = random.pick(FlushPolicy.Rearm.allCases)
      if cohort.flush.rearm != .wallClock { cohort.flush.driftPartsPerMillion = draw(0...10_000) }
    }
    cohort.queue.mode = random.pick([.files, .rebatch])
    cohort.queue.limit = random.chance(20) ? .max : draw(1...1_000_000)
    cohort.queue.maximumBatchEvents = draw(1...65_535)
    cohort.retries = random.pick([.gate, .timer])
    cohort.uploadConcurrency = random.pick([1, 2, 1_000_000, .max])
    cohort.timeout = span(1_000...random.pick([3_600_000_000, 31_622_400_000_000]))
    cohort.latency = distribution(least: 1_000, most: 3_600_000_000, exponential: false)
    cohort.link.uploadBytesPerSecond = random.pick([nil, 1, 50_000, 1_000_000_000_000])
    cohort.link.requestLossPartsPerMillion = draw(0...1_000_000)
    cohort.link.answerLossPartsPerMillion = cohort.timeout > .hours(1) ? 0 : draw(0...1_000_000)
    cohort.connectTimeout = random.chance(30) ? span(1_000...cohort.timeout.microseconds) : nil
    if random.chance(30) {
      cohort.connection.keepAlive = random.chance(30) ? nil : span(1_000...31_622_400_000_000)
      cohort.connection.roundTrips = draw(0...10)
    }
    cohort.queue.maximumBatchBytes = random.pick([nil, 1, 475_000])
    cohort.queue.splitsOn413 = cohort.queue.mode == .files && random.chance(30)
    cohort.queue.growsUntilFailure = cohort.queue.mode == .files && random.chance(30)
    cohort.connectivity = random.chance(40) ? connectivity() : nil
    cohort.sessions = random.chance(30) ? sessions(for: cohort.events) : nil
    if random.chance(20) { cohort.page = page() }
    cohort.holdsOpen = cohort.page == nil && cohort.eventsAtOnce == 1 && random.chance(30)
    if cohort.sessions != nil, cohort.page == nil, duration > .hours(1), random.chance(50) {
      cohort.os = windows()
    }
    let preset = random.pick(ClientPreset.all)
    cohort.preset = preset
    cohort.settingsDefaults = preset.settingsDefaults
    cohort.settings = settings(from: preset.settingsDefaults)
    cohort.settingsFetch = random.chance(30) ? random.pick(SettingsFetch.allCases) : preset.settingsFetch
    cohort.settingsDialect =
      random.chance(30) ? random.pick(SettingsDialect.allCases) : preset.settingsDialect
    if cohort.settingsDialect != .document {
      cohort.settingsSource = shippedSettings()
      cohort.settings =
        cohort.settingsDialect.decode(cohort.settingsSource ?? .null, defaults: preset.settingsDefaults)
        .config
    }
    if random.chance(50) { cohort.gates = random.pick(ClientPreset.all).gates }
    if random.chance(40) { drawGates(&cohort.gates) }
    cohort.policy = policy()
    if random.chance(40) { drawClassDelays(&cohort.policy.classDelays) }
    drawUploadLoop(&cohort)
    drawLanes(&cohort)
    if case .periodic(_, .random) = cohort.events, cohort.queue.mode == .files, cohort.page == nil,
      random.chance(50)
    {
      cohort.eventsAtOnce = 1
      cohort.holdOnePoll()
    }
    if random.chance(30) { cohort.credentialRefresh = span(1_000...31_622_400_000_000) }
    cohort.lifecycle = random.chance(50) ? lifecycle() : nil
    if random.chance(50) {
      cohort.rollout = SettingsRollout(
        time: .start + span(0...31_622_400_000_000), sharePartsPerMillion: draw(0...1_000_000),
        settings: settings(from: preset.settingsDefaults))
      if cohort.settingsDialect != .document {
        let source = shippedSettings()
        cohort.rollout?.source = source
        let read = cohort.settingsDialect.decode(source, defaults: preset.settingsDefaults)
        cohort.rollout?.settings = read.config
      }
    }
    if let time = cohort.rollout?.time {
      cohort.rollout?.fetch = random.pick([nil, span(1_000_000...600_000_000)])
      cohort.rollout?.isAction = time < .start + duration && random.chance(50)
    }
    cohort.eventBytes = random.pick([1, 999, 1_000, 1_500, 100_000_000])
    cohort.requestBytes = random.pick([0, 500, 2_000_000])
    cohort.writeKey = random.pick([nil, "", "a key"])
    return cohort
  }

  /// About how many times of events a device has, at most.
  private static func events(_ events: EventProcess, in duration: Span) -> Int64 {
    switch events {
    case .poisson(let gap), .periodic(let gap, _): duration.microseconds / gap.microseconds
    // No curve of `curve()` is above 2.
    case .varying(let gap, _): 2 * duration.microseconds / gap.microseconds
    // At most one a second for some seconds, and hardly any later.
    case .replay: 0
    }
  }

  mutating func page() -> BrowserOptions {
    var page = BrowserOptions()
    page.strategy = random.pick(BrowserOptions.Strategy.allCases)
    page.size = random.pick([1, 10, draw(1...1_000_000)])
    page.timeout = Double(draw(1...random.pick([10_000, 31_622_400_000])) as Int64)
    page.maxRetries = random.pick([nil, 0, Double(draw(0...1_000))])
    page.retriesEvents = random.chance(50)
    page.savesEvents = random.chance(50)
    page.keepsAlive = random.chance(50)
    return page
  }

  mutating func drawClassDelays(_ delays: inout ClassDelays) {
    for (_, place) in ClassDelays.names where random.chance(60) {
      let base = span(1_000...31_622_400_000_000).microseconds
      delays[keyPath: place] = DelayBounds(base: base, longest: span(base...31_622_400_000_000).microseconds)
    }
  }

  /// Where uploads have an order in which lanes can change something.
  mutating func drawLanes(_ cohort: inout Cohort) {
    cohort.gates.lanes = nil
    guard cohort.queue.mode == .files, !cohort.queue.splitsOn413, cohort.policy.limitsCheck == .whenDue,
      cohort.whileWaiting == .frees, !cohort.gates.reservesWholeRun, random.chance(50)
    else { return }
    cohort.gates.lanes = PriorityLanes(
      interactivePartsPerMillion: draw(0...1_000_000), oneBelowAfter: random.pick([nil, 1, 255]))
  }

  mutating func drawGates(_ gates: inout ClientGates) {
    let time = span(1_000...86_400_000_000).microseconds
    let longer = time + span(0...86_400_000_000).microseconds
    if random.chance(30) {
      let windows = (0..<2).map { _ in
        RateWindow(slots: random.pick([1, 60, 65_535]), span: span(1_000...31_622_400_000_000).microseconds)
      }
      gates.rateGate = RateGate(windows[0], random.pick([nil, windows[1]]))
      gates.reservesWholeRun = random.chance(50)
      gates.restartsRun = random.chance(50)
    }
    if random.chance(30) {
      gates.breaker = CircuitBreaker(
        requests: random.pick([1, 20, 64]), window: time, thresholdPercent: random.pick([0, 50, 99]),
        minimumFailures: draw(1...64), openTime: time, longestOpenTime: longer, probes: draw(1...3),
        retriesOnly: random.chance(50), failsWhenOpen: random.chance(50))
      gates.openTimeJitter = random.pick([
        .none, .full, .equal, .decorrelated, .between(2_500, 3_600_000_000),
      ])
    }
    if random.chance(30) {
      gates.failureWindow = FailureWindow(
        failures: random.pick([1, 65_535]), span: time, queries: random.pick([1, 7, 1_000]),
        exemptPercent: random.pick([0, 33, 100]))
      gates.failureWindow?.refuses = random.chance(50)
    }
    if random.chance(30) { gates.projectDelay = ProjectDelay(base: random.pick([0, time]), longest: longer) }
    if random.chance(30) {
      let bucket = RetryBudget.Bucket(
        capacity: random.pick([1, 60_000]), perSuccess: random.pick([0, 1, 1_000]),
        trickle: random.pick([nil, time]), perRequest: random.pick([0, 0, 200, 1_000]),
        perRetriedSuccess: random.pick([nil, 0, 500]), perTimeout: random.pick([0, 0, 1, 1_000]))
      gates.retryBudget = RetryBudget(
        perRun: random.pick([nil, 0, 65_535]), bucket: random.pick([nil, bucket]),
        refusesWhenSpent: random.chance(50))
      if random.chance(30) {
        gates.retryBudget = RetryBudget(
          maxTokens: random.pick([1, 10, 1_000]), tokenRatio: random.pick([1, 100, 1_000]))
      }
    }
    if random.chance(30) {
      gates.throttle = AdaptiveThrottle(factor: random.pick([1_000, 1_001, 1_000_000]), window: time)
      gates.throttle?.pause = longer
    }
    if random.chance(30) {
      let gap = span(1_000...3_600_000_000).microseconds
      gates.controller = BackpressureController(
        longestConcurrency: random.pick([1, 1_000]), smallestBatch: random.pick([1, 9]),
        largestBatch: random.pick([9, 65_535]), batchStep: random.pick([0, 5]),
        decreasePercent: random.pick([1, 50, 99]), targetLatency: random.pick([nil, time]),
        shortestGap: span(1_000...gap).microseconds, longestGap: random.pick([0, gap]))
    }
    gates.reconciles = random.chance(50)
  }

  mutating func drawUploadLoop(_ cohort: inout Cohort) {
    cohort.flushWhileUploading = random.pick(FlushWhileUploading.allCases)
    cohort.actsAtFlushEnd = cohort.queue.mode == .rebatch && random.chance(50)
    cohort.rateLimitEndsLoop = random.chance(50)
    cohort.saving = random.pick(Saving.allCases)
    cohort.triggers = ClientTriggers(ClientTrigger.allCases.filter { _ in random.chance(70) })
    cohort.countOfAnEvent = random.pick([1, 2])
    cohort.countsAllEvents = random.chance(50)
    cohort.countsHeldEvents = random.chance(50)
    cohort.countFlushWhileFailing = random.chance(50)
    cohort.failureEndsLoop = random.chance(50)
    if cohort.queue.mode == .rebatch { return }
    cohort.queue.batchLimit = random.pick([.max, 1, 1_000_000])
    let refuses =
      !cohort.queue.growsUntilFailure && cohort.flushWhileUploading != .queued && random.chance(50)
    cohort.queue.overflow = refuses ? .refusesNewest : .dropsOldest
    let hasRuns = cohort.gates.reservesWholeRun || cohort.gates.restartsRun
    let blocks = !hasRuns && cohort.flushWhileUploading == .joins && random.chance(50)
    cohort.whileWaiting = blocks ? .blocks : .frees
  }

  mutating func curve() -> RateCurve {
    let period = random.pick([nil, span(60_000_000...Units.longestSpan.microseconds)])
    if let period, random.chance(40) {
      let amplitude: Int64 = draw(0...1_000_000)
      return RateCurve(
        .sine(amplitudePartsPerMillion: amplitude, peak: span(0...86_400_000_000)), period: period)
    }
    let times = Set((0..<3).map { _ in span(0...59_999_999) }).sorted()
    return RateCurve(
      .points(times.map { .init(time: $0, factorPartsPerMillion: draw(1...2_000_000)) }), period: period)
  }

  mutating func spike(withEvents: Bool) -> Spike {
    Spike(
      time: .start + span(0...31_622_400_000_000), spread: span(0...60_000_000),
      sharePartsPerMillion: draw(0...1_000_000), events: withEvents ? draw(1...1_000) : 0,
      flushes: !withEvents || random.chance(50),
      every: random.pick([nil, span(60_000_000...31_622_400_000_000)]))
  }

  mutating func sessions(for events: EventProcess) -> Sessions {
    let length = span(1_000...60_000_000)
    var inBackground = random.chance(50)
    if case .periodic = events { inBackground = true }
    var curve = random.chance(50) ? self.curve() : nil
    if case .replay = events, !inBackground { curve = nil }
    var sessions = Sessions(
      sharePartsPerMillion: draw(1_000...999_999),
      length: random.chance(50) ? .constant(length) : .exponential(mean: length),
      createsEventsInBackground: inBackground)
    sessions.curve = curve
    return sessions
  }

  /// Campaigns to cohorts with sessions, with and without a name.
  mutating func push(to fleet: [Cohort]) -> [PushCampaign] {
    let names = fleet.filter { $0.sessions != nil }.map(\.name)
    if names.isEmpty { return [] }
    return (0..<draw(0...2)).map { index in
      let over = span(0...3_600_000_000)
      var campaign = PushCampaign(
        time: .start + span(0...31_622_400_000_000), over: over, opensPartsPerMillion: draw(0...1_000_000),
        delay: distribution(least: 0, most: 86_400_000_000, exponential: true))
      campaign.name = random.chance(50) ? "campaign-\(index)" : nil
      campaign.cohorts = random.pick([nil, names])
      campaign.every = random.pick([nil, span(max(60_000_000, over.microseconds)...31_622_400_000_000)])
      return campaign
    }
  }

  /// None of which opens behind the end of the shortest run.
  mutating func windows() -> BackgroundWindows {
    if random.chance(30) { return random.pick(BackgroundWindows.System.allCases).windows }
    let first = span(1_000_000...2_000_000)
    let longest = random.chance(50) ? nil : span(first.microseconds + 1...31_622_400_000_000) as Span?
    return BackgroundWindows(
      first: first, growthPartsPerMillion: longest == nil ? 1_000_000 : draw(1_000_000...100_000_000),
      longest: longest, length: span(1_000...31_622_400_000_000), flexibility: span(0...31_622_400_000_000),
      alignment: random.pick(BackgroundWindows.Alignment.allCases))
  }

  mutating func connectivity() -> Connectivity {
    func period(_ generator: inout ScenarioGenerator) -> Distribution {
      let span = generator.span(1_000...31_622_400_000_000)
      return generator.random.chance(50) ? .constant(span) : .exponential(mean: span)
    }
    var connectivity = Connectivity(flushesOnReconnect: random.chance(50))
    if random.chance(60) {
      let (online, offline) = (period(&self), period(&self))
      connectivity.periods = .init(
        online: online, offline: offline, sharePartsPerMillion: draw(0...1_000_000))
    }
    connectivity.interruptions = (0..<draw(0...2)).map { _ in
      .init(
        start: .start + span(0...31_622_400_000_000), duration: span(1...31_622_400_000_000),
        sharePartsPerMillion: draw(0...1_000_000))
    }
    return connectivity
  }

  /// A preset with any switches turned.
  mutating func policy() -> ClientPolicy {
    var policy = random.pick(ClientPreset.all).policy
    for entry in ClientPolicy.switches where random.chance(40) {
      let value = random.pick(entry.values).replacing(":S", with: ":\(draw(0...3_600))").replacing(
        ":P", with: ":\(draw(1...100))"
      ).replacing(":T", with: ":\(draw(1...9)).5s")
      let isSet = policy.set(name: entry.name, value: value)
      precondition(isSet, "\(entry.name) does not take \(value)")
    }
    policy.jitterDraw = random.pick(RetryPolicy.JitterDraw.allCases)
    return policy
  }

  mutating func lifecycle() -> Lifecycle {
    Lifecycle(
      meanTimeBetweenRestarts: random.pick([
        nil, .seconds(43_200), .seconds(1), span(1_000_000...31_622_400_000_000),
      ]),
      synchronised: (0..<draw(0...3)).map { _ in
        .init(time: .start + span(0...31_622_400_000_000), spread: span(0...31_622_400_000_000))
      }, keepsState: random.chance(50), flushesAtLaunch: random.chance(50))
  }

  mutating func scenario() -> Scenario {
    var scenario = scenarioWithRetryAfter()
    scenario.tapi.retryAfterHeader = random.pick(RetryAfterHeader.allCases)
    scenario.tapi.retryAfterForm = random.pick(RetryAfterForm.allCases)
    scenario.tapi.actions = actions(in: scenario)
    scenario.push = push(to: scenario.fleet)
    scenario.tapi.incidents += cuts(of: scenario.fleet)
    if case .bucket = scenario.tapi.server, let crash = scenario.tapi.rules.crash {
      scenario.tapi.rules.crash?.queue = nil
      if crash.rateMilliRequestsPerSecond == nil { scenario.tapi.rules.crash = nil }
    }
    if random.chance(40) {
      scenario.tapi.connections = connections(at: scenario.tapi.server)
    } else if random.chance(60) {
      scenario.tapi.proxies = proxies()
    }
    if random.chance(40) {
      let hasCapacity = random.chance(70)
      scenario.tapi.settings = SettingsEndpoint(
        capacityMilliRequestsPerSecond: hasCapacity ? draw(1...1_000_000_000_000) : nil,
        burst: hasCapacity ? draw(1...1_000_000_000) : 100, status: draw(400...599))
    }
    return scenario
  }

  private mutating func scenarioWithRetryAfter() -> Scenario {
    let duration = span(1_000...Units.longestSpan.microseconds)
    let leastInterval = max(1_000, (duration.microseconds - 1) / 100_000 + 1)
    var scenario = Scenario(
      seed: random.next(), duration: duration, interval: span(leastInterval...duration.microseconds),
      tapi: TAPIConfiguration(
        server: server(),
        overload: random.pick([Overload(), Overload(status: draw(400...599), retryAfter: retryAfter())]),
        incidents: incidents()),
      fleet: (0..<draw(1...3)).map { cohort("cohort-\($0)", duration: duration) })
    scenario.question = random.pick([nil, "", "Why \"now\"?\n\\ é 😀 \u{1}\u{2028}"])
    scenario.tapi.rules = rules()
    return scenario
  }
}
