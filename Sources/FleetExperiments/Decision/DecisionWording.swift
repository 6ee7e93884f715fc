import FleetMetrics
import FleetStatistics
import SimulationKernel

/// The wording of a decision: three sentences first, at the size of the whole fleet.
package struct DecisionWording: Sendable {
  package let decision: Decision
  /// The main loss with the proposed Settings, checked by a run without its limit; nil: nothing, or not checked.
  package var checked: Decision.CheckedLoss?
  /// The trials of the changed key that makes the worst case worse; nil: nothing is worse, or nothing was tried.
  package var trials: KeyTrials?
  /// The decision on the proposed Settings without the harmful key; nil: not run.
  package var instead: Decision?
  private var scale: Double { Double(decision.todayScenario.scale) }

  package init(
    _ decision: Decision, checked: Decision.CheckedLoss? = nil, trials: KeyTrials? = nil,
    instead: Decision? = nil
  ) {
    (self.decision, self.checked, self.trials) = (decision, checked, trials)
    self.instead = instead
  }

  /// `Publish`, `Do not publish`, `Needs about 120 more runs`.
  package var outcome: String {
    switch decision.outcome {
    case .publish: "Publish"
    case .worse where decision.isAtAPrice || alternative != nil: "Do not publish as it stands"
    case .worse, .noBetter: "Do not publish"
    case .needsMore(let runs): "Needs about \(FigureText.count(runs, "more run"))"
    }
  }

  /// The answer with what changes, then what does not, and last what it is worth: a line each.
  package var lines: [String] {
    if let illness = decision.illness {
      return ["No decision: \(illness). Give the endpoint more capacity or the fleet less load first."]
    }
    let answer = [outcome + (alternative.map { ": " + $0 } ?? "") + "."] + changes.compactMap(\.self)
    return [answer.joined(separator: " ")]
      + [culprit, recovery, remainder, battery, basis].compactMap(\.self)
  }

  /// What the runs show, without what to do about it; empty where there is no decision.
  package var findings: String {
    decision.illness == nil ? changes.compactMap(\.self).joined(separator: " ") : ""
  }

  // MARK: Sentences

  /// The gain, its price, and how to let the price be.
  private var priced: [String?] { [change(.better), change(.worse, opening: "Its price: "), remedy] }

  /// What is left of a change without its harmful key, in all cases.
  private enum Rest { case harm, price, gain, nothing }

  /// nil: it was not run.
  private var rest: Rest? {
    guard let instead else { return nil }
    if instead.cells(.worse).contains(where: \.cell.counts) { return instead.isAtAPrice ? .price : .harm }
    return instead.cells(.better).isEmpty ? .nothing : .gain
  }

  /// The worth of the change without the harmful key; nil: it has none that is known.
  private var alternative: String? {
    guard decision.outcome == .worse, let cause = trials?.cause else { return nil }
    return switch rest {
    case .gain: "without \(cause.key) nothing gets worse"
    case .price: "without \(cause.key) only the price of fewer losses is left"
    case .harm, .nothing, nil: nil
    }
  }

  private var changes: [String?] {
    switch decision.outcome {
    case .publish: [change(.better), cost, stillFailing]
    case .worse where decision.isAtAPrice: priced
    case .worse: [change(.worse), change(.better) ?? "Nothing gets better.", remedy]
    case .noBetter:
      [
        decision.cells(.open).contains { $0.cell.counts && $0.cell.criterion != .failures }
          ? "Nothing that was measured gets better by enough to matter."
          : "Nothing that was measured gets better or worse by enough to matter.",
        largestLoss.map { "At most, \($0)." },
      ]
    case .needsMore: [opening, change(.better)]
    }
  }

  /// The cases in which publishing does not help: every run fails with either; nil: there are none.
  private var stillFailing: String? {
    let failing = decision.cases.filter { !$0.today.isEmpty && $0.failures == $0.proposed.count }
    guard !failing.isEmpty else { return nil }
    let names = failing.map(\.suite.name)
    return
      "It does not make up for \(VerdictWording.list(names)): every run of \(names.count == 1 ? "that case" : "these cases") fails, as today."
  }

  /// Where the losses differ most, though by too little to matter; nil: they are the same.
  private var largestLoss: String? {
    let cells = decision.cells(.asGood) + decision.cells(.notWorse)
    let lost = cells.filter {
      decision.metric($0.cell.criterion)?.name == MetricCatalogue.lost
        && figure($0.place, $0.cell.criterion, false) != figure($0.place, $0.cell.criterion, true)
    }
    func difference(_ place: Int) -> Double {
      let means = [false, true].map { rows(place, $0).map { Double($0.lostOrBlockedEvents) }.mean ?? 0 }
      return abs(means[1] - means[0])
    }
    return lost.max { difference($0.place) < difference($1.place) }.map {
      sentence($0.place, $0.cell.criterion)
    }
  }

  /// The largest change of the first criterion that has one, and how many others there are.
  private func change(_ state: Decision.Cell.State, opening: String = "") -> String? {
    let cells = decision.cells(state).filter { state == .better || $0.cell.counts }
    guard var first = cells.first else { return nil }
    // Failures that are losses are told as such.
    if first.cell.criterion == .failures,
      let lost = cells.first(where: {
        $0.place == first.place && decision.metric($0.cell.criterion)?.name == MetricCatalogue.lost
      })
    {
      first = lost
    }
    let others = cells.filter { $0.place != first.place || $0.cell.criterion != first.cell.criterion }
    let rest =
      switch others.count {
      case 0: nil as String?
      case 1:
        "also \(state.rawValue): \(title(others[0].cell.criterion)) in \(decision.cases[others[0].place].suite.name), "
          + "\(figure(others[0].place, others[0].cell.criterion, true)) instead of "
          + figure(others[0].place, others[0].cell.criterion, false)
      case let count: "\(count) other figures get \(state.rawValue)"
      }
    let causes =
      decision.metric(first.cell.criterion)?.name == MetricCatalogue.lost ? decision.causes(first.place) : []
    let notes = causes + [rest].compactMap(\.self)
    return Self.capitalised(opening + sentence(first.place, first.cell.criterion))
      + (notes.isEmpty ? "." : " (\(notes.joined(separator: "; "))).")
  }

  /// Returns a criterion's result in a case, with both figures: `an outage of 25 min then destroys none instead of 39.5 million
  /// events`.
  private func sentence(_ place: Int, _ criterion: Criterion) -> String {
    let phrase = decision.cases[place].suite.phrase
    let (today, proposed) = (figure(place, criterion, false), figure(place, criterion, true))
    let hasIncident = !decision.cases[place].suite.incidents.isEmpty
    let after = hasIncident ? "after " + phrase : "without an incident"
    guard let metric = decision.metric(criterion) else {
      return criterion == .health
        ? "the fleet holds its load without incidents with one of the two alone"
        : "\(after) the fleet fails in \(proposed) runs instead of \(today)"
    }
    switch metric.name {
    case MetricCatalogue.lost:
      let shares = [false, true].map { isProposed in
        decision.share(rows(place, isProposed).map { Double($0.lostOrBlockedEvents) }.mean ?? 0, place)
      }
      func share(_ place: Int) -> String { shares[place] > 0 ? " (\(Self.share(shares[place])))" : "" }
      return proposed == "none"
        ? "\(phrase) then destroys none instead of \(today) events\(share(0))"
        : "\(phrase) then destroys \(proposed) events\(share(1)) instead of \(today)\(share(0))"
    case MetricCatalogue.healthy:
      return "\(after) the endpoint is well \(Self.span(proposed, "in")) instead of \(today)"
    case MetricCatalogue.recovery:
      return "\(after) the fleet is back \(Self.span(proposed, "in")) instead of \(today)"
    case MetricCatalogue.late: return "\(phrase) then leaves \(proposed) instead of \(today) events late"
    case MetricCatalogue.affectedDelivery:
      let percent = (rows(place, true) + rows(place, false)).map(\.judgedPercent).min() ?? 99
      return "\(after) \(percent) % of the affected events arrive within \(proposed) instead of \(today)"
    case MetricCatalogue.attempts:
      return "\(after) a device sends \(proposed) instead of \(today) requests a day"
    default: return "\(phrase) then costs a device \(proposed) instead of \(today) extra requests"
    }
  }

  /// `2.6 %`, `less than 0.01 %`
  private static func share(_ share: Double) -> String {
    share < Metric.relevantEvents
      ? "less than \(MetricText.plain(Metric.relevantEvents * 100)) %" : "\(MetricText.plain(share * 100)) %"
  }

  /// The longest recovery: whether the Settings move it, and what it is made of.
  private var recovery: String? {
    guard let (place, cell) = decision.longestRecovery else { return nil }
    let phrase = "after " + decision.cases[place].suite.phrase
    let (old, new) = (figure(place, cell.criterion, false), figure(place, cell.criterion, true))
    if new == "never" {
      let both = old == "never" ? ", with today's Settings no more than with the proposed ones" : ""
      let one = decision.cases[place].suite
      let watched = FigureText.span((decision.suite.duration(of: one) - one.end).microseconds)
      let healthy =
        healthy(place, true).map { " The endpoint turns nobody away \(Self.span($0, "after"))." } ?? ""
      return possible(place).map {
        "The fleet does not catch up within \(watched) \(phrase)\(both); a client could \(Self.span($0, "after"))."
          + healthy
      }
        ?? "No retry Setting brings the fleet back within \(watched) \(phrase): the server is busy throughout, and only capacity helps."
    }
    let opening = effect(on: cell) + "\(new) \(phrase), where today's take \(old)"
    return opening
      + (possible(place).map { "; at this capacity a client could \(Self.span($0, "after"))." } ?? ".")
  }

  /// Returns the effect of the proposed Settings on the longest recovery, which follows.
  private func effect(on cell: Decision.Cell) -> String {
    let finding = cell.finding
    return switch cell.state {
    case .better, .worse: "With the proposed Settings the longest recovery takes "
    case .asGood: "The proposed Settings hardly move their longest recovery: "
    case .notWorse: "The proposed Settings do not lengthen their longest recovery: "
    case .open where abs(finding.mean) <= 1:
      "In these runs the proposed Settings hardly move their longest recovery: "
    case .open: "Whether the proposed Settings move their longest recovery is open: "
    }
  }

  /// The sentence on the changed key that makes the worst case worse.
  private var culprit: String? {
    guard let trials else { return nil }
    guard let first = trials.harmful.first else {
      return
        "None of the \(trials.tried.count) changed keys is the cause alone: with any one as today, that stays worse."
    }
    let one =
      "the same \(FigureText.count(trials.seeds, "run")) of the case \(decision.cases[trials.place].suite.name)"
    guard trials.harmful.count > 1 else {
      return
        "The cause is \(first.key): with today's value kept, that does not get worse in \(one), and \(Self.rest(first)) there. \(next)"
    }
    let keys = trials.harmful.map { "with \($0.key) as today \(Self.rest($0))" }
    return
      "The cause is \(VerdictWording.list(trials.harmful.map(\.key))) together: with any one of them as today, that does not get "
      + "worse in \(one); \(keys.joined(separator: ", ")). \(next)"
  }

  /// The sentence on all cases without the harmful key.
  private var next: String {
    guard let instead, let rest else { return "The other cases were not run so: decide on that next." }
    let wording = DecisionWording(instead)
    let runs = FigureText.count(instead.cases.first?.pairs ?? 0, "run")
    let found =
      "Without that key nothing gets worse in \(FigureText.count(instead.cases.count, "case")), \(runs) each."
    let texts =
      switch rest {
      case .harm: ["Without that key the rest still does harm.", wording.change(.worse)]
      case .price: ["Without that key only a price is left."] + wording.priced
      case .gain: [found, wording.change(.better), "Decide on that next."]
      case .nothing:
        [found, "Nothing gets better, either: these runs show no gain of the rest of the change."]
      }
    return texts.compactMap(\.self).joined(separator: " ")
  }

  /// Returns the rest of the change in that case without a key: `2 other figures stay worse`.
  private static func rest(_ cause: KeyTrials.Cause) -> String {
    if cause.isAsToday { return "nothing of the change is left" }
    let worse = FigureText.count(cause.stillWorse, "other figure")
    let better = FigureText.count(cause.stillBetter, "figure")
    func verb(_ count: Int) -> String { count == 1 ? "stays" : "stay" }
    switch (cause.stillWorse, cause.stillBetter) {
    case (0, 0): return "nothing else is worse"
    case (0, let count): return "nothing else is worse, \(better) \(verb(count)) better"
    case (let count, 0): return "\(worse) \(verb(count)) worse"
    case (let count, let other): return "\(worse) \(verb(count)) worse, \(better) \(verb(other)) better"
    }
  }

  /// The effect on the battery, where that changes most.
  private var battery: String? {
    let changes = decision.cases.indices.map { place in
      (place: place, old: wakeUps(place, false), new: wakeUps(place, true))
    }
    guard let most = changes.max(by: { abs($0.new - $0.old) < abs($1.new - $1.old) }), most.old > 0 else {
      return nil
    }
    if abs(most.new - most.old) < 0.01 * most.old {
      return
        "The battery does not notice: in every case a device's radio wakes as often as today, within 1 %."
    }
    return
      "The radio of a device wakes \(Self.times(most.new)) times a day instead of \(Self.times(most.old)) "
      + "in the case \(decision.cases[most.place].suite.name), where that changes most."
  }

  package func wakeUps(_ place: Int, _ isProposed: Bool) -> Double { rows(place, isProposed).wakeUps }

  package static func times(_ number: Double) -> String { MetricText.plain(number) }

  /// The remaining loss, the limit behind it, and whether raising that would end it.
  private var remainder: String? {
    guard let loss = decision.losses.first(where: { $0.isProposed && $0.row.lost > 0 }),
      let cause = loss.row.causes.first
    else {
      return nil
    }
    let today =
      decision.losses.first {
        !$0.isProposed && $0.place == loss.place && $0.row.place == loss.row.place
      }?.row.lost ?? 0
    let (old, new) = (today == 0 ? "none" : amount(today), amount(loss.row.lost))
    let destroys =
      old == new
      ? "still destroys \(new) events of \(loss.row.cohort), as today"
      : "destroys \(new) events of \(loss.row.cohort), today \(old)"
    let share = decision.share(loss.row.lost, loss.place)
    var text =
      "With the proposed Settings \(decision.cases[loss.place].suite.phrase) \(destroys): \(cause.words)"
    // A remedy is told of losses that matter.
    if share < Metric.relevantEvents {
      text += "; that is \(Self.share(share)) of all events, too little to matter"
    } else if let checked, checked.loss.place == loss.place, checked.loss.row.place == loss.row.place {
      let left = checked.left == 0 ? "none" : amount(Double(checked.left))
      text +=
        "; \(checked.value.map { "with \($0)" } ?? "without that limit") the worst run destroys \(left) instead of "
        + amount(Double(checked.before))
    }
    return text + "."
  }

  /// Events of the whole fleet.
  package func amount(_ events: Double) -> String { FigureText.amount(events * scale) }

  /// The cost or saving in requests, where that is decided.
  private var cost: String? {
    let names = [MetricCatalogue.attemptsAboveTwin, MetricCatalogue.attempts]
    func first(_ state: Decision.Cell.State) -> (place: Int, cell: Decision.Cell)? {
      decision.cells(state).first {
        decision.metric($0.cell.criterion).map { names.contains($0.name) } ?? false
      }
    }
    if let allowed = decision.cells(.worse).first(where: \.cell.isAllowed) {
      return "It costs what was allowed: \(sentence(allowed.place, allowed.cell.criterion))."
    }
    if let saved = first(.better), decision.cells(.better).first?.cell.criterion != saved.cell.criterion {
      return Self.capitalised(sentence(saved.place, saved.cell.criterion)) + "."
    }
    return first(.worse) == nil ? "It costs no more requests than today's." : nil
  }

  /// How to publish nevertheless, where something is better and no more runs fail.
  private var remedy: String? {
    let worse = decision.cells(.worse).filter(\.cell.counts).map { decision.metric($0.cell.criterion)?.name }
    guard !worse.contains(nil), decision.cells(.better).first != nil else { return nil }
    let options = DecisionCriterion.allCases.filter { criterion in
      worse.contains { $0.map(criterion.metrics.contains) ?? false }
    }.map { "--allow \($0.rawValue)" }
    return "If that is worth it, let it get worse and decide again (\(options.joined(separator: " ")))."
  }

  /// The sentence on the open questions.
  private var opening: String {
    let open = decision.cells(.open).filter(\.cell.counts)
    let texts = open.prefix(3).map {
      "\(title($0.cell.criterion)) with \(decision.cases[$0.place].suite.name)"
    }
    let more = open.count > 3 ? " and \(open.count - 3) more" : ""
    return "Open: \(texts.joined(separator: ", "))\(more)."
  }

  /// How many runs that is, and what they exclude.
  private var basis: String {
    let counted =
      "From \(FigureText.count(decision.runCount, "run")) of \(FigureText.count(decision.cases.count, "case"))"
    let means = "no recovery, or more than 1 % lost"
    guard decision.cases.allSatisfy({ $0.failures == 0 }), let worst = decision.cases.map(\.risk).max() else {
      let failing = decision.cases.filter { $0.failures > 0 }.map {
        "\($0.suite.name) in \($0.failures) of \($0.proposed.count) (today \($0.todaysFailures) of \($0.today.count))"
      }
      return counted
        + "; runs fail (\(means)) with the proposed Settings: \(failing.joined(separator: ", "))."
    }
    let failing = decision.cases.filter { $0.todaysFailures > 0 }.map {
      "\($0.suite.name) in \($0.todaysFailures) of \($0.today.count)"
    }
    let today = failing.isEmpty ? "" : "; with today's fail \(failing.joined(separator: ", ")) (\(means))"
    return counted
      + "; none of them fails with the proposed Settings\(today). A failure in up to \(FigureText.percent(worst)) of the runs of a case "
      + "can't be excluded (95 % confidence)."
  }

  // MARK: Figures

  /// A criterion's name as tables have it.
  package func title(_ criterion: Criterion) -> String {
    switch criterion {
    case .health: "health"
    case .failures: "failures"
    case .metric: decision.metric(criterion)?.title ?? ""
    }
  }

  /// A criterion's figure with today's or the proposed Settings, of the whole fleet.
  package func figure(_ place: Int, _ criterion: Criterion, _ isProposed: Bool) -> String {
    guard let metric = decision.metric(criterion) else {
      let rows = isProposed ? decision.cases[place].proposed : decision.cases[place].today
      return criterion == .health
        ? (rows.count { !$0.baselineIsHealthy } * 2 <= rows.count ? "holds" : "does not hold")
        : "\(rows.count(where: \.fails)) of \(rows.count)"
    }
    return figure(metric, of: rows(place, isProposed))
  }

  /// A metric's mean over runs, of the whole fleet.
  private func figure(_ metric: Metric, of rows: [RunSummary]) -> String {
    let values = rows.map(metric.value(of:))
    if values.allSatisfy({ $0 == .none }) { return "–" }
    let mean = SampleStatistics(values.compactMap(\.restricted)).mean
    if metric.unit == "events" { return mean == 0 ? "none" : amount(mean) }
    if metric.isCensored, !values.isEmpty, values.allSatisfy(\.isCensored) {
      return MetricCatalogue.isReturn(metric) ? "never" : "more than " + MetricText.value(metric, mean)
    }
    return metric.isCensored && mean == 0 ? Self.atOnce : MetricText.value(metric, mean)
  }

  /// The same as a number: the mean over the runs, of the whole fleet; of failures their share. nil where runs have none.
  package func value(_ place: Int, _ criterion: Criterion, _ isProposed: Bool) -> Double? {
    let rows = rows(place, isProposed)
    guard let metric = decision.metric(criterion) else {
      return rows.isEmpty || criterion == .health
        ? nil : Double(rows.count(where: \.fails)) / Double(rows.count)
    }
    return rows.compactMap { metric.value(of: $0).restricted }.mean.map { $0 * (metric.isCount ? scale : 1) }
  }

  /// By how much the proposed Settings differ, and within which bounds, in that unit; above 0 they have more. nil of what has no values.
  package func difference(_ cell: Decision.Cell) -> (mean: Double, low: Double, high: Double)? {
    let finding = cell.finding
    guard finding.unit > 0, cell.criterion != .health else { return nil }
    let factor = finding.unit * (decision.metric(cell.criterion)?.isCount == true ? scale : 1)
    return (finding.mean * factor, finding.reach.lowerBound * factor, finding.reach.upperBound * factor)
  }

  /// The same for people: `+12 min to +16 min`; `none` where every run has the same.
  package func bounds(_ cell: Decision.Cell) -> String? {
    guard let (_, low, high) = difference(cell), low.isFinite, high.isFinite else { return nil }
    if low == 0, high == 0 { return "none" }
    func text(_ value: Double) -> String {
      guard let metric = decision.metric(cell.criterion) else {
        return FigureText.signed(value, FigureText.percent(abs(value)))
      }
      return FigureText.signed(
        value, metric.isCount ? FigureText.amount(abs(value)) : MetricText.value(metric, abs(value)))
    }
    let texts = [text(low), text(high)]
    return texts[0] == texts[1] ? texts[0] : "\(texts[0]) to \(texts[1])"
  }

  /// How soon after the incidents the endpoint turns nobody away, mean over the runs; nil where it does not in all of them.
  package func healthy(_ place: Int, _ isProposed: Bool) -> String? {
    mean(rows(place, isProposed).map(\.healthyTime))
  }

  /// `5 min`, `at once`; nil where some run has no such time.
  private func mean(_ times: [Int64?]) -> String? {
    let known = times.compactMap(\.self)
    guard !times.isEmpty, known.count == times.count else { return nil }
    let mean = known.reduce(0, +) / Int64(known.count)
    return mean == 0 ? Self.atOnce : FigureText.span(mean)
  }

  private static let atOnce = "at once"

  /// A time behind a word: `in 5 min`, but `at once`, `never`.
  private static func span(_ figure: String, _ word: String) -> String {
    figure.first?.isNumber ?? false ? "\(word) \(figure)" : figure
  }

  /// How soon any client could catch up after the case's incidents; nil where it is not known of all runs.
  package func possible(_ place: Int) -> String? {
    mean(rows(place, true).map(\.possibleTime))
  }

  /// Those under the seeds that both have.
  private func rows(_ place: Int, _ isProposed: Bool) -> [RunSummary] {
    isProposed ? decision.cases[place].compared : decision.cases[place].today
  }

  static func capitalised(_ sentence: String) -> String {
    sentence.prefix(1).uppercased() + sentence.dropFirst()
  }
}

extension [RunSummary] {
  /// How often a device's radio wakes in a day, mean over devices and runs.
  package var wakeUps: Double { map { $0.cost.mean[.radioWakeUps] }.mean ?? 0 }
}

/// The criteria that may be allowed to get worse.
package enum DecisionCriterion: String, Sendable, Hashable, CaseIterable {
  case lost, endpoint, recovery, late, delivery, attempts

  /// The columns of summary.csv.
  package var metrics: [String] {
    switch self {
    case .lost: [MetricCatalogue.lost]
    case .endpoint: [MetricCatalogue.healthy]
    case .recovery: [MetricCatalogue.recovery]
    case .late: [MetricCatalogue.late]
    case .delivery: [MetricCatalogue.affectedDelivery]
    case .attempts: [MetricCatalogue.attempts, MetricCatalogue.attemptsAboveTwin]
    }
  }
}

extension DecisionWording {
  /// The criteria that tables have, in their order: names of metrics, of which a case has one.
  package static let columns: [[String]] = [["failures"]] + DecisionCriterion.allCases.map(\.metrics)
}
