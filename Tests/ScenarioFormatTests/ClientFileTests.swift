import Foundation
import ScenarioFormat
import ScenarioModel
import ShippedQuirks
import SimulationKernel
import TestSupport
import Testing
import UploadRetry

@Suite("Client files")
struct ClientFileTests {
  private static let mine = """
    {
      name: "mine", meaning: "ours", origin: "github.com/we/sdk 1a2b3c4",
      basedOn: "segment-kotlin",
      switches: {
        flush: { count: 30 },
        policy: { waits: ["1s", "8s"], immediateRetries: 2, longestRetryAfter: "30s" },
        settings: { backoffConfig: { jitterStrategy: "symmetric:50", maxRetryCount: 7 } },
      },
      sources: { "policy.waits": { place: "Retry.kt:12", why: "Two of them." }, "flush.count": "Config.kt:3" },
    }
    """

  private func decode(
    _ client: String, files: [String: String] = ["mine.json5": mine], more: String = "", top: String = "",
    overrides: [Override] = []
  ) throws -> ScenarioFile.Decoded {
    let text = """
      { format: 1, duration: "1m", tapi: { bucket: { capacity: "10/s" } }, \(top)
        fleet: [{ name: "phones", devices: 1, events: "6/min"\(client.isEmpty ? "" : ", client: \(client)")\(more) }] }
      """
    struct Missing: Error {}
    let file = try ScenarioFile(text: text, name: "s.json5") { name in
      guard let text = files[name] else { throw Missing() }
      return text
    }
    return try file.decode(overrides: overrides)
  }

  private func messages(_ file: String) -> [String] {
    do {
      _ = try decode(#""mine.json5""#, files: ["mine.json5": file])
      return []
    } catch let problems as ScenarioProblems {
      return problems.diagnostics.map { "\($0.file):\($0.line ?? 0): \($0.path): \($0.message)" }
    } catch {
      return ["\(error)"]
    }
  }

  @Test(
    "a scenario names a client file beside it; what the file leaves out is as in the client that it is based on"
  )
  func file() throws {
    let cohort = try decode(#""mine.json5""#).scenario.fleet[0]
    #expect(cohort.client == "mine")
    #expect(cohort.policy.waits.milliseconds == [1_000, 8_000])
    #expect(cohort.policy.immediateRetries == 2 && cohort.policy.longestRetryAfter == 30_000_000)
    #expect(cohort.policy.waitsInMilliseconds && cohort.flushWhileUploading == .queued)
    #expect(cohort.flush.count == 30 && cohort.flush.interval == .seconds(30))
    #expect(cohort.settings.backoff.jitter == .symmetric(percent: 50))
    #expect(
      cohort.preset.source(of: "policy.waits") == "github.com/we/sdk 1a2b3c4, Retry.kt:12: Two of them.")
  }

  private func unlimited(_ fetch: String) -> String {
    """
    { name: "mine", switches: { settingsFetch: "\(fetch)",
      settings: { backoffConfig: { maxRetryCount: "none", baseBackoffInterval: 0.03, maxBackoffInterval: 86400 } } } }
    """
  }

  @Test(
    "a client that asks for no Settings has waits of any length and no limit on retries, one that asks has theirs"
  )
  func withoutLimits() throws {
    let never = ["mine.json5": unlimited("never")]
    let backoff = try decode(#""mine.json5""#, files: never).scenario.fleet[0].settings.backoff
    #expect(backoff.maxRetryCount == .max && backoff.baseBackoffInterval == 30_000)
    #expect(backoff.maxBackoffInterval == 86_400_000_000)
    let override = Override(path: "fleet.phones.settings.backoffConfig.maxRetryCount", value: "5000")
    #expect(
      try decode(#""mine.json5""#, files: never, overrides: [override]).scenario.fleet[0].settings.backoff
        .maxRetryCount == 5_000)
    let scenario = try decode(
      #""mine.json5""#, files: never, more: ", settings: { backoffConfig: { maxBackoffInterval: 7200 } }")
    #expect(scenario.scenario.fleet[0].settings.backoff.maxBackoffInterval == 7_200_000_000)
    #expect(scenario.scenario.fleet[0].settings.backoff.maxRetryCount == .max)
    let wrong = messages(unlimited("launch"))
    #expect(
      wrong.count == 3 && wrong.contains { $0.contains("maxRetryCount: no Settings may say \"none\"") },
      "\(wrong)")
  }

  @Test("a Settings file has the limits of Settings, whoever reads it")
  func fileIsBounded() throws {
    let files = [
      "mine.json5": unlimited("never"),
      "cdn.json": #"{ "httpConfig": { "backoffConfig": { "maxRetryCount": "none" } } }"#,
    ]
    let error = #expect(throws: ScenarioProblems.self) {
      try decode(#""mine.json5""#, files: files, more: #", settings: "cdn.json""#)
    }
    #expect(error?.diagnostics.first?.path == "httpConfig.backoffConfig.maxRetryCount")
  }

  @Test("what a file's Settings leave out is as in the client that it is based on")
  func basedOn() throws {
    let text = """
      { name: "mine", basedOn: "aws-sdk-standard",
        switches: { settings: { backoffConfig: { maxRetryCount: 5 } } } }
      """
    let backoff = try ClientPreset(file: text, name: "mine.json5").settingsDefaults.backoff
    var expected = try #require(ClientPreset.builtIn("aws-sdk-standard")).settingsDefaults.backoff
    #expect(expected.jitter == .full && expected.maxBackoffInterval == 20_000_000)
    expected.maxRetryCount = 5
    #expect(backoff == expected)
  }

  @Test("a client file may drop a 429 where its policy says what that means, and obey any Retry-After")
  func rateLimits() throws {
    func file(_ policy: String) -> String {
      """
      { name: "mine", switches: { policy: { \(policy) }, gates: { losesWhileRateLimited: true },
        settings: { backoffConfig: { statusCodeOverrides: { "429": "drop" } } } } }
      """
    }
    let text = file(#"overridden429: "dropsAndPauses", retryAfterCap: "longestRetryAfter""#)
    let decoded = try decode(#""mine.json5""#, files: ["mine.json5": text])
    let cohort = decoded.scenario.fleet[0]
    #expect(cohort.settings.backoff.statuses.dropsRateLimited)
    #expect(
      cohort.policy.overridden429 == .dropsAndPauses && cohort.policy.retryAfterCap == .longestRetryAfter)
    #expect(cohort.gates.losesWhileRateLimited)
    let again = try ScenarioFile(text: decoded.normalisedJSON, name: "n") { _ in "" }.decode(overrides: [])
    #expect(again.scenario == decoded.scenario && again.normalisedJSON == decoded.normalisedJSON)
    #expect(
      messages(file(#"overridden429: "ignored""#)).first?.hasPrefix(
        "mine.json5:2: switches.settings.backoffConfig.statusCodeOverrides[\"429\"]: a 429 follows") == true,
      "\(messages(file("")))")
  }

  @Test("a scenario's own Settings may drop a 429 where the policy says what that means")
  func ownRateLimits() throws {
    let settings = #", settings: { backoffConfig: { statusCodeOverrides: { "429": "drop" } } }"#
    let decoded = try decode("", more: settings + #", policy: { overridden429: "drops" }"#)
    #expect(decoded.scenario.fleet[0].settings.backoff.statuses.dropsRateLimited && decoded.warnings.isEmpty)
    let again = try ScenarioFile(text: decoded.normalisedJSON, name: "n") { _ in "" }.decode(overrides: [])
    #expect(again.scenario == decoded.scenario)
    let ignoring = try decode("", more: settings)
    #expect(!ignoring.scenario.fleet[0].settings.backoff.statuses.dropsRateLimited)
    #expect(ignoring.warnings.contains { $0.message.contains("a 429 follows rateLimitConfig alone") })
  }

  @Test("what the scenario says goes before its client file")
  func precedence() throws {
    let cohort = try decode(
      #""mine.json5""#, more: ", flush: { count: 5 }, policy: { immediateRetries: 0 }"
    ).scenario.fleet[0]
    #expect(cohort.flush.count == 5 && cohort.policy.immediateRetries == 0)
    #expect(cohort.policy.waits.milliseconds == [1_000, 8_000])
    #expect(Set(cohort.differencesFromPreset.map(\.path)) == ["flush.count", "policy.immediateRetries"])
  }

  @Test("a normalised scenario carries its client, and is read back as the same scenario without the file")
  func normalised() throws {
    let decoded = try decode(#""mine.json5""#)
    let again = try ScenarioFile(text: decoded.normalisedJSON, name: "n") { _ in "" }.decode(overrides: [])
    #expect(again.scenario == decoded.scenario)
    #expect(again.normalisedJSON == decoded.normalisedJSON)
  }

  @Test("a client may stand in the scenario itself")
  func inline() throws {
    let cohort = try decode(#"{ name: "here", switches: { retries: "timer", policy: { multiplier: 1.5 } } }"#)
      .scenario.fleet[0]
    #expect(cohort.client == "here" && cohort.retries == .timer && cohort.policy.multiplier == 1.5)
  }

  @Test("client at the top is that of every cohort without one, and as an override that of all")
  func top() throws {
    #expect(try decode("", top: #"client: "toggl","#).scenario.fleet[0].client == "toggl")
    #expect(try decode(#""datafly""#, top: #"client: "toggl","#).scenario.fleet[0].client == "datafly")
    let chosen = [Override(path: "client", value: "grpc")]
    #expect(try decode(#""datafly""#, overrides: chosen).scenario.fleet[0].client == "grpc")
  }

  @Test("each client that ships is read back from what it is written as", arguments: ClientPreset.all)
  func written(client: ClientPreset) throws {
    var other = client
    other.name = "other"
    let text = JSONText.pretty(ClientFile.written(other))
    let again = try ClientPreset(file: text, name: "other.json5")
    #expect(again == other)
  }

  @Test("a client file says its version, when that was run, how a value is known, and what no switch says")
  func provenance() throws {
    let text = """
      { name: "mine", origin: "sdk", version: { number: "4.2.0", date: "2026-01-31", run: "2026-02-28" },
        switches: { policy: { immediateRetries: 2 }, retries: "timer" },
        sources: { "policy.immediateRetries": { place: "Retry.kt:12", by: "seen", why: "At once." },
          "retries": { place: "Retry.kt:3", by: "read" } },
        notes: ["It hums.", "It whistles."] }
      """
    let client = try ClientPreset(file: text, name: "mine.json5")
    #expect(client.version?.number == "4.2.0")
    #expect(client.version?.date == CalendarDate("2026-01-31"))
    #expect(client.version?.run == CalendarDate("2026-02-28"))
    #expect(client.notes == ["It hums.", "It whistles."])
    #expect(client.source(of: "policy.immediateRetries") == "sdk, Retry.kt:12 (seen): At once.")
    #expect(client.source(of: "retries") == "sdk, Retry.kt:3 (read)")
    let written = JSONText.pretty(ClientFile.written(client))
    #expect(try ClientPreset(file: written, name: "mine.json5") == client)
  }

  @Test(
    "a client of the catalogue whose code was run says of each value whether it was seen or read, and what no switch says",
    arguments: ClientPreset.catalogue.filter { $0.version?.run != nil })
  func evidence(client: ClientPreset) {
    #expect(client.sources.filter { $0.value.evidence == nil }.map(\.key) == [])
    #expect(!client.notes.isEmpty && client.notes.allSatisfy { $0.hasSuffix(".") })
    #expect(client.sources.values.contains { $0.evidence == .seen })
  }

  @Test("the document's client is what a program has without a file")
  func document() {
    #expect(ClientPreset.tapiDocument == ClientPreset())
  }

  @Test(
    "offline-first's file says what the chapter says: full jitter from 5 s to 1800 s, ten attempts, 24 hours")
  func offlineFirst() {
    var policy = ClientPolicy()
    policy.rateLimited = .delaysBatch
    policy.retryAfterOnOtherCodes = .delaysBatch
    (policy.readsRateLimitReset, policy.unauthorized) = (true, .refreshThenRetryOnce)
    policy.givenUp = .blocked
    #expect(ClientPreset.offlineFirst.policy == policy)
    var config = HTTPConfig()
    (config.backoff.baseBackoffInterval, config.backoff.maxBackoffInterval) = (5_000_000, 1_800_000_000)
    (config.backoff.maxRetryCount, config.backoff.maxTotalBackoffDuration) = (9, 86_400_000_000)
    config.backoff.jitter = .full
    config.backoff.statuses = StatusTable(everything: .drop)
    for status in [408, 500, 502, 503, 504] { config.backoff.statuses.set(.retry, for: status) }
    #expect(ClientPreset.offlineFirst.settingsDefaults == config)
  }

  // MARK: Bad input

  @Test("one wrong key is named with its file, its line and the nearest right one")
  func wrongKey() {
    let found = messages("{\n  name: \"mine\",\n  switches: {\n    policy: { multiplyer: 3 },\n  },\n}")
    #expect(found.count == 1)
    #expect(
      found[0].hasPrefix(
        "mine.json5:4: switches.policy.multiplyer: unknown key; did you mean \"multiplier\"?"))
  }

  @Test(
    "everything that is wrong in a file is said at once, each with its place",
    arguments: [
      (
        #"{ name: "grpc" }"#,
        #"mine.json5:1: name: "grpc" is the name of a client that ships with fleetsim; give yours another"#
      ),
      ("{}", "mine.json5:1: name: missing; write for example name: \"my-client\""),
      (
        #"{ name: "a", basedOn: "togl" }"#,
        #"mine.json5:1: basedOn: "togl" is not known; did you mean "toggl"? Allowed:"#
      ),
      (
        #"{ name: "a", switches: { policy: { waits: [] } } }"#,
        "mine.json5:1: switches.policy.waits: a ladder has at least one wait; null: none"
      ),
      (
        #"{ name: "a", switches: { policy: { waits: ["1s"], multiplier: 3 } } }"#,
        "mine.json5:1: switches.policy.multiplier: has no effect: policy.waits stand in its place"
      ),
      (
        #"{ name: "a", switches: { settings: { backofConfig: {} } } }"#,
        "mine.json5:1: switches.settings.backofConfig: unknown key; did you mean"
      ),
      (
        #"{ name: "a", switches: { settings: { backoffConfig: { maxRetryCount: 5000 } } } }"#,
        "mine.json5:1: switches.settings.backoffConfig.maxRetryCount: 5000 is out of range"
      ),
      (
        #"{ name: "a", sources: { "policy.waitz": "x" } }"#,
        "mine.json5:1: sources[\"policy.waitz\"]: is no switch; did you mean \"policy.waits\"?"
      ),
      (
        #"{ name: "a", version: { number: "1", run: "2026-02-30" } }"#,
        #"mine.json5:1: version.run: the string "2026-02-30" is no date; write one as "2026-11-24""#
      ),
      (
        #"{ name: "a", version: { run: "2026-02-20" } }"#,
        #"mine.json5:1: version.number: missing; write for example number: "4.2.0""#
      ),
      (
        #"{ name: "a", sources: { "retries": { place: "x", by: "sen" } } }"#,
        #"mine.json5:1: sources.retries.by: "sen" is not known; did you mean "seen"?"#
      ),
      (#"{ name: "a", notes: "It hums." }"#, "mine.json5:1: notes: expected a list of sentences"),
      ("[1]", "mine.json5:1: : a client is an object"),
    ])
  func problems(file: String, message: String) {
    let found = messages(file)
    #expect(found.contains { $0.hasPrefix(message) }, "\(found)")
  }

  @Test("a file that is not there is said where it is named; a name that is no client has a suggestion")
  func missing() {
    do {
      _ = try decode(#""other.json5""#)
      Issue.record("it was read")
    } catch let problems as ScenarioProblems {
      #expect(problems.diagnostics.count == 1)
      #expect(problems.diagnostics[0].path == "fleet.phones.client")
      #expect(problems.diagnostics[0].message.hasPrefix(#"cannot read "other.json5""#))
    } catch { Issue.record(error) }
    do {
      _ = try decode(#""posthug""#)
      Issue.record("it was read")
    } catch let problems as ScenarioProblems {
      #expect(
        problems.diagnostics[0].message.hasPrefix(
          #""posthug" is not known; did you mean "posthog"? Allowed:"#))
    } catch { Issue.record(error) }
  }

  @Test("the tables of the clients' page are what their files say of themselves")
  func page() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../Sources/fleetsim/fleetsim.docc/3-reference/clients.md")
    let head = "| client | what it does |\n|---|---|\n"
    var parts = try String(contentsOf: page, encoding: .utf8).components(separatedBy: head)
    try #require(parts.count == 3)
    for (index, clients) in zip(1..., [ClientPreset.documented, ClientPreset.catalogue]) {
      let rows = clients.map { "| `\($0.name)` | \($0.meaning) |\n" }.joined()
      let end = try #require(parts[index].range(of: "\n\n"))
      parts[index] = rows + parts[index][parts[index].index(after: end.lowerBound)...]
    }
    let text = parts.joined(separator: head)
    #expect(try Snapshot.recorded(in: page, now: text) == text)
  }
}
