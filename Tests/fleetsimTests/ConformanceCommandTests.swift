import Foundation
import Testing

/// `fleetsim conformance` through the real process.
@Suite("Conformance command")
struct ConformanceCommandTests {
  private func vector(wait: Int, more: String = "") -> String {
    """
    {"format": 1, "title": "mine", "cases": [
      {"id": "mine", "requirement": "S4", "says": "Retry-After is honoured",
       "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {}}},
       "given": {"batches": ["a"]}, \(more)
       "steps": [
        {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
        {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "20"}, "expect": {"outcome": {"pause": \(wait)}}}
       ]}
    ]}
    """
  }

  @Test("the document's client passes every built-in vector, with a row for each requirement")
  func document() throws {
    let output = try Scratch().run("conformance", code: 0, says: "")
    #expect(output.standardOutput.hasPrefix("tapi-document: "))
    #expect(output.standardOutput.contains(" passed, 0 failed, 0 deviate as expected\n"))
    let lines = output.standardOutput.split(separator: "\n")
    for number in 2...18 { #expect(lines.contains { $0.hasPrefix("S\(number) ") }, "S\(number)") }
    #expect(!output.standardOutput.contains("Expected deviations"))
    for line in lines { #expect(line.count <= 100, "\(line)") }
    try Scratch().run("conformance --client datafly", code: 0)
  }

  @Test(
    "a shipped client deviates as expected, and the reasons are shown",
    arguments: [
      ("segment-swift", "clamps backoff plus jitter to the cap"),
      ("segment-kotlin", "clamps jitterPercent to 50"),
      ("segment-react-native", "waits 60 s after a 429"),
    ])
  func shipped(client: String, reason: String) throws {
    let output = try Scratch().run("conformance --client \(client)", code: 0, says: "")
    #expect(output.standardOutput.contains("Expected deviations of \(client):\n"))
    #expect(output.standardOutput.contains(reason))
  }

  @Test("several files run one after the other; a failure is 1, with the line")
  func files() throws {
    let scratch = try Scratch(["good.json": vector(wait: 20), "bad.json": vector(wait: 30)])
    let good = try scratch.run("conformance good.json", code: 0)
    #expect(
      good.standardOutput == """
        tapi-document: 1 case

        requirement  what it says                      passed  failed  deviates
        S4           Retry-After: forms, cap, absence       1       0         0

        1 passed, 0 failed, 0 deviate as expected

        """)
    let both = try scratch.run("conformance good.json bad.json", code: 1)
    #expect(both.standardError == "bad.json:7: mine: outcome: expected pause of 30 s, got pause of 20 s\n")
    #expect(both.standardOutput.contains("1 passed, 1 failed, 0 deviate as expected"))
  }

  @Test("a deviation that is declared and does not occur is a failure")
  func undeviating() throws {
    let deviating = vector(wait: 20, more: #""deviates": {"segment-swift": "of old"},"#)
    let scratch = try Scratch(["v.json": deviating])
    try scratch.run("conformance v.json", code: 0)
    let output = try scratch.run("conformance v.json --client segment-swift", code: 1)
    #expect(
      output.standardError == "v.json:4: mine: segment-swift is said to deviate (of old) and does not\n")
  }

  @Test("bad files are 65, all problems at once")
  func badInput() throws {
    let wrong = vector(wait: 20).replacing("manual", with: "manuel")
    let bad = try Scratch(["one.json": wrong, "two.json": "{"]).run("conformance one.json two.json", code: 65)
    let lines = bad.standardError.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[0].hasPrefix("one.json:6: cases[0] mine.steps[0].trigger: "))
    #expect(lines[1].hasPrefix("two.json:1:2: "), "\(bad.standardError)")
  }

  @Test("a binary moved elsewhere has the vectors with it")
  func moved() throws {
    let scratch = try Scratch()
    let copy = scratch.url.appendingPathComponent("tool")
    // Copied by another process: a child of this one would hold it open for writing, and then it can't be run.
    try Process.run(URL(filePath: "/bin/cp"), arguments: [Tool.executable.path, copy.path]).waitUntilExit()
    let script = "cd '\(scratch.url.path)' && exec ./tool conformance >/dev/null"
    let process = try Process.run(URL(filePath: "/bin/sh"), arguments: ["-c", script])
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }
}
