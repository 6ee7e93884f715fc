import FleetMetrics
import FleetStatistics

/// The answer of `run` and `compare`: of one seed and of many by one rule (`MetricRule`).
extension Standings {
  /// The finding with its reason, its price, and what is open.
  package var story: Story { story(missing: nil) }

  /// - Parameter missing: what is open and how many more seeds would tell, in place of lines on what so few do not show; nil: not known.
  package func story(missing: String?) -> Story {
    var story = told(tellsDoubts: missing == nil)
    story.add(.open, missing)
    return story
  }

  /// - Parameter tellsDoubts: whether there are lines on what no figure shows, and on failures that no run had.
  private func told(tellsDoubts: Bool) -> Story {
    guard !variants.isEmpty, seeds > 0 else { return Story("Nothing was run") }
    let unwell = variants.indices.filter { !isHealthy($0) }
    var story = Story(finding, basis: seeds == 1 ? "one seed" : FigureText.count(seeds, "seed"))
    if !unwell.isEmpty {
      story.add(
        .unwell,
        HealthWording(unwell.map { runs[$0].map(\.baseline) }).groups.map { group in
          (variants.count > 1 ? names(group.places.map { unwell[$0] }) + ": " : "") + group.reason
        })
    }
    if unwell.count == variants.count { return story }
    if variants.count > 1, areAllTheSame {
      story.add(.reason, "nothing in this scenario ever used what differs between them")
      return story
    }
    if variants.count > 1 { tellBest(&story, tellsDoubts: tellsDoubts) }
    // Of a single run the finding has said it.
    if variants.count > 1 || seeds > 1 { tellFailures(&story) }
    if unwell.isEmpty { story.add(.possible, possible) }
    if hasIncidents, !showsGrowth {
      story.add(.note, "so short a run does not show whether the fleet holds its load without any incident")
    }
    if tellsDoubts { story.add(.risk, risk) }
    return story
  }

  // MARK: The finding

  private var finding: String {
    if !variants.indices.contains(where: isHealthy) {
      return "This fleet does not hold its load even without any incident"
    }
    if variants.count == 1 { return findingOfOne }
    if areAllTheSame { return "All \(variants.count) variants gave the same figures" }
    if leaders.count == variants.count {
      return areAsGood(leaders)
        ? "No difference that matters between \(crowd(leaders))" : "Not decided between \(crowd(leaders))"
    }
    let recovers = leaders.contains { runs[$0].contains { $0.recoveryTime != nil } }
    let allFail = leaders.allSatisfy { runs[$0].allSatisfy(\.fails) }
    let (opening, conjunction) = areOptions && recovers && !allFail ? ("Use ", "or") : ("Best: ", "and")
    return opening + crowd(leaders, conjunction)
      + (leaders.count == 1 || areAsGood(leaders) ? "" : ", which of them is not decided")
      + (allFail && recovers ? "; every run fails" : "")
  }

  private var findingOfOne: String {
    let recovery = metrics.index(of: MetricCatalogue.recovery)
    guard let recovery, runs[0].contains(where: { $0.recoveryTime != nil || $0.neverRecovers }) else {
      if hasIncidents { return "The run ends too soon after its last incident to see the fleet catch up" }
      let harm = harmOfActions
      if !showsGrowth {
        return "So short a run does not show whether the fleet holds its load; "
          + (harm.map { "with what operators do \($0)" } ?? "there is no incident")
      }
      return harm.map { "Without what operators do the fleet holds its load; with it \($0)" }
        ?? "The fleet holds its load; there is no incident"
    }
    let share = metrics.share(recovery, variant: 0)
    let figure = metrics.figure(recovery, 0)
    if figure.isNever { return "Never caught up within the run" }
    guard let share, share.successes < share.count else {
      let lost = metrics.index(of: MetricCatalogue.lost).map { metrics.figure($0, 0).phrase } ?? ""
      // Without the apps that are closed the data may be complete while the endpoint still turns away who opens one.
      let endpoint = metrics.index(of: MetricCatalogue.healthy).map { metrics.figure($0, 0) }
      let isBusyLater = (endpoint?.number ?? 0) > (figure.number ?? 0) + max(interval, 60)
      let caughtUp =
        figure.number == 0
        ? "Caught up by the end of the last incident" : "Caught up after \(figure.withInterval())"
      return caughtUp + (isBusyLater ? ", \(endpoint?.phrase ?? "")" : "")
        + (runs[0].contains(where: \.losesTooMuch) ? ", but \(lost)" : "")
    }
    // A mean with those that never do is no time that any run takes.
    let times = metrics.values(of: recovery, variant: 0).filter { !$0.isCensored }.compactMap(\.restricted)
    let mean = MetricText.value(metrics.metrics[recovery], times.mean ?? 0)
    return "Caught up in \(share.successes) of \(share.count) runs, there after \(mean)"
  }

  /// What operators do to the only variant, where there is no incident, most runs agreeing; nil: nothing that counts.
  private var harmOfActions: String? {
    func areMost(_ isHarmed: (RunSummary) -> Bool) -> Bool {
      runs[0].count(where: isHarmed) * 2 > runs[0].count
    }
    let loses = areMost { $0.losesTooMuch && $0.lostOrBlockedEvents > $0.baseline.lostEvents }
    let isLate = areMost { $0.lateEvents > $0[.createdEvents] / 100 }
    let told = (loses ? [MetricCatalogue.lost] : []) + (isLate ? [MetricCatalogue.late] : [])
    let phrases = told.compactMap { metrics.index(of: $0).map { metrics.figure($0, 0).phrase } }
    return phrases.isEmpty ? nil : Story.list(phrases)
  }

  private var hasIncidents: Bool { runs.joined().contains(where: \.hasIncidents) }
  /// Whether every run is long enough to tell whether its backlog grows.
  private var showsGrowth: Bool { runs.joined().allSatisfy { $0.baseline.grows != nil } }

  private func names(_ variants: [Int]) -> String { Story.list(variants.map { titles[$0] }) }

  /// Their names, or of many how many they are.
  private func crowd(_ these: [Int], _ conjunction: String = "and") -> String {
    these.count <= 3
      ? Story.list(these.map { titles[$0] }, conjunction)
      : these.count == variants.count
        ? "the \(these.count) variants" : "\(these.count) of \(variants.count) variants"
  }

  private func areAsGood(_ leaders: [Int]) -> Bool {
    leaders.allSatisfy { a in
      leaders.allSatisfy { a == $0 || pair(a, against: $0).standing == .asGood }
    }
  }

  // MARK: Several variants

  /// By what the best is ahead of each other, and what that costs.
  private func tellBest(_ story: inout Story, tellsDoubts: Bool) {
    guard let best = firstChoice else { return }
    let others = order.filter { !leaders.contains($0) }
    var groups: [(criterion: Criterion, variants: [Int])] = []
    for other in others {
      guard let criterion = pair(best, against: other).criterion else { continue }
      if let place = groups.firstIndex(where: { $0.criterion == criterion }) {
        groups[place].variants.append(other)
      } else {
        groups.append((criterion, [other]))
      }
    }
    story.add(.reason, groups.map { line(best, $0.criterion, against: $0.variants) })
    // Against the next best, and against the first, which most have today.
    let rivals = (others.prefix(1) + others.filter { $0 == 0 }).uniqued.filter(isHealthy)
    story.add(
      .price,
      rivals.flatMap { criteria(best, $0) }.uniqued.compactMap { criterion in
        let cheaper = rivals.filter {
          standing(of: best, to: $0, on: criterion) == .worse
            && !(isOfDelivery(criterion) && affectsOthers(best, than: $0))
        }
        return cheaper.isEmpty ? nil : line(best, criterion, against: cheaper)
      })
    let (seen, unseen) = questions
    if tellsDoubts {
      story.add(.open, seen.isEmpty ? nil : "not decided: \(seen.joined(separator: ", "))")
      story.add(
        .open, unseen.isEmpty ? nil : "not decided, no difference seen: \(unseen.joined(separator: ", "))")
    }
    if leaders.count > 1, seen.isEmpty, unseen.isEmpty { story.add(.same, threshold) }
    if variants.indices.contains(where: { affectsOthers(best, than: $0) }) {
      story.add(.note, "delivery is of the events that the incident affects, and these differ by variant")
    }
  }

  private func isOfDelivery(_ criterion: Criterion) -> Bool {
    metrics.index(of: MetricCatalogue.affectedDelivery).map { criterion == .metric($0) } ?? false
  }

  /// Whether the incident affects more or fewer events in one variant than in another, as with another capacity: deliveries of other
  /// events are no price.
  private func affectsOthers(_ first: Int, than second: Int) -> Bool {
    let counts = [first, second].map { runs[$0].map { Double($0.affectedEvents) }.mean ?? 0 }.sorted()
    return counts[1] > (1 + MetricRule.relevantShare) * counts[0]
  }

  /// `caught up after 26 min; 31 min with additive:10`
  private func line(_ best: Int, _ criterion: Criterion, against others: [Int]) -> String {
    let shown = others.prefix(2).map { "\(figure($0, criterion).text) with \(variants[$0])" }
    let more = others.count > 2 ? ", \(others.count - 2) more" : ""
    return figure(best, criterion).phrase + (leaders.count > 1 ? " with \(variants[best])" : "") + "; "
      + shown.joined(separator: ", ") + more
  }

  /// Why the leaders are several: the criteria that leave a pair of them undecided, or decide it against a third, and those by which
  /// no difference is seen.
  private var questions: (seen: [String], unseen: [String]) {
    let open = leaders.enumerated().flatMap { place, second in
      leaders.prefix(place).compactMap { first -> (name: String, isSeen: Bool)? in
        let pair = pair(second, against: first)
        guard let criterion = pair.criterion, pair.standing != .asGood else { return nil }
        let isSeen =
          pair.standing.isDecided || abs(finding(of: second, to: first, on: criterion).mean) > 1
        return (criterion.words(metrics.metrics), isSeen)
      }
    }
    let seen = open.filter(\.isSeen).map(\.name).uniqued
    return (seen, open.map(\.name).uniqued.filter { !seen.contains($0) })
  }

  /// From what on a difference counts.
  private var threshold: String {
    let isPlain = seeds < MetricRule.fewestForTest
    let share = MetricText.plain((isPlain ? MetricRule.plainShare : MetricRule.relevantShare) * 100)
    return "differences below \(share) %" + (isPlain ? " are not ruled out" : floorText + " do not matter")
  }

  /// ` or the interval of 5 s`, ` or 1 in 10,000 events`: where two of the best lie further apart than that share, and within the
  /// floor of times or events.
  private var floorText: String {
    func isWithin(_ isMeant: (Metric) -> Bool) -> Bool {
      leaders.contains { second in
        leaders.contains { first in
          first < second
            && criteria(first, second).contains { criterion in
              guard case .metric(let index) = criterion, isMeant(metrics.metrics[index]) else { return false }
              let finding = finding(of: second, to: first, on: criterion)
              let figures = [first, second].compactMap {
                metrics.values(of: index, variant: $0).compactMap(\.restricted).mean
              }
              return abs(finding.mean) * finding.unit > MetricRule.relevantShare * (figures.min() ?? 0)
            }
        }
      }
    }
    return (isWithin(\.isCensored) ? " or the interval of \(MetricText.span(seconds: interval))" : "")
      + (isWithin { $0.unit == "events" }
        ? " or 1 in \(FigureText.grouped(Int64(1 / Metric.relevantEvents))) events" : "")
  }

  private func tellFailures(_ story: inout Story) {
    if variants.count > 1, runs.joined().allSatisfy(\.neverRecovers) {
      return story.add(.fails, "no variant catches up in any run")
    }
    if variants.count > 1, runs.joined().allSatisfy(\.fails) {
      return story.add(
        .fails, "every run of all \(variants.count) variants (\(Array(runs.joined()).failureReasons))")
    }
    let failing = leaders.filter { runs[$0].contains(where: \.fails) }
    story.add(
      .fails,
      failing.map {
        (variants.count > 1 ? titles[$0] + ": " : "")
          + "\(figure($0, .failures).text) runs (\(runs[$0].failureReasons))\(odds($0))"
      }
    )
  }

  // MARK: Risks

  /// `; 14 to 76 % of all such runs may fail (95 % confidence)`
  private func odds(_ variant: Int) -> String {
    let (failures, count) = (runs[variant].count(where: \.fails), runs[variant].count)
    if count == 1 { return "" }
    // Two bounds hold together with 95 % if each does with 97.5 %.
    let bounds = [ExactBinomial.lowerBound, ExactBinomial.upperBound].map { $0(failures, count, 0.975) }
    return
      "; \(MetricText.plain(bounds[0] * 100)) to \(MetricText.plain(bounds[1] * 100)) % of all such runs may fail (95 % confidence)"
  }

  /// How often the leaders may fail although none of these runs did.
  private var risk: String? {
    let faultless = leaders.filter { !runs[$0].contains(where: \.fails) }
    guard seeds > 1, !faultless.isEmpty else { return nil }
    let count = faultless.map { runs[$0].count }.min() ?? 0
    let who = faultless.count < leaders.count ? crowd(faultless) + ": " : ""
    let most = MetricText.plain(ExactBinomial.upperBound(of: 0, in: count) * 100)
    return who
      + "none of \(FigureText.count(count, "run")) fails; up to \(most) % of all such runs may (95 % confidence)"
  }

  /// How soon any client could catch up; nil where that is not known.
  private var possible: String? {
    guard let index = metrics.index(of: MetricCatalogue.recovery) else { return nil }
    let seen = runs.joined().filter { $0.recoveryHorizon != nil }
    let times = seen.compactMap(\.possibleTime)
    guard !times.isEmpty, times.count == seen.count else {
      return !seen.isEmpty && seen.allSatisfy(\.isBusyThroughout)
        ? "the server is busy to the end: only more capacity or less load helps" : nil
    }
    let known = variants.indices.compactMap { variant in
      runs[variant].compactMap(\.possibleTime).map { Double($0) / 1e6 }.mean.map {
        (variant: variant, time: $0)
      }
    }.sorted { $0.time < $1.time }
    guard let first = known.first, let last = known.last else { return nil }
    func after(_ time: Double) -> String {
      time <= interval ? "at once" : "after \(MetricText.value(metrics.metrics[index], time))"
    }
    let isOne = last.time <= max(first.time * (1 + MetricRule.relevantShare), first.time + interval)
    let isSooner = known.contains { metrics.figure(index, $0.variant).number ?? $0.time < 0.9 * $0.time }
    return "at best caught up \(after(first.time)) "
      + (isOne
        ? "at this capacity"
        : "with \(variants[first.variant]), \(after(last.time)) with \(variants[last.variant])")
      + (isSooner ? "; sooner only where events are given up" : "")
      + (metrics.judgedPercent < 99
        ? "; no client delivers \(metrics.judgedPercent == 90 ? 99 : 90) % within the run" : "")
  }
}

extension Trial {
  /// The answer from all seeds.
  /// - Parameter standings: of these runs.
  package func story(_ standings: Standings) -> Story {
    var story = standings.story(missing: missingSeeds(standings))
    // Variants may be of different seeds.
    if replications > 1 || Set(rows.map(\.seed)).count == 1 {
      story.basis = replications == 1 ? seedsText : FigureText.count(replications, "seed")
    }
    if let fleet = facts.compactMap(\.self).first {
      story.basis += ", " + FigureText.fleet(of: fleet.fullSizeDevices, scale: fleet.scale)
      let last = fleet.incidents.map(\.end).max() ?? 0
      if fleet.incidents.contains(where: { $0.end < last }), Set(facts.map { $0?.incidents }).count == 1 {
        let count = fleet.incidents.count
        story.add(.note, "caught up and endpoint well count from the end of the last of \(count) incidents")
      }
      if standings.areOptions, Set(facts.compactMap { $0?.incidents.map(\.end).max() }).count > 1 {
        story.add(
          .note,
          "caught up and endpoint well count from the end of each variant's own incidents, which differs")
      }
    }
    return story
  }

  /// What is open, and about how many more seeds would tell; nil where all is decided, or their number was given.
  private func missingSeeds(_ standings: Standings) -> String? {
    guard let until = plan.until, let decision, isFinished else { return nil }
    let names = standings.open.map { $0.criterion.words(standings.metrics.metrics) }.uniqued
    return until.text(decision, seeds: replications, open: names, scale: rows.commonScale)
  }

  /// The answer from the replications of one variant.
  package func story(of variant: Int) -> Story {
    Standings(
      [variants[variant]], rows: [rows(of: variant)], interval: curves[variant].facts?.interval ?? 0
    ).story
  }
}
