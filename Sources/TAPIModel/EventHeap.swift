import SimulationKernel

/// Payloads with their times, as a binary heap; entries of one instant come out in the order in which they
/// were added.
package struct EventHeap<Payload> {
  package struct Entry {
    package var time: Instant
    fileprivate(set) var number: UInt64
    package var payload: Payload
  }

  private(set) var entries: [Entry] = []
  private var added: UInt64 = 0

  package init() {}

  var count: Int { entries.count }
  package var nextTime: Instant { entries.first?.time ?? .never }

  /// In the order in which they were added.
  var inOrder: [Entry] { entries.sorted { $0.number < $1.number } }

  mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }
  mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

  package mutating func add(_ payload: Payload, at time: Instant) {
    added += 1
    entries.append(Entry(time: time, number: added, payload: payload))
    var i = entries.count - 1
    while i > 0 {
      let parent = (i - 1) / 2
      if !isBefore(entries[i], entries[parent]) { break }
      entries.swapAt(i, parent)
      i = parent
    }
  }

  mutating func removeAll(where isIdle: (Payload) -> Bool) {
    entries.removeAll { isIdle($0.payload) }
    // A sorted array is a heap.
    entries.sort(by: isBefore)
  }

  /// Removes and returns the first entry in time; there must be at least one.
  package mutating func takeFirst() -> Entry {
    let top = entries[0]
    let last = entries.removeLast()
    if entries.isEmpty { return top }
    entries[0] = last
    var i = 0
    while true {
      var child = 2 * i + 1
      if child >= entries.count { break }
      if child + 1 < entries.count, isBefore(entries[child + 1], entries[child]) { child += 1 }
      if !isBefore(entries[child], entries[i]) { break }
      entries.swapAt(child, i)
      i = child
    }
    return top
  }

  private func isBefore(_ a: Entry, _ b: Entry) -> Bool {
    a.time != b.time ? a.time < b.time : a.number < b.number
  }
}
