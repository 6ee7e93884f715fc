import FleetMetrics
import FleetStatistics
import ScenarioModel
import SimulationKernel

/// The fate of a fleet at one point of a stability map, over its seeds.
package struct StabilityPoint: Sendable, Hashable {
  /// The judgement on a point, with 95 % confidence.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The chance to recover is above 1 − risk.
    case recovers
    /// The chance to recover is below the risk.
    case neverRecovers = "never recovers"
    /// The fleet does not hold its load even without any incident, in at least half of the seeds: it falls behind or loses events.
    case overloaded
    /// The runs do not tell.
    case undecided

    /// As people read it: what is below the risk may still happen.
    package var words: String { self == .neverRecovers ? "rarely recovers" : rawValue }
  }

  private var ensemble: Ensemble
  /// How often it recovered, with Wilson's interval: from its own runs, or where all neighbouring points agree from theirs too.
  package internal(set) var chance = WilsonInterval(successes: 0, of: 0)
  package internal(set) var kind = Kind.undecided

  package init(_ runs: [RunSummary]) { ensemble = Ensemble(runs) }

  mutating func add(_ more: [RunSummary]) { ensemble.runs += more }

  package var seeds: Int { ensemble.runs.count }
  package var healthySeeds: Int { ensemble.runs.count(where: \.baselineIsHealthy) }
  /// The health of the fleet, judged by its twins.
  package var baselines: [BaselineHealth] { ensemble.runs.map(\.baseline) }
  package var recoveredSeeds: Int { ensemble.recoveries.count }
  /// Over the seeds that recovered, microseconds; nil if none did.
  package var meanRecovery: Int64? { ensemble.meanRecovery }
  package var longestRecovery: Int64? { ensemble.recoveries.max() }
  /// Means over the seeds.
  package var lostEvents: Double { ensemble.meanCount { max(0, $0.lostEvents) } }
  package var peakOfferedRatio: Double? { ensemble.mean(\.peakOfferedRatio) }
  package var timeToDeliveryP99: Double? { ensemble.mean { $0.timeToDeliveryP99.map(Double.init) } }

  package var isOverloaded: Bool { healthySeeds * 2 <= seeds }
  /// How long its ill runs take to come back by chance; nil where there is nothing to come back to.
  package var escapes: EscapeTimes? { isOverloaded ? nil : EscapeTimes(ensemble.runs) }
  /// The outcome of most runs: where it changes, the map is refined. Nothing is claimed by it.
  package var tendency: Kind {
    isOverloaded ? .overloaded : recoveredSeeds * 2 > seeds ? .recovers : .neverRecovers
  }

  /// Says what its own runs allow to say.
  mutating func judge(_ risk: StabilityRisk) {
    chance = WilsonInterval(successes: recoveredSeeds, of: seeds)
    kind = isOverloaded ? .overloaded : risk.kind(of: chance)
  }

  /// How long the ill runs of several points take together to come back by chance.
  package static func escapes(of points: [StabilityPoint]) -> EscapeTimes {
    EscapeTimes(points.filter { !$0.isOverloaded }.flatMap(\.ensemble.runs))
  }
  /// Whether all runs did the same, with twins that hold their load.
  var isUnanimous: Bool { healthySeeds == seeds && (recoveredSeeds == 0 || recoveredSeeds == seeds) }
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
  /// Whether it came to its end; false: it was stopped, and says what was known then.
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
  /// All runs of a point and its neighbours decide it together if every one of these runs did the same. The interval is then that
  /// of their mean chance. Any other point has to decide by its own.
  /// - Parameter scenario: the scenario with the two values put in; the scenario's seed and those that follow it are run.
  /// - Parameter run: summaries of scenarios, in their order; nil for those that were not there yet when it was stopped.
  package init(
    x: QuantityRange, y: QuantityRange, resolution: Resolution, risk: StabilityRisk = .init(),
    scenario: (_ x: String, _ y: String) throws -> Scenario,
    run: ([Scenario]) throws -> [RunSummary?]
  ) throws {
    self.x = x
    self.y = y
    self.risk = risk
    let (columns, rows) = (min(resolution.fine, x.mostSteps), min(resolution.fine, y.mostSteps))
    var isStopped = false
    func runs(_ asked: [(point: Grid.Point, seeds: Range<Int>)]) throws -> [[RunSummary]] {
      let scenarios = try asked.flatMap { asked in
        let base = try scenario(
          x.quantity(at: Double(asked.point.x) / Double(columns)).text(),
          y.quantity(at: Double(asked.point.y) / Double(rows)).text())
        return asked.seeds.map { base.with(seed: base.seed &+ UInt64($0)) }
      }
      var found = try run(scenarios)[...]
      if found.contains(nil) { isStopped = true }
      return asked.map { asked in
        defer { found = found.dropFirst(asked.seeds.count) }
        return found.prefix(asked.seeds.count).compactMap(\.self)
      }
    }
    grid = try Grid(
      columns: columns, rows: rows, coarseColumns: resolution.coarse, coarseRows: resolution.coarse,
      kind: \.tendency
    ) { points in
      try runs(points.map { ($0, 0..<risk.first) }).map { $0.isEmpty ? nil : StabilityPoint($0) }
    }
    while true {
      judge()
      isFinished = !isStopped
      if isStopped {
        if grid.values.isEmpty { throw CancellationError() }
        break
      }
      let undecided = grid.points.filter { point in
        guard let value = grid.values[point], value.kind == .undecided, value.seeds < risk.most else {
          return false
        }
        return risk.canDecide(recovered: value.recoveredSeeds, of: value.seeds)
      }
      if undecided.isEmpty { break }
      let asked = undecided.map { point in
        let seeds = grid.values[point]?.seeds ?? 0
        return (point, seeds..<risk.next(after: seeds))
      }
      for ((point, _), more) in zip(asked, try runs(asked)) { grid.change(point) { $0.add(more) } }
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

  /// Returns the points at the corners of a cell, below left first.
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

  /// Returns the kind of all points on a cell; nil where they differ.
  package func kind(of cell: Grid.Cell) -> StabilityPoint.Kind? {
    grid.isMixed(cell, \.kind) ? nil : corners(of: cell).first?.kind
  }

  /// A stretch of a column with one kind of outcome, between points that were evaluated.
  package struct Stretch: Sendable, Hashable {
    package var kind: StabilityPoint.Kind
    /// Steps of y.
    package var first: Int
    package var last: Int
    /// The longest recovery of any run on it, microseconds.
    package var longestRecovery: Int64?
    /// Of all runs on it.
    package var escapes: EscapeTimes
  }

  /// The stretches of one column, from below.
  package func stretches(column x: Int) -> [Stretch] {
    var parts: [[(step: Int, value: StabilityPoint)]] = []
    for point in grid.points where point.x == x {
      guard let value = grid.values[point] else { continue }
      if let last = parts.indices.last, parts[last][0].value.kind == value.kind {
        parts[last].append((point.y, value))
      } else {
        parts.append([(point.y, value)])
      }
    }
    return parts.map { part in
      Stretch(
        kind: part[0].value.kind, first: part[0].step, last: part[part.count - 1].step,
        longestRecovery: part.compactMap(\.value.longestRecovery).max(),
        escapes: StabilityPoint.escapes(of: part.map(\.value)))
    }
  }
}

extension Scenario {
  /// The scenario run until so long after the end of its last incident; nil if it has none.
  package func ending(afterIncidents span: Span) -> Scenario? {
    guard let end = lastIncidentEnd else { return nil }
    var scenario = self
    scenario.duration = end - .start + span
    return scenario
  }
}

/// Where two parameters' outcomes change, found by refining a coarse grid where neighbouring points differ.
///
/// Points lie on a lattice of `columns` × `rows` steps. The map begins with coarse cells. A cell with points of different kinds
/// on it is cut into halves along each side that is still longer than one step. The new corners are evaluated, until no cell
/// longer than one step is left with different kinds on it. So the boundary between two kinds is known to one step wherever the
/// coarse grid sees that there is one. An island smaller than a coarse cell that holds none of its corners stays unseen.
package struct StabilityGrid<Value: Sendable>: Sendable {
  package struct Point: Sendable, Hashable {
    package var x: Int
    package var y: Int
  }

  /// A rectangle between lattice points that was not cut any further.
  package struct Cell: Sendable, Hashable {
    package var x: Int
    package var y: Int
    package var width: Int
    package var height: Int
    package var corners: [Point] {
      [
        Point(x: x, y: y), Point(x: x + width, y: y), Point(x: x, y: y + height),
        Point(x: x + width, y: y + height),
      ]
    }
  }

  /// Steps along x and y.
  package let columns: Int
  package let rows: Int
  /// Where the coarse cells meet along x: columns whose whole height was looked at.
  package let coarseColumns: [Int]
  package private(set) var values: [Point: Value] = [:]
  package private(set) var cells: [Cell] = []
  /// Whether every point that was asked for has a value.
  package private(set) var isFinished = true

  /// Every point evaluated, row by row from below.
  package var points: [Point] { values.keys.sorted { ($0.y, $0.x) < ($1.y, $1.x) } }

  /// Makes the map.
  /// - Parameter columns: steps along x, at least 1; a coarse cell is `columns / coarseColumns` of them, rounded down.
  /// - Parameter kind: the property that a point must share with its neighbours to leave the cell between them uncut.
  /// - Parameter evaluate: values of points, in their order; called once for each round of refinement. Where one has none the map
  ///   ends: only cells with all corners stay, and none of them is cut.
  package init(
    columns: Int, rows: Int, coarseColumns: Int, coarseRows: Int, kind: (Value) -> some Hashable,
    evaluate: ([Point]) throws -> [Value?]
  ) rethrows {
    self.columns = max(1, columns)
    self.rows = max(1, rows)
    let xs = Self.cuts(self.columns, into: coarseColumns)
    let ys = Self.cuts(self.rows, into: coarseRows)
    self.coarseColumns = xs
    for (y, nextY) in zip(ys, ys.dropFirst()) {
      for (x, nextX) in zip(xs, xs.dropFirst()) {
        cells.append(Cell(x: x, y: y, width: nextX - x, height: nextY - y))
      }
    }
    try take(cells.flatMap(\.corners), evaluate)
    while isFinished {
      let mixed = cells.filter { ($0.width > 1 || $0.height > 1) && isMixed($0, kind) }
      if mixed.isEmpty { break }
      let cut = Set(mixed)
      let parts = mixed.flatMap(Self.parts)
      try take(parts.flatMap(\.corners), evaluate)
      if isFinished { cells = cells.filter { !cut.contains($0) } + parts }
    }
    if !isFinished { cells.removeAll { $0.corners.contains { values[$0] == nil } } }
    cells.sort { ($0.y, $0.x) < ($1.y, $1.x) }
  }

  /// Whether points of different kinds lie on a cell, its edges included.
  package func isMixed(_ cell: Cell, _ kind: (Value) -> some Hashable) -> Bool {
    Set(points(on: cell).compactMap { values[$0].map(kind) }).count > 1
  }

  /// The points that were evaluated on a cell, its edges included.
  package func points(on cell: Cell) -> [Point] {
    (cell.y...cell.y + cell.height).flatMap { y in
      (cell.x...cell.x + cell.width).compactMap { x in
        let point = Point(x: x, y: y)
        return values[point] == nil ? nil : point
      }
    }
  }

  /// Changes the value of a point that was evaluated.
  package mutating func change(_ point: Point, _ body: (inout Value) -> Void) {
    if var value = values[point] {
      body(&value)
      values[point] = value
    }
  }

  private mutating func take(_ wanted: [Point], _ evaluate: ([Point]) throws -> [Value?]) rethrows {
    var seen: Set<Point> = []
    let new = wanted.filter { values[$0] == nil && seen.insert($0).inserted }
      .sorted { ($0.y, $0.x) < ($1.y, $1.x) }
    if new.isEmpty { return }
    for (point, value) in zip(new, try evaluate(new)) {
      values[point] = value
      if value == nil { isFinished = false }
    }
  }

  /// 0 … `steps` in at most `count` parts, as even as whole steps allow.
  private static func cuts(_ steps: Int, into count: Int) -> [Int] {
    let count = max(1, min(count, steps))
    return (0...count).map { $0 * steps / count }
  }

  private static func parts(_ cell: Cell) -> [Cell] {
    let xs =
      cell.width > 1
      ? [(cell.x, cell.width / 2), (cell.x + cell.width / 2, cell.width - cell.width / 2)]
      : [(cell.x, cell.width)]
    let ys =
      cell.height > 1
      ? [(cell.y, cell.height / 2), (cell.y + cell.height / 2, cell.height - cell.height / 2)]
      : [(cell.y, cell.height)]
    return ys.flatMap { y in xs.map { x in Cell(x: x.0, y: y.0, width: x.1, height: y.1) } }
  }
}
