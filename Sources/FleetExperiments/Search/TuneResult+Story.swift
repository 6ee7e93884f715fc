import ScenarioFormat
import SimulationKernel

extension TuneResult {
  private var changes: [Int] { winner.candidate.changed }

  /// The advice, what it improves and costs, and how sure that is.
  package var story: Story {
    let field = FigureText.count(standings.count, "candidate")
    if !isFinished { return unfinished(field) }
    guard let decision else {
      var story = Story(unmetFinding ?? Self.leave, basis: field)
      tellUnmet(&story)
      if unmet == nil {
        let count = study.scenarios.count
        story.add(
          .reason,
          "no candidate is better over \(count == 1 ? "this scenario" : "\(count) scenarios") and holds in each"
        )
        story.add(.open, temptationText)
      }
      return story
    }
    let basis = "\(field), \(FigureText.count(decision.runCount, "run")) on fresh seeds"
    var story = Story(
      isRecommended ? "Change \(Story.list(keys))" : unmetFinding ?? Self.leave, basis: basis)
    if isRecommended {
      let titles = Story.list(study.objectives.map(\.metric.title))
      story.add(.reason, freshScore.map { "score (geometric mean of \(titles)) \($0.text) of today's" })
      story.add(.note, unmetFinding.map { $0 + "; this breaks it no more often" })
      let atTheEnd = changes.filter(isAtTheEnd).map { "\(path($0)) \(newValue($0))" }
      if !atTheEnd.isEmpty {
        story.add(.open, "\(Story.list(atTheEnd)): at the end of what was searched, more may be better")
      }
      story.add(.cause, keySentences)
    } else {
      story.add(.reason, "fresh seeds do not confirm the best: \(Story.list(keys))")
    }
    tellUnmet(&story)
    decision.tell(&story)
    return story
  }

  private static let leave = "Leave the Settings as they are"

  /// The keys that change: `baseBackoffInterval 5 (today 0.5)`.
  private var keys: [String] { changes.map { "\(path($0)) \(newValue($0)) (today \(todaysValue($0)))" } }

  private func unfinished(_ field: String) -> Story {
    let basis = "\(field), \(FigureText.count(winner.seeds, "seed"))"
    if changes.isEmpty { return Story("None so far is better than today's Settings", basis: basis) }
    var story = Story("Best so far: \(Story.list(keys))", basis: basis)
    story.add(.better, "score \(Quantity.decimal(winner.ratio)) of today's")
    story.add(.open, "nothing is confirmed by fresh seeds")
    return story
  }

  /// By what the candidate with the lowest score is worse than today.
  private var temptationText: String? {
    temptation.flatMap { standing, decision in
      let harms = decision.lines { $0.state == .worse || $0.finding.mean > 1 }
      let gains = decision.lines(where: \.isGain)
      return harms.isEmpty
        ? nil
        : "\(settings(standing.candidate)): score \(Quantity.decimal(standing.ratio)) of today's, but worse: "
          + harms.joined(separator: "; ") + (gains.isEmpty ? "" : "; for it " + gains.joined(separator: "; "))
    }
  }

  // MARK: Keys

  /// Why each changed key is changed, measured by putting that key back.
  package var keySentences: [String] {
    effects.map { effect in
      let key = effect.parameter
      var reasons: [String] = []
      if effect.without.violations > effect.with.violations {
        let shares = [effect.with, effect.without].map { FigureText.percent($0.violations) }
        reasons.append(
          "never caught up\(study.requirements.isEmpty ? "" : ", or a requirement broken,") in \(shares[0]) of the runs "
            + "(without it \(shares[1]))")
      }
      reasons += effect.decision.lines(today: "without it") { $0.state == .better }
      if reasons.isEmpty { reasons = ["score \(effect.score.text) of that without it"] }
      let costs = effect.decision.lines(today: "without it") { $0.finding.mean > 1 }
      return
        "\(path(key)) \(newValue(key)) instead of \(todaysValue(key)): \(reasons.joined(separator: "; "))"
        + (costs.isEmpty ? "" : "; costs \(costs.joined(separator: "; "))")
    }
  }

  package func path(_ parameter: Int) -> String { study.space.parameters[parameter].path }

  /// The keys that a candidate changes, with its values.
  private func settings(_ candidate: SearchCandidate) -> String {
    Story.list(study.withoutUnchanged(candidate).changed.map { "\(path($0)) \(value($0, of: candidate))" })
  }

  private func newValue(_ parameter: Int) -> String { value(parameter, of: winner.candidate) }
  private func todaysValue(_ parameter: Int) -> String { study.todaysValues[parameter] ?? "not set" }

  /// Whether the recommended value is the first or last of three or more that have an order.
  private func isAtTheEnd(_ parameter: Int) -> Bool {
    let searched = study.space.parameters[parameter]
    guard searched.isOrdered, searched.values.count > 2, let choice = winner.candidate.choices[parameter]
    else { return false }
    return choice == 0 || choice == searched.values.count - 1
  }

  // MARK: Requirements that nothing keeps

  private var unmetFinding: String? {
    unmet.map { unmet in
      let names =
        unmet.isEmpty
        ? Story.list(study.requirements.map(\.text)) + " together"
        : unmet.map { study.requirements[$0.requirement].text }.joined(separator: " or ")
      let field = finalists.count == standings.count ? "candidate" : "finalist"
      return "No \(field) keeps \(names) in every run, nor do today's Settings"
    }
  }

  /// Which are not kept, what was reached, and what loses the events.
  private func tellUnmet(_ story: inout Story) {
    guard let unmet else { return }
    story.add(.reason, unmet.isEmpty ? ["each of them alone is kept by some"] : unmet.map(reached))
    if let loss {
      story.add(.lost, loss.notes, atMost: 1)
      story.add(.lost, loss.checkedKey.map(searched))
    }
    if !isRecommended { story.add(.next, "leave the Settings as they are, or loosen a requirement") }
  }

  /// How far the search went with the limit that loses the events.
  private func searched(_ key: String) -> String {
    let path = SearchableSettings.prefix + key
    let values = study.space.parameters.first { $0.path == path }?.values ?? []
    let most = values.max { (Quantity($0)?.value ?? 0) < (Quantity($1)?.value ?? 0) }
    return "\(path) was " + (most.map { "searched up to \($0)" } ?? "not searched")
  }

  private func reached(_ best: (requirement: Int, standing: Standing)) -> String {
    let requirement = study.requirements[best.requirement]
    func worst(_ standing: Standing) -> String {
      standing.requirements[best.requirement].worst?.text ?? "none"
    }
    let name = study.requirements.count > 1 ? "of \(requirement.name) the best" : "the best"
    let candidate = best.standing.candidate
    return "\(name) that was reached is \(worst(best.standing)), "
      + (candidate.changed.isEmpty
        ? "by today's" : "with \(settings(candidate)) (today's \(worst(today)))")
  }
}
