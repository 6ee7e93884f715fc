import FleetMetrics
import FleetSimulation

extension Decision {
  /// The loss of a cohort in a case, and its causes: the mean of its runs, as simulated.
  package struct Loss: Sendable {
    package var place: Int
    package var isProposed: Bool
    package var row: LossReport.Row
  }

  /// Both Settings with their runs of a case.
  private func lossReport(_ place: Int) -> LossReport {
    let one = cases[place]
    let variants = [("today", one.scenarios.today), ("proposed", one.scenarios.proposed)].map {
      Variant(name: $0, scenario: $1)
    }
    return LossReport(variants, runs: [one.today, one.compared])
  }

  /// Every cohort that loses events or leaves some late, the worst first.
  package var losses: [Loss] {
    cases.indices.flatMap { place in
      lossReport(place).rows.filter(\.isHarmed).map {
        Loss(place: place, isProposed: $0.variant == 1, row: $0)
      }
    }.sorted { ($0.row.lost, $0.row.late) > ($1.row.lost, $1.row.late) }
  }

  /// Returns the share of so many events in all events that a case's runs create.
  func share(_ events: Double, _ place: Int) -> Double {
    let created = cases[place].compared.map { Double($0[.createdEvents]) }.mean ?? 0
    return created > 0 ? events / created : 0
  }

  /// Finds the main loss that the proposed Settings would still have. A run of its own raises the limit that causes it, and tells
  /// whether that would end it. `nil`: nothing is lost to a limit.
  package func checkedLoss(options: RunOptions, control: ComparisonControl) throws -> CheckedLoss? {
    guard let worst = losses.first(where: { $0.isProposed && $0.row.lost > 0 }) else { return nil }
    let one = cases[worst.place]
    var report = LossReport(
      [Variant(name: "proposed", scenario: one.scenarios.proposed)], runs: [one.compared])
    try report.checkLimit(of: worst.row.place, options: options, control: control)
    return report.check.flatMap { check in
      check.outcome.flatMap { outcome in
        outcome.lost < check.before ? CheckedLoss(loss: worst, value: check.value, left: outcome.lost) : nil
      }
    }
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

  /// The worst loss, and what a run with a higher limit, or without it, comes to.
  package struct CheckedLoss: Sendable {
    package var loss: Loss
    /// The limit's highest value that Settings allow; nil: it was taken away.
    package var value: String?
    /// Events that the cohort loses with the higher limit in the run that lost the most, as simulated.
    package var left: Int64
  }
}
