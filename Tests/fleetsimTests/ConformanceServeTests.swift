import CommandLineInterface
import Foundation
import TestSupport
import Testing

/// `fleetsim conformance --serve`: a user at the keyboard and an SDK that is no process.
@Suite("Conformance by hand")
struct ConformanceServeTests {
  /// The command, its keyboard and what it has told.
  private final class Served {
    private(set) var port = 0
    private let command: Running
    private let keyboard = Pipe()
    private let (output, errors): (Capture, Capture)
    var told: String { errors.text }

    init(_ arguments: [String], in scratch: Scratch) throws {
      (output, errors) = (try Capture(), try Capture())
      command = Running(
        ["conformance", "--serve", "0"] + arguments, in: scratch.url.path,
        Console(
          input: keyboard.fileHandleForReading.fileDescriptor, output: output.descriptor,
          errors: errors.descriptor, variables: [:]))
      waits(for: " is the API host")
      let address = told.split(separator: " ").first ?? ""
      port = Int(address.split(separator: ":").last ?? "") ?? 0
      #expect(address.hasPrefix("http://127.0.0.1:"))
    }

    /// Waits for a minute at most, however busy the machine is.
    func waits(for text: String) {
      for _ in 0..<30_000 where !told.contains(text) && !command.hasEnded { usleep(2_000) }
    }

    func enter() { keyboard.fileHandleForWriting.write(Data("\n".utf8)) }

    /// Ctrl-D, or a signal; what it printed.
    func end(signal: Int32? = nil) throws -> (code: Int32, text: String) {
      if let signal { command.signals.receive(signal) }
      try keyboard.fileHandleForWriting.close()
      return (command.end(), output.text)
    }

    func request(_ method: String, _ path: String, _ headers: [String] = [], body: String = "") throws
      -> String
    {
      try Loopback.request(method, path, headers, body: body, port: port)
    }

    func upload(_ event: String, _ headers: String...) throws -> String {
      try request("POST", "/v1/b", headers, body: #"{"batch":[{"event":"\#(event)"}]}"#)
    }
  }

  @Test("each case is told, watched and judged, and the report is that of --exec")
  func cases() throws {
    let scratch = try Scratch()
    let served = try Served(
      [
        "--case", "write-key", "--case", "first-try-says-0", "--case", "reports-drop", "--junit", "j.xml",
        "--exchanges", "e",
      ],
      in: scratch)
    served.waits(for: "then flush")
    #expect(served.told.contains("case 1 of 3, write-key (S1)"))
    #expect(served.told.contains("track 'fleetsim_1_a_event'"))
    // The base64 of `fleetsim-key:`.
    let key = "Authorization: Basic ZmxlZXRzaW0ta2V5Og=="
    #expect(try served.upload("fleetsim_1_a_event", key).hasPrefix("HTTP/1.1 503 "))
    #expect(try served.upload("fleetsim_1_a_event", key).hasPrefix("HTTP/1.1 200 "))
    served.enter()
    served.waits(for: "track 'fleetsim_2_a_event'")
    #expect(try served.upload("fleetsim_2_a_event", key).hasPrefix("HTTP/1.1 200 "))
    served.enter()
    served.waits(for: "does not hold")
    let (code, text) = try served.end()
    #expect(code == 1)
    #expect(
      text.contains("upload 1 has no X-Retry-Count; 0 is expected (e/first-try-says-0.json)"), "\(text)")
    #expect(text.contains("no process says what became of its events"))
    #expect(served.told.contains("1 requirement holds, 1 does not, 0 inconclusive"), "\(served.told)")
    let junit = try scratch.text("j.xml")
    #expect(junit.contains("tests=\"3\" failures=\"1\" skipped=\"1\""))
    #expect(try JSON(text: scratch.text("e/write-key.json"))["end"] == .string("ended by hand"))
  }

  @Test("what has no event of the case is accepted and does not count")
  func strays() throws {
    let served = try Served(["--case", "status-400-drops"], in: Scratch())
    served.waits(for: "then flush")
    #expect(try served.upload("Application Opened").hasPrefix("HTTP/1.1 200 "))
    #expect(try served.upload("fleetsim_1_a_event").hasPrefix("HTTP/1.1 400 "))
    #expect(try served.upload("fleetsim_7_a_event").hasPrefix("HTTP/1.1 200 "))
    served.enter()
    served.waits(for: "  holds")
    #expect(try served.end().code == 0)
    #expect(served.told.components(separatedBy: "does not count").count == 3)
  }

  @Test("a page of another origin may send, and an app may ask what to do")
  func pages() throws {
    let served = try Served(["--case", "on-503"], in: Scratch())
    served.waits(for: "then flush")
    let origin = "Origin: http://localhost:3000"
    let asked = try served.request(
      "OPTIONS", "/v1/b",
      [origin, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: x-retry-count"])
    // Fetch standard, 3.3: the answer to a preflight.
    for line in [
      "HTTP/1.1 204 ", "Access-Control-Allow-Origin: http://localhost:3000",
      "Access-Control-Allow-Methods: GET, POST",
      "Access-Control-Allow-Headers: x-retry-count",
    ] { #expect(asked.contains(line), "\(asked)") }
    let answer = try served.upload("fleetsim_1_a_event", origin)
    for line in [
      "HTTP/1.1 503 ", "Retry-After: 3", "Access-Control-Allow-Origin: http://localhost:3000",
      "Access-Control-Expose-Headers: Retry-After",
    ] { #expect(answer.contains(line), "\(answer)") }
    let page = try served.request("GET", "/fleetsim")
    #expect(page.contains(#""apiHost":"http://127.0.0.1:\#(served.port)""#))
    #expect(page.contains(#""event":"fleetsim_1_a_event""#))
    #expect(try served.request("GET", "/v1/projects/fleetsim-key/settings").contains("httpConfig"))
    #expect(try served.end().code == 0)
  }

  @Test("a signal ends it with a report of what was judged")
  func interrupted() throws {
    let served = try Served(
      ["--case", "status-400-drops", "--case", "ready-other-2xx", "--json"], in: Scratch())
    served.waits(for: "then flush")
    _ = try served.upload("fleetsim_1_a_event")
    served.enter()
    served.waits(for: "case 2 of 2")
    let (code, text) = try served.end(signal: SIGINT)
    #expect(code == 130)
    #expect(try JSON(text: text)["cases"]?.elements.count == 1)
  }

  @Test("a port in use and an input that ends at once are named, with what would be right")
  func bad() throws {
    let (scratch, other) = (try Scratch(), try SocketServer { _ in nil })
    let taken = try Tool.run(["conformance", "--serve", "\(other.port)"], in: scratch.url)
    #expect(taken.code == 69)
    #expect(
      taken.standardError.contains(
        "127.0.0.1:\(other.port): another program listens there; give --serve another one"))
    let command = ["conformance", "--serve", "0"]
    for closed in [
      try Tool.run(command, in: scratch.url), try Tool.process(command, in: scratch.url, shell: "exec <&-"),
    ] {
      #expect(closed.code == 66)
      #expect(
        closed.standardError.contains("standard input: it ended before a case was judged"),
        "\(closed.standardError)")
    }
  }

  @Test(
    "options that do not go together are refused",
    arguments: [
      ["--serve", "0", "--exec", "true"], ["--serve", "0", "--jobs", "2"],
      ["--serve", "0", "--any-exit-status"],
      ["--serve", "0", "--client", "segment-swift"], ["--serve", "65536"], ["--serve", "localhost"],
    ])
  func usage(arguments: [String]) throws {
    let scratch = try Scratch()
    #expect(try Tool.run(["conformance"] + arguments, in: scratch.url).code == 64)
  }
}
