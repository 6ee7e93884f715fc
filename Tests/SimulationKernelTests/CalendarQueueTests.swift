import SimulationKernel
import TestSupport
import Testing

@Suite("The calendar queue, against a dictionary of slots")
struct CalendarQueueTests {
  /// What a calendar must hold: every item by its slot.
  private struct Model {
    var items: [Int: [Int64]] = [:]

    func nextOccupied(from slot: Int, limit: Int) -> Int {
      items.keys.filter { slot..<limit ~= $0 }.min() ?? limit
    }
  }

  @Test(
    "It gives back each slot's items, once, in whatever order they were pushed",
    arguments: 1...UInt64(TestDepth.cases(20, exhaustively: 60)))
  func takes(seed: UInt64) {
    let key = RandomKey(seed: seed)
    var draws: UInt64 = 0
    func draw(below n: Int) -> Int {
      draws += 1
      return Int(key.child(draws).bits % UInt64(n))
    }
    let slots = 1 + draw(below: 3_000)
    let ringSlots = 1 << draw(below: 9)
    // The set may go with another calendar, whose ring is longer.
    let occupied = SlotSet(slots: slots, ringSlots: ringSlots...(ringSlots << draw(below: 4)))
    defer { occupied.deallocate() }
    var calendar = CalendarQueue<Int64>(
      slots: slots, ringSlots: ringSlots, chunkBytes: [256, 512, 4_096][draw(below: 3)], in: occupied)
    var model = Model()
    var number: Int64 = 0
    var output = GrowableBuffer<Int64>()
    var slot = 0
    func push(to target: Int) {
      number += 1
      calendar.push(number, slot: target)
      model.items[target, default: []].append(number)
    }
    for _ in 0..<draw(below: 200) { push(to: draw(below: slots)) }
    while slot < slots {
      if draw(below: 2) == 0 {
        // A far revolution counts as occupied at its first slot, because nobody has looked into it.
        let limit = min(slots, slot + 1 + draw(below: 400))
        let found = occupied.first(from: slot, limit: limit) { calendar.waits(for: $0) }
        let expected = model.nextOccupied(from: slot, limit: limit)
        #expect(found <= expected, "seed \(seed): an occupied slot was passed over")
        // Sometimes it only looks: what is pushed next lies before what it has found.
        if draw(below: 3) > 0 {
          if found == slots { break }
          calendar.skip(to: found)
          slot = found
          if slot == limit { continue }
        }
      }
      output.removeAll()
      calendar.take(slot: slot, into: &output)
      occupied.remove(slot)
      let taken = (0..<output.count).map { output[$0] }.sorted()
      #expect(taken == model.items.removeValue(forKey: slot) ?? [], "seed \(seed), slot \(slot)")
      slot += 1
      if slot < slots {
        for _ in 0..<draw(below: 4) where draw(below: 3) == 0 {
          push(to: min(slots - 1, slot + (draw(below: 8) == 0 ? draw(below: slots) : draw(below: 50))))
        }
        // A burst that needs several chunks.
        if draw(below: 40) == 0 { for _ in 0..<200 { push(to: slot) } }
      }
    }
    #expect(model.items.isEmpty, "seed \(seed): items were left behind")
  }

  @Test("The next occupied slot of an empty calendar is the limit, and what is pushed before it is found")
  func empties() {
    let occupied = SlotSet(slots: 100_000, ringSlots: 64...64)
    defer { occupied.deallocate() }
    var calendar = CalendarQueue<Int64>(slots: 100_000, ringSlots: 64, in: occupied)
    func first(from slot: Int, limit: Int) -> Int {
      occupied.first(from: slot, limit: limit) { calendar.waits(for: $0) }
    }
    #expect(first(from: 0, limit: 100_000) == 100_000)
    calendar.push(1, slot: 40)
    calendar.push(2, slot: 7)
    #expect(first(from: 0, limit: 100_000) == 7)
    var output = GrowableBuffer<Int64>()
    calendar.skip(to: 7)
    calendar.take(slot: 7, into: &output)
    occupied.remove(7)
    #expect(first(from: 8, limit: 30) == 30)
    #expect(first(from: 8, limit: 100) == 40)
  }
}
