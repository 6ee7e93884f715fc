import FleetExperiments
import FleetMetrics
import FleetReports
import ScenarioModel
import Testing
import UploadRetry

@Suite("What a reader sees first in a report")
struct HeadlineTests {
  private let full = SyntheticFleet.result("full", wave: 0.1)
  private let none = SyntheticFleet.result("none", wave: 0.9)

  /// The variant with other figures of its summary.
  private func with(_ result: VariantResult, _ name: String, _ change: (inout RunSummary) -> Void)
    -> VariantResult
  {
    var result = result
    result.name = name
    change(&result.summary)
    return result
  }

  @Test("The page has the best first and marked, none that loses events, and says where those were lost")
  func table() throws {
    let lossy = with(full, "lossy") {
      $0.recoveryTime = 1_000_000
      $0[.droppedByOverflow] = 9_000
      $0[.droppedByRetryLimit] = 12_000
      $0.cost.mean[.devicesThatLostEvents] = 0.125
      $0.cohorts = [CohortLosses()]
      ($0.cohorts[0].createdEvents, $0.cohorts[0].lostEvents) = (210_000, 21_000)
      $0.cohorts[0].givenUp = [.droppedByOverflow: 9_000, .droppedByRetryLimit: 12_000]
    }
    func html(_ results: [VariantResult]) -> String {
      let losses = LossReport(
        results.map { Variant(name: $0.name, scenario: SearchReportTests.scenario) },
        runs: results.map { [$0.summary] })
      return TrialReport(Trial(results)).answer(Story(""), losses: losses).html(
        title: "", question: nil, command: "", version: "")
    }
    let rows = html([lossy, none, full]).components(separatedBy: "<tr>").filter {
      $0.contains("scope=\"row\"")
    }
    #expect(rows.count == 3 + 1 && rows[0].contains(">full<"))
    let row = try #require(rows.first { $0.contains(">lossy<") })
    #expect(row.contains("<small>0.15 %, on 12.5 % of the devices</small>"), "\(row)")
    #expect(row.contains("<span>21,000 <small class=\"rank\">#3</small>"), "\(row)")
    #expect(row.contains("class=\"bad\"") && !row.contains("class=\"best\""))
    #expect(rows[0].contains("class=\"best\"") && !rows[0].contains("class=\"bad\""))
    #expect(rows[3].contains(">lossy<") && rows[3].contains("<span>21,000 (10 %)</span>"))
    let causes = [
      "12,000: backoffConfig.maxRetryCount \(HTTPConfig().backoff.maxRetryCount)",
      "9,000: queue.limit \(QueuePolicy().limit)",
    ]
    #expect(rows[3].contains("<span>\(causes.joined(separator: "<br/>"))</span>"), "\(rows[3])")
    // Without losses nothing of this is shown.
    let clean = html([full, none].map { with($0, $0.name) { $0.lateEvents = 0 } })
    #expect(!clean.contains("Who lost") && !clean.contains("of the devices"))
  }

  @Test("The plot round the incident shows what is above the twin's backlog, from the incident's start on")
  func overlay() throws {
    var calm = full
    calm.record = calm.twin
    calm.record.incidents = full.record.incidents
    func plot(_ results: [VariantResult]) throws -> Chart.Section {
      try #require(ComparisonPicture(TrialReport(Trial(results))).chart.sections.first)
    }
    #expect(try plot([calm]).panels[0].curves[0].envelope.allSatisfy { $0?.mean == 0 })
    let both = try plot([none, full])
    // The outage lasts ten minutes; its damage grows and has its largest value at its end.
    #expect(both.panels[0].shades.map(\.range) == [-600_000_000...0])
    #expect(both.x.range.lowerBound < -600_000_000 && both.panels[0].labels.count == 2)
  }
}

@Suite("Counts of a scaled run are those of the whole fleet")
struct FullSizeTests {
  @Test("in the table, the verdict, the page's facts and the axes; files have them as simulated")
  func multiplied() throws {
    // 300 events in each of 300 seconds are lost.
    var result = SyntheticFleet.result("today", wave: 0.5, rows: 2_400, loses: true)
    (result.summary.scale, result.summary.lateEvents) = (1_000, 1_234)
    var several = Trial(variants: ["today"], plan: ReplicationPlan(firstSeed: 1, count: 3))
    for _ in 1...3 { several.add([result]) }
    for trial in [Trial([result]), several] {
      let report = TrialReport(trial, choices: [VariantChoice(name: "today", overrides: [])])
      let answer = report.answer(
        report.story, isComparison: false,
        scaleNote: "scale 1:1000; counts are multiplied")
      let text = answer.text(width: 100)
      #expect(text.contains("90,000,000") && text.contains("1,234,000"), "\(text)")
      // 1,200 requests a second.
      #expect(answer.facts.contains("capacity 1.2M requests/s") && answer.facts.hasSuffix("are multiplied"))
      let page = answer.html(title: "t", question: nil, command: "c", version: "v")
      #expect(page.contains("M</text>"), "an axis of requests per second")
      let rows = try #require(
        answer.data.first { [FileName.summary.rawValue, FileName.replications.rawValue].contains($0.path) })
      let csv = String(decoding: rows.bytes, as: UTF8.self)
      #expect(csv.contains(",90000,") && !csv.contains("90000000") && csv.contains(",1000\n"))
    }
  }
}
