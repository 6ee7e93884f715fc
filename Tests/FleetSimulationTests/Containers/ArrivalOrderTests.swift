import FleetSimulation
import SimulationKernel
import TAPIModel
import Testing

@Suite("The order of arrivals")
struct ArrivalOrderTests {
  @Test("An arrival's word keeps its parts and sorts by time first", arguments: 1...20 as ClosedRange<UInt64>)
  func words(seed: UInt64) {
    var random = RandomStream(RandomKey(seed: seed))
    var previous: (word: UInt64, offset: Int64)?
    for _ in 0..<300 {
      let (offset, shard) = (UInt32(random.next() % (1 << 19)), Int(random.next() % (1 << 16)))
      let index = Int(random.next() % (1 << 28))
      let word = ArrivalWord.word(offset: offset, shard: shard, index: index)
      #expect(ArrivalWord.offset(word) == Int64(offset))
      #expect(ArrivalWord.shard(word) == shard && ArrivalWord.index(word) == index)
      if let previous, previous.offset != Int64(offset) {
        #expect((previous.word < word) == (previous.offset < Int64(offset)))
      }
      previous = (word, Int64(offset))
    }
  }

  @Test(
    "Ties have one order whatever the shard and the place of a device are, and no device is always first",
    arguments: 1...20 as ClosedRange<UInt64>)
  func ties(seed: UInt64) {
    var random = RandomStream(RandomKey(seed: seed))
    let key = RandomKey(seed: seed).child(1)
    func tie(_ device: UInt32, _ ordinal: UInt32, _ attempt: UInt16, shard: UInt16) -> ArrivalTie {
      let request = UploadRequest(
        arrival: .start, device: device,
        id: AttemptID(place: device / 2, record: 1, number: attempt, generation: 0), firstOrdinal: ordinal,
        uplink: 5, downlink: 5, events: 1, shard: shard)
      return ArrivalTie(word: UInt64(device), request: request, key: key)
    }
    let names = (0..<60).map { (UInt32($0), UInt32(random.next() % 4), UInt16(1 + random.next() % 3)) }
    let order = names.map { tie($0.0, $0.1, $0.2, shard: 0) }.sorted { $0 < $1 }.map(\.word)
    let other = names.reversed().map { tie($0.0, $0.1, $0.2, shard: UInt16($0.0 % 3)) }
      .sorted { $0 < $1 }.map(\.word)
    #expect(order == other)
    #expect(order != order.sorted())
  }
}
