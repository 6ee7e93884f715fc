import CommandLineInterface
import Foundation
import TestSupport
import Testing

/// Help screens, and the page of the columns, against recorded ones: see `Snapshot`.
@Suite("Help")
struct HelpTests {
  static let snapshots = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Snapshots")

  @Test(
    "the help screens are as recorded",
    arguments: [("fleetsim", ["--help"]), ("exit-codes", ["help", "exit-codes"])]
      + CommandSpecification.fleetsim.subcommands.map { ($0.name, ["help", $0.name]) }
  )
  func snapshot(name: String, arguments: [String]) throws {
    let scratch = try Scratch()
    let output = try Tool.run(arguments, in: scratch.url)
    #expect(output.code == 0)
    #expect(output.standardError == "")
    let file = Self.snapshots.appendingPathComponent(name + ".txt")
    #expect(try output.standardOutput == Snapshot.recorded(in: file, now: output.standardOutput))
  }

  @Test(
    "every way to ask for help gives the same screen",
    arguments: ["run", "compare", "sweep", "merge", "check", "validate", "presets", "conformance", "bench"])
  func waysToAsk(command: String) throws {
    let scratch = try Scratch()
    let screen = try Tool.run(["help", command], in: scratch.url).standardOutput
    for arguments in [[command, "--help"], [command, "-h"], [command, "no-such-file", "--bogus", "-h"]] {
      let output = try Tool.run(arguments, in: scratch.url)
      #expect(output.code == 0)
      #expect(output.standardOutput == screen)
    }
  }

  @Test(
    "the pages of the columns and of the documents are what `fleetsim help` prints",
    arguments: [
      ("columns", "columns.md"),
      ("json", "json.md"),
    ])
  func reference(topic: String, path: String) throws {
    let scratch = try Scratch()
    let output = try Tool.run(["help", topic], in: scratch.url).standardOutput
    let page = Tool.repository.appending(path: "Sources/fleetsim/fleetsim.docc/3-reference/" + path)
    let text = try String(contentsOf: page, encoding: .utf8)
    let head = text[..<(try #require(text.range(of: "\n### ")).lowerBound)]
    #expect(try Snapshot.recorded(in: page, now: head + "\n" + output) == head + "\n" + output)
  }

  @Test("no line of help is wider than 100 columns")
  func width() throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: Self.snapshots.path) {
      let text = try String(contentsOf: Self.snapshots.appendingPathComponent(file), encoding: .utf8)
      for line in text.split(separator: "\n") { #expect(line.count <= 100, "\(file): \(line)") }
    }
  }

  @Test("the bare tool shows its help; --version shows the version everywhere")
  func bare() throws {
    let scratch = try Scratch()
    #expect(
      try Tool.run([], in: scratch.url).standardOutput == Tool.run(["help"], in: scratch.url).standardOutput)
    let version = try Tool.run(["--version"], in: scratch.url).standardOutput
    #expect(version.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
    #expect(try Tool.run(["run", "--version"], in: scratch.url).standardOutput == version)
  }
}
