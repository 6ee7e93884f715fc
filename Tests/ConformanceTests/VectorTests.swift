import Conformance
import Testing

/// The vectors against the presets.
@Suite("Vectors")
struct VectorTests {
  @Test(
    "every client passes every case, but where the case says that it deviates",
    arguments: ConformanceClient.names)
  func client(name: String) throws {
    let client = try #require(ConformanceClient(name: name))
    let report = ConformanceRunner(client: client).run(try VectorFile.builtIn())
    #expect(report.failures == [])
    #expect(report.deviations.isEmpty == (name == "tapi-document"))
  }

  @Test("there are at least 120 cases, three and more for each requirement from S2 to S18")
  func coverage() throws {
    let client = try #require(ConformanceClient(name: "tapi-document"))
    let report = ConformanceRunner(client: client).run(try VectorFile.builtIn())
    #expect(report.results.count >= 120)
    #expect(report.rows.map(\.requirement) == (2...18).map { "S\($0)" })
    for row in report.rows { #expect(row.passed >= 3, "\(row.requirement)") }
  }

  @Test("no two cases of any file have one id")
  func identifiers() throws {
    let cases = try VectorFile.builtIn().flatMap(\.cases)
    let twins = Dictionary(grouping: cases, by: \.id).filter { $0.value.count > 1 }.keys
    #expect(twins.isEmpty, "\(twins.sorted())")
  }
}
