import FleetMetrics
import FleetStatistics
import ScenarioModel

/// Whether proposed Settings are to be published in place of today's, by runs of both in every case of a suite.
///
/// Both have the same seeds. More runs follow, case by case, until each criterion is decided or cannot be worse. A failure in
/// more than 5 % of the runs has to be excluded too (59 runs without one). A budget of simulated attempts ends the runs
/// otherwise. Levels are those of `SeedPlan`, which allow for repeated looks.
///
///     let decision = try Decision(suite, today: today, proposed: proposed, run: runs.values, failures: runs.values)
///     decision.outcome   // .publish
package struct Decision: Sendable {
  package enum Outcome: Sendable, Hashable {
    /// Something is better, nothing worse, and nothing open that could be.
    case publish
    /// Something is worse.
    case worse
    /// Nothing is worse, and nothing better.
    case noBetter
    /// The budget ended it; about so many more runs would decide it.
    case needsMore(runs: Int)
  }

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
    package var finding: MetricRule.Finding
    package var state: State
    /// Whether it may get worse, as was asked for.
    package var isAllowed: Bool
    /// Whether it may be the price of fewer failures or losses in the same case. Kept events have to be delivered, which takes
    /// time and requests.
    package fileprivate(set) var isPrice = false
    /// Whether it keeps the Settings from being published if it gets worse: whether the price is worth it a person decides.
    package var counts: Bool { !isAllowed }
    /// About how many seeds would decide it; nil of what is decided.
    package var seedsNeeded: Int?
    /// Whether more seeds may show that it is better.
    var mayGetBetter: Bool { finding.standing == .undecided && finding.reach.lowerBound < -1 }
  }

  /// A case with its runs.
  package struct Case: Sendable {
    package var suite: IncidentSuite.Case
    /// By seed.
    package fileprivate(set) var today: [RunSummary] = []
    /// The same seeds, and maybe more of them, which show how often it fails.
    package fileprivate(set) var proposed: [RunSummary] = []
    package fileprivate(set) var cells: [Cell] = []
    package fileprivate(set) var standings: Standings?
    package var pairs: Int { min(today.count, proposed.count) }
    /// Runs with the proposed Settings under the seeds of today's: figures are means over the same seeds.
    package var compared: [RunSummary] { Array(proposed.prefix(max(today.count, 1))) }
    var attempts: Int64 { (today + proposed).reduce(0) { $0 + $1.attempts } }
    package var failures: Int { proposed.count { $0.fails } }
    /// The largest share of the runs that may fail with the proposed Settings, with 95 % confidence.
    package var risk: Double { ExactBinomial.upperBound(of: failures, in: proposed.count) }
  }

  /// Runs that are still to be made.
  package struct Left {
    package var compared: [Scenario] = []
    /// Those that need only tell whether they fail.
    package var alone: [Scenario] = []

    package var count: Int { compared.count + alone.count }
  }
  package typealias Run = ([Scenario]) throws -> [RunSummary]

  /// Seeds after which it looks. The first are few: large differences need no more, and runs of a fleet cost.
  package static let looks = [6, 15, 30, 60, 120]
  /// Once something is worse, the rest is looked at with so many seeds at most.
  private static let enoughToRefuse = 15
  /// Runs without a failure that exclude one in 5 % of them.
  package static let faultless = ExactBinomial.trials(excluding: MetricRule.relevantRisk)
  package static let defaultBudget: Int64 = 600_000_000

  /// With longer runs where a recovery needs them.
  package private(set) var suite: IncidentSuite
  /// Seeds of the scenario that are left out: whoever chose the proposed Settings has seen them.
  private let skipped: UInt64
  package let todayScenario: Scenario
  package let proposedScenario: Scenario
  /// Metrics that may get worse, by their names.
  package let allowed: Set<String>
  package private(set) var cases: [Case]
  /// Whether it came to its end; false: it was stopped, and says what was known then.
  package private(set) var isFinished = false
  /// Why the fleet does not hold with today's Settings, without any incident; nil: it does.
  package private(set) var illness: String?

  /// - Parameter allowed: metrics that may get worse.
  /// - Parameter skipped: seeds that are left out, from the scenario's own on.
  /// - Parameter budget: attempts to simulate at most, those of the first look aside.
  /// - Parameter progress: hears what is known and which runs are left, whenever that changes.
  /// - Parameter run: summaries of scenarios, in their order.
  /// - Parameter failures: of runs that need only tell whether they fail and what they lose (`Recording.failure`).
  /// - Throws: `CancellationError` where it is stopped before anything is known; what `run` throws.
  package init(
    _ suite: IncidentSuite, today: Scenario, proposed: Scenario, allowed: Set<String> = [],
    skipping skipped: Int = 0, budget: Int64 = defaultBudget,
    progress: (Decision, Left) -> Void = { _, _ in }, run: Run, failures: Run
  ) throws {
    self.suite = suite
    todayScenario = today
    proposedScenario = proposed
    self.allowed = allowed
    self.skipped = UInt64(skipped)
    cases = suite.cases.map { Case(suite: $0) }
    do {
      progress(self, left)
      try runs(today: [0: 2], proposed: [:], run, failures)
      illness = HealthWording.sentence(cases.first?.today.map(\.baseline) ?? [])
      if illness == nil {
        try lengthen(run)
        progress(self, left)
        try look(budget: budget, progress, run, failures)
      }
      isFinished = true
    } catch let error as CancellationError {
      guard cases.allSatisfy({ $0.pairs > 0 }) else { throw error }
    }
  }

  /// A decision that needs no run: it has no cases.
  package init(unrun suite: IncidentSuite, today: Scenario, proposed: Scenario) {
    (self.suite, todayScenario, proposedScenario) = (suite, today, proposed)
    (allowed, skipped, cases, isFinished) = ([], 0, [], true)
  }

  /// Gives runs the length that a recovery needs; what was run before is run anew at that length.
  private mutating func lengthen(_ run: ([Scenario]) throws -> [RunSummary]) throws {
    suite = try suite.lengthened(
      for: [todayScenario, proposedScenario].map { $0.with(seed: seed(0)) }, run: run)
    let firstDuration = suite.duration(of: cases[0].suite)
    for place in cases.indices { cases[place].suite = suite.cases[place] }
    if suite.duration(of: cases[0].suite) != firstDuration { cases[0] = Case(suite: cases[0].suite) }
  }

  private mutating func look(
    budget: Int64, _ progress: (Decision, Left) -> Void, _ run: Run, _ failures: Run
  ) throws {
    let all = Dictionary(uniqueKeysWithValues: cases.indices.map { ($0, Self.looks[0]) })
    try runs(today: all, proposed: all, run, failures)
    progress(self, left)
    // Settings that can't get better are not published, whatever more runs show.
    while isRefused || mayGetBetter {
      var (today, proposed): ([Int: Int], [Int: Int]) = ([:], [:])
      for place in cases.indices {
        if let next = nextPairs(place) {
          (today[place], proposed[place]) = (next, next)
        } else if needsFaultless(place), !isRefused, isBetter {
          proposed[place] = Self.faultless
        }
      }
      let cost = cases.indices.reduce(0.0) { sum, place in
        let each =
          Double(cases[place].attempts) / Double(cases[place].today.count + cases[place].proposed.count)
        let more =
          max(0, (today[place] ?? 0) - cases[place].today.count)
          + max(0, (proposed[place] ?? 0) - cases[place].proposed.count)
        return sum + each * Double(more)
      }
      guard !today.isEmpty || !proposed.isEmpty, Double(attempts) + cost <= Double(budget) else { return }
      try runs(today: today, proposed: proposed, run, failures)
      progress(self, left)
    }
  }

  /// The runs that are left if nothing that is known by now changes: to be published, each case needs as many as exclude a failure.
  private var left: Left {
    var left = Left()
    if isRefused || cases.allSatisfy({ $0.pairs > 0 }) && !mayGetBetter { return left }
    for (place, one) in cases.enumerated() {
      let (a, b, first) = (one.today.count, one.proposed.count, Self.looks[0])
      left.compared += scenarios(place, todayScenario, min(a, first)..<first)
      left.compared += scenarios(place, proposedScenario, min(b, first)..<first)
      left.alone += scenarios(place, proposedScenario, min(max(b, first), Self.faultless)..<Self.faultless)
    }
    return left
  }

  private func scenarios(_ place: Int, _ base: Scenario, _ seeds: Range<Int>) -> [Scenario] {
    let scenario = suite.scenario(cases[place].suite, of: base)
    return seeds.map { scenario.with(seed: seed($0)) }
  }

  /// The seed of the first run.
  package var firstSeed: UInt64 { seed(0) }
  /// The seed of the run at a place, the same for both.
  func seed(_ place: Int) -> UInt64 { todayScenario.seed &+ skipped &+ UInt64(place) }

  /// Simulated so far, twins aside.
  package var attempts: Int64 { cases.reduce(0) { $0 + $1.attempts } }
  package var runCount: Int { cases.reduce(0) { $0 + $1.today.count + $1.proposed.count } }

  /// Makes the runs up to so many seeds of each case. Proposed Settings have more than today's where the rest need only not fail.
  private mutating func runs(
    today: [Int: Int], proposed: [Int: Int], _ run: Run, _ failures: Run
  ) throws {
    typealias Part = (place: Int, isToday: Bool, seeds: Range<Int>)
    var (compared, alone): ([Part], [Part]) = ([], [])
    for (place, one) in cases.enumerated() {
      let (a, b) = (one.today.count, one.proposed.count)
      let (newA, newB) = (max(a, today[place] ?? 0), max(b, proposed[place] ?? 0))
      let pairs = min(newA, newB)
      compared += [(place, true, a..<newA), (place, false, min(a, b, pairs)..<pairs)]
      alone.append((place, false, max(b, pairs)..<newB))
    }
    func make(_ parts: [Part], _ run: Run) throws -> [(Part, rows: ArraySlice<RunSummary>)] {
      let parts = parts.filter { !$0.seeds.isEmpty }
      var rows = try run(
        parts.flatMap { scenarios($0.place, $0.isToday ? todayScenario : proposedScenario, $0.seeds) })[...]
      return parts.map { part in
        defer { rows = rows.dropFirst(part.seeds.count) }
        return (part, rows.prefix(part.seeds.count))
      }
    }
    let pairs = try make(compared, run)
    let others = try make(alone, failures)
    // What fails against its twin need not fail against an ideal run.
    let doubtful = others.flatMap { part, rows in
      zip(part.seeds, rows).filter { $0.1.fails }.map { (part.place, false, $0.0..<$0.0 + 1) }
    }
    let made = try pairs + others + make(doubtful, run)
    for (part, rows) in made {
      let (one, seeds) = (part.place, part.seeds)
      let old = part.isToday ? cases[one].today : cases[one].proposed
      let new = old.prefix(seeds.lowerBound) + rows + old.dropFirst(seeds.upperBound)
      if part.isToday { cases[one].today = Array(new) } else { cases[one].proposed = Array(new) }
    }
    for place in Set(made.map(\.0.place)) where cases[place].pairs > 0 { judge(place) }
  }

  // MARK: Judging

  private mutating func judge(_ place: Int) {
    let one = cases[place]
    let standings = standings(one.today, Array(one.proposed.prefix(one.today.count)))
    cases[place].standings = standings
    cases[place].cells = standings.criteria(0, 1).map { criterion in
      let finding = standings.finding(of: 1, to: 0, on: criterion)
      var cell = Cell(
        criterion: criterion, finding: finding, state: Self.state(finding), isAllowed: isAllowed(criterion))
      if criterion == .failures, !knowsFailures(one, finding) { cell.state = .open }
      if cell.state == .open {
        let needed =
          criterion == .failures && one.failures == 0
          ? Double(Self.faultless)
          : finding.seedsNeeded(of: one.pairs, at: SeedPlan.level) ?? Double(2 * one.pairs)
        cell.seedsNeeded = Int(min(needed, Double(SeedPlan.mostMissing)).rounded(.up))
      }
      return cell
    }
    guard let gain = cases[place].cells.firstIndex(where: isGain) else { return }
    for later in cases[place].cells.indices
    where later > gain && metric(cases[place].cells[later].criterion)?.name != MetricCatalogue.lost {
      cases[place].cells[later].isPrice = true
    }
  }

  /// Two Settings by their runs under the same seeds.
  func standings(_ today: [RunSummary], _ proposed: [RunSummary]) -> Standings {
    Standings(
      ["today", "proposed"], rows: [today, proposed], interval: todayScenario.interval.microseconds,
      metrics: MetricCatalogue.headline, level: SeedPlan.level)
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
  private func knowsFailures(_ one: Case, _ finding: MetricRule.Finding) -> Bool {
    if finding.standing.isDecided { return true }
    // Where today's always fail the others can't fail more often.
    if one.today.count >= Self.enoughToRefuse, one.today.allSatisfy(\.fails) { return true }
    if one.failures == 0 { return one.proposed.count >= Self.faultless }
    return one.pairs >= Self.faultless && finding.reach.upperBound <= 1
  }

  package func metric(_ criterion: Criterion) -> Metric? {
    guard case .metric(let index) = criterion else { return nil }
    return MetricCatalogue.headline[index]
  }

  /// `failures`, `health`, or the metric's column of `summary.csv`.
  package func name(of criterion: Criterion) -> String {
    metric(criterion)?.name ?? (criterion == .health ? "health" : "failures")
  }

  /// Whether a criterion may get worse, as was asked for.
  func isAllowed(_ criterion: Criterion) -> Bool {
    metric(criterion).map { allowed.contains($0.name) } ?? false
  }

  // MARK: What is left to do

  /// Whether something is worse that may not be.
  package var isRefused: Bool { cases.contains { $0.cells.contains { $0.state == .worse && $0.counts } } }

  /// Whether all that is worse may be the price of fewer failures or losses.
  package var isAtAPrice: Bool {
    isRefused && !cases.contains { $0.cells.contains { $0.state == .worse && $0.counts && !$0.isPrice } }
  }

  /// Whether fewer runs fail, or fewer events are lost, which may have a price.
  private func isGain(_ cell: Cell) -> Bool {
    cell.state == .better
      && (cell.criterion == .failures || metric(cell.criterion)?.name == MetricCatalogue.lost)
  }

  /// The places of the cases with such a gain.
  package var gains: [Int] { cases.indices.filter { cases[$0].cells.contains(where: isGain) } }

  /// Whether some figure is better: without that nobody needs to know how rarely the proposed Settings fail.
  private var isBetter: Bool { cases.contains { $0.cells.contains { $0.state == .better } } }

  /// Whether some figure is better, or more seeds may show that it is.
  private var mayGetBetter: Bool {
    isBetter
      || cases.contains { Self.look(after: $0.pairs) != nil && $0.cells.contains(where: \.mayGetBetter) }
  }

  private static func look(after pairs: Int) -> Int? { looks.first { $0 > pairs } }

  /// How many seeds of both are to be there at the next look; nil: there is nothing to look for.
  private func nextPairs(_ place: Int) -> Int? {
    let one = cases[place]
    guard let next = Self.look(after: one.pairs) else { return nil }
    // Runs of a large fleet cost minutes, and the answer is there.
    if isRefused, next > Self.enoughToRefuse || attempts > SeedPlan.defaultBudget { return nil }
    let open = one.cells.contains { cell in
      cell.state == .open && cell.counts && !(cell.criterion == .failures && one.failures == 0)
        || !isBetter && cell.mayGetBetter
    }
    // Losses of the longer series alone have to be held against as many runs of today's.
    let extra = one.proposed.dropFirst(one.today.count).contains { $0.lostOrBlockedEvents > 0 }
    return open || extra ? next : nil
  }

  private func needsFaultless(_ place: Int) -> Bool {
    let one = cases[place]
    return one.failures == 0 && one.cells.contains { $0.criterion == .failures && $0.state == .open }
  }

  // MARK: The outcome

  package var outcome: Outcome {
    if isRefused { return .worse }
    if isFinished, !mayGetBetter { return .noBetter }
    let isOpen = cases.contains { $0.cells.contains { $0.state == .open && $0.counts } }
    return isOpen || !isBetter ? .needsMore(runs: missingRuns) : .publish
  }

  /// About how many more runs would decide what is open.
  private var missingRuns: Int {
    cases.reduce(0) { sum, one in
      let open = one.cells.filter { $0.state == .open && $0.counts }
      let pairs =
        open.filter { !($0.criterion == .failures && one.failures == 0) }.compactMap(\.seedsNeeded).max() ?? 0
      let proposed = max(pairs, open.compactMap(\.seedsNeeded).max() ?? 0)
      return sum + max(0, pairs - one.today.count) + max(0, proposed - one.proposed.count)
    }
  }

  /// The cells in one state, the first criteria first, then the largest differences.
  package func cells(_ state: Cell.State) -> [(place: Int, cell: Cell)] {
    cases.indices.flatMap { place in
      cases[place].cells.enumerated().filter { $0.element.state == state }.map {
        (place, $0.offset, $0.element)
      }
    }.sorted { ($0.1, -abs($0.2.finding.mean)) < ($1.1, -abs($1.2.finding.mean)) }.map { ($0.0, $0.2) }
  }
}
