import FleetMetrics
import FleetStatistics
import ScenarioModel
import SimulationKernel
import TAPIModel

/// The smallest value of an action that ends an ill state, found by bisection over the steps of its range.
///
/// A seed is ill if its fleet holds without incidents, and with them, without the action, does not recover within the run. A
/// value ends the ill state if every ill seed recovers with it: after the action is over (`RunAnalysis`).
///
/// Too much can be as bad as too little: who turns everybody away for long makes a herd of them. So where the largest value does
/// not end it, the middle is tried, then the quarters, and so on, until some value does. Bisection goes on below that one. It
/// takes it that the values between two that end it do too; `triesAll` takes nothing for granted.
package struct Rescue: Sendable {
  /// The fate of the ill seeds with one value.
  package struct Trial: Sendable, Hashable {
    /// 0 … `Rescue.steps`; nil: without the action.
    package var step: Int?
    package var value: Quantity?
    fileprivate let ensemble: Ensemble
    package var seeds: Int { ensemble.runs.count }
    package var recovered: Int { ensemble.recoveries.count }
    /// Over the seeds that recovered, microseconds after the last incident; nil if none did.
    package var meanRecovery: Int64? { ensemble.meanRecovery }
    /// Means over the ill seeds.
    package var createdEvents: Double { ensemble.meanCount { $0[.createdEvents] } }
    package var deliveredEvents: Double { ensemble.meanCount { $0[.deliveredEvents] } }
    /// Lost, blocked or late: delivered by a fleet that was never ill.
    package var undeliveredEvents: Double { ensemble.meanCount(\.undeliveredEvents) }
    /// The same of the whole fleet, as people read them.
    var fullDelivered: Int64 { ensemble.fullCount { $0[.deliveredEvents] } }
    var fullUndelivered: Int64 { ensemble.fullCount(\.undeliveredEvents) }

    package var ends: Bool { seeds > 0 && recovered == seeds }
    package var chance: WilsonInterval { WilsonInterval(successes: recovered, of: seeds) }
  }

  /// Parts that the range is cut into.
  package static let steps = 32

  package let action: RescueAction
  /// How many seeds were looked at, and how many of their fleets hold without incidents.
  package let seeds: Int
  package let healthySeeds: Int
  /// The health of the fleets, judged by their twins, seed by seed.
  package let baselines: [BaselineHealth]
  /// Without the action, the ill seeds alone.
  package let untreated: Trial
  /// With it, by value.
  package private(set) var trials: [Trial]
  package let triedAll: Bool
  /// How long the run goes on when the action is over; of a readmission, when the longest is.
  package let watched: Span
  /// Whether it came to its end; false: it was stopped, and says what was known then.
  package private(set) var isFinished = true
  /// Where a rule says how many seeds there are: what it said last, and the attempts that they took.
  package private(set) var ending: (plan: SeedPlan, decision: SeedPlan.Decision, attempts: Int64)?

  /// The smallest value tried that ends the ill state; nil: none does.
  package var answer: Trial? { trials.first(where: \.ends) }

  /// The largest value tried below it, which does not end it; nil where there is none.
  package var below: Trial? { trials.last { $0.step! < answer?.step ?? 0 } }

  /// The smallest value tried above it that does not end it; nil where all do.
  package var tooMuch: Trial? { trials.first { !$0.ends && $0.step! > answer?.step ?? .max } }

  /// - Parameter seeds: the scenario's and those that follow it.
  /// - Parameter triesAll: every step of the range, in place of bisection.
  /// - Parameter run: summaries of scenarios, in their order.
  /// - Throws: what `run` throws, but for a `CancellationError` once there is something to say.
  package init(
    _ scenario: Scenario, _ action: RescueAction, seeds: Int, triesAll: Bool = false,
    run: ([Scenario]) throws -> [RunSummary]
  ) throws {
    self.action = action
    self.seeds = seeds
    triedAll = triesAll
    watched = max(.zero, .start + scenario.duration - action.latestEnd)
    let scenarios = (0..<UInt64(seeds)).map { scenario.with(seed: scenario.seed &+ $0) }
    let plain = try run(scenarios)
    healthySeeds = plain.count(where: \.baselineIsHealthy)
    baselines = plain.map(\.baseline)
    let ill = zip(scenarios, plain).filter { $1.baselineIsHealthy && $1.recoveryTime == nil }
    untreated = Trial(ensemble: Ensemble(ill.map(\.1)))
    trials = []
    if ill.isEmpty { return }

    func values(_ steps: [Int]) throws -> [Trial] {
      let values = steps.map { action.range.quantity(at: Double($0) / Double(Self.steps)) }
      let runs = try run(values.flatMap { value in ill.map { action.scenario($0.0, with: value) } })
      return steps.indices.map { index in
        Trial(
          step: steps[index], value: values[index],
          ensemble: Ensemble(Array(runs[index * ill.count..<(index + 1) * ill.count])))
      }
    }
    do {
      try search(values)
    } catch is CancellationError {
      isFinished = false
    }
    trials.sort { $0.step! < $1.step! }
  }

  /// Runs as many seeds as show that the answer ends the ill state in 95 % of such cases, as far as the budget carries.
  ///
  /// Every look searches anew among more seeds; what was run before is asked for again.
  package init(
    _ scenario: Scenario, _ action: RescueAction, until plan: SeedPlan, triesAll: Bool = false,
    run: ([Scenario]) throws -> [RunSummary]
  ) throws {
    var attempts: [Scenario: Int64] = [:]
    func counted(_ scenarios: [Scenario]) throws -> [RunSummary] {
      let found = try run(scenarios)
      for (scenario, summary) in zip(scenarios, found) { attempts[scenario] = summary.attempts }
      return found
    }
    var rescue = try Rescue(scenario, action, seeds: 1, triesAll: triesAll, run: counted)
    while rescue.isFinished {
      var spent = attempts.values.reduce(0, +)
      // A seed that is not ill has cost one run, and the next one may be.
      if rescue.trials.isEmpty { spent *= rescue.seeds == 1 ? Int64(triesAll ? Self.steps : 8) : 1 }
      let isDecided = rescue.isDecided
      let next = isDecided ? nil : plan.next(after: rescue.seeds, attempts: spent, upTo: rescue.enoughSeeds)
      let missing = isDecided || next != nil ? nil : max(1, rescue.enoughSeeds - rescue.seeds)
      let decision = SeedPlan.Decision(isDecided: isDecided, next: next, missing: missing)
      rescue.ending = (plan, decision, attempts.values.reduce(0, +))
      guard let next else { break }
      do {
        rescue = try Rescue(scenario, action, seeds: next, triesAll: triesAll, run: counted)
      } catch is CancellationError {
        rescue.isFinished = false
      }
    }
    self = rescue
  }

  /// Seeds of which all have to agree for 95 % of all to do so.
  private static let enough = ExactBinomial.trials(excluding: MetricRule.relevantRisk)

  /// Whether more seeds would hardly change what is said: a value that some seed does not recover with is no answer of more.
  private var isDecided: Bool {
    guard seeds >= SeedPlan.looks[0] else { return false }
    if healthySeeds == 0 { return true }
    return untreated.seeds == 0
      ? healthySeeds >= Self.enough : answer == nil || untreated.seeds >= Self.enough
  }

  /// About how many seeds there have to be for so many to be ill, or well by themselves.
  private var enoughSeeds: Int {
    let counted = untreated.seeds > 0 ? untreated.seeds : healthySeeds
    guard counted > 0, answer != nil || untreated.seeds == 0 else { return SeedPlan.looks[0] }
    return (Self.enough * seeds + counted - 1) / counted
  }

  private mutating func search(_ values: ([Int]) throws -> [Trial]) throws {
    if triedAll {
      trials = try values(Array(0...Self.steps))
      return
    }
    trials = try values([0, Self.steps])
    var stride = Self.steps / 2
    while answer == nil, stride > 0 {
      trials += try values(Array(Swift.stride(from: stride, to: Self.steps, by: 2 * stride)))
      trials.sort { $0.step! < $1.step! }
      stride /= 2
    }
    try narrow(below?.step, answer?.step, values)
    try narrow(trials.filter(\.ends).compactMap(\.step).max(), tooMuch?.step, values)
  }

  /// Halves what lies between two values of which one ends it, down to a step.
  private mutating func narrow(
    _ low: Int?, _ high: Int?, _ values: ([Int]) throws -> [Trial]
  ) throws {
    guard var low, var high, let lowEnds = trials.first(where: { $0.step == low })?.ends else { return }
    while high - low > 1 {
      let middle = (low + high) / 2
      let trial = try values([middle])[0]
      trials.append(trial)
      if trial.ends == lowEnds { low = middle } else { high = middle }
    }
    trials.sort { $0.step! < $1.step! }
  }
}

/// An action with one number left open: the smallest one that ends an ill state is looked for.
package struct RescueAction: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case shed, capacity, readmit

    /// The quantity that is looked for.
    package var quantity: String { facts.quantity }
    var noun: String { facts.noun }
    /// Where it is looked for if nobody says otherwise.
    package var range: String { facts.range }
    /// The condition that the values of a range have to meet.
    fileprivate var allowed: String { facts.allowed }

    private var facts: (quantity: String, noun: String, range: String, allowed: String) {
      switch self {
      case .shed:
        ("the smallest share of the requests to shed", "share", "0%..100%", "shares from 0% to 100%")
      case .capacity:
        (
          "the least capacity", "capacity", "100%..400%",
          "shares of the configured capacity from 1% to 10000%"
        )
      case .readmit: ("the fastest ramp", "ramp", "0s..30m", "spans up to 366d")
      }
    }
  }

  package let kind: Kind
  package let range: QuantityRange
  /// When it happens.
  package var start: Instant
  /// How long it holds; of a readmission the range says it.
  package var duration: Span
  package var key: String?
  package var isByDevice = false

  /// - Parameter range: `lo..hi`.
  package init(_ kind: Kind, range: String? = nil, at start: Instant, for duration: Span) throws(RangeProblem)
  {
    self.kind = kind
    self.range = try QuantityRange(path: kind.rawValue, range: range ?? kind.range)
    self.start = start
    self.duration = duration
    for end in [self.range.low, self.range.high] where number(end) == nil {
      throw RangeProblem(
        "'\(end.text())' in '\(range ?? kind.range)' is out of range for \(kind.rawValue): \(kind.allowed).")
    }
  }

  /// When it is over, whichever value it has.
  fileprivate var latestEnd: Instant {
    start + (kind == .readmit ? Span(microseconds: Int64(range.high.value.rounded())) : duration)
  }

  /// In parts per million, or microseconds; nil: none that the action can have.
  private func number(_ value: Quantity) -> Int64? {
    func number(_ range: ClosedRange<Int64>) -> Int64? {
      let parts = try? Units.partsPerMillion(value.text())
      return parts.flatMap { range.contains($0) ? $0 : nil }
    }
    switch kind {
    case .shed: return number(0...1_000_000)
    case .capacity: return number(10_000...100_000_000)
    case .readmit:
      guard value.unit == .span, (0...Units.longestSpan.microseconds).contains(Int64(value.value)) else {
        return nil
      }
      return Int64(value.value.rounded())
    }
  }

  /// The action with a value of the range; nil where that is no action at all.
  package func action(_ value: Quantity) -> ServerAction? {
    guard let number = number(value) else { return nil }
    switch kind {
    case .shed:
      let shedding = Shedding(share: number, key: key, isByDevice: isByDevice)
      return number == 0 ? nil : ServerAction(.shed(shedding), at: start, for: duration)
    case .capacity:
      return number == 1_000_000
        ? nil : ServerAction(.capacity(factorPartsPerMillion: number), at: start, for: duration)
    case .readmit:
      let shedding = Shedding(key: key, isByDevice: isByDevice)
      return number == 0
        ? nil : ServerAction(.readmit(shedding), at: start, for: Span(microseconds: number))
    }
  }

  /// The scenario with the action in it.
  package func scenario(_ scenario: Scenario, with value: Quantity) -> Scenario {
    var acting = scenario
    if let action = action(value) { acting.tapi.actions.append(action) }
    return acting
  }
}

/// The words of a search for what ends an ill state.
package struct RescueVerdict: Sendable {
  private let rescue: Rescue
  package init(_ rescue: Rescue) { self.rescue = rescue }

  package var sentence: String {
    let effort = rescue.ending.flatMap { ending in
      rescue.isFinished
        ? ending.plan.text(
          ending.decision, seeds: rescue.seeds, attempts: ending.attempts, known: "decided",
          open: ["whether it holds in 95 % of such cases"]) : nil
    }
    return found + (effort.map { " " + $0 } ?? "")
  }

  private var found: String {
    let ill = rescue.untreated.seeds
    guard rescue.healthySeeds > 0 else {
      return
        "The fleet does not hold its load even without any incident: \(HealthWording(rescue.baselines).reason); "
        + "there is no well state to come back to."
    }
    guard ill > 0 else {
      return
        "Nothing to end: without the action the fleet comes back by itself in \(all(rescue.healthySeeds))."
    }
    if !rescue.isFinished { return unfinished }
    guard let answer = rescue.answer, let value = answer.value else {
      let best = rescue.trials.map(\.recovered).max() ?? 0
      return
        "No \(rescue.action.kind.noun) from \(rescue.action.range.words) ends it within the run, of which "
        + "\(FigureText.span(rescue.watched.microseconds)) are left when the action is over: at best \(best) of the "
        + "\(FigureText.count(ill, "fleet")) that \(ill == 1 ? "is" : "are") ill without come back. "
        + cost(rescue.untreated, "Left alone it costs")
    }
    var text = "\(value.words) is \(rescue.action.kind.quantity) that ends it"
    if let below = rescue.below, let lower = below.value {
      text += ": \(lower.words) brings back \(below.recovered) of the \(ill)"
    }
    text += ", \(value.words) \(all(ill)) that \(ill == 1 ? "is" : "are") ill without"
    text += ill < rescue.seeds ? " (of \(FigureText.count(rescue.seeds, "seed")))." : "."
    text +=
      " With 95 % confidence it works in more than \(FigureText.percent(answer.chance.low)) of such cases."
    if let tooMuch = rescue.tooMuch, let value = tooMuch.value {
      text += " From \(value.words) on it is too much: that brings back \(tooMuch.recovered) of the \(ill)."
    }
    text +=
      " " + cost(answer, "It costs") + " Without it " + cost(rescue.untreated, "it would be", isShort: true)
    return text
  }

  /// The statement on the values that were tried before the search was stopped.
  private var unfinished: String {
    let (tried, ill) = (FigureText.count(rescue.trials.count, "value"), rescue.untreated.seeds)
    guard let value = rescue.answer?.value else {
      return
        "None of the \(tried) tried so far ends it in \(all(ill)) that \(ill == 1 ? "is" : "are") ill without."
    }
    return
      "Of the \(tried) tried so far \(value.words) is the smallest that ends it, in \(all(ill)); a smaller one may."
  }

  /// `all 5`, `the one`
  private func all(_ count: Int) -> String { count == 1 ? "the one seed" : "all \(count) seeds" }

  private func cost(_ trial: Rescue.Trial, _ opening: String, isShort: Bool = false) -> String {
    let events = FigureText.count(trial.fullUndelivered, "delivered event")
    let share = trial.createdEvents > 0 ? trial.undeliveredEvents / trial.createdEvents * 100 : 0
    let figures = "\(events) a run (\(FigureText.decimal(share)) % of those created)"
    return isShort
      ? "\(opening) \(figures)." : "\(opening) \(figures) against a fleet that was never ill."
  }
}

// MARK: - Table

extension Rescue {
  /// A row of `rescue.csv`.
  package struct Row: Sendable {
    package var trial: Trial
    package var isAnswer: Bool
  }

  /// The columns of `rescue.csv` in order.
  package static let columns: [CSVColumn<Row>] = [
    .init("value", "", "The action's value; `none` without the action.") {
      .text($0.trial.value?.text() ?? "none")
    }.shown("value") {
      ($0.trial.value.map(\.words) ?? "none") + ($0.isAnswer ? " ✓" : "")
    },
    .init("seeds", "runs", "Runs: of the seeds whose fleet is ill without the action.") {
      .integer(Int64($0.trial.seeds))
    },
    .init("recovered_seeds", "runs", "Of these: recovered after the action was over.") {
      .integer(Int64($0.trial.recovered))
    }.shown("back in") { "\($0.trial.recovered) of \($0.trial.seeds)" },
    .init("ends", "", "Whether it ends the ill state: in all of them.") { .flag($0.trial.ends) },
    .init(
      "recovered_low_95_ratio", "1", "Lower end of the 95 % interval of the chance to recover (Wilson)."
    ) { .decimal($0.trial.chance.low) },
    .init(
      "recovery_mean_s", "s",
      "From the end of the last incident, mean over the runs that recovered; empty if none did."
    ) { .seconds($0.trial.meanRecovery) }
    .shown("recovered in") { $0.trial.meanRecovery.map(FigureText.span) ?? "never" },
    .init("created_events", "events", "Events created, mean over the runs.") {
      .decimal($0.trial.createdEvents)
    },
    .init("delivered_events", "events", "Events delivered by the end of the run, mean over the runs.") {
      .decimal($0.trial.deliveredEvents)
    }.shown("delivered") { FigureText.grouped($0.trial.fullDelivered) },
    .init(
      "undelivered_events", "events",
      "The cost: events lost, blocked, or late beyond those of the twin, mean over the runs."
    ) { .decimal($0.trial.undeliveredEvents) }
    .shown("undelivered") { FigureText.grouped($0.trial.fullUndelivered) },
  ]

  /// A row without the action, and one for each value tried.
  package var table: Table<Row> {
    Table(Self.columns, ([untreated] + trials).map { Row(trial: $0, isAnswer: $0 == answer) })
  }
}
