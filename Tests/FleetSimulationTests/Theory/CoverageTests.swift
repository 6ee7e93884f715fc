import FleetStatistics
import Foundation
import SimulationKernel
import TestSupport
import Testing

/// How often a 95 % interval from replications holds the expected value, where that is known: the mean wait of M/M/1.
///
/// Repetition r makes ten runs of fixed length with the seeds 10 r + 1 … 10 r + 10 and forms the interval that `compare` does.
/// With `FLEETSIM_COVERAGE=1000` there are as many repetitions and the result is printed (experiments/coverage).
@Suite struct CoverageTests {
  private static let asked =
    ProcessInfo.processInfo.environment["FLEETSIM_COVERAGE"].flatMap(Int.init)
  private static let replications = 10
  private static let utilisation = 0.5
  private static let arrivals = 4_000
  private static let warmUp = 0.1

  private struct Outcome {
    var repetitions = 0
    var holding = 0
    var tooLow = 0
    var means = SampleStatistics()
    var widths = SampleStatistics()
    var coverage: Double { Double(holding) / Double(repetitions) }
  }

  private func repeated(_ repetitions: Int) throws -> (Outcome, theory: Double) {
    let service = Span(microseconds: Int64(Self.utilisation * 10_000))
    let theory =
      QueueingTheory.waitMMc(servers: 1, utilisation: Self.utilisation) * Double(service.microseconds)
    var outcome = Outcome()
    for repetition in 0..<repetitions {
      var sample = SampleStatistics()
      for replication in 1...Self.replications {
        let fleet = OpenFleet(
          serviceTime: .exponential(mean: service), arrivals: Self.arrivals,
          seed: UInt64(repetition * Self.replications + replication), rows: 10)
        let wait = try fleet.meanWait(warmUp: Self.warmUp)
        sample.add(wait)
        outcome.means.add(wait)
      }
      let interval = try #require(ConfidenceInterval(sample))
      outcome.repetitions += 1
      if interval.contains(theory) { outcome.holding += 1 }
      if interval.high < theory { outcome.tooLow += 1 }
      outcome.widths.add(interval.halfWidth)
    }
    return (outcome, theory)
  }

  @Test("Of 95 % intervals of an M/M/1 wait about 95 % hold the textbook's value")
  func coverage() throws {
    let (outcome, theory) = try repeated(Self.asked ?? TestDepth.cases(40, exhaustively: 60))
    let bias = try #require(ConfidenceInterval(outcome.means))
    if Self.asked != nil { Self.report(outcome, theory, bias) }
    // 1,000 repetitions: 95 % ± 1.5 %, about two standard deviations of such a count; fewer spread more.
    let bound = 0.015 * (1_000 / Double(outcome.repetitions)).squareRoot()
    #expect(abs(outcome.coverage - 0.95) <= bound, "\(outcome.holding) of \(outcome.repetitions)")
    // The bias of a single run is small beside the half width of ten.
    #expect(abs(bias.mean - theory) <= outcome.widths.mean / 10, "\(bias) against \(theory)")
  }

  private static func report(_ outcome: Outcome, _ theory: Double, _ bias: ConfidenceInterval) {
    let holds = WilsonInterval(successes: outcome.holding, of: outcome.repetitions)
    func text(_ value: Double, _ format: String) -> String { String(format: format, value) }
    func percent(_ value: Double, _ format: String = "%.1f") -> String { text(value * 100, format) + " %" }
    let bound = "\(percent(holds.low)) to \(percent(holds.high))"
    let relative =
      "\(percent((bias.mean - theory) / theory, "%+.2f")) +- \(percent(bias.halfWidth / theory, "%.2f"))"
    print(
      """
      COVERAGE M/M/1, utilisation \(utilisation), \(arrivals) arrivals a run, the first \(Int(warmUp * 100)) % deleted
      COVERAGE expected wait            \(text(theory, "%.1f")) us
      COVERAGE repetitions              \(outcome.repetitions) of \(replications) runs each, seeds 1 to \(outcome.repetitions * replications)
      COVERAGE intervals that hold it   \(outcome.holding): \(percent(outcome.coverage)) (95 % interval of that share: \(bound))
      COVERAGE wholly below it          \(outcome.tooLow)
      COVERAGE wholly above it          \(outcome.repetitions - outcome.holding - outcome.tooLow)
      COVERAGE mean half width          \(text(outcome.widths.mean, "%.1f")) us: \(percent(outcome.widths.mean / theory)) of the expected wait
      COVERAGE mean of all runs         \(text(bias.mean, "%.2f")) +- \(text(bias.halfWidth, "%.2f")) us: bias \(relative)
      """)
  }
}
