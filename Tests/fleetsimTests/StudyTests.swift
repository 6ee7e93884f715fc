import Foundation
import Testing

/// What every study does alike, whatever it asks: it can be resumed, and tells what it knows when it is stopped.
@Suite("Studies")
struct StudyTests {
  private static let studies = [
    ["limit", "s.json5", "--key", "tapi.bucket.capacity=2/s..8/s", "--seeds", "1"],
    ["compare", "s.json5", "--vary", "tapi.bucket.capacity=3/s,4/s", "--seeds", "3"],
    ["compare", "s.json5", "--vary", "tapi.bucket.capacity=3/s,4/s", "--explore"],
  ]

  @Test(
    "a study that has lost a part of its journal makes that part again, and the same tables; once more it replaces what it wrote",
    arguments: studies)
  func resumed(command: [String]) throws {
    let scratch = try Scratch.with()
    func run(_ out: String, _ more: [String] = []) throws {
      try scratch.run(command + ["--out", out] + more, code: 0, says: "")
    }
    try run("whole")
    let kept = scratch.runs("whole.journal")
    #expect(kept.count > 1)
    for name in kept.prefix(kept.count / 2) { try scratch.remove("whole.journal/" + name) }
    try run("resumed", ["--journal", "whole.journal"])
    let tables = try scratch.files(in: "whole", ".csv")
    #expect(try !tables.isEmpty && tables == scratch.files(in: "resumed", ".csv"))
    #expect(scratch.runs("whole.journal") == kept)
    try run("whole")
  }

  @Test("every command that reads a scenario warns of what validate warns of, each once")
  func warned() throws {
    let scratch = try Scratch.with(
      """
      { format: 1, seed: 1, duration: "20m", interval: "10s",
        tapi: { bucket: { capacity: "20/s" }, overload: { status: 429, retryAfter: "60s" },
          incidents: [{ kind: "outage", at: "5m", for: "2m", status: "none" }] },
        network: { latency: "100ms" },
        fleet: [{ name: "phones", devices: 20, client: "segment-swift", events: "1/min", timeout: "15s",
          flush: { count: 20, interval: "30s" } }] }
      """,
      and: [
        "new.json": #"{ "httpConfig": { "backoffConfig": { "jitterPercent": 20 } } }"#,
        "friday.json5": #"{ friday: [{ kind: "outage", at: "5m", for: "2m", status: 503 }] }"#,
      ])
    let warnings = try scratch.run("validate s.json5 -q", code: 0).standardError.split(separator: "\n")
    for part in ["1 min is at or just above", "2 time-outs of 15 s take exactly"] {
      #expect(warnings.count { $0.contains(part) } == 1, "\(part): \(warnings)")
    }
    for command in [
      "run s.json5 --seed 1 --out out", "compare s.json5 --seed 1 --vary tapi.bucket.burst=5,6",
      "limit s.json5 --key tapi.bucket.capacity=10/s..20/s --seeds 1", "trace s.json5 --device 0",
      "tune s.json5 --search settings.backoffConfig.maxBackoffInterval=60,300 --seeds 1",
      "decide s.json5 --proposed new.json --incidents friday.json5 --only-incidents --budget 1",
      "check s.json5 --record",
      "calibrate s.json5 --observed out/timeseries.csv --fit tapi.bucket.capacity=10/s..20/s --budget 200",
    ] {
      let output = try scratch.run(command)
      #expect((0...2).contains(output.code), "\(command): \(output)")
      let lines = output.standardError.split(separator: "\n")
      for warning in warnings { #expect(lines.count { $0 == warning } == 1, "\(command): \(output)") }
    }
  }

  @Test("a report prints the answer of a directory again, in each form, without a run")
  func report() throws {
    let scratch = try Scratch.with()
    for command in Self.studies.prefix(2) {
      for form in [[], ["--verbose"], ["--quiet"]] {
        let printed = try scratch.run(command + form + ["--out", "out"])
        let shown = try scratch.run("report out", form, code: 0, says: "")
        // But for the heading before it, and the line behind it that names the directory.
        let text = printed.standardOutput.replacing(/Written to out: .*\n/, with: "")
        #expect(!shown.standardOutput.isEmpty && text.hasSuffix(shown.standardOutput), "\(shown)\n\(printed)")
      }
    }
    let manifest = try scratch.text("out/run.json")
    for damaged in ["", "{", "{}", manifest.replacing("\"subject\": \"", with: "\"subject\": \"un")] {
      try scratch.write("out/run.json", damaged)
      try scratch.run("report out", code: 65)
    }
  }

  /// Studies that are long enough to be stopped, and how many more runs it takes to know something.
  private static let long: [(command: String, runs: Int)] = [
    ("compare s.json5 --jitter none,full --seeds 2000", 20),
    ("tune a.json5 \(SearchCommandTests.space.joined(separator: " ")) --seeds 10000 --budget 1000000", 60),
    ("limit s.json5 --key tapi.bucket.capacity=2/s..8/s --seeds 10000", 60),
  ]

  @Test(
    "a study that is stopped says what its runs so far say, marked as unfinished, and writes nothing",
    arguments: long)
  func stopped(command: String, runs: Int) throws {
    let scratch = try Scratch.with(and: [
      "a.json5": SearchCommandTests.scenario, "cdn.json": SearchCommandTests.settings,
    ])
    // Each goes on where the one before was stopped.
    for (more, mark) in [
      ("", "Unfinished; what the finished runs say:\n"), (" -q", "Unfinished: "), (" --json", "{"),
    ] {
      let before = scratch.runs("out.journal").count
      let words = (command + more + " --out out").split(separator: " ").map(String.init)
      let output = try scratch.run(
        words, code: 130, signal: SIGINT,
        when: { scratch.runs("out.journal").count > before + runs })
      #expect(
        output.standardError
          == "Interrupted: out.journal keeps the finished runs, and the same command makes the rest.\n")
      #expect(scratch.names(in: "out").isEmpty)
      #expect(output.standardOutput.hasPrefix(mark))
      if more.isEmpty, command.hasPrefix("compare") {
        #expect(output.standardOutput.contains(" seeds, 60 devices)\n"))
      }
      guard more == " --json" else { continue }
      let document = try output.json
      #expect(document["command"]?.text == words[0])
      #expect(document["isFinished"] == .bool(false) && document["output"] == .null)
    }
  }
}
