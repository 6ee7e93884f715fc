import FleetStatistics

/// Systems whose expected values are known, from families that are hard in different ways.
struct PlantedSelection {
  enum Family: String, CaseIterable {
    case near, far, uneven, skewed, neighbours, unknown
    case oneGood = "one good"
    case crowded
  }

  /// Expected values.
  let means: [Double]
  private var slopes: [Double]
  private var deviations: [Double]
  private let common: Double
  private let family: Family
  private let seed: UInt64

  var best: Int { means.indices.min { means[$0] < means[$1] } ?? 0 }

  init(_ family: Family, seed: UInt64) {
    var random = Random(seed &* 7_919)
    let count = 3 + random.below(14)
    var means = (0..<count).map { _ in random.normal() }
    slopes = means.map { _ in 0 }
    deviations = means.map { _ in 1 }
    switch family {
    case .near: means = means.map { $0 * 0.15 }
    case .far: break
    case .uneven:
      means = means.map { $0 * 0.5 }
      deviations = deviations.map { _ in 0.3 + 2 * random.unit() * random.unit() }
    case .skewed: means = means.map { $0 * 0.4 }
    case .neighbours:
      means = means.indices.map { 0.3 * (means[$0] + means[max($0 - 1, 0)]) }
      slopes = means.indices.map { 2 * Double($0) / Double(count) }
    case .unknown:
      means = means.map { $0 * 0.4 }
      slopes = slopes.map { _ in random.normal() }
    case .oneGood:
      means = means.map { $0 * 0.05 }
      means[random.below(count)] -= 0.1 + 0.9 * random.unit()
    case .crowded: means = means.map { $0 * $0 * 0.5 }
    }
    self.means = means
    self.family = family
    common = family == .neighbours ? 0 : 3
    self.seed = random.bits()
  }

  /// What a system gives in a draw: what all have in common there, what the draw's unknown does to it, and noise of its own.
  func value(_ system: Int, _ draw: Int) -> Double {
    var shared = Random(seed &+ UInt64(draw) &* 1_000_003)
    let shift = common * shared.normal() + slopes[system] * (shared.unit() - 0.5) * 3.464
    var own = Random(seed &* 31 &+ UInt64(draw) &* 1_000_003 &+ UInt64(system + 1) &* 7_777_777)
    let noise =
      switch family {
      case .skewed: own.skewed()
      default: own.normal()
      }
    return means[system] + shift + deviations[system] * noise
  }

  func mean(_ system: Int, _ draws: Int) -> Double {
    (0..<draws).reduce(0) { $0 + value(system, $1) } / Double(draws)
  }

  private struct Random {
    private var source: SplitMix
    init(_ seed: UInt64) {
      source = SplitMix(state: seed)
      _ = source.next()
    }
    mutating func bits() -> UInt64 { source.next() }
    mutating func below(_ count: Int) -> Int { source.next(below: count) }
    mutating func unit() -> Double { (Double(source.next() >> 12) + 0.5) * 0x1p-52 }
    mutating func normal() -> Double { source.nextNormal() }
    /// A square of a normal value, less its mean, over its standard deviation.
    mutating func skewed() -> Double {
      let value = normal()
      return (value * value - 1) / 1.414
    }
  }
}

extension PlantedSelection {
  /// The race of `SelectionRace`.
  func race(_ race: SelectionRace) -> SelectionRace.Outcome {
    race.run(systems: means.count) { requests in
      requests.map { request in request.draws.map { value(request.system, $0) } }
    }
  }

  /// What remains in the end if the better half goes on at each round, each round with an equal part of the budget.
  func halved(budget: Int) -> Int {
    var field = Array(means.indices)
    var rounds = 0
    while 1 << rounds < field.count { rounds += 1 }
    var (draws, left) = (0, budget)
    for round in 0..<rounds {
      let more = left / (rounds - round) / field.count
      draws += more
      left -= more * field.count
      field = Array(sorted(field, draws).prefix((field.count + 1) / 2))
    }
    return field[0]
  }

  /// The same as `tune` does it without unknowns: draws double, a quarter and then a third goes on, down to four, which get the rest.
  func raced(budget: Int) -> Int {
    var fields = [means.count]
    while let last = fields.last, last > 4 { fields.append(max(4, last / (fields.count == 1 ? 4 : 3))) }
    var field = Array(means.indices)
    var (draws, used) = (0, 0)
    for (round, size) in fields.enumerated() {
      if round > 0 { field = Array(sorted(field, draws).prefix(size)) }
      let more = round == fields.count - 1 ? (budget - used) / size : max(1, draws)
      draws += more
      used += more * size
    }
    return sorted(field, draws)[0]
  }

  private func sorted(_ field: [Int], _ draws: Int) -> [Int] {
    field.map { ($0, mean($0, draws)) }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map(\.0)
  }
}
