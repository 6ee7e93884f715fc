import FleetMetrics

/// Why fleets do not hold even without any incident, in words.
package struct HealthWording: Sendable {
  /// The places that are unhealthy for the same reason.
  package struct Group: Sendable, Hashable {
    package var places: [Int]
    /// `its backlog or time to delivery grows over the run`
    package var reason: String

    package init(places: [Int], reason: String) { (self.places, self.reason) = (places, reason) }
  }

  package private(set) var groups: [Group] = []

  /// - Parameter twins: of each place, over its seeds; the healthy ones among them have no say.
  package init(_ twins: [[BaselineHealth]]) {
    struct Kind: Hashable {
      var grows: Bool
      var cause: Measure?
    }
    var kinds: [Kind] = []
    var members: [Kind: [(place: Int, health: BaselineHealth)]] = [:]
    for (place, twins) in twins.enumerated() {
      var sum = BaselineHealth()
      for twin in twins where !twin.isHealthy { sum.add(twin) }
      if sum.isHealthy { continue }
      let kind = Kind(grows: sum.grows, cause: sum.losesEvents ? sum.mainCause : nil)
      if members[kind] == nil { kinds.append(kind) }
      members[kind, default: []].append((place, sum))
    }
    groups = kinds.map { kind in
      let found = members[kind] ?? []
      var reasons = kind.grows ? ["its backlog or time to delivery grows over the run"] : []
      if let cause = kind.cause {
        reasons.append(Self.loss(found.map(\.health.lostShare), cause))
      }
      return Group(places: found.map(\.place), reason: reasons.joined(separator: ", and "))
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

  private static func percent(_ share: Double) -> String {
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
