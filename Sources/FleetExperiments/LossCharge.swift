import FleetMetrics
import ScenarioFormat
import ScenarioModel
import ShippedClients
import SimulationKernel
import UploadRetry

/// A cause of a run's lost events: a cohort, how its clients gave them up, and the limit that made them do it. Example:
///
///     let charges = LossCharge.charges(of: summary.cohorts)
///     charges.first?.text(in: scenario)   // segment-swift: rateLimitConfig.maxRetryCount 100 reached
///     charges.first?.limit?.remove(from: &scenario.fleet[0])    // whether it was what lost the events, a run shows
public struct LossCharge: Sendable, Hashable {
  /// A cohort's place in the fleet.
  public var cohort: Int
  /// How the events were given up: one of `Measure.drops` or `Measure.blocks`.
  public var reason: Measure
  /// Events that were given up so. Those that the server accepted nevertheless are among them.
  public var events: Int64
  /// The limit that was reached; nil where no limit but an answer gave them up.
  public var limit: Limit? { Limit(reason) }

  /// A limit of a client on what it keeps and for how long.
  public enum Limit: String, Sendable, Hashable {
    case backoffRetries = "backoffConfig.maxRetryCount"
    case rateLimitRetries = "rateLimitConfig.maxRetryCount"
    case age = "maxTotalBackoffDuration"
    case queue = "queue.limit"
    /// A gate that refuses; `name(in:)` says which.
    case gate = "gates"

    init?(_ reason: Measure) {
      switch reason {
      case .droppedByRetryLimit, .blockedByRetryLimit: self = .backoffRetries
      case .droppedByRateLimitRetryLimit, .blockedByRateLimitRetryLimit: self = .rateLimitRetries
      case .droppedByAge, .blockedByAge: self = .age
      case .droppedByOverflow: self = .queue
      case .refusedByGate: self = .gate
      default: return nil
      }
    }

    /// The keys of Settings, all of which it takes to raise it; empty: the limit is no key of them.
    package var settingsKeys: [String] {
      switch self {
      case .backoffRetries, .rateLimitRetries: [rawValue]
      case .age: ["backoffConfig", "rateLimitConfig"].map { "\($0).\(rawValue)" }
      case .queue, .gate: []
      }
    }

    /// Its value in a cohort, as Settings and scenarios write it: `1 (100 before the rollout)`.
    func text(in cohort: Cohort) -> String {
      let before = value(in: cohort)
      var published = cohort
      published.settings = cohort.rollout?.settings ?? cohort.settings
      let value = value(in: published)
      return value == before ? value : "\(value) (\(before) before the rollout)"
    }

    private func value(in cohort: Cohort) -> String {
      switch self {
      case .backoffRetries, .rateLimitRetries: "\(cohort.settings[keyPath: paths[0]])"
      case .age: ageText(cohort)
      case .queue: "\(cohort.queue.countsBatches ? cohort.queue.batchLimit : cohort.queue.limit)"
      case .gate: "on"
      }
    }

    /// Where Settings have it.
    private var paths: [WritableKeyPath<HTTPConfig, Int64>] {
      switch self {
      case .backoffRetries: [\.backoff.maxRetryCount.wide]
      case .rateLimitRetries: [\.rateLimit.maxRetryCount.wide]
      case .age: [\.backoff.maxTotalBackoffDuration, \.rateLimit.maxTotalBackoffDuration]
      case .queue, .gate: []
      }
    }

    /// The ages that a cohort's clients heed, by their keys as a CDN serves them: the section of a batch's latest failure has the
    /// limit (S11), and no count says which it was.
    private static func ages(_ cohort: Cohort) -> [(key: String, age: Int64)] {
      let (backoff, rateLimit) = (cohort.settings.backoff, cohort.settings.rateLimit)
      // To other clients a 429 is a failure as any.
      let hasBoth = rateLimit.isEnabled && cohort.policy.rateLimited == .pausesPipeline
      return [("backoffConfig.maxTotalBackoffDuration", backoff.maxTotalBackoffDuration)]
        + (hasBoth ? [("rateLimitConfig.maxRateLimitDuration", rateLimit.maxTotalBackoffDuration)] : [])
    }

    /// The keys of Settings whose value in a cohort is below the most that Settings allow.
    func keysBelowMost(in cohort: Cohort) -> [String] {
      self == .age ? Self.ages(cohort).filter { $0.age < most }.map(\.key) : settingsKeys
    }

    /// `12 h (10 min after a 429)`, or the one that is below the most.
    private func ageText(_ cohort: Cohort) -> String {
      let ages = Self.ages(cohort)
      let short = ages.filter { $0.age < most }
      let told = short.isEmpty ? ages : short
      if Set(told.map(\.age)).count == 1 { return FigureText.span(told[0].age) }
      return "\(FigureText.span(told[0].age)) (\(FigureText.span(told[1].age)) after a 429)"
    }

    /// The key that has it in a cohort.
    func name(in cohort: Cohort) -> String {
      if self == .queue, cohort.queue.countsBatches { return "queue.batches" }
      if self == .gate { return "gates." + (cohort.gates.withoutRefusals.names.first ?? "") }
      if self != .age { return rawValue }
      let (ages, short) = (Self.ages(cohort), keysBelowMost(in: cohort))
      return ages.count == 1 ? ages[0].key : short.count == 1 ? short[0] : rawValue
    }

    /// The most that Settings allow (S14): retries, or microseconds.
    private var most: Int64 { self == .age ? Span.hours(7 * 24).microseconds : 1_000 }

    /// A value as people read it, and as a file of Settings has it: `604800 (168 h)`.
    func text(of value: Int64, inFile: Bool = false) -> String {
      guard self == .age else { return "\(value)" }
      return inFile
        ? "\(value / 1_000_000) (\(FigureText.span(value)))" : FigureText.span(value)
    }

    /// Takes it away, from the Settings that are published during the run too.
    package func remove(from cohort: inout Cohort) {
      let none: Int64 = self == .age ? Span.hours(1_000_000).microseconds : 1_000_000_000
      change(&cohort) { _, _ in none }
      if self == .queue { (cohort.queue.limit, cohort.queue.batchLimit) = (.max, .max) }
      if self == .gate { cohort.gates = cohort.gates.withoutRefusals.gates }
    }

    /// The value of a file with which a cohort's clients have the most that they take of what Settings allow; nil: it is no limit of
    /// Settings, or they have as much, of an age in one of its sections.
    func raised(in cohort: Cohort) -> Int64? {
      var raised = cohort
      raise(to: most, in: &raised)
      if raised.settings == cohort.settings { return nil }
      let values = paths.map { raised.settings[keyPath: $0] }
      if self != .age { return values[0] }
      return values.contains { $0 > most && $0 != .max } ? nil : most
    }

    /// Gives a cohort's clients a file with that value, of which they take what they can. What is higher stays.
    func raise(to value: Int64, in cohort: inout Cohort) {
      var file = HTTPConfig()
      for path in paths { file[keyPath: path] = value }
      let taken = SettingsDocument(file).config(in: cohort.settingsDialect)
      change(&cohort) { max($0, taken[keyPath: $1]) }
    }

    /// Changes it in all Settings that the clients have at some time.
    private func change(
      _ cohort: inout Cohort, to value: (_ now: Int64, WritableKeyPath<HTTPConfig, Int64>) -> Int64
    ) {
      func change(_ settings: inout HTTPConfig) {
        for path in paths { settings[keyPath: path] = value(settings[keyPath: path], path) }
      }
      change(&cohort.settings)
      change(&cohort.settingsDefaults)
      if var rollout = cohort.rollout {
        change(&rollout.settings)
        cohort.rollout = rollout
      }
    }
  }

  /// Every event that the cohorts of a run gave up: the most first. O(cohorts).
  /// - `cohorts`: in the fleet's order.
  public static func charges(of cohorts: [CohortLosses]) -> [LossCharge] {
    cohorts.enumerated().flatMap { place, losses in
      (Measure.drops + Measure.blocks).compactMap { reason in
        losses.givenUp[reason].map { LossCharge(cohort: place, reason: reason, events: $0) }
      }
    }.sorted { $0.events > $1.events }
  }

  /// Without the client: `rateLimitConfig.maxRetryCount reached`; of what is no key of Settings in words.
  package var words: String {
    limit.flatMap { $0.settingsKeys.isEmpty ? nil : "\($0.rawValue) reached" } ?? HealthWording.words(reason)
  }

  /// `segment-swift: rateLimitConfig.maxRetryCount 100 reached`
  public func text(in scenario: Scenario) -> String {
    "\(scenario.fleet[cohort].nameWithClient): \(cause(in: scenario))" + (limit == nil ? "" : " reached")
  }

  /// `rateLimitConfig.maxRetryCount 100`
  func cause(in scenario: Scenario) -> String {
    guard let limit else { return HealthWording.words(reason) }
    let cohort = scenario.fleet[cohort]
    // No file of Settings reaches it.
    let own = limit.settingsKeys.isEmpty || cohort.fetchesSettings ? "" : "its own "
    return "\(own)\(limit.name(in: cohort)) \(limit.text(in: cohort))"
  }
}

extension Cohort {
  /// `phones (segment-swift)`; the client alone where the cohort has its name.
  package var nameWithClient: String { name == preset.name ? name : "\(name) (\(preset.name))" }
}

extension Int {
  fileprivate var wide: Int64 {
    get { Int64(self) }
    set { self = Int(newValue) }
  }
}

extension QueuePolicy {
  /// Whether the one limit that it has is of batches.
  fileprivate var countsBatches: Bool { limit == .max && batchLimit != .max }
}
