import Foundation
import TestSupport
import Testing

/// `decide`, `check` and `tune` on the same two Settings files.
@Suite("Agreement of decide, check and tune")
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
    let scratch = try Scratch()
    let incidents = #"[{ kind: "outage", at: "5m", for: "10m", status: 503 }]"#
    try scratch.write("fleet.json5", DecideCommandTests.fleet)
    try scratch.write(
      "own.json5",
      DecideCommandTests.fleet.replacing("network:", with: "settings: \"today.json\", network:")
        .replacing("tapi: {", with: "tapi: { incidents: \(incidents),"))
    try scratch.write("incidents.json5", "{ friday: \(incidents) }")
    try scratch.write("today.json", Self.settings(key, today))
    try scratch.write("new.json", Self.settings(key, proposed))
    func decided(_ more: String...) throws -> (code: Int32, document: JSON) {
      let output = try Tool.run(
        [
          "decide", "fleet.json5", "--today", "today.json", "--proposed", "new.json", "--incidents",
          "incidents.json5", "--only-incidents", "--json", "--out", "out",
        ] + (TestDepth.isExhaustive ? [] : ["--budget", "1"]) + more, in: scratch.url)
      return (output.code, try JSON(text: output.standardOutput))
    }
    let decision = try decided()
    let isRefusedUnrun = decision.document["runs"]?.number == 0
    // The suite of a decision by runs has the baseline of today's Settings.
    let byRuns = isRefusedUnrun ? try decided("--anyway") : decision
    let isWorse = byRuns.document["criteria"]?.elements.contains { $0["state"]?.text == "worse" } ?? false
    let isPublished = decision.document["decision"]?.text == "publish"
    #expect(decision.code == (isPublished ? 0 : isWorse || isRefusedUnrun ? 1 : decision.code))
    if !isPublished {
      let check = try Tool.run(
        ["check", "out/suite/friday.json5", "--settings", "new.json"], in: scratch.url)
      #expect(check.code == (isWorse || isRefusedUnrun ? 1 : 0), "\(check) \(byRuns.document["criteria"]!)")
    }
    // A value that no client takes can't be searched.
    guard !proposed.hasPrefix("\""), TestDepth.isExhaustive || key == "baseBackoffInterval" else { return }
    let tuned = try Tool.run(
      [
        "tune", "own.json5", "--search", "settings.backoffConfig.\(key)=\(today),\(proposed)", "--seeds", "3",
        "--fresh", "15", "--json", "--out", "tuned",
      ], in: scratch.url)
    let document = try JSON(text: tuned.standardOutput)
    let isRecommended = document["isRecommended"] == .bool(true)
    #expect(tuned.code == 0 && !(isRecommended && (isWorse || isRefusedUnrun)), "\(tuned)")
    #expect(isRecommended == (document["next"]?.text != nil))
  }
}
