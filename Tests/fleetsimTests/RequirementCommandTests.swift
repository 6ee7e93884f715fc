import Testing

@Suite("Required limits")
struct RequirementCommandTests {
  private func run(_ options: [String], code: Int32) throws -> (output: Tool.Output, Scratch) {
    let scratch = try Scratch.with()
    return (try scratch.run("run s.json5 --budget 60k", options, code: code), scratch)
  }

  @Test("a line for each limit stands below the verdict; the exit code says if all are kept")
  func lines() throws {
    let kept = (0...6).map { "created_events > \($0)" }
    let options = kept.flatMap { ["--require", $0] }
    let limits = kept.map { "✓ \($0): " } + ["✗ recovery <= 1s: "]
    #expect(try run(options, code: 0).output.story("required").count == 7)
    for (more, subject) in [([], "required  "), (["--quiet"], "")] {
      let broken = try run(options + ["--require", "recovery <= 1s"] + more, code: 1).output
      #expect(broken.standardError == "")
      // As many as there are, before whatever else there is to say.
      let lines = broken.lines.dropFirst().prefix(8)
      #expect(lines.count == 8 && zip(lines, limits).allSatisfy { $0.hasPrefix(subject + $1) }, "\(broken)")
    }
  }

  @Test("the document and the page have them too")
  func others() throws {
    let (output, scratch) = try run(["--require", "recovery <= 1s", "--json", "--out", "o"], code: 1)
    #expect(output.standardError.contains("Not met: recovery <= 1s."))
    let requirements = try output.json["requirements"]?.elements ?? []
    #expect(requirements.map { $0["requirement"]?.text } == ["recovery <= 1s"])
    #expect(requirements.map { $0["isMet"] } == [.bool(false)])
    let page = try scratch.text("o/report.html")
    #expect(page.contains("<dt>required</dt>") && page.contains("✗ recovery &lt;= 1s: "))
  }
}
