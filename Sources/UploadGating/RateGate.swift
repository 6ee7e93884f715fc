/// At most so many requests in any half-open span (T1): a sliding window.
public struct RateWindow: Sendable, Hashable, BitwiseCopyable {
  /// 1 … 65,535; what is outside counts as the nearer end.
  public package(set) var slots: Int
  /// Microseconds, at least 1.
  public package(set) var span: Int64

  public init(slots: Int, span: Int64) {
    self.slots = min(max(slots, 1), Int(UInt16.max))
    self.span = max(span, 1)
  }
}

/// One sliding window or two in series, both of which must grant before a request leaves (T1).
///
/// Toggl calls its windows leaky buckets and promises at most 60 requests in a minute, which a leaky bucket of that
/// size would not keep. A configuration; the state is a `log` of words that may lie anywhere, all zeros at first.
/// Both windows share one log of the requests that have left.
public struct RateGate: Sendable, Hashable, BitwiseCopyable {
  public let first: RateWindow
  public let second: RateWindow?
  private let log: SlidingLog

  public init(_ first: RateWindow, _ second: RateWindow? = nil) {
    self.first = first
    self.second = second
    log = SlidingLog(
      capacity: max(first.slots, second?.slots ?? 0), span: max(first.span, second?.span ?? 0))
  }

  /// The windows that a request asks.
  public enum Windows: Sendable, Hashable {
    case first, second, both
  }

  /// Words of four bytes that a log needs.
  public var logWords: Int { log.words }

  /// The earliest time, microseconds, from `now` on, at which so many requests may leave at once; nil: never, a
  /// window has fewer slots.
  ///
  /// - `requests`: at least 1.
  public func earliest(
    for requests: Int = 1, in windows: Windows = .both, log words: UnsafePointer<UInt32>, now: Int64
  ) -> Int64? {
    var earliest = now
    if windows != .second {
      guard let time = self.earliest(requests, in: first, words, now) else { return nil }
      earliest = max(earliest, time)
    }
    if windows != .first, let second {
      guard let time = self.earliest(requests, in: second, words, now) else { return nil }
      earliest = max(earliest, time)
    }
    return earliest
  }

  /// The request that has to leave the window is the one behind which only `slots` − `requests` are newer.
  private func earliest(
    _ requests: Int, in window: RateWindow, _ words: UnsafePointer<UInt32>, _ now: Int64
  ) -> Int64? {
    let requests = max(requests, 1)
    if requests > window.slots { return nil }
    let i = log.count(words) - (window.slots - requests) - 1
    return i < 0 ? now : max(now, sum(log.time(i, words), window.span))
  }

  /// Notes that a request leaves at `now`.
  public func take(_ requests: Int = 1, log words: UnsafeMutablePointer<UInt32>, now: Int64) {
    for _ in 0..<max(requests, 0) { log.append(now: now, words) }
  }
}

/// The latest happenings, at most so many and none older than a span: words that lie wherever the caller keeps its state.
///
/// Times are kept as 32-bit distances from the newest. They are exact for spans up to 71 minutes and rounded up (never
/// down) to a few microseconds beyond. All words zero is an empty log. A clock that goes back counts as standing still.
struct SlidingLog: Sendable, Hashable, BitwiseCopyable {
  let capacity: Int
  let span: Int64
  /// A kept time is a multiple of 2^shift microseconds.
  let shift: Int64

  /// The newest time (two words) and a word of head and count.
  static let headerWords = 3

  init(capacity: Int, span: Int64) {
    self.capacity = min(max(capacity, 1), Int(UInt16.max))
    self.span = max(span, 1)
    var shift: Int64 = 0
    while self.span >> shift >= Int64(UInt32.max) - 1 { shift += 1 }
    self.shift = shift
  }

  var words: Int { Self.headerWords + capacity }

  func newest(_ log: UnsafePointer<UInt32>) -> Int64 {
    Int64(truncatingIfNeeded: UInt64(log[0]) | UInt64(log[1]) << 32)
  }

  private func setNewest(_ time: Int64, _ log: UnsafeMutablePointer<UInt32>) {
    log[0] = UInt32(truncatingIfNeeded: time)
    log[1] = UInt32(truncatingIfNeeded: time >> 32)
  }

  private func head(_ log: UnsafePointer<UInt32>) -> Int { Int(log[2] & 0xffff) }
  func count(_ log: UnsafePointer<UInt32>) -> Int { Int(log[2] >> 16) }
  private func set(head: Int, count: Int, _ log: UnsafeMutablePointer<UInt32>) {
    log[2] = UInt32(truncatingIfNeeded: count << 16 | head)
  }

  /// Where the `i`-th oldest lies, 0 … capacity − 1.
  func place(_ i: Int, _ log: UnsafePointer<UInt32>) -> Int {
    let place = head(log) + i
    return place < capacity ? place : place - capacity
  }

  private func units(_ time: Int64) -> Int64 {
    let (sum, overflow) = time.addingReportingOverflow(1 << shift - 1)
    return (overflow ? .max : sum) >> shift
  }

  /// The time of the `i`-th oldest.
  func time(_ i: Int, _ log: UnsafePointer<UInt32>) -> Int64 {
    let newest = units(newest(log))
    let entry = log[Self.headerWords + place(i, log)]
    let distance = UInt32(truncatingIfNeeded: newest) &- entry
    return (newest &- Int64(distance)) << shift
  }

  /// Forgets what is older than the span: what happened at `now` − span is.
  func forgetOld(now: Int64, _ log: UnsafeMutablePointer<UInt32>) {
    var (first, left) = (head(log), count(log))
    if left == 0 { return }
    if isOver(newest(log), now) {
      set(head: 0, count: 0, log)
      return
    }
    while left > 0, isOver(time(0, log), now) {
      first = first + 1 == capacity ? 0 : first + 1
      left -= 1
      set(head: first, count: left, log)
    }
  }

  private func isOver(_ time: Int64, _ now: Int64) -> Bool {
    let (end, overflow) = time.addingReportingOverflow(span)
    return !overflow && end <= now
  }

  /// Notes a happening; the oldest makes room. Returns where it lies.
  @discardableResult
  func append(now: Int64, _ log: UnsafeMutablePointer<UInt32>) -> Int {
    forgetOld(now: now, log)
    let isFirst = count(log) == 0
    let now = isFirst ? now : max(now, newest(log))
    if count(log) == capacity {
      let next = head(log) + 1
      set(head: next == capacity ? 0 : next, count: capacity - 1, log)
    }
    let place = place(count(log), log)
    log[Self.headerWords + place] = UInt32(truncatingIfNeeded: units(now))
    set(head: head(log), count: count(log) + 1, log)
    setNewest(now, log)
    return place
  }

  func clear(_ log: UnsafeMutablePointer<UInt32>) { set(head: 0, count: 0, log) }
}

/// a + b, or the nearest value there is.
func sum(_ a: Int64, _ b: Int64) -> Int64 {
  let (sum, overflow) = a.addingReportingOverflow(b)
  return overflow ? (b < 0 ? .min : .max) : sum
}
