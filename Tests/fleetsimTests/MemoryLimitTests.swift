import Testing

/// Runs that do not fit are refused before they start; through the real process.
@Suite("Memory limit")
struct MemoryLimitTests {
  private func run(_ command: String, _ arguments: [String]) throws -> Tool.Output {
    let scratch = try Scratch()
    return try withExtendedLifetime(scratch) {
      try scratch.write("s.json5", Scenarios.small)
      return try scratch.run([command] + (command == "bench" ? [] : ["s.json5"]) + arguments)
    }
  }

  @Test(
    "a fleet of four billion devices is refused with what it needs, what there is, what takes most and what to do",
    arguments: ["run", "compare", "trace"])
  func tooLarge(command: String) throws {
    let device = command == "trace" ? ["--device", "0"] : []
    let output = try run(command, ["--set", "fleet.phones.devices=4000000000"] + device)
    #expect(output.code == 65)
    #expect(output.standardOutput == "")
    for words in [
      "s.json5: does not fit into memory: it needs about ", " TiB, and this machine has ",
      "The largest part is heaps of waiting batches of cohort 'phones', ", "Take fewer devices",
    ] {
      #expect(output.standardError.contains(words), "\(words) in \(output.standardError)")
    }
  }

  @Test("a benchmark is refused before any of its workloads runs")
  func bench() throws {
    let output = try run("bench", ["--only", "sparse,001", "--devices", "4000000000"])
    #expect(output.code == 65)
    #expect(output.standardOutput == "")
    #expect(output.standardError.hasPrefix("sparse with 4,000,000,000 devices: does not fit into memory"))
  }

  @Test(
    "--memory-limit stands in for what the machine has",
    arguments: [("1MiB", 65), ("1000B", 65), ("0.5 GB", 0), ("2TiB", 0), ("none", 0)] as [(String, Int32)])
  func limit(size: String, code: Int32) throws {
    let output = try run("run", ["--quiet", "--seed", "5", "--memory-limit", size])
    #expect(output.code == code)
    if code != 0 { #expect(output.standardError.contains("and --memory-limit allows \(size).")) }
  }

  @Test(
    "an amount without a unit, of nothing or of fractions is a wrong command line",
    arguments: ["20", "GiB", "20Gib", "0GiB", "0.1B", "-1GiB", "1e3MiB ", "unlimited"])
  func invalid(size: String) throws {
    let output = try run("run", ["--memory-limit=\(size)"])
    #expect(output.code == 64)
    #expect(output.standardError.contains("'\(size)' is invalid for '--memory-limit <size>'"))
  }

  @Test(
    "a comparison that does not fit side by side runs one after another, says so, and gives the same result")
  func fewerAtATime() throws {
    // A run and its twin take some 18 MiB, most of it results and metrics tables.
    let change = ["--seed", "5", "--set", "interval=200ms", "--jobs", "4", "--quiet"]
    let free = try run("compare", change)
    let tight = try run("compare", change + ["--memory-limit", "20MiB"])
    #expect(free.code == 0 && free.standardError == "")
    #expect(tight.code == 0)
    #expect(tight.standardError.contains("warning: 1 run at a time instead of "))
    #expect(tight.standardOutput == free.standardOutput)
  }

  @Test("validate says what a run needs, the largest parts first")
  func validate() throws {
    let output = try run("validate", [])
    #expect(output.standardOutput.contains("\n  memory    about "))
    #expect(output.standardOutput.contains(" KiB a run; "))
  }
}
