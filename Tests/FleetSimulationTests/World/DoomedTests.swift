import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestClients
import TestScenarios
import TestSupport
import Testing
import UploadRetry

/// Events that a run leaves in closed apps, and whose limits end before the apps open again.
@Suite("Doomed events")
struct DoomedTests {
  /// Phones that are open for a few minutes at a time, an outage of 20 minutes, and an age limit of one to six hours.
  private static func scenario(_ random: inout SeededGenerator, _ seed: UInt64) -> Scenario {
    var cohort = Cohort(
      name: "phones", devices: 400, events: .poisson(meanGap: .minutes(10)),
      flush: FlushPolicy(count: nil, interval: .seconds(30)), timeout: .seconds(10),
      latency: .constant(.milliseconds(100)))
    cohort.take([.tapiDocument, .segmentSwift, .segmentKotlin, .segmentReactNative][Int(seed % 4)])
    cohort.sessions = Sessions(
      sharePartsPerMillion: Int64.random(in: 20_000...40_000, using: &random),
      length: .exponential(mean: .minutes(Int64.random(in: 2...8, using: &random))))
    let limit = Int64.random(in: 1...6, using: &random) * 3_600_000_000
    cohort.settings.backoff.maxTotalBackoffDuration = limit
    cohort.settings.rateLimit.maxTotalBackoffDuration = limit
    cohort.settings.backoff.maxRetryCount = 1_000
    cohort.settings.rateLimit.maxRetryCount = 1_000
    return Scenario(
      seed: seed, duration: .hours(4), interval: .minutes(1),
      tapi: TAPIConfiguration(
        server: .bucket(.init(capacityMilliRequestsPerSecond: 1_000_000, burst: 1_000)),
        incidents: [
          Incident.outage(keepsWork: true, at: .minutes(60), for: .minutes(20))
        ]),
      fleet: [cohort])
  }

  @Test(
    "As many events are doomed at the end of a run of 4 hours as a run of 100 hours then loses to their age")
  func againstLongRuns() throws {
    var random = SeededGenerator(seed: 6)
    var sum: Int64 = 0
    for seed in 1...UInt64(TestDepth.cases(4, exhaustively: 12)) {
      let short = Self.scenario(&random, seed)
      var long = short
      long.duration = .hours(100)
      let (record, later) = (try Simulation.run(short), try Simulation.run(long))
      let lost = later.series.totals.lostOrBlockedEvents - record.series.totals.lostOrBlockedEvents
      let client = short.fleet[0].client
      // A client that flushes by the interval alone may be closed again before.
      let isExact = client != "segment-react-native"
      #expect(
        abs(record.doomedEvents - lost) <= (isExact ? 0 : lost / 200),
        "seed \(seed), \(client): \(record.doomedEvents) of \(lost)")
      #expect(record.cohorts[0].doomedEvents == record.doomedEvents)
      sum += lost
    }
    #expect(sum > 100)
  }

  @Test("What a restart makes a client forget dooms nothing, nor do closed apps whose events flush")
  func forgotten() throws {
    var random = SeededGenerator(seed: 6)
    var (sum, kept): (Int64, Int64) = (0, 0)
    for seed in 1...UInt64(TestDepth.cases(2, exhaustively: 8)) {
      var short = Self.scenario(&random, seed * 4)
      short.fleet[0].lifecycle = Lifecycle()
      short.fleet[0].lifecycle?.meanTimeBetweenRestarts = .hours(12)
      kept += try Simulation.run(short).doomedEvents
      short.fleet[0].lifecycle?.keepsState = false
      var long = short
      long.duration = .hours(100)
      let (record, later) = (try Simulation.run(short), try Simulation.run(long))
      let lost = later.series.totals.lostOrBlockedEvents - record.series.totals.lostOrBlockedEvents
      #expect(abs(record.doomedEvents - lost) <= lost / 50, "seed \(seed): \(record.doomedEvents) of \(lost)")
      sum += lost
      short.fleet[0].lifecycle = nil
      short.fleet[0].sessions?.createsEventsInBackground = true
      short.fleet[0].flush.count = 2
      let flushing = try Simulation.run(short)
      #expect(flushing.doomedEvents == 0)
      // Of what closed apps hold, that is closed in which no flush has found.
      let closed = flushing.cohorts[0].pending[.closedApp]
      #expect(0 < closed && closed <= 400)
      #expect(flushing.series.totals[.closedAppEvents] <= closed)
    }
    #expect(sum > 20 && kept > sum, "\(sum) of \(kept)")
  }

  @Test("The gauge of what closed apps hold is what their devices hold at the end, whenever that is")
  func closedApps() throws {
    var random = SeededGenerator(seed: 7)
    var sum: Int64 = 0
    var inLine: Int64 = 0
    for (seed, minutes) in zip(1...UInt64(8), [30, 61, 70, 79, 81, 90, 120, 240] as [Int64]) {
      var scenario = Self.scenario(&random, seed)
      scenario.duration = .minutes(minutes)
      let record = try Simulation.run(scenario)
      let (held, pending) = (record.series.totals[.closedAppEvents], record.cohorts[0].pending)
      #expect(held == pending[.closedApp], "\(minutes) min")
      sum += held
      // In an ideal run closed apps wait in line with what was under way.
      let ideal = try Simulation.run(scenario.ideal)
      let (best, waiting) = (ideal.series.totals[.closedAppEvents], ideal.cohorts[0].pending)
      #expect(
        (waiting[.closedApp]...waiting[.closedApp] + waiting[.underway]).contains(best), "\(minutes) min")
      inLine += best - waiting[.closedApp]
    }
    #expect(sum > 1_000 && inLine > 100)
  }

  @Test("Nothing is doomed where the limit is longer than any app is closed, nor of apps that are open")
  func nothing() throws {
    var random = SeededGenerator(seed: 6)
    var scenario = Self.scenario(&random, 1)
    scenario.fleet[0].settings.backoff.maxTotalBackoffDuration = 1_000_000 * 3_600_000_000
    scenario.fleet[0].settings.rateLimit.maxTotalBackoffDuration = 1_000_000 * 3_600_000_000
    #expect(try Simulation.run(scenario).doomedEvents == 0)
    scenario = Self.scenario(&random, 1)
    scenario.fleet[0].sessions = nil
    #expect(try Simulation.run(scenario).doomedEvents == 0)
  }

  @Test(
    "How long affected events take is the same in a longer run, though they wait far longer than the incident"
  )
  func percentilesOfLongerRuns() throws {
    var random = SeededGenerator(seed: 8)
    let seeds = 1...UInt64(TestDepth.cases(2, exhaustively: 8))
    for seed in seeds {
      var scenario = Self.scenario(&random, seed)
      scenario.fleet[0].devices = 2_000
      scenario.interval = .seconds(2)
      scenario.fleet[0].settings.backoff.maxTotalBackoffDuration = 7 * 86_400_000_000
      scenario.fleet[0].settings.rateLimit.maxTotalBackoffDuration = 7 * 86_400_000_000
      let start = Int64(3_600_000_000)
      let percentiles = try ([10, 12, 20] as [Int64]).map { hours -> [Double] in
        scenario.duration = .hours(hours)
        let record = try Simulation.run(scenario)
        let affected = AffectedEvents.of([record], in: [start..<start + 300_000_000])[0]
        #expect(affected.created == record.series.rows[1_800..<1_950].reduce(0) { $0 + $1[.createdEvents] })
        return try ([50, 90] as [Int]).map { Double(try #require(affected.percentile($0))) }
      }
      // Ten hours leave events of the part undelivered.
      for shorter in percentiles.dropLast() {
        for (one, longest) in zip(shorter, percentiles[2]) {
          #expect(Swift.abs(one / longest - 1) < 0.01, "seed \(seed): \(percentiles)")
        }
      }
    }
  }
}
