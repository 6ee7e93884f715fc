/// Where an event is that is neither accepted nor given up when a run ends.
public enum PendingPlace: Int, CaseIterable, Sendable {
  /// Sent and not answered, on its way or in the server's queue; or due on a device that waits for such an answer.
  case underway
  /// On a device whose app is closed.
  case closedApp
  /// On a device without a network.
  case offline
  /// On a device that waits after a 429, or as a Retry-After asks.
  case rateLimit
  /// On a device, behind a backoff.
  case backoff
  /// On a device, held by one of its gates.
  case gate
  /// On a device, which sends it at its next flush.
  case flush

  /// As a part of a sentence: `in closed apps`.
  public var words: String {
    switch self {
    case .underway: "underway or in the server's queue"
    case .closedApp: "in closed apps"
    case .offline: "offline"
    case .rateLimit: "behind a 429 or a Retry-After"
    case .backoff: "behind a backoff"
    case .gate: "held by a gate"
    case .flush: "before the next flush"
    }
  }
}

/// How many events wait in each place.
public struct EventsByPlace: Sendable, Hashable {
  private var counts = [Int64](repeating: 0, count: PendingPlace.allCases.count)

  public init() {}

  public subscript(place: PendingPlace) -> Int64 {
    get { counts[place.rawValue] }
    set { counts[place.rawValue] = newValue }
  }

  public var total: Int64 { counts.reduce(0, +) }

  /// The places with events, the most first.
  public var places: [PendingPlace] {
    PendingPlace.allCases.filter { self[$0] > 0 }.sorted { self[$0] > self[$1] }
  }

  public static func += (sum: inout EventsByPlace, other: EventsByPlace) {
    for place in PendingPlace.allCases { sum[place] += other[place] }
  }

  /// Returns the pending events beyond `other`: as many in all as there are more, but `most`, in the places with the largest excess.
  func late(beyond other: EventsByPlace, most: Int64) -> EventsByPlace {
    var left = min(most, total - other.total)
    var late = EventsByPlace()
    let more = PendingPlace.allCases.map { ($0, self[$0] - other[$0]) }.sorted { $0.1 > $1.1 }
    for (place, excess) in more where excess > 0 && left > 0 {
      late[place] = min(excess, left)
      left -= late[place]
    }
    return late
  }
}

/// The fate of a cohort's events that the server does not have.
public struct CohortLosses: Sendable, Hashable {
  public var createdEvents: Int64 = 0
  /// Lost for good, blocked or doomed.
  public var lostEvents: Int64 = 0
  /// How they were or will be given up: `Measure.drops` and `Measure.blocks`. Events accepted after all are among them.
  public var givenUp: [Measure: Int64] = [:]
  /// The part of the fleet's late events, by where they wait.
  public var late = EventsByPlace()

  public init() {}

  fileprivate init(_ cohort: CohortRecord) {
    createdEvents = cohort[.createdEvents]
    lostEvents = cohort.lostOrBlockedEvents
    for measure in Measure.drops + Measure.blocks {
      let events = cohort[measure] + (cohort.doomed[measure] ?? 0)
      if events > 0 { givenUp[measure] = events }
    }
  }

  /// Adds the same cohort's in another run.
  public static func += (sum: inout CohortLosses, other: CohortLosses) {
    sum.createdEvents += other.createdEvents
    sum.lostEvents += other.lostEvents
    for (measure, count) in other.givenUp { sum.givenUp[measure, default: 0] += count }
    sum.late += other.late
  }
}

extension RunRecord {
  /// Returns the fate of each cohort's events that the server does not have, in the fleet's order. O(cohorts).
  ///
  /// A cohort is served later where another is served sooner. So the fleet's late events are shared out: each cohort has them in
  /// proportion to what it has pending beyond what could not be delivered.
  /// - Parameter references: the runs that tell what could not be delivered.
  /// - Parameter late: the fleet's late events.
  public func losses(beyond references: ReferenceRuns, late: Int64) -> [CohortLosses] {
    let pending = cohorts.map { cohort in
      var pending = cohort.pending
      pending[.closedApp] -= cohort.doomedEvents
      return pending
    }
    func excess(_ unavoidable: [EventsByPlace]) -> [Int64] {
      zip(pending, unavoidable).map { max(0, $0.total - $1.total) }
    }
    var unavoidable = unavoidable(references)
    // One cohort may be held to the twin and another to the ideal run.
    if excess(unavoidable).reduce(0, +) < late { unavoidable = cohorts.map { _ in EventsByPlace() } }
    let excess = excess(unavoidable)
    let all = Double(excess.reduce(0, +))
    var (sum, given) = (Int64(0), Int64(0))
    return cohorts.indices.map { place in
      var losses = CohortLosses(cohorts[place])
      sum += excess[place]
      let share = all > 0 ? Int64((Double(late) * Double(sum) / all).rounded()) - given : 0
      losses.late = pending[place].late(beyond: unavoidable[place], most: share)
      given += share
      return losses
    }
  }

  /// Returns each cohort's events that could not be delivered within the run: the ideal run's, or the twin's if they are more.
  func unavoidable(_ references: ReferenceRuns) -> [EventsByPlace] {
    func pending(_ place: Int, of run: RunRecord?) -> EventsByPlace {
      guard let run, run.cohorts.indices.contains(place) else { return EventsByPlace() }
      return run.cohorts[place].pending
    }
    return cohorts.indices.map { place in
      let (twin, ideal) = (pending(place, of: references.twin), pending(place, of: references.ideal))
      return ideal.total > twin.total ? ideal : twin
    }
  }
}
