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
    for line in output.lines { #expect(line.count <= 100, "\(line)") }
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

  @Test("every command has a how-to of its name, which begins with it, and every how-to is a command's")
  func howTos() throws {
    let folder = Self.catalog.appending(path: "2-how-to")
    var pages = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
    for command in CommandSpecification.fleetsim.subcommands.map(\.name) {
      let page = "\(Self.shared[command] ?? command).md"
      pages.remove(page)
      let text = try String(contentsOf: folder.appending(path: page), encoding: .utf8)
      let title = text.split(separator: "\n")[0]
      let names = title.dropFirst("# ".count).prefix { $0 != ":" }.split { !$0.isLetter }
      #expect(title.hasPrefix("# ") && title.contains(": "), "\(title)")
      #expect(names.contains(Substring(command)), "\(title)")
    }
    #expect(pages == [])
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
