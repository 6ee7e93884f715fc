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
    static let limit = Experiment(path: "009-retry-limit/scenario.json5", set: small)

    private static let small = [
      "fleet.phones.devices=100", "tapi.bucket.capacity=6.4/s", "tapi.bucket.burst=15", "interval=10s",
    ]

    var arguments: [String] {
      [CheckCommandTests.experiments.appendingPathComponent(path).path, "--baseline", "b.json"]
    }

    func check(_ scratch: Scratch, _ options: [String]) throws -> Tool.Output {
      try Tool.run(["check"] + arguments + options, in: scratch.url)
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

  /// The columns of what a check finds worse.
  private func worse(_ scratch: Scratch, _ arguments: [String]) throws -> [String] {
    let output = try Tool.run(["check"] + arguments + ["--json"], in: scratch.url)
    let document = try JSONSerialization.jsonObject(with: Data(output.standardOutput.utf8)) as? [String: Any]
    let scenarios = try #require(document?["scenarios"] as? [[String: Any]])
    let worse = scenarios.flatMap { $0["worse"] as? [String] ?? [] }
    #expect(output.code == (worse.isEmpty ? 0 : 1))
    #expect(output.standardError.contains("Worse than recorded: ") == !worse.isEmpty)
    for name in worse { #expect(output.standardError.contains(name)) }
    return worse
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

  @Test("better Settings pass, and the check says what is better of the verdict's criteria")
  func better() throws {
    let scratch = try Experiment.scratch()
    let output = try Experiment.outage.check(
      scratch, ["--set", "settings.backoffConfig.jitterStrategy=full"])
    #expect(output.code == 0, "\(output.standardOutput)")
    #expect(output.standardError == "")
    #expect(output.standardOutput.hasPrefix("✓ 001-outage-herd: nothing worse, "))
    #expect(output.story("better").contains { $0.hasPrefix("caught up ") })
    #expect(output.story("worse").isEmpty && output.story("next").isEmpty)
  }

  @Test("lost events fail in five lines: what, why, and how much else moved; nothing is called better")
  func lossy() throws {
    let scratch = try Experiment.scratch()
    let output = try Experiment.outage.check(scratch, ["--set", "settings.backoffConfig.maxRetryCount=3"])
    #expect(output.code == 1)
    #expect(output.standardError == "")
    let lines = output.standardOutput.split(separator: "\n")
    #expect(lines.count == 5, "\(output.standardOutput)")
    #expect(
      lines[0].hasPrefix(
        "✗ 001-outage-herd: failed runs 0 of 5 → 5 of 5 (over 1 % lost); lost 0 → 5,"))
    let cause = output.story("cause").first ?? ""
    #expect(cause.hasPrefix("settings.backoffConfig.maxRetryCount 100 → 3; phones"))
    #expect(cause.hasSuffix("backoffConfig.maxRetryCount 3 reached"))
    #expect(output.story("worse") == ["99 % delivered never"])
    #expect(!output.standardOutput.contains("better"))
    #expect(
      try worse(scratch, Experiment.outage.arguments + ["--set", "settings.backoffConfig.maxRetryCount=3"])
        .starts(with: ["lost_or_blocked_events"]))
  }

  @Test("without jitter the check fails by the verdict's criteria alone")
  func withoutJitter() throws {
    let scratch = try Experiment.scratch()
    let found = try worse(
      scratch, Experiment.outage.arguments + ["--set", "settings.backoffConfig.jitterStrategy=none"])
    #expect(
      found == ["healthy_s", "recovery_s", "affected_delivery_judged_s", "attempts_above_twin_per_device"],
      "\(found)")
  }

  @Test("with Retry-After ignored the check fails and names what it costs")
  func withoutRetryAfter() throws {
    let scratch = try Experiment.scratch()
    let found = try worse(
      scratch, Experiment.retryAfter.arguments + ["--set", "settings.rateLimitConfig.enabled=false"])
    #expect(found.contains("attempts_above_twin_per_device"), "\(found)")
  }

  @Test(
    "with the limit of a batch off by one, either way, the check fails and names what moved",
    arguments: [(4, "lost_or_blocked_events"), (6, "attempts_above_twin_per_device")])
  func limitOffByOne(limit: Int, metric: String) throws {
    let scratch = try Experiment.scratch()
    if limit == 4 {
      let as5 = try Experiment.limit.check(scratch, ["--set", "settings.backoffConfig.maxRetryCount=5"])
      #expect(as5.code == 0)
    }
    let found = try worse(
      scratch, Experiment.limit.arguments + ["--set", "settings.backoffConfig.maxRetryCount=\(limit)"])
    #expect(found.contains(metric), "\(found)")
  }

  @Test("a client that sends one time less at its limit fails the check too")
  func sendsAtLimit() throws {
    let scratch = try Experiment.scratch()
    let found = try worse(
      scratch, Experiment.limit.arguments + ["--set", "policy.sendsAtLimit=maxRetryCount"])
    #expect(found.contains("lost_or_blocked_events"), "\(found)")
  }

  private func small() throws -> Scratch {
    let scratch = try Scratch()
    try scratch.write("s.json5", Scenarios.small)
    let output = try Tool.run(["check", "s.json5", "--record", "--seeds", "3"], in: scratch.url)
    #expect(output.code == 0, "\(output.standardError)")
    #expect(output.standardOutput.hasSuffix(" metrics of 3 seeds recorded in baseline.json\n"))
    return scratch
  }

  @Test("of a large fleet the part is recorded that keeps the answer, unless an option says which")
  func part() throws {
    let scratch = try Scratch()
    try scratch.write("s.json5", Scenarios.scenario(devices: 20_000, capacity: "1400/s"))
    func recorded(_ options: String...) throws -> (text: String, scale: String?) {
      let baseline = options.isEmpty ? "part.json" : "whole.json"
      let output = try Tool.run(
        ["check", "s.json5", "--record", "--seeds", "2", "--baseline", baseline] + options, in: scratch.url)
      let text = try scratch.text(baseline)
      let scale = text.firstMatch(of: /"scale=1:([0-9]+)"/).map { String($0.1) }
      return (output.standardOutput, scale)
    }
    let part = try recorded()
    let divisor = try #require(part.scale)
    #expect(part.text.contains("recorded in part.json (1:\(divisor) of 20,000 devices)\n"), "\(part)")
    let again = try Tool.run(["check", "s.json5", "--baseline", "part.json"], in: scratch.url)
    #expect(again.code == 0, "\(again)")
    #expect(try recorded("--scale", "1:2").scale == "2")
  }

  @Test("a recording that cannot be written does not say that it was, and names its own option")
  func fullDisk() throws {
    let scratch = try Scratch()
    try scratch.write("s.json5", Scenarios.small)
    let record = ["check", "s.json5", "--record", "--seeds", "2"]
    let output = try Tool.process(record, in: scratch.url, shell: "ulimit -f 0")
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

  @Test("a baseline that was recorded from the root is found from inside the scenario's folder")
  func inside() throws {
    let scratch = try small()
    try scratch.write("fleet/scenario.json5", scratch.text("s.json5"))
    let recorded = try Tool.run(["check", "fleet/scenario.json5", "--record"], in: scratch.url)
    #expect(recorded.standardOutput.hasPrefix("fleet: "), "\(recorded)")
    let inside = try Tool.run(
      ["check", "scenario.json5"], in: scratch.url.appendingPathComponent("fleet"))
    #expect(inside.code == 0 && inside.standardOutput.contains("✓ fleet: "), "\(inside)")
  }

  /// A baseline with another tolerance for retries.
  private static func editing(_ baseline: String, _ tolerance: String) -> String {
    baseline.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.contains("\"retries\": ")
        ? String(line).replacing("\"informational\"", with: tolerance) : String(line)
    }.joined(separator: "\n")
  }

  @Test("a tolerance that is edited decides")
  func editing() throws {
    let scratch = try small()
    let recorded = try scratch.text("baseline.json")
    let longer = ["--set", "tapi.incidents.0.for=5m"]
    func check(_ tolerance: String) throws -> [String] {
      try scratch.write("baseline.json", Self.editing(recorded, tolerance))
      return try worse(scratch, ["s.json5"] + longer)
    }
    #expect(try !check(#""informational""#).contains("retries"))
    #expect(try check(#""notSignificantlyWorse""#).contains("retries"))
    #expect(try check(#"{ "absolute": 1 }"#).contains("retries"))
    #expect(try !check(#"{ "absolute": 1e9 }"#).contains("retries"))
    #expect(try check(#"{ "relative": 0.01 }"#).contains("retries"))
    #expect(try !check(#"{ "relative": 1e3 }"#).contains("retries"))
  }

  private struct Annotation {
    var kind: Substring
    var file: Substring
    var line: Int
    var metric: Substring
    var text: Substring
  }

  private func annotations(_ output: Tool.Output) -> [Annotation] {
    output.standardOutput.split(separator: "\n").compactMap {
      $0.wholeMatch(of: /::(\w+) file=([^,]*),line=(\d+),title=s%3A (\w+)::(.*)/).map {
        Annotation(kind: $0.1, file: $0.2, line: Int($0.3) ?? 0, metric: $0.4, text: $0.5)
      }
    }
  }

  @Test("without a key in a file GitHub's annotation is at the metric's line of the baseline")
  func githubBaseline() throws {
    let scratch = try small()
    let longer = ["s.json5", "--set", "tapi.incidents.0.for=6m"]
    let output = try Tool.run(["check"] + longer + ["--format", "github"], in: scratch.url)
    #expect(output.code == 1)
    let lines = try scratch.text("baseline.json").split(separator: "\n", omittingEmptySubsequences: false)
    let found = annotations(output)
    #expect(found.map(\.kind) == ["error"])
    for error in found {
      #expect(error.file == "baseline.json")
      #expect(error.line == 1 || lines[error.line - 1].contains("\"\(error.metric)\": "))
      #expect(error.text.contains("cause: tapi.incidents.0.for 3m → 6m"), "\(error.text)")
      #expect(error.text.replacing("%25", with: "").firstIndex(of: "%") == nil)
    }
    #expect(try worse(scratch, longer).first == found.first.map { String($0.metric) })
  }

  @Test("a Settings file in place of the scenario's is told as the same change by --set, at its own path")
  func settingsFile() throws {
    let scratch = try Scratch()
    let scenario = """
      { format: 1, seed: 13, duration: "3h", interval: "5s", settings: "settings.json",
        tapi: { bucket: { capacity: "10/s", burst: 20 }, overload: { status: 429, retryAfter: "20s" },
          incidents: [{ kind: "outage", at: "40m", for: "10m", status: 503 }] },
        fleet: [{ name: "phones", devices: 100, events: { rate: "1/min" } }] }
      """
    func settings(_ most: Int) -> String {
      "{ \"httpConfig\": { \"backoffConfig\": {\n\"maxRetryCount\": \(most), \"jitterPercent\": 10 } } }"
    }
    try scratch.write("app/settings.json", settings(100))
    try scratch.write("app/harm.json", settings(2))
    let paths = ["app/a.json5", "app/b.json5"]
    for path in paths { try scratch.write(path, scenario) }
    #expect(try Tool.run(["check"] + paths + ["--record", "--seeds", "5"], in: scratch.url).code == 0)
    let file = try Tool.run(["check"] + paths + ["--settings", "app/harm.json"], in: scratch.url)
    let key = ["--set", "settings.backoffConfig.maxRetryCount=2"]
    let set = try Tool.run(["check"] + paths + key, in: scratch.url)
    func headlines(_ output: Tool.Output) -> [Substring] {
      output.standardOutput.split(separator: "\n").filter { $0.hasPrefix("✗ ") }
    }
    #expect(headlines(file).count == 2 && headlines(file) == headlines(set), "\(file) \(set)")
    #expect(headlines(file).allSatisfy { $0.contains("failed runs 0 of 5 → 5 of 5") }, "\(file)")
    #expect(file.story("cause").allSatisfy { $0.contains("100 → 2 (app/harm.json:2)") }, "\(file)")
    #expect(file.standardOutput.split(separator: "fleetsim decide tries").count == 2, "\(file)")
  }

  @Test("GitHub's annotation is at the key that changed, in the Settings or in the scenario")
  func githubKey() throws {
    let scratch = try Scratch()
    let scenario = Scenarios.small.replacing("fleet: [{", with: "fleet: [{ settings: \"settings.json\",")
    #expect(scenario != Scenarios.small)
    func settings(_ most: Int) -> String {
      """
      {
        "httpConfig": {
          "backoffConfig": {
            "jitterPercent": 10,
            "maxRetryCount": \(most)
          }
        }
      }
      """
    }
    try scratch.write("app/s.json5", scenario)
    try scratch.write("app/settings.json", settings(100))
    let record = ["check", "app/s.json5", "--record", "--seeds", "3"]
    #expect(try Tool.run(record, in: scratch.url).code == 0)
    func check() throws -> [Annotation] {
      annotations(try Tool.run(["check", "app/s.json5", "--format", "github"], in: scratch.url))
    }
    #expect(try check().isEmpty)
    try scratch.write("app/settings.json", settings(0))
    let lossy = try #require(check().first)
    #expect((lossy.kind, lossy.file, lossy.line) == ("error", "app/settings.json", 5))
    #expect(
      lossy.text.contains("settings.backoffConfig.maxRetryCount 100 → 0 (app/settings.json%3A5)")
        || lossy.text.contains("settings.backoffConfig.maxRetryCount 100 → 0 (app/settings.json:5)"),
      "\(lossy.text)")
    try scratch.write("app/settings.json", settings(100))
    try scratch.write("app/s.json5", "\n" + scenario.replacing("for: \"3m\"", with: "for: \"6m\""))
    let longer = try #require(check().first)
    let lines = try scratch.text("app/s.json5").split(separator: "\n", omittingEmptySubsequences: false)
    #expect(longer.file == "app/s.json5")
    #expect(lines[longer.line - 1].contains("for: \"6m\""), "\(longer)")
  }

  @Test("another seed is refused: the baseline has its own")
  func otherSeed() throws {
    let scratch = try small()
    let output = try Tool.run(["check", "s.json5", "--set", "seed=51"], in: scratch.url)
    #expect(output.code == 64)
    #expect(
      output.standardError.contains(
        "'seed=51' is invalid for '--set <path=value>': a check runs under the seeds of its baseline"),
      "\(output.standardError)")
  }

  @Test("with --verbose every metric that moved is there, and without it their number")
  func verbose() throws {
    let scratch = try small()
    let longer = ["check", "s.json5", "--set", "tapi.incidents.0.for=6m"]
    let brief = try Tool.run(longer, in: scratch.url)
    let verbose = try Tool.run(longer + ["--verbose"], in: scratch.url).standardOutput
    let moved = verbose.split(separator: "\n").count { $0.hasPrefix("moved ") }
    #expect(moved > 0 && brief.story("note") == ["\(moved) other metrics moved (--verbose)"], "\(brief)")
    #expect(try Tool.run(longer + ["--verbose", "--quiet"], in: scratch.url).code == 64)
    #expect(
      try Tool.run(longer + ["--quiet"], in: scratch.url).standardOutput.split(separator: "\n").count == 1)
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
    // Two criteria are no metrics: a fleet that holds its load, and runs that fail.
    #expect(counter.counts["testcase"] == metrics + 2)
    let found = try worse(scratch, ["s.json5", "--set", "tapi.incidents.0.for=6m"])
    #expect(counter.counts["failure"] == found.count)
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
      ("\"baseline\": 2", "\"baseline\": 3", "b.json:1: this is no baseline of fleetsim"),
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
      (["s.json5", "--record", "--seeds", "1"], 64, "a whole number from 2 to 10000"),
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
