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

  @Test("herd-1 in code is herd-1 in its file, and with 90 % capacity but for that")
  func herd1() throws {
    let file = "bench/herd-1.json5"
    #expect(try workload("herd-1-150", devices: 100_000) == scenario(file))
    let smaller = [
      Override(path: "tapi.bucket.capacity", value: "3000/s"),
      Override(path: "tapi.bucket.burst", value: "300"),
    ]
    #expect(try workload("herd-1-90", devices: 100_000) == scenario(file, smaller))
  }

  @Test("001 in code is experiment 001's file with full jitter")
  func outageHerd() throws {
    let jitter = Override(path: "settings.backoffConfig.jitterStrategy", value: "full")
    #expect(try workload("001", devices: 20_000) == scenario("001-outage-herd/scenario.json5", [jitter]))
  }

  @Test(
    "A fleet that is rate limited and one that uploads everything at once are experiment 001's second file, but for that"
  )
  func variations() throws {
    let file = "001-outage-herd/gate.json5"
    let rateLimit = [
      Override(path: "tapi.overload", value: #"{ status: 429, retryAfter: "5s" }"#),
      Override(
        path: "tapi.incidents",
        value: #"[{ kind: "outage", at: "20m", for: "10m", status: 429, retryAfter: "5s" }]"#),
    ]
    #expect(try workload("429-gate", devices: 20_000) == scenario(file, rateLimit))
    let atOnce = [
      Override(path: "fleet.phones.retries", value: "timer"),
      Override(path: "fleet.phones.uploadConcurrency", value: "unlimited"),
      Override(path: "settings.backoffConfig.jitterStrategy", value: "full"),
    ]
    #expect(try workload("at-once", devices: 20_000) == scenario(file, atOnce))
  }

  @Test(
    "every client with an upload loop, of the documents or recorded, has a workload: experiment 001's second file at half of the capacity"
  )
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
      #expect(abs(NormalLoad(scenario).utilisation - 0.5) < 0.01, "\(preset.name)")
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
    #expect(abs(NormalLoad(try workload("herd-1-150", devices: 3_000)).utilisation * 1.5 - 1) < 1e-9)
    #expect(abs(NormalLoad(try workload("herd-1-90", devices: 3_000)).utilisation * 0.9 - 1) < 1e-9)
  }
}
