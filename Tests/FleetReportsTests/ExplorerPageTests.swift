import FleetExperiments
import FleetMetrics
import FleetReports
import Foundation
import Testing

@Suite("explore.html")
struct ExplorerPageTests {
  static func page(
    _ comparison: Trial, name: String = "key", values: [String]? = nil, today: Int? = nil
  ) -> String {
    let axis = ExplorerPage.Axis(name: name, values: values ?? comparison.variants, today: today)
    return ExplorerPage(TrialReport(comparison), axes: [axis])
      .text(title: "</script>grid", question: "Which?", command: "fleetsim compare --explore", version: "1.0")
  }

  static func axis(_ data: [String: Any]) throws -> [String: Any] {
    try #require((data["axes"] as? [[String: Any]])?.first)
  }

  /// What the script reads.
  static func data(_ page: String) throws -> [String: Any] {
    let start = try #require(page.range(of: "<script type=\"application/json\" id=\"data\">")).upperBound
    let end = try #require(page.range(of: "</script>", range: start..<page.endIndex)).lowerBound
    let json = Data(page[start..<end].utf8)
    return try #require(JSONSerialization.jsonObject(with: json) as? [String: Any])
  }

  @Test("It is one well-formed file without outside resources, and no text of a scenario ends its script")
  func document() throws {
    // By Characters, the `<` behind U+0600 is none.
    let name = "a</script><b>]]>\u{600}</script>\u{600}<img/>"
    let page = Self.page(try ReplicationReportTests.comparison(), name: name)
    #expect(HTMLReportTests.problem(in: page) == nil)
    #expect(
      page.utf8.ranges(of: "<script".utf8).count == 2 && page.utf8.ranges(of: "</script".utf8).count == 2)
    for forbidden in ["src=", "@import", "url(", "<link", "http:"] {
      #expect(!page.replacing("http://www.w3.org/", with: "").contains(forbidden), "\(forbidden)")
    }
    #expect(try Self.axis(Self.data(page))["name"] as? String == name)
  }

  @Test("Its policy lets a browser run its own script alone, by the SHA-256 of that")
  func policy() throws {
    let page = Self.page(try ReplicationReportTests.comparison())
    let start = try #require(page.range(of: "<script>")).upperBound
    let end = try #require(page.range(of: "</script>", range: start..<page.endIndex)).lowerBound
    let hexadecimal = SHA256.hexadecimal(Array(page[start..<end].utf8))
    let bytes = stride(from: 0, to: 64, by: 2).map { UInt8(hexadecimal.dropFirst($0).prefix(2), radix: 16) }
    let digest = Data(bytes.compactMap(\.self)).base64EncodedString()
    #expect(page.contains("default-src 'none'; script-src 'sha256-\(digest)'; style-src"))
    #expect(page.range(of: "Content-Security-Policy")!.lowerBound < page.range(of: "<script")!.lowerBound)
  }

  @Test("Its figures are the means of the runs, and what is damage is the backlog less the twin's")
  func figures() throws {
    let comparison = try ReplicationReportTests.comparison()
    let data = try Self.data(Self.page(comparison))
    let metrics = try #require(data["metrics"] as? [[String: Any]]).compactMap { $0["name"] as? String }
    let runs = try #require(data["runs"] as? [[String: Any]])
    #expect(runs.count == comparison.variants.count)
    for (variant, run) in runs.enumerated() {
      let values = try #require(run["values"] as? [Any])
      for (name, value) in zip(metrics, values) {
        let rows = comparison.rows(of: variant)
        let own = rows.compactMap { row in MetricCatalogue.metric(named: name)?.value(of: row).restricted }
        guard !own.isEmpty else { continue }
        let mean = own.reduce(0, +) / Double(own.count)
        let number = try #require((value as? NSNumber)?.doubleValue)
        #expect(abs(number - mean) <= 0.001 * abs(mean) + 1e-6, "\(name)")
      }
      let curves = try #require(run["curves"] as? [[Any]])
      let damage = curves[0].compactMap { ($0 as? NSNumber)?.doubleValue }
      // An hour with an outage from 10 to 20 min: nothing before it, most at its end.
      #expect(damage.prefix(damage.count / 6 - 2).allSatisfy { $0 == 0 })
      let worst = try #require(damage.indices.max { damage[$0] < damage[$1] })
      #expect(abs(worst - damage.count / 3) <= damage.count / 6)
    }
  }

  @Test("Values that are quantities get a slider, others a choice")
  func controls() throws {
    let comparison = try ReplicationReportTests.comparison()
    for (values, isScale) in [
      (["10", "20", "30"], true), (["5m", "10m", "1h"], true), (["none", "full", "10"], false),
      (["1", "2"], false),
    ] {
      let axis = try Self.axis(Self.data(Self.page(comparison, values: values)))
      #expect(axis["isScale"] as? Bool == isScale, "\(values)")
    }
  }

  @Test("It opens on the scenario's own values, and says each run's verdict and how it stands against them")
  func today() throws {
    let comparison = try ReplicationReportTests.comparison()
    for today in [1, nil] {
      let data = try Self.data(Self.page(comparison, today: today))
      #expect(data["today"] as? Int == today)
      #expect(try Self.axis(data)["today"] as? Int == today)
      let runs = try #require(data["runs"] as? [[String: Any]])
      let standings = TrialReport(comparison).standings
      let reference = today ?? standings.firstChoice ?? 0
      for (variant, run) in runs.enumerated() {
        let verdict = try #require(run["verdict"] as? String)
        #expect(verdict.localizedStandardContains("caught up"), "\(verdict)")
        #expect(
          run["standing"] as? String
            == (variant == reference
              ? "same" : standings.pair(variant, against: reference).standing.rawValue))
      }
    }
  }
}
