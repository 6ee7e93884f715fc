import FleetMetrics
import FleetSimulation
import ScenarioModel
import Testing

/// The claims of experiments 037 to 039, with fleet and server scaled down together.
@Suite struct EndpointExperimentTests {
  private func record(_ path: String, _ overrides: [String: String]) throws -> RunRecord {
    try Simulation.run(ExperimentFiles.decode(path, overrides).scenario)
  }

  private func recovery(_ path: String, _ overrides: [String: String]) throws -> RunSummary {
    try ExperimentFiles.summary(of: ExperimentFiles.decode(path, overrides).scenario)
  }

  @Test("037: breaking news sent over a minute keeps the fleet ill to the end, over 46 minutes it does not")
  func push() throws {
    func sent(over span: String) throws -> RunSummary {
      try recovery(
        "037-push/scenario.json5",
        ["fleet.phones.devices": "2500", "tapi.bucket.capacity": "8.25/s", "push.news.over": span])
    }
    let (fast, slow) = (try sent(over: "1m"), try sent(over: "46m"))
    #expect(fast.recoveryTime == nil && fast.lostEvents == 0)
    #expect((slow.recoveryTime ?? .max) <= 600_000_000 && slow.lostEvents == 0)
  }

  @Test(
    "038: three retries of proxies without a budget keep the server down; with Envoy's it is back, as without proxies"
  )
  func proxies() throws {
    func recovered(_ proxies: String) throws -> Int64? {
      try recovery(
        "038-proxies/scenario.json5",
        [
          "tapi.proxies": proxies, "fleet.phones.devices": "600", "tapi.workers.count": "20",
          "tapi.workers.queueLimit": "300",
        ]
      ).recoveryTime
    }
    #expect(try recovered("{ retries: 3, perTryTimeout: '5s', budget: null }") == nil)
    for proxies in ["null", "{ retries: 3, perTryTimeout: '5s' }"] {
      #expect((try recovered(proxies) ?? .max) <= 180_000_000, "\(proxies)")
    }
  }

  @Test("039: half an hour without the CDN costs pages more than a tenth of their events, and phones none")
  func morning() throws {
    func lost(_ incident: String, pages: Int) throws -> [Double] {
      try record(
        "039-settings-fetches/morning.json5",
        [
          "fleet.ios.devices": "80", "fleet.android.devices": "80", "fleet.web.devices": "\(pages)",
          "tapi.bucket.capacity": "5.6/s", "tapi.bucket.burst": "6", "tapi.settingsEndpoint.capacity": "2/s",
          "tapi.settingsEndpoint.burst": "5", "tapi.incidents": "[\(incident)]",
        ]
      ).cohorts.map { Double($0.lostOrBlockedEvents) / Double($0[.createdEvents]) }
    }
    let cdn = try lost("{ kind: 'cdnOutage', at: '1h', for: '30m' }", pages: 40)
    #expect(cdn[0] == 0 && cdn[1] == 0 && (0.1...0.25).contains(cdn[2]), "\(cdn)")
    // The server is large enough for all. Pages that are refused poll for minutes: a few are enough.
    #expect(
      try lost("{ kind: 'outage', at: '1h15m', for: '10m', status: 503 }", pages: 10) == [0, 0, 0])
  }

  @Test(
    "039: a crash loop whose fetches are too many leaves most of its phones without Settings, and triples the attempts"
  )
  func crashLoop() throws {
    func run(_ endpoint: String) throws -> (attempts: Double, without: Int64) {
      let record = try record(
        "039-settings-fetches/crash.json5",
        [
          "fleet.old.devices": "200", "fleet.new.devices": "200", "tapi.bucket.capacity": "28/s",
          "tapi.bucket.burst": "7", "tapi.settingsEndpoint": endpoint,
        ])
      return (
        Double(record.series.rows.reduce(0) { $0 + $1.attempts }), record.settings.last?[.devicesWithout] ?? 0
      )
    }
    let none = try run("null")
    let (small, large) = (
      try run("{ capacity: '8/s', burst: 8 }"), try run("{ capacity: '80/s', burst: 80 }")
    )
    #expect(small.without > 140 && small.attempts > 2.5 * none.attempts, "\(small), \(none)")
    #expect(large.without < 10 && abs(large.attempts / none.attempts - 1) < 0.05, "\(large), \(none)")
  }
}
