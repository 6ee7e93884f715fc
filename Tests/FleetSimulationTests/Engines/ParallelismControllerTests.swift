import FleetSimulation
import ScenarioModel
import SimulationKernel
import Testing

@Suite("Parallelism controller") struct ParallelismControllerTests {
  /// The share of `jobs` jobs that the caller did alone, at so many nanoseconds each.
  private func shareAlone(
    _ parallelism: inout ParallelismController, _ clock: inout UInt64, jobs: Int, alone: UInt64,
    together: UInt64
  )
    -> Double
  {
    var count = 0
    for job in 0..<jobs {
      count += parallelism.isSerial ? 1 : 0
      // Work that grows by half and falls again, in the course of seconds.
      let phase = UInt64(job % 100_000)
      let more = min(phase, 100_000 - phase)
      let time = parallelism.isSerial ? alone : together
      clock += time + time * more / 100_000
      parallelism.jobEnded { clock }
    }
    return Double(count) / Double(jobs)
  }

  @Test("Threads that gain work side by side but for 1 % of the time, and threads that lose hardly ever do")
  func preference() {
    var clock: UInt64 = 5
    var gaining = ParallelismController(now: clock)
    // The jobs of a trial that takes a hundredth of the time.
    #expect(shareAlone(&gaining, &clock, jobs: 2_000_000, alone: 95_000, together: 50_000) < 0.01)
    var losing = ParallelismController(now: clock)
    #expect(shareAlone(&losing, &clock, jobs: 2_000_000, alone: 50_000, together: 60_000) > 0.985)
  }

  @Test("The way changes when the machine does") func change() {
    var clock: UInt64 = 0
    var parallelism = ParallelismController(now: clock)
    _ = shareAlone(&parallelism, &clock, jobs: 500_000, alone: 95_000, together: 50_000)
    #expect(!parallelism.isSerial)
    #expect(shareAlone(&parallelism, &clock, jobs: 1_000_000, alone: 95_000, together: 400_000) > 0.9)
    #expect(shareAlone(&parallelism, &clock, jobs: 1_000_000, alone: 95_000, together: 50_000) < 0.1)
  }

  @Test("By default a fleet with little to do in a window runs on one thread, and one with much on several")
  func defaults() {
    var scenario = RandomScenario.crowd(seed: 1)
    scenario.fleet.removeSubrange(1...)
    func threads(devices: Int, interval: Span) -> Int {
      scenario.fleet[0].devices = devices
      scenario.fleet[0].flush = FlushPolicy(count: nil, interval: interval)
      scenario.fleet[0].events = .periodic(every: interval, phase: .flush)
      return RunOptions().threads(for: scenario)
    }
    #expect(threads(devices: 100, interval: .seconds(30)) == 1)
    #expect(threads(devices: 100_000, interval: .hours(24)) == 1)
    #expect(threads(devices: 1_000_000, interval: .seconds(30)) == min(SystemThreads.cores, 8))
  }

  @Test("Jobs too few to fill a round are done side by side") func short() {
    var clock: UInt64 = 0
    var parallelism = ParallelismController(now: clock)
    #expect(shareAlone(&parallelism, &clock, jobs: 100, alone: 1_000, together: 2_000) == 0)
  }
}
