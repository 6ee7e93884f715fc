/// A time until something happens that may not happen within a run: a fleet's recovery.
///
/// A mean over those that made it would reward a variant for its failures. So the share that made it stands beside the mean
/// of min(time, horizon), which every run has.
/// Source: P. Royston and M. K. B. Parmar, "Restricted mean survival time", BMC Med. Res. Methodol. 13 (2013), 152.
public struct CensoredTime: Sendable, Hashable {
  /// How many of the runs made it, with Wilson's interval.
  public var share: WilsonInterval
  /// Of min(time, horizon).
  public var restricted: SampleStatistics

  /// - `times`: nil where it did not happen within the run.
  /// - `horizon`: how long each run could be watched.
  public init(_ times: [Double?], horizon: Double, confidence: Double = 0.95) {
    restricted = SampleStatistics(times.map { Self.restrict($0, to: horizon) })
    let made = times.count { $0.map { $0 <= horizon } ?? false }
    share = WilsonInterval(successes: made, of: times.count, confidence: confidence)
  }

  /// The time, but no longer than the horizon.
  public static func restrict(_ time: Double?, to horizon: Double) -> Double {
    min(time ?? horizon, horizon)
  }
}
