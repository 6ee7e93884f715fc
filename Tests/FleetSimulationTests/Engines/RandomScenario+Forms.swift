import FleetSimulation
import ScenarioFormat
import ScenarioModel
import ShippedClients
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing
import UploadGating
import UploadRetry

/// Other values and forms of what other draws have put into a scenario. Each takes draws of its own, so that those of the others
/// stay as they are.
extension RandomScenario {
  /// The draws of a part that nobody else draws from.
  private func apart() -> RandomScenario { RandomScenario(key: key.child(1 << 40 | drawn)) }

  // MARK: A client

  /// Backoffs by class or of other growth, limits of a Retry-After, and the rarer keys of gates.
  func drawReactions(_ cohort: inout Cohort) {
    var draw = apart()
    draw.drawWaits(&cohort.policy.retry)
    if draw.chance(50), let breaker = cohort.gates.breaker {
      cohort.gates.breaker = CircuitBreaker(
        requests: breaker.requests, window: breaker.window, thresholdPercent: breaker.thresholdPercent,
        minimumFailures: breaker.minimumFailures, openTime: breaker.openTime,
        longestOpenTime: breaker.openTime * Int64(draw.int(1...8)), probes: breaker.probes,
        retriesOnly: breaker.retriesOnly, failsWhenOpen: draw.chance(40))
      cohort.gates.openTimeJitter = draw.pick([
        .none, .full, .equal, .decorrelated, .symmetric(percent: 50), .between(0, 9_000_000),
      ])
    }
    if draw.chance(25), !cohort.gates.isEmpty {
      cohort.gates.retryBudget = RetryBudget(
        maxTokens: draw.pick([1, 4, 10]), tokenRatio: draw.pick([100, 1_000]))
    }
    if draw.chance(50), let budget = cohort.gates.retryBudget, let bucket = budget.bucket {
      cohort.gates.retryBudget = RetryBudget(
        perRun: budget.perRun,
        bucket: .init(
          capacity: bucket.capacity, perSuccess: bucket.perSuccess, trickle: bucket.trickle,
          perRequest: draw.pick([0, 100, 1_000]), perRetriedSuccess: draw.pick([nil, 0, 700]),
          perTimeout: draw.pick([0, 300, 1_000])), refusesWhenSpent: draw.chance(30))
    }
    if draw.chance(60), let controller = cohort.gates.controller {
      cohort.gates.controller = draw.paced(controller)
    }
    if draw.chance(50), let lanes = cohort.gates.lanes {
      cohort.gates.lanes = PriorityLanes(
        interactivePartsPerMillion: draw.int(0...1_000_000), oneBelowAfter: lanes.oneBelowAfter)
    }
  }

  private mutating func drawWaits(_ policy: inout RetryPolicy) {
    for (_, place) in ClassDelays.names where chance(15) {
      let base = pick([300_000, 2_000_000, 10_000_000] as [Int64])
      policy.classDelays[keyPath: place] = DelayBounds(base: base, longest: base * pick([1, 4, 30]))
    }
    switch int(1...10) {
    case 1: policy.multiplier = pick([1.5, 3, 10])
    case 2:
      let waits = pick([[1_000], [500, 4_000, 30_000], [20_000, 2_000]] as [[UInt32]])
      policy.waits = DelayLadder(milliseconds: waits) ?? DelayLadder()
    default: break
    }
    if chance(20) { policy.jitterDraw = .onceADevice }
    if chance(10) { policy.immediateRetries = UInt8(int(1...3)) }
    if chance(15) { policy.longestRetryAfter = pick([1_000_000, 4_000_000, 20_000_000]) }
  }

  private mutating func paced(_ controller: BackpressureController) -> BackpressureController {
    let gap = Int64(pick([0, 50_000, 2_000_000, 20_000_000]))
    return BackpressureController(
      longestConcurrency: controller.longestConcurrency, smallestBatch: controller.smallestBatch,
      largestBatch: controller.largestBatch, batchStep: controller.batchStep,
      decreasePercent: controller.decreasePercent, targetLatency: pick([nil, 200_000, 3_000_000]),
      shortestGap: max(1_000, gap / Int64(int(1...20))), longestGap: gap)
  }

  func page() -> BrowserOptions {
    var (draw, page) = (apart(), BrowserOptions())
    page.size = draw.int(1...20)
    page.timeout = Double(draw.int(200...20_000))
    page.maxRetries = draw.pick([nil, 0, 1, 3])
    page.retriesEvents = draw.chance(70)
    page.keepsAlive = draw.chance(50)
    return page
  }

  /// Bytes, which slow links and limits of sizes count.
  func drawSizes(_ cohort: inout Cohort) {
    var draw = apart()
    if draw.chance(25) { cohort.eventBytes = draw.pick([1, 300, 2_500]) }
    if draw.chance(25) { cohort.requestBytes = draw.pick([0, 100, 3_000]) }
  }

  // MARK: Windows of real systems

  func drawSystem(_ cohort: inout Cohort) {
    var draw = apart()
    guard cohort.os != nil, draw.chance(50) else { return }
    cohort.os = draw.pick(BackgroundWindows.System.allCases).windows
  }

  /// The duration of a run in which such windows open, an hour or more; the fleet then does little and its apps are mostly closed.
  /// nil: no windows of a system would open later than in any other run, or a page of a browser would poll all the time.
  func longDuration(_ fleet: inout [Cohort]) -> Span? {
    var draw = apart()
    let firsts = fleet.compactMap { $0.os?.system == nil ? nil : $0.os?.first }
    guard let first = firsts.max(), first >= .minutes(5), fleet.allSatisfy({ $0.page == nil }) else {
      return nil
    }
    for i in fleet.indices {
      fleet[i].devices = draw.int(2...5)
      fleet[i].events = .poisson(meanGap: .seconds(Int64(draw.int(30...120))))
      fleet[i].flush.interval = fleet[i].flush.interval.map { max($0, .seconds(30)) }
      if fleet[i].sessions != nil {
        fleet[i].sessions?.sharePartsPerMillion = 10_000
        fleet[i].sessions?.length = .exponential(mean: .seconds(Int64(draw.int(10...60))))
      }
    }
    return first + .seconds(Int64(draw.int(300...2_400)))
  }

  // MARK: A server and its people

  /// Other distributions than exponential ones, and other forms of a Retry-After.
  func drawForms(_ scenario: inout Scenario) {
    var draw = apart()
    draw.drawServiceTimes(&scenario.tapi)
    for i in scenario.tapi.incidents.indices where draw.chance(40) {
      draw.drawForms(&scenario.tapi.incidents[i].kind)
    }
    for i in scenario.tapi.rules.keyLimits.indices {
      draw.vary(&scenario.tapi.rules.keyLimits[i].retryAfter)
      draw.drawWindow(&scenario.tapi.rules.keyLimits[i])
    }
    for i in scenario.tapi.actions.indices {
      guard case .retryAfter(var wait) = scenario.tapi.actions[i].kind else { continue }
      draw.vary(&wait)
      scenario.tapi.actions[i].kind = .retryAfter(wait)
    }
    for i in scenario.push.indices {
      if draw.chance(50) { scenario.push[i].name = "campaign-\(i)" }
      draw.vary(&scenario.push[i].delay)
    }
    scenario.question = draw.pick([nil, "Does the fleet come back?"])
  }

  /// Cohorts that hold something open, and what cuts them off.
  func drawCuts(_ scenario: inout Scenario) {
    var draw = apart().apart()
    for i in scenario.fleet.indices where scenario.fleet[i].page == nil && scenario.fleet[i].eventsAtOnce == 1
    {
      scenario.fleet[i].holdsOpen = draw.chance(25)
    }
    let names = scenario.fleet.filter(\.holdsOpen).map(\.name)
    for _ in 0..<(names.isEmpty ? 0 : draw.int(1...2)) {
      scenario.tapi.incidents.append(
        Incident(
          kind: .cut(
            cohorts: draw.pick([nil, [draw.pick(names)]]), share: draw.pick([1_000_000, 400_000])),
          start: Instant(microseconds: draw.pick([0, Int64(draw.int(0...200_000_000))])),
          duration: draw.pick([.zero, .milliseconds(Int64(draw.int(1...20_000)))])))
    }
  }

  /// A server that dies of its load.
  func drawCrash(_ tapi: inout TAPIConfiguration) {
    var draw = apart().apart().apart()
    guard draw.chance(25) else { return }
    var crash = LoadCrash(
      patience: .milliseconds(Int64(draw.pick([1, 700, 5_000]))),
      downtime: .milliseconds(Int64(draw.int(1...30_000))))
    if case .workers = tapi.server, draw.chance(70) { crash.queue = draw.int(0...15) }
    if crash.queue == nil || draw.chance(30) {
      crash.rateMilliRequestsPerSecond = Int64(draw.int(500...20_000))
    }
    tapi.rules.crash = crash
  }

  private mutating func drawWindow(_ limit: inout KeyLimit) {
    guard chance(60) else { return }
    limit.rule = .window(
      .init(.milliseconds(Int64(pick([10_000, 60_000, 7_777]))), slides: chance(50)),
      requests: Int64(int(1...40)))
    limit.saysWindowEnd = chance(50)
    if limit.saysWindowEnd { limit.retryAfter = .none }
    if chance(40) { (limit.key, limit.per) = (nil, .all) }
  }

  private mutating func drawServiceTimes(_ tapi: inout TAPIConfiguration) {
    switch tapi.server {
    case .bucket(var bucket):
      vary(&bucket.serviceTime)
      tapi.server = .bucket(bucket)
    case .workers(var workers):
      vary(&workers.serviceTime)
      if var dependency = workers.dependency {
        vary(&dependency.serviceTime)
        workers.dependency = dependency
      }
      if chance(60), workers.concurrencyLimit != nil {
        workers.concurrencyLimit?.smoothing = Int64(int(1...1_000_000))
        workers.concurrencyLimit?.tolerance = Int64(int(1_000_000...4_000_000))
        workers.concurrencyLimit?.longWindow = int(1...60)
      }
      tapi.server = .workers(workers)
    }
  }

  private mutating func drawForms(_ kind: inout Incident.Kind) {
    let wait = pick([
      .spread(from: .seconds(Int64(int(0...3))), to: .seconds(Int64(int(3...20)))),
      RetryAfterPolicy.backlog(atLeast: .seconds(Int64(int(0...3))), atMost: .seconds(Int64(int(3...60)))),
    ])
    switch kind {
    case .outage(nil, _, let keepsWork): kind = .refused(keepsWork: keepsWork)
    case .outage(let status?, _, let keepsWork):
      kind = .outage(status: status, retryAfter: wait, keepsWork: keepsWork)
    case .errors(let status, let share, let afterWork, _):
      kind = .errors(status: status, share: share, afterWork: afterWork, retryAfter: wait)
    case .latency(_, let factor):
      var added = Distribution.exponential(mean: .milliseconds(Int64(int(100...8_000))))
      vary(&added)
      kind = .latency(added: added, factor: factor)
    case .refused, .brownout, .cdnOutage, .lostAnswers, .tokenExpiry, .cut: break
    }
  }

  private mutating func vary(_ wait: inout RetryAfterPolicy) {
    guard case .backlog = wait else { return }
    wait = .backlog(atLeast: .seconds(Int64(int(0...3))), atMost: .seconds(Int64(int(3...60))))
  }

  /// Half of the exponential ones take another form, with a mean that is nearly the same.
  private mutating func vary(_ distribution: inout Distribution) {
    guard case .exponential(let mean) = distribution, chance(50) else { return }
    let unit = max(1, mean.microseconds * Int64(int(70...130)) / 2_000)
    distribution = pick([
      .uniform(.zero, Span(microseconds: unit * 40)),
      .logNormal(
        median: Span(microseconds: unit * 15), p99: Span(microseconds: unit * 80),
        minimum: Span(microseconds: unit * 2)),
    ])
  }
}

@Suite struct FormCoverageTests {
  /// What takes something out of every cohort.
  private static func ofCohorts(_ name: String, _ change: @escaping (inout Cohort) -> Void)
    -> RandomScenario.Part
  {
    (name, { for i in $0.fleet.indices { change(&$0.fleet[i]) } })
  }

  @Test(
    "Each form of a client's waits, gates, pages and sizes changes the run of one random scenario at least")
  func parts() throws {
    let classes = ClassDelays.names.map { name, place in
      Self.ofCohorts(name) { $0.policy.retry.classDelays[keyPath: place] = nil }
    }
    let parts =
      classes + [
        Self.ofCohorts("multiplier") { $0.policy.multiplier = 2 },
        Self.ofCohorts("waits") { $0.policy.waits = DelayLadder() },
        Self.ofCohorts("immediate retries") { $0.policy.immediateRetries = 0 },
        Self.ofCohorts("draws") { $0.policy.jitterDraw = .eachWait },
        Self.ofCohorts("longest Retry-After") { $0.policy.longestRetryAfter = .max },
        Self.ofCohorts("longest open time") {
          if let openTime = $0.gates.breaker?.openTime { $0.gates.breaker?.longestOpenTime = openTime }
        },
        Self.ofCohorts("open time's jitter") { $0.gates.openTimeJitter = .none },
        Self.ofCohorts("open breaker") { $0.gates.breaker?.failsWhenOpen = false },
        Self.ofCohorts("throttling") {
          if $0.gates.retryBudget?.decidesAtFailures == true { $0.gates.retryBudget = nil }
        },
        Self.ofCohorts("budget") { cohort in
          guard let budget = cohort.gates.retryBudget, let bucket = budget.bucket else { return }
          cohort.gates.retryBudget = RetryBudget(
            perRun: budget.perRun,
            bucket: .init(capacity: bucket.capacity, perSuccess: bucket.perSuccess, trickle: bucket.trickle),
            refusesWhenSpent: budget.refusesWhenSpent)
        },
        Self.ofCohorts("latency") { $0.gates.controller?.targetLatency = nil },
        Self.ofCohorts("pace") {
          $0.gates.controller?.shortestGap = 0
          $0.gates.controller?.longestGap = 0
        },
        Self.ofCohorts("lanes") { $0.gates.lanes = nil },
        Self.ofCohorts("polls") { $0.polls = false },
        Self.ofCohorts("page's size") { $0.page?.size = 10 },
        Self.ofCohorts("page's time-out") { $0.page?.timeout = 5_000 },
        Self.ofCohorts("page's retries") { $0.page?.maxRetries = nil },
        Self.ofCohorts("page's queue") { $0.page?.retriesEvents = true },
        Self.ofCohorts("events' size") { $0.eventBytes = 1_000 },
        Self.ofCohorts("requests' size") { $0.requestBytes = 500 },
        ("date", { $0.tapi.retryAfterForm = .seconds }),
      ]
    let seen = try RandomScenario.parts(
      parts, thatMatterIn: EngineEqualityTests.watchedSeeds, where: { _ in true })
    #expect(seen == Set(parts.map(\.name)))
  }

  @Test("The windows of each system change the run of one random scenario at least")
  func systems() throws {
    let parts = BackgroundWindows.System.allCases.map { system in
      Self.ofCohorts(system.rawValue) { if $0.os?.system == system { $0.os = nil } }
    }
    let seen = try RandomScenario.parts(
      parts, thatMatterIn: Array(1...600), where: { $0.fleet.contains { $0.os?.system != nil } })
    #expect(seen == Set(parts.map(\.name)))
  }
}
