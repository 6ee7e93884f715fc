import CommandLineInterface
import FleetMetrics
import Foundation
import Testing

/// What a good run prints and writes.
@Suite("Results")
struct ResultTests {
  static let runFiles = [
    "delivery_histogram.csv", "report.html", "run.json", "summary.csv", "timeseries.csv",
  ]

  @Test(
    "run prints verdict and table, more with --verbose, less with --quiet, and writes files")
  func run() throws {
    let scratch = try Scratch(["scenarios/s.json5": Scenarios.small])
    let output = try scratch.run("run scenarios/s.json5 --seed 5 --out a/b/out", code: 0, says: "")
    let lines = output.standardOutput.split(separator: "\n")
    #expect(
      lines[0].hasPrefix("Caught up after ") && lines[0].hasSuffix(" (seed 5, 60 devices)"), "\(output)")
    #expect(lines.contains { $0.hasPrefix("lost  endpoint well ") }, "\(output)")
    #expect(lines.last == "Written to a/b/out: open report.html")
    #expect(scratch.contents.filter { $0.hasPrefix("a/b/out/") } == Self.runFiles.map { "a/b/out/" + $0 })
    #expect(try scratch.text("a/b/out/summary.csv").split(separator: "\n").count == 2)
    #expect(try scratch.text("a/b/out/timeseries.csv").split(separator: "\n").count == 121)
    // Without --out nothing is written.
    let written = scratch.contents
    let whole = try scratch.run("run scenarios/s.json5 --seed 5 --verbose")
    #expect(whole.standardOutput.hasPrefix("scenarios/s.json5: seed 5, 60 devices, 20 min\n"))
    #expect(whole.standardOutput.contains("\n\n\(lines[0])\n"), "\(whole)")
    let brief = try scratch.run("run scenarios/s.json5 --seed 5 --quiet", code: 0, says: "")
    #expect(brief.standardOutput == lines[0] + "\n" && scratch.contents == written)
  }

  @Test("compare writes a folder per variant and a summary with a row for each")
  func compare() throws {
    let scratch = try Scratch.with()
    try scratch.run(
      "compare s.json5 --seed 5 --jitter additive:10,additive:10+clamp,full --out out --check", code: 0)
    let files = scratch.contents.filter { $0.hasSuffix(".csv") }
    let tables = ["additive-10+clamp", "additive-10", "full"].flatMap {
      ["out/\($0)/delivery_histogram.csv", "out/\($0)/timeseries.csv"]
    }
    #expect(files == tables + ["out/summary.csv"])
    for name in ["report.html", "comparison.svg", "run.json"] {
      #expect(scratch.contents.contains("out/" + name))
    }
    let runs = try scratch.records("out/summary.csv").map { $0["run"] }
    #expect(runs == ["additive:10", "additive:10+clamp", "full"])
  }

  @Test("run.json says what was run, by which version and build, with the tables' digests")
  func manifest() throws {
    let scratch = try Scratch.with()
    let arguments = "run s.json5 --seed 18446744073709551615 --set duration=10m --out out"
    try scratch.run(arguments, code: 0)
    let json = try scratch.json("out/run.json")
    #expect(json["program"]?.text == "fleetsim" && json["version"]?.text == CommandLineTool.version)
    #expect(json["results"]?.number == Double(CommandLineTool.resultsVersion))
    #if DEBUG
      #expect(json["build"] == .object(["kind": .string("debug")]))
    #else
      let digest = SHA256.hexadecimal(Array(try Data(contentsOf: Tool.executable)))
      #expect(json["build"]?["kind"]?.text == "release" && json["build"]?["executableSHA256"]?.text == digest)
    #endif
    #expect(json["arguments"]?.elements.compactMap(\.text).joined(separator: " ") == arguments)
    #expect(json["scenario"]?["duration"]?.text == "10m" && json["wall"]?.keys.isEmpty == false)
    // Of the command and of the scenario, to the last digit.
    #expect(try scratch.text("out/run.json").ranges(of: "\"seed\": 18446744073709551615").count == 2)
    let files = json["files"]?.elements ?? []
    #expect(files.compactMap { $0["path"]?.text }.sorted() == Self.runFiles.filter { $0 != "run.json" })
    for file in files {
      let bytes = try scratch.read("out/" + (file["path"]?.text ?? ""))
      #expect(file["bytes"]?.number == Double(bytes.count))
      #expect(file["sha256"]?.text == SHA256.hexadecimal(bytes))
    }
  }

  @Test("a repaired Settings value is a warning with its file and path, and the run goes on")
  func repairs() throws {
    let settings = #"{ "httpConfig": { "backoffConfig": { "jitterPercent": 400 } } }"#
    let output = try Scratch.with(and: ["cdn.json": settings])
      .run("run s.json5 --seed 5 --quiet --settings cdn.json", code: 0, says: "jitterPercent")
    #expect(output.standardError.hasPrefix("cdn.json:1: warning: "))
    #expect(output.standardError.split(separator: "\n").count == 1)
  }

  @Test("what a scenario keeps beside another client is named: validate, heading and report")
  func clientDifferences() throws {
    // As experiment 001 has it: a wake-up by timer and one upload at a time. analytics-swift has neither (S17, S3).
    let text = Scenarios.small.replacing(
      "retries: \"timer\"", with: "retries: \"timer\", uploadConcurrency: 1")
    let scratch = try Scratch.with(text.replacing(/compare:.*/, with: ""))
    let swift = ["--set", "fleet.phones.client=segment-swift"]
    let lines = [
      "fleet.phones.retries: timer; segment-swift has gate",
      "fleet.phones.uploadConcurrency: 1; segment-swift has unlimited",
    ]
    let validated = try scratch.run("validate s.json5", swift).standardOutput
    for line in lines { #expect(validated.contains(line + " ("), "\(validated)") }
    #expect(validated.split(separator: "\n").count { $0.contains("; segment-swift has ") } == 2)

    let run = ["run", "s.json5", "--seed", "5", "--verbose", "--out"]
    let ran = try scratch.run(run + ["o"] + swift).standardOutput
    #expect(ran.contains("Not as the preset: \(lines.joined(separator: ", "))\n"), "\(ran)")
    let report = try scratch.text("o/report.html")
    #expect(
      report.contains(
        "<th scope=\"row\">fleet.phones.retries</th><td data-label=\"here\">timer</td>"
          + "<td data-label=\"in the preset\">gate (segment-swift)</td>"))

    let same = ["--set", "fleet.phones.retries=gate", "--set", "fleet.phones.uploadConcurrency=unlimited"]
    let silent = try scratch.run(run + ["p"] + swift + same).standardOutput
    #expect(!silent.contains("preset"))
    #expect(try scratch.text("p/report.html").contains("In nothing: segment-swift as the preset has it."))
  }

  @Test(
    "--scale is the key scale for validate, run, compare and check, and what is too small is refused with the reason"
  )
  func scale() throws {
    // 50 ms there and 50 ms back: 8 devices at a time are 80 requests a second.
    let scratch = try Scratch.with(
      Scenarios.scenario(devices: 2_400, capacity: "160/s").replacing("burst: 2", with: "burst: 30"))
    let validated = try scratch.run("validate s.json5 --scale 1:2")
    #expect(validated.standardOutput.contains("1,200 devices"), "\(validated.standardError)")
    #expect(validated.standardOutput.contains("capacity  80.0 requests/s"))
    #expect(!validated.standardOutput.contains("  small "))

    let run = ["run", "s.json5", "--seed", "5", "-q", "--set", "duration=8m", "--out"]
    try scratch.run(run + ["a", "--scale", "1:2"], code: 0)
    // Files have what was simulated, and the factor; pages have the whole fleet.
    #expect(try scratch.text("a/report.html").contains("2,400 devices · 8 min"))
    #expect(try scratch.text("a/run.json").contains("\"scale\": 2"))
    #expect(try scratch.table("a/summary.csv").map(\.last) == ["scale", "2"])

    let record = ["check", "s.json5", "--record", "--seeds", "2", "--set", "duration=8m", "--scale", "1:2"]
    let recorded = try scratch.run(record)
    #expect(recorded.code == 0 && !recorded.standardError.contains("small"), "\(recorded.standardError)")
    #expect(try scratch.text("baseline.json").contains("\"scale=1:2\""))
    for command in ["validate", "run", "compare", "check --record"] {
      let output = try scratch.run(
        command + " s.json5 --scale 1:3", code: 64,
        says: "--scale: 1:3 is too small: a capacity of 53.333/s is filled by 5.3 devices")
      #expect(output.standardError.contains("up to 1:2 it keeps its answer"))
    }
  }

  @Test(
    "a scenario so small that chance decides says so: validate, the verdict, the report and check --record")
  func smallness() throws {
    let scratch = try Scratch.with()
    let reason =
      "tapi.bucket.burst: a bucket of 2 tokens refuses what comes at one moment by chance; 20 tokens are enough"
    #expect(try scratch.run("validate s.json5").standardOutput.contains("small     " + reason))
    let compared = try scratch.run("compare s.json5 --seed 5 --out o --verbose")
    #expect(compared.story("note").contains { $0.hasSuffix(reason) }, "\(compared)")
    #expect(try scratch.text("o/report.html").contains("\(reason)</dd>"))
    try scratch.run(
      "check s.json5 --record --seeds 2",
      says: "s.json5: warning: small enough for chance to decide: \(reason)\n")
  }

  @Test("validate shows the load against the capacity and warns of a fleet that cannot hold")
  func validate() throws {
    let scratch = try Scratch.with()
    let output = try scratch.run("validate s.json5", code: 0, says: "")
    // What a run needs depends on the layout of the simulator's records; `MemoryLimitTests` looks at that line.
    let lines = output.standardOutput.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.firstIndex { $0.hasPrefix("  memory    about ") } == 5)
    #expect(
      lines.filter { !$0.hasPrefix("  memory ") }.joined(separator: "\n") == """
        s.json5: valid
          run       20 min, seed 5
          fleet     60 devices: phones 60
          load      1.9 batches/s with 6.0 events/s when nothing fails
          capacity  4.0 requests/s, of which the load takes 48 %
          incident  outage answered with 503 from 4 min for 3 min
          compare   2 variants: none, full
          small     tapi.bucket.burst: a bucket of 2 tokens refuses what comes at one moment by chance; 20 tokens are enough
          small     tapi.bucket.capacity: a capacity of 4/s is filled by 0.4 devices that send one request after another \
        (100 ms each): what single ones hold decides; from 80/s on it is the fleet's
          differs   fleet.phones.retries: timer; tapi-document has gate (what brings a batch back whose wait is over)

        """)
    let small = try scratch.run(
      "validate s.json5 --set tapi.bucket.capacity=1/s -q", code: 0,
      says: "warning: the normal load is 190 % of the capacity")
    #expect(small.standardOutput == "")
  }
}
