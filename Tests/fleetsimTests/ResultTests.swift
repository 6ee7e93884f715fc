import CommandLineInterface
import FleetMetrics
import Foundation
import Testing

@Suite("Results")
struct ResultTests {
  static let runFiles = [
    "delivery_histogram.csv", "report.html", "run.json", "summary.csv", "timeseries.csv",
  ]

  @Test("run prints verdict and table, more with --verbose, less with --quiet")
  func run() throws {
    let scratch = try Scratch(["scenarios/s.json5": Scenarios.small])
    let output = try scratch.run("run scenarios/s.json5 --seed 5 --out a/b/out", code: 0, says: "")
    let lines = output.lines
    #expect(
      lines[0].hasPrefix("Caught up after ") && lines[0].hasSuffix(" (seed 5, 60 devices)"), "\(output)")
    #expect(lines.contains { $0.hasPrefix("lost  endpoint well ") }, "\(output)")
    #expect(lines.last == "Written to a/b/out: open report.html")
    #expect(scratch.names(in: "a/b/out") == Self.runFiles)
    #expect(try scratch.records("a/b/out/summary.csv").count == 1)
    #expect(try scratch.records("a/b/out/timeseries.csv").count == 120)
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
    let names = ["additive:10", "additive:10+clamp", "full"]
    try scratch.run(
      "compare s.json5 --seed 5 --out out --check --jitter \(names.joined(separator: ","))", code: 0)
    let tables = names.flatMap { name in
      ["delivery_histogram.csv", "timeseries.csv"].map { name.replacing(":", with: "-") + "/" + $0 }
    }
    let files = try scratch.files(in: "out").keys
    #expect(Set(files) == Set(tables + ["summary.csv", "report.html", "comparison.svg", "run.json"]))
    #expect(try scratch.records("out/summary.csv").map { $0["run"] } == names)
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

  @Test("what a scenario keeps beside another client is named: validate, heading and report")
  func clientDifferences() throws {
    // As experiment 001 has it: a wake-up by timer and one upload at a time. analytics-swift has neither (S17, S3).
    let text = Scenarios.small.replacing(/compare:.*/, with: "").replacing(
      "retries: \"timer\"", with: "client: \"segment-swift\", retries: \"timer\", uploadConcurrency: 1")
    let scratch = try Scratch.with(text)
    let differences = try scratch.run("validate s.json5 --json").json["presetDifferences"]?.elements ?? []
    let paths = ["fleet.phones.retries", "fleet.phones.uploadConcurrency"]
    let told = differences.map { one in ["path", "value", "preset"].map { one[$0]?.text } }
    #expect(told == [[paths[0], "timer", "gate"], [paths[1], "1", "unlimited"]])

    let run = ["run", "s.json5", "--seed", "5", "--verbose", "--out"]
    let heading =
      "Not as the preset: \(paths[0]): timer; segment-swift has gate, "
      + "\(paths[1]): 1; segment-swift has unlimited\n"
    let ran = try scratch.run(run + ["o"]).standardOutput
    #expect(ran.contains(heading), "\(ran)")
    #expect(
      try scratch.text("o/report.html").contains(
        "<th scope=\"row\">fleet.phones.retries</th><td data-label=\"here\">timer</td>"
          + "<td data-label=\"in the preset\">gate (segment-swift)</td>"))

    let same = ["--set", "fleet.phones.retries=gate", "--set", "fleet.phones.uploadConcurrency=unlimited"]
    #expect(try !scratch.run(run + ["p"] + same).standardOutput.contains("preset"))
    #expect(try scratch.text("p/report.html").contains("In nothing: segment-swift as the preset has it."))
  }

  @Test("--scale is the key scale: files have what was simulated, pages the whole fleet")
  func scale() throws {
    // 50 ms there and 50 ms back: 8 devices at a time are 80 requests a second.
    let scratch = try Scratch.with(
      Scenarios.scenario(devices: 2_400, capacity: "160/s").replacing("burst: 2", with: "burst: 30"))
    let run = ["run", "s.json5", "--seed", "5", "-q", "--set", "duration=8m", "--out"]
    try scratch.run(run + ["a", "--scale", "1:2"], code: 0)
    #expect(try scratch.text("a/report.html").contains("2,400 devices · 8 min"))
    #expect(try scratch.text("a/run.json").contains("\"scale\": 2"))
    #expect(try scratch.table("a/summary.csv").map(\.last) == ["scale", "2"])

    let record = ["check", "s.json5", "--record", "--seeds", "2", "--set", "duration=8m", "--scale", "1:2"]
    let recorded = try scratch.run(record)
    #expect(recorded.code == 0 && !recorded.standardError.contains("small"), "\(recorded.standardError)")
    #expect(try scratch.text("baseline.json").contains("\"scale=1:2\""))
  }

  @Test("a scenario so small that chance decides says so: the verdict, the report and check --record")
  func smallness() throws {
    let scratch = try Scratch.with()
    let reason =
      "tapi.bucket.burst: a bucket of 2 tokens refuses what comes at one moment by chance; 20 tokens are enough"
    let compared = try scratch.run("compare s.json5 --seed 5 --out o --verbose")
    #expect(compared.story("note").contains { $0.hasSuffix(reason) }, "\(compared)")
    #expect(try scratch.text("o/report.html").contains("\(reason)</dd>"))
    try scratch.run(
      "check s.json5 --record --seeds 2",
      says: "s.json5: warning: small enough for chance to decide: \(reason)\n")
  }
}
