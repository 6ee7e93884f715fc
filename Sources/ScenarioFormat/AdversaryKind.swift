import SimulationKernel
import TAPIModel

/// A kind of incident that a search may choose. They stand beside the kinds of a scenario, in IncidentKeys.swift.
package struct AdversaryKind: Sendable {
  /// What a search decides of an incident, beside when it is.
  package struct Choice: Sendable {
    /// Parts per million, 10,000 to 10^6.
    package var depth: Int64
    package var retryAfter: RetryAfterPolicy
    /// The shortest time-out of the fleet's clients.
    package var timeout: Span

    package init(depth: Int64, retryAfter: RetryAfterPolicy, timeout: Span) {
      self.depth = depth
      self.retryAfter = retryAfter
      self.timeout = timeout
    }
  }

  package let name: String
  /// What it does; of one with a depth, what the depth is a share of.
  package let meaning: String
  package let hasDepth: Bool
  package let hasRetryAfter: Bool
  /// Whether it is searched if nobody says otherwise: where the server or the way to it fails.
  package let isStandard: Bool
  package let incident: @Sendable (Choice) -> Incident.Kind

  init(
    _ name: String, _ meaning: String, hasDepth: Bool = false, hasRetryAfter: Bool = false,
    isStandard: Bool = true, incident: @escaping @Sendable (Choice) -> Incident.Kind
  ) {
    self.name = name
    self.meaning = meaning
    self.hasDepth = hasDepth
    self.hasRetryAfter = hasRetryAfter
    self.isStandard = isStandard
    self.incident = incident
  }

  package static let standard = all.filter(\.isStandard)
}

/// Names differ.
extension AdversaryKind: Hashable {
  package static func == (one: Self, other: Self) -> Bool { one.name == other.name }
  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
