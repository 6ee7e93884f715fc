import Foundation
import Testing

@Suite("Conformance command")
struct ConformanceCommandTests {
  private func vector(wait: Int) -> String {
    """
    {"format": 1, "title": "mine", "cases": [
      {"id": "mine", "requirement": "S4", "says": "Retry-After is honoured",
       "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {}}},
       "given": {"batches": ["a"]},
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
    "a shipped client deviates as expected, and each reason is shown",
    arguments: ["segment-swift", "segment-kotlin", "segment-react-native"])
  func shipped(client: String) throws {
    let words = ["conformance", "--client", client]
    let output = try Scratch().run(words, code: 0, says: "").standardOutput
    let heading = "\nExpected deviations of \(client):\n"
    let lines = output.components(separatedBy: heading).last?.split(separator: "\n") ?? []
    let cases = try Scratch().run(words + ["--json"]).json["clients"]?.elements[0]["cases"]?.elements ?? []
    let deviating = cases.filter { $0["level"]?.text == "deviates" }.map { one in
      ["requirement", "id", "reason"].compactMap { one[$0]?.text }.joined(separator: " ")
    }
    let told = lines.map { $0.split(separator: " ").joined(separator: " ") }
    #expect(!deviating.isEmpty && told.sorted() == deviating.sorted())
  }

  @Test("several files run one after the other; a failure is 1, with the line")
  func files() throws {
    let scratch = try Scratch(["good.json": vector(wait: 20), "bad.json": vector(wait: 30)])
    let good = try scratch.run("conformance good.json", code: 0).standardOutput
    let row = try #require(good.split(separator: "\n").first { $0.hasPrefix("S4 ") })
    #expect(good.hasPrefix("tapi-document: 1 case\n"))
    #expect(row.split(separator: " ").suffix(3) == ["1", "0", "0"], "\(good)")
    let both = try scratch.run("conformance good.json bad.json", code: 1)
    #expect(both.standardError == "bad.json:7: mine: outcome: expected pause of 30 s, got pause of 20 s\n")
    #expect(both.standardOutput.contains("1 passed, 1 failed, 0 deviate as expected"))
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
