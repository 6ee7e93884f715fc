import Conformance

/// The setup for judging an SDK, whether a command runs it or the user does.
struct CaseSetup: Sendable {
  /// Whether `flushInterval` is milliseconds.
  var isMilliseconds: Bool
  /// Keys of `config` that the SDK does not heed.
  var ignored: Set<String>
  var environment: CommandEnvironment

  /// Microseconds of a clock that never goes back.
  var now: Int64 { Int64(environment.monotonicSeconds() * 1e6) }
  /// Whether the work is to stop.
  var isStopped: Bool { environment.signals.pending != nil }

  /// The ignored keys without which the case says nothing, in words; nil: there are none.
  func missing(of vector: ProcessCase) -> String? {
    let keys = vector.needs.intersection(ignored).sorted()
    return keys.isEmpty ? nil : keys.joined(separator: " and ")
  }
}
