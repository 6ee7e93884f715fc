import FleetSimulation
import SimulationKernel
import TestSupport
import Testing
import UploadPipeline

@Suite("The heaps of waiting batches, against sorted arrays")
struct WaitingHeapsTests {
  @Test(
    "Each device's heap gives its own entries back by due time, while others grow and shrink beside it",
    arguments: 1...UInt64(TestDepth.cases(10, exhaustively: 30)))
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

  @Test(
    "Batches that leave keep their entries until these are half of all, and the others come up by due time",
    arguments: 1...UInt64(TestDepth.cases(10, exhaustively: 30)))
  func leaving(seed: UInt64) {
    var random = RandomStream(RandomKey(seed: seed))
    var heaps = WaitingHeaps()
    var place = WaitingHeaps.Place()
    /// Due times of the batches that wait, by number, and the numbers of those whose entries are stale.
    var model: [UInt32: Int64] = [:]
    var stale: Set<UInt32> = []
    var number: UInt32 = 0
    for step in 0..<2_000 {
      let isGrowing = step / 250 % 2 == 0
      if random.next() % 10 < (isGrowing ? 7 : 4) {
        number += 1
        model[number] = Int64(random.next() % 50)
        heaps.push(
          .init(due: model[number]!, firstOrdinal: number, batch: BatchIndex(rawValue: number)), &place)
      } else if let leaves = model.keys.sorted().first(where: { _ in random.next() % 4 == 0 }) {
        let isHalfStale = stale.count >= 4 && 2 * stale.count >= Int(place.count)
        #expect(place.isHalfStale == isHalfStale)
        if isHalfStale {
          let kept = heaps.moveStaleToEnd(of: place) { model[$0.rawValue] == nil }
          #expect(kept == model.count, "seed \(seed), step \(step)")
          heaps.keepFirst(kept, of: &place)
          stale = []
        }
        model[leaves] = nil
        stale.insert(leaves)
        place.leavesEntry()
      }
      #expect(Int(place.count) == model.count + stale.count && Int(place.stale) == stale.count)
      #expect(stale.count <= max(4, model.count + 2), "seed \(seed), step \(step)")
      // What comes up first, stale or not.
      if random.next() % 5 == 0, place.count > 0 {
        let first = heaps.first(place).batch.rawValue
        if stale.remove(first) == nil {
          let due = model.removeValue(forKey: first)
          #expect(model.allSatisfy { (due!, first) < ($0.value, $0.key) }, "seed \(seed), step \(step)")
          heaps.popFirst(&place)
        } else {
          heaps.popFirst(&place, isStale: true)
        }
      }
      place = WaitingHeaps.Place(place.words)
    }
    #expect(number > 500)
  }
}
