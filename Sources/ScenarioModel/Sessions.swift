import SimulationKernel

/// When an app is open: sessions in the foreground, and the time in the background between them.
///
/// A session's start is a *foreground* trigger and its end a *background* trigger, for clients that have them (S17). Between sessions the
/// app is closed: its flush interval does not run and no wait wakes it up; uploads under way end as they would. The flush interval
/// starts anew with each session. A device starts somewhere in its sessions, as if they had always gone on.
public struct Sessions: Sendable, Hashable {
  /// The share of the time in the foreground.
  public var sharePartsPerMillion: Int64
  /// How long a session lasts: constant or exponential. The gaps are exponential, as long as the share wants it.
  public var length: Distribution
  /// Whether events are created in the background as in the foreground. If not, all come in sessions, as many in the mean; strictly
  /// periodic events can't.
  public var createsEventsInBackground: Bool

  public init(sharePartsPerMillion: Int64, length: Distribution, createsEventsInBackground: Bool = false) {
    self.sharePartsPerMillion = sharePartsPerMillion
    self.length = length
    self.createsEventsInBackground = createsEventsInBackground
  }

  /// The share of the time in the foreground.
  package var share: Double { Double(sharePartsPerMillion) / 1_000_000 }

  /// The mean time between two sessions.
  package var meanGap: Span {
    Span(microseconds: max(Int64((length.mean * (1 - share) / share).rounded()), 1))
  }

  /// Sessions that one device begins in a second.
  var perSecond: Double { share / max(length.mean / 1e6, 1e-6) }
}
