import FleetStatistics
import ScenarioFormat
import ScenarioModel
import SimulationKernel

/// The unknowns of the world that Settings are searched for: keys of the scenarios with distributions in place of values.
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
    guard let (path, range) = QuantityRange.assignment(text) else {
      throw RangeProblem(
        "'\(text)' is no distribution: it is written as tapi.bucket.capacity=1000/s..1600/s, as path=lo..mode..hi, or as the "
          + "name of a CSV file with a column for each path.")
    }
    try add(path: path, range: range)
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
    let lines = Array(CSVLines(text))
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

  /// Returns draws in blocks, each of them a Latin hypercube. Each unknown's distribution has as many equally likely parts as
  /// there are draws. The draws meet each part once, in an order of the unknown's own.
  ///
  /// Source: M. D. McKay, R. J. Beckman, W. J. Conover, "A comparison of three methods for selecting values of input variables in
  /// the analysis of output from a computer code", Technometrics 21 (1979).
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

/// The world in one draw; the draw's number is added to the scenarios' seeds.
package struct UncertainDraw: Sendable, Hashable {
  package var overrides: [Override]

  /// The unknowns' values, as a scenario has them.
  package var values: [String] { overrides.map(\.value) }
}

/// How well recommended Settings stand what is not known.
///
/// Two probabilities are told apart. `posterior` is about the search: whether the choice by the expected score is right, given
/// that only so many draws were made. More draws bring it to 1. The shares of draws are about the world: how often these Settings
/// are the best in what may come; no number of draws changes that.
package struct Robustness: Sendable {
  package var posterior: SelectionPosterior
  /// Candidates of the race, today's Settings among them.
  package var racers: Int
  /// Draws that the race took, of all candidates together, and what it would have taken to give all of them all draws.
  package var taken: Int
  package var full: Int
  /// On which no choice was based.
  package var draws: [UncertainDraw]
  /// On these draws.
  package var winner: Standing
  /// Today's Settings first, unless they are the winner; then those that gain most where the winner is not the best.
  package var others: [Standing]

  /// ln of what counts as the same.
  private static let same = 1e-9
  private static let tolerance = DeterministicMath.log(TuneStudy.tolerance)

  package var count: Int { draws.count }

  /// Draws in which nothing else has a lower score, and in which nothing has one lower by more than 5 %.
  package var bestDraws: Int { draws.indices.count { regret($0) <= Self.same } }
  package var nearDraws: Int { draws.indices.count { regret($0) <= Self.tolerance } }
  /// Draws in which the score is below today's.
  package var betterDraws: Int { winner.scoreBySeed.count { $0 < -Self.same } }

  /// How much lower the lowest score is in a draw.
  private func regret(_ draw: Int) -> Double {
    winner.scoreBySeed[draw] - (others.map { $0.scoreBySeed[draw] }.min() ?? .infinity)
  }

  // MARK: The worst tenth

  /// The draws with the highest score, the worst first.
  package var worstTenth: [Int] {
    let order = draws.indices.sorted {
      (winner.scoreBySeed[$1], $0) < (winner.scoreBySeed[$0], $1)
    }
    return Array(order.prefix(max(1, (count + 9) / 10)))
  }

  /// ln of the mean score there: the conditional value at risk.
  ///
  /// Source: R. T. Rockafellar, S. Uryasev, "Optimization of conditional value-at-risk", Journal of Risk 2 (2000).
  package var worstScore: Double {
    let worst = worstTenth
    return worst.reduce(0) { $0 + winner.scoreBySeed[$1] } / Double(worst.count)
  }

  // MARK: What decides

  /// One unknown.
  package struct Unknown: Sendable {
    package var path: String
    /// By draw.
    package var values: [Quantity]
    /// Rank correlation of the winner's score less the rival's with the value.
    package var correlation: Double
    /// The p value of no correlation, by Holm over the unknowns.
    package var pValue: Double
    /// Where the better one changes best.
    package var threshold: Quantity
    /// Draws on the side where the rival is the better one, and how many of these it wins.
    package var rivalSide: (count: Int, wins: Int, isBelow: Bool)
    /// Draws on the other side, and how many of these the winner wins.
    package var otherSide: (count: Int, wins: Int)

    /// Whether its value changes which one is better, beyond chance.
    package var decides: Bool {
      pValue < 0.05 && 2 * rivalSide.wins > rivalSide.count && rivalSide.wins > 0
    }
  }

  /// The one of `others` that gains most where the winner is not the best; nil if none gains anything.
  package var rival: Int? {
    func gain(_ other: Standing) -> Double {
      zip(winner.scoreBySeed, other.scoreBySeed).reduce(0) { $0 + max(0, $1.0 - $1.1) }
    }
    return others.indices.filter { gain(others[$0]) > Self.same }.max { gain(others[$0]) < gain(others[$1]) }
  }

  /// The unknowns whose values are numbers and differ, the most telling first.
  package var unknowns: [Unknown] {
    let other = rival.map { others[$0].scoreBySeed } ?? winner.scoreBySeed.map { _ in 0 }
    let differences = zip(winner.scoreBySeed, other).map { $0 - $1 }
    var found = (draws.first?.overrides ?? []).indices.compactMap { column in
      unknown(draws.map { $0.overrides[column] }, differences)
    }
    let adjusted = Holm.adjusted(found.map(\.pValue))
    for index in found.indices { found[index].pValue = adjusted[index] }
    return found.enumerated().sorted {
      ($0.element.pValue, -abs($0.element.correlation), $0.offset)
        < ($1.element.pValue, -abs($1.element.correlation), $1.offset)
    }.map(\.element)
  }

  private func unknown(_ overrides: [Override], _ differences: [Double]) -> Unknown? {
    let quantities = overrides.compactMap { Quantity($0.value) }
    guard let unit = quantities.first?.unit, quantities.count == draws.count else { return nil }
    let values = quantities.compactMap { $0.converted(to: unit) }
    guard values.count == draws.count, Set(values.map(\.value)).count > 1 else { return nil }
    let correlation = RankCorrelation(values.map(\.value), differences)
    // The rival is better where the difference is above 0: above a threshold if it grows with the value, else below.
    let order = values.indices.sorted { values[$0].value < values[$1].value }
    let isBelow = correlation.coefficient < 0
    func rivalWins(_ draw: Int) -> Bool { differences[draw] > Self.same }
    func right(_ split: Int) -> Int {
      order.prefix(split).count { rivalWins($0) == isBelow }
        + order.dropFirst(split).count { rivalWins($0) != isBelow }
    }
    let splits = (1..<order.count).filter { values[order[$0 - 1]].value < values[order[$0]].value }
    guard let split = splits.max(by: { right($0) < right($1) }) else { return nil }
    var threshold = values[order[split]]
    threshold.value = (values[order[split - 1]].value + threshold.value) / 2
    let (low, high) = (order.prefix(split), order.dropFirst(split))
    let (rivals, own) = isBelow ? (low, high) : (high, low)
    return Unknown(
      path: overrides[0].path, values: values, correlation: correlation.coefficient,
      pValue: correlation.pValue,
      threshold: threshold.rounded(digits: 3),
      rivalSide: (rivals.count, rivals.count(where: rivalWins), isBelow),
      otherSide: (own.count, own.count { !rivalWins($0) }))
  }
}
