import Testing

@Suite("Trace command")
struct TraceCommandTests {
  /// Two devices that do the same at the same times: events and flushes at 0, 60, 120 s, 0.1 s to the server and 0.1 s back,
  /// waits of 8, 16 s without jitter, 503 for the first 5 s, a restart at 70 s, and 429 at the flush after it (70 + 60 s).
  static let scenario = """
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

  @Test("perfetto is Chrome trace event JSON: uploads and waits with their lengths in microseconds")
  func perfetto() throws {
    let scratch = try Scratch.with(Self.scenario)
    let output = try scratch.run("trace s.json5 --device 1 --format perfetto --out t.json", code: 0)
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
