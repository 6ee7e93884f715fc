import FleetStatistics
import SimulationKernel

extension Tuner {
  /// The race over what is not known: the best candidates so far and today's Settings meet the same draws, and more of them where a
  /// wrong choice is most probable (`SelectionRace`). The lowest expected score wins among those that hold everywhere.
  mutating func race() throws -> TuneResult {
    let today = study.space.today
    let field = [today] + distinct(ranked()).filter { $0 != today }.prefix(TuneStudy.racing)
    var race = SelectionRace(most: study.seeds)
    race.tolerance = DeterministicMath.log(TuneStudy.tolerance)
    let outcome = try race.run(systems: field.count) { system, draws in
      let standing = standings[field[system]]!
      return system == 0 || standing.violationsAgainstToday.reduce(0, +) <= 0 && standing.holdsEverywhere
    } take: { requests in
      let made = try standings(
        of: requests.map {
          (
            field[$0.system],
            study.raced.suffix(from: study.raced.lowerBound + $0.draws.lowerBound).prefix($0.draws.count)
          )
        })
      let all = try standings(
        of: requests.map { (field[$0.system], study.raced.prefix($0.draws.upperBound)) })
      for standing in all { standings[standing.candidate] = standing }
      return made.map(\.scoreBySeed)
    }
    let best = standings[field[outcome.chosen]]!
    let (winner, effects) = try putBack(best)
    let rivals = rivals(of: outcome.chosen, outcome.values).map { field[$0] }
    let others = rivals.filter { $0 != winner.candidate && $0 != today }
    let fresh = try standings(of: ([today, winner.candidate] + others).map { ($0, study.fresh) })
    // A key that was put back made no difference: the choice it is.
    var values = outcome.values
    values[outcome.chosen] = winner.scoreBySeed
    let robustness = Robustness(
      posterior: SelectionPosterior(values, chosen: outcome.chosen, tolerance: race.tolerance),
      racers: field.count, taken: outcome.taken, full: field.count * study.seeds,
      draws: Array(study.draws[study.fresh]), winner: fresh[1],
      others: winner.candidate == today ? Array(fresh.dropFirst(2)) : [fresh[0]] + fresh.dropFirst(2))
    var result = TuneResult(
      study: study, today: standings[today]!, winner: winner, confirmed: (fresh[0], fresh[1]),
      effects: effects,
      standings: order.compactMap { standings[$0] }, finalists: field.count, runs: maker.counts)
    result.robustness = robustness
    return result
  }

  /// Those that would gain most where the choice is not the best, draw by draw; each beside those before it.
  private func rivals(of chosen: Int, _ values: [[Double]]) -> [Int] {
    var lowest = values[chosen]
    var found: [Int] = []
    while found.count < study.finalists - 1 {
      func gain(_ system: Int) -> Double {
        zip(values[system], lowest).reduce(0) { $0 + max(0, $1.1 - $1.0) } / Double(values[system].count)
      }
      let open = values.indices.filter { $0 != chosen && !found.contains($0) && gain($0) > 0 }
      guard let next = open.max(by: { gain($0) < gain($1) }) else { break }
      found.append(next)
      for (draw, value) in values[next].enumerated() { lowest[draw] = min(lowest[draw], value) }
    }
    return found
  }
}
