import SimulationKernel
import TAPIModel
import TestScenarios
import Testing

/// The dependency behind so many workers that nobody waits for one.
@Suite struct DependencyTheoryTests {
  /// Ends of requests, in their order: served or not, and microseconds from arrival.
  private func run(
    _ dependency: Dependency, arrivals: some Sequence<Int64>
  ) -> [(arrival: Int64, isServed: Bool, time: Int64)] {
    var server = TAPIServer(
      TAPIConfiguration(
        server: .workers(
          WorkersConfiguration(
            count: 1_000_000, serviceTime: .constant(.milliseconds(10)), dependency: dependency))),
      key: RandomKey(seed: 1))
    var ends: [(arrival: Int64, isServed: Bool, time: Int64)] = []
    func drain(_ server: inout TAPIServer, through time: Instant) {
      while let done = server.nextCompletion(through: time) {
        let arrival = done.request.arrival
        ends.append((arrival.microseconds, done.isServed, (done.at - arrival).microseconds))
      }
    }
    for (number, time) in arrivals.enumerated() {
      let now = Instant(microseconds: time)
      drain(&server, through: now)
      _ = server.arrive(
        UploadRequest(
          arrival: now, device: UInt32(number), id: AttemptID(place: 0, record: 1, number: 1, generation: 0),
          firstOrdinal: 0, uplink: 1_000, downlink: 1_000, events: 1, shard: 0))
      server.usage.removeAll(keepingCapacity: true)
    }
    drain(&server, through: .start + .hours(24))
    return ends
  }

  @Test(
    "Poisson calls wait at the dependency as at M/M/1 and M/D/1",
    arguments: [
      (Distribution.exponential(mean: .milliseconds(5)), 5_000.0), (.constant(.milliseconds(5)), 2_500),
    ])
  func wait(serviceTime: Distribution, theory: Double) {
    // 100 a second: utilisation 0.5. Pollaczek and Khinchine: a service time, and half of one.
    let key = RandomKey(seed: 5)
    var now: Int64 = 0
    let arrivals = (0..<200_000).map { number in
      now += Distribution.exponentialGap(mean: 10_000, key: key.child(UInt64(number)))
      return now
    }
    let ends = run(Dependency(count: 1, serviceTime: serviceTime, queueLimit: nil), arrivals: arrivals)
    let mean = ends.reduce(0.0) { $0 + Double($1.time) } / Double(ends.count)
    // Ten milliseconds at the worker, five of service, one on the way.
    #expect(ends.count == 200_000)
    #expect(abs((mean - 16_000) / theory - 1) < 0.03, "\(mean - 16_000) against \(theory)")
  }

  @Test(
    """
    k retries after time-outs multiply the load by 1 + k: from a burst a dependency for C a second comes back below C / (1 + k) \
    requests a second, and above it never
    """, arguments: [(0, 90, 200, true), (2, 30, 200, true), (2, 38, 200, false), (2, 38, 0, true)])
  func amplification(retries: Int, rate: Int64, burst: Int, comesBack: Bool) {
    // 100 calls a second; who has waited for half a second is given up. C / 3 is 33.3.
    let dependency = Dependency(
      count: 1, serviceTime: .constant(.milliseconds(10)), queueLimit: nil, retries: retries,
      timeout: .milliseconds(500))
    let steady = (1...200 * rate).map { $0 * 1_000_000 / rate }
    let ends = run(dependency, arrivals: Array(repeating: 0, count: burst) + steady)
    let last = ends.filter { $0.arrival > 180_000_000 }
    #expect(last.count == 20 * rate)
    #expect(last.allSatisfy { $0.isServed == comesBack })
  }
}
