import FleetExperiments
import FleetMetrics
import FleetStatistics
import ScenarioModel
import SimulationKernel

/// A demand on one run that a value of the key has to meet in every run.
package enum HeadroomGoal: Sendable, Hashable {
  /// The fleet holds without incidents and recovers from them, within the span if there is one.
  case recovers(within: Span?)
  /// Every event is delivered or still on its way: none is destroyed or blocked.
  case losesNothing
  /// No window of one second offers more than this share of the capacity.
  case staysBelow(Double)

  /// The goals as a user writes them, and what each means.
  static let words = [
    (word: "recovers", meaning: "the fleet recovers within the run"),
    (word: "recovers-in=20m", meaning: "it does so within the span"),
    (word: "loses-nothing", meaning: "no event is destroyed or blocked"),
    (word: "stays-below=100%", meaning: "no second offers more than this share of the capacity"),
  ]

  /// Reads `recovers`, `recovers-in=20m`, `loses-nothing` or `stays-below=100%`.
  init(_ text: String) throws(RangeProblem) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let quantity = parts.count == 2 ? Quantity(parts[1]) : nil
    switch (parts[0], quantity?.unit) {
    case ("recovers", nil) where parts.count == 1: self = .recovers(within: nil)
    case ("loses-nothing", nil) where parts.count == 1: self = .losesNothing
    case ("recovers-in", .span?): self = .recovers(within: Span(microseconds: Int64(quantity!.value)))
    case ("stays-below", .percent?) where quantity!.value > 0: self = .staysBelow(quantity!.value / 100)
    default:
      throw RangeProblem("write \(Self.words.map(\.word).joined(separator: ", ")).")
    }
  }

  /// Whether the goal asks for an incident to recover from.
  var needsIncident: Bool { if case .recovers = self { true } else { false } }

  /// Whether a run meets the goal.
  func isMet(by run: RunSummary) -> Bool {
    switch self {
    case .recovers(let limit):
      run.baselineIsHealthy && (run.recoveryTime.map { $0 <= limit?.microseconds ?? .max } ?? false)
    case .losesNothing: run.lostOrBlockedEvents == 0
    case .staysBelow(let share): run.peakOfferedRatio.map { $0 <= share } ?? true
    }
  }
}

/// The least or the greatest value of one key with which a fleet does all that is asked of it, and how sure that is.
///
/// The search assumes that the fleet does better towards one end of the range. A few values with few seeds find where the change
/// is; bisection narrows it to two neighbouring values. The value on the good side must then meet the goals in every seed, or
/// the next one must. Where the goals are met in the middle of the range alone, the least value there is the answer.
///
///     let headroom = try Headroom(range, own: nil, goals: [.losesNothing], seeds: 59, scenario: scenario, run: run)
///     headroom.answer?.value  // 18: no event is lost in any of 59 runs
package struct Headroom: Sendable {
  /// One value with its runs.
  package struct Point: Sendable, Hashable {
    let step: Int
    package let value: Quantity
    fileprivate(set) var runs: [RunSummary] = []
    fileprivate(set) var met = 0
    package var seeds: Int { runs.count }
    package var holds: Bool { met == seeds }
    /// The largest share of such runs that may not meet the goals, with 95 % confidence.
    var risk: Double { ExactBinomial.upperBound(of: seeds - met, in: seeds) }
    var hasIncidents: Bool { runs.contains(where: \.hasIncidents) }
    var recovered: Int { runs.count { $0.recoveryTime != nil } }
    var longestRecovery: Int64? { runs.compactMap(\.recoveryTime).max() }
    /// The most events that a run destroyed.
    var mostLost: Int64 { max(0, runs.map(\.lostEvents).max() ?? 0) }
    /// The same in events of the whole fleet, of which the runs may have a part.
    var mostLostAtFullSize: Int64 { runs.first?.fullSize(mostLost) ?? 0 }
    /// The most events that a run lost or blocked, in events of the whole fleet.
    var mostLostOrBlocked: Int64 {
      runs.map { $0.fullSize(max(0, $0.lostOrBlockedEvents)) }.max() ?? 0
    }
    /// The goals that some run does not meet.
    fileprivate(set) var unmet: [HeadroomGoal] = []
    var highestLoad: Double? { runs.compactMap(\.peakOfferedRatio).max() }
    var baselines: [BaselineHealth] { runs.map(\.baseline) }
  }

  /// The most values that the range is cut into.
  static let mostSteps = 1_024
  /// The answer and its neighbour that fails lie apart by at most this share of the answer, or by one step.
  static let precision = 1.0 / 32
  /// Seeds of a value that is merely looked at.
  static let scouts = 4

  let range: QuantityRange
  let goals: [HeadroomGoal]
  /// Runs that have to agree.
  let seeds: Int
  /// The scenario's own value of the key; nil where it has none with a number.
  let own: Quantity?
  /// The meaning of a value in another unit, as a sentence; nil: the value says it all.
  let meaning: @Sendable (Quantity) -> String?
  /// Values in their order.
  package private(set) var points: [Point] = []
  private let steps: Int
  /// False where the search was stopped: the answer may still move.
  package private(set) var isFinished = false

  /// The value next to one that fails, with all its seeds; nil where none or all meet the goals.
  package var answer: Point? { edge.map { points[$0.good] } }
  /// The neighbour of the answer that fails.
  package var beyond: Point? { edge.map { points[$0.bad] } }
  /// Whether the answer is the least value that will do rather than the greatest.
  package var isLeast: Bool { edge.map { $0.bad < $0.good } ?? true }
  /// The nearest value that fails on the answer's other side.
  var tooMuch: Point? {
    edge.flatMap { edge in
      edge.bad < edge.good
        ? points.first { !$0.holds && $0.step > points[edge.good].step }
        : points.last { !$0.holds && $0.step < points[edge.good].step }
    }
  }
  package var allHold: Bool { points.allSatisfy(\.holds) }

  /// Seeds with which a value is said to fail in at most this share of the runs, if all of them meet the goals.
  ///
  /// The fewest n with (1 − risk)ⁿ ≤ 5 %: 59 for 5 %.
  package static func seeds(for risk: Double) -> Int {
    var (count, chance) = (0, 1.0)
    while chance > 1 - ExactBinomial.confidence {
      count += 1
      chance *= 1 - risk
    }
    return count
  }

  /// - Parameters:
  ///   - meaning: of a value, as a sentence.
  ///   - scenario: the scenario with the key set to a value, as text.
  ///   - run: summaries of scenarios, in their order.
  /// - Throws: `CancellationError` where it is stopped before anything is known; what the closures throw.
  package init(
    _ range: QuantityRange, own: Quantity?, goals: [HeadroomGoal], seeds: Int,
    meaning: @escaping @Sendable (Quantity) -> String? = { _ in nil },
    scenario: (String) throws -> Scenario,
    run: ([Scenario]) throws -> [RunSummary]
  ) throws {
    self.range = range
    self.own = own
    self.goals = goals
    self.seeds = seeds
    self.meaning = meaning
    steps = min(Self.mostSteps, range.mostSteps)
    do {
      try search { asked in
        let scenarios = try asked.flatMap { point, seeds in
          let base = try scenario(point.value.text())
          return seeds.map { base.with(seed: base.seed &+ UInt64($0)) }
        }
        return try run(scenarios)
      }
      isFinished = true
    } catch let error as CancellationError {
      guard !points.isEmpty else { throw error }
    }
  }

  private typealias Runner = ([(point: Point, seeds: Range<Int>)]) throws -> [RunSummary]

  private mutating func search(_ run: Runner) throws {
    let scouts = min(Self.scouts, seeds)
    for parts in [4, 16] where !points.contains(where: \.holds) {
      try look((0...parts).map { $0 * steps / parts }, scouts, run)
    }
    while points.contains(where: \.holds) {
      guard let (bad, good) = edge else {
        // All values hold, so the two ends have to do so with every seed.
        let ends = [points[0], points[points.count - 1]]
        if ends.allSatisfy({ $0.seeds == seeds }) { return }
        try look(ends.map(\.step), seeds, run)
        continue
      }
      let (from, to) = (points[bad], points[good])
      let apart = abs(from.value.value - to.value.value)
      if abs(from.step - to.step) > 1, apart > abs(to.value.value) * Self.precision {
        try look([(from.step + to.step) / 2], scouts, run)
      } else if to.seeds < seeds {
        // A value that fails early is left early.
        try look([to.step], min(seeds, 2 * to.seeds), run)
      } else if from.seeds < seeds {
        try look([from.step], seeds, run)
      } else {
        return
      }
    }
  }

  /// Runs the values at `steps` until each has so many seeds.
  private mutating func look(_ steps: [Int], _ count: Int, _ run: Runner) throws {
    let asked = Set(steps).sorted().map { step in
      points.first { $0.step == step }
        ?? Point(step: step, value: range.quantity(at: Double(step) / Double(self.steps)))
    }.filter { $0.seeds < count }
    var made = try run(asked.map { ($0, $0.seeds..<count) })[...]
    for var point in asked {
      let more = made.prefix(count - point.seeds)
      made = made.dropFirst(more.count)
      point.runs += more
      point.met += more.count { run in goals.allSatisfy { $0.isMet(by: run) } }
      point.unmet = goals.filter { goal in !point.runs.allSatisfy(goal.isMet) }
      points.removeAll { $0.step == point.step }
      points.append(point)
    }
    points.sort { $0.step < $1.step }
  }

  /// The neighbouring points between which the goals begin to be met, as places in `points`.
  private var edge: (bad: Int, good: Int)? {
    guard let first = points.first, let last = points.last, !allHold else { return nil }
    if last.holds { return points.lastIndex { !$0.holds }.map { ($0, $0 + 1) } }
    if first.holds { return points.firstIndex { !$0.holds }.map { ($0, $0 - 1) } }
    return points.firstIndex(where: \.holds).map { ($0 - 1, $0) }
  }
}
