import ScenarioFormat
import ScenarioModel
import ShippedQuirks
import SimulationKernel
import TAPIModel
import TestClients
import TestScenarios
import Testing
import UploadPipeline
import UploadRetry

@Suite("Clients in a scenario")
struct ClientDecodingTests {
  private func cohort(_ more: String, top: String = "") throws -> Cohort {
    try ScenarioText(cohort: "name: 'a', devices: 1, events: '1/s', \(more)", top: top).decode().scenario
      .fleet[0]
  }

  // From the last table of the requirements.
  @Test(
    "a preset gives the policy, the queue mode, the uploads at once and what a flush does meanwhile",
    arguments: [
      ("tapi-document", ClientPolicy.tapiDocument, QueuePolicy.Mode.files, 1, FlushWhileUploading.joins),
      ("segment-swift", .segmentSwift, .files, Int.max, .ignored),
      ("segment-kotlin", .segmentKotlin, .files, 1, .queued),
      ("segment-react-native", .segmentReactNative, .rebatch, Int.max, .joins),
    ])
  func presets(
    _ name: String, _ policy: ClientPolicy, _ mode: QueuePolicy.Mode, _ uploads: Int,
    _ flushWhileUploading: FlushWhileUploading
  ) throws {
    let cohort = try cohort("client: '\(name)'")
    #expect(cohort.client == name)
    #expect(cohort.policy == policy)
    // No limit on the queue; React Native's chunks have up to 1,000 events and 500 KB.
    var queue = QueuePolicy(mode: mode, limit: .max)
    if mode == .rebatch { (queue.maximumBatchEvents, queue.maximumBatchBytes) = (1_000, 512_000) }
    #expect(cohort.queue == queue)
    #expect(cohort.uploadConcurrency == uploads)
    #expect(cohort.flushWhileUploading == flushWhileUploading)
  }

  @Test("a preset gives the rest of the upload loop, and uploadLoop goes before it, key by key")
  func uploadLoop() throws {
    struct Loop: Equatable {
      var actsAtFlushEnd = false
      var rateLimitEndsLoop = true
      var saving = Saving.atOnce
      var triggers = ClientTriggers.all
      var countOfAnEvent = 1
      var countsAllEvents = false
    }
    func loop(_ more: String) throws -> Loop {
      let cohort = try cohort(more)
      return Loop(
        actsAtFlushEnd: cohort.actsAtFlushEnd, rateLimitEndsLoop: cohort.rateLimitEndsLoop,
        saving: cohort.saving, triggers: cohort.triggers, countOfAnEvent: cohort.countOfAnEvent,
        countsAllEvents: cohort.countsAllEvents)
    }
    let withoutTimer: [ClientTrigger] = [
      .count, .interval, .manual, .reconnect, .foreground, .background,
    ]
    #expect(try loop("client: 'tapi-document'") == Loop())
    #expect(
      try loop("client: 'segment-swift'")
        == Loop(
          saving: .atOnceAsItIs, triggers: ClientTriggers(withoutTimer.filter { $0 != .foreground }),
          countOfAnEvent: 2, countsAllEvents: true))
    #expect(
      try loop("client: 'segment-kotlin'")
        == Loop(rateLimitEndsLoop: false, saving: .afterAnswers, triggers: ClientTriggers(withoutTimer)))
    #expect(
      try loop("client: 'segment-react-native'")
        == Loop(actsAtFlushEnd: true, saving: .never, triggers: ClientTriggers(withoutTimer)))
    #expect(
      try loop("client: 'segment-swift', uploadLoop: { countOfAnEvent: 1, saving: 'delayed' }")
        == Loop(
          saving: .delayed, triggers: ClientTriggers(withoutTimer.filter { $0 != .foreground }),
          countsAllEvents: true))
    let all = try loop(
      """
      queue: { mode: 'rebatch' }, uploadLoop: { actsAtFlushEnd: true, rateLimitEndsLoop: false, saving: 'afterAnswers',
        triggers: ['manual', 'count'], countOfAnEvent: 2, countsAllEvents: true }
      """)
    #expect(
      all
        == Loop(
          actsAtFlushEnd: true, rateLimitEndsLoop: false, saving: .afterAnswers,
          triggers: ClientTriggers([.count, .manual]), countOfAnEvent: 2, countsAllEvents: true))
    #expect(try loop("uploadLoop: { triggers: [] }").triggers.kinds == [])
  }

  @Test("an event that counts twice reaches an odd count with its half, but meets it only as a whole")
  func eventsUntilFlush() throws {
    func events(_ count: Int, _ loop: String) throws -> Int? {
      try cohort("flush: { count: \(count) }, uploadLoop: { \(loop) }").eventsUntilFlush
    }
    for (count, whole, half) in [(20, 10, 10), (5, 5, 3), (2, 1, 1), (1, 1, 1)] {
      #expect(try events(count, "countOfAnEvent: 2, countsAllEvents: true") == whole)
      #expect(try events(count, "countOfAnEvent: 2") == half)
      #expect(try events(count, "countsAllEvents: true") == count)
    }
    #expect(try cohort("flush: { count: null, interval: '1s' }").eventsUntilFlush == nil)
  }

  @Test("what the cohort says goes before its preset, wherever it stands")
  func overriding() throws {
    let cohort = try cohort(
      """
      policy: { noStatus: 'backoff', missingRetryAfter: 'fixed:90' }, queue: { mode: 'files', limit: 7 },
      uploadConcurrency: 2, flushWhileUploading: 'ignored', uploadLoop: { actsAtFlushEnd: false },
      client: 'segment-react-native'
      """)
    var policy = ClientPolicy.segmentReactNative
    policy.noStatus = .backoff
    policy.missingRetryAfter = .fixed(microseconds: 90_000_000)
    #expect(cohort.policy == policy)
    var queue = QueuePolicy(mode: .files, limit: 7, maximumBatchEvents: 1_000)
    queue.maximumBatchBytes = 512_000
    #expect(cohort.queue == queue)
    #expect(cohort.uploadConcurrency == 2)
    #expect(cohort.flushWhileUploading == .ignored)
    #expect(try self.cohort("client: 'segment-react-native', queue: { limit: 7 }").queue.mode == .rebatch)
    #expect(try self.cohort("client: 'datafly'").queue.limit == 1_000)
    #expect(try self.cohort("client: 'datafly', queue: { limit: null }").queue.limit == .max)
  }

  @Test("the scenario's policy goes before the preset, the cohort's before both; a path reaches all")
  func layers() throws {
    let text = ScenarioText(
      cohort: """
        name: 'a', devices: 1, events: '1/s', client: 'segment-kotlin', policy: { sendsAtLimit: 'maxRetryCountPlusOne' } },
        { name: 'b', devices: 1, events: '1/s', client: 'segment-swift'
        """,
      top: "policy: { noStatus: 'clientBackoff', sendsAtLimit: 'maxRetryCount', clampAfterJitter: false }")
    var policies = [ClientPolicy.segmentKotlin, .segmentSwift]
    for index in policies.indices {
      policies[index].noStatus = .clientBackoff
      policies[index].clampAfterJitter = false
    }
    policies[0].sendsAtLimit = .maxRetryCountPlusOne
    #expect(try text.decode().scenario.fleet.map(\.policy) == policies)
    let all = try text.decode(["policy.sendsAtLimit": "maxRetryCount", "policy.noStatus": "untouched"])
    #expect(all.scenario.fleet.allSatisfy { $0.policy.sendsAtLimit == .maxRetryCount })
    #expect(all.scenario.fleet.allSatisfy { $0.policy.noStatus == .untouched })
    let one = try text.decode([
      "fleet.b.client": "tapi-document", "fleet.b.policy.ageLimit": "eventAgeSinceQueued",
    ])
    #expect(one.scenario.fleet[0].policy == policies[0])
    #expect(one.scenario.fleet[1].policy.rateLimitingOff == .legacy)
    #expect(one.scenario.fleet[1].policy.ageLimit == .eventAgeSinceQueued)
  }

  @Test("every value of every switch is read, and written again")
  func everySwitch() throws {
    for entry in ClientPolicy.switches {
      for pattern in entry.values {
        let value = pattern.replacing(":S", with: ":3600").replacing(":P", with: ":25")
          .replacing(":T", with: ":3s")
        let written = entry.isBool ? value : "'\(value)'"
        let policy = try cohort("policy: { \(entry.name): \(written) }").policy
        #expect(policy.value(of: entry.name) == value)
        #expect(try cohort("", top: "policy: { \(entry.name): \(written) }").policy == policy)
      }
    }
  }

  @Test(
    "what a missing Settings section means is up to the cohort's client, its policy, the scenario's (S13)")
  func missingSection() throws {
    func isOn(_ more: String, top: String = "") throws -> [Bool] {
      let settings = try cohort(more, top: top).settings
      return [settings.rateLimit.isEnabled, settings.backoff.isEnabled]
    }
    #expect(try isOn("") == [true, true])
    #expect(try isOn("policy: { missingSection: 'off' }") == [false, false])
    #expect(try isOn("", top: "policy: { missingSection: 'off' }") == [false, false])
    #expect(try isOn("policy: { missingSection: 'off' }, settings: { backoffConfig: {} }") == [false, true])
    // Shipped clients have their own ways.
    #expect(try isOn("client: 'segment-swift'") == [true, true])
    #expect(try isOn("client: 'segment-swift', policy: { missingSection: 'off' }") == [true, true])
    #expect(try isOn("client: 'segment-react-native'") == [true, true])
    #expect(try isOn("client: 'segment-kotlin', settings: { backoffConfig: {} }") == [true, true])
    #expect(try isOn("client: 'segment-kotlin', settings: {}") == [false, false])
    // The same file, read by two clients.
    let file = try ScenarioText(
      cohort: """
        name: 'a', devices: 1, events: '1/s', settings: 'a.json' },
        { name: 'b', devices: 1, events: '1/s', settings: 'a.json', policy: { missingSection: 'off' }
        """
    ).file(files: ["a.json": "{}"])
    #expect(try file.decode().scenario.fleet.map(\.settings.backoff.isEnabled) == [true, false])
  }
}

@Suite("Launches and published Settings in a scenario")
struct LifecycleDecodingTests {
  private func text(_ more: String) -> ScenarioText {
    ScenarioText(cohort: "name: 'phones', devices: 1, events: '1/s', \(more)")
  }

  @Test("a lifecycle is read with its defaults")
  func lifecycle() throws {
    #expect(try text("").decode().scenario.fleet[0].lifecycle == nil)
    #expect(try text("lifecycle: null").decode().scenario.fleet[0].lifecycle == nil)
    #expect(try text("lifecycle: {}").decode().scenario.fleet[0].lifecycle == Lifecycle())
    let full = try text(
      """
      lifecycle: { restarts: '2/day', synchronised: [{ at: '30m', spread: '10s' }, { at: '1h' }],
        state: 'inMemory', flushAtLaunch: false }
      """
    ).decode().scenario.fleet[0].lifecycle
    #expect(
      full
        == Lifecycle(
          meanTimeBetweenRestarts: .hours(12),
          synchronised: [
            .init(time: .start + .minutes(30), spread: .seconds(10)), .init(time: .start + .hours(1)),
          ], keepsState: false, flushesAtLaunch: false))
    let set = try text("lifecycle: { restarts: '2/day' }").decode([
      "fleet.phones.lifecycle.restarts": "null", "fleet.phones.lifecycle.state": "inMemory",
    ]).scenario.fleet[0].lifecycle
    #expect(set == Lifecycle(keepsState: false))
  }

  @Test("a rollout is read with Settings of its own, which take nothing from those before")
  func rollout() throws {
    let text = text(
      """
      settings: { backoffConfig: { maxRetryCount: 3, jitterStrategy: 'full' } },
      rollout: { at: '0s', settings: { retryConfig: { backoffConfig: { maxRetryCount: 5 } } } }
      """)
    var settings = HTTPConfig()
    settings.backoff.maxRetryCount = 5
    #expect(try text.decode().scenario.fleet[0].rollout == SettingsRollout(time: .start, settings: settings))
    let half = try text.decode(["fleet.phones.rollout.share": "12.5%"]).scenario.fleet[0].rollout
    #expect(half?.sharePartsPerMillion == 125_000)
    #expect(try text.decode(["fleet.phones.rollout": "null"]).scenario.fleet[0].rollout == nil)
    for (share, parts) in [("0%", 0), ("0", 0), ("0.25", 250_000), ("100%", 1_000_000)] as [(String, Int64)] {
      let rollout = try text.decode(["fleet.phones.rollout.share": share]).scenario.fleet[0].rollout
      #expect(rollout?.sharePartsPerMillion == parts)
    }
  }

  @Test(
    "settings.… changes the Settings at the start alone, fleet.NAME.rollout.settings.… the published ones alone"
  )
  func overrides() throws {
    let text = text("rollout: { at: '0s', settings: { backoffConfig: { maxRetryCount: 5 } } }")
    func counts(_ overrides: [String: String]) throws -> [Int?] {
      let cohort = try text.decode(overrides).scenario.fleet[0]
      return [cohort.settings.backoff.maxRetryCount, cohort.rollout?.settings.backoff.maxRetryCount]
    }
    #expect(try counts(["settings.backoffConfig.maxRetryCount": "9"]) == [9, 5])
    #expect(try counts(["fleet.phones.settings.backoffConfig.maxRetryCount": "9"]) == [9, 5])
    #expect(try counts(["fleet.phones.rollout.settings.backoffConfig.maxRetryCount": "9"]) == [100, 9])
    #expect(try counts(["fleet.0.rollout.settings": "{}"]) == [100, 100])
    #expect(try counts(["settings": "{ backoffConfig: { maxRetryCount: 1 } }"]) == [1, 5])
    // A rollout that only the command line knows.
    let made = try self.text("").decode([
      "fleet.phones.rollout.at": "0s", "fleet.phones.rollout.settings.backoffConfig.maxRetryCount": "2",
    ]).scenario.fleet[0]
    #expect(made.rollout?.settings.backoff.maxRetryCount == 2)
    #expect(made.settings.backoff.maxRetryCount == 100)
    // A rollout given anew brings its Settings along.
    let anew = [
      Override(path: "fleet.phones.rollout.settings.backoffConfig.maxRetryCount", value: "2"),
      Override(path: "fleet.phones.rollout", value: "{ at: '0s', settings: {} }"),
    ]
    let cohort = try text.file().decode(overrides: anew).scenario.fleet[0]
    #expect(cohort.rollout?.settings == HTTPConfig())
  }

  @Test("a cohort may be called rollout")
  func cohortNamedRollout() throws {
    let text = ScenarioText(cohort: "name: 'rollout', devices: 1, events: '1/s'")
    let cohort = try text.decode(["fleet.rollout.settings.backoffConfig.maxRetryCount": "2"]).scenario.fleet[
      0]
    #expect(cohort.settings.backoff.maxRetryCount == 2)
    #expect(cohort.rollout == nil)
  }

  @Test("--settings replaces what cohorts start with, not what is published")
  func givenSettings() throws {
    let files = ["a.json": #"{ "backoffConfig": { "maxRetryCount": 7 } }"#]
    let text = text("settings: 'gone.json', rollout: { at: '0s', settings: 'a.json' }")
    let cohort = try text.file(settings: ("{ backoffConfig: { maxRetryCount: 1 } }", "x"), files: files)
      .decode()
      .scenario.fleet[0]
    #expect(cohort.settings.backoff.maxRetryCount == 1)
    #expect(cohort.rollout?.settings.backoff.maxRetryCount == 7)
  }

  @Test("compare may name the files and the shares of a rollout")
  func compared() throws {
    var text = text("rollout: { at: '0s', settings: 'a.json' }")
    text.top = """
      compare: { 'fleet.phones.rollout.settings': ['a.json', 'b.json'], 'fleet.phones.rollout.share': ['0%', '25%', 1],
        'fleet.phones.rollout': [null, { at: '0s', settings: 'c.json' }] }
      """
    let files = ["a.json": "{}", "b.json": #"{ "backoffConfig": { "maxRetryCount": 3 } }"#, "c.json": "{}"]
    let file = try text.file(files: files)
    #expect(try file.decode().axes.map(\.values.count) == [2, 3, 2])
    let second = try file.decode(overrides: [.init(path: "fleet.phones.rollout.settings", value: "b.json")])
    #expect(second.scenario.fleet[0].rollout?.settings.backoff.maxRetryCount == 3)
  }

  @Test("a CDN outage is read, and the twin has none")
  func cdnOutage() throws {
    let scenario = try ScenarioText(tapi: "incidents: [{ kind: 'cdnOutage', at: '0s', for: '5m' }]").decode()
      .scenario
    #expect(scenario.tapi.incidents == [Incident(kind: .cdnOutage, start: .start, duration: .minutes(5))])
    #expect(scenario.withoutIncidents.tapi.incidents == [])
  }
}
