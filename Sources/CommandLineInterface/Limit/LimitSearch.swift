import FleetExperiments
import FleetMetrics
import FleetStatistics
import ScenarioModel

/// The least or the greatest value of one key with which every run keeps its requirements, and how sure that is.
///
/// The search assumes that the fleet does better towards one end of the range. A few values with few seeds find where the change
/// is; bisection narrows it to two neighbouring values. The value on the good side must then keep the requirements in every seed, or
/// the next one must. Where the middle of the range alone keeps them, the least value there is the answer. A fleet that does not
/// hold its load without incidents keeps nothing.
package struct LimitSearch: Sendable {
  /// One value with its runs.
  package struct Point: Sendable {
    let step: Int
    package let value: Quantity
    fileprivate(set) var runs: [RunSummary] = []
    fileprivate(set) var met = 0
    package var seeds: Int { runs.count }
    package var holds: Bool { met == seeds }
    /// The largest share of such runs that may not keep the requirements, with 95 % confidence.
    var risk: Double { ExactBinomial.upperBound(of: seeds - met, in: seeds) }
    var hasIncidents: Bool { runs.contains(where: \.hasIncidents) }
    var recovered: Int { runs.count { $0.recoveryTime != nil } }
    var longestRecovery: Int64? { runs.compactMap(\.recoveryTime).max() }
    /// The run that destroyed, blocked, or will give up the most events.
    private var worst: RunSummary? { runs.max { $0.lostOrBlockedEvents < $1.lostOrBlockedEvents } }
    var mostLost: Int64 { worst?.lostOrBlockedEvents ?? 0 }
    /// In events of the whole fleet, of which the runs may have a part.
    var mostLostAtFullSize: Int64 { worst?.fullSize(mostLost) ?? 0 }
    /// What gave up most events in the runs that break a requirement.
    func mainCharge(breaking requirement: Requirement) -> LossCharge? {
      let charges = runs.filter { !requirement.outcome(of: [$0]).isMet }
        .flatMap { LossCharge.charges(of: $0.cohorts) }
        .filter { requirement.lossReasons.contains($0.reason) }
      let byReason = requirement.lossReasons.map { reason in charges.filter { $0.reason == reason } }
      func sum(_ charges: [LossCharge]) -> Int64 { charges.reduce(0) { $0 + $1.events } }
      return byReason.max { sum($0) < sum($1) }?.first
    }
    var highestLoad: Double? { runs.compactMap(\.peakOfferedRatio).max() }
    var baselines: [BaselineHealth] { runs.map(\.baseline) }
  }

  /// The most values that the range is cut into.
  static let mostSteps = 1_024
  /// The answer and its neighbour that fails lie apart by at most this share of the answer, by one step, or as two values that are
  /// printed do.
  static let precision = 1.0 / 100
  /// Seeds of a value that is merely looked at.
  static let scouts = 4

  package let range: QuantityRange
  let requirements: [Requirement]
  /// Runs that have to agree.
  let seeds: Int
  /// The scenario's own value of the key; nil where it has none with a number.
  var own: Quantity?
  /// Whether smaller values are known to do better.
  var isLessBetter = false
  /// The meaning of a value in another unit, as a line; nil: the value says it all.
  package var meaning: @Sendable (Quantity) -> String? = { _ in nil }
  package private(set) var points: [Point] = []
  private var steps: Int { min(Self.mostSteps, range.mostSteps) }
  /// False where the search was stopped: the answer may still move.
  package private(set) var isFinished = false

  /// The value next to one that fails, with all its seeds; nil where none or all hold.
  package var answer: Point? { edge.map { points[$0.good] } }
  /// The neighbour of the answer that fails.
  package var beyond: Point? { edge.map { points[$0.bad] } }
  /// Whether the answer is the least value that will do rather than the greatest.
  package var isLeast: Bool { edge.map { $0.bad < $0.good } ?? !isLessBetter }
  /// The nearest value that fails on the answer's other side.
  var tooMuch: Point? {
    edge.flatMap { edge in
      edge.bad < edge.good
        ? points.first { !$0.holds && $0.step > points[edge.good].step }
        : points.last { !$0.holds && $0.step < points[edge.good].step }
    }
  }
  package var allHold: Bool { points.allSatisfy(\.holds) }

  /// Whether a value lies beyond the neighbour that fails.
  func isBeyond(_ point: Point) -> Bool {
    edge.map { $0.bad < $0.good ? point.step < points[$0.bad].step : point.step > points[$0.bad].step }
      ?? false
  }

  /// Seeds of an answer that fails in at most 5 % of such runs, with 95 % confidence, if it fails in none: 59.
  package static let defaultSeeds = ExactBinomial.trials(excluding: MetricRule.relevantRisk)

  package init(_ range: QuantityRange, requirements: [Requirement], seeds: Int) {
    (self.range, self.requirements, self.seeds) = (range, requirements, seeds)
  }

  /// Makes the search.
  /// - Parameters:
  ///   - scenario: the scenario with the key set to a value, as text.
  ///   - run: summaries of scenarios, in their order.
  /// - Throws: `CancellationError` if stopped before anything is known; what the closures throw.
  package mutating func run(
    _ scenario: (String) throws -> Scenario, _ run: ([Scenario]) throws -> [RunSummary]
  ) throws {
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
        if !allHold { return }
        // The two ends have to hold with every seed.
        let ends = (isLessBetter ? [] : [points[0]]) + [points[points.count - 1]]
        if ends.allSatisfy({ $0.seeds == seeds }) { return }
        try look(ends.map(\.step), seeds, run)
        continue
      }
      let (from, to) = (points[bad], points[good])
      let apart = abs(from.value.value - to.value.value)
      let middle = (from.step + to.step) / 2
      // Where the middle is printed as one of the two, there is nothing between them.
      let isBetween = ![from.value.value, to.value.value].contains(quantity(middle).value)
      if abs(from.step - to.step) > 1, isBetween, apart > abs(to.value.value) * Self.precision {
        try look([middle], scouts, run)
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
        ?? Point(step: step, value: quantity(step))
    }.filter { $0.seeds < count }
    var made = try run(asked.map { ($0, $0.seeds..<count) })[...]
    for var point in asked {
      let more = made.prefix(count - point.seeds)
      made = made.dropFirst(more.count)
      point.runs += more
      point.met += more.count { run in
        run.baselineIsHealthy && !run.endsTooSoon && requirements.allSatisfy { $0.outcome(of: [run]).isMet }
      }
      points.removeAll { $0.step == point.step }
      points.append(point)
    }
    points.sort { $0.step < $1.step }
  }

  /// A value as it is printed, so that who runs it finds what the search found.
  private func quantity(_ step: Int) -> Quantity {
    let quantity = range.quantity(at: Double(step) / Double(steps))
    let printed = quantity.asPrinted
    let isInRange = range.low.value <= printed.value && printed.value <= range.high.value
    return step == 0 || step == steps || !isInRange ? quantity : printed
  }

  /// The neighbours between which the requirements begin to be kept, as places in `points`.
  private var edge: (bad: Int, good: Int)? {
    guard let first = points.first, let last = points.last, !allHold else { return nil }
    if first.holds, isLessBetter || !last.holds {
      return points.firstIndex { !$0.holds }.map { ($0, $0 - 1) }
    }
    if isLessBetter { return nil }
    if last.holds { return points.lastIndex { !$0.holds }.map { ($0, $0 + 1) } }
    return points.firstIndex(where: \.holds).map { ($0 - 1, $0) }
  }
}
