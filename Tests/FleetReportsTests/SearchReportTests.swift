import FleetExperiments
import FleetMetrics
import FleetReports
import ScenarioModel
import TestScenarios
import Testing

@Suite("Reports of searches")
struct SearchReportTests {
  static let scenario = Scenario.planted(duration: .seconds(10))

  static func result(objectives: [TuneObjective] = TuneObjective.standard) throws -> TuneResult {
    let space = try SearchSpace([
      SearchParameter("settings.backoffConfig.maxBackoffInterval=10..100:10"),
      SearchParameter("settings.backoffConfig.jitterStrategy=none,full,a<b"),
    ])
    let recording = Recording<RunSummary>(references: .none) { scenario, _, _ in
      let (a, b) = (scenario.fleet[0].devices % 100, scenario.fleet[0].devices / 100)
      var summary = RunSummary(run: "", seed: scenario.seed)
      summary.hasIncidents = true
      summary.recoveryTime = b == 2 && a > 8 ? nil : 1_000_000
      summary[.createdEvents] = 1_000
      summary.peakOfferedRatio = 2 + Double(a) / 10
      summary.recoveryHorizon = 100_000_000
      summary.affectedEvents = 1_000
      summary.affectedHorizon = 1_000_000_000
      summary.affectedDeliveryP99 = Int64(10_000_000 * (20 - a) + Int(scenario.seed))
      summary.attemptsAboveTwinPerDevice = Double(100 - 10 * b)
      return summary
    }
    let record = RunRecord(
      series: TimeSeries(interval: 1, duration: 0, rows: 0), deliveries: Histogram(), offeredPer100ms: [],
      nominalCapacityMilli: 0, incidents: [], devices: 0, longestFlushInterval: 0, cost: DeviceCost())
    let runs = Runs(recording, workers: 1, engine: { _, _, _ in record })
    var study = TuneStudy(
      space: space, todaysValues: ["10", "none"], objectives: objectives, requirements: [],
      scenarios: ["short", "long, silent"], seeds: 3)
    study.candidates = 30
    var tuner = Tuner(study, runs: runs) { candidate, place in
      var scenario = scenario
      let choices = candidate.choices
      scenario.fleet[0].devices = 1 + (choices[0] ?? 0) + 100 * (choices[1] ?? 0)
      scenario.duration = .seconds(Int64(10 + place))
      return scenario
    }
    return try tuner.run()
  }

  @Test("a search's report leads with the verdict and is well-formed, with one objective as with four")
  func tune() throws {
    for objectives in try [TuneObjective.standard, [TuneObjective("affected_delivery_p99_s")]] {
      let result = try Self.result(objectives: objectives)
      let answer = result.answer(
        result.story, facts: "30 candidates", settings: ("{ \"a\": 1 }", "{}"), readings: ["phones read it"])
      let html = answer.html(title: "tuned", question: nil, command: "fleetsim tune", version: "1")
      HTMLReportTests.check(html)
      try HTMLReportTests.check(
        html,
        has: [
          "Change ", "<dt>cause</dt>", ">Candidates<", "The Settings to publish", "Against today",
          "phones read it", "fleetsim tune",
        ])
      #expect(html.contains("a&lt;b"))
      PictureTests.check(result.chart)
    }
  }

  @Test("pareto.csv has the recommended Settings first, then every candidate, all rows as wide as the header")
  func pareto() throws {
    let result = try Self.result()
    let table = String(decoding: CSVFile.bytes(result.columns, result.rows), as: UTF8.self)
    let lines = table.split(separator: "\n")
    #expect(lines.count == 2 + result.standings.count)
    #expect(lines[1].hasPrefix("0,recommended,3,1:1,0.000000,0."))
    #expect(
      lines[0].contains("affected_delivery_judged_s_vs_today_ratio")
        && lines[0].contains("\"long, silent_score_ratio\""))
    let width = lines[1].split(separator: ",", omittingEmptySubsequences: false).count
    #expect(
      lines.dropFirst().allSatisfy {
        $0.split(separator: ",", omittingEmptySubsequences: false).count == width
      })
    #expect(lines.contains { $0.contains(",broken,") } && lines.contains { $0.contains(",front,") })
    #expect(lines.count { $0.contains(",today,") } == 1)
  }
}
