import FleetExperiments

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
