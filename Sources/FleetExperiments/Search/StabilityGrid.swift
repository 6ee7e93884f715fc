/// Where two parameters' outcomes change, found by refining a coarse grid where neighbouring points differ.
///
/// Points lie on a lattice of `columns` × `rows` steps. The map begins with coarse cells; a cell with points of
/// different kinds on it is cut into halves along each side that is still longer than one step, and the new corners are
/// evaluated, until no cell longer than one step is left with different kinds on it. So the boundary between two kinds
/// is known to one step wherever the coarse grid sees that there is one; an island smaller than a coarse cell that holds
/// none of its corners stays unseen.
package struct StabilityGrid<Value: Sendable>: Sendable {
  package struct Point: Sendable, Hashable {
    package var x: Int
    package var y: Int
    package init(x: Int, y: Int) {
      self.x = x
      self.y = y
    }
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
  /// Whether there is nothing left to cut; false: a cancellation came first.
  package private(set) var isFinished = true

  /// Every point evaluated, row by row from below.
  package var points: [Point] { values.keys.sorted { ($0.y, $0.x) < ($1.y, $1.x) } }

  /// Makes the map.
  /// - Parameters:
  ///   - columns: steps along x, at least 1; a coarse cell is `columns / coarseColumns` of them, rounded down.
  ///   - kind: what a point must have in common with its neighbours to leave the cell between them uncut.
  ///   - evaluate: values of points, in their order; called once for each round of refinement. A cancellation after the first
  ///     leaves the map as it was by then.
  package init(
    columns: Int, rows: Int, coarseColumns: Int, coarseRows: Int, kind: (Value) -> Int,
    evaluate: ([Point]) throws -> [Value]
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
    while true {
      let mixed = cells.filter { ($0.width > 1 || $0.height > 1) && isMixed($0, kind) }
      if mixed.isEmpty { break }
      let cut = Set(mixed)
      let parts = mixed.flatMap(Self.parts)
      do {
        try take(parts.flatMap(\.corners), evaluate)
      } catch is CancellationError {
        isFinished = false
        break
      }
      cells = cells.filter { !cut.contains($0) } + parts
    }
    cells.sort { ($0.y, $0.x) < ($1.y, $1.x) }
  }

  /// Whether points of different kinds lie on a cell, its edges included.
  package func isMixed(_ cell: Cell, _ kind: (Value) -> Int) -> Bool {
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

  private mutating func take(_ wanted: [Point], _ evaluate: ([Point]) throws -> [Value]) rethrows {
    var seen: Set<Point> = []
    let new = wanted.filter { values[$0] == nil && seen.insert($0).inserted }
      .sorted { ($0.y, $0.x) < ($1.y, $1.x) }
    if new.isEmpty { return }
    for (point, value) in zip(new, try evaluate(new)) { values[point] = value }
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
