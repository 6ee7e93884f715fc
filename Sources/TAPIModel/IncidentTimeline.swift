import SimulationKernel

/// The incidents as a step function of time: between two boundaries the server's condition does not change.
public struct IncidentTimeline: Sendable {
  /// What holds from `start` to the next condition's start.
  public struct Condition: Sendable {
    public var start: Instant
    /// The outage that is on, if any.
    public var outage: Incident?
    /// Whether queued and running work is lost as this condition starts.
    public var losesWork: Bool
    /// Capacity factor of the brownouts that are on, parts per million.
    public var factor: Int64
  }

  public let conditions: [Condition]

  /// - Complexity: O(n²) in the number of incidents, once a run.
  public init(_ incidents: [Incident]) {
    let boundaries = Set(incidents.flatMap { [$0.start, $0.end] } + [.start]).sorted()
    conditions = boundaries.map { time in
      let active = incidents.filter { $0.start <= time && time < $0.end }
      var outage: Incident?
      var losesWork = false
      var factor: Int64 = 1_000_000
      for incident in active {
        switch incident.kind {
        case .outage(_, _, let keepsWork):
          outage = incident
          if incident.start == time && !keepsWork { losesWork = true }
        case .brownout(let parts):
          factor = factor * parts / 1_000_000
        case .cdnOutage:
          break
        }
      }
      return Condition(start: time, outage: outage, losesWork: losesWork, factor: factor)
    }
  }

  /// Capacity over [`from`, `to`), as microseconds' worth of nominal capacity; nothing during an outage.
  public func capacityMicroseconds(from: Instant, to: Instant) -> Int64 {
    var sum: Int64 = 0
    for (i, condition) in conditions.enumerated() where condition.outage == nil {
      let start = max(condition.start, from)
      let end = i + 1 < conditions.count ? min(conditions[i + 1].start, to) : to
      if end > start {
        sum +=
          (end - start).microseconds / 1_000 * condition.factor / 1_000
          + (end - start).microseconds % 1_000 * condition.factor / 1_000_000
      }
    }
    return sum
  }
}
