import FleetMetrics
import TestSupport
import Testing

@Suite("Affected events")
struct AffectedEventsTests {
  struct Event {
    var created: Int64
    /// nil: never.
    var delivered: Int64?
  }

  func record(_ events: [Event], interval: Int64 = second, duration: Int64) -> RunRecord {
    let rows = Int((duration + interval - 1) / interval)
    var record = FleetMetricsTests.record(interval: interval, duration: duration, backlogs: flat(0, rows))
    var cells = IntervalDeliveries(rows: rows)
    var long = LongWaits(rows: rows, interval: interval)
    for event in events {
      record.series[Int(event.created / interval), .createdEvents] += 1
      if let delivered = event.delivered, delivered < duration {
        let wait = delivered - event.created
        cells.record(wait, row: Int(delivered / interval))
        long.record(histogramBucket: Histogram.bucket(of: wait), row: Int(event.created / interval))
      }
    }
    record.deliveryTable = DeliveryTable(cells)
    record.longWaits = long.table
    return record
  }

  /// Kaplan and Meier from the events themselves: the product over all times to delivery of those that were still watched then.
  func bruteForce(_ events: [Event], duration: Int64, permille: Int) -> Int64? {
    let observed = events.map { event -> (time: Int64, isDelivered: Bool) in
      if let delivered = event.delivered, delivered < duration { return (delivered - event.created, true) }
      return (duration - event.created, false)
    }.sorted { $0.time < $1.time }
    var (survival, first) = (1.0, 0)
    while first < observed.count {
      let time = observed[first].time
      let end = observed[first...].firstIndex { $0.time > time } ?? observed.count
      let delivered = observed[first..<end].count { $0.isDelivered }
      survival *= 1 - Double(delivered) / Double(observed.count - first)
      if delivered > 0, survival <= Double(1_000 - permille) / 1_000 { return time }
      first = end
    }
    return nil
  }

  @Test(
    "percentiles are those of Kaplan and Meier over the events themselves, within 4 %",
    arguments: 1...UInt64(TestDepth.cases(8, exhaustively: 20)))
  func againstBruteForce(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let duration = 2_000 * second
    let lost = Int.random(in: 0...3, using: &random)
    let events = (0..<3_000).map { _ -> Event in
      let created = Int64.random(in: 0..<duration, using: &random)
      if Int.random(in: 0..<200, using: &random) < lost { return Event(created: created, delivered: nil) }
      // Two decades of delays, so that many are still open at the end.
      let delay = Int64.random(in: 1...20, using: &random) * Int64.random(in: 1...30, using: &random) * second
      return Event(created: created, delivered: created + delay)
    }
    let affected = AffectedEvents.of([record(events, duration: duration)], in: [0..<duration])[0]
    #expect(affected.created == 3_000)
    for percent in [50, 90, 99] {
      let expected = bruteForce(events, duration: duration, permille: 10 * percent)
      let found = affected.percentile(percent)
      guard let found, let expected else {
        // Where the curve ends, a few events decide whether it gets there.
        #expect(bruteForce(events, duration: duration, permille: 10 * percent + 3) == nil)
        continue
      }
      #expect(abs(Double(found) / Double(expected) - 1) < 0.04, "p\(percent): \(found), \(expected)")
    }
  }

  @Test("waits a hundred times as long as the part are still those of the part, however long the run")
  func longWaits() throws {
    // Outside the part of 20 s nobody waits but for every other event, as long as the others do not.
    func percentiles(hours: Int64) throws -> [Int64] {
      let events = (0..<60_000).map { number -> Event in
        let created = Int64(number) * second / 20
        let wait =
          1_000..<1_020 ~= created / second ? 3_600 + Int64(number % 400) : number % 2 == 0 ? 9_000 : 0
        return Event(created: created, delivered: created + wait * second)
      }
      let run = record(events, duration: hours * 3_600 * second)
      let affected = AffectedEvents.of([run], in: [1_000 * second..<1_020 * second])[0]
      #expect(affected.created == 400)
      return try [50, 90, 99].map { try #require(affected.percentile($0)) }
    }
    for hours in [4, 5, 10] as [Int64] {
      for (found, expected) in zip(try percentiles(hours: hours), [3_800.0, 3_960, 3_996]) {
        #expect(abs(Double(found) / Double(second) / expected - 1) < 0.02)
      }
    }
  }

  @Test(
    "where exactly 99 % have been delivered, the last of them is the 99th percentile",
    arguments: [100, 200, 700])
  func exactly(count: Int) throws {
    let events = (0..<count).map { i in
      Event(created: 0, delivered: i < count / 100 ? nil : Int64(i) * second)
    }
    let affected = AffectedEvents.of(
      [record(events, duration: 10_000 * second)], in: [0..<10_000 * second])[0]
    let found = try #require(affected.percentile(99))
    #expect(abs(Double(found) / Double(Int64(count - 1) * second) - 1) < 0.04)
  }

  @Test("only events created in the part count, those delivered after it too")
  func part() {
    let early = (0..<100).map { Event(created: $0 * second, delivered: $0 * second + 2 * second) }
    let late = (100..<200).map { Event(created: $0 * second, delivered: 400 * second) }
    let affected = AffectedEvents.of(
      [record(early + late, duration: 1_000 * second)], in: [100 * second..<200 * second])[0]
    #expect(affected.created == 100)
    #expect(affected.horizon == 900 * second)
    // Created from 100 to 199 s and all delivered at 400 s: they took 201 to 300 s.
    let (p50, p99) = (affected.percentile(50) ?? 0, affected.percentile(99) ?? 0)
    #expect(abs(p50 - 250 * second) < 8 * second && abs(p99 - 299 * second) < 10 * second)
  }

  @Test("what is created between two incidents is affected by neither")
  func windows() throws {
    let events = (0..<2_000).map { i -> Event in
      let created = Int64(i) * second / 2
      let isAffected = 100..<200 ~= created / second || 600..<700 ~= created / second
      return Event(created: created, delivered: created + (isAffected ? 40 : 0) * second)
    }
    let affected = AffectedEvents.of(
      [record(events, duration: 1_100 * second)],
      in: [100 * second..<200 * second, 600 * second..<700 * second]
    )[0]
    #expect(affected.created == 400 && affected.horizon == 1_000 * second)
    #expect(abs(try #require(affected.percentile(50)) - 40 * second) < 2 * second)
  }

  @Test("a part that is an instant has the events of its interval")
  func instant() throws {
    let events = (0..<100).map { Event(created: 100 * second, delivered: 100 * second + 1_000 + $0) }
    let affected = AffectedEvents.of(
      [record(events, duration: 1_000 * second)], in: [100 * second..<100 * second])[0]
    #expect(affected.created == 100)
    #expect(abs(try #require(affected.percentile(99)) - 1_100) < 40)
  }

  @Test(
    "dropping events makes a percentile longer, where over delivered events alone it would make it shorter")
  func droppingDoesNotPay() {
    let all = (0..<1_000).map { i in
      Event(created: 0, delivered: Int64(i < 900 ? 1 : 300) * second)
    }
    let dropped = all.map {
      Event(created: $0.created, delivered: $0.delivered == 300 * second ? nil : $0.delivered)
    }
    func p99(_ events: [Event]) -> Int64? {
      AffectedEvents.of([record(events, duration: 1_000 * second)], in: [0..<1_000 * second])[0]
        .percentile(99)
    }
    #expect(p99(all) != nil)
    #expect(p99(dropped) == nil)
  }

  @Test("what is not delivered: lost, blocked, and pending beyond the twin's")
  func undelivered() {
    var ill = FleetMetricsTests.record(backlogs: [0, 50], incidents: [(0, second)])
    ill.series[0, .createdEvents] = 100
    ill.series[0, .droppedByAge] = 7
    ill.series[1, .acceptedAfterDropEvents] = 2
    ill.series[1, .blockedEvents] = 3
    let twin = FleetMetricsTests.record(backlogs: [0, 40])
    let summary = RunAnalysis.summary(of: ill, ReferenceRuns(twin: twin), name: "a", seed: 1)
    #expect(summary.lateEvents == 10)
    #expect(summary.undeliveredEvents == 7 - 2 + 3 + 10)
    #expect(
      RunAnalysis.summary(of: twin, ReferenceRuns(twin: ill), name: "a", seed: 1).undeliveredEvents == 0)
  }

  @Test(
    "affected are the events until any client could have caught up, so whoever delivers each sooner is no slower"
  )
  func untilPossible() throws {
    // One event a second; the ideal run's line is empty from 260 s on.
    func run(_ delivered: (_ created: Int64) -> Int64) -> RunRecord {
      var run = record(
        (0..<1_000).map { Event(created: $0 * second, delivered: delivered($0) * second) },
        duration: 1_000 * second)
      run.incidents =
        FleetMetricsTests.record(backlogs: [], incidents: [(100 * second, 200 * second)]).incidents
      var open: Int64 = 0
      let deliveries = Dictionary(grouping: 0..<Int64(1_000)) { delivered($0) }
      for row in 0..<1_000 {
        open += 1 - Int64(deliveries[Int64(row)]?.count ?? 0)
        run.series[row, .backlogEvents] = open
      }
      return run
    }
    let twin = run { $0 }
    var ideal = run { 100..<260 ~= $0 ? 260 : $0 }
    for row in 100..<259 { ideal.series[row, .serverQueue] = 500 }
    let sooner = run { 100..<300 ~= $0 ? max($0, 290) : $0 }
    let later = run { 100..<900 ~= $0 ? max($0 + 5, 310) : $0 }
    func summary(_ run: RunRecord) -> RunSummary {
      RunAnalysis.summary(of: run, ReferenceRuns(twin: twin, ideal: ideal), name: "a", seed: 1)
    }
    let (a, b) = (summary(sooner), summary(later))
    #expect(a.possibleTime == 60 * second && b.possibleTime == 60 * second)
    #expect(try #require(a.recoveryTime) < (b.recoveryTime ?? .max))
    // Created from 100 to 259 s; 99 % were delivered within 188 and 208 s of it.
    #expect(a.affectedEvents == 160 && b.affectedEvents == 160)
    #expect(abs(try #require(a.affectedDeliveryP99) - 188 * second) < 7 * second)
    #expect(abs(try #require(b.affectedDeliveryP99) - 208 * second) < 7 * second)
    #expect(try #require(a.affectedDeliveryP50) < (try #require(b.affectedDeliveryP50)))
    #expect(a.idealDeliveryP99.map { abs($0 - 158 * second) < 6 * second } == true)
  }

  @Test(
    "later events count as far as more of them take so long than of the twin's: a fleet that stays ill is not quick"
  )
  func later() throws {
    // Four events a second, of which one waits for a minute in any case; affected are 100 to 199 s, and take 30 s.
    func run(_ later: Int64?) -> RunRecord {
      record(
        (0..<4_000).map { number in
          let created = Int64(number / 4) * second
          if number % 4 == 3 { return Event(created: created, delivered: created + 60 * second) }
          let wait = 100..<200 ~= number / 4 ? 30 : number / 4 < 200 ? 0 : later
          return Event(created: created, delivered: wait.map { created + $0 * second })
        }, duration: 1_000 * second)
    }
    func percentiles(_ record: RunRecord, twin: RunRecord) -> [Int64?] {
      [50, 99].map {
        AffectedEvents.of([record], in: [100 * second..<200 * second], twin: twin)[0].percentile($0)
          .map { ($0 + second / 2) / second }
      }
    }
    // 400 are affected: a quarter of them wait for 60 s, and no others matter.
    #expect(percentiles(run(0), twin: run(0)).map { $0.map { $0 / 4 } } == [7, 15])
    // 2,400 more take 90 s, 12 for each of the 200 that may take longer than the median.
    for percent in percentiles(run(90), twin: run(0)) { #expect(abs(try #require(percent) - 90) < 3) }
    #expect(percentiles(run(90), twin: run(90)) == percentiles(run(0), twin: run(0)))
    // Never delivered, and so longer than was watched.
    #expect(percentiles(run(nil), twin: run(0)) == [nil, nil])
  }

  @Test("excess load moves with the capacity, where whole seconds above it jump")
  func excess() {
    var run = FleetMetricsTests.record(backlogs: flat(0, 1))
    run.nominalCapacityMilli = 10_000
    run.offeredPer100ms = Array(repeating: 1, count: 20) + Array(repeating: 2, count: 10) + [5, 5, 5]
    // 10, 10 and 20 a second against 10; a cut second does not count.
    #expect(RunAnalysis.excessLoadSeconds(run) == 1)
    run.nominalCapacityMilli = 9_999
    #expect(abs((RunAnalysis.excessLoadSeconds(run) ?? 0) - 10_003.0 / 9_999) < 1e-9)
    #expect(RunAnalysis.secondsAboveCapacity(run) == 3)
  }
}
