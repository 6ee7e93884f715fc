import Testing

/// A fleet that loses its events without any incident is called healthy nowhere.
@Suite("A fleet that always loses")
struct HealthTests {
  /// Every batch is larger than the server takes and answered 413: an event of 1 KB can't be cut in two.
  private static func scenario(client: String, limit: String = "100B") -> String {
    """
    { format: 1, seed: 1, duration: "1h", interval: "30s",
      tapi: { bucket: { capacity: "100/s", burst: 100 }, requestSizeLimit: "\(limit)",
        incidents: [{ kind: "outage", at: "20m", for: "5m" }] },
      fleet: [{ name: "phones", devices: 50, client: "\(client)", events: "2/min" }] }
    """
  }

  private static let ill = "his fleet does not hold even without any incident: it loses "

  private func scratch(_ client: String = "tapi-document", limit: String = "100B") throws -> Scratch {
    try Scratch.with(Self.scenario(client: client, limit: limit))
  }

  @Test(
    "run says so first, with what took the events, and summary.csv has it",
    arguments: [("tapi-document", "dropped"), ("offline-first", "blocked")])
  func run(client: String, how: String) throws {
    let scratch = try scratch(client)
    let output = try scratch.run("run s.json5 --seed 1 --out out", code: 0)
    let lines = output.standardOutput.split(separator: "\n")
    #expect(lines[0].contains("does not hold its load") && lines[1].hasPrefix("unwell "), "\(output)")
    let reason = output.story("unwell").first ?? ""
    #expect(
      reason.hasPrefix("it loses ") && reason.hasSuffix(" \(how) because of the answer's status"), "\(reason)"
    )
    let row = try scratch.records("out/summary.csv")[0]
    #expect(row["baseline_is_healthy"] == "false" && row["delivered_events"] == "0")
    // Nothing else changed: with a server that takes them the same fleet is well.
    let other = try self.scratch(client, limit: "1MB").run("run s.json5 --seed 1")
    #expect(!other.standardOutput.contains("does not hold") && other.story("unwell") == [], "\(other)")
  }

  @Test("check warns when it records such a fleet, and says it of every check")
  func check() throws {
    let scratch = try scratch()
    try scratch.run(
      "check s.json5 --record --seeds 3", code: 0, says: "s.json5: warning: t" + Self.ill)
    let output = try scratch.run("check s.json5")
    #expect(output.code == 0 && output.standardOutput.contains("metrics as recorded"))
    #expect(output.story("unwell").first?.hasPrefix("t" + Self.ill) ?? false, "\(output)")
    #expect(try scratch.run("check s.json5 --json").standardOutput.contains(Self.ill))
  }
}
