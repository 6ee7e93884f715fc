import SimulationKernel

/// Incidents and operators' actions as a step function of time: between two boundaries the server's condition does not change.
public struct IncidentTimeline: Sendable {
  /// The server's condition from `start` to the next condition's start.
  public struct Condition: Sendable {
    public var start: Instant
    /// The outage that is on, if any.
    public var outage: Incident?
    /// Whether queued and running work is lost as this condition starts.
    public var losesWork: Bool
    /// Capacity factor of the brownouts and warm-ups that are on, parts per million.
    public var factor: Int64
    /// The factor that actions put on the bucket's rate or the number of workers, parts per million.
    public var scale: Int64 = 1_000_000
    /// The policy that an action sets for every Retry-After but those of key limits; nil: no action sets one.
    var retryAfter: RetryAfterPolicy?
    /// Whether an outage of the Settings' CDN is on.
    var isCDNDown = false
    /// The faults of single requests.
    var faults = RequestFaults()
    /// The largest share of any requests that is refused at the door.
    public var shedShare: Double { Double(faults.sheddings.map { $0.share }.max() ?? 0) / 1e6 }
  }

  public let conditions: [Condition]
  /// As configured; nil of a bucket.
  private var workers: Int?

  /// A warm-up rises in so many steps, and so does a readmission.
  static let rampSteps: Int64 = 100

  public init(_ configuration: TAPIConfiguration) {
    self.init(configuration.incidents, configuration.actions)
    if case .workers(let settings) = configuration.server { workers = settings.count }
  }

  /// - Complexity: O(n²) in the number of incidents and actions, once a run.
  public init(_ incidents: [Incident], _ actions: [ServerAction] = []) {
    let actionEnds = actions.ends
    var times: Set<Instant> = [.start]
    for incident in incidents {
      times.formUnion([incident.start, incident.end] + incident.warmUpRamp.boundaries)
    }
    for (action, end) in zip(actions, actionEnds) {
      times.formUnion([action.start, end] + action.ramp.boundaries)
    }
    let boundaries = times.subtracting([.never]).sorted()
    conditions = boundaries.map { time in
      var condition = Condition(start: time, outage: nil, losesWork: false, factor: 1_000_000)
      for (number, incident) in incidents.enumerated() where incident.start <= time {
        if time < incident.end {
          condition.add(incident, number: number)
        } else if time < incident.end + incident.warmUp {
          condition.factor = condition.factor * incident.warmUpRamp.height(at: time) / 1_000_000
        }
      }
      for (action, end) in zip(actions, actionEnds) where action.start <= time {
        if time < end || action.kind == .restart && action.start == time { condition.add(action, until: end) }
      }
      return condition
    }
  }

  /// Capacity over [`from`, `to`), as microseconds' worth of nominal capacity; nothing during an outage.
  /// - `autoscaled`: what the autoscaler makes of the configured capacity, parts per million.
  public func capacityMicroseconds(from: Instant, to: Instant, autoscaled: Int64 = 1_000_000) -> Int64 {
    sum(from: from, to: to) { condition in
      if condition.outage != nil { return 0 }
      let scale = scale(condition, autoscaled)
      return scale == 1_000_000 ? condition.factor : condition.factor * scale / 1_000_000
    }
  }

  /// Time over [`from`, `to`) as it would be with the configured capacity, whatever incidents make of it.
  /// - `autoscaled`: what the autoscaler makes of the configured capacity, parts per million.
  public func scaledMicroseconds(from: Instant, to: Instant, autoscaled: Int64 = 1_000_000) -> Int64 {
    sum(from: from, to: to) { scale($0, autoscaled) }
  }

  /// What actions and the autoscaler make of the configured capacity, parts per million: there are no parts of workers.
  private func scale(_ condition: Condition, _ autoscaled: Int64) -> Int64 {
    let scale = TAPIServer.scaled(autoscaled, by: condition.scale)
    guard let workers, workers > 0 else { return scale }
    return (Int64(TAPIServer.whole(workers, by: scale)) * 1_000_000 + Int64(workers) / 2) / Int64(workers)
  }

  private func sum(from: Instant, to: Instant, _ share: (Condition) -> Int64) -> Int64 {
    var sum: Int64 = 0
    var i = max(firstCondition(after: from) - 1, 0)
    while i < conditions.count, conditions[i].start < to {
      let condition = conditions[i]
      i += 1
      let start = max(condition.start, from)
      let end = i < conditions.count ? min(conditions[i].start, to) : to
      if end > start {
        let share = share(condition)
        sum +=
          (end - start).microseconds / 1_000 * share / 1_000
          + (end - start).microseconds % 1_000 * share / 1_000_000
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
    partitionPoint(of: conditions.count) { conditions[$0].start <= time }
  }
}

extension IncidentTimeline.Condition {
  /// Whether a server does the same from its start on. An outage counts by its answer, not by its end.
  fileprivate func isSame(as other: Self) -> Bool {
    start == other.start && outage?.kind == other.outage?.kind && losesWork == other.losesWork
      && factor == other.factor && scale == other.scale && retryAfter == other.retryAfter
      && faults == other.faults && isCDNDown == other.isCDNDown
  }
}

/// A rise in steps, evenly from nothing to a whole.
struct Ramp {
  let start: Instant
  let length: Span

  private func boundary(_ step: Int64) -> Instant {
    let part = Int128(length.microseconds) * Int128(step) / Int128(IncidentTimeline.rampSteps)
    return start + Span(microseconds: Int64(part))
  }

  var boundaries: [Instant] { length > .zero ? (1...IncidentTimeline.rampSteps).map(boundary) : [] }

  /// Parts per million, in the middle of the step that `time` lies in.
  func height(at time: Instant) -> Int64 {
    let steps = IncidentTimeline.rampSteps
    var step: Int64 = 0
    while step + 1 < steps, boundary(step + 1) <= time { step += 1 }
    return (2 * step + 1) * 1_000_000 / (2 * steps)
  }
}

extension Incident {
  fileprivate var warmUpRamp: Ramp { Ramp(start: end, length: warmUp) }
}

extension ServerAction {
  var ramp: Ramp {
    guard case .readmit = kind else { return Ramp(start: start, length: .zero) }
    return Ramp(start: start, length: duration ?? .zero)
  }
}
