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
    /// Capacity factor of the brownouts and warm-ups that are on, parts per million.
    public var factor: Int64
    /// What goes wrong with single requests.
    var faults = RequestFaults()
  }

  public let conditions: [Condition]

  /// A warm-up rises in so many steps.
  static let warmUpSteps: Int64 = 100

  /// - Complexity: O(n²) in the number of incidents, once a run.
  public init(_ incidents: [Incident]) {
    let ends = incidents.flatMap { [$0.start, $0.end] + $0.warmUpBoundaries }
    let boundaries = Set(ends + [.start]).sorted()
    conditions = boundaries.map { time in
      var condition = Condition(start: time, outage: nil, losesWork: false, factor: 1_000_000)
      for (number, incident) in incidents.enumerated() where incident.start <= time {
        if time < incident.end {
          condition.add(incident, number: number)
        } else if time < incident.end + incident.warmUp {
          condition.factor = condition.factor * incident.warmUpFactor(at: time) / 1_000_000
        }
      }
      return condition
    }
  }

  /// Capacity over [`from`, `to`), as microseconds' worth of nominal capacity; nothing during an outage.
  public func capacityMicroseconds(from: Instant, to: Instant) -> Int64 {
    var sum: Int64 = 0
    var i = max(firstCondition(after: from) - 1, 0)
    while i < conditions.count, conditions[i].start < to {
      let condition = conditions[i]
      i += 1
      if condition.outage != nil { continue }
      let start = max(condition.start, from)
      let end = i < conditions.count ? min(conditions[i].start, to) : to
      if end > start {
        sum +=
          (end - start).microseconds / 1_000 * condition.factor / 1_000
          + (end - start).microseconds % 1_000 * condition.factor / 1_000_000
      }
    }
    return sum
  }

  /// Until when a server under these incidents and one under others have done the same; `.never` if they always do.
  package func commonUntil(_ other: IncidentTimeline) -> Instant {
    for (mine, its) in zip(conditions, other.conditions) where !mine.isSame(as: its) {
      return min(mine.start, its.start)
    }
    let longer = conditions.count > other.conditions.count ? conditions : other.conditions
    let both = min(conditions.count, other.conditions.count)
    return both < longer.count ? longer[both].start : .never
  }

  private func firstCondition(after time: Instant) -> Int {
    var (low, high) = (0, conditions.count)
    while low < high {
      let middle = (low + high) / 2
      if conditions[middle].start <= time { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// What incidents do to single requests.
struct RequestFaults: Sendable, Hashable {
  struct Errors: Sendable, Hashable {
    var status: Int
    /// Parts per million.
    var share: Int64
    var afterWork: Bool
    var retryAfter: RetryAfterPolicy
  }
  struct Latency: Sendable, Hashable {
    var added: Sampler
    var factor: Int64
  }
  var errors: Errors?
  /// Parts per million.
  var lostAnswers: Int64 = 0
  var latency: Latency?
  /// The number of the incident in which tokens expired.
  var tokenExpiry: Int?

  var areNone: Bool { self == RequestFaults() }
}

extension IncidentTimeline.Condition {
  /// Whether a server does the same from its start on. Of an outage only what it answers counts, not when it ends.
  fileprivate func isSame(as other: Self) -> Bool {
    start == other.start && outage?.kind == other.outage?.kind && losesWork == other.losesWork
      && factor == other.factor && faults == other.faults
  }

  fileprivate mutating func add(_ incident: Incident, number: Int) {
    switch incident.kind {
    case .outage(_, _, let keepsWork):
      outage = incident
      if incident.start == start && !keepsWork { losesWork = true }
    case .brownout(let parts):
      factor = factor * parts / 1_000_000
    case .cdnOutage:
      break
    case .errors(let status, let share, let afterWork, let retryAfter):
      faults.errors = .init(status: status, share: share, afterWork: afterWork, retryAfter: retryAfter)
    case .lostAnswers(let share):
      faults.lostAnswers = share
    case .latency(let added, let factor):
      faults.latency = .init(added: Sampler(added), factor: factor)
    case .tokenExpiry:
      faults.tokenExpiry = number
    }
  }
}

extension Incident {
  private func warmUpBoundary(_ step: Int64) -> Instant {
    let part = warmUp.microseconds.multipliedFullWidth(by: step)
    return end + Span(microseconds: IncidentTimeline.warmUpSteps.dividingFullWidth(part).quotient)
  }

  fileprivate var warmUpBoundaries: [Instant] {
    warmUp > .zero ? (1...IncidentTimeline.warmUpSteps).map(warmUpBoundary) : []
  }

  /// In the middle of the step that `time` lies in.
  fileprivate func warmUpFactor(at time: Instant) -> Int64 {
    let steps = IncidentTimeline.warmUpSteps
    var step: Int64 = 0
    while step + 1 < steps, warmUpBoundary(step + 1) <= time { step += 1 }
    return (2 * step + 1) * 1_000_000 / (2 * steps)
  }
}
