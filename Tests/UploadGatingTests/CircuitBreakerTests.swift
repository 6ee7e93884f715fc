import Testing
import UploadGating

private let second: Int64 = 1_000_000

@Suite("Circuit breaker (O6)")
struct CircuitBreakerTests {
  /// Opens at `now` by five failures.
  private func opened(_ breaker: CircuitBreaker = .init(), at now: Int64 = 0) -> HostBreaker {
    var host = HostBreaker(breaker)
    for _ in 0..<5 { host.record(failed: true, now: now) }
    return host
  }

  @Test("O6: four failures do not open it, five do, for 30 s")
  func minimumFailures() {
    var host = HostBreaker()
    for _ in 0..<4 { #expect(host.record(failed: true, now: 0) == 0) }
    #expect(host.state(now: 0) == .closed)
    #expect(host.record(failed: true, now: second) == 30 * second)
    #expect(host.state(now: second) == .open(until: 31 * second))
    #expect(host.request(now: 30 * second) == .refused(until: 31 * second))
    #expect(host.request(now: 31 * second) == .allowedAsProbe)
  }

  @Test("O6: it opens above 50 %, not at 50 %")
  func threshold() {
    var host = HostBreaker()
    for _ in 0..<9 {
      #expect(host.record(failed: false, now: 0) == 0)
      #expect(host.record(failed: true, now: 0) == 0)
    }
    #expect(host.record(failed: true, now: 0) > 0)
  }

  @Test("O6: only the last 20 requests count")
  func lastTwenty() {
    var host = HostBreaker()
    for _ in 0..<100 { host.record(failed: false, now: 0) }
    var failures = 0
    while host.record(failed: true, now: 0) == 0 { failures += 1 }
    #expect(failures + 1 == 11)
  }

  @Test("O6: what is two minutes old counts no more")
  func lastTwoMinutes() {
    var host = HostBreaker()
    for _ in 0..<4 { host.record(failed: true, now: 0) }
    #expect(host.record(failed: true, now: 120 * second) == 0)
    for _ in 0..<3 { #expect(host.record(failed: true, now: 121 * second) == 0) }
    #expect(host.record(failed: true, now: 121 * second) == 30 * second)
    var within = HostBreaker()
    for _ in 0..<4 { within.record(failed: true, now: 0) }
    #expect(within.record(failed: true, now: 120 * second - 1) == 30 * second)
  }

  @Test("O6: open for 30 s, 60 s, 2 min and 2 min while the probes fail")
  func growingOpenTimes() {
    var host = opened()
    var now = 30 * second
    for expected in [60, 120, 120, 120] {
      #expect(host.request(now: now) == .allowedAsProbe)
      #expect(host.record(failed: true, now: now) == Int64(expected) * second)
      #expect(host.state(now: now) == .open(until: now + Int64(expected) * second))
      now += Int64(expected) * second
    }
  }

  @Test("O6: an open time is what its jitter makes of it, and a restart keeps what it may have become")
  func jitter() {
    var host = HostBreaker()
    for _ in 0..<4 { host.record(failed: true, now: 0) { _ in 0 } }
    #expect(host.record(failed: true, now: 0) { $0 * 3 } == 90 * second)
    #expect(host.state(now: 0) == .open(until: 90 * second))
    #expect(host.request(now: 90 * second) == .allowedAsProbe)
    // The second open time is 60 s; two minutes are the longest, here twice that.
    #expect(host.record(failed: true, now: 90 * second) { $0 * 4 } == 240 * second)
    let kept = host.relaunched(now: 90 * second) { $0 * 2 }
    #expect(kept.state(now: 90 * second) == .open(until: 330 * second))
    #expect(host.relaunched(now: 90 * second).state(now: 90 * second) == .open(until: 210 * second))
  }

  @Test("O6: a probe that succeeds closes it, and the next opening is 30 s again")
  func closes() {
    var host = opened()
    #expect(host.request(now: 30 * second) == .allowedAsProbe)
    host.record(failed: true, now: 30 * second)
    #expect(host.request(now: 90 * second) == .allowedAsProbe)
    host.record(failed: false, now: 91 * second)
    #expect(host.state(now: 91 * second) == .closed)
    for _ in 0..<4 { #expect(host.record(failed: true, now: 92 * second) == 0) }
    #expect(host.record(failed: true, now: 92 * second) == 30 * second)
  }

  @Test("O6: half-open lets so many probes through and no more until they are back", arguments: 1...3)
  func probes(allowed: Int) {
    var host = opened(.init(probes: allowed))
    let now = 30 * second
    for _ in 0..<allowed { #expect(host.request(now: now) == .allowedAsProbe) }
    #expect(host.request(now: now) == .refusedWhileProbing)
    for i in 1...allowed {
      host.record(failed: false, now: now)
      #expect(host.state(now: now) == (i == allowed ? .closed : .halfOpen))
    }
    #expect(host.request(now: now) == .allowed)
  }

  @Test("O6: outcomes of requests that left before it opened are not counted while it is open")
  func stragglers() {
    var host = opened()
    #expect(host.record(failed: false, now: second) == 0)
    #expect(host.record(failed: true, now: second) == 0)
    #expect(host.state(now: second) == .open(until: 30 * second))
  }

  @Test("O6: an open breaker survives a restart, closed ones start with an empty log")
  func persisted() {
    var host = opened()
    #expect(host.request(now: 30 * second) == .allowedAsProbe)
    host.record(failed: true, now: 30 * second)
    var launched = host.relaunched(now: 40 * second)
    #expect(launched.state(now: 40 * second) == .open(until: 90 * second))
    #expect(launched.request(now: 90 * second) == .allowedAsProbe)
    #expect(launched.record(failed: true, now: 90 * second) == 120 * second)
    let fresh = HostBreaker().relaunched(now: 0)
    #expect(fresh.state(now: 0) == .closed)
  }

  @Test(
    "O6: a probe under way when the app was killed does not block the next launch; a clock that moved is clamped"
  )
  func restoredOddly() {
    var host = opened()
    #expect(host.request(now: 30 * second) == .allowedAsProbe)
    var launched = host.relaunched(now: 31 * second)
    #expect(launched.request(now: 31 * second) == .allowedAsProbe)
    host.record(failed: true, now: 31 * second) { _ in .max }
    #expect(host.state(now: second) == .open(until: .max))
    #expect(host.relaunched(now: second).state(now: second) == .open(until: 121 * second))
  }
}
