import FleetMetrics
import PlainEngine
import ScenarioModel
import SimulationKernel
import TestSupport
import Testing

/// Threads change no byte, whatever the server does within a window.
@Suite struct ThreadsTests {
  static let seeds = EngineEqualityTests.seeds

  @Test("One thread and two agree where two may answer a window side by side") func twoThreads() throws {
    for seed in Self.seeds {
      let scenario = RandomScenario.fastPath(seed: seed)
      let one = try windowed(scenario, checks: false)
      expectSame(one, try windowed(scenario, threads: 2, checks: false), "two threads", seed: seed)
    }
  }

  @Test("One thread and two agree where latency is constant and links are slow and lose requests and answers")
  func twoThreadsOnFaultyLinks() throws {
    for seed in Self.seeds.prefix(50) {
      var scenario = RandomScenario.fastPath(seed: seed)
      for i in scenario.fleet.indices {
        scenario.fleet[i].link.uploadBytesPerSecond = seed % 2 == 0 ? 2_000 : nil
        scenario.fleet[i].link.requestLossPartsPerMillion = 100_000
        scenario.fleet[i].link.answerLossPartsPerMillion = 100_000
      }
      let one = try windowed(scenario, checks: false)
      expectSame(one, try windowed(scenario, threads: 2, checks: false), "two threads", seed: seed)
    }
  }

  @Test("One thread, two, three and eight agree") func threads() throws {
    for seed in Self.seeds.prefix(TestDepth.cases(6, exhaustively: 20)) {
      for scenario in [
        RandomScenario.scenario(seed: seed), RandomScenario.fastPath(seed: seed),
        RandomScenario.fastFiles(seed: seed),
      ] {
        let one = try windowed(scenario, checks: false)
        for threads in [2, 3, 8] {
          expectSame(
            one, try windowed(scenario, threads: threads, checks: false), "\(threads) threads", seed: seed)
        }
      }
    }
  }

  @Test(
    """
    With hundreds of arrivals in a window one thread, two, three and eight agree with the plain engine: the bucket runs out within \
    windows and fills up again, arrivals meet at one instant, clients give up, the server is silent or names a wait
    """)
  func crowds() throws {
    var seen = MeasureTotals()
    for seed in Self.seeds.prefix(TestDepth.cases(8, exhaustively: 40)) {
      let scenario = RandomScenario.crowd(seed: seed)
      let plain = PlainEngine.run(scenario).record
      for threads in [1, 2, 3, 8] {
        let record = try windowed(scenario, threads: threads, checks: false)
        expectSame(plain, record, "\(threads) threads", seed: seed)
      }
      for row in plain.series.rows {
        for measure in [.answers2xx, .answers429, .answers503, .unanswered, .unheardAnswers] as [Measure] {
          seen[measure] += row[measure]
        }
      }
    }
    for measure in [.answers2xx, .answers429, .answers503, .unanswered, .unheardAnswers] as [Measure] {
      #expect(seen[measure] > 1_000, "\(measure)")
    }
  }
}
