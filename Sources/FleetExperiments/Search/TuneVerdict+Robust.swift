import SimulationKernel

extension TuneVerdict {
  /// How the Settings stand what is not known: how sure the choice is, how often it is the best, what decides, what it costs where it goes
  /// worst. Empty without unknowns.
  package var robustSentences: [String] {
    result.robustness.map { [sureness($0), shares($0), decision($0), worst($0)] } ?? []
  }

  private var subject: String {
    result.isToday
      ? "today's Settings" : result.isConfirmed ? "the recommended Settings" : "the best finalist's Settings"
  }

  private func sureness(_ robust: Robustness) -> String {
    "How sure the choice is: \(Self.probability(robust.posterior.best)) that none of the \(robust.racers) candidates that raced "
      + "has a lower expected score, \(Self.probability(robust.posterior.near)) that none has one lower by more than 5 %; "
      + "\(FigureText.grouped(Int64(robust.taken))) draws were made, all of them for all candidates would have been "
      + "\(FigureText.grouped(Int64(robust.full)))."
  }

  private func shares(_ robust: Robustness) -> String {
    let better = "better than today's in \(robust.betterDraws)"
    let rivals = robust.others.count - (result.isToday ? 0 : 1)
    guard rivals > 0 else {
      let nothing = "nothing was ahead of them in any draw of the race"
      return "Over what is not known: "
        + (result.isToday
          ? "\(nothing)." : "\(subject) are \(better) of \(robust.count) fresh draws, and \(nothing).")
    }
    return
      "Over what is not known: of \(robust.count) fresh draws \(subject) are "
      + (result.isToday ? "" : "\(better), ")
      + "the best of \(robust.others.count + 1) compared in \(robust.bestDraws), and "
      + "within 5 % of the best in \(robust.nearDraws)."
  }

  private func decision(_ robust: Robustness) -> String {
    guard let rival = robust.rival.map({ robust.others[$0] }) else {
      return "Nothing that is not known decides: in no draw is anything compared better."
    }
    let name = difference(of: rival, from: robust.winner)
    let unknowns = robust.unknowns
    guard let first = unknowns.first, first.decides else {
      let wins = zip(robust.winner.scoreBySeed, rival.scoreBySeed).count { $0 > $1 }
      return
        "Nothing that is not known decides beyond chance: \(name) would be better in \(wins) of \(robust.count) draws"
        + (unknowns.isEmpty
          ? "." : ", at no particular value of \(VerdictWording.list(unknowns.map(\.path))).")
    }
    let (sides, threshold) = (first.rivalSide, Self.readable(first.threshold.text()))
    return
      "What decides is \(first.path): \(sides.isBelow ? "below" : "above") about \(threshold) \(name) would be better (in "
      + "\(sides.wins) of \(sides.count) draws), \(sides.isBelow ? "above" : "below") it \(subject) are (in "
      + "\(first.otherSide.wins) of \(first.otherSide.count))."
  }

  private func worst(_ robust: Robustness) -> String {
    let worst = robust.worstTenth
    let values = robust.draws[worst[0]].overrides.map { "\($0.path) \(Self.readable($0.value))" }
    let highest = robust.winner.scoreBySeed[worst[0]]
    guard !result.isToday else {
      return "Today's Settings are what scores are measured by: their worst tenth is 1."
    }
    let changes = study.objectives.enumerated().compactMap { index, objective -> String? in
      let mean = worst.reduce(0) { $0 + robust.winner.logRatioBySeed[index][$1] } / Double(worst.count)
      return abs(mean) < 0.005 ? nil : "\(title(objective)) \(Self.change(mean))"
    }
    return
      "In the worst tenth of the draws (\(worst.count) of \(robust.count)) the score of \(subject) is "
      + "\(Self.decimal(DeterministicMath.exp(robust.worstScore))) of today's"
      + (changes.isEmpty ? "" : ": \(VerdictWording.list(changes))")
      + ". The worst draw, \(Self.decimal(DeterministicMath.exp(highest))), has \(VerdictWording.list(values))."
  }

  /// A candidate by the keys in which it is not as the winner.
  package func difference(of standing: Standing, from winner: Standing) -> String {
    if standing.candidate.choices.allSatisfy({ $0 == nil }) { return "today's Settings" }
    let differing = standing.candidate.choices.indices.filter {
      result.value($0, of: standing.candidate) != result.value($0, of: winner.candidate)
    }
    let keys = differing.map { "\(path($0)) \(result.value($0, of: standing.candidate))" }
    return keys.isEmpty ? "other Settings of the same values" : VerdictWording.list(keys)
  }

  /// Three digits, or a span as people say it; what is no quantity as it is.
  package static func readable(_ value: String) -> String {
    guard let quantity = Quantity(value) else { return value }
    if quantity.unit == .span { return FigureText.span(Int64(quantity.value)) }
    return quantity.rounded(digits: 3).text()
  }

  /// `97 %`; at the ends what it is at least or at most.
  package static func probability(_ value: Double) -> String {
    if value > 0.99 { return "more than 99 %" }
    if value < 0.01 { return "less than 1 %" }
    return "\(Int((value * 100).rounded())) %"
  }
}
