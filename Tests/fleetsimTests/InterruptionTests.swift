import Foundation
import Testing

/// Ctrl-C, through the real process.
@Suite("Interruption")
struct InterruptionTests {
  @Test(
    "Ctrl-C ends a run at once; the output directory is as it was", arguments: ["run", "compare"])
  func interrupt(command: String) throws {
    let scratch = try Scratch()
    try scratch.write("s.json5", Scenarios.small)
    #expect(try Tool.run(["run", "s.json5", "--seed", "5", "-q", "--out", "out"], in: scratch.url).code == 0)
    let before = scratch.contents
    let bytes = try scratch.read("out/run.json")
    try scratch.write("s.json5", Scenarios.endless)
    let output = try Tool.run(
      [command, "s.json5", "--out", "out"], in: scratch.url, signal: SIGINT)
    #expect(output.code == 130)
    #expect(output.standardError == "Interrupted: nothing was written.\n")
    #expect(scratch.contents == before)
    #expect(try scratch.read("out/run.json") == bytes)
  }

  @Test(
    "SIGTERM is 143, Ctrl-\\ is 131; both leave nothing",
    arguments: [(SIGTERM, Int32(143), "Terminated"), (SIGQUIT, 131, "Quit")])
  func terminate(signal: Int32, code: Int32, word: String) throws {
    let scratch = try Scratch()
    try scratch.write("s.json5", Scenarios.endless)
    let output = try Tool.run(
      ["run", "s.json5", "--out", "a/out"], in: scratch.url, signal: signal)
    #expect(output.code == code)
    #expect(output.standardError == "\(word): nothing was written.\n")
    #expect(scratch.contents == ["s.json5"])
  }
}
