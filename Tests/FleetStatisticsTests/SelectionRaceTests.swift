import FleetStatistics
import Foundation
import TestSupport
import Testing

@Suite("Choosing the best of several systems")
struct SelectionRaceTests {
  /// Problems of every family in turn; many more with FLEETSIM_PLANTED, for `experiments/search/calibration.sh`.
  static let problems =
    ProcessInfo.processInfo.environment["FLEETSIM_PLANTED"].flatMap { Int($0) }
    ?? TestDepth.cases(160, exhaustively: 300)

  private static func planted(_ number: Int) -> PlantedSelection {
    let families = PlantedSelection.Family.allCases
    return PlantedSelection(families[number % families.count], seed: UInt64(number + 1))
  }

  private struct Group {
    var stated = 0.0
    var right = 0
    var count = 0

    mutating func add(_ probability: Double, _ isRight: Bool) {
      stated += probability
      right += isRight ? 1 : 0
      count += 1
    }

    var mean: Double { stated / Double(max(count, 1)) }
    var share: Double { Double(right) / Double(max(count, 1)) }
    /// Of the share, if what is stated holds.
    var error: Double { (mean * (1 - mean) / Double(max(count, 1))).squareRoot() }
    var cells: String { String(format: "%d | %.1f %% | %.1f %%", count, 100 * mean, 100 * share) }
  }

  @Test("of the choices said to be 95 % sure, 92 to 98 % are right; and so with what is said of the others")
  func calibrated() {
    var tenths = Array(repeating: Group(), count: 10)
    var sure = Group()
    var families = Array(repeating: Group(), count: PlantedSelection.Family.allCases.count)
    var (taken, all) = (0, 0)
    for number in 0..<Self.problems {
      let planted = Self.planted(number)
      let budget = planted.means.count * 60
      let outcome = planted.race(SelectionRace(most: .max, budget: budget))
      let (stated, isRight) = (outcome.posterior.best, outcome.chosen == planted.best)
      tenths[min(Int(stated * 10), 9)].add(stated, isRight)
      if stated >= 0.95 {
        sure.add(stated, isRight)
        families[number % families.count].add(stated, isRight)
        taken += outcome.taken
        all += budget
      }
    }
    #expect((0.92...0.98).contains(sure.share), "\(sure)")
    #expect(abs(sure.share - sure.mean) < 2.6 * sure.error, "\(sure)")
    #expect(Double(taken) < 0.6 * Double(all))
    for group in tenths where group.count > 20 {
      #expect(abs(group.share - group.mean) < 0.05 + 3 * group.error, "\(group)")
    }
    guard ProcessInfo.processInfo.environment["FLEETSIM_PLANTED"] != nil else { return }
    for (tenth, group) in tenths.enumerated() {
      print("PLANTED tenths | \(tenth * 10) to \(tenth * 10 + 10) % | \(group.cells) |")
    }
    print("PLANTED tenths | **95 % and more** | \(sure.cells) |")
    print("PLANTED taken \(100 * taken / max(all, 1))")
    for (family, group) in zip(PlantedSelection.Family.allCases, families) {
      print("PLANTED families | \(family.rawValue) | \(group.cells) |")
    }
  }

  @Test("for the same draws the best is missed less often than by races that halve the field")
  func fewerWrong() {
    var wrong = (race: 0, halved: 0, raced: 0, equal: 0)
    for number in 0..<Self.problems {
      let planted = Self.planted(number)
      let budget = planted.means.count * 24
      var race = SelectionRace(most: .max, budget: budget)
      race.confidence = nil
      race.first = 8
      let outcome = planted.race(race)
      #expect(outcome.taken <= budget)
      let means = planted.means.indices.map { planted.mean($0, 24) }
      let best = planted.best
      if outcome.chosen != best { wrong.race += 1 }
      if planted.halved(budget: budget) != best { wrong.halved += 1 }
      if planted.raced(budget: budget) != best { wrong.raced += 1 }
      if means.indices.min(by: { means[$0] < means[$1] }) != best { wrong.equal += 1 }
    }
    #expect(Double(wrong.race) < 0.9 * Double(wrong.raced), "\(wrong)")
    #expect(Double(wrong.race) < 1.03 * Double(wrong.halved), "\(wrong)")
    guard ProcessInfo.processInfo.environment["FLEETSIM_PLANTED"] != nil else { return }
    print(
      "PLANTED wrong | \(Self.problems) | \(wrong.race) | \(wrong.raced) | \(wrong.halved) | \(wrong.equal) |"
    )
  }

  @Test("what is plain is sure, what is a tie is even, and a copy of the choice is no rival")
  func plain() {
    let noise = (0..<20).map { Double(($0 * 7_919) % 101) / 101 }
    let other = (0..<20).map { Double(($0 * 104_729) % 97) / 97 }
    let behind = SelectionPosterior([noise, other.map { $0 + 5 }, noise], chosen: 0)
    #expect(behind.best > 0.999 && behind.near == behind.best)
    let ahead = SelectionPosterior([noise, other.map { $0 - 5 }, noise], chosen: 0)
    #expect(ahead.best < 0.001)
    // Half of the draws as much above as the other half is below.
    let tie = SelectionPosterior([noise, noise.enumerated().map { $1 + ($0 % 2 == 0 ? 1 : -1) }], chosen: 0)
    #expect(abs(tie.best - 0.5) < 0.05)
    let near = SelectionPosterior(
      [noise, noise.enumerated().map { $1 + ($0 % 2 == 0 ? 1 : -1) }], chosen: 0, tolerance: 2)
    #expect(near.best == tie.best && near.near > 0.99)
    #expect(SelectionPosterior([noise, noise], chosen: 1).best == 1)
    #expect(SelectionPosterior([noise, noise.map { $0 + 1 }], chosen: 0).best > 0.999)
    #expect(SelectionPosterior([noise, noise.map { $0 - 1 }], chosen: 0).best < 0.001)
  }

  @Test("a race in which two systems tie ends")
  func ties() {
    // The first and the last have the same sum, of which rounding in the covariances makes a little more or less.
    let draws: [[Double]] = [
      [0, 2, 5, 8, 2, 6, 0, 8, 6, 1], [2, 7, 3, 7, 8, 8, 2, 7, 7, 9], [8, 2, 0, 8, 1, 5, 2, 4, 6, 2],
    ]
    var asked = 0
    let outcome = SelectionRace(most: 10, budget: 30).run(systems: 3) { _, _ in
      asked += 1
      // A race that never ends would ask for ever.
      return asked < 10_000
    } take: { requests in
      requests.map { Array(draws[$0.system][$0.draws]) }
    }
    #expect(asked < 10_000 && outcome.chosen != 1)
  }

  @Test("what may not be chosen is not chosen, and a race without draws left ends")
  func limits() {
    var race = SelectionRace(most: 12, budget: .max)
    race.confidence = nil
    let outcome = race.run(systems: 3) { system, _ in
      system != 0
    } take: { requests in
      requests.map { request in
        request.draws.map { Double(request.system) + Double(($0 * 7_919 + request.system) % 13) / 100 }
      }
    }
    #expect(outcome.chosen == 1)
    #expect(outcome.values.allSatisfy { $0.count <= 12 })
    let one = race.run(systems: 1) { requests in requests.map { $0.draws.map { _ in 1 } } }
    #expect(one.chosen == 0 && one.posterior.best == 1)
  }
}
