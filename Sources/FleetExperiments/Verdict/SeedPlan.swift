import FleetStatistics

/// When verdicts have enough seeds, if nobody says how many: as soon as no criterion is open, or a budget of work is used up.
///
/// After so many seeds as `looks` says the verdict is looked at. If a criterion is open there are more seeds, up to the next
/// look, as far as the budget carries. The budget counts simulated attempts and not time, so every machine stops at the same
/// seed.
///
/// Frequent looks are more often misled by chance. The chance of an error is therefore divided by the number of looks
/// (Bonferroni). With `level` at each of six looks and by each of six criteria, two variants of one law seldom get a false
/// winner. They do in fewer than 4 % of the cases, at whichever look it ends. Source: C. Jennison and B. W. Turnbull, *Group
/// Sequential Methods with Applications to Clinical Trials* (2000), 2.1 and 7.2. O'Brien and Fleming's levels grow with the
/// looks. They would ask of 15 seeds what hardly any difference shows, and large differences are to be cheap.
package struct SeedPlan: Sendable, Hashable {
  /// Seeds at which it looks. They double, so that it ends with at most twice what was needed.
  ///
  /// Sixty are the first to exclude a failure in 5 % of the runs (59 without any). Fewer decide where runs do fail.
  package static let looks = [15, 30, 60, 120, 240, 480]

  /// How often a criterion may be told wrong at each look.
  package static let level = MetricRule.Level(difference: 0.001, equivalence: 0.008)

  package static let defaultBudget: Int64 = 20_000_000

  /// The most attempts to simulate, over all variants without twins. A first seed is always run.
  package var budget: Int64

  package init(budget: Int64 = defaultBudget) { self.budget = budget }

  /// `20M attempts`, as `--budget` takes it.
  package var budgetText: String {
    "\(FigureText.compact(Double(budget))) \(FigureText.noun("attempt", budget))"
  }

  /// Returns how many seeds there are to be at the next look; nil: there is none, or the budget has no room for it.
  /// - Parameter seeds: those that were run, at least 1.
  package func next(after seeds: Int, attempts: Int64) -> Int? {
    // Between two looks the budget has ended it.
    guard seeds == 1 || Self.looks.contains(seeds), let look = Self.looks.first(where: { $0 > seeds }) else {
      return nil
    }
    // So many in all as the budget has room for.
    let each = Double(attempts) / Double(max(seeds, 1))
    let next = each > 0 ? Int(min(Double(budget) / each, Double(look))) : look
    // Fewer than a quarter more tell nothing new.
    return next >= seeds + max(1, seeds / 4) ? next : nil
  }

  /// The conclusion from the seeds so far.
  package struct Decision: Sendable, Hashable {
    /// How many seeds there are to be before it looks again; nil: this was the last look.
    package var next: Int?
    /// Where criteria are open and there is no next look: about how many more seeds decide them.
    package var missing: Int?
    /// Whether no criterion is open.
    package var isDecided: Bool { next == nil && missing == nil }
  }

  /// More seeds than these are not told apart.
  package static let mostMissing = 10_000

  /// - Parameter standings: at `SeedPlan.level`.
  package func decision(_ standings: Standings, attempts: Int64) -> Decision {
    let (seeds, open) = (standings.seeds, standings.open)
    if open.isEmpty { return Decision() }
    if let next = next(after: max(seeds, 1), attempts: attempts) { return Decision(next: next) }
    let fewest = Double(Self.looks.first { $0 > seeds } ?? 2 * seeds)
    let needed = open.map { $0.seedsNeeded ?? fewest }.max() ?? fewest
    return Decision(missing: Self.rounded(needed - Double(seeds)))
  }

  /// What is open, and about how many more seeds would tell; nil where all is decided.
  /// - Parameter open: the undecided questions, in words.
  /// - Parameter scale: one of so many devices was simulated.
  package func text(_ decision: Decision, seeds: Int, open: [String], scale: Int64 = 1) -> String? {
    if decision.isDecided { return nil }
    let missing = decision.missing ?? 0
    let more =
      missing >= Self.mostMissing
      ? "more than \(FigureText.grouped(Int64(Self.mostMissing))) more seeds"
      : "about \(FigureText.count(missing, "more seed")): --seeds \(seeds + missing)"
        + (scale > 1 ? " --scale 1:\(scale)" : "")
    return "\(Story.list(open)); \(more)"
  }

  /// Up to two digits.
  static func rounded(_ seeds: Double) -> Int {
    guard seeds < Double(mostMissing) else { return mostMissing }
    let count = max(1, Int(seeds.rounded(.up)))
    var unit = 1
    while count / unit >= 100 { unit *= 10 }
    return (count + unit - 1) / unit * unit
  }
}

extension Standings {
  /// A criterion that is not known well enough, and about how many seeds would show it; nil: nobody can tell.
  package typealias Open = (criterion: Criterion, seedsNeeded: Double?)

  /// The questions that are not decided between the leaders and all others, by any criterion; of a single variant the figures
  /// that are not precise.
  ///
  /// Runs without any failure count as good only if they are so many that a failure in 5 % of them is excluded.
  package var open: [Open] {
    if seeds == 0 || !variants.indices.contains(where: isHealthy) { return [] }
    if variants.count == 1 { return openOfOne }
    // Variants that differ in nothing under so many seeds do not differ.
    if areAllTheSame { return seeds < SeedPlan.looks[0] ? [(.failures, nil)] : [] }
    var open: [Open] = []
    for leader in leaders {
      for other in variants.indices where other != leader && !(other < leader && leaders.contains(other)) {
        open += self.open(leader, other)
      }
      if let needed = seedsForFailures(leader) { open.append((.failures, needed)) }
    }
    return open
  }

  private func open(_ first: Int, _ second: Int) -> [Open] {
    if standing(of: second, to: first, on: .health).isDecided { return [] }
    return criteria(first, second).compactMap { criterion in
      let finding = finding(of: second, to: first, on: criterion)
      return finding.standing == .undecided ? (criterion, finding.seedsNeeded(of: seeds, at: level)) : nil
    }
  }

  /// How many seeds exclude a failure in 5 % of the runs, of a variant without one; nil if these do.
  private func seedsForFailures(_ variant: Int) -> Double? {
    let count = runs[variant].count
    let needed = ExactBinomial.trials(excluding: MetricRule.relevantRisk)
    return count < needed && !runs[variant].contains(where: \.fails) ? Double(needed) : nil
  }

  /// The metrics of a variant alone whose means have to be known. The verdict ranks on them; undelivered events are left out,
  /// whose share of nearly nothing never becomes precise.
  private static let metricsOfOne = [
    MetricCatalogue.recovery, MetricCatalogue.affectedDelivery, MetricCatalogue.attempts,
  ]

  /// The share of failing runs within 5 %, and the means of `metricsOfOne` within what matters.
  private var openOfOne: [Open] {
    var open: [Open] = []
    let risk = MetricRule.relevantRisk
    let (failures, count) = (runs[0].count(where: \.fails), runs[0].count)
    let low = ExactBinomial.lowerBound(of: failures, in: count)
    let high = ExactBinomial.upperBound(of: failures, in: count)
    let isMixed = failures > 0 && failures < count
    if high > risk, low < 1 - risk, !isMixed || high - low > 2 * risk {
      let ratio = (high - low) / (2 * risk)
      open.append(
        (.failures, isMixed ? Double(count) * ratio * ratio : Double(ExactBinomial.trials(excluding: risk))))
    }
    for name in Self.metricsOfOne {
      guard let index = metrics.index(of: name),
        metrics.sample(index, variant: 0).count > 0, metrics.share(index, variant: 0)?.successes != 0
      else { continue }
      let estimate = metrics.estimate(index, variant: 0)
      if estimate.method == .constant { continue }
      let share = MetricRule.relevantShare
      let limit = max(share / (1 + share) * abs(estimate.mean), floor(index, 0, 0))
      let ratio = estimate.halfWidth.map { limit > 0 ? $0 / limit : 0 }
      guard ratio.map({ $0 > 1 }) ?? true else { continue }
      open.append((.metric(index), ratio.map { Double(count) * $0 * $0 }))
    }
    return open
  }
}
