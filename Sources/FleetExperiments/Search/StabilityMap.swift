import FleetMetrics
import ScenarioModel
import SimulationKernel

/// What became of a fleet at one point of a stability map, over its seeds.
package struct StabilityPoint: Sendable, Hashable {
  package enum Kind: Int, Sendable, Hashable, CaseIterable {
    /// In more than half of the seeds.
    case recovers
    case neverRecovers
    /// The fleet does not hold its load even without any incident, in at least half of the seeds.
    case overloaded
  }

  package var seeds = 0
  package var healthySeeds = 0
  package var recoveredSeeds = 0
  /// Over the seeds that recovered, microseconds; nil if none did.
  package var meanRecovery: Int64?
  package var longestRecovery: Int64?
  /// Means over the seeds.
  package var lostEvents = 0.0
  package var peakOfferedRatio: Double?
  package var timeToDeliveryP99: Double?

  package init(_ runs: [RunSummary]) {
    seeds = runs.count
    healthySeeds = runs.count(where: \.baselineIsHealthy)
    let recoveries = runs.compactMap(\.recoveryTime)
    recoveredSeeds = recoveries.count
    if !recoveries.isEmpty {
      meanRecovery = recoveries.reduce(0, +) / Int64(recoveries.count)
      longestRecovery = recoveries.max()
    }
    lostEvents = Self.mean(runs.map { Double(max(0, $0.lostEvents)) }) ?? 0
    peakOfferedRatio = Self.mean(runs.compactMap(\.peakOfferedRatio))
    timeToDeliveryP99 = Self.mean(runs.compactMap { $0.timeToDeliveryP99.map(Double.init) })
  }

  package var kind: Kind {
    if healthySeeds * 2 <= seeds { return .overloaded }
    return recoveredSeeds * 2 > seeds ? .recovers : .neverRecovers
  }

  private static func mean(_ values: [Double]) -> Double? {
    values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
  }
}

/// A map over two parameters of a scenario: where its fleet recovers, how fast, and where it never does.
package struct StabilityMap: Sendable {
  package typealias Grid = StabilityGrid<StabilityPoint>

  package let x: QuantityRange
  package let y: QuantityRange
  package let grid: Grid
  package let seeds: Int

  /// How fine a map is to be.
  package struct Resolution: Sendable, Hashable {
    /// Cells of the first round along each axis.
    package var coarse = 8
    /// Cells along each axis where the boundary is.
    package var fine = 32
    package init(coarse: Int = 8, fine: Int = 32) {
      self.coarse = coarse
      self.fine = fine
    }
  }

  /// Makes a map.
  /// - Parameters:
  ///   - seeds: runs of every point; the scenario's seed and those that follow it.
  ///   - scenario: the scenario with the two values put in.
  ///   - run: summaries of scenarios, in their order.
  package init(
    x: QuantityRange, y: QuantityRange, resolution: Resolution, seeds: Int,
    scenario: (_ x: String, _ y: String) throws -> Scenario,
    run: ([Scenario]) throws -> [RunSummary]
  ) throws {
    self.x = x
    self.y = y
    let seeds = max(1, seeds)
    self.seeds = seeds
    let (columns, rows) = (min(resolution.fine, x.mostSteps), min(resolution.fine, y.mostSteps))
    grid = try Grid(
      columns: columns, rows: rows, coarseColumns: resolution.coarse, coarseRows: resolution.coarse,
      kind: \.kind.rawValue
    ) { points in
      let scenarios = try points.flatMap { point in
        let base = try scenario(
          x.quantity(at: Double(point.x) / Double(columns)).text(),
          y.quantity(at: Double(point.y) / Double(rows)).text())
        return (0..<seeds).map { base.with(seed: base.seed &+ UInt64($0)) }
      }
      let summaries = try run(scenarios)
      return points.indices.map { StabilityPoint(Array(summaries[$0 * seeds..<($0 + 1) * seeds])) }
    }
  }

  package func xQuantity(_ step: Int) -> Quantity { x.quantity(at: Double(step) / Double(grid.columns)) }
  package func yQuantity(_ step: Int) -> Quantity { y.quantity(at: Double(step) / Double(grid.rows)) }

  /// What became of the corners of a cell, below left first.
  package func corners(of cell: Grid.Cell) -> [StabilityPoint] { cell.corners.compactMap { grid.values[$0] } }

  /// The share of the map's area of each kind, and of cells that the boundary runs through.
  package var shares: (kinds: [StabilityPoint.Kind: Double], boundary: Double) {
    var kinds: [StabilityPoint.Kind: Double] = [:]
    var boundary = 0.0
    for cell in grid.cells {
      let share = Double(cell.width * cell.height) / Double(grid.columns * grid.rows)
      if grid.isMixed(cell, \.kind.rawValue) {
        boundary += share
      } else if let kind = corners(of: cell).first?.kind {
        kinds[kind, default: 0] += share
      }
    }
    return (kinds, boundary)
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
