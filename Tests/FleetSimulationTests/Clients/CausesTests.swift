import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TestScenarios
import Testing
import UploadRetry

/// Retries by what came before them, the waits between, and what is blocked by its reason, in stories worked out on paper.
@Suite("Causes of retries and blocks, and total waits (O10)")
struct CausesTests {
  /// One batch, which fails by 503, 408, silence and 429 and then is accepted.
  private func story(duration: Int64) throws -> RunSummary {
    var fleet = GatedFleet(
      duration: duration, eventGap: .seconds(10_000), flushInterval: .seconds(10_000),
      outages: [(503, 0, 1), (408, 10, 2), (nil, 30, 2), (429, 80, 2)])
    fleet.change = {
      $0.retries = .timer
      $0.timeout = .seconds(10)
      $0.backOffExactly(from: 10)
    }
    let (summary, sent, _) = try fleet.run()
    // Answers come 0.2 s after an upload, the time-out 10 s; waits are 10, 20, 40 and, for the 429, 300 s.
    #expect(sent.isClose(to: [0, 10.2, 30.4, 80.4, 380.6].filter { $0 < Double(duration) }), "\(sent)")
    return summary
  }

  private func counts(_ summary: RunSummary) -> [Int64] { Measure.retriesByCause.map { summary[$0] } }

  @Test("each retry counts under what ended the upload before it, and the waits add up")
  func whole() throws {
    let summary = try story(duration: 400)
    #expect(counts(summary) == [1, 1, 1, 1] && summary[.retries] == 4)
    #expect(summary[.backoffMicroseconds] == (10 + 20 + 40 + 300) * 1_000_000)
    #expect(summary[.deliveredEvents] == 1)
  }

  @Test("a retry counts when it arrives, and of a wait what lies in the run")
  func cut() throws {
    var summary = try story(duration: 300)
    #expect(counts(summary) == [0, 1, 1, 1] && summary[.retries] == 3)
    #expect(summary[.backoffMicroseconds] == (10 + 20 + 40) * 1_000_000 + 219_400_000)
    // The third retry has left, and would arrive at 80.5 s.
    var fleet = GatedFleet(duration: 10, eventGap: .seconds(10_000), flushInterval: .seconds(10_000))
    fleet.outages = [(503, 0, 1)]
    fleet.change = {
      $0.retries = .timer
      $0.settings.backoff.jitter = .none
      $0.settings.backoff.baseBackoffInterval = 9_750_000
    }
    summary = try fleet.run().summary
    #expect(counts(summary) == [0, 0, 0, 0] && summary[.retries] == 0)
    #expect(summary[.backoffMicroseconds] == 9_750_000)
  }

  @Test("a batch that a restart of the app cut off is sent again for another cause")
  func restart() throws {
    var fleet = GatedFleet(
      duration: 60, eventGap: .seconds(10_000), flushInterval: .seconds(20), outages: [(nil, 0, 15)])
    fleet.change = {
      $0.timeout = .seconds(15)
      $0.lifecycle = Lifecycle(
        synchronised: [.init(time: .start + .seconds(5), spread: .zero)], flushesAtLaunch: true)
    }
    let (summary, sent, _) = try fleet.run()
    // At 5 s into silence again; the time-out is at 20 s.
    #expect(sent.count == 3 && counts(summary) == [0, 0, 1, 1], "\(sent)")
  }

  @Test("a refresh of credentials is no backoff; the answers 401 have a column of their own")
  func unauthorized() throws {
    let fleet = GatedFleet(
      preset: .offlineFirst, duration: 60, eventGap: .seconds(1_000), flushInterval: .seconds(30),
      outages: [(401, 0, 30)])
    let summary = try fleet.run().summary
    #expect(summary[.answers401] == 2 && summary[.answers4xxOther] == 0 && summary.answersOther == 2)
    #expect(counts(summary) == [0, 0, 0, 1] && summary[.backoffMicroseconds] == 0)
    #expect(summary[.blockedByStatus] == 1 && summary[.blockedEvents] == 1)
  }

  @Test(
    "what is blocked counts under the limit that it met",
    arguments: [
      (422, Measure.blockedByStatus), (503, .blockedByRetryLimit), (504, .blockedByAge),
      (429, .blockedByRateLimitRetryLimit),
    ])
  func blocked(status: Int, reason: Measure) throws {
    var fleet = GatedFleet(
      duration: 100, eventGap: .seconds(10_000), flushInterval: .seconds(10_000), outages: [(status, 0, 100)])
    fleet.change = {
      $0.retries = .timer
      $0.backOffExactly(from: 1)
      $0.policy.givenUp = .blocked
      $0.policy.missingRetryAfter = .fixed(microseconds: 1_000_000)
      $0.settings.rateLimit.maxRetryCount = 2
      if status == 503 { $0.settings.backoff.maxRetryCount = 2 }
      if status == 504 { $0.settings.backoff.maxTotalBackoffDuration = 5_000_000 }
    }
    let summary = try fleet.run().summary
    #expect(summary[.blockedEvents] == 1 && summary.lostEvents == 0)
    #expect(Measure.blocks.map { summary[$0] } == Measure.blocks.map { $0 == reason ? 1 : 0 })
  }
}
