import ScenarioFormat
import ScenarioModel
import ShippedQuirks
import SimulationKernel
import TAPIModel
import Testing
import UploadRetry

@Suite("Decoding a scenario")
struct DecodingTests {
  @Test(
    "Rows too long to tell a recovery are warned of; many of them, one row that is all, and short ones are not"
  )
  func longRows() {
    func messages(_ interval: String, outage: String, duration: String = "2h") -> [String] {
      ScenarioText(
        duration: "'\(duration)'", tapi: "incidents: [{ kind: 'outage', at: '10m', for: '\(outage)' }]",
        top: "interval: '\(interval)'"
      ).messages()
    }
    #expect(
      messages("10m", outage: "10m") == [
        "s.json5:4: warning: interval: in 10 rows of 10m a recovery, which has to hold for 1m, can hardly be told; take 1m or less"
      ])
    #expect(messages("5m", outage: "10m") == [])
    #expect(messages("1m", outage: "10m") == [])
    #expect(messages("1h", outage: "10m", duration: "300d") == [])
    // Whoever has one row does not ask for a recovery.
    #expect(messages("110m", outage: "6599s") == [])
  }

  @Test("what operators do so late that no recovery can be seen is warned of, if there is one to see")
  func lateActions() {
    func messages(_ action: String, incidents: String = "[{ kind: 'outage', at: '10m', for: '10m' }]")
      -> [String]
    {
      ScenarioText(
        tapi: "incidents: \(incidents)",
        cohort: "name: 'phones', devices: 10, events: '6/min', lifecycle: { restarts: '9/h' }",
        top: "actions: [{ \(action) }]"
      ).messages()
    }
    let rest =
      "no recovery can be seen, which is counted once operators hold nothing any more and has to hold for 1m"
    #expect(
      messages("kind: 'shed', at: '100m', for: '1190s', share: '10%'") == [
        "s.json5:4: warning: actions.0: ends 10s before the run ends: \(rest)"
      ])
    for action in ["kind: 'settings', at: '7180s', settings: {}", "kind: 'restart', at: '7180s'"] {
      #expect(
        messages(action).contains("s.json5:4: warning: actions.0: happens 20s before the run ends: \(rest)"),
        "\(action)")
      #expect(
        !messages(action.replacing("7180s", with: "110m")).contains { $0.contains("no recovery") },
        "\(action)")
    }
    // What is held until the run ends, or after it, a recovery does not wait for.
    #expect(messages("kind: 'shed', at: '7180s', share: '10%'") == [])
    #expect(messages("kind: 'shed', at: '7180s', for: '1h', share: '10%'") == [])
    #expect(messages("kind: 'shed', at: '100m', for: '1190s', share: '10%'", incidents: "[]") == [])
  }

  @Test("the sketch of the design document decodes, with the defaults of the contract")
  func sketch() throws {
    let text = """
      {
        format: 1,
        question: "Which jitter brings the fleet back soonest without a second outage?",
        seed: 1, duration: "2h", interval: "1s",
        tapi: { bucket: { capacity: "4000/s", burst: 400 },   // or workers
                overload: { status: 429, retryAfter: "5s" },
                incidents: [{ kind: "outage", at: "20m", for: "10m", status: 503 }] },
        network: { latency: { median: "80ms", p99: "600ms", minimum: "10ms" } },
        fleet: [{ name: "phones", devices: 50000, client: "tapi-document", events: "6/min",
                  flush: { count: 20, interval: "30s" }, retries: "gate", settings: "settings.json" }],
        compare: { "settings.backoffConfig.jitterStrategy": ["additive:10", "full", "equal", "decorrelated"] },
      }
      """
    var reads: [String] = []
    let decoded = try ScenarioFile(text: text, name: "s.json5") { name in
      reads.append(name)
      return #"{"httpConfig": {"backoffConfig": {"maxBackoffInterval": 60}}}"#
    }.decode()
    var settings = HTTPConfig()
    settings.backoff.maxBackoffInterval = 60_000_000
    var expected = Scenario(
      seed: 1, duration: .hours(2),
      interval: .seconds(1),
      tapi: TAPIConfiguration(
        server: .bucket(.init(capacityMilliRequestsPerSecond: 4_000_000, burst: 400)),
        overload: Overload(status: 429, retryAfter: .fixed(.seconds(5))),
        incidents: [
          Incident(
            kind: .outage(status: 503, retryAfter: .none, keepsWork: false), start: .start + .minutes(20),
            duration: .minutes(10))
        ]),
      fleet: [
        Cohort(
          name: "phones", devices: 50_000, events: .poisson(meanGap: .seconds(10)),
          latency: .logNormal(median: .milliseconds(80), p99: .milliseconds(600), minimum: .milliseconds(10)),
          settings: settings)
      ])
    expected.question = "Which jitter brings the fleet back soonest without a second outage?"
    #expect(decoded.scenario == expected)
    #expect(decoded.warnings == [])
    #expect(reads == ["settings.json"])
    #expect(
      decoded.axes == [
        .init(
          path: "settings.backoffConfig.jitterStrategy",
          values: ["additive:10", "full", "equal", "decorrelated"])
      ])
  }

  @Test("a cohort that says nothing has the defaults of Cohort")
  func defaults() throws {
    let scenario = try ScenarioText().decode().scenario
    #expect(scenario.fleet == [Cohort(name: "phones", devices: 10, events: .poisson(meanGap: .seconds(10)))])
    #expect(scenario.seed == 1)
    #expect(scenario.interval == .seconds(1))
    #expect(
      scenario.tapi
        == TAPIConfiguration(server: .bucket(.init(capacityMilliRequestsPerSecond: 4_000_000, burst: 400))))
  }

  @Test(
    "the burst is a tenth of a second's worth, at least 1",
    arguments: [
      ("4000/s", 400), ("9/s", 1), ("15/s", 1), ("39/s", 3), ("0.001/s", 1), ("1000000000/s", 100_000_000),
    ])
  func burst(_ capacity: String, _ burst: Int64) throws {
    let scenario = try ScenarioText(bucket: "bucket: { capacity: '\(capacity)' }").decode().scenario
    guard case .bucket(let bucket) = scenario.tapi.server else {
      Issue.record("no bucket")
      return
    }
    #expect(bucket.burst == burst)
  }

  @Test("every part of a cohort can be said")
  func cohort() throws {
    let cohort = try ScenarioText(
      cohort: """
        name: 'tv', devices: 4e9, events: { every: '1m30s', phase: 'flush' },
        flush: { count: null, interval: '1h', phase: 'synchronised' }, retries: 'timer',
        queue: { mode: 'rebatch', limit: 50, maximumBatchEvents: 7 }, uploadConcurrency: 'unlimited', timeout: '0.25s',
        network: { latency: { uniform: ['1ms', '5ms'] } }, eventSize: '2.5KB', requestSize: '0B',
        settings: { rateLimitConfig: { enabled: false } },
        policy: { clampAfterJitter: true, missingRetryAfter: 'exponentialBackoff', supportsOAuth: true },
        """
    ).decode().scenario.fleet[0]
    var settings = HTTPConfig()
    settings.rateLimit.isEnabled = false
    var policy = ClientPolicy()
    policy.clampAfterJitter = true
    policy.missingRetryAfter = .exponentialBackoff
    policy.supportsOAuth = true
    #expect(
      cohort
        == Cohort(
          name: "tv", devices: 4_000_000_000, events: .periodic(every: .seconds(90), phase: .flush),
          flush: FlushPolicy(count: nil, interval: .hours(1), isSynchronised: true),
          queue: QueuePolicy(mode: .rebatch, limit: 50, maximumBatchEvents: 7), retries: .timer,
          uploadConcurrency: .max, timeout: .milliseconds(250),
          latency: .uniform(.milliseconds(1), .milliseconds(5)),
          settings: settings, policy: policy, eventBytes: 2_500, requestBytes: 0))
  }

  @Test("workers, a queue, every answer and every incident can be said")
  func server() throws {
    let tapi = try ScenarioText(
      bucket:
        "workers: { count: 200, serviceTime: { exponential: '50ms' }, serviceTimePerEvent: '1ms', queueLimit: 8000 }",
      tapi: """
        overload: { status: 503, retryAfter: { from: '5s', to: '15s' } },
        incidents: [
          { kind: 'outage', at: '0s', for: '1m', status: 'none', keepsWork: true },
          { kind: 'brownout', at: '30s', for: '1m', factor: 0.5 }, { kind: 'brownout', at: '90s', for: '1m', factor: '12.5%' },
          { kind: 'outage', at: '1m', for: '1s', retryAfter: '3s' },
        ],
        """
    ).decode().scenario.tapi
    #expect(
      tapi.server
        == .workers(
          .init(
            count: 200, serviceTime: .exponential(mean: .milliseconds(50)),
            serviceTimePerEvent: .milliseconds(1),
            queueLimit: 8_000)))
    #expect(tapi.overload == Overload(status: 503, retryAfter: .spread(from: .seconds(5), to: .seconds(15))))
    #expect(
      tapi.incidents.map(\.kind) == [
        .outage(status: nil, retryAfter: .none, keepsWork: true), .brownout(factorPartsPerMillion: 500_000),
        .brownout(factorPartsPerMillion: 125_000),
        .outage(status: 503, retryAfter: .fixed(.seconds(3)), keepsWork: false),
      ])
  }

  @Test("network, settings and policy of the scenario are those of every cohort that has none of its own")
  func cohortDefaults() throws {
    let fleet = try ScenarioText(
      cohort: """
        name: 'a', devices: 1, events: '1/s' }, { name: 'b', devices: 1, events: '1/s', network: { latency: '9ms' },
        settings: { httpConfig: { backoffConfig: { maxRetryCount: 3 } } }, policy: { supportsOAuth: true }
        """,
      top: """
        network: { latency: '7ms' }, policy: { clampAfterJitter: true },
        settings: { integrations: { 'Segment.io': { httpConfig: { backoffConfig: { maxRetryCount: 2 } } } } },
        """
    ).decode().scenario.fleet
    #expect(fleet.map(\.latency) == [.constant(.milliseconds(7)), .constant(.milliseconds(9))])
    #expect(fleet.map(\.settings.backoff.maxRetryCount) == [2, 3])
    #expect(fleet.map(\.policy.clampAfterJitter) == [true, true])
    #expect(fleet.map(\.policy.supportsOAuth) == [false, true])
  }

  @Test(
    "a repair of Settings is a warning with the file, the line and the path, once for all cohorts that share it"
  )
  func repairs() throws {
    let settings = """
      {
        "integrations": { "Segment.io": { "httpConfig": {
          "backoffConfig": {
            "jitterPercent": 200
          } } } }
      }
      """
    let cohorts = "name: 'a', devices: 1, events: '1/s' }, { name: 'b', devices: 1, events: '1/s'"
    let path = #"integrations["Segment.io"].httpConfig.backoffConfig.jitterPercent"#
    let message = "200 is out of range; allowed is 0 to 100 %; 100 is used"
    let fromFile = ScenarioText(cohort: cohorts, top: "settings: 'set.json'")
      .messages(files: ["set.json": settings])
    #expect(fromFile == ["set.json:4: warning: \(path): \(message)"])
    let inline = ScenarioText(cohort: cohorts, top: "settings: \(settings)").messages()
    #expect(inline == ["s.json5:7: warning: settings.\(path): \(message)"])
    let given = try ScenarioText(cohort: cohorts, top: "settings: { httpConfig: 5 }")
      .file(settings: (settings, "given.json")).decode()
    #expect(given.warnings.map(\.description) == ["given.json:4: warning: \(path): \(message)"])
    #expect(
      given.scenario.fleet.map(\.settings.backoff.jitter)
        == Array(repeating: .additive(percent: 100), count: 2))
  }

  @Test(
    "a Settings file without retry settings is a warning that says where they were looked for",
    arguments: [
      (#"{ "integrations": { "Segment": { "httpConfig": { "backoffConfig": {} } } } }"#, true),
      (#"{ "plan": {} }"#, true), ("{}", false), (#"{ "httpConfig": {} }"#, false),
      (#"{ "backoffConfig": {} }"#, false),
      (#"{ "integrations": { "Segment.io": { "httpConfig": { "backoffConfig": {} } } } }"#, false),
    ])
  func noRetrySettings(settings: String, isWarned: Bool) {
    let messages = ScenarioText(top: "settings: 'set.json'").messages(files: ["set.json": settings])
    #expect(messages.count == (isWarned ? 1 : 0), "\(messages)")
    #expect(
      messages.allSatisfy {
        $0.hasPrefix("set.json:1: warning: httpConfig: no retry settings here: neither httpConfig nor integ")
      }, "\(messages)")
  }

  @Test(
    "--settings replaces the Settings of every cohort, and the files that the scenario names are not read")
  func replacedSettings() throws {
    let text = ScenarioText(cohort: "name: 'a', devices: 1, events: '1/s', settings: 'gone.json'")
    let file = try text.file(
      settings: (#"{"httpConfig": {"rateLimitConfig": {"maxRetryCount": 7}}}"#, "x.json"))
    #expect(try file.decode().scenario.fleet[0].settings.rateLimit.maxRetryCount == 7)
    let noObject = try ScenarioText().file(settings: ("[]", "x.json"))
    let problems = #expect(throws: ScenarioProblems.self) { _ = try noObject.decode() }
    #expect(problems?.description == "x.json:1:1: Settings are an object, { … }; found a list")
  }
}
