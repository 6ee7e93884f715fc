import FleetMetrics
import Testing

@Suite("Load")
struct LoadTests {
  func summary(_ run: RunRecord, _ twin: RunRecord? = nil) -> RunSummary {
    RunAnalysis.summary(of: run, ReferenceRuns(twin: twin ?? run), name: "x", seed: 1)
  }

  @Test("The peak is the largest sum of ten steps anywhere, over nominal capacity")
  func peak() {
    var run = record(backlogs: flat(0, 1))
    run.offeredPer100ms = [UInt32](repeating: 1, count: 100)
    // Seven steps of 31 across the border between second 3 and second 4: 7 · 31 + 3 · 1 = 220 a second of 100.
    for i in 36..<43 { run.offeredPer100ms[i] = 31 }
    #expect(summary(run).peakOfferedRatio == 2.2)
    // Aligned: second 3 holds 4 · 31 + 6 = 130, second 4 3 · 31 + 7 = 100, which is not above 100.
    #expect(summary(run).secondsAboveCapacity == 1)
  }

  @Test("The herd factor is the peak of windows that begin after an incident")
  func herd() {
    var run = record(backlogs: flat(0, 1), incidents: [(2 * second, 4 * second + 50_000)])
    run.offeredPer100ms = [UInt32](repeating: 0, count: 100)
    run.offeredPer100ms[10] = 500
    // Step 40 begins before the end (4.05 s) and so does not count; 41 and 50 are in one window.
    run.offeredPer100ms[40] = 70
    run.offeredPer100ms[41] = 80
    run.offeredPer100ms[50] = 90
    #expect(summary(run).peakOfferedRatio == 5)
    #expect(summary(run).herdFactor == 1.7)
    // From the end of any incident on: an earlier one opens the window earlier.
    run.incidents.append(IncidentSpan(label: "brownout", isOutage: false, start: 0, end: second))
    #expect(summary(run).herdFactor == 5)
  }

  @Test("Runs shorter than a second and servers without capacity have no ratio")
  func degenerate() {
    var run = record(interval: second / 2, backlogs: [0], incidents: [(0, second / 4)])
    run.offeredPer100ms = [1, 2, 3, 4, 5]
    #expect(summary(run).peakOfferedRatio == nil)
    #expect(summary(run).herdFactor == nil)
    #expect(summary(run).secondsAboveCapacity == 0)
    run.offeredPer100ms = [UInt32](repeating: .max, count: 20)
    run.nominalCapacityMilli = 0
    #expect(summary(run).peakOfferedRatio == nil)
    #expect(summary(run).idleWhileBackloggedSeconds == nil)
    #expect(summary(run).secondsAboveCapacity == 2)
    run.series = TimeSeries(interval: 1, duration: 1, rows: 0)
    #expect(summary(run).attempts == 0)
  }

  @Test("Idle capacity counts outside outages, while more waits than need be")
  func idle() throws {
    let twin = record(backlogs: flat(100, 6))
    //  row      0    1 outage  2 (touched)  3    4 brownout  5
    //  backlog  100  900       900          900  900         101
    var run = record(backlogs: [100, 900, 900, 900, 900, 101], incidents: [(10 * second, 25 * second)])
    run.incidents.append(
      IncidentSpan(label: "brownout × 0.5", isOutage: false, start: 40 * second, end: 50 * second))
    for i in run.series.rows.indices {
      run.series[i, .capacityMilliRequests] = i == 4 ? 500_000 : 1_000_000
      run.series[i, .availableMicroseconds] = 10 * second
      run.series[i, .busyMicroseconds] = 4 * second
    }
    // Row 3: 0.6 of 1,000 requests; row 4: 0.6 of 500; at 100 a second nominal that is 6 s + 3 s.
    let idle = try #require(summary(run, twin).idleWhileBackloggedSeconds)
    #expect(abs(idle - 9) < 1e-9)
    // A burst above capacity is not negative idleness.
    run.series[4, .busyMicroseconds] = 12 * second
    #expect(try #require(summary(run, twin).idleWhileBackloggedSeconds) == 6)
  }

  @Test("Totals, amplification and cost per device and day")
  func totals() {
    var run = record(interval: 3_600 * second, backlogs: [0, 0], incidents: [])
    run.devices = 4
    run.series[0, .firstAttempts] = 10
    run.series[0, .retries] = 5
    run.series[1, .firstAttempts] = 2
    run.series[1, .retries] = 13
    run.series[1, .droppedByStatus] = 3
    run.series[1, .droppedByOverflow] = 4
    run.series[1, .acceptedAfterDropEvents] = 2
    run.series[0, .settledBatches] = 12
    run.cost.total[.attempts] = 30
    run.cost.percentile99[.attempts] = 9
    run.cost.total[.devicesThatLostEvents] = 1
    let summary = summary(run)
    #expect(summary.attempts == 30 && summary[.firstAttempts] == 12 && summary[.retries] == 18)
    #expect(summary.amplification == 2.5)
    #expect(summary.lostEvents == 5)
    // Two hours are a twelfth of a day.
    #expect(summary.cost.mean[.attempts] == 90 && summary.cost.percentile99[.attempts] == 108)
    #expect(summary.cost.mean[.devicesThatLostEvents] == 0.25)
    run.series[0, .settledBatches] = 0
    #expect(self.summary(run).amplification == nil)
  }
}
