import SimulationKernel

/// The modeled tracking endpoint, as configured by a scenario.
public struct TAPIConfiguration: Sendable, Hashable {
  public var server: Server
  public var overload: Overload
  public var incidents: [Incident]
  /// The operators' actions during the run; no two contradict one another.
  public var actions: [ServerAction] = []
  public var rules = ServerRules()
  /// nil: a connection costs nothing, and there is always one.
  public var connections: Connections?
  /// Where clients fetch their Settings; nil: that is no request, and it takes no time.
  public var settings: SettingsEndpoint?
  /// nil: requests come to the server as their clients send them.
  public var proxies: Proxies?
  /// By which header every wait goes out that a `RetryAfterPolicy` asks for, whatever the answer (O11).
  public var retryAfterHeader = RetryAfterHeader.retryAfter
  /// How it is written there (S4).
  public var retryAfterForm = RetryAfterForm.seconds

  public init(server: Server, overload: Overload = .init(), incidents: [Incident] = []) {
    self.server = server
    self.overload = overload
    self.incidents = incidents
  }

  /// Whether the server, or an operator, turns requests away by another 4xx than 429.
  public var refusesByOther4xx: Bool {
    ([overload.status] + actions.compactMap { $0.kind.answer?.status })
      .contains { (400..<500).contains($0) && $0 != 429 }
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
  public var serviceTime = Distribution.constant(.zero)
  /// Millionths of a token that a request costs beside its own one, for each event of the batch; at most 10^9. A request that
  /// costs more than the bucket holds is admitted when the bucket is full, and the bucket owes the rest.
  public var costPerEvent: Int64 = 0
  public init(capacityMilliRequestsPerSecond: Int64, burst: Int64) {
    self.capacityMilliRequestsPerSecond = capacityMilliRequestsPerSecond
    self.burst = burst
  }
}

/// Admission by W workers in front of a queue.
public struct WorkersConfiguration: Sendable, Hashable {
  /// 1 … 10^6.
  public var count: Int
  public var serviceTime: Distribution
  /// Added for every event of the batch.
  public var serviceTimePerEvent: Span
  /// Requests that may wait; nil: unbounded.
  public var queueLimit: Int?
  /// A request that has waited longer when its turn comes is shed: it gets the overload answer and no worker; nil: never.
  public var queueTimeout: Span?
  public var congestion: Congestion?
  public var order = QueueOrder.fifo
  public var delayControl: ControlledDelay?
  public var concurrencyLimit: ConcurrencyLimit?
  public var dependency: Dependency?
  public init(
    count: Int, serviceTime: Distribution, serviceTimePerEvent: Span = .zero, queueLimit: Int? = nil,
    dependency: Dependency? = nil
  ) {
    self.count = count
    self.serviceTime = serviceTime
    self.serviceTimePerEvent = serviceTimePerEvent
    self.queueLimit = queueLimit
    self.dependency = dependency
  }

  /// Requests that are served at once, at most.
  public var atOnce: Int { min(count, concurrencyLimit?.maximum ?? .max) }
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
  /// The time until the capacity will have worked off what waits and what was refused before, rounded up to whole seconds,
  /// within these bounds. Each refused request is given a place of its own behind the others (`RefusedBacklog`).
  case backlog(atLeast: Span, atMost: Span)

  /// No server says to wait for longer.
  package static let longestWait = Span.hours(24 * 7)
}

/// The headers that say how long to wait (O11).
public enum RetryAfterHeader: String, Sendable, Hashable, CaseIterable {
  /// `Retry-After`, which every client reads.
  case retryAfter = "retry-after"
  /// `X-RateLimit-Reset` alone.
  case rateLimitReset = "x-ratelimit-reset"
  /// Both, with the same time.
  case both

  /// Whether a client gets to know the time that stands there.
  public func isRead(byReaderOfRateLimitReset reads: Bool) -> Bool { reads || self != .rateLimitReset }
}

/// How a server writes the time to wait (RFC 9110 §10.2.3).
public enum RetryAfterForm: String, Sendable, Hashable, CaseIterable {
  case seconds
  /// As an HTTP-date, which not every client reads.
  case date
}
