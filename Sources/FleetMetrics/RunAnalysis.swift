/// Turns what was recorded into what it means: every figure of `RunSummary`, as definitions.md defines it.
///
/// Whole numbers and the four operations only, so that the figures are the same on every platform. O(rows).
public enum RunAnalysis {
  /// The summary of one run.
  /// - `record`: the run.
  /// - `references`: the runs that it is compared with.
  /// - `name`: the variant's name, as it is to be printed.
  public static func summary(
    of record: RunRecord, _ references: ReferenceRuns, name: String, seed: UInt64
  ) -> RunSummary {
    let twin = references.twin
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
    let reach = Reach(record, references)
    summary.idleWhileBackloggedSeconds = idleWhileBacklogged(record, reach)

    let incidents = incidents(of: record)
    summary.hasIncidents = !incidents.isEmpty
    summary.baseline = health(of: twin)
    summary.doomedEvents = record.doomedEvents
    summary.lateEvents = lateEvents(of: record, references, atBest: reach.pending)
    if let firstEnd = incidents.map({ $0.end }).min(), let lastEnd = incidents.map({ $0.end }).max() {
      summary.herdFactor = peakOfferedRatio(record, from: firstEnd)
      summary.possibleTime = reach.possibleTime(after: incidents)
      summary.recoveryTime = recoveryTime(
        of: record, reach, possible: summary.possibleTime, after: lastEnd)
      let isPossibleLater = summary.possibleTime == nil && reach.isDraining(after: lastEnd)
      if summary.recoveryTime != nil
        || !isPossibleLater && canSeeRecovery(record, after: lastEnd + (summary.possibleTime ?? 0))
      {
        summary.recoveryHorizon = record.series.duration - lastEnd
      }
      summary.drainedTime = drainedTime(of: record, after: lastEnd)
      if reach.turnedAway <= reach.tolerance.last ?? 0 {
        summary.healthyTime = healthyTime(of: record, twin: twin, after: lastEnd)
      }
    }
    addAffected(of: record, reach, references, to: &summary)
    summary.cohorts = record.losses(beyond: references, late: summary.lateEvents)
    return summary
  }

  /// Pending at the end, not doomed, and beyond what could not be delivered: of the fleet, or of its cohorts where one of them
  /// holds less than that because it lost what others still hold.
  private static func lateEvents(of record: RunRecord, _ references: ReferenceRuns, atBest: Int64) -> Int64 {
    let whole = record.series.totals[.backlogEvents] - record.doomedEvents - atBest
    let cohorts = zip(record.cohorts, record.unavoidable(references)).reduce(Int64(0)) { sum, cohort in
      let excess = cohort.0.pending.total - cohort.0.doomedEvents - cohort.1.total
      return sum + (excess > 0 ? excess : min(0, excess + cohort.0.lostOrBlockedEvents))
    }
    return max(0, whole, cohorts)
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

  /// From each incident's start until any client could have caught up, or the next begins; without an incident the whole run.
  ///
  /// Where each variant's own recovery ended it, who is back later would gain events that came when all was well. Without an ideal
  /// run no more is known than that no client could before the incidents' end.
  /// - Parameter possible: from the end of all incidents until any client could have caught up; nil: never.
  private static func affectedWindows(
    of record: RunRecord, _ reach: Reach, possible: Int64?
  ) -> [Range<Int64>] {
    let incidents = incidents(of: record).sorted { $0.start < $1.start }
    if incidents.isEmpty { return [0..<record.series.duration] }
    var windows: [Range<Int64>] = []
    var end: Int64 = 0
    for (place, incident) in incidents.enumerated() {
      end = max(end, incident.end)
      let isLast = place + 1 == incidents.count
      let next = isLast ? record.series.duration : incidents[place + 1].start
      let wait = isLast ? possible : reach.possibleTime(after: Array(incidents[...place]))
      let until = max(incident.start, min(wait.map { end + $0 } ?? .max, next))
      windows.append(incident.start..<until)
    }
    return windows
  }

  private static func addAffected(
    of record: RunRecord, _ reach: Reach, _ references: ReferenceRuns, to summary: inout RunSummary
  ) {
    let runs = AffectedEvents.of(
      [record] + (references.ideal.map { [$0] } ?? []),
      in: affectedWindows(of: record, reach, possible: references.ideal == nil ? 0 : summary.possibleTime),
      twin: references.twin)
    let events = runs[0]
    summary.affectedEvents = events.created
    summary.affectedHorizon = events.horizon
    summary.affectedDeliveryP50 = events.percentile(50)
    summary.affectedDeliveryP90 = events.percentile(90)
    summary.affectedDeliveryP99 = events.percentile(99)
    guard let best = runs.dropFirst().first else { return }
    summary.idealDeliveryP50 = best.percentile(50)
    summary.idealDeliveryP90 = best.percentile(90)
    summary.idealDeliveryP99 = best.percentile(99)
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
  /// - Mean time in backlog, by more than 25 % and by more than half the look ahead (at least 30 s).
  /// - The 99th percentile of time to delivery, by more than 50 % and by more than the look ahead (at least 60 s).
  /// - Where the server has no time to spare from the second quarter on: mean time in backlog, by more than 1 % of the time passed.
  ///
  /// Mean time in backlog is backlog ÷ creation rate, so a load that varies over the day is no growth. What closed apps hold begins
  /// with nothing and grows for as long as apps stay closed, as does what phones without a network hold. Where the server turns next
  /// to nobody away, a fleet with such devices is ill only if the server has no time to spare.
  ///
  /// The twin is ill too if more than 1 % of the events of the run are lost or blocked, for whatever reason. A backlog that is
  /// thrown away does not grow. The margins keep Poisson noise and a flush sawtooth from counting. A run shorter than eight flush
  /// intervals is too short to tell whether it grows.
  public static func health(of twin: RunRecord) -> BaselineHealth {
    var health = BaselineHealth(losses: twin.series.totals, doomed: twin.doomedEvents)
    health.grows = grows(twin)
    return health
  }

  private static func grows(_ twin: RunRecord) -> Bool? {
    let rows = twin.series.rows.count
    guard rows >= 4, twin.series.duration / 8 >= twin.longestFlushInterval else { return nil }
    let later = twin.series.rows[(rows / 4)...]
    let waitsForPeople =
      twin.cohorts.contains { $0.pending[.closedApp] + $0.pending[.offline] > 0 }
      && later.reduce(0) { $0 + failed($1, twin) } <= fewShare * Double(later.reduce(0) { $0 + $1.attempts })
    let quarters = (0..<4).map {
      quarter(of: twin.series, rows: rows * $0 / 4..<rows * ($0 + 1) / 4, isOpenOnly: waitsForPeople)
    }
    let width = Double(lookAhead(twin))
    let residences = quarters.map { $0.residence }
    if isSaturated(later), hasGrown(residences, byShare: 0, andBy: Double(twin.series.duration) / 200) {
      return true
    }
    return !waitsForPeople
      && (hasGrown(residences, byShare: 0.25, andBy: width / 2)
        || hasGrown(quarters.map { $0.timeToDeliveryP99 }, byShare: 0.5, andBy: width))
  }

  /// Whether a server has next to no time to spare.
  fileprivate static func isSaturated(_ rows: some Collection<TimeSeries.Row>) -> Bool {
    let available = rows.reduce(0) { $0 + $1[.availableMicroseconds] }
    return available > 0 && Double(rows.reduce(0) { $0 + $1[.busyMicroseconds] }) >= 0.995 * Double(available)
  }

  private static func hasGrown(_ values: [Double?], byShare share: Double, andBy slack: Double) -> Bool {
    guard let second = values[1], let last = values[3] else { return false }
    let growth = last - second
    return growth > share * second && growth > slack && last >= 0.9 * (values[2] ?? second)
  }

  private static func quarter(of series: TimeSeries, rows: Range<Int>, isOpenOnly: Bool) -> Quarter {
    var quarter = Quarter()
    var backlogTime = 0.0
    var created: Int64 = 0
    var delivered: Int64 = 0
    var weighted = 0.0
    for i in rows {
      let row = series.rows[i]
      let backlog = isOpenOnly ? row.openBacklog : row[.backlogEvents]
      backlogTime += Double(backlog) * Double(series.length(of: i))
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

  /// Seconds' worth of nominal capacity unused while events waited that an ideal run has delivered.
  ///
  /// An interval counts if no outage touches it and more waits at its end than the incidents explain (`Reach`). Unused is what the
  /// incidents' factors left of the capacity, times one minus the utilisation. An interval that ran above capacity on a burst counts
  /// as 0.
  /// - Returns: nil without capacity.
  static func idleWhileBacklogged(_ record: RunRecord, _ reach: Reach) -> Double? {
    guard record.nominalCapacityMilli > 0 else { return nil }
    let series = record.series
    let outages = incidents(of: record).filter { $0.isOutage }
    var idleMilliRequests = 0.0
    for i in 0..<min(series.rows.count, reach.backlog.count) {
      let row = series.rows[i]
      guard row[.availableMicroseconds] > 0, row[.busyMicroseconds] < row[.availableMicroseconds],
        reach.excess(i) > reach.tolerance[i]
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
}

/// What a run can reach at best, row by row: by its twin and, if there is one, its ideal run.
struct Reach {
  /// The undelivered events outside closed apps that no client could have delivered, row by row: the ideal run's, or those that are
  /// the twin's anyway.
  let backlog: [Int64]
  /// At the run's end, those in closed apps among them.
  let pending: Int64
  /// So many events more than that do not matter, row by row. They are 1 % of those created since the first incident's start that
  /// could be delivered by then, but no more than 10 % of what waits anyway. At least they are 1 % of those created during the
  /// incidents, and one.
  let tolerance: [Int64]
  /// In the ideal run.
  private let eventsPerRequest: Double
  private let record: RunRecord
  private let twin: RunRecord
  private let ideal: RunRecord?

  init(_ record: RunRecord, _ references: ReferenceRuns) {
    (self.record, twin, ideal) = (record, references.twin, references.ideal)
    let twin = references.twin.series
    let best = references.ideal?.series
    func most(_ row: Int, _ events: (TimeSeries, Int) -> Int64) -> Int64 {
      max(events(twin, row), best.map { row < $0.rows.count ? events($0, row) : 0 } ?? 0)
    }
    let rows = min(record.series.rows.count, twin.rows.count)
    backlog = (0..<rows).map { most($0) { $0.rows[$1].openBacklog } }
    let incidents = RunAnalysis.incidents(of: record)
    let undeliverable = (0..<rows).map { most($0) { $0[$1, .backlogEvents] } }
    pending = undeliverable.last ?? 0
    tolerance = Self.tolerance(record.series.rows, undeliverable, waiting: backlog, incidents)
    let totals = best?.totals
    let requests = totals?[.acceptedBatches] ?? 0
    eventsPerRequest = requests > 0 ? Double(totals?[.deliveredEvents] ?? 0) / Double(requests) : 1
  }

  private static func tolerance(
    _ rows: TimeSeries.Rows, _ undeliverable: [Int64], waiting: [Int64], _ incidents: [IncidentSpan]
  ) -> [Int64] {
    let (start, end) = (incidents.map { $0.start }.min() ?? 0, incidents.map { $0.end }.max() ?? 0)
    let during = rows.lazy.filter { $0.start < end && $0.start + $0.length > start }
      .reduce(0) { $0 + $1[.createdEvents] }
    var created: Int64 = 0
    return zip(rows, zip(undeliverable, waiting)).map { row, best in
      let (undeliverable, waiting) = best
      if row.start + row.length > start { created += row[.createdEvents] }
      return max(1, during / 100, min((created - undeliverable) / 100, waiting / 10))
    }
  }

  /// Events that wait outside closed apps at the end of a row although they need not.
  func excess(_ row: Int) -> Int64 { record.series.rows[row].openBacklog - backlog[row] }
  func excessOverTwin(_ row: Int) -> Int64 {
    record.series.rows[row].openBacklog - twin.series.rows[row].openBacklog
  }

  /// Whether the run gave up more events than may wait.
  var gaveUpMany: Bool {
    record.series.totals.lostOrBlockedEvents - twin.series.totals.lostOrBlockedEvents > tolerance.last ?? 0
  }

  /// Events that wait behind a 429 or a Retry-After when the run ends, beyond the twin's.
  var turnedAway: Int64 {
    func waiting(_ record: RunRecord) -> Int64 { record.cohorts.reduce(0) { $0 + $1.pending[.rateLimit] } }
    return waiting(record) - waiting(twin)
  }

  /// Whether the ideal run has a tenth less to catch up with when the run ends than when the incidents did: a longer run shows more.
  func isDraining(after end: Int64) -> Bool {
    guard let ideal = ideal?.series, let first = ideal.rows.firstIndex(where: { $0.start + $0.length >= end })
    else { return false }
    func excess(_ row: Int) -> Int64 { ideal.rows[row].openBacklog - twin.series.rows[row].openBacklog }
    let held = excess(first)
    return held > 0 && excess(ideal.rows.count - 1) < held - held / 10
  }

  /// Returns the time from the end of the incidents to the first row in which next to nobody with an open app waits for the ideal
  /// run's server: then capacity holds nobody up any more. Next to nobody has no more events than the tolerance, in the row behind
  /// as well: who the incident has kept away is back by then. Where each client has one upload at a time, more batches wait behind
  /// those in line; so a line of more than 1 % of the devices counts as long as it keeps the server busy, a limit of single senders
  /// holds some, or operators hold something that they take back.
  /// - Returns: nil without an ideal run, and if there is no such row.
  func possibleTime(after incidents: [IncidentSpan]) -> Int64? {
    guard let ideal, let end = incidents.map({ $0.end }).max() else { return nil }
    let rows = ideal.series.rows
    // Of all that the ideal run holds: no variant has a say in it.
    let waiting = rows.map { $0[.backlogEvents] }
    let tolerance = Self.tolerance(rows, waiting, waiting: waiting, incidents)
    func isCalm(_ row: Int) -> Bool {
      let line = rows[row][.serverQueue]
      let (start, end) = (rows[row].start, rows[row].start + rows[row].length)
      let isHeld =
        rows[row][.keyLimited] > 0
        || ideal.actions.contains { $0.start < end && start < $0.end && $0.end < ideal.series.duration }
      return Double(line) * eventsPerRequest <= Double(tolerance[row])
        && (!isHeld && !RunAnalysis.isSaturated([rows[row]]) || line <= ideal.devices / 100)
    }
    let places = 0..<min(rows.count, tolerance.count)
    return places.first { row in
      rows[row].start + rows[row].length >= end && isCalm(row)
        && (row + 1 == places.endIndex || isCalm(row + 1))
    }.map { rows[$0].start + rows[$0].length - end }
  }
}

/// What the server turns away.
extension RunAnalysis {
  /// Requests with a 429 or 5xx for an answer, or none in time. Where the server of a run turns away by another 4xx, these count.
  private static func failed(_ row: TimeSeries.Row, _ record: RunRecord) -> Double {
    let others = record.refusesByOther4xx ? row[.answers4xxOther] + row[.answers401] : 0
    return Double(
      row[.answers429] + row[.answers503] + row[.answers5xxOther] + row[.unanswered] + row[.unheardAnswers]
        + others)
  }

  /// Next to nobody is no larger share of the requests.
  private static let fewShare = 0.01
}

/// After the last incident: caught up, well and drained. All have the resolution of one interval of the series.
extension RunAnalysis {
  /// How far a look ahead goes: the longest flush interval, at least 60 s.
  ///
  /// Over a whole flush interval the backlog of a fleet that flushes in step, a sawtooth, has a steady mean.
  static func lookAhead(_ record: RunRecord) -> Int64 { max(record.longestFlushInterval, 60_000_000) }

  private static func lookAheadRows(_ record: RunRecord) -> Int {
    let interval = record.series.interval
    return Int((lookAhead(record) + interval - 1) / interval)
  }

  /// Whether a look ahead from the row on in which a time lies is within the run.
  private static func canSeeRecovery(_ record: RunRecord, after end: Int64) -> Bool {
    let interval = record.series.interval
    guard interval > 0 else { return false }
    let row = max(0, Int((end + interval - 1) / interval) - 1)
    return row + lookAheadRows(record) <= record.series.rows.count
  }

  /// Returns the time from `end` until the fleet has caught up with what was possible. From then on it holds no more events back
  /// than the tolerance, in the mean over each look ahead; and at that time too.
  ///
  /// Events that were given up count as settled: a run is judged by its losses apart. A fleet has not caught up while operators
  /// still hold something that they take back within the run. Before the ideal run has, a fleet has caught up only if it gave up
  /// what others still deliver, and holds no more than its twin. Where the ideal run never has, the twin alone is the reference.
  /// - Parameter possible: `Reach.possibleTime`.
  /// - Returns: nil if that can't be seen within the run.
  static func recoveryTime(
    of record: RunRecord, _ reach: Reach, possible: Int64?, after end: Int64
  ) -> Int64? {
    let held = record.actions.map { $0.end }.filter { $0 < record.series.duration }.max() ?? end
    let reached = possible.map { end + $0 }
    let series = record.series
    return calm(
      record, notBefore: max(end, held, reach.gaveUpMany ? end : reached ?? end),
      rows: reach.backlog.count,
      excess: { row in
        let rowEnd = series.start(of: row) + series.length(of: row)
        return Double(rowEnd >= reached ?? .max ? reach.excess(row) : reach.excessOverTwin(row))
      }, tolerance: { Double(reach.tolerance[$0]) }
    ).map { series.start(of: $0) + series.length(of: $0) - end }
  }

  /// Returns the time from `end` until the server turns nobody away any more. From then on few requests fail, over each look ahead
  /// and at that time. Few are at most 1 % of the requests, or no larger share than of the twin's, and one of them. Waves of
  /// failures are over once none has come for twice as long as two pauses between them lasted, and none is to come: whoever still
  /// waits as the server asked when the run ends may be turned away again.
  ///
  /// Failed is what has a 429, 5xx or other answer that turns away, or none in time, and all that comes while the server's queue is longer than the
  /// twin's by more than a second's work. Where the newest are served first it is then by what the queue grows. Phones that were
  /// closed meanwhile can have events to deliver after it.
  ///
  /// Strays don't count: what fails to the end of the run beyond 1 % of each row and beyond the twin's is then at most 0.1 % of
  /// all that did since the first incident began. In a small part of a fleet one phone's many batches overflow a bucket.
  /// - Returns: nil if that can't be seen within the run.
  static func healthyTime(of record: RunRecord, twin: RunRecord, after end: Int64) -> Int64? {
    let (rows, twinRows) = (record.series.rows, twin.series.rows)
    let count = min(rows.count, twinRows.count)
    let secondOfCapacity = record.nominalCapacityMilli / 1_000
    func failed(_ row: TimeSeries.Row) -> Double { self.failed(row, record) }
    func excess(_ row: Int) -> Double {
      let queue = rows[row][.serverQueue]
      guard queue > twinRows[row][.serverQueue] + max(secondOfCapacity, 1) else { return failed(rows[row]) }
      if record.servesNewestFirst {
        return failed(rows[row]) + Double(max(0, queue - (row > 0 ? rows[row - 1][.serverQueue] : 0)))
      }
      return max(failed(rows[row]), Double(rows[row].attempts), 2)
    }
    func beyond(_ failed: Double, _ row: TimeSeries.Row) -> Double {
      max(0, failed - max(1, fewShare * Double(row.attempts)))
    }
    let many = (0..<count).map { beyond(excess($0), rows[$0]) }
    let start = incidents(of: record).map { $0.start }.min() ?? 0
    let first = rows.prefix(count).firstIndex { $0.start + $0.length > start } ?? count
    let caused = many[first...].reduce(0, +)
    var (toCome, strayFrom) = (0.0, count)
    for row in (0..<count).reversed() {
      toCome += many[row] - beyond(failed(twinRows[row]), twinRows[row])
      if toCome > 0.001 * caused { break }
      strayFrom = row
    }
    let found = calm(
      record, notBefore: end, rows: count, strayFrom: strayFrom, excess: excess,
      tolerance: { row in
        let twinShare = failed(twinRows[row]) / Double(max(twinRows[row].attempts, 1))
        return max(fewShare, twinShare) * Double(rows[row].attempts)
      }, least: 1)
    guard let found else { return nil }
    let ill = (0..<found).filter { many[$0] > 0 && rows[$0].start + rows[$0].length > end }
    // Waves that repeat have two such pauses at least.
    let pause = zip(ill, ill.dropFirst()).map { $1 - $0 }.sorted(by: >).dropFirst().first ?? 0
    return pause > 1 && count - found < 2 * pause ? nil : max(0, rows[found].start - end)
  }

  /// The first row from which on an excess is within its tolerance: in that row, and in the mean over each look ahead that lies in
  /// the run. O(rows).
  /// - `earliest`: no row that ends before it counts.
  /// - `strayFrom`: from this row on what is beyond the tolerance is not the first row, and hides none before it.
  /// - `least`: so much is within the tolerance of a row and of a look ahead in any case.
  private static func calm(
    _ record: RunRecord, notBefore earliest: Int64, rows: Int, strayFrom: Int = .max,
    excess: (_ row: Int) -> Double, tolerance: (_ row: Int) -> Double, least: Double = 0
  ) -> Int? {
    let series = record.series
    guard earliest < series.duration, series.interval > 0 else { return nil }
    let width = lookAheadRows(record)
    var (sum, allowed) = (0.0, 0.0)
    var found: Int?
    // From the last row back, the sums are those of `width` rows from this one on.
    for row in (0..<rows).reversed() {
      sum += excess(row)
      allowed += tolerance(row)
      if row + width < rows {
        sum -= excess(row + width)
        allowed -= tolerance(row + width)
      }
      if series.start(of: row) + series.length(of: row) < earliest { break }
      if row + width > rows { continue }
      if sum > max(allowed, least) {
        if row < strayFrom { break }
        continue
      }
      if excess(row) <= max(tolerance(row), least) { found = row }
    }
    return found
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
  /// Whether the backlog or the time to delivery grows over the run; nil: it is too short to tell.
  public var grows: Bool? = false
  public var createdEvents: Int64 = 0
  /// The created events that were dropped and not accepted after all, or blocked.
  public var lostEvents: Int64 = 0
  /// How they were given up; what was accepted after all is among them.
  public var givenUp: [Measure: Int64] = [:]

  public init() {}

  /// Takes the losses from the counts of a twin.
  /// - Parameters:
  ///   - counts: those of its whole run.
  ///   - doomed: events that it will give up later, in the main to the limit on their age.
  public init(losses counts: some Measured, doomed: Int64 = 0) {
    createdEvents = counts[.createdEvents]
    lostEvents = counts.lostOrBlockedEvents + doomed
    for measure in Self.causes where counts[measure] > 0 { givenUp[measure] = counts[measure] }
    if doomed > 0 { givenUp[.droppedByAge, default: 0] += doomed }
  }

  /// More than 1 %: then the 99th percentile of time to delivery, on which verdicts rank, has no value even without an incident.
  public var losesEvents: Bool { lostEvents > createdEvents / 100 }
  public var isHealthy: Bool { grows != true && !losesEvents }
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
    grows = grows == true || other.grows == true ? true : grows == nil || other.grows == nil ? nil : false
    createdEvents += other.createdEvents
    lostEvents += other.lostEvents
    for (measure, count) in other.givenUp { givenUp[measure, default: 0] += count }
  }
}
