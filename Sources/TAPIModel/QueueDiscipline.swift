import SimulationKernel

/// The rule for who of those that wait for a worker is served next. A full queue refuses the one that would be served last, even
/// if that one has waited.
public enum QueueOrder: String, Sendable, Hashable, CaseIterable {
  /// The one that came first.
  case fifo
  /// The one that came last.
  case lifo
  /// The one with the lowest `X-Retry-Count`, of these the one that came first: first attempts before retries.
  case fewestRetries = "fewest-retries"
  /// The one with the highest `X-Retry-Count`, of these the one that came first.
  case mostRetries = "most-retries"

  var asksForRetryCount: Bool { self == .fewestRetries || self == .mostRetries }
}

/// CoDel (RFC 8289). When those whose turn comes have waited for `target` or longer during a whole `interval`, the server drops
/// one of them. It drops the next one `interval` / √n after the n-th, until one has waited for less.
///
/// A dropped request gets the overload answer and no worker. As a link does with its last packet, the server drops none while no
/// more than one waits behind it.
public struct ControlledDelay: Sendable, Hashable {
  /// At least 1 µs.
  public var target = Span.milliseconds(5)
  /// Longer than `target`.
  public var interval = Span.milliseconds(100)

  /// The RFC's values for a network (§4.2, §4.3).
  public init() {}
}

extension TAPIConfiguration.Server {
  /// Whether new requests pass those that wait.
  public var servesNewestFirst: Bool {
    if case .workers(let workers) = self { workers.order == .lifo } else { false }
  }

  /// Whether the order in which requests are served depends on their `X-Retry-Count`.
  package var asksForRetryCount: Bool {
    if case .workers(let workers) = self { workers.order.asksForRetryCount } else { false }
  }
}
