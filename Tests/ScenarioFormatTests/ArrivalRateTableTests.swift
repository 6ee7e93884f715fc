import ScenarioFormat
import ScenarioModel
import SimulationKernel
import Testing

@Suite("A CSV of arrival rates")
struct ArrivalRateTableTests {
  private func problems(_ text: String) -> [String] {
    ArrivalRateTable(text).problems.map { "\($0.line): \($0.message)" }
  }

  @Test("is read with a byte order mark, CRLF, blank lines, spaces and a header in capitals")
  func tolerant() {
    let table = ArrivalRateTable(
      "\u{feff}Time_s, Events_per_s\r\n\r\n0,1200\r\n 60 ,\t1300.5\r\r\n3.6e3,0.30000000000000004\r\n")
    #expect(table.problems == [])
    let rows: [ArrivalRates.Row] = [
      .init(time: .start, microEventsPerSecond: 1_200_000_000),
      .init(time: .start + .seconds(60), microEventsPerSecond: 1_300_500_000),
      .init(time: .start + .seconds(3_600), microEventsPerSecond: 300_000),
    ]
    #expect(table.rows == rows)
  }

  @Test("says what is wrong with a line, and in which")
  func messages() {
    #expect(problems("") == ["1: empty; expected time_s,events_per_s"])
    #expect(problems("\r\n\n") == ["2: empty; expected time_s,events_per_s"])
    #expect(problems("0,5\n") == ["1: expected the header time_s,events_per_s, found \"0,5\""])
    #expect(
      problems("time_s,events_per_s\n") == ["1: no row below the header; write at least one, like 0,1200"])
    #expect(
      problems("time_s,events_per_s\n0,0\n5,0.0\n") == ["3: every rate is 0: nothing would ever be created"])
    #expect(
      problems(
        """
        time_s,events_per_s

        0,1,2
        0;7
        nan,1
        1,inf
        ,4
        2,
        3,-1
        -4,1
        5,1e10
        1e12,1
        10,1
        10,2
        9,2
        """) == [
          "3: expected two values, time_s,events_per_s, found \"0,1,2\"",
          "4: expected two values, time_s,events_per_s, found \"0;7\"",
          "5: time_s is \"nan\", which is not a number", "6: events_per_s is \"inf\", which is not a number",
          "7: time_s is missing", "8: events_per_s is missing",
          "9: events_per_s is \"-1\", which is negative",
          "10: time_s is \"-4\", which is negative", "11: events_per_s is \"1e10\", more than 1000000000",
          "12: time_s is \"1e12\", more than 366 days",
          "14: time_s is 10, not after the row before it (10)",
          "15: time_s is 9, not after the row before it (10)",
        ])
  }

  @Test("of a thousand bad lines or too many rows is not read to the end")
  func limits() {
    let bad = "time_s,events_per_s\n" + String(repeating: "x,y\n", count: 1_000)
    #expect(problems(bad).count <= ArrivalRateTable.maximumProblems + 2)
    #expect(problems(bad).last?.hasSuffix("and perhaps more: reading stopped here") == true)
    let long = "time_s,events_per_s\n" + (0...100_000).map { "\($0),1\n" }.joined()
    #expect(problems(long) == ["100002: more than 100000 rows; take longer steps"])
  }

  @Test("of any bytes never traps: 3,000 mutations of a good one")
  func mutations() {
    let good = Array("time_s,events_per_s\r\n0,12.5\r\n60,1e3\r\n120,7\r\n".utf8)
    var random = TestRandom(seed: 5)
    for _ in 0..<3_000 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let i = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[i] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: i)
        default: bytes.insert(random.pick(Array(",\n\r-.eE09".utf8)), at: i)
        }
      }
      let table = ArrivalRateTable(String(decoding: bytes, as: UTF8.self))
      #expect(!table.problems.isEmpty || !table.rows.isEmpty)
      #expect(zip(table.rows, table.rows.dropFirst()).allSatisfy { $0.time < $1.time })
    }
  }

  // MARK: In a scenario

  private func file(_ cohort: String, _ files: [String: String]) throws -> ScenarioFile.Decoded {
    var text = ScenarioText()
    text.cohort = cohort
    return try text.file(files: files).decode()
  }

  @Test(
    "stands beside the scenario, or in it; both are the same scenario, and the normalised form has the table")
  func inScenario() throws {
    let table = "time_s,events_per_s\n0,20\n60,5.25\n"
    let named = try file(
      "name: 'a', devices: 10, events: { csv: 'day.csv', share: '25%' }", ["day.csv": table])
    #expect(
      named.scenario.fleet[0].events
        == .replay(
          ArrivalRates(
            rows: [
              .init(time: .start, microEventsPerSecond: 20_000_000),
              .init(time: .start + .seconds(60), microEventsPerSecond: 5_250_000),
            ], sharePartsPerMillion: 250_000)))
    let again = try ScenarioFile(text: named.normalisedJSON, name: "s") { _ in throw ScenarioText.NoFile() }
      .decode()
    #expect(again.scenario == named.scenario)
  }

  @Test("that is missing or wrong is reported with its own lines, once, however many cohorts name it")
  func reported() {
    var text = ScenarioText()
    text.cohort = "name: 'a', devices: 10, events: { csv: 'day.csv' }"
    #expect(text.messages() == ["s.json5:3: fleet.a.events.csv: cannot read \"day.csv\": No such file"])
    text.cohort += " }, { name: 'b', devices: 10, events: { csv: 'day.csv' }"
    #expect(
      text.messages(files: ["day.csv": "time_s,events_per_s\n0,x\n"])
        == ["day.csv:2: events_per_s is \"x\", which is not a number"])
    #expect(
      text.messages(
        overrides: [Override(path: "fleet.a.events.csv", value: "night.csv")],
        files: ["day.csv": "time_s,events_per_s\n0,1\n"])
        == ["--set: fleet.a.events.csv: \"night.csv\" was not read; name the file in the scenario"])
  }
}
