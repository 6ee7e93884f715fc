import SimulationKernel
import TAPIModel
import TestScenarios
import Testing

@Suite struct DependencyTests {
  private func server(
    _ workers: Int, _ dependency: Dependency, incidents: [Incident] = []
  ) -> TAPIServer {
    TAPIServer(
      TAPIConfiguration(
        server: .workers(
          WorkersConfiguration(
            count: workers, serviceTime: .constant(.milliseconds(10)), dependency: dependency)),
        incidents: incidents), key: RandomKey(seed: 1))
  }

  /// When each is answered what, milliseconds; 0: lost.
  private func ends(_ server: inout TAPIServer) -> [[Int64]] {
    var found: [[Int64]] = []
    while let done = server.nextCompletion(through: Instant(microseconds: 1_000_000)) {
      var status: Int64 = 0
      if case .answered(let answer) = done.outcome { status = Int64(answer.status) }
      found.append([done.at.microseconds / 1_000, status])
    }
    return found
  }

  private func use(_ server: borrowing TAPIServer) -> Int64 {
    server.usage.reduce(0) { $0 + $1.sign * ($1.end - $1.start).microseconds } / 1_000
  }

  @Test("A worker keeps a request until the dependency has answered, and is busy for so long")
  func way() {
    var server = server(
      1, Dependency(count: 1, serviceTime: .constant(.milliseconds(5)), roundTrip: .milliseconds(2)))
    for number in 0...1 { #expect(server.arrive(request(0, device: UInt32(number))) == .pending) }
    #expect(server.nextCompletion(through: Instant(microseconds: 16_999)) == nil)
    #expect(server.busyWorkers == 1 && server.queued == 1)
    // 10 ms of its own, 5 there, 2 on the way.
    #expect(ends(&server) == [[17, 200], [34, 200]])
    #expect(use(server) == 34)
  }

  @Test("Who is refused calls again at once, so and so many times, and then the request fails")
  func retries() {
    func ends(taking milliseconds: Int64) -> [[Int64]] {
      var server = server(
        3,
        Dependency(
          count: 1, serviceTime: .constant(.milliseconds(milliseconds)), retries: 2, status: 500))
      for number in 0..<3 { _ = server.arrive(request(0, device: UInt32(number))) }
      return self.ends(&server)
    }
    // Calls at 10, 11 and 12 ms; refusals take a millisecond.
    #expect(ends(taking: 50) == [[13, 500], [13, 500], [61, 200]])
    // At 12 ms it is free again, for one of the two.
    #expect(ends(taking: 2) == [[13, 200], [13, 500], [15, 200]])
  }

  @Test("Calls wait at the dependency in their order, as many as its queue takes")
  func queue() {
    var server = server(
      4, Dependency(count: 1, serviceTime: .constant(.milliseconds(20)), queueLimit: 2))
    for number in 0..<4 { _ = server.arrive(request(0, device: UInt32(number))) }
    #expect(ends(&server) == [[11, 503], [31, 200], [51, 200], [71, 200]])
  }

  @Test(
    "A call given up is worked off all the same, so that retries crowd out calls that would have been in time"
  )
  func timeout() {
    func ends(_ timeout: Span?) -> [[Int64]] {
      var server = server(
        5,
        Dependency(
          count: 1, serviceTime: .constant(.milliseconds(20)), queueLimit: nil, retries: 1, timeout: timeout))
      for number in 0..<5 { _ = server.arrive(request(0, device: UInt32(number))) }
      // Its call comes at 80 ms.
      _ = server.nextCompletion(through: Instant(microseconds: 70_000))
      while server.nextOwnTime <= Instant(microseconds: 70_000) {
        _ = server.nextCompletion(through: Instant(microseconds: 70_000))
      }
      _ = server.arrive(request(70_000, device: 5))
      return self.ends(&server)
    }
    // Without one: 31, 51, 71, 91 and 111 ms, and the latecomer at 131.
    #expect(ends(nil) == [[71, 200], [91, 200], [111, 200], [131, 200]])
    // Four call again at 40 ms and fail at 70; of nine calls the last ends at 190 ms, and the latecomer gives up at 110 and 140.
    #expect(ends(.milliseconds(30)) == [[140, 503]])
  }

  @Test("An outage loses those who wait for the dependency, and their calls", arguments: [false, true])
  func outage(keepsWork: Bool) {
    let outage = Incident(
      kind: .outage(status: 503, retryAfter: .none, keepsWork: keepsWork),
      start: Instant(microseconds: 15_000), duration: .milliseconds(1))
    var server = server(
      2, Dependency(count: 1, serviceTime: .constant(.milliseconds(50)), queueLimit: 1),
      incidents: [outage])
    for number in 0..<3 { _ = server.arrive(request(0, device: UInt32(number))) }
    #expect(
      ends(&server) == (keepsWork ? [[61, 200], [111, 200], [161, 200]] : [[15, 0], [15, 0], [15, 0]]))
    #expect(server.busyWorkers == 0 && server.queued == 0)
    #expect(use(server) == (keepsWork ? 61 + 111 + 100 : 30))
    _ = server.arrive(request(200_000, device: 3))
    #expect(ends(&server) == [[261, 200]])
  }

  @Test("Nominal capacity is what workers and dependency can both do")
  func nominal() {
    func capacity(_ count: Int) -> Int64 {
      TAPIConfiguration(
        server: .workers(
          WorkersConfiguration(
            count: 30, serviceTime: .constant(.milliseconds(10)),
            dependency: Dependency(
              count: count, serviceTime: .exponential(mean: .milliseconds(15)), roundTrip: .milliseconds(5))))
      ).nominalCapacityMilli(meanEvents: 1)
    }
    #expect(capacity(30) == 1_000_000)
    #expect(capacity(3) == 200_000)
  }

  @Test(
    "Poisson calls at a dependency without a queue are refused as Erlang says",
    arguments: [(4, 2.0), (10, 9.0)])
  func erlang(count: Int, load: Double) {
    // 100 requests a second.
    var server = server(
      1_000,
      Dependency(count: count, serviceTime: .exponential(mean: Span(microseconds: Int64(load * 10_000)))))
    let key = RandomKey(seed: 3)
    var now: Int64 = 0
    var (failed, ended) = (0.0, 0.0)
    for number in 0..<400_000 {
      now += Distribution.exponentialGap(mean: 10_000, key: key.child(UInt64(number)))
      while let done = server.nextCompletion(through: Instant(microseconds: now)) {
        ended += 1
        failed += done.isServed ? 0 : 1
      }
      _ = server.arrive(request(now, device: UInt32(number)))
    }
    // Erlang's B, by its recurrence.
    let blocking = (1...count).reduce(1.0) { load * $0 / (Double($1) + load * $0) }
    #expect(abs(failed / ended / blocking - 1) < 0.02, "\(failed / ended) against \(blocking)")
  }
}
