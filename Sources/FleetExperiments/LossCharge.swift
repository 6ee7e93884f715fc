import FleetMetrics
import ScenarioModel
import SimulationKernel
import UploadRetry

/// What destroyed events of a run: a cohort, how its clients gave them up, and the limit that made them do it.
///
///     let charges = LossCharge.charges(in: record, of: scenario)
///     charges.first?.text(in: scenario)   // segment-swift: rateLimitConfig.maxRetryCount 100 reached
///     charges.first?.without(scenario)    // the same scenario without that limit, to be run
public struct LossCharge: Sendable, Hashable {
  /// A cohort's place in the fleet.
  public var cohort: Int
  /// How the events were given up: one of `Measure.drops` or `Measure.blocks`.
  public var reason: Measure
  /// Events that were given up so. Those that the server accepted nevertheless are among them.
  public var events: Int64
  /// The limit that was reached; nil where no limit but an answer gave them up.
  public var limit: Limit? { Limit(reason) }

  public init(cohort: Int, reason: Measure, events: Int64) {
    self.cohort = cohort
    self.reason = reason
    self.events = events
  }

  /// A limit of a client on what it keeps and for how long.
  public enum Limit: String, Sendable, Hashable, CaseIterable {
    case backoffRetries = "backoffConfig.maxRetryCount"
    case rateLimitRetries = "rateLimitConfig.maxRetryCount"
    case age = "maxTotalBackoffDuration"
    case queue = "queue.limit"
    case failureWindow = "gates.failureWindow"

    init?(_ reason: Measure) {
      switch reason {
      case .droppedByRetryLimit, .blockedByRetryLimit: self = .backoffRetries
      case .droppedByRateLimitRetryLimit, .blockedByRateLimitRetryLimit: self = .rateLimitRetries
      case .droppedByAge, .blockedByAge: self = .age
      case .droppedByOverflow: self = .queue
      case .refusedByGate: self = .failureWindow
      default: return nil
      }
    }

    /// Its value in a cohort, as Settings and scenarios write it.
    func text(in cohort: Cohort) -> String {
      switch self {
      case .backoffRetries: "\(cohort.settings.backoff.maxRetryCount)"
      case .rateLimitRetries: "\(cohort.settings.rateLimit.maxRetryCount)"
      case .age: FigureText.span(cohort.settings.backoff.maxTotalBackoffDuration)
      case .queue: "\(cohort.queue.limit)"
      case .failureWindow: "on"
      }
    }

    /// Takes it away, from the Settings that are published during the run too.
    func remove(from cohort: inout Cohort) {
      func remove(_ settings: inout HTTPConfig) {
        switch self {
        case .backoffRetries: settings.backoff.maxRetryCount = 1_000_000_000
        case .rateLimitRetries: settings.rateLimit.maxRetryCount = 1_000_000_000
        case .age:
          settings.backoff.maxTotalBackoffDuration = Span.hours(1_000_000).microseconds
          settings.rateLimit.maxTotalBackoffDuration = Span.hours(1_000_000).microseconds
        case .queue, .failureWindow: break
        }
      }
      remove(&cohort.settings)
      remove(&cohort.settingsDefaults)
      if var rollout = cohort.rollout {
        remove(&rollout.settings)
        cohort.rollout = rollout
      }
      if self == .queue { cohort.queue.limit = .max }
      if self == .failureWindow { cohort.gates.failureWindow = nil }
    }
  }

  /// Every event that `record`, a run of `scenario`, gave up: the most first. O(cohorts).
  public static func charges(in record: RunRecord, of scenario: Scenario) -> [LossCharge] {
    zip(scenario.fleet.indices, record.cohorts).flatMap { cohort, counts in
      (Measure.drops + Measure.blocks).filter { counts[$0] > 0 }.map {
        LossCharge(cohort: cohort, reason: $0, events: counts[$0])
      }
    }.sorted { $0.events > $1.events }
  }

  /// The scenario in which the cohort has no such limit: a run of it shows whether the limit was what lost the events. nil where no
  /// limit did.
  public func without(_ scenario: Scenario) -> Scenario? {
    guard let limit else { return nil }
    var scenario = scenario
    limit.remove(from: &scenario.fleet[cohort])
    return scenario
  }

  /// `segment-swift: rateLimitConfig.maxRetryCount 100 reached`
  public func text(in scenario: Scenario) -> String {
    let cohort = scenario.fleet[cohort]
    let client = cohort.preset.name
    let name = cohort.name == client ? client : "\(cohort.name) (\(client))"
    guard let limit else { return "\(name): \(HealthWording.words(reason))" }
    return "\(name): \(limit.rawValue) \(limit.text(in: cohort)) reached"
  }

  /// A sentence for each of the worst two charges of each run: `39,497 events were given up by segment-swift:
  /// rateLimitConfig.maxRetryCount 100 reached.`
  /// - `variants`: those of `results`, in their order.
  public static func notes(_ results: [VariantResult], of variants: [Variant]) -> [String] {
    zip(results, variants).flatMap { result, variant in
      charges(in: result.record, of: variant.scenario).prefix(2).map { charge in
        (results.count > 1 ? "With \(result.name) " : "") + "\(FigureText.count(charge.events, "event")) "
          + "\(charge.events == 1 ? "was" : "were") given up by \(charge.text(in: variant.scenario))."
      }
    }
  }
}
