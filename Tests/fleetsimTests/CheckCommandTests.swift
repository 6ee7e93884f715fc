import Foundation
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("check")
struct CheckCommandTests {
  private static let experiments = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("experiments")

  /// An experiment, and how to make it small enough for a test.
  private struct Experiment {
    var path: String
    var set: [String]

    static let outage = Experiment(path: "001-outage-herd/scenario.json5", set: small)
    static let retryAfter = Experiment(path: "003-retry-after/scenario.json5", set: small)
    static let limit = Experiment(
      path: "009-retry-limit/scenario.json5",
      set: ["fleet.phones.devices=300", "tapi.bucket.capacity=19/s", "tapi.bucket.burst=15"])

    private static let small = [
      "fleet.phones.devices=300", "tapi.bucket.capacity=19/s", "tapi.bucket.burst=15",
    ]

    func check(_ scratch: Scratch, _ options: [String]) throws -> Tool.Output {
      try Tool.run(
        ["check", CheckCommandTests.experiments.appendingPathComponent(path).path, "--baseline", "b.json"]
          + options, in: scratch.url)
    }

    /// A baseline of all three, recorded once for all tests.
    private static let recorded = Result {
      let scratch = try Scratch()
      for experiment in [outage, retryAfter, limit] { try experiment.record(scratch) }
      return try scratch.text("b.json")
    }

    static func scratch() throws -> Scratch {
      let scratch = try Scratch()
      try scratch.write("b.json", recorded.get())
      return scratch
    }

    private func record(_ scratch: Scratch) throws {
      let output = try check(scratch, ["--record", "--seeds", "5"] + set.flatMap { ["--set", $0] })
      #expect(output.code == 0, "\(output.standardError)")
    }
  }

  /// The metrics that a failed check names.
  private func worse(_ output: Tool.Output) -> Set<String> {
    let line =
      output.standardError.split(separator: "\n").first { $0.hasPrefix("Worse than recorded: ") } ?? ""
    return Set(
      line.dropFirst("Worse than recorded: ".count).prefix { $0 != "." }.split(separator: ": ").last?
        .split(separator: ", ").map(String.init) ?? [])
  }

  @Test("a scenario passes the check on itself, and says that nothing moved")
  func itself() throws {
    let scratch = try Experiment.scratch()
    for experiment in [Experiment.outage, .retryAfter, .limit] {
      let output = try experiment.check(scratch, [])
      #expect(output.code == 0)
      #expect(output.standardError == "")
      #expect(output.standardOutput.contains("metrics as recorded"))
    }
  }

  @Test("without jitter the check fails and names recovery and the affected events' p99, first and in full")
  func withoutJitter() throws {
    let scratch = try Experiment.scratch()
    let output = try Experiment.outage.check(
      scratch, ["--set", "settings.backoffConfig.jitterStrategy=none"])
    #expect(output.code == 1)
    #expect(
      worse(output).isSuperset(of: ["recovery_s", "affected_delivery_p99_s"]), "\(output.standardError)")
    #expect(output.standardOutput.contains("WORSE  recovery_s: "))
  }

  @Test("with Retry-After ignored the check fails and names what it costs")
  func withoutRetryAfter() throws {
    let scratch = try Experiment.scratch()
    let output = try Experiment.retryAfter.check(
      scratch, ["--set", "settings.rateLimitConfig.enabled=false"])
    #expect(output.code == 1)
    #expect(
      worse(output).isSuperset(of: [
        "retries", "attempts_above_twin_per_device", "attempts_mean_per_device_day",
      ]),
      "\(output.standardError)")
  }

  @Test(
    "with the limit of a batch off by one, either way, the check fails and names what moved",
    arguments: [
      (4, ["dropped_by_retry_limit_events", "lost_events"]), (6, ["attempts_mean_per_device_day"]),
    ])
  func limitOffByOne(limit: Int, metrics: [String]) throws {
    let scratch = try Experiment.scratch()
    #expect(
      try Experiment.limit.check(scratch, ["--set", "settings.backoffConfig.maxRetryCount=5"]).code == 0)
    let output = try Experiment.limit.check(
      scratch, ["--set", "settings.backoffConfig.maxRetryCount=\(limit)"])
    #expect(output.code == 1)
    #expect(worse(output).isSuperset(of: metrics), "\(output.standardError)")
  }

  @Test("a client that sends one time less at its limit fails the check too")
  func sendsAtLimit() throws {
    let scratch = try Experiment.scratch()
    let output = try Experiment.limit.check(scratch, ["--set", "policy.sendsAtLimit=maxRetryCount"])
    #expect(output.code == 1)
    #expect(worse(output).contains("lost_events"), "\(output.standardError)")
  }

  private func small() throws -> Scratch {
    let scratch = try Scratch()
    try scratch.write("s.json5", Scenarios.small)
    let output = try Tool.run(["check", "s.json5", "--record", "--seeds", "3"], in: scratch.url)
    #expect(output.code == 0, "\(output.standardError)")
    #expect(
      output.standardOutput.contains(
        "metrics of 3 seeds recorded in baseline.json\nChanges noticed in nine of ten checks: "))
    return scratch
  }

  @Test("a recording that cannot be written does not say that it was, and names its own option")
  func fullDisk() throws {
    let scratch = try Scratch()
    try scratch.write("s.json5", Scenarios.small)
    let record = ["check", "s.json5", "--record", "--seeds", "2"]
    let output = try Tool.run(record, in: scratch.url, shell: "ulimit -f 0")
    #expect(output.code == 74)
    #expect(output.standardOutput == "")
    #expect(output.standardError.contains("baseline.json: cannot be written: "), "\(output.standardError)")
    let nowhere = try Tool.run(record + ["--baseline", "no/b.json"], in: scratch.url)
    #expect(nowhere.code == 73)
    #expect(
      nowhere.standardError.contains("name a writable place with --baseline\n"), "\(nowhere.standardError)")
    #expect(scratch.contents == ["s.json5"])
  }

  @Test("the baseline lies beside the scenario, and a second recording gives the same bytes")
  func recording() throws {
    let scratch = try small()
    #expect(scratch.contents == ["baseline.json", "s.json5"])
    let before = try scratch.text("baseline.json")
    _ = try Tool.run(["check", "s.json5", "--record"], in: scratch.url)
    #expect(try scratch.text("baseline.json") == before)
    let edited = Self.editing(before, "{ \"absolute\": 9 }")
    #expect(edited != before)
    try scratch.write("baseline.json", edited)
    _ = try Tool.run(["check", "s.json5", "--record"], in: scratch.url)
    #expect(try scratch.text("baseline.json") == edited)
  }

  /// A baseline with another tolerance for retries.
  private static func editing(_ baseline: String, _ tolerance: String) -> String {
    baseline.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.contains("\"retries\": ")
        ? String(line).replacing("\"notSignificantlyWorse\"", with: tolerance) : String(line)
    }.joined(separator: "\n")
  }

  @Test("a tolerance that is edited decides")
  func editing() throws {
    let scratch = try small()
    let recorded = try scratch.text("baseline.json")
    let longer = ["--set", "tapi.incidents.0.for=5m"]
    func check(_ tolerance: String) throws -> Set<String> {
      try scratch.write("baseline.json", Self.editing(recorded, tolerance))
      return worse(try Tool.run(["check", "s.json5"] + longer, in: scratch.url))
    }
    #expect(try check(#"{ "absolute": 1 }"#).contains("retries"))
    #expect(try !check(#"{ "absolute": 1e9 }"#).contains("retries"))
    #expect(try check(#"{ "relative": 0.01 }"#).contains("retries"))
    #expect(try !check(#"{ "relative": 1e3 }"#).contains("retries"))
  }

  @Test(
    "GitHub gets one annotation for what became worse, at the first metric's line and with the others in it")
  func github() throws {
    let scratch = try small()
    let output = try Tool.run(
      ["check", "s.json5", "--format", "github", "--set", "tapi.incidents.0.for=6m"], in: scratch.url)
    #expect(output.code == 1)
    let lines = try scratch.text("baseline.json").split(separator: "\n", omittingEmptySubsequences: false)
    let errors = output.standardOutput.split(separator: "\n").compactMap {
      $0.wholeMatch(of: /::error file=baseline\.json,line=(\d+),title=s%3A (\w+)::(.*)/)
    }
    #expect(errors.count == 1)
    for metric in worse(output) {
      #expect(errors.contains { $0.2 == metric || $0.3.contains(metric) }, "\(metric)")
    }
    for error in errors {
      let line = try #require(Int(error.1))
      #expect(lines[line - 1].contains("\"\(error.2)\": "))
      #expect(error.3.replacing("%25", with: "").firstIndex(of: "%") == nil)
    }
  }

  @Test("JUnit gets well-formed XML with a case for each metric and a failure for each that is worse")
  func junit() throws {
    let scratch = try small()
    let command = ["check", "s.json5", "--format", "junit"]
    let passed = try Tool.run(command, in: scratch.url)
    #expect(passed.code == 0)
    #expect(passed.standardOutput.contains("failures=\"0\""))
    let output = try Tool.run(command + ["--set", "tapi.incidents.0.for=6m"], in: scratch.url)
    #expect(output.code == 1)
    let counter = ElementCounter()
    let parser = XMLParser(data: Data(output.standardOutput.utf8))
    parser.delegate = counter
    #expect(parser.parse())
    let metrics = try scratch.text("baseline.json").split(separator: "\n").count {
      $0.contains("\"values\": ")
    }
    #expect(counter.counts["testcase"] == metrics)
    #expect(counter.counts["failure"] == worse(output).count)
  }

  @Test("a smaller fleet before the same server is recorded with a warning: its load is another one")
  func otherLoad() throws {
    let scratch = try Scratch()
    try scratch.write("s.json5", Scenarios.small)
    let smaller = ["check", "s.json5", "--record", "--seeds", "2", "--set", "fleet.phones.devices=20"]
    let output = try Tool.run(smaller, in: scratch.url)
    #expect(output.code == 0)
    #expect(output.standardError.contains("s.json5: warning: with these --set the normal load is"))
    let same = try Tool.run(["check", "s.json5", "--record", "--set", "seed=7"], in: scratch.url)
    #expect(same.code == 0 && !same.standardError.contains("normal load"), "\(same.standardError)")
  }

  @Test(
    "a baseline that is wrong is refused with its line and what would be right",
    arguments: [
      ("\"baseline\": 1", "\"baseline\": 2", "b.json:1: this is no baseline of fleetsim"),
      (
        "notSignificantlyWorse", "notWorse",
        "a tolerance is \"notSignificantlyWorse\", { \"relative\": 0.05 }"
      ),
      ("\"notSignificantlyWorse\"", "{ \"relative\": -1 }", "a tolerance is"),
      ("\"count\": 3", "\"count\": 1", "'count' is a whole number from 2 to 10000"),
      ("\"count\": 3", "\"count\": 4", "has 3 values, one for each of the 4 seeds is expected"),
      ("\"retries\"", "\"retrys\"", "'retrys' is no metric; did you mean 'retries'?"),
      ("\"values\": [", "\"values\": [\"x\", ", "values"),
      ("\"scenario\": \"s\"", "\"scenario\": \"t\"", "holds no baseline of 's', only of 't'; record it with"),
      ("\"program\"", "\"program", "b.json:"),
    ])
  func wrongBaseline(part: String, replacement: String, message: String) throws {
    let scratch = try small()
    let text = try scratch.text("baseline.json")
    #expect(text.contains(part))
    try scratch.write("b.json", text.replacing(part, with: replacement, maxReplacements: 1))
    let output = try Tool.run(["check", "s.json5", "--baseline", "b.json"], in: scratch.url)
    #expect(output.code == 65)
    #expect(output.standardError.contains(message), "\(output.standardError)")
  }

  @Test(
    "a wrong command line says what would be right",
    arguments: [
      (
        ["s.json5"], 66,
        "baseline.json: there is no baseline yet; record one with: fleetsim check s.json5 --record"
      ),
      (["s.json5", "--seeds", "5"], 64, "goes with '--record'"),
      (["s.json5", "--record", "--seeds", "1"], 64, "one seed has no interval; at least 2"),
      (["s.json5", "--format", "xml"], 64, "text, github, junit"),
      (["s.json5", "s.json5", "--record"], 64, "Two scenarios would both be called 's'"),
      (["s.json5", "--record", "--set", "duration"], 64, "it is written as duration=1h"),
      (["s.json5", "--record", "--baseline", "s.json5"], 65, "s.json5:1: this is no baseline of fleetsim"),
      ([], 64, "Missing expected argument '<scenario>'"),
    ] as [([String], Int32, String)])
  func wrong(arguments: [String], code: Int32, message: String) throws {
    let scratch = try Scratch()
    try scratch.write("s.json5", Scenarios.small)
    let output = try Tool.run(["check"] + arguments, in: scratch.url)
    #expect(output.code == code)
    #expect(output.standardError.contains(message), "\(output.standardError)")
    #expect(scratch.contents == ["s.json5"])
  }
}

private final class ElementCounter: NSObject, XMLParserDelegate {
  var counts: [String: Int] = [:]

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String] = [:]
  ) { counts[name, default: 0] += 1 }
}
