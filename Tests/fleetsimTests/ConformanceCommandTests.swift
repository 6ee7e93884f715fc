import Foundation
import Testing

@Suite("Conformance command")
struct ConformanceCommandTests {
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
