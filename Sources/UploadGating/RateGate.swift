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
/// size would not keep. A configuration; the state is a `log` of words that may lie anywhere, all zeros at first
/// (`RateLimiter` keeps one of its own). Both windows share one log of the requests that have left.
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

  /// Which of the windows are asked.
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

/// A `RateGate` with its log, for an app that has one of it.
public struct RateLimiter: Sendable, Hashable {
  public let gate: RateGate
  /// The log's words, to persist.
  public private(set) var log: [UInt32]

  public init(_ gate: RateGate) {
    self.gate = gate
    log = Array(repeating: 0, count: gate.logWords)
  }

  /// How long so many requests would have to wait to leave at once, microseconds; nil: never.
  public func wait(for requests: Int = 1, in windows: RateGate.Windows = .both, now: Int64) -> Int64? {
    log.withUnsafeBufferPointer { words in
      words.baseAddress.flatMap { gate.earliest(for: requests, in: windows, log: $0, now: now) }
    }.map { earliest in
      let (wait, overflow) = earliest.subtractingReportingOverflow(now)
      return overflow ? .max : wait
    }
  }

  /// Lets so many requests leave at once if they may; otherwise says how long to wait, microseconds, and takes
  /// nothing; nil: never.
  public mutating func request(_ requests: Int = 1, now: Int64) -> Int64? {
    guard let wait = wait(for: requests, now: now) else { return nil }
    if wait == 0 {
      log.withUnsafeMutableBufferPointer { words in
        if let base = words.baseAddress { gate.take(requests, log: base, now: now) }
      }
    }
    return wait
  }
}
