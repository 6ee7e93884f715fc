import FleetMetrics
import FleetStatistics
import ScenarioModel

/// Whether proposed Settings are to be published in place of today's, by runs of both in every case.
///
/// Both have the same seeds. More runs follow, case by case, until each criterion is decided or cannot be worse. A failure in
/// more than 5 % of the runs has to be excluded too (59 runs without one). A budget of simulated attempts ends the runs
/// otherwise. Levels are those of `SeedPlan`, which allow for repeated looks.
///
///     var decision = Decision(suite.cases(today: today, proposed: proposed))
///     try decision.run(runs.values, failures: runs.values)
///     decision.outcome   // .publish
package struct Decision: Sendable {
  package enum Outcome: Sendable {
    /// Something is better, nothing worse, and nothing open that could be.
    case publish
    case worse
    /// Nothing is worse, and nothing better.
    case noBetter
    /// The budget ended it.
    case needsMore
  }

  /// What a decision asks for.
  package struct Terms: Sendable {
    /// Metrics that may get worse, by their names.
    package var allowed: Set<String>
    /// Metrics beside the verdict's criteria that may get worse, and of which a better one is a gain.
    package var objectives: [Metric]
    /// What every run with the proposed Settings has to keep.
    package var requirements: [Requirement]
    /// Whether they may break these as often as today's.
    package var breaksAsToday: Bool
    /// Seeds that are left out, from the scenario's own on: whoever chose the proposed Settings has seen them.
    package var skipped: UInt64
    /// Attempts to simulate at most, those of the first look aside.
    package var budget: Int64

    package init(
      allowed: Set<String> = [], objectives: [Metric] = [], requirements: [Requirement] = [],
      breaksAsToday: Bool = false, skipping skipped: Int = 0, budget: Int64 = defaultBudget
    ) {
      (self.allowed, self.objectives, self.requirements) = (allowed, objectives, requirements)
      (self.breaksAsToday, self.skipped, self.budget) = (breaksAsToday, UInt64(skipped), budget)
    }
  }

  /// Makes runs, in order; nil for those that were not there yet when it was stopped.
  package typealias Run = ([Scenario]) throws -> [RunSummary?]

  /// Seeds after which it looks. The first are few: large differences need no more, and runs of a fleet cost.
  package static let looks = [6, 15, 30, 60, 120]
  /// Once something is worse, the rest is looked at with so many seeds at most.
  static let enoughToRefuse = 15
  /// Runs without a failure that exclude one in 5 % of them.
  package static let faultless = ExactBinomial.trials(excluding: MetricRule.relevantRisk)
  package static let defaultBudget: Int64 = 600_000_000

  package let terms: Terms
  package private(set) var cases: [Case]
  /// Whether it came to its end; false: it was stopped, and says what was known then.
  package private(set) var isFinished: Bool

  /// Makes no run yet; without cases it needs none.
  package init(_ cases: [Case], _ terms: Terms = Terms()) {
    (self.cases, self.terms, isFinished) = (cases, terms, cases.isEmpty)
    for place in cases.indices where cases[place].pairs > 0 { self.cases[place].judge(terms) }
  }

  /// Makes the runs that it takes.
  /// - Parameter progress: hears what is known, whenever that changes.
  /// - Parameter run: summaries of scenarios, in their order.
  /// - Parameter failures: of runs that need only tell whether they fail and what they lose (`Recording.failure`).
  /// - Throws: `CancellationError` where it is stopped before anything is known; what `run` throws.
  package mutating func run(
    _ run: Run, failures: Run, progress: (Decision) -> Void = { _ in }
  ) throws {
    do {
      progress(self)
      try look(progress, run, failures)
      isFinished = true
    } catch let error as CancellationError {
      guard cases.allSatisfy({ $0.pairs > 0 }) else { throw error }
    }
  }

  private mutating func look(_ progress: (Decision) -> Void, _ run: Run, _ failures: Run) throws {
    let first = cases.map { (max($0.today.count, Self.looks[0]), max($0.proposed.count, Self.looks[0])) }
    try makeRuns(first, run, failures)
    progress(self)
    // Settings that can't get better are not published, whatever more runs show.
    while isRefused || mayGetBetter {
      let wanted = cases.map { one -> (today: Int, proposed: Int) in
        let (today, proposed) = (one.today.count, one.proposed.count)
        if let next = nextPairs(one) { return (max(today, next), max(proposed, next)) }
        let isOpen =
          one.failures == 0 && one.cells.contains { $0.criterion == .failures && $0.isOpen }
        return (today, isOpen && !isRefused && isBetter ? max(proposed, Self.faultless) : proposed)
      }
      let more = zip(cases, wanted).map { $1.today - $0.today.count + $1.proposed - $0.proposed.count }
      let cost = zip(cases, more).reduce(0.0) { sum, part in
        let each = Double(part.0.attempts) / Double(part.0.today.count + part.0.proposed.count)
        return sum + each * Double(part.1)
      }
      guard more.contains(where: { $0 > 0 }), Double(attempts) + cost <= Double(terms.budget) else { return }
      try makeRuns(wanted, run, failures)
      progress(self)
    }
  }

  /// The runs that are left if nothing that is known by now changes. To be published, each case needs as many as exclude a failure: these
  /// need only tell whether they fail, and nobody expects them before every case has had its first look.
  package var left: (compared: [Scenario], alone: [Scenario]) {
    var left: (compared: [Scenario], alone: [Scenario]) = ([], [])
    let isSeen = cases.allSatisfy { $0.pairs >= Self.looks[0] }
    if isRefused || isSeen && !mayGetBetter { return left }
    for one in cases {
      let (a, b, first) = (one.today.count, one.proposed.count, Self.looks[0])
      left.compared += scenarios(one.scenarios.today, min(a, first)..<first)
      left.compared += scenarios(one.scenarios.proposed, min(b, first)..<first)
      if !isSeen { continue }
      left.alone += scenarios(one.scenarios.proposed, min(max(b, first), Self.faultless)..<Self.faultless)
    }
    return left
  }

  private func scenarios(_ scenario: Scenario, _ seeds: Range<Int>) -> [Scenario] {
    seeds.map { scenario.with(seed: scenario.seed &+ terms.skipped &+ UInt64($0)) }
  }

  /// The first run's scenario with each case's Settings, and its seed.
  package func firstRuns(_ place: Int) -> [Scenario] {
    let scenarios = cases[place].scenarios
    return [scenarios.today, scenarios.proposed].flatMap { self.scenarios($0, 0..<1) }
  }

  /// Simulated so far, twins aside.
  package var attempts: Int64 { cases.reduce(0) { $0 + $1.attempts } }
  package var runCount: Int { cases.reduce(0) { $0 + $1.today.count + $1.proposed.count } }

  /// Makes the runs up to so many seeds of each case. Proposed Settings have more than today's where the rest need only not fail.
  private mutating func makeRuns(
    _ wanted: [(today: Int, proposed: Int)], _ run: Run, _ failures: Run
  ) throws {
    typealias Asked = (seed: Int, place: Int, isProposed: Int)
    var (pairs, alone): ([Asked], [Asked]) = ([], [])
    for (place, one) in cases.enumerated() {
      let (a, b, new) = (one.today.count, one.proposed.count, wanted[place])
      let both = min(new.today, new.proposed)
      pairs += (a..<new.today).map { ($0, place, 0) } + (min(a, b, both)..<both).map { ($0, place, 1) }
      alone += (max(b, both)..<new.proposed).map { ($0, place, 1) }
    }
    // Seed by seed: stopped, all have the seeds before the first that misses a run.
    func make(
      _ asked: [Asked], _ run: Run, after before: Bool = false
    ) throws -> (rows: [(asked: Asked, row: RunSummary)], isStopped: Bool) {
      if before { return ([], true) }
      let asked = asked.sorted { $0 < $1 }
      let rows = try run(
        asked.flatMap { seed, place, isProposed in
          let both = cases[place].scenarios
          return scenarios(isProposed == 1 ? both.proposed : both.today, seed..<seed + 1)
        })
      let missing = zip(asked, rows).first { $1 == nil }?.0.seed
      let known = zip(asked, rows).compactMap { asked, row in
        asked.seed < missing ?? .max ? row.map { (asked, $0) } : nil
      }
      return (known, missing != nil)
    }
    let needsOnlyFailures = terms.requirements.isEmpty
    let both = try make(pairs, run)
    let others = try make(alone, needsOnlyFailures ? failures : run, after: both.isStopped)
    // What fails against its twin need not fail against an ideal run.
    let sure = try make(others.rows.filter(\.row.fails).map(\.asked), run, after: others.isStopped)
    let made =
      both.rows + others.rows.filter { !(sure.isStopped && needsOnlyFailures && $0.row.fails) }
      + (sure.isStopped ? [] : sure.rows)
    for (asked, row) in made { cases[asked.place].put(row, asked.seed, isToday: asked.isProposed == 0) }
    for place in Set(made.map(\.asked.place)) where cases[place].pairs > 0 { cases[place].judge(terms) }
    if sure.isStopped { throw CancellationError() }
  }

  // MARK: What is left to do

  /// Whether something is worse that may not be, or a requirement broken.
  package var isRefused: Bool {
    cases.contains { $0.has { $0.state == .worse } } || !broken.isEmpty
  }

  /// Whether all that is worse may be the price of fewer failures or losses.
  package var isAtAPrice: Bool {
    isRefused && broken.isEmpty && cells(.worse).allSatisfy { $0.cell.isAllowed || $0.cell.isPrice }
  }

  /// The requirements that a run with the proposed Settings breaks, or that more of them break than of today's.
  var broken: [Requirement] {
    terms.requirements.filter { requirement in
      func share(_ runs: (Case) -> [RunSummary]) -> Double { requirement.broken(cases.map(runs)) }
      return terms.breaksAsToday ? share(\.compared) > share(\.today) : share(\.proposed) > 0
    }
  }

  /// The places of the cases in which fewer runs fail, or fewer events are lost.
  package var gains: [Int] { cases.indices.filter { cases[$0].cells.contains(where: \.isGain) } }

  /// Whether some figure is better: without that nobody needs to know how rarely the proposed Settings fail.
  private var isBetter: Bool { !cells(.better).isEmpty }

  /// Whether some figure is better, or more seeds may show that it is.
  private var mayGetBetter: Bool {
    isBetter
      || cases.contains { Self.look(after: $0.pairs) != nil && $0.cells.contains(where: \.mayGetBetter) }
  }

  private static func look(after pairs: Int) -> Int? { looks.first { $0 > pairs } }

  /// How many seeds of both are to be there at the next look; nil: there is nothing to look for.
  private func nextPairs(_ one: Case) -> Int? {
    guard let next = Self.look(after: one.pairs) else { return nil }
    // Runs of a large fleet cost minutes, and the answer is there.
    if isRefused, next > Self.enoughToRefuse || attempts > SeedPlan.defaultBudget { return nil }
    let open = one.cells.contains { cell in
      cell.isOpen && !cell.isAllowed && !(cell.criterion == .failures && one.failures == 0)
        || !isBetter && cell.mayGetBetter
    }
    // Losses of the longer series alone have to be held against as many runs of today's.
    let extra = one.proposed.dropFirst(one.today.count).contains { $0.lostOrBlockedEvents > 0 }
    return open || extra ? next : nil
  }

  // MARK: The outcome

  package var outcome: Outcome {
    if isRefused { return .worse }
    if isFinished, !mayGetBetter { return .noBetter }
    let isOpen = cases.contains { $0.has(\.isOpen) }
    return isOpen || !isBetter ? .needsMore : .publish
  }

  /// About how many more runs would decide what is open; nil: it is decided.
  package var missingRuns: Int? {
    guard outcome == .needsMore else { return nil }
    return cases.reduce(0) { sum, one in
      let open = one.cells.filter { $0.isOpen && !$0.isAllowed }
      let pairs =
        open.filter { !($0.criterion == .failures && one.failures == 0) }.compactMap(\.seedsNeeded).max() ?? 0
      let proposed = max(pairs, open.compactMap(\.seedsNeeded).max() ?? 0)
      return sum + max(0, pairs - one.today.count) + max(0, proposed - one.proposed.count)
    }
  }

  /// The cells in one state, the first criteria first, then the largest differences.
  package func cells(_ state: Cell.State) -> [(place: Int, cell: Cell)] { cells { $0.state == state } }

  func cells(where isMeant: (Cell) -> Bool) -> [(place: Int, cell: Cell)] {
    cases.indices.flatMap { place in
      cases[place].cells.enumerated().filter { isMeant($0.element) }.map {
        (place, $0.offset, $0.element)
      }
    }.sorted { ($0.1, -abs($0.2.finding.mean)) < ($1.1, -abs($1.2.finding.mean)) }.map { ($0.0, $0.2) }
  }
}
