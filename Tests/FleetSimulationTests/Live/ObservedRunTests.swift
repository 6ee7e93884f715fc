import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import Testing

/// A fleet of real clients, as an observer before the server counts it.
@Suite("Observed runs")
struct ObservedRunTests {
  private static func scenario(_ events: EventProcess = .poisson(meanGap: .seconds(20))) -> Scenario {
    let cohort = Cohort(
      name: "phones", devices: 40, events: events, flush: FlushPolicy(count: 20, interval: .seconds(30)),
      retries: .timer, timeout: .seconds(10), latency: .constant(.milliseconds(50)))
    var other = cohort
    (other.name, other.devices) = ("tablets", 25)
    return Scenario(
      seed: 11, duration: .minutes(10), interval: .seconds(10),
      tapi: TAPIConfiguration(
        server: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 50_000, burst: 50)),
        overload: .init(status: 429, retryAfter: .fixed(.seconds(10)))),
      fleet: [cohort, other])
  }

  @Test(
    "its clients create the events of the simulated run, at their times",
    arguments: [
      EventProcess.poisson(meanGap: .seconds(20)), .periodic(every: .seconds(7), phase: .random),
    ])
  func times(events: EventProcess) throws {
    let scenario = Self.scenario(events)
    let record = try Simulation.run(scenario)
    let times = ObservedRun(scenario).times
    #expect(times.count == 65)
    for row in record.series.rows {
      let created = times.joined().count { (row.start..<row.start + row.length).contains($0) }
      #expect(Int64(created) == row[.createdEvents])
    }
  }

  @Test("an event sent again is a retry, one accepted again a duplicate, and what is not accepted stays open")
  func counts() {
    var run = ObservedRun(Self.scenario())
    let (first, second) = (FleetEvent(device: 3, ordinal: 0), FleetEvent(device: 3, ordinal: 1))
    let (created, later) = (run.times[3][0], run.times[3][1])
    let accepted = LiveEnd.answer(status: 200, retryAfter: nil, rateLimitReset: nil)
    func send(_ events: Set<FleetEvent>, _ end: LiveEnd, at time: Int64) {
      run.ended(run.arrives(events, at: time), end, at: time)
    }
    send([first], .answer(status: 503, retryAfter: nil, rateLimitReset: nil), at: created + 1_000_000)
    send([first], .noAnswer(mayHaveArrived: true), at: created + 2_000_000)
    send([first], accepted, at: created + 3_000_000)
    send([first, second], accepted, at: later + 5_000_000)
    // Nobody's events.
    send([FleetEvent(device: 900, ordinal: 0)], accepted, at: later + 6_000_000)
    let result = run.result(reached: .minutes(10))
    let totals = result.record.series.totals
    #expect(totals[.firstAttempts] == 2 && totals[.retries] == 3)
    #expect(totals[.answers2xx] == 3 && totals[.answers503] == 1 && totals[.unanswered] == 1)
    #expect(totals[.deliveredEvents] == 2 && totals[.duplicateEvents] == 1)
    #expect(result.sent == 5 && result.answered == 4 && result.unheard == 1)
    #expect(result.record.deliveries.maximum == 5_000_000)
    let created10 = run.times.joined().count
    #expect(result.record.series.rows.last?[.backlogEvents] == Int64(created10 - 2))
  }

  @Test("an upload that waits at the end is neither refused nor unheard")
  func underWay() {
    var run = ObservedRun(Self.scenario())
    for end in [LiveEnd.noAnswer(mayHaveArrived: false), .noAnswer(mayHaveArrived: true)] {
      run.ended(run.arrives([], at: 0), end, at: 1)
    }
    _ = run.arrives([], at: 2)
    let result = run.result(reached: .minutes(10))
    #expect(result.sent == 3 && result.refused == 1 && result.unheard == 1)
  }

  @Test("an event whose upload failed is lost when its client goes on without it, and not before")
  func losses() {
    var run = ObservedRun(Self.scenario())
    func send(_ ordinal: Int, _ status: Int, at time: Int64) {
      let upload = run.arrives([FleetEvent(device: 3, ordinal: ordinal)], at: time)
      run.ended(upload, .answer(status: status, retryAfter: nil, rateLimitReset: nil), at: time)
    }
    let start = run.times[3][2]
    func lost() -> Int64 { run.result(reached: .minutes(10)).record.series.totals[.droppedByRetryLimit] }
    send(0, 503, at: start + 1)
    #expect(lost() == 0)
    send(1, 200, at: start + 2)
    #expect(lost() == 1)
    // It comes again, after all.
    send(0, 200, at: start + 3)
    #expect(lost() == 0)
  }

  @Test("a run that is stopped has what happened until then")
  func stopped() {
    let run = ObservedRun(Self.scenario())
    let result = run.result(reached: .minutes(3))
    #expect(result.record.series.rows.count == 18 || result.record.series.rows.count == 19)
    let created = run.times.joined().count { $0 < 180_000_000 }
    #expect(result.record.series.totals[.createdEvents] == Int64(created))
  }
}
