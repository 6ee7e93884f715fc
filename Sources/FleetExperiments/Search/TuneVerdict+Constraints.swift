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
