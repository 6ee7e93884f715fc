import Testing

/// Runs that do not fit are refused before they start.
@Suite("Memory limit")
struct MemoryLimitTests {
  @discardableResult
  private func run(
    _ command: String, _ options: String = "", code: Int32 = 0, says part: String? = nil
  ) throws -> Tool.Output {
    try Scratch.with().run("\(command) s.json5 \(options)", code: code, says: part)
  }

  @Test(
    "--memory-limit stands in for what the machine has",
    arguments: ["0.5 GB", "2TiB", "none"])
  func limit(size: String) throws {
    // An amount may have a space in it. What is too small is in a transcript.
    try Scratch.with().run(["run", "s.json5", "-q", "--seed", "5", "--memory-limit", size], code: 0)
  }

  @Test(
    "a comparison that does not fit side by side runs one after another, says so, and gives the same result")
  func fewerAtATime() throws {
    // A run and its twin take some 18 MiB, most of it results and metrics tables.
    let change = "--seed 5 --set interval=200ms --jobs 4 --quiet"
    let free = try run("compare", change)
    let tight = try run(
      "compare", change + " --memory-limit 20MiB", says: "warning: 1 run at a time instead of ")
    #expect(free.standardError == "")
    #expect(tight.standardOutput == free.standardOutput)
  }
}
