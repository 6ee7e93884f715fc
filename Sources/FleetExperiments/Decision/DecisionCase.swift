import FleetMetrics
import FleetStatistics
import ScenarioModel
import TAPIModel

extension Decision {
  /// The result of a criterion in a case.
  package struct Cell: Sendable {
    package enum State: String, Sendable, Hashable, CaseIterable {
      case better, worse
      case asGood = "as good"
      /// Better or as good: which of the two is not decided, and does not matter.
      case notWorse = "not worse"
      case open
    }
    package var criterion: Criterion
    /// nil of health and of failures.
    package var metric: Metric?
    /// Means of the runs under the same seeds, and failures of all runs.
    package var figures: (today: Figure, proposed: Figure)
    package var finding: MetricRule.Finding
    package var state: State
    /// Whether it may get worse, as was asked for: of what may not, a person decides whether it is
    /// worth its price.
    package var isAllowed: Bool
    /// Whether it may be the price of fewer failures or losses in the same case. Kept events have to be delivered, which takes
    /// time and requests.
    package fileprivate(set) var isPrice = false
    /// Whether fewer runs fail, but so few were made that they do not show how rarely.
    fileprivate(set) var isUnsure = false
    /// Whether more runs are needed before anything is published.
    package var isOpen: Bool { state == .open || isUnsure }
    /// About how many seeds would decide it; nil of what is decided.
    package var seedsNeeded: Int?
    /// Whether more seeds may show that it is better.
    var mayGetBetter: Bool { finding.standing == .undecided && finding.reach.lowerBound < -1 }
    /// Whether fewer runs fail, or fewer events are lost, which may have a price.
    var isGain: Bool { state == .better && (criterion == .failures || metric?.name == MetricCatalogue.lost) }

    /// `failures`, `health`, or the metric's column of `summary.csv`.
    package var name: String { metric?.name ?? (criterion == .health ? "health" : "failures") }
    /// In a sentence without a figure.
    package var words: String { metric?.words ?? criterion.words([]) }

    /// By how much the proposed Settings differ, and within which bounds, in the criterion's unit, of the whole fleet; above 0 they
    /// have more. nil of what has no values.
    package var difference: (mean: Double, low: Double, high: Double)? {
      guard finding.unit > 0, criterion != .health else { return nil }
      let factor = finding.unit * (metric?.factor ?? 1)
      return (finding.mean * factor, finding.reach.lowerBound * factor, finding.reach.upperBound * factor)
    }

    /// The bounds as people read them: `+12 min to +16 min`; `none` where every run has the same.
    package var bounds: String? {
      guard let (_, low, high) = difference, low.isFinite, high.isFinite else { return nil }
      if low == 0, high == 0 { return "none" }
      let texts = [low, high].map { value in
        FigureText.signed(
          value,
          metric.map { MetricText.value($0, abs(value) / $0.factor) } ?? FigureText.percent(abs(value)))
      }
      return texts[0] == texts[1] ? texts[0] : "\(texts[0]) to \(texts[1])"
    }
  }

  /// A case with its runs.
  package struct Case: Sendable {
    /// As tables call it: `outage`.
    package let name: String
    /// As sentences call it; empty: it is the only one.
    package let phrase: String
    package let scenarios: (today: Scenario, proposed: Scenario)
    /// By seed.
    package private(set) var today: [RunSummary]
    /// The same seeds, and maybe more of them, which show how often it fails.
    package private(set) var proposed: [RunSummary]
    package private(set) var cells: [Cell] = []

    package init(
      name: String, phrase: String, scenarios: (today: Scenario, proposed: Scenario),
      today: [RunSummary] = [], proposed: [RunSummary] = []
    ) {
      (self.name, self.phrase, self.scenarios) = (name, phrase, scenarios)
      (self.today, self.proposed) = (today, proposed)
    }

    /// Whether a criterion that may not get worse is so.
    func has(_ isMeant: (Cell) -> Bool) -> Bool { cells.contains { isMeant($0) && !$0.isAllowed } }
    package var pairs: Int { min(today.count, proposed.count) }
    /// Runs with the proposed Settings under the seeds of today's: figures are means over the same seeds.
    package var compared: [RunSummary] { Array(proposed.prefix(max(today.count, 1))) }
    package var incidents: [Incident] { scenarios.today.tapi.incidents }
    package var hasIncidents: Bool { scenarios.today.hasIncidents }
    var attempts: Int64 { (today + proposed).reduce(0) { $0 + $1.attempts } }
    package var failures: Int { proposed.count { $0.fails } }
    /// The largest share of the runs that may fail with the proposed Settings, with 95 % confidence.
    package var risk: Double { ExactBinomial.upperBound(of: failures, in: proposed.count) }
    /// How soon after the incidents any client could catch up, mean over the runs; nil where it is not known of all.
    package var possible: Double? {
      let times = compared.map(\.possibleTime)
      let known = times.compactMap(\.self)
      return known.count < times.count ? nil : known.map(Double.init).mean.map { $0 / 1e6 }
    }

    /// Enters the next run, or one in place of another; none behind a seed that is missing.
    mutating func put(_ row: RunSummary, _ seed: Int, isToday: Bool) {
      let rows = isToday ? \Self.today : \.proposed
      if seed < self[keyPath: rows].count {
        self[keyPath: rows][seed] = row
      } else if seed == self[keyPath: rows].count {
        self[keyPath: rows].append(row)
      }
    }

    // MARK: Judging

    mutating func judge(_ terms: Terms) {
      let judged = MetricCatalogue.headline + terms.objectives.filter { !$0.isHeadline }
      let standings = Standings(
        ["today", "proposed"], rows: [today, Array(proposed.prefix(today.count))],
        interval: scenarios.today.interval.microseconds, metrics: judged, level: SeedPlan.level)
      let criteria = standings.criteria(0, 1)
      let others = terms.objectives.compactMap { objective in
        judged.firstIndex { $0.name == objective.name }.map(Criterion.metric)
      }.filter { !criteria.contains($0) }
      cells = (criteria + others).map { criterion in
        let finding = standings.finding(of: 1, to: 0, on: criterion)
        var cell = Cell(
          criterion: criterion, figures: (standings.figure(0, criterion), standings.figure(1, criterion)),
          finding: finding, state: Self.state(finding), isAllowed: others.contains(criterion))
        if case .metric(let index) = criterion {
          cell.metric = standings.metrics.metrics[index]
          cell.isAllowed = cell.isAllowed || terms.allowed.contains(judged[index].name)
        }
        if criterion == .failures {
          cell.figures.proposed = Figure(value: .failures(failures, of: proposed.count))
          if !knowsFailures(finding) {
            cell.isUnsure = finding.standing == .better
            if !cell.isUnsure { cell.state = .open }
          }
        }
        if cell.isOpen {
          let needed =
            criterion == .failures && failures == 0
            ? Double(faultless)
            : finding.seedsNeeded(of: pairs, at: SeedPlan.level) ?? Double(2 * pairs)
          cell.seedsNeeded = Int(min(needed, Double(SeedPlan.mostMissing)).rounded(.up))
        }
        return cell
      }
      if let gain = cells.firstIndex(where: \.isGain) {
        for later in cells.indices where later > gain && cells[later].metric?.name != MetricCatalogue.lost {
          cells[later].isPrice = true
        }
      }
    }

    private static func state(_ finding: MetricRule.Finding) -> Cell.State {
      switch finding.standing {
      case .better: .better
      case .worse: .worse
      case .asGood, .incomparable: .asGood
      case .undecided: finding.reach.upperBound <= 1 ? .notWorse : .open
      }
    }

    /// Whether it is known that the proposed Settings do not fail in 5 % more of the runs.
    private func knowsFailures(_ finding: MetricRule.Finding) -> Bool {
      // So few that all agree show that today's fail, and not how rarely the others do.
      if finding.standing.isDecided, finding.standing == .worse || pairs >= enoughToRefuse { return true }
      // Where today's always fail the others can't fail more often.
      if today.count >= enoughToRefuse, today.allSatisfy(\.fails) { return true }
      if failures == 0 { return proposed.count >= faultless }
      return pairs >= faultless && finding.reach.upperBound <= 1
    }
  }
}

extension IncidentSuite {
  /// The cases of a decision on Settings.
  /// - Parameter proposed: nil: not found yet. Settings that differ from today's by a microsecond stand for them.
  package func cases(today: Scenario, proposed: Scenario?) -> [Decision.Case] {
    var other = today
    for place in other.fleet.indices { other.fleet[place].settings.backoff.baseBackoffInterval += 1 }
    let proposed = proposed ?? other
    return cases.map {
      Decision.Case(
        name: $0.name, phrase: $0.phrase,
        scenarios: (scenario($0, of: today), scenario($0, of: proposed)))
    }
  }

  /// Returns the reason why a fleet does not hold in the first case, by two runs; nil: it does.
  package func illness(of today: Scenario, run: ([Scenario]) throws -> [RunSummary]) throws -> String? {
    let scenario = scenario(cases[0], of: today)
    return try HealthWording.sentence(
      run((0..<2).map { scenario.with(seed: scenario.seed &+ $0) }).map(\.baseline))
  }
}
