import Conformance
import ScenarioFormat
import Testing

/// The presets of the catalogue do what the publishers' own code did: answers in, sends and waits out.
@Suite("Recordings of the catalogue")
struct CatalogueRecordingTests {
  @Test(
    "a preset sends when its publisher's code sent, but where a script says why it does not",
    arguments: Recordings.scripts.keys.sorted())
  func holds(client: String) throws {
    let report = try #require(try Self.reports.get()[client])
    #expect(report.failures == [])
    #expect(!report.results.isEmpty)
  }

  @Test("of each client most scripts hold", arguments: Recordings.scripts.keys.sorted())
  func most(client: String) throws {
    let report = try #require(try Self.reports.get()[client])
    #expect(report.deviations.count * 2 < report.results.count, "\(report.deviations.count) deviate")
  }

  @Test(
    "every given history of several events and batches holds",
    arguments: ["amplitude-analytics-node", "amplitude-node", "posthog-js"])
  func histories(client: String) throws {
    let text = try Recordings.text("../\(Recordings.catalogueHistories)/\(client).json", of: client)
    let file = try VectorFile(text: text, name: "\(client).json")
    let report = ConformanceRunner(client: try #require(ConformanceClient(name: client))).run([file])
    #expect(report.failures == [] && report.results.count == 50)
  }

  /// By client; every test asks for the same.
  private static let reports = Result {
    Dictionary(uniqueKeysWithValues: try Recordings.scripts.keys.map { ($0, try report(of: $0)) })
  }

  private static func report(of client: String) throws -> ConformanceReport {
    let text = try Recordings.text("\(client).json", of: client)
    let file = try VectorFile(text: text, name: "\(client).json")
    return ConformanceRunner(client: try #require(ConformanceClient(name: client))).run([file])
  }
}
