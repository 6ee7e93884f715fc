import Testing

/// Runs that do not fit are refused before they start.
@Suite("Memory limit")
struct MemoryLimitTests {
  @Test("--memory-limit stands in for what the machine has", arguments: ["0.5 GB", "2TiB", "none"])
  func limit(size: String) throws {
    // An amount may have a space in it. What is too small is in a transcript.
    try Scratch.with().run(["run", "s.json5", "-q", "--seed", "5", "--memory-limit", size], code: 0)
  }

  @Test("what does not fit side by side runs one after another, with the same result")
  func fewerAtATime() throws {
    // A run and its twin take some 18 MiB, most of it results and metrics tables.
    let compare = "compare s.json5 --seed 5 --set interval=200ms --jobs 4 --quiet"
    let free = try Scratch.with().run(compare, code: 0)
    let tight = try Scratch.with().run(
      compare + " --memory-limit 20MiB", code: 0, says: "warning: 1 run at a time instead of ")
    #expect(free.standardError == "")
    #expect(tight.standardOutput == free.standardOutput)
  }
}
