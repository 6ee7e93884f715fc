import CommandLineInterface
import Foundation
import Testing

/// All files or none, and nothing of the user's is lost.
@Suite("The output directory")
struct OutputDirectoryTests {
  let manifest = OutputFile("run.json", Array("{\n  \"program\": \"fleetsim\",\n}".utf8))
  func file(_ path: String, _ text: String) -> OutputFile { OutputFile(path, Array(text.utf8)) }

  @Test("checking leaves no trace, not even of missing parents")
  func check() throws {
    let scratch = try Scratch()
    _ = try OutputDirectory(scratch.url.path + "/a/b/c")
    #expect(scratch.contents == [])
  }

  @Test("files and folders appear together, parents included")
  func write() throws {
    let scratch = try Scratch()
    let output = try OutputDirectory(scratch.url.path + "/a/b/")
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
    try OutputDirectory(path).write([file("full/timeseries.csv", "old"), manifest])
    try OutputDirectory(path).write([file("equal/timeseries.csv", "new"), manifest])
    #expect(scratch.contents == ["out", "out/equal", "out/equal/timeseries.csv", "out/run.json"])
  }

  @Test(
    "anything that fleetsim did not write is refused and stays",
    arguments: ["notes.txt", "full/notes.txt", ".hidden", "full/deep/timeseries.csv"])
  func foreign(name: String) throws {
    let scratch = try Scratch()
    let path = scratch.url.path + "/out"
    try OutputDirectory(path).write([file("full/timeseries.csv", "old"), manifest])
    let output = try OutputDirectory(path)
    // It comes while the simulation runs, or before.
    try scratch.write("out/" + name, "mine")
    let before = scratch.contents
    #expect(throws: CommandFailure.self) { try OutputDirectory(path) }
    #expect(throws: CommandFailure.self) { try output.write([file("summary.csv", "new"), manifest]) }
    #expect(scratch.contents == before)
    #expect(try scratch.text("out/" + name) == "mine")
    #expect(try scratch.text("out/full/timeseries.csv") == "old")
  }

  @Test("a run.json of another program does not make a directory ours")
  func otherManifest() throws {
    let scratch = try Scratch()
    try scratch.write("out/run.json", "{ \"program\": \"jogger\" }")
    #expect(throws: CommandFailure.self) { try OutputDirectory(scratch.url.path + "/out") }
  }

  @Test("a file that cannot be written takes everything back")
  func failure() throws {
    let scratch = try Scratch()
    let output = try OutputDirectory(scratch.url.path + "/a/out")
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
    try OutputDirectory(scratch.url.path + "/real").write([manifest])
    try FileManager.default.createSymbolicLink(
      atPath: scratch.url.path + "/link", withDestinationPath: scratch.url.path + "/real")
    try OutputDirectory(scratch.url.path + "/link").write([file("summary.csv", "new"), manifest])
    #expect(try scratch.text("real/summary.csv") == "new")
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: scratch.url.path + "/link").hasSuffix("/real")
    )
  }
}
