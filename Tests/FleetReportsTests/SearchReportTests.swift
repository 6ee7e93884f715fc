import FleetExperiments
import FleetMetrics
import FleetReports
import Foundation
import ScenarioModel
import SimulationKernel
import TAPIModel
import Testing

@Suite("Reports of stability maps and searches")
struct SearchReportTests {
  static func scenario(seed: UInt64 = 1) -> Scenario {
    let server = TAPIConfiguration.Server.bucket(
      TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000, burst: 1))
    return Scenario(
      seed: seed, duration: .seconds(10), tapi: TAPIConfiguration(server: server),
      fleet: [Cohort(name: "phones", devices: 1, events: .poisson(meanGap: .seconds(1)))])
  }

  static func map(
    risk: StabilityRisk = .init(), _ recovers: @escaping (Double, Double) -> Bool
  ) throws -> StabilityMap {
    var asked: [(Double, Double)] = []
    // As many scenarios as seeds are made of each pair that is asked for.
    var seen = 0
    return try StabilityMap(
      x: QuantityRange("tapi.bucket.capacity=100/s..200/s"),
      y: QuantityRange("tapi.incidents.0.for=1m..60m:log"),
      resolution: .init(coarse: 4, fine: 16), risk: risk,
      scenario: { x, y in
        asked.append((Quantity(x)!.value, Quantity(y)!.value / 60e6))
        return scenario()
      },
      run: { scenarios in
        let pairs = Array(asked[seen...])
        seen = asked.count
        return scenarios.enumerated().map { index, _ in
          let (x, y) = pairs[index * pairs.count / scenarios.count]
          var summary = RunSummary(run: "", seed: 1)
          summary.hasIncidents = true
          summary.recoveryTime = recovers(x, y) ? Int64(y * 30e6) : nil
          return summary
        }
      })
  }

  @Test("beside a stretch that recovers stands its slowest run, not its slowest mean")
  func slowestRun() throws {
    var runs = 0
    let map = try StabilityMap(
      x: QuantityRange("tapi.bucket.capacity=100/s..200/s"),
      y: QuantityRange("tapi.incidents.0.for=1m..60m"), resolution: .init(coarse: 1, fine: 1),
      scenario: { _, _ in Self.scenario() },
      run: { scenarios in
        scenarios.map { _ in
          runs += 1
          var summary = RunSummary(run: "", seed: 1)
          summary.hasIncidents = true
          summary.recoveryTime = runs == 3 ? 20_000_000 : 1_000_000
          return summary
        }
      })
    let rows = StabilityVerdict(map).rows.map(\.outcome)
    #expect(rows.contains { $0.hasSuffix("(its slowest run in 20 s)") }, "\(rows)")
  }

  static func checkDocument(_ html: String) {
    #expect(HTMLReportTests.problem(in: html) == nil)
    for forbidden in ["<script", "javascript:", "src=", "@import", "url(", "<link", "onload"] {
      #expect(!html.contains(forbidden), "\(forbidden)")
    }
    #expect(html.contains("prefers-color-scheme:dark") && html.contains("@media print"))
    #expect(!html.contains("nan") && !html.contains("inf\""))
  }

  @Test(
    "a stability report leads with the verdict, is well-formed, and shows the values of each cell under the pointer"
  )
  func stability() throws {
    let map = try Self.map { x, y in y < (x - 90) / 4 }
    let report = StabilityReport(map)
    let html = report.answer(facts: "one seed").html(
      title: "cliff", question: "Where?", command: "fleetsim stability", version: "1")
    Self.checkDocument(html)
    let verdict = try #require(html.firstRange(of: "There is a cliff"))
    let picture = try #require(html.firstRange(of: "<svg"))
    #expect(verdict.lowerBound < picture.lowerBound)
    #expect(html.components(separatedBy: "<title>").count - 2 == map.grid.cells.count)
    #expect(html.contains("all corners: rarely recovers") && html.contains("recovery time: "))
    #expect(HTMLReportTests.problem(in: report.picture) == nil)
    #expect(html.utf8.count < 200_000)
    #expect(!html.contains("you are here"))
    let x = try #require(map.x.ticks.first)
    let y = try #require(map.y.ticks.first)
    #expect(StabilityReport(map, own: (x, y)).picture.contains(">you are here<"))
    let outside = Quantity(value: map.x.high.value * 2, unit: map.x.low.unit)
    #expect(!StabilityReport(map, own: (outside, y)).picture.contains("you are here"))
  }

  @Test("a map says how long ill runs take: in its verdict, its rows, under the pointer and in stability.csv")
  func escapes() throws {
    // Where it does not recover at once, one run in eight does after an hour, and the others are ill for two.
    let map = try StabilityMap(
      x: QuantityRange("tapi.bucket.capacity=100/s..200/s"), y: QuantityRange("tapi.incidents.0.for=1m..60m"),
      resolution: .init(coarse: 1, fine: 2), risk: .init(risk: 0.5, most: 8),
      scenario: { _, y in
        var scenario = Self.scenario()
        scenario.fleet[0].devices = (Quantity(y)?.value ?? 0) < 10 * 60e6 ? 1 : 2
        return scenario
      },
      run: { scenarios in
        scenarios.map { scenario in
          var summary = RunSummary(run: "", seed: 1)
          (summary.hasIncidents, summary.recoveryHorizon) = (true, 7_200_000_000)
          summary.recoveryTime =
            scenario.fleet[0].devices == 1 ? 1_000_000 : scenario.seed == 3 ? 3_600_000_000 : nil
          return summary
        }
      })
    let answer = StabilityReport(map).answer(facts: "")
    #expect(
      answer.story.finding.contains(" There an ill fleet comes back by chance after "),
      "\(answer.story.finding)")
    #expect(StabilityVerdict(map).rows.contains { $0.outcome.contains(" (ill runs back after ") })
    let page = answer.html(title: "", question: nil, command: "", version: "")
    #expect(page.contains("ill runs back after "))
    let lines = String(decoding: map.table.csv, as: UTF8.self).split(separator: "\n")
    #expect(
      lines[0].hasSuffix(
        ",ill_seeds,escaped_seeds,ill_s,escape_mean_s,escape_low_95_s,escape_high_95_s,escape_trend"))
    #expect(lines[1].hasSuffix(",0,0,0.000000,,,,"), "\(lines[1])")
    // Beside the cliff a point has eight runs: 58 min of the one that came back, 118 min of each of the others.
    #expect(lines[4].contains(",8,1,53040.000000,53040.000000,"), "\(lines[4])")
  }

  @Test("stability.csv has a row for each point, and a map without a cliff says so")
  func table() throws {
    let map = try Self.map { _, _ in true }
    let lines = String(decoding: map.table.csv, as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 26)
    // Four seeds at each of the four corners of its cell.
    #expect(lines[1].contains(",1.000,16,30.000000,"), "\(lines[1])")
    #expect(lines[1].hasPrefix("100/s,1m,recovers,4,4,4,0.806"))
    #expect(StabilityVerdict(map).sentence.hasPrefix("The fleet recovers everywhere"))
    #expect(StabilityVerdict(try Self.map { _, _ in false }).sentence.hasPrefix("The fleet rarely recovers"))
  }

  static func result(objectives: [TuneObjective] = TuneObjective.standard) throws -> TuneResult {
    let space = try SearchSpace([
      SearchParameter("settings.backoffConfig.maxBackoffInterval=10..100:10"),
      SearchParameter("settings.backoffConfig.jitterStrategy=none,full,a<b"),
    ])
    let recording = Recording<RunSummary>(needsReferences: false) { scenario, _, _ in
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
    let maker = CandidateRuns(runs) { request in
      var scenario = scenario()
      let choices = request.candidate.choices
      scenario.fleet[0].devices = 1 + (choices[0] ?? 0) + 100 * (choices[1] ?? 0)
      scenario.duration = .seconds(Int64(10 + request.scenario))
      return scenario
    }
    var study = TuneStudy(
      space: space, todaysValues: ["10", "none"], objectives: objectives, constraints: [],
      scenarios: ["short", "long, silent"], seeds: 3)
    study.candidates = 30
    var tuner = Tuner(study, runs: maker)
    return try tuner.run()
  }

  @Test("a search's report leads with the verdict and is well-formed, with one objective as with four")
  func tune() throws {
    for objectives in try [TuneObjective.standard, [TuneObjective("affected_delivery_p99_s")]] {
      let report = TuneReport(try Self.result(objectives: objectives))
      let answer = report.answer(facts: "30 candidates", settings: ("{ \"a\": 1 }", "{}"), clients: [])
      let html = answer.html(title: "tuned", question: nil, command: "fleetsim tune", version: "1")
      Self.checkDocument(html)
      let order = [
        "Change ", "Why each key is changed", "Against today", ">Candidates<", "The Settings to publish",
        "fleetsim tune",
      ]
      let places = try order.map { try #require(html.firstRange(of: $0)).lowerBound }
      #expect(places == places.sorted())
      #expect(html.contains("a&lt;b"))
      #expect(HTMLReportTests.problem(in: report.picture) == nil)
    }
  }

  @Test("pareto.csv has the recommended Settings first, then every candidate, all rows as wide as the header")
  func pareto() throws {
    let result = try Self.result()
    let lines = String(decoding: TuneReport(result).table, as: UTF8.self).split(separator: "\n")
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
