import FleetMetrics
import FleetSimulation
import ScenarioModel
import Synchronization

/// Runs a scenario with many values and seeds, and keeps of each run what can be compared with an observed series.
package final class SeriesRunner: Sendable {
  private let study: CalibrationStudy
  /// What the journal's names have of the study.
  private let asked: String
  private let scenario: @Sendable (_ values: [String]) throws -> Scenario
  private let journal: TrialJournal?
  private let workers: Int
  private let control: ComparisonControl
  private let tally = Mutex((made: 0, readBack: 0))

  /// - Parameter scenario: with those values of the study's keys, and with the interval of the observed series.
  package init(
    _ study: CalibrationStudy, workers: Int, control: ComparisonControl = .init(),
    journal: TrialJournal? = nil,
    scenario: @escaping @Sendable (_ values: [String]) throws -> Scenario
  ) {
    self.study = study
    asked =
      study.weights.map(\.column.rawValue).joined(separator: ",")
      + study.observed.rows.map(String.init).joined(separator: ",")
    self.workers = max(1, workers)
    self.control = control
    self.journal = journal
    self.scenario = scenario
  }

  /// Runs made anew and runs found in the journal.
  package var runs: (made: Int, readBack: Int) { tally.withLock { $0 } }

  /// In the order of the requests, which nothing else depends on.
  /// - Throws: `CancellationError` after the control's `cancel()`; otherwise the first error of a run or of the journal.
  package func counts(_ requests: [Calibrator.Request]) throws -> [SeriesCounts] {
    let results = Mutex<[SeriesCounts?]>(Array(repeating: nil, count: requests.count))
    let next = Mutex(0)
    try Workers.run(min(workers, requests.count), control: control) {
      let index = next.withLock { next in
        defer { next += 1 }
        return next
      }
      guard index < requests.count else { return false }
      let counts = try self.counts(requests[index])
      results.withLock { $0[index] = counts }
      return true
    }
    return results.withLock { $0.compactMap(\.self) }
  }

  private func counts(_ request: Calibrator.Request) throws -> SeriesCounts {
    var scenario = try scenario(request.values)
    scenario.seed &+= UInt64(request.seed)
    scenario.question = nil
    let name = journal?.name(scenario.normalisedJSON + asked)
    if let name, let kept = try journal?.read(name).flatMap({ self.counts(from: $0) }) {
      tally.withLock { $0.readBack += 1 }
      return kept
    }
    let slot = control.add(scenario)
    var options = RunOptions()
    if workers > 1 { options.threads = 1 }
    let record = try Simulation.run(scenario, options: options, control: control.runControl(slot))
    control.finish(slot)
    let counts = study.counts(of: record.series)
    if let name { try journal?.write(name, Self.text(counts)) }
    tally.withLock { $0.made += 1 }
    return counts
  }

  // MARK: Journal

  /// A line for each column.
  private static func text(_ counts: SeriesCounts) -> String {
    counts.values.map { column in column.map { String(Int64($0)) }.joined(separator: ",") + "\n" }.joined()
  }

  private func counts(from text: String) -> SeriesCounts? {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == study.weights.count + 1, lines.last == "" else { return nil }
    let values = lines.dropLast().map { $0.split(separator: ",").compactMap { Int64($0).map(Double.init) } }
    return values.allSatisfy { $0.count == study.observed.rows.count } ? SeriesCounts(values: values) : nil
  }
}

extension CalibrationStudy {
  /// What a run has in the rows of the observed series; nothing where it has ended before.
  package func counts(of series: TimeSeries) -> SeriesCounts {
    let rows = series.rows
    return SeriesCounts(
      values: weights.map { weight in
        observed.rows.map { $0 < rows.count ? Double(weight.column.count(rows[rows.startIndex + $0])) : 0 }
      })
  }
}
