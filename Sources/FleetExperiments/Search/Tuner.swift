import FleetMetrics
import FleetStatistics
import ScenarioModel
import SimulationKernel

/// Searches for better Settings by races of candidates under common random numbers.
///
/// Half and more of the candidates are spread over the space, the others lie round the best so far; all get one seed. Then the
/// field is thinned and the rest gets more seeds, until a few finalists are left. This is successive halving
/// (Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", 2016). Where a smaller
/// fleet keeps the answer the race is on that, and only the finalists have the whole one. The fleet's size is a resource as seeds
/// are (Li et al., "Hyperband", 2018). Every comparison is of runs with the same seeds and fleets. The best finalist that breaks
/// no requirement more often than today's and looks worse by no criterion of the verdict in any scenario wins. Then each key that
/// it changes is put back, and what makes no difference goes back for good. A `Decision` on fresh seeds has to confirm it; where
/// it does not, the next finalist is tried.
package struct Tuner {
  /// Returns a scenario of the study, by its place, with a candidate's Settings.
  package typealias Making = (SearchCandidate, _ place: Int) throws -> Scenario

  let study: TuneStudy
  /// Those that are compared, and those that need only tell whether they fail.
  private let runs: (compared: Runs<RunSummary>, alone: Runs<RunSummary>)
  private let scenario: Making
  /// In the order in which they were first tried.
  var order: [SearchCandidate] = []
  /// The place in the sequence of spread candidates behind which none was looked at.
  private var nextSpread = 0
  var standings: [SearchCandidate: Standing] = [:]
  private var all: [Standing] { order.compactMap { standings[$0] } }

  /// - Parameter failures: makes runs that need only tell whether they fail; nil: as all others.
  /// - Parameter scenario: what is run, with the seed of its first run, at full size.
  package init(
    _ study: TuneStudy, runs: Runs<RunSummary>, failures: Runs<RunSummary>? = nil, scenario: @escaping Making
  ) {
    (self.study, self.runs, self.scenario) = (study, (runs, failures ?? runs), scenario)
  }

  /// Runs the whole search.
  /// - Returns: where its runs throw `CancellationError`, what was known then, if anything was.
  package mutating func run() throws -> TuneResult {
    do {
      return try search()
    } catch let error as CancellationError {
      guard let best = ranked().first,
        let today = try standings(of: [study.space.today], study.raced.prefix(best.seeds), best.scale)[0]
      else { throw error }
      var result = result(today, best)
      result.isFinished = false
      return result
    }
  }

  /// Returns the best finalist without its idle keys, whatever fresh seeds would show; nil: today's Settings are as good.
  package mutating func best() throws -> SearchCandidate? {
    let (today, finalists) = try race()
    for finalist in finalists {
      if let winner = try winner(finalist, against: today) { return winner.candidate }
    }
    return nil
  }

  private mutating func search() throws -> TuneResult {
    let (today, finalists) = try race()
    let unmet = result(today, today).unmet
    var first: TuneResult?
    var tried: Set<SearchCandidate> = []
    for finalist in finalists where tried.count < TuneStudy.tries {
      guard let winner = try winner(finalist, against: today),
        unmet != nil || winner.keepsRequirements, tried.insert(winner.candidate).inserted
      else { continue }
      var result = result(today, winner)
      result.decision = try decision(on: winner.candidate, breaksAsToday: unmet != nil)
      if first == nil || result.isRecommended { first = result }
      if result.isRecommended { break }
    }
    // Today's Settings stay where nothing is better.
    return try finished(first ?? result(today, today))
  }

  /// Finds today's standing and the finalists, the best first.
  private mutating func race() throws -> (today: Standing, finalists: [Standing]) {
    try evaluate([], TuneStudy.found, study.raceScale)
    try explore()
    try refine()
    let finalists = try finalists()
    try evaluate([study.space.today], study.raced)
    return (standings[study.space.today]!, finalists.sorted { $0.isBetter(than: $1) })
  }

  /// A finalist without its idle keys; nil: it is not better than today's Settings.
  private func winner(_ finalist: Standing, against today: Standing) throws -> Standing? {
    guard finalist.candidate != today.candidate, finalist.violations <= today.violations,
      finalist.holdsEverywhere, finalist.isBetter(than: today)
    else { return nil }
    let winner = try withoutIdleKeys(finalist)
    return winner.candidate == today.candidate ? nil : winner
  }

  private func decision(on winner: SearchCandidate, breaksAsToday: Bool) throws -> Decision {
    var terms = study.terms
    terms.breaksAsToday = breaksAsToday
    var decision = Decision(try cases(winner, against: study.space.today), terms)
    try decision.run(runs.compared.valuesUntilCancelled, failures: runs.alone.valuesUntilCancelled)
    return decision
  }

  /// The scenarios with a candidate beside another.
  /// - Parameter seeds: those of the race whose runs they have.
  private func cases(
    _ candidate: SearchCandidate, against other: SearchCandidate, _ seeds: Range<Int> = 0..<0
  ) throws -> [Decision.Case] {
    let rows = try rows(of: [other, candidate], seeds)
    return try study.scenarios.enumerated().map { place, name in
      Decision.Case(
        name: name, phrase: study.scenarios.count > 1 ? name : "",
        scenarios: (try scenario(other, place), try scenario(candidate, place)),
        today: rows[0]?[place] ?? [], proposed: rows[1]?[place] ?? [])
    }
  }

  /// With what its keys are worth, and with what stands against what looks better.
  private mutating func finished(_ result: TuneResult) throws -> TuneResult {
    var result = result
    do {
      result.isFinished = result.decision?.isFinished ?? true
      result.effects = try effects(of: result.winner.candidate)
      if result.isToday { result.temptation = try temptation(result) }
      result.loss = try loss(result)
    } catch is CancellationError where result.isRecommended {
      // Fresh seeds have confirmed it.
    }
    result.runs = counts
    return result
  }

  private func result(_ today: Standing, _ winner: Standing) -> TuneResult {
    TuneResult(study: study, today: today, winner: winner, standings: all, runs: counts)
  }

  /// Runs made anew and runs found in the store, twins not counted.
  private var counts: (made: Int, readBack: Int) {
    let (all, alone) = (runs.compared.counts, runs.alone.counts)
    return runs.alone === runs.compared ? all : (all.made + alone.made, all.readBack + alone.readBack)
  }

  /// The candidate with the lowest score, against today's Settings; nil where none is better by it.
  private func temptation(_ result: TuneResult) throws -> (standing: Standing, decision: Decision)? {
    let most = result.finalists.map(\.seeds).max() ?? 0
    guard let best = result.finalists.filter({ $0.seeds == most }).min(by: { $0.score < $1.score }),
      best.score < -0.01
    else { return nil }
    let cases = try cases(best.candidate, against: study.space.today, study.raced.prefix(most))
    return (best, Decision(cases, study.terms))
  }

  /// What loses the events where a requirement on lost events cannot be met, with the candidate that comes nearest to it.
  private func loss(_ result: TuneResult) throws -> LossReport? {
    guard let unmet = result.unmet, study.requirements.contains(where: \.isOfLosses) else { return nil }
    let nearest =
      unmet.first { study.requirements[$0.requirement].isOfLosses }?.standing ?? result.winner
    let cases = try cases(nearest.candidate, against: study.space.today, study.raced.prefix(nearest.seeds))
    return LossReport(
      cases.map { Variant(name: $0.name, scenario: $0.scenarios.proposed) }, runs: cases.map(\.proposed))
  }

  // MARK: Rounds

  private mutating func explore() throws {
    let space = study.space
    let found =
      space.size <= study.candidates
      ? (0..<space.size).map(space.candidate).filter(study.isSensible)
      : fresh(max(study.candidates * 6 / 10, 1))
    try evaluate(found, TuneStudy.found, study.raceScale)
  }

  /// The next candidates of the spread sequence that have not been seen.
  private mutating func fresh(_ count: Int) -> [SearchCandidate] {
    let limit = count * 50 + order.count * 2
    var seen = Set(order)
    var found: [SearchCandidate] = []
    while found.count < count, nextSpread < limit {
      let candidate = study.space.spread(nextSpread, seed: study.seed)
      if study.isSensible(candidate), seen.insert(candidate).inserted { found.append(candidate) }
      nextSpread += 1
    }
    return found
  }

  /// Halves the field round by round, and gives the finalists whole fleets and all seeds.
  /// - Returns: the finalists: all candidates where there is a single round.
  private mutating func finalists() throws -> [Standing] {
    var candidates = order
    for round in study.rounds(first: order.count).dropFirst() {
      candidates = distinct(ranked()).prefix(round.candidates).map(\.candidate)
      try evaluate(candidates, 0..<round.seeds, round.scale)
    }
    return candidates.compactMap { standings[$0] }
  }

  private static let batch = 16
  /// So many of the best have neighbours tried.
  private static let elites = 4

  /// Tries the neighbours of the best, in smaller and smaller steps.
  private mutating func refine() throws {
    var stride = study.space.parameters.map { max(1, $0.values.count / 8) }
    while order.count < study.candidates {
      let ranked = ranked()
      let room = min(Self.batch, study.candidates - order.count)
      var seen = Set(order)
      let proposals = ranked.prefix(Self.elites).flatMap {
        study.space.neighbours(of: $0.candidate, stride: stride)
      }
      .filter { study.isSensible($0) && seen.insert($0).inserted }.prefix(room)
      if proposals.isEmpty, stride.allSatisfy({ $0 == 1 }) {
        let more = fresh(room)
        if more.isEmpty { return }
        try evaluate(more, TuneStudy.found, study.raceScale)
        continue
      }
      if !proposals.isEmpty { try evaluate(Array(proposals), TuneStudy.found, study.raceScale) }
      if self.ranked().first?.candidate == ranked.first?.candidate { stride = stride.map { max(1, $0 / 2) } }
    }
  }

  /// The candidates with most seeds, the best first.
  private func ranked() -> [Standing] {
    let most = all.map(\.seeds).max() ?? 0
    return all.filter { $0.seeds == most }.sorted { $0.isBetter(than: $1) }
  }

  /// Without those that gave the same figures as a better one: they differ in keys of no use.
  private func distinct(_ standings: [Standing]) -> [Standing] {
    var seen: Set<[[Double?]]> = []
    return standings.filter { seen.insert($0.values).inserted }
  }

  /// Gives candidates, and today's Settings, these seeds and no others.
  private mutating func evaluate(
    _ candidates: [SearchCandidate], _ seeds: Range<Int>, _ scale: Scaling = .whole
  ) throws {
    let found = try standings(of: [study.space.today] + candidates, seeds, scale)
    // Before the first round is over, a few are better than none; later they would not be the best of all.
    if !found.contains(where: { $0 == nil }) || order.isEmpty {
      for case let standing? in found.dropFirst() {
        if standings.updateValue(standing, forKey: standing.candidate) == nil {
          order.append(standing.candidate)
        }
      }
    }
    if found.contains(where: { $0 == nil }) { throw CancellationError() }
  }

  /// How candidates fare against today's Settings; nil where a run of either is missing.
  private func standings(
    of candidates: [SearchCandidate], _ seeds: Range<Int>, _ scale: Scaling
  ) throws -> [Standing?] {
    let rows = try rows(of: [study.space.today] + candidates, seeds, scale)
    return zip(candidates, rows.dropFirst()).map { candidate, own in
      guard let own, let today = rows[0] else { return nil }
      return Standing(candidate, own, today: today, scale: scale, study: study)
    }
  }

  /// How several fare with all seeds. They do not become candidates of the search.
  private func standings(of candidates: [SearchCandidate], _ scale: Scaling) throws -> [Standing] {
    let found = try standings(of: candidates, study.raced, scale).compactMap(\.self)
    if found.count < candidates.count { throw CancellationError() }
    return found
  }

  /// Makes the runs of candidates under some seeds, all together, so that they share workers.
  /// - Returns: of each candidate by scenario and seed; nil where it was stopped before.
  private func rows(
    of candidates: [SearchCandidate], _ seeds: Range<Int>, _ scale: Scaling = .whole
  ) throws -> [[[RunSummary]]?] {
    let asked = try candidates.flatMap { candidate in
      try study.scenarios.indices.flatMap { place in
        let scenario = scale.scaled(try scenario(candidate, place))
        return seeds.map { scenario.with(seed: scenario.seed &+ UInt64($0)) }
      }
    }
    var made = try runs.compared.valuesUntilCancelled(of: asked)[...]
    return candidates.map { _ in
      let rows = study.scenarios.map { _ in
        let row = made.prefix(seeds.count)
        made = made.dropFirst(seeds.count)
        return row.compactMap(\.self)
      }
      return rows.allSatisfy { $0.count == seeds.count } ? rows : nil
    }
  }

  // MARK: Idle keys

  /// The loss at which a change that is put back is still not worth having, as ln of the score.
  private static let negligible = 0.005

  /// Puts each changed key of the winner back, and leaves those there that make no difference. All of them go at once if that
  /// does no harm, else the one that matters least. The race's fleets, which cost less, say which keys to try without; the whole
  /// fleets have to agree.
  private func withoutIdleKeys(_ best: Standing) throws -> Standing {
    var winner = best
    winner.candidate = study.withoutUnchanged(best.candidate)
    let keys = winner.candidate.changed.filter { study.isSensible(winner.candidate.without([$0])) }
    let race = try standings(
      of: [winner.candidate] + keys.map { winner.candidate.without([$0]) }, study.raceScale)
    let idle = zip(keys, race.dropFirst()).filter { isHarmless($1, instead: race[0]) }
      .sorted { $0.1.cost < $1.1.cost }.map(\.0)
    for keys in [idle, Array(idle.prefix(1))] where !keys.isEmpty {
      let plainer = winner.candidate.without(keys)
      guard study.isSensible(plainer), let standing = try standings(of: [plainer], .whole).first,
        isHarmless(standing, instead: winner)
      else { continue }
      return standing
    }
    return winner
  }

  private func isHarmless(_ standing: Standing, instead winner: Standing) -> Bool {
    standing.violations <= winner.violations && standing.holdsEverywhere
      && standing.cost <= winner.cost + Self.negligible
  }

  /// Returns what each changed key is worth on the whole fleets.
  private func effects(of winner: SearchCandidate) throws -> [KeyEffect] {
    let others = winner.changed.map { winner.without([$0]) }
    let standings = try standings(of: [winner] + others, .whole)
    return try zip(winner.changed, standings.dropFirst()).map { key, without in
      KeyEffect(
        parameter: key, with: standings[0], without: without,
        decision: Decision(try cases(winner, against: without.candidate, study.raced), study.terms))
    }
  }
}

/// The effect of one changed key: the winner against the winner with this key as it is today.
package struct KeyEffect: Sendable {
  package var parameter: Int
  /// The winner, and the winner without the change, against today's Settings.
  package var with: Standing
  package var without: Standing
  /// The winner in place of that without the change.
  var decision: Decision

  /// The score with it, divided by that without.
  package var score: ScoreRatio {
    ScoreRatio(logsBySeed: zip(with.scoreBySeed, without.scoreBySeed).map { $0 - $1 })
  }
}

/// What a score is divided by another, under the same seeds; below 1 is better.
package struct ScoreRatio: Sendable {
  package let mean: Double
  /// The 95 % interval; nil with a single seed.
  package let interval: (low: Double, high: Double)?

  /// - Parameter log: ln of the ratio; nil: the mean over the seeds.
  init(_ log: Double? = nil, logsBySeed: [Double]) {
    let logs = SampleStatistics(logsBySeed)
    mean = DeterministicMath.exp(log ?? logs.mean)
    interval = ConfidenceInterval(logs).map {
      (DeterministicMath.exp($0.low), DeterministicMath.exp($0.high))
    }
  }

  /// `0.6 (0.55 to 0.66)`
  var text: String {
    Quantity.decimal(mean)
      + (interval.map { " (\(Quantity.decimal($0.low)) to \(Quantity.decimal($0.high)))" } ?? "")
  }
}

package struct TuneResult: Sendable {
  package var study: TuneStudy
  package var today: Standing
  /// Today's Settings if nothing better was found.
  package var winner: Standing
  /// Every candidate, in the order of the search.
  package let standings: [Standing]
  package var runs: (made: Int, readBack: Int)
  /// Whether fresh seeds, on which no choice was based, confirm the winner; nil: there is none, or it was stopped before.
  package var decision: Decision?
  package var effects: [KeyEffect] = []
  /// The candidate that is better by its score alone, against today's Settings; nil where something is found, or there is none.
  var temptation: (standing: Standing, decision: Decision)?
  /// What loses the events where a requirement on them cannot be met.
  package var loss: LossReport?
  /// Whether it came to its end; false: it was stopped. Then the best so far is the winner, and nothing is confirmed.
  package var isFinished = true

  /// The winner on fresh seeds, over as many as all scenarios have.
  package var fresh: Standing? {
    guard let cases = decision?.cases, let seeds = cases.map(\.pairs).min(), seeds > 0 else { return nil }
    return Standing(
      winner.candidate, cases.map { Array($0.proposed.prefix(seeds)) },
      today: cases.map { Array($0.today.prefix(seeds)) }, scale: .whole, study: study)
  }

  /// Its score on fresh seeds, divided by today's.
  package var freshScore: ScoreRatio? { fresh.map { ScoreRatio($0.score, logsBySeed: $0.scoreBySeed) } }

  /// The requirements that no finalist keeps in every run, nor today's Settings, each with the
  /// candidate that comes nearest. Empty: some keep each, none all together; nil: some keep all.
  package var unmet: [(requirement: Int, standing: Standing)]? {
    let all = finalists + [today]
    guard !study.requirements.isEmpty, !all.contains(where: \.keepsRequirements) else { return nil }
    return study.requirements.indices.compactMap { index in
      guard !all.contains(where: { $0.requirements[index].broken == 0 }) else { return nil }
      let reached = all.compactMap { standing in standing.requirements[index].worst.map { (standing, $0) } }
      return reached.min { $0.1.badness < $1.1.badness }.map { (index, $0.0) }
    }
  }

  /// The candidates that had the whole fleet.
  var finalists: [Standing] { standings.filter { $0.scale == .whole } }

  /// Whether there are Settings to publish.
  package var isRecommended: Bool { isFinished && decision?.outcome == .publish }

  /// Whether the search found nothing to change.
  package var isToday: Bool { winner.candidate.changed.isEmpty }

  /// Mean of ln(value / today's) over the scenarios, for each objective.
  package func coordinates(_ standing: Standing) -> [Double] {
    study.objectives.indices.map { o in
      standing.logRatios.compactMap { $0[o] }.mean ?? 0
    }
  }

  /// Positions in `standings` of the candidates that break no requirement and that no other such candidate beats in one
  /// objective without being beaten in another.
  package var front: [Int] {
    let points = standings.map { $0.violations == 0 ? coordinates($0) : nil }
    return points.indices.filter { i in
      guard let point = points[i] else { return false }
      return !points.contains { other in
        guard let other, other != point else { return false }
        return zip(other, point).allSatisfy { $0 <= $1 }
      }
    }
  }

  package func value(_ parameter: Int, of candidate: SearchCandidate) -> String {
    candidate.choices[parameter].map { study.space.parameters[parameter].values[$0] }
      ?? study.todaysValues[parameter] ?? "unchanged"
  }
}
