import Foundation
import Testing

/// `fleetsim adversary` as a user runs it.
@Suite("adversary")
struct AdversaryCommandTests {
  private static let command = [
    "adversary", "s.json5", "--seeds", "2", "--runs", "40", "--kind", "brownout,outage", "--length",
    "20s..4m", "--set", "duration=20m",
  ]

  private func scratch() throws -> Scratch {
    let scratch = try Scratch()
    try scratch.write("s.json5", RescueCommandTests.scenario)
    return scratch
  }

  @Test("finds the same with one worker or two, killed and gone on; its scenarios run, and show what it says")
  func files() throws {
    let scratch = try scratch()
    let names = ["adversary.csv", "boundary.json5", "worst.json5"]
    for jobs in ["1", "2"] {
      let command = Self.command + ["--jobs", jobs, "--out", "out" + jobs]
      if jobs == "2" {
        _ = try Tool.process(
          command, in: scratch.url, signal: SIGKILL, when: { scratch.runs("out2.journal").count > 10 })
      }
      let output = try Tool.run(command, in: scratch.url)
      #expect(output.code == 0 && output.standardError == "", "\(output.standardError)")
      #expect(output.standardOutput.contains("the fleet is not back within"))
      #expect(
        output.standardOutput.contains(
          "Written to out\(jobs): adversary.csv, boundary.json5, worst.json5, report.html"))
    }
    for name in names {
      #expect(try scratch.text("out1/" + name) == scratch.text("out2/" + name), "\(name)")
    }
    let row = try #require(try scratch.text("out1/adversary.csv").split(separator: "\n").dropFirst().first)
    #expect(row.hasPrefix("boundary,"))
    for name in names.dropFirst() {
      let run = try Tool.run(["run", "out1/" + name, "--seed", "1", "--quiet"], in: scratch.url)
      #expect(
        run.code == 0 && run.standardOutput.contains("never"), "\(run.standardError)\(run.standardOutput)")
    }
  }

  @Test("a scenario without any incident has one put in")
  func noIncident() throws {
    let scratch = try scratch()
    let output = try Tool.run(
      Self.command + ["--set", "tapi.incidents=[]", "--quiet", "--limit", "undelivered_events<=1000000"],
      in: scratch.url)
    #expect(output.code == 0 && output.standardOutput.hasPrefix("It stands all "), "\(output.standardOutput)")
  }

  @Test(
    "what makes no sense says why",
    arguments: [
      (["--kind", "outages"], "did you mean 'outage'?", 64),
      (["--start", "5m..1m"], "a range goes from the smaller to the larger value", 64),
      (["--start", "soon"], "is not a span", 64),
      (["--start", "39m"], "nothing is left to recover in", 64),
      (["--start", "30m", "--length", "9m30s"], "too little of the run of 40m is left", 64),
      (["--length", "0s..1m"], "'--length' begins at 0s", 64),
      (["--depth", "0%..50%"], "a depth is a share from 1% to 100%", 64),
      (["--depth", "50"], "missing unit: write \"50%\"", 64),
      (["--retry-after", "10s,20s"], "write none, a span or a range", 64),
      (["--objective", "recovery"], "It is a column of summary.csv", 64),
      (["--limit", "lost_events"], "is no constraint", 64),
      (["--runs", "99"], "a whole number from 100 to", 64),
      (
        ["--join", "--kind", "brownout", "--start", "6m", "--length", "1m"],
        "two of one kind cannot be at once", 64
      ),
    ])
  func nonsense(arguments: [String], message: String, code: Int32) throws {
    let scratch = try scratch()
    let output = try Tool.run(["adversary", "s.json5"] + arguments, in: scratch.url)
    #expect(output.code == code)
    #expect(output.standardError.contains(message), "\(output.standardError)")
  }
}
