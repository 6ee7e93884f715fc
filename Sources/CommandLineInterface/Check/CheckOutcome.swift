import FleetExperiments

struct CheckOutcome {
  /// A key in which the scenario is not what it was when it was recorded.
  struct ChangedKey: Sendable {
    /// `settings.backoffConfig.maxRetryCount 100 → 3`
    var text: String
    var path: String
    /// nil: an option of the command line gave it, or nobody knows.
    var place: (file: String, line: Int)?
  }

  /// The scenario file as it was named.
  let scenarioPath: String
  let baselinePath: String
  let check: BaselineCheck
  let changedKeys: [ChangedKey]
  /// Whether it is the last of those that are told, which says what holds of all.
  let isLast: Bool
  /// The cause that gave up the events that were not lost when it was recorded; nil: no loss is worse.
  let loss: String?

  var baseline: Baseline { check.baseline }
  var name: String { baseline.scenario }
  var worse: [BaselineCheck.Change] { check.worse }
  var better: [BaselineCheck.Change] { check.better }

  /// Metrics that moved besides what is worse, and which of them are said to be better. Beside something worse, what became better
  /// may follow from it, so that only what ranks before it is.
  var moved: [(change: BaselineCheck.Change, isBetter: Bool)] {
    let told = Set(better.map(\.column))
    return check.metrics.filter { $0.judgement != .unchanged && $0.judgement != .worse }.map { change in
      (change, change.judgement == .better && (worse.isEmpty || told.contains(change.column)))
    }
  }

  /// Where the cause of what moved stands: the first changed key that is in a file, else the metric in the baseline.
  func place(_ change: BaselineCheck.Change) -> (file: String, line: Int) {
    changedKeys.lazy.compactMap(\.place).first ?? (baselinePath, change.line)
  }
}
