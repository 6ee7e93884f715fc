import CommandLineInterface
import FleetMetrics
import FleetReports
import Foundation
import TestSupport
import Testing

/// All files or none, and nothing of the user's is lost.
@Suite("The output directory")
struct OutputDirectoryTests {
  func file(_ path: String, _ text: String) -> OutputFile { OutputFile(path, Array(text.utf8)) }

  /// The files, and a `run.json` that lists them.
  func results(_ files: [OutputFile]) -> [OutputFile] {
    let listed = files.map { file in
      "{ \"path\": \"\(file.path)\", \"bytes\": \(file.bytes.count), \"sha256\": \"\(SHA256.hexadecimal(file.bytes))\" }"
    }
    return files + [
      self.file(
        "run.json", "{\n  \"program\": \"fleetsim\",\n  \"files\": [\(listed.joined(separator: ","))]\n}")
    ]
  }
  func directory(_ scratch: Scratch, _ path: String = "out") throws -> OutputDirectory {
    try OutputDirectory(scratch.url.path + "/" + path, Running.environment(in: "/"))
  }

  @Test("what fleetsim wrote before is replaced whole; an empty directory is taken")
  func replace() throws {
    let scratch = try Scratch()
    try FileManager.default.createDirectory(
      atPath: scratch.url.path + "/out", withIntermediateDirectories: false)
    try directory(scratch).write(results([file("full/timeseries.csv", "old")]))
    try directory(scratch).write(results([file("equal/timeseries.csv", "new")]))
    #expect(scratch.contents == ["out", "out/equal", "out/equal/timeseries.csv", "out/run.json"])
  }

  @Test(
    "anything that fleetsim did not write is refused and stays",
    arguments: [
      "notes.txt", "full/notes.txt", ".hidden", "full/deep/timeseries.csv", "suite/notes.txt", "limit.csv",
      "equal/timeseries.csv",
    ])
  func foreign(name: String) throws {
    let scratch = try Scratch()
    try directory(scratch).write(results([file("full/timeseries.csv", "old"), file("report.html", "<p>")]))
    let output = try directory(scratch)
    // It comes while the simulation runs, or before.
    try scratch.write("out/" + name, "mine")
    let before = scratch.contents
    #expect(throws: CommandFailure.self) { try directory(scratch) }
    #expect(throws: CommandFailure.self) { try output.write(results([file("summary.csv", "new")])) }
    #expect(scratch.contents == before)
    #expect(try scratch.text("out/" + name) == "mine")
    #expect(try scratch.text("out/full/timeseries.csv") == "old")
  }

  @Test("a file that was edited since is refused by name and stays; one may be missing")
  func edited() throws {
    let scratch = try Scratch.with()
    let compare = ["compare", "s.json5", "--seed", "5", "-q", "--out", "out"]
    try scratch.run(compare, code: 0)
    for name in ["summary.csv", "full/timeseries.csv", "report.html", "comparison.svg"] {
      let text = try scratch.text("out/" + name)
      try scratch.write("out/" + name, text + "# my note\n")
      let before = scratch.contents
      let output = try scratch.run(
        compare, code: 73, says: "out: '\(name)' was changed since fleetsim wrote it")
      #expect(output.standardOutput == "")
      #expect(scratch.contents == before)
      #expect(try scratch.text("out/" + name) == text + "# my note\n")
      try scratch.remove("out/" + name)
      try scratch.run(compare, code: 0)
      #expect(try scratch.text("out/" + name) == text)
    }
  }

  /// A name of another run beside `out`.
  static func rest(_ kind: TemporaryPlace.Kind = .new) -> String {
    String(TemporaryPlace.name(beside: "out", kind).dropFirst("./".count))
  }

  @Test("what a killed run left goes with the next run; what others have stays")
  func rests() throws {
    let scratch = try Scratch()
    let stays = [Self.rest().replacing(".out.", with: ".other."), ".out.fleetsim-host-4711-0.tmp"]
    try directory(scratch).write(results([file("summary.csv", "old")]))
    for name in [Self.rest(), Self.rest(.old)] + stays {
      try scratch.write(name + "/full/timeseries.csv", "x")
    }
    let living = try #require(TemporaryPlace(beside: scratch.url.path + "/out", isDirectory: true))
    defer { living.release() }
    try directory(scratch).write(results([file("summary.csv", "new")]))
    let name = String(living.path.dropFirst(scratch.url.path.count + 1))
    #expect(scratch.contents.filter { !$0.contains("/") } == (stays + ["out", name]).sorted())
  }

  @Test("after a kill between taking the old away and putting the new in place the old is found")
  func restored() throws {
    let scratch = try Scratch([Self.rest(.old) + "/notes.txt": "mine"])
    #expect(throws: CommandFailure.self) { try directory(scratch) }
    #expect(scratch.contents == ["out", "out/notes.txt"])
  }

  @Test("of runs that write to one place at once each ends well, and all files are of one")
  func atOnce() async throws {
    let scratch = try Scratch()
    let names = ["equal/timeseries.csv", "full/timeseries.csv", "report.html", "summary.csv"]
    for round in 0..<TestDepth.cases(20, exhaustively: 250) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for run in 0..<4 {
          group.addTask {
            try directory(scratch).write(results(names.map { file($0, "\(round) \(run)") }))
          }
        }
        try await group.waitForAll()
      }
      let all = ["out"] + (names + ["equal", "full", "run.json"]).sorted().map { "out/" + $0 }
      #expect(scratch.contents == all)
      #expect(try Set(names.map { try scratch.text("out/" + $0) }).count == 1)
    }
  }

  @Test(
    "a run.json that leads elsewhere is not followed",
    arguments: ["../../../dev/zero", "/dev/zero", "a/../../b"])
  func leadsElsewhere(path: String) throws {
    let files = "\"files\": [{ \"path\": \"\(path)\", \"bytes\": 1, \"sha256\": \"0\" }]"
    let scratch = try Scratch(["out/run.json": "{\n  \"program\": \"fleetsim\",\n  \(files)\n}"])
    try directory(scratch).write(results([file("summary.csv", "new")]))
    #expect(scratch.contents == ["out", "out/run.json", "out/summary.csv"])
  }

  @Test("a run.json of another program does not make a directory ours")
  func otherManifest() throws {
    let scratch = try Scratch(["out/run.json": "{ \"program\": \"jogger\" }"])
    #expect(throws: CommandFailure.self) { try directory(scratch) }
  }

  @Test("a file that cannot be written takes everything back")
  func failure() throws {
    let scratch = try Scratch()
    let output = try directory(scratch, "a/out")
    let tooLong = String(repeating: "x", count: 400)
    let error = #expect(throws: CommandFailure.self) {
      try output.write(results([file("summary.csv", "x"), file(tooLong, "y")]))
    }
    #expect(error?.code == .cannotCreate)
    #expect(error?.description.contains("/a/out/\(tooLong): cannot be written: ") == true)
    #expect(scratch.contents == [])
  }

  @Test("a symbolic link is followed: what it points to is replaced, the link stays")
  func symbolicLink() throws {
    let scratch = try Scratch()
    try directory(scratch, "real").write(results([]))
    let (link, real) = (scratch.url.path + "/link", scratch.url.path + "/real")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: real)
    try directory(scratch, "link").write(results([file("summary.csv", "new")]))
    #expect(try scratch.text("real/summary.csv") == "new")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == real)
  }
}
