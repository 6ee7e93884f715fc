import FleetMetrics
import ScenarioModel
import SimulationKernel
import TAPIModel

/// Incidents that Settings have to stand before they are published: a standard set, fitted to a fleet.
///
/// Each lies at the fleet's busiest time, and the run goes on long enough to see a recovery. Cases have one length, so that they
/// share the run without incidents. Those that need longer get more (`lengthened`). Example:
///
///     let suite = IncidentSuite(of: scenario)
///     suite.cases.map(\.name)      // own, none, outage, silence, refusals, brownout, errors, restart
///     suite.scenario(suite.cases[2], of: scenario)
package struct IncidentSuite: Sendable, Hashable {
  /// A run to judge by: what goes wrong in it.
  package struct Case: Sendable, Hashable {
    /// As tables call it: `outage`.
    package var name: String
    /// As sentences call it: `a 25-minute outage with half the capacity after it`.
    package var phrase: String
    package var incidents: [Incident]
    /// Whether it is what the scenario itself says: what happens to the clients is in it, and what operators do.
    fileprivate(set) package var isOwn = false
    /// What happens once to the clients of an own case.
    fileprivate var clientIncidents: [IncidentSpan] = []
    /// The run goes on for so long after the incidents.
    fileprivate(set) package var watched = Span.zero

    package init(name: String, phrase: String, incidents: [Incident]) {
      (self.name, self.phrase, self.incidents) = (name, phrase, incidents)
    }

    /// A trouble of that length at the fleet's busiest time.
    package init(_ trouble: Trouble, _ length: Span, _ phrase: String = "", in scenario: Scenario) {
      let incident = Incident(
        kind: trouble.kind(in: scenario), start: IncidentSuite.start(length, in: scenario), duration: length)
      self.init(name: trouble.rawValue, phrase: phrase, incidents: [incident])
    }

    private var spans: [(start: Span, end: Span)] {
      incidents.map { ($0.start - .start, $0.end - .start) }
        + clientIncidents.map { (Span(microseconds: $0.start), Span(microseconds: $0.end)) }
    }
    package var end: Span { spans.map(\.end).max() ?? .zero }
    package var start: Span? { spans.map(\.start).min() }
    package var hasIncidents: Bool { start != nil }
  }

  package private(set) var cases: [Case] = []
  /// The length of every run but those of lengthened cases.
  package private(set) var duration: Span

  /// How long the outage lasts, and the half capacity after it.
  private static let long = Span.seconds(25 * 60)
  private static let short = Span.seconds(10 * 60)
  /// The run goes on for so long at least after an incident.
  package static let watched = Span.minutes(100)
  /// The run goes on for so long at most, where no recovery shows before.
  package static let longestWatched = Span.hours(12)
  /// No incident begins before a fleet has warmed up, where the run has room for that.
  private static let warmUp = Span.seconds(15 * 60)

  /// - Parameter scenario: the fleet; the first case is the scenario as it stands, if anything happens in it.
  /// - Parameter given: further cases.
  /// - Parameter isStandard: whether the standard ones are among the cases.
  package init(of scenario: Scenario, given: [Case] = [], isStandard: Bool = true) {
    duration = scenario.duration
    if isStandard {
      if !scenario.isItsOwnTwin { cases.append(Self.own(of: scenario)) }
      cases += Self.standard(of: scenario)
    }
    cases += given
    let hold = scenario.recoveryHold
    for one in cases where one.hasIncidents { duration = max(duration, one.end + Self.watched + hold) }
    for place in cases.indices where cases[place].hasIncidents {
      cases[place].watched = duration - cases[place].end
    }
  }

  /// Returns the length of a case's runs.
  package func duration(of one: Case) -> Span { max(duration, one.end + one.watched) }

  /// Cases whose runs are longer than those of the others.
  package var lengthened: [Case] { cases.filter { duration(of: $0) > duration } }

  /// Returns the suite with longer runs of those cases in which a run of `scenarios` recovers late or never. Closed apps can
  /// delay the last data for hours. A case is watched twice as long, and again, until all of them recover in good time. Where
  /// none does within `longestWatched`, it keeps its length.
  package func lengthened(for scenarios: [Scenario], run: ([Scenario]) throws -> [RunSummary]) throws -> Self
  {
    var (result, trial) = (self, self)
    var waiting = cases.indices.filter { cases[$0].hasIncidents }.flatMap { place in
      scenarios.map { (place: place, scenario: $0) }
    }
    while !waiting.isEmpty {
      let runs = try run(waiting.map { trial.scenario(trial.cases[$0.place], of: $0.scenario) })
      for (one, summary) in zip(waiting, runs) where summary.recoveryTime != nil {
        result.cases[one.place].watched = trial.cases[one.place].watched
      }
      waiting = zip(waiting, runs).filter { one, summary in
        !Self.isInGoodTime(summary) && trial.cases[one.place].watched < Self.longestWatched
      }.map(\.0)
      for place in Set(waiting.map(\.place)) {
        let watched = trial.cases[place].watched
        trial.cases[place].watched = min(watched + watched, Self.longestWatched)
      }
    }
    return result
  }

  /// Whether it recovers so early that runs under other seeds do, too.
  private static func isInGoodTime(_ run: RunSummary) -> Bool {
    guard let recovery = run.recoveryTime, let horizon = run.recoveryHorizon else { return false }
    return Double(recovery) <= 0.7 * Double(horizon)
  }

  /// The fleet with the case's incidents in place of its own.
  package func scenario(_ one: Case, of scenario: Scenario) -> Scenario {
    var result = one.isOwn ? scenario : scenario.withoutIncidents
    result.tapi.incidents = one.incidents
    result.duration = duration(of: one)
    // A time series has so many rows at most.
    while result.duration.microseconds / result.interval.microseconds >= 100_000 {
      result.interval = result.interval + result.interval
    }
    return result
  }

  /// Returns when an incident of that length begins. Its middle is the busiest time; where rates do not vary, it is as early as
  /// the fleet has warmed up.
  fileprivate static func start(_ length: Span, in scenario: Scenario) -> Instant {
    let half = Span(microseconds: length.microseconds / 2)
    let middle = NormalLoad(scenario).busiestTime ?? warmUp + half
    let start = max((middle - half).microseconds, min(warmUp, scenario.duration).microseconds)
    return .start + Span(microseconds: start / 1_000_000 * 1_000_000)
  }

  private static func own(of scenario: Scenario) -> Case {
    func happens(_ span: IncidentSpan) -> Bool { span.start < scenario.duration.microseconds }
    let all = scenario.incidentSpans.filter(happens)
    let phrase =
      all.count > 1
      ? "the scenario's \(all.count) incidents"
      : all.first.map {
        $0.end > $0.start ? "\($0.label) of \(FigureText.span($0.end - $0.start))" : $0.label
      }
    var own = Case(
      name: "own", phrase: phrase ?? "what operators do",
      incidents: scenario.tapi.incidents.filter { $0.start - .start < scenario.duration })
    (own.isOwn, own.clientIncidents) = (true, scenario.clientIncidents.filter(happens))
    return own
  }

  private static func standard(of scenario: Scenario) -> [Case] {
    func one(_ trouble: Trouble, _ length: Span, _ phrase: String) -> Case {
      Case(trouble, length, phrase, in: scenario)
    }
    var outage = one(.outage, long, "outage of 25 min, then half the capacity")
    outage.incidents.append(
      Incident(
        kind: .brownout(factorPartsPerMillion: 500_000), start: outage.incidents[0].end, duration: long))
    var restart = one(.silence, .seconds(60), "restart")
    restart.name = "restart"
    restart.incidents[0].warmUp = .seconds(120)
    let shortage = shortage(of: scenario)
    return [
      Case(name: "none", phrase: "no incident", incidents: []), outage,
      one(.silence, short, "silence of 10 min"),
      one(.refusals, short, "429 with Retry-After 60 s for 10 min"),
      one(
        .brownout, long,
        "brownout of 25 min to \(FigureText.percent(Double(shortage) / 1e6))"),
      one(.errors, long, "30 % errors for 25 min"), restart,
    ]
  }

  /// Returns half the capacity, or as much less as makes the normal load too much by a quarter; parts per million.
  fileprivate static func shortage(of scenario: Scenario) -> Int64 {
    let load = NormalLoad(scenario)
    let share = min(0.5, load.busiestBatchesPerSecond / max(load.capacityPerSecond, 1e-9) * 0.8)
    return max(10_000, Int64(share * 100) * 10_000)
  }

  /// What goes wrong in a standard case.
  package enum Trouble: String, Sendable, Hashable, CaseIterable {
    case outage, silence, refusals, brownout, errors

    package var meaning: String {
      switch self {
      case .outage: "every request is answered 503"
      case .silence: "no request is answered"
      case .refusals: "every request is answered 429 with Retry-After 60 s"
      case .brownout: "half the capacity is gone, or as much as makes the normal load too much by a quarter"
      case .errors: "30 % of the requests are answered 503"
      }
    }

    fileprivate func kind(in scenario: Scenario) -> Incident.Kind {
      switch self {
      case .outage: .outage(status: 503, retryAfter: .none, keepsWork: false)
      case .silence: .outage(status: nil, retryAfter: .none, keepsWork: false)
      case .refusals: .outage(status: 429, retryAfter: .fixed(.seconds(60)), keepsWork: false)
      case .brownout: .brownout(factorPartsPerMillion: IncidentSuite.shortage(of: scenario))
      case .errors: .errors(status: 503, share: 300_000, afterWork: false, retryAfter: .none)
      }
    }
  }
}
