import Foundation
import Testing

/// `compare --seeds` and `--precision` as a user runs them.
@Suite("compare with replications")
struct ReplicationCommandTests {
  static let files = [
    "comparison.svg", "curves.csv", "differences.csv", "replications.csv", "report.html", "run.json",
    "statistics.csv",
  ]

  @Test("--seeds prints intervals, ranks and paired differences, and writes its files")
  func seeds() throws {
    let scratch = try Scratch()
    try scratch.write("s.json5", Scenarios.small)
    let output = try Tool.run(
      ["compare", "s.json5", "--seeds", "4", "--out", "out", "--check"], in: scratch.url)
    #expect(output.code == 0, "\(output.standardError)")
    let text = output.standardOutput
    #expect(text.hasPrefix("s.json5: 60 devices, 20 min, 2 variants, 4 replications (seeds from 5)\n"))
    #expect(text.contains(" ± ") && text.contains("#1"))
    #expect(text.contains("\nAgainst none, seed by seed (* can be told apart from it):\n"))
    #expect(text.contains("From 4 replications (seeds 5 to 8, the same for every variant)"))
    #expect(scratch.contents.filter { $0.hasPrefix("out/") } == Self.files.map { "out/" + $0 })
    let rows = try scratch.text("out/replications.csv").split(separator: "\n").dropFirst()
    #expect(
      rows.map { $0.split(separator: ",").prefix(2).joined(separator: " ") }
        == (5...8).flatMap { ["none \($0)", "full \($0)"] })
    let json = try #require(
      JSONSerialization.jsonObject(with: Data(scratch.read("out/run.json"))) as? [String: Any])
    #expect(json["replications"] as? Int == 4)
  }

  @Test("a replication is what the same seed gives alone, to the last digit")
  func rowsAreRuns() throws {
    let scratch = try Scratch()
    try scratch.write("s.json5", Scenarios.small)
    #expect(
      try Tool.run(["compare", "s.json5", "--seeds", "3", "-q", "--out", "all"], in: scratch.url).code == 0)
    #expect(
      try Tool.run(["compare", "s.json5", "--seed", "7", "-q", "--out", "one"], in: scratch.url).code == 0)
    let all = try scratch.text("all/replications.csv").split(separator: "\n")
    let one = try scratch.text("one/summary.csv").split(separator: "\n")
    #expect(all[0] == one[0])
    #expect(Array(all.suffix(2)) == Array(one.suffix(2)))
  }

  @Test("the same bytes with any number of jobs, and in sequential mode too")
  func determinism() throws {
    let scratch = try Scratch()
    try scratch.write("s.json5", Scenarios.small)
    let modes = ["s": ["--seeds", "5"], "p": ["--precision", "recovery_s=30%", "--max-seeds", "30"]]
    for (mode, options) in modes {
      for jobs in ["1", "3"] {
        let output = try Tool.run(
          ["compare", "s.json5", "--jobs", jobs, "-q", "--out", mode + jobs] + options, in: scratch.url)
        #expect(output.code == 0, "\(output.standardError)")
      }
      for name in Self.files where name != "run.json" && name != "report.html" {
        #expect(try scratch.read("\(mode)1/\(name)") == scratch.read("\(mode)3/\(name)"), "\(mode) \(name)")
      }
    }
    // At least ten replications of two variants, and a heading.
    #expect(try scratch.text("p1/replications.csv").split(separator: "\n").count >= 21)
  }

  @Test("several --vary make a full factorial of replications")
  func factorial() throws {
    let scratch = try Scratch()
    try scratch.write("s.json5", Scenarios.small)
    let output = try Tool.run(
      [
        "compare", "s.json5", "--vary", "fleet.phones.retries=timer,gate", "--vary",
        "tapi.bucket.capacity=4/s,8/s",
        "--jitter", "none,full", "--seeds", "2", "-q", "--out", "out",
      ], in: scratch.url)
    #expect(output.code == 0, "\(output.standardError)")
    #expect(try scratch.text("out/replications.csv").split(separator: "\n").count == 1 + 2 * 8)
    let statistics = try scratch.text("out/statistics.csv")
    #expect(
      statistics.contains("none · retries=timer · capacity=4/s,lost_events")
        && statistics.contains("full · retries=gate · capacity=8/s,"))
  }

  @Test(
    "what can't be asked is said with what can",
    arguments: [
      (["--seeds", "1"], "'--seeds <n>': a whole number from 2 to 100000."),
      (["--seeds", "5", "--precision", "2%"], "'--seeds' and '--precision' exclude each other"),
      (["--max-seeds", "20"], "'--max-seeds' needs '--precision'."),
      (["--precision", "2"], "a share as 2%, or of one metric"),
      (["--precision", "0%"], "a share as 2%, or of one metric"),
      (
        ["--precision", "recovery=5"],
        "There is no metric 'recovery' for '--precision'. Did you mean 'recovery_s'?"
      ),
      (["--precision", "2%", "--precision", "recovery_s=5"], "'--precision' is there twice for recovery_s."),
      (["--seeds", "3", "--vary", "seed=1,2"], "Seeds can't be compared with --seeds"),
    ])
  func refusals(options: [String], message: String) throws {
    let scratch = try Scratch()
    try scratch.write("s.json5", Scenarios.small)
    let output = try Tool.run(["compare", "s.json5"] + options, in: scratch.url)
    #expect(output.code == 64)
    #expect(output.standardError.contains(message), "\(output.standardError)")
    #expect(output.standardOutput == "")
  }

  @Test("results with replications replace results without, and the other way round")
  func replaced() throws {
    let scratch = try Scratch()
    try scratch.write("s.json5", Scenarios.small)
    for options in [["--seeds", "2"], [], ["--seeds", "3"]] {
      #expect(
        try Tool.run(["compare", "s.json5", "-q", "--out", "out"] + options, in: scratch.url).code == 0)
    }
    #expect(scratch.contents.filter { $0.hasPrefix("out/") } == Self.files.map { "out/" + $0 })
  }
}
