import FleetExperiments
import FleetReports
import TextEscaping

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
  /// Those first that lose the events.
  let changedKeys: [ChangedKey]
  /// Whether it is the last of those that are told, which says what holds of all.
  let isLast: Bool
  /// The cause that gave up events that were not lost when recorded; nil: no loss is worse.
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

  /// Where the likeliest cause of what moved stands: a changed key in a file, else the metric in the baseline.
  func place(_ change: BaselineCheck.Change) -> (file: String, line: Int) {
    changedKeys.lazy.compactMap(\.place).first ?? (baselinePath, change.line)
  }

  /// What is worse and why, or that nothing is.
  var story: Story {
    var story = Story(
      "\(name): \(finding)", basis: FigureText.count(baseline.seeds.count, "seed"))
    if worse.first?.criterion != .health {
      story.add(.unwell, HealthWording.sentence(check.runs.map(\.baseline)))
    }
    let others = worse.dropFirst(told.count).map(\.shortly)
    story.add(.worse, others.isEmpty ? nil : others.joined(separator: ", "))
    if worse.isEmpty {
      story.add(.better, better.map(movement), atMost: .max)
      story.add(.open, check.open.map { "\(movement($0)): not decided; --record more --seeds to tell" })
    } else {
      story.add(.better, better.isEmpty ? nil : better.map(\.shortly).joined(separator: ", "))
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
      // Runs that fail come first, though these seeds alone do not tell.
      return ([check.open].compactMap(\.self) + told).map(movement).joined(separator: "; ")
    }
    let count = check.metrics.count
    if moved.isEmpty { return (count == 1 ? "its metric" : "all \(count) metrics") + " as recorded" }
    return better.isEmpty
      ? "nothing worse" : "nothing worse, \(better.map(\.title).joined(separator: ", ")) better"
  }

  /// The changes for the worse told in full: the first, and behind runs that fail the next.
  private var told: ArraySlice<BaselineCheck.Change> {
    worse.prefix(worse.first?.criterion == .failures ? 2 : 1)
  }

  /// What it was and what it is, and for a change for the worse how much was allowed.
  fileprivate func movement(_ change: BaselineCheck.Change) -> String {
    let text =
      "\(change.title) \(change.figures.then.withInterval()) → \(change.figures.now.withInterval())"
    guard change.metric != nil else {
      let reasons = check.runs.failureReasons
      return text + (change.criterion == .health || reasons.isEmpty ? "" : " (\(reasons))")
    }
    return text
      + (change.appearances > 0
        ? "; in \(change.appearances) of \(baseline.seeds.count) runs it has a value in only one of the two"
        : change.shareText.map { " (\($0))" } ?? "") + change.allowed
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

  /// A terminal's answer.
  var answer: Answer {
    var story = story
    story.finding = (worse.isEmpty ? "✓ " : "✗ ") + story.finding
    var answer = Answer(story)
    func lines(_ word: String, _ changes: [BaselineCheck.Change]) -> [String] {
      changes.map { change in
        let name = change.title == change.column ? "" : "\(change.column): "
        return word.padded(to: 8) + name + movement(change) + "\n"
      }
    }
    answer.details = [
      .text(
        (lines("worse", check.metrics.filter { $0.judgement == .worse })
          + lines("better", moved.filter(\.isBetter).map(\.change))
          + lines("moved", moved.filter { !$0.isBetter }.map(\.change))).joined())
    ]
    return answer
  }
}

extension BaselineCheck.Change {
  /// `caught up +4.1 %`, `lost 0 → 31`
  fileprivate var shortly: String {
    "\(title) " + (figures.now.isNever ? "never" : shareText ?? "\(figures.then.text) → \(figures.now.text)")
  }

  /// `+4.1 %` of the recorded mean.
  fileprivate var shareText: String? {
    share.map { ($0 > 0 ? "+" : "") + MetricText.plain($0 * 100) + " %" }
  }

  /// `; allowed is 5 % more` where it is worse, and somebody has said so.
  fileprivate var allowed: String {
    guard judgement == .worse, let metric, let recorded else { return "" }
    let way =
      switch metric.direction {
      case .lowerIsBetter: "more"
      case .higherIsBetter: "less"
      case .neither: "more or less"
      }
    switch recorded.tolerance {
    case .relative(let share): return "; allowed is \(MetricText.plain(share * 100)) % \(way)"
    case .absolute(let limit): return "; allowed is \(MetricText.value(metric, limit)) \(way)"
    case .notSignificantlyWorse, .informational: return ""
    }
  }
}

// MARK: - Machines

/// The forms of what a check found that programs read.
enum CheckReport {
  /// Workflow commands: for each scenario one error, or one notice of what became better, where the key stands that changed.
  static func github(_ outcomes: [CheckOutcome]) -> String {
    var text = ""
    for outcome in outcomes {
      if let first = outcome.worse.first {
        text += annotation("error", outcome, first, outcome.story.text)
      } else if let first = outcome.better.first {
        text += annotation(
          "notice", outcome, first, "better: " + outcome.better.map(outcome.movement).joined(separator: "; "))
      }
      text += outcome.story.title + "\n"
    }
    return text
  }

  private static func annotation(
    _ kind: String, _ outcome: CheckOutcome, _ change: BaselineCheck.Change, _ text: String
  ) -> String {
    let (place, title) = (outcome.place(change), "\(outcome.name): \(change.column)")
    return
      "::\(kind) file=\(Escaping.commandProperty(place.file)),line=\(place.line),title=\(Escaping.commandProperty(title))::"
      + Escaping.commandMessage(text) + "\n"
  }

  /// A suite a scenario, a case a metric and one for each criterion that is none.
  static func junit(_ outcomes: [CheckOutcome]) -> String {
    func opening(_ element: String, _ name: String, _ outcomes: [CheckOutcome]) -> String {
      let cases = outcomes.reduce(0) { $0 + $1.check.changes.count }
      let failures = outcomes.reduce(0) { $0 + $1.worse.count }
      return "<\(element) name=\"\(Escaping.markup(name))\" tests=\"\(cases)\" failures=\"\(failures)\">\n"
    }
    let suites = outcomes.map { outcome in
      let cases = outcome.check.changes.map { change in
        let names = [outcome.name, change.column].map(Escaping.markup)
        let start = "    <testcase classname=\"\(names[0])\" name=\"\(names[1])\""
        if change.judgement != .worse { return start + "/>\n" }
        let message = Escaping.markup(outcome.movement(change))
        return start + ">\n      <failure message=\"\(message)\"/>\n    </testcase>\n"
      }
      return "  " + opening("testsuite", outcome.name, [outcome]) + cases.joined() + "  </testsuite>\n"
    }
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + opening("testsuites", "fleetsim check", outcomes)
      + suites.joined() + "</testsuites>\n"
  }
}

// MARK: - JSON

extension CheckOutcome {
  /// Of all scenarios.
  static let document = CommandDocument<[CheckOutcome]>(
    meaning: "what moved against the baseline.",
    shape: JSONShape([
      .init("verdict", "A sentence for each scenario.") {
        $0.map(\.story.finding).joined(separator: "\n")
      },
      .init("isWorse", "Whether something is worse than its tolerance allows: the exit code is 1.") {
        $0.contains { !$0.worse.isEmpty }
      },
      .list("scenarios", "In the order asked for.", scenario) { $0 },
    ]))

  private static let scenario = JSONShape<CheckOutcome>(
    [
      .init("scenario", "The scenario file as it was named.") { $0.scenarioPath },
      .init("name", "Its name in the baseline.") { $0.name },
      .init("baseline", "The baseline's file.") { $0.baselinePath },
      .init("set", "`path=value`, as recorded.") { $0.baseline.overrides },
      .init("firstSeed", "The first seed.") { $0.baseline.seeds.first },
      .init("seedCount", "How many seeds from there on.") { $0.baseline.seeds.count },
    ] + JSONShape.told(\.story) + [
      .init(
        "worse",
        "Columns of what is worse, in the verdict's order; `failing_runs` and `baseline_is_healthy` are among them."
      ) {
        $0.worse.map(\.column)
      },
      .init(
        "better", "The same of the criteria that became better, but for what may follow from something worse."
      ) {
        $0.better.map(\.column)
      },
      .init(
        "lossCause",
        "What gave up the events that were not lost when it was recorded; null: nothing more was lost."
      ) {
        $0.loss
      },
      .list("changedKeys", "In what the scenario is not what was recorded.", changedKey) { $0.changedKeys },
      .init(
        "recordedFailures",
        "Runs that never recovered or lost over 1 % of the affected events then; null where the baseline does not know."
      ) { outcome in
        outcome.check.changes.contains { $0.criterion == .failures } ? outcome.check.failing.then : nil
      },
      .init("presentFailures", "The same now.") { $0.check.failing.now },
      .list("metrics", "Every metric of the baseline.", change) { $0.check.metrics },
    ])

  private static let changedKey = JSONShape<CheckOutcome.ChangedKey>([
    .init("path", "The key, as `--set` writes it.") { $0.path },
    .init("change", "The key, its value then and its value now.") { $0.text },
    .init("file", "Where it stands; null: an option of the command line gave it.") { $0.place?.file },
    .init("line", "The line there.") { $0.place?.line },
  ])

  private static let change = JSONShape<BaselineCheck.Change>([
    .init("metric", "Column of `summary.csv`.") { $0.column },
    .init("unit", "Of the figures that follow.") { $0.metric?.unit ?? "" },
    .choice(
      "level",
      "`worse`: by more than is allowed; `tolerated`: moved, and that is allowed; `unchanged`: every seed as recorded."
    ) { $0.judgement },
    .anything("tolerance", "As it stands in the baseline.", ["string", "object"]) {
      .raw(BaselineFile.text($0.recorded?.tolerance ?? .informational))
    },
    .init("recordedMean", "Mean over the seeds then; null: no run had a value.") { $0.means.then },
    .init("presentMean", "Mean over the seeds now.") { $0.means.now },
    .init("difference", "Mean of now minus then, seed by seed; of times up to the shorter of both horizons.")
    { $0.difference.sample.count > 0 ? $0.difference.mean : nil },
    .init("differenceLow95", "Lower end of its 95 % interval (paired t).") { $0.difference.interval()?.low },
    .init("differenceHigh95", "Upper end of the same.") { $0.difference.interval()?.high },
    .init("appearances", "Runs that have a value in only one of the two.") { $0.appearances },
    .init("line", "Where the metric stands in the baseline.") { $0.line },
  ])
}
