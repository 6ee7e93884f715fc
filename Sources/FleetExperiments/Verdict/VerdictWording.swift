import FleetMetrics
import FleetStatistics

/// The words of a verdict.
package struct VerdictWording {
  private let standings: Standings
  /// By variant, in the order of the runs.
  private let seeds: [[UInt64]]
  private var metrics: ReplicatedMetrics { standings.metrics }
  private var runs: [[Standings.Run]] { standings.runs }
  private var isSingle: Bool { standings.seeds == 1 }

  package init(_ standings: Standings, seeds: [[UInt64]]) {
    self.standings = standings
    self.seeds = seeds
  }

  package var lines: [String] {
    if standings.variants.count == 1 {
      return [
        Self.capitalised(health.isEmpty ? onlyOne(0) : String(health.dropLast(2))) + caveat, possible,
      ]
      .filter { !$0.isEmpty }
    }
    if standings.variants.indices.allSatisfy({ !standings.isHealthy($0) }) {
      return [Self.capitalised(health + "there is nothing to bring back and nothing to compare") + caveat]
    }
    if standings.areAllTheSame {
      return [
        "All variants gave the same figures\(isSingle ? "" : " with every seed"): in this scenario nothing ever used what "
          + "differs between them."
      ]
    }
    return [Self.capitalised(health + headline) + caveat, open, risks, possible].filter {
      !$0.isEmpty
    }
  }

  // MARK: One line

  /// The finding in one line: who is best and by how much, or that it is not decided.
  var title: String {
    let variants = standings.variants.indices
    let unhealthy = variants.filter { !standings.isHealthy($0) }
    if unhealthy.count == variants.count { return "This fleet does not hold even without any incident" }
    if variants.count == 1 {
      let text = onlyOne(0)
      return Self.capitalised(String(text[..<(text.firstIndex(of: ";") ?? text.endIndex)]))
    }
    if standings.areAllTheSame { return "All variants gave the same figures" }
    let health =
      unhealthy.isEmpty ? "" : "with \(crowd(unhealthy)) this fleet does not hold even without any incident; "
    return Self.capitalised(health + (nobodyRecovers ? "no variant recovers; of these " : "") + lead)
  }

  private var lead: String {
    let leaders = standings.leaders
    let best = standings.firstChoice ?? leaders[0]
    guard let next = standings.order.first(where: { !leaders.contains($0) }) else {
      let figures = standings.criteria(leaders[0], leaders[1]).dropFirst(2).compactMap { own($0, leaders) }
      return tie(leaders, named: crowd(leaders)) + figures.prefix(2).joined(separator: ", ")
    }
    let open = leaders.count == 1 || areAsGood(leaders) ? "" : " (which of them is not decided)"
    let text = "\(crowd(leaders)) \(does(leaders))\(open)"
    guard let criterion = standings.pair(best, against: next).criterion else { return text }
    return text + ": " + verbs(criterion, leaders, leaders.count == 1 ? "it " : "they ")
      + figure(criterion, leaders, isShort: false) + ", \(name(next)) (next) "
      + figure(criterion, [next], isShort: !isRate(criterion))
  }

  /// Their names, or of many how many they are.
  private func crowd(_ variants: [Int]) -> String {
    let all = standings.variants.count
    if variants.count <= 3 { return names(variants) }
    return variants.count == all ? "the \(all) variants" : "\(variants.count) of \(all) variants"
  }

  private func name(_ variant: Int) -> String { standings.titles[variant] }
  private func names(_ variants: [Int]) -> String { Self.list(variants.map(name)) }
  private func verb(_ variants: [Int], _ singular: String, _ plural: String) -> String {
    variants.count == 1 ? singular : plural
  }

  // MARK: The headline

  /// The variants whose fleet does not hold even without incidents; empty if all do.
  private var health: String {
    let unhealthy = standings.variants.indices.filter { !standings.isHealthy($0) }
    if unhealthy.isEmpty { return "" }
    let why =
      HealthWording(unhealthy.map { runs[$0].map(\.baseline) }).text { places in
        "with \(names(places.map { unhealthy[$0] }))"
      } + "; "
    if unhealthy.count == standings.variants.count {
      return "this fleet does not hold even without any incident: " + why
    }
    return "with \(names(unhealthy)) this fleet does not hold even without any incident: " + why
  }

  private var headline: String {
    let leaders = standings.leaders
    let others = standings.order.filter { !leaders.contains($0) }
    let nobody = nobodyRecovers ? "no variant recovers in any run; of these " : ""
    if others.isEmpty { return nobody + tie(leaders) }
    let advantages = advantages(of: leaders, over: others)
    if recovers(leaders), standings.areOptions {
      let opening = health.isEmpty ? Self.advice : Self.advice.lowercased()
      return opening + Self.list(leaders.map(name), "or") + ": " + runCount + advantages
    }
    return nobody + "\(names(leaders)) \(does(leaders)): " + runCount + advantages
  }

  private func recovers(_ leaders: [Int]) -> Bool {
    leaders.contains { variant in runs[variant].contains(where: \.recovers) }
  }

  private func does(_ leaders: [Int]) -> String {
    recovers(leaders)
      ? verb(leaders, "brings", "bring") + " the fleet back best" : verb(leaders, "does", "do") + " best"
  }

  /// How a verdict opens that somebody can follow.
  static let advice = "Use "

  /// The runs that the comparison is said of.
  private var runCount: String { isSingle ? "" : "in these \(standings.seeds) runs " }

  private var nobodyRecovers: Bool { runs.joined().allSatisfy(\.neverRecovers) }

  /// Returns the advantages of the leaders, the others grouped by them; then the rest of the leader's own figures.
  private func advantages(of leaders: [Int], over others: [Int]) -> String {
    let best = standings.firstChoice ?? leaders[0]
    var groups: [(criterion: Criterion, variants: [Int])] = []
    for other in others {
      guard let criterion = standings.pair(best, against: other).criterion else { continue }
      if let place = groups.firstIndex(where: { $0.criterion == criterion }) {
        groups[place].variants.append(other)
      } else {
        groups.append((criterion, [other]))
      }
    }
    var parts: [String] = []
    for (place, group) in groups.enumerated() {
      let own = leaders.count == 1 ? "it " : "they "
      let figures = group.variants.enumerated().map { index, variant in
        let isNext = place == 0 && index == 0 && others.count > 1
        return isRate(group.criterion)
          ? name(variant) + (isNext ? " (next) " : " ")
            + figure(group.criterion, [variant], isShort: index > 0)
          : figure(group.criterion, [variant], isShort: true) + " (\(name(variant))\(isNext ? ", next" : ""))"
      }
      parts.append(
        verbs(group.criterion, leaders, own) + figure(group.criterion, leaders, isShort: false)
          + (isRate(group.criterion) ? ", " + Self.list(figures) : " instead of " + Self.list(figures, "or")))
    }
    let used = groups.map(\.criterion)
    let next = others[0]
    let rest = standings.criteria(best, next).dropFirst(2).filter { !used.contains($0) }
      .compactMap { criterion -> String? in
        guard let text = own(criterion, leaders), case .metric(let index) = criterion else { return nil }
        return standings.standing(of: best, to: next, on: criterion) == .worse
          ? "its price: \(text) instead of \(range(index, [next])) (\(name(next)))" : text
      }
    return parts.joined(separator: "; ") + (rest.isEmpty ? "" : "; " + rest.joined(separator: ", "))
  }

  private func tie(_ leaders: [Int]) -> String {
    let figures = standings.criteria(leaders[0], leaders[1]).dropFirst(2).compactMap { own($0, leaders) }
    return tie(leaders, named: names(leaders)) + figures.joined(separator: ", ")
  }

  private func tie(_ leaders: [Int], named names: String) -> String {
    areAsGood(leaders) ? "\(names) are as good as each other: " : "not decided between \(names): "
  }

  private func areAsGood(_ leaders: [Int]) -> Bool {
    leaders.allSatisfy { a in
      leaders.allSatisfy { a == $0 || standings.pair(a, against: $0).standing == .asGood }
    }
  }

  // MARK: Figures

  private func verbs(_ criterion: Criterion, _ variants: [Int], _ own: String) -> String {
    switch criterion {
    case .health, .failures: own
    case .metric(let index):
      switch metrics.metrics[index].name {
      case MetricCatalogue.lost: own + verb(variants, "loses ", "lose ")
      case MetricCatalogue.late: own + verb(variants, "leaves ", "leave ")
      case MetricCatalogue.healthy: own + verb(variants, "has the endpoint well ", "have the endpoint well ")
      case MetricCatalogue.recovery: own + verb(variants, "recovers ", "recover ")
      case MetricCatalogue.affectedDelivery:
        "\(metrics.judgedPercent) % of the affected events are delivered within "
      case MetricCatalogue.attemptsAboveTwin: own + verb(variants, "costs ", "cost ")
      default: own + verb(variants, "needs ", "need ")
      }
    }
  }

  /// Whether the criterion's figures are no numbers, so that none can stand alone.
  private func isRate(_ criterion: Criterion) -> Bool { if case .metric = criterion { false } else { true } }

  /// `12 min 30 s after the last incident`, of several variants from the smallest to the largest mean.
  /// - Parameter isShort: the number alone, behind one that is told in full.
  private func figure(_ criterion: Criterion, _ variants: [Int], isShort: Bool) -> String {
    switch criterion {
    case .health:
      return variants.allSatisfy(standings.isHealthy)
        ? verb(variants, "keeps", "keep") + " the fleet healthy without incidents"
        : verb(variants, "does", "do") + " not"
    case .failures:
      return success(variants) + " in " + shares(variants)
    case .metric(let index):
      let text = range(index, variants)
      if isShort { return text }
      switch metrics.metrics[index].name {
      case MetricCatalogue.lost: return "\(text) \(text == "1" ? "event" : "events")"
      case MetricCatalogue.late: return "\(text) \(text == "1" ? "event" : "events") late"
      case MetricCatalogue.healthy, MetricCatalogue.recovery:
        return text == "never" ? text : text + " after the last incident"
      case MetricCatalogue.attemptsAboveTwin: return "\(extra(text)) extra attempts a device"
      case MetricCatalogue.attempts: return "\(text) attempts a device and day"
      default: return text
      }
    }
  }

  /// Returns what a run does that does not fail, as far as any run fails.
  private func success(_ variants: [Int]) -> String {
    let all = runs.joined()
    let parts = [
      all.contains(where: \.neverRecovers) ? verb(variants, "recovers", "recover") : nil,
      all.contains { $0.losesTooMuch && !$0.neverRecovers }
        ? verb(variants, "loses at most 1 % of its events", "lose at most 1 % of their events") : nil,
    ]
    return parts.compactMap(\.self).joined(separator: " and ")
  }

  private func shares(_ variants: [Int]) -> String {
    let counts = variants.map { variant in runs[variant].count { !$0.fails } }
    let (low, high) = (counts.min() ?? 0, counts.max() ?? 0)
    return (low == high ? "\(low)" : "\(low) to \(high)") + " of "
      + FigureText.count(runs[variants[0]].count, "run")
  }

  /// One of the leaders' own figures, to be listed; nil where there is none.
  private func own(_ criterion: Criterion, _ variants: [Int]) -> String? {
    guard case .metric(let index) = criterion,
      variants.contains(where: { metrics.sample(index, variant: $0).count > 0 })
    else { return nil }
    let text = range(index, variants)
    switch metrics.metrics[index].name {
    case MetricCatalogue.lost:
      if text == "0" { return "nothing lost" }
      return figure(criterion, variants, isShort: false) + " lost"
    case MetricCatalogue.late: return text == "0" ? nil : figure(criterion, variants, isShort: false)
    case MetricCatalogue.healthy:
      // Where the data is there about as soon, its time is enough.
      let recovery = metrics.index(of: MetricCatalogue.recovery)
      let isToldApart = variants.contains { variant in
        let back = recovery.map { metrics.sample($0, variant: variant).mean } ?? 0
        return abs(back - metrics.sample(index, variant: variant).mean) > max(60, back / 5)
      }
      return isToldApart ? "endpoint " + (text == "never" ? "well in no run" : "well after \(text)") : nil
    case MetricCatalogue.recovery:
      return text == "never" ? "recovers in no run" : "recovered \(text) after the last incident"
    case MetricCatalogue.affectedDelivery:
      return text.hasPrefix("> ")
        ? "less than \(metrics.judgedPercent) % of the affected events delivered within \(text.dropFirst(2))"
        : "\(metrics.judgedPercent) % of the affected events delivered within \(text)"
    case MetricCatalogue.attemptsAboveTwin: return "\(extra(text)) extra attempts a device"
    default: return "\(text) attempts a device and day"
    }
  }

  /// Fewer attempts than the twin's are none more.
  private func extra(_ text: String) -> String { text.hasPrefix("-") && !text.contains(" to ") ? "no" : text }

  private func range(_ index: Int, _ variants: [Int]) -> String {
    if variants.count == 1 { return MetricText.mean(metrics, index, variants[0]) }
    let sorted = variants.sorted {
      metrics.sample(index, variant: $0).mean < metrics.sample(index, variant: $1).mean
    }
    let (low, high) = (
      MetricText.mean(metrics, index, sorted[0], isPlain: true),
      MetricText.mean(metrics, index, sorted[sorted.count - 1], isPlain: true)
    )
    if low == high { return low }
    return "\(low) to \(high)"
  }

  // MARK: What is open

  private static let mostQuestions = 4

  /// Why the leaders are several.
  private var open: String {
    let leaders = standings.leaders
    var questions: [(isOpen: Bool, text: String)] = []
    for (place, second) in leaders.enumerated() {
      for first in leaders.prefix(place) {
        let pair = standings.pair(second, against: first)
        guard let criterion = pair.criterion else { continue }
        switch pair.standing {
        case .better:
          questions.append(
            (false, "\(name(second)) is better than \(name(first)): " + against(criterion, second, first)))
        case .worse:
          questions.append(
            (false, "\(name(first)) is better than \(name(second)): " + against(criterion, first, second)))
        case .undecided:
          let finding = standings.finding(of: second, to: first, on: criterion)
          let what =
            abs(finding.mean) > 1 ? against(criterion, first, second) : "no difference seen that matters"
          questions.append((true, "\(name(first)) or \(name(second)), \(what)"))
        case .asGood, .incomparable: break
        }
      }
    }
    let areSome = leaders.count < standings.variants.count
    if questions.isEmpty {
      return leaders.count > 1 && areSome ? "\(names(leaders)) are as good as each other." : ""
    }
    func list(_ isOpen: Bool) -> String {
      let texts = questions.filter { $0.isOpen == isOpen }.map(\.text)
      let rest = texts.count - Self.mostQuestions
      return texts.prefix(Self.mostQuestions).joined(separator: "; ") + (rest > 0 ? "; and \(rest) more" : "")
    }
    let parts = [
      list(true).isEmpty ? nil : "Open\(areSome ? " among them" : ""): " + list(true),
      list(false).isEmpty ? nil : list(false), threshold,
    ]
    return parts.compactMap(\.self).joined(separator: ". ") + "."
  }

  private func against(_ criterion: Criterion, _ a: Int, _ b: Int) -> String {
    switch criterion {
    case .health: return "it alone keeps the fleet healthy"
    case .failures: return "\(success([a])) in \(shares([a])) against \(shares([b]))"
    case .metric(let index):
      let metric = metrics.metrics[index]
      return
        "\(metric.title) \(MetricText.mean(metrics, index, a)) against \(MetricText.mean(metrics, index, b))"
    }
  }

  private var seedCount: String { isSingle ? "one seed" : "\(standings.seeds) seeds" }

  private var threshold: String {
    standings.seeds < MetricRule.fewestForTest
      ? "With \(seedCount) a difference counts from \(percent(MetricRule.plainShare)) on, and a smaller one is not ruled out"
      : "A difference counts from \(percent(MetricRule.relevantShare)) on, and beyond chance "
        + "(\(percent(standings.level.difference)) for a criterion\(standings.level == .once ? "" : " at each look"))"
  }

  private func percent(_ share: Double) -> String { MetricText.plain(share * 100) + " %" }

  /// How often a run may fail although none of these did, and how often it does where some did.
  private var risks: String {
    guard !isSingle else { return "" }
    let leaders = standings.leaders
    let faultless = leaders.filter { variant in !runs[variant].contains(where: \.fails) }
    var parts: [String] = []
    if !faultless.isEmpty {
      let count = faultless.map { runs[$0].count }.min() ?? 0
      let losesNothing = faultless.allSatisfy { variant in runs[variant].allSatisfy { $0.lostEvents == 0 } }
      let risk = percent(ExactBinomial.upperBound(of: 0, in: count))
      parts.append(
        "\(names(faultless)) failed in none of these \(FigureText.count(count, "run")) (\(failure))"
          + (losesNothing ? " and lost nothing; either" : "; a failure")
          + " in up to \(risk) of runs can't be excluded")
    }
    for variant in leaders.filter({ !faultless.contains($0) }).prefix(Self.mostQuestions) {
      let (failures, count) = (runs[variant].count(where: \.fails), runs[variant].count)
      let low = percent(ExactBinomial.lowerBound(of: failures, in: count))
      let high = percent(ExactBinomial.upperBound(of: failures, in: count))
      parts.append(
        "\(name(variant)) failed in \(failures) of \(FigureText.count(count, "run")) (\(failure)): \(low) to \(high) of runs do"
      )
    }
    return parts.joined(separator: "; ") + " (95 % confidence)."
  }

  /// The ways in which a run fails.
  private var failure: String {
    (runs.joined().contains { $0.horizon != nil } ? "no recovery, or " : "") + "more than 1 % lost"
  }

  /// How soon any client could catch up; empty where that is not known.
  private var possible: String {
    guard health.isEmpty,
      let index = metrics.index(of: MetricCatalogue.recovery)
    else { return "" }
    let seen = runs.joined().filter { $0.horizon != nil }
    let times = seen.compactMap(\.possible)
    guard !times.isEmpty, times.count == seen.count else {
      return seen.isEmpty || !seen.allSatisfy(\.isBusyThroughout)
        ? ""
        : "The server is busy to the end of the run: no retry Setting brings the fleet back within it, only more capacity or less "
          + "load does."
    }
    let least = runs.map { SampleStatistics($0.compactMap(\.possible)).mean }.min() ?? 0
    return least <= standings.interval
      ? "At this capacity a client could catch up at once."
      : "At this capacity no client could catch up before \(MetricText.value(metrics.metrics[index], least))."
  }

  private var caveat: String {
    guard isSingle else { return "." }
    let seeds = Set(seeds.joined())
    if seeds.count == 1, let seed = seeds.first { return " (one seed, \(seed))." }
    return " (one seed a variant)."
  }

  // MARK: One variant

  private func onlyOne(_ variant: Int) -> String {
    let runs = self.runs[variant]
    var text = isSingle ? "" : "\(name(variant)): "
    if let recovery = metrics.index(of: MetricCatalogue.recovery),
      runs.contains(where: { $0.recovers || $0.neverRecovers })
    {
      let share = metrics.share(recovery, variant: variant)
      let times = metrics.values(of: recovery, variant: variant).filter { !$0.isCensored }.compactMap(
        \.restricted)
      if share?.successes == 0 {
        text += "the fleet never recovers from the last incident within the run"
      } else if let share, share.successes < share.count, let mean = times.mean {
        // A mean with those that never do is no time that any run takes.
        text +=
          "the fleet recovers in \(share.successes) of \(share.count) runs, there "
          + "\(MetricText.value(metrics.metrics[recovery], mean)) after the last incident"
      } else {
        text += "the fleet recovers \(MetricText.mean(metrics, recovery, variant)) after the last incident"
      }
    } else {
      text +=
        runs.contains(where: \.hasIncidents)
        ? "the run ends too soon after the last incident to see a recovery" : "no incident to recover from"
    }
    let figures = standings.criteria(variant, variant).dropFirst(2).compactMap { criterion -> String? in
      if case .metric(let index) = criterion, metrics.metrics[index].name == MetricCatalogue.recovery {
        return nil
      }
      return own(criterion, [variant])
    }
    return text + "; " + figures.joined(separator: ", ") + (isSingle ? "" : riskOfOne)
  }

  private var riskOfOne: String { risks.isEmpty ? "" : ". " + String(risks.dropLast()) }

  // MARK: Words

  static func list(_ names: [String], _ conjunction: String = "and") -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " \(conjunction) " + last
  }

  static func capitalised(_ sentence: String) -> String {
    // A variant's name stays as it is written.
    for opening in ["the ", "this ", "no ", "with ", "not "] where sentence.hasPrefix(opening) {
      return sentence.prefix(1).uppercased() + sentence.dropFirst()
    }
    return sentence
  }
}
