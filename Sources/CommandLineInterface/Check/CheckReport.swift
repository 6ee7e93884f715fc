import FleetExperiments
import FleetMetrics
import FleetReports
import FleetStatistics
import TextEscaping

extension CheckOutcome {
  /// What is worse and why, or that nothing is.
  var story: Story {
    var story = Story(
      "\(name): \(finding)", basis: FigureText.count(baseline.seeds.count, "seed"))
    if case .health? = worse.first {} else { story.add(.unwell, HealthWording.sentence(check.twins)) }
    let others = worse.dropFirst(told.count).map(CheckReport.shortly)
    story.add(.worse, others.isEmpty ? nil : others.joined(separator: ", "))
    if worse.isEmpty {
      story.add(.better, better.map(CheckReport.movement), atMost: .max)
      story.add(
        .open, check.open.map { "\(CheckReport.failures($0)): not decided; --record more --seeds to tell" })
    } else {
      story.add(.better, better.isEmpty ? nil : better.map(CheckReport.shortly).joined(separator: ", "))
      story.add(.cause, reason)
      story.add(.next, "--record, if that is meant")
    }
    if check.isOfSettings, isLast {
      story.add(.note, "of these incidents alone; fleetsim decide tries others, too")
    }
    let rest = moved.count - (worse.isEmpty ? better.count : 0)
    story.add(.note, rest > 0 ? FigureText.count(rest, "other metric") + " moved (--verbose)" : nil)
    return story
  }

  /// `caught up 36 min ± 1 s → 1 h 15 min ± 2 min (+112 %)`
  private var finding: String {
    if !worse.isEmpty {
      // Beside what is shown to be worse, runs that fail come first, though these seeds alone do not tell.
      let failing = check.open.map { [CheckReport.failures($0)] } ?? []
      return (failing + told.map(CheckReport.movement)).joined(separator: "; ")
    }
    let count = check.changes.count
    if moved.isEmpty { return (count == 1 ? "its metric" : "all \(count) metrics") + " as recorded" }
    return better.isEmpty
      ? "nothing worse" : "nothing worse, \(better.map(CheckReport.title).joined(separator: ", ")) better"
  }

  /// The changes for the worse that are told in full: the first, and behind runs that fail the next one too.
  private var told: ArraySlice<BaselineCheck.Change> {
    if case .failures? = worse.first { return worse.prefix(2) }
    return worse.prefix(1)
  }

  /// Which keys are not as they were recorded, and what lost the events.
  private var reason: String? {
    let keys = changedKeys.prefix(3).map { key in
      key.text + (key.place.map { " (\($0.file):\($0.line))" } ?? "")
    }
    let more = changedKeys.count - keys.count
    let changed =
      keys.joined(separator: ", ") + (more > 0 ? " and \(FigureText.count(more, "more key"))" : "")
    let parts = [changed, loss ?? ""].filter { !$0.isEmpty }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }
}

/// The forms of what a check found.
enum CheckReport {
  static let ifMeant = "If that is meant: fleetsim check … --record"

  /// A terminal's answer on one scenario.
  static func answer(_ outcome: CheckOutcome) -> Answer {
    var story = outcome.story
    story.finding = (outcome.worse.isEmpty ? "✓ " : "✗ ") + story.finding
    var answer = Answer(story)
    let worse = outcome.check.changes.filter { $0.judgement == .worse }.map { line("worse", $0) }
    let better = outcome.moved.filter(\.isBetter).map { line("better", $0.change) }
    let others = outcome.moved.filter { !$0.isBetter }.map { line("moved", $0.change) }
    answer.details = [.text((worse + better + others).joined())]
    return answer
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

  static func title(_ change: BaselineCheck.Change) -> String {
    switch change {
    case .health: "health"
    case .failures: "failed runs"
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

  /// `10 of 10 runs fail (3 never catch up, 7 lose more than 1 %), 0 when recorded`
  static func failures(_ failures: BaselineCheck.Failures) -> String {
    let parts = [
      (failures.neverRecover, "never catch up"), (failures.now - failures.neverRecover, "lose more than 1 %"),
    ].filter { $0.0 > 0 }
    let kinds =
      parts.count == 1 ? parts[0].1 : parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    return
      "\(failures.now) of \(failures.runs) runs fail\(kinds.isEmpty ? "" : " (\(kinds))"), \(failures.then) when recorded"
  }

  /// `caught up 36 min 30 s ± 1 s → 12 min 32 s ± 3 s (-65.7 %)`
  private static func movement(_ change: MetricChange) -> String {
    let metric = change.metric
    let text =
      "\(metric.title) \(value(metric, change.recorded, change.entry.values)) → "
      + value(metric, change.present, change.now)
    if change.appearances > 0 {
      return text
        + "; in \(change.appearances) of \(change.now.count) runs it has a value in only one of the two"
    }
    return text + (share(change).map { " (\($0))" } ?? "")
  }

  /// `caught up +4.1 %`, `lost 0 → 31`
  static func shortly(_ change: BaselineCheck.Change) -> String {
    switch change {
    case .health: title(change)
    case .failures(let failures): "failed runs \(failures.then) → \(failures.now)"
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

  /// `better  retries 220,950 ± 476 → 57,650 ± 51 (-73.9 %)`
  private static func line(_ word: String, _ change: MetricChange) -> String {
    let name = change.metric.title == change.metric.name ? "" : "\(change.metric.name): "
    return word + String(repeating: " ", count: 8 - word.count) + name + movement(change) + "\n"
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
        text += annotation("error", outcome, first, outcome.story.text)
      } else if let first = outcome.better.first {
        text += annotation(
          "notice", outcome, first, "better: " + outcome.better.map(movement).joined(separator: "; "))
      }
      text += outcome.story.title + "\n"
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
