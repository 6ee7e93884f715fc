import SimulationKernel

/// The modeled tracking endpoint, as configured by a scenario.
public struct TAPIConfiguration: Sendable, Hashable {
  public var server: Server
  public var overload: Overload
  public var incidents: [Incident]

  public init(server: Server, overload: Overload = .init(), incidents: [Incident] = []) {
    self.server = server
    self.overload = overload
    self.incidents = incidents
  }

  /// One of two servers.
  public enum Server: Sendable, Hashable {
    case bucket(TokenBucketConfiguration)
    case workers(WorkersConfiguration)
  }
}

/// Admission by token bucket: an admitted request is answered at once, plus an optional service time.
public struct TokenBucketConfiguration: Sendable, Hashable {
  /// Requests per second in thousandths: 4000/s is 4_000_000. Positive, at most 10^12.
  public var capacityMilliRequestsPerSecond: Int64
  /// The bucket's size in whole requests, at least 1, at most 10^9.
  public var burst: Int64
  public var serviceTime: Distribution
  public init(
    capacityMilliRequestsPerSecond: Int64, burst: Int64, serviceTime: Distribution = .constant(.zero)
  ) {
    self.capacityMilliRequestsPerSecond = capacityMilliRequestsPerSecond
    self.burst = burst
    self.serviceTime = serviceTime
  }
}

/// Admission by W workers in front of a FIFO queue.
public struct WorkersConfiguration: Sendable, Hashable {
  /// 1 … 10^6.
  public var count: Int
  public var serviceTime: Distribution
  /// Added for every event of the batch.
  public var serviceTimePerEvent: Span
  /// Requests that may wait; nil: unbounded.
  public var queueLimit: Int?
  public init(
    count: Int, serviceTime: Distribution, serviceTimePerEvent: Span = .zero, queueLimit: Int? = nil
  ) {
    self.count = count
    self.serviceTime = serviceTime
    self.serviceTimePerEvent = serviceTimePerEvent
    self.queueLimit = queueLimit
  }
}

/// The answer to a request that finds no token, or the queue full.
public struct Overload: Sendable, Hashable {
  /// 429 or 503 (any 4xx or 5xx is accepted).
  public var status: Int
  public var retryAfter: RetryAfterPolicy
  public init(status: Int = 429, retryAfter: RetryAfterPolicy = .none) {
    self.status = status
    self.retryAfter = retryAfter
  }
}

public enum RetryAfterPolicy: Sendable, Hashable {
  case none
  case fixed(Span)
  /// Whole seconds drawn uniformly from the range, a draw per request.
  case spread(from: Span, to: Span)
}

/// Something that happens to the server on the timeline.
public struct Incident: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    /// Answers with this status at once, costing neither token nor worker; nil: no answer at all.
    case outage(status: Int?, retryAfter: RetryAfterPolicy, keepsWork: Bool)
    /// Capacity times `factorPartsPerMillion` / 10^6: the bucket's rate, or the speed of work that starts from then on.
    case brownout(factorPartsPerMillion: Int64)
    /// The Settings CDN is down: the server is not concerned, but apps launched meanwhile run on built-in defaults.
    case cdnOutage
  }
  public var kind: Kind
  public var start: Instant
  public var duration: Span
  public var end: Instant { start + duration }
  public init(kind: Kind, start: Instant, duration: Span) {
    self.kind = kind
    self.start = start
    self.duration = duration
  }
}
