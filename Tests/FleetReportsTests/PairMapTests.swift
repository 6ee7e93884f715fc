import FleetExperiments
import FleetMetrics
import FleetReports
import ScenarioFormat
import Testing

@Suite("A map of two keys")
struct PairMapTests {
  private static let capacities = ["2000/s", "500/s", "60000/min"]
  private static let lengths = ["1m", "2m", "4m"]

  private static func choices(_ xs: [String] = capacities, _ ys: [String] = lengths) -> [VariantChoice] {
    xs.flatMap { x in
      ys.map { y in
        VariantChoice(
          name: "\(x) \(y)",
          overrides: [
            Override(path: "tapi.bucket.capacity", value: x),
            Override(path: "tapi.incidents.0.for", value: y),
          ])
      }
    }
  }

  /// Four seeds, which recover in one to four minutes but for what is changed.
  private static func compared(
    _ choices: [VariantChoice], _ change: (inout RunSummary) -> Void = { _ in }
  ) -> Trial {
    SyntheticFleet.trial(choices.map(\.name), seeds: 4) { run in
      run.recoveryTime = Int64(run.seed) * 60_000_000
      change(&run)
    }
  }

  /// Of each seed, by what its variant is called.
  private static func trouble(_ run: inout RunSummary) {
    switch run.run {
    case "500/s 4m": run.recoveryTime = nil
    case "500/s 2m": if run.seed == 2 { run.recoveryTime = nil }
    case "60000/min 4m": if run.seed < 3 { run[.droppedByAge] = run[.createdEvents] }
    case "2000/s 1m": run.baseline.grows = run.seed > 1
    default: break
    }
  }

  @Test("a cell has how many runs fail, and where none does the mean recovery; values are in their order")
  func cells() throws {
    let choices = Self.choices()
    let map = try #require(PairMap(Self.compared(choices, Self.trouble), choices))
    let rows = map.table.rows
    // One to four minutes are 2 min 30 s in the mean. 60000/min is 1000/s.
    let well = "2 min 30 s"
    #expect(map.table.columns.dropFirst().map(\.title) == ["500/s", "60000/min", "2000/s"])
    #expect(rows[0] == ["4 min", "4/4 fail", "2/4 fail", well])
    #expect(rows[1] == ["2 min", "1/4 fail", well, well])
    #expect(rows[2] == ["1 min", well, well, "overloaded"])
  }

  @Test("the picture has every cell with its words, and its axes in words")
  func picture() throws {
    let choices = Self.choices()
    let map = try #require(PairMap(Self.compared(choices, Self.trouble), choices))
    let svg = map.chart.svg
    PictureTests.check(map.chart)
    #expect(svg.contains(">Runs fail at 4 of 9 pairs of values<"))
    #expect(svg.contains(">↑ length of the first incident<") && svg.contains(">capacity of the bucket →<"))
    for (cell, count) in [
      ("2 min 30 s", 5), ("4/4 fail", 1), ("2/4 fail", 1), ("1/4 fail", 1), ("overloaded", 1),
    ] {
      #expect(svg.matches(of: />([^<]+)<\/text>/).count { $0.1 == cell } == count, "\(cell)")
    }
    let page = map.chart.html
    #expect(page.contains("<title>500/s, 4 min: 4/4 fail</title>"))
  }

  @Test("where no run fails the title says how soon all recover, and nothing points to a limit")
  func calm() throws {
    let choices = Self.choices()
    let compared = Self.compared(choices) {
      $0.recoveryTime = $0.run == "500/s 4m" ? 300_000_000 : 60_000_000
    }
    let map = try #require(PairMap(compared, choices))
    #expect(map.chart.svg.contains(">Every run recovers, in 1 min to 5 min in the mean<"))
    var story = Story("")
    map.tell(&story, of: "s.json5")
    #expect(story[.next].isEmpty)
  }

  @Test("an answer has the map in its page and its files, and the grid in the place of its tables")
  func answer() {
    let choices = Self.choices()
    let compared = Self.compared(choices, Self.trouble)
    var story = TrialReport(compared, choices: choices).story
    PairMap(compared, choices)?.tell(&story, of: "s.json5")
    let answer = TrialReport(compared, choices: choices).answer(story)
    #expect(answer.text(width: 100).contains("4/4 fail"))
    #expect(answer.pictures.map(\.path) == ["comparison.svg", "map.svg"])
    // Of four runs without a failure 1 − 0.05^¼ may fail. Nobody chooses how long an incident lasts, so no pair is the best.
    #expect(story.finding == "Runs fail at 4 of 9 pairs of values")
    #expect(story[.risk] == ["where none of 4 runs of a pair fails, up to 53 % may (95 % confidence)"])
    #expect(story[.next] == ["where it turns: fleetsim limit s.json5 --key tapi.incidents.0.for=1m..4m"])
    let page = answer.html(title: "t", question: nil, command: "c", version: "1")
    #expect(HTMLReportTests.problem(in: page) == nil && page.contains("By both keys"))
  }

  @Test("where both keys are somebody's to choose the verdict is the best pair's")
  func choice() {
    let choices = Self.choices().map { choice in
      var overrides = choice.overrides
      overrides[1].path = "fleet.phones.timeout"
      return VariantChoice(name: choice.name, overrides: overrides)
    }
    let compared = Self.compared(choices)
    var story = TrialReport(compared, choices: choices).story
    PairMap(compared, choices)?.tell(&story, of: "s.json5")
    #expect(story.finding == TrialReport(compared, choices: choices).story.finding)
  }

  @Test("two values of a key, values that are no numbers, one key, three keys and no incident make no map")
  func noMap() {
    for (xs, ys) in [(["1/s", "2/s"], Self.lengths), (["a", "b", "c"], Self.lengths)] {
      let choices = Self.choices(xs, ys)
      #expect(PairMap(Self.compared(choices), choices) == nil)
    }
    let one = Self.choices().map { VariantChoice(name: $0.name, overrides: Array($0.overrides.prefix(1))) }
    #expect(PairMap(Self.compared(one), one) == nil)
    let three = Self.choices().map {
      VariantChoice(name: $0.name, overrides: $0.overrides + [Override(path: "duration", value: "1h")])
    }
    #expect(PairMap(Self.compared(three), three) == nil)
    #expect(PairMap(Self.compared(Self.choices()) { $0.hasIncidents = false }, Self.choices()) == nil)
  }
}
