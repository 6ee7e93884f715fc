import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import Testing

@Suite("Normal load")
struct NormalLoadTests {
  func load(
    events: EventProcess, flush: FlushPolicy, devices: Int = 1, queue: QueuePolicy = .init(),
    server: TAPIConfiguration.Server = .bucket(.init(capacityMilliRequestsPerSecond: 1_000, burst: 1))
  ) -> NormalLoad {
    NormalLoad(
      Scenario(
        duration: .hours(1), tapi: TAPIConfiguration(server: server),
        fleet: [Cohort(name: "phones", devices: devices, events: events, flush: flush, queue: queue)]))
  }

  func isClose(_ a: Double, _ b: Double) -> Bool { abs(a - b) <= 1e-9 * max(abs(a), abs(b)) }

  @Test("6 events a minute flushed every 30 s: N/30 (1 - 1/e^3) batches per second")
  func experimentOne() {
    // e^-3 = 0.04978706836786394; a flush at 20 events hardly ever makes a second batch: P(N > 20) < 1e-10.
    let load = load(events: .poisson(meanGap: .seconds(10)), flush: FlushPolicy(), devices: 20_000)
    #expect(isClose(load.batchesPerSecond, 20_000.0 / 30 * (1 - 0.04978706836786394)))
    #expect(isClose(load.eventsPerSecond, 2_000))
  }

  @Test("a fleet that gathers what waits can do with full requests, another can't")
  func fewest() {
    func load(_ mode: QueuePolicy.Mode) -> NormalLoad {
      self.load(
        events: .poisson(meanGap: .seconds(10)), flush: FlushPolicy(), devices: 20_000,
        queue: QueuePolicy(mode: mode, maximumBatchEvents: 50))
    }
    // 2,000 events a second.
    #expect(isClose(load(.rebatch).fewestBatchesPerSecond, 40))
    #expect(load(.files).fewestBatchesPerSecond == load(.files).batchesPerSecond)
  }

  @Test("without an interval each count makes a batch; without a count each interval does")
  func triggers() {
    let poisson = EventProcess.poisson(meanGap: .seconds(1))
    #expect(
      isClose(load(events: poisson, flush: FlushPolicy(count: 20, interval: nil)).batchesPerSecond, 1.0 / 20))
    let periodic = EventProcess.periodic(every: .seconds(30), phase: .flush)
    #expect(
      isClose(
        load(events: periodic, flush: FlushPolicy(count: nil, interval: .seconds(30))).batchesPerSecond,
        1.0 / 30))
  }

  @Test("a page that gathers makes one request of what comes within its time-out, as a run does")
  func page() throws {
    var cohort = Cohort(name: "pages", devices: 500, events: .poisson(meanGap: .seconds(10)))
    cohort.take(try #require(ClientPreset.builtIn("posthog-js")))
    let scenario = Scenario(
      duration: .hours(1),
      tapi: TAPIConfiguration(
        server: .bucket(.init(capacityMilliRequestsPerSecond: 1_000_000, burst: 1_000))),
      fleet: [cohort])
    // A request is followed by a mean gap of 10 s, then by 3 s in which events join.
    let load = NormalLoad(scenario)
    #expect(isClose(load.batchesPerSecond, 500.0 / 13) && isClose(load.eventsPerSecond, 50))
    let attempts = try Simulation.run(scenario).series.totals.attempts
    #expect(abs(Double(attempts) / 3_600 / load.batchesPerSecond - 1) < 0.01)
  }

  @Test("what a page gathers depends on how events come: alone, several at once, or in a spike")
  func gathered() throws {
    func load(_ events: EventProcess, atOnce: Int = 1, spike: Int = 0, isDaily: Bool = true) throws
      -> NormalLoad
    {
      var cohort = Cohort(name: "pages", devices: 1, events: events)
      cohort.take(try #require(ClientPreset.builtIn("posthog-js")))
      cohort.eventsAtOnce = atOnce
      if spike > 0 {
        cohort.spikes = [Spike(time: .start + .minutes(10), events: spike)]
        cohort.spikes[0].every = isDaily ? .hours(24) : nil
      }
      return NormalLoad(
        Scenario(
          duration: .hours(1),
          tapi: TAPIConfiguration(server: .bucket(.init(capacityMilliRequestsPerSecond: 1_000, burst: 1))),
          fleet: [cohort]))
    }
    // No other event comes within 3 s of one.
    #expect(isClose(try load(.periodic(every: .seconds(10), phase: .random)).batchesPerSecond, 0.1))
    let several = try load(.poisson(meanGap: .seconds(10)), atOnce: 10)
    #expect(isClose(several.batchesPerSecond, 1 / 13.0) && isClose(several.eventsPerSecond, 1))
    let quiet = EventProcess.periodic(every: .hours(1), phase: .random)
    #expect(
      isClose(try load(quiet, spike: 20).batchesPerSecond - load(quiet).batchesPerSecond, 1 / 3_600.0))
    #expect(try load(quiet, spike: 20, isDaily: false).batchesPerSecond == load(quiet).batchesPerSecond)
  }

  @Test("what waits behind an upload is one batch, where batches are made as the one before is answered")
  func behindAnUpload() throws {
    var cohort = Cohort(
      name: "c", devices: 200, events: .poisson(meanGap: .seconds(60)),
      flush: FlushPolicy(count: 1, interval: .minutes(2)),
      queue: QueuePolicy(mode: .rebatch, maximumBatchEvents: 512), latency: .constant(.milliseconds(50)))
    cohort.eventsAtOnce = 9
    let scenario = Scenario(
      duration: .hours(1),
      tapi: TAPIConfiguration(
        server: .bucket(.init(capacityMilliRequestsPerSecond: 1_000_000, burst: 1_000))), fleet: [cohort])
    // The first event makes a flush, the other eight follow it: two batches a minute of a device, in place of nine.
    let load = NormalLoad(scenario)
    #expect(abs(load.batchesPerSecond / (200 * 2 / 60.0) - 1) < 0.03)
    let attempts = try Simulation.run(scenario).series.totals.attempts
    #expect(abs(Double(attempts) / 3_600 / load.batchesPerSecond - 1) < 0.03)
  }

  @Test(
    "where the count goes on over other flushes, and sessions end between flushes, as many batches as in a run",
    arguments: [
      ("segment-swift", nil), ("segment-swift", 60), ("segment-kotlin", 60), ("segment-kotlin", 200),
    ]
      as [(client: String, session: Int64?)], [1, 10] as [Int64])
  func shippedClients(kind: (client: String, session: Int64?), gap: Int64) throws {
    let (client, session) = kind
    var cohort = Cohort(
      name: "phones", devices: 400, events: .poisson(meanGap: .seconds(gap * (session == nil ? 6 : 1))))
    cohort.take(try #require(ClientPreset.builtIn(client)))
    if let session {
      cohort.sessions = Sessions(
        sharePartsPerMillion: 200_000,
        length: session < 100 ? .constant(.seconds(session)) : .exponential(mean: .seconds(session)))
    }
    let scenario = Scenario(
      duration: .hours(2), interval: .minutes(1),
      tapi: TAPIConfiguration(
        server: .bucket(.init(capacityMilliRequestsPerSecond: 1_000_000, burst: 1_000))), fleet: [cohort])
    let totals = try Simulation.run(scenario).series.totals
    // A batch's share of the events: chance in how many there are has no part.
    let load = NormalLoad(scenario)
    let run = Double(totals.attempts) / Double(totals[.createdEvents])
    #expect(abs(load.batchesPerSecond / load.eventsPerSecond / run - 1) < 0.04)
  }

  @Test("an interval that starts anew with each flush lasts until the count or its end, whichever is first")
  func restarts() {
    var flush = FlushPolicy(count: 2, interval: .seconds(10))
    flush.rearm = .afterFlush
    // One event in ten seconds, on average: E min(N, 2) = 2 − 3/e of them in a flush, and one at least in 1 − 1/e.
    let load = load(events: .poisson(meanGap: .seconds(10)), flush: flush)
    let e = 2.718281828459045
    #expect(isClose(load.batchesPerSecond, (1 - 1 / e) / ((2 - 3 / e) * 10)))
    let periodic = self.load(events: .periodic(every: .seconds(4), phase: .random), flush: flush)
    #expect(isClose(periodic.batchesPerSecond, 1 / 8.0))
  }

  @Test("devices that flush together have a peak")
  func together() {
    let every = EventProcess.periodic(every: .seconds(30), phase: .flush)
    var flush = FlushPolicy(count: nil, interval: .seconds(30), isSynchronised: true)
    let poisson = EventProcess.poisson(meanGap: .seconds(1))
    #expect(isClose(load(events: every, flush: flush, devices: 300).peakBatchesPerSecond, 300))
    flush.spread = .seconds(3)
    #expect(isClose(load(events: every, flush: flush, devices: 300).peakBatchesPerSecond, 100))
    flush.togetherPartsPerMillion = 500_000
    #expect(isClose(load(events: every, flush: flush, devices: 300).peakBatchesPerSecond, 55))
    flush.isSynchronised = false
    let apart = load(events: poisson, flush: flush, devices: 300)
    #expect(apart.peakBatchesPerSecond == apart.batchesPerSecond)
  }

  @Test("of more workers than a limit lets work at once those that it lets count")
  func limitedWorkers() {
    var workers = WorkersConfiguration(count: 30, serviceTime: .constant(.milliseconds(200)))
    workers.concurrencyLimit = ConcurrencyLimit(initial: 25, minimum: 1, maximum: 25)
    let load = load(events: .poisson(meanGap: .seconds(1)), flush: .init(), server: .workers(workers))
    #expect(load.nominalCapacityMilli == 125_000)
  }

  @Test("a flush of more events than a batch takes is several batches")
  func chunks() {
    let periodic = EventProcess.periodic(every: .seconds(1), phase: .random)
    let interval = FlushPolicy(count: nil, interval: .seconds(30))
    #expect(
      isClose(
        load(events: periodic, flush: interval, queue: QueuePolicy(maximumBatchEvents: 10)).batchesPerSecond,
        3.0 / 30))
    let count = FlushPolicy(count: 25, interval: nil)
    #expect(
      isClose(
        load(events: periodic, flush: count, queue: QueuePolicy(maximumBatchEvents: 10)).batchesPerSecond,
        3.0 / 25))
  }

  @Test("workers serve W over the mean service time of the mean batch")
  func workers() {
    let workers = WorkersConfiguration(
      count: 4, serviceTime: .constant(.milliseconds(10)), serviceTimePerEvent: .milliseconds(1))
    let load = load(
      events: .periodic(every: .seconds(1), phase: .flush), flush: FlushPolicy(count: 10, interval: nil),
      server: .workers(workers))
    #expect(isClose(load.capacityPerSecond, 4 / 0.020))
    #expect(isClose(load.utilisation, 0.1 / 200))
  }

  @Test("a run's capacity is the normal load's, for the same mean batch")
  func capacityOfARun() throws {
    let workers = WorkersConfiguration(
      count: 4, serviceTime: .constant(.milliseconds(10)), serviceTimePerEvent: .milliseconds(1))
    // An interval of 30 s with 6 events a second and a count of 100: 100 + 80 events, two batches of 90.
    let scenario = Scenario(
      duration: .minutes(1), tapi: TAPIConfiguration(server: .workers(workers)),
      fleet: [
        Cohort(
          name: "phones", devices: 1,
          events: .periodic(every: Span(microseconds: 1_000_000 / 6), phase: .random),
          flush: FlushPolicy(count: 100))
      ])
    let capacity = try Simulation.run(scenario).nominalCapacityMilli
    #expect(isClose(Double(capacity), (4 / 0.100 * 1_000).rounded()))
    #expect(capacity == NormalLoad(scenario).nominalCapacityMilli)
  }

  @Test("absurd rates give numbers, not traps")
  func absurd() {
    let load = load(
      events: .poisson(meanGap: Span(microseconds: 1)),
      flush: FlushPolicy(count: nil, interval: .hours(8_784)),
      devices: 4_000_000_000)
    #expect(load.batchesPerSecond > 0)
    #expect(load.utilisation > 1)
  }
}
