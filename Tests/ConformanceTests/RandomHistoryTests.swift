import Conformance
import ScenarioModel
import TestSupport
import Testing

/// The client module alone and a device of the engine are one client, whatever happens to them.
@Suite("Random histories")
struct RandomHistoryTests {
  @Test(
    "the module and a device do the same in a thousand random histories of each client (200 where not exhaustive)",
    arguments: ClientPreset.all.map(\.name))
  func agree(name: String) throws {
    let preset = try #require(ClientPreset.all.first { $0.name == name })
    let runner = ConformanceRunner(client: ConformanceClient(preset: preset))
    #expect(runner.disagreements(histories: TestDepth.cases(200, exhaustively: 1_000), seed: 20) == [])
  }

  @Test("queues of one upload and of many, and every way to take a flush during uploads, agree, too")
  func otherLoops() throws {
    for uploads in [1, 2, Int.max] {
      for flush in ["joins", "ignored", "queued"] {
        var preset = ClientPreset.tapiDocument
        preset.uploadConcurrency = uploads
        preset.flushWhileUploading = try #require(.init(rawValue: flush))
        let runner = ConformanceRunner(client: ConformanceClient(preset: preset))
        let histories = TestDepth.cases(60, exhaustively: 300)
        #expect(runner.disagreements(histories: histories, seed: 7) == [], "\(uploads) \(flush)")
      }
    }
  }
}
