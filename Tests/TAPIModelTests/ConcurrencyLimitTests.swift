import SimulationKernel
import TAPIModel
import Testing

@Suite struct ConcurrencyLimitTests {
  private func server(
    _ limit: ConcurrencyLimit, queue: Int = 4, workers: Int, incidents: [Incident] = []
  ) -> TAPIServer {
    var pool = WorkersConfiguration(count: workers, serviceTime: .constant(.milliseconds(100)))
    pool.concurrencyLimit = limit
    pool.concurrencyLimit?.queue = queue
    return TAPIServer(
      TAPIConfiguration(
        server: .workers(pool), overload: Overload(status: 503), incidents: incidents),
      key: RandomKey(seed: 1))
  }

  /// How many of so many requests at one instant are admitted.
  private func admitted(_ server: inout TAPIServer, of count: Int, at time: Int64) -> Int {
    while server.nextCompletion(through: Instant(microseconds: time)) != nil {}
    return (0..<count).filter { server.arrive(request(time, device: UInt32($0))) == .pending }.count
  }

  @Test("The limit grows while times are even, and falls with their gradient: by hand")
  func gradient() {
    let brownout = Incident(
      kind: .brownout(factorPartsPerMillion: 250_000), start: Instant(microseconds: 4_500_000),
      duration: .hours(1))
    var server = server(
      ConcurrencyLimit(initial: 20, minimum: 1, maximum: 1_000), queue: 5, workers: 1_000,
      incidents: [brownout])
    let limits = (0..<10 as Range<Int64>).map {
      admitted(&server, of: 200, at: $0 * 1_000_000)
    }
    // A window ends with the first to end a second after the one before, the first at 1.1 s. At 100 ms each it adds 0.2 · 5. From 5 s on
    // requests take 400 ms. The window to 5.4 s has 22 of 100 ms and one of 400, mean 113.0: 1.5 · 102.6 / 113.0 > 1, to 25. To 6.4 s
    // the mean is 400, the long-term mean 152.2: gradient 0.571, 0.8 · 25 + 0.2 · (25 · 0.571 + 5) = 23.85. Then 187.6, 0.703 and 23.44;
    // 214.1, 0.803 and 23.51.
    #expect(limits == [20, 20, 21, 22, 23, 24, 25, 23, 23, 23])
  }

  @Test("A limit that is not used by half does not grow")
  func unused() {
    var server = server(ConcurrencyLimit(), workers: 1_000)
    for second in 0..<20 as Range<Int64> {
      #expect(admitted(&server, of: 9, at: second * 1_000_000) == 9)
    }
    #expect(admitted(&server, of: 200, at: 20_000_000) == 20)
  }

  @Test("A server that has lost its work begins anew, one that keeps it goes on", arguments: [false, true])
  func restart(keepsWork: Bool) {
    let outage = Incident(
      kind: .outage(status: 503, retryAfter: .none, keepsWork: keepsWork),
      start: Instant(microseconds: 7_500_000), duration: .milliseconds(200))
    var server = server(
      ConcurrencyLimit(initial: 20, minimum: 1, maximum: 1_000), queue: 5, workers: 1_000, incidents: [outage]
    )
    let limits = (0..<9 as Range<Int64>).map { admitted(&server, of: 200, at: $0 * 1_000_000) }
    #expect(limits == [20, 20, 21, 22, 23, 24, 25, 26, keepsWork ? 27 : 20])
  }

  @Test("Its bounds hold")
  func bounds() {
    var server = server(ConcurrencyLimit(initial: 20, minimum: 20, maximum: 22), workers: 1_000)
    var last = 0
    for second in 0..<20 as Range<Int64> { last = admitted(&server, of: 200, at: second * 1_000_000) }
    #expect(last == 22)
  }

  @Test("Before twice its load a server with a limit serves what it can and keeps its queue short")
  func overload() {
    // Ten workers of 100 ms, 200 requests a second, for two minutes.
    var server = server(
      ConcurrencyLimit(initial: 20, minimum: 5, maximum: 1_000), workers: 10)
    var served = 0
    var longest = 0
    for number in 0..<24_000 {
      let time = Int64(number) * 5_000
      while let done = server.nextCompletion(through: Instant(microseconds: time)) {
        served += done.isServed ? 1 : 0
      }
      _ = server.arrive(request(time, device: UInt32(number)))
      longest = max(longest, server.queued)
    }
    #expect(served > 11_500)
    #expect(longest < 40)
  }
}
