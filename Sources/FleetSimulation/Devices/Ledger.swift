import FleetMetrics
import ShippedClients
import SimulationKernel
import UploadGating

/// All that a shard counts. Nothing else writes a count, and no count decides what a device does.
struct Ledger: ~Copyable {
  private let counters: IntervalCounters<DeviceSide>
  private var intervalDeliveries: IntervalDeliveries
  private var longWaits: LongWaits
  private let deliveries: DeliveryRecorder
  /// The longest time to delivery, microseconds.
  private var longestDelivery: Int64 = 0 {
    didSet { longestOrdinary = min(longestDelivery, longWaits.shortest - 1) }
  }
  /// A time to delivery above it is the longest yet, or one of the long waits.
  private var longestOrdinary: Int64 = 0
  /// Times to delivery of each lane, where the client has lanes (O8).
  private(set) var laneDeliveries: [Histogram]
  private(set) var settings = SideSeries<SettingsCount>()
  private var rows: RowCursor
  /// Of events that are drawn ahead.
  private var creationRows: RowCursor
  /// Of the run, microseconds.
  private let end: Int64
  private(set) var attempts: Int64 = 0
  /// Whether a batch was given up at a limit on retries.
  private(set) var reachedRetryLimit = false

  init(interval: Span, rowCount: Int, end: Int64, hasLanes: Bool) {
    counters = IntervalCounters(rows: rowCount)
    intervalDeliveries = IntervalDeliveries(rows: rowCount, openRows: Self.openRows(interval))
    deliveries = DeliveryRecorder()
    longWaits = LongWaits(rows: rowCount, interval: interval.microseconds)
    laneDeliveries = hasLanes ? PriorityLanes.Lane.allCases.map { _ in Histogram() } : []
    rows = RowCursor(interval: interval)
    creationRows = rows
    self.end = end
  }

  /// An answer tells of an acceptance that was some moments ago.
  static func openRows(_ interval: Span) -> Int { Int(min(max(8_000_000 / interval.microseconds, 4), 1_024)) }

  init(copying other: borrowing Ledger) {
    counters = other.counters.copy()
    intervalDeliveries = other.intervalDeliveries.copy()
    longWaits = other.longWaits.copy()
    deliveries = other.deliveries.copy()
    (longestDelivery, longestOrdinary) = (other.longestDelivery, other.longestOrdinary)
    (laneDeliveries, settings) = (other.laneDeliveries, other.settings)
    (rows, creationRows, end) = (other.rows, other.creationRows, other.end)
    (attempts, reachedRetryLimit) = (other.attempts, other.reachedRetryLimit)
  }

  /// An interval; not to be kept beyond the ledger's life.
  struct Row {
    fileprivate let cells: CounterRow<DeviceSide>

    @inline(__always)
    func count(_ n: Int64, _ measure: Measure) { cells[measure] &+= n }
  }

  /// An interval in which events are delivered.
  struct DeliveryRow {
    fileprivate let number: Int
    fileprivate let row: Row

    @inline(__always)
    func count(_ n: Int64, _ measure: Measure) { row.count(n, measure) }
  }

  /// The interval that `now` lies in.
  @inline(__always)
  mutating func row(at now: Int64) -> Row { Row(cells: counters[rows.row(at: now)]) }

  /// The interval of an acceptance.
  @inline(__always)
  mutating func deliveryRow(at time: Int64) -> DeliveryRow {
    let number = rows.row(at: time)
    return DeliveryRow(number: number, row: Row(cells: counters[number]))
  }

  @inline(__always)
  mutating func count(_ n: Int64, _ measure: Measure, at now: Int64) {
    counters.add(n, to: measure, row: rows.row(at: now))
  }

  /// Counts what happens at a time that need not be near now.
  @inline(__always)
  func count(_ n: Int64, _ measure: Measure, apartAt time: Int64) {
    counters.add(n, to: measure, row: rows.rowWithoutMoving(at: time))
  }

  @inline(__always)
  mutating func count(_ n: Int64, _ what: SettingsCount, at now: Int64) {
    settings[rows.row(at: now), what] += n
  }

  /// An event is created; `n` is −1 where it turns out that it is not.
  @inline(__always)
  func countCreated(_ n: Int64 = 1, at time: Int64) {
    counters.add(n, to: .createdEvents, row: creationRows.rowByDivision(at: time))
  }

  /// Events are created one period after another, the first at `time`.
  @inline(__always)
  mutating func countCreated(_ events: UInt32, from time: Int64, every period: Int64) {
    var time = time
    for _ in 0..<events {
      counters.add(1, to: .createdEvents, row: creationRows.row(at: time))
      time &+= period
    }
  }

  @inline(__always)
  mutating func attemptBegins(_ row: Row) {
    row.count(1, .inFlight)
    attempts &+= 1
  }

  /// A wait from `now`, in `row`, until `time`: the part of it that lies in the run.
  @inline(__always)
  func countWait(until time: Int64, at now: Int64, _ row: Row) {
    row.count(min(time, end) &- now, .backoffMicroseconds)
  }

  /// An event is delivered; returns how long after its creation.
  @inline(__always)
  mutating func recordDelivery(ofCreated created: Int64, at time: Int64, _ row: DeliveryRow) -> Int64 {
    let wait = time &- created
    let bucket = deliveries.record(wait)
    intervalDeliveries.record(histogramBucket: bucket, row: row.number)
    if wait > longestOrdinary { noteLong(wait, bucket, created) }
    return wait
  }

  @inline(never)
  private mutating func noteLong(_ wait: Int64, _ bucket: Int, _ created: Int64) {
    if wait > longestDelivery { longestDelivery = wait }
    longWaits.record(histogramBucket: bucket, row: creationRows.rowByDivision(at: created))
  }

  mutating func recordDelivery(after wait: Int64, lane: Int) { laneDeliveries[lane].record(wait) }

  mutating func noteRetryLimit() { reachedRetryLimit = true }

  mutating func forgetSettledOldEvents() { counters.clear(.settledOldEvents) }

  // MARK: What is read

  func add(to totals: inout MeasureTotals) { totals.add(counters) }

  func merge(into counters: borrowing IntervalCounters<DeviceSide>) { self.counters.merge(into: counters) }

  /// Times to delivery by interval: tables whose sum has them all.
  var deliveryTables: [DeliveryTable.Part] { intervalDeliveries.tables() }

  /// Appends tables of long waits by the interval of creation.
  func addLongWaits(to parts: inout [DeliveryTable.Part]) { longWaits.addParts(to: &parts) }

  func mergeDeliveries(into histogram: inout Histogram) {
    deliveries.merge(into: &histogram, sums: counters, maximum: longestDelivery)
  }
}

/// Runs that share an end.
extension Ledger {
  /// What was counted up to a moment.
  struct Until: Sendable {
    fileprivate let counts: CountsUntil<DeviceSide>
    fileprivate let deliveries: DeliveriesUntil
    /// How many parts of the long waits.
    fileprivate let longWaits: Int
    fileprivate let attempts: Int64

    var byteCount: Int { counts.byteCount + deliveries.byteCount }
  }

  /// What was counted in all.
  struct Whole: Sendable {
    fileprivate let cells: [Int64]
    fileprivate let deliveries: DeliveriesUntil
    fileprivate let longWaits: [DeliveryTable.Part]
    fileprivate let attempts: Int64

    var byteCount: Int {
      longWaits.reduce(cells.count * MemoryLayout<Int64>.stride + deliveries.byteCount) {
        $0 + $1.table.byteCount
      }
    }
  }

  /// Right behind `takeMarks`.
  /// - Parameter row: the first row that is kept.
  func until(keptFrom row: Int) -> Until {
    Until(
      counts: counters.counts(keptFrom: row),
      deliveries: intervalDeliveries.deliveries(deliveries, keptFrom: row), longWaits: longWaits.noted.count,
      attempts: attempts)
  }

  /// Right behind `takeMarks`.
  var whole: Whole {
    Whole(
      cells: counters.allCells, deliveries: intervalDeliveries.deliveries(deliveries, keptFrom: 0),
      longWaits: longWaits.noted, attempts: attempts)
  }

  /// Whether nothing has been counted since in a row that was not kept.
  func isWhole(since past: Until) -> Bool { counters.areWhole(since: past.counts) }

  /// Adds what another run counted from a moment to its end; returns its attempts.
  mutating func add(_ end: Whole, since past: Until, longestDelivery: Int64) -> Int64 {
    counters.add(end.cells, since: past.counts)
    intervalDeliveries.add(end.deliveries, since: past.deliveries)
    longWaits.add(end.longWaits[past.longWaits...])
    deliveries.add(end.deliveries, since: past.deliveries)
    self.longestDelivery = max(self.longestDelivery, longestDelivery)
    attempts += end.attempts - past.attempts
    return end.attempts - past.attempts
  }

  /// Ends a part of the long waits, and takes what does not add up: whether a limit was reached, and the longest delivery.
  mutating func takeMarks() -> (reachedRetryLimit: Bool, longestDelivery: Int64) {
    longWaits.note()
    defer { (reachedRetryLimit, longestDelivery) = (false, 0) }
    return (reachedRetryLimit, longestDelivery)
  }

  mutating func putBack(reachedRetryLimit: Bool, longestDelivery: Int64) {
    self.reachedRetryLimit = reachedRetryLimit
    self.longestDelivery = max(self.longestDelivery, longestDelivery)
  }
}
