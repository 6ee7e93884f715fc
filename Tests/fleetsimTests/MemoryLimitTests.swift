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
    "a fleet of four billion devices is refused with what it needs, what there is, what takes most and what to do",
    arguments: ["run", "compare", "trace"])
  func tooLarge(command: String) throws {
    let device = command == "trace" ? " --device 0" : ""
    let output = try run(command, "--set fleet.phones.devices=4000000000" + device, code: 65)
    for words in [
      "s.json5: does not fit into memory: it needs about ", " TiB, and this machine has ",
      "The largest part is heaps of waiting batches of cohort 'phones', ", "Take fewer devices",
    ] {
      #expect(output.standardError.contains(words), "\(words) in \(output.standardError)")
    }
  }

  @Test(
    "--memory-limit stands in for what the machine has",
    arguments: [("1MiB", 65), ("1000B", 65), ("0.5 GB", 0), ("2TiB", 0), ("none", 0)] as [(String, Int32)])
  func limit(size: String, code: Int32) throws {
    // An amount may have a space in it.
    try Scratch.with().run(
      ["run", "s.json5", "--quiet", "--seed", "5", "--memory-limit", size], code: code,
      says: code == 0 ? nil : "and --memory-limit allows \(size).")
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
