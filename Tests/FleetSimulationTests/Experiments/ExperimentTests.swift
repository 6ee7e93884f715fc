import FleetMetrics
import FleetSimulation
import SimulationKernel
import TestSupport
import Testing

/// The experiments themselves: that their files are right, that the checkers hold on them, and that small versions of them show
/// what their READMEs claim, by a margin that is gone when the mechanism is.
@Suite struct ExperimentTests {
  /// The evening of `scale` has a user's own Settings, faults and all: they are what its client makes of them. The clients of 019 give
  /// up at their first failure, as those of its source do. The apps of 039 crash together, and that alone is its load.
  private static let warnedOf = [
    "scale/", "019-adaptive-throttling/scenario.json5", "032-app-update/scenario.json5",
    "039-settings-fetches/crash.json5",
  ]

  @Test("Every experiment's scenario decodes without a warning, and there are some")
  func filesDecode() throws {
    #expect(ExperimentFiles.all.count >= 3)
    for path in ExperimentFiles.all {
      let decoded = try ExperimentFiles.decode(path)
      #expect(
        decoded.warnings.isEmpty == !Self.warnedOf.contains(where: path.hasPrefix),
        "\(path): \(decoded.warnings)")
    }
  }

  @Test(
    "The checkers hold on every experiment, at 6 to 20 devices (60 if exhaustive, where they do not hold thousands of batches each)",
    arguments: ExperimentFiles.all)
  func checkers(path: String) throws {
    var options = RunOptions()
    options.checks = true
    // At each step the checkers walk all that a device holds.
    let holdsThousands = path.hasPrefix("008") || path.hasPrefix("014")
    // A single page is too much for its share of the server, and polls all the time.
    let few = path.hasSuffix("morning.json5") ? 20 : 6
    _ = try Simulation.run(
      ExperimentFiles.small(path, devices: TestDepth.cases(few, exhaustively: holdsThousands ? 20 : 60)),
      options: options)
  }

  private func summaries(
    _ path: String, _ overrides: [String: String], jitters: [String], devices: Int
  ) throws -> [RunSummary] {
    let name = "settings.backoffConfig.jitterStrategy"
    let small = try ExperimentFiles.small(path, overrides, devices: devices)
    return try ExperimentFiles.summaries(
      of: jitters.map { jitter in
        let full = try ExperimentFiles.decode(path, [name: jitter, "policy.clampAfterJitter": "false"])
        var scenario = small
        for i in scenario.fleet.indices {
          scenario.fleet[i].settings = full.scenario.fleet[i].settings
          scenario.fleet[i].policy = full.scenario.fleet[i].policy
        }
        return scenario
      })
  }

  @Test(
    "001: after a silent outage, waits that are nearly the same for all keep the fleet in waves; wide jitter does not"
  )
  func silentOutage() throws {
    let path = "001-outage-herd/scenario.json5"
    let runs = try summaries(
      path, ExperimentFiles.longWindows, jitters: ["none", "additive:10", "full"], devices: 500)
    let (none, additive, full) = (runs[0], runs[1], runs[2])
    let never = Int64.max
    #expect((none.recoveryTime ?? never) > 2 * (full.recoveryTime ?? never))
    #expect((additive.recoveryTime ?? never) > 3 * (full.recoveryTime ?? never) / 2)
    #expect((none.idleWhileBackloggedSeconds ?? 0) > 5 * (full.idleWhileBackloggedSeconds ?? 0))
  }

  @Test("001, gate: where the flush interval quantises every retry, jitter hardly matters")
  func gate() throws {
    let path = "001-outage-herd/gate.json5"
    let jitters = ["none", "additive:10", "full", "equal", "decorrelated"]
    // The fleet is back within an hour.
    let overrides = ExperimentFiles.longRows.merging(["duration": "90m"]) { $1 }
    let runs = try summaries(path, overrides, jitters: jitters, devices: 500)
      .map { $0.recoveryTime ?? .max }
    #expect(runs.max()! < Int64.max)
    #expect(Double(runs.max()!) < 1.5 * Double(runs.min()!), "\(runs)")
  }

  @Test(
    "herd-1 agrees with the reference programs: attempts, 503s and deliveries within 0.5 %, time to delivery within 2 %"
  )
  func herd1() throws {
    let record = try Simulation.run(ExperimentFiles.decode("bench/herd-1.json5").scenario)
    let rows = record.series.rows
    let devices = Double(record.devices)
    func perDevice(_ column: (TimeSeries.Row) -> Int64) -> Double {
      Double(rows.reduce(0) { $0 + column($1) }) / devices
    }
    func close(_ value: Double, _ reference: Double, _ tolerance: Double, _ name: String) {
      #expect(abs(value / reference - 1) <= tolerance, "\(name): \(value) against \(reference)")
    }
    // The reference's published figures, per client, for any N of at least 100,000.
    close(perDevice(\.attempts), 110.53, 0.005, "attempts")
    close(perDevice(\.[.answers503]), 12.85, 0.005, "503s")
    close(perDevice(\.[.answers2xx]), 97.68, 0.005, "200s")
    close(perDevice(\.[.deliveredEvents]), 119.997, 0.005, "delivered")
    #expect(rows.allSatisfy { $0[.answers429] == 0 })
    let delivery = record.deliveries
    close(Double(delivery.quantile(50, of: 100)!) / 1e6, 0.05, 0.02, "p50")
    close(Double(delivery.quantile(90, of: 100)!) / 1e6, 340, 0.02, "p90")
    close(Double(delivery.quantile(95, of: 100)!) / 1e6, 520, 0.02, "p95")
    close(Double(delivery.quantile(99, of: 100)!) / 1e6, 687, 0.02, "p99")
    close(Double(delivery.quantile(999, of: 1000)!) / 1e6, 802, 0.02, "p99.9")
    close(delivery.mean! / 1e6, 68.8, 0.02, "mean")
  }
}
