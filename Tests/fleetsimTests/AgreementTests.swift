import Foundation
import TestSupport
import Testing

@Suite("Agreement of decide, check, tune and compare")
struct AgreementTests {
  /// Settings of analytics-swift: one key of `backoffConfig` is not as in `standard`.
  private static func settings(_ key: String, _ value: String) -> String {
    let standard = [
      ("maxRetryCount", "100"), ("baseBackoffInterval", "0.5"), ("maxBackoffInterval", "300"),
      ("jitterPercent", "10"),
    ]
    let keys = standard.map { "\"\($0.0)\": \($0.0 == key ? value : $0.1)" }.joined(separator: ", ")
    return
      #"{ "httpConfig": { "rateLimitConfig": { "enabled": true }, "backoffConfig": { "enabled": true, \#(keys) } } }"#
  }

  /// A key, today's value and the proposed one.
  static let pairs = [
    ("maxRetryCount", "100", "3"), ("maxRetryCount", "3", "100"), ("maxBackoffInterval", "300", "1200"),
    ("maxBackoffInterval", "300", "60"), ("baseBackoffInterval", "0.5", "30"),
    ("baseBackoffInterval", "0.5", "0.6"), ("jitterPercent", "10", "50"), ("jitterPercent", "10", "0"),
    ("baseBackoffInterval", "0.5", "600"), ("maxRetryCount", "100", "\"5\""),
  ]

  @Test(
    "what decide calls worse or refuses fails the check and is not recommended, and nothing else does",
    arguments: pairs)
  func agree(key: String, today: String, proposed: String) throws {
    let incidents = #"[{ kind: "outage", at: "5m", for: "10m", status: 503 }]"#
    let fleet = DecideCommandTests.fleet
    let scratch = try Scratch([
      "fleet.json5": fleet, "incidents.json5": "{ friday: \(incidents) }",
      "own.json5": fleet.replacing("network:", with: "settings: \"today.json\", network:")
        .replacing("tapi: {", with: "tapi: { incidents: \(incidents),"),
      "today.json": Self.settings(key, today), "new.json": Self.settings(key, proposed),
    ])
    let decide =
      "decide fleet.json5 --today today.json --proposed new.json --incidents incidents.json5 --only-incidents "
      + "--out out" + (TestDepth.isExhaustive ? "" : " --budget 1")
    let decision = try found(decide, scratch)
    let isRefusedUnrun = decision.document["runs"]?.number == 0
    // The suite of a decision by runs has the baseline of today's Settings.
    let byRuns = isRefusedUnrun ? try found(decide + " --anyway", scratch) : decision
    let isWorse = byRuns.document["criteria"]?.elements.contains { $0["state"]?.text == "worse" } ?? false
    let isPublished = decision.document["decision"]?.text == "publish"
    #expect(decision.code == (isPublished ? 0 : isWorse || isRefusedUnrun ? 1 : decision.code))
    if !isPublished {
      let check = try scratch.run("check out/suite/friday.json5 --settings new.json")
      #expect(check.code == (isWorse || isRefusedUnrun ? 1 : 0), "\(check) \(byRuns.document["criteria"]!)")
    }
    // A value that no client takes can't be searched.
    guard !proposed.hasPrefix("\""), TestDepth.isExhaustive || key == "baseBackoffInterval" else { return }
    let (code, document) = try found(
      "tune own.json5 --search settings.backoffConfig.\(key)=\(today),\(proposed) --seeds 3 --out tuned",
      scratch)
    let isRecommended = document["isRecommended"] == .bool(true)
    #expect(code == 0 && !(isRecommended && (isWorse || isRefusedUnrun)), "\(document)")
    #expect(isRecommended == (document["next"]?.text != nil))
  }

  /// Phones, open 2 % of the time, whose batches wait in closed apps for longer than a limit of hours.
  private static func closing(_ more: String, client: String = "segment-kotlin") -> String {
    """
    { format: 1, seed: 1, duration: "3h", interval: "10s", network: { latency: "100ms" },
      settings: "today.json",
      tapi: { bucket: { capacity: "10/s", burst: 20 }, overload: { status: 429, retryAfter: "20s" }, \(more) },
      fleet: [{ name: "phones", devices: 1500, client: "\(client)", events: "60/day",
        sessions: { share: "2%", length: { exponential: "3m" } }, flush: { count: 20, interval: "30s" } }] }
    """
  }
  private static let outage = #"[{ kind: "outage", at: "1h", for: "20m", status: 503 }]"#
  private static let age = "maxTotalBackoffDuration"

  /// Runs a command, and reads its document.
  private func found(_ line: String, _ scratch: Scratch) throws -> (code: Int32, document: JSON) {
    let output = try scratch.run(line + " --json")
    return (output.code, try output.json)
  }

  /// Two of a limit of twelve hours in CI, and otherwise one of an hour, which loses most.
  private static let limits = [
    ("3600", "604800", true), ("43200", "604800", true), ("604800", "43200", false),
  ]
  .prefix(TestDepth.cases(1, exhaustively: 3))

  @Test("an event that is late and not lost is no harm to any of them", arguments: limits)
  func kept(today: String, proposed: String, isBetter: Bool) throws {
    func settings(_ age: String) -> String {
      Self.settings("maxRetryCount", "100, \"\(Self.age)\": \(age)")
    }
    let scratch = try Scratch([
      "fleet.json5": Self.closing(""), "own.json5": Self.closing("incidents: \(Self.outage)"),
      "friday.json5": "{ friday: \(Self.outage) }", "today.json": settings(today),
      "new.json": settings(proposed),
    ])
    let decision = try found(
      "decide fleet.json5 --proposed new.json --incidents friday.json5 --only-incidents", scratch)
    #expect(decision.document["decision"]?.text == (isBetter ? "publish" : "do not publish"))
    #expect(decision.code == (isBetter ? 0 : 1), "\(decision.document["criteria"]!)")
    try scratch.run("check own.json5 --record --seeds 30", code: 0)
    let check = try found("check own.json5 --settings new.json", scratch)
    #expect(check.code == decision.code, "\(check.document)")
    let compared = try found("compare own.json5 --settings today.json,new.json --seeds 30", scratch)
    let best = compared.document["variants"]?.elements.map { $0["isBest"] }
    #expect(best == [.bool(!isBetter), .bool(isBetter)])
    guard TestDepth.isExhaustive || today == "3600" else { return }
    let tuned = try found(
      "tune own.json5 --seeds 3 --search settings.backoffConfig.\(Self.age)=\(today),\(proposed)",
      scratch)
    #expect(tuned.document["isRecommended"] == .bool(isBetter), "\(tuned.document["verdict"]!)")
  }

  @Test(
    "Settings that reach nobody are worth no run, pass the check and are not searched",
    arguments: ["100, \"maxTotalBackoffDuration\": 60", "0"])
  func unreached(proposed: String) throws {
    let own = Self.closing("incidents: \(Self.outage)", client: "mine.json5").replacing(
      #"settings: "today.json","#, with: "")
    let scratch = try Scratch([
      "mine.json5": InitTests.mine, "own.json5": own, "today.json": Self.settings("maxRetryCount", "100"),
      "new.json": Self.settings("maxRetryCount", proposed),
    ])
    for search in ["", " --proposed new.json"] {
      let decision = try found("decide own.json5 --today today.json" + search, scratch)
      #expect(decision.code == 0 && decision.document["decision"]?.text == "keep today's")
      #expect(decision.document["runs"]?.number == 0)
    }
    try scratch.run("check own.json5 --record --seeds 2", code: 0)
    let check = try scratch.run("check own.json5 --settings new.json", code: 0)
    #expect(
      check.standardError.hasSuffix("new.json reaches no client: phones (mine) fetches no Settings\n"),
      "\(check)")
    try scratch.run("tune own.json5 --search settings.backoffConfig.maxRetryCount=3,100", code: 64)
    // Beside a client that fetches them they reach that one alone.
    let two = own.replacing(
      "fleet: [",
      with: #"fleet: [{ name: "swift", devices: 10, client: "segment-swift", events: "60/day" }, "#)
    try scratch.write("two.json5", two)
    let mixed = try scratch.run(
      "decide two.json5 --today today.json --proposed new.json --budget 1 --verbose")
    #expect(mixed.standardOutput.contains(" 1 of 2 clients\n"), "\(mixed)")
  }
}
