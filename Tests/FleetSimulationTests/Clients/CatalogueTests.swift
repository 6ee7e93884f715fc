import ScenarioFormat
import ScenarioModel
import SimulationKernel
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
    let expected = [0.1, 0.1, 0.2, 0.2, 0.4, 0.4, 0.8, 0.8, 1.6, 1.6, 3.2, 3.2]
    let waits = try waits("amplitude-node", duration: 600)
    #expect(waits.count == 12 && lie(waits, around: expected, share: 0))
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
