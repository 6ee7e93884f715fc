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

    /// Requests that it lets through in the long run.
    package var perSecond: Double {
      switch self {
      case .bucket(let rate, _): Double(rate) / 1_000
      case .window(let window, let requests): Double(requests) / window.length.seconds
      }
    }
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

/// How often a device uploads when nothing fails, as far as it decides whether its connection is alive.
public struct UploadPace: Sendable, Hashable {
  /// Between two uploads, microseconds; infinite: it makes none.
  public var meanGap = Double.infinity
  /// From flush to flush, where each upload is one's; nil: uploads come at any time.
  public var interval: Span?
  /// When all devices flush; nil: each has a phase of its own.
  public var phase: Span?
  /// Whether all gaps are as long, but for the wait for a flush. Otherwise uploads come by chance.
  public var isRegular = false

  public init() {}

  /// What becomes of a connection that closes when nothing happens for `life`.
  /// - Returns: the share of its uploads that find it closed, and the share of the time in which it is open.
  package func connection(closingAfter life: Span) -> (closed: Double, open: Double) {
    guard meanGap.isFinite else { return (1, 0) }
    let gaps = Double(life.microseconds) / meanGap
    guard let interval else {
      let closed = isRegular ? (gaps < 1 ? 1 : 0) : DeterministicMath.exp(-gaps)
      return (closed, isRegular ? min(1, gaps) : 1 - closed)
    }
    let flushes = max(1, meanGap / Double(interval.microseconds))
    /// The chance that so many flushes in a row are empty.
    func empty(_ count: Int64) -> Double {
      if isRegular { return min(1, max(0, flushes - Double(count))) }
      return count == 0 ? 1 : DeterministicMath.exp(Double(count) * DeterministicMath.log(1 - 1 / flushes))
    }
    let (count, rest) = life.microseconds.quotientAndRemainder(dividingBy: interval.microseconds)
    let closed = empty(count)
    let open = 1 - closed + closed * Double(rest) / Double(interval.microseconds) / flushes
    // A life of whole intervals ends with the flush, but after a handshake, which is behind it.
    return (
      rest > 0 || count == 0 ? closed : (closed + empty(count - 1)) / 2, isRegular ? min(1, gaps) : open
    )
  }
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
  public var pace = UploadPace()

  public init(writeKey: String, firstDevice: UInt32 = 0) {
    self.writeKey = writeKey
    self.firstDevice = firstDevice
  }
}
