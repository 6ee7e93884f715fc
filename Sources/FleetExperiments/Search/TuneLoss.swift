import FleetMetrics
import ScenarioFormat
import ScenarioModel

/// The loss of events that a requirement forbids, in one run. It names the limit that lost most of them, and the loss of the run
/// if that limit is raised.
package struct TuneLoss: Sendable {
  /// By its place in the study.
  package var scenario: Int
  package var seed: UInt64
  /// Lost or blocked in the run.
  package var events: Int64
  /// One of so many was simulated: what people read of counts is so many times as much.
  package var scale: Int64
  /// The charge that most of them are lost to.
  package var charge: LossCharge
  /// `segment-swift: rateLimitConfig.maxRetryCount 100 reached`
  package var text: String
  /// The key of Settings that is the limit; nil: it is none, or no limit gave them up.
  package var key: String?
  /// The highest value of a key that was searched.
  package var highest: String?
  /// The most that Settings allow of the limit; nil: it can only be taken away.
  package var raised: String?
  /// Lost or blocked in the same run with that; nil where there is no limit.
  package var rest: Int64?

  /// - Parameters:
  ///   - scenario: the run.
  ///   - summary: what came of it.
  ///   - run: makes another one.
  /// - Returns: nil if nothing is charged with losses.
  init?(
    in index: Int, of scenario: Scenario, _ summary: RunSummary, study: TuneStudy,
    run: (Scenario) throws -> RunSummary
  ) throws {
    guard let charge = LossCharge.charges(of: summary.cohorts).first else { return nil }
    (self.scenario, seed, self.charge) = (index, scenario.seed, charge)
    (events, scale) = (summary.lostOrBlockedEvents, summary.scale)
    text = charge.text(in: scenario)
    guard let limit = charge.limit else { return }
    if let key = limit.settingsKey {
      let path = SearchableSettings.prefix + key
      self.key = path
      highest = study.space.parameters.first { $0.path == path }?.values.max {
        (Quantity($0)?.value ?? 0) < (Quantity($1)?.value ?? 0)
      }
    }
    var other = scenario
    raised = limit.raise(in: &other.fleet[charge.cohort])
    rest = try run(other).lostOrBlockedEvents
  }
}

extension LossCharge.Limit {
  /// The key of Settings; nil: what the limit is no key of them.
  package var settingsKey: String? {
    switch self {
    case .backoffRetries, .rateLimitRetries: rawValue
    case .age: "backoffConfig.maxTotalBackoffDuration"
    case .queue, .gate: nil
    }
  }
}
