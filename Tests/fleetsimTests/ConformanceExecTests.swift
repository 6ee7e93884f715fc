import Foundation
import Testing

/// `fleetsim conformance --exec`: real processes over HTTP on this machine.
@Suite("Conformance of a process")
struct ConformanceExecTests {
  private static let hasPython = Self.shell("command -v python3") == 0

  private static func shell(_ command: String) -> Int32 {
    let (shell, words) = (URL(filePath: "/bin/sh"), ["-c", "exec >/dev/null; \(command)"])
    guard let process = try? Process.run(shell, arguments: words) else { return -1 }
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// The client of the experiments that does as the document says, with a fault.
  private func planted(_ fault: String) -> String {
    let path = Tool.repository.appending(path: "experiments/conformance/planted/cli.py").path
    // Without the search for modules that it does not use.
    return "python3 -IS '\(path)' --fault \(fault)"
  }

  @discardableResult
  private func judge(
    _ command: String, _ more: [String] = [], in scratch: Scratch? = nil, code: Int32? = nil,
    says part: String? = nil
  ) async throws -> Tool.Output {
    let scratch = try scratch ?? Scratch()
    return try await Scratch.aside {
      try scratch.run(["conformance", "--exec", command] + more, code: code, says: part)
    }
  }

  /// A client in the shell, which connects.
  private static let connect = """
    port=${2#*127.0.0.1:}
    exec 3<>/dev/tcp/127.0.0.1/${port%%[!0-9]*}

    """

  /// One that sends something, and takes the answer.
  private static func client(sending bytes: String, _ end: String = "sleep 9") -> String {
    connect + "printf '\(bytes)' >&3\ncat <&3 >/dev/null\n\(end)\n"
  }

  /// One that sends an event of no case.
  private static func uploading(_ end: String) -> String {
    client(sending: #"POST /v1/b HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}"#, end)
  }

  @Test(
    "each planted fault is found, by the requirement that it breaks", .enabled(if: hasPython),
    arguments: [
      ("retries-400", "status-400-drops", "S5", "2 uploads came; 1 at most are expected"),
      ("ignores-retry-after", "seconds", "S4", "2 s, the Retry-After"),
      ("no-header", "first-try-says-0", "S2", "upload 1 has no X-Retry-Count; 0 is expected"),
      ("parallel", "one-after-another", "S3", "began before another one was answered"),
      ("no-backoff", "wait-after-0", "S10", "0.5 to 0.55 s, the backoff of the document"),
      ("no-key", "write-key", "S1", "upload 1 has no Authorization, without the write key"),
      ("sends-twice", "accepted-once", "S17", "again, which had been accepted"),
      ("one-too-many", "two-retries", "S12", "4 uploads came; 3 at most are expected"),
    ])
  func faults(fault: String, id: String, requirement: String, seen: String) async throws {
    let scratch = try Scratch()
    let output = try await judge(
      planted(fault), ["--case", id, "--exchanges", "e", "--junit", "j.xml"], in: scratch, code: 1)
    let line = output.standardOutput.split(separator: "\n").first { $0.hasPrefix("  \(requirement)") } ?? ""
    #expect(line.contains("\(id): ") && line.contains(seen), "\(output.standardOutput)")
    #expect(line.hasSuffix("(e/\(id).json)"))
    let exchange = try scratch.json("e/\(id).json")
    #expect(exchange["verdict"] == .string("does not hold"))
    #expect(!(exchange["uploads"]?.elements.isEmpty ?? true))
    let junit = try scratch.text("j.xml")
    #expect(junit.contains("tests=\"1\" failures=\"1\" skipped=\"0\""))
    #expect(junit.contains("classname=\"\(requirement)\" name=\"\(id)\""))
  }

  @Test("the client without a fault fails nothing", .enabled(if: hasPython))
  func document() async throws {
    let ids = [
      "status-400-drops", "seconds", "first-try-says-0", "one-after-another", "wait-after-0", "write-key",
      "accepted-once",
    ]
    let output = try await judge(planted("none"), ids.flatMap { ["--case", $0] })
    #expect(output.code != 1, "\(output.standardOutput)")
    #expect(output.standardOutput.contains(" 0 do not, "))
    #expect(!output.standardOutput.contains("Does not hold"))
  }

  @Test("JSON is what the schema says", .enabled(if: hasPython))
  func json() async throws {
    let options = ["--case", "first-try-says-0", "--json"]
    let document = try await judge(planted("no-header"), options).json
    #expect(document.violations(of: try JSONDocumentTests.schema.get()) == [])
    let levels = document["requirements"]?.elements.map { $0["level"] } ?? []
    #expect(levels.count == 21 && levels[1] == .string("does not hold"))
    #expect(document["cases"]?.elements.count == 1)
    // A restart, hours, a state: by name, with the reason.
    let inexpressible = document["inexpressible"]?.elements ?? []
    #expect(Set(inexpressible.map { $0["id"]?.text }).count > 100)
    #expect(inexpressible.allSatisfy { $0["reason"]?.text?.isEmpty == false })
  }

  @Test(
    "a command that can't be judged is named in one sentence",
    arguments: [
      ("no-such-command-here", 66, "there is no such command that can be run"),
      ("true", 69, "it ended with exit status 0 and sent nothing"),
      ("echo failed >&2; false", 69, "it ended with exit status 1 and sent nothing: failed"),
      ("kill -SEGV $$; true", 65, "it was ended by signal 11"),
      ("yes; true", 65, "it printed more than 1 MiB and was ended"),
      ("\(nap)7; true", 69, "it sent nothing within 1"),
    ])
  func bad(command: String, code: Int32, message: String) async throws {
    let limit = command.hasPrefix(Self.nap) ? "1s" : "30s"
    let output = try await judge(command, ["--start-limit", limit], code: code, says: message)
    #expect(output.standardError.hasPrefix("--exec '\(command)': ") && output.standardOutput == "")
    #expect(output.standardError.split(separator: "\n").count == 1)
    if command.hasPrefix(Self.nap) {
      #expect(Self.shell("pgrep -f '^\(Self.nap)7'") == 1, "a process is left")
    }
  }

  @Test(
    "so is one that sends and then says nothing of use, only connects, speaks TLS or something else",
    arguments: [
      (
        uploading("echo done"), 65,
        "the last line of its standard output is no JSON object with 'success': done"
      ),
      (uploading(":"), 65, "it printed nothing"),
      (uploading("kill -KILL $$"), 65, "it was ended by signal 9"),
      (connect, 69, "opened 1 connection without an upload"),
      (client(sending: #"\x16\x03\x01"#), 69, "it speaks TLS"),
      (client(sending: #"hello\r\n\r\n"#), 69, "no request of HTTP/1.1"),
    ])
  func badClient(script: String, code: Int32, message: String) async throws {
    try await judge("exec bash c.sh", in: Scratch(["c.sh": script]), code: code, says: message)
  }

  @Test("connections on which nothing comes make room for one with an upload", .enabled(if: hasPython))
  func idle() async throws {
    let script = """
      import socket, sys
      port = int(sys.argv[2].split("127.0.0.1:")[1].split('"')[0])
      connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
      connections[-1].sendall(b"POST /v1/b HTTP/1.1\\r\\nContent-Length: 2\\r\\n\\r\\n{}")
      print(connections[-1].recv(12).decode())
      """
    try await judge(
      "python3 -IS c.py", ["--start-limit", "60s"], in: Scratch(["c.py": script]),
      says: "no JSON object with 'success': HTTP/1.1 ")
  }

  @Test("a client asks no proxy for what is on this machine")
  func proxies() async throws {
    let scratch = try Scratch()
    let command = ["conformance", "--exec", #"echo "$NO_PROXY $no_proxy" >seen; true"#]
    for (given, upper, lower) in [
      ([:], "127.0.0.1,localhost", "127.0.0.1,localhost"), (["no_proxy": "*"], "*", "*"),
      (["NO_PROXY": "a.b", "no_proxy": "c"], "a.b,127.0.0.1,localhost", "c,127.0.0.1,localhost"),
    ] as [([String: String], String, String)] {
      try await Scratch.aside { try scratch.run(command, variables: given) }
      #expect(try scratch.text("seen") == "\(upper) \(lower)\n")
    }
  }

  @Test("a signal ends the processes and the command")
  func interrupted() throws {
    try Scratch().run(
      ["conformance", "--exec", "\(Self.nap)6; true"], code: 130, signal: SIGINT,
      when: { Self.shell("pgrep -f '^\(Self.nap)6'") == 0 })
    #expect(Self.shell("pgrep -f '^\(Self.nap)6'") == 1, "a process is left")
  }

  /// A command that no other test run on this machine has.
  private static let nap = "sleep \(getpid())"
}
