import Dispatch
import Synchronization

/// What transports have told and the run has not heard yet.
public final class LiveInbox: Sendable {
  /// An upload that has ended, and when, in virtual microseconds.
  struct Message: Sendable {
    var upload: Int
    var end: LiveEnd
    var time: Int64
  }

  private let messages = Mutex<[Message]>([])
  private let signal = DispatchSemaphore(value: 0)

  public init() {}

  func post(_ message: Message) {
    let wasEmpty = messages.withLock {
      $0.append(message)
      return $0.count == 1
    }
    if wasEmpty { signal.signal() }
  }

  /// All of them, oldest first.
  func takeAll() -> [Message] {
    messages.withLock { all in
      defer { all = [] }
      return all
    }
  }

  public var isEmpty: Bool { messages.withLock(\.isEmpty) }

  /// Waits for a message, at most so many seconds. It may return without one.
  public func wait(atMost seconds: Double) {
    if seconds > 0 { _ = signal.wait(timeout: .now() + seconds) }
  }
}

/// Wall time, so many times as fast.
public struct AcceleratedClock: LiveClock {
  /// Seconds of a clock that never goes back.
  private let seconds: @Sendable () -> Double
  private let start: Double
  private let speed: Double
  /// A run looks after its control so often, in seconds.
  private static let longestWait = 0.1

  /// Starts now.
  ///
  /// - Parameters:
  ///   - speed: virtual seconds in one of the wall; above 0.
  ///   - monotonicSeconds: a clock that never goes back.
  public init(speed: Double, monotonicSeconds: @escaping @Sendable () -> Double) {
    seconds = monotonicSeconds
    start = monotonicSeconds()
    self.speed = speed
  }

  public var now: Int64 { Int64(((seconds() - start) * speed * 1e6).rounded(.down)) }

  public func wait(until time: Int64, for inbox: LiveInbox) {
    let seconds = Double(time - now) / 1e6 / speed
    inbox.wait(atMost: min(seconds, Self.longestWait))
  }
}
