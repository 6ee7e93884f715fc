/// Whether a fleet holds its load without any incident.
extension RunAnalysis {
  /// Means over one quarter of a run.
  private struct Quarter {
    /// Mean time that events spend undelivered, by Little's law: mean backlog over creation rate;
    /// microseconds.
    var residence: Double?
    /// Mean of the rows' 99th percentiles, weighted by the events delivered; microseconds.
    var timeToDeliveryP99: Double?
  }

  /// Whether `twin`, a run without incidents, is healthy, and why not.
  ///
  /// The run is cut into quarters; the first is warm-up. It is ill if, from the second quarter to the last,
  /// one of these has *grown*, and is not below 90 % of the third quarter's (so it is not coming down again):
  /// - the backlog, taken as mean time in backlog (backlog ÷ creation rate, so that a load that varies over
  ///   the day is no growth), by more than 25 % and by more than half the smoothing width (at least 30 s);
  /// - the 99th percentile of time to delivery, by more than 50 % and by more than the smoothing width (at
  ///   least 60 s).
  ///
  /// It is ill too if more than 1 % of the events of the run are lost or blocked, for whatever reason: a backlog
  /// that is thrown away does not grow. The margins keep Poisson noise and a flush sawtooth from counting; a run
  /// shorter than eight flush intervals is too short to tell whether it grows.
  public static func health(of twin: RunRecord) -> BaselineHealth {
    var health = BaselineHealth(losses: twin.series.totals)
    health.grows = grows(twin)
    return health
  }

  private static func grows(_ twin: RunRecord) -> Bool {
    let rows = twin.series.rows.count
    guard rows >= 4, twin.series.duration / 8 >= twin.longestFlushInterval else { return false }
    let quarters = (0..<4).map { quarter(of: twin.series, rows: rows * $0 / 4..<rows * ($0 + 1) / 4) }
    let width = Double(smoothingWidth(twin))
    return hasGrown(quarters.map(\.residence), byShare: 0.25, andBy: width / 2)
      || hasGrown(quarters.map(\.timeToDeliveryP99), byShare: 0.5, andBy: width)
  }

  private static func hasGrown(_ values: [Double?], byShare share: Double, andBy slack: Double) -> Bool {
    guard let second = values[1], let last = values[3] else { return false }
    let growth = last - second
    return growth > share * second && growth > slack && last >= 0.9 * (values[2] ?? second)
  }

  private static func quarter(of series: TimeSeries, rows: Range<Int>) -> Quarter {
    var quarter = Quarter()
    var backlogTime = 0.0
    var created: Int64 = 0
    var delivered: Int64 = 0
    var weighted = 0.0
    for i in rows {
      let row = series.rows[i]
      backlogTime += Double(row[.backlogEvents]) * Double(series.length(of: i))
      created += row[.createdEvents]
      if let p99 = row.timeToDeliveryP99, row[.deliveredEvents] > 0 {
        weighted += Double(p99) * Double(row[.deliveredEvents])
        delivered += row[.deliveredEvents]
      }
    }
    if created > 0 { quarter.residence = backlogTime / Double(created) }
    if delivered > 0 { quarter.timeToDeliveryP99 = weighted / Double(delivered) }
    return quarter
  }
}
