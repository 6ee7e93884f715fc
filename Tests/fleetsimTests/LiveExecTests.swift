import Foundation
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
    let host = asked["apiHost"] as? String ?? ""
    let port = Int(host.split(separator: ":").last ?? "") ?? 0
    var due = (asked["startAt"] as? Double ?? 0) / 1_000
    for sequence in asked["sequences"] as? [[String: Any]] ?? [] {
      due += (sequence["delayMs"] as? Double ?? 0) / 1_000
      Thread.sleep(until: Date(timeIntervalSince1970: due))
      for event in sequence["events"] as? [[String: Any]] ?? [] {
        let body = try JSONSerialization.data(withJSONObject: ["batch": [event]])
        _ = try Loopback.request("POST", "/v1/b", body: String(decoding: body, as: UTF8.self), port: port)
      }
    }
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

  private func run(
    _ options: [String], _ scenario: String = Self.scenario
  ) async throws -> (Tool.Output, Scratch) {
    let scratch = try Scratch.with(scenario, and: ["c.sh": Self.client])
    let folder = scratch.url
    return (
      try await aside {
        if options.contains("sh c.sh") { Self.serve(4, in: folder) }
        return try Tool.run(["live", "s.json5"] + options, in: folder)
      }, scratch
    )
  }

  @Test("each process sends its device's events, and the run is compared with its prediction")
  func processes() async throws {
    let server = try SocketServer { _ in SocketServer.status("200 OK") }
    let (output, scratch) = try await run([
      "--server", server.url, "--exec", "sh c.sh", "--warm-up", "1s", "--predictions", "3", "--out", "out",
    ])
    #expect(output.code == 0, "\(output.standardError)")
    // Four devices with an event each second from within the first 200 ms on; the last have 800 ms to come.
    #expect(server.requests.count == 12)
    let bodies = server.requests.joined()
    for device in 0..<4 {
      for event in 0..<3 { #expect(bodies.contains("fleetsim_\(device)_\(event)_event")) }
    }
    let rows = try scratch.text("out/live.csv").split(separator: "\n").map { $0.split(separator: ",") }
    for name in ["attempts", "answers_2xx", "delivered_events"] {
      let row = try #require(rows.first { $0[0] == name })
      #expect(row[2] == "12.000000" && row[3] == "12.000000", "\(row)")
    }
  }

  @Test("a command that sends nothing is named, and the run does not go on")
  func nothing() async throws {
    let server = try SocketServer { _ in SocketServer.status("200 OK") }
    let (output, _) = try await run([
      "--server", server.url, "--exec", "no-such-command-here", "--warm-up", "0s", "--predictions", "1",
    ])
    #expect(output.code == 69)
    #expect(
      output.standardError.contains("--exec 'no-such-command-here': no process sent anything: "),
      "\(output.standardError)")
    #expect(server.requests.isEmpty)
  }

  @Test(
    "options that do not go together are refused",
    arguments: [["--warm-up", "3s"], ["--exec", " "], ["--exec", "true", "--speed", "2"]])
  func usage(options: [String]) async throws {
    #expect(try await run(["--server", "http://127.0.0.1:9"] + options).0.code == 64)
  }

  @Test(
    "more devices than processes, and more events than an argument holds, are named with what would be right",
    arguments: [
      ("devices: 4", "devices: 501", "--scale 1:2 runs a part of them"),
      ("every: \"1s\"", "every: \"1ms\"", "give fewer events or a shorter duration"),
    ])
  func tooMany(key: String, value: String, message: String) async throws {
    let (output, _) = try await run(
      ["--server", "http://127.0.0.1:9", "--exec", "true"], Self.scenario.replacing(key, with: value))
    #expect(output.code == 65)
    #expect(output.standardError.contains(message), "\(output.standardError)")
  }
}
