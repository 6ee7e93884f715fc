import FleetSimulation
import SimulationKernel
import TestSupport
import Testing
import UploadPipeline

@Suite("The due batches of devices, against sorted arrays")
struct ReadyBatchesTests {
  typealias Entry = ReadyBatches.Entry

  @Test(
    "Each device has its own entries in order, whichever way they come and go, while others grow and shrink beside it",
    arguments: 1...UInt64(TestDepth.cases(8, exhaustively: 30)))
  func order(seed: UInt64) {
    var random = RandomStream(RandomKey(seed: seed))
    func below(_ n: Int) -> Int { Int(random.next() % UInt64(n)) }
    let devices = 1 + below(9)
    var ready = ReadyBatches()
    var places = Array(repeating: ReadyBatches.Place(), count: devices)
    var model = Array(repeating: [UInt32](), count: devices)
    // Numbers that some device had and has no more: they come back between the others.
    var absent = Array(repeating: [UInt32](), count: devices)
    var next = Array(repeating: UInt32(0), count: devices)
    func entry(_ ordinal: UInt32) -> Entry {
      Entry(
        firstOrdinal: ordinal, batch: BatchIndex(rawValue: ordinal &* 7 & 0x7fff_ffff),
        atTriggersOnly: ordinal % 5 == 0)
    }
    for step in 0..<3_000 {
      let device = below(devices)
      let grows = below(10) < (step / 500 % 2 == 0 ? 7 : 3)
      if grows || model[device].isEmpty {
        switch below(absent[device].isEmpty ? 1 : 4) {
        case 0:
          next[device] += 1 + UInt32(below(3))
          model[device].append(next[device])
          ready.append(entry(next[device]), to: &places[device])
        case 1:
          let many = absent[device].sorted()
          absent[device] = []
          many.map(entry).withUnsafeBufferPointer { ready.merge($0, into: &places[device]) }
          model[device] = (model[device] + many).sorted()
        default:
          let one = absent[device].remove(at: below(absent[device].count))
          ready.insert(entry(one), into: &places[device])
          model[device] = (model[device] + [one]).sorted()
        }
      } else {
        // The oldest most of the time.
        let index = below(3) == 0 ? below(model[device].count) : 0
        absent[device].append(model[device].remove(at: index))
        ready.remove(at: index, from: &places[device])
      }
      let probe = UInt32(below(Int(next[device]) + 2))
      let expected = model[device].firstIndex { $0 >= probe } ?? model[device].count
      let isFound =
        ready.firstIndex(from: probe, in: places[device]) == expected
        && ready.index(ofBatchAt: probe, in: places[device]) == model[device].firstIndex(of: probe)
      // No closure and no expectation: there are millions of these steps, and tests are not optimised.
      var isSame = Int(places[device].count) == model[device].count
      var index = 0
      while isSame, index < model[device].count {
        let (one, expected) = (ready.entry(index, of: places[device]), entry(model[device][index]))
        isSame =
          one.firstOrdinal == expected.firstOrdinal && one.batch == expected.batch
          && one.atTriggersOnly == expected.atTriggersOnly
        index += 1
      }
      if !isFound || !isSame {
        Issue.record("seed \(seed), step \(step): found \(isFound), the same \(isSame)")
      }
    }
  }

  @Test("An entry is replaced in its place, alone and among others")
  func replacement() {
    var ready = ReadyBatches()
    var place = ReadyBatches.Place()
    for ordinal in [10, 20, 30] as [UInt32] {
      ready.append(
        Entry(firstOrdinal: ordinal, batch: BatchIndex(rawValue: ordinal), atTriggersOnly: false), to: &place)
      ready.replace(
        at: Int(ordinal) / 10 - 1, of: &place,
        with: Entry(firstOrdinal: ordinal + 5, batch: BatchIndex(rawValue: 99), atTriggersOnly: true))
    }
    #expect((0..<3).map { ready.entry($0, of: place).firstOrdinal } == [15, 25, 35])
    #expect((0..<3).allSatisfy { ready.entry($0, of: place).batch.rawValue == 99 })
    ready.removeAll(from: &place)
    #expect(place.count == 0)
  }
}
