import FleetMetrics
import FleetSimulation
import SimulationKernel
import TAPIModel
import Testing

/// Experiments 011, 014 and 015: each claim of their READMEs, by a margin that is gone when the mechanism is.
@Suite struct ServerExperimentTests {
  private static let metastable = "011-metastable/scenario.json5"
  private static let brownout = "tapi.incidents.0.for"

  private func record(_ path: String, _ overrides: [String: String]) throws -> RunRecord {
    try Simulation.run(ExperimentFiles.decode(path, overrides).scenario)
  }

  private func recovery(_ path: String, _ overrides: [String: String]) throws -> Int64? {
    try ExperimentFiles.summary(of: ExperimentFiles.decode(path, overrides).scenario).recoveryTime
  }

  @Test(
    "011: with the same parameters a fleet is well after a brownout of two minutes, and ill to the end after five"
  )
  func bothStates() throws {
    let well = try record(Self.metastable, [Self.brownout: "2m"])
    let ill = try record(Self.metastable, [Self.brownout: "5m"])
    let twin = try Simulation.run(ExperimentFiles.decode(Self.metastable).scenario.withoutIncidents)
    let (short, long) = (
      RunAnalysis.summary(of: well, ReferenceRuns(twin: twin), name: "short", seed: 1),
      RunAnalysis.summary(of: ill, ReferenceRuns(twin: twin), name: "long", seed: 1)
    )
    #expect((short.recoveryTime ?? .max) < 2 * 60_000_000)
    #expect(long.baselineIsHealthy && long.recoveryTime == nil)
    // The last ten minutes, half an hour after the cause has gone.
    func end(_ record: RunRecord, _ column: (TimeSeries.Row) -> Int64) -> Int64 {
      record.series.rows.suffix(60).reduce(0) { $0 + column($1) }
    }
    #expect(end(well, \.[.unheardAnswers]) == 0)
    #expect(end(ill, \.[.answers2xx]) > 17_000)
    #expect(end(ill, \.[.unheardAnswers]) > end(ill, \.[.answers2xx]) * 9 / 10)
    #expect(end(ill, \.attempts) > 3 * end(well, \.attempts) / 2)
  }

  @Test(
    "011: what ends it makes the longest wait in the queue shorter than the clients' patience, or the retries fewer",
    arguments: [
      ("fleet.phones.timeout", "20s"), ("tapi.workers.queueLimit", "200"),
      ("tapi.workers.queueTimeout", "5s"),
      ("settings.backoffConfig.maxBackoffInterval", "60"), ("tapi.overload.status", "429"),
      ("fleet.phones.retries", "gate"), ("tapi.autoscaling", "{}"),
    ])
  func remedies(path: String, value: String) throws {
    let recovery = try recovery(Self.metastable, [Self.brownout: "5m", path: value])
    #expect((recovery ?? .max) < 11 * 60_000_000)
  }

  @Test(
    "011: what leaves the queue's longest wait above the clients' patience does not end it",
    arguments: [
      ("fleet.phones.timeout", "5s"), ("tapi.workers.queueLimit", "400"),
      ("tapi.workers.queueTimeout", "12s"),
      ("settings.backoffConfig.jitterStrategy", "equal"),
    ])
  func noRemedies(path: String, value: String) throws {
    #expect(try recovery(Self.metastable, [Self.brownout: "5m", path: value]) == nil)
  }

  @Test(
    "011: a breaker ends it, and so do a budget with a trickle and throttling",
    arguments: [
      ("breaker", "{}"), ("breaker", "{ openTime: '5s', longestOpenTime: '20s' }"),
      ("retryBudget", "{ capacity: 10, trickle: '1m' }"), ("adaptiveThrottling", "{}"),
    ])
  func gates(name: String, value: String) throws {
    let recovery = try recovery(
      Self.metastable, [Self.brownout: "5m", "fleet.phones.gates.\(name)": value])
    // Of 40 minutes that are left. Throttling takes 12 to 17 with five seeds, the others less than three.
    #expect((recovery ?? .max) < 20 * 60_000_000)
  }

  @Test(
    "011: a budget without a trickle and a delay that does not count time-outs do not",
    arguments: [("retryBudget", "{ capacity: 10 }"), ("projectDelay", "{}")])
  func noGates(name: String, value: String) throws {
    let recovery = try recovery(
      Self.metastable, [Self.brownout: "5m", "fleet.phones.gates.\(name)": value])
    #expect(recovery == nil)
  }

  @Test(
    "014: each device loses what it creates beyond a thousand events: the heavy users most, the light ones nothing"
  )
  func overflow() throws {
    let record = try record("014-queue-overflow/scenario.json5", [Self.brownout: "6h"])
    let cohorts = Dictionary(uniqueKeysWithValues: record.cohorts.map { ($0.name, $0) })
    for (name, perMinute) in [("light", 1.0), ("normal", 6), ("heavy", 20)] {
      let cohort = try #require(cohorts[name])
      let expected = max(0, perMinute * 360 - 1_000)
      let lost = Double(cohort.lostEvents) / Double(cohort.devices)
      // What a device holds as the outage begins or gathers until it learns of its end: two flush intervals' worth.
      #expect(abs(lost - expected) < max(perMinute * 20, 1), "\(name): \(lost) against \(expected)")
      #expect(cohort[.droppedByOverflow] == cohort.lostEvents)
      #expect(cohort.devicesThatLostEvents == (expected > 0 ? cohort.devices : 0))
      // The newest are kept: nothing that is delivered is older than a queue's worth and the way back.
      let oldest = min(1_000 / perMinute, 360) + 30
      #expect(Double(cohort.timeToDeliveryMax ?? .max) / 60e6 < oldest)
    }
  }

  @Test(
    "015: recovery takes as long as the spare capacity of the hour needs for half an hour's load: at night little, at the peak much"
  )
  func hours() throws {
    // A fifth of the fleet and of its server.
    let path = "015-production-day/scenario.json5"
    let small = try ExperimentFiles.small(path, devices: 100)
    let hours = [3, 20]
    let scenarios = try hours.map { hour in
      var scenario = small
      scenario.tapi.incidents = try ExperimentFiles.decode(path, ["tapi.incidents.0.at": "\(hour)h"])
        .scenario.tapi.incidents
      return scenario
    }
    let runs = SharedRuns(options: RunOptions())
    let numbers = ([small.withoutIncidents] + scenarios + scenarios.map(\.ideal)).map(runs.expect)
    let records = try numbers.map { try runs.run($0, control: RunControl()) }
    // Batches a second of the whole fleet at its twin, by minute; the backlog drains at what capacity leaves over. One per cent of
    // what came in the outage may wait on.
    let load = records[0].series.rows.map { Double($0[.acceptedBatches]) / 60 }
    func fluid(hour: Int) -> Double {
      let start = hour * 60
      var backlog = load[start..<start + 30].reduce(0, +)
      let tolerance = backlog / 100
      var minute = start + 30
      while backlog > tolerance {
        backlog += load[minute] - 4
        minute += 1
      }
      return Double(minute - start - 30)
    }
    for (index, (hour, longest)) in zip(hours, [15.0, 120]).enumerated() {
      let summary = RunAnalysis.summary(
        of: records[index + 1],
        ReferenceRuns(twin: records[0], ideal: records[index + 1 + hours.count]), name: "\(hour) h",
        seed: small.seed)
      let possible = Double(try #require(summary.possibleTime)) / 60e6
      #expect(abs(possible - fluid(hour: hour)) < max(2, 0.1 * fluid(hour: hour)), "\(hour) h: \(possible)")
      let minutes = Double(try #require(summary.recoveryTime)) / 60e6
      #expect(
        minutes > 0.93 * fluid(hour: hour) && minutes < 1.2 * fluid(hour: hour) + 8,
        "\(hour) h: \(minutes) of \(fluid(hour: hour))")
      #expect(minutes < longest)
    }
  }
}
