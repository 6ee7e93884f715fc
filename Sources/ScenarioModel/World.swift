import SimulationKernel

/// The way from a device to the server and back, besides its latency.
public struct Link: Sendable, Hashable {
  /// Bytes a second from the device; an upload takes its latency and the time for its bytes. nil: no limit. 1 … 10^12.
  public var uploadBytesPerSecond: Int?
  /// Requests that never reach the server, and answers that never reach the device. A lost answer is noticed by the time-out,
  /// which is then at most an hour.
  public var requestLossPartsPerMillion: Int64 = 0
  public var answerLossPartsPerMillion: Int64 = 0

  /// An upload takes no longer than its latency and is never lost.
  public init() {}
}

/// When a device has no network. Uploads under way end then without an answer; none leaves until it is back.
public struct Connectivity: Sendable, Hashable {
  /// Online and offline in turn.
  public struct Periods: Sendable, Hashable {
    /// How long each lasts: constant or exponential. A device starts somewhere in them, as if they had always gone on.
    public var online: Distribution
    public var offline: Distribution
    /// The share of the devices with these periods; the others are always online.
    public var sharePartsPerMillion: Int64

    public init(online: Distribution, offline: Distribution, sharePartsPerMillion: Int64 = 1_000_000) {
      self.online = online
      self.offline = offline
      self.sharePartsPerMillion = sharePartsPerMillion
    }
  }
  /// A span in which a share of the devices is offline: a carrier's failure.
  public struct Interruption: Sendable, Hashable {
    public var start: Instant
    public var duration: Span
    public var sharePartsPerMillion: Int64

    public init(start: Instant, duration: Span, sharePartsPerMillion: Int64 = 1_000_000) {
      self.start = start
      self.duration = duration
      self.sharePartsPerMillion = sharePartsPerMillion
    }
  }
  public var periods: Periods?
  /// At most 100.
  public var interruptions: [Interruption] = []
  /// Whether a device flushes when it is back (S17, D7); waits are not cut short by it.
  public var flushesOnReconnect = true

  public init() {}
}

extension Cohort {
  /// Events in one batch at most, by number and by bytes. A batch has at least one.
  public var largestBatch: Int {
    guard let bytes = behaviour.queue.maximumBatchBytes else { return behaviour.queue.maximumBatchEvents }
    return max(1, min(behaviour.queue.maximumBatchEvents, (bytes - requestBytes) / max(eventBytes, 1)))
  }

  /// Whether a request brings events that have come while others waited, as far as it has room.
  public var gathersWhatWaits: Bool { behaviour.queue.mode == .rebatch || behaviour.queue.growsUntilFailure }
}

extension Connectivity {
  /// How long a device is offline at a time, as a mean over the fleet and the run, seconds; for forecasts.
  package func meanOfflineSeconds(over duration: Span) -> Double {
    var longest = 0.0
    for one in interruptions where one.start - .start < duration {
      longest = max(
        longest, min(one.duration, duration).seconds * Double(one.sharePartsPerMillion) / 1e6)
    }
    guard let periods else { return longest }
    let (on, off) = (periods.online.mean, periods.offline.mean)
    let share = Double(periods.sharePartsPerMillion) / 1e6 * off / max(on + off, 1)
    return longest + share * min(off / 1e6, duration.seconds)
  }
}
