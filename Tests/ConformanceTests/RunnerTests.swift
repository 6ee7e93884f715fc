import Conformance
import Testing

/// The runner itself: what it says about vectors that do not hold, and about files that are none.
@Suite("Runner")
struct RunnerTests {
  private func run(_ steps: String, _ more: String = "", client: String = "tapi-document") throws
    -> ConformanceReport
  {
    let text = """
      {"format": 1, "title": "t", "cases": [
        {"id": "x", "requirement": "S4", "says": "x",
         "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {}}},
         "given": {"batches": ["a", "b"]}, \(more)
         "steps": [
      \(steps)
      ]}]}
      """
    let client = try #require(ConformanceClient(name: client))
    return ConformanceRunner(client: client).run([try VectorFile(text: text, name: "f.json")])
  }

  @Test("a mismatch names the line, what was expected and what came")
  func mismatch() throws {
    let steps = """
      {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 0}]}},
      {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "9"}, "expect": {
        "outcome": {"pause": 10},
        "waitUntil": [11, 12],
        "state": "READY"}}
      """
    #expect(
      try run(steps).failures == [
        "f.json:8: x: outcome: expected pause of 10 s, got pause of 9 s",
        "f.json:10: x: state: expected READY, got WAITING",
        "f.json:9: x: waitUntil: expected 11 s to 12 s, got 10 s",
      ])
  }

  @Test("what is not listed must not be sent or dropped")
  func complete() throws {
    #expect(
      try run(#"{"at": 0, "trigger": "manual"}"#).failures == [
        "f.json:6: x: sends: expected none, got a (X-Retry-Count 0)"
      ])
    #expect(
      try run(#"{"at": 0, "trigger": "manual", "expect": {"sends": ["b"], "drops": {"a": "age"}}}"#).failures
        == [
          "f.json:6: x: sends: expected b, got a (X-Retry-Count 0)",
          "f.json:6: x: drops: expected a (age), got none",
        ])
  }

  @Test("an answer for a batch that is not under way is the case's fault, and is said")
  func impossible() throws {
    let report = try run(#"{"at": 0, "answer": {"batch": "b", "status": 200}}"#)
    #expect(report.failures == ["f.json:6: x: an answer for b, which is not being uploaded"])
  }

  @Test("a range that only some draws meet does not pass")
  func everyDraw() throws {
    let steps = """
      {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
      {"at": 1, "answer": {"batch": "a", "status": 503}, "expect": {
        "sends": ["b"], "outcome": {"retry": [0.5, 0.53]}}}
      """
    #expect(
      try run(steps).failures == [
        "f.json:8: x: outcome: expected retry after 0.5 s to 0.53 s, got retry after 0.55 s"
      ])
  }

  @Test("a declared deviation that does not occur is a failure, and so is one of another kind")
  func deviations() throws {
    let steps = #"{"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 0}]}}"#
    let reason = #""deviates": {"tapi-document": "it was thought so"},"#
    #expect(
      try run(steps, reason).failures == [
        "f.json:4: x: tapi-document is said to deviate (it was thought so) and does not"
      ])
    let other = """
      "deviates": {"segment-kotlin": {"why": "no header", "steps": [
        {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}]}},
      """
    #expect(
      try run(steps, other, client: "segment-kotlin").failures == [
        "f.json:5: x: sends: expected a (X-Retry-Count 1), got a (X-Retry-Count absent)"
      ])
    let right = other.replacing("1}]", with: "null}]")
    let report = try run(steps, right, client: "segment-kotlin")
    #expect(report.failures == [])
    #expect(report.deviations.map(\.reason) == ["no header"])
    #expect(try run(steps, right).rows.map { [$0.passed, $0.failed, $0.deviates] } == [[1, 0, 0]])
  }

  @Test("Settings are compared by value and repaired path")
  func settings() throws {
    let more = """
      "settings": {"httpConfig": {"backoffConfig": {"jitterPercent": 900}}},
      "repairs": [], "effective": {"backoffConfig": {"jitterPercent": 90}},
      """
    let text = """
      {"format": 1, "cases": [{"id": "x", "requirement": "S14", "says": "x", \(more) "steps": []}]}
      """
    let client = try #require(ConformanceClient(name: "tapi-document"))
    let report = ConformanceRunner(client: client).run([try VectorFile(text: text, name: "f.json")])
    #expect(
      report.failures == [
        "f.json:2: x: repairs: expected none, got httpConfig.backoffConfig.jitterPercent",
        "f.json:2: x: effective backoffConfig.jitterPercent: expected 90, got 100",
      ])
  }
}
