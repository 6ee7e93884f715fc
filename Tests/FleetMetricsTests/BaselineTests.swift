import FleetMetrics
import TestSupport
import Testing

@Suite("Healthy twin")
struct BaselineTests {
  /// Two hours in rows of 10 s, a thousand events created and delivered in each.
  func twin(rows: Int = 720, flush: Int64 = 30 * second, _ backlog: (Int) -> Int64) -> RunRecord {
    var twin = record(backlogs: (0..<rows).map(backlog), flush: flush)
    for i in twin.series.rows.indices {
      twin.series[i, .createdEvents] = 1_000
      twin.series[i, .deliveredEvents] = 1_000
      twin.series[i, .timeToDeliveryP99] = 30 * second
    }
    return twin
  }

  func isHealthy(_ twin: RunRecord) -> Bool { RunAnalysis.health(of: twin).isHealthy }

  @Test("A steady backlog is healthy, whatever its level and its warm-up")
  func steady() {
    #expect(isHealthy(twin { _ in 1_500 }))
    #expect(isHealthy(twin { _ in 0 }))
    #expect(isHealthy(twin { min(Int64($0) * 1_000, 100_000) }))
    #expect(isHealthy(twin { max(100_000 - Int64($0) * 500, 1_500) }))
  }

  @Test("A backlog that grows with a tenth too little capacity is ill")
  func growing() {
    #expect(!isHealthy(twin { Int64($0) * 100 }))
    #expect(!isHealthy(twin { 1_500 + Int64($0) * 100 }))
  }

  /// In two hours a backlog that grows by n events in each row, of a thousand, waits n / 1000 of an hour longer in the last quarter
  /// than in the second.
  @Test("A backlog that grows by more than 1 % of the events is ill where the server has no time to spare")
  func saturated() {
    func twin(growth: Int64, busy: Int64, first: Int = 180) -> RunRecord {
      var twin = self.twin(flush: 600 * second) { 1_500 + Int64($0) * growth }
      for i in twin.series.rows.indices {
        twin.series[i, .availableMicroseconds] = 1_000
        twin.series[i, .busyMicroseconds] = i < first ? 0 : busy
      }
      return twin
    }
    #expect(!isHealthy(twin(growth: 11, busy: 995)))
    #expect(isHealthy(twin(growth: 10, busy: 995)))
    #expect(isHealthy(twin(growth: 11, busy: 994)))
    #expect(isHealthy(twin(growth: 11, busy: 995, first: 181)))
  }

  @Test("A collapse in the middle of the run that is not mended is ill")
  func collapse() {
    #expect(!isHealthy(twin { $0 < 400 ? 1_500 : 60_000 }))
    #expect(!isHealthy(twin { $0 < 560 ? 1_500 : 60_000 }))
  }

  @Test("Poisson noise and a flush sawtooth are healthy", arguments: 1...50 as ClosedRange<UInt64>)
  func noise(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    // A small fleet, each row anywhere between empty and twice its mean.
    #expect(
      isHealthy(twin { _ in Int64.random(in: 0...3_000, using: &generator) }), "seed \(seed)")
    // All devices flush together, once in 2 … 25 minutes.
    let period = Int64.random(in: 12...90, using: &generator)
    let phase = Int64.random(in: 0..<period, using: &generator)
    let sawtooth = twin(flush: period * 10 * second) { (Int64($0) + phase) % period * 1_000 }
    #expect(isHealthy(sawtooth), "seed \(seed): period \(period)0 s")
  }

  @Test("A backlog that follows the load over the day is healthy")
  func diurnal() {
    var twin = twin { 500 + Int64($0) * 10 }
    for i in twin.series.rows.indices { twin.series[i, .createdEvents] = 200 + Int64(i) * 4 }
    #expect(isHealthy(twin))
  }

  @Test("Time to delivery that grows is ill, and noise in it is not")
  func timeToDelivery() {
    var slow = twin { _ in 1_500 }
    for i in slow.series.rows.indices { slow.series[i, .timeToDeliveryP99] = Int64(i) * second }
    #expect(!isHealthy(slow))
    var noisy = twin { _ in 1_500 }
    for i in noisy.series.rows.indices {
      noisy.series[i, .timeToDeliveryP99] = Int64(20 + i % 7 * 10) * second
      if i % 3 == 0 { noisy.series[i, .deliveredEvents] = 0 }
    }
    #expect(isHealthy(noisy))
  }

  @Test(
    "What waits for people grows from nothing, and is no illness unless the server refuses or has no time to spare",
    arguments: [PendingPlace.closedApp, .offline])
  func people(place: PendingPlace) {
    var fleet = twin { 1_500 + Int64($0) * 100 }
    fleet.cohorts = [CohortRecord(name: "phones", devices: 1)]
    fleet.cohorts[0].pending[place] = 1
    for i in fleet.series.rows.indices {
      fleet.series[i, .timeToDeliveryP99] = Int64(i) * second
      fleet.series[i, .availableMicroseconds] = 1_000
      fleet.series[i, .busyMicroseconds] = 994
    }
    var saturated = fleet
    for i in fleet.series.rows.indices { saturated.series[i, .busyMicroseconds] = 995 }
    #expect(isHealthy(fleet) && !isHealthy(saturated))
    // 720 requests, or 540 after the first quarter: where six of these are refused, they wait for a server.
    for i in fleet.series.rows.indices { fleet.series[i, .firstAttempts] = 1 }
    for i in 180..<185 { fleet.series[i, .answers503] = 1 }
    #expect(isHealthy(fleet))
    fleet.series[190, .answers503] = 1
    #expect(!isHealthy(fleet))
  }

  /// 720,000 events are created: 7,200 are 1 %.
  @Test(
    "A fleet that loses or blocks more than 1 % of its events is ill for whatever reason, although nothing grows",
    arguments: Measure.drops + Measure.blocks)
  func losing(cause: Measure) {
    var losing = twin { _ in 10_000 }
    func lose(_ events: Int64, row: Int) {
      losing.series[row, cause] += events
      if Measure.blocks.contains(cause) { losing.series[row, .blockedEvents] += events }
    }
    for row in losing.series.rows.indices { lose(10, row: row) }
    #expect(isHealthy(losing))
    lose(1, row: 3)
    let health = RunAnalysis.health(of: losing)
    #expect(!health.isHealthy && health.losesEvents && health.grows == false)
    #expect(health.mainCause == cause)
    #expect(health.lostEvents == 7_201 && health.createdEvents == 720_000)
    #expect(health.lostShare == 7_201.0 / 720_000)
  }

  @Test("Causes add up, the largest is named, and what was accepted after all is not lost")
  func causes() {
    var losing = twin { _ in 10_000 }
    losing.series[300, .droppedByStatus] = 3_000
    losing.series[400, .droppedByAge] = 4_000
    losing.series[20, .blockedByRetryLimit] = 3_500
    losing.series[20, .blockedEvents] = 3_500
    #expect(RunAnalysis.health(of: losing).lostEvents == 10_500)
    #expect(RunAnalysis.health(of: losing).mainCause == .droppedByAge)
    losing.series[500, .acceptedAfterDropEvents] = 3_300
    #expect(isHealthy(losing))
    losing.series[500, .acceptedAfterDropEvents] = 3_299
    #expect(!isHealthy(losing))
  }

  @Test("A run too short to tell whether it grows is healthy, unless it loses events")
  func short() {
    #expect(isHealthy(twin(rows: 3) { Int64($0) * 1_000 }))
    #expect(isHealthy(twin(rows: 20) { Int64($0) * 1_000 }))
    #expect(isHealthy(twin(rows: 0) { _ in 0 }))
    // Eight flushes of 30 s are 24 rows of 10 s.
    let grows = [20, 23, 24].map { RunAnalysis.health(of: twin(rows: $0) { Int64($0) * 1_000 }).grows }
    #expect(grows == [nil, nil, true])
    for rows in [1, 3, 20] {
      var losing = twin(rows: rows) { _ in 0 }
      losing.series[0, .droppedByStatus] = 11 * Int64(rows)
      #expect(!isHealthy(losing), "\(rows) rows")
    }
  }
}
