import FleetMetrics
import Testing

/// Intervals of 10 s and a smoothing of 60 s unless a test says otherwise: the trailing mean is over six rows, and a
/// recovery must hold for six more rows.
@Suite("Recovery")
struct RecoveryTests {
  func recovery(_ run: RunRecord, _ twin: RunRecord) -> Int64? {
    RunAnalysis.summary(of: run, twin: twin, name: "x", seed: 1).recoveryTime
  }

  @Test("The trailing mean has to come back, not the backlog alone")
  func trailingMean() {
    //        0 …… 9  │ outage 10…19 │ 20 …
    // twin   100
    // run    100     │ 1000         │ 100 …
    // The mean over six rows is 100 again once rows 20…25 are in it: at the end of row 25, 260 s; the end was at 200 s.
    let twin = record(backlogs: flat(100, 60))
    let run = record(
      backlogs: flat(100, 10) + flat(1_000, 10) + flat(100, 40), incidents: [(100 * second, 200 * second)])
    #expect(recovery(run, twin) == 60 * second)
  }

  @Test("Ten per cent above the twin is recovered, more is not")
  func tolerance() {
    let twin = record(backlogs: flat(100, 60))
    let incidents = [(start: 100 * second, end: 200 * second)]
    #expect(recovery(record(backlogs: flat(110, 60), incidents: incidents), twin) == 0)
    #expect(recovery(record(backlogs: flat(111, 60), incidents: incidents), twin) == nil)
    // A mean of 110 + 1/6 in any six rows is more than 10 %.
    let slightly = (0..<60).map { $0 % 6 == 0 ? 111 as Int64 : 110 }
    #expect(recovery(record(backlogs: slightly, incidents: incidents), twin) == nil)
  }

  @Test("With an empty twin, up to one event is recovered")
  func emptyTwin() {
    let twin = record(backlogs: flat(0, 60))
    let incidents = [(start: 100 * second, end: 200 * second)]
    #expect(recovery(record(backlogs: flat(1, 60), incidents: incidents), twin) == 0)
    #expect(recovery(record(backlogs: flat(2, 60), incidents: incidents), twin) == nil)
  }

  @Test(
    "A fleet is not back while operators hold what they take back later; what they hold to the end is no matter"
  )
  func aided() {
    let twin = record(backlogs: flat(0, 100))
    var run = record(backlogs: flat(0, 100), incidents: [(100 * second, 200 * second)])
    func action(to end: Int64) -> IncidentSpan {
      IncidentSpan(label: "half shed", isOutage: false, start: 150 * second, end: end * second)
    }
    #expect(recovery(run, twin) == 0)
    run.actions = [action(to: 400)]
    #expect(recovery(run, twin) == 200 * second)
    run.actions = [action(to: 1_000)]
    #expect(recovery(run, twin) == 0)
  }

  @Test("A lull that does not last as long again is not a recovery")
  func relapse() {
    // Zero from the end on would be recovered at its row 5 (mean over rows 20…25). A relapse in row 31 leaves rows
    // 25…30 calm, which are 50 s, not 60.
    let twin = record(backlogs: flat(0, 100))
    var backlogs = flat(0, 10) + flat(1_000, 10) + flat(0, 80)
    backlogs[31] = 1_000
    let incidents = [(start: 100 * second, end: 200 * second)]
    // Row 31 leaves the mean at row 37, the end of which is at 380 s.
    #expect(recovery(record(backlogs: backlogs, incidents: incidents), twin) == 180 * second)
    backlogs[31] = 0
    backlogs[32] = 1_000
    #expect(recovery(record(backlogs: backlogs, incidents: incidents), twin) == 60 * second)
  }

  @Test("A sawtooth backlog is compared over whole teeth")
  func sawtooth() {
    // Flushes every 120 s, all devices at once: 0, 100, …, 1100, 0, … After the incident the fleet flushes 40 s later
    // than its twin does: no row is within 10 %, but the mean over a tooth is.
    let tooth = (0..<12).map { Int64($0) * 100 }
    func teeth(_ shift: Int) -> [Int64] { (0..<120).map { tooth[($0 + shift) % 12] } }
    let twin = record(backlogs: teeth(0), flush: 120 * second)
    let run = record(
      backlogs: Array(teeth(0)[..<20]) + flat(5_000, 10) + Array(teeth(8)[30...]),
      incidents: [(200 * second, 300 * second)], flush: 120 * second)
    // The last row with 5,000 is row 29; the mean over twelve rows is free of it at row 41, which ends at 420 s.
    #expect(recovery(run, twin) == 120 * second)
  }

  @Test("An incident from t = 0 has a recovery too")
  func fromTheStart() {
    let twin = record(backlogs: flat(50, 60))
    let run = record(backlogs: flat(500, 6) + flat(50, 54), incidents: [(0, 60 * second)])
    #expect(recovery(run, twin) == 60 * second)
  }

  @Test("Never recovering, recovering too late to tell, and an incident until the end give none")
  func never() {
    let twin = record(backlogs: flat(100, 60))
    let incidents = [(start: 100 * second, end: 200 * second)]
    #expect(recovery(record(backlogs: flat(100, 10) + flat(1_000, 50), incidents: incidents), twin) == nil)
    // The mean is calm from row 53 on: 53…59 are the seven rows it takes. One row less is too few.
    let late = flat(1_000, 48) + flat(100, 12)
    #expect(recovery(record(backlogs: late, incidents: incidents), twin) == 340 * second)
    let tooLate = flat(1_000, 49) + flat(100, 11)
    #expect(recovery(record(backlogs: tooLate, incidents: incidents), twin) == nil)
    #expect(recovery(record(backlogs: flat(100, 60), incidents: [(0, 600 * second)]), twin) == nil)
  }

  @Test("No incident, no recovery; one after the end of the run is none")
  func noIncident() {
    let twin = record(backlogs: flat(100, 60))
    let calm = RunAnalysis.summary(of: twin, twin: twin, name: "x", seed: 1)
    #expect(!calm.hasIncidents)
    #expect(calm.recoveryTime == nil && calm.drainedTime == nil && calm.herdFactor == nil)
    let after = record(backlogs: flat(100, 60), incidents: [(600 * second, 700 * second)])
    #expect(!RunAnalysis.summary(of: after, twin: twin, name: "x", seed: 1).hasIncidents)
  }

  @Test("Recovery counts from the end of the last incident, with the resolution of a row")
  func lastIncident() {
    let twin = record(backlogs: flat(100, 60))
    let backlogs = flat(100, 10) + flat(1_000, 2) + flat(100, 18) + flat(1_000, 1) + flat(100, 29)
    // The second ends at 305 s, inside row 30. The mean is free of row 30 at row 36, which ends at 370 s.
    let run = record(
      backlogs: backlogs, incidents: [(300 * second, 305 * second), (100 * second, 120 * second)])
    #expect(recovery(run, twin) == 65 * second)
  }

  @Test("Fewer events than the twin is recovered")
  func below() {
    let twin = record(backlogs: flat(100, 60))
    #expect(recovery(record(backlogs: flat(10, 60), incidents: [(0, 100 * second)]), twin) == 0)
  }
}

@Suite("Drained")
struct DrainedTests {
  @Test("Drained when 99 % of what was held at the end has been settled")
  func drained() {
    // 1,000 held at 100 s (the end of row 9). Settled: 500, 489, 1 and 10.
    var run = record(backlogs: flat(1_000, 20), incidents: [(50 * second, 100 * second)])
    for (row, settled) in [(10, 500), (12, 489), (15, 1), (18, 10)] {
      run.series[row, .settledOldEvents] = Int64(settled)
    }
    // 989 after row 12, 990 after row 15, which ends at 160 s.
    #expect(RunAnalysis.summary(of: run, twin: run, name: "x", seed: 1).drainedTime == 60 * second)
    run.series[15, .settledOldEvents] = 0
    run.series[18, .settledOldEvents] = 0
    #expect(RunAnalysis.summary(of: run, twin: run, name: "x", seed: 1).drainedTime == nil)
  }

  @Test("An end inside a row counts that row's events in proportion")
  func insideARow() {
    // At 104 s 80 are held from row 9 and 4/10 of row 10's 50: 100. Row 10 settles 98, row 11 one.
    var run = record(backlogs: flat(80, 20), incidents: [(50 * second, 104 * second)])
    run.series[10, .createdEvents] = 50
    run.series[10, .settledOldEvents] = 98
    run.series[11, .settledOldEvents] = 1
    #expect(RunAnalysis.summary(of: run, twin: run, name: "x", seed: 1).drainedTime == 16 * second)
  }

  @Test("Nothing held is drained at once")
  func nothingHeld() {
    let run = record(backlogs: flat(0, 20), incidents: [(50 * second, 100 * second)])
    #expect(RunAnalysis.summary(of: run, twin: run, name: "x", seed: 1).drainedTime == 0)
  }
}

/// Whether a server is well before its clients are, and how soon they could be.
@Suite("Floor of recovery, and healthy again")
struct FloorTests {
  @Test(
    "The floor of recovery is what capacity leaves of a backlog, whatever the run did; losses make it lower")
  func floor() {
    // 50 batches of one event come in each row of 10 s, and 100 could be served. An outage of ten rows leaves 500, of which each
    // row takes 50: none is left at the end of row 29. Six rows without any are over with row 34, at 350 s.
    func steady(_ incidents: [(Int64, Int64)]) -> RunRecord {
      var record = record(backlogs: flat(0, 100), incidents: incidents.map { ($0.0 * second, $0.1 * second) })
      for row in 0..<100 {
        let isDown = incidents.contains { $0.0 <= Int64(row) * 10 && Int64(row) * 10 < $0.1 }
        record.series[row, .capacityMilliRequests] = isDown ? 0 : 100_000
        record.series[row, .createdEvents] = 50
        record.series[row, .deliveredEvents] = isDown ? 0 : 50
        record.series[row, .acceptedBatches] = isDown ? 0 : 50
        if row >= 10, !incidents.isEmpty { record.series[row, .backlogEvents] = 1_000 }
      }
      return record
    }
    func floor(_ run: RunRecord) -> Int64? {
      RunAnalysis.summary(of: run, twin: steady([]), name: "x", seed: 1).recoveryFloor
    }
    var run = steady([(100, 200)])
    #expect(floor(run) == 150 * second)
    // Two events a batch: a row takes 150 of the 500, and the fourth has none.
    for row in 20..<100 { run.series[row, .deliveredEvents] = 100 }
    #expect(floor(run) == 90 * second)
    // 400 of the 500 are lost: the others need two rows.
    run = steady([(100, 200)])
    run.series[15, .droppedByAge] = 300
    run.series[19, .droppedByAge] = 100
    #expect(floor(run) == 70 * second)
    #expect(floor(steady([])) == nil)
  }

  @Test("A server is healthy once it turns nobody away for as long as the smoothing is wide")
  func healthy() {
    let twin = record(backlogs: flat(0, 60))
    var run = record(backlogs: flat(0, 60), incidents: [(100 * second, 200 * second)])
    for row in 0..<60 { run.series[row, .retries] = 1_000 }
    // More than 1 % fails in rows 20 to 24, and exactly 1 % later.
    for row in 20..<25 { run.series[row, .answers429] = 11 }
    for row in 25..<60 { run.series[row, .answers503] = 10 }
    func healthy() -> Int64? { RunAnalysis.summary(of: run, twin: twin, name: "x", seed: 1).healthyTime }
    #expect(healthy() == 60 * second)
    run.series[30, .unanswered] = 1
    #expect(healthy() == 120 * second)
    for row in 25..<60 { run.series[row, .answers5xxOther] = 1 }
    #expect(healthy() == nil)
  }
}
