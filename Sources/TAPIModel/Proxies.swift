import SimulationKernel

/// Proxies before the server, which send a failed request again by themselves.
///
/// Words and defaults are Envoy's: its pages `config.route.v3.RetryPolicy` and
/// `config.cluster.v3.CircuitBreakers.Thresholds.RetryBudget`, and "Router" among the HTTP filters. A proxy forwards at once, and
/// neither it nor the way from it to the server takes time. It knows at once that a client has given up, and then sends nothing
/// more; the server goes on with what it has. Envoy's limits of connections and of requests are left out, and so is the ejection
/// of outliers. There is one server, so a retry goes where the first try went.
public struct Proxies: Sendable, Hashable {
  /// 1 … 10^6. A hash of the device says to which one its requests go.
  public var count = 1
  /// Tries of a request after its first, 0 … 100. Envoy's `num_retries`, 1.
  public var retries = 1
  /// The statuses that are tried again, 400 … 599. Envoy's `gateway-error`: 502, 503 and 504.
  public var statuses = [502, 503, 504]
  /// Whether a try is too that gets no answer: the server lost it, or `tryTimeout` is over. `retry_state_impl.cc` has that for
  /// `gateway-error`; Envoy's page says it of `5xx` and of `reset` alone.
  public var retriesUnanswered = true
  /// A try is given up after so long, at least 1 ms; nil: never, which is Envoy's `per_try_timeout`.
  public var tryTimeout: Span?
  public var backoff = Backoff()
  /// nil: any number of retries at once.
  public var budget: Budget? = Budget()

  /// The wait before a retry, drawn evenly from nothing to min(`base` · 2ⁿ⁻¹, `maximum`) before the n-th.
  ///
  /// So it stands in `backoff_strategy.cc`; Envoy's page "Router" has (2ⁿ − 1) · `base` instead. Defaults: `retry_back_off`.
  public struct Backoff: Sendable, Hashable {
    /// 1 µs … 1 h.
    public var base = Span.milliseconds(25)
    /// Not below `base`.
    public var maximum = Span.milliseconds(250)

    public init() {}
  }

  /// The most retries that a proxy has at once: so large a share of the requests that it has at the server, but not less than
  /// `minimum`.
  ///
  /// A retry counts from the answer that asks for it to its own end, with the wait between. The page does not say so, but
  /// `retry_state_impl.cc` does it. A request that waits is not at the server. The try that has just failed counts as there still.
  /// A share of nothing leaves `minimum` alone, which is Envoy's `max_retries`.
  public struct Budget: Sendable, Hashable {
    /// Parts per million, 0 … 10^6. Envoy's `budget_percent`, 20 %.
    public var share: Int64 = 200_000
    /// 0 … 10^9. Envoy's `min_retry_concurrency`, 3.
    public var minimum = 3

    public init() {}

    /// The retries allowed at once where `active` requests are at the server.
    public func limit(active: Int) -> Int {
      // An active request takes memory, so there are fewer than 2^40.
      max(minimum, Int(share) * active / 1_000_000)
    }
  }

  public init() {}
}
