/// Something that a timer of a page brings on.
protocol Timed: Sendable {
  var timer: PageTimer { get }
}

/// An event that waits on a timer of its own.
struct WaitingEvent: Timed {
  var timer: PageTimer
  var event: UInt32
}

/// Timers of a page, the earliest at hand: a binary heap, as a long outage leaves one a failure.
///
/// Each timer has an order of its own, so what is first does not depend on how the heap lies. Insertion and removal: O(log n).
struct PageTimers<Entry: Timed>: Sendable {
  /// In no order to rely on.
  private(set) var all: [Entry] = []

  var first: Entry? { all.first }
  var count: Int { all.count }
  var isEmpty: Bool { all.isEmpty }

  mutating func insert(_ entry: Entry) {
    all.append(entry)
    var child = all.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      if all[parent].timer < all[child].timer { return }
      all.swapAt(parent, child)
      child = parent
    }
  }

  @discardableResult
  mutating func removeFirst() -> Entry? {
    guard let last = all.popLast() else { return nil }
    guard let first = all.first else { return last }
    all[0] = last
    var parent = 0
    while true {
      var child = 2 * parent + 1
      if child >= all.count { return first }
      if child + 1 < all.count, all[child + 1].timer < all[child].timer { child += 1 }
      if all[parent].timer < all[child].timer { return first }
      all.swapAt(parent, child)
      parent = child
    }
  }
}
