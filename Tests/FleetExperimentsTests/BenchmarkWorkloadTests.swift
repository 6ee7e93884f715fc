import FleetExperiments
import Foundation
import ScenarioFormat
import ScenarioModel
import Testing
import UploadRetry

@Suite("Benchmark workloads")
struct BenchmarkWorkloadTests {
  /// A scenario file under `experiments/`, without its question, which a run does not depend on.
  private func scenario(_ path: String, _ overrides: [Override] = []) throws -> Scenario {
    let experiments = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "experiments")
    let file = experiments.appending(path: path)
    // The axes are another matter: not every client reads them.
    let text = try String(contentsOf: file, encoding: .utf8).replacing(#/  compare: \{[^}]*\},\n/#, with: "")
    let scenarioFile = try ScenarioFile(text: text, name: path) { name in
      try String(contentsOf: file.deletingLastPathComponent().appending(path: name), encoding: .utf8)
    }
    var scenario = try scenarioFile.decode(overrides: overrides).scenario
    scenario.question = nil
    return scenario
  }

  private func workload(_ name: String, devices: Int) throws -> Scenario {
    try #require(BenchmarkWorkload.all.first { $0.name == name }).scenario(devices: devices)
  }

  @Test(
    "a workload in code is an experiment's file, but for what sets it apart",
    arguments: [
      ("herd-1-150", 100_000, "bench/herd-1.json5", [:]),
      (
        "herd-1-90", 100_000, "bench/herd-1.json5",
        ["tapi.bucket.capacity": "3000/s", "tapi.bucket.burst": "300"]
      ),
      ("001", 20_000, "001-outage-herd/scenario.json5", ["settings.backoffConfig.jitterStrategy": "full"]),
      (
        "429-gate", 20_000, "001-outage-herd/gate.json5",
        [
          "tapi.overload": #"{ status: 429, retryAfter: "5s" }"#,
          "tapi.incidents": #"[{ kind: "outage", at: "20m", for: "10m", status: 429, retryAfter: "5s" }]"#,
        ]
      ),
      (
        "at-once", 20_000, "001-outage-herd/gate.json5",
        [
          "fleet.phones.retries": "timer", "fleet.phones.uploadConcurrency": "unlimited",
          "settings.backoffConfig.jitterStrategy": "full",
        ]
      ),
    ] as [(String, Int, String, [String: String])])
  func file(name: String, devices: Int, file: String, changes: [String: String]) throws {
    let overrides = changes.map { Override(path: $0.key, value: $0.value) }
    #expect(try workload(name, devices: devices) == scenario(file, overrides))
  }

  @Test("every documented or recorded client has a workload: 001's second file at half of the capacity")
  func presets() throws {
    for preset in ClientPreset.documented where preset.page == nil {
      // The file says one upload at once for whatever client.
      let uploads = preset.uploadConcurrency == .max ? "unlimited" : "\(preset.uploadConcurrency)"
      let client = [
        Override(path: "fleet.phones.client", value: preset.name),
        Override(path: "fleet.phones.uploadConcurrency", value: uploads),
      ]
      let single = [
        Override(path: "tapi.bucket.capacity", value: "4000/s"),
        Override(path: "tapi.bucket.burst", value: "400"),
      ]
      var expected = try scenario(
        "001-outage-herd/gate.json5", client + (preset.queue.maximumBatchEvents == 1 ? single : []))
      if preset.settingsDefaults != HTTPConfig() {
        // The file's Settings and waits are the TAPI clients'.
        expected.fleet[0].settings = preset.settingsDefaults
        expected.fleet[0].retries = preset.retries
      }
      let scenario = try workload("preset-" + preset.name, devices: 20_000)
      if preset.settingsDialect != .document {
        // A shipped client reads the file in its own way; the workload has the values themselves.
        expected.fleet[0].settings = scenario.fleet[0].settings
        expected.fleet[0].settingsSource = nil
      }
      #expect(scenario == expected)
      // Three events in an interval make 1 − e⁻³ batches; with a count that goes on, ten make another: 0.3 + 0.9 · (1 − e⁻³).
      let load = preset.countsAllEvents ? 0.608 : 0.5
      #expect(abs(NormalLoad(scenario).utilisation - load) < 0.01, "\(preset.name)")
    }
  }

  @Test("in the sparse workload a device uploads one batch an hour")
  func sparse() throws {
    let load = NormalLoad(try workload("sparse", devices: 72_000))
    #expect(load.batchesPerSecond == 20)
    #expect(load.eventsPerSecond == 20)
  }

  @Test("names are unique, and the load relative to the capacity is the same at every size")
  func scaling() throws {
    let names = BenchmarkWorkload.all.map(\.name)
    #expect(Set(names).count == names.count)
    for workload in BenchmarkWorkload.all {
      let expected = NormalLoad(workload.scenario(devices: 1_000_000)).utilisation
      for devices in [1_000, 30_000, 100_000_000, 4_000_000_000] {
        let scenario = workload.scenario(devices: devices)
        #expect(scenario.fleet.map(\.devices) == [devices])
        let utilisation = NormalLoad(scenario).utilisation
        #expect(abs(utilisation / expected - 1) < 0.01, "\(workload.name) with \(devices) devices")
      }
    }
  }
}
