/// Something that a timer of a page brings on.
protocol Timed: Sendable {
  var timer: PageTimer { get }
}

/// An event that waits on a timer of its own.
struct WaitingEvent: Timed {
  var timer: PageTimer
  var event: UInt32
}

/// Timers of a page, the earliest at hand: a binary heap.
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

/// The polling loops of a page that have a timer, in no order. Thousands poll several times a second, and to look at all of them
/// costs less than to keep each in its place.
struct PollingLoops: Sendable {
  private var all: [PollingLoop] = []
  private var earliest = 0

  var first: PollingLoop? { all.isEmpty ? nil : all[earliest] }
  var count: Int { all.count }

  mutating func insert(_ loop: PollingLoop) {
    all.append(loop)
    if loop.timer < all[earliest].timer { earliest = all.count - 1 }
  }

  /// O(n).
  mutating func removeFirst() {
    all.swapAt(earliest, all.count - 1)
    all.removeLast()
    findEarliest()
  }

  private mutating func findEarliest() {
    earliest = 0
    for place in all.indices where all[place].timer < all[earliest].timer { earliest = place }
  }

  /// Ends the loops that poll before a time, and returns how many.
  mutating func end(before end: PageTimer) -> UInt64 {
    let before = all.count
    all.removeAll { $0.timer < end }
    findEarliest()
    return UInt64(before - all.count)
  }

  /// Polls before a time that find nothing to send, each of which sets its loop's next; returns how many. O(n) and their number.
  mutating func poll(before end: PageTimer, _ draws: BrowserDraws, _ timersSet: inout UInt64) -> UInt64 {
    // Each loop acts for itself, so they are walked one after another; timers of one time fire in the order in which they were
    // set.
    var moved: [(place: Int, setAt: Int64, steps: UInt64, order: UInt64)] = []
    for place in all.indices where all[place].timer < end {
      var loop = all[place]
      let (order, before) = (loop.timer.order, loop.polls)
      var setAt = loop.timer.time
      while loop.timer.time < end.time || loop.timer < end && loop.polls == before {
        setAt = loop.timer.time
        if let step = draws.leap(loop, to: end.time) {
          loop.polls &+= step.polls
          loop.timer.time = step.time
        } else {
          loop.timer.time = setAt &+ BrowserPage.delay(draws.pollDelay(loop))
          loop.polls &+= 1
        }
      }
      all[place] = loop
      moved.append((place, setAt, loop.polls &- before, order))
    }
    moved.sort { ($0.setAt, $0.steps, $0.order) < ($1.setAt, $1.steps, $1.order) }
    for move in moved {
      timersSet &+= 1
      all[move.place].timer.order = timersSet
    }
    findEarliest()
    return moved.reduce(0) { $0 &+ $1.steps }
  }
}
