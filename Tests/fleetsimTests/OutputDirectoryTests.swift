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
    try output.write(results([file("summary.csv", "x"), file("full/timeseries.csv", "y")]))
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
    try directory(path).write(results([file("full/timeseries.csv", "old")]))
    try directory(path).write(results([file("equal/timeseries.csv", "new")]))
    #expect(scratch.contents == ["out", "out/equal", "out/equal/timeseries.csv", "out/run.json"])
  }

  @Test(
    "anything that fleetsim did not write is refused and stays",
    arguments: [
      "notes.txt", "full/notes.txt", ".hidden", "full/deep/timeseries.csv", "suite/notes.txt",
      "limit.csv",
      "equal/timeseries.csv",
    ])
  func foreign(name: String) throws {
    let scratch = try Scratch()
    let path = scratch.url.path + "/out"
    try directory(path).write(results([file("full/timeseries.csv", "old"), file("report.html", "<p>")]))
    let output = try directory(path)
    // It comes while the simulation runs, or before.
    try scratch.write("out/" + name, "mine")
    let before = scratch.contents
    #expect(throws: CommandFailure.self) { try directory(path) }
    #expect(throws: CommandFailure.self) { try output.write(results([file("summary.csv", "new")])) }
    #expect(scratch.contents == before)
    #expect(try scratch.text("out/" + name) == "mine")
    #expect(try scratch.text("out/full/timeseries.csv") == "old")
  }

  @Test("a file that was edited since is refused by name and stays; one that was removed is no reason to")
  func edited() throws {
    let scratch = try Scratch.with()
    let compare = ["compare", "s.json5", "--seed", "5", "-q", "--out", "out"]
    try scratch.run(compare, code: 0)
    for name in ["summary.csv", "full/timeseries.csv", "report.html", "comparison.svg"] {
      let text = try scratch.text("out/" + name)
      try scratch.write("out/" + name, text + "# my note\n")
      let before = scratch.contents
      let output = try scratch.run(compare)
      #expect(output.code == 73 && output.standardOutput == "")
      #expect(
        output.standardError.hasPrefix("out: '\(name)' was changed since fleetsim wrote it"),
        "\(output.standardError)")
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

  @Test("what a killed run left goes with the next run; what a living one or another place has, stays")
  func rests() throws {
    let scratch = try Scratch()
    let stays = [Self.rest().replacing(".out.", with: ".other."), ".out.fleetsim-host-4711-0.tmp"]
    try directory(scratch.url.path + "/out").write(results([file("summary.csv", "old")]))
    for name in [Self.rest(), Self.rest(.old)] + stays {
      try scratch.write(name + "/full/timeseries.csv", "x")
    }
    let living = try #require(TemporaryPlace(beside: scratch.url.path + "/out", isDirectory: true))
    defer { living.release() }
    try directory(scratch.url.path + "/out").write(results([file("summary.csv", "new")]))
    let name = String(living.path.dropFirst(scratch.url.path.count + 1))
    #expect(scratch.contents.filter { !$0.contains("/") } == (stays + ["out", name]).sorted())
  }

  @Test("a run killed between taking the old away and putting the new in place: the next one finds the old")
  func restored() throws {
    let scratch = try Scratch()
    try scratch.write(Self.rest(.old) + "/notes.txt", "mine")
    #expect(throws: CommandFailure.self) { try directory(scratch.url.path + "/out") }
    #expect(scratch.contents == ["out", "out/notes.txt"])
  }

  @Test("of runs that write to one place at once each ends well, and one's files are there, all of them")
  func atOnce() async throws {
    let scratch = try Scratch()
    let path = scratch.url.path + "/out"
    let rounds = TestDepth.cases(20, exhaustively: 250)
    for round in 0..<rounds {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for run in 0..<4 {
          group.addTask {
            let names = ["summary.csv", "full/timeseries.csv", "equal/timeseries.csv", "report.html"]
            try directory(path).write(results(names.map { file($0, "\(round) \(run)") }))
          }
        }
        try await group.waitForAll()
      }
      #expect(
        scratch.contents == [
          "out", "out/equal", "out/equal/timeseries.csv", "out/full", "out/full/timeseries.csv",
          "out/report.html",
          "out/run.json", "out/summary.csv",
        ])
      let texts = try Set(
        ["summary.csv", "full/timeseries.csv", "report.html"].map { try scratch.text("out/" + $0) })
      #expect(texts.count == 1)
    }
  }

  @Test(
    "a run.json that leads elsewhere is not followed",
    arguments: ["../../../dev/zero", "/dev/zero", "a/../../b"])
  func leadsElsewhere(path: String) throws {
    let scratch = try Scratch()
    try scratch.write(
      "out/run.json",
      "{\n  \"program\": \"fleetsim\",\n  \"files\": [{ \"path\": \"\(path)\", \"bytes\": 1, \"sha256\": \"0\" }]\n}"
    )
    try directory(scratch.url.path + "/out").write(results([file("summary.csv", "new")]))
    #expect(scratch.contents == ["out", "out/run.json", "out/summary.csv"])
  }

  @Test("a run.json of another program does not make a directory ours")
  func otherManifest() throws {
    let scratch = try Scratch(["out/run.json": "{ \"program\": \"jogger\" }"])
    #expect(throws: CommandFailure.self) { try directory(scratch.url.path + "/out") }
  }

  @Test("a file that cannot be written takes everything back")
  func failure() throws {
    let scratch = try Scratch()
    let output = try directory(scratch.url.path + "/a/out")
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
    try directory(scratch.url.path + "/real").write(results([]))
    try FileManager.default.createSymbolicLink(
      atPath: scratch.url.path + "/link", withDestinationPath: scratch.url.path + "/real")
    try directory(scratch.url.path + "/link").write(results([file("summary.csv", "new")]))
    #expect(try scratch.text("real/summary.csv") == "new")
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: scratch.url.path + "/link").hasSuffix("/real")
    )
  }
}
