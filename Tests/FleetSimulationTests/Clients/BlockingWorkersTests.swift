import FleetMetrics
import FleetSimulation
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestSupport
import Testing
import UploadPipeline
import UploadRetry

/// Ten consumers that sleep until the wait of their batch is over, behind a queue that refuses the newest: against an event loop
/// written by hand, which knows nothing of clients.
@Suite("Workers that block on their batch, and a queue that refuses the newest")
struct BlockingWorkersTests {
  /// One collector: a request every 100 ms, an outage from 10 to 20 minutes, times in microseconds.
  private struct Collector {
    enum Step {
      case event
      case answer(Job, isFailure: Bool)
      case retry(Job)
    }
    struct Job {
      var failures = 0
      var firstFailure: Int64 = 0
    }
    var workers: Int
    var room: Int
    /// One way.
    var latency: Int64
    var longest: Int64 = 300_000_000
    /// Around the mean of a wait, of it.
    var jitter = 0.0
    var random = SeededGenerator(seed: 7)

    private var steps: [(time: Int64, number: Int, step: Step)] = []
    private var number = 0
    private(set) var attempts = 0, attemptsInOutage = 0, refused = 0, givenUp = 0, delivered = 0

    init(workers: Int, room: Int, latency: Int64) {
      (self.workers, self.room, self.latency) = (workers, room, latency)
    }

    private mutating func add(_ time: Int64, _ step: Step) {
      number += 1
      // Few are open at a time: insertion from the back.
      var index = steps.count
      while index > 0, steps[index - 1].time > time { index -= 1 }
      steps.insert((time, number, step), at: index)
    }

    private mutating func send(_ job: Job, at now: Int64) {
      attempts += 1
      let isFailure = (600_000_000..<1_200_000_000).contains(now + latency)
      if isFailure { attemptsInOutage += 1 }
      add(now + 2 * latency, .answer(job, isFailure: isFailure))
    }

    mutating func run(from phase: Int64, to end: Int64) {
      var (free, held, queued) = (workers, 0, 0)
      add(phase, .event)
      while let (now, _, step) = steps.first, now < end {
        steps.removeFirst()
        var isDone = false
        switch step {
        case .event:
          add(now + 100_000, .event)
          if held == room { refused += 1 } else { (held, queued) = (held + 1, queued + 1) }
        case .retry(let job): send(job, at: now)
        case .answer(_, isFailure: false):
          delivered += 1
          isDone = true
        case .answer(var job, isFailure: true):
          if job.failures == 0 { job.firstFailure = now }
          var wait = 5e6
          for _ in 0..<job.failures { wait = min(wait * 1.5, 30e6) }
          if jitter > 0 { wait *= 1 + jitter * (2 * Double.random(in: 0..<1, using: &random) - 1) }
          job.failures += 1
          if now + Int64(wait) - job.firstFailure > longest {
            givenUp += 1
            isDone = true
          } else {
            add(now + Int64(wait), .retry(job))
          }
        }
        if isDone { (free, held) = (free + 1, held - 1) }
        while free > 0, queued > 0 {
          (free, queued) = (free - 1, queued - 1)
          send(Job(), at: now)
        }
      }
    }
  }

  private func scenario(
    workers: Int, room: Int, devices: Int = 1, change: (inout Cohort) -> Void
  ) throws -> Scenario {
    let preset = try #require(ClientPreset.builtIn("opentelemetry-collector"))
    var cohort = Cohort(
      name: "collectors", devices: devices, events: .periodic(every: .milliseconds(100), phase: .flush),
      flush: FlushPolicy(count: 1, interval: nil), latency: .constant(.milliseconds(13)),
      settings: preset.settingsDefaults)
    cohort.take(preset)
    cohort.queue.maximumBatchEvents = 1
    (cohort.uploadConcurrency, cohort.queue.batchLimit) = (workers, room)
    change(&cohort)
    let outage = Incident(
      kind: .outage(status: 503, retryAfter: .none, keepsWork: false),
      start: Instant(microseconds: 600_000_000), duration: .minutes(10))
    return Scenario(
      duration: .minutes(40),
      tapi: TAPIConfiguration(
        server: .bucket(.init(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000_000)),
        incidents: [outage]), fleet: [cohort])
  }

  @Test(
    "to the request, without jitter", arguments: [(10, 1_000), (1, 1_000), (10, 50), (3, 6_000), (40, 40)])
  func exact(workers: Int, room: Int) throws {
    let scenario = try scenario(workers: workers, room: room) { $0.settings.backoff.jitter = .none }
    var options = RunOptions()
    options.checks = true
    let (record, trace) = try Simulation.trace(scenario, device: 0, options: options)
    let summary = RunAnalysis.summary(of: record, ReferenceRuns(twin: record), name: "run", seed: 1)
    var model = Collector(workers: workers, room: room, latency: 13_000)
    model.run(from: 0, to: scenario.duration.microseconds)
    // A run that nobody watches may take short ways.
    #expect(try Simulation.run(scenario).series == record.series)
    #expect(summary[.droppedByOverflow] == model.refused)
    #expect(summary[.droppedByAge] == model.givenUp)
    #expect(summary[.deliveredEvents] == model.delivered)
    let sent = trace.events.filter { if case .sent = $0.kind { true } else { false } }
    #expect(sent.count == model.attempts)
    #expect(
      sent.count { (600_000_000..<1_200_000_000).contains($0.time + 13_000) } == model.attemptsInOutage)
  }

  @Test("the collector's preset: half a request a second in an outage, and five of six batches lost")
  func preset() throws {
    let scenario = try scenario(workers: 10, room: 1_000, devices: 50) { _ in }
    let record = try Simulation.run(scenario)
    let summary = RunAnalysis.summary(of: record, ReferenceRuns(twin: record), name: "run", seed: 1)
    var model = Collector(workers: 10, room: 1_000, latency: 13_000)
    model.jitter = 0.5
    var (refused, givenUp, attempts) = (0, 0, 0)
    for seed in 1...50 {
      var one = model
      one.random = SeededGenerator(seed: UInt64(seed))
      one.run(from: 0, to: scenario.duration.microseconds)
      (refused, givenUp, attempts) = (refused + one.refused, givenUp + one.givenUp, attempts + one.attempts)
    }
    #expect(Double(attempts) / 50 / 19_300 > 0.98)
    func isClose(_ found: Int64, _ expected: Int, _ share: Double) -> Bool {
      abs(Double(found) - Double(expected)) <= share * Double(expected)
    }
    // 6,000 are made in the outage, 1,000 are kept, and the first consumer is back some seconds after its end.
    #expect(isClose(summary[.droppedByOverflow], refused, 0.005), "\(summary[.droppedByOverflow]) \(refused)")
    #expect(isClose(summary[.droppedByAge], givenUp, 0.05), "\(summary[.droppedByAge]) \(givenUp)")
    #expect(isClose(summary.attempts, attempts, 0.002), "\(summary.attempts) \(attempts)")
  }

  @Test("what frees goes on with others meanwhile: the word alone makes the difference")
  func frees() throws {
    let scenario = try scenario(workers: 10, room: .max) { $0.whileWaiting = .frees }
    let record = try Simulation.run(scenario)
    let summary = RunAnalysis.summary(of: record, ReferenceRuns(twin: record), name: "run", seed: 1)
    // Each of 6,000 batches has some thirteen tries in five minutes.
    #expect(summary.attempts > 24_000 + 30_000 && summary[.droppedByOverflow] == 0)
  }
}
