import FleetExperiments
import FleetMetrics
import FleetStatistics

/// What came of checking one scenario.
struct CheckOutcome {
  var baseline: Baseline
  var file: BaselineFile
  var scenarioPath: String
  var changes: [MetricChange]
  /// What the twins say of the fleet now, seed by seed.
  var twins: [BaselineHealth]

  var moved: [MetricChange] { changes.filter { $0.judgement != .unchanged } }
  var worse: [MetricChange] { changes.filter { $0.judgement == .worse } }

  /// What is said first: the verdict's metrics that became worse, or the first of the others.
  var causes: [MetricChange] {
    let headline = worse.filter(\.metric.isHeadline)
    return headline.isEmpty ? Array(worse.prefix(1)) : headline
  }

  /// The others that became worse.
  var following: [MetricChange] {
    let causes = Set(causes.map(\.metric.name))
    return worse.filter { !causes.contains($0.metric.name) }
  }

  /// Where a metric stands in the baseline.
  func line(_ change: MetricChange) -> Int {
    file.lines[baseline.scenario]?[change.metric.name] ?? 1
  }
}

/// The forms of what a check found.
enum CheckReport {
  /// What became worse: the verdict's metrics in full, the others that went with them in a line; then what else moved.
  static func text(_ outcome: CheckOutcome, isQuiet: Bool) -> String {
    let moved = outcome.moved
    var text = heading(outcome) + "\n"
    let (causes, rest) = (outcome.causes, outcome.following)
    for change in causes { text += "  \(line(change))\n" }
    if !rest.isEmpty { text += "         with it: \(shortly(rest))\n" }
    for judgement in [MetricChange.Judgement.better, .tolerated] where !isQuiet {
      for change in moved where change.judgement == judgement { text += "  \(line(change))\n" }
    }
    return text
  }

  /// `retries +12 %, answers_429 from 0 to 31`.
  private static func shortly(_ changes: [MetricChange]) -> String {
    changes.map { change in
      let (then, now) = (change.recorded.mean, change.present.mean)
      return then != 0
        ? "\(change.metric.name) \(percentage(change.difference.mean / abs(then)))"
        : "\(change.metric.name) from 0 to \(MetricText.value(change.metric, now))"
    }.joined(separator: ", ")
  }

  static func heading(_ outcome: CheckOutcome) -> String { result(outcome) + health(outcome.twins) }

  /// `; this fleet does not hold even without any incident: it loses …`, or nothing.
  static func health(_ twins: [BaselineHealth]) -> String {
    HealthWording.sentence(twins).map { "; " + $0 } ?? ""
  }

  private static func result(_ outcome: CheckOutcome) -> String {
    let (count, moved) = (outcome.changes.count, outcome.moved)
    let head = "\(outcome.baseline.scenario) (\(FigureText.count(outcome.baseline.seeds.count, "seed"))): "
    if moved.isEmpty { return head + (count == 1 ? "its metric" : "all \(count) metrics") + " as recorded" }
    let kinds = [
      (MetricChange.Judgement.worse, "worse"), (.better, "better"), (.tolerated, "moved within tolerance"),
    ]
    let parts = kinds.compactMap { kind, word in
      let number = moved.count { $0.judgement == kind }
      return number > 0 ? "\(number) \(word)" : nil
    }
    return head + "of \(FigureText.count(count, "metric")) \(parts.joined(separator: ", "))"
  }

  /// `worse   recovery_s: 12 min 28 s ± 20 s, now 1 h 20 min ± 1 min: +1 h 08 min ± 1 min, not significantly worse is allowed`
  private static func line(_ change: MetricChange) -> String {
    let word =
      switch change.judgement {
      case .unchanged: "same"
      case .tolerated: "moved"
      case .better: "better"
      case .worse: "WORSE"
      }
    let padding = String(repeating: " ", count: 7 - word.count)
    return "\(word)\(padding)\(change.metric.name): \(movement(change))"
  }

  /// What it was, what it is, by how much it moved, and what was allowed.
  static func movement(_ change: MetricChange) -> String {
    let metric = change.metric
    var text = value(metric, change.recorded, change.entry.values)
    text += ", now " + value(metric, change.present, change.now)
    if change.appearances > 0 {
      text += "; in \(change.appearances) of \(change.now.count) runs it has a value in only one of the two"
    } else {
      text += change.censoredNow > change.censoredThen ? "; by at least " : "; by "
      text += interval(metric, change.difference.sample, isSigned: true)
      if change.recorded.mean != 0 {
        text += " (\(percentage(change.difference.mean / abs(change.recorded.mean))))"
      }
    }
    if change.judgement == .worse { text += "; allowed is \(allowed(change))" }
    return text
  }

  private static func allowed(_ change: MetricChange) -> String {
    let way =
      switch change.metric.direction {
      case .lowerIsBetter: "more"
      case .higherIsBetter: "less"
      case .neither: "more or less"
      }
    switch change.entry.tolerance {
    case .relative(let share): return "\(MetricText.plain(share * 100)) % \(way)"
    case .absolute(let limit): return "\(MetricText.value(change.metric, limit)) \(way)"
    case .notSignificantlyWorse:
      return "what chance can explain, or \(MetricText.plain(Metric.relevantShare * 100)) %"
    case .informational: return "anything"
    }
  }

  /// `12 min ± 20 s`, `12 min ± 20 s (not within 15 min in 2 of 5 runs)`, `not within 15 min in 5 of 5 runs`
  private static func value(_ metric: Metric, _ sample: SampleStatistics, _ values: [MetricValue]) -> String {
    if sample.count == 0 { return "no value" }
    let text = interval(metric, sample)
    let horizons = values.filter(\.isCensored).compactMap(\.horizon)
    guard let horizon = horizons.min() else { return text }
    let never =
      "not within \(MetricText.value(metric, horizon)) in \(horizons.count) of \(values.count) \(FigureText.noun("run", values.count))"
    return horizons.count == values.count ? never : "\(text) (\(never))"
  }

  private static func interval(
    _ metric: Metric, _ sample: SampleStatistics, isSigned: Bool = false
  ) -> String {
    MetricText.interval(metric, sample.mean, ConfidenceInterval(sample)?.halfWidth, isSigned: isSigned)
  }

  private static func percentage(_ share: Double) -> String {
    (share > 0 ? "+" : "") + MetricText.plain(share * 100) + " %"
  }

  // MARK: Machines

  /// Workflow commands: for each scenario one error at the first cause's line, one notice for what became better.
  static func github(_ outcomes: [CheckOutcome]) -> String {
    var text = ""
    for outcome in outcomes {
      if let cause = outcome.causes.first {
        let others = outcome.causes.dropFirst().map { "; \($0.metric.name): \(movement($0))" }.joined()
        let rest = outcome.following.isEmpty ? "" : "; with it: \(shortly(outcome.following))"
        text += annotation("error", outcome, cause, movement(cause) + others + rest)
      }
      let better = outcome.moved.filter { $0.judgement == .better }
      if let first = better.first {
        text += annotation("notice", outcome, first, "better than recorded: \(shortly(better))")
      }
      text += heading(outcome) + "\n"
    }
    return text
  }

  private static func annotation(
    _ kind: String, _ outcome: CheckOutcome, _ change: MetricChange, _ text: String
  ) -> String {
    let title = "\(outcome.baseline.scenario): \(change.metric.name)"
    return
      "::\(kind) file=\(property(outcome.file.path)),line=\(outcome.line(change)),title=\(property(title))::"
      + message(text) + "\n"
  }

  private static func message(_ text: String) -> String {
    text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
  }

  private static func property(_ text: String) -> String {
    message(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
  }

  /// A suite a scenario, a case a metric.
  static func junit(_ outcomes: [CheckOutcome]) -> String {
    let cases = outcomes.reduce(0) { $0 + $1.changes.count }
    let failures = outcomes.reduce(0) { $0 + $1.worse.count }
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    text += "<testsuites name=\"fleetsim check\" tests=\"\(cases)\" failures=\"\(failures)\">\n"
    for outcome in outcomes {
      let name = attribute(outcome.baseline.scenario)
      text +=
        "  <testsuite name=\"\(name)\" tests=\"\(outcome.changes.count)\" failures=\"\(outcome.worse.count)\">\n"
      for change in outcome.changes {
        let opening = "    <testcase classname=\"\(name)\" name=\"\(attribute(change.metric.name))\""
        if change.judgement == .worse {
          text +=
            "\(opening)>\n      <failure message=\"\(attribute(movement(change)))\"/>\n    </testcase>\n"
        } else {
          text += "\(opening)/>\n"
        }
      }
      text += "  </testsuite>\n"
    }
    return text + "</testsuites>\n"
  }

  private static func attribute(_ text: String) -> String {
    String(
      text.unicodeScalars.map { scalar in
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        case _ where scalar.value < 0x20: " "
        default: String(scalar)
        }
      }.joined())
  }
}
