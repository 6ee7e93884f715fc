import Foundation
import Testing

/// Bad input: which code, which words, and nothing written.
@Suite("Bad input")
struct ExitCodeTests {
  @Test("a pipe is read when something writes to it, however late, and refused when nothing does")
  func pipes() async throws {
    let scratch = try Scratch.with()
    let pipe = scratch.url.appendingPathComponent("pipe").path
    #expect(mkfifo(pipe, 0o600) == 0)
    #expect(mkfifo(scratch.url.appendingPathComponent("lonely").path, 0o600) == 0)
    // Both wait, so they do it at once.
    async let lonely = Scratch.aside { try scratch.run("validate s.json5 --settings lonely", code: 66) }
    // The writer is there and takes its time, as a process substitution may.
    Thread.detachNewThread {
      usleep(300_000)
      guard let writer = FileHandle(forWritingAtPath: pipe) else { return }
      writer.write(Data("{ \n".utf8))
      usleep(2_500_000)
      writer.write(Data("}\n".utf8))
      try? writer.close()
    }
    try await Scratch.aside { try scratch.run("validate s.json5 -q --settings pipe", code: 0) }
    #expect(
      try await lonely.standardError
        == "lonely: is a pipe that nothing writes to; a file is expected, or a pipe with a writer\n")
    let descriptor = open(scratch.url.appendingPathComponent("s.json5").path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    try scratch.run("validate /dev/fd/\(descriptor) -q", code: 0)
  }

  @Test(
    "the program says what the command says within this process",
    arguments: [["validate", "s.json5"], ["run", "no.json5", "--color", "always"]])
  func program(arguments: [String]) throws {
    let scratch = try Scratch.with()
    #expect(try scratch.run(arguments) == Tool.process(arguments, in: scratch.url))
  }

  @Test("a closed standard output is said, and never another file that took its number")
  func closedOutput() throws {
    let scratch = try Scratch.with()
    for arguments in [
      ["run", "s.json5", "--seed", "5", "--out", "out"], ["trace", "s.json5", "--device", "1"],
      ["help", "schema"],
    ] {
      let output = try Tool.process(arguments, in: scratch.url, shell: "exec >&-")
      #expect(output.code == 74)
      #expect(
        output.standardError
          == "standard output: is closed or not for writing; send it to a file, or to /dev/null\n")
    }
    // A terminal that is gone costs no file, and none of them has what it would have shown.
    try scratch.run("run s.json5 --seed 5 --out same", code: 0)
    let files = scratch.names(in: "same")
    #expect(!files.isEmpty && scratch.names(in: "out") == files)
    #expect(scratch.contents.count == 2 * files.count + 3)
    #expect(try scratch.files(in: "out", ".csv") == scratch.files(in: "same", ".csv"))
  }

  @Test(
    "a command that may open too few files is 71, with the way out",
    arguments: [("live", 4), ("live", 6), ("run", 4), ("compare", 6), ("decide", 5)])
  func fewFiles(command: String, limit: Int) throws {
    let scratch = try Scratch.with()
    let more = command == "live" ? ["--server", "http://127.0.0.1:9"] : []
    expectLimited(
      try Tool.process([command, "s.json5"] + more, in: scratch.url, shell: "ulimit -n \(limit)"),
      "too few files may be open at once: ", "; raise the limit, as with 'ulimit -n 1024'\n")
  }

  private func expectLimited(_ output: Tool.Output, _ problem: String, _ wayOut: String) {
    let said = output.standardError
    #expect(output.code == 71 && said.contains(problem) && said.hasSuffix(wayOut), "\(output)")
  }

  /// The beginning of a shell's command line that lets what follows start no thread. The system limits all users but root, who
  /// becomes `nobody`.
  private static let withoutThreads =
    (getuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "") + "prlimit --nproc=1 "

  /// Where the tools are missing, or `nobody` may not read the program, there is nothing to try.
  private static func canForbidThreads() throws -> Bool {
    let shell = "exec \(withoutThreads) \"$0\" \"$@\""
    return try Tool.process(["--version"], in: URL(filePath: "/"), shell: shell).code == 0
  }

  @Test(
    "a command that may start no thread is 71, with the way out, and does not hang",
    .enabled(if: try canForbidThreads()),
    arguments: [["run"], ["compare"], ["live", "--server", "http://127.0.0.1:9"]])
  func noThreads(arguments: [String]) throws {
    let scratch = try Scratch.with()
    expectLimited(
      try Tool.process(
        arguments + ["s.json5"], in: scratch.url,
        shell: "chmod 755 . && chmod 644 s.json5 && exec \(Self.withoutThreads) \"$0\" \"$@\""),
      "the system starts no more threads: ",
      "; raise the limit of this user or container, as with 'ulimit -u 4096'\n")
  }

  @Test("a place that cannot be written is 73 before anything is simulated")
  func unwritable() throws {
    let scratch = try Scratch(["endless.json5": Scenarios.endless, "file": "mine", "notes/todo.txt": "mine"])
    try FileManager.default.createSymbolicLink(
      atPath: scratch.url.path + "/link", withDestinationPath: "nowhere/at/all")
    for (place, words) in [
      ("file", "exists and is not a directory"), ("file/below", "cannot be created"),
      ("/proc/fleetsim", "cannot be created"), ("notes", "holds 'todo.txt', which fleetsim did not write"),
      (".", "fleetsim did not write"), ("/", "name a directory below it"), ("gone/../x", "does not exist"),
      ("link", "is a symbolic link to a place that does not exist"),
      ("link/below", "'link' is a symbolic link to a place that does not exist"),
    ] {
      let output = try scratch.run(["run", "endless.json5", "--out", place], code: 73, says: words)
      #expect(output.standardError.hasPrefix("\(place): "))
    }
    #expect(scratch.contents == ["endless.json5", "file", "link", "notes", "notes/todo.txt"])
  }

  @Test(
    "a full disk under standard output is 74, and the files are written all the same",
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func fullDisk() throws {
    let output = try written(to: #require(FileHandle(forWritingAtPath: "/dev/full")))
    #expect(output.code == 74)
    #expect(output.standardError == "standard output: cannot be written: No space left on device\n")
  }

  @Test("a reader that has gone away is no error")
  func closedPipe() throws {
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    let output = try written(to: pipe.fileHandleForWriting)
    #expect(output.code == 0 && output.standardError == "", "\(output)")
  }

  /// Runs a scenario, and expects its files.
  private func written(to standardOutput: FileHandle) throws -> Tool.Output {
    let scratch = try Scratch.with()
    let output = try Tool.run(
      ["run", "s.json5", "--seed", "5", "--out", "out"], in: scratch.url,
      standardOutput: standardOutput.fileDescriptor)
    #expect(scratch.contents.contains("out/run.json"))
    return output
  }
}
