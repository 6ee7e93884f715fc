import ScenarioFormat
import ScenarioModel
import SimulationKernel
import TestScenarios
import Testing

/// Clients of the catalogue before a dead server, against the schedules that their publishers give; an answer takes 0.2 s.
@Suite("The catalogue of shipped SDKs")
struct CatalogueTests {
  /// When one event's upload is sent again and again, seconds between an answer and the next attempt.
  private func waits(
    _ name: String, duration: Int64, status: Int? = 503, flushInterval: Int64 = 100_000,
    eventGap: Int64 = 100_000,
    count: Int? = nil
  ) throws -> [Double] {
    let preset = try #require(ClientPreset.builtIn(name))
    var fleet = GatedFleet(
      preset: preset, duration: duration, eventGap: .seconds(eventGap),
      outages: [(status, 0, Double(duration))])
    fleet.change = {
      $0.flush = FlushPolicy(count: count, interval: .seconds(flushInterval), isSynchronised: true)
    }
    return try fleet.run().sent.gaps.map { $0 - 0.2 }
  }

  private func lie(_ waits: [Double], around expected: [Double], share: Double) -> Bool {
    waits.count >= expected.count
      && zip(waits, expected).allSatisfy { $0 >= $1 * (1 - share) - 1e-5 && $0 <= $1 * (1 + share) + 1e-5 }
  }

  @Test(
    "each client has a name of its own, and each of the catalogue says what it is and where it comes from")
  func names() {
    #expect(Set(ClientPreset.names).count == ClientPreset.all.count)
    for client in ClientPreset.catalogue {
      #expect(!client.origin.isEmpty && !client.meaning.isEmpty, "\(client.name)")
    }
  }

  @Test("Amplitude Kotlin: 1, 8, 32, 128, 300, 300 s, each ± 50 %, and more than ten of the last")
  func amplitude() throws {
    let waits = try waits("amplitude-kotlin", duration: 7_200)
    #expect(lie(waits, around: [1, 8, 32, 128] + Array(repeating: 300, count: 12), share: 0.5))
    #expect(Set(waits.suffix(10)).count > 5)
  }

  @Test("Amplitude Kotlin waits 30 s after each 429; PostHog's JavaScript client loses what is answered 429")
  func rateLimited() throws {
    let waits = try waits("amplitude-kotlin", duration: 600, status: 429)
    #expect(waits.count > 15 && lie(waits, around: Array(repeating: 30, count: waits.count), share: 0))
    #expect(try self.waits("posthog-js", duration: 600, status: 429).isEmpty)
  }

  @Test("Amplitude Node: twelve waits, then nothing more")
  func amplitudeNode() throws {
    // A loop begins a millisecond after the first failure.
    let expected = [0.101, 0.1, 0.2, 0.2, 0.4, 0.4, 0.8, 0.8, 1.6, 1.6, 3.2, 3.2]
    let waits = try waits("amplitude-node", duration: 600)
    #expect(waits.count == 12 && lie(waits, around: expected, share: 0))
  }

  // Seen: an event a second of one user, 10 minutes of 503: 1,173 uploads, 599 of them empty, with instant answers.
  @Test("Amplitude Node: while a user's loop runs each of the user's new events is an upload without events")
  func emptyUploads() throws {
    var fleet = GatedFleet(
      preset: try #require(ClientPreset.builtIn("amplitude-node")), duration: 600, outages: [(503, 0, 600)])
    fleet.latency = .milliseconds(1)
    let (summary, sent, _) = try fleet.run()
    #expect(abs(sent.count - 1_173) <= 12, "\(sent.count)")
    #expect(summary[.createdEvents] >= 600 && summary[.deliveredEvents] == 0)
  }

  @Test("Amplitude's node SDK tries again after a time-out, and loses what is refused a connection")
  func timeOuts() throws {
    var fleet = GatedFleet(
      preset: try #require(ClientPreset.builtIn("amplitude-analytics-node")), duration: 600,
      eventGap: .seconds(100_000), outages: [(nil, 0, 600)])
    // Each ends 10 s after its send; then it waits 10, 1, 2 … s.
    let waits = [10.0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    #expect(lie(try fleet.run().sent.gaps.map { $0 - 10 }, around: waits, share: 0))
    fleet.adjustServer = { $0.incidents[0].kind = .refused(keepsWork: true) }
    #expect(try fleet.run().sent.count == 1)
  }

  // Seen: a first try leaves and fails, its retry waits for the network, and what is due then goes at once.
  @Test("PostHog JavaScript offline: its retry leaves when the network is back")
  func postHogOffline() throws {
    var fleet = GatedFleet(
      preset: try #require(ClientPreset.builtIn("posthog-js")), duration: 600, eventGap: .seconds(100_000))
    fleet.change = {
      $0.connectivity = Connectivity(
        interruptions: [.init(start: .start, duration: .seconds(100))], flushesOnReconnect: true)
    }
    let (summary, sent, _) = try fleet.run()
    #expect(sent.isClose(to: [100]) && summary[.deliveredEvents] == 1, "\(sent)")
  }

  @Test("gRPC: times 1.6 up to 2 minutes, each ± 20 %")
  func grpc() throws {
    let expected = [
      1, 1.6, 2.56, 4.096, 6.5536, 10.48576, 16.777216, 26.843546, 42.949673, 68.719477, 109.951163, 120, 120,
    ]
    #expect(lie(try waits("grpc", duration: 1_800), around: expected, share: 0.2))
  }

  @Test("OpenTelemetry: times 1.5 up to 30 s, each ± 50 %, no attempt later than 5 minutes after the first")
  func openTelemetry() throws {
    let waits = try waits("opentelemetry-collector", duration: 1_800)
    #expect(lie(waits, around: Array([5, 7.5, 11.25, 16.875, 25.3125, 30].prefix(waits.count)), share: 0.5))
    let total = waits.reduce(0) { $0 + $1 + 0.2 }
    // The wait that would have ended later was at most 45 s.
    #expect(total <= 300.3 && total > 300 - 45)
  }

  @Test("AWS in standard mode: three attempts, the waits full jitter of 1 and 2 s")
  func aws() throws {
    let waits = try waits("aws-sdk-standard", duration: 600)
    #expect(waits.count == 2)
    #expect(waits[0] >= 0 && waits[0] <= 1 && waits[1] >= 0 && waits[1] <= 2)
  }

  // What the publishers' own code did in runs of one event, always 503 or 429: botocore, the Python and the JavaScript SDKs.
  @Test(
    "a client whose code was run waits as that did, and then gives up or goes on",
    arguments: [
      ("segment-python", 503, [0.001], 0.1, 11),
      ("posthog-python", 503, [1, 2, 4], 0, 4), ("posthog-python", 429, [1, 2, 4], 0, 4),
      ("posthog-python", 404, [], 0, 1), ("posthog-python", 408, [1, 2, 4], 0, 4),
      ("mixpanel-python", 503, [0, 0.5, 1, 2], 0, 5), ("mixpanel-python", 404, [], 0, 1),
      ("opentelemetry-python", 503, [1, 2, 4], 0.2, 4), ("opentelemetry-python", 429, [1, 2, 4], 0.2, 4),
      ("opentelemetry-python", 500, [], 0, 1), ("opentelemetry-python", 408, [], 0, 1),
      ("segment-node", 503, [1.5, 3, 6, 12, 24], 1.0 / 3, 11), ("segment-node", 404, [], 0, 1),
      ("segment-node", 460, [1.5, 3, 6, 12, 24], 1.0 / 3, 11),
      ("amplitude-analytics-node", 503, [10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0, 12),
      ("amplitude-analytics-node", 413, [], 0, 1),
      ("amplitude-analytics-browser", 503, [1, 1, 2, 3], 0, 5),
      ("amplitude-node", 404, [], 0, 1),
      ("amplitude-node", 413, [0.101, 0.1, 0.2, 0.2, 0.4, 0.4, 0.8, 0.8, 1.6, 1.6, 3.2, 3.2], 0, 13),
      ("prometheus-remote-write", 503, [0.03, 0.06, 0.12, 0.24, 0.48, 0.96, 1.92, 3.84, 5, 5, 5], 0, nil),
      ("prometheus-remote-write", 429, [], 0, 1),
      ("mixpanel-js", 429, [10, 20, 40, 80, 160, 320, 600, 600, 600], 0, nil), ("mixpanel-js", 404, [], 0, 1),
      ("aws-sdk-standard", 503, [], 0, 3), ("aws-sdk-2026", 503, [], 0, 3), ("aws-sdk-2026", 404, [], 0, 1),
      ("sentry", 503, [], 0, 1), ("sentry", 429, [], 0, 1),
    ] as [(String, Int, [Double], Double, Int?)])
  func recorded(client: String, status: Int, waits expected: [Double], share: Double, sends: Int?) throws {
    let found = try waits(client, duration: 3_600, status: status)
    #expect(lie(found, around: expected, share: share), "\(found)")
    if let sends { #expect(found.count == sends - 1, "\(found)") }
  }

  // Seen: 0.5 to 0.55 s at the lowest and the highest draw, and so on; the last two are flat.
  @Test("Segment Python: 0.5 to 32 s and up to 10 % more, then 60 s twice")
  func segmentPython() throws {
    let waits = try waits("segment-python", duration: 3_600)
    let ladder = [0.5, 1, 2, 4, 8, 16, 32]
    #expect(
      zip(waits.dropFirst(), ladder).allSatisfy { $0 >= $1 - 1e-5 && $0 <= $1 * 1.1 + 1e-5 }, "\(waits)")
    #expect(lie(Array(waits.suffix(2)), around: [60, 60], share: 0))
  }

  // Seen: a 429 that always asks for 60 s is sent 30 times, one that asks for 300 s 6 times.
  @Test("Segment Python gives up after half an hour of Retry-Afters", arguments: [(60, 30), (300, 6)])
  func segmentPythonRetryAfter(asked: Int64, sends: Int) throws {
    var fleet = GatedFleet(
      preset: try #require(ClientPreset.builtIn("segment-python")), duration: 7_000,
      eventGap: .seconds(100_000),
      outages: [(429, 0, 7_000)])
    fleet.retryAfter = .fixed(.seconds(asked))
    fleet.change = { $0.flush = FlushPolicy(count: nil, interval: .seconds(100_000), isSynchronised: true) }
    #expect(try fleet.run().sent.count == sends)
  }

  // Seen, from the first send: lowest draw 2,328 s, highest 3,864 s; each at a poll of 3 s.
  @Test("PostHog JavaScript: ten retries, each at the first poll of 3 s behind its wait")
  func postHogJavaScript() throws {
    var fleet = GatedFleet(
      preset: try #require(ClientPreset.builtIn("posthog-js")), duration: 5_000, eventGap: .seconds(100_000),
      outages: [(503, 0, 5_000)])
    fleet.change = { $0.flush = FlushPolicy(count: nil, interval: .seconds(3), isSynchronised: true) }
    let sent = try fleet.run().sent
    // Polls begin with each failure, 0.2 s after a send.
    #expect(
      sent.count == 11 && sent.gaps.allSatisfy { abs(($0 - 0.2).remainder(dividingBy: 3)) < 1e-6 }, "\(sent)")
    #expect(sent[10] - sent[0] >= 2_328 && sent[10] - sent[0] <= 3_870)
  }

  // Seen: twelve sends, 10 s apart.
  @Test("Amplitude Python: twelve sends, a flush apart")
  func amplitudePython() throws {
    var fleet = GatedFleet(
      preset: try #require(ClientPreset.builtIn("amplitude-python")), duration: 600,
      eventGap: .seconds(100_000),
      outages: [(503, 0, 600)])
    fleet.change = { $0.flush = FlushPolicy(count: nil, interval: .seconds(10), isSynchronised: true) }
    #expect(try fleet.run().sent.isClose(to: (0..<12).map { Double($0) * 10 }))
  }

  // Seen: calls with three sends until the budget is spent, then calls with one; 2026: 17 with three, and one with two.
  @Test(
    "AWS's budget: 50 calls of three sends after a 503, 25 after time-outs, 17 and a half since 2026; then each is lost",
    arguments: [
      ("aws-sdk-standard", 503, 100), ("aws-sdk-standard", nil, 50), ("aws-sdk-2026", 503, 35),
      ("aws-sdk-2026", nil, 35),
    ] as [(String, Int?, Int)])
  func budget(client: String, status: Int?, retries: Int) throws {
    var fleet = GatedFleet(
      preset: try #require(ClientPreset.builtIn(client)), duration: 12_200, eventGap: .seconds(200),
      outages: [(status, 0, 12_200)])
    fleet.change = { $0.flush = FlushPolicy(count: nil, interval: .seconds(200), isSynchronised: true) }
    let (summary, sent, _) = try fleet.run()
    let calls = Int(summary[.createdEvents])
    #expect(calls > 55 && sent.count == calls + retries, "\(sent.count) of \(calls)")
    #expect(summary[.refusedByGate] > 0 && summary.pendingEvents <= 1)
  }

  // Seen: after a 429 without Retry-After everything is lost for 60 s, with one for as long as it asks.
  @Test(
    "Sentry loses all that is new for 60 s after a 429, or for its Retry-After",
    arguments: [(nil, 60), (90, 90)])
  func sentry(asked: Int64?, lost: Int) throws {
    var fleet = GatedFleet(
      preset: try #require(ClientPreset.builtIn("sentry")), duration: 200, eventGap: .seconds(10),
      outages: [(429, 0, 5)])
    if let asked { fleet.retryAfter = .fixed(.seconds(asked)) }
    fleet.change = { $0.flush = FlushPolicy(count: nil, interval: .seconds(10), isSynchronised: true) }
    let (summary, sent, _) = try fleet.run()
    // Events come at 0, 10, 20 … s; the first is answered at 0.2 s.
    #expect(sent.isClose(to: [0] + stride(from: Double(lost + 10), to: 200, by: 10)), "\(sent)")
    #expect(Int(summary[.refusedByGate]) == lost / 10)
  }

  @Test("Mixpanel since 2016: 1, 2, 4, 8, 10, 10 minutes, however many events come")
  func mixpanel() throws {
    let waits = try waits("mixpanel-android", duration: 3_600, eventGap: 1, count: 40)
    #expect(lie(waits, around: [60, 120, 240, 480, 600, 600], share: 0.001))
  }

  @Test("Mixpanel before 2016: with 40 events queued every new event is an attempt")
  func oldMixpanel() throws {
    let preset = try #require(ClientPreset.builtIn("mixpanel-android-2015"))
    var fleet = GatedFleet(
      preset: preset, duration: 300, eventGap: .seconds(2), outages: [(503, 0, 300)])
    fleet.change = { $0.flush = FlushPolicy(count: 40, interval: .seconds(60), isSynchronised: true) }
    let sent = try fleet.run().sent
    // Event n is created at 2 n s: 31 are there at 60 s, 40 at 78 s, and from then on there is one more each 2 s.
    let expected = [0.0, 60] + stride(from: 78.0, to: 300, by: 2)
    #expect(sent.isClose(to: expected))
  }

  @Test("PostHog: a Retry-After of 100 s is one of 30 s, one of 10 s is longer than the backoff")
  func postHog() throws {
    for (asked, waited) in [(100, 30.0), (10, 10.0)] {
      var fleet = GatedFleet(
        preset: try #require(ClientPreset.builtIn("posthog")), duration: 80, eventGap: .seconds(1_000),
        outages: [(503, 0, 1)])
      fleet.retryAfter = .fixed(.seconds(Int64(asked)))
      fleet.change = { $0.flush = FlushPolicy(count: nil, interval: .seconds(1), isSynchronised: true) }
      let sent = try fleet.run().sent
      // It is tried again at the first flush after the wait.
      #expect(sent.count == 2 && sent[1] == (0.2 + waited).rounded(.up), "\(asked): \(sent)")
    }
  }
}
