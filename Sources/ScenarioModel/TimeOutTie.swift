import SimulationKernel
import TAPIModel

/// Time-outs in a row that end exactly when the next flush is due, before a server that is silent for a while.
///
/// At one instant the simulator lets a time-out end before a flush, so that the flush finds the client free. A real time-out ends
/// a moment later: its client is busy at the flush, and waits for another one. Measured with a silent nginx, 30 s between flushes
/// and a time-out of 15 s: a quarter to a third fewer 429s afterwards. With 14 s the result is as predicted (experiment "live").
package struct TimeOutTie: Sendable, Hashable {
  package var cohort: String
  package var timeout: Span
  /// The flush interval, a multiple of the time-out.
  package var interval: Span

  /// A time-out of as good as the same length that ends at no flush.
  package var enough: Span { Span(microseconds: timeout.microseconds + 10_000) }

  /// nil: there is none.
  /// - Parameter flush: how often the client flushes; nil: by no clock.
  package init?(cohort: String, timeout: Span, flush: Span?, retries: RetryWakeUp) {
    guard retries == .gate, let flush, flush > .zero, flush.microseconds % timeout.microseconds == 0 else {
      return nil
    }
    (self.cohort, self.timeout, interval) = (cohort, timeout, flush)
  }

  /// The ties of a scenario, by the order of its cohorts.
  package static func all(in scenario: Scenario) -> [TimeOutTie] {
    let isSilent = scenario.tapi.incidents.contains { incident in
      if case .outage(status: nil, _, _) = incident.kind { true } else { false }
    }
    guard isSilent else { return [] }
    return scenario.fleet.compactMap { cohort in
      TimeOutTie(
        cohort: cohort.name, timeout: cohort.timeout, flush: cohort.flush.interval,
        retries: cohort.behaviour.retries)
    }
  }
}
