import FleetMetrics
import FleetSimulation
import Foundation
import ScenarioFormat
import ScenarioModel

/// The scenario files under `experiments/`, found from this file's own place in the repository.
enum ExperimentFiles {
  static var folder: URL {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "experiments")
  }

  /// Every scenario file, by its path below `experiments/`; a client is none.
  static var all: [String] {
    let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)!
    return found.compactMap { $0 as? URL }.filter {
      $0.pathExtension == "json5" && $0.lastPathComponent != "old-sdk.json5"
    }
    .map { String($0.path().dropFirst(folder.path().count)) }.map {
      $0.hasPrefix("/") ? String($0.dropFirst()) : $0
    }
    .sorted()
  }

  static func decode(_ path: String, _ overrides: [String: String] = [:]) throws -> ScenarioFile.Decoded {
    let file = folder.appending(path: path)
    let scenario = try ScenarioFile(text: String(contentsOf: file, encoding: .utf8), name: path) { name in
      try String(contentsOf: file.deletingLastPathComponent().appending(path: name), encoding: .utf8)
    }
    return try scenario.decode(
      overrides: overrides.sorted { $0.key < $1.key }.map { Override(path: $0.key, value: $0.value) })
  }

  /// The summary of a run beside its twin.
  static func summary(of scenario: Scenario) throws -> RunSummary {
    RunAnalysis.summary(
      of: try Simulation.run(scenario), ReferenceRuns(twin: try Simulation.run(scenario.withoutIncidents)),
      name: "run",
      seed: scenario.seed)
  }

  static func summaries(of scenarios: [Scenario]) throws -> [RunSummary] { try scenarios.map(summary) }

  /// Four times as long windows as with the files' 10 ms, which take most of a small fleet's time.
  static let longWindows = ["network.latency.minimum": "40ms"]
  /// And fewer rows, where no second of its own is asked for.
  static let longRows = longWindows.merging(["interval": "5s"]) { $1 }

  /// The scenario with its fleet and its server scaled down together to about `devices` devices.
  static func small(
    _ path: String, _ overrides: [String: String] = [:], devices: Int
  ) throws -> Scenario {
    var scenario = try decode(path, overrides).scenario
    let total = scenario.fleet.reduce(0) { $0 + $1.devices }
    if total <= devices { return scenario }
    for i in scenario.fleet.indices {
      scenario.fleet[i].devices = max(1, scenario.fleet[i].devices * devices / total)
      // A table has the rate of all devices together.
      if case .replay(var rates) = scenario.fleet[i].events {
        rates.sharePartsPerMillion = rates.sharePartsPerMillion * Int64(devices) / Int64(total)
        scenario.fleet[i].events = .replay(rates)
      }
    }
    switch scenario.tapi.server {
    case .bucket(var bucket):
      bucket.capacityMilliRequestsPerSecond =
        bucket.capacityMilliRequestsPerSecond * Int64(devices) / Int64(total)
      bucket.burst = max(1, bucket.burst * Int64(devices) / Int64(total))
      scenario.tapi.server = .bucket(bucket)
    case .workers(var workers):
      workers.count = max(1, workers.count * devices / total)
      workers.queueLimit = workers.queueLimit.map { $0 * devices / total }
      scenario.tapi.server = .workers(workers)
    }
    return scenario
  }
}
