import FleetExperiments
import FleetMetrics
import FleetReports
import Foundation
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("report.html")
struct HTMLReportTests {
  static func render(_ results: [VariantResult], story: Story = Story("full is best")) -> String {
    TrialReport(Trial(results)).answer(story).html(
      title: "outage herd", question: "Which jitter?", command: "fleetsim compare herd.json5",
      scenarioJSON: "{ \"format\": 1 }", version: "1.0")
  }

  /// What is wrong with the document as XML; nil if it is well-formed.
  static func problem(in document: String) -> String? {
    let parser = XMLParser(data: Data(document.utf8))
    return parser.parse() ? nil : "line \(parser.lineNumber): \(parser.parserError.map { "\($0)" } ?? "?")"
  }

  /// A well-formed page without script, resources from outside or numbers that are none.
  static func check(_ html: String) {
    #expect(problem(in: html) == nil)
    for forbidden in ["<script", "javascript:", "src=", "@import", "url(", "<link", "onload", "nan", "inf\""]
    {
      #expect(!html.contains(forbidden), "\(forbidden)")
    }
    #expect(html.contains("prefers-color-scheme:dark") && html.contains("@media print"))
  }

  /// The parts stand in this order.
  static func check(_ html: String, has parts: [String]) throws {
    var rest = html[...]
    for part in parts {
      let range = try #require(rest.range(of: part), "\(part) in its place")
      rest = rest[range.upperBound...]
    }
  }

  @Test("Six strategies of 7,200 rows make a well-formed document below 700 KB, without outside resources")
  func six() {
    let results =
      SyntheticFleet.four + [
        SyntheticFleet.result("equal", wave: 0.5), SyntheticFleet.result("additive:10, clamped", wave: 0.8),
      ]
    let html = Self.render(results)
    Self.check(html)
    #expect(html.utf8.count < 700_000)
    let outside =
      html.components(separatedBy: "http").count - html.components(separatedBy: "http-equiv=").count + 1
      - html.components(separatedBy: "http://www.w3.org/").count
    #expect(outside == 0)
    #expect(
      html.components(separatedBy: "<svg").count
        == html.components(separatedBy: "role=\"img\" aria-label=\"").count)
  }

  @Test("It leads with the story, then all strategies, the table, the strips in order, the terms")
  func order() throws {
    var story = Story("Use full")
    story.add(.next, "decide")
    story.add(.reason, "it is <fast>")
    let html = Self.render(SyntheticFleet.four, story: story)
    let parts = [
      "<p class=\"lead\">Use full</p>", "<dt>reason</dt><dd>it is &lt;fast&gt;</dd>",
      "<dt>next</dt><dd>decide</dd>",
      ">Round the incident</h2>", ">Results</h2>", "<table>",
      "<summary>The whole run, variant by variant</summary>", ">Offered load</h2>", ">Goodput</h2>",
      ">Backlog</h2>", ">Time to delivery</h2>",
      "<summary>What the words mean</summary>", "fleetsim compare herd.json5", "<details>",
      "{ &quot;format&quot;: 1 }",
    ]
    try Self.check(html, has: parts)
    // The spike is above four times capacity, and the report says so.
    #expect(html.contains("▲: more than 4.8k.</text>"))
    #expect(html.contains("outage without answer"))
  }

  @Test("Hostile names and texts stay text")
  func hostile() {
    let name = "<script>alert('x')</script>&\"\u{0}\u{B}]]>"
    var result = SyntheticFleet.result(name, wave: 0.5, rows: 2_400)
    result.record.incidents[0].label = name
    let html = TrialReport(Trial([result, result])).answer(Story(name)).html(
      title: name, question: name, command: name, scenarioJSON: name, version: name)
    #expect(Self.problem(in: html) == nil)
    #expect(!html.contains("<script"))
    #expect(Self.problem(in: ComparisonPicture(TrialReport(Trial([result, result]))).svg) == nil)
  }

  @Test("Unusual records make a well-formed document too")
  func unusual() {
    let calm = SyntheticFleet.result("calm", wave: 0, rows: 300, outage: nil)
    var empty = calm
    empty.record.series = TimeSeries(
      interval: SyntheticFleet.second, duration: 300 * SyntheticFleet.second, rows: 0)
    empty.references.twin.series = empty.record.series
    empty.record.deliveries = Histogram()
    var powerless = SyntheticFleet.result("powerless", wave: 1, rows: 300, outage: 0..<10)
    powerless.record.nominalCapacityMilli = 0
    var endless = SyntheticFleet.result("endless", wave: 1, rows: 300, outage: 20..<50)
    endless.record.incidents[0].end = .max
    var huge = SyntheticFleet.result("huge", wave: 1, rows: 300, outage: 20..<50)
    huge.record.nominalCapacityMilli = .max
    for i in huge.record.series.rows.indices { huge.record.series[i, .backlogEvents] = 1 << 60 }
    var single = SyntheticFleet.result("single", wave: 0, rows: 1, outage: 0..<1)
    single.record.series.interval = 3_600_000_000
    for results in [
      [], [calm], [empty], [powerless], [endless], [huge], [single],
      [calm, empty, powerless, endless, huge, single],
    ] {
      #expect(Self.problem(in: Self.render(results)) == nil)
      #expect(Self.problem(in: ComparisonPicture(TrialReport(Trial(results))).svg) == nil)
      _ = TrialReport(Trial(results)).table
    }
  }
}
