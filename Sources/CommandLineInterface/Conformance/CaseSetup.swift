import Conformance

/// The setup for judging an SDK, whether a command runs it or the user does.
struct CaseSetup: Sendable {
  /// Whether `flushInterval` is milliseconds.
  var isMilliseconds: Bool
  /// Keys of `config` that the SDK does not heed.
  var ignored: Set<String>
  /// Microseconds of a clock that never goes back.
  var now: @Sendable () -> Int64
  /// Seconds since 1970.
  var unixSeconds: @Sendable () -> Double
  /// Whether the work is to stop.
  var isStopped: @Sendable () -> Bool

  /// The ignored keys without which the case says nothing, in words; nil: there are none.
  func missing(of vector: ProcessCase) -> String? {
    let keys = vector.needs.intersection(ignored).sorted()
    return keys.isEmpty ? nil : keys.joined(separator: " and ")
  }
}
