import FleetMetrics
import ScenarioModel
import SimulationKernel

/// The shortest outage that a fleet does not stand: answered with 503 at its busiest time, most of its runs fail.
///
/// Longer ones are taken to fail too, so that halving the lengths finds it.
package struct OutageLimit: Sendable, Hashable {
  /// nil: it stands all that were tried.
  package private(set) var shortest: Span?
  /// The longest that it stands; nil: none.
  package private(set) var longest: Span?

  package static let lengths = [5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240].map { Span.minutes($0) }
  private static let seeds = 3

  /// - Parameter run: summaries of scenarios, in their order.
  package init(of scenario: Scenario, run: ([Scenario]) throws -> [RunSummary]) throws {
    var (low, high) = (-1, Self.lengths.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      let outage = IncidentSuite.outage(Self.lengths[middle], in: scenario)
      let suite = try IncidentSuite(of: scenario, given: [outage], isStandard: false)
        .lengthened(for: [scenario], run: run)
      let trial = suite.scenario(suite.cases[0], of: scenario)
      let runs = try run((0..<Self.seeds).map { trial.with(seed: trial.seed &+ UInt64($0)) })
      if runs.count(where: \.fails) * 2 > runs.count { high = middle } else { low = middle }
    }
    shortest = high < Self.lengths.count ? Self.lengths[high] : nil
    longest = low >= 0 ? Self.lengths[low] : nil
  }

  /// `1 h`, `more than 4 h`
  package var words: String {
    shortest.map { FigureText.span($0.microseconds) }
      ?? "more than \(FigureText.span(Self.lengths[Self.lengths.count - 1].microseconds))"
  }
}
