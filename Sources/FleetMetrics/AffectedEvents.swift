/// How long the events took that an incident affected, those among them that were never delivered.
///
/// A percentile over delivered events alone gets better by every event that is dropped, and by a run that ends sooner. Here an
/// event that was not delivered counts as watched without delivery until the end of the run: lost, blocked or pending (E. L.
/// Kaplan and P. Meier, "Nonparametric estimation from incomplete observations", JASA 53 (1958)).
///
/// The affected events are those created in windows of the run, the same for all variants. Events created later outside of them
/// count as far as more of them take so long than of the twin's, and than chance has it: a fleet that stays ill makes events wait
/// for which no incident is left. Chance is two standard errors of a difference of counts that come in batches; without that, each
/// quiet hour would make the same incident look longer.
///
/// When a delivered event was created is known within an interval, or within 8 s where that is more: its acceptance's interval less
/// its time to delivery, or counted (`LongWaits`).
package struct AffectedEvents {
  /// Created in the windows.
  package let created: Int64
  /// From the start of the first window to the end of the run.
  package let horizon: Int64
  private let affected: Waits
  /// By bucket: how many more of the later events take longer than the twin's do.
  private let excess: [Double]?

  /// Those of several runs of one length: the twin, with which later events are compared, is read once.
  /// - Parameters:
  ///   - windows: in order; intervals that one cuts belong to it as a whole, and that of its start in any case.
  ///   - twin: the run without the incident; nil: later events do not count.
  /// - Complexity: O(cells of the records' `deliveryTable` and `longWaits`).
  package static func of(
    _ records: [RunRecord], in windows: [Range<Int64>], twin: RunRecord? = nil
  ) -> [AffectedEvents] {
    guard let series = records.first?.series else { return [] }
    var isAffected = Array(repeating: false, count: series.rows.count)
    for window in windows where series.interval > 0 {
      let first = Int(max(0, window.lowerBound) / series.interval)
      let last = Int((min(window.upperBound, series.duration) + series.interval - 1) / series.interval)
      for row in first..<max(first + 1, last) where row < isAffected.count { isAffected[row] = true }
    }
    let start = isAffected.firstIndex(of: true) ?? isAffected.count
    let isLater = isAffected.enumerated().map { $0 > start && !$1 }
    let anyway = isLater.contains(true) ? twin.map { Waits.of($0, in: [isLater])[0].exceeding } : nil
    return records.map {
      AffectedEvents(of: $0, from: windows.first?.lowerBound ?? 0, isAffected, isLater, anyway: anyway)
    }
  }

  private init(
    of record: RunRecord, from start: Int64, _ isAffected: [Bool], _ isLater: [Bool], anyway: [Double]?
  ) {
    horizon = max(0, record.series.duration - start)
    created = isAffected.indices.reduce(0) {
      isAffected[$1] ? $0 + record.series[$1, .createdEvents] : $0
    }
    let waits = Waits.of(record, in: [isAffected, isLater])
    affected = waits[0]
    let totals = record.series.totals
    let batch = Double(max(1, totals[.deliveredEvents])) / Double(max(1, totals[.acceptedBatches]))
    // No fewer than take longer still.
    var most = 0.0
    excess = anyway.map { anyway in
      zip(waits[1].exceeding, anyway).reversed().map {
        most = max(most, $0 - $1 - 2 * (batch * ($0 + $1)).squareRoot())
        return most
      }.reversed()
    }
  }

  /// Returns the smallest time to delivery that so many events exceed as are the rest to `percent` % of the affected ones, within 3 %.
  /// `nil`: the time is longer than could be watched, or there are no events.
  package func percentile(_ percent: Int) -> Int64? {
    let wanted = (Double(100 - percent) / 100 + 1e-12) * affected.all
    var before = affected.all
    // A hundredth of fewer than a hundred is less than one event: what is later beside them is chance.
    let excess = affected.all < 100 ? nil : excess
    for bucket in 0..<(affected.all > 0 ? affected.known : 0) {
      let now = affected.exceeding[bucket] + (excess?[bucket] ?? 0)
      // Within a bucket as if its events were spread evenly over it.
      if now <= wanted {
        let bounds = IntervalDeliveries.bounds(of: bucket)
        let part = before > now ? min(1, (before - wanted) / (before - now)) : 1
        return bounds.lower + Int64((part * Double(bounds.upper - 1 - bounds.lower)).rounded())
      }
      before = now
    }
    return nil
  }
}

/// How many events of a part of a run take longer than each time, by the estimate of Kaplan and Meier.
private struct Waits {
  /// Events of the part.
  private(set) var all: Double
  /// By bucket of `IntervalDeliveries`: how many take longer. Where nothing is known any more, the last that is: no more take longer.
  private(set) var exceeding: [Double] = []
  /// So many of these are known.
  private(set) var known = 0

  /// Where fewer of the events that the estimate leaves are still watched, a few of them stand for all, and nothing is known.
  ///
  /// Source: S. J. Pocock, T. C. Clayton and D. G. Altman, "Survival plots of time-to-event outcomes in clinical trials", Lancet 359
  /// (2002), 1686–1689: a curve ends where 10 to 20 % are still followed.
  private static var leastWatched: Double { 0.1 }

  /// - Parameter undelivered: how many were watched for how long, the shortest first.
  private init(delivered: [Int64], undelivered: [(watched: Int64, events: Int64)]) {
    var watched = undelivered.reduce(delivered.reduce(0, +)) { $0 + $1.events }
    all = Double(watched)
    var next = 0
    var share = 1.0
    for bucket in delivered.indices {
      if delivered[bucket] > 0 {
        let time = IntervalDeliveries.middle(of: bucket)
        while next < undelivered.count, undelivered[next].watched < time {
          watched -= undelivered[next].events
          next += 1
        }
        if Double(watched) < Self.leastWatched * share * all { break }
        share *= 1 - Double(delivered[bucket]) / Double(watched)
        watched -= delivered[bucket]
      }
      exceeding.append(share * all)
    }
    known = exceeding.count
    exceeding += Array(repeating: share * all, count: delivered.count - known)
  }

  /// Of the events created in each of some parts of a run, which do not overlap: by row, whether it belongs to the part.
  static func of(_ record: RunRecord, in parts: [[Bool]]) -> [Waits] {
    let series = record.series
    let rows = series.rows.count
    var open = (0..<rows).map { series[$0, .createdEvents] }
    var delivered = parts.map { _ in Array(repeating: Int64(0), count: IntervalDeliveries.bucketCount) }
    func count(_ cell: DeliveryTable.Cell, _ events: Int64, createdIn row: Int) {
      open[row] -= events
      for part in parts.indices where row < parts[part].count && parts[part][row] {
        delivered[part][Int(cell.bucket)] += events
      }
    }
    var carry = 0.0
    let long = LongWaits.firstBucket(interval: series.interval)
    for row in 0..<rows {
      for cell in record.deliveryTable.cells(ofRow: row) where cell.bucket < long {
        // Accepted at any time of the interval, so created within an interval's length, which lies across two intervals.
        let begin = series.start(of: row) - IntervalDeliveries.middle(of: Int(cell.bucket))
        let earlier = max(0, begin) / series.interval
        let share = begin < 0 ? 0 : Double(begin - earlier * series.interval) / Double(series.interval)
        let exact = Double(cell.events) * share + carry
        let inLater = min(Int64(cell.events), Int64(exact.rounded(.down)))
        carry = exact - Double(inLater)
        count(cell, Int64(cell.events) - inLater, createdIn: min(row, Int(earlier)))
        count(cell, inLater, createdIn: min(row, Int(earlier) + 1))
      }
      for cell in record.longWaits.cells(ofRow: row) { count(cell, Int64(cell.events), createdIn: row) }
    }
    let left = neverFewer(open)
    return zip(parts, delivered).map { part, delivered in
      let undelivered = part.indices.reversed().filter { part[$0] && $0 < rows && left[$0] > 0 }.map { row in
        let middle = series.start(of: row) + series.length(of: row) / 2
        return (watched: series.duration - middle, events: left[row])
      }
      return Waits(delivered: delivered, undelivered: undelivered)
    }
  }

  /// Returns steps of 0 or more with the total of `steps`, or 0 if that is negative. Their running sum is the nearest to that of
  /// `steps`, in squares.
  ///
  /// Source: pool adjacent violators (M. Ayer and others, "An empirical distribution function for sampling with incomplete
  /// information", Annals of Mathematical Statistics 26 (1955), 641–647).
  private static func neverFewer(_ steps: [Int64]) -> [Int64] {
    let total = max(0, steps.reduce(0, +))
    var sum: Int64 = 0
    var pools: [(mean: Double, rows: Int)] = []
    for step in steps {
      sum += step
      var pool = (mean: Double(sum), rows: 1)
      while let last = pools.last, last.mean > pool.mean {
        let rows = last.rows + pool.rows
        pool = ((last.mean * Double(last.rows) + pool.mean * Double(pool.rows)) / Double(rows), rows)
        pools.removeLast()
      }
      pools.append(pool)
    }
    var before: Int64 = 0
    return pools.flatMap { pool in
      let now = min(max(0, Int64(pool.mean.rounded())), total)
      defer { before = now }
      return [now - before] + Array(repeating: 0, count: pool.rows - 1)
    }
  }
}
