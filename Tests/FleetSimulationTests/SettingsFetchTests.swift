import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing
import UploadRetry

/// Fetches of Settings as requests, in whole runs.
@Suite struct SettingsFetchTests {
  /// Phones 50 ms away that send one event every 30 s each, all launched again at 100 s.
  private func scenario(
    devices: Int = 1, endpoint: SettingsEndpoint?, _ change: (inout Scenario) -> Void = { _ in }
  ) -> Scenario {
    var cohort = Cohort(
      name: "phones", devices: devices, events: .periodic(every: .seconds(30), phase: .flush))
    cohort.flush = FlushPolicy(count: nil, interval: .seconds(30))
    cohort.latency = .constant(.milliseconds(50))
    cohort.lifecycle = Lifecycle(synchronised: [.init(time: Instant(microseconds: 100_000_000))])
    var tapi = TAPIConfiguration(
      server: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000)))
    tapi.settings = endpoint
    var scenario = Scenario(duration: .seconds(300), interval: .seconds(10), tapi: tapi, fleet: [cohort])
    change(&scenario)
    return scenario
  }

  private static let roomy = SettingsEndpoint(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000)

  /// The times at which something of a kind happens to the first phone, microseconds.
  private func times(_ scenario: Scenario, _ isIt: (DeviceTrace.Kind) -> Bool) throws -> [Int64] {
    try Simulation.trace(scenario, device: 0).trace.events.filter { isIt($0.kind) }.map(\.time)
  }

  @Test("Counted by hand for one phone: asked at its launch, it has its Settings two ways of 50 ms later")
  func onePhone() throws {
    let scenario = scenario(endpoint: Self.roomy)
    #expect(try times(scenario) { $0 == .askedForSettings } == [100_000_000])
    #expect(try times(scenario) { $0 == .fetchedSettings } == [100_100_000])
    let record = try windowed(scenario)
    #expect(record.settings.map { $0[.fetches] } == (0..<30).map { $0 == 10 ? 1 : 0 })
    #expect(record.settings.map { $0[.fetched] } == record.settings.map { $0[.fetches] })
    #expect(record.settings.allSatisfy { $0[.devicesWithout] == 0 && $0[.refused] + $0[.unanswered] == 0 })
  }

  @Test(
    "In an outage of the CDN a launched phone is refused, and goes without Settings until its next launch")
  func outage() throws {
    var scenario = scenario(endpoint: Self.roomy) {
      $0.tapi.incidents = [
        Incident(kind: .cdnOutage, start: Instant(microseconds: 90_000_000), duration: .seconds(60))
      ]
      $0.fleet[0].lifecycle?.synchronised.append(.init(time: Instant(microseconds: 200_000_000)))
    }
    #expect(try times(scenario) { $0 == .gotNoSettings(.status(503, retryAfter: nil)) } == [100_100_000])
    let record = try windowed(scenario)
    #expect(record.settings.map { $0[.devicesWithout] } == (0..<30).map { (10..<20).contains($0) ? 1 : 0 })
    scenario.tapi.settings = nil
    #expect(try windowed(scenario).settings == [])
  }

  @Test("The request decides when it arrives: one sent 30 ms before an outage of the CDN comes too late")
  func arrival() throws {
    let scenario = scenario(endpoint: Self.roomy) {
      $0.tapi.incidents = [
        Incident(kind: .cdnOutage, start: Instant(microseconds: 100_030_000), duration: .seconds(60))
      ]
    }
    #expect(try windowed(scenario).settings.reduce(0) { $0 + $1[.refused] } == 1)
  }

  @Test(
    """
    A crash loop at an endpoint with a bucket of 40 and 10 a second: as many fetches succeed as a bucket counted by hand has \
    tokens for, and who is refused asks again at its next launch only
    """)
  func storm() throws {
    let crashes = [100, 103, 106, 109, 112] as [Int64]
    let scenario = scenario(
      devices: 300, endpoint: SettingsEndpoint(capacityMilliRequestsPerSecond: 10_000, burst: 40)
    ) {
      $0.fleet[0].lifecycle?.synchronised = crashes.map { .init(time: Instant(microseconds: $0 * 1_000_000)) }
    }
    let record = try windowed(scenario)
    // All 300 at once, five times: 40 tokens, and 30 more for every three seconds in between.
    #expect(record.settings.reduce(0) { $0 + $1[.fetches] } == 1_500)
    #expect(record.settings.reduce(0) { $0 + $1[.fetched] } == 40 + 30 * 4)
    #expect(record.settings.reduce(0) { $0 + $1[.refused] } == 1_500 - 160)
    #expect((record.settings.last?[.devicesWithout] ?? 0) == 270)
    // The server has nothing to do with it.
    var without = scenario
    without.tapi.settings = nil
    #expect(try windowed(without).series == record.series)
  }

  @Test(
    "An answer that gets lost is one that does not come in time: half of 200 fetches, four deviations at most aside"
  )
  func lostAnswers() throws {
    let record = try windowed(
      scenario(devices: 200, endpoint: Self.roomy) { $0.fleet[0].link.answerLossPartsPerMillion = 500_000 })
    func sum(_ count: SettingsCount) -> Int64 { record.settings.reduce(0) { $0 + $1[count] } }
    #expect(sum(.fetches) == 200 && sum(.fetched) + sum(.unanswered) == 200)
    #expect((72...128).contains(sum(.unanswered)))
  }

  @Test("Without a capacity of its own a fetch is one more request of the server, and takes its token")
  func shared() throws {
    let own = try windowed(scenario(devices: 200, endpoint: Self.roomy))
    let shared = try windowed(scenario(devices: 200, endpoint: SettingsEndpoint()))
    func sum(_ record: RunRecord, _ measure: Measure) -> Int64 {
      record.series.rows.reduce(0) { $0 + $1[measure] }
    }
    #expect(sum(shared, .firstAttempts) == sum(own, .firstAttempts) + 200)
    #expect(sum(shared, .answers2xx) == sum(own, .answers2xx) + 200)
    #expect(sum(shared, .deliveredEvents) == sum(own, .deliveredEvents))
    // A server of one request a second: 200 that come at once leave no token for uploads, nor they for Settings.
    let tight = scenario(devices: 200, endpoint: SettingsEndpoint()) {
      $0.tapi.server = .bucket(
        TokenBucketConfiguration(capacityMilliRequestsPerSecond: 8_000, burst: 20))
    }
    let record = try windowed(tight)
    #expect(record.settings.reduce(0) { $0 + $1[.fetched] } <= 20)
    #expect(record.settings.last?[.devicesWithout] ?? 0 >= 180)
  }

  @Test("A client that never asks has no traffic, and the run of a fleet without an endpoint")
  func never() throws {
    let scenario = scenario(devices: 20, endpoint: SettingsEndpoint(capacityMilliRequestsPerSecond: 1)) {
      $0.fleet[0].settingsFetch = .never
    }
    var without = scenario
    without.tapi.settings = nil
    let record = try windowed(scenario)
    #expect(try windowed(without).series == record.series)
    #expect(record.settings.allSatisfy { $0[.fetches] == 0 })
  }

  @Test("Coming back to the foreground is a reason to ask for clients that do so then, and for no others")
  func foreground() throws {
    let scenario = scenario(endpoint: Self.roomy) {
      $0.fleet[0].lifecycle = nil
      $0.fleet[0].settingsFetch = .foreground
      $0.fleet[0].sessions = Sessions(
        sharePartsPerMillion: 300_000, length: .constant(.seconds(10)), createsEventsInBackground: true)
    }
    let opened = try times(scenario) { $0 == .cameToForeground }
    #expect(opened.count > 3)
    #expect(try times(scenario) { $0 == .askedForSettings } == opened)
    var atLaunch = scenario
    atLaunch.fleet[0].settingsFetch = .launch
    #expect(try times(atLaunch) { $0 == .askedForSettings } == [])
  }

  @Test(
    """
    A page that gets no Settings sends nothing; one that gets them sends what was tracked while it waited for them
    """, arguments: [true, false])
  func page(isUp: Bool) throws {
    var scenario = scenario(devices: 50, endpoint: Self.roomy) {
      $0.fleet[0].take(ClientPreset.all.first { $0.name == "segment-browser" }!)
      // A page each second or two, ten events a second: most pages track some before they have Settings.
      $0.fleet[0].events = .poisson(meanGap: .milliseconds(100))
      $0.fleet[0].latency = .constant(.milliseconds(400))
      $0.duration = .seconds(30)
      $0.fleet[0].lifecycle = nil
      $0.fleet[0].sessions = Sessions(sharePartsPerMillion: 500_000, length: .constant(.seconds(3)))
    }
    if !isUp {
      scenario.tapi.incidents = [Incident(kind: .cdnOutage, start: .start, duration: .seconds(30))]
    }
    let record = try windowed(scenario)
    func sum(_ measure: Measure) -> Int64 { record.series.rows.reduce(0) { $0 + $1[measure] } }
    let (created, delivered) = (sum(.createdEvents), sum(.deliveredEvents))
    #expect(created > 3_000)
    if isUp {
      // All but what is under way at the end, and what pages lose that close within a way there and back.
      #expect(Double(delivered) > 0.6 * Double(created))
    } else {
      #expect(delivered == 0)
      #expect(sum(.firstAttempts) == 0)
    }
  }
}
