/// A file of the output directory before it is written.
package struct OutputFile: Sendable, Hashable {
  /// Below the output directory: `summary.csv`, `full/timeseries.csv`.
  package var path: String
  package var bytes: [UInt8]

  package init(_ path: String, _ bytes: [UInt8]) {
    self.path = path
    self.bytes = bytes
  }

  package init(_ path: String, text: String) { self.init(path, Array(text.utf8)) }

  package static let timeSeries = "timeseries.csv"
  package static let deliveries = "delivery_histogram.csv"
  package static let cohorts = "cohorts.csv"
  package static let summary = "summary.csv"
  package static let statistics = "statistics.csv"
  package static let differences = "differences.csv"
  package static let replications = "replications.csv"
  package static let curves = "curves.csv"
  package static let twinTimeSeries = "twin_timeseries.csv"
  package static let openMetrics = "timeseries.openmetrics"
  package static let manifest = "run.json"
  package static let report = "report.html"
  package static let picture = "comparison.svg"
  package static let stability = "stability.csv"
  package static let stabilityPicture = "stability.svg"
  package static let rescue = "rescue.csv"
  package static let adversary = "adversary.csv"
  package static let worst = "worst.json5"
  package static let boundary = "boundary.json5"
  package static let live = "live.csv"
  package static let pareto = "pareto.csv"
  package static let paretoPicture = "pareto.svg"
  package static let draws = "draws.csv"
  package static let drawsPicture = "draws.svg"
  package static let fitted = "fitted.json5"
  package static let residuals = "residuals.csv"
  package static let calibrationPicture = "calibration.svg"
  package static let explorer = "explore.html"
  package static let settings = "settings.json"
  package static let documentSettings = "settings-document.json"
  /// Everything that fleetsim writes beside folders of variants.
  package static let topLevelNames: Set<String> = [
    timeSeries, twinTimeSeries, openMetrics, deliveries, cohorts, summary, statistics, differences,
    replications, curves, manifest, report, picture,
    explorer, stability, stabilityPicture, rescue, adversary, worst, boundary, live, pareto, paretoPicture,
    draws, drawsPicture,
    settings, documentSettings,
    fitted, residuals, calibrationPicture,
  ]
  package static let variantNames: Set<String> = [timeSeries, twinTimeSeries, deliveries, cohorts]
}
