import FleetMetrics

/// Why fleets do not hold even without any incident, in words.
package struct HealthWording: Sendable {
  /// The places that are unhealthy for the same reason: `its backlog or time to delivery grows over the run`.
  package let groups: [(places: [Int], reason: String)]

  /// - Parameter twins: of each place, over its seeds; the healthy ones among them have no say.
  package init(_ twins: [[BaselineHealth]]) {
    struct Kind: Hashable {
      var grows: Bool
      var cause: Measure?
    }
    let sums = twins.map { twins in
      twins.filter { !$0.isHealthy }.reduce(into: BaselineHealth()) { $0.add($1) }
    }
    let kinds = Dictionary(grouping: sums.enumerated().filter { !$0.element.isHealthy }) { _, sum in
      Kind(grows: sum.grows == true, cause: sum.losesEvents ? sum.mainCause : nil)
    }
    groups = kinds.sorted { $0.value[0].offset < $1.value[0].offset }.map { kind, found in
      var reasons = kind.grows ? ["its backlog or time to delivery grows over the run"] : []
      if let cause = kind.cause { reasons.append(Self.loss(found.map(\.element.lostShare), cause)) }
      return (found.map(\.offset), reasons.joined(separator: ", and "))
    }
  }

  /// Makes the wording of one fleet; empty if it is healthy.
  package init(_ twins: [BaselineHealth]) { self.init([twins]) }

  /// `this fleet does not hold even without any incident: it loses …`; nil where most of its twins do.
  package static func sentence(_ twins: [BaselineHealth]) -> String? {
    if twins.count(where: { !$0.isHealthy }) * 2 <= twins.count { return nil }
    return "this fleet does not hold even without any incident: \(HealthWording(twins).reason)"
  }

  /// The reason of the only fleet; empty if it is healthy.
  package var reason: String { groups.first?.reason ?? "" }

  /// `it loses 99.6 % of its events (1 % at most is healthy), most of them because of the answer's status`
  private static func loss(_ shares: [Double], _ cause: Measure) -> String {
    let (low, high) = (percent(shares.min() ?? 0), percent(shares.max() ?? 0))
    return
      "it loses \(low == high ? low : "\(low) to \(high)") of its events (1 % at most is healthy), most of them "
      + words(cause)
  }

  static func percent(_ share: Double) -> String {
    let text = MetricText.plain(share * 100)
    return text == "1" ? "just over 1 %" : text == "100" && share < 1 ? "nearly 100 %" : "\(text) %"
  }

  static func words(_ cause: Measure) -> String {
    switch cause {
    case .droppedByStatus: "dropped because of the answer's status"
    case .droppedByRetryLimit: "dropped at the batch's retry limit"
    case .droppedByRateLimitRetryLimit: "dropped at the global (429) retry limit"
    case .droppedByAge: "dropped because their batch had been failing for too long"
    case .droppedByOverflow: "dropped because the device's queue was full"
    case .refusedByGate: "refused by a gate"
    case .lostWithPage: "lost with the page that held them"
    case .blockedByStatus: "blocked because of the answer's status"
    case .blockedByRetryLimit: "blocked at the batch's retry limit"
    case .blockedByRateLimitRetryLimit: "blocked at the global (429) retry limit"
    case .blockedByAge: "blocked because their batch had been failing for too long"
    default: "for another cause"
    }
  }
}
