import Foundation
import Testing

@Suite("decide")
struct DecideCommandTests {
  static let fleet = """
    { format: 1, seed: 1, duration: "40m", interval: "1m",
      tapi: { bucket: { capacity: "20/s" }, overload: { status: 429, retryAfter: "20s" } },
      network: { latency: { median: "200ms", p99: "800ms", minimum: "150ms" } },
      fleet: [{ name: "phones", devices: 30, events: "2/min", client: "segment-swift", flush: { count: 20, interval: "1m" } }] }
    """
  /// - Parameter more: keys of `backoffConfig`, each with a comma behind it.
  static func settings(_ retries: Int, _ more: String = "") -> String {
    """
    { "httpConfig": { "rateLimitConfig": { "enabled": true, "maxRetryCount": \(retries) }, "backoffConfig": { \(more)
      "enabled": true, "maxRetryCount": \(retries), "baseBackoffInterval": 0.5, "maxBackoffInterval": 300 } } }
    """
  }
  /// One short case instead of the suite.
  static let incidents = #"{ "friday": [{ kind: "outage", at: "5m", for: "10m", status: 503 }] }"#

  private func scratch() throws -> Scratch {
    let scratch = try Self.folder()
    for (name, bytes) in try Self.runs.get() { try scratch.write(name, bytes) }
    return scratch
  }
  private static func folder(
    today: String = settings(3), new: String = settings(1_000), and texts: [String: String] = [:]
  ) throws -> Scratch {
    let files = ["fleet.json5": fleet, "today.json": today, "new.json": new, "incidents.json5": incidents]
    return try Scratch(files.merging(texts) { $1 })
  }
  /// The journal of the decision that most tests ask for, which is made once for all of them.
  private static let runs = Result {
    let scratch = try folder()
    try scratch.run(command + worthIt + ["-q"], code: 0)
    return try scratch.files().filter { $0.key.hasPrefix("journal/") }
  }
  private static let command = asked() + ["--journal", "journal"]
  /// By the short case alone.
  private static func asked(
    _ fleet: String = "fleet.json5", today: String = "today.json", proposed: String? = "new.json"
  ) -> [String] {
    ["decide", fleet, "--today", today, "--incidents", "incidents.json5", "--only-incidents"]
      + (proposed.map { ["--proposed", $0] } ?? [])
  }
  /// Events that are kept take their time and requests.
  private static let worthIt = ["--allow", "endpoint", "--allow", "recovery", "--allow", "attempts"]

  @Test("says publish where the proposed Settings keep what today's destroy, and not the reverse")
  func publish() throws {
    let scratch = try scratch()
    let priced = try scratch.run(Self.command)
    #expect(priced.code == 1 && priced.standardOutput.hasPrefix("AT A PRICE: new.json ("), "\(priced)")
    #expect(priced.story("worse") == [] && !priced.story("price").isEmpty, "\(priced)")
    #expect(
      priced.story("next").map { $0.hasSuffix(" --proposed new.json \(Self.worthIt.joined(separator: " "))") }
        == [true], "\(priced)")
    let output = try scratch.run(Self.command + Self.worthIt + ["--out", "out", "--verbose"], code: 0)
    #expect(output.standardOutput.contains("\n\nPUBLISH new.json ("))
    #expect(
      output.story("better").contains { $0.hasPrefix("\"friday\": 0 events lost (today ") }, "\(output)")
    #expect(output.standardOutput.contains("rateLimitConfig.maxRetryCount  3      1000      all"))
    let tables = output.standardOutput.split(separator: "\n").drop { !$0.hasPrefix("case ") }
    #expect(tables.count >= 9 && tables.allSatisfy { $0.count <= 110 }, "\(tables)")
    // Numbers beside the words, for programs. A figure for people may have a comma.
    try scratch.write("plain.csv", scratch.text("out/decision.csv").replacing(/"[^"]*"/, with: ""))
    let rows = try scratch.records("plain.csv")
    let lost = try #require(rows.first { $0.values.contains("lost_or_blocked_events") })
    func number(_ column: String) -> Double { lost[column].flatMap { Double($0) } ?? .nan }
    #expect(number("today_mean") > 0 && number("proposed_mean") == 0 && lost["unit"] == "events")
    #expect(number("difference_high") < -100)
    try scratch.run("check out/suite/friday.json5", code: 0)
    let back = try scratch.run(
      Self.asked(today: "new.json", proposed: "today.json") + ["--journal", "journal"])
    let lines = back.standardOutput.split(separator: "\n")
    #expect(back.code == 1 && lines[0].hasPrefix("DO NOT PUBLISH today.json ("), "\(back)")
    #expect(lines[1].hasPrefix("worse ") && lines[1].contains(" events lost (today 0)"), "\(back)")
    #expect(back.story("lost").contains { $0.contains("backoffConfig.maxRetryCount 3") }, "\(back)")
    back.tells("fails", "\"friday\": 6 of 6 ")
    #expect(back.standardError == "")
  }

  @Test(
    "what a file of today does by itself is told below the answer, and so is a key that nobody reads",
    arguments: [
      (
        settings(3, #""statusCodeOverrides": { "429": "drop" },"#), "breaks",
        "segment-swift loses data (today's file): backoffConfig.statusCodeOverrides.429"
      ),
      (settings(3, #""jitterStrategy": "none","#), "unread", "backoffConfig.jitterStrategy: "),
      (
        settings(3, #""maxRetryCont": 3,"#), "unread",
        "backoffConfig.maxRetryCont (did you mean backoffConfig.maxRetryCount?): "
      ),
      (
        #"{ "integrations": { "Segment.io": { "apiKey": "x" } } }"#, "breaks",
        "segment-swift runs without Settings (today's file): there is no httpConfig: "
      ),
    ])
  func harms(today: String, subject: String, finding: String) throws {
    try Self.folder(today: today).run(Self.command + ["--budget", "1"]).tells(subject, finding)
  }

  @Test(
    """
    A proposed file that ends the app, or that the client runs without, is not to be published whatever the runs say: the first \
    line below the answer says so, and the exit code
    """,
    arguments: [
      (#""jitterPercent": 0,"#, "segment-swift ends the app: backoffConfig.jitterPercent: 0 "),
      (#""jitterPercent": "10","#, "segment-swift runs without Settings: backoffConfig.jitterPercent: "),
    ])
  func breaks(value: String, harm: String) throws {
    let scratch = try scratch()
    try scratch.write("today.json", Self.settings(3, #""jitterPercent": 10,"#))
    try scratch.write("new.json", Self.settings(1_000, value))
    let unrun = try scratch.run(Self.command + Self.worthIt)
    let lines = unrun.standardOutput.split(separator: "\n")
    #expect(unrun.code == 1 && lines[0].hasPrefix("DO NOT PUBLISH new.json ("), "\(unrun)")
    #expect(lines[1].hasPrefix("breaks  \(harm)"), "\(unrun)")
    #expect(unrun.story("note").contains { $0.contains("--anyway") }, "\(unrun)")
    let output = try scratch.run(Self.command + Self.worthIt + ["--json", "--out", "out", "--anyway"])
    let document = try output.json
    #expect(output.code == 1 && document["decision"] == .string("do not publish"), "\(output)")
    let first = document["story"]?.elements.first
    #expect(
      first?["subject"] == .string("breaks") && first?["text"]?.text?.hasPrefix(harm) == true, "\(output)")
    // What check goes on with are today's Settings.
    #expect(try scratch.text("out/suite/friday.json5").hasPrefix("// \"friday\", with today's Settings"))
  }

  @Test(
    "what no run need show is refused without one, and --anyway makes them",
    arguments: [
      (#""baseBackoffInterval": 0.5"#, #""baseBackoffInterval": "5s""#),
      (#""maxBackoffInterval": 300"#, #""maxBackoffInterval": 0.2"#),
      (#""maxRetryCount": 1000, "base"#, #""maxRetryCount": 0, "base"#),
    ])
  func refusedUnrun(old: String, new: String) throws {
    let settings = Self.settings(1_000)
    let scratch = try Self.folder(today: settings, new: settings.replacing(old, with: new))
    let command = Self.command + ["--json", "--budget", "1", "--out", "out"]
    let refused = try scratch.run(command, code: 1).json
    #expect(refused["decision"]?.text == "do not publish" && refused["runs"]?.number == 0)
    #expect(try scratch.run(command + ["--anyway"]).json["runs"]?.number ?? 0 >= 12)
  }

  @Test(
    "where no client reads what changes, today's Settings stay: exit code 0, and such a key is a finding",
    arguments: ["", #""jitterStrategy": "full","#])
  func kept(key: String) throws {
    let output = try Self.folder(new: Self.settings(3, key)).run(Self.command + ["--json"])
    let document = try output.json
    #expect(output.code == 0 && document["decision"]?.text == "keep today's", "\(output)")
    let unread = document["story"]?.elements.filter { $0["subject"] == .string("unread") }
      .compactMap { $0["text"]?.text }
    #expect(
      unread?.map { $0.hasPrefix("backoffConfig.jitterStrategy: ") } == (key.isEmpty ? [] : [true]),
      "\(output)")
    #expect(document["runs"]?.number == 0, "\(output)")
  }

  @Test("a value that every reader clamps is refused; one that a client takes is not")
  func clamped() throws {
    let scratch = try Self.folder(today: Self.settings(100))
    func isRun(_ client: String) throws -> Bool {
      try scratch.write("fleet.json5", Self.fleet.replacing("segment-swift", with: client))
      return try scratch.run(Self.command + ["--budget", "1", "--json"]).json["runs"]?.number ?? 0 > 0
    }
    // analytics-react-native takes 100 for 1000, config-validation.ts:42-48.
    #expect(try !isRun("segment-react-native"))
    #expect(try isRun("segment-swift"))
  }

  @Test("a value of today that ends the app is not put back; the file that mends it is told")
  func mends() throws {
    let scratch = try Self.folder(
      today: Self.settings(1_000, #""jitterPercent": 0,"#), new: Self.settings(3, #""jitterPercent": 10,"#))
    let output = try scratch.run(Self.command + ["--out", "out"], code: 1)
    let breaks = try #require(output.story("breaks").first, "\(output)")
    #expect(breaks.contains("(today's file): backoffConfig.jitterPercent: 0 "), "\(output)")
    #expect(breaks.contains("; the proposed file mends that: publish that key "), "\(output)")
    let written = try? scratch.text("out/without-cause.json")
    #expect(!(written ?? "").contains(#""jitterPercent": 0"#), "\(output)")
  }

  @Test("the scenarios that a decision leaves have the whole fleet and its scale")
  func scaledSuite() throws {
    let scratch = try Self.folder(and: [
      "scaled.json5": Self.fleet.replacing("format: 1", with: #"format: 1, scale: "1:2""#)
        .replacing("20/s", with: "100/s").replacing("devices: 30", with: "devices: 200")
    ])
    let output = try scratch.run(
      Self.asked("scaled.json5") + ["--out", "out", "--budget", "1", "--scale", "1:2", "--verbose"])
    #expect(output.standardOutput.contains("100 devices (1:2 of 200)"), "\(output)")
    #expect(output.standardOutput.contains(" new.json (1:2 of 200 devices, 1 case, "), "\(output)")
    let written = try scratch.text("out/suite/friday.json5")
    #expect(written.contains(#""scale": "1:2""#) && written.contains(#""devices": 200"#), "\(written)")
    try scratch.run("check out/suite/friday.json5", code: 0)
  }

  @Test("the next command has the options of this one, as a shell takes them")
  func nextCommand() throws {
    let scratch = try Self.folder(and: ["new one.json": Self.settings(1_000)])
    let output = try scratch.run(
      Self.asked(proposed: "new one.json") + [
        "--set", "fleet.*.devices=29", "--seed", "2", "--allow", "endpoint", "--budget", "1",
      ])
    #expect(
      output.story("next") == [
        "if what is worse is accepted: fleetsim decide fleet.json5 --today today.json --seed 2 "
          + "--set 'fleet.*.devices=29' --incidents incidents.json5 --only-incidents --allow endpoint "
          + "--proposed 'new one.json' --allow recovery --allow attempts"
      ], "\(output)")
  }

  @Test("of several changed keys the harmful one is named, and Settings without it are written")
  func cause() throws {
    let today = Self.settings(1_000)
    let fewer = today.replacing(#"1000, "base"#, with: #"3, "base"#)
    let scratch = try Self.folder(today: today, new: fewer.replacing("0.5", with: "0.6"))
    let output = try scratch.run(Self.command + ["--out", "out"], code: 1)
    output.tells("cause", "backoffConfig.maxRetryCount: with today's value ")
    let next = output.story("next").last ?? ""
    #expect(next.hasPrefix("set backoffConfig.maxRetryCount to 1000 in new.json: "), "\(output)")
    let written = try scratch.text("out/without-cause.json")
    #expect(written.split(separator: "\"maxRetryCount\": 1000").count == 3, "\(written)")
    #expect(written.contains("\"baseBackoffInterval\": 0.6"), "\(written)")
  }

  @Test("a search raises a limit that loses events, also where one client of the fleet clamps it")
  func search() throws {
    let rn = #"{ name: "rn", devices: 20, events: "2/min", client: "segment-react-native" }, "#
    let scratch = try Self.folder(
      today: Self.settings(3).replacing("300", with: "60"),
      and: ["two.json5": Self.fleet.replacing("fleet: [", with: "fleet: [" + rn)])
    let output = try scratch.run(Self.asked("two.json5", proposed: nil) + ["--out", "out", "--budget", "1"])
    #expect(output.code == 0 && output.standardOutput.hasPrefix("KEEP TODAY'S SETTINGS ("), "\(output)")
    #expect(
      output.story("better").contains { $0.hasPrefix("\"friday\": 0 events lost (today ") }, "\(output)")
    // What is kept takes its time and requests; whether that is worth it a person decides.
    #expect(
      output.story("next").map {
        $0.hasSuffix(" --proposed out/settings.json --allow recovery --allow attempts")
      } == [true], "\(output)")
    let count = /"maxRetryCount": (300|1000)/
    #expect(try scratch.text("out/settings.json").contains(count))
  }

  @Test("closed apps keep nobody from a recovery")
  func recovery() throws {
    let scratch = try scratch()
    let sessions = #"sessions: { share: "25%", length: { exponential: "3m" } }, flush: {"#
    try scratch.write("closed.json5", Self.fleet.replacing("flush: {", with: sessions))
    let output = try scratch.run(Self.asked("closed.json5") + ["--budget", "1", "--anyway", "--verbose"])
    output.tells("possible", "\"friday\": ")
    #expect(!output.standardOutput.contains("never"), "\(output)")
  }

  @Test("a budget that is too small ends with exit code 2 and the number of runs that are missing")
  func undecided() throws {
    let scratch = try scratch()
    let command = Self.command + Self.worthIt + ["--budget", "1"]
    let brief = try scratch.run(command + ["-q"])
    #expect(brief.code == 2 && brief.standardError == "", "\(brief)")
    #expect(
      brief.standardOutput.split(separator: "\n").map { $0.hasPrefix("NOT DECIDED: new.json (") } == [true])
    let output = try scratch.run(command)
    #expect(output.standardOutput.hasPrefix(brief.standardOutput), "\(output)")
    // A failure in 5 % of the runs is excluded by 59 without one; there are 6.
    #expect(
      output.story("open").map {
        $0.hasPrefix("nothing more fails so far; ") && $0.hasSuffix(" 53 more runs")
      } == [true], "\(output)")
    #expect(
      output.story("next").map { $0.hasSuffix("--proposed new.json") } == [true],
      "the default budget would do: \(output)")
    let document = try scratch.run(command + ["--json"]).json
    #expect(document["decision"] == .string("needs more runs") && document["missingRuns"] == .number(53))
  }

  @Test("where nothing is worse and nothing better, that is the reason")
  func nothingBetter() throws {
    let today = Self.settings(1_000)
    let output = try Self.folder(today: today, new: today.replacing("0.5", with: "0.6"))
      .run(Self.command, code: 1)
    #expect(output.standardOutput.hasPrefix("DO NOT PUBLISH new.json ("), "\(output)")
    output.tells("reason", "nothing is better")
    for subject in ["next", "worse", "better"] { output.tells(subject) }
  }

  @Test("Markdown goes to a file, to standard output alone, or is added to the summary of a job")
  func markdown() throws {
    let scratch = try scratch()
    let command = Self.command + Self.worthIt + ["--budget", "1"]
    let printed = try scratch.run(command + ["--markdown", "-"]).standardOutput
    let heading = "## fleetsim decide: NOT DECIDED: new.json ("
    #expect(printed.hasPrefix(heading) && printed.contains("\n| case | figure | today | "), "\(printed)")
    #expect(printed.contains(/\n- \*\*open\*\* nothing more fails .* 53 more runs\n/), "\(printed)")
    try scratch.run(command + ["--markdown", "answer.md", "-q"])
    let text = try scratch.text("answer.md")
    #expect(text == printed)
    try scratch.write("summary.md", "before\n")
    let summary = scratch.url.appending(path: "summary.md").path
    let added = try scratch.run(
      command + ["--markdown", summary, "-q"], variables: ["GITHUB_STEP_SUMMARY": summary])
    #expect(try scratch.text("summary.md") == "before\n" + text, "\(added)")
  }
}
