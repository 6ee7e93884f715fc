/// After the last incident: recovered and drained. Both have the resolution of one interval of the series.
extension RunAnalysis {
  /// Width of the trailing mean, and how long a recovery must hold: the longest flush interval, at least 60
  /// s.
  ///
  /// Over a whole flush interval the backlog of a fleet that flushes in step, a sawtooth, has a steady mean.
  static func smoothingWidth(_ record: RunRecord) -> Int64 { max(record.longestFlushInterval, 60_000_000) }

  /// Time from `end` to the start of the first stretch, as long as the smoothing is wide, in which the
  /// smoothed backlog is nowhere above the smoothed backlog of the twin (`isAbove`: 10 %, at least one
  /// event).
  ///
  /// A backlog below the twin's counts as recovered: a fleet that sends earlier than its twin is not ill, and
  /// one that dropped its events is judged by its losses. Each row's backlog stands at the end of its
  /// interval. At the start of the run the mean is over the rows there are. A stretch in which operators still hold something that
  /// they take back within the run does not count: a fleet is not back while a part of it is turned away.
  /// - Returns: nil if there is no such stretch, or `end` is not before the end of the run.
  static func recoveryTime(of record: RunRecord, twin: RunRecord, after end: Int64) -> Int64? {
    let series = record.series
    let unaided = record.actions.map(\.end).filter { $0 < series.duration }.max() ?? end
    let rows = min(series.rows.count, twin.series.rows.count)
    guard end < series.duration, series.interval > 0 else { return nil }
    let width = Int((smoothingWidth(record) + series.interval - 1) / series.interval)
    var isCalm: [Bool] = []
    isCalm.reserveCapacity(rows)
    var sum: Int64 = 0
    var twinSum: Int64 = 0
    for i in 0..<rows {
      sum += series.rows[i][.backlogEvents]
      twinSum += twin.series.rows[i][.backlogEvents]
      if i >= width {
        sum -= series.rows[i - width][.backlogEvents]
        twinSum -= twin.series.rows[i - width][.backlogEvents]
      }
      isCalm.append(!isAbove(sum, twinSum, samples: Int64(min(i + 1, width))))
    }
    // From the end of a row's interval, `width` more rows are one width of time.
    var calmRows = 0
    for i in 0..<rows where series.start(of: i) + series.length(of: i) >= max(end, unaided) {
      calmRows = isCalm[i] ? calmRows + 1 : 0
      if calmRows == width + 1 {
        let first = i - width
        return series.start(of: first) + series.length(of: first) - end
      }
    }
    return nil
  }

  /// Time from `end` until 99 % of the events held then have been delivered or dropped.
  ///
  /// Held is the backlog of the last row that ends by `end`; if `end` lies inside a row, also that row's
  /// created events in proportion, and all that the row settles counts as settled afterwards.
  /// - Returns: nil if that never happens, or `end` is not before the end of the run.
  static func drainedTime(of record: RunRecord, after end: Int64) -> Int64? {
    let series = record.series
    guard end < series.duration, series.interval > 0, end >= 0 else { return nil }
    let first = Int(end / series.interval)
    guard first < series.rows.count else { return nil }
    var held = first > 0 ? series.rows[first - 1][.backlogEvents] : 0
    held +=
      DecimalText.floored(
        series.rows[first][.createdEvents], times: end - series.start(of: first),
        over: series.length(of: first)
      )
      ?? 0
    if held <= 0 { return 0 }
    var settled: Int64 = 0
    for i in first..<series.rows.count {
      settled += series.rows[i][.settledOldEvents]
      // settled >= 99 % of held, without a product that could overflow.
      if held - settled <= held / 100 { return series.start(of: i) + series.length(of: i) - end }
    }
    return nil
  }
}
