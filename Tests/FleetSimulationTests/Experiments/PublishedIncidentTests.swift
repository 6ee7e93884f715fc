import FleetMetrics
import FleetSimulation
import Testing

/// Experiment 023: a published incident, with its clients and its operators.
@Suite struct PublishedIncidentTests {
  /// The last hour of the incident run until then.
  private func lastHour(until end: String, _ overrides: [String: String]) throws -> [TimeSeries.Row] {
    var overrides = overrides
    overrides["duration"] = end
    // A quarter of the fleet and of its server.
    for cohort in ["android", "others"] { overrides["fleet.\(cohort).devices"] = "75" }
    overrides["tapi.workers.count"] = "5"
    overrides["tapi.workers.queueLimit"] = "62"
    let scenario = try ExperimentFiles.decode("023-retry-every-second/scenario.json5", overrides).scenario
    return Array(try Simulation.run(scenario).series.rows.suffix(12))
  }

  private func isWell(_ rows: [TimeSeries.Row]) -> Bool {
    rows.allSatisfy { $0[.unheardAnswers] == 0 && $0[.answers503] == 0 && $0.attempts < 1_000 }
  }

  @Test(
    "023: with what the operators did, in their order, the old client's fleet is back when the last phones are let in"
  )
  func operators() throws {
    let actions = """
      [{ kind: 'retryAfter', at: '4h', retryAfter: '10m' },
       { kind: 'shed', at: '4h', for: '90m', share: 1, key: 'android', status: 503 },
       { kind: 'readmit', at: '5h30m', over: '75m', key: 'android', by: 'device', status: 503 }]
      """
    #expect(isWell(try lastHour(until: "8h", ["actions": actions])))
  }

  @Test(
    "023: with the client that tries again every second the fleet stays down, with the fixed one it is back by itself"
  )
  func clients() throws {
    let old = try lastHour(until: "5h", [:])
    #expect(old.allSatisfy { $0[.unheardAnswers] == $0[.answers2xx] && $0.attempts > 10 * 1_000 })
    let waits = "fleet.android.settings.backoffConfig"
    #expect(
      isWell(
        try lastHour(
          until: "5h", ["\(waits).baseBackoffInterval": "60", "\(waits).maxBackoffInterval": "600"])))
  }
}
