import FleetSimulation
import Testing

@Suite struct TracedRunTests {
  @Test("A run that is traced gives the same record as one that is not", arguments: UInt64(1)...10)
  func sameRecord(seed: UInt64) throws {
    let scenario = RandomScenario.scenario(seed: seed)
    let untraced = try Simulation.run(scenario)
    let devices = scenario.fleet.reduce(0) { $0 + $1.devices }
    for device in [0, devices - 1] {
      let (record, trace) = try Simulation.trace(scenario, device: device)
      #expect(record == untraced, "device \(device)")
      #expect(trace.device == device)
    }
    #expect(throws: NoSuchDevice(device: devices, devices: devices)) {
      try Simulation.trace(scenario, device: devices)
    }
  }
}
