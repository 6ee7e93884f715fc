import FleetExperiments
import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import Testing

/// What a recovery is made of: its floor, closed apps, and the clients' own waits.
@Suite("Causes of a recovery")
struct RecoveryCausesTests {
  /// 100 phones at about half of the capacity, and 10 minutes of 503. Backoffs of up to 10 minutes are the clients' own.
  private static func scenario(sessions: Sessions? = nil, longestWait: Int64 = 600) -> Scenario {
    var cohort = Cohort(name: "phones", devices: 100, events: .poisson(meanGap: .seconds(20)))
    cohort.retries = .timer
    cohort.sessions = sessions
    cohort.settings.backoff.maxBackoffInterval = longestWait * 1_000_000
    cohort.settings.backoff.baseBackoffInterval = min(60, longestWait) * 1_000_000
    cohort.settings.backoff.jitter = .full
    cohort.settings.backoff.maxRetryCount = 1_000
    let outage = Incident(
      kind: .outage(status: 503, retryAfter: .none, keepsWork: false), start: .start + .minutes(20),
      duration: .minutes(10))
    return Scenario(
      seed: 3, duration: .hours(3), interval: .seconds(5),
      tapi: TAPIConfiguration(
        server: .bucket(.init(capacityMilliRequestsPerSecond: 7_000, burst: 10)),
        overload: Overload(status: 503), incidents: [outage]),
      fleet: [cohort])
  }

  private static func causes(_ scenario: Scenario) throws -> (causes: RecoveryCauses?, run: RunSummary) {
    let variant = Variant(name: "s", scenario: scenario)
    let run = try Comparison.run([variant], workers: 2)[0].summary
    return (
      try RecoveryCauses.find(variant, run, interval: scenario.interval.microseconds, workers: 2), run
    )
  }

  @Test(
    "Where apps are always open and online, all beyond the floor is the clients' waits, and no run is needed to say so"
  )
  func alwaysOpen() throws {
    let (found, run) = try Self.causes(Self.scenario())
    let causes = try #require(found)
    #expect(causes.absence == nil && causes.byAbsence == 0)
    let (recovery, floor) = (try #require(run.recoveryTime), try #require(run.recoveryFloor))
    #expect(causes.byWaits == recovery - floor)
  }

  @Test(
    "Sessions of three minutes at long gaps: closed apps decide; with long backoffs the waits have their part, and both make up the rest"
  )
  func sessions() throws {
    let rare = Sessions(sharePartsPerMillion: 150_000, length: .exponential(mean: .minutes(3)))
    for longest in [5, 1_800] as [Int64] {
      let (found, run) = try Self.causes(Self.scenario(sessions: rare, longestWait: longest))
      let causes = try #require(found)
      let (absence, waits) = (try #require(causes.byAbsence), try #require(causes.byWaits))
      #expect(causes.absence == "closed apps")
      #expect(absence >= 0 && waits >= 0)
      #expect(causes.floor + absence + waits == run.recoveryTime)
      // Clients that ask each five seconds are eager by themselves.
      if longest == 5 { #expect(absence > 9 * waits, "\(causes)") }
    }
  }

  @Test("A recovery at its floor has nothing to divide")
  func atTheFloor() throws {
    let (found, run) = try Self.causes(Self.scenario(longestWait: 1))
    #expect(found == nil)
    #expect(run.recoveryTime != nil)
  }

  @Test("Each part is said, and how long the server had room")
  func notes() {
    let minute: Int64 = 60_000_000
    func notes(_ recovery: Int64?, eager: Int64?, idle: Int64 = 0, absence: String? = "closed apps")
      -> [String]
    {
      RecoveryCauses(
        recovery: recovery.map { $0 * minute }, floor: 46 * minute, eager: eager.map { $0 * minute },
        idle: idle * minute, absence: absence
      ).notes
    }
    #expect(
      notes(86, eager: 83, idle: 18) == [
        "In the first run closed apps take beyond the floor 37 min, the clients' own waits 3 min.",
        "The server had room for 18 min of that time.",
      ])
    #expect(
      notes(86, eager: 90) == [
        "In the first run closed apps take 40 min beyond the floor: no Setting shortens that."
      ])
    #expect(
      notes(86, eager: 46, absence: nil) == [
        "In the first run the clients' own waits take 40 min beyond the floor."
      ])
    #expect(
      notes(nil, eager: 83) == [
        "Clients that ask again within seconds are back after 1 h 23 min: waits keep this fleet ill."
      ])
    #expect(
      notes(nil, eager: nil) == [
        "Not even clients that ask again within seconds are back: closed apps are what takes so long."
      ])
  }
}
