import CommandLineInterface
import FleetExperiments
import FleetMetrics
import Foundation
import ScenarioFormat
import ScenarioModel
import Testing

@Suite("The version of the results")
struct ResultsVersionTests {
  private static let file = HelpTests.snapshots.appending(path: "results-versions.txt")

  /// Small runs over both servers, every client, incidents of every kind, and what devices go through.
  private static let scenarios: [String] = {
    func text(_ server: String, _ incidents: String, _ fleet: String) -> String {
      """
      { format: 1, seed: 11, duration: "35m", interval: "10s",
        tapi: { \(server), incidents: [\(incidents)] }, network: { latency: { median: "80ms", p99: "600ms" } },
        fleet: [\(fleet)] }
      """
    }
    let bucket =
      #"bucket: { capacity: "2/s", burst: 5 }, overload: { status: 429, retryAfter: { from: "5s", to: "40s" } }"#
    let workers =
      #"workers: { count: 2, serviceTime: { exponential: "300ms" }, serviceTimePerEvent: "5ms", queueLimit: 9 }, overload: { status: 503 }"#
    let outage = #"{ kind: "outage", at: "8m", for: "6m", status: 503 }"#
    let silence = #"{ kind: "outage", at: "8m", for: "6m", status: "none", warmUp: "2m" }"#
    let brownout = #"{ kind: "brownout", at: "14m", for: "6m", factor: "40%" }"#
    let errors = #"{ kind: "errors", at: "5m", for: "9m", share: "30%", status: 500 }"#
    let latency = #"{ kind: "latency", at: "7m", for: "5m", added: "20s" }"#
    var texts: [String] = []
    for preset in ClientPreset.documented {
      let fleet = "{ name: \"a\", devices: 20, client: \"\(preset.name)\", events: \"4/min\" }"
      texts.append(text(bucket, [outage, brownout].joined(separator: ","), fleet))
      texts.append(text(workers, [errors, silence, latency].joined(separator: ","), fleet))
    }
    let lives = text(
      bucket, silence,
      #"""
      { name: "a", devices: 15, events: { rate: "4/min", curve: { amplitude: "50%", peak: "10m", period: "30m" } },
        network: { latency: "80ms", loss: "2%", bandwidth: "20KB/s" }, lifecycle: { restarts: { meanGap: "10m" } } },
      { name: "b", devices: 7, client: "segment-kotlin", events: { every: "20s" }, retries: "timer",
        connectivity: { offline: "2m", online: "6m" }, queue: { limit: 30 } }
      """#)
    // Every batch is too large: the first client drops it, the second keeps it for good. Without the outage, too.
    let losing = ["tapi-document", "offline-first"].map {
      text(
        bucket + #", requestSizeLimit: "100B""#, outage,
        "{ name: \"a\", devices: 5, client: \"\($0)\", events: \"1/min\" }")
    }
    // A batch grows while it waits for fresh credentials and an upload of it is open.
    let growing = #"""
      { format: 1, seed: 11, duration: "46s", interval: "10s", network: { latency: "50ms" },
        tapi: { workers: { count: 9, serviceTime: "100ms", serviceTimePerEvent: "10s" },
          incidents: [{ kind: "errors", at: "1.22s", for: "80ms", share: "100%", status: 401 }] },
        fleet: [{ name: "a", devices: 1, events: { every: "4s", phase: "flush" }, flush: { interval: "8s", phase: "synchronised" },
          queue: { growsUntilFailure: true }, retries: "timer", timeout: "60s", credentialRefresh: "12.7s",
          gates: { reconcile: true }, policy: { unauthorized: "refreshThenRetryOnce" },
          settings: { backoffConfig: { jitterStrategy: "none", baseBackoffInterval: 40 } },
          lifecycle: { synchronised: [{ at: "1s" }], state: "persisted", flushAtLaunch: true } }] }
      """#
    // Apps that close in an outage keep what they hold for hours.
    let closing = text(
      bucket, outage,
      #"""
      { name: "a", devices: 60, client: "segment-swift", events: "1/min",
        sessions: { share: "20%", length: { exponential: "3m" } } }
      """#)
    // Operators restart the server after its outage, and nothing happens behind the end.
    let restarted = text(
      bucket,
      #"{ kind: "outage", at: "8m", for: "6m", status: 503 }, { kind: "outage", at: "40m", for: "1m", status: 503 }"#,
      #"{ name: "a", devices: 20, events: "4/min" }"#
    ).replacing("fleet:", with: #"actions: [{ kind: "restart", at: "15m", for: "3m" }], fleet:"#)
    // A tenant's limit holds up what waits behind one upload of each device, and a saturated server falls behind by 2 %.
    let limited = text(
      bucket + #", keyLimits: [{ rate: "2/s", burst: 4 }]"#, outage,
      #"{ name: "a", devices: 20, events: "5/min", flush: { count: 1, interval: null }, uploadConcurrency: 1 }"#
    )
    let saturated = text(
      #"workers: { count: 1, serviceTime: "612ms" }"#, "",
      #"{ name: "a", devices: 20, events: "5/min", flush: { count: 1, interval: null } }"#)
    // The network is gone for a while, timers alone flush when it is back, all apps restart, and refused is by 408.
    let returning = text(
      bucket.replacing("429", with: "408"), "",
      #"""
      { name: "a", devices: 20, events: "4/min", lifecycle: { synchronised: [{ at: "20m" }] },
        connectivity: { interruptions: [{ at: "8m", for: "4m" }], flushOnReconnect: false } }
      """#)
    return texts + [lives] + losing + [growing, closing, restarted, limited, saturated, returning]
  }()

  @Test("results have the digest that is recorded for this version")
  func digest() throws {
    var tables: [UInt8] = []
    for text in Self.scenarios {
      let scenario = try ScenarioFile(text: text, name: "s.json5") { _ in "" }.decode().scenario
      let result = try #require(
        try Comparison.run([Variant(name: "a", scenario: scenario)], workers: 1).first)
      tables +=
        TimeSeriesCSV.bytes(of: result.record.series) + HistogramCSV.bytes(of: result.record.deliveries)
      tables += SummaryCSV.bytes(of: [result.summary]) + CohortCSV.bytes(of: result.record.cohorts)
    }
    let digest = SHA256.hexadecimal(tables)
    let lines = try String(contentsOf: Self.file, encoding: .utf8).split(separator: "\n").map {
      $0.split(separator: " ").map(String.init)
    }
    try #require(lines.allSatisfy { $0.count == 2 })
    #expect(lines.compactMap { Int($0[0]) } == Array(1...lines.count), "the versions are 1, 2, 3 …")
    #expect(Set(lines.map { $0[1] }).count == lines.count, "every version has results of its own")
    let now = CommandLineTool.resultsVersion
    #expect(now == lines.count, "the last line is that of this version")
    let recorded = lines.first { $0[0] == "\(now)" }?[1]
    #expect(
      recorded == digest,
      """
      Results have changed. What is recorded stays; raise CommandLineTool.resultsVersion to \(lines.count + 1), and add the line
      \(lines.count + 1) \(digest)
      to \(Self.file.lastPathComponent). Then record the baselines anew (contributing.md has the command)
      """)
  }

  private static let other = 987_654
  private static let mine =
    "this build has results version \(CommandLineTool.resultsVersion): the two may differ"

  /// Replaces the version of the results in a file.
  private func age(_ scratch: Scratch, _ name: String, _ form: String) throws {
    let (text, from) = (try scratch.text(name), form + "\(CommandLineTool.resultsVersion)")
    #expect(text.contains(from), "\(text.prefix(200))")
    try scratch.write(name, text.replacing(from, with: form + "\(Self.other)"))
  }

  private func refused(_ arguments: [String], _ scratch: Scratch, _ parts: String...) throws {
    let said = try scratch.run(arguments, code: 65, says: Self.mine).standardError
    for part in parts { #expect(said.contains(part), "\(said)") }
  }

  @Test("a journal of another version is not gone on with")
  func journal() throws {
    let scratch = try Scratch(SearchCommandTests.tuned.get())
    let tune = SearchCommandTests.tune + ["--out", "out"]
    let marker = "out.journal/fleetsim-journal"
    try age(scratch, marker, "version ")
    try refused(
      tune, scratch, "out.journal: the journal was kept with results version 987654",
      "name another with --journal")
    try scratch.write(marker, "fleetsim journal\n")
    try refused(tune, scratch, "out.journal: the journal was kept with results version 0")
  }

  @Test("a baseline of another version is not checked against, and can be recorded anew")
  func baseline() throws {
    let scratch = try Scratch.with()
    let record = ["check", "s.json5", "--record", "--seeds", "2"]
    try scratch.run(record, code: 0)
    let recorded = try scratch.text("baseline.json")
    try age(scratch, "baseline.json", "\"results\": ")
    try refused(
      ["check", "s.json5"], scratch,
      "baseline.json: the baseline of 's' was recorded with results version 987654",
      "record it anew with: fleetsim check s.json5 --record")
    try scratch.run(record, code: 0)
    #expect(try scratch.text("baseline.json") == recorded)
    try scratch.run("check s.json5", code: 0)
  }
}
