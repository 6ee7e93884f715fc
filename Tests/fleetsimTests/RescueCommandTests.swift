import Foundation
import Testing

/// `fleetsim rescue` as a user runs it.
@Suite("rescue")
struct RescueCommandTests {
  /// As experiment 011 with one worker in place of 15.
  static let scenario = """
    { format: 1, seed: 1, duration: "40m", interval: "10s",
      tapi: { workers: { count: 1, serviceTime: { exponential: "500ms" }, queueLimit: 40 },
        overload: { status: 503 }, incidents: [{ kind: "brownout", at: "5m", for: "5m", factor: "60%" }] },
      network: { latency: { median: "80ms", p99: "600ms", minimum: "10ms" } },
      settings: { backoffConfig: { jitterStrategy: "full", baseBackoffInterval: 1, maxBackoffInterval: 10 } },
      fleet: [{ name: "phones", devices: 40, events: "6/min", flush: { count: 20, interval: "30s" },
        queue: { mode: "rebatch" }, retries: "timer", timeout: "10s" }] }
    """

  private func scratch() throws -> Scratch {
    let scratch = try Scratch()
    try Data(Self.scenario.utf8).write(to: scratch.url.appending(path: "s.json5"))
    return scratch
  }

  @Test("finds the same with one worker or two; the table, the report and the manifest are written")
  func files() throws {
    let scratch = try scratch()
    let command = [
      "rescue", "s.json5", "--action", "shed", "--at", "15m", "--for", "5m", "--seeds", "2",
    ]
    func text(_ path: String) throws -> String {
      try String(contentsOf: scratch.url.appending(path: path), encoding: .utf8)
    }
    for jobs in ["1", "2"] {
      let output = try Tool.run(command + ["--jobs", jobs, "--out", "out" + jobs], in: scratch.url)
      #expect(output.code == 0 && output.standardError == "")
      #expect(output.standardOutput.contains("is the smallest share of the requests to shed that ends it"))
      #expect(output.standardOutput.contains("Written to out\(jobs): report.html, rescue.csv, run.json"))
    }
    let table = try text("out1/rescue.csv")
    #expect(table == (try text("out2/rescue.csv")))
    let rows = table.split(separator: "\n")
    // Nothing, both ends, the middle, two quarters, and three halvings of eight steps for the least share and for the one that is too much.
    #expect(rows.count == 1 + 1 + 2 + 1 + 2 + 3 + 3 && rows[1].hasPrefix("none,2,0,false,"))
    #expect(try text("out1/report.html").contains("What was tried"))
  }

  @Test(
    "without --seeds there are seeds until the budget is used up, and it says how many would show that it holds"
  )
  func untilDecided() throws {
    let scratch = try scratch()
    var answers: [String] = []
    for jobs in ["1", "2"] {
      let output = try Tool.run(
        [
          "rescue", "s.json5", "--action", "shed", "--at", "15m", "--for", "5m", "--budget", "50k", "--jobs",
          jobs,
        ], in: scratch.url)
      #expect(output.code == 0 && output.standardError == "")
      answers.append(output.standardOutput)
    }
    #expect(answers[0] == answers[1])
    #expect(answers[0].contains("for 5 min, more seeds until it is decided, at most 50 k attempts\n"))
    let open = /Open after [0-9]+ seeds?, when the budget of 50 k attempts has no room for more: (.*)/
    let reason = answers[0].firstMatch(of: open)?.1 ?? ""
    #expect(
      reason.hasPrefix("whether it holds in 95 % of ") && reason.contains(" more seeds"), "\(answers[0])")
  }

  @Test(
    "what makes no sense says why",
    arguments: [
      ([], "Missing expected option '--action <kind>'", 64),
      (["--action", "shedd"], "did you mean 'shed'?", 64),
      (["--action", "readmit", "--for", "5m"], "'--for' does not go with readmit", 64),
      (["--action", "capacity", "--key", "phones"], "'--key' goes with shed and readmit", 64),
      (
        ["--action", "shed", "--seed", "2", "--budget", "1M"],
        "'--budget' goes without '--seeds' and '--seed'", 64
      ),
      (["--action", "shed", "--key", "phone"], "did you mean 'phones'?", 64),
      (["--action", "shed", "--at", "40m"], "when the run of 40m is over", 64),
      (["--action", "shed", "--at", "35m", "--for", "10m"], "nothing is left to recover in", 64),
      (["--action", "shed", "--range", "0%..200%"], "shares from 0% to 100%", 64),
      (["--action", "shed", "--set", "tapi.incidents=[]"], "rescue needs one", 65),
      (
        [
          "--action", "shed", "--at", "20m", "--set",
          "actions=[{kind:'readmit',at:'19m',over:'5m'}]",
        ], "The action contradicts action 0 of the scenario", 64
      ),
    ])
  func nonsense(arguments: [String], message: String, code: Int32) throws {
    let scratch = try scratch()
    let output = try Tool.run(["rescue", "s.json5"] + arguments, in: scratch.url)
    #expect(output.code == code)
    #expect(output.standardError.contains(message), "\(output.standardError)")
  }
}
