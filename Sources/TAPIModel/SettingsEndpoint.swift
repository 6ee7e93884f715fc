import SimulationKernel

/// The endpoint that clients fetch their Settings from. Without it a fetch takes no time and always succeeds, but in an outage of
/// the CDN (`Incident.Kind.cdnOutage`).
public struct SettingsEndpoint: Sendable, Hashable {
  /// Its own capacity, fetches per second in thousandths, at most 10^12; nil: fetches go to the server itself, as uploads do.
  public var capacityMilliRequestsPerSecond: Int64?
  /// The size of its token bucket in whole fetches, 1 … 10^9; without meaning where it has no capacity of its own.
  public var burst: Int64 = 100
  /// The answer to a fetch beyond that, and to any in an outage of the CDN. 400 … 599.
  public var status = 503

  public init() {}
}

extension UploadRequest {
  /// The `firstOrdinal` of a request that fetches Settings: no batch has it.
  public static var settingsFetch: UInt32 { .max }

  /// Whether it is no upload, but fetches Settings.
  @inlinable @inline(__always)
  public var fetchesSettings: Bool { firstOrdinal == Self.settingsFetch }
}

/// The Settings' endpoint at work. Each answer leaves at once.
struct SettingsDesk {
  private let configuration: SettingsEndpoint
  /// nil: the server's own capacity.
  private var bucket: TokenBucket?
  /// An outage of the CDN is on.
  var isDown = false

  init(_ configuration: SettingsEndpoint) {
    self.configuration = configuration
    bucket = configuration.capacityMilliRequestsPerSecond.map {
      TokenBucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: $0, burst: configuration.burst))
    }
  }

  var hasOwnCapacity: Bool { bucket != nil }

  /// nil: the server decides.
  mutating func answer(at now: Instant) -> ServerAnswer? {
    let refusal = ServerAnswer(
      status: UInt16(truncatingIfNeeded: configuration.status), retryAfter: nil, at: now)
    if isDown { return refusal }
    guard let hasToken = bucket?.take(at: now) else { return nil }
    return hasToken ? ServerAnswer(status: 200, retryAfter: nil, at: now) : refusal
  }
}

extension TAPIServer {
  /// Whether a request concerns the server: a fetch of Settings does where its endpoint has no capacity of its own.
  @inline(__always)
  package func concerns(_ request: UploadRequest) -> Bool {
    settings == nil || !request.fetchesSettings || !(settings!.hasOwnCapacity || settings!.isDown)
  }
}
