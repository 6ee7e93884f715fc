import UploadRetry

/// A retry record in 12 bytes, but for `retryAt`: who waits, the client's gate or the heap of waiting batches, knows until when.
///
/// Failure time plus one (45 bits: a year and a month), whether credentials were refreshed (1), latest failure (2), failure count
/// (16), previous delay (32). All zeros is a record without failures.
struct PackedRetryState: BitwiseCopyable {
  private let words: (UInt32, UInt32, UInt32)

  private static var timeBits: UInt64 { 45 }

  @inline(__always)
  init(words: (UInt32, UInt32, UInt32)) { self.words = words }

  /// As they lie in a record that holds something else in the other queue mode.
  @inline(__always)
  var asWords: (UInt32, UInt32, UInt32) { words }

  @inline(__always)
  init(_ state: BatchRetryState) {
    let failed =
      state.firstFailureTime == .min ? 0 : UInt64(truncatingIfNeeded: state.firstFailureTime &+ 1)
    let word =
      failed | (state.hasRefreshedCredentials ? 1 &<< Self.timeBits : 0)
      | UInt64(state.latestFailure.rawValue) &<< 46 | UInt64(state.failureCount) &<< 48
    words = (
      UInt32(truncatingIfNeeded: word), UInt32(truncatingIfNeeded: word &>> 32),
      word == 0 ? 0 : state.previousDelay
    )
  }

  /// With `retryAt` 0: due.
  @inline(__always)
  var state: BatchRetryState {
    var state = BatchRetryState()
    let word = UInt64(words.0) | UInt64(words.1) &<< 32
    if word == 0 { return state }
    let failed = Int64(truncatingIfNeeded: word & (1 &<< Self.timeBits &- 1))
    if failed != 0 { state.firstFailureTime = failed &- 1 }
    state.hasRefreshedCredentials = word &>> Self.timeBits & 1 != 0
    state.latestFailure =
      BatchRetryState.LatestFailure(rawValue: UInt8(truncatingIfNeeded: word &>> 46 & 3)) ?? .none
    state.failureCount = UInt16(truncatingIfNeeded: word &>> 48)
    state.previousDelay = words.2
    return state
  }
}
