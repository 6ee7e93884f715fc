import FleetMetrics
import FleetSimulation
import PlainEngine
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing

/// Proxies in whole runs.
@Suite struct ProxyRunTests {
  /// Phones 50 ms away that send one event every `gap` each, and never try again themselves within the run.
  private func scenario(
    devices: Int, gap: Span, server: TAPIConfiguration.Server, proxies: Proxies?, incidents: [Incident],
    duration: Span = .seconds(100), timeout: Span = .seconds(30),
    _ change: (inout Scenario) -> Void = { _ in }
  ) -> Scenario {
    var cohort = Cohort(name: "phones", devices: devices, events: .poisson(meanGap: gap))
    cohort.flush = FlushPolicy(count: 1, interval: nil)
    cohort.latency = .constant(.milliseconds(50))
    cohort.uploadConcurrency = .max
    cohort.timeout = timeout
    cohort.settings.backoff.baseBackoffInterval = 60_000_000
    cohort.settings.backoff.maxRetryCount = 0
    var tapi = TAPIConfiguration(server: server, incidents: incidents)
    tapi.proxies = proxies
    var scenario = Scenario(duration: duration, interval: .seconds(10), tapi: tapi, fleet: [cohort])
    change(&scenario)
    return scenario
  }

  private var bucket: TAPIConfiguration.Server {
    .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000_000))
  }
  /// As many as come, each with a request for so long.
  private func workers(_ time: Span) -> TAPIConfiguration.Server {
    .workers(WorkersConfiguration(count: 100_000, serviceTime: .constant(time)))
  }
  private func always(_ kind: Incident.Kind) -> [Incident] {
    [Incident(kind: kind, start: .start, duration: .hours(1))]
  }
  private func failing(_ status: Int = 503, share: Int64 = 1_000_000, afterWork: Bool = true) -> Incident.Kind
  {
    .errors(status: status, share: share, afterWork: afterWork, retryAfter: .none)
  }
  /// No wait before a retry.
  private let atOnce = Proxies.Backoff(base: Span(microseconds: 1), maximum: Span(microseconds: 1))

  private func sum(_ record: RunRecord, _ count: ProxyCount) -> Int64 {
    record.proxies.reduce(0) { $0 + $1[count] }
  }

  @Test(
    "Without a budget a server that always fails gets each request 1 + r times, and the client hears of it once",
    arguments: [0, 1, 3, 7])
  func amplification(retries: Int) throws {
    let record = try windowed(
      scenario(
        devices: 50, gap: .seconds(5), server: bucket,
        proxies: Proxies(retries: retries, backoff: atOnce, budget: nil),
        incidents: always(.outage(status: 503, retryAfter: .none, keepsWork: true))))
    let requests = sum(record, .requests)
    let totals = record.series.totals
    #expect(requests > 500 && totals[.firstAttempts] + totals[.retries] == requests)
    #expect(sum(record, .retries) == Int64(retries) * requests)
    #expect(totals[.answers503] == Int64(1 + retries) * requests && totals.attempts == totals[.answers503])
    #expect(sum(record, .exhausted) == (retries > 0 ? requests : 0) && sum(record, .refused) == 0)
    #expect(record.offeredPer100ms.reduce(0) { $0 + Int64($1) } == totals.attempts)
    #expect(record.proxies.allSatisfy { $0[.activeRequests] == 0 && $0[.activeRetries] == 0 })
  }

  @Test(
    """
    By Little's law retries are a share b of what is at the server when all of them fail: with r retries a second that last as \
    long as the others, r = b · (λ + r), so that the load grows by 1 / (1 − b) at the most, and not by 1 + b
    """, arguments: [(Int64(200_000), 1.25), (500_000, 2.0)])
  func budget(share: Int64, growth: Double) throws {
    // 100 a second, each for 2 s: 200 at the server and more, so that the minimum of 3 counts little.
    let record = try windowed(
      scenario(
        devices: 500, gap: .seconds(5), server: workers(.seconds(2)),
        proxies: Proxies(retries: 10, backoff: atOnce, budget: .init(share: share)),
        incidents: always(failing()), duration: .seconds(300)))
    let rows = record.proxies.dropFirst(5)
    let requests = Double(rows.reduce(0) { $0 + $1[.requests] })
    let found = 1 + Double(rows.reduce(0) { $0 + $1[.retries] }) / requests
    #expect(abs(found / growth - 1) < 0.02, "\(found)")
    #expect(rows.reduce(0) { $0 + $1[.refused] } > 0)
  }

  @Test("With few requests at the server the minimum is what holds: no share of so few is a retry")
  func minimum() throws {
    // 2 a second for 1 s each: the minimum of 3 lets every request be tried again; one of nothing lets none.
    func record(_ minimum: Int) throws -> RunRecord {
      try windowed(
        scenario(
          devices: 10, gap: .seconds(5), server: workers(.seconds(1)),
          proxies: Proxies(backoff: atOnce, budget: .init(minimum: minimum)), incidents: always(failing())))
    }
    let (none, many) = (try record(0), try record(1_000))
    // A fifth of five is one.
    #expect(sum(none, .retries) < sum(none, .requests) / 10 && sum(none, .refused) > 0)
    #expect(sum(many, .refused) == 0 && sum(many, .exhausted) > 100)
  }

  @Test(
    "The budget counts as a brute-force simulation does that knows nothing but arrivals",
    arguments: [
      (Int64(200_000), 3, 1), (200_000, 0, 3), (0, 2, 2), (1_000_000, 0, 5), (50_000, 1, 4),
      (333_333, 5, 100),
    ])
  func bruteForce(share: Int64, minimum: Int, retries: Int) throws {
    let service: Int64 = 1_700_000
    let scenario = scenario(
      devices: 60, gap: .seconds(5), server: workers(Span(microseconds: service)),
      proxies: Proxies(retries: retries, backoff: atOnce, budget: .init(share: share, minimum: minimum)),
      incidents: always(failing()), timeout: .hours(1))
    let end = scenario.duration.microseconds
    var result = PlainEngine.run(scenario)
    let arrivals = result.sent.map(\.arrival.microseconds).filter { $0 < end }.sorted()
    /// Tries at the server in the order of their ends, which is that of their starts.
    var tries: [(end: Int64, left: Int, isRetry: Bool)] = []
    var (sent, refused, exhausted): (Int64, Int64, Int64) = (0, 0, 0)
    func work(until time: Int64) {
      while let first = tries.first, first.end <= time {
        let running = tries.count
        let others = tries.dropFirst().filter(\.isRetry).count
        tries.removeFirst()
        if first.left == 0 {
          exhausted += 1
        } else if others < max(minimum, running * Int(share) / 1_000_000) {
          sent += 1
          tries.append((first.end + service, first.left - 1, true))
        } else {
          refused += 1
        }
      }
    }
    for time in arrivals {
      work(until: time)
      tries.append((time + service, retries, false))
    }
    work(until: end - 1)
    #expect(sum(result.record, .retries) == sent && sent > 10)
    #expect(sum(result.record, .refused) == refused && sum(result.record, .exhausted) == exhausted)
    result.record.proxies.append(SideRow())
    #expect(result.record.proxies[9][.activeRequests] == Int64(tries.count))
    #expect(result.record.proxies[9][.activeRetries] == Int64(tries.filter(\.isRetry).count))
  }

  @Test("A retry has draws of its own: of requests that fail by half, a quarter fails twice")
  func draws() throws {
    let record = try windowed(
      scenario(
        devices: 400, gap: .seconds(5), server: bucket, proxies: Proxies(budget: nil),
        incidents: always(failing(share: 500_000, afterWork: false))))
    let (requests, retries) = (Double(sum(record, .requests)), Double(sum(record, .retries)))
    // 8,000 requests: four standard deviations are 2.3 % and 2 %.
    #expect(requests > 7_000 && abs(retries / requests - 0.5) < 0.023)
    #expect(abs(Double(sum(record, .exhausted)) / requests - 0.25) < 0.02)
  }

  @Test("The wait before a retry is drawn evenly up to base, which doubles up to maximum: the means by hand")
  func backoff() throws {
    // Waits of 0 … 10, 20, 40, 40 s: 55 s in the mean, of 10 s for the first.
    let record = try windowed(
      scenario(
        devices: 2_000, gap: .seconds(1_000), server: bucket,
        proxies: Proxies(
          retries: 4, backoff: .init(base: .seconds(10), maximum: .seconds(40)), budget: nil),
        incidents: always(failing(afterWork: false)), duration: .seconds(1_000), timeout: .hours(1)))
    // Little's law: requests that wait are requests per second times the mean of the waits together, (10 + 20 + 40 + 40) / 2.
    let rows = record.proxies.dropFirst(12)
    let waiting = Double(rows.reduce(0) { $0 + $1[.activeRetries] }) / Double(rows.count)
    let rate = Double(rows.reduce(0) { $0 + $1[.requests] }) / Double(rows.count * 10)
    #expect(abs(waiting / rate / 55 - 1) < 0.05, "\(waiting / rate)")
  }

  @Test(
    """
    Counted by hand: a server that takes 10 s and a proxy that gives each try up after 1 s. The client hears 504 after 3 s and two \
    ways, and the server accepts all three tries
    """)
  func tryTimeout() throws {
    let scenario = scenario(
      devices: 1, gap: .hours(1), server: workers(.seconds(10)),
      proxies: Proxies(retries: 2, tryTimeout: .seconds(1), backoff: atOnce), incidents: [],
      duration: .seconds(60)
    ) {
      $0.fleet[0].events = .periodic(every: .seconds(300), phase: .random)
      $0.interval = .seconds(1)
    }
    // The first event comes some time in 300 s: look for a seed by which it comes early.
    var early = scenario
    while try windowed(early).series.totals[.createdEvents] == 0 { early.seed += 1 }
    early.duration = .seconds(60)
    let start = try #require(try windowed(early).series.rows.firstIndex { $0[.firstAttempts] > 0 })
    early.duration = .seconds(Int64(start) + 20)
    let record = try windowed(early)
    let totals = record.series.totals
    #expect(sum(record, .requests) == 1 && sum(record, .retries) == 2 && sum(record, .timeouts) == 3)
    #expect(sum(record, .answers) == 1 && sum(record, .exhausted) == 1)
    #expect(totals[.answers2xx] == 3 && totals[.unheardAnswers] == 3)
    #expect(totals[.acceptedBatches] == 1 && totals[.duplicateBatches] == 2 && totals[.timeouts] == 0)
    #expect(totals[.deliveredEvents] == 1)
    #expect(record.proxies.firstIndex { $0[.answers] > 0 } == start + 3)
  }

  @Test("Events are conserved where clients cut their batches anew after a 504 whose try is accepted later")
  func rebatch() throws {
    let record = try windowed(
      scenario(
        devices: 100, gap: .seconds(5),
        server: .workers(WorkersConfiguration(count: 45, serviceTime: .exponential(mean: .seconds(1)))),
        proxies: Proxies(retries: 1, tryTimeout: .seconds(3), budget: nil),
        incidents: [
          Incident(
            kind: .brownout(factorPartsPerMillion: 100_000), start: Instant(microseconds: 20_000_000),
            duration: .seconds(60))
        ], duration: .seconds(400)
      ) {
        $0.fleet[0].queue.mode = .rebatch
        $0.fleet[0].queue.maximumBatchEvents = 7
        $0.fleet[0].uploadConcurrency = 1
        $0.fleet[0].settings.backoff.baseBackoffInterval = 1_000_000
        $0.fleet[0].settings.backoff.maxBackoffInterval = 10_000_000
        $0.fleet[0].settings.backoff.maxRetryCount = 1_000
      })
    let totals = record.series.totals
    #expect(sum(record, .timeouts) > 100 && totals[.duplicateEvents] > 100)
    #expect(totals.lostEvents == 0 && totals.openEvents < 100, "\(totals.openEvents)")
  }

  @Test("A proxy tells its client at once that the server has lost a request, or sends it again")
  func lostWork() throws {
    func record(_ proxies: Proxies?) throws -> RunRecord {
      try windowed(
        scenario(
          devices: 100, gap: .seconds(5), server: workers(.seconds(5)), proxies: proxies, incidents: [],
          duration: .seconds(60)
        ) { $0.tapi.actions = [ServerAction(.restart, at: Instant(microseconds: 30_000_000))] })
    }
    let (none, silent, retrying) = (
      try record(nil), try record(Proxies(retries: 0)), try record(Proxies(budget: nil))
    )
    let lost = none.series.totals[.unanswered]
    #expect(lost > 50 && none.series.totals[.timeouts] > 0)
    #expect(silent.series.totals[.unanswered] == lost && sum(silent, .answers) == lost)
    #expect(silent.series.totals[.timeouts] == 0)
    #expect(sum(retrying, .retries) == lost && sum(retrying, .answers) == 0)
    #expect(retrying.series.totals[.duplicateBatches] == 0)
  }

  @Test("A proxy sends nothing more for a client that has given up, and no longer counts it")
  func gone() throws {
    let record = try windowed(
      scenario(
        devices: 50, gap: .seconds(5), server: bucket,
        proxies: Proxies(
          retries: 100, backoff: .init(base: .seconds(1), maximum: .seconds(1)), budget: nil),
        incidents: always(failing(afterWork: false)), timeout: .seconds(3)))
    // Waits of half a second in the mean: about six in the 3 s less a way.
    let ratio = Double(sum(record, .retries)) / Double(sum(record, .requests))
    #expect(ratio > 5 && ratio < 7 && sum(record, .exhausted) == 0)
    let totals = record.series.totals
    #expect(totals[.timeouts] > 500)
    // 10 a second, each for 3 s less a way.
    #expect(
      record.proxies.allSatisfy { $0[.activeRequests] < 60 && $0[.activeRetries] <= $0[.activeRequests] })
    let silent = try windowed(
      scenario(
        devices: 50, gap: .seconds(5), server: bucket, proxies: Proxies(),
        incidents: [
          Incident.outage(status: nil, keepsWork: true, for: .seconds(20))
        ], timeout: .seconds(3)))
    #expect(silent.proxies[1][.activeRequests] > 10 && silent.proxies[3][.activeRequests] == 0)
    #expect(sum(silent, .retries) == 0)
  }

  @Test("Each proxy has a budget of its own, and each device one proxy")
  func count() throws {
    func record(_ count: Int) throws -> RunRecord {
      try windowed(
        scenario(
          devices: 1_000, gap: .seconds(5), server: workers(.seconds(1)),
          proxies: Proxies(count: count, retries: 5, backoff: atOnce, budget: .init(share: 0, minimum: 4)),
          incidents: always(failing())))
    }
    // Four at once for 1 s each are four a second for each proxy, and 200 a second come.
    for count in [1, 5] {
      let found = try record(count).proxies.dropFirst().dropLast()
      for row in found {
        #expect(abs(Double(row[.retries]) / Double(40 * count) - 1) < 0.05, "\(row[.retries])")
      }
      #expect(found.allSatisfy { $0[.activeRetries] <= 4 * count })
    }
  }

  @Test("A smaller scenario keeps the devices of each proxy, or else the budget of each device")
  func scale() {
    var whole = scenario(devices: 10_000, gap: .seconds(5), server: bucket, proxies: Proxies(), incidents: [])
    whole.tapi.proxies = Proxies(count: 40, budget: .init(minimum: 6))
    #expect(Scaling(divisor: 10).scaled(whole).tapi.proxies == Proxies(count: 4, budget: .init(minimum: 6)))
    // 12 retries at once for 10,000 are 3 for 2,500, and a half for 417, which is rounded up.
    whole.tapi.proxies = Proxies(count: 2, budget: .init(minimum: 6))
    #expect(Scaling(divisor: 4).scaled(whole).tapi.proxies == Proxies(count: 1, budget: .init(minimum: 3)))
    #expect(Scaling(divisor: 24).scaled(whole).tapi.proxies == Proxies(count: 1, budget: .init(minimum: 1)))
    whole.tapi.proxies = Proxies(count: 1, budget: .init(minimum: 0))
    #expect(Scaling(divisor: 24).scaled(whole).tapi.proxies == whole.tapi.proxies)
  }
}
