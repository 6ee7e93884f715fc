import Foundation
import Testing

@Suite("tune")
struct SearchCommandTests {
  static let scenario = """
    { format: 1, seed: 3, duration: "12m", interval: "10s",
      tapi: { bucket: { capacity: "2/s", burst: 2 }, overload: { status: 503 },
        incidents: [{ kind: "outage", at: "2m", for: "2m", status: 503 }] },
      settings: "cdn.json",
      fleet: [{ name: "phones", devices: 20, events: "4/min", flush: { count: 20, interval: "30s" }, retries: "timer" }] }
    """
  static let settings = """
    { "integrations": { "Segment.io": { "apiKey": "K", "httpConfig": { "backoffConfig": { "maxBackoffInterval": 300 } } } } }
    """
  static let space = [
    "--search", "settings.backoffConfig.maxBackoffInterval=5..300:log",
    "--search", "settings.backoffConfig.jitterStrategy=additive:10,full",
    "--objective", "affected_delivery_p99_s", "--objective", "attempts_mean_per_device_day",
    "--require", "lost_events<=0",
  ]

  func scratch() throws -> Scratch {
    try Scratch([
      "a.json5": Self.scenario, "b.json5": Self.scenario.replacing("503", with: "504"),
      "cdn.json": Self.settings,
    ])
  }

  static let tune = ["tune", "a.json5", "b.json5"] + space + ["--seeds", "6", "--budget", "500"]

  /// That search, made once for all tests, with one worker: its files are in `out`, its runs in `out.journal`.
  static let tuned = Result {
    let scratch = try SearchCommandTests().scratch()
    try scratch.run(tune + ["--out", "out", "--jobs", "1"], code: 0, says: "")
    return try scratch.files()
  }

  @Test("a search writes the Settings in both shapes, and the rest of what the CDN serves stays")
  func files() throws {
    let scratch = try Scratch(Self.tuned.get())
    let pages = ["pareto.csv", "decision.csv", "pareto.svg", "report.html", "run.json"]
    for name in pages + ["settings.json", "settings-document.json"] {
      #expect(try !scratch.text("out/" + name).isEmpty)
    }
    #expect(try scratch.text("out/settings.json").contains("\"apiKey\": \"K\""))
    // What was recommended runs: in both shapes, with the same result.
    let runs = try ["settings.json", "settings-document.json"].map { name in
      try scratch.run(
        "run a.json5 --seed 3 --settings out/\(name) --out \(name).out -q", code: 0, says: "")
      return try scratch.text(name + ".out/timeseries.csv")
    }
    #expect(runs[0] == runs[1])
  }

  @Test("the same search gives the same bytes, with one worker or two, or killed and started again")
  func deterministic() throws {
    let scratch = try Scratch(Self.tuned.get())
    let command = Self.tune + ["--out", "two", "--jobs", "2"]
    // The process has half of the runs, and makes some of the others.
    let runs = scratch.runs("out.journal")
    try FileManager.default.copyItem(
      at: scratch.url.appending(path: "out.journal"), to: scratch.url.appending(path: "two.journal"))
    for name in runs.suffix(runs.count / 2) { try scratch.remove("two.journal/" + name) }
    let begun = runs.count - runs.count / 2
    _ = try Tool.process(
      command, in: scratch.url, signal: SIGKILL, when: { scratch.runs("two.journal").count > begun + 20 })
    let kept = scratch.runs("two.journal").count
    #expect(kept > begun + 20)
    // What a process of another machine leaves when it is killed between its two steps.
    try scratch.write("two.journal/.\(runs.last!).fleetsim-0123456789abcdef.tmp", "half a ru")
    let again = try scratch.run(command + ["--verbose"], code: 0)
    #expect(again.story("note").contains { $0.hasPrefix("\(kept) runs from the journal, ") })
    #expect(!scratch.contents.contains { $0.hasSuffix(".tmp") })
    for name in ["pareto.csv", "settings.json", "pareto.svg"] {
      #expect(try scratch.text("two/" + name) == scratch.text("out/" + name), "\(name)")
    }
  }

  @Test("where no candidate keeps a requirement that is said first, and no Settings are written")
  func unmetConstraint() throws {
    let scratch = try scratch()
    // Neither value is better than today's. An event of the outage waits for its end, two minutes after its beginning.
    let command =
      "tune a.json5 --search settings.backoffConfig.maxBackoffInterval=299,300 --seeds 2 --budget 60 "
      + "--require lost_events<=0 --require affected_delivery_p99_s<=1"
    let output = try scratch.run(command + " --out out", code: 0, says: "")
    let lead = "No candidate keeps affected_delivery_p99_s <= 1 in every run, nor do today's Settings"
    #expect(output.standardOutput.hasPrefix(lead) && output.lines[1].hasPrefix("reason "), "\(output)")
    #expect(output.story("next").count == 1 && !output.standardOutput.contains("settings.json"), "\(output)")
    #expect(!scratch.contents.contains("out/settings.json"))
    // Its first line, in large letters.
    let escaped = lead.replacing("<", with: "&lt;").replacing("'", with: "&#39;")
    #expect(try scratch.text("out/report.html").contains("<p class=\"lead\">\(escaped)</p>"))
    #expect(try scratch.text("out/pareto.csv").contains("\n0,finalist,"))
    let document = try scratch.run(command + " --json --journal out.journal", code: 0).json
    #expect(document["isRecommended"] == .bool(false) && document["settings"] == .null)
    let requirements = document["requirements"]?.elements ?? []
    try #require(
      requirements.map { $0["requirement"]?.text } == ["lost_events <= 0", "affected_delivery_p99_s <= 1"])
    #expect(requirements.map { $0["isMet"] } == [.bool(true), .bool(false)])
    #expect(requirements[0]["nearest"] == .null)
    let nearest = try #require(requirements[1]["nearest"]?.number)
    #expect(nearest > 1 && nearest < 600)
    #expect(requirements[1]["brokenRatio"]?.number == 1 && requirements[1]["todayBrokenRatio"]?.number == 1)
  }

  @Test(
    "where nothing keeps a requirement on lost events the limit that lost them is named, and the key that would end that",
    arguments: [
      ("settings.backoffConfig.maxBackoffInterval=5,10", 2, "not searched"),
      ("settings.backoffConfig.maxRetryCount=2,3", 3, "searched up to 3"),
    ])
  func lossIsCharged(search: String, limit: Int, extent: String) throws {
    let command =
      "tune a.json5 --set settings.backoffConfig.maxRetryCount=2 --require lost_events<=0 --seeds 2 --search "
    let output = try scratch().run(command + search, code: 0)
    let lost = output.story("lost")
    let cure = ": backoffConfig.maxRetryCount \(limit); with 1000 the worst run loses none"
    #expect(lost.first?.hasSuffix(cure) ?? false, "\(output)")
    #expect(lost.last == "settings.backoffConfig.maxRetryCount was \(extent)", "\(output)")
  }

  @Test("only keys that a client reads are searched; what clients make of the result is said")
  func clients() throws {
    let scratch = try scratch()
    let swift = Self.scenario.replacing(
      "name: \"phones\"", with: "name: \"phones\", client: \"segment-swift\"")
    try scratch.write("swift.json5", swift)
    let both = " --search settings.backoffConfig.maxBackoffInterval=60,300 --seeds 1 --budget 40"
    let jitter = both + " --search settings.backoffConfig.jitterStrategy=additive:10,full"
    // A client of the scenario's own reads what the one that it is based on does: here all.
    try scratch.write(
      "own.json5",
      Self.scenario.replacing(
        "name: \"phones\"", with: "name: \"phones\", client: { name: \"mine\", basedOn: \"tapi-document\" }"))
    try scratch.run("tune own.json5" + jitter, code: 0, says: "")
    try scratch.write("jitter.json", #"{ "httpConfig": { "backoffConfig": { "jitterStrategy": "full" } } }"#)
    let read = try scratch.run("tune swift.json5 --settings jitter.json --verbose" + both, code: 0)
    let line = "What the clients make of these Settings\n- segment-swift, backoffConfig.jitterStrategy: "
    #expect(read.standardOutput.contains(line))
    let plain = try scratch.run("tune a.json5 --out out --verbose" + both, code: 0)
    #expect(!plain.standardOutput.contains(" make of these Settings"))
    let report = try scratch.text("out/report.html")
    #expect(report.contains(" · 1 scenario of 20 devices · finalists with 1 seed<"))
  }
}
