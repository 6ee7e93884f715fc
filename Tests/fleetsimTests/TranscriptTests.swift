import Foundation
import ScenarioModel
import TestSupport
import Testing

/// Commands that run no fleet answer about the files of `scratch` as recorded transcripts say: see `Snapshot`.
///
/// A line `$ fleetsim …` of a transcript is a command, with `␣` for a blank within a word; `∅` is an empty word. Its exit code and all
/// that it prints stand behind it. A new case is such a line more, which is then recorded.
@Suite("Transcripts")
struct TranscriptTests {
  private static let folder = HelpTests.snapshots.appending(path: "transcripts")

  @Test(
    "a command says what was recorded, refuses what makes no sense with the way out, and writes nothing",
    arguments: ["fleetsim"] + CompletionTests.commands.map(\.name))
  func answers(command: String) throws {
    let scratch = try Self.scratch()
    let before = scratch.contents
    let file = Self.folder.appending(path: command + ".txt")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    let commands = lines.filter { $0.hasPrefix("$ fleetsim ") }
    #expect(!commands.isEmpty)
    let answers = try commands.map { line in
      let words = line.split(separator: " ").dropFirst(2)
      let output = try scratch.run(words.map { $0 == "∅" ? "" : String($0.replacing("␣", with: " ")) })
      let said = output.standardError
      if (64...66).contains(output.code) {
        #expect(output.standardOutput == "", "\(line)")
        let isOfCommandLine = said.split(separator: "\n").contains { $0.hasPrefix("Error: ") }
        #expect(isOfCommandLine || output.code != 64 || said.hasPrefix("--"), "\(said)")
        #expect(isOfCommandLine == said.hasSuffix("--help'.\n"), "with the way out: \(said)")
      }
      // What a run needs depends on the layout of the simulator's records, and what there is on the machine.
      return "\(line)\n\(output.code)\n\(output.standardOutput)\(said)"
        .replacing(/[0-9.]+ [KMGT]iB/, with: "SIZE").replacing(#/ +"(version|results)": .*\n/#, with: "")
    }
    let text = answers.joined(separator: "\n")
    let recorded = try Snapshot.recorded(in: file, now: text)
    #expect(recorded.split(separator: "\n$ ") == text.split(separator: "\n$ "))
    #expect(scratch.contents == before)
  }

  private static func scratch() throws -> Scratch {
    let many = (1...20).map(String.init).joined(separator: ",")
    let rows = (0..<10).map { "\($0 * 5),9\n" }.joined()
    let (small, decided) = (Scenarios.small, DecideCommandTests.self)
    let search = SearchCommandTests.scenario
    func searched(by client: String) -> String {
      search.replacing("name: \"phones\"", with: "name: \"phones\", client: \(client)")
    }
    func settings(_ backoff: String, _ rateLimit: String = "") -> String {
      #"{ "httpConfig": { "rateLimitConfig": { \#(rateLimit) }, "backoffConfig": { \#(backoff) } } }"#
    }
    let (zero, base) = (#""maxRetryCount": 0"#, #""maxBackoffInterval": 20, "baseBackoffInterval": "#)
    let sdk = """
      { name: "mine", origin: "sdk 4.2", basedOn: "toggl",
        switches: { policy: { immediateRetries: 2 } }, sources: { "policy.immediateRetries": "Retry.kt:12" } }
      """
    let scratch = try Scratch.with(and: [
      // Scenarios.
      "fleet.json5": decided.fleet, "a.json5": search, "kiosks.json5": CalibrateCommandTests.scenario,
      "swift.json5": searched(by: #""segment-swift""#),
      "own.json5": searched(by: #"{ name: "mine", basedOn: "segment-swift" }"#),
      "empty.json5": "", "half.json5": String(small.prefix(100)), "list.json5": "[]",
      "misspelt.json5": small.replacing("overload:", with: "overlaod:"),
      "lacking.json5": small.replacing("retries:", with: "settings: \"gone.json\", retries:"),
      "based.json5": small.replacing(
        "retries:", with: "settings: { backoffConfig: { baseBackoffInterval: 900 } }, retries:"),
      "bad.json5": small.replacing("20m", with: "20 parsecs").replacing(": 60", with: ": 1e308")
        .replacing("\"none\"", with: "\"fulll\""),
      "many.json5": small.replacing(
        /compare:.*/, with: #"compare: { seed: [\#(many)], "tapi.bucket.burst": [\#(many)] },"#),
      "two.json5": """
      { format: 1, seed: 1, duration: "1h", interval: "10s", settings: "base.json",
        tapi: { bucket: { capacity: "100/s" } }, network: { latency: "50ms" },
        fleet: [{ name: "a", devices: 10, events: "6/min", client: "segment-swift" },
                { name: "b", devices: 10, events: "6/min", client: "segment-kotlin" }] }
      """,
      // Two devices do the same at the same times. They send at 0, 60 and 120 s, each way takes 0.1 s, waits are 8 and 16 s
      // without jitter. 503 for the first 5 s, a restart at 70 s, 429 at the flush after it (70 + 60 s).
      "one.json5": """
      {
        format: 1, duration: "150s", interval: "10s",
        tapi: { bucket: { capacity: "100/s", burst: 100 }, incidents: [
          { kind: "outage", at: "0s", for: "5s", status: 503 },
          { kind: "outage", at: "130s", for: "1s", status: 429, retryAfter: "7s" } ] },
        network: { latency: "100ms" },
        settings: { backoffConfig: { baseBackoffInterval: 8, jitterStrategy: "none" } },
        fleet: [{ name: "phones", devices: 2, events: { every: "60s", phase: "flush" }, retries: "timer",
                  flush: { count: null, interval: "60s", phase: "synchronised" },
                  lifecycle: { synchronised: [{ at: "70s" }], flushAtLaunch: false } }],
      }
      """,
      "world.json5": """
      { format: 1, duration: "6m", interval: "10s", tapi: { bucket: { capacity: "1000/s" } },
        network: { latency: "100ms" }, settings: { backoffConfig: { jitterStrategy: "none" } },
        fleet: [{ name: "phones", devices: 1, events: { every: "10s", phase: "flush" },
                  flush: { count: null, interval: "1m", phase: "synchronised" } }] }
      """,
      "wait.json5": """
      { format: 1, duration: "3h", interval: "10s", network: { latency: "50ms" },
        tapi: { bucket: { capacity: "100/s" }, overload: { status: 429 },
                incidents: [{ kind: "outage", at: "1h", for: "10m", status: 503 }] },
        fleet: [{ name: "phones", devices: 1000, client: "segment-kotlin", events: "30/h" }] }
      """,
      "kept.json5": """
      { format: 1, duration: "3h", tapi: { bucket: { capacity: "100/s" } },
        settings: { rateLimitConfig: { enabled: true }, backoffConfig: {} },
        fleet: [{ name: "p", devices: 100, events: { every: "10m" }, client: { name: "x", meaning: "y",
          basedOn: "segment-kotlin", switches: { settings: { backoffConfig: { maxRetryCount: 5 } } } } }] }
      """,
      // 50 ms there and 50 ms back: 8 devices at a time are 80 requests a second.
      "scaled.json5": Scenarios.scenario(devices: 2_400, capacity: "160/s")
        .replacing("burst: 2", with: "burst: 30"),
      // Settings.
      "today.json": decided.settings(3), "new.json": decided.settings(1_000),
      "slip.json": decided.settings(3, #""maxRetryCont": 3,"#), "cdn.json": SearchCommandTests.settings,
      "flat.json": #"{ "backoffConfig": { "maxRetryCount": 3 } }"#, "other.json": #"{ "sampleRate": 0.5 }"#,
      "misspelt.json": #"{ "htpConfig": {} }"#,
      "hostile.json": """
      {
        "integrations": { "Segment.io": { "httpConfig": {
          "rateLimitConfig": { "maxRetryCount": 10.5 },
          "backoffConfig": {
            "jitterPercent": 0,
            "retryableStatusCodes": [500, 503],
            "statusCodeOverrides": {}
          }
        } } }
      }
      """,
      "harmless.json": settings(#""jitterPercent": 10"#), "base.json": settings(base + "60"),
      "low-base.json": settings(base + "6"), "zero.json": settings(zero, zero),
      "one.json": settings(#""maxRetryCount": 1"#),
      // Clients.
      "mine.json5": InitTests.mine, "sdk.json5": sdk, "slip.json5": sdk.replacing(": { imm", with: ": { im"),
      "ours.json5": "{ name: 'ours', meaning: 'ours', origin: 'here', basedOn: 'segment-react-native' }",
      // Others.
      "good.json": vector(wait: 20), "wrong.json": vector(wait: 30),
      "late.json5": #"{ "sunday": [{ kind: "outage", at: "5h", for: "10m", status: 503 }] }"#,
      "m.csv": "time,requests\n" + rows,
      "bad.csv": "time,requests\n0,1\n5,2\n10,x\n", "folder/x": "",
    ])
    try scratch.write("torn-1", [0x7B, 0x0A, 0xC3, 0xA4, 0xFF, 0x7D])
    try scratch.write("torn-2", [0x61, 0xEF, 0xBF])
    try scratch.write("torn-3", [0x0D, 0x0A, 0x0D, 0xF0, 0x90, 0x80, 0x61])
    return scratch
  }

  private static func vector(wait: Int) -> String {
    """
    {"format": 1, "title": "mine", "cases": [
      {"id": "mine", "requirement": "S4", "says": "Retry-After is honoured",
       "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {}}},
       "given": {"batches": ["a"]},
       "steps": [
        {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
        {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "20"}, "expect": {"outcome": {"pause": \(wait)}}}
       ]}
    ]}
    """
  }
}
