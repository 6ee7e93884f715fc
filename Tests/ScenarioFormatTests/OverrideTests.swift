import ScenarioFormat
import ScenarioModel
import SimulationKernel
import TAPIModel
import Testing
import UploadRetry

@Suite("Overrides")
struct OverrideTests {
  private let twoCohorts = ScenarioText(
    cohort: """
      name: 'phones', devices: 10, events: '6/min', flush: { count: 5 } },
      { name: 'tablets', devices: 3, events: '1/s', policy: { supportsOAuth: true },
        settings: { integrations: { 'Segment.io': { httpConfig: { backoffConfig: { jitterStrategy: 'full' } } } } }
      """,
    top: "settings: { retryConfig: { backoffConfig: { maxRetryCount: 2 } } }")

  @Test("a path sets a member of the server, of a cohort by name and by number")
  func paths() throws {
    let scenario = try twoCohorts.decode([
      "tapi.bucket.capacity": "10/s", "fleet.phones.flush.interval": "45s", "fleet.1.retries": "timer",
      "fleet[0].devices": "99", "seed": "0x10", "question": "Why?",
    ]).scenario
    #expect(
      scenario.tapi.server == .bucket(.init(capacityMilliRequestsPerSecond: 10_000, burst: 1)))
    #expect(scenario.fleet[0].flush == FlushPolicy(count: 5, interval: .seconds(45)))
    #expect(scenario.fleet.map(\.retries) == [.gate, .timer])
    #expect(scenario.fleet[0].devices == 99)
    #expect(scenario.seed == 16)
    #expect(scenario.question == "Why?")
  }

  @Test("fleet.* reaches every cohort: its keys, its own Settings, its rollout")
  func everyCohort() throws {
    let scenario = try twoCohorts.decode([
      "fleet.*.flush.interval": "45s", "fleet.*.settings.backoffConfig.maxRetryCount": "7",
      "fleet.*.rollout.at": "0s", "fleet.*.rollout.share": "50%",
      "fleet.*.rollout.settings": "{ backoffConfig: { maxRetryCount: 8 } }",
    ]).scenario
    #expect(scenario.fleet.map(\.flush.interval) == [.seconds(45), .seconds(45)])
    #expect(scenario.fleet.map(\.settings.backoff.maxRetryCount) == [7, 7])
    #expect(scenario.fleet[1].settings.backoff.jitter == .full)
    #expect(scenario.fleet.map(\.rollout?.sharePartsPerMillion) == [500_000, 500_000])
    #expect(scenario.fleet.map(\.rollout?.settings.backoff.maxRetryCount) == [8, 8])
    #expect(
      twoCohorts.messages(overrides: [Override(path: "fleet.*.flush.intervall", value: "45s")])
        .contains { $0.contains("did you mean \"interval\"") })
    let json = try twoCohorts.decode(["fleet.*.flush.interval": "45s"]).normalisedJSON
    #expect(Override.value(at: "fleet.*.flush.interval", in: json) == "45s")
    #expect(Override.value(at: "fleet.*.name", in: json) == nil, "two values are none")
  }

  @Test(
    "a campaign is set by its number or its name, and a name that is not there is answered with those that are"
  )
  func campaigns() throws {
    let text = ScenarioText(
      cohort: "name: 'phones', devices: 10, events: '6/min', sessions: { share: '5%', length: '3m' }",
      top: """
        push: [{ at: '20m', opens: '5%', delay: '1m' },
          { name: 'sale', at: '40m', over: '1m', opens: '5%', delay: '1m' }]
        """)
    let decoded = try text.decode(["push.0.over": "30m", "push.sale.over": "10m", "push.1.opens": "20%"])
    #expect(decoded.scenario.push.map(\.over) == [.minutes(30), .minutes(10)])
    #expect(decoded.scenario.push.map(\.opensPartsPerMillion) == [50_000, 200_000])
    #expect(Override.value(at: "push.sale.over", in: decoded.normalisedJSON) == "10m")
    #expect(decoded.scenario.campaign(pacedBy: "push.sale.over")?.time == .start + .minutes(40))
    #expect(decoded.scenario.campaign(pacedBy: "push.sale.opens") == nil)
    #expect(decoded.scenario.campaign(pacedBy: "push.7.over") == nil)
    #expect(
      text.messages(overrides: [Override(path: "push.salee.over", value: "1m")])
        == [
          #"--set: push.salee.over: push has no element "salee"; did you mean "sale"? Its names: sale; its elements are 0 to 1"#
        ])
  }

  @Test("a member of something that the file does not have is created")
  func created() throws {
    let scenario = try ScenarioText().decode([
      "tapi.overload.retryAfter.from": "1s", "tapi.overload.retryAfter.to": "2s", "network.latency": "9ms",
      "fleet.phones.queue.mode": "rebatch", "fleet.phones.policy.clampAfterJitter": "true",
    ]).scenario
    #expect(scenario.tapi.overload.retryAfter == .spread(from: .seconds(1), to: .seconds(2)))
    #expect(scenario.fleet[0].latency == .constant(.milliseconds(9)))
    #expect(scenario.fleet[0].queue.mode == .rebatch)
    #expect(scenario.fleet[0].policy.clampAfterJitter)
  }

  @Test("a whole part can be replaced, by JSON5")
  func wholeParts() throws {
    let scenario = try ScenarioText().decode([
      "tapi":
        "{ workers: { count: 1, serviceTime: '1s' }, incidents: [{ kind: 'outage', at: '1m', for: '1m' }] }",
      "fleet.phones.flush.count": "null",
    ]).scenario
    #expect(
      scenario.tapi.server == .workers(.init(count: 1, serviceTime: .constant(.seconds(1)))))
    #expect(scenario.fleet[0].flush.count == nil)
  }

  @Test("what contradicts a value of an option is said to contradict that, on no line")
  func contradictions() {
    func messages(_ path: String, _ value: String) -> [String] {
      do {
        _ = try ScenarioText().decode([path: value])
        return []
      } catch {
        return (error as? ScenarioProblems)?.diagnostics.map(\.description) ?? ["\(error)"]
      }
    }
    for (path, item, message) in [
      (
        "tapi.incidents", "{ kind: 'outage', at: '1m', for: '5m' }",
        "--set: tapi.incidents.1: overlaps incident 0 given by an option, another outage"
      ),
      (
        "actions", "{ kind: 'shed', at: '1m', share: '10%' }",
        "--set: actions.1: contradicts action 0 given by an option, 10% shed from 1m: both decide on who is let in"
      ),
      (
        "fleet", "{ name: 'phones', devices: 10, events: '6/min' }",
        "--set: fleet.phones.name: a second cohort named \"phones\"; the first is given by an option"
      ),
    ] {
      #expect(messages(path, "[\(item), \(item)]") == [message])
    }
    let settings = "{ kind: 'settings', at: '0s', settings: {} }"
    #expect(
      messages("actions", "[\(settings), \(settings)]").contains {
        $0.hasPrefix(
          "--set: actions.1: contradicts action 0 given by an option, which publishes Settings for fleet.phones too: "
        )
      })
  }

  @Test("an incident is addressed by its number")
  func incidents() throws {
    let text = ScenarioText(tapi: "incidents: [{ kind: 'outage', at: '1m', for: '1m' }]")
    let decoded = try text.decode(["tapi.incidents[0].for": "5m", "tapi.incidents.0.status": "none"])
    #expect(decoded.scenario.tapi.incidents[0].duration == .minutes(5))
    #expect(
      decoded.scenario.tapi.incidents[0].kind == .outage(status: nil, retryAfter: .none, keepsWork: false))
    #expect(
      text.messages(overrides: [.init(path: "tapi.incidents.1.for", value: "5m")]) == [
        "--set: tapi.incidents.1.for: tapi.incidents has no element \"1\"; its elements are 0 to 0"
      ])
  }

  @Test("the last override of a path wins")
  func order() throws {
    let overrides = [Override(path: "seed", value: "2"), Override(path: "seed", value: "3")]
    #expect(try ScenarioText().file().decode(overrides: overrides).scenario.seed == 3)
  }

  @Test(
    "settings.… reaches every cohort, whatever shape its Settings have; fleet.NAME.settings.… reaches one")
  func settings() throws {
    let all = try twoCohorts.decode(["settings.backoffConfig.jitterStrategy": "equal"]).scenario.fleet
    #expect(all.map(\.settings.backoff.jitter) == [.equal, .equal])
    #expect(all.map(\.settings.backoff.maxRetryCount) == [2, 100])
    let one = try twoCohorts.decode(["fleet.phones.settings.backoffConfig.jitterStrategy": "equal"]).scenario
      .fleet
    #expect(one.map(\.settings.backoff.jitter) == [.equal, .full])
    let none = try ScenarioText().decode(["settings.rateLimitConfig.maxRetryInterval": "60"]).scenario.fleet
    #expect(none[0].settings.rateLimit.maxRetryInterval == 60_000_000)
    let status = try twoCohorts.decode(["settings.backoffConfig.statusCodeOverrides.404": "retry"]).scenario
      .fleet
    #expect(status.allSatisfy { $0.settings.backoff.statuses != StatusTable.document })
  }

  @Test("an override takes the place of the second name that a key of Settings has")
  func secondNames() throws {
    let text = ScenarioText(
      top:
        "settings: { rateLimitConfig: { maxRateLimitDuration: 5 }, backoffConfig: { jitterStrategy: 'additive:5' } }"
    )
    let decoded = try text.decode([
      "settings.rateLimitConfig.maxTotalBackoffDuration": "9", "settings.backoffConfig.jitterPercent": "20",
    ])
    #expect(decoded.warnings == [])
    #expect(decoded.scenario.fleet[0].settings.rateLimit.maxTotalBackoffDuration == 9_000_000)
    #expect(decoded.scenario.fleet[0].settings.backoff.jitter == .additive(percent: 20))
    let useless = ScenarioText(top: "settings: { backoffConfig: { jitterStrategy: 'full' } }")
      .messages(overrides: [.init(path: "settings.backoffConfig.jitterPercent", value: "20")])
    #expect(
      useless == [
        "--set: warning: settings.backoffConfig.jitterPercent: has no effect: jitterStrategy is full"
      ])
  }

  @Test("whole Settings can be replaced, for all and for one, and changed after that")
  func wholeSettings() throws {
    let all = try twoCohorts.decode(["settings": "{ backoffConfig: { maxRetryCount: 4 } }"]).scenario.fleet
    #expect(all.map(\.settings.backoff.maxRetryCount) == [4, 4])
    let overrides = [
      Override(path: "fleet.tablets.settings", value: "{ backoffConfig: { maxRetryCount: 4 } }"),
      Override(path: "settings.backoffConfig.baseBackoffInterval", value: "2"),
    ]
    let one = try twoCohorts.file().decode(overrides: overrides).scenario.fleet
    #expect(one.map(\.settings.backoff.maxRetryCount) == [2, 4])
    #expect(one.map(\.settings.backoff.baseBackoffInterval) == [2_000_000, 2_000_000])
  }

  @Test("--settings comes before --set")
  func givenSettings() throws {
    let file = try twoCohorts.file(settings: ("{ httpConfig: { backoffConfig: { maxRetryCount: 9 } } }", "x"))
    let fleet = try file.decode(overrides: [
      .init(path: "settings.backoffConfig.jitterStrategy", value: "none")
    ])
    .scenario.fleet
    #expect(fleet.map(\.settings.backoff.maxRetryCount) == [9, 9])
    #expect(fleet.map(\.settings.backoff.jitter) == [.none, .none])
  }

  @Test("policy.… reaches every cohort, those with a policy of their own too")
  func policy() throws {
    let fleet = try twoCohorts.decode(["policy.clampAfterJitter": "true"]).scenario.fleet
    #expect(fleet.map(\.policy.clampAfterJitter) == [true, true])
    #expect(fleet.map(\.policy.supportsOAuth) == [false, true])
  }

  @Test("compare may name Settings files, which are read like the others")
  func comparedFiles() throws {
    let text = ScenarioText(top: "compare: { settings: ['a.json', 'b.json'] }")
    let file = try text.file(files: [
      "a.json": "{}", "b.json": #"{ "httpConfig": { "backoffConfig": { "maxRetryCount": 3 } } }"#,
    ])
    #expect(try file.decode().axes == [.init(path: "settings", values: ["a.json", "b.json"])])
    let second = try file.decode(overrides: [.init(path: "settings", value: "b.json")])
    #expect(second.scenario.fleet[0].settings.backoff.maxRetryCount == 3)
    #expect(
      text.messages(files: ["a.json": "{}"]).first
        == "s.json5:4: compare[\"settings\"][1]: cannot read \"b.json\": No such file")
  }

  @Test("axes keep the values as written, so that an override gives the same value")
  func axisTexts() throws {
    let text = ScenarioText(
      top:
        "compare: { question: ['5', 'true', 'plain', 'a\\'b'], seed: [1, 0x2], 'fleet.phones.flush': [{ count: 1, }] }"
    )
    let decoded = try text.decode()
    #expect(
      decoded.axes == [
        .init(path: "question", values: ["\"5\"", "\"true\"", "plain", "a'b"]),
        .init(path: "seed", values: ["1", "0x2"]),
        .init(path: "fleet.phones.flush", values: ["{ \"count\": 1 }"]),
      ])
    for value in decoded.axes[0].values { _ = try text.decode(["question": value]) }
  }

  @Test("paths are read with numbers, brackets and quotes")
  func pathText() {
    #expect(PathText.parse("a.b.0.c") == ["a", "b", "0", "c"])
    #expect(PathText.parse("a[0].b[\"x.y\"].c") == ["a", "0", "b", "x.y", "c"])
    #expect(PathText.parse("[\"q\\\"q\"]") == ["q\"q"])
    for text in ["", ".", "a.", ".a", "a..b", "a[", "a[]", "a[\"x", "a[\"x\"", "a.[0]"] {
      #expect(PathText.parse(text) == nil, "\(text)")
    }
  }

  @Test("A normalised scenario's value is found by the path that would change it")
  func values() {
    let scenario = """
      { duration: "2h", tapi: { incidents: [{ at: "20m", for: "10m" }] },
        fleet: [{ name: "ios", devices: 5, settings: { backoffConfig: { maxBackoffInterval: 300, baseBackoffInterval: 1 } } },
                { name: "android", devices: 7, settings: { backoffConfig: { maxBackoffInterval: 300, baseBackoffInterval: 2 } } }] }
      """
    func value(_ path: String) -> String? { Override.value(at: path, in: scenario) }
    #expect(value("duration") == "2h" && value("tapi.incidents.0.for") == "10m")
    #expect(value("fleet.android.devices") == "7" && value("fleet.0.devices") == "5")
    #expect(value("settings.backoffConfig.maxBackoffInterval") == "300")
    // Where cohorts differ there is no such value; nor of what is no number or text, or not there.
    #expect(value("settings.backoffConfig.baseBackoffInterval") == nil)
    #expect(value("tapi") == nil && value("tapi.incidents.1.for") == nil && value("fleet.web.devices") == nil)
  }
}
