/// A file of the output directory before it is written.
package struct OutputFile: Sendable, Hashable {
  /// Below the output directory: `summary.csv`, `full/timeseries.csv`.
  package var path: String
  package var bytes: [UInt8]

  package init(_ path: String, _ bytes: [UInt8]) {
    self.path = path
    self.bytes = bytes
  }

  static let timeSeries = "timeseries.csv"
  static let deliveries = "delivery_histogram.csv"
  static let cohorts = "cohorts.csv"
  static let summary = "summary.csv"
  static let statistics = "statistics.csv"
  static let differences = "differences.csv"
  static let replications = "replications.csv"
  static let curves = "curves.csv"
  static let twinTimeSeries = "twin_timeseries.csv"
  static let openMetrics = "timeseries.openmetrics"
  static let manifest = "run.json"
  static let report = "report.html"
  static let picture = "comparison.svg"
  static let stability = "stability.csv"
  static let stabilityPicture = "stability.svg"
  static let rescue = "rescue.csv"
  static let adversary = "adversary.csv"
  static let worst = "worst.json5"
  static let boundary = "boundary.json5"
  static let live = "live.csv"
  static let pareto = "pareto.csv"
  static let paretoPicture = "pareto.svg"
  static let draws = "draws.csv"
  static let drawsPicture = "draws.svg"
  static let fitted = "fitted.json5"
  static let residuals = "residuals.csv"
  static let calibrationPicture = "calibration.svg"
  static let explorer = "explore.html"
  static let settings = "settings.json"
  static let documentSettings = "settings-document.json"
  /// Everything that fleetsim writes beside folders of variants.
  static let topLevelNames: Set<String> = [
    timeSeries, twinTimeSeries, openMetrics, deliveries, cohorts, summary, statistics, differences,
    replications, curves, manifest, report, picture,
    explorer, stability, stabilityPicture, rescue, adversary, worst, boundary, live, pareto, paretoPicture,
    draws, drawsPicture,
    settings, documentSettings,
    fitted, residuals, calibrationPicture,
  ]
  static let variantNames: Set<String> = [timeSeries, twinTimeSeries, deliveries, cohorts]
}
