import FleetExperiments
import FleetSimulation

/// Runs a comparison on other threads while this one draws progress and listens for signals.
struct BackgroundComparison {
  var variants: [Variant]
  var options: RunOptions
  var workers: Int
  var environment: CommandEnvironment

  /// - Throws: what `Comparison.run` throws; `CommandFailure` 130, 131 or 143 on a signal, within a second.
  func run(showsProgress: Bool) throws -> ([VariantResult], ComparisonControl.Progress) {
    let control = ComparisonControl()
    let work = BackgroundWork(
      work: { [variants, options, workers] in
        try Comparison.run(variants, options: options, workers: workers, control: control)
      }, cancel: control.cancel, progress: { control.progress }, environment: environment)
    return (try work.run(showsProgress: showsProgress), control.progress)
  }
}
