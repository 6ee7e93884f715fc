/// Something that a timer of a page brings on.
protocol Timed: Sendable {
  var timer: PageTimer { get }
}

/// An event that waits on a timer of its own.
struct WaitingEvent: Timed {
  var timer: PageTimer
  var event: UInt32
}

/// Timers of a page in no order, the earliest at hand. A page has few but for the polling loops of a long outage. Thousands of these
/// poll several times a second, and to look at all of them costs less than to keep each in its place.
struct PageTimers<Entry: Timed>: Sendable {
  /// In no order to rely on.
  private(set) var all: [Entry] = []
  private var earliest = 0

  var first: Entry? { all.isEmpty ? nil : all[earliest] }
  var count: Int { all.count }
  var isEmpty: Bool { all.isEmpty }

  mutating func insert(_ entry: Entry) {
    all.append(entry)
    if entry.timer < all[earliest].timer { earliest = all.count - 1 }
  }

  /// O(n).
  @discardableResult
  mutating func removeFirst() -> Entry? {
    if all.isEmpty { return nil }
    all.swapAt(earliest, all.count - 1)
    let first = all.removeLast()
    findEarliest()
    return first
  }

  private mutating func findEarliest() {
    earliest = 0
    for place in all.indices where all[place].timer < all[earliest].timer { earliest = place }
  }
}

extension PageTimers<PollingLoop> {
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
