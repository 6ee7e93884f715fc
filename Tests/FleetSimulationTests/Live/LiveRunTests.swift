import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import Synchronization
import TAPIModel
import TestScenarios
import Testing
import UploadRetry

/// A live run with a clock that jumps and a server in the same process.
@Suite("Live runs")
struct LiveRunTests {
  private static func scenario(
    minutes: Int64 = 10, timeout: Span = .seconds(10), incidents: [Incident] = [],
    adjust: (inout Cohort) -> Void = { _ in }
  ) -> Scenario {
    var cohort = Cohort(
      name: "phones", devices: 60, events: .poisson(meanGap: .seconds(20)),
      flush: FlushPolicy(count: 20, interval: .seconds(30)), retries: .timer, timeout: timeout,
      latency: .logNormal(median: .milliseconds(80), p99: .milliseconds(600), minimum: .milliseconds(10)))
    adjust(&cohort)
    return Scenario(
      seed: 3, duration: .minutes(minutes), interval: .seconds(10),
      tapi: TAPIConfiguration(
        server: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_500, burst: 3)),
        overload: .init(status: 429, retryAfter: .fixed(.seconds(10))), incidents: incidents),
      fleet: [cohort])
  }

  private static let outage = Incident.outage(at: .minutes(2), for: .minutes(1))

  private func live(
    _ scenario: Scenario, control: RunControl = .init(), tell: (LiveRun.Moment) -> Void = { _ in },
    answer: @escaping @Sendable (LiveUpload, Instant) -> LiveEnd?
  ) throws -> (LiveRun.Result, JumpingTransport) {
    let clock = JumpingClock()
    let transport = JumpingTransport(clock: clock, answer: answer)
    let run = LiveRun(scenario, transport: transport, unixSeconds: { 0 })
    return (try run.run(control: control, tell: tell) { clock }, transport)
  }

  private static let slowNetwork = Distribution.logNormal(
    median: .milliseconds(900), p99: .seconds(9), minimum: .milliseconds(100))

  @Test(
    "against the modelled server it is the simulated run, column by column, also where uploads and answers come late or not at all",
    arguments: [
      Self.scenario(incidents: [Self.outage]), Self.scenario(incidents: [Self.outage]) { $0.retries = .gate },
      Self.scenario(timeout: .seconds(2), incidents: [Self.outage]) { $0.latency = Self.slowNetwork },
      Self.scenario(timeout: .seconds(2)) {
        $0.latency = Self.slowNetwork
        $0.link.requestLossPartsPerMillion = 100_000
        $0.link.answerLossPartsPerMillion = 100_000
      },
    ])
  func sameAsSimulation(scenario: Scenario) throws {
    let server = Mutex(TAPIServer(scenario.tapi, key: RandomKey(seed: scenario.seed)))
    let (result, _) = try live(scenario) { upload, now in
      server.withLock { server in
        _ = server.nextCompletion(through: now)
        let request = UploadRequest(
          arrival: now, device: upload.device, id: AttemptID(place: 0, record: 0, number: 1, generation: 0),
          firstOrdinal: upload.firstEvent, uplink: 0, downlink: 0, events: UInt16(upload.events), shard: 0)
        guard case .answered(let answer) = server.arrive(request, retryCount: 0) else { return nil }
        let wait = answer.retryAfter.map { String($0 / 1_000_000) }
        return .answer(status: Int(answer.status), retryAfter: wait, rateLimitReset: nil)
      }
    }
    let simulated = try Simulation.run(scenario)
    #expect(simulated.series.totals[.answers429] > 100)
    #expect(
      String(decoding: TimeSeriesCSV.bytes(of: result.record.series), as: UTF8.self)
        == String(decoding: TimeSeriesCSV.bytes(of: simulated.series), as: UTF8.self))
    #expect(result.record.deliveries == simulated.deliveries && result.record.cost == simulated.cost)
    #expect(result.reached == scenario.duration && result.sent == result.answered)
  }

  @Test("a server that never answers: clients time out, hang up and lose nothing")
  func silence() throws {
    let (result, transport) = try live(Self.scenario()) { _, _ in nil }
    let totals = result.record.series.totals
    #expect(result.sent > 100 && result.answered == 0 && result.refused == 0)
    #expect(totals[.timeouts] > 100 && totals[.deliveredEvents] == 0)
    // Those whose client waits yet are cut at the end.
    #expect(transport.cancelled.count == Int(result.sent))
    #expect(totals[.unanswered] == totals[.timeouts])
    #expect(result.record.cohorts[0].openEvents == totals[.createdEvents])
  }

  @Test("a refused connection is a failure at once, and the server has not got the upload")
  func refused() throws {
    let scenario = Self.scenario()
    let (result, _) = try live(scenario) { _, now in
      now < .start + .minutes(2)
        ? .noAnswer(mayHaveArrived: false) : .answer(status: 200, retryAfter: nil, rateLimitReset: nil)
    }
    let totals = result.record.series.totals
    #expect(totals[.timeouts] > 30 && totals[.unknownOutcomes] == 0)
    #expect(totals[.answers2xx] > 100 && totals[.duplicateEvents] == 0)
    #expect(result.refused == totals[.unanswered] && result.unheard == 0)
  }

  @Test("statuses that HTTP does not have are no answers", arguments: [-1, 0, 99, 600, 1_024, .max])
  func oddStatus(status: Int) throws {
    let (result, _) = try live(Self.scenario(minutes: 4)) { _, _ in
      .answer(status: status, retryAfter: "soon", rateLimitReset: nil)
    }
    #expect(result.answered == 0 && result.record.series.totals[.timeouts] > 100)
  }

  @Test("every 2xx is a delivery, and Retry-After is read as the client reads it")
  func statuses() throws {
    let (accepted, _) = try live(Self.scenario()) { _, _ in
      .answer(status: 204, retryAfter: nil, rateLimitReset: nil)
    }
    #expect(accepted.record.series.totals[.deliveredEvents] > 1_000)
    func attempts(_ retryAfter: String) throws -> Int64 {
      try live(Self.scenario()) { _, _ in
        .answer(status: 429, retryAfter: retryAfter, rateLimitReset: nil)
      }.0.sent
    }
    // A date 100 s after 1970 began, when the wall clock says that it just has.
    #expect(try attempts("Thu, 01 Jan 1970 00:01:40 GMT") == attempts("100"))
    #expect(try attempts("100") < attempts("10"))
  }

  @Test(
    "apps that are killed with uploads under way keep their events, and what the server has accepted is counted once"
  )
  func killed() throws {
    let scenario = Self.scenario {
      $0.lifecycle = Lifecycle(meanTimeBetweenRestarts: .minutes(1), keepsState: true, flushesAtLaunch: true)
    }
    let count = Mutex(0)
    let (result, _) = try live(scenario) { _, _ in
      // Every third is never answered.
      let number = count.withLock { count in
        count += 1
        return count
      }
      return number % 3 == 0 ? nil : .answer(status: 200, retryAfter: nil, rateLimitReset: nil)
    }
    let totals = result.record.series.totals
    #expect(result.sent > 300 && totals[.unanswered] > 80)
    // The run has checked that created = delivered + dropped + held.
    #expect(
      totals[.deliveredEvents] > totals[.createdEvents] * 9 / 10 && result.record.cohorts[0].lostEvents == 0)
  }

  @Test("what the scenario says of the server's headers does not keep clients from reading them")
  func headers() throws {
    var scenario = Self.scenario()
    func attempts() throws -> Int64 {
      try live(scenario) { _, _ in .answer(status: 429, retryAfter: "100", rateLimitReset: nil) }.0.sent
    }
    let usual = try attempts()
    scenario.tapi.retryAfterHeader = .rateLimitReset
    #expect(try attempts() == usual)
  }

  @Test("it is told when incidents begin and end")
  func moments() throws {
    let heard = Mutex<[String]>([])
    let tell = { (moment: LiveRun.Moment) in
      heard.withLock { $0.append("\(moment.begins ? "begin" : "end") \(moment.incident)") }
    }
    let accepted = { @Sendable (_: LiveUpload, _: Instant) -> LiveEnd? in
      .answer(status: 200, retryAfter: nil, rateLimitReset: nil)
    }
    _ = try live(Self.scenario(incidents: [Self.outage]), tell: tell, answer: accepted)
    #expect(heard.withLock { $0 } == ["begin 0", "end 0"])
  }

  @Test("a run that is stopped has what happened by then")
  func stopped() throws {
    let control = RunControl()
    let (result, _) = try live(Self.scenario(incidents: [Self.outage]), control: control) { _, now in
      if now > .start + .minutes(1) { control.cancel() }
      return .answer(status: 200, retryAfter: nil, rateLimitReset: nil)
    }
    #expect(result.reached > .minutes(1) && result.reached < .minutes(2))
    #expect(result.record.series.rows.count == 7 && result.record.incidents.isEmpty)
    #expect(result.record.series.totals[.deliveredEvents] > 100)
  }
}

/// Jumps to whatever is waited for.
private final class JumpingClock: LiveClock {
  private let time = Mutex<Int64>(0)
  var now: Int64 { time.withLock { $0 } }

  func wait(until time: Int64, for inbox: LiveInbox) {
    if inbox.isEmpty { self.time.withLock { $0 = time } }
  }
}

/// Answers at once, or never.
private final class JumpingTransport: LiveTransport {
  private let clock: JumpingClock
  private let answer: @Sendable (LiveUpload, Instant) -> LiveEnd?
  private let waiting = Mutex<[Int: @Sendable (LiveEnd) -> Void]>([:])
  private let gone = Mutex<[Int]>([])

  var cancelled: [Int] { gone.withLock { $0 } }

  init(clock: JumpingClock, answer: @escaping @Sendable (LiveUpload, Instant) -> LiveEnd?) {
    self.clock = clock
    self.answer = answer
  }

  func send(_ upload: LiveUpload, ended: @escaping @Sendable (LiveEnd) -> Void) {
    if let end = answer(upload, Instant(microseconds: clock.now)) {
      ended(end)
    } else {
      waiting.withLock { $0[upload.number] = ended }
    }
  }

  func cancel(_ number: Int) {
    gone.withLock { $0.append(number) }
    waiting.withLock { $0.removeValue(forKey: number) }?(.noAnswer(mayHaveArrived: true))
  }
}
