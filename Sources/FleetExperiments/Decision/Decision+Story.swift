import FleetMetrics

extension Decision {
  /// What the runs show, a line each: of the whole fleet, criteria in their order, the largest changes first.
  /// - Parameter trials: of which changed key makes the worst case worse; nil: nothing is worse, or nothing was tried.
  /// - Parameter checked: the main loss with the proposed Settings, and what a run without its limit loses; nil: no such run was made.
  package func tell(
    _ story: inout Story, trials: KeyTrials? = nil, checked: LossReport? = nil
  ) {
    if outcome == .noBetter {
      let isUnchanged = cases.allSatisfy { $0.cells.allSatisfy { $0.bounds ?? "none" == "none" } }
      story.add(.reason, isUnchanged ? "no figure changes" : "nothing is better")
    }
    let worse = told(.worse)
    story.add(.worse, lines(worse.filter { !$0.cell.isAllowed && !$0.cell.isPrice }))
    story.add(.worse, broken.map(broken))
    story.add(.price, lines(worse.filter { $0.cell.isAllowed || $0.cell.isPrice }))
    story.add(.better, lines(told(.better)), atMost: 2)
    let remainingLoss = remainingLoss
    story.add(.same, same(losesEvents: remainingLoss != nil))
    story.add(.cause, trials.map(cause))
    if let (place, report) = remainingLoss {
      var notes = (checked ?? report).notes
      let lost = cases[place].cells.first { $0.metric?.name == MetricCatalogue.lost }
      if let lost, !notes.isEmpty {
        notes[0] += "; the whole fleet \(lost.figures.proposed.text) (today \(lost.figures.today.text))"
      }
      story.add(.lost, notes.map { text(place, $0) })
    }
    story.add(.fails, failing)
    story.add(.open, openLine)
    story.add(.possible, possibleLine)
    story.add(.battery, battery)
    story.add(.risk, risk)
  }

  /// What is known while so many runs are left, in a line; nil before every case has had its first look, and once it is decided.
  package var soFar: String? {
    let left = left.compared.count + left.alone.count
    guard left > 0, cases.allSatisfy({ $0.pairs >= Self.looks[0] }) else { return nil }
    let (better, worse) = (told(.better).count, told(.worse).count)
    return "So far, in \(FigureText.count(runCount, "run")): \(FigureText.count(better, "figure")) better, "
      + "\(worse) worse. Up to \(left) more exclude a failure in 5 % of them; Ctrl-C ends with what is known."
  }

  // MARK: Lines

  /// The cells in a state, without failures that lost events of the same case tell of, too.
  private func told(_ state: Cell.State) -> [(place: Int, cell: Cell)] {
    let cells = cells(state)
    return cells.filter { one in
      one.cell.criterion != .failures
        || !cells.contains {
          $0.place == one.place && $0.cell.metric?.name == MetricCatalogue.lost
        }
    }
  }

  /// `outage of 20 min: 2.5 extra requests a device (today 3.4)`, a line for each case.
  /// - Parameter today: the name of today's Settings.
  func lines(_ cells: [(place: Int, cell: Cell)], today: String = "today") -> [String] {
    cells.map(\.place).uniqued.map { place in
      let figures = cells.filter { $0.place == place }.map { one in
        "\(one.cell.figures.proposed.phrase) (\(today) \(one.cell.figures.today.text))"
          + (one.cell.isAllowed && one.cell.state == .worse ? ", allowed" : "")
      }
      return text(place, figures.joined(separator: ", "))
    }
  }

  /// Returns a line for each case, with the figures that are meant.
  func lines(today: String = "today", where isMeant: (Cell) -> Bool) -> [String] {
    lines(
      cases.enumerated().flatMap { place, one in one.cells.filter(isMeant).map { (place, $0) } }, today: today
    )
  }

  private func text(_ place: Int, _ text: String) -> String {
    cases[place].phrase.isEmpty ? text : "\(cases[place].phrase): \(text)"
  }

  /// `25 % of the runs break recovery <= 20m (today 0 %), the worst with 31 min`
  private func broken(_ requirement: Requirement) -> String {
    let shares = [cases.map(\.proposed), cases.map(\.today)].map {
      FigureText.percent(requirement.broken($0))
    }
    let worst = requirement.worst(cases.map(\.proposed)).map { ", the worst with \($0.text)" } ?? ""
    return "\(shares[0]) of the runs break \(requirement.text) (today \(shares[1]))\(worst)"
  }

  private static let unchanged: Set<Cell.State> = [.asGood, .notWorse]

  /// The criteria that change in no case, and how many cases have nothing that changes.
  private func same(losesEvents: Bool) -> String? {
    let all = cases.flatMap { one in one.cells.map { (name: Self.name($0), cell: $0) } }
    var names: [String] = []
    for (name, cell) in all where cell.criterion != .health && !names.contains(name) {
      if all.allSatisfy({ $0.name != name || Self.unchanged.contains($0.cell.state) }) { names.append(name) }
    }
    if losesEvents, let lost = mostLost, let place = names.firstIndex(of: Self.name(lost)) {
      names[place] += " (\(lost.figures.proposed.text) in the worst case)"
    }
    if hasSameBattery { names.append("battery") }
    let quiet =
      cases.count < 2 ? 0 : cases.count { $0.cells.allSatisfy { Self.unchanged.contains($0.state) } }
    let cases = quiet == 0 ? [] : ["\(FigureText.count(quiet, "case")) of \(cases.count)"]
    return names.isEmpty && cases.isEmpty
      ? nil
      : [names.joined(separator: ", ")].filter { !$0.isEmpty }.joined() + cases.map { "; \($0)" }.joined()
  }

  /// Without the percentile, which cases may differ in.
  private static func name(_ cell: Cell) -> String {
    cell.metric?.name == MetricCatalogue.affectedDelivery ? "delivery" : cell.words
  }

  private func cause(_ trials: KeyTrials) -> String {
    guard let first = trials.harmful.first else {
      return "several of the \(trials.count) changed keys: with today's value of one it is still worse"
    }
    let isOne = trials.harmful.count == 1
    let keys =
      isOne ? "\(first.key): with" : "\(Story.list(trials.harmful.map(\.key))) together: with any as"
    return "\(keys) today's value \(without(first, trials.instead))"
  }

  /// What is left of the change without its harmful key.
  private func without(_ cause: KeyTrials.Cause, _ instead: Decision?) -> String {
    guard let instead else {
      return
        "that is not worse, but \(FigureText.count(cause.stillWorse, "other figure")) still \(cause.stillWorse == 1 ? "is" : "are")"
    }
    if instead.cases.contains(where: { $0.has { $0.state == .worse } }) {
      return instead.isAtAPrice ? "only the price is left" : "that figure is not worse, others are"
    }
    let missed = Set(gains).subtracting(instead.gains)
    if isAtAPrice, !missed.isEmpty {
      return "nothing is worse, but the gain of \(FigureText.count(missed.count, "case")) is gone, too"
    }
    return instead.cells(.better).isEmpty
      ? "neither harm nor gain is left" : "nothing is worse, and a gain is left"
  }

  /// The cases in which runs fail with the proposed Settings.
  private var failing: [String] {
    cases.indices.filter { cases[$0].failures > 0 }.map { place in
      let failures = cases[place].cells.filter { $0.criterion == .failures }
      return lines(failures.map { (place, $0) }).joined() + ": " + cases[place].proposed.failureReasons
    }
  }

  /// What is not decided, and about how many more runs would do it.
  private var openLine: String? {
    let open = cells { $0.isOpen && !$0.isAllowed }
    guard !open.isEmpty, let runs = missingRuns else { return nil }
    // What is worse in no run is open for the number of runs alone.
    if open.allSatisfy({
      $0.cell.criterion == .failures ? $0.cell.finding.mean <= 0 : $0.cell.bounds == "none"
    }) {
      return
        "nothing more fails so far; a failure in one of 20 runs is excluded by \(Self.faultless) runs of a case: "
        + "about \(FigureText.count(runs, "more run"))"
    }
    let names = open.prefix(2).map { one in
      let phrase = cases[one.place].phrase
      return Self.name(one.cell) + (phrase.isEmpty ? "" : " in \(phrase)")
    }
    return Story.list(names + (open.count > 2 ? ["\(open.count - 2) more"] : []))
      + "; about \(FigureText.count(runs, "more run"))"
  }

  /// The longest way back, beside what any client could do.
  private var possibleLine: String? {
    guard let (place, cell) = longestRecovery else { return nil }
    // In an ideal run failures of single requests cost nothing, which no client can do.
    if cases[place].incidents.contains(where: { if case .errors = $0.kind { true } else { false } }) {
      return nil
    }
    guard let possible = cases[place].possible, let metric = cell.metric else {
      return cell.figures.today.isNever && cell.figures.proposed.isNever
        ? text(place, "no Setting brings the fleet back, only capacity does") : nil
    }
    return text(place, "at best caught up after \(MetricText.value(metric, possible)) at this capacity")
  }

  private func wakeUps(_ place: Int) -> [Double] {
    [cases[place].today.wakeUps, cases[place].compared.wakeUps]
  }

  /// The case in which a device's radio wakes up most differently.
  private var mostWakeUps: (place: Int, change: Double, texts: [String])? {
    cases.indices.compactMap { place in
      let means = wakeUps(place)
      guard means[0] > 0 else { return nil }
      return (place, abs(means[1] / means[0] - 1), means.map(MetricText.plain))
    }.max { $0.1 < $1.1 }
  }

  private var hasSameBattery: Bool { mostWakeUps.map { $0.change < 0.01 } ?? false }

  /// The effect on the battery, where that changes most; nil: less than 1 %.
  private var battery: String? {
    guard !hasSameBattery, let (place, _, texts) = mostWakeUps else { return nil }
    return text(place, "the radio wakes \(texts[1]) times a day (today \(texts[0]))")
  }

  /// How often a run may fail although none did.
  private var risk: String? {
    guard cases.allSatisfy({ $0.failures == 0 }), let worst = cases.map(\.risk).max() else { return nil }
    let (proposed, today) = (cases.flatMap(\.proposed), cases.flatMap(\.today))
    let failures = today.count(where: \.fails)
    return "none of \(FigureText.count(proposed.count, "run")) fails"
      + (failures > 0 ? " (today \(failures) of \(today.count))" : "")
      + "; up to \(FigureText.percent(worst)) of a case's may (95 % confidence)"
  }
}

extension [RunSummary] {
  /// Why some of them fail: `not caught up or up to 1.4 % of the affected events lost`.
  package var failureReasons: String {
    let losing = filter { $0.fails && !$0.neverRecovers }
    let share =
      losing.compactMap(\.lossShare).max().map {
        $0 > 1 ? "more than all " : "up to \(HealthWording.percent($0)) of the "
      } ?? ""
    let affected = contains(where: \.hasIncidents) && !share.isEmpty ? "affected " : ""
    let lost = losing.isEmpty ? [] : ["\(share)\(affected)events lost"]
    return Story.list((contains(where: \.neverRecovers) ? ["not caught up"] : []) + lost, "or")
  }

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

extension Decision {
  /// The options that let the worse be: nil where a run more fails, or nothing is better.
  package var waiver: [String]? {
    let worse = cells(.worse).filter { !$0.cell.isAllowed }.map(\.cell.metric?.name)
    guard !worse.isEmpty, !worse.contains(nil), !cells(.better).isEmpty else { return nil }
    return DecisionCriterion.allCases.filter { criterion in
      worse.contains { $0.map(criterion.metrics.contains) ?? false }
    }.flatMap { ["--allow", $0.rawValue] }
  }
}
