import FleetMetrics
import FleetStatistics

/// The words of a verdict on replications.
struct ReplicatedVerdictWording {
  private let comparison: ReplicatedComparison
  private let metrics: ReplicatedMetrics
  private let pairs: [PairwiseRanking]
  private let ranking: ReplicatedVerdict.Ranking

  init(_ comparison: ReplicatedComparison) {
    self.comparison = comparison
    metrics = comparison.metrics
    pairs = metrics.metrics.indices.map { [metrics] in metrics.ranking($0) }
    ranking = ReplicatedVerdict.rank(comparison, pairs)
  }

  var lines: [String] {
    var lines = [VerdictWording.capitalised(health + decision)]
    if metrics.variants.count > 1, !areAllAlike {
      lines += [conclusions, openQuestions].filter { !$0.isEmpty }
    }
    return lines + unmet + [basis]
  }

  private func name(_ variant: Int) -> String { metrics.variants[variant] }
  private func names(_ variants: [Int]) -> String { VerdictWording.list(variants.map(name)) }

  private var headline: [Int] { metrics.metrics.indices.filter { metrics.metrics[$0].isHeadline } }

  private func index(_ name: String) -> Int? { metrics.metrics.firstIndex { $0.name == name } }

  // MARK: What was found

  private var health: String {
    let unhealthy = metrics.variants.indices.filter { ReplicatedVerdict.isUnhealthy(comparison, $0) }
    if unhealthy.isEmpty { return "" }
    let why = "its backlog or time to delivery grows over most runs; "
    if unhealthy.count == metrics.variants.count {
      return "this fleet does not hold even without any incident: " + why
    }
    return "with \(names(unhealthy)) this fleet does not hold even without any incident: " + why
  }

  /// Whether chance itself is all that the variants have in common: no seed made any difference between them.
  private var areAllAlike: Bool {
    metrics.metrics.indices.allSatisfy { index in
      metrics.variants.indices.dropFirst().allSatisfy {
        metrics.values(of: index, variant: $0) == metrics.values(of: index, variant: 0)
      }
    }
  }

  private var decision: String {
    if metrics.variants.count == 1 { return "\(name(0)): \(single(0))." }
    if areAllAlike {
      return
        "all variants gave the same figures with every seed: in this scenario nothing ever used what differs between them."
    }
    guard let best = ranking.best.first, ranking.best.count == 1, let criterion = ranking.decidedBy,
      let next = ranking.eliminations.last?.variants.first
    else { return tie }
    let lead = "\(name(best)) \(hasRecovery(best) ? "brings the fleet back best" : "does best"): "
    switch criterion {
    case .health: return lead + "it alone keeps the fleet healthy without incidents."
    case .recovery:
      return lead + "it recovers in \(share(best)), \(name(next)) (next) in \(share(next)); \(single(best))."
    case .metric(let index):
      return lead + advantage(of: best, over: next, index) + equal(before: index)
        + "; \(single(best, without: index))."
    }
  }

  private var tie: String {
    let best = ranking.best
    var text =
      "no difference that \(comparison.replications) replications can show and that matters between \(names(best))"
    if let behind = ranking.eliminations.last {
      text += "; \(names(behind.variants)) \(behind.variants.count == 1 ? "is" : "are") behind"
    }
    return text + "; \(name(best[0])): \(single(best[0]))."
  }

  private func equal(before index: Int) -> String {
    let settled = headline.prefix { $0 != index }.filter { earlier in
      ranking.best.allSatisfy { metrics.sample(earlier, variant: $0).count > 0 }
    }.map { metrics.metrics[$0].title }
    return settled.isEmpty ? "" : ", with nothing that decides in \(VerdictWording.list(settled))"
  }

  private func advantage(of best: Int, over next: Int, _ index: Int) -> String {
    let (value, more) = (value(index, best), difference(index, of: next, to: best))
    switch metrics.metrics[index].name {
    case MetricCatalogue.lost: return "it loses \(value) events, \(name(next)) (next) \(more) more"
    case MetricCatalogue.recovery:
      return
        "it recovers after \(value) (\(share(best))\(restriction(best))), \(name(next)) (next) \(more) later"
    case MetricCatalogue.timeToDelivery:
      return "its p99 time to delivery is \(value), of \(name(next)) (next) \(more) more"
    default: return "it needs \(value) attempts per device and day, \(name(next)) (next) \(more) more"
    }
  }

  private func hasRecovery(_ variant: Int) -> Bool {
    index(MetricCatalogue.recovery).flatMap { metrics.share($0, variant: variant) }
      .map { $0.successes > 0 } ?? false
  }

  private func share(_ variant: Int) -> String {
    guard let share = index(MetricCatalogue.recovery).flatMap({ metrics.share($0, variant: variant) }) else {
      return "no run"
    }
    return "\(share.successes) of \(share.count) runs"
  }

  private func restriction(_ variant: Int) -> String {
    let share = index(MetricCatalogue.recovery).flatMap { metrics.share($0, variant: variant) }
    return share.map { $0.successes < $0.count } == true ? ", the rest counted with the end of the run" : ""
  }

  /// `recovered in 12 min 30 s ± 8 s (20 of 20 runs), no events lost, p99 delivery 15 min ± 9 s`
  private func single(_ variant: Int, without decisive: Int? = nil) -> String {
    headline.filter { $0 != decisive }.compactMap { index -> String? in
      let metric = metrics.metrics[index]
      let sample = metrics.sample(index, variant: variant)
      guard sample.count > 0 else { return nil }
      if metric.isCensored, let share = metrics.share(index, variant: variant) {
        if share.successes == 0 { return "it never recovers within the run (\(share.count) runs)" }
        return "recovered in \(value(index, variant)) (\(self.share(variant))\(restriction(variant)))"
      }
      return "\(metric.title) \(value(index, variant))"
    }.joined(separator: ", ")
  }

  private func value(_ index: Int, _ variant: Int) -> String {
    MetricText.interval(
      metrics.metrics[index], metrics.sample(index, variant: variant).mean,
      metrics.interval(index, variant: variant)?.halfWidth)
  }

  private func difference(_ index: Int, of variant: Int, to reference: Int) -> String {
    let pair = pairs[index].pair(reference, variant)
    return MetricText.interval(
      metrics.metrics[index], abs(pair.difference.mean), pair.interval?.halfWidth)
  }

  // MARK: What can be concluded and what can't

  /// `recovered in: full, then equal and decorrelated, then additive:10`
  private var conclusions: String {
    let orders = headline.compactMap { index -> String? in
      let ranks = pairs[index].ranks
      let ranked = metrics.variants.indices.filter { ranks[$0] != nil }
      let groups = Dictionary(grouping: ranked) { ranks[$0] ?? 0 }.sorted { $0.key < $1.key }.map(\.value)
      guard groups.count > 1 else { return nil }
      return "\(metrics.metrics[index].title): " + groups.map(names).joined(separator: ", then ")
    }
    return orders.isEmpty
      ? ""
      : "What can be concluded, best first (tied variants together): " + orders.joined(separator: "; ") + "."
  }

  private static let mostOpenQuestions = 4

  private var openQuestions: String {
    var questions: [String] = []
    var alike: [String] = []
    for index in headline {
      let tied = pairs[index].pairs.filter { !$0.differs && $0.pValue != nil }
      let open = tied.filter { $0.difference.mean != 0 || ($0.interval?.halfWidth ?? 0) > 0 }
      if !pairs[index].pairs.isEmpty, open.isEmpty, tied.count == pairs[index].pairs.count {
        alike.append(metrics.metrics[index].title)
      }
      questions += open.map { pair in
        let interval = MetricText.interval(
          metrics.metrics[index], pair.difference.mean, pair.interval?.halfWidth, isSigned: true)
        return
          "\(metrics.metrics[index].title) of \(name(pair.second)) against \(name(pair.first)) (\(interval))"
      }
    }
    var text = alike.isEmpty ? "" : "No difference with any seed: \(VerdictWording.list(alike))."
    if !questions.isEmpty {
      let shown = questions.prefix(Self.mostOpenQuestions).joined(separator: "; ")
      let rest = questions.count - Self.mostOpenQuestions
      text += text.isEmpty ? "" : " "
      text += "What cannot be concluded, because the paired interval contains 0: \(shown)"
      text += rest > 0 ? "; and \(rest) more." : "."
    }
    return text
  }

  private var unmet: [String] {
    comparison.unmet.map { precision in
      let asked: String
      switch precision.target {
      case .relative(let share): asked = "\(MetricText.plain(share * 100)) %"
      case .absolute(let width):
        asked = MetricCatalogue.metric(named: precision.metric).map { MetricText.value($0, width) } ?? ""
      }
      return
        "\(precision.metric) is not as precise as the \(asked) asked for after \(comparison.replications) replications."
    }
  }

  private var basis: String {
    let pairs = metrics.variants.count * (metrics.variants.count - 1) / 2
    var text =
      "From \(comparison.replications) replications (\(comparison.seedsText), the same for every variant)"
      + "; ± is half a 95 % interval"
    if pairs > 1 {
      text += ", of differences widened by Holm's procedure over the \(pairs) pairs of a metric"
    }
    return text + "."
  }
}
