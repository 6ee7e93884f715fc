import FleetSimulation
import SimulationKernel
import Testing
import UploadPipeline

@Suite("A shard's devices in memory")
struct DeviceRowsTests {
  /// Enough devices for several slices of the phases, and phases that many devices share.
  @Test(
    "devices lie in the order of their phases, those of one phase in the order of their numbers",
    arguments: [(1, 1), (5, 1_000), (1_000, 3), (200_000, 30_000_000), (200_000, 50), (70_000, 1)])
  func order(devices: Int, interval: Int64) {
    let phases = (0..<devices).map {
      RandomKey(seed: 9).child(UInt64($0)).uniform(0, through: interval - 1)
    }
    let rows = DeviceRows(count: devices)
    defer { rows.release() }
    rows.layOut(phasesThrough: interval - 1) { phases[$0] }
    var isThere = [Bool](repeating: false, count: devices)
    var previous = (phase: Int64(-1), number: -1)
    var wrong: Int?
    var index = 0
    while index < devices {
      let (number, phase) = (
        Int(rows[DeviceIndex(index)].pointee.number), Int64(rows[DeviceIndex(index)].pointee.phase)
      )
      let isNext = phase > previous.phase || phase == previous.phase && number > previous.number
      if phase != phases[number] || isThere[number] || !isNext { wrong = wrong ?? index }
      isThere[number] = true
      previous = (phase, number)
      index += 1
    }
    #expect(rows.count == devices && wrong == nil)
  }

  @Test("devices of one phase at the end of its range keep their order")
  func synchronised() {
    let rows = DeviceRows(count: 100_000)
    defer { rows.release() }
    rows.layOut(phasesThrough: 7_000_000) { _ in 7_000_000 }
    #expect(rows.indices.map { Int(rows[$0].pointee.number) } == Array(0..<100_000))
  }
}
