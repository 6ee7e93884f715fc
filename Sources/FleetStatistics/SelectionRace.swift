/// Finds the system with the lowest expected value, with as few runs as it can.
///
/// Every system meets the same draws, in the same order. All get a few. Each batch of further ones then goes where a wrong choice
/// is most probable. A rival needs draws in proportion to (standard deviation / distance)² of its difference to the best. The
/// best needs as many as any rival, since only draws that both have met count.
///
/// Source: C.-H. Chen, J. Lin, E. Yücesan, S. E. Chick, "Simulation budget allocation for further enhancing the efficiency of
/// ordinal optimization", Discrete Event Dynamic Systems 10 (2000): OCBA. For systems under common random numbers: M. C. Fu,
/// J.-Q. Hu, C.-H. Chen, X. Xiong, INFORMS Journal on Computing 19 (2007). The savings are measured in results/search.
public struct SelectionRace: Sendable {
  /// The draws of each system to begin with.
  public var first = 10
  /// Draws that there are for a system.
  public var most: Int
  /// Draws of all systems together.
  public var budget: Int
  /// The race is over when the choice is that sure; nil: when the budget is spent.
  public var confidence: Double? = 0.95
  /// The amount by which a system may be above the lowest and still count as near the best.
  public var tolerance = 0.0
  /// The race is over, too, when the choice is that sure to be near the best.
  public static let nearConfidence = 0.99

  public init(most: Int, budget: Int = .max) {
    self.most = most
    self.budget = budget
  }

  /// Draws `draws` of a system.
  public struct Request: Sendable, Hashable {
    public var system: Int
    public var draws: Range<Int>
  }

  public struct Outcome: Sendable {
    /// By system.
    public var values: [[Double]]
    public var chosen: Int
    public var posterior: SelectionPosterior
    /// Draws of all systems together.
    public var taken: Int { values.reduce(0) { $0 + $1.count } }
  }

  /// - Parameter systems: how many; one or more.
  /// - Parameter allowed: whether a system may be chosen, by how many draws it has had.
  /// - Parameter take: the values of the draws asked for, request by request.
  public func run(
    systems: Int, allowed: (_ system: Int, _ draws: Int) -> Bool = { _, _ in true },
    take: ([Request]) throws -> [[Double]]
  ) rethrows -> Outcome {
    var values: [[Double]] = Array(repeating: [], count: systems)
    func add(_ wanted: [Int]) throws {
      let requests = wanted.enumerated().compactMap { system, count in
        count > values[system].count ? Request(system: system, draws: values[system].count..<count) : nil
      }
      for (request, more) in zip(requests, try take(requests)) { values[request.system] += more }
    }
    let start = max(2, min(first, most, budget / systems))
    try add(Array(repeating: start, count: systems))
    var chosen = 0
    while true {
      let isAllowed = values.indices.map { allowed($0, values[$0].count) }
      if !isAllowed[chosen] { chosen = isAllowed.firstIndex(of: true) ?? chosen }
      // The choice is to have met what any rival has, if the budget is enough for that.
      var level = values.map(\.count)
      level[chosen] = level.max() ?? 0
      if level.reduce(0, +) > budget {
        return Outcome(values: values, chosen: chosen, posterior: posterior(values, chosen))
      }
      try add(level)
      let rivals = Differences(values, chosen: chosen)
      // A tie comes back through the covariances as a little more or less than 0, in both directions.
      let better = rivals.systems.indices.filter {
        rivals.means[$0] < -1e-9 * rivals.standardError($0) && isAllowed[rivals.systems[$0]]
      }
      if let first = better.min(by: { rivals.means[$0] < rivals.means[$1] }) {
        chosen = rivals.systems[first]
        continue
      }
      let wanted = next(rivals, values.map(\.count), chosen)
      if wanted == nil || isSure(rivals, values, chosen) {
        let sure = posterior(values, chosen)
        if wanted == nil || isSure(sure) {
          return Outcome(values: values, chosen: chosen, posterior: sure)
        }
      }
      try add(wanted ?? [])
    }
  }

  private func posterior(_ values: [[Double]], _ chosen: Int) -> SelectionPosterior {
    SelectionPosterior(values, chosen: chosen, tolerance: tolerance)
  }

  private func isSure(_ posterior: SelectionPosterior) -> Bool {
    guard let confidence else { return false }
    return posterior.best >= confidence || tolerance > 0 && posterior.near >= Self.nearConfidence
  }

  /// The same at a glance: no rival may be within 1.3 standard errors, or it is not worth a simulation.
  private func isSure(_ rivals: Differences, _ values: [[Double]], _ chosen: Int) -> Bool {
    if confidence == nil { return false }
    let isOpen = rivals.means.indices.contains {
      rivals.means[$0] + tolerance < 1.3 * rivals.standardError($0)
    }
    let contenders = Differences(contendersOf: values, chosen: chosen)
    return !isOpen && isSure(SelectionPosterior(contenders, tolerance: tolerance, samples: 600))
  }

  /// How many draws each is to have next; nil: nothing is left to give.
  private func next(_ rivals: Differences, _ counts: [Int], _ chosen: Int) -> [Int]? {
    let taken = counts.reduce(0, +)
    let step = min(max(counts.count, taken / 8), budget - taken)
    guard step > 0, !rivals.systems.isEmpty else { return nil }
    // A distance below its own error is not known: without a bound a tie would take everything.
    let need = rivals.systems.indices.map { i in
      let distance = max(abs(rivals.means[i]), rivals.standardError(i))
      return rivals.variances[i] / (distance * distance)
    }
    var wanted = counts
    var left = step
    while left > 0 {
      // The next draws go to the system with the least of its need. A rival that has met all draws of the best takes the best
      // along.
      let open = rivals.systems.indices.filter { wanted[rivals.systems[$0]] < most }
      guard
        let i = open.max(by: {
          need[$0] / Double(wanted[rivals.systems[$0]]) < need[$1] / Double(wanted[rivals.systems[$1]])
        })
      else { break }
      let system = rivals.systems[i]
      let takesBest = wanted[system] == wanted[chosen]
      if takesBest, left == 1 { break }
      wanted[system] += 1
      if takesBest { wanted[chosen] += 1 }
      left -= takesBest ? 2 : 1
    }
    return wanted == counts ? nil : wanted
  }
}
