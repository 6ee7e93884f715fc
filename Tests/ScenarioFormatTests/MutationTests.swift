import ScenarioFormat
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestSupport
import Testing
import UploadRetry

/// Broken files: whatever comes in, the answer is a valid scenario or a list of problems with their lines,
/// never a trap.
@Suite("Mutated files")
struct MutationTests {
  static let scenario = """
    // A comment.
    {
      format: 1, question: 'Which "jitter"?', seed: 0x1F, duration: "2h", interval: "1s",
      tapi: { bucket: { capacity: "4000/s", burst: 400, serviceTime: { uniform: ["1ms", "5ms"] } },
              overload: { status: 429, retryAfter: { from: "5s", to: "15s" } },
              incidents: [{ kind: "outage", at: "20m", for: "10m", status: 503, retryAfter: "30s", keepsWork: true },
                          { kind: "brownout", at: "1h", for: "1h30m", factor: 0.5 },
                          { kind: "cdnOutage", at: "1h", for: "5m" }] },
      network: { latency: { median: "80ms", p99: "600ms", minimum: "10ms" } },
      fleet: [{ name: "phones", devices: 50000, client: "tapi-document", events: "6/min",
                flush: { count: 20, interval: "30s", phase: "random" }, retries: "gate", settings: "settings.json",
                lifecycle: { restarts: "2/day", synchronised: [{ at: "30m", spread: "10s" }], state: "inMemory", flushAtLaunch: false },
                rollout: { at: "20m", share: "50%", settings: "settings.json" } },
              { name: "tablets", devices: 3, client: "segment-react-native", flushWhileUploading: "ignored",
                events: { every: "30s", phase: "flush" }, queue: { mode: "rebatch", limit: 50, maximumBatchEvents: 7 },
                uploadConcurrency: "unlimited", timeout: "15s", eventSize: "1KB",
                settings: { httpConfig: { backoffConfig: { jitterStrategy: "full" } } },
                policy: { clampAfterJitter: true, missingRetryAfter: "fixed:60" } }],
      actions: [{ kind: "shed", at: "25m", share: "50%", key: "phones", by: "device", for: "10m" },
                { kind: "settings", at: "30m", cohort: "tablets", fetch: "1h", settings: { httpConfig: {} } },
                { kind: "readmit", at: "1h", over: "20m" }],
      \(compare)
    }
    """
  private static let compare =
    #"compare: { "settings.backoffConfig.jitterStrategy": ["additive:10", "full"], "tapi.bucket.burst": [1, 2] },"#
  static let workers = """
    { format: 1, duration: "10m", tapi: { workers: { count: 200, serviceTime: { exponential: "50ms" },
      serviceTimePerEvent: "1ms", queueLimit: 8000 }, overload: { status: 503 } },
      fleet: [{ name: "a", devices: 7, events: "1/s", network: { latency: "50ms" }, flush: { count: null } }] }
    """
  static let settings = """
    { "integrations": { "Segment.io": { "httpConfig": {
      "rateLimitConfig": { "enabled": true, "maxRetryCount": 100, "maxRetryInterval": 300, "maxRateLimitDuration": 43200 },
      "backoffConfig": { "enabled": true, "maxRetryCount": 100, "baseBackoffInterval": 0.5, "maxBackoffInterval": 300,
        "maxTotalBackoffDuration": 43200, "jitterPercent": 10, "default4xxBehavior": "drop",
        "statusCodeOverrides": { "408": "retry", "501": "drop" }, "retryableStatusCodes": [408, 500] } } } } }
    """

  static let values = [
    "0", "-1", "1e308", "1e-308", "1000000000000000000000000000000", "NaN", "-Infinity", "0.5", "null",
    "true", "[]", "{}",
    "''", "'0s'", "'-5s'", "'1e9s'", "'9999999999999999999d'", "'0/s'", "'1e12/s'", "'0.0000000001/day'",
    "'100%'",
    "'1000000GB'", "'settings.json'", "[[[[[]]]]]", "'unlimited'", "'queue'", "9223372036854775808",
    "4000000001",
    "'366d'", "'1us'", "{ logNormal: {} }", "'\\u0000'",
  ]

  /// Flips, replaces, inserts, cuts out, doubles or cuts off.
  static func mutate(_ text: String, _ random: inout TestRandom) -> String {
    var bytes = Array(text.utf8)
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      guard !bytes.isEmpty else { break }
      let at = Int.random(in: 0..<bytes.count, using: &random)
      let end = min(bytes.count, at + Int.random(in: 1...40, using: &random))
      switch Int.random(in: 0..<8, using: &random) {
      case 0: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 1: bytes[at] = UInt8.random(in: 0...255, using: &random)
      case 2: bytes.removeSubrange(at..<end)
      case 3: bytes.insert(contentsOf: bytes[at..<end], at: at)
      case 4: bytes.removeSubrange(at...)
      default: replaceValue(in: &bytes, from: at, with: random.pick(values))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Replaces the value behind the next colon.
  private static func replaceValue(in bytes: inout [UInt8], from start: Int, with value: String) {
    guard let colon = bytes[start...].firstIndex(of: UInt8(ascii: ":")) else { return }
    let end = bytes[(colon + 1)...].firstIndex {
      [UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")].contains($0)
    }
    bytes.replaceSubrange(colon + 1..<(end ?? bytes.count), with: Array(" \(value)".utf8))
  }

  @Test(
    "Mutated scenario and Settings files give a valid scenario or problems with lines, and no trap: 150, exhaustively 1,000"
  )
  func mutations() throws {
    var valid = 0
    let files = TestDepth.cases(150, exhaustively: 1_000)
    for seed in 0..<UInt64(files) {
      var random = TestRandom(seed: seed)
      var texts = [random.chance(70) ? Self.scenario : Self.workers, Self.settings, Self.settings]
      let mutated = Int.random(in: 0..<3, using: &random)
      texts[mutated] = Self.mutate(texts[mutated], &random)
      let given: (text: String, name: String)? = mutated == 2 ? (texts[2], "given.json") : nil
      do {
        let decoded = try ScenarioFile(text: texts[0], name: "s.json5", settingsText: given) { _ in texts[1] }
          .decode()
        valid += 1
        #expect(violations(of: decoded.scenario) == [], "seed \(seed)")
        #expect(decoded.warnings.allSatisfy { $0.severity == .warning && $0.line != nil }, "seed \(seed)")
      } catch let problems as ScenarioProblems {
        #expect(problems.diagnostics.contains { $0.severity == .error }, "seed \(seed)")
        #expect(
          problems.diagnostics.allSatisfy { ($0.line ?? 0) > 0 && !$0.message.isEmpty },
          "seed \(seed): \(problems)")
      }
    }
    // Most mutations break something, and some do not: both ways were walked.
    #expect((files / 10...files * 9 / 10).contains(valid), "\(valid) of \(files) were valid")
  }

  @Test(
    "every value of the scenario replaced by every odd value, a quarter of them where not exhaustive: no trap"
  )
  func everyOddOverride() throws {
    // Each variant is read anew: five times the work, which one value of each path tells as well.
    let files = try ["", Self.compare].map {
      try ScenarioFile(text: Self.scenario.replacing(Self.compare, with: $0), name: "s") { _ in Self.settings
      }
    }
    let paths = [
      "seed", "duration", "interval", "question", "tapi", "tapi.bucket", "tapi.bucket.capacity",
      "tapi.bucket.burst",
      "tapi.bucket.serviceTime", "tapi.bucket.serviceTime.uniform", "tapi.overload",
      "tapi.overload.retryAfter",
      "tapi.overload.retryAfter.to", "tapi.incidents", "tapi.incidents.1", "tapi.incidents.1.factor",
      "tapi.incidents.0.at",
      "tapi.incidents.0.for", "tapi.incidents.0.status", "network", "network.latency",
      "network.latency.median",
      "network.latency.p99", "fleet", "fleet.phones", "fleet.phones.devices", "fleet.phones.events",
      "fleet.tablets.events.every",
      "fleet.phones.flush.count", "fleet.phones.flush.interval", "fleet.tablets.queue.limit",
      "fleet.tablets.uploadConcurrency", "fleet.tablets.timeout", "fleet.tablets.eventSize", "settings",
      "settings.backoffConfig", "settings.backoffConfig.maxRetryCount",
      "settings.backoffConfig.baseBackoffInterval",
      "settings.backoffConfig.jitterStrategy", "settings.backoffConfig.retryableStatusCodes", "policy",
      "tapi.incidents.2", "fleet.phones.client", "fleet.phones.lifecycle", "fleet.phones.lifecycle.restarts",
      "fleet.phones.lifecycle.synchronised", "fleet.phones.lifecycle.synchronised.0",
      "fleet.phones.lifecycle.synchronised.0.at", "fleet.phones.lifecycle.synchronised.0.spread",
      "fleet.phones.lifecycle.state", "fleet.phones.rollout", "fleet.phones.rollout.at",
      "fleet.phones.rollout.share", "fleet.phones.rollout.settings",
      "fleet.phones.rollout.settings.backoffConfig.maxRetryCount", "fleet.tablets.policy.missingRetryAfter",
      "fleet.tablets.rollout", "fleet.tablets.rollout.settings", "actions", "actions.0", "actions.0.at",
      "actions.0.share", "actions.0.key", "actions.0.for", "actions.1", "actions.1.cohort", "actions.1.fetch",
      "actions.1.settings", "actions.2.over", "actions.2.kind",
    ]
    for (number, path) in paths.enumerated() {
      for (index, value) in Self.values.enumerated()
      where TestDepth.isExhaustive || (index + number) % 4 == 0 {
        let isCompared = index == number % Self.values.count
        do {
          let decoded = try files[isCompared ? 1 : 0].decode(overrides: [.init(path: path, value: value)])
          #expect(violations(of: decoded.scenario) == [], "\(path)=\(value)")
        } catch let problems as ScenarioProblems {
          #expect(problems.diagnostics.contains { $0.severity == .error }, "\(path)=\(value)")
        }
      }
    }
  }

  // MARK: What the documentation of the contract promises

  private func violations(of scenario: Scenario) -> [String] {
    var found: [String] = []
    func check(_ holds: Bool, _ what: String) { if !holds { found.append(what) } }
    let duration = scenario.duration.microseconds
    check((1_000...Units.longestSpan.microseconds).contains(duration), "duration")
    check((1_000...duration).contains(scenario.interval.microseconds), "interval")
    check((duration - 1) / scenario.interval.microseconds < 100_000, "rows")
    switch scenario.tapi.server {
    case .bucket(let bucket):
      check((1...1_000_000_000_000).contains(bucket.capacityMilliRequestsPerSecond), "capacity")
      check((1...1_000_000_000).contains(bucket.burst), "burst")
      check(isSound(bucket.serviceTime, atLeast: 0), "serviceTime")
    case .workers(let workers):
      check((1...1_000_000).contains(workers.count), "count")
      check(isSound(workers.serviceTime, atLeast: 0), "serviceTime")
      check((0...3_600_000_000).contains(workers.serviceTimePerEvent.microseconds), "serviceTimePerEvent")
      check((0...1_000_000_000).contains(workers.queueLimit ?? 0), "queueLimit")
    }
    check((400...599).contains(scenario.tapi.overload.status), "overload")
    for incident in scenario.tapi.incidents {
      check(incident.start >= .start && incident.duration > .zero, "incident")
      if case .brownout(let parts) = incident.kind { check((1...1_000_000).contains(parts), "factor") }
    }
    if let proxies = scenario.tapi.proxies {
      check(scenario.tapi.connections == nil, "proxies and connections")
      check((1...1_000_000).contains(proxies.count) && (0...100).contains(proxies.retries), "proxies")
      check(proxies.statuses.allSatisfy { (400...599).contains($0) }, "retryOn")
      check((proxies.tryTimeout ?? .seconds(1)) >= .milliseconds(1), "perTryTimeout")
      check(proxies.backoff.base > .zero && proxies.backoff.maximum >= proxies.backoff.base, "backoff")
      check((0...1_000_000).contains(proxies.budget?.share ?? 0), "budget")
    }
    check(!scenario.fleet.isEmpty, "fleet")
    check((1...4_000_000_000).contains(scenario.fleet.map(\.devices).reduce(0, +)), "devices")
    check(Set(scenario.fleet.map(\.name)).count == scenario.fleet.count, "names")
    for cohort in scenario.fleet { found += violations(of: cohort, duration: duration) }
    return found
  }

  private func violations(of cohort: Cohort, duration: Int64) -> [String] {
    var found: [String] = []
    func check(_ holds: Bool, _ what: String) { if !holds { found.append("\(cohort.name): \(what)") } }
    check(cohort.devices >= 1, "devices")
    check(ClientPreset.all.contains { $0.name == cohort.client }, "client")
    if let gap = cohort.lifecycle?.meanTimeBetweenRestarts {
      check((1_000_000...Units.longestSpan.microseconds).contains(gap.microseconds), "restarts")
    }
    for restart in cohort.lifecycle?.synchronised ?? [] {
      check((.zero...Units.longestSpan).contains(restart.time - .start), "synchronised")
      check((.zero...Units.longestSpan).contains(restart.spread), "spread")
    }
    if let rollout = cohort.rollout {
      check((.zero...Units.longestSpan).contains(rollout.time - .start), "rollout")
      check((0...1_000_000).contains(rollout.sharePartsPerMillion), "share")
      check((0...1_000).contains(rollout.settings.backoff.maxRetryCount), "rollout.settings")
    }
    switch cohort.events {
    case .replay(let rates):
      check(!rates.rows.isEmpty && (1...1_000_000).contains(rates.sharePartsPerMillion), "csv")
    case .poisson(let gap), .varying(let gap, _), .periodic(every: let gap, phase: _):
      check((1_000...Units.longestSpan.microseconds).contains(gap.microseconds), "gap")
      check(duration / gap.microseconds <= 1_000_000_000, "events")
    }
    check(cohort.flush.count != nil || cohort.flush.interval != nil, "flush")
    check((1...1_000_000).contains(cohort.flush.count ?? 1), "flush.count")
    check((cohort.flush.interval ?? .seconds(1)) >= .milliseconds(1), "flush.interval")
    check((1...1_000_000).contains(cohort.queue.limit) || cohort.queue.limit == .max, "queue.limit")
    check((1...65_535).contains(cohort.queue.maximumBatchEvents), "queue.maximumBatchEvents")
    check(
      cohort.uploadConcurrency == .max || (1...1_000_000).contains(cohort.uploadConcurrency),
      "uploadConcurrency")
    check(cohort.timeout >= .milliseconds(1) && cohort.timeout <= Units.longestSpan, "timeout")
    check(isSound(cohort.latency, atLeast: 1_000), "latency")
    check(cohort.connectTimeout.map { $0 >= .milliseconds(1) && $0 <= cohort.timeout } ?? true, "connect")
    check((cohort.connection.keepAlive ?? .seconds(1)) >= .milliseconds(1), "keepAlive")
    check((0...10).contains(cohort.connection.roundTrips), "roundTrips")
    check(cohort.link.answerLossPartsPerMillion == 0 || cohort.timeout <= .hours(1), "loss")
    check(!cohort.queue.splitsOn413 || cohort.queue.mode == .files, "splitOn413")
    for one in cohort.connectivity?.interruptions ?? [] {
      check(one.duration > .zero && one.duration <= Units.longestSpan, "interruptions")
    }
    check((1...100_000_000).contains(cohort.eventBytes), "eventBytes")
    check((0...100_000_000).contains(cohort.requestBytes), "requestBytes")
    check((0...1_000).contains(cohort.settings.backoff.maxRetryCount), "maxRetryCount")
    check((100_000...60_000_000).contains(cohort.settings.backoff.baseBackoffInterval), "baseBackoffInterval")
    return found
  }

  private func isSound(_ distribution: Distribution, atLeast least: Int64) -> Bool {
    let range = least...86_400_000_000
    switch distribution {
    case .constant(let span): return range.contains(span.microseconds)
    case .uniform(let low, let high):
      return low <= high && range.contains(low.microseconds) && range.contains(high.microseconds)
    case .exponential(let mean): return least == 0 && range.contains(mean.microseconds)
    case .logNormal(let median, let p99, let minimum):
      return minimum < median && median <= p99 && range.contains(minimum.microseconds)
        && range.contains(p99.microseconds)
    }
  }
}
