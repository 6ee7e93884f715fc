import SimulationKernel
import UploadPipeline

/// When an app is open: sessions in the foreground, and the time in the background between them.
///
/// A session's start is a *foreground* trigger and its end a *background* trigger, for clients that have them (S17). Between sessions the
/// app is closed: its flush interval does not run and no wait wakes it up; uploads under way end as they would. The flush interval
/// starts anew with each session. A device starts somewhere in its sessions, as if they had always gone on as they go at the start.
public struct Sessions: Sendable, Hashable {
  /// The share of the time in the foreground.
  public var sharePartsPerMillion: Int64
  /// How long a session lasts: constant or exponential. The gaps are exponential, as long as the share wants it.
  public var length: Distribution
  /// Whether events are created in the background as in the foreground. If not, all come in sessions, as many in the mean; strictly
  /// periodic events can't.
  public var createsEventsInBackground: Bool
  /// A factor on the rate at which closed apps are opened, by the time of day; nil: that rate is the same all day.
  ///
  /// How long sessions last does not vary. Where the factor is 100 %, the share of the time in the foreground is
  /// `sharePartsPerMillion`. Events that come in sessions follow the curve, and have their own rate where the factor is 100 %. A
  /// curve of theirs multiplies with it.
  public var curve: RateCurve?

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

  /// The share of the devices in the foreground where closed apps are opened at `factor` times the rate, as if that had always been
  /// so. Sessions end at the rate 1 / length, so that open and closed devices are as s·factor to 1 − s.
  package func share(atFactor factor: Double) -> Double { share * factor / (share * factor + 1 - share) }

  /// Sessions that one device begins in a second, where so large a share of the devices is in the foreground.
  func perSecond(at share: Double) -> Double { share / max(length.mean / 1e6, 1e-6) }

  /// Closed apps that are opened, per microsecond and closed app; nil: always one in `meanGap`.
  package var launches: CumulativeRate? { curve?.cumulative(rate: 1 / Double(meanGap.microseconds)) }
}

extension Cohort {
  /// Whether closed apps send: events come in the background, and so many of them flush. An operating system lets none do so.
  package var sendsWhileClosed: Bool {
    sessions?.createsEventsInBackground ?? false && os == nil && behaviour.page == nil && !diesWhenClosed
      && flush.count != nil && behaviour.triggers.contains(.count)
  }
}
