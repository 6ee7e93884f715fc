import Foundation
import HTTPTransport
import TestSupport
import Testing

/// `fleetsim live --exec`: a process for each device, against a server in this process.
@Suite("A fleet of processes")
struct LiveExecTests {
  private static let scenario = """
    { format: 1, seed: 1, duration: "3s", interval: "1s",
      tapi: { bucket: { capacity: "50/s", burst: 50 }, overload: { status: 503 } },
      network: { latency: "5ms" },
      fleet: [{ name: "phones", devices: 4, events: { every: "1s", phase: "flush" },
        flush: { count: 1, interval: "200ms" }, timeout: "5s" }] }
    """

  /// Leaves its input to a thread of the test.
  private static let client = #"printf %s "$2" >$$.new; mv $$.new $$.input; exec sleep 60"#

  /// An SDK that sends each event at once.
  private static func sdk(_ input: URL) throws {
    let asked = try #require(
      JSONSerialization.jsonObject(with: Data(contentsOf: input)) as? [String: Any])
    let server = try LoopbackURL(asked["apiHost"] as? String ?? "")
    var due = (asked["startAt"] as? Double ?? 0) / 1_000
    for sequence in asked["sequences"] as? [[String: Any]] ?? [] {
      due += (sequence["delayMs"] as? Double ?? 0) / 1_000
      Thread.sleep(until: Date(timeIntervalSince1970: due))
      for event in sequence["events"] as? [[String: Any]] ?? [] {
        let body = try JSONSerialization.data(withJSONObject: ["batch": [event]])
        try send(body, to: server)
      }
    }
  }

  /// Waits for the answer.
  private static func send(_ body: Data, to server: LoopbackURL) throws {
    let client = try #require(server.connect { _ in }).descriptor
    defer { close(client) }
    let lines = ["POST /v1/b HTTP/1.1", "Host: \(server.authority)", "Content-Length: \(body.count)"]
    let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    var chunk = [UInt8](repeating: 0, count: 1 << 12)
    for event in [POLLOUT, POLLIN] {
      var wait = pollfd(fd: client, events: Int16(event), revents: 0)
      poll(&wait, 1, -1)
      if event == POLLOUT { #expect(write(client, bytes, bytes.count) == bytes.count) }
    }
    _ = read(client, &chunk, chunk.count)
  }

  /// Lets threads of this process be the SDKs of so many processes.
  private static func serve(_ count: Int, in folder: URL) {
    Thread.detachNewThread {
      var served: Set<String> = []
      for _ in 0..<3_000 where served.count < count {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasSuffix(".input") && served.insert(name).inserted {
          Thread.detachNewThread { try? sdk(folder.appending(path: name)) }
        }
        usleep(10_000)
      }
    }
  }

  @Test("each process sends its device's events, and the run is compared with its prediction")
  func processes() async throws {
    let server = try SocketServer { _ in SocketServer.status("200 OK") }
    let scratch = try Scratch.with(Self.scenario, and: ["c.sh": Self.client])
    Self.serve(4, in: scratch.url)
    let words = [
      "live", "s.json5", "--server", server.url, "--exec", "sh c.sh", "--warm-up", "1s", "--predictions", "3",
    ]
    try await Scratch.aside { try scratch.run(words + ["--out", "out"], code: 0) }
    // Four devices with an event each second from within the first 200 ms on; the last have 800 ms to come.
    #expect(server.requests.count == 12)
    let bodies = server.requests.joined()
    for device in 0..<4 {
      for event in 0..<3 { #expect(bodies.contains("fleetsim_\(device)_\(event)_event")) }
    }
    let rows = try scratch.table("out/live.csv")
    for name in ["attempts", "answers_2xx", "delivered_events"] {
      let row = try #require(rows.first { $0[0] == name })
      #expect(row[2] == "12.000000" && row[3] == "12.000000", "\(row)")
    }
  }

  @Test("a command that sends nothing is named, and the run does not go on")
  func nothing() async throws {
    let server = try SocketServer { _ in SocketServer.status("200 OK") }
    let words = ["live", "s.json5", "--server", server.url, "--exec", "no-such-command-here"]
    try await Scratch.aside {
      try Scratch.with(Self.scenario).run(
        words + ["--warm-up", "0s", "--predictions", "1"], code: 69,
        says: "--exec 'no-such-command-here': no process sent anything: ")
    }
    #expect(server.requests.isEmpty)
  }
}
