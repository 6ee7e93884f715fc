import FleetMetrics
import FleetStatistics
import ScenarioModel
import SimulationKernel

/// What a search for better Settings is asked.
package struct TuneStudy: Sendable {
  /// How the scores of several scenarios become one.
  package enum Across: String, Sendable, Hashable, CaseIterable {
    case mean, worst
  }

  package var space: SearchSpace
  /// Today's value of each parameter, as an override would write it; nil if that is not known.
  package var todaysValues: [String?]
  package var objectives: [TuneObjective]
  package var constraints: [TuneConstraint]
  /// Names of the scenarios.
  package var scenarios: [String]
  /// Width of a row of each scenario's time series, microseconds: what its verdict takes for equal.
  package var intervals: [Int64]
  /// Share of the events created that may be undelivered beyond today's.
  package var allowedLoss = 0.0
  /// Seeds of the finalists.
  package var seeds: Int
  package var finalists = 4
  package var across = Across.mean
  /// Of the draw of candidates.
  package var seed: UInt64 = 1
  /// Candidates of the first round.
  package var candidates = Self.defaultCandidates
  /// What candidates race on. The finalists, and all that is said of them, have the whole fleets.
  package var raceScale = Scaling.whole

  /// What is not known, draw by draw: `exploring` ones, then twice as many as there are seeds. Empty: everything is known.
  package var draws: [UncertainDraw] = []

  package static let defaultCandidates = 200
  package static let defaultSeeds = 10

  package init(
    space: SearchSpace, todaysValues: [String?], objectives: [TuneObjective], constraints: [TuneConstraint],
    scenarios: [String], intervals: [Int64] = [], seeds: Int
  ) {
    self.intervals = scenarios.indices.map { $0 < intervals.count ? intervals[$0] : 0 }
    self.space = space
    self.todaysValues = todaysValues
    self.objectives = objectives
    self.constraints = constraints
    self.scenarios = scenarios
    self.seeds = max(1, seeds)
  }

  /// Share of the events created that is no loss: one of 100,000.
  static let negligibleLoss = 1e-5

  /// By how much a setting may be worse than today's in one scenario and still hold there.
  package static let tolerance = 1.05

  // MARK: Unknowns

  package var isRobust: Bool { !draws.isEmpty }
  /// What runs are repeated over.
  package var repetition: String { isRobust ? "draw" : "seed" }
  /// Draws by which candidates are found.
  package static let exploring = 3
  /// Candidates of the race over draws, today's Settings not among them.
  package static let racing = 12
  package static let defaultDraws = 40
  /// With fewer there is no worst tenth.
  package static let fewestDraws = 10

  /// Draws by which candidates are found, those of the race, and fresh ones. Without unknowns the first seeds are among those
  /// of the race.
  var found: Range<Int> { isRobust ? 0..<Self.exploring : 0..<1 }
  var raced: Range<Int> { isRobust ? Self.exploring..<Self.exploring + seeds : 0..<seeds }
  var fresh: Range<Int> { raced.upperBound..<raced.upperBound + seeds }

  // MARK: Rounds

  /// Devices that a race has by default, if the scenarios have more and keep their answers with so few: `Tuning.md` has how
  /// close the scores are.
  package static let raceDevices = 5_000

  /// Seeds of each round, doubling up to those of the finalists.
  package var ladder: [Int] {
    var seeds = [1]
    while let last = seeds.last, last * 2 <= self.seeds / 2 { seeds.append(last * 2) }
    return self.seeds > 1 || raceScale != .whole ? seeds + [self.seeds] : seeds
  }

  /// What a round of the ladder runs on: the last one is the finalists'.
  func scale(round: Int) -> Scaling { round == ladder.count - 1 ? .whole : raceScale }

  /// Candidates of each round of the ladder, if the first has `first`.
  package func field(first: Int) -> [Int] {
    var field = [first]
    for round in ladder.indices.dropFirst() {
      let divisor = round == 1 ? 4 : 3
      field.append(
        round == ladder.count - 1
          ? min(finalists, first) : min(first, max(finalists, field[round - 1] / divisor)))
    }
    return field
  }

  /// Runs without twins, at most, if the first round has `first` candidates: the race, today's Settings, twice each
  /// key of the winner put back, and fresh seeds for both.
  ///
  /// - Parameter small: what a run on `raceScale` counts.
  package func runs(first: Int, small: Double = 1) -> Int {
    var perScenario: Double
    if isRobust {
      let racers = min(Self.racing, first) + 1
      let others = 2 * space.parameters.count + min(finalists, racers) + 1
      perScenario = Double(first * Self.exploring) * small + Double((racers + others) * seeds)
    } else {
      perScenario = Double((3 + 2 * space.parameters.count) * seeds)
      var before = (seeds: 0, scale: scale(round: 0))
      for (round, (count, seeds)) in zip(field(first: first), ladder).enumerated() {
        // Seeds on another scale are others.
        let scale = scale(round: round)
        let more = count * (scale == before.scale ? seeds - before.seeds : seeds)
        perScenario += Double(more) * (scale == .whole ? 1 : small)
        before = (seeds, scale)
      }
    }
    return Int((perScenario * Double(scenarios.count)).rounded(.up))
  }

  /// The most candidates that the budget is enough for; nil if it is not enough for `finalists`.
  ///
  /// - Parameter small: what a run on `raceScale` counts.
  package func candidates(budget: Int, small: Double = 1) -> Int? {
    var (low, high) = (0, Int(min(Double(budget) / min(small, 1), Double(space.size), 1e12)))
    while low < high {
      let middle = (low + high + 1) / 2
      if runs(first: middle, small: small) <= budget { low = middle } else { high = middle - 1 }
    }
    return low >= min(finalists, space.size) ? low : nil
  }
}

/// How a candidate fares against today's Settings under the same seeds.
package struct Standing: Sendable {
  package var candidate: SearchCandidate
  package var seeds: Int
  package var scale: Scaling
  /// Mean value for each scenario and objective; times up to the horizon, nil where no run has one.
  package var values: [[Double?]]
  /// Mean of ln(value / today's) for each scenario and objective; nil where neither has a value.
  package var logRatios: [[Double?]]
  /// ln of the score for each scenario: the weighted mean over the objectives.
  package var scenarioScores: [Double]
  /// ln of the score over all scenarios.
  package var score: Double
  /// The same for each seed.
  package var scoreBySeed: [Double]
  /// The same for each objective and seed, scenarios averaged.
  package var logRatioBySeed: [[Double]]
  /// Share of runs that did not recover or broke a constraint.
  package var violations: Double

  /// For each constraint, how its runs keep it.
  package var constraints: [ConstraintRecord]
  /// Whether each of its runs keeps each of them.
  package var keepsConstraints: Bool { constraints.allSatisfy { $0.broken == 0 } }

  /// The same as `violations` for each scenario, less today's share.
  package var violationsAgainstToday: [Double]

  /// For each scenario: by how much more is undelivered than today, as a share of the events created, beyond what is allowed.
  package var excessLoss: [Double]
  /// Whether that may be more than chance: without a test, or with a p value below 0.3.
  package var deliversLess: [Bool]
  /// What `compare` would say of it and today's Settings in each scenario.
  package var comparison: [Standings.Pair]

  /// What the race orders by, after `violations`: the score, and five times what a scenario loses beyond the tolerance.
  package var cost: Double { score + 5 * losses.reduce(0, +) }

  /// Whether it is in no scenario worse than today's: it recovers and keeps the constraints more often, or as often and with
  /// a score within the tolerance; it delivers no less; and `compare` doesn't rank it behind.
  package var holdsEverywhere: Bool {
    violationsAgainstToday.allSatisfy { $0 <= 0 } && !deliversLess.contains(true)
      && scoreLosses.allSatisfy { $0 == 0 } && !comparison.contains { $0.standing == .worse }
  }

  /// What each scenario loses beyond the tolerance, as ln of the score. Nothing where it recovers more often: not to recover
  /// costs few attempts.
  private var scoreLosses: [Double] {
    let limit = DeterministicMath.log(TuneStudy.tolerance)
    return zip(scenarioScores, violationsAgainstToday).map { $1 < 0 ? 0 : max(0, $0 - limit) }
  }

  /// The same with what it does not deliver, a thousandth of the events created being as bad as twice the score.
  private var losses: [Double] {
    zip(scoreLosses, excessLoss).map { $0 + DeterministicMath.log(1 + 1_000 * $1) }
  }

  /// 1 is as today; 0.5 half of it.
  package var ratio: Double { DeterministicMath.exp(score) }

  package func isBetter(than other: Standing) -> Bool {
    (violations, cost) < (other.violations, other.cost)
  }
}

extension Standing {
  init(
    _ candidate: SearchCandidate, _ own: [Ensemble], today: [Ensemble], scale: Scaling, study: TuneStudy
  ) {
    self.candidate = candidate
    self.scale = scale
    let seeds = own.first?.runs.count ?? 0
    self.seeds = seeds
    let objectives = study.objectives
    let weights = objectives.map(\.weight)
    // Scenario, objective, seed.
    let ratios = zip(own, today).map { own, today in
      objectives.map { objective in zip(own.runs, today.runs).map { objective.logRatio($0, to: $1) } }
    }
    func combined(_ scores: [Double]) -> Double {
      study.across == .mean ? scores.mean ?? 0 : scores.max() ?? 0
    }
    /// What a scenario has no value of, as without an incident a recovery, has no weight in it.
    func weighted(_ values: [Double?]) -> Double {
      var (sum, weight) = (0.0, 0.0)
      for case (let value?, let share) in zip(values, weights) {
        sum += value * share
        weight += share
      }
      return weight > 0 ? sum / weight : 0
    }
    logRatios = ratios.map { $0.map { $0.compactMap(\.self).mean } }
    values = own.map { own in objectives.map { own.mean($0.metric) } }
    scenarioScores = logRatios.map(weighted)
    score = combined(scenarioScores)
    scoreBySeed = (0..<seeds).map { k in combined(ratios.map { weighted($0.map { $0[k] }) }) }
    logRatioBySeed = objectives.indices.map { o in
      (0..<seeds).map { k in ratios.compactMap { $0[o][k] }.mean ?? 0 }
    }
    func bad(_ ensemble: Ensemble) -> Double {
      ensemble.share { run in !run.recovers || study.constraints.contains { !$0.isKept(by: run) } }
    }
    violations = own.map(bad).mean ?? 0
    constraints = study.constraints.map { ConstraintRecord($0, own) }
    violationsAgainstToday = zip(own, today).map { bad($0) - bad($1) }
    let undelivered = zip(own, today).map { own, today in
      PairedDifference(
        own.runs.map { Double($0.undeliveredEvents) },
        minus: today.runs.map {
          Double($0.undeliveredEvents) + study.allowedLoss * Double($0[.createdEvents])
        })
    }
    excessLoss = zip(undelivered, today).map { difference, today in
      let created = today.meanCount { $0[.createdEvents] }
      return created > 0 && difference.sample.count > 0 ? max(0, difference.mean / created) : 0
    }
    deliversLess = zip(undelivered, excessLoss).map {
      $1 > TuneStudy.negligibleLoss && ($0.pValue ?? 0) < 0.3
    }
    comparison = study.scenarios.indices.map { s in
      Standings(
        ["today", "new"], rows: [today[s].runs, own[s].runs], interval: study.intervals[s],
        metrics: MetricCatalogue.headline
      ).pair(1, against: 0)
    }
  }
}

/// A metric to make small (or large, if that is its better direction).
package struct TuneObjective: Sendable {
  package var metric: Metric
  package var weight: Double

  /// The verdict's metrics: undelivered events, recovery time, the affected events' p99, attempts above the twin's.
  package static let standard: [TuneObjective] =
    [
      MetricCatalogue.undelivered, MetricCatalogue.recovery, MetricCatalogue.affectedDelivery,
      MetricCatalogue.attemptsAboveTwin,
    ]
    .compactMap { MetricCatalogue.metric(named: $0) }.map { TuneObjective(metric: $0, weight: 1) }
}

extension TuneObjective {
  /// Reads `name` or `name:weight`.
  package init(_ text: String) throws(RangeProblem) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard (1...2).contains(parts.count), let metric = MetricCatalogue.metric(named: parts[0]) else {
      throw RangeProblem(
        "'\(text)' is no metric: an objective is a column of summary.csv that measures something, as "
          + "\(MetricCatalogue.timeToDelivery), and may have a weight, as \(MetricCatalogue.timeToDelivery):2."
      )
    }
    self.init(metric: metric, weight: 1)
    if parts.count == 2 {
      guard let quantity = Quantity(parts[1]), quantity.unit == .number, quantity.value > 0 else {
        throw RangeProblem("'\(parts[1])' in '\(text)' is no weight: write a number above 0.")
      }
      weight = quantity.value
    }
  }

  /// ln(value / reference), the other way round where more is better; nil where both have none. Who has a value where the other
  /// has none is e times as good.
  ///
  /// A floor is added to both, so that none against few does not become infinitely many times: of counts of events a thousandth of
  /// those created, of attempts above the twin's a tenth of the twin's, of times ten seconds.
  func logRatio(_ run: RunSummary, to reference: RunSummary) -> Double? {
    let (value, other) = (metric.value(of: run), metric.value(of: reference))
    if value == .none, other == .none { return nil }
    guard let value = value.restricted else { return 1 }
    guard let other = other.restricted else { return -1 }
    let floor = floor(reference)
    let (a, b) = (max(value, 0) + floor, max(other, 0) + floor)
    if a == b { return 0 }
    guard a > 0, b > 0 else { return a < b ? -1 : 1 }
    let ratio = DeterministicMath.log(a / b)
    return metric.direction == .higherIsBetter ? -ratio : ratio
  }

  private func floor(_ reference: RunSummary) -> Double {
    if metric.unit == "events" { return (reference.column("created_events") ?? 0) / 1_000 }
    if metric.unit == "s" { return 10 }
    guard metric.name == MetricCatalogue.attemptsAboveTwin else { return 0 }
    let days = (reference.column("duration_s") ?? 0) / 86_400
    let all = (reference.column(MetricCatalogue.attempts) ?? 0) * days
    return max(0.5, (all - (reference.column(metric.name) ?? 0)) / 10)
  }
}

/// What every run of a setting has to keep.
package struct TuneConstraint: Sendable {
  package var metric: Metric
  package var isUpper: Bool
  package var limit: Double
  package var text: String

  /// Reads `name<=value` or `name>=value`; times may have a unit.
  package init(_ text: String) throws(RangeProblem) {
    let upper = text.firstRange(of: "<=")
    guard let sign = upper ?? text.firstRange(of: ">=") else {
      throw RangeProblem("'\(text)' is no constraint: it is written as lost_events<=0 or drained_s<=20m.")
    }
    let name = String(text[..<sign.lowerBound])
    guard let metric = MetricCatalogue.metric(named: name) else {
      throw RangeProblem("'\(name)' in '\(text)' is no metric: a constraint is on a column of summary.csv.")
    }
    let value = String(text[sign.upperBound...])
    guard let quantity = Quantity(value),
      quantity.unit == .number || (quantity.unit == .span && metric.unit == "s")
    else {
      throw RangeProblem(
        "'\(value)' in '\(text)' is no limit: write a number"
          + (metric.unit == "s" ? ", or a span as 20m." : "."))
    }
    self.metric = metric
    isUpper = upper != nil
    limit = quantity.unit == .span ? quantity.value / 1e6 : quantity.value
    self.text = text
  }

  func isKept(by run: RunSummary) -> Bool {
    switch metric.value(of: run) {
    case .none: true
    case .value(let value), .time(let value, _): isUpper ? value <= limit : value >= limit
    case .censored(let horizon): isUpper ? false : horizon >= limit
    }
  }

  /// Whether `a` is nearer to the limit than `b`, or further inside it. A time that did not come is the longest.
  func isBetter(_ a: MetricValue, than b: MetricValue) -> Bool {
    let (x, y) = ((a.isCensored ? 1 : 0, a.restricted ?? 0), (b.isCensored ? 1 : 0, b.restricted ?? 0))
    return isUpper ? x < y : x > y
  }

  /// `1 min 10 s`; of a time that did not come `more than 8 min`.
  package func text(_ value: MetricValue) -> String {
    (value.isCensored ? "more than " : "") + MetricText.value(metric, value.restricted ?? 0)
  }
}

/// How the runs of a setting keep a constraint.
package struct ConstraintRecord: Sendable {
  /// Share of the runs that break it, the mean over the scenarios.
  package var broken: Double
  /// The value of the run that is furthest from keeping it; nil where no run has one.
  package var worst: MetricValue?

  /// - Parameter ensembles: by scenario.
  init(_ constraint: TuneConstraint, _ ensembles: [Ensemble]) {
    broken = ensembles.map { $0.share { !constraint.isKept(by: $0) } }.mean ?? 0
    worst = ensembles.flatMap(\.runs).map(constraint.metric.value(of:)).filter { $0 != .none }
      .max { constraint.isBetter($0, than: $1) }
  }
}

/// That nothing that was searched keeps all constraints.
package struct UnmetConstraints: Sendable {
  /// Whether that is so of all candidates, or of those that had all seeds.
  package var isOfAll: Bool
  /// Of how many it is so.
  package var count: Int
  /// The constraints that none of them keeps, each with the candidate whose worst run is nearest to it. Empty: each is kept by some
  /// of them, all together by none.
  package var best: [(constraint: Int, standing: Standing)]
}

extension TuneResult {
  /// Nil without constraints, and where a candidate or today's Settings keep all of them in every run of the search.
  package var unmetConstraints: UnmetConstraints? {
    guard !study.constraints.isEmpty else { return nil }
    let judged = standings.filter {
      $0.scale == .whole && $0.seeds >= (study.isRobust ? TuneStudy.fewestDraws : study.seeds)
    }
    guard !(judged + [today, winner]).contains(where: \.keepsConstraints) else { return nil }
    // What a part of a fleet reaches is no figure of the whole.
    let isOfAll = study.raceScale == .whole && !standings.contains(where: \.keepsConstraints)
    let field = (isOfAll ? standings : judged) + [today, winner]
    let best = study.constraints.indices.compactMap { index -> (Int, Standing)? in
      guard !field.contains(where: { $0.constraints[index].broken == 0 }) else { return nil }
      let reached = field.compactMap { standing in
        standing.constraints[index].worst.map { (standing, $0) }
      }
      return reached.min { study.constraints[index].isBetter($0.1, than: $1.1) }.map { (index, $0.0) }
    }
    return UnmetConstraints(isOfAll: isOfAll, count: isOfAll ? standings.count : judged.count, best: best)
  }
}
