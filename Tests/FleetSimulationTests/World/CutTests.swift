import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing

/// Clients that hold a stream open and upload nothing else, at a server that answers everything, a row a second.
@Suite("Cuts of what is open")
struct CutTests {
  private func scenario(
    devices: Int = 1_000, share: Int64 = 400_000, over: Span = .zero, wait: Int64 = 3_000_000
  ) -> Scenario {
    var cohort = Cohort(name: "watchers", devices: devices, events: .poisson(meanGap: .hours(9_000)))
    cohort.holdsOpen = true
    cohort.flush = FlushPolicy(count: 1, interval: nil)
    cohort.retries = .timer
    cohort.latency = .constant(.milliseconds(50))
    cohort.settings.backoff.baseBackoffInterval = wait
    cohort.settings.backoff.jitter = .none
    return Scenario(
      duration: .minutes(10),
      tapi: TAPIConfiguration(
        server: .bucket(
          TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000_000)),
        incidents: [
          Incident(kind: .cut(cohorts: nil, share: share), start: .start + .seconds(300), duration: over)
        ]), fleet: [cohort])
  }

  private func rows(_ scenario: Scenario) throws -> TimeSeries.Rows {
    var options = RunOptions()
    options.checks = true
    return try Simulation.run(scenario, options: options).series.rows
  }

  private func counts(_ rows: TimeSeries.Rows, _ measure: Measure) -> [Int: Int] {
    var counts: [Int: Int] = [:]
    for (second, row) in rows.enumerated() where row[measure] > 0 { counts[second] = Int(row[measure]) }
    return counts
  }

  @Test("A share of the devices asks again after its first wait, all as retries, and nobody else asks")
  func share() throws {
    let rows = try rows(scenario())
    let cut = counts(rows, .createdEvents)[300] ?? 0
    // Four standard deviations of a binomial count.
    #expect(abs(cut - 400) < 62)
    // The way back, 3 s and the way there.
    #expect(counts(rows, .retries) == [303: cut] && counts(rows, .firstAttempts) == [:])
    #expect(counts(rows, .deliveredEvents) == [303: cut])
    #expect(counts(rows, .timeouts) == [:] && counts(rows, .unanswered) == [:])
  }

  @Test("Attempts are the requests that are sent: what was cut off is none of them")
  func attempts() throws {
    let record = try Simulation.run(scenario(share: 1_000_000))
    #expect(record.cost.total[.attempts] == 1_000)
    #expect(record.series.rows.reduce(0) { $0 + $1[.answers2xx] } == 1_000)
  }

  @Test("With full jitter the return is even over the first wait, and so are cuts over their span")
  func even() throws {
    var jittered = scenario(devices: 20_000, share: 1_000_000, wait: 10_000_000)
    jittered.fleet[0].settings.backoff.jitter = .full
    let spread = scenario(devices: 20_000, share: 1_000_000, over: .seconds(10), wait: 0)
    for scenario in [jittered, spread] {
      let returned = counts(try rows(scenario), .retries)
      #expect(returned.values.reduce(0, +) == 20_000)
      // From 300.1 to 310.1 s.
      let expected = [1_800.0] + Array(repeating: 2_000, count: 9) + [200]
      #expect(poissonScore((300...310).map { returned[$0] ?? 0 }, expected) < 3.5)
    }
  }

  @Test(
    "A client that asks at once makes N / t requests a second of a cut over t; a bucket admits burst + rate · t"
  )
  func released() throws {
    // A hundredth of 270,000 waiting clients in 0.18 s: 1.5 million a second, three times the capacity.
    var scenario = scenario(devices: 2_700, share: 1_000_000, over: .milliseconds(180), wait: 300_000_000)
    scenario.fleet[0].policy.immediateRetries = 1
    scenario.tapi.server = .bucket(
      TokenBucketConfiguration(capacityMilliRequestsPerSecond: 5_000_000, burst: 50))
    let rows = try rows(scenario)
    #expect(counts(rows, .retries)[300] == 2_700)
    let admitted = rows.reduce(0) { $0 + $1[.answers2xx] }
    // Within one token at the start: all but the first 50 meet an empty bucket.
    #expect(abs(admitted - (50 + 900)) <= 20)
    #expect(rows.reduce(0) { $0 + $1[.answers429] } == 2_700 - admitted)
  }

  @Test("A cut of two in five brings a half used server down for good, a cut of one in fifty does not")
  func metastable() throws {
    func served(share: Int64) throws -> Double {
      var scenario = scenario(devices: 500, share: share, wait: 1_000_000)
      scenario.duration = .minutes(40)
      // As DynamoDB's metadata service in 2015: 1.7 answers a second of three, and clients that wait no longer than 6 s.
      scenario.fleet[0].events = .periodic(every: .minutes(5), phase: .random)
      scenario.fleet[0].queue.mode = .rebatch
      scenario.fleet[0].policy.backoffHolds = .client
      scenario.fleet[0].settings.backoff.maxBackoffInterval = 1_000_000
      scenario.fleet[0].settings.backoff.maxRetryCount = 1_000
      scenario.fleet[0].timeout = .seconds(6)
      scenario.tapi.server = .workers(
        WorkersConfiguration(count: 3, serviceTime: .exponential(mean: .seconds(1))))
      let late = try rows(scenario).suffix(600)
      return Double(late.reduce(0) { $0 + $1[.answers2xx] - $1[.unheardAnswers] }) / Double(500 * 2)
    }
    #expect(try served(share: 20_000) > 0.95)
    #expect(try served(share: 400_000) < 0.3)
  }

  @Test("Nothing is open without a network or in a closed app, and the twin has no cut")
  func nothingOpen() throws {
    var offline = scenario(share: 1_000_000)
    offline.fleet[0].connectivity = Connectivity(
      interruptions: [.init(start: .start + .seconds(290), duration: .seconds(20))])
    #expect(counts(try rows(offline), .createdEvents) == [:])
    #expect(counts(try rows(scenario().withoutIncidents), .createdEvents) == [:])
    var closed = scenario(devices: 4_000, share: 1_000_000)
    closed.fleet[0].sessions = Sessions(
      sharePartsPerMillion: 250_000, length: .exponential(mean: .minutes(3)))
    let cut = counts(try rows(closed), .createdEvents)[300] ?? 0
    #expect(abs(cut - 1_000) < 110)
  }

  @Test("A cohort that is not named, or holds nothing open, is not concerned")
  func others() throws {
    var scenario = scenario(share: 1_000_000)
    scenario.fleet.append(scenario.fleet[0])
    scenario.fleet[1].name = "others"
    func cut() throws -> Int { counts(try rows(scenario), .createdEvents)[300] ?? 0 }
    #expect(try cut() == 2_000)
    scenario.tapi.incidents[0].kind = .cut(cohorts: ["others"], share: 1_000_000)
    #expect(try cut() == 1_000)
    scenario.fleet[1].holdsOpen = false
    #expect(try cut() == 0)
  }
}
