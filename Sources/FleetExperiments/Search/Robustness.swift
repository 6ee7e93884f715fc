import FleetStatistics
import ScenarioFormat
import SimulationKernel

/// How well recommended Settings stand what is not known.
///
/// Two probabilities are told apart. `posterior` is about the search: whether the choice by the expected score is right, given that only
/// so many draws were made; more draws bring it to 1. The shares of draws are about the world: how often these Settings are the best in what
/// may come; no number of draws changes that.
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
    /// Of no correlation, by Holm over the unknowns.
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
