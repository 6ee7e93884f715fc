import FleetMetrics
import FleetSimulation

extension Decision {
  /// The loss of a cohort in a case, and its causes: the mean of its runs, as simulated.
  package struct Loss: Sendable {
    package var place: Int
    package var isProposed: Bool
    package var row: LossReport.Row
  }

  /// Every cohort that loses events or leaves some late, the worst first.
  package var losses: [Loss] {
    cases.indices.flatMap { place in
      [false, true].flatMap { isProposed in
        lossReport(place, isProposed: isProposed).rows.filter(\.isHarmed).map {
          Loss(place: place, isProposed: isProposed, row: $0)
        }
      }
    }.sorted { ($0.row.lost, $0.row.late) > ($1.row.lost, $1.row.late) }
  }

  private func lossReport(_ place: Int, isProposed: Bool = true) -> LossReport {
    let one = cases[place]
    let scenario = isProposed ? one.scenarios.proposed : one.scenarios.today
    return LossReport(
      [Variant(name: one.name, scenario: scenario)], runs: [isProposed ? one.compared : one.today])
  }

  /// The case with the main loss that the proposed Settings would still have, and its losses; nil: less is lost than matters.
  var remainingLoss: (place: Int, report: LossReport)? {
    guard let worst = losses.first(where: { $0.isProposed && $0.row.lost > 0 }) else { return nil }
    let created = cases[worst.place].compared.map { Double($0[.createdEvents]) }.mean ?? 0
    return worst.row.lost < Metric.relevantEvents * created
      ? nil : (worst.place, lossReport(worst.place))
  }

  /// The lost events of the case that loses most.
  var mostLost: Cell? {
    cases.flatMap(\.cells).filter { $0.metric?.name == MetricCatalogue.lost }
      .max { ($0.figures.proposed.number ?? 0) < ($1.figures.proposed.number ?? 0) }
  }

  /// Returns that case's losses, and what a run comes to with the limit raised that loses most.
  package func checkedLoss(options: RunOptions, control: ComparisonControl) throws -> LossReport? {
    var report = remainingLoss?.report
    try report?.checkLimit(options: options, control: control)
    return report
  }

  /// The case in which the proposed Settings take longest to recover, and what recovery comes to there; nil: no case has an incident.
  var longestRecovery: (place: Int, cell: Cell)? {
    cases.indices.filter { !cases[$0].incidents.isEmpty }.compactMap { place in
      cases[place].cells.first { $0.metric?.name == MetricCatalogue.recovery }.map { (place, $0) }
    }.max { recovery($0.place) < recovery($1.place) }
  }

  /// Microseconds; of a run that never recovers, up to its end.
  private func recovery(_ place: Int) -> Double {
    cases[place].compared.compactMap { $0.recoveryTime ?? $0.recoveryHorizon }.map(Double.init).mean ?? 0
  }
}
