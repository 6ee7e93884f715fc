import SimulationKernel

/// Requests refused and not yet worked off: what a `Retry-After` computed from the backlog stands in line behind.
///
/// Each refusal adds one request; capacity takes them away as time passes. So of many refused at once the k-th is told to
/// come back after k / capacity: the herd is given a timetable.
struct RefusedBacklog {
  private var requests = 0.0
  private var updated = Instant.start

  func addState(to digest: inout StateDigest) {
    digest.add(requests.bitPattern)
    digest.add(updated.microseconds)
  }

  /// Counts a refused request. Returns its Retry-After in microseconds, whole seconds.
  ///
  /// - Parameters:
  ///   - capacity: requests per microsecond, from the latest refusal to now.
  ///   - waiting: requests that wait at the server.
  mutating func refuse(
    at now: Instant, capacity: Double, waiting: Int, atLeast: Span, atMost: Span
  ) -> Int64 {
    requests = max(0, requests - capacity * Double((now - updated).microseconds))
    updated = now
    requests += 1
    guard capacity > 0 else { return atMost.microseconds }
    let wait = (requests + Double(waiting)) / capacity
    guard wait < Double(atMost.microseconds) else { return atMost.microseconds }
    let seconds = (Int64(wait) + 999_999) / 1_000_000
    return max(atLeast.microseconds, min(seconds * 1_000_000, atMost.microseconds))
  }
}

extension RetryAfterPolicy {
  /// Returns the Retry-After of a refusal's header in microseconds; nil: there is no header.
  /// - Parameters:
  ///   - refused: the backlog in front of the capacity that is short.
  ///   - capacity: requests per microsecond.
  func header(
    for request: UploadRequest, _ fleet: RandomKey, _ refused: inout RefusedBacklog, capacity: Double,
    waiting: Int = 0
  ) -> Int64? {
    switch self {
    case .none: nil
    case .fixed(let span): span.microseconds
    case .spread(let low, let high):
      // The header carries whole seconds.
      request.key(fleet).child(RandomPurpose.retryAfter.rawValue)
        .uniform(low.microseconds / 1_000_000, through: high.microseconds / 1_000_000) * 1_000_000
    case .backlog(let atLeast, let atMost):
      refused.refuse(
        at: request.arrival, capacity: capacity, waiting: waiting, atLeast: atLeast, atMost: atMost)
    }
  }
}
