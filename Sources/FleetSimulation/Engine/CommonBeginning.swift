import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// What may differ between two runs that begin the same, and until when. What is not named here may matter from the first event on.
extension Scenario {
  /// What two scenarios have in common whose runs are the same until their incidents or actions differ (`commonUntil`), if their devices have
  /// heard no more than `heard`: how clients react to a failure matters to nobody before there is one, and what they make of a 429
  /// or a Retry-After not before one comes.
  ///
  /// Only limits that allow a failure are the same before the first: one that allows none keeps a first try from leaving. A client that
  /// goes offline fails by itself, and one that asks what became of an upload may learn that it failed: they share nothing.
  func commonBeginning(after heard: Heard) -> Scenario {
    var common = withoutIncidents
    common.question = nil
    common.scale = 1
    for i in fleet.indices where fleet[i].connectivity == nil && !fleet[i].gates.reconciles {
      common.fleet[i].settingsSource = nil
      // A launch looks at waits of either kind.
      let isLaunched = fleet[i].lifecycle != nil
      if heard == .nothing || !isLaunched && (heard == .failure || !tapi.asksToWait) {
        common.fleet[i].settings.rateLimit.forgetReactions()
      }
      if heard == .nothing {
        common.fleet[i].settings.backoff.forgetReactions(
          butAge: fleet[i].policy.ageLimit == .eventAgeSinceQueued)
        common.fleet[i].policy.clampAfterJitter = false
      }
    }
    return common
  }

  /// What is left of a scenario without Settings that nobody asks for (those for 429s, if the server sends none) and without how often
  /// clients try again; nil for how often, where a limit does more than give a batch up.
  ///
  /// Of two scenarios with which this is the same, the one with the higher limits has the run of the other if that one's run reached
  /// none (`RunRecord.reachedRetryLimit`).
  package var withoutRetryCounts: (scenario: Scenario, counts: [Int]) {
    var common = commonBeginning(after: .rateLimit)
    common.takeIncidents(of: self)
    var counts: [Int] = []
    for i in fleet.indices where fleet[i].givesUpAtLimitsOnly {
      counts += [
        common.fleet[i].settings.backoff.maxRetryCount, common.fleet[i].settings.rateLimit.maxRetryCount,
      ]
      common.fleet[i].settings.backoff.maxRetryCount = 0
      common.fleet[i].settings.rateLimit.maxRetryCount = 0
    }
    return (common, counts)
  }

  /// What is left of a scenario without how its clients react to a failure: if no client saw one, the runs of two scenarios with
  /// which this is the same are the same.
  package var withoutReactions: Scenario {
    var common = commonBeginning(after: .nothing)
    common.takeIncidents(of: self)
    return common
  }

  /// Puts back what its twin has not.
  private mutating func takeIncidents(of other: Scenario) {
    (tapi.incidents, tapi.actions) = (other.tapi.incidents, other.tapi.actions)
    for i in fleet.indices { fleet[i].rollout = other.fleet[i].rollout }
  }

  /// Until when two runs are the same that differ in their incidents and actions alone; microseconds, `.max`: always.
  ///
  /// Which events are old (`CohortPlan.oldBefore`) does not count here if one of the two has no incidents: then none is.
  func commonUntil(_ other: Scenario) -> Int64 {
    let (mine, its) = (tapi.incidents, other.tapi.incidents)
    var time = Int64.max
    for (mine, its) in zip(fleet.map(\.publication), other.fleet.map(\.publication)) where mine != its {
      // Who fetches has other tables from the start on.
      if [mine, its].contains(where: { $0?.fetch != nil }) { return 0 }
      time = [mine, its].reduce(time) { min($0, $1?.time.microseconds ?? .max) }
    }
    if mine == its, tapi.actions == other.tapi.actions { return time }
    time = min(time, IncidentTimeline(tapi).commonUntil(IncidentTimeline(other.tapi)).microseconds)
    if let end = mine.map(\.end.microseconds).max(), let other = its.map(\.end.microseconds).max(),
      end != other
    {
      time = min(time, min(end, other))
    }
    // What a launch finds at the CDN.
    func isDown(_ incidents: [Incident], at instant: Instant) -> Bool {
      incidents.contains { $0.kind == .cdnOutage && $0.start <= instant && instant < $0.end }
    }
    for instant in (mine + its).flatMap({ [$0.start, $0.end] })
    where isDown(mine, at: instant) != isDown(its, at: instant) {
      time = min(time, instant.microseconds)
    }
    return time
  }
}

extension TAPIConfiguration {
  /// Whether any answer may be a 429 or say how long to wait.
  fileprivate var asksToWait: Bool {
    let answers =
      [(overload.status, overload.retryAfter)] + incidents.compactMap(\.kind.answer)
      + actions.compactMap(\.kind.answer)
    return !rules.keyLimits.isEmpty || answers.contains { $0.status == 429 || $0.retryAfter != .none }
  }
}

extension Cohort {
  /// The Settings that an action publishes.
  var publication: SettingsRollout? { rollout.flatMap { $0.isAction ? $0 : nil } }

  /// Whether a limit on retries does nothing before a batch is due that has reached it, and gives that batch up then.
  fileprivate var givesUpAtLimitsOnly: Bool {
    policy.limitReached == .dropBatch && policy.limitsCheck == .whenDue && !actsAtFlushEnd
      && lifecycle == nil && gates.isEmpty && settings.backoff.maxRetryCount > 0
      && settings.rateLimit.maxRetryCount > 0
  }
}

extension RateLimitConfig {
  fileprivate mutating func forgetReactions() {
    maxTotalBackoffDuration = 0
    maxRetryInterval = 0
    maxRetryCount = min(maxRetryCount, 1)
  }
}

extension BackoffConfig {
  /// - Parameter butAge: the client looks at the age of events that have never failed.
  fileprivate mutating func forgetReactions(butAge: Bool) {
    if !butAge { maxTotalBackoffDuration = 0 }
    maxRetryCount = min(maxRetryCount, 1)
    baseBackoffInterval = 0
    maxBackoffInterval = 0
    jitter = .none
    statuses = .document
  }
}
