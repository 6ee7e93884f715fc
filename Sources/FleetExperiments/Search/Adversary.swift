import FleetMetrics
import FleetStatistics
import ScenarioModel
import SimulationKernel

/// The question to an adversary.
package struct AdversaryStudy: Sendable {
  package var space: IncidentSpace
  /// The metric of the harm: the more, the worse, unless more is better.
  package var objective: Metric
  /// The limit that a run with an incident has to keep; a run that breaks it is hurt.
  package var limit: TuneConstraint
  /// Whether that is to be back within the time that every incident within the bounds leaves.
  package var isStandardLimit: Bool
  /// Whether nobody asked for another objective: then what is lost comes before it.
  package var isStandardObjective: Bool
  /// Seeds that decide on an incident; as many fresh ones confirm it.
  package var seeds: Int
  /// Runs at most, twins not counted.
  package var runs: Int

  package static let defaultRuns = 400
  package static let defaultSeeds = 5
  package static let standardObjective = MetricCatalogue.recovery
  /// The fewest runs for each seed that leave something to search with.
  package static let leastRunsPerSeed = 20

  /// - Parameter limit: nil: the standard one.
  package init(
    space: IncidentSpace, objective: Metric? = nil, limit: TuneConstraint? = nil, seeds: Int = defaultSeeds,
    runs: Int = defaultRuns
  ) throws(RangeProblem) {
    self.space = space
    self.objective = objective ?? MetricCatalogue.metric(named: Self.standardObjective)!
    isStandardObjective = objective == nil
    isStandardLimit = limit == nil
    if let limit {
      self.limit = limit
    } else {
      self.limit = try TuneConstraint("\(MetricCatalogue.recovery)<=\(Units.text(space.horizon))")
    }
    self.seeds = max(1, seeds)
    self.runs = max(runs, Self.leastRunsPerSeed * self.seeds)
  }

  /// The objective in one run, large where it hurts; a time from the end of the incident on is watched equally long of all.
  func harm(_ run: RunSummary) -> Double? {
    value(run).map { objective.direction == .higherIsBetter ? -$0 : $0 }
  }

  /// The criterion by which an incident is the worst.
  package var criterion: String {
    isStandardObjective ? "events lost, then \(objective.name)" : objective.name
  }

  /// Returns the events lost, in steps of the difference that a verdict counts, so that a stray one does not decide. The result
  /// is 0 where they have no say.
  fileprivate func lostSteps(_ ensemble: Ensemble) -> Double {
    guard isStandardObjective else { return 0 }
    let step = max(1, ensemble.meanCount { $0[.createdEvents] } / 10_000)
    return (ensemble.meanCount(\.lostOrBlockedEvents) / step).rounded()
  }

  func value(_ run: RunSummary) -> Double? {
    let value = objective.value(of: run)
    guard objective.horizon == "recovery_horizon_s" else { return value.restricted }
    return value.restricted.map { min($0, Double(space.horizon.microseconds) / 1e6) }
  }

  /// Whether the objective is a time that did not come within the run, or not within the time that all incidents have.
  func isCensored(_ run: RunSummary) -> Bool {
    switch objective.value(of: run) {
    case .none, .value: false
    case .time(let time, _):
      objective.horizon == "recovery_horizon_s" && time > Double(space.horizon.microseconds) / 1e6
    case .censored: true
    }
  }
}

/// How a fleet fares with an incident.
package struct IncidentStanding: Sendable {
  package let candidate: SearchCandidate
  fileprivate let ensemble: Ensemble
  /// How many of the runs broke the limit.
  package let broken: Int
  /// In how many of them the objective's time did not come.
  package let never: Int
  /// Mean of the objective over the runs that have one.
  package let value: Double?
  private let harm: Double
  private let lostSteps: Double

  package var seeds: Int { ensemble.runs.count }
  /// Means over the runs.
  package var lost: Double { ensemble.meanCount(\.lostOrBlockedEvents) }
  package var late: Double { ensemble.meanCount(\.lateEvents) }
  package var undelivered: Double { ensemble.meanCount(\.undeliveredEvents) }
  /// The same of the whole fleet, as people read them.
  var fullLost: Int64 { ensemble.fullCount(\.lostOrBlockedEvents) }
  var fullLate: Int64 { ensemble.fullCount(\.lateEvents) }
  var fullUndelivered: Int64 { ensemble.fullCount(\.undeliveredEvents) }
  package var herdFactor: Double? { ensemble.mean("herd_factor_ratio") }
  package var secondsAboveCapacity: Double { ensemble.meanCount(\.secondsAboveCapacity) }

  /// Whether more than half of the runs broke the limit.
  package var breaks: Bool { broken * 2 > seeds }

  /// By the objective, before which comes what is lost unless another was asked for; what is never back by what it does not deliver.
  func isWorse(than other: Self) -> Bool {
    (lostSteps, harm, undelivered) > (other.lostSteps, other.harm, other.undelivered)
  }

  init(_ candidate: SearchCandidate, _ runs: [RunSummary], study: AdversaryStudy) {
    self.candidate = candidate
    ensemble = Ensemble(runs)
    broken = runs.count { !study.limit.isKept(by: $0) }
    never = runs.count(where: study.isCensored)
    value = ensemble.mean(study.value)
    harm = ensemble.mean(study.harm) ?? -.infinity
    lostSteps = study.lostSteps(ensemble)
  }
}

/// Finds the incident within bounds that hurts a fleet most, and the shortest one that already breaks a limit.
///
/// For the worst, the longest and deepest of each kind and incidents spread over the bounds get one seed. Neighbours of the worst
/// so far follow, in smaller and smaller steps; the worst few get all seeds.
///
/// The shortest: whatever was found to break the limit is made shorter until it does not, by doubled steps and then halves. From
/// then on others are tried at a length one step (4 %) shorter than the shortest so far. They are its neighbours, each kind at
/// its deepest, and fresh ones. A run of one seed dismisses most of them. One that breaks the limit in most seeds is made shorter
/// in turn. An incident that breaks it is taken to do so if it is longer, too. In the end fresh seeds have their say. Where they
/// don't agree, the incident is made longer until most of them break the limit, and most of all.
package struct Adversary {
  private let study: AdversaryStudy
  private let runs: CandidateRuns
  private var space: IncidentSpace { study.space }
  private var race = Race()
  private var order: [SearchCandidate] { race.order }
  private var standings: [SearchCandidate: IncidentStanding] = [:]
  /// The longest length that an incident was seen to keep the limit with, by the rest of it.
  private var held: [SearchCandidate: Int] = [:]

  package init(_ study: AdversaryStudy, runs: CandidateRuns) {
    self.study = study
    self.runs = runs
  }

  /// Runs the whole search.
  /// - Returns: where its runs throw `CancellationError`, what was known then, if anything was.
  package mutating func run() throws -> AdversaryResult {
    try runs.make(requests(space.none, seeds: study.seeds))
    let plain = runs.ensemble(requests(space.none, seeds: study.seeds))?.runs ?? []
    var result = AdversaryResult(
      study: study, healthySeeds: plain.count(where: \.baselineIsHealthy),
      brokenWithout: plain.count { !study.limit.isKept(by: $0) })
    do {
      if result.isPossible { try search(&result) }
    } catch let error as CancellationError {
      if order.isEmpty { throw error }
      result.isFinished = false
    }
    result.standings = order.map(standing)
    result.runs = runs.counts
    return result
  }

  private mutating func search(_ result: inout AdversaryResult) throws {
    var worst = try findWorst(until: spent + (budget - spent) * 2 / 5)
    var shortest = try findShortest(worst)
    if shortest == nil {
      worst = try findWorst(until: budget)
      shortest = try findShortest(worst)
    }
    result.worst = try confirm(worst)
    if let shortest { (result.boundary, result.below) = try confirmShortest(shortest) }
  }

  // MARK: Runs

  private var spent: Int { runs.counts.made + runs.counts.readBack }
  /// The runs of the search, but for those that are kept for fresh seeds.
  private var budget: Int { study.runs - 10 * study.seeds }

  private mutating func evaluate(_ candidates: [SearchCandidate], seeds: Int) throws {
    // Where it is stopped, those whose runs are there count.
    defer {
      for candidate in candidates where standings[candidate]?.seeds ?? 0 < seeds {
        guard let ensemble = runs.ensemble(requests(candidate, seeds: seeds)) else { continue }
        if standings[candidate] == nil { race.order.append(candidate) }
        standings[candidate] = IncidentStanding(candidate, ensemble.runs, study: study)
      }
    }
    try runs.make(candidates.flatMap { requests($0, seeds: seeds) })
  }

  private func requests(_ candidate: SearchCandidate, seeds: Int) -> [CandidateRuns.Request] {
    (0..<seeds).map { .init(candidate: candidate, seed: $0) }
  }

  private func standing(_ candidate: SearchCandidate) -> IncidentStanding {
    standings[candidate] ?? IncidentStanding(candidate, [], study: study)
  }

  private mutating func fresh(_ count: Int) -> [SearchCandidate] {
    race.fresh(count, before: race.nextSpread + 20 * count) { [space] in
      space.spread($0, seed: space.scenario.seed)
    }
  }

  // MARK: The worst

  private static let batch = 12
  private static let finalists = 4

  private mutating func findWorst(until share: Int) throws -> SearchCandidate {
    try evaluate(Array(space.corners.prefix(max(1, share - spent))), seeds: 1)
    try evaluate(fresh(max(0, (share - spent) / 2)), seeds: 1)
    race.begin(space.grid, parts: 4)
    let finals = 2 * Self.finalists + (study.seeds - 2) * Self.finalists
    while spent < share - finals {
      let before = ranked(seeds: 1)
      let proposals = race.proposals(of: before, atMost: min(Self.batch, share - finals - spent)) {
        space.neighbours(of: $0, stride: $1)
      }
      if proposals.isEmpty, race.isNarrow { break }
      try evaluate(proposals, seeds: 1)
      if ranked(seeds: 1).first == before.first { race.narrow() }
    }
    if study.seeds > 2 {
      try evaluate(Array(ranked(seeds: 1).prefix(2 * Self.finalists)), seeds: 2)
    }
    try evaluate(Array(ranked(seeds: study.seeds > 2 ? 2 : 1).prefix(Self.finalists)), seeds: study.seeds)
    return ranked(seeds: study.seeds).first ?? space.none
  }

  /// Those that have so many seeds, the worst by these first.
  private func ranked(seeds: Int) -> [SearchCandidate] {
    func standing(_ candidate: SearchCandidate) -> IncidentStanding? {
      guard let standing = standings[candidate], standing.seeds >= seeds else { return nil }
      return IncidentStanding(candidate, Array(standing.ensemble.runs.prefix(seeds)), study: study)
    }
    return race.ranked(by: standing) { $0.isWorse(than: $1) }
  }

  // MARK: The shortest

  private func length(_ candidate: SearchCandidate) -> Int { space.index(.length, of: candidate) ?? 0 }

  private func atLength(_ step: Int, _ candidate: SearchCandidate) -> SearchCandidate {
    space.setting(.length, of: candidate, to: step)
  }

  /// Whether most seeds break the limit; no more are run than it takes to know.
  private mutating func breaks(_ candidate: SearchCandidate) throws -> Bool {
    let most = study.seeds / 2 + 1
    func decided() -> Bool? {
      let standing = standing(candidate)
      if standing.broken >= most { return true }
      return standing.seeds - standing.broken > study.seeds - most ? false : nil
    }
    for seeds in [1, most, study.seeds] where seeds <= study.seeds {
      if let decided = decided() {
        note(candidate, breaks: decided)
        return decided
      }
      try evaluate([candidate], seeds: seeds)
    }
    let answer = decided() ?? false
    note(candidate, breaks: answer)
    return answer
  }

  private mutating func note(_ candidate: SearchCandidate, breaks: Bool) {
    if breaks { return }
    let rest = space.setting(.length, of: candidate, to: nil)
    held[rest] = max(held[rest] ?? -1, length(candidate))
  }

  /// Whether it may break the limit, for all that is known of longer ones.
  private func isOpen(_ candidate: SearchCandidate) -> Bool {
    held[space.setting(.length, of: candidate, to: nil)] ?? -1 < length(candidate)
  }

  private mutating func findShortest(_ worst: SearchCandidate) throws -> SearchCandidate? {
    // Those that were seen to break it, the shortest first.
    let seen = order.enumerated().filter { standing($0.element).broken > 0 }
      .sorted { (length($0.element), $0.offset) < (length($1.element), $1.offset) }.map(\.element)
    var best: SearchCandidate?
    for candidate in seen.prefix(4) + [worst] where best == nil && spent < budget {
      if try breaks(candidate) { best = candidate }
    }
    guard var best else { return nil }
    best = try shortened(best)
    race.begin(space.grid, parts: 4)
    var idle = 0
    while spent < budget, length(best) > 0, idle < 6 {
      let target = length(best) - 1
      let batch = min(Self.batch, budget - spent)
      var proposed: Set<SearchCandidate> = []
      func choose(_ candidates: [SearchCandidate]) -> [SearchCandidate] {
        candidates.map { atLength(target, $0) }.filter { isOpen($0) && proposed.insert($0).inserted }
      }
      let near = choose(space.neighbours(of: best, stride: race.stride))
      var proposals = Array((near + choose(space.corners)).prefix(batch * 2 / 3))
      proposals += choose(fresh(batch - proposals.count))
      if proposals.isEmpty { break }
      try evaluate(proposals, seeds: 1)
      var isBeaten = false
      for candidate in proposals {
        if standing(candidate).broken == 0 {
          note(candidate, breaks: false)
        } else if !isBeaten, try breaks(candidate) {
          best = try shortened(candidate)
          isBeaten = true
        }
      }
      if isBeaten {
        idle = 0
      } else if near.allSatisfy({ !isOpen($0) }) {
        if race.isNarrow { idle += 1 }
        race.narrow()
      }
    }
    return best
  }

  /// As short as still breaks the limit, by doubled steps and then halves.
  private mutating func shortened(_ candidate: SearchCandidate) throws -> SearchCandidate {
    var (low, high, stride) = (-1, length(candidate), 1)
    while high - low > 1, spent < budget {
      let next = low < 0 ? max(high - stride, 0) : (low + high) / 2
      if try breaks(atLength(next, candidate)) {
        high = next
        stride *= 2
      } else {
        low = next
      }
    }
    return atLength(high, candidate)
  }

  // MARK: Fresh seeds

  private mutating func confirm(_ candidate: SearchCandidate) throws -> ConfirmedIncident {
    try evaluate([candidate], seeds: 2 * study.seeds)
    let all = standing(candidate)
    let fresh = Array(all.ensemble.runs.suffix(study.seeds))
    return ConfirmedIncident(standing: all, fresh: IncidentStanding(candidate, fresh, study: study))
  }

  /// Made longer until it is confirmed, or shorter as long as that is, with the one that is a step shorter.
  private mutating func confirmShortest(_ candidate: SearchCandidate) throws -> (
    ConfirmedIncident, ConfirmedIncident?
  ) {
    var shortest = try confirm(candidate)
    var below: ConfirmedIncident?
    var step = length(candidate)
    while !shortest.isConfirmed, step + 1 < space.lengths.count, spent + 4 * study.seeds <= study.runs {
      below = shortest
      step += 1
      shortest = try confirm(atLength(step, candidate))
    }
    if below != nil || step == 0 { return (shortest, below) }
    step -= 1
    var shorter = try confirm(atLength(step, candidate))
    while shortest.isConfirmed, shorter.isConfirmed, step > 0, spent + 2 * study.seeds <= study.runs {
      shortest = shorter
      step -= 1
      shorter = try confirm(atLength(step, candidate))
    }
    // The shortest of all has none below it.
    return shortest.isConfirmed && shorter.isConfirmed && step == 0 ? (shorter, nil) : (shortest, shorter)
  }
}

/// An incident with twice as many seeds as it was chosen by.
package struct ConfirmedIncident: Sendable {
  /// Over all of them.
  package var standing: IncidentStanding
  /// Over those on which no choice was based.
  package var fresh: IncidentStanding

  /// Whether most of the fresh seeds break the limit, and most of all: those that it was chosen by were lucky.
  package var isConfirmed: Bool { fresh.breaks && standing.breaks }
}

/// The findings of an adversary.
package struct AdversaryResult: Sendable {
  package var study: AdversaryStudy
  /// In how many seeds the fleet holds its load without any incident.
  package var healthySeeds: Int
  /// In how many seeds the limit is broken without the adversary.
  package var brokenWithout: Int
  package var worst: ConfirmedIncident?
  /// The shortest that breaks the limit; nil: none does.
  package var boundary: ConfirmedIncident?
  /// The same, a step shorter; nil: there is none.
  package var below: ConfirmedIncident?
  /// Every incident that was tried, in order.
  package var standings: [IncidentStanding] = []
  package var runs: (made: Int, readBack: Int) = (0, 0)
  /// Whether it came to its end; false: it was stopped, and only what was tried before says anything.
  package var isFinished = true

  /// Whether there is anything to find: most fleets hold without incidents, and most keep the limit without the adversary.
  package var isPossible: Bool { healthySeeds * 2 > study.seeds && brokenWithout * 2 <= study.seeds }
}
