import SimulationKernel

/// Kills and launches of the app. A restart is a kill and, at the same instant, a launch. Uploads under way are
/// given up, the flush interval starts anew, and the client fetches Settings (S19). The retry state is what was
/// kept (S18). Events are persisted always.
public struct Lifecycle: Sendable, Hashable {
  /// Mean time between restarts of one device, exponential gaps; nil: none of these.
  public var meanTimeBetweenRestarts: Span?
  /// Restarts of every device of the cohort: each at `time` plus a uniform draw of up to `spread`.
  public var synchronised: [SynchronisedRestart] = []
  /// S18: true keeps gate, counters and batch states over a restart, false starts fresh.
  public var keepsState = true
  /// Whether a launch is a flush trigger (it brings the app to the foreground, S17).
  public var flushesAtLaunch = true

  /// One restart of every device.
  public struct SynchronisedRestart: Sendable, Hashable {
    /// The earliest.
    public var time: Instant
    /// How much later than `time` the latest may be.
    public var spread = Span.zero
    public init(time: Instant) { self.time = time }
  }

  public init() {}
}
