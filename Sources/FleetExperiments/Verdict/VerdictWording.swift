import FleetMetrics
import FleetStatistics

/// The words of a verdict.
struct VerdictWording {
  private let standings: Standings
  /// By variant, in the order of the runs.
  private let seeds: [[UInt64]]
  private var metrics: ReplicatedMetrics { standings.metrics }
  private var runs: [[Standings.Run]] { standings.runs }
  private var isSingle: Bool { standings.seeds == 1 }

  init(_ standings: Standings, seeds: [[UInt64]]) {
    self.standings = standings
    self.seeds = seeds
  }

  var lines: [String] {
    if standings.variants.count == 1 { return [Self.capitalised(health + onlyOne(0)) + caveat] }
    if standings.variants.indices.allSatisfy({ !standings.isHealthy($0) }) {
      return [Self.capitalised(health + "there is nothing to bring back and nothing to compare") + caveat]
    }
    if areAllTheSame {
      return [
        "All variants gave the same figures\(isSingle ? "" : " with every seed"): in this scenario nothing ever used what "
          + "differs between them."
      ]
    }
    return [Self.capitalised(health + headline) + caveat, undecided, risks].filter { !$0.isEmpty }
  }

  private func name(_ variant: Int) -> String { standings.variants[variant] }
  private func names(_ variants: [Int]) -> String { Self.list(variants.map(name)) }
  private func verb(_ variants: [Int], _ singular: String, _ plural: String) -> String {
    variants.count == 1 ? singular : plural
  }

  // MARK: The headline

  /// Whose fleet does not hold even without incidents; empty if all do.
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

  private var areAllTheSame: Bool {
    Set(standings.variants.indices.map(standings.isHealthy)).count == 1
      && metrics.metrics.indices.allSatisfy { index in
        standings.variants.indices.dropFirst().allSatisfy {
          metrics.values(of: index, variant: $0) == metrics.values(of: index, variant: 0)
        }
      }
  }

  private var headline: String {
    let leaders = standings.leaders
    let others = standings.order.filter { !leaders.contains($0) }
    let nobody = nobodyRecovers ? "no variant recovers in any run; of these " : ""
    if others.isEmpty { return nobody + tie(leaders) }
    let recovers = leaders.contains { variant in runs[variant].contains { $0.hasIncidents && $0.recovers } }
    let does =
      recovers
      ? verb(leaders, "brings", "bring") + " the fleet back best" : verb(leaders, "does", "do") + " best"
    return nobody + "\(names(leaders)) \(does): " + advantages(of: leaders, over: others)
  }

  private var nobodyRecovers: Bool {
    runs.joined().allSatisfy { $0.hasIncidents && !$0.recovers }
  }

  /// What the leaders are better in, the others grouped by it; then the rest of the leader's own figures.
  private func advantages(of leaders: [Int], over others: [Int]) -> String {
    let best = standings.favourite ?? leaders[0]
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
      let figures = group.variants.enumerated().map { index, variant in
        name(variant) + (place == 0 && index == 0 && others.count > 1 ? " (next) " : " ")
          + figure(group.criterion, [variant], isShort: index > 0 || !isRate(group.criterion))
      }
      let own = leaders.count == 1 ? "it " : "they "
      parts.append(
        verbs(group.criterion, leaders, own) + figure(group.criterion, leaders, isShort: false) + ", "
          + Self.list(figures))
    }
    let used = groups.map(\.criterion)
    let rest = standings.criteria(best, others[0]).dropFirst(2).filter { !used.contains($0) }
      .compactMap { own($0, leaders) }
    return parts.joined(separator: "; ") + (rest.isEmpty ? "" : "; " + rest.joined(separator: ", "))
  }

  private func tie(_ leaders: [Int]) -> String {
    let areEqual = leaders.allSatisfy { a in
      leaders.allSatisfy { a == $0 || standings.pair(a, against: $0).standing == .equal }
    }
    let figures = standings.criteria(leaders[0], leaders[1]).dropFirst(2).compactMap { own($0, leaders) }
    let what = areEqual ? "no difference that matters between " : "undecided between "
    return what + names(leaders) + ": " + figures.joined(separator: ", ")
  }

  // MARK: Figures

  private func verbs(_ criterion: Criterion, _ variants: [Int], _ own: String) -> String {
    switch criterion {
    case .health: own
    case .recovers: own
    case .metric(let index):
      switch metrics.metrics[index].name {
      case MetricCatalogue.undelivered: own + verb(variants, "leaves ", "leave ")
      case MetricCatalogue.recovery: own + verb(variants, "recovers ", "recover ")
      case MetricCatalogue.affectedDelivery: "99 % of the affected events are delivered within "
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
      return verb(variants, "keeps", "keep") + " the fleet healthy without incidents"
    case .recovers:
      return variants.count == 1 && isSingle
        ? (runs[variants[0]][0].recovers ? "recovers" : "never recovers")
        : verb(variants, "recovers", "recover") + " in " + shares(variants)
    case .metric(let index):
      let text = range(index, variants)
      if isShort { return text }
      switch metrics.metrics[index].name {
      case MetricCatalogue.undelivered: return "\(text) \(text == "1" ? "event" : "events") undelivered"
      case MetricCatalogue.recovery: return text == "never" ? text : text + " after the last incident"
      case MetricCatalogue.attemptsAboveTwin: return "\(text) extra attempts a device"
      case MetricCatalogue.attempts: return "\(text) attempts a device and day"
      default: return text
      }
    }
  }

  private func shares(_ variants: [Int]) -> String {
    let counts = variants.map { variant in runs[variant].count(where: \.recovers) }
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
    case MetricCatalogue.undelivered:
      return text == "0" ? "nothing undelivered" : figure(criterion, variants, isShort: false)
    case MetricCatalogue.recovery:
      return text == "never" ? "recovers in no run" : "recovered \(text) after the last incident"
    case MetricCatalogue.affectedDelivery:
      return text.hasPrefix("> ")
        ? "99 % of the affected events not delivered within \(text.dropFirst(2))"
        : "99 % of the affected events delivered within \(text)"
    case MetricCatalogue.attemptsAboveTwin: return "\(text) extra attempts a device"
    default: return "\(text) attempts a device and day"
    }
  }

  private func range(_ index: Int, _ variants: [Int]) -> String {
    if variants.count == 1 { return MetricText.mean(metrics, index, variants[0]) }
    let sorted = variants.sorted {
      metrics.sample(index, variant: $0).mean < metrics.sample(index, variant: $1).mean
    }
    let (low, high) = (
      MetricText.mean(metrics, index, sorted[0], isPlain: true),
      MetricText.mean(metrics, index, sorted[sorted.count - 1], isPlain: true)
    )
    return low == high ? low : "\(low) to \(high)"
  }

  // MARK: What is open

  private static let mostQuestions = 4

  /// Why the leaders are several, and who of them is ahead.
  private var undecided: String {
    let leaders = standings.leaders
    var questions: [String] = []
    for (place, second) in leaders.enumerated() {
      for first in leaders.prefix(place) {
        let pair = standings.pair(second, against: first)
        guard let criterion = pair.criterion else { continue }
        let (a, b) = [.ahead, .better].contains(pair.standing) ? (second, first) : (first, second)
        switch pair.standing {
        case .ahead, .behind:
          questions.append("\(name(a)) is ahead of \(name(b)): " + against(criterion, a, b))
        case .better, .worse:
          questions.append("\(name(a)) is better than \(name(b)): " + against(criterion, a, b))
        case .open: questions.append("\(name(a)) and \(name(b)) may differ: " + against(criterion, a, b))
        case .equal, .incomparable: break
        }
      }
    }
    guard !questions.isEmpty else { return "" }
    let shown = questions.prefix(Self.mostQuestions).joined(separator: "; ")
    let rest = questions.count - Self.mostQuestions
    let favourite = standings.favourite.map { "\(name($0)) is the first choice as it stands. " } ?? ""
    return Self.capitalised(favourite)
      + "\(leaders.count < standings.variants.count ? "Among them" : "So far"): \(shown)\(rest > 0 ? "; and \(rest) more" : ""). "
      + "\(threshold)\(standings.seeds < MetricRule.fewestForTest ? "; --seeds 10 tells more" : "")."
  }

  private func against(_ criterion: Criterion, _ a: Int, _ b: Int) -> String {
    switch criterion {
    case .health: return "it alone keeps the fleet healthy"
    case .recovers: return "recovers in \(shares([a])) against \(shares([b]))"
    case .metric(let index):
      let metric = metrics.metrics[index]
      return
        "\(metric.title) \(MetricText.mean(metrics, index, a)) against \(MetricText.mean(metrics, index, b))"
    }
  }

  private var seedCount: String { isSingle ? "one seed" : "\(standings.seeds) seeds" }

  private var threshold: String {
    standings.seeds < MetricRule.fewestForTest
      ? "With \(seedCount) a difference counts from \(percent(MetricRule.plainShare)) on"
      : "A difference counts from \(percent(MetricRule.relevantShare)) on, and beyond chance (1 % for a criterion)"
  }

  private func percent(_ share: Double) -> String { MetricText.plain(share * 100) + " %" }

  /// How often a run may not recover although all of these did.
  private var risks: String {
    guard !isSingle else { return "" }
    let leaders = standings.leaders.filter { variant in runs[variant].contains { $0.hasIncidents } }
    guard !leaders.isEmpty else { return "" }
    let parts = leaders.prefix(Self.mostQuestions).map { variant in
      let runs = self.runs[variant].filter(\.hasIncidents)
      let share = WilsonInterval(successes: runs.count { !$0.recovers }, of: runs.count)
      return
        "\(name(variant)) recovered in \(runs.count - share.successes) of \(FigureText.count(runs.count, "run")): "
        + (share.successes == 0
          ? "up to \(percent(share.high)) may not" : "\(percent(share.low)) to \(percent(share.high)) do not")
    }
    return parts.joined(separator: "; ") + " (95 % interval)."
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
    if let recovery = metrics.metrics.firstIndex(where: { $0.name == MetricCatalogue.recovery }),
      runs.contains(where: \.hasIncidents)
    {
      if !standings.isHealthy(variant) { text += "with its incidents " }
      let never = metrics.share(recovery, variant: variant)?.successes == 0
      text +=
        never
        ? "the fleet never recovers from the last incident within the run"
        : "the fleet recovers \(MetricText.mean(metrics, recovery, variant)) after the last incident"
    } else {
      text += "no incident to recover from"
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

  static func list(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }

  static func capitalised(_ sentence: String) -> String {
    // A variant's name stays as it is written.
    for opening in ["the ", "this ", "no ", "with ", "undecided "] where sentence.hasPrefix(opening) {
      return sentence.prefix(1).uppercased() + sentence.dropFirst()
    }
    return sentence
  }
}
