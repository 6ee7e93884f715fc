import ScenarioFormat
import SimulationKernel

/// What nobody knows of the world that Settings are searched for: keys of the scenarios with distributions in place of values.
package struct Uncertainty: Sendable {
  /// One key by itself, or several with joint values.
  enum Source: Sendable {
    /// Even between the ends, or with a mode in a triangle.
    case range(QuantityRange, mode: Quantity?)
    /// Every row is as likely as any other.
    case table(paths: [String], rows: [[String]])

    var paths: [String] {
      switch self {
      case .range(let range, _): [range.path]
      case .table(let paths, _): paths
      }
    }

    /// At `share` of the distribution, 0 … 1; spans to a few digits, as people write them.
    func values(at share: Double) -> [String] {
      switch self {
      case .table(_, let rows): return rows[min(Int(share * Double(rows.count)), rows.count - 1)]
      case .range(let range, let mode):
        var quantity = range.quantity(at: mode.map { Self.triangular(share, range, $0) } ?? share)
        if mode == nil, range.low.isWhole, !range.isLogarithmic {
          let steps = range.high.value - range.low.value + 1
          quantity.value = range.low.value + min((share * steps).rounded(.down), steps - 1)
        }
        return [(quantity.unit == .span ? quantity.rounded(digits: 5) : quantity).text()]
      }
    }

    /// Where between the ends a triangular distribution is at a share of it.
    private static func triangular(_ share: Double, _ range: QuantityRange, _ mode: Quantity) -> Double {
      let peak = range.share(of: mode) ?? 0.5
      return share < peak
        ? (share * peak).squareRoot() : 1 - ((1 - share) * (1 - peak)).squareRoot()
    }
  }

  private(set) var sources: [Source] = []

  package init() {}
  package var isEmpty: Bool { sources.isEmpty }
  package var paths: [String] { sources.flatMap(\.paths) }

  /// Reads `path=lo..hi`, `path=lo..hi:log` or `path=lo..mode..hi`.
  package mutating func add(_ text: String) throws(RangeProblem) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, !parts[0].isEmpty else {
      throw RangeProblem(
        "'\(text)' is no distribution: it is written as tapi.bucket.capacity=1000/s..1600/s, as path=lo..mode..hi, or as the "
          + "name of a CSV file with a column for each path.")
    }
    try add(path: parts[0], range: parts[1])
  }

  /// - Parameter range: `lo..hi`, `lo..hi:log` or `lo..mode..hi`.
  package mutating func add(path: String, range text: String) throws(RangeProblem) {
    let bounds = QuantityRange.bounds(text)
    guard bounds.count == 2, QuantityRange.bounds(bounds[1]).count == 2 else {
      return try add(.range(QuantityRange(path: path, range: text), mode: nil))
    }
    let (middle, high) = (QuantityRange.bounds(bounds[1])[0], QuantityRange.bounds(bounds[1])[1])
    guard !high.hasSuffix(":log") else {
      throw RangeProblem("'\(path)=\(text)' has a mode, which :log has not: leave one of them out.")
    }
    let range = try QuantityRange(path: path, range: "\(bounds[0])..\(high)")
    guard let mode = Quantity(middle)?.converted(to: range.low.unit), range.share(of: mode) != nil else {
      throw RangeProblem(
        "'\(middle)' in '\(path)=\(text)' is no mode: it lies between \(bounds[0]) and \(high), in their unit."
      )
    }
    try add(.range(range, mode: mode))
  }

  /// Reads joint draws: a header of paths, then a row a draw with values as a scenario has them.
  /// - Throws: `RangeProblem` with the file's name and the line.
  package mutating func add(table text: String, name: String) throws(RangeProblem) {
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
      .filter { !$0.element.allSatisfy(\.isWhitespace) }
      .map { (number: $0.offset + 1, fields: CSVLine.fields($0.element)) }
    guard let header = lines.first, lines.count > 1 else {
      throw RangeProblem(
        "\(name): a header of paths is expected, as tapi.bucket.capacity,tapi.incidents.0.for, and a row for each draw below it."
      )
    }
    if let empty = header.fields.firstIndex(of: "") {
      throw RangeProblem("\(name):\(header.number): column \(empty + 1) has no path.")
    }
    for line in lines.dropFirst() {
      guard line.fields.count == header.fields.count else {
        throw RangeProblem(
          "\(name):\(line.number): \(line.fields.count) \(FigureText.noun("value", line.fields.count)) in a table of "
            + "\(header.fields.count) \(FigureText.noun("column", header.fields.count)).")
      }
      if let empty = line.fields.firstIndex(of: "") {
        throw RangeProblem("\(name):\(line.number): there is no value of \(header.fields[empty]).")
      }
    }
    try add(.table(paths: header.fields, rows: lines.dropFirst().map(\.fields)))
  }

  private mutating func add(_ source: Source) throws(RangeProblem) {
    var known = Set(paths)
    for path in source.paths where !known.insert(path).inserted {
      throw RangeProblem("'\(path)' is given twice as uncertain.")
    }
    sources.append(source)
  }

  /// Every value that a draw can have at its extremes: the ends of the ranges, the rows of the tables.
  package var extremes: [[Override]] {
    sources.flatMap { source in
      switch source {
      case .range: [source.values(at: 0), source.values(at: 1)].map { (source.paths, $0) }
      case .table(let paths, let rows):
        Array(Set(rows)).sorted { $0.joined() < $1.joined() }.map { (paths, $0) }
      }
    }.map { paths, values in zip(paths, values).map { Override(path: $0, value: $1) } }
  }

  /// Draws in blocks, of which each is a Latin hypercube: every unknown has each of as many equally likely parts of its
  /// distribution as there are draws once, in an order of its own.
  ///
  /// Source: M. D. McKay, R. J. Beckman, W. J. Conover, "A comparison of three methods for selecting values of input variables in the
  /// analysis of output from a computer code", Technometrics 21 (1979).
  package func draws(_ blocks: [Int], seed: UInt64) -> [UncertainDraw] {
    blocks.enumerated().flatMap { block, count in
      let key = RandomKey(seed: seed).child(UInt64(block))
      let columns = sources.indices.map { source in
        let own = key.child(UInt64(source))
        let order = (0..<count).sorted {
          let (a, b) = (own.child(UInt64($0)).bits, own.child(UInt64($1)).bits)
          return a == b ? $0 < $1 : a < b
        }
        return order.enumerated().map { index, part in
          let within = own.child(UInt64(count + index)).unitOpen
          return sources[source].values(at: (Double(part) + within) / Double(count))
        }
      }
      return (0..<count).map { draw in
        UncertainDraw(overrides: zip(paths, columns.flatMap { $0[draw] }).map(Override.init(path:value:)))
      }
    }
  }
}

/// What the world is in one draw; the draw's number is added to the scenarios' seeds.
package struct UncertainDraw: Sendable, Hashable {
  package var overrides: [Override]

  /// The unknowns' values, as a scenario has them.
  package var values: [String] { overrides.map(\.value) }
}
