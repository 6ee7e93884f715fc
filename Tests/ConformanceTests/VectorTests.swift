import Conformance
import ScenarioFormat
import ScenarioModel
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

  @Test(
    "clients of other documents pass the cases of their own files, and run no others",
    arguments: ClientPreset.names.filter { !ConformanceClient.names.contains($0) })
  func others(name: String) throws {
    let client = try #require(ConformanceClient(name: name))
    let files = try VectorFile.builtIn()
    let report = ConformanceRunner(client: client).run(files)
    #expect(report.failures == [])
    // keen-existing has none: it counts failures by query, which a vector cannot name.
    let hasFile = files.contains { $0.client == name }
    #expect(hasFile ? report.results.count >= 3 : report.results.isEmpty)
  }

  @Test("without a client each file runs against the one that it is about")
  func ownClients() throws {
    let reports = ConformanceRunner.reports(on: try VectorFile.builtIn())
    #expect(
      reports.map(\.client) == [
        "tapi-document", "datafly", "keen-existing", "keen-proposed", "offline-first", "toggl",
      ])
    #expect(
      reports.reduce(0) { $0 + $1.results.count } == (try VectorFile.builtIn().reduce(0) { $0 + $1.count }))
  }

  @Test("there are at least 120 cases, three and more for each requirement from S2 to S20")
  func coverage() throws {
    let client = try #require(ConformanceClient(name: "tapi-document"))
    let report = ConformanceRunner(client: client).run(try VectorFile.builtIn())
    #expect(report.results.count >= 120)
    #expect(report.rows.map(\.requirement) == (2...20).map { "S\($0)" })
    for row in report.rows { #expect(row.passed >= 3, "\(row.requirement)") }
  }

  @Test("no two cases of any file have one id")
  func identifiers() throws {
    let cases = try VectorFile.builtIn().flatMap(\.cases)
    let twins = Dictionary(grouping: cases, by: \.id).filter { $0.value.count > 1 }.keys
    #expect(twins.isEmpty, "\(twins.sorted())")
  }
}
