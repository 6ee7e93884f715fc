import Testing

/// `fleetsim run --require`.
@Suite("Required limits")
struct RequirementCommandTests {
  private static let kept = ["--require", "created_events > 0"]
  private static let broken = ["--require", "recovery <= 1s"]

  private func run(_ options: [String], code: Int32) throws -> (output: Tool.Output, Scratch) {
    let scratch = try Scratch.with()
    return (try scratch.run("run s.json5 --budget 60k", options, code: code), scratch)
  }

  @Test("a line for each limit stands below the verdict; the exit code says if all are kept")
  func lines() throws {
    let kept = try run(Self.kept, code: 0).output
    kept.tells("required", "✓ created_events > 0: ")
    let more = (1...6).flatMap { ["--require", "created_events > \($0)"] }
    for (options, subject) in [([], "required  "), (["--quiet"], "")] {
      let broken = try run(Self.kept + more + Self.broken + options, code: 1).output
      #expect(broken.standardError == "")
      // As many as there are, before whatever else there is to say.
      let lines = broken.standardOutput.split(separator: "\n").dropFirst().prefix(8)
      let limits = (0...6).map { "✓ created_events > \($0): " } + ["✗ recovery <= 1s: "]
      #expect(lines.count == 8 && zip(lines, limits).allSatisfy { $0.hasPrefix(subject + $1) }, "\(broken)")
    }
  }

  @Test("the document and the page have them too")
  func others() throws {
    let (output, scratch) = try run(Self.broken + ["--json", "--out", "o"], code: 1)
    #expect(output.standardError.contains("Not met: recovery <= 1s."))
    let requirements = try output.json["requirements"]?.elements ?? []
    #expect(requirements.map { $0["requirement"]?.text } == ["recovery <= 1s"])
    #expect(requirements.map { $0["isMet"] } == [.bool(false)])
    let page = try scratch.text("o/report.html")
    #expect(page.contains("<dt>required</dt>") && page.contains("✗ recovery &lt;= 1s: "))
  }
}
