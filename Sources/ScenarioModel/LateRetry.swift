import SimulationKernel
import TAPIModel

/// A Retry-After that lies at a flush of clients that retry at a flush, or just above one. A batch that a flush brought is due a
/// moment after a later flush, and waits for the next (experiment 003).
package struct LateRetry: Sendable, Hashable {
  /// The key of the scenario.
  package var path: String
  /// How long the clients are told to wait.
  package var asked: Span
  /// Their flush interval.
  package var interval: Span
  /// The cohorts that it concerns.
  package var cohorts: [String]

  /// How long they wait: up to the first flush that comes later.
  package var real: Span {
    Span(microseconds: wholeIntervals * interval.microseconds + interval.microseconds)
  }
  /// The Retry-After that makes the clients wait for one flush less, in whole seconds.
  package var enough: Span {
    let flush = wholeIntervals * interval.microseconds
    return Span(microseconds: (flush - 1) / 1_000_000 * 1_000_000)
  }
  private var wholeIntervals: Int64 { asked.microseconds / interval.microseconds }

  /// The late retries of a scenario, by the order of its keys and cohorts. "Just above" is by at most a quarter of the interval.
  package static func all(in scenario: Scenario) -> [LateRetry] {
    var found: [LateRetry] = []
    for (path, status, policy) in retryAfters(of: scenario.tapi) {
      guard case .fixed(let told) = policy else { continue }
      for cohort in scenario.fleet {
        guard cohort.behaviour.retries == .gate, let interval = cohort.flush.interval,
          let asked = cohort.waitObeyed(told, status: status), asked >= interval,
          asked.microseconds % interval.microseconds * 4 <= interval.microseconds
        else { continue }
        if let index = found.firstIndex(where: {
          $0.path == path && $0.asked == asked && $0.interval == interval
        }) {
          found[index].cohorts.append(cohort.name)
        } else {
          found.append(LateRetry(path: path, asked: asked, interval: interval, cohorts: [cohort.name]))
        }
      }
    }
    return found
  }

  private static func retryAfters(
    of server: TAPIConfiguration
  ) -> [(path: String, status: Int, policy: RetryAfterPolicy)] {
    var all = [("tapi.overload.retryAfter", server.overload.status, server.overload.retryAfter)]
    for (index, incident) in server.incidents.enumerated() {
      guard let answer = incident.kind.answer, let status = answer.status else { continue }
      all.append(("tapi.incidents.\(index).retryAfter", status, answer.retryAfter))
    }
    for action in server.actions {
      guard case .retryAfter(let policy) = action.kind else { continue }
      all.append(("actions: retryAfter", server.overload.status, policy))
    }
    for (index, limit) in server.rules.keyLimits.enumerated() {
      all.append(("tapi.keyLimits.\(index).retryAfter", 429, limit.answers))
    }
    return all
  }
}

extension Cohort {
  /// How long clients wait that an answer with this status tells to wait so long; nil: they do not heed it.
  fileprivate func waitObeyed(_ told: Span, status: Int) -> Span? {
    let pauses =
      status == 429
      ? behaviour.policy.rateLimited == .pausesPipeline
      : behaviour.policy.retryAfterOnOtherCodes == .pausesPipeline
    if pauses {
      guard settings.isManaged, settings.rateLimit.isEnabled else { return nil }
      return Span(microseconds: min(told.microseconds, settings.longestRetryAfter(behaviour.policy.retry)))
    }
    guard behaviour.policy.retryAfterOnOtherCodes.isWaitOfBatch else { return nil }
    return Span(microseconds: min(told.microseconds, behaviour.policy.longestRetryAfter))
  }
}
