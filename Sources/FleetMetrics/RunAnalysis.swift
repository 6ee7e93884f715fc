/// Turns what was recorded into what it means: every figure of `RunSummary`, as definitions.md defines it.
///
/// Whole numbers and the four operations only, so that the figures are the same on every platform. O(rows).
public enum RunAnalysis {
  /// The summary of one run.
  /// - `record`: the run.
  /// - `twin`: the same scenario and seed without its incidents.
  /// - `name`: the variant's name, as it is to be printed.
  public static func summary(of record: RunRecord, twin: RunRecord, name: String, seed: UInt64) -> RunSummary
  {
    var summary = RunSummary(run: name, seed: seed)
    summary.devices = record.devices
    summary.duration = record.series.duration
    summary.totals = record.series.totals
    if summary[.settledBatches] > 0 {
      summary.amplification = Double(summary.attempts) / Double(summary[.settledBatches])
    }
    summary.acceptedUnconfirmedEvents = record.acceptedUnconfirmedEvents
    addDelivery(of: record.deliveries, to: &summary)
    addCost(of: record, twin: twin, to: &summary)

    summary.peakOfferedRatio = peakOfferedRatio(record, from: 0)
    summary.excessLoadSeconds = excessLoadSeconds(record)
    summary.secondsAboveCapacity = secondsAboveCapacity(record)
    summary.idleWhileBackloggedSeconds = idleWhileBacklogged(record, twin: twin)

    let incidents = incidents(of: record)
    summary.hasIncidents = !incidents.isEmpty
    summary.baseline = health(of: twin)
    summary.lateEvents = max(0, summary.pendingEvents - (twin.series.rows.last?[.backlogEvents] ?? 0))
    if let firstEnd = incidents.map(\.end).min(), let lastEnd = incidents.map(\.end).max() {
      summary.recoveryHorizon = max(0, record.series.duration - lastEnd)
      summary.herdFactor = peakOfferedRatio(record, from: firstEnd)
      summary.recoveryTime = recoveryTime(of: record, twin: twin, after: lastEnd)
      summary.drainedTime = drainedTime(of: record, after: lastEnd)
      summary.healthyTime = healthyTime(of: record, twin: twin, after: lastEnd)
      summary.recoveryFloor = recoveryFloor(of: record, twin: twin, after: lastEnd)
    }
    addAffected(of: record, to: &summary)
    summary.cohorts = record.losses(beyond: twin)
    return summary
  }

  /// The incidents that happen within the run.
  static func incidents(of record: RunRecord) -> [IncidentSpan] {
    record.incidents.filter { $0.start < record.series.duration }
  }

  private static func addDelivery(of deliveries: Histogram, to summary: inout RunSummary) {
    guard deliveries.total > 0 else { return }
    summary.timeToDeliveryMean = deliveries.mean
    summary.timeToDeliveryP50 = deliveries.quantile(50, of: 100)
    summary.timeToDeliveryP90 = deliveries.quantile(90, of: 100)
    summary.timeToDeliveryP95 = deliveries.quantile(95, of: 100)
    summary.timeToDeliveryP99 = deliveries.quantile(99, of: 100)
    summary.timeToDeliveryP999 = deliveries.quantile(999, of: 1_000)
    summary.timeToDeliveryMax = deliveries.maximum
  }

  private static func addAffected(of record: RunRecord, to summary: inout RunSummary) {
    let incidents = incidents(of: record)
    let lastEnd = incidents.map(\.end).max()
    let affected = AffectedEvents(
      of: record, from: incidents.map(\.start).min() ?? 0,
      to: lastEnd.flatMap { end in summary.recoveryTime.map { end + $0 } } ?? record.series.duration)
    summary.affectedEvents = affected.created
    summary.affectedHorizon = affected.horizon
    summary.affectedDeliveryP50 = affected.percentile(50)
    summary.affectedDeliveryP99 = affected.percentile(99)
  }

  private static func addCost(of record: RunRecord, twin: RunRecord, to summary: inout RunSummary) {
    guard record.devices > 0, record.series.duration > 0 else { return }
    let devices = Double(record.devices)
    summary.attemptsAboveTwinPerDevice =
      Double(record.cost.total[.attempts] - twin.cost.total[.attempts]) / devices
    summary.cost = DeviceDayCost(
      record.cost, devices: record.devices, duration: record.series.duration)
  }
}

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

  /// Judges whether `twin`, a run without incidents, is healthy, and why not.
  ///
  /// The run is cut into quarters; the first is warm-up. The twin is ill if one of these has *grown* from the second quarter to
  /// the last and is not coming down again. A value that is below 90 % of the third quarter's is coming down.
  /// - Mean time in backlog, by more than 25 % and by more than half the smoothing width (at least 30 s).
  /// - The 99th percentile of time to delivery, by more than 50 % and by more than the smoothing width (at least 60 s).
  ///
  /// Mean time in backlog is backlog ÷ creation rate, so a load that varies over the day is no growth.
  ///
  /// The twin is ill too if more than 1 % of the events of the run are lost or blocked, for whatever reason. A backlog that is
  /// thrown away does not grow. The margins keep Poisson noise and a flush sawtooth from counting. A run shorter than eight flush
  /// intervals is too short to tell whether it grows.
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

/// Offered load against capacity.
extension RunAnalysis {
  /// Steps of `RunRecord.offeredPer100ms` in a second.
  private static let stepsPerSecond = 10
  private static let step: Int64 = 100_000

  /// The largest offered load of a 1 s window that begins at `start` or later (100 ms steps), divided by
  /// nominal capacity.
  /// - Returns: nil if no whole window lies in the run, or without capacity.
  static func peakOfferedRatio(_ record: RunRecord, from start: Int64) -> Double? {
    let steps = record.offeredPer100ms
    let firstStep = start / step + (start % step > 0 ? 1 : 0)
    guard record.nominalCapacityMilli > 0, firstStep >= 0, firstStep <= Int64(steps.count - stepsPerSecond)
    else { return nil }
    let first = Int(firstStep)
    var window = steps[first..<first + stepsPerSecond].reduce(0 as Int64) { $0 + Int64($1) }
    var largest = window
    for next in first + stepsPerSecond..<steps.count {
      window += Int64(steps[next]) - Int64(steps[next - stepsPerSecond])
      largest = max(largest, window)
    }
    return Double(largest) * 1_000 / Double(record.nominalCapacityMilli)
  }

  /// Whole seconds since the start whose offered load exceeds nominal capacity. A cut last second does not
  /// count.
  package static func secondsAboveCapacity(_ record: RunRecord) -> Int64 {
    Int64(offeredMilliBySecond(record).count { $0 > record.nominalCapacityMilli })
  }

  /// Returns Σ max(0, offered − capacity) / capacity over the seconds above capacity. The sum moves no further than the load or
  /// the capacity does, while whole seconds are above or not.
  /// - Returns: nil without capacity.
  package static func excessLoadSeconds(_ record: RunRecord) -> Double? {
    let capacity = record.nominalCapacityMilli
    guard capacity > 0 else { return nil }
    return offeredMilliBySecond(record).reduce(0) { $0 + Double(max(0, $1 - capacity)) } / Double(capacity)
  }

  private static func offeredMilliBySecond(_ record: RunRecord) -> some Sequence<Int64> {
    let steps = record.offeredPer100ms
    return (0..<steps.count / stepsPerSecond).lazy.map { second in
      let from = second * stepsPerSecond
      return steps[from..<from + stepsPerSecond].reduce(0 as Int64) { $0 + Int64($1) } * 1_000
    }
  }

  /// Seconds' worth of nominal capacity unused while the backlog was above the twin's.
  ///
  /// An interval counts if no outage touches it and its backlog at the end `isAbove` the twin's. Unused is what the incidents'
  /// factors left of the capacity, times one minus the utilisation. An interval that ran above capacity on a burst counts as 0.
  /// - Returns: nil without capacity.
  static func idleWhileBacklogged(_ record: RunRecord, twin: RunRecord) -> Double? {
    guard record.nominalCapacityMilli > 0 else { return nil }
    let series = record.series
    let outages = incidents(of: record).filter(\.isOutage)
    var idleMilliRequests = 0.0
    for i in 0..<min(series.rows.count, twin.series.rows.count) {
      let row = series.rows[i]
      guard row[.availableMicroseconds] > 0, row[.busyMicroseconds] < row[.availableMicroseconds],
        isAbove(row[.backlogEvents], twin.series.rows[i][.backlogEvents])
      else { continue }
      let start = series.start(of: i)
      let end = start + series.length(of: i)
      if outages.contains(where: { $0.start < end && start < $0.end }) { continue }
      let unused =
        Double(row[.availableMicroseconds] - row[.busyMicroseconds]) / Double(row[.availableMicroseconds])
      idleMilliRequests += Double(row[.capacityMilliRequests]) * unused
    }
    return idleMilliRequests / Double(record.nominalCapacityMilli)
  }

  /// Returns whether a backlog is above the twin's by more than 10 %, and by more than one event a sample. Both sums are made of
  /// `samples` samples. With an almost empty twin, 10 % would be less than an event.
  static func isAbove(_ backlog: Int64, _ twin: Int64, samples: Int64 = 1) -> Bool {
    let excess = backlog - twin
    return excess > samples && excess > twin / 10
  }
}

/// After the last incident: recovered and drained. Both have the resolution of one interval of the series.
extension RunAnalysis {
  /// Width of the trailing mean, and how long a recovery must hold: the longest flush interval, at least 60
  /// s.
  ///
  /// Over a whole flush interval the backlog of a fleet that flushes in step, a sawtooth, has a steady mean.
  static func smoothingWidth(_ record: RunRecord) -> Int64 { max(record.longestFlushInterval, 60_000_000) }

  /// Returns the time from `end` to the start of the first stretch in which the smoothed backlog is nowhere above the twin's. The
  /// twin's is smoothed too, and the stretch is as long as the smoothing is wide. Above is as in `isAbove`: by 10 %, at least one
  /// event.
  ///
  /// A backlog below the twin's counts as recovered. A fleet that sends earlier than its twin is not ill, and one that dropped
  /// its events is judged by its losses. Each row's backlog stands at the end of its interval. At the start of the run the mean
  /// is over the rows there are. A stretch does not count in which operators still hold something that they take back within the
  /// run. A fleet is not back while a part of it is turned away.
  /// - Returns: nil if there is no such stretch, or `end` is not before the end of the run.
  static func recoveryTime(of record: RunRecord, twin: RunRecord, after end: Int64) -> Int64? {
    recoveryTime(of: record, twin: twin, after: end) { record.series.rows[$0][.backlogEvents] }
  }

  private static func recoveryTime(
    of record: RunRecord, twin: RunRecord, after end: Int64, backlog: (_ row: Int) -> Int64
  ) -> Int64? {
    let held = record.actions.map(\.end).filter { $0 < record.series.duration }.max() ?? end
    let width = smoothedRows(record)
    var sum: Int64 = 0
    var twinSum: Int64 = 0
    return firstCalm(record, twin, after: end, notBefore: held) { i in
      sum += backlog(i)
      twinSum += twin.series.rows[i][.backlogEvents]
      if i >= width {
        sum -= backlog(i - width)
        twinSum -= twin.series.rows[i - width][.backlogEvents]
      }
      return !isAbove(sum, twinSum, samples: Int64(min(i + 1, width)))
    }
  }

  /// Returns the time from `end` until the server turns nobody away any more. It is the start of the first stretch, as long as
  /// the smoothing is wide, in whose every row few requests fail. Few are at most 1 % of the requests, or one of them, or no
  /// larger share than of the twin's.
  ///
  /// Failed is what has a 429 or 5xx for an answer, or none. Phones that were closed meanwhile can have events to deliver after
  /// it.
  /// - Returns: nil if there is no such stretch, or `end` is not before the end of the run.
  static func healthyTime(of record: RunRecord, twin: RunRecord, after end: Int64) -> Int64? {
    func failed(_ row: TimeSeries.Row) -> Double {
      Double(row[.answers429] + row[.answers503] + row[.answers5xxOther] + row[.unanswered])
    }
    return firstCalm(record, twin, after: end, notBefore: end) { i in
      let (row, twinRow) = (record.series.rows[i], twin.series.rows[i])
      let share = max(0.01, failed(twinRow) / Double(max(twinRow.attempts, 1)))
      return failed(row) <= max(1, share * Double(row.attempts))
    }
  }

  private static func smoothedRows(_ record: RunRecord) -> Int {
    Int((smoothingWidth(record) + record.series.interval - 1) / max(record.series.interval, 1))
  }

  /// Time from `end` to the start of the first stretch of calm rows as long as the smoothing is wide. O(rows).
  /// - `earliest`: no row that ends before it counts.
  /// - `isCalm`: asked of each row in turn.
  private static func firstCalm(
    _ record: RunRecord, _ twin: RunRecord, after end: Int64, notBefore earliest: Int64,
    _ isCalm: (_ row: Int) -> Bool
  ) -> Int64? {
    let series = record.series
    guard end < series.duration, series.interval > 0 else { return nil }
    // From the end of a row's interval, `width` more rows are one width of time.
    let width = smoothedRows(record)
    var calmRows = 0
    for i in 0..<min(series.rows.count, twin.series.rows.count) {
      calmRows =
        isCalm(i) && series.start(of: i) + series.length(of: i) >= max(end, earliest) ? calmRows + 1 : 0
      if calmRows == width + 1 {
        let first = i - width
        return series.start(of: first) + series.length(of: first) - end
      }
    }
    return nil
  }

  /// Returns how soon after `end` any client could be back. It is the recovery time of a fleet that keeps the server busy from
  /// the first incident's start on, whatever it has to send.
  ///
  /// Its backlog is the twin's and an excess. A row adds the twin's deliveries there to the excess. It takes off the events that
  /// the capacity of the row could have served, and those that the run lost beyond the twin. A served request carries as many
  /// events as the run's own did on average while its backlog was above the twin's. Capacity is the server's own, incidents,
  /// warm-up and scaling included.
  /// - Returns: nil without capacity, where nothing was served, and where the run is too short for it.
  static func recoveryFloor(of record: RunRecord, twin: RunRecord, after end: Int64) -> Int64? {
    let (rows, twinRows) = (record.series.rows, twin.series.rows)
    guard record.nominalCapacityMilli > 0, record.series.interval > 0,
      let start = incidents(of: record).map(\.start).min()
    else { return nil }
    let served = zip(rows, twinRows).reduce(into: (events: 0.0, requests: 0.0)) { sum, pair in
      let (row, twinRow) = pair
      guard row.start + row.length > start, isAbove(row[.backlogEvents], twinRow[.backlogEvents]) else {
        return
      }
      sum.events += Double(row[.deliveredEvents])
      sum.requests += Double(row[.acceptedBatches])
    }
    guard served.requests > 0 else { return nil }
    let eventsPerMilliRequest = served.events / served.requests / 1_000
    var excess = 0.0
    var backlog: [Int64] = []
    for (row, twinRow) in zip(rows, twinRows) {
      if row.start + row.length > start {
        let room = Double(row[.capacityMilliRequests]) * eventsPerMilliRequest
        let lost = max(0, row.lostEvents + row[.blockedEvents] - twinRow.lostEvents - twinRow[.blockedEvents])
        excess = max(0, excess + Double(twinRow[.deliveredEvents]) - room - Double(lost))
      }
      backlog.append(twinRow[.backlogEvents] + Int64(excess))
    }
    return recoveryTime(of: record, twin: twin, after: end) { backlog[$0] }
  }

  /// Time from `end` until 99 % of the events held then have been delivered or dropped.
  ///
  /// Held is the backlog of the last row that ends by `end`. If `end` lies inside a row, that row's created events are added in
  /// proportion, and all that the row settles counts as settled afterwards.
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

/// Whether a fleet holds without any incident, as its twin tells, and what speaks against it.
public struct BaselineHealth: Sendable, Hashable {
  /// Whether the backlog or the time to delivery grows over the run.
  public var grows = false
  public var createdEvents: Int64 = 0
  /// The created events that were dropped and not accepted after all, or blocked.
  public var lostEvents: Int64 = 0
  /// How they were given up; what was accepted after all is among them.
  public var givenUp: [Measure: Int64] = [:]

  public init() {}

  /// Takes the losses from the counts of a twin.
  public init(losses counts: some Measured) {
    createdEvents = counts[.createdEvents]
    lostEvents = counts.lostOrBlockedEvents
    for measure in Self.causes where counts[measure] > 0 { givenUp[measure] = counts[measure] }
  }

  /// More than 1 %: then the 99th percentile of time to delivery, on which verdicts rank, has no value even without an incident.
  public var losesEvents: Bool { lostEvents > createdEvents / 100 }
  public var isHealthy: Bool { !grows && !losesEvents }
  /// The share of the events created that are lost or blocked.
  public var lostShare: Double { createdEvents > 0 ? Double(lostEvents) / Double(createdEvents) : 0 }
  /// The way in which most of the lost events were given up.
  public var mainCause: Measure? {
    Self.causes.reduce(nil) { best, measure in
      (givenUp[measure] ?? 0) > (best.flatMap { givenUp[$0] } ?? 0) ? measure : best
    }
  }

  private static let causes = Measure.drops + Measure.blocks

  /// Adds another twin's events.
  public mutating func add(_ other: BaselineHealth) {
    grows = grows || other.grows
    createdEvents += other.createdEvents
    lostEvents += other.lostEvents
    givenUp.merge(other.givenUp, uniquingKeysWith: +)
  }
}
