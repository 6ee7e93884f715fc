import FleetMetrics
import Testing

/// Intervals of 10 s, and a look ahead of 60 s, six rows, unless a test says otherwise.
@Suite("Recovery")
struct RecoveryTests {
  func recovery(_ run: RunRecord, _ twin: RunRecord, ideal: RunRecord? = nil) -> Int64? {
    RunAnalysis.summary(of: run, ReferenceRuns(twin: twin, ideal: ideal), name: "x", seed: 1).recoveryTime
  }
  private let incidents = [(start: 100 * second, end: 200 * second)]

  @Test("The fleet has caught up at the end of the first row that holds nothing back")
  func firstRow() {
    //        0 …… 9  │ outage 10…19 │ 20 …
    // twin   100
    // run    100     │ 1000         │ 100 …
    let twin = record(backlogs: flat(100, 60))
    let run = record(backlogs: flat(100, 10) + flat(1_000, 10) + flat(100, 40), incidents: incidents)
    #expect(recovery(run, twin) == 10 * second)
  }

  @Test("One per cent of what could be delivered may wait, more may not; one event may in any case")
  func tolerance() {
    func run(_ backlog: Int64, created: Int64) -> RunRecord {
      var run = record(backlogs: flat(backlog, 60), incidents: incidents)
      run.series[10, .createdEvents] = created
      return run
    }
    let twin = record(backlogs: flat(0, 60))
    #expect(recovery(run(100, created: 10_000), twin) == 0)
    #expect(recovery(run(101, created: 10_000), twin) == nil)
    #expect(recovery(run(1, created: 0), twin) == 0)
    #expect(recovery(run(2, created: 0), twin) == nil)
    // 500 events wait that nobody can deliver.
    let ideal = record(backlogs: flat(500, 60), incidents: incidents)
    #expect(recovery(run(600, created: 10_000), twin, ideal: ideal) == 0)
    #expect(recovery(run(601, created: 10_000), twin, ideal: ideal) == nil)
    // What is created behind the incident counts as far as it was delivered, up to a tenth of what waits in any case.
    func later(_ backlog: Int64, created: Int64) -> RunRecord {
      var run = run(backlog, created: 1_000)
      run.series[30, .createdEvents] = created
      return run
    }
    // 1 % of 3,500, up to row 29 of 500; a tenth of 500.
    #expect(recovery(later(535, created: 3_000), twin, ideal: ideal) == 110 * second)
    #expect(recovery(later(536, created: 3_000), twin, ideal: ideal) == nil)
    #expect(recovery(later(550, created: 90_000), twin, ideal: ideal) == 110 * second)
    #expect(recovery(later(551, created: 90_000), twin, ideal: ideal) == nil)
  }

  @Test(
    "No fleet has caught up before the ideal run's server has served all who wait, unless it holds no more than its twin"
  )
  func possible() {
    let twin = record(backlogs: flat(0, 60))
    // The run holds 20 events more than its twin, as the ideal run does: 1 % of those created is 10.
    var run = record(backlogs: flat(20, 60), incidents: incidents)
    run.series[10, .createdEvents] = 1_000
    var ideal = run
    // Two events a request: five requests are 1 % of the events.
    ideal.series[5, .acceptedBatches] = 50
    ideal.series[5, .deliveredEvents] = 100
    for row in 10..<25 { ideal.series[row, .serverQueue] = 6 }
    for row in 25..<60 { ideal.series[row, .serverQueue] = 5 }
    let summary = RunAnalysis.summary(
      of: run, ReferenceRuns(twin: twin, ideal: ideal), name: "x", seed: 1)
    // Row 25 ends at 260 s.
    #expect(summary.possibleTime == 60 * second)
    #expect(summary.recoveryTime == 60 * second)
    for row in 25..<60 { ideal.series[row, .serverQueue] = 6 }
    #expect(recovery(run, twin, ideal: ideal) == nil)
    // Where the ideal run never has, the twin alone is the reference.
    for row in 22..<60 { run.series[row, .backlogEvents] = 10 }
    #expect(recovery(run, twin, ideal: ideal) == 30 * second)
    for row in 25..<60 { ideal.series[row, .serverQueue] = 5 }
    #expect(recovery(run, twin, ideal: ideal) == 60 * second)
    // Who gave up what others still deliver holds nothing.
    run.series[22, .droppedByRetryLimit] = 11
    #expect(recovery(run, twin, ideal: ideal) == 30 * second)
  }

  @Test(
    "A line that keeps the server busy has more batches behind it, unless it is 1 % of the devices at most")
  func busyLine() {
    var run = record(backlogs: flat(0, 60), incidents: incidents)
    run.series[10, .createdEvents] = 100_000
    var ideal = run
    for row in 20..<60 {
      ideal.series[row, .serverQueue] = 5
      ideal.series[row, .availableMicroseconds] = 10_000_000
      ideal.series[row, .busyMicroseconds] = row < 40 ? 9_960_000 : 9_940_000
    }
    func possible(devices: Int64) -> Int64? {
      ideal.devices = devices
      return RunAnalysis.summary(
        of: run, ReferenceRuns(twin: record(backlogs: flat(0, 60)), ideal: ideal), name: "x", seed: 1
      ).possibleTime
    }
    // Row 40 ends at 410 s.
    #expect(possible(devices: 499) == 210 * second)
    #expect(possible(devices: 500) == 0)
  }

  @Test(
    "Events are late that the ideal run and the twin have delivered at the end, but for those that are doomed"
  )
  func late() {
    var run = record(backlogs: flat(1_000, 60), incidents: incidents)
    var references = ReferenceRuns(
      twin: record(backlogs: flat(100, 60)), ideal: record(backlogs: flat(700, 60), incidents: incidents))
    func summary() -> RunSummary { RunAnalysis.summary(of: run, references, name: "x", seed: 1) }
    #expect(summary().lateEvents == 300)
    #expect(summary().lostOrBlockedEvents == 0)
    run.doomedEvents = 120
    #expect(summary().lateEvents == 180)
    #expect(summary().lostOrBlockedEvents == 120)
    #expect(summary().baseline.lostEvents == 0)
    references.twin.doomedEvents = 90
    #expect(summary().baseline.lostEvents == 90)
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

  @Test("What closed apps hold puts nothing off, and is late")
  func closedApps() {
    var run = record(backlogs: flat(0, 10) + flat(1_000, 10) + flat(400, 40), incidents: incidents)
    for row in 15..<60 { run.series[row, .closedAppEvents] = 390 }
    for row in 30..<60 { run.series[row, .closedAppEvents] = 400 }
    let references = ReferenceRuns(
      twin: record(backlogs: flat(0, 60)), ideal: record(backlogs: flat(0, 60), incidents: incidents))
    let summary = RunAnalysis.summary(of: run, references, name: "x", seed: 1)
    // Ten events wait in open apps up to row 29, the first without ends at 310 s.
    #expect(summary.recoveryTime == 110 * second)
    #expect(summary.lateEvents == 400)
  }

  @Test(
    "Deliverable is what neither open nor closed apps need hold; a tenth is of what waits outside closed apps"
  )
  func deliverable() {
    func run(_ excess: Int64) -> RunRecord {
      var run = record(backlogs: flat(91_000 + excess, 60), incidents: incidents)
      for row in 0..<60 { run.series[row, .closedAppEvents] = 90_000 }
      run.series[30, .createdEvents] = 100_000
      return run
    }
    let twin = record(backlogs: flat(0, 60))
    // 1 % of 100,000 - 91,000; a tenth of 1,000 were more.
    #expect(recovery(run(90), twin, ideal: run(0)) == 110 * second)
    #expect(recovery(run(91), twin, ideal: run(0)) == nil)
  }

  @Test("A relapse counts if it is too much in the mean over a look ahead")
  func relapse() {
    let twin = record(backlogs: flat(0, 100))
    var backlogs = flat(0, 10) + flat(1_000, 10) + flat(0, 80)
    backlogs[31] = 1_000
    var run = record(backlogs: backlogs, incidents: incidents)
    // Row 31 ends at 320 s.
    #expect(recovery(run, twin) == 130 * second)
    // A mean of 1,000 / 6 in six rows: 167 may wait of 16,700.
    run.series[10, .createdEvents] = 16_700
    #expect(recovery(run, twin) == 10 * second)
    run.series[10, .createdEvents] = 16_600
    #expect(recovery(run, twin) == 130 * second)
  }

  @Test("A sawtooth backlog is compared over whole teeth")
  func sawtooth() {
    // Flushes every 120 s, all devices at once: 0, 100, …, 1100, 0, … After the incident the fleet flushes 40 s later
    // than its twin does: hardly a row is the same, but the mean over a tooth is.
    let tooth = (0..<12).map { Int64($0) * 100 }
    func teeth(_ shift: Int) -> [Int64] { (0..<120).map { tooth[($0 + shift) % 12] } }
    let twin = record(backlogs: teeth(0), flush: 120 * second)
    let run = record(
      backlogs: Array(teeth(0)[..<20]) + flat(5_000, 10) + Array(teeth(8)[30...]),
      incidents: [(200 * second, 300 * second)], flush: 120 * second)
    // The last row with 5,000 is row 29, at the end of the incident.
    #expect(recovery(run, twin) == 10 * second)
  }

  @Test("An incident from t = 0 has a recovery too")
  func fromTheStart() {
    let twin = record(backlogs: flat(50, 60))
    let run = record(backlogs: flat(500, 6) + flat(50, 54), incidents: [(0, 60 * second)])
    #expect(recovery(run, twin) == 10 * second)
  }

  @Test("Never recovering, recovering too late to tell, and an incident until the end give none")
  func never() {
    let twin = record(backlogs: flat(100, 60))
    #expect(recovery(record(backlogs: flat(100, 10) + flat(1_000, 50), incidents: incidents), twin) == nil)
    // Rows 54 to 59 are the six of a look ahead. One row less is too few.
    let late = flat(1_000, 54) + flat(100, 6)
    #expect(recovery(record(backlogs: late, incidents: incidents), twin) == 350 * second)
    let tooLate = flat(1_000, 55) + flat(100, 5)
    #expect(recovery(record(backlogs: tooLate, incidents: incidents), twin) == nil)
    #expect(recovery(record(backlogs: flat(100, 60), incidents: [(0, 600 * second)]), twin) == nil)
  }

  @Test(
    "A run that ends within a look ahead of its incident has not seen whether the fleet recovers"
  )
  func unseen() {
    let twin = record(backlogs: flat(0, 60))
    func summary(_ end: Int64) -> RunSummary {
      let run = record(backlogs: flat(0, 10) + flat(1_000, 50), incidents: [(100 * second, end * second)])
      return RunAnalysis.summary(of: run, ReferenceRuns(twin: twin), name: "x", seed: 1)
    }
    // Row 54 ends at 550 s and is the first of the last look ahead.
    #expect(summary(550).recoveryHorizon == 50 * second && summary(550).neverRecovers)
    #expect(summary(551).recoveryHorizon == nil && !summary(551).neverRecovers)
  }

  @Test("Nor has a run that ends within a look ahead of when any client could have caught up")
  func unseenPossible() {
    func summary(possible row: Int) -> RunSummary {
      let run = record(backlogs: flat(0, 10) + flat(1_000, 50), incidents: [(100 * second, 110 * second)])
      var ideal = run
      for i in ideal.series.rows.indices {
        ideal.series[i, .backlogEvents] = (10..<row).contains(i) ? 1_000 : 0
        ideal.series[i, .serverQueue] = (10..<row).contains(i) ? 1_000 : 0
      }
      let references = ReferenceRuns(twin: record(backlogs: flat(0, 60)), ideal: ideal)
      return RunAnalysis.summary(of: run, references, name: "x", seed: 1)
    }
    #expect(summary(possible: 54).possibleTime == 440 * second && summary(possible: 54).neverRecovers)
    #expect(summary(possible: 55).recoveryHorizon == nil && !summary(possible: 55).neverRecovers)
  }

  @Test("Nor has a run in which an ideal client still catches up when it ends")
  func unseenIdeal() {
    func summary(_ waiting: (Int) -> Int64) -> RunSummary {
      let incidents = [(start: 100 * second, end: 200 * second)]
      let run = record(backlogs: flat(9_000, 60), incidents: incidents)
      var ideal = record(backlogs: (0..<60).map(waiting), incidents: incidents)
      for row in 0..<60 { ideal.series[row, .serverQueue] = waiting(row) }
      return RunAnalysis.summary(
        of: run, ReferenceRuns(twin: record(backlogs: flat(500, 60)), ideal: ideal), name: "x", seed: 1)
    }
    // 4,500 beyond the twin's when the incident ends, in row 19: 4,050 are a tenth fewer.
    #expect(summary { $0 < 40 ? 5_000 : 4_549 }.endsTooSoon && summary { _ in 5_000 }.neverRecovers)
    #expect(summary { $0 < 40 ? 5_000 : 4_550 }.neverRecovers && summary { 5_000 + Int64($0) }.neverRecovers)
  }

  @Test("No incident, no recovery; one after the end of the run is none")
  func noIncident() {
    let twin = record(backlogs: flat(100, 60))
    let calm = RunAnalysis.summary(of: twin, ReferenceRuns(twin: twin), name: "x", seed: 1)
    #expect(!calm.hasIncidents)
    #expect(calm.recoveryTime == nil && calm.drainedTime == nil && calm.herdFactor == nil)
    let after = record(backlogs: flat(100, 60), incidents: [(600 * second, 700 * second)])
    #expect(!RunAnalysis.summary(of: after, ReferenceRuns(twin: twin), name: "x", seed: 1).hasIncidents)
  }

  @Test("Recovery counts from the end of the last incident, with the resolution of a row")
  func lastIncident() {
    let twin = record(backlogs: flat(100, 60))
    let backlogs = flat(100, 10) + flat(1_000, 2) + flat(100, 18) + flat(1_000, 1) + flat(100, 29)
    // The second ends at 305 s, inside row 30. Row 31 ends at 320 s.
    let run = record(
      backlogs: backlogs, incidents: [(300 * second, 305 * second), (100 * second, 120 * second)])
    #expect(recovery(run, twin) == 15 * second)
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
    #expect(
      RunAnalysis.summary(of: run, ReferenceRuns(twin: run), name: "x", seed: 1).drainedTime == 60 * second)
    run.series[15, .settledOldEvents] = 0
    run.series[18, .settledOldEvents] = 0
    #expect(RunAnalysis.summary(of: run, ReferenceRuns(twin: run), name: "x", seed: 1).drainedTime == nil)
  }

  @Test("An end inside a row counts that row's events in proportion")
  func insideARow() {
    // At 104 s 80 are held from row 9 and 4/10 of row 10's 50: 100. Row 10 settles 98, row 11 one.
    var run = record(backlogs: flat(80, 20), incidents: [(50 * second, 104 * second)])
    run.series[10, .createdEvents] = 50
    run.series[10, .settledOldEvents] = 98
    run.series[11, .settledOldEvents] = 1
    #expect(
      RunAnalysis.summary(of: run, ReferenceRuns(twin: run), name: "x", seed: 1).drainedTime == 16 * second)
  }

  @Test("Nothing held is drained at once")
  func nothingHeld() {
    let run = record(backlogs: flat(0, 20), incidents: [(50 * second, 100 * second)])
    #expect(RunAnalysis.summary(of: run, ReferenceRuns(twin: run), name: "x", seed: 1).drainedTime == 0)
  }
}

@Suite("Endpoint well")
struct EndpointTests {
  private let twin = record(backlogs: flat(0, 60))
  private let ended = record(backlogs: flat(0, 60), incidents: [(100 * second, 200 * second)])

  private func healthy(_ run: RunRecord, _ other: RunRecord? = nil) -> Int64? {
    RunAnalysis.summary(of: run, ReferenceRuns(twin: other ?? twin), name: "x", seed: 1).healthyTime
  }

  @Test("A server is well from the time on from which it turns nobody away")
  func healthy() {
    var run = ended
    for row in 0..<60 { run.series[row, .retries] = 1_000 }
    // More than 1 % fails in rows 20 to 24, and exactly 1 % later.
    for row in 20..<25 { run.series[row, .answers429] = 11 }
    for row in 25..<60 { run.series[row, .answers503] = 10 }
    #expect(healthy(run) == 50 * second)
    run.series[30, .unanswered] = 1
    #expect(healthy(run) == 110 * second)
    for row in 25..<60 { run.series[row, .answers5xxOther] = 1 }
    #expect(healthy(run) == nil)
  }

  @Test("A server that turns nobody away after the incident is well at once, whatever the rows' length")
  func atOnce() {
    #expect(healthy(ended) == 0)
    var run = ended
    run.series[19, .answers503] = 900
    #expect(healthy(run) == 0)
    run.series[20, .answers503] = 900
    #expect(healthy(run) == 10 * second)
  }

  @Test("One failure a look ahead may be, and not one a row")
  func fewRequests() {
    var run = ended
    for row in 0..<60 { run.series[row, .retries] = 10 }
    for row in stride(from: 20, to: 60, by: 6) { run.series[row, .answers503] = 1 }
    #expect(healthy(run) == 0)
    // 2 of 60 requests.
    for row in stride(from: 23, to: 40, by: 6) { run.series[row, .answers503] = 1 }
    #expect(healthy(run) == 160 * second)
  }

  @Test("Waves that come each 100 s to the run's end are not over after the last of them")
  func waves() {
    func run(_ waves: [Int]) -> RunRecord {
      var run = ended
      for row in 0..<60 { run.series[row, .retries] = 1_000 }
      for row in waves { run.series[row, .answers429] = 500 }
      return run
    }
    #expect(healthy(run([20, 30, 40])) == nil)
    // 21 rows without one are more than twice ten.
    #expect(healthy(run([18, 28, 38])) == 190 * second)
    // One that comes late repeats nothing.
    #expect(healthy(run([20, 21, 50])) == 310 * second)
  }

  @Test("While those who were turned away wait to come again, a run shows no server that is well")
  func toCome() {
    var (run, other) = (ended, twin)
    run.series[20, .answers429] = 500
    run.cohorts = [CohortRecord(name: "phones", devices: 1)]
    other.cohorts = run.cohorts
    #expect(healthy(run, other) == 10 * second)
    // One event may wait.
    other.cohorts[0].pending[.rateLimit] = 400
    run.cohorts[0].pending[.rateLimit] = 401
    #expect(healthy(run, other) == 10 * second)
    run.cohorts[0].pending[.rateLimit] = 402
    #expect(healthy(run, other) == nil)
  }

  @Test("What fails later counts if it is more than 0.1 % of all that failed, and beyond the twin's")
  func strays() {
    // Beyond 1 % of each row 7,350 fail, and later - 10. A look ahead is ill where more than 60 of 6,000 fail.
    func run(failing later: Int64) -> RunRecord {
      var run = ended
      for row in 0..<60 { run.series[row, .retries] = 1_000 }
      for row in 10..<25 { run.series[row, .answers429] = 500 }
      for row in 25..<60 { run.series[row, .answers429] = 10 }
      run.series[40, .answers429] = later
      return run
    }
    #expect(healthy(run(failing: 17)) == 50 * second)
    #expect(healthy(run(failing: 18)) == 210 * second)
    // The twin has strays too, at another time.
    var twin = twin
    for row in 0..<60 { twin.series[row, .retries] = 1_000 }
    twin.series[50, .answers429] = 30
    #expect(healthy(run(failing: 37), twin) == 50 * second)
    #expect(healthy(run(failing: 38), twin) == 210 * second)
  }

  @Test("A server that turns requests away by another 4xx than 429 is well once it does so no longer")
  func other4xx() {
    var run = ended
    for row in 0..<60 { run.series[row, .firstAttempts] = 500 }
    for row in 15..<25 { run.series[row, .answers4xxOther] = 100 }
    #expect(healthy(run) == 0)
    run.refusesByOther4xx = true
    #expect(healthy(run) == 50 * second)
  }

  @Test("A server whose queue is longer by more than a second's work than without the incident is not well")
  func queue() {
    var run = ended
    // 100 requests a second.
    for row in 0..<60 { run.series[row, .firstAttempts] = 500 }
    for row in 15..<25 { run.series[row, .serverQueue] = 101 }
    for row in 25..<60 { run.series[row, .serverQueue] = 100 }
    #expect(healthy(run) == 50 * second)
    // Who comes now is served now, but for those by which the queue grows: 1 % of them until row 40.
    run.servesNewestFirst = true
    #expect(healthy(run) == 0)
    for row in 20..<60 { run.series[row, .serverQueue] = 100 + 6 * Int64(min(row, 40)) }
    #expect(healthy(run) == 210 * second)
  }

  @Test("A queue that comes and goes within a second's work, the newest first, leaves nobody behind")
  func passingQueue() {
    // 100 requests a second, 500 in a row. All that waits is served before the next row ends: 4 % of the requests wait, none fails.
    func run(waiting: Int64) -> RunRecord {
      var run = ended
      for row in 0..<60 {
        run.series[row, .firstAttempts] = 500
        run.series[row, .serverQueue] = row.isMultiple(of: 2) ? 0 : waiting
      }
      run.servesNewestFirst = true
      return run
    }
    #expect(healthy(run(waiting: 20), run(waiting: 20)) == 0)
    #expect(healthy(run(waiting: 20)) == 0)
  }
}
