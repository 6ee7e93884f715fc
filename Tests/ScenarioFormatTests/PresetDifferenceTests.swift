import ScenarioFormat
import ScenarioModel
import Testing

@Suite("What a cohort has otherwise than its client preset")
struct PresetDifferenceTests {
  private func differences(_ cohort: String, head: String = "") throws -> [PresetDifference] {
    let text = """
      { format: 1, duration: "1h", tapi: { bucket: { capacity: "10/s" } }, \(head)
        fleet: [{ name: "phones", devices: 1, events: "1/min", \(cohort) }] }
      """
    let file = try ScenarioFile(text: text, name: "s.json5") { _ in "" }
    return try file.decode().scenario.fleet[0].differencesFromPreset
  }

  @Test("a cohort that names a client and nothing else differs in nothing", arguments: ClientPreset.all)
  func none(preset: ClientPreset) throws {
    #expect(try differences("client: \"\(preset.name)\"") == [])
  }

  @Test("the same key said with the preset's own value is no difference, with any other it is one")
  func sameValue() throws {
    #expect(try differences("retries: \"gate\", uploadConcurrency: 1, queue: { mode: \"files\" }") == [])
    let found = try differences("retries: \"timer\", uploadConcurrency: 2, queue: { mode: \"rebatch\" }")
    #expect(found.map(\.path) == ["queue.mode", "retries", "uploadConcurrency"])
    #expect(found.map(\.value) == ["rebatch", "timer", "2"])
    #expect(found.map(\.preset) == ["files", "gate", "1"])
    #expect(found.allSatisfy { !$0.meaning.isEmpty })
  }

  @Test("the loop, the gates, the batch size, the dialect and the switches count, wherever they are said")
  func everyPart() throws {
    let found = try differences(
      """
      client: "segment-swift", queue: { maximumBatchEvents: 7, limit: 100 },
      uploadLoop: { triggers: ["count"] }, gates: { breaker: {} }, settingsDialect: "document"
      """, head: "policy: { clampAfterJitter: false },")
    let paths = Set(found.map(\.path))
    #expect(
      paths.isSuperset(of: [
        "queue.maximumBatchEvents", "queue.limit", "uploadLoop.triggers", "settingsDialect",
        "gates.breaker", "policy.clampAfterJitter",
      ]), "\(paths)")
  }

  @Test("what no preset decides is no difference: flush, network, Settings, time-out")
  func undecided() throws {
    #expect(
      try differences(
        """
        flush: { count: 7, interval: "1h" }, network: { latency: "1s" }, timeout: "7s", eventSize: "2KB",
        settings: { backoffConfig: { maxRetryCount: 3 } }, writeKey: "other"
        """) == [])
  }
}
