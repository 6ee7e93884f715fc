/// How long the events of a part of a run took to be delivered, those among them that never were.
///
/// A percentile over delivered events alone gets better by every event that is dropped, and by a run that ends sooner. Here an
/// event that was not delivered counts as watched without delivery until the end of the run: lost, blocked or pending (E. L.
/// Kaplan and P. Meier, "Nonparametric estimation from incomplete observations", JASA 53 (1958)).
///
/// When a delivered event was created is its acceptance's interval less its time to delivery: known within an interval and 1.6 %
/// of that time.
package struct AffectedEvents {
  /// Created in that part.
  package private(set) var created: Int64 = 0
  /// From the part's start to the end of the run.
  package private(set) var horizon: Int64
  /// By bucket of `IntervalDeliveries`.
  private var delivered: [Int64]
  /// How many were watched for how long without being delivered, the shortest first.
  private var undelivered: [(watched: Int64, events: Int64)] = []

  /// - Parameters:
  ///   - start: of the part; intervals that it cuts belong to it as a whole, and that of its start in any case.
  ///   - end: of the part.
  /// - Complexity: O(cells of the record's `deliveryTable`).
  package init(of record: RunRecord, from start: Int64, to end: Int64) {
    let series = record.series
    delivered = Array(repeating: 0, count: IntervalDeliveries.bucketCount)
    horizon = max(0, series.duration - start)
    guard series.interval > 0, start <= end else { return }
    let rows = series.rows.count
    let first = min(rows, Int(max(0, start) / series.interval))
    let last = min(
      rows, max(first + 1, Int((min(end, series.duration) + series.interval - 1) / series.interval)))
    var open = (0..<rows).map { series[$0, .createdEvents] }
    created = open[first..<max(first, last)].reduce(0, +)
    let part = first..<max(first, last)
    var carry = 0.0
    for row in 0..<min(rows, record.deliveryTable.rows) {
      for cell in record.deliveryTable.cells(ofRow: row) {
        // Accepted at any time of the interval, so created within an interval's length, which lies across two intervals.
        let begin = series.start(of: row) - IntervalDeliveries.middle(of: Int(cell.bucket))
        let earlier = max(0, begin) / series.interval
        let share = begin < 0 ? 0 : Double(begin - earlier * series.interval) / Double(series.interval)
        let exact = Double(cell.events) * share + carry
        let inLater = min(Int64(cell.events), Int64(exact.rounded(.down)))
        carry = exact - Double(inLater)
        for (creation, events) in [
          (min(row, Int(earlier)), Int64(cell.events) - inLater), (min(row, Int(earlier) + 1), inLater),
        ] {
          open[creation] -= events
          if part.contains(creation) { delivered[Int(cell.bucket)] += events }
        }
      }
    }
    Self.settle(&open)
    for row in part where open[row] > 0 {
      undelivered.append((series.duration - series.start(of: row) - series.length(of: row) / 2, open[row]))
    }
    undelivered.reverse()
  }

  /// Takes an interval's deliveries beyond its created events from the intervals that they belong to. These are the nearest
  /// earlier intervals that have events left, else the next later ones.
  private static func settle(_ open: inout [Int64]) {
    var left: [Int] = []
    var owed: Int64 = 0
    for row in open.indices {
      open[row] -= owed
      owed = 0
      if open[row] > 0 { left.append(row) }
      while open[row] < 0, let earlier = left.last {
        let taken = min(-open[row], open[earlier])
        open[row] += taken
        open[earlier] -= taken
        if open[earlier] == 0 { left.removeLast() }
      }
      if open[row] < 0 {
        owed = -open[row]
        open[row] = 0
      }
    }
  }

  /// Where fewer of the events that the estimate leaves are still watched, a few of them stand for all, and nothing is known.
  ///
  /// Source: S. J. Pocock, T. C. Clayton and D. G. Altman, "Survival plots of time-to-event outcomes in clinical trials", Lancet 359
  /// (2002), 1686–1689: a curve ends where 10 to 20 % are still followed.
  private static var leastWatched: Double { 0.1 }

  /// Returns the smallest time to delivery that `percent` % of the events do not exceed, within 3 %. `nil`: the time is longer
  /// than could be watched (`leastWatched`), or there are no events.
  package func percentile(_ percent: Int) -> Int64? {
    let all = undelivered.reduce(delivered.reduce(0, +)) { $0 + $1.events }
    var watched = all
    guard watched > 0 else { return nil }
    var next = 0
    var share = 1.0
    for bucket in delivered.indices where delivered[bucket] > 0 {
      let time = IntervalDeliveries.middle(of: bucket)
      while next < undelivered.count, undelivered[next].watched < time {
        watched -= undelivered[next].events
        next += 1
      }
      if Double(watched) < Self.leastWatched * share * Double(all) { return nil }
      let before = share
      share *= 1 - Double(delivered[bucket]) / Double(watched)
      watched -= delivered[bucket]
      let wanted = Double(100 - percent) / 100
      // Within a bucket as if its events were spread evenly over it.
      if share <= wanted {
        let bounds = IntervalDeliveries.bounds(of: bucket)
        let part = before > share ? (before - wanted) / (before - share) : 1
        return bounds.lower + Int64((part * Double(bounds.upper - 1 - bounds.lower)).rounded())
      }
    }
    // 1 − 99/100 is a little more than 0.01 in floating point: the last event delivered may be the one.
    guard let last = delivered.lastIndex(where: { $0 > 0 }), share <= Double(100 - percent) / 100 + 1e-12
    else { return nil }
    return IntervalDeliveries.bounds(of: last).upper - 1
  }
}
