import Foundation
import TestSupport
import Testing

/// `fleetsim conformance --serve`: a user at the keyboard and an SDK that is no process.
@Suite("Conformance by hand", .serialized)
struct ConformanceServeTests {
  /// The command, its keyboard and what it has told.
  private final class Served {
    let process = Process()
    let port: Int
    private let keyboard = Pipe()
    private let (output, errors) = (Pipe(), Pipe())
    private(set) var told = ""

    init(_ arguments: [String], in scratch: Scratch) throws {
      process.executableURL = Tool.executable
      process.arguments = ["conformance", "--serve", "0"] + arguments
      process.currentDirectoryURL = scratch.url
      (process.standardInput, process.standardOutput, process.standardError) = (keyboard, output, errors)
      try process.run()
      let child = process
      DispatchQueue.global().asyncAfter(deadline: .now() + 60) {
        if child.isRunning { kill(child.processIdentifier, SIGKILL) }
      }
      var text = ""
      while !text.contains(" is the API host") {
        let more = errors.fileHandleForReading.availableData
        if more.isEmpty { break }
        text += String(decoding: more, as: UTF8.self)
      }
      told = text
      let address = text.split(separator: " ").first ?? ""
      port = Int(address.split(separator: ":").last ?? "") ?? 0
      #expect(address.hasPrefix("http://127.0.0.1:"))
    }

    func waits(for text: String) {
      while !told.contains(text) {
        let more = errors.fileHandleForReading.availableData
        if more.isEmpty { return }
        told += String(decoding: more, as: UTF8.self)
      }
    }

    func enter() { keyboard.fileHandleForWriting.write(Data("\n".utf8)) }

    /// Ctrl-D, or a signal; what it printed.
    func end(signal: Int32? = nil) throws -> (code: Int32, text: String) {
      if let signal { kill(process.processIdentifier, signal) }
      try keyboard.fileHandleForWriting.close()
      let text = output.fileHandleForReading.readDataToEndOfFile()
      told += String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }

    /// What a request is answered.
    func request(_ method: String, _ path: String, _ headers: [String] = [], body: String = "") throws
      -> String
    {
      #if canImport(Darwin)
        let kind = SOCK_STREAM
      #else
        let kind = Int32(SOCK_STREAM.rawValue)
      #endif
      let descriptor = socket(AF_INET, kind, 0)
      defer { close(descriptor) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = in_port_t(port).bigEndian
      address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
      let isConnected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      try #require(isConnected)
      let lines =
        ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1"] + headers + ["Content-Length: \(body.utf8.count)"]
      let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
      #expect(write(descriptor, bytes, bytes.count) == bytes.count)
      var (answer, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 12))
      while true {
        let count = read(descriptor, &chunk, chunk.count)
        if count <= 0 { return String(decoding: answer, as: UTF8.self) }
        answer += chunk[..<count]
      }
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
    for shell in [nil, "exec <&-"] {
      let closed = try Tool.run(["conformance", "--serve", "0"], in: scratch.url, shell: shell)
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
