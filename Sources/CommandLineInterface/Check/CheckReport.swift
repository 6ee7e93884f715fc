import FleetExperiments
import FleetMetrics
import FleetStatistics
import TextEscaping

/// The forms of what a check found.
enum CheckReport {
  static let ifMeant = "If that is meant: fleetsim check … --record"

  /// Tells the changes for the worse, their cause, and how much else moved; or the changes for the better.
  static func text(_ outcome: CheckOutcome, isQuiet: Bool, isVerbose: Bool) -> String {
    var text = "\(outcome.worse.isEmpty ? "✓" : "✗") \(heading(outcome))\n"
    if isQuiet { return text }
    if outcome.worse.isEmpty {
      for change in outcome.better { text += "  better \(movement(change))\n" }
    } else if let reason = reason(outcome) {
      text += "  because \(reason)\n"
    }
    if outcome.worse.isEmpty, let open = outcome.check.open {
      text += "  not decided: \(failures(open)); --record more --seeds to tell\n"
    }
    let rest = rest(outcome, isVerbose: isVerbose)
    if !rest.isEmpty { text += "  \(rest)\n" }
    if isVerbose {
      for change in outcome.check.changes where change.judgement == .worse { text += line("worse", change) }
      for moved in outcome.moved where moved.isBetter { text += line("better", moved.change) }
      for moved in outcome.moved where !moved.isBetter { text += line("moved", moved.change) }
    }
    return text
  }

  /// `001-outage-herd (10 seeds): lost 0, now 9,484 ± 120`
  static func heading(_ outcome: CheckOutcome) -> String {
    let head = "\(outcome.name) (\(FigureText.count(outcome.baseline.seeds.count, "seed"))): "
    return head + result(outcome) + health(outcome)
  }

  private static func result(_ outcome: CheckOutcome) -> String {
    if !outcome.worse.isEmpty { return told(outcome).map(movement).joined(separator: "; ") }
    let count = outcome.check.changes.count
    if outcome.moved.isEmpty { return (count == 1 ? "its metric" : "all \(count) metrics") + " as recorded" }
    return outcome.better.isEmpty
      ? "nothing worse" : "nothing worse, \(outcome.better.map(title).joined(separator: ", ")) better"
  }

  /// Returns the changes for the worse that are told in full: the first, and behind runs that fail the next one too.
  private static func told(_ outcome: CheckOutcome) -> ArraySlice<BaselineCheck.Change> {
    if case .failures? = outcome.worse.first { return outcome.worse.prefix(2) }
    return outcome.worse.prefix(1)
  }

  /// `; this fleet does not hold even without any incident: it loses …`, or nothing.
  private static func health(_ outcome: CheckOutcome) -> String {
    if case .health? = outcome.worse.first { return "" }
    return HealthWording.sentence(outcome.check.twins).map { "; " + $0 } ?? ""
  }

  /// Tells the other changes for the worse or the better, and how many metrics moved.
  private static func rest(_ outcome: CheckOutcome, isVerbose: Bool) -> String {
    var parts: [String] = []
    let others = outcome.worse.dropFirst(told(outcome).count)
    if !others.isEmpty { parts.append("also worse: \(others.map(shortly).joined(separator: ", "))") }
    if !outcome.worse.isEmpty, !outcome.better.isEmpty {
      parts.append("better: \(outcome.better.map(shortly).joined(separator: ", "))")
    }
    let better = outcome.moved.count { $0.isBetter }
    let counts = [(better, "better"), (outcome.moved.count - better, "moved")]
    let numbers = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    if !numbers.isEmpty { parts.append(numbers + (isVerbose ? "" : " (--verbose)")) }
    if !outcome.worse.isEmpty { parts.append("if that is meant: --record") }
    return parts.joined(separator: "; ")
  }

  /// Tells which keys are not as they were recorded, and what lost the events.
  static func reason(_ outcome: CheckOutcome) -> String? {
    let keys = outcome.changedKeys.prefix(3).map { key in
      key.text + (key.place.map { " (\($0.file):\($0.line))" } ?? "")
    }
    let more = outcome.changedKeys.count - keys.count
    let changed =
      keys.joined(separator: ", ") + (more > 0 ? " and \(FigureText.count(more, "more key"))" : "")
    let parts = [changed, outcome.loss ?? ""].filter { !$0.isEmpty }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  // MARK: A change

  /// The column of `summary.csv`, or a name of the same kind for what is none.
  static func column(_ change: BaselineCheck.Change) -> String {
    switch change {
    case .health: "baseline_is_healthy"
    case .failures: "failing_runs"
    case .metric(let change): change.metric.name
    }
  }

  private static func title(_ change: BaselineCheck.Change) -> String {
    switch change {
    case .health: "health"
    case .failures: "runs that fail"
    case .metric(let change): change.metric.title
    }
  }

  /// Tells the recorded value and today's, and for a change for the worse how much was allowed.
  static func movement(_ change: BaselineCheck.Change) -> String {
    switch change {
    case .health: "whether the fleet holds its load without incidents is not as recorded"
    case .failures(let failures): self.failures(failures)
    case .metric(let change):
      movement(change) + (change.judgement == .worse ? allowed(change) : "")
    }
  }

  /// `10 of 10 runs fail (3 never recover, 7 lose more than 1 %), 0 when recorded`
  private static func failures(_ failures: BaselineCheck.Failures) -> String {
    let parts = [
      (failures.neverRecover, "never recover"), (failures.now - failures.neverRecover, "lose more than 1 %"),
    ].filter { $0.0 > 0 }
    let kinds =
      parts.count == 1 ? parts[0].1 : parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    return
      "\(failures.now) of \(failures.runs) runs fail\(kinds.isEmpty ? "" : " (\(kinds))"), \(failures.then) when recorded"
  }

  /// `recovery 36 min 30 s ± 1 s, now 12 min 32 s ± 3 s (-65.7 %)`
  private static func movement(_ change: MetricChange) -> String {
    let metric = change.metric
    var text = "\(metric.title) \(value(metric, change.recorded, change.entry.values))"
    text += ", now " + value(metric, change.present, change.now)
    if change.appearances > 0 {
      return text
        + "; in \(change.appearances) of \(change.now.count) runs it has a value in only one of the two"
    }
    return text + (share(change).map { " (\($0))" } ?? "")
  }

  /// `recovery +4.1 %`, `lost 0 → 31`
  private static func shortly(_ change: BaselineCheck.Change) -> String {
    switch change {
    case .health: title(change)
    case .failures(let failures): "runs that fail \(failures.then) → \(failures.now)"
    case .metric(let change):
      if change.censoredNow == change.now.count {
        "\(change.metric.title) never"
      } else if let share = share(change) {
        "\(change.metric.title) \(share)"
      } else {
        "\(change.metric.title) \(MetricText.value(change.metric, change.recorded.mean)) → "
          + MetricText.value(change.metric, change.present.mean)
      }
    }
  }

  /// `+4.1 %` of the recorded mean; nil where that is next to nothing, or nobody knows by how much it moved.
  private static func share(_ change: MetricChange) -> String? {
    guard abs(change.recorded.mean) > change.floor, change.censoredNow <= change.censoredThen else {
      return nil
    }
    let share = change.difference.mean / abs(change.recorded.mean)
    return (share > 0 ? "+" : "") + MetricText.plain(share * 100) + " %"
  }

  /// `better  retries 220,950 ± 476, now 57,650 ± 51 (-73.9 %)`
  private static func line(_ word: String, _ change: MetricChange) -> String {
    let name = change.metric.title == change.metric.name ? "" : "\(change.metric.name): "
    return "  " + word + String(repeating: " ", count: 7 - word.count) + name + movement(change) + "\n"
  }

  /// `; allowed is 5 % more` where somebody has said so.
  private static func allowed(_ change: MetricChange) -> String {
    let way =
      switch change.metric.direction {
      case .lowerIsBetter: "more"
      case .higherIsBetter: "less"
      case .neither: "more or less"
      }
    switch change.entry.tolerance {
    case .relative(let share): return "; allowed is \(MetricText.plain(share * 100)) % \(way)"
    case .absolute(let limit): return "; allowed is \(MetricText.value(change.metric, limit)) \(way)"
    case .notSignificantlyWorse, .informational: return ""
    }
  }

  /// `12 min ± 20 s`, `12 min ± 20 s (not within 15 min in 2 of 5 runs)`, `not within 15 min`
  private static func value(_ metric: Metric, _ sample: SampleStatistics, _ values: [MetricValue]) -> String {
    if sample.count == 0 { return "no value" }
    let text = MetricText.interval(metric, sample.mean, ConfidenceInterval(sample)?.halfWidth)
    let horizons = values.filter(\.isCensored).compactMap(\.horizon)
    guard let horizon = horizons.min() else { return text }
    let never = "not within \(MetricText.value(metric, horizon))"
    return horizons.count == values.count
      ? never
      : "\(text) (\(never) in \(horizons.count) of \(FigureText.count(values.count, "run")))"
  }

  // MARK: Machines

  /// Workflow commands: for each scenario one error, or one notice of what became better, where the key stands that changed.
  static func github(_ outcomes: [CheckOutcome]) -> String {
    var text = ""
    for outcome in outcomes {
      if let first = outcome.worse.first {
        let parts = [
          result(outcome), reason(outcome).map { "because \($0)" } ?? "", rest(outcome, isVerbose: true),
        ]
        text += annotation("error", outcome, first, parts.filter { !$0.isEmpty }.joined(separator: "; "))
      } else if let first = outcome.better.first {
        text += annotation(
          "notice", outcome, first, "better: " + outcome.better.map(movement).joined(separator: "; "))
      }
      text += heading(outcome) + "\n"
    }
    return text
  }

  private static func annotation(
    _ kind: String, _ outcome: CheckOutcome, _ change: BaselineCheck.Change, _ text: String
  ) -> String {
    let (place, title) = (outcome.place(change), "\(outcome.name): \(column(change))")
    return
      "::\(kind) file=\(Escaping.commandProperty(place.file)),line=\(place.line),title=\(Escaping.commandProperty(title))::"
      + Escaping.commandMessage(text) + "\n"
  }

  /// A suite a scenario, a case a metric and one for each criterion that is none.
  static func junit(_ outcomes: [CheckOutcome]) -> String {
    let suites = outcomes.map { outcome in
      let worse = Dictionary(
        outcome.worse.map { (column($0), movement($0)) }, uniquingKeysWith: { first, _ in first })
      let names = [column(.health), "failing_runs"] + outcome.check.changes.map(\.metric.name)
      let suite = Escaping.markup(outcome.name)
      let cases = names.map { name in
        let opening = "    <testcase classname=\"\(suite)\" name=\"\(Escaping.markup(name))\""
        return worse[name].map {
          "\(opening)>\n      <failure message=\"\(Escaping.markup($0))\"/>\n    </testcase>\n"
        } ?? "\(opening)/>\n"
      }
      return (name: suite, cases: cases, failures: worse.count)
    }
    func counts(_ cases: Int, _ failures: Int) -> String { "tests=\"\(cases)\" failures=\"\(failures)\"" }
    let all = counts(suites.reduce(0) { $0 + $1.cases.count }, suites.reduce(0) { $0 + $1.failures })
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fleetsim check\" \(all)>\n"
      + suites.map { suite in
        "  <testsuite name=\"\(suite.name)\" \(counts(suite.cases.count, suite.failures))>\n"
          + suite.cases.joined() + "  </testsuite>\n"
      }.joined() + "</testsuites>\n"
  }
}
