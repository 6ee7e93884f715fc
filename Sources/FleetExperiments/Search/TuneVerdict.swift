import FleetStatistics
import SimulationKernel

/// The words of a search's result.
package struct TuneVerdict: Sendable {
  let result: TuneResult
  package init(_ result: TuneResult) { self.result = result }

  var study: TuneStudy { result.study }
  private var winner: Standing { result.winner }
  private var confirmed: Standing { result.confirmed.winner }
  private var today: Standing { result.confirmed.today }
  private var changes: [Int] {
    winner.candidate.choices.indices.filter { winner.candidate.choices[$0] != nil }
  }

  /// What to do, how sure that is, and what it costs.
  package var sentence: String {
    let field = FigureText.count(result.standings.count, "candidate")
    let keys = changes.map { "\(path($0)) \(newValue($0)) (today \(todaysValue($0)))" }
    if !result.isFinished { return unfinished(field, keys) }
    if let unmet = result.unmetConstraints { return sentence(unmet, keys) }
    guard !changes.isEmpty else {
      return
        "Leave the Settings as they are: of \(field), none is better over \(scenarioCount) and holds in each."
        + (result.today.keepsConstraints
          ? "" : " Today's do not keep every constraint: \(VerdictWording.list(breaks(result.today))).")
    }
    guard result.isConfirmed else {
      return
        "Leave the Settings as they are: the best of \(field), \(VerdictWording.list(keys)), is not confirmed by "
        + "\(freshSeeds): \(VerdictWording.list(doubts)). No Settings are written."
    }
    var text =
      "Change \(changes.count == 1 ? "one key" : "\(changes.count) keys"): \(VerdictWording.list(keys)). "
    text += "Over \(scenarioCount) the score (\(scoreMeaning)) is \(scoreText) of today's"
    if let worst = confirmed.scenarioScores.indices.max(by: {
      confirmed.scenarioScores[$0] < confirmed.scenarioScores[$1]
    }),
      confirmed.scenarioScores.count > 1
    {
      text +=
        "; where it gains least, in '\(study.scenarios[worst])', "
        + "\(Self.decimal(DeterministicMath.exp(confirmed.scenarioScores[worst])))"
    }
    text +=
      ". "
      + (costs.isEmpty
        ? "Nothing that was measured gets worse." : "What gets worse: \(costs.joined(separator: "; ")).")
    let atTheEnd = changes.filter(isAtTheEnd).map { "\(path($0)) \(newValue($0))" }
    if !atTheEnd.isEmpty {
      text +=
        " \(VerdictWording.list(atTheEnd)) \(atTheEnd.count == 1 ? "is" : "are") at the end of what was searched: "
        + "what lies beyond may be better, if it is allowed."
    }
    if confirmed.violations > 0 || today.violations > 0 {
      text +=
        " With the change \(percent(confirmed.violations)) of the runs do not recover"
        + "\(study.constraints.isEmpty ? "" : " or break a constraint"), without it \(percent(today.violations))."
    }
    return text
  }

  private func unfinished(_ field: String, _ keys: [String]) -> String {
    let seeds = FigureText.count(winner.seeds, study.repetition)
    return changes.isEmpty
      ? "Of \(field) so far none is better than today's Settings, judged by \(seeds)."
      : "Of \(field) so far the best is \(VerdictWording.list(keys)), judged by \(seeds): a score of \(Self.decimal(winner.ratio)) "
        + "of today's. Nothing is confirmed by fresh ones."
  }

  private var freshSeeds: String {
    "\(confirmed.seeds) fresh \(FigureText.noun(study.repetition, confirmed.seeds))"
  }

  private var scoreText: String {
    let score = Self.decimal(confirmed.ratio)
    guard let interval = result.freshInterval else { return score + " (one fresh \(study.repetition))" }
    return score + ", 95 % interval \(Self.decimal(DeterministicMath.exp(interval.low))) to "
      + "\(Self.decimal(DeterministicMath.exp(interval.high))) over \(freshSeeds),"
  }

  /// Why the fresh seeds do not confirm what the search found.
  private var doubts: [String] {
    var doubts: [String] = []
    if !(result.freshInterval.map { $0.high < 0 } ?? false) {
      doubts.append("the score is \(scoreText) of today's")
    }
    doubts +=
      confirmed.keepsConstraints
      ? breaks(winner, today: result.today) : breaks(confirmed, today: today)
    if confirmed.violations > today.violations, confirmed.keepsConstraints {
      doubts.append(
        "\(percent(confirmed.violations)) of the runs do not recover (today \(percent(today.violations)))"
      )
    }
    for (s, scenario) in study.scenarios.enumerated() {
      if confirmed.deliversLess[s] { doubts.append("'\(scenario)' delivers less") }
      if confirmed.comparison[s].standing == .worse {
        doubts.append("'\(scenario)' is worse than today by compare's verdict")
      }
    }
    return doubts.isEmpty ? ["a scenario's score is more than 5 % worse"] : doubts
  }

  /// What is measurably worse than today in a scenario, objective by objective.
  private var costs: [String] {
    study.scenarios.indices.flatMap { s in
      study.objectives.indices.compactMap { o in
        guard let ratio = confirmed.logRatios[s][o], ratio > 0.005,
          confirmed.values[s][o] != today.values[s][o],
          let now = today.values[s][o], let then = confirmed.values[s][o]
        else { return nil }
        let metric = study.objectives[o].metric
        return
          "\(title(study.objectives[o])) in '\(study.scenarios[s])' \(MetricText.value(metric, now)) → "
          + "\(MetricText.value(metric, then)) (\(Self.change(ratio)))"
      }
    }
  }

  /// What `compare` says of today's Settings and these in each scenario, on the fresh seeds.
  package var comparisons: [String] {
    guard !changes.isEmpty else { return [] }
    return zip(study.scenarios, confirmed.comparison).map { scenario, pair in
      let by = pair.criterion.map { " (\(criterion($0)))" } ?? ""
      let what =
        switch pair.standing {
        case .better: "better than today\(by)"
        case .worse: "worse than today\(by)"
        case .asGood, .incomparable: "as good as today"
        case .undecided: "not decided\(by)"
        }
      return "'\(scenario)', as compare sees it: \(what)."
    }
  }

  private func criterion(_ criterion: Criterion) -> String {
    switch criterion {
    case .health: "health without incidents"
    case .failures: "how many runs fail"
    case .metric(let index): MetricCatalogue.headline[index].title
    }
  }

  /// What each changed key buys, measured by putting that key back.
  package var keySentences: [String] {
    result.effects.map { effect in
      let name =
        "\(path(effect.parameter)) \(newValue(effect.parameter)) instead of \(todaysValue(effect.parameter))"
      var parts: [String] = []
      for (o, objective) in study.objectives.enumerated() {
        let mean = effect.logRatios[o]
        if let interval = effect.intervals[o], interval.contains(0) { continue }
        guard abs(mean) >= 0.005 else { continue }
        parts.append("\(title(objective)) \(Self.change(mean))\(Self.plusMinus(effect.intervals[o]))")
      }
      if effect.without.violations > winner.violations {
        parts.append(
          "runs that recover and keep the constraints (\(percent(1 - effect.without.violations)) without it)")
      }
      if parts.isEmpty { return "\(name) buys nothing that could be measured." }
      return
        "\(name) buys \(VerdictWording.list(parts)); score \(Self.change(effect.score))\(Self.plusMinus(effect.scoreInterval))."
    }
  }

  /// Rows of the comparison with today's: a scenario and objective each.
  package var comparison: (header: [String], rows: [[String]]) {
    let header = ["scenario"] + study.objectives.map(title) + ["score"]
    let rows = study.scenarios.indices.map { s in
      let cells = study.objectives.indices.map { o in
        let metric = study.objectives[o].metric
        let texts = [today, confirmed].map {
          $0.values[s][o].map { MetricText.value(metric, $0) } ?? "none"
        }
        return changes.isEmpty || texts[0] == texts[1]
          ? texts[0]
          : "\(texts[0]) → \(texts[1])" + (confirmed.logRatios[s][o].map { " (\(Self.change($0)))" } ?? "")
      }
      return [study.scenarios[s]] + cells + [Self.change(confirmed.scenarioScores[s])]
    }
    let mean = result.coordinates(confirmed)
    return (
      header,
      rows + [
        [study.across == .mean ? "all (mean)" : "all (mean; score: worst)"] + mean.map(Self.change) + [
          Self.change(confirmed.score)
        ]
      ]
    )
  }

  package func title(_ objective: TuneObjective) -> String {
    objective.metric.title
  }

  /// The key's whole path.
  package func path(_ parameter: Int) -> String { study.space.parameters[parameter].path }

  private func newValue(_ parameter: Int) -> String { result.value(parameter, of: winner.candidate) }
  private func todaysValue(_ parameter: Int) -> String { study.todaysValues[parameter] ?? "not set" }

  /// Whether the recommended value is the first or last of three or more that have an order.
  private func isAtTheEnd(_ parameter: Int) -> Bool {
    let searched = study.space.parameters[parameter]
    guard searched.isOrdered, searched.values.count > 2, let choice = winner.candidate.choices[parameter]
    else {
      return false
    }
    return choice == 0 || choice == searched.values.count - 1
  }

  private var scenarioCount: String {
    study.scenarios.count == 1 ? "this scenario" : "\(study.scenarios.count) scenarios"
  }

  private var scoreMeaning: String {
    "geometric mean of \(VerdictWording.list(study.objectives.map(title)))"
      + (study.across == .worst ? ", in the worst scenario" : "")
  }

  func percent(_ share: Double) -> String { FigureText.decimal(share * 100) + " %" }

  /// Three decimals without trailing zeros.
  package static func decimal(_ value: Double) -> String { Quantity.decimal(value, digits: 3) }

  /// ln of a ratio as `-42 %` or, from half as much again on, `× 2.5`.
  package static func change(_ logRatio: Double) -> String {
    let ratio = DeterministicMath.exp(logRatio)
    if ratio >= 1.995 { return "× " + Quantity.decimal(ratio, digits: 2) }
    let tenths = Int64(((ratio - 1) * 1_000).rounded())
    if tenths == 0 { return "± 0 %" }
    let text = abs(tenths) >= 100 ? "\((abs(tenths) + 5) / 10)" : "\(abs(tenths) / 10).\(abs(tenths) % 10)"
    return (tenths < 0 ? "-" : "+") + text + " %"
  }

  private static func plusMinus(_ interval: ConfidenceInterval?) -> String {
    guard let interval else { return "" }
    let (low, high) = (DeterministicMath.exp(interval.low) - 1, DeterministicMath.exp(interval.high) - 1)
    return " (\(signed(low)) to \(signed(high)) %)"
  }

  private static func signed(_ share: Double) -> String {
    let tenths = Int64((share * 1_000).rounded())
    return (tenths < 0 ? "-" : "+") + "\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }
}

extension TuneVerdict {
  /// e to the power of `logRatio`, the same on every platform.
  package static func ratio(_ logRatio: Double) -> Double { DeterministicMath.exp(logRatio) }
}

extension TuneVerdict {
  /// What is said first where nothing keeps the constraints: which, what was reached, and that nothing is recommended.
  ///
  /// - Parameter keys: what the best finalist changes.
  func sentence(_ unmet: UnmetConstraints, _ keys: [String]) -> String {
    let names =
      unmet.best.isEmpty
      ? VerdictWording.list(study.constraints.map(\.text)) + " together"
      : unmet.best.map { study.constraints[$0.constraint].text }.joined(separator: " or ")
    let subject =
      unmet.isOfAll
      ? "No candidate"
      : "None of the \(FigureText.count(unmet.count, "candidate")) that \(study.isRobust ? "raced" : "had every seed")"
    var text =
      "\(subject) keeps \(names) in every run, nor do today's Settings"
    if unmet.best.isEmpty {
      text += "; each of them alone is kept by some."
    } else {
      text += ": " + unmet.best.map(reached).joined(separator: "; ") + "."
    }
    let looser = study.constraints.count == 1 ? "the constraint" : "a constraint"
    text +=
      " Nothing is recommended and no Settings are written: leave them as they are, or loosen \(looser)."
    guard !keys.isEmpty else { return text }
    return text
      + " The least bad that is otherwise better than today's, \(VerdictWording.list(keys)): "
      + "\(VerdictWording.list(breaks(result.winner, today: result.today)))."
  }

  private func reached(_ best: (constraint: Int, standing: Standing)) -> String {
    let constraint = study.constraints[best.constraint]
    func worst(_ standing: Standing) -> String {
      standing.constraints[best.constraint].worst.map(constraint.text) ?? "none"
    }
    let name = study.constraints.count > 1 ? "of \(constraint.metric.name) the best" : "the best"
    let candidate = best.standing.candidate
    let changed = candidate.choices.indices.filter { candidate.choices[$0] != nil }
    guard !changed.isEmpty else { return "\(name) that was reached is \(worst(best.standing)), by today's" }
    let keys = changed.map { "\(path($0)) \(result.value($0, of: candidate))" }
    return
      "\(name) that was reached is \(worst(best.standing)), with \(VerdictWording.list(keys)) ("
      + "\(runs(best.standing)); today's \(worst(result.today)))"
  }

  private func runs(_ standing: Standing) -> String {
    let count = standing.seeds * study.scenarios.count
    return count == 1 ? "in its only run" : "in the worst of \(count) runs"
  }

  /// `25.0 % of its runs break recovery_s<=60, the worst with 4 min 2 s (today's 100.0 %)`, for each constraint that it breaks.
  ///
  /// - Parameter today: Today's Settings in the same runs; nil leaves them out.
  func breaks(_ standing: Standing, today: Standing? = nil) -> [String] {
    study.constraints.indices.compactMap { index in
      let (constraint, record) = (study.constraints[index], standing.constraints[index])
      guard record.broken > 0 else { return nil }
      return "\(percent(record.broken)) of its runs break \(constraint.text)"
        + (record.worst.map { ", the worst with \(constraint.text($0))" } ?? "")
        + (today.map { " (today's \(percent($0.constraints[index].broken)))" } ?? "")
    }
  }
}

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
