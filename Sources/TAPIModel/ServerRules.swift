import SimulationKernel

/// The rules of a server beyond admission. All of them are off by default and then cost nothing.
public struct ServerRules: Sendable, Hashable {
  /// Limits of single tenants or devices. A request must find room in each one that concerns it.
  public var keyLimits: [KeyLimit] = []
  /// A request whose `X-Retry-Count` is this or more is answered 422; nil: none is.
  public var retryCountLimit: Int?
  /// Bytes; a larger request is answered 413; nil: none is.
  public var requestSizeLimit: Int?
  /// How long after its first acceptance a batch is recognised by its message ids and not stored again; nil: it is stored again.
  public var deduplicationWindow: Span?
  public var autoscaling: Autoscaling?
  public var crash: LoadCrash?

  public init() {}
}

/// A limit that answers 429 for one tenant (a write key), one device or all, whatever the server's own capacity is.
public struct KeyLimit: Sendable, Hashable {
  /// Whose requests count together.
  public enum Scope: String, Sendable, Hashable, CaseIterable {
    /// Requests of a write key.
    case key
    /// Requests of the n-th devices of all cohorts of a write key, as the clients of one user share a token.
    case device
    /// Requests of the whole fleet.
    case all
  }
  /// How requests are counted.
  public enum Rule: Sendable, Hashable {
    /// By a token bucket. Thousandths of a request per second, 1 … 10^12; requests at once, 1 … 10^9.
    case bucket(rate: Int64, burst: Int64)
    /// At most so many in a window, 1 … 10^9.
    case window(Window, requests: Int64)
  }
  /// A span in which admitted requests are counted.
  public struct Window: Sendable, Hashable {
    /// At least 1 ms.
    public var length: Span
    /// Whether it is the span up to each request. Otherwise one begins where the last ended, the first with the run.
    public var slides: Bool

    public init(_ length: Span, slides: Bool = false) {
      self.length = length
      self.slides = slides
    }
  }

  /// The write key that it holds for; nil: every key.
  public var key: String?
  public var per: Scope
  public var rule: Rule
  public var retryAfter: RetryAfterPolicy
  /// Whether a window's refusals say to wait until it has room again, in place of `retryAfter`.
  public var saysWindowEnd = false

  public init(key: String?, per: Scope = .key, _ rule: Rule, retryAfter: RetryAfterPolicy = .none) {
    self.key = key
    self.per = per
    self.rule = rule
    self.retryAfter = retryAfter
  }

  /// What refused requests may be told.
  package var answers: RetryAfterPolicy {
    if saysWindowEnd, case .window(let window, _) = rule {
      return .spread(from: .seconds(1), to: max(.seconds(1), window.length))
    }
    return retryAfter
  }
}

/// Capacity that follows utilisation, late.
///
/// Every `interval` the utilisation u of the interval gone by is measured. Where it is more than 10 % off the target, capacity is
/// to become c · u / target, within the bounds, and does so `delay` later; c is the interval's mean capacity. An outage looks like
/// idleness to it.
public struct Autoscaling: Sendable, Hashable {
  /// Utilisation aimed at, parts per million, 10^4 … 10^6.
  public var target: Int64 = 700_000
  /// At least 1 s.
  public var interval = Span.seconds(60)
  public var delay = Span.seconds(180)
  /// Bounds in parts per million of the configured capacity, which the run starts with; 10^4 … 10^8.
  public var minimum: Int64 = 1_000_000
  public var maximum: Int64 = 2_000_000

  public init() {}
}

/// Congestion collapse: work that starts while q requests wait takes (1 + `slowdown` · q / `queue`) times as long.
public struct Congestion: Sendable, Hashable {
  /// Parts per million, at most 10^9.
  public var slowdown: Int64
  /// At least 1.
  public var queue: Int

  public init(slowdown: Int64, queue: Int) {
    self.slowdown = slowdown
    self.queue = queue
  }
}

/// How often a device uploads when nothing fails, as far as it decides whether its connection is alive when a run begins.
public enum UploadPace: Sendable, Hashable {
  /// By a flush every `interval`. Each has something to send by the chance of `share`, parts per million. `phase` is that of all
  /// devices; nil: each has its own.
  case flushes(interval: Span, share: Int64, phase: Span?)
  /// As a Poisson process; microseconds.
  case random(meanGap: Double)
  case seldom
}

/// Where uploads come from: what the server can know of a sender, one for each `UploadRequest.shard`.
public struct UploadSource: Sendable, Hashable {
  public var writeKey: String
  /// `UploadRequest.device` of the cohort's first device.
  public var firstDevice: UInt32
  public var eventBytes = 0
  public var requestBytes = 0
  /// The rest concerns connections alone.
  public var connection = ConnectionHabits()
  /// One way.
  public var latency = Distribution.constant(.zero)
  public var timeout = Span.seconds(30)
  /// nil: the client does not tell it from `timeout`.
  public var connectTimeout: Span?
  /// `UploadRequest.device` of the devices that send from here; empty: nobody knows.
  public var devices: Range<UInt32> = 0..<0
  /// How often a device uploads when nothing fails.
  public var pace = UploadPace.seldom

  public init(writeKey: String, firstDevice: UInt32 = 0) {
    self.writeKey = writeKey
    self.firstDevice = firstDevice
  }
}
