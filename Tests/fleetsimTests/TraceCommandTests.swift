import Testing

@Suite("Trace command")
struct TraceCommandTests {
  /// Two devices that do the same at the same times: events and flushes at 0, 60, 120 s, 0.1 s to the server and 0.1 s back,
  /// waits of 8, 16 s without jitter, 503 for the first 5 s, a restart at 70 s, and 429 at the flush after it (70 + 60 s).
  private static let scenario = """
    {
      format: 1, duration: "150s", interval: "10s",
      tapi: { bucket: { capacity: "100/s", burst: 100 }, incidents: [
        { kind: "outage", at: "0s", for: "5s", status: 503 },
        { kind: "outage", at: "130s", for: "1s", status: 429, retryAfter: "7s" } ] },
      network: { latency: "100ms" },
      settings: { backoffConfig: { baseBackoffInterval: 8, jitterStrategy: "none" } },
      fleet: [{ name: "phones", devices: 2, events: { every: "60s", phase: "flush" }, retries: "timer",
                flush: { count: null, interval: "60s", phase: "synchronised" },
                lifecycle: { synchronised: [{ at: "70s" }], flushAtLaunch: false } }],
    }
    """

  private func run(_ line: String) throws -> (Tool.Output, Scratch) {
    let scratch = try Scratch.with(Self.scenario)
    return (try scratch.run("trace s.json5 " + line, code: 0), scratch)
  }

  @Test("the text tells what happens to one device, as worked out by hand")
  func text() throws {
    let (output, _) = try run("--device 1")
    #expect(
      output.standardError == """
        s.json5:5: warning: tapi.incidents.1: ends 19s before the run does: no recovery can be seen, which has to hold for 1m

        """)
    #expect(
      output.standardOutput == """
        fleetsim trace: device 1, phones (tapi-document); seed 1; flushes at 1 min; retries by timer

               time   queue  what    batch  details
        0:00:00.000          server         outage 503 begins
        0:00:00.000       1  flush          interval of 1 min, 1 event: seals #1 (event 1)
        0:00:00.000       1  send    #1     try 1, X-Retry-Count 0, 1 event
        0:00:00.200       1  answer  #1     503 after 0.2 s: backs off 8 s, until 0:00:08.200
        0:00:05.000          server         outage 503 ends
        0:00:08.200       1  timer          a wait is over
        0:00:08.200       1  send    #1     try 2, X-Retry-Count 1, 1 event
        0:00:08.400       0  answer  #1     200 after 0.2 s: delivered
        0:01:00.000       1  flush          interval of 1 min, 1 event: seals #2 (event 2)
        0:01:00.000       1  send    #2     try 1, X-Retry-Count 0, 1 event
        0:01:00.200       0  answer  #2     200 after 0.2 s: delivered
        0:01:10.000       0  launch         the app restarts, its retry state is restored
        0:02:10.000          server         outage 429 begins
        0:02:10.000       1  flush          interval of 1 min, 1 event: seals #3 (event 3)
        0:02:10.000       1  send    #3     try 1, X-Retry-Count 0, 1 event
        0:02:10.200       1  answer  #3     429, Retry-After 7 s, after 0.2 s: the pipeline waits 7 s, until 0:02:17.200
        0:02:10.200       1  gate           READY > WAITING until 0:02:17.200 (7 s)
        0:02:11.000          server         outage 429 ends
                             ⋮              6.2 s: the pipeline waits
        0:02:17.200       1  gate           WAITING > READY: the wait is over
        0:02:17.200       1  timer          a wait is over
        0:02:17.200       1  send    #3     try 2, X-Retry-Count 1, 1 event
        0:02:17.400       0  answer  #3     200 after 0.2 s: delivered

        5 attempts; 3 events delivered, 0 given up, 0 still queued at the end.

        """)
  }

  @Test("--from and --to cut the text, and say so when nothing is left")
  func range() throws {
    let (part, _) = try run("--device 0 --from 1m --to 0:01:05")
    let times = part.standardOutput.split(separator: "\n").filter { $0.hasPrefix("0:") }.map { $0.prefix(11) }
    #expect(times == ["0:01:00.000", "0:01:00.000", "0:01:00.200"])
    #expect(
      part.standardOutput.hasSuffix(
        "\nIn the whole run: 5 attempts; 3 events delivered, 0 given up, 0 still queued at the end.\n"))
    let (nothing, _) = try run("--device 0 --from 80s --to 100s")
    #expect(nothing.standardOutput.contains("Nothing happens in this stretch of time.\n"))
  }

  @Test("perfetto is Chrome trace event JSON: uploads and waits with their lengths in microseconds")
  func perfetto() throws {
    let (output, scratch) = try run("--device 1 --format perfetto --out t.json")
    #expect(output.standardOutput == "Written to t.json; open it in a trace viewer, as ui.perfetto.dev\n")
    let events = try scratch.json("t.json")["traceEvents"]?.elements ?? []
    for event in events {
      let isSlice = event["ph"] == .string("X")
      #expect(event["name"]?.text != nil && event["ph"]?.text != nil, "\(event)")
      for key in ["pid", "ts"] + (isSlice ? ["dur", "tid"] : []) {
        #expect(event[key]?.number.flatMap { Int(exactly: $0) } != nil, "\(event)")
      }
    }
    func cells(_ event: JSON, _ keys: String...) -> String {
      keys.map { event[$0]?.text ?? "\(Int(event[$0]?.number ?? -1))" }.joined(separator: " ")
    }
    func slices(_ category: String) -> [String] {
      events.filter { $0["ph"]?.text == "X" && $0["cat"]?.text == category }
        .map { cells($0, "name", "ts", "dur") }
    }
    #expect(
      slices("upload") == [
        "#1 try 1: 503 0 200000", "#1 try 2: 200 8200000 200000", "#2 try 1: 200 60000000 200000",
        "#3 try 1: 429 130000000 200000", "#3 try 2: 200 137200000 200000",
      ])
    let gate = ["READY 0 130200000", "WAITING 130200000 7000000", "READY 137200000 12800000"]
    #expect(slices("gate") == gate)
    #expect(slices("server") == ["outage 503 0 5000000", "outage 429 130000000 1000000"])
    // A backoff begins and ends once, under one id.
    let backoffs = events.filter { $0["cat"]?.text == "backoff" }
    #expect(backoffs.map { cells($0, "ph", "ts") } == ["b 200000", "e 8200000"])
    #expect(backoffs[0]["id"] != nil && backoffs[0]["id"] == backoffs[1]["id"])
    // What the text tells stands beside them.
    let story = events.filter { $0["ph"]?.text == "i" }.compactMap { $0["name"]?.text }
    #expect(story.prefix(4) == ["server", "flush", "send #1", "answer #1"])
  }

  @Test("a file that fleetsim did not write is not replaced by a trace")
  func foreignFile() throws {
    let scratch = try Scratch.with(Self.scenario, and: ["mine.json": "{}"])
    try scratch.run("trace s.json5 --device 0 --format perfetto --out mine.json", code: 73)
    #expect(try scratch.text("mine.json") == "{}")
  }
}
