import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios

extension RandomScenario {
  /// What a server can do beyond admission, each by chance.
  mutating func drawRules(_ scenario: inout Scenario) {
    drawCapacityRules(&scenario.tapi)
    drawRequestRules(&scenario)
    drawFaults(&scenario.tapi)
    for i in scenario.fleet.indices where chance(40) { scenario.fleet[i].writeKey = pick(["shared", "own"]) }
  }

  mutating func drawRetryAfterHeader(_ tapi: inout TAPIConfiguration) {
    if chance(60) { tapi.retryAfterHeader = pick([.rateLimitReset, .both]) }
    if chance(25) { tapi.retryAfterForm = .date }
  }

  private mutating func drawCapacityRules(_ tapi: inout TAPIConfiguration) {
    switch tapi.server {
    case .bucket(var bucket):
      if chance(20) { bucket.costPerEvent = Int64(int(1...1_500_000)) }
      tapi.server = .bucket(bucket)
    case .workers(var workers):
      if chance(30) { workers.queueTimeout = .milliseconds(Int64(int(1...20_000))) }
      if chance(30) {
        workers.congestion = Congestion(slowdown: Int64(int(1...5_000_000)), queue: int(1...20))
      }
      tapi.server = .workers(workers)
    }
    if chance(20) {
      tapi.overload.retryAfter = .backlog(
        atLeast: .seconds(Int64(int(0...3))), atMost: .seconds(Int64(int(3...60))))
    }
    if chance(20) {
      tapi.rules.autoscaling = Autoscaling(
        target: Int64(int(100_000...1_000_000)), interval: .seconds(Int64(int(1...30))),
        delay: .milliseconds(Int64(pick([0, 5_000, 45_000]))), minimum: pick([200_000, 1_000_000]),
        maximum: pick([1_000_000, 4_000_000]))
    }
  }

  private mutating func drawRequestRules(_ scenario: inout Scenario) {
    if chance(25) {
      scenario.tapi.rules.keyLimits = (0..<int(1...2)).map { _ in
        KeyLimit(
          key: pick([nil, "shared", "cohort-0"]), per: chance(50) ? .device : .key,
          .bucket(rate: Int64(int(20...3_000)), burst: Int64(int(1...5))),
          retryAfter: pick([
            .none, .fixed(.seconds(4)), .spread(from: .seconds(1), to: .seconds(9)),
            .backlog(atLeast: .seconds(1), atMost: .seconds(30)),
          ]))
      }
    }
    if chance(15) { scenario.tapi.rules.retryCountLimit = int(1...6) }
    if chance(15) { scenario.tapi.rules.requestSizeLimit = int(1_500...30_000) }
    if chance(60) { scenario.tapi.rules.deduplicationWindow = pick([.zero, .seconds(20), .hours(24)]) }
  }

  private mutating func drawFaults(_ tapi: inout TAPIConfiguration) {
    func kinds(_ draw: inout RandomScenario) -> [Incident.Kind] {
      [
        .errors(
          status: draw.pick([500, 502, 401, 429]), share: Int64(draw.int(1...1_000_000)),
          afterWork: draw.chance(50), retryAfter: draw.pick([.none, .fixed(.seconds(3))])),
        .lostAnswers(share: Int64(draw.int(1...1_000_000))),
        .latency(
          added: draw.pick([.constant(.zero), .exponential(mean: .seconds(4)), .constant(.seconds(40))]),
          factor: Int64(draw.int(1_000_000...9_000_000))),
        .tokenExpiry,
      ]
    }
    for kind in kinds(&self) where chance(25) {
      tapi.incidents.append(
        Incident(
          kind: kind, start: Instant(microseconds: Int64(int(0...200_000_000))),
          duration: Span(microseconds: Int64(int(1...100_000_000)))))
    }
    for i in tapi.incidents.indices where chance(30) {
      if case .outage = tapi.incidents[i].kind {
        tapi.incidents[i].warmUp = Span(microseconds: Int64(int(0...90_000_000)))
      }
    }
  }
}
