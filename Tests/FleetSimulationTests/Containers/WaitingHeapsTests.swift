import SimulationKernel
import Testing
import UploadPipeline

@testable import FleetSimulation

@Suite("The heaps of waiting batches, against sorted arrays")
struct WaitingHeapsTests {
  @Test(
    "Each device's heap gives its own entries back by due time, while others grow and shrink beside it",
    arguments: 1...30 as ClosedRange<UInt64>)
  func heaps(seed: UInt64) {
    var random = RandomStream(RandomKey(seed: seed))
    func isBefore(_ a: WaitingHeaps.Entry, _ b: WaitingHeaps.Entry) -> Bool {
      (a.due, a.firstOrdinal) < (b.due, b.firstOrdinal)
    }
    let devices = 1 + Int(random.next() % 9)
    var heaps = WaitingHeaps()
    var places = Array(repeating: WaitingHeaps.Place(), count: devices)
    var model = Array(repeating: [WaitingHeaps.Entry](), count: devices)
    var number: UInt32 = 0
    for step in 0..<4_000 {
      let device = Int(random.next() % UInt64(devices))
      // It grows for a while, then shrinks: blocks of all sizes are taken and given back.
      let grows = random.next() % 10 < (step / 500 % 2 == 0 ? 7 : 3)
      if grows || model[device].isEmpty {
        number += 1
        let entry = WaitingHeaps.Entry(
          due: Int64(random.next() % 50), firstOrdinal: number, batch: BatchIndex(rawValue: number))
        heaps.push(entry, &places[device])
        model[device].append(entry)
      } else {
        let first = model[device].indices.min { isBefore(model[device][$0], model[device][$1]) }!
        let expected = model[device].remove(at: first)
        #expect(heaps.first(places[device]).batch == expected.batch, "seed \(seed), step \(step)")
        heaps.popFirst(&places[device])
      }
      #expect(Int(places[device].count) == model[device].count)
      // A device's record keeps the place as words.
      places[device] = WaitingHeaps.Place(places[device].words)
    }
    for device in 0..<devices {
      for expected in model[device].sorted(by: isBefore) {
        #expect(heaps.first(places[device]).batch == expected.batch, "seed \(seed)")
        heaps.popFirst(&places[device])
      }
      #expect(places[device].words == (0, 0, 0), "seed \(seed): an empty heap keeps no block")
    }
  }
}
