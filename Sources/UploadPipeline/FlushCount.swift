/// The count trigger (S17): how many events make a flush.
public struct FlushCount: Sendable, Hashable {
  /// Events that make a flush, 1 … ; nil: no count does.
  public let count: Int?
  /// How much an event counts.
  public let countOfAnEvent: Int
  /// The count goes on over flushes for other reasons; else it starts over at each flush, whether something leaves or not.
  public let countsAllEvents: Bool
  private var counted = 0

  public init(_ count: Int?, countOfAnEvent: Int = 1, countsAllEvents: Bool = false) {
    self.count = count.map { max($0, 1) }
    self.countOfAnEvent = max(countOfAnEvent, 1)
    self.countsAllEvents = countsAllEvents
  }

  /// New events come in; returns whether they make a flush.
  public mutating func add(_ events: Int) -> Bool {
    guard let count else { return false }
    if !countsAllEvents {
      counted += events * countOfAnEvent
      return counted >= count
    }
    for _ in 0..<events {
      counted += countOfAnEvent
      if counted % count == 0 {
        counted = 0
        return true
      }
    }
    return false
  }

  /// A flush has come, for whatever reason.
  public mutating func flushed() { if !countsAllEvents { counted = 0 } }

  /// The process has ended; the count was in memory.
  public mutating func restart() { counted = 0 }
}
