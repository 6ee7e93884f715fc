/// Whether a fleet holds without any incident, as its twin tells, and what speaks against it.
public struct BaselineHealth: Sendable, Hashable {
  /// Whether the backlog or the time to delivery grows over the run.
  public var grows = false
  public var createdEvents: Int64 = 0
  /// Of these: dropped and not accepted after all, or blocked.
  public var lostEvents: Int64 = 0
  /// How they were given up; what was accepted after all is among them.
  public var givenUp: [Measure: Int64] = [:]

  public init() {}

  /// What the counts of a twin say of losses.
  public init(losses counts: some Measured) {
    createdEvents = counts[.createdEvents]
    lostEvents = max(0, counts.lostEvents) + max(0, counts[.blockedEvents])
    for measure in Self.causes where counts[measure] > 0 { givenUp[measure] = counts[measure] }
  }

  /// More than 1 %: then the 99th percentile of time to delivery, on which verdicts rank, has no value even without an incident.
  public var losesEvents: Bool { lostEvents > createdEvents / 100 }
  public var isHealthy: Bool { !grows && !losesEvents }
  /// Of the events created.
  public var lostShare: Double { createdEvents > 0 ? Double(lostEvents) / Double(createdEvents) : 0 }
  /// What took the most of the events that are lost.
  public var mainCause: Measure? {
    Self.causes.reduce(nil) { best, measure in
      (givenUp[measure] ?? 0) > (best.flatMap { givenUp[$0] } ?? 0) ? measure : best
    }
  }

  private static let causes = Measure.drops + Measure.blocks

  /// Adds another twin's events.
  public mutating func add(_ other: BaselineHealth) {
    grows = grows || other.grows
    createdEvents += other.createdEvents
    lostEvents += other.lostEvents
    givenUp.merge(other.givenUp, uniquingKeysWith: +)
  }
}
