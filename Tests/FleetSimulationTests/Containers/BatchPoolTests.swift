import FleetSimulation
import SimulationKernel
import Testing
import UploadPipeline
import UploadRetry

@Suite("The pool of batches, against a dictionary")
struct BatchPoolTests {
  private struct Held {
    var firstOrdinal: UInt32
    var firstTime: Int64
    var state: BatchRetryState?
  }

  @Test(
    "No record serves two batches at once, and each keeps what was written to it",
    arguments: 1...15 as ClosedRange<UInt64>, [true, false])
  func pool(seed: UInt64, haveOwn: Bool) {
    var random = RandomStream(RandomKey(seed: seed))
    let rows = DeviceRows(count: 1 + Int(random.next() % 40))
    defer { rows.release() }
    var pool = BatchPool(
      rows, haveOwn: haveOwn, keepsAcceptanceTimes: true, looksAtWaiting: true, checks: false)
    var held: [BatchIndex: Held] = [:]
    /// Those that are held, in the order in which they came.
    var indices: [BatchIndex] = []
    var generations: [BatchIndex: UInt16] = [:]
    var ordinal: UInt32 = 0
    for step in 0..<4_000 {
      let grows = random.next() % 10 < (step / 1_000 % 2 == 0 ? 7 : 3)
      if grows || held.isEmpty {
        ordinal += 1
        let device = DeviceIndex(Int(random.next() % UInt64(rows.count)))
        let time = Int64(random.next() % 1_000_000)
        let own = BatchIndex(rawValue: device.rawValue + 1)
        let index = pool.allocate(for: device, firstOrdinal: ordinal, firstTime: time, events: 3)
        #expect(held[index] == nil, "seed \(seed): record \(index) is given out twice")
        if haveOwn {
          #expect(index == own || held[own] != nil, "seed \(seed): a device's own record comes first")
        }
        #expect(pool[index].generation == generations[index] ?? 0, "seed \(seed)")
        #expect(pool[index].flags == .held && pool[index].attempts == 0, "seed \(seed)")
        held[index] = Held(firstOrdinal: ordinal, firstTime: time)
        indices.append(index)
        continue
      }
      let place = Int(random.next() % UInt64(indices.count))
      let index = indices[place]
      if !haveOwn, random.next() % 2 == 0 {
        var state = BatchRetryState()
        state.failureCount = UInt16(1 + random.next() % 50)
        state.firstFailureTime = Int64(1 + random.next() % 1_000_000)
        state.retryAt = Int64(1 + random.next() % 1_000_000)
        pool.setRetryState(state, index)
        held[index]!.state = state
        continue
      }
      pool.release(index)
      held[index] = nil
      indices.swapAt(place, indices.count - 1)
      indices.removeLast()
      // A late answer to the batch before tells by it that it is stale.
      generations[index, default: 0] += 1
      #expect(pool[index].generation == generations[index] ?? 0, "seed \(seed)")
    }
    for (index, batch) in held {
      #expect(pool[index].firstOrdinal == batch.firstOrdinal, "seed \(seed)")
      #expect(pool[index].firstTime == batch.firstTime, "seed \(seed)")
      if haveOwn { continue }
      #expect(pool.retryState(index) == batch.state ?? BatchRetryState(), "seed \(seed)")
      #expect(pool.dueTime(index) == batch.state?.retryAt ?? 0, "seed \(seed)")
    }
  }

  @Test("Batches that differ in nothing but how long their next request is held have other digests")
  func heldRequests() {
    let rows = DeviceRows(count: 1)
    defer { rows.release() }
    var pool = BatchPool(
      rows, haveOwn: false, keepsAcceptanceTimes: false, looksAtWaiting: false, keepsDelays: true,
      checks: false)
    let batches = (0..<3).map { _ in
      pool.allocate(for: DeviceIndex(0), firstOrdinal: 7, firstTime: 1_000, events: 3)
    }
    #expect(Set(batches.map { pool.state($0) }).count == 1)
    pool.setDelayEnd(5_000, of: batches[1])
    pool.setDelayEnd(6_000, of: batches[2])
    #expect(Set(batches.map { pool.state($0) }).count == 3)
    // The delay was that of the request before.
    for batch in batches { pool[batch].attempts = 1 }
    #expect(Set(batches.map { pool.state($0) }).count == 1)
  }
}
