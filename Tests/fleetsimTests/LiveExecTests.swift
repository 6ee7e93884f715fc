import Foundation
import TestSupport
import Testing

/// `fleetsim live --exec`: a process for each device, against a server in this process.
@Suite("A fleet of processes", .serialized)
struct LiveExecTests {
  private static let hasPython =
    FileManager.default.isExecutableFile(atPath: "/usr/bin/env")
    && ["/usr/bin/python3", "/usr/local/bin/python3"].contains {
      FileManager.default.isExecutableFile(atPath: $0)
    }

  private static let scenario = """
    { format: 1, seed: 1, duration: "6s", interval: "1s",
      tapi: { bucket: { capacity: "50/s", burst: 50 }, overload: { status: 503 } },
      network: { latency: "5ms" },
      fleet: [{ name: "phones", devices: 4, events: { every: "2s", phase: "flush" }, flush: { count: 1, interval: "1s" }, timeout: "5s" }] }
    """

  /// An SDK that sends each event at once.
  private static let client = """
    import json, sys, time, urllib.request
    asked = json.loads(sys.argv[2])
    due = asked["startAt"]
    for sequence in asked["sequences"]:
        due += sequence["delayMs"]
        time.sleep(max(0, due / 1000 - time.time()))
        for event in sequence["events"]:
            body = json.dumps({"batch": [event]}).encode()
            urllib.request.urlopen(urllib.request.Request(asked["apiHost"] + "/v1/b", body)).read()
    """

  private func run(_ options: [String], _ scenario: String = Self.scenario) throws -> (Tool.Output, Scratch) {
    let scratch = try Scratch()
    try scratch.write("s.json5", scenario)
    try scratch.write("c.py", Self.client)
    return (try Tool.run(["live", "s.json5"] + options, in: scratch.url), scratch)
  }

  @Test(
    "each process sends its device's events, and the run is compared with its prediction",
    .enabled(if: hasPython))
  func processes() throws {
    let server = try SocketServer { _ in SocketServer.status("200 OK") }
    let (output, scratch) = try run([
      "--server", server.url, "--exec", "python3 c.py", "--warm-up", "4s", "--predictions", "3", "--out",
      "out",
    ])
    #expect(output.code == 0, "\(output.standardError)")
    // Four devices with an event each 2 s from within the first second on; the last have a second to come.
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
  func nothing() throws {
    let server = try SocketServer { _ in SocketServer.status("200 OK") }
    let (output, _) = try run([
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
  func usage(options: [String]) throws {
    #expect(try run(["--server", "http://127.0.0.1:9"] + options).0.code == 64)
  }

  @Test(
    "more devices than processes, and more events than an argument holds, are named with what would be right",
    arguments: [
      ("devices: 4", "devices: 501", "--scale 1:2 runs a part of them"),
      ("every: \"2s\"", "every: \"2ms\"", "give fewer events or a shorter duration"),
    ])
  func tooMany(key: String, value: String, message: String) throws {
    let (output, _) = try run(
      ["--server", "http://127.0.0.1:9", "--exec", "true"], Self.scenario.replacing(key, with: value))
    #expect(output.code == 65)
    #expect(output.standardError.contains(message), "\(output.standardError)")
  }
}
