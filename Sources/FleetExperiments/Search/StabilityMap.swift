import FleetMetrics
import FleetStatistics
import ScenarioModel
import SimulationKernel

/// What became of a fleet at one point of a stability map, over its seeds.
package struct StabilityPoint: Sendable, Hashable {
  /// What is said of a point, with 95 % confidence.
  package enum Kind: Int, Sendable, Hashable, CaseIterable {
    /// The chance to recover is above 1 − risk.
    case recovers
    /// The chance to recover is below the risk.
    case neverRecovers
    /// The fleet does not hold its load even without any incident, in at least half of the seeds: it falls behind or loses events.
    case overloaded
    /// The runs do not tell.
    case undecided
  }

  /// What counts of one run.
  private struct Run: Sendable, Hashable {
    var baseline: BaselineHealth
    var recovery: Int64?
    var lost: Double
    var peak: Double?
    var delivery: Double?
  }

  private var runs: [Run] = []
  /// How often it recovered, with Wilson's interval: from its own runs, or where all neighbouring points agree from theirs too.
  package internal(set) var chance = WilsonInterval(successes: 0, of: 0)
  package internal(set) var kind = Kind.undecided

  package init(_ runs: [RunSummary]) { add(runs) }

  mutating func add(_ more: [RunSummary]) {
    runs += more.map {
      Run(
        baseline: $0.baseline, recovery: $0.recoveryTime, lost: Double(max(0, $0.lostEvents)),
        peak: $0.peakOfferedRatio, delivery: $0.timeToDeliveryP99.map(Double.init))
    }
  }

  package var seeds: Int { runs.count }
  package var healthySeeds: Int { runs.count(where: \.baseline.isHealthy) }
  /// What the twins say of the fleet.
  package var baselines: [BaselineHealth] { runs.map(\.baseline) }
  package var recoveredSeeds: Int { runs.count { $0.recovery != nil } }
  /// Over the seeds that recovered, microseconds; nil if none did.
  package var meanRecovery: Int64? {
    let recoveries = runs.compactMap(\.recovery)
    return recoveries.isEmpty ? nil : recoveries.reduce(0, +) / Int64(recoveries.count)
  }
  package var longestRecovery: Int64? { runs.compactMap(\.recovery).max() }
  /// Means over the seeds.
  package var lostEvents: Double { Self.mean(runs.map(\.lost)) ?? 0 }
  package var peakOfferedRatio: Double? { Self.mean(runs.compactMap(\.peak)) }
  package var timeToDeliveryP99: Double? { Self.mean(runs.compactMap(\.delivery)) }

  package var isOverloaded: Bool { healthySeeds * 2 <= seeds }
  /// What most runs did: where it changes, the map is refined. Nothing is claimed by it.
  package var tendency: Kind {
    isOverloaded ? .overloaded : recoveredSeeds * 2 > seeds ? .recovers : .neverRecovers
  }
  /// Whether all runs did the same, with twins that hold their load.
  var isUnanimous: Bool { healthySeeds == seeds && (recoveredSeeds == 0 || recoveredSeeds == seeds) }

  private static func mean(_ values: [Double]) -> Double? {
    values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
  }
}

/// How surely a point has to recover, and what is spent on finding out.
package struct StabilityRisk: Sendable, Hashable {
  /// The chance of not recovering that is put up with: above 0, at most 0.5.
  package var risk: Double
  /// Runs of a point at most.
  package var most: Int

  /// Runs that decide if all of them agree: the fewest n with Wilson's interval of n in n above 1 − risk.
  package var deciding: Int {
    var n = 1
    while !decides(WilsonInterval(successes: n, of: n)) { n += 1 }
    return n
  }
  /// Runs of every point to begin with: those of the four corners of a cell decide if all of them agree.
  package var first: Int { min(most, (deciding + 3) / 4) }

  /// - `most`: nil: twice what decides, so that a single run that differs can be outvoted.
  package init(risk: Double = 0.2, most: Int? = nil) {
    self.risk = risk
    self.most = 0
    self.most = max(1, most ?? 2 * deciding)
  }

  private func decides(_ chance: WilsonInterval) -> Bool { chance.low > 1 - risk || chance.high < risk }

  func kind(of chance: WilsonInterval) -> StabilityPoint.Kind {
    chance.low > 1 - risk ? .recovers : chance.high < risk ? .neverRecovers : .undecided
  }

  /// Whether a point that goes on with `more` runs that all agree is decided in the end.
  func canDecide(recovered: Int, of seeds: Int) -> Bool {
    let more = max(0, most - seeds)
    return decides(WilsonInterval(successes: recovered + more, of: seeds + more))
      || decides(WilsonInterval(successes: recovered, of: seeds + more))
  }

  /// At how many runs a point is looked at again. Few looks: each is a chance to be wrong.
  func next(after seeds: Int) -> Int { min(most, seeds < deciding ? deciding : most) }
}

/// A map over two parameters of a scenario: where its fleet recovers, how fast, and where it never does.
package struct StabilityMap: Sendable {
  package typealias Grid = StabilityGrid<StabilityPoint>

  package let x: QuantityRange
  package let y: QuantityRange
  package private(set) var grid: Grid
  package let risk: StabilityRisk
  /// Whether every point got its runs; false: a cancellation came first, and this is what was known by then.
  package private(set) var isFinished = true

  /// How fine a map is to be.
  package struct Resolution: Sendable, Hashable {
    /// Cells of the first round along each axis.
    package var coarse = 4
    /// Cells along each axis where the boundary is.
    package var fine = 16
    package init(coarse: Int = 4, fine: Int = 16) {
      self.coarse = coarse
      self.fine = fine
    }
  }

  /// Makes a map: few runs everywhere, more where the boundary may be, up to the most that the risk allows.
  ///
  /// A point whose neighbours all did what it did, in every run, is decided by all of their runs together: the interval is then
  /// that of their mean chance. Any other point has to decide by its own.
  /// - Parameters:
  ///   - scenario: the scenario with the two values put in; the scenario's seed and those that follow it are run.
  ///   - run: summaries of scenarios, in their order.
  package init(
    x: QuantityRange, y: QuantityRange, resolution: Resolution, risk: StabilityRisk = .init(),
    scenario: (_ x: String, _ y: String) throws -> Scenario,
    run: ([Scenario]) throws -> [RunSummary]
  ) throws {
    self.x = x
    self.y = y
    self.risk = risk
    let (columns, rows) = (min(resolution.fine, x.mostSteps), min(resolution.fine, y.mostSteps))
    func runs(_ asked: [(point: Grid.Point, seeds: Range<Int>)]) throws -> [[RunSummary]] {
      let scenarios = try asked.flatMap { asked in
        let base = try scenario(
          x.quantity(at: Double(asked.point.x) / Double(columns)).text(),
          y.quantity(at: Double(asked.point.y) / Double(rows)).text())
        return asked.seeds.map { base.with(seed: base.seed &+ UInt64($0)) }
      }
      var summaries = try run(scenarios)[...]
      return asked.map { asked in
        defer { summaries = summaries.dropFirst(asked.seeds.count) }
        return Array(summaries.prefix(asked.seeds.count))
      }
    }
    grid = try Grid(
      columns: columns, rows: rows, coarseColumns: resolution.coarse, coarseRows: resolution.coarse,
      kind: \.tendency.rawValue
    ) { points in
      try runs(points.map { ($0, 0..<risk.first) }).map { StabilityPoint($0) }
    }
    isFinished = grid.isFinished
    while true {
      judge()
      let undecided = grid.points.filter { point in
        guard let value = grid.values[point], value.kind == .undecided, value.seeds < risk.most else {
          return false
        }
        return risk.canDecide(recovered: value.recoveredSeeds, of: value.seeds)
      }
      if undecided.isEmpty || !isFinished { break }
      let asked = undecided.map { point in
        let seeds = grid.values[point]?.seeds ?? 0
        return (point, seeds..<risk.next(after: seeds))
      }
      do {
        for ((point, _), more) in zip(asked, try runs(asked)) { grid.change(point) { $0.add(more) } }
      } catch is CancellationError {
        isFinished = false
      }
    }
  }

  /// Says of every point what its runs, and those of its neighbours, allow to say.
  private mutating func judge() {
    var neighbours: [Grid.Point: Set<Grid.Point>] = [:]
    for cell in grid.cells {
      let on = grid.points(on: cell)
      for point in on { neighbours[point, default: []].formUnion(on) }
    }
    let values = grid.values
    for (point, value) in values {
      var (recovered, seeds) = (value.recoveredSeeds, value.seeds)
      let around = (neighbours[point] ?? []).subtracting([point]).compactMap { values[$0] }
      if value.isUnanimous, around.allSatisfy({ $0.isUnanimous && $0.tendency == value.tendency }) {
        recovered += around.reduce(0) { $0 + $1.recoveredSeeds }
        seeds += around.reduce(0) { $0 + $1.seeds }
      }
      let chance = WilsonInterval(successes: recovered, of: seeds)
      grid.change(point) {
        $0.chance = chance
        $0.kind = value.isOverloaded ? .overloaded : risk.kind(of: chance)
      }
    }
  }

  package func xQuantity(_ step: Int) -> Quantity { x.quantity(at: Double(step) / Double(grid.columns)) }
  package func yQuantity(_ step: Int) -> Quantity { y.quantity(at: Double(step) / Double(grid.rows)) }

  /// What became of the corners of a cell, below left first.
  package func corners(of cell: Grid.Cell) -> [StabilityPoint] { cell.corners.compactMap { grid.values[$0] } }

  /// How many points are of each kind.
  package var counts: [StabilityPoint.Kind: Int] {
    grid.values.values.reduce(into: [:]) { $0[$1.kind, default: 0] += 1 }
  }

  /// Runs of all points, and the fewest and the most of one.
  package var runs: (all: Int, fewest: Int, most: Int) {
    let seeds = grid.values.values.map(\.seeds)
    return (seeds.reduce(0, +), seeds.min() ?? 0, seeds.max() ?? 0)
  }

  /// The share of the map's area whose cells are of one kind on all corners; the rest is where the boundary is or may be.
  package var shares: (kinds: [StabilityPoint.Kind: Double], boundary: Double) {
    var kinds: [StabilityPoint.Kind: Double] = [:]
    var boundary = 0.0
    for cell in grid.cells {
      let share = Double(cell.width * cell.height) / Double(grid.columns * grid.rows)
      if let kind = kind(of: cell), kind != .undecided {
        kinds[kind, default: 0] += share
      } else {
        boundary += share
      }
    }
    return (kinds, boundary)
  }

  /// What all points on a cell are; nil where they differ.
  package func kind(of cell: Grid.Cell) -> StabilityPoint.Kind? {
    grid.isMixed(cell, \.kind.rawValue) ? nil : corners(of: cell).first?.kind
  }

  /// A stretch of a column with one kind of outcome, between points that were evaluated.
  package struct Stretch: Sendable, Hashable {
    package var kind: StabilityPoint.Kind
    /// Steps of y.
    package var first: Int
    package var last: Int
    /// The longest mean recovery on it, microseconds.
    package var longestRecovery: Int64?
  }

  /// The stretches of one column, from below.
  package func stretches(column x: Int) -> [Stretch] {
    var result: [Stretch] = []
    for point in grid.points where point.x == x {
      guard let value = grid.values[point] else { continue }
      if let last = result.indices.last, result[last].kind == value.kind {
        result[last].last = point.y
        result[last].longestRecovery = [result[last].longestRecovery, value.meanRecovery].compactMap(\.self)
          .max()
      } else {
        result.append(
          Stretch(kind: value.kind, first: point.y, last: point.y, longestRecovery: value.meanRecovery))
      }
    }
    return result
  }
}

extension Scenario {
  package func with(seed: UInt64) -> Scenario {
    var scenario = self
    scenario.seed = seed
    return scenario
  }

  /// The scenario run until so long after the end of its last incident; nil if it has none.
  package func ending(afterIncidents span: Span) -> Scenario? {
    guard let end = tapi.incidents.map({ $0.start + $0.duration }).max() else { return nil }
    var scenario = self
    scenario.duration = end - .start + span
    return scenario
  }
}
