import FleetMetrics
import FleetStatistics
import SimulationKernel

/// The words of a search's result.
extension TuneResult {
  private var fresh: Standing { confirmed.winner }
  private var changes: [Int] { winner.candidate.changed }

  /// The advice, what it improves and costs, and how sure that is.
  package var story: Story {
    let field = FigureText.count(standings.count, "candidate")
    if !isFinished { return unfinished(field) }
    if let unmet = unmetRequirements { return story(unmet) }
    if changes.isEmpty {
      var story = Story(Self.leave, basis: field)
      story.add(.reason, "no candidate is better over \(scenarioCount) and holds in each")
      story.add(.open, temptation)
      story.add(.worse, breaks(today).map { "today's: \($0)" })
      return story
    }
    return isConfirmed ? recommendation() : refusal(field)
  }

  private static let leave = "Leave the Settings as they are"

  /// The keys that change: `baseBackoffInterval 5 (today 0.5)`.
  private var keys: [String] { changes.map { "\(path($0)) \(newValue($0)) (today \(todaysValue($0)))" } }

  /// By what the candidate with the lowest score is worse than today; nil where there is none that is better by it.
  private var temptation: String? {
    let whole = standings.filter { $0.scale == .whole }
    let most = whole.map(\.seeds).max() ?? 0
    guard let best = whole.filter({ $0.seeds == most }).min(by: { $0.score < $1.score }), best.score < -0.01
    else { return nil }
    let harms = figures(best.evidence) { $0.looksWorse }
    guard !harms.isEmpty else { return nil }
    return
      "\(settings(best.candidate)): score \(Quantity.decimal(best.ratio)) of today's, but worse by \(list(harms))"
  }

  private func unfinished(_ field: String) -> Story {
    let basis = "\(field), \(FigureText.count(winner.seeds, "seed"))"
    if changes.isEmpty { return Story("None so far is better than today's Settings", basis: basis) }
    var story = Story("Best so far: \(Story.list(keys))", basis: basis)
    story.add(.better, "score \(Quantity.decimal(winner.ratio)) of today's")
    story.add(.open, "nothing is confirmed by fresh seeds")
    return story
  }

  private var freshSeeds: String {
    let more = fresh.runs - fresh.seeds
    return "\(fresh.seeds) fresh \(FigureText.noun("seed", fresh.seeds))"
      + (more > 0 ? ", \(more) more of the new" : "")
  }

  // MARK: Recommended

  private func recommendation() -> Story {
    var story = Story("Change \(Story.list(keys))", basis: freshSeeds)
    story.add(
      .better,
      figures { $0.finding.standing == .better } + objectiveFigures { $0.finding.standing == .better })
    story.add(.price, objectiveFigures { $0.finding.standing != .better && isHigher($0) })
    story.add(
      .price, figures { $0.finding.standing != .better && isHigher($0) }.map { $0 + ", less than matters" })
    story.add(
      .same, "shown not worse\(isOfSeveral ? " in any scenario" : ""): \(criteria.joined(separator: ", "))")
    story.add(.reason, "score (\(scoreMeaning)) \(scoreText) of today's")
    story.add(.risk, risk)
    let atTheEnd = changes.filter(isAtTheEnd).map { "\(path($0)) \(newValue($0))" }
    if !atTheEnd.isEmpty {
      story.add(.open, "\(Story.list(atTheEnd)): at the end of what was searched, more may be better")
    }
    if fresh.violations > 0 || confirmed.today.violations > 0 {
      story.add(
        .fails,
        "\(percent(fresh.violations)) of the runs (today \(percent(confirmed.today.violations))): \(Self.violation(study))"
      )
    }
    story.add(.cause, keySentences)
    return story
  }

  private static func violation(_ study: TuneStudy) -> String {
    "never caught up" + (study.requirements.isEmpty ? "" : ", or a requirement broken")
  }

  /// All of the verdict's criteria that were judged, by name.
  private var criteria: [String] { fresh.evidence.joined().map(name).uniqued }

  /// How often a run may fail although none of these did; nil where one did.
  private var risk: String? {
    let failures = fresh.evidence.joined().filter { $0.criterion == .failures }
    guard !failures.isEmpty, failures.allSatisfy({ $0.new == 0 }) else { return nil }
    return Story.faultless(runs: fresh.runs)
  }

  private var scoreText: String {
    let score = Quantity.decimal(fresh.ratio)
    guard let interval = freshInterval else { return score + " (one fresh seed)" }
    return score + " (\(Quantity.decimal(DeterministicMath.exp(interval.low))) to "
      + "\(Quantity.decimal(DeterministicMath.exp(interval.high))))"
  }

  // MARK: Refused

  private func refusal(_ field: String) -> Story {
    var story = Story(Self.leave, basis: "\(field), \(freshSeeds)")
    story.add(.reason, "fresh seeds do not confirm the best: \(Story.list(keys))")
    story.add(.worse, figures { $0.finding.standing == .worse })
    story.add(
      .worse,
      fresh.keepsRequirements ? breaks(winner, today: today) : breaks(fresh, today: today))
    if fresh.violations > confirmed.today.violations, fresh.keepsRequirements {
      story.add(
        .fails,
        "\(percent(fresh.violations)) of the runs never catch up (today \(percent(confirmed.today.violations)))"
      )
    }
    if !fresh.isShownBetter { story.add(.same, "nothing is shown to be better by what matters") }
    if fresh.score >= 0 { story.add(.worse, "score \(scoreText) of today's") }
    let isOpen = { (evidence: CriterionEvidence) in
      evidence.finding.standing != .worse && !evidence.isNotWorse
    }
    story.add(
      .open, figures { isOpen($0) && $0.finding.mean != 0 }.map { "not shown no worse: \($0)" })
    let equal = fresh.evidence.joined().filter { isOpen($0) && $0.finding.mean == 0 }.map(name).uniqued
    story.add(
      .open,
      equal.isEmpty ? nil : "\(Story.list(equal)): no difference seen, in too few seeds to exclude one")
    story.add(
      .next,
      seedsNeeded.map {
        "about \(FigureText.grouped(Int64($0))) fresh seeds would tell: --fresh \($0)"
      }
        ?? "more fresh seeds are not likely to change that")
    return story
  }

  // MARK: Figures

  private var isOfSeveral: Bool { study.scenarios.count > 1 }

  /// At most so many figures in a sentence.
  private static let mostFigures = 6

  private func list(_ figures: [String]) -> String {
    let rest = figures.count - Self.mostFigures
    return rest > 0
      ? figures.prefix(Self.mostFigures).joined(separator: ", ") + " and \(rest) more"
      : Story.list(figures)
  }

  private func figures(where isMeant: (CriterionEvidence) -> Bool) -> [String] {
    figures(fresh.evidence, where: isMeant)
  }

  private func objectiveFigures(where isMeant: (CriterionEvidence) -> Bool) -> [String] {
    figures(fresh.objectiveEvidence, where: isMeant)
  }

  /// `recovery 6 min 47 s → 1 min 51 s (-73 %) in 's0'`, for each scenario and criterion that is meant.
  private func figures(
    _ evidence: [[CriterionEvidence]], where isMeant: (CriterionEvidence) -> Bool
  ) -> [String] {
    zip(study.scenarios, evidence).flatMap { scenario, all in
      all.filter(isMeant).map { figure($0) + (isOfSeveral ? " in '\(scenario)'" : "") }
    }
  }

  private func figure(_ evidence: CriterionEvidence) -> String {
    let texts = texts(evidence)
    return "\(name(evidence)) \(texts.today) → \(texts.new)"
      + (texts.change.isEmpty ? "" : " (\(texts.change))")
  }

  /// As people read it, and the change that belongs to these two figures; empty where it says nothing.
  private func texts(_ evidence: CriterionEvidence) -> (today: String, new: String, change: String) {
    switch evidence.criterion {
    case .health:
      let isBetter = evidence.finding.standing == .better
      return isBetter || evidence.finding.standing == .worse
        ? (isBetter ? "does not hold" : "holds", isBetter ? "holds" : "does not hold", "") : ("", "", "")
    case .failures:
      let texts = [evidence.today, evidence.new].map { "\(Int64($0 ?? 0))" }
      let todaysRuns = evidence.todaysRuns < evidence.newRuns ? " of \(evidence.todaysRuns)" : ""
      return (texts[0] + todaysRuns, "\(texts[1]) of \(evidence.newRuns)", "")
    case .metric(let index):
      let metric = study.judged[index].scaled(by: evidence.scale)
      let texts = [evidence.today, evidence.new].map { $0.map { MetricText.value(metric, $0) } ?? "none" }
      return (texts[0], texts[1], Self.change(metric, evidence.today, evidence.new))
    }
  }

  private func name(_ evidence: CriterionEvidence) -> String {
    if case .metric(let index) = evidence.criterion { return study.judged[index].title }
    return evidence.criterion.words(study.judged)
  }

  /// Whether it is less good by what the figures show.
  private func isHigher(_ evidence: CriterionEvidence) -> Bool {
    let texts = texts(evidence)
    return evidence.finding.mean > 0 && texts.today != texts.new
  }

  // MARK: Keys

  /// Why each changed key is changed, measured by putting that key back.
  package var keySentences: [String] {
    effects.map { effect in
      let name =
        "\(path(effect.parameter)) \(newValue(effect.parameter)) instead of \(todaysValue(effect.parameter))"
      let gains = figures(effect.with.evidence) { $0.finding.mean < -1 }
      let costs = figures(effect.with.evidence) { $0.finding.mean > 1 }
      var reasons: [String] = []
      if effect.without.violations > effect.with.violations {
        reasons.append(
          "\(Self.violation(study)) in \(percent(effect.with.violations)) of the runs "
            + "(without it \(percent(effect.without.violations)))"
        )
      }
      if !gains.isEmpty { reasons.append(list(gains)) }
      if reasons.isEmpty {
        reasons.append(
          "the score alone, \(Quantity.decimal(DeterministicMath.exp(effect.score))) of that without it"
            + Self.between(effect.scoreInterval))
      }
      return "\(name): \(Story.list(reasons))" + (costs.isEmpty ? "" : "; costs \(list(costs))")
    }
  }

  // MARK: Tables

  /// Rows of the comparison with today's: a scenario and criterion each, and what is shown of it.
  package var comparison: (header: [String], rows: [[String]]) {
    let header = ["scenario", "criterion", "today"] + (changes.isEmpty ? [] : ["new", "change", "shown"])
    let rows = study.scenarios.indices.flatMap { s in
      let rows = (fresh.evidence[s] + fresh.objectiveEvidence[s]).filter {
        $0.criterion != .health || $0.finding.standing != .asGood
      }.map { evidence in
        let texts = texts(evidence)
        return [study.scenarios[s], name(evidence), texts.today]
          + (changes.isEmpty ? [] : [texts.new, texts.change, evidence.shown.rawValue])
      }
      let score = Quantity.decimal(DeterministicMath.exp(fresh.scenarioScores[s]))
      return rows + (changes.isEmpty ? [] : [[study.scenarios[s], "score", "1", score, "", ""]])
    }
    return (header, rows)
  }

  /// The key's whole path.
  package func path(_ parameter: Int) -> String { study.space.parameters[parameter].path }

  /// The keys that a candidate changes, with its values.
  private func settings(_ candidate: SearchCandidate) -> String {
    Story.list(candidate.changed.map { "\(path($0)) \(value($0, of: candidate))" })
  }

  private func newValue(_ parameter: Int) -> String { value(parameter, of: winner.candidate) }
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
    "geometric mean of \(Story.list(study.objectives.map(\.metric.title)))"
      + (study.across == .worst ? ", in the worst scenario" : "")
  }

  func percent(_ share: Double) -> String { FigureText.decimal(share * 100) + " %" }

  /// ln of a ratio as `-42 %` or, from twice as much on, `× 2.5`.
  package static func change(_ logRatio: Double) -> String { change(ratio: DeterministicMath.exp(logRatio)) }

  private static func change(ratio: Double) -> String {
    if ratio >= 1.995 { return "× " + Quantity.decimal(ratio, digits: 2) }
    let tenths = Int64(((ratio - 1) * 1_000).rounded())
    if tenths == 0 { return "± 0 %" }
    let text = abs(tenths) >= 100 ? "\((abs(tenths) + 5) / 10)" : "\(abs(tenths) / 10).\(abs(tenths) % 10)"
    return (tenths < 0 ? "-" : "+") + text + " %"
  }

  /// Returns the difference of the second of two figures from the first, as they are printed. The text is empty where they are
  /// the same. It is empty, too, where one is none or below 0, so that a ratio says nothing.
  static func change(_ metric: Metric, _ today: Double?, _ new: Double?) -> String {
    guard let today = today.map({ printed(metric, $0 * metric.factor) }),
      let new = new.map({ printed(metric, $0 * metric.factor) }),
      today > 0, new >= 0, today != new
    else { return "" }
    return change(ratio: new / today)
  }

  /// The number that `MetricText.value` prints.
  private static func printed(_ metric: Metric, _ value: Double) -> Double {
    func rounded(_ unit: Double) -> Double { (value / unit).rounded() * unit }
    if metric.unit == "s" {
      return value < 0.9995
        ? rounded(0.001) : value < 9.95 ? rounded(0.1) : value < 3_599.5 ? rounded(1) : rounded(60)
    }
    if value.magnitude >= 99.95 { return value.rounded() }
    var unit = 1.0
    while unit > 1e-6, value.magnitude < 99.95 * unit, value != 0 { unit /= 10 }
    return rounded(unit)
  }

  private static func between(_ interval: ConfidenceInterval?) -> String {
    guard let interval else { return "" }
    return
      " (95 % interval \(Quantity.decimal(DeterministicMath.exp(interval.low))) to \(Quantity.decimal(DeterministicMath.exp(interval.high))))"
  }
}

extension TuneResult {
  /// Where nothing keeps the requirements: which, what was reached, and what loses the events.
  private func story(_ unmet: UnmetRequirements) -> Story {
    let names =
      unmet.best.isEmpty
      ? Story.list(study.requirements.map(\.text)) + " together"
      : unmet.best.map { study.requirements[$0.requirement].text }.joined(separator: " or ")
    let subject =
      unmet.isOfAll
      ? "No candidate" : "None of the \(FigureText.count(unmet.count, "candidate")) that had every seed"
    let finding = "\(subject) keeps \(names) in every run, nor do today's Settings"
    var story = isRecommended ? recommendation() : Story(finding)
    if isRecommended { story.add(.note, finding + "; this breaks it no more often") }
    story.add(
      .reason, unmet.best.isEmpty ? ["each of them alone is kept by some"] : unmet.best.map(reached))
    if let loss { story.add(.lost, text(loss)) }
    if !isRecommended {
      story.add(.next, "leave the Settings as they are, or loosen a requirement")
      if !changes.isEmpty {
        story.add(
          .open,
          "least bad otherwise: \(Story.list(keys)); \(Story.list(breaks(winner, today: today)))"
        )
      }
    }
    return story
  }

  /// Returns the limit that lost the events, and the key that would end that.
  private func text(_ loss: TuneLoss) -> String {
    let events = FigureText.count(loss.events * loss.scale, "event")
    let charged = FigureText.grouped(loss.charge.events * loss.scale)
    let text =
      "\(study.scenarios[loss.scenario]) (seed \(loss.seed)): \(events), \(charged) of them by \(loss.text)"
    guard let rest = loss.rest else { return text + "; no retry limit" }
    let raised =
      (loss.raised.map { "with \($0)" } ?? "without that limit") + " "
      + (rest == 0 ? "none" : FigureText.grouped(rest * loss.scale))
    guard let key = loss.key else { return "\(text); no key of Settings; \(raised)" }
    return "\(text); \(key) was " + (loss.highest.map { "searched up to \($0)" } ?? "not searched")
      + "; \(raised)"
  }

  private func reached(_ best: (requirement: Int, standing: Standing)) -> String {
    let requirement = study.requirements[best.requirement]
    func worst(_ standing: Standing) -> String {
      standing.requirements[best.requirement].worst?.text ?? "none"
    }
    let name = study.requirements.count > 1 ? "of \(requirement.name) the best" : "the best"
    let candidate = best.standing.candidate
    guard !candidate.changed.isEmpty else {
      return "\(name) that was reached is \(worst(best.standing)), by today's"
    }
    return
      "\(name) that was reached is \(worst(best.standing)), with \(settings(candidate)) ("
      + "\(runsText(best.standing)); today's \(worst(today)))"
  }

  private func runsText(_ standing: Standing) -> String {
    let count = standing.seeds * study.scenarios.count
    return count == 1 ? "in its only run" : "in the worst of \(count) runs"
  }

  /// `25.0 % of its runs break recovery_s<=60, the worst with 4 min 2 s (today's 100.0 %)`, for each requirement that it breaks.
  ///
  /// - Parameter today: Today's Settings in the same runs; nil leaves them out.
  func breaks(_ standing: Standing, today: Standing? = nil) -> [String] {
    study.requirements.indices.compactMap { index in
      let (requirement, record) = (study.requirements[index], standing.requirements[index])
      guard record.broken > 0 else { return nil }
      return "\(percent(record.broken)) of its runs break \(requirement.text)"
        + (record.worst.map { ", the worst with \($0.text)" } ?? "")
        + (today.map { " (today's \(percent($0.requirements[index].broken)))" } ?? "")
    }
  }
}
