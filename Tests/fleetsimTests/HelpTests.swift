import CommandLineInterface
import Foundation
import TestSupport
import Testing

/// Help screens, and the page of the columns, against recorded ones: see `Snapshot`.
@Suite("Help")
struct HelpTests {
  /// The pages for people.
  private static let catalog = Tool.repository.appending(path: "Sources/fleetsim/fleetsim.docc")
  static let snapshots = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Snapshots")

  @Test(
    "the help screens are as recorded, in every way to ask for them",
    arguments: [("fleetsim", []), ("exit-codes", ["exit-codes"])]
      + CommandSpecification.fleetsim.subcommands.map { ($0.name, [$0.name]) })
  func snapshot(name: String, words: [String]) throws {
    let output = try Scratch().run(["help"] + words, code: 0, says: "")
    let file = Self.snapshots.appendingPathComponent(name + ".txt")
    #expect(try output.standardOutput == Snapshot.recorded(in: file, now: output.standardOutput))
    let ways = [["--help"], ["-h"], ["no-such-file", "--bogus", "-h"]]
    for way in ways.prefix(words.isEmpty ? 2 : 3) where name != "exit-codes" {
      #expect(try Scratch().run(words + way, code: 0).standardOutput == output.standardOutput)
    }
  }

  @Test("the page of the columns is what `fleetsim help columns` prints")
  func columns() throws {
    let output = try Scratch().run("help columns").standardOutput
    let page = Self.catalog.appending(path: "3-reference/columns.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let head = text[..<(try #require(text.range(of: "\n### ")).lowerBound)]
    #expect(try Snapshot.recorded(in: page, now: head + "\n" + output) == head + "\n" + output)
  }

  @Test("the page of the exit codes has what `fleetsim help exit-codes` prints")
  func exitCodes() throws {
    let output = try Scratch().run("help exit-codes").standardOutput
    let page = Self.catalog.appending(path: "3-reference/exit-codes.md")
    let parts = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```")
    try #require(parts.count == 3)
    let text = "\(parts[0])```text\n\(output)```\(parts[2])"
    #expect(try Snapshot.recorded(in: page, now: text) == text)
  }

  /// Commands whose how-to is a part of another one's page.
  private static let shared = ["report": "run"]

  @Test(
    "every command has a how-to of its name, which begins with it",
    arguments: CommandSpecification.fleetsim.subcommands.map(\.name))
  func howTo(command: String) throws {
    let page = Self.catalog.appending(path: "2-how-to/\(Self.shared[command] ?? command).md")
    let title = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")[0]
    let names = title.dropFirst("# ".count).prefix { $0 != ":" }.split { !$0.isLetter }
    #expect(title.hasPrefix("# ") && title.contains(": "), "\(title)")
    #expect(names.contains(Substring(command)), "\(title)")
  }

  @Test("every page of a how-to is a command's")
  func noOtherHowTos() throws {
    let names = Set(CommandSpecification.fleetsim.subcommands.map(\.name)).subtracting(Self.shared.keys)
    let pages = try FileManager.default.contentsOfDirectory(
      atPath: Self.catalog.appending(path: "2-how-to").path)
    #expect(Set(pages) == Set(names.map { $0 + ".md" }))
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
    #expect(try scratch.run("") == scratch.run("help"))
    let version = try scratch.run("--version").standardOutput
    #expect(version.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
    #expect(try scratch.run("run --version").standardOutput == version)
  }
}
