/// Waits one after another in place of base · multiplierⁿ; the last repeats.
///
/// Sixty-five bytes without references: a policy is copied into hot loops.
public struct DelayLadder: Sendable, Hashable, BitwiseCopyable {
  /// Waits at most.
  public static let longest = 16

  /// Milliseconds, the first `count` of them in use.
  private var waits = SIMD16<UInt32>.zero
  /// How many there are, 0 … `longest`.
  public private(set) var count: UInt8 = 0

  /// No ladder: backoffs double, or grow by the policy's multiplier.
  public init() {}

  /// - Parameter milliseconds: 1 … `longest` waits, each from 1 ms to 49 days.
  /// - Returns: nil for none, for too many, and for a wait that is 0.
  public init?(milliseconds: [UInt32]) {
    guard (1...Self.longest).contains(milliseconds.count), !milliseconds.contains(0) else { return nil }
    for (index, wait) in milliseconds.enumerated() { waits[index] = wait }
    count = UInt8(milliseconds.count)
  }

  /// Whether there is none.
  @inlinable public var isEmpty: Bool { count == 0 }

  /// The waits, milliseconds.
  public var milliseconds: [UInt32] { (0..<Int(count)).map { waits[$0] } }

  /// The wait after so many earlier failures, microseconds; `self` is not empty.
  func wait(afterFailures failures: Int) -> Int64 {
    Int64(waits[min(max(failures, 0), Int(count) - 1)]) * 1_000
  }

  /// The longest of them, microseconds.
  var longestWait: Int64 { Int64(waits.max()) * 1_000 }
}

/// How backoffs grow from one failure to the next.
extension RetryPolicy {
  /// Whether backoffs are base · 2ⁿ, as the document has them (S10).
  var doubles: Bool { waits.isEmpty && multiplier == 2 && immediateRetries == 0 }

  /// The backoff before jitter, microseconds, and the bounds within which jitter may move it.
  ///
  /// With a ladder its waits stand for the base and the cap. Without, it is base · multiplierⁿ, at most the longest wait; a power
  /// is made by multiplying step by step, so that it is the same everywhere.
  ///
  /// - `failures`: earlier failures that count, those that were retried at once left out.
  /// - Complexity: O(1) with a ladder or a multiplier of 2, else by the steps from the base to the longest wait.
  func backoff(afterFailures failures: Int, _ bounds: DelayBounds) -> (wait: Int64, bounds: DelayBounds) {
    if !waits.isEmpty {
      let bounds = DelayBounds(base: waits.wait(afterFailures: 0), longest: waits.longestWait)
      return (waits.wait(afterFailures: failures), bounds)
    }
    if multiplier == 2 {
      return (Jitter.backoff(retryCount: failures, base: bounds.base, cap: bounds.longest), bounds)
    }
    let (base, longest) = (max(bounds.base, 0), max(bounds.longest, 0))
    var wait = Double(base)
    if multiplier > 1, base > 0 {
      for _ in 0..<min(failures, Int(UInt16.max)) {
        if wait >= Double(longest) { break }
        wait *= multiplier
      }
    }
    return (wait >= Double(longest) ? longest : Int64(wait.rounded()), bounds)
  }
}
