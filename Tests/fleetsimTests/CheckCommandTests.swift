import Foundation
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("check")
struct CheckCommandTests {
  /// Experiments, small enough for a test.
  private enum Experiment: String, CaseIterable {
    case outage = "001-outage-herd"
    case retryAfter = "003-retry-after"
    case limit = "009-retry-limit"

    private static let small = [
      "fleet.phones.devices=100", "tapi.bucket.capacity=6.4/s", "tapi.bucket.burst=15", "interval=10s",
    ]

    func arguments(_ set: [String]) -> [String] {
      let scenario = Tool.repository.appending(path: "experiments/\(rawValue)/scenario.json5").path
      return [scenario, "--baseline", "b.json"] + set.flatMap { ["--set", $0] }
    }

    /// A baseline of all three, recorded once for all tests.
    private static let recorded = Result {
      let scratch = try Scratch()
      for experiment in allCases {
        try scratch.run("check --record --seeds 5", experiment.arguments(small), code: 0)
      }
      return try scratch.text("b.json")
    }

    static func scratch() throws -> Scratch { try Scratch(["b.json": recorded.get()]) }
  }

  /// The columns of what a check finds worse.
  private func worse(_ scratch: Scratch, _ arguments: [String]) throws -> [String] {
    let output = try scratch.run("check", arguments + ["--json"])
    let scenarios = try #require(output.json["scenarios"]).elements
    let worse = scenarios.flatMap { $0["worse"]?.texts ?? [] }
    #expect(output.code == (worse.isEmpty ? 0 : 1))
    #expect(output.standardError.contains("Worse than recorded: ") == !worse.isEmpty)
    for name in worse { #expect(output.standardError.contains(name)) }
    return worse
  }

  @Test("better Settings pass, and the check says what is better of the verdict's criteria")
  func better() throws {
    let scratch = try Experiment.scratch()
    let full = ["settings.backoffConfig.jitterStrategy=full"]
    let output = try scratch.run("check", Experiment.outage.arguments(full), code: 0)
    #expect(output.standardError == "")
    #expect(output.standardOutput.hasPrefix("✓ 001-outage-herd: nothing worse, "))
    #expect(output.story("better").contains { $0.hasPrefix("caught up ") })
    #expect(output.story("worse").isEmpty && output.story("next").isEmpty)
  }

  @Test("lost events fail in five lines: what, why, and how much else moved; nothing is called better")
  func lossy() throws {
    let scratch = try Experiment.scratch()
    let fewer = Experiment.outage.arguments(["settings.backoffConfig.maxRetryCount=3"])
    let output = try scratch.run("check", fewer, code: 1)
    #expect(output.standardError == "" && output.lines.count == 5, "\(output)")
    let headline =
      "✗ 001-outage-herd: failed runs 0 of 5 → 5 of 5 (up to 48.4 % of the affected events lost); lost 0 → 5,"
    #expect(output.standardOutput.hasPrefix(headline))
    output.tells("cause", "settings.backoffConfig.maxRetryCount 100 → 3; phones")
    #expect(output.story("cause")[0].hasSuffix("backoffConfig.maxRetryCount 3 reached"))
    #expect(output.story("worse") == ["99 % delivered never"])
    #expect(!output.standardOutput.contains("better"))
    #expect(try worse(scratch, fewer).starts(with: ["failing_runs", "lost_or_blocked_events"]))
  }

  @Test(
    "Retry-After ignored, a limit off by one either way, one send less at it and no jitter fail the check by what they cost",
    arguments: [
      (.retryAfter, "settings.rateLimitConfig.enabled=false", ["attempts_above_twin_per_device"]),
      (.limit, "settings.backoffConfig.maxRetryCount=4", ["lost_or_blocked_events"]),
      (.limit, "settings.backoffConfig.maxRetryCount=5", []),
      (.limit, "settings.backoffConfig.maxRetryCount=6", ["attempts_above_twin_per_device"]),
      (.limit, "policy.sendsAtLimit=maxRetryCount", ["lost_or_blocked_events"]),
      (
        .outage, "settings.backoffConfig.jitterStrategy=none",
        ["healthy_s", "recovery_s", "affected_delivery_judged_s", "attempts_above_twin_per_device"]
      ),
    ] as [(Experiment, String, [String])])
  private func planted(experiment: Experiment, set: String, metrics: [String]) throws {
    let found = try worse(Experiment.scratch(), experiment.arguments([set]))
    #expect(metrics.count == 1 ? found.contains(metrics[0]) : found == metrics, "\(found)")
  }

  private static let longer = ["s.json5", "--set", "tapi.incidents.0.for=6m"]

  private func small() throws -> Scratch {
    let scratch = try Scratch.with()
    let output = try scratch.run("check s.json5 --record --seeds 3", code: 0)
    #expect(output.standardOutput.hasSuffix(" metrics of 3 seeds recorded in baseline.json\n"))
    return scratch
  }

  @Test("of a large fleet the part is recorded that keeps the answer, unless an option says which")
  func part() throws {
    let scratch = try Scratch.with(Scenarios.scenario(devices: 20_000, capacity: "1400/s"))
    func recorded(_ options: String...) throws -> (text: String, scale: String?) {
      let baseline = options.isEmpty ? "part.json" : "whole.json"
      let output = try scratch.run(
        ["check", "s.json5", "--record", "--seeds", "2", "--baseline", baseline] + options)
      let text = try scratch.text(baseline)
      let scale = text.firstMatch(of: /"scale=1:([0-9]+)"/).map { String($0.1) }
      return (output.standardOutput, scale)
    }
    let part = try recorded()
    let divisor = try #require(part.scale)
    #expect(part.text.contains("recorded in part.json (1:\(divisor) of 20,000 devices)\n"))
    try scratch.run("check s.json5 --baseline part.json", code: 0)
    #expect(try recorded("--scale", "1:2").scale == "2")
  }

  @Test("a recording that cannot be written does not say that it was, and names its own option")
  func fullDisk() throws {
    let scratch = try Scratch.with()
    let record = ["check", "s.json5", "--record", "--seeds", "2"]
    let output = try Tool.process(record, in: scratch.url, shell: "ulimit -f 0")
    #expect(output.code == 74)
    #expect(output.standardOutput == "")
    #expect(output.standardError.contains("baseline.json: cannot be written: "))
    try scratch.run(
      record + ["--baseline", "no/b.json"], code: 73, says: "name a writable place with --baseline\n")
    #expect(scratch.contents == ["s.json5"])
  }

  @Test("the baseline lies beside the scenario, and a second recording gives the same bytes")
  func recording() throws {
    let scratch = try small()
    #expect(scratch.contents == ["baseline.json", "s.json5"])
    let before = try scratch.text("baseline.json")
    try scratch.run("check s.json5 --record")
    #expect(try scratch.text("baseline.json") == before)
    let edited = Self.editing(before, "{ \"absolute\": 9 }")
    #expect(edited != before)
    try scratch.write("baseline.json", edited)
    try scratch.run("check s.json5 --record")
    #expect(try scratch.text("baseline.json") == edited)
  }

  @Test("a baseline that was recorded from the root is found from inside the scenario's folder")
  func inside() throws {
    let scratch = try small()
    try scratch.write("fleet/scenario.json5", scratch.text("s.json5"))
    let recorded = try scratch.run("check fleet/scenario.json5 --record")
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
    for (tolerance, isWorse) in [
      (#""informational""#, false), (#""notSignificantlyWorse""#, true), (#"{ "absolute": 1 }"#, true),
      (#"{ "absolute": 1e9 }"#, false), (#"{ "relative": 0.01 }"#, true), (#"{ "relative": 1e3 }"#, false),
    ] {
      try scratch.write("baseline.json", Self.editing(recorded, tolerance))
      #expect(try worse(scratch, Self.longer).contains("retries") == isWorse, "\(tolerance)")
    }
  }

  private typealias Note = (kind: String, file: String, line: Int, metric: String, text: String)

  private func annotations(_ output: Tool.Output) -> [Note] {
    let form = /::(\w+) file=([^,]*),line=(\d+),title=s%3A (\w+)::(.*)/
    return output.standardOutput.matches(of: form).map {
      (String($0.1), String($0.2), Int($0.3) ?? 0, String($0.4), String($0.5))
    }
  }

  @Test("without a key in a file GitHub's annotation is at the metric's line of the baseline")
  func githubBaseline() throws {
    let scratch = try small()
    let output = try scratch.run("check --format github", Self.longer, code: 1)
    let lines = try scratch.text("baseline.json").split(separator: "\n", omittingEmptySubsequences: false)
    let found = annotations(output)
    #expect(found.map(\.kind) == ["error"])
    for error in found {
      #expect(error.file == "baseline.json")
      #expect(error.line == 1 || lines[error.line - 1].contains("\"\(error.metric)\": "))
      #expect(error.text.contains("cause: tapi.incidents.0.for 3m → 6m"), "\(error.text)")
      #expect(error.text.replacing("%25", with: "").firstIndex(of: "%") == nil)
    }
    #expect(try worse(scratch, Self.longer).first == found.first?.metric)
  }

  private static let withSettings = Scenarios.small.replacing(
    "fleet: [{", with: "fleet: [{ settings: \"settings.json\",")
  /// The key is on the second line of the file.
  private static func settings(_ most: Int) -> String {
    "{ \"httpConfig\": { \"backoffConfig\": {\n\"maxRetryCount\": \(most), \"jitterPercent\": 10 } } }"
  }

  @Test("a Settings file in place of the scenario's is told as the same change by --set")
  func settingsFile() throws {
    let scratch = try Scratch([
      "app/settings.json": Self.settings(100), "app/harm.json": Self.settings(2),
    ])
    let paths = ["app/a.json5", "app/b.json5"]
    for path in paths { try scratch.write(path, Self.withSettings) }
    try scratch.run("check", paths + ["--record", "--seeds", "5"], code: 0)
    let file = try scratch.run("check", paths + ["--settings", "app/harm.json"])
    let set = try scratch.run("check", paths + ["--set", "settings.backoffConfig.maxRetryCount=2"])
    func headlines(_ output: Tool.Output) -> [Substring] { output.lines.filter { $0.hasPrefix("✗ ") } }
    #expect(headlines(file).count == 2 && headlines(file) == headlines(set), "\(file) \(set)")
    #expect(headlines(file).allSatisfy { $0.contains(" of 5 → 5 of 5 (") }, "\(file)")
    #expect(file.story("cause").allSatisfy { $0.contains("100 → 2 (app/harm.json:2)") }, "\(file)")
    #expect(file.standardOutput.split(separator: "fleetsim decide tries").count == 2, "\(file)")
  }

  @Test("GitHub's annotation is at the key that changed, in the Settings or in the scenario")
  func githubKey() throws {
    let scratch = try Scratch(["app/s.json5": Self.withSettings, "app/settings.json": Self.settings(100)])
    try scratch.run("check app/s.json5 --record --seeds 3", code: 0)
    func check() throws -> [Note] { annotations(try scratch.run("check app/s.json5 --format github")) }
    #expect(try check().isEmpty)
    // Of two changed keys it is at the one that loses events.
    let other = Self.settings(0).replacing("Config\": {\n", with: "Config\": { \"baseBackoffInterval\": 1,\n")
    try scratch.write("app/settings.json", other)
    let lossy = try #require(check().first)
    #expect((lossy.kind, lossy.file, lossy.line) == ("error", "app/settings.json", 2))
    let cause = "settings.backoffConfig.maxRetryCount 100 → 0 (app/settings.json:2)"
    #expect(lossy.text.contains(cause), "\(lossy)")
    try scratch.write("app/settings.json", Self.settings(100))
    try scratch.write("app/s.json5", "\n" + Self.withSettings.replacing("for: \"3m\"", with: "for: \"6m\""))
    let longer = try #require(check().first)
    let lines = try scratch.text("app/s.json5").split(separator: "\n", omittingEmptySubsequences: false)
    #expect(longer.file == "app/s.json5")
    #expect(lines[longer.line - 1].contains("for: \"6m\""), "\(longer)")
  }

  @Test("with --verbose every metric that moved is there, and without it their number")
  func verbose() throws {
    let scratch = try small()
    let brief = try scratch.run("check", Self.longer)
    let verbose = try scratch.run("check --verbose", Self.longer)
    let moved = verbose.lines.count { $0.hasPrefix("moved ") }
    #expect(moved > 0 && brief.story("note") == ["\(moved) other metrics moved (--verbose)"], "\(brief)")
    #expect(try scratch.run("check --quiet", Self.longer).lines.count == 1)
  }

  @Test("JUnit gets XML with a case for each metric and a failure for each that is worse")
  func junit() throws {
    let scratch = try small()
    let passed = try scratch.run("check s.json5 --format junit", code: 0)
    #expect(passed.standardOutput.contains("failures=\"0\""))
    let output = try scratch.run("check --format junit", Self.longer, code: 1)
    #expect(XMLParser(data: Data(output.standardOutput.utf8)).parse())
    func count(_ element: String) -> Int { output.standardOutput.ranges(of: "<\(element) ").count }
    let metrics = try scratch.text("baseline.json").split(separator: "\n").count {
      $0.contains("\"values\": ")
    }
    // Two criteria are no metrics: a fleet that holds its load, and runs that fail.
    #expect(count("testcase") == metrics + 2)
    #expect(try count("failure") == worse(scratch, Self.longer).count)
  }

  @Test("a smaller fleet before the same server is recorded with a warning of its load")
  func otherLoad() throws {
    let scratch = try Scratch.with()
    let smaller = ["check", "s.json5", "--record", "--seeds", "2", "--set", "fleet.phones.devices=20"]
    try scratch.run(smaller, code: 0, says: "s.json5: warning: with these --set the normal load is")
    let same = try scratch.run("check s.json5 --record --set seed=7")
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
    try scratch.run("check s.json5 --baseline b.json", code: 65, says: message)
  }
}
