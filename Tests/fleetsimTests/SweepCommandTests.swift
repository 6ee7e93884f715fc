import CommandLineInterface
import Foundation
import Testing

@Suite("sweep and merge")
struct SweepCommandTests {
  /// With room enough that no twin sees a refusal: nine runs, twins included.
  private static let common = ["sweep", "s.json5", "--quiet", "--set", "tapi.bucket.burst=100", "--seeds"]
  private static let arguments = common + ["3"]

  private func scratch(_ text: String = Scenarios.small) throws -> Scratch {
    let scratch = try Scratch()
    try scratch.write("s.json5", text)
    return scratch
  }

  private func files(_ scratch: Scratch, _ folder: String) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for path in scratch.contents where path.hasPrefix(folder + "/") {
      let url = scratch.url.appendingPathComponent(path)
      guard !url.hasDirectoryPath, let data = try? Data(contentsOf: url) else { continue }
      files[String(path.dropFirst(folder.count + 1))] = Array(data)
    }
    return files
  }

  @Test("shards and one process alone leave the same bytes, and so do their merged results")
  func shards() throws {
    let scratch = try scratch()
    #expect(try Tool.run(Self.arguments + ["--out", "whole"], in: scratch.url).code == 0)
    for shard in 1...3 {
      #expect(
        try Tool.run(Self.arguments + ["--out", "parts", "--shard", "\(shard)/3"], in: scratch.url).code == 0)
    }
    for folder in ["whole", "parts"] {
      let output = try Tool.run(["merge", folder, "--quiet"], in: scratch.url)
      #expect(output.code == 0)
      #expect(output.standardError == "")
    }
    let whole = try files(scratch, "whole")
    #expect(whole.count == 1 + 12 + 7)
    #expect(try files(scratch, "parts") == whole)
  }

  @Test("merge gives what compare gives under the same seed")
  func sameAsCompare() throws {
    let scratch = try scratch()
    _ = try Tool.run(["sweep", "s.json5", "--out", "sweep", "--quiet"], in: scratch.url)
    _ = try Tool.run(["merge", "sweep", "--out", "merged", "--quiet"], in: scratch.url)
    _ = try Tool.run(["compare", "s.json5", "--seed", "5", "--out", "compared", "--quiet"], in: scratch.url)
    let merged = try files(scratch, "merged")
    let compared = try files(scratch, "compared")
    #expect(Set(merged.keys) == Set(compared.keys))
    for name in compared.keys where name != "run.json" && name != "report.html" {
      #expect(merged[name] == compared[name], "\(name)")
    }
  }

  @Test("merge gives what compare --seeds gives for the same seeds")
  func sameAsReplications() throws {
    let scratch = try scratch()
    _ = try Tool.run(Self.arguments + ["--out", "sweep"], in: scratch.url)
    let merged = try Tool.run(["merge", "sweep", "--out", "merged"], in: scratch.url)
    let compared = try Tool.run(
      ["compare"] + Self.arguments.dropFirst() + ["--out", "compared"], in: scratch.url)
    #expect(merged.code == 0 && compared.code == 0)
    #expect(merged.standardOutput.contains(compared.standardOutput))
    let whole = try Tool.run(["merge", "sweep", "--out", "whole", "--verbose"], in: scratch.url)
    #expect(whole.code == 0 && whole.standardOutput.contains("\nAll criteria\n"), "\(whole)")
    #expect(!whole.standardOutput.contains("--verbose"), "\(whole)")
    let files = try (merged: files(scratch, "merged"), compared: files(scratch, "compared"))
    #expect(Set(files.merged.keys) == Set(files.compared.keys))
    #expect(files.merged.count == 7)
    for name in files.compared.keys where name != "run.json" && name != "report.html" {
      #expect(files.merged[name] == files.compared[name], "\(name)")
    }
  }

  @Test("what is missing or damaged is named, and the same command makes it again")
  func missing() throws {
    let scratch = try scratch()
    _ = try Tool.run(Self.arguments + ["--out", "d"], in: scratch.url)
    let before = try files(scratch, "d")
    let runs = before.keys.filter { $0.hasSuffix(".run") }.sorted()
    try FileManager.default.removeItem(at: scratch.url.appendingPathComponent("d/" + runs[0]))
    try scratch.write("d/" + runs[1], String(decoding: before[runs[1]]!.dropLast(9), as: UTF8.self))
    var output = try Tool.run(["merge", "d"], in: scratch.url)
    #expect(output.code == 1)
    #expect(output.standardError.contains(runs[0]))
    #expect(output.standardError.contains(runs[1]))
    #expect(output.standardError.contains("--partial"))
    #expect(!scratch.contents.contains("d/merged"))
    output = try Tool.run(Self.arguments + ["--out", "d"], in: scratch.url)
    #expect(output.standardOutput == "d: 12 runs with their twins complete, 2 of them made now.\n")
    #expect(try files(scratch, "d") == before)
  }

  @Test("--partial merges the seeds that are whole and still names the rest")
  func partial() throws {
    let scratch = try scratch()
    _ = try Tool.run(Self.arguments + ["--out", "d"], in: scratch.url)
    let run = try #require(scratch.contents.first { $0.hasSuffix(".run") })
    try FileManager.default.removeItem(at: scratch.url.appendingPathComponent(run))
    let output = try Tool.run(["merge", "d", "--partial"], in: scratch.url)
    #expect(output.code == 0)
    #expect(output.standardError.contains(run.dropFirst(2)))
    let rows = try scratch.text("d/merged/replications.csv").split(separator: "\n").dropFirst()
    let seeds = Set(rows.compactMap { $0.split(separator: ",").dropFirst().first }).sorted()
    let named = "seeds \(seeds.joined(separator: seeds == ["5", "7"] ? " and " : " to "))"
    #expect(output.standardOutput.contains(" (2 seeds, 60 devices)\n"), "\(output)")
    #expect(try scratch.text("d/merged/report.html").contains(named))
    #expect(try scratch.text("d/merged/run.json").contains("\"seed\": \(seeds[0])"))
  }

  @Test("kill -9 at any moment loses nothing: the next process goes on, and the bytes are the same")
  func killed() throws {
    let scratch = try scratch(Scenarios.scenario(devices: 600, duration: "1h", capacity: "40/s"))
    let command = Self.arguments + ["--jobs", "1", "--out"]
    _ = try Tool.run(command + ["whole"], in: scratch.url)
    let whole = try files(scratch, "whole")
    for finished in [0, 1, 4] {
      _ = try Tool.process(
        command + ["killed"], in: scratch.url, signal: SIGKILL,
        when: { scratch.contents.contains("killed/runs") && scratch.runs("killed/runs").count >= finished })
    }
    // What a process of another machine leaves when it is killed between its two steps.
    let rest =
      whole.keys.filter { $0.hasSuffix(".run") }.sorted()[0]
      .replacing("runs/", with: "runs/.") + ".fleetsim-0123456789abcdef.tmp"
    try scratch.write("killed/" + rest, "half a ru")
    #expect(try Tool.run(command + ["killed"], in: scratch.url).code == 0)
    #expect(try files(scratch, "killed") == whole)
  }

  @Test("a plan that was changed is not merged, however well it reads", arguments: ["d/plan.json"])
  func changedPlan(path: String) throws {
    let scratch = try scratch()
    _ = try Tool.run(Self.arguments + ["--out", "d"], in: scratch.url)
    let text = try scratch.text(path)
    for (old, new) in [
      ("\"name\": \"", "\"name\": \"x"), ("\"question\": \"", "\"question\": \"x"),
      ("\"count\": ", "\"count\": 1"),
    ]
    where text.contains(old) {
      try scratch.write(path, text.replacing(old, with: new, maxReplacements: 1))
      let output = try Tool.run(["merge", "d"], in: scratch.url)
      #expect(
        output.code == 65 && output.standardError.contains("was changed since fleetsim wrote it"),
        "\(output.standardError)")
    }
    try scratch.write(path, text)
    #expect(try Tool.run(["merge", "d"], in: scratch.url).code == 0)
  }

  @Test("Ctrl-C keeps what is complete and says so")
  func interrupted() throws {
    let scratch = try scratch(Scenarios.endless)
    let output = try Tool.run(
      ["sweep", "s.json5", "--out", "d"], in: scratch.url, signal: SIGINT,
      when: { scratch.contents.contains { $0.hasPrefix("d/") } })
    #expect(output.code == 130)
    #expect(output.standardError.contains("Interrupted: what was complete is kept"))
  }

  @Test("more seeds add to a sweep; another scenario is refused by name")
  func extending() throws {
    let scratch = try scratch()
    _ = try Tool.run(Self.arguments + ["--out", "d"], in: scratch.url)
    var output = try Tool.run(Self.common + ["4", "--out", "d"], in: scratch.url)
    #expect(output.standardOutput == "d: 16 runs with their twins complete, 4 of them made now.\n")
    output = try Tool.run(
      Self.common + ["4", "--set", "duration=30m", "--out", "d"], in: scratch.url)
    #expect(output.code == 65)
    #expect(output.standardError.contains("is the plan of another sweep: its scenario is another for 'none'"))
    output = try Tool.run(
      Self.common + ["4", "--seed", "99", "--out", "d"], in: scratch.url)
    #expect(output.standardError.contains("its seeds are 4 from 5, not 4 from 99"))
  }

  @Test(
    "a wrong command line says what would be right",
    arguments: [
      (["--out", "d", "--shard", "0/0"], 64, "the number of the part and of all parts"),
      (["--out", "d", "--shard", "5/4"], 64, "there is no part 5 of 4"),
      (["--out", "d", "--shard", "1/4", "--shards", "5"], 64, "do not agree"),
      (["--out", "d", "--shards", "4"], 64, "nothing says which one this is"),
      (["--out", "d", "--seeds", "0"], 64, "a whole number from 1 to 1000000"),
      (["--out", "d", "--seeds", "99999999999999999999"], 64, "a whole number from 1 to 1000000"),
      (["--out", "d", "--seeds", "600000"], 64, "make too many variants: at most 1 "),
      (["--out", "d", "--vary", "seed=1,2"], 64, "cannot vary 'seed'"),
      (["--seeds", "2"], 64, "Missing expected option '--out <dir>'"),
      (["--out", "s.json5"], 73, "s.json5"),
      (["--out", "."], 73, "holds 's.json5' and no sweep"),
    ] as [([String], Int32, String)])
  func wrong(options: [String], code: Int32, message: String) throws {
    let scratch = try scratch()
    let output = try Tool.run(["sweep", "s.json5"] + options, in: scratch.url)
    #expect(output.code == code)
    #expect(output.standardError.contains(message), "\(output.standardError)")
    #expect(scratch.contents == ["s.json5"])
  }

  @Test(
    "merge says what a directory lacks to be a sweep",
    arguments: [
      (nil, 66, "holds no plan.json"), ("{", 65, "d/plan.json:1: "), ("[]", 65, "'program' is missing"),
      (#"{ "program": "fleetsim", "title": 5 }"#, 65, "expected a string, found a number"),
      (#"{ "program": "fleetsim", "title": "t", "arguments": 5 }"#, 65, "expected a list for 'arguments'"),
      (
        """
        { "program": "fleetsim", "version": "0.1.0", "results": \(CommandLineTool.resultsVersion), "title": "t", "arguments": [], "scenario": {},
          "seeds": { "first": 1, "count": 99999999999999999999 }, "variants": [] }
        """, 65, "d/plan.json:2: 'count' is a whole number from 1 to 1000000"
      ),
      (
        """
        { "program": "fleetsim", "version": "0.1.0", "results": \(CommandLineTool.resultsVersion), "title": "t", "arguments": [], "scenario": {},
          "seeds": { "first": 1, "count": 1 }, "variants": [] }
        """, 65, "there are 0 variants"
      ),
      (
        """
        { "program": "fleetsim", "version": "0.0.9", "results": 999999, "title": "t", "arguments": [], "scenario": {},
          "seeds": { "first": 1, "count": 1 },
          "variants": [{ "name": "a", "overrides": [], "digest": "", "twinDigest": "", "idealDigest": "", "twinGroup": 0 }] }
        """, 65, "the sweep was made with results version 999999, this build has results version"
      ),
    ] as [(String?, Int32, String)])
  func wrongPlan(plan: String?, code: Int32, message: String) throws {
    let scratch = try Scratch()
    try scratch.write("d/keep", "")
    if let plan { try scratch.write("d/plan.json", plan) }
    let output = try Tool.run(["merge", "d"], in: scratch.url)
    #expect(output.code == code)
    #expect(output.standardError.contains(message), "\(output.standardError)")
  }
}
