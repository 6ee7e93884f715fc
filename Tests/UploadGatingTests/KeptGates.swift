import UploadGating

/// A `RateGate` with its log.
struct RateLimiter: Sendable, Hashable {
  let gate: RateGate
  /// The log's words, to persist.
  private(set) var log: [UInt32]

  init(_ gate: RateGate) {
    self.gate = gate
    log = Array(repeating: 0, count: gate.logWords)
  }

  /// How long so many requests would have to wait to leave at once, microseconds; nil: never.
  func wait(for requests: Int = 1, in windows: RateGate.Windows = .both, now: Int64) -> Int64? {
    log.withUnsafeBufferPointer { words in
      words.baseAddress.flatMap { gate.earliest(for: requests, in: windows, log: $0, now: now) }
    }.map { earliest in
      let (wait, overflow) = earliest.subtractingReportingOverflow(now)
      return overflow ? .max : wait
    }
  }

  /// Lets so many requests leave at once if they may; otherwise says how long to wait, microseconds, and takes
  /// nothing; nil: never.
  mutating func request(_ requests: Int = 1, now: Int64) -> Int64? {
    guard let wait = wait(for: requests, now: now) else { return nil }
    if wait == 0 {
      log.withUnsafeMutableBufferPointer { words in
        if let base = words.baseAddress { gate.take(requests, log: base, now: now) }
      }
    }
    return wait
  }
}

/// A `CircuitBreaker` with its state.
struct HostBreaker: Sendable, Hashable {
  let breaker: CircuitBreaker
  private var words: [UInt32]

  init(_ breaker: CircuitBreaker = CircuitBreaker()) {
    self.breaker = breaker
    words = Array(repeating: 0, count: breaker.stateWords)
  }

  /// That of a launched app which has kept this one.
  func relaunched(now: Int64, jitter: (Int64) -> Int64 = { $0 }) -> HostBreaker {
    var launched = self
    launched.withWords { $0.relaunch($1, now: now, jitter: jitter) }
    return launched
  }

  func state(now: Int64) -> CircuitBreaker.State { reading { breaker.state($0, now: now) } }

  /// Whether a request may leave; one that may is noted.
  mutating func request(now: Int64) -> CircuitBreaker.Permission {
    let permission = reading { breaker.permission($0, now: now) }
    if permission == .allowed || permission == .allowedAsProbe {
      withWords { $0.take($1, now: now) }
    }
    return permission
  }

  /// Notes how a request ended. Returns for how long the breaker opens at it, microseconds; 0: it does not.
  @discardableResult
  mutating func record(
    failed: Bool, now: Int64, jitter: (Int64) -> Int64 = { $0 }
  ) -> Int64 {
    withWords { $0.record(failed: failed, $1, now: now, jitter: jitter) }
  }

  // `stateWords` is never 0, so there is a base address.
  private func reading<R>(_ body: (UnsafePointer<UInt32>) -> R) -> R {
    words.withUnsafeBufferPointer { body($0.baseAddress.unsafelyUnwrapped) }
  }
  private mutating func withWords<R>(_ body: (CircuitBreaker, UnsafeMutablePointer<UInt32>) -> R) -> R {
    let breaker = breaker
    return words.withUnsafeMutableBufferPointer { body(breaker, $0.baseAddress.unsafelyUnwrapped) }
  }
}
