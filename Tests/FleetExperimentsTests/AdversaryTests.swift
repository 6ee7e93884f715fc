import FleetExperiments
import FleetMetrics
import FleetSimulation
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import Synchronization
import TAPIModel
import Testing

/// The incident that hurts most, and the shortest that a fleet does not come back from.
@Suite("Adversary")
struct AdversaryTests {
  /// A fleet that is a formula: from which length on each kind makes it ill, by start and depth.
  struct Planted {
    /// Seconds, of the deepest at the worst time.
    var least: [String: Double]
    /// When it is worst, as a share of the range of starts.
    var worstStart: Double
    /// How much longer it takes at the worse end of the starts, and at half the depth.
    var startFactor: Double
    var depthFactor: Double
    /// Of each seed's own boundary.
    var noise: Double

    init(_ number: UInt64) {
      let key = RandomKey(seed: number)
      let draws = (0..<12).map { key.child(UInt64($0)).unitOpen }
      least = Dictionary(
        uniqueKeysWithValues: AdversaryKind.standard.enumerated().map { ($1.name, 30 + 500 * draws[$0]) })
      worstStart = draws[8]
      startFactor = 0.5 * draws[9]
      depthFactor = 1 + draws[10]
      noise = 0.2 * draws[11]
    }

    static let empty: Scenario = {
      let server = TAPIConfiguration.Server.bucket(
        TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000, burst: 1))
      return Scenario(
        duration: .minutes(60), tapi: TAPIConfiguration(server: server),
        fleet: [Cohort(name: "phones", devices: 1, events: .poisson(meanGap: .seconds(1)))])
    }()

    static let space: IncidentSpace = {
      var bounds = IncidentBounds(runOf: .minutes(60))
      bounds.depths = 100_000...1_000_000
      return IncidentSpace(bounds, in: empty)
    }()

    private static func parts(_ kind: Incident.Kind) -> (String, Double) {
      switch kind {
      case .outage(nil, _, _): ("silence", 1)
      case .outage: ("outage", 1)
      case .brownout(let factor): ("brownout", 1 - Double(factor) / 1e6)
      case .errors(429, let share, _, _): ("throttle", Double(share) / 1e6)
      case .errors(_, let share, _, _): ("errors", Double(share) / 1e6)
      case .lostAnswers(let share): ("lostAnswers", Double(share) / 1e6)
      case .latency: ("latency", 1)
      case .tokenExpiry: ("tokenExpiry", 1)
      case .cdnOutage: ("cdnOutage", 1)
      }
    }

    func summary(_ scenario: Scenario) -> RunSummary {
      var summary = RunSummary(run: "", seed: scenario.seed)
      guard let incident = scenario.tapi.incidents.first else { return summary }
      let (kind, depth) = Self.parts(incident.kind)
      let start = Double((incident.start - .start).microseconds) / 600e6 - 1
      var boundary = least[kind]! * (1 + startFactor * abs(start - worstStart))
      boundary *= 1 + depthFactor * (1 - depth)
      boundary *= 1 + noise * (RandomKey(seed: scenario.seed &+ 77).unitOpen - 0.5)
      let length = Double(incident.duration.microseconds) / 1e6
      summary.hasIncidents = true
      summary.recoveryHorizon = (.start + scenario.duration - incident.end).microseconds
      if length < boundary { summary.recoveryTime = Int64(length / boundary * 600e6) }
      summary.lateEvents = Int64(length)
      return summary
    }

    func maker(_ space: IncidentSpace = space) -> CandidateRuns {
      CandidateRuns(Runs<RunSummary>.planted { summary($0) }) { space.scenario($0.candidate) }
    }
  }

  private static func length(_ found: ConfirmedIncident?, _ space: IncidentSpace) -> Double? {
    found.flatMap { space.incident($0.standing.candidate) }.map { Double($0.duration.microseconds) / 1e6 }
  }

  /// The lengths of brute force in seconds, each so many times as long as the one before.
  private static func lengths(_ range: ClosedRange<Double>, ratio: Double) -> [Span] {
    let step = DeterministicMath.log(ratio)
    let steps = Int(DeterministicMath.log(range.upperBound / range.lowerBound) / step)
    return (0...steps).map {
      Span(microseconds: Int64(1e6 * range.lowerBound * DeterministicMath.exp(Double($0) * step)))
    }
  }

  /// Whether most of the seeds from 1 on are not back within the horizon.
  private static func isIll(
    after incident: Incident, seeds: Int, _ space: IncidentSpace,
    _ run: ([Scenario]) throws -> [RunSummary]
  ) rethrows -> Bool {
    let scenarios = (1...UInt64(seeds)).map { seed in
      var scenario = space.scenario.with(seed: seed)
      scenario.tapi.incidents = [incident]
      return scenario
    }
    return try run(scenarios).count { $0.recoveryTime ?? .max > space.horizon.microseconds } * 2 > seeds
  }

  /// Brute force in a planted fleet: each kind at three starts and three depths with every length, the shortest first.
  private static let grid: [Incident] = {
    let space = Planted.space
    let incidents = AdversaryKind.standard.indices.flatMap { kind in
      [0, 10, 20].flatMap { depth in
        [0, 8, 16].compactMap { start in
          space.incident(space.settled(SearchCandidate(choices: [kind, start, depth, 0, 0])))
        }
      }
    }
    return lengths(15...600, ratio: 1.08).flatMap { length in
      incidents.map { Incident(kind: $0.kind, start: $0.start, duration: length) }
    }
  }()

  @Test(
    "In twelve planted fleets the boundary is no more than 10 % above brute force's, with 400 runs instead of 15,120",
    arguments: 1...12 as ClosedRange<UInt64>)
  func planted(number: UInt64) throws {
    let (planted, space) = (Planted(number), Planted.space)
    #expect(Self.grid.count * 5 == 15_120)
    // What is longer than the first that makes it ill needs no run.
    let first = Self.grid.first { Self.isIll(after: $0, seeds: 5, space) { $0.map(planted.summary) } }
    let expected = Double(try #require(first).duration.microseconds) / 1e6

    var adversary = Adversary(try AdversaryStudy(space: space), runs: planted.maker())
    let result = try adversary.run()
    #expect(result.runs.made <= 400)
    let boundary = try #require(result.boundary)
    let found = try #require(Self.length(boundary, space))
    #expect(found <= 1.1 * expected, "\(found) s, brute force \(expected) s")
    let incident = try #require(space.incident(boundary.standing.candidate))
    #expect(Self.isIll(after: incident, seeds: 10, space) { $0.map(planted.summary) })
  }

  @Test("On a fleet like that of experiment 011 the boundary is what runs of every length say, within 10 %")
  func bruteForce() throws {
    var scenario = RescueTests.metastable
    scenario.duration = .minutes(14)
    var bounds = IncidentBounds(runOf: scenario.duration)
    bounds.kinds.removeAll { $0.name != "brownout" }
    (bounds.waits, bounds.depths) = (nil, 600_000...600_000)
    (bounds.starts, bounds.lengths) = (.minutes(3)...(.minutes(3)), .seconds(10)...(.minutes(3)))
    let space = IncidentSpace(bounds, in: scenario)
    let runner = Runs(.summary, workers: 2)
    let all = Self.lengths(10...180, ratio: 1.08).map { length in
      Incident(
        kind: .brownout(factorPartsPerMillion: 400_000), start: .start + .minutes(3), duration: length)
    }
    let first = try all.first { try Self.isIll(after: $0, seeds: 3, space) { try runner.values(of: $0) } }
    let expected = Double(try #require(first).duration.microseconds) / 1e6
    #expect(expected > 15 && expected < 60)

    let maker = CandidateRuns(runner) { space.scenario($0.candidate) }
    var adversary = Adversary(try AdversaryStudy(space: space, seeds: 3, runs: 60), runs: maker)
    let result = try adversary.run()
    let found = try #require(Self.length(result.boundary, space))
    #expect(abs(found / expected - 1) <= 0.1, "\(found) s, brute force \(expected) s")
    #expect(result.worst?.standing.never == 6)
  }

  @Test(
    "A fleet that never fails has no boundary; of what it stands the worst is the longest that the formula knows"
  )
  func nothing() throws {
    var planted = Planted(1)
    for kind in AdversaryKind.all { planted.least[kind.name] = 5_000 }
    planted.startFactor = 0
    planted.least["silence"] = 700
    var adversary = Adversary(try AdversaryStudy(space: Planted.space), runs: planted.maker())
    let result = try adversary.run()
    #expect(result.boundary == nil && result.standings.allSatisfy { $0.broken == 0 })
    let worst = try #require(result.worst.flatMap { Planted.space.incident($0.standing.candidate) })
    #expect(worst.kind == .outage(status: nil, retryAfter: .none, keepsWork: false))
    #expect(worst.duration == .minutes(10))
    let words = AdversaryVerdict(result).sentence
    #expect(
      words.hasPrefix("It stands all ") && words.contains("It lies on the bounds (the longest"), "\(words)")
  }

  @Test(
    "Where the shortest allowed fails, it says so; where the fleet is ill anyhow, there is nothing to look for"
  )
  func ends() throws {
    var planted = Planted(2)
    for kind in AdversaryKind.all { planted.least[kind.name] = 1 }
    var adversary = Adversary(try AdversaryStudy(space: Planted.space), runs: planted.maker())
    let result = try adversary.run()
    #expect(Self.length(result.boundary, Planted.space) == 15 && result.below == nil)
    #expect(AdversaryVerdict(result).lines[0].hasSuffix("a shorter one may do it, too."))

    var joined = Planted.empty
    joined.tapi.incidents = [
      Incident(kind: .brownout(factorPartsPerMillion: 1), start: .start + .minutes(1), duration: .minutes(9))
    ]
    let space = IncidentSpace(IncidentBounds(runOf: .minutes(60)), in: joined, joins: true)
    var late = Adversary(try AdversaryStudy(space: space), runs: planted.maker(space))
    let ill = try late.run()
    #expect(!ill.isPossible && ill.standings.isEmpty && ill.runs.made == 5)
    #expect(AdversaryVerdict(ill).sentence.hasSuffix("there is nothing to look for."))
  }

  @Test("The worst loses most; by recovery alone it is what takes longest, if that is asked for")
  func lostFirst() throws {
    // The longer the incident, the more is lost, and the sooner the rest is back.
    let runs = Runs<RunSummary>.planted { scenario in
      var summary = RunSummary(run: "", seed: scenario.seed)
      guard let length = scenario.tapi.incidents.first?.duration.microseconds else { return summary }
      summary.hasIncidents = true
      summary[.createdEvents] = 100_000
      summary[.droppedByRetryLimit] = length / 100_000
      summary.recoveryTime = 900_000_000 - length
      summary.recoveryHorizon = 1_200_000_000
      return summary
    }
    func worst(_ objective: Metric?) throws -> (seconds: Double, line: String) {
      let study = try AdversaryStudy(space: Planted.space, objective: objective)
      var adversary = Adversary(study, runs: CandidateRuns(runs) { Planted.space.scenario($0.candidate) })
      let result = try adversary.run()
      return (
        try #require(Self.length(result.worst, Planted.space)), AdversaryVerdict(result).lines.last ?? ""
      )
    }
    let byLoss = try worst(nil)
    #expect(byLoss.seconds == 600, "the longest allowed")
    #expect(byLoss.line.hasPrefix("Worst by events lost, then recovery_s: 10 min of "), "\(byLoss.line)")
    #expect(byLoss.line.contains("6,000 events lost, 0 late."), "\(byLoss.line)")
    let byRecovery = try worst(MetricCatalogue.metric(named: MetricCatalogue.recovery))
    #expect(byRecovery.seconds == 15, "the shortest allowed")
    #expect(byRecovery.line.hasPrefix("Worst by recovery_s: 15 s of "), "\(byRecovery.line)")
  }

  @Test("Two incidents of one kind are never at one time beside each other; others may be")
  func joins() {
    var joined = Planted.empty
    joined.tapi.incidents = [
      Incident(kind: .brownout(factorPartsPerMillion: 500_000), start: .start, duration: .minutes(30))
    ]
    let space = IncidentSpace(IncidentBounds(runOf: .minutes(60)), in: joined, joins: true)
    let all = (0..<500).compactMap { space.spread($0, seed: 1) } + space.corners
    #expect(all.count > 300 && !all.contains { space.kind(of: $0)?.name == "brownout" })
    #expect(all.allSatisfy { space.scenario($0).tapi.incidents.count == 2 })
    #expect(IncidentSpace(IncidentBounds(runOf: .minutes(60)), in: joined).scenario.tapi.incidents.isEmpty)
  }
}
