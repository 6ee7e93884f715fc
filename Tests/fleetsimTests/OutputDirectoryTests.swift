import CommandLineInterface
import FleetReports
import Foundation
import Testing

/// All files or none, and nothing of the user's is lost.
@Suite("The output directory")
struct OutputDirectoryTests {
  let manifest = OutputFile("run.json", Array("{\n  \"program\": \"fleetsim\",\n}".utf8))
  func file(_ path: String, _ text: String) -> OutputFile { OutputFile(path, Array(text.utf8)) }
  func directory(_ path: String) throws -> OutputDirectory {
    try OutputDirectory(path, Running.environment(in: "/"))
  }

  @Test("checking leaves no trace, not even of missing parents")
  func check() throws {
    let scratch = try Scratch()
    _ = try directory(scratch.url.path + "/a/b/c")
    #expect(scratch.contents == [])
  }

  @Test("files and folders appear together, parents included")
  func write() throws {
    let scratch = try Scratch()
    let output = try directory(scratch.url.path + "/a/b/")
    try output.write([file("summary.csv", "x"), file("full/timeseries.csv", "y"), manifest])
    #expect(
      scratch.contents == [
        "a", "a/b", "a/b/full", "a/b/full/timeseries.csv", "a/b/run.json", "a/b/summary.csv",
      ])
    #expect(try scratch.text("a/b/full/timeseries.csv") == "y")
  }

  @Test("what fleetsim wrote before is replaced whole; an empty directory is taken")
  func replace() throws {
    let scratch = try Scratch()
    let path = scratch.url.path + "/out"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    try directory(path).write([file("full/timeseries.csv", "old"), manifest])
    try directory(path).write([file("equal/timeseries.csv", "new"), manifest])
    #expect(scratch.contents == ["out", "out/equal", "out/equal/timeseries.csv", "out/run.json"])
  }

  @Test(
    "anything that fleetsim did not write is refused and stays",
    arguments: ["notes.txt", "full/notes.txt", ".hidden", "full/deep/timeseries.csv"])
  func foreign(name: String) throws {
    let scratch = try Scratch()
    let path = scratch.url.path + "/out"
    try directory(path).write([file("full/timeseries.csv", "old"), manifest])
    let output = try directory(path)
    // It comes while the simulation runs, or before.
    try scratch.write("out/" + name, "mine")
    let before = scratch.contents
    #expect(throws: CommandFailure.self) { try directory(path) }
    #expect(throws: CommandFailure.self) { try output.write([file("summary.csv", "new"), manifest]) }
    #expect(scratch.contents == before)
    #expect(try scratch.text("out/" + name) == "mine")
    #expect(try scratch.text("out/full/timeseries.csv") == "old")
  }

  @Test("a file that was edited since is refused by name and stays; one that was removed is no reason to")
  func edited() throws {
    let scratch = try Scratch()
    try scratch.write("s.json5", Scenarios.small)
    let compare = ["compare", "s.json5", "--seed", "5", "-q", "--out", "out"]
    #expect(try Tool.run(compare, in: scratch.url).code == 0)
    for name in ["summary.csv", "full/timeseries.csv"] {
      let text = try scratch.text("out/" + name)
      try scratch.write("out/" + name, text + "# my note\n")
      let before = scratch.contents
      let output = try Tool.run(compare, in: scratch.url)
      #expect(output.code == 73 && output.standardOutput == "")
      #expect(
        output.standardError.hasPrefix("out: '\(name)' was changed since fleetsim wrote it"),
        "\(output.standardError)")
      #expect(scratch.contents == before)
      #expect(try scratch.text("out/" + name) == text + "# my note\n")
      try FileManager.default.removeItem(at: scratch.url.appendingPathComponent("out/" + name))
      #expect(try Tool.run(compare, in: scratch.url).code == 0)
      #expect(try scratch.text("out/" + name) == text)
    }
  }

  /// A process that has ended.
  static func goneProcess() throws -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "exit 0"]
    try process.run()
    process.waitUntilExit()
    return process.processIdentifier
  }

  /// A temporary name of another process beside `out`.
  static func rest(of process: Int32, _ kind: TemporaryName.Kind = .new) -> String {
    String(TemporaryName.make(beside: "out", kind).dropFirst("./".count))
      .replacing("-\(getpid())-", with: "-\(process)-")
  }

  @Test("what a killed run left goes with the next run; what a living one or another place has, stays")
  func rests() throws {
    let scratch = try Scratch()
    let gone = try Self.goneProcess()
    let (rest, old) = (Self.rest(of: gone), Self.rest(of: gone, .old))
    let living = Self.rest(of: getppid())
    let stays = [
      living, rest.replacing(".out.", with: ".other."), rest.replacing("-\(gone)-", with: "-far-\(gone)-"),
    ]
    try directory(scratch.url.path + "/out").write([file("summary.csv", "old"), manifest])
    for name in [rest, old] + stays { try scratch.write(name + "/full/timeseries.csv", "x") }
    try directory(scratch.url.path + "/out").write([file("summary.csv", "new"), manifest])
    #expect(scratch.contents.filter { !$0.contains("/") } == (stays + ["out"]).sorted())
  }

  @Test("a run killed between taking the old away and putting the new in place: the next one finds the old")
  func restored() throws {
    let scratch = try Scratch()
    try scratch.write(Self.rest(of: Self.goneProcess(), .old) + "/notes.txt", "mine")
    #expect(throws: CommandFailure.self) { try directory(scratch.url.path + "/out") }
    #expect(scratch.contents == ["out", "out/notes.txt"])
  }

  @Test("a run.json of another program does not make a directory ours")
  func otherManifest() throws {
    let scratch = try Scratch()
    try scratch.write("out/run.json", "{ \"program\": \"jogger\" }")
    #expect(throws: CommandFailure.self) { try directory(scratch.url.path + "/out") }
  }

  @Test("a file that cannot be written takes everything back")
  func failure() throws {
    let scratch = try Scratch()
    let output = try directory(scratch.url.path + "/a/out")
    let tooLong = String(repeating: "x", count: 400)
    let error = #expect(throws: CommandFailure.self) {
      try output.write([file("summary.csv", "x"), file(tooLong, "y"), manifest])
    }
    #expect(error?.code == .cannotCreate)
    #expect(error?.description.contains("/a/out/\(tooLong): cannot be written: ") == true)
    #expect(scratch.contents == [])
  }

  @Test("a symbolic link is followed: what it points to is replaced, the link stays")
  func symbolicLink() throws {
    let scratch = try Scratch()
    try directory(scratch.url.path + "/real").write([manifest])
    try FileManager.default.createSymbolicLink(
      atPath: scratch.url.path + "/link", withDestinationPath: scratch.url.path + "/real")
    try directory(scratch.url.path + "/link").write([file("summary.csv", "new"), manifest])
    #expect(try scratch.text("real/summary.csv") == "new")
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: scratch.url.path + "/link").hasSuffix("/real")
    )
  }
}
