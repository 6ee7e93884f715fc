import Foundation
import Testing

@Suite("compare with replications")
struct ReplicationCommandTests {
  static let files = [
    "comparison.svg", "curves.csv", "differences.csv", "replications.csv", "report.html", "run.json",
    "statistics.csv",
  ]

  /// How many more seeds would decide it, and the option that makes them.
  private static var missing: Regex<Substring> { /; about [0-9]+ more seeds: --seeds [0-9]+$/ }

  @Test("--seeds says how many seeds there are, and writes its files")
  func seeds() throws {
    let scratch = try Scratch.with()
    let output = try scratch.run("compare s.json5 --seeds 4 --out out --check --verbose", code: 0)
    let text = output.standardOutput
    #expect(text.hasPrefix("s.json5: 60 devices, 20 min, 2 variants, 4 replications (seeds from 5)\n"))
    #expect(text.contains(" (4 seeds, 60 devices)\n"), "\(text)")
    #expect(text.contains("\nResults\nvariant  failed  "), "\(text)")
    #expect(scratch.names(in: "out") == Self.files)
    #expect(try scratch.json("out/run.json")["replications"]?.number == 4)
    let rows = try scratch.table("out/replications.csv")
    let runs = (5...8).flatMap { ["none \($0)", "full \($0)"] }
    #expect(rows.dropFirst().map { $0.prefix(2).joined(separator: " ") } == runs)
    // A replication is what the same seed gives alone, to the last digit.
    try scratch.run("compare s.json5 --seed 8 -q --out one", code: 0)
    #expect(try scratch.table("one/summary.csv") == [rows[0]] + rows.suffix(2))
  }

  @Test("without --seeds there are seeds until all is decided, with the same bytes from any jobs")
  func untilDecided() throws {
    let scratch = try Scratch.with()
    let command = ["compare", "s.json5", "--budget", "60k", "--out"]
    let output = try scratch.run(command + ["a", "--jobs", "1", "--verbose"], code: 0)
    let heading = "s.json5: 60 devices, 20 min, 2 variants, seeds from 5 on until all is decided, at most "
    #expect(output.standardOutput.hasPrefix(heading + "60k attempts\n"))
    #expect(output.standardOutput.contains(/\([0-9]+ seeds, 60 devices\)\n/), "\(output)")
    #expect(output.story("open").last?.contains(Self.missing) == true, "\(output)")
    #expect(!scratch.contents.contains { $0.hasSuffix(".journal") })
    try scratch.run(command + ["b", "--jobs", "3"], code: 0)
    try scratch.run("compare s.json5 --seed 5 --out one", code: 0)
    #expect(Set(scratch.names(in: "a")) == Set(Self.files).union(scratch.names(in: "one")))
    let tables = try scratch.files(in: "a", ".csv")
    #expect(try tables == scratch.files(in: "b", ".csv"))
    #expect(try scratch.text("a/comparison.svg") == scratch.text("b/comparison.svg"))
    let single = try scratch.files(in: "one", ".csv")
    #expect(single == tables.filter { single.keys.contains($0.key) })
  }

  @Test(
    "where the budget has room for one seed, it is run as with --seed, and the verdict says how many would tell",
    arguments: ["run", "compare"])
  func budgetOfOne(command: String) throws {
    let scratch = try Scratch.with()
    let one = try scratch.run(command + " s.json5 --seed 5 --out one")
    let found = try scratch.run(command + " s.json5 --budget 1 --out found", code: 0, says: "")
    let open = found.story("open").last ?? ""
    #expect(open.hasPrefix("failed runs") && open.contains(Self.missing), "\(found)")
    for output in [one, found] {
      #expect(output.standardOutput.contains(" (seed 5, 60 devices)\n"), "\(output)")
    }
    #expect(scratch.names(in: "found") == scratch.names(in: "one"))
    #expect(try scratch.files(in: "found", ".csv") == scratch.files(in: "one", ".csv"))
  }

  @Test(
    "where the seeds are left to it, it runs a part of the fleet and counts the whole; --scale and --seed say otherwise",
    arguments: [
      ([], "2"), (["--scale", "1:1"], "1"), (["--set", "scale=1:1"], "1"), (["--vary", "scale=1:1"], "1"),
      (["--seeds", "2"], "1"), (["--seed", "5"], "1"),
    ])
  func smallFleet(options: [String], scale: String) throws {
    // 50 ms there and 50 ms back: 8 devices at a time are 80 requests a second, and twice as many are run.
    let fleet = Scenarios.scenario(devices: 4_000, duration: "8m", capacity: "320/s")
    let scratch = try Scratch.with(fleet.replacing("burst: 2", with: "burst: 30"))
    let budget = options.contains { $0.hasPrefix("--seed") } ? [] : ["--budget", "1"]
    let output = try scratch.run("compare s.json5 --out out", budget + options, code: 0)
    #expect(output.standardOutput.contains((scale == "1" ? ", " : ", 1:2 of ") + "4,000 devices)\n"))
    #expect(
      output.story("open").contains { $0.contains(/--seeds [0-9]+ --scale 1:2$/) } == (scale != "1"),
      "\(output)")
    let name = options.contains("--seeds") ? "out/replications.csv" : "out/summary.csv"
    #expect(try scratch.records(name).allSatisfy { $0["scale"] == scale })
  }

  @Test("60 seeds exclude a failure in 5 % of the runs, and fewer do not")
  func known() throws {
    // Events by the clock, and an outage in which nobody has anything to send.
    let fleet = Scenarios.scenario(devices: 4, interval: "1m").replacing(
      "events: \"6/min\"", with: "events: { every: \"10s\" }")
    let document = try Scratch.with(fleet).run("run s.json5 --json", code: 0).json
    #expect(document["isDecided"] == .bool(true) && document["missingSeeds"] == .null)
    #expect([60, 120, 240, 480].contains(document["seeds"]?.elements.count))
    #expect(document["story"]?.elements.contains { $0["subject"] == .string("open") } == false)
  }
}
