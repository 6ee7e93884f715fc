/// Stops requests to a host that is clearly down (O6): closed, open for a time that grows, half-open for a few probes.
///
/// A configuration; the state is words that may lie anywhere, all zeros at first. The
/// rate is that of the last `requests` outcomes that are younger than `window`. It opens above `thresholdPercent` with
/// at least `minimumFailures`. Half-open it lets `probes` through; it closes when all of them have succeeded and opens
/// again at the first that fails. An outcome that comes while it is open is not counted; one that comes while it is
/// half-open counts as a probe's.
public struct CircuitBreaker: Sendable, Hashable, BitwiseCopyable {
  /// 1 … 64.
  public package(set) var requests: Int
  /// Microseconds.
  public package(set) var window: Int64
  /// 0 … 99.
  public package(set) var thresholdPercent: Int
  /// At least 1.
  public package(set) var minimumFailures: Int
  /// The first open time, doubled at each opening that follows a failed probe, up to `longestOpenTime`.
  public package(set) var openTime: Int64
  public package(set) var longestOpenTime: Int64
  /// 1 … 3.
  public package(set) var probes: Int
  /// First tries leave all the same: what is stopped, and what is a probe, is a retry. All outcomes count.
  public package(set) var retriesOnly: Bool
  /// What it stops fails at once and is lost; else it waits.
  public package(set) var failsWhenOpen: Bool
  private var log: SlidingLog { SlidingLog(capacity: requests, span: window) }

  /// The document's numbers: 20 requests, 2 min, 50 %, 5 failures, 30 s → 60 s → 2 min.
  public init(
    requests: Int = 20, window: Int64 = 120_000_000, thresholdPercent: Int = 50, minimumFailures: Int = 5,
    openTime: Int64 = 30_000_000, longestOpenTime: Int64 = 120_000_000, probes: Int = 1,
    retriesOnly: Bool = false, failsWhenOpen: Bool = false
  ) {
    self.requests = min(max(requests, 1), 64)
    self.window = max(window, 1)
    self.thresholdPercent = min(max(thresholdPercent, 0), 99)
    self.minimumFailures = max(minimumFailures, 1)
    self.openTime = max(openTime, 1)
    self.longestOpenTime = max(longestOpenTime, self.openTime)
    self.probes = min(max(probes, 1), 3)
    self.retriesOnly = retriesOnly
    self.failsWhenOpen = failsWhenOpen
  }

  /// The breaker's answer to a request.
  public enum Permission: Sendable, Hashable {
    case allowed
    /// Half-open: it is one of the probes.
    case allowedAsProbe
    /// Open until this time, microseconds.
    case refused(until: Int64)
    /// Half-open, and as many probes as allowed are under way.
    case refusedWhileProbing
  }

  public enum State: Sendable, Hashable {
    case closed
    /// Until this time, microseconds.
    case open(until: Int64)
    /// Probes may leave, or are under way.
    case halfOpen
  }

  // The words: first the end of the open time (two). Then one word of counts: openings, probes out, probes succeeded,
  // whether it is open or half-open. The next two tell which outcomes are failures, by their place in the log. The log
  // is last.
  private static let maskWord = 3
  private static let logWord = 5

  /// Words of four bytes that a state needs.
  public var stateWords: Int { Self.logWord + log.words }

  private func openUntil(_ words: UnsafePointer<UInt32>) -> Int64 {
    Int64(truncatingIfNeeded: UInt64(words[0]) | UInt64(words[1]) << 32)
  }
  private func counts(_ words: UnsafePointer<UInt32>) -> Counts { Counts(word: words[2]) }

  public func state(_ words: UnsafePointer<UInt32>, now: Int64) -> State {
    guard counts(words).isTripped else { return .closed }
    let until = openUntil(words)
    return now < until ? .open(until: until) : .halfOpen
  }

  /// Returns the breaker's answer to a request; takes nothing.
  public func permission(_ words: UnsafePointer<UInt32>, now: Int64) -> Permission {
    switch state(words, now: now) {
    case .closed: .allowed
    case .open(let until): .refused(until: until)
    case .halfOpen:
      Int(counts(words).probesOut) + Int(counts(words).probesSucceeded) < probes
        ? .allowedAsProbe : .refusedWhileProbing
    }
  }

  /// Notes that a request leaves that has been allowed to.
  public func take(_ words: UnsafeMutablePointer<UInt32>, now: Int64) {
    guard state(words, now: now) == .halfOpen else { return }
    var counts = counts(words)
    counts.probesOut = min(counts.probesOut + 1, 3)
    words[2] = counts.word
  }

  /// Notes how a request ended. Returns for how long the breaker opens at it, microseconds; 0: it does not. `jitter` says what
  /// becomes of an open time.
  @discardableResult
  public func record(
    failed: Bool, _ words: UnsafeMutablePointer<UInt32>, now: Int64, jitter: (Int64) -> Int64 = { $0 }
  ) -> Int64 {
    switch state(words, now: now) {
    case .open: return 0
    case .halfOpen:
      if failed { return open(words, now: now, jitter) }
      var counts = counts(words)
      if counts.probesOut > 0 { counts.probesOut -= 1 }
      counts.probesSucceeded += 1
      if Int(counts.probesSucceeded) >= probes {
        counts = Counts(word: 0)
        log.clear(words + Self.logWord)
      }
      words[2] = counts.word
      return 0
    case .closed:
      let place = log.append(now: now, words + Self.logWord)
      let bit: UInt32 = 1 << UInt32(place & 31)
      let word = Self.maskWord + place >> 5
      words[word] = failed ? words[word] | bit : words[word] & ~bit
      return failed && isFailing(words) ? open(words, now: now, jitter) : 0
    }
  }

  private func isFailing(_ words: UnsafePointer<UInt32>) -> Bool {
    let outcomes = log.count(words + Self.logWord)
    var failures = 0
    for i in 0..<outcomes {
      let place = log.place(i, words + Self.logWord)
      if words[Self.maskWord + place >> 5] >> UInt32(place & 31) & 1 == 1 { failures += 1 }
    }
    return failures >= minimumFailures && failures * 100 > thresholdPercent * outcomes
  }

  private func open(
    _ words: UnsafeMutablePointer<UInt32>, now: Int64, _ jitter: (Int64) -> Int64
  ) -> Int64 {
    let openings = counts(words).openings
    var time = openTime
    for _ in 0..<openings where time < longestOpenTime {
      time = time > longestOpenTime / 2 ? longestOpenTime : time * 2
    }
    time = max(jitter(time), 1)
    set(words, openUntil: sum(now, time), openings == .max ? .max : openings + 1)
    log.clear(words + Self.logWord)
    return time
  }

  /// An app is launched that has kept the words; the outcomes and the probes are those of a process that has ended. An open time
  /// that ends later than one from now would is cut to that: the clock has moved. All words are written.
  ///
  /// `jitter` gives the most that may become of an open time.
  public func relaunch(
    _ words: UnsafeMutablePointer<UInt32>, now: Int64, jitter: (Int64) -> Int64 = { $0 }
  ) {
    let (counts, until) = (counts(words), openUntil(words))
    for i in 0..<stateWords { words[i] = 0 }
    if !counts.isTripped { return }
    set(words, openUntil: min(until, sum(now, jitter(longestOpenTime))), counts.openings)
  }

  private func set(_ words: UnsafeMutablePointer<UInt32>, openUntil time: Int64, _ openings: UInt8) {
    words[0] = UInt32(truncatingIfNeeded: time)
    words[1] = UInt32(truncatingIfNeeded: time >> 32)
    words[2] = Counts(openings: openings, isTripped: true).word
  }

  private struct Counts {
    var openings: UInt8
    var probesOut: UInt8
    var probesSucceeded: UInt8
    var isTripped: Bool
    init(openings: UInt8, isTripped: Bool) {
      self.openings = openings
      (probesOut, probesSucceeded) = (0, 0)
      self.isTripped = isTripped
    }
    init(word: UInt32) {
      openings = UInt8(truncatingIfNeeded: word)
      probesOut = UInt8(truncatingIfNeeded: word >> 8)
      probesSucceeded = UInt8(truncatingIfNeeded: word >> 16)
      isTripped = word >> 24 != 0
    }
    var word: UInt32 {
      UInt32(openings) | UInt32(probesOut) << 8 | UInt32(probesSucceeded) << 16 | (isTripped ? 1 << 24 : 0)
    }
  }
}
