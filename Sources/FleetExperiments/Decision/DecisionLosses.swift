import FleetMetrics
import FleetSimulation

extension Decision {
  /// What cohorts lose or have late: a variant for each case with today's Settings, then the proposed.
  package var losses: LossReport {
    let reports = cases.flatMap { one in
      [
        (Variant(name: one.name, scenario: one.scenarios.today), one.today),
        (Variant(name: one.name, scenario: one.scenarios.proposed), one.compared),
      ]
    }
    return LossReport(reports.map(\.0), runs: reports.map(\.1))
  }

  /// The case with the main loss that the proposed Settings would still have, and its losses; nil: less is lost than matters.
  package var remainingLoss: (place: Int, report: LossReport)? {
    guard let worst = losses.rows.first(where: { $0.variant % 2 == 1 && $0.lost > 0 }) else { return nil }
    let one = cases[worst.variant / 2]
    let created = one.compared.map { Double($0[.createdEvents]) }.mean ?? 0
    if worst.lost < Metric.relevantEvents * created { return nil }
    return (
      worst.variant / 2,
      LossReport([Variant(name: one.name, scenario: one.scenarios.proposed)], runs: [one.compared])
    )
  }

  /// The lost events of the case that loses most.
  var mostLost: Cell? {
    cases.flatMap(\.cells).filter { $0.metric?.name == MetricCatalogue.lost }
      .max { ($0.figures.proposed.number ?? 0) < ($1.figures.proposed.number ?? 0) }
  }

  /// The case in which the proposed Settings take longest to recover, and what recovery comes to there; nil: no case has an incident.
  var longestRecovery: (place: Int, cell: Cell)? {
    cases.indices.filter { cases[$0].hasIncidents }.compactMap { place in
      cases[place].cells.first { $0.metric?.name == MetricCatalogue.recovery }.map { (place, $0) }
    }.max { recovery($0.place) < recovery($1.place) }
  }

  /// Microseconds; of a run that never recovers, up to its end.
  private func recovery(_ place: Int) -> Double {
    cases[place].compared.compactMap { $0.recoveryTime ?? $0.recoveryHorizon }.map(Double.init).mean ?? 0
  }
}
