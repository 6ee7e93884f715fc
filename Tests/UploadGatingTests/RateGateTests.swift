import Testing
import UploadGating

private let second: Int64 = 1_000_000

@Suite("Sliding windows (T1, T2)")
struct RateGateTests {
  private static let minute = RateWindow(slots: 60, span: 60 * second)
  private static let seconds = RateWindow(slots: 3, span: second)
  private let toggl = RateGate(minute, seconds)

  /// Sends as fast as the gate lets it, one request after another; returns when each left.
  private func departures(_ n: Int, through limiter: inout RateLimiter, from start: Int64 = 0) -> [Int64] {
    var now = start
    return (0..<n).map { _ in
      while let wait = limiter.request(now: now), wait > 0 { now += wait }
      return now
    }
  }

  @Test("T1: 60 requests at once leave three in a second, the last one after 19 s")
  func sixtyAtOnce() {
    var limiter = RateLimiter(toggl)
    let times = departures(60, through: &limiter)
    #expect(times == (0..<60).map { ($0 / 3) * second })
    #expect(times.last == 19 * second)
  }

  @Test("T1: the 61st request waits 41 s behind 60 that left as fast as they could")
  func sixtyFirst() {
    var limiter = RateLimiter(toggl)
    let last = departures(60, through: &limiter)[59]
    #expect(limiter.wait(now: last) == 41 * second)
  }

  @Test(
    "T1: never more than 60 in a half-open minute nor 3 in a half-open second, and 60 in the next minute again"
  )
  func noWindowHoldsMore() {
    var limiter = RateLimiter(toggl)
    let times = departures(600, through: &limiter, from: 123_457)
    for (i, time) in times.enumerated() {
      #expect(times[i...].prefix { $0 < time + 60 * second }.count <= 60)
      #expect(times[i...].prefix { $0 < time + second }.count <= 3)
    }
    #expect(times[599] == 123_457 + 559 * second)
  }

  @Test("T1: a window is a sliding one: a true leaky bucket of 60 would let 60 more leave within the minute")
  func notALeakyBucket() {
    var limiter = RateLimiter(RateGate(Self.minute))
    #expect(limiter.request(60, now: 0) == 0)
    #expect(limiter.request(now: 59_999_999) == 1)
    #expect(limiter.request(60, now: 60 * second) == 0)
  }

  @Test("T2: nine slots are there at once, or the pull waits until there are nine")
  func nineAtOnce() {
    var limiter = RateLimiter(RateGate(Self.minute))
    for i in 0..<52 { #expect(limiter.request(now: Int64(i) * 100_000) == 0) }
    // The ninth from the end of the window is the first request: 52 + 9 − 60 = 1 has to leave.
    #expect(limiter.request(9, now: 10 * second) == 50 * second)
    #expect(limiter.request(8, now: 10 * second) == 0)
  }

  @Test("T2: nine GETs of a pull leave in waves of three")
  func waves() {
    var limiter = RateLimiter(toggl)
    #expect(limiter.wait(for: 9, in: .first, now: 0) == 0)
    #expect(departures(9, through: &limiter) == [0, 0, 0, 1, 1, 1, 2, 2, 2].map { $0 * second })
  }

  @Test("T1: more requests at once than a window has slots never leave together")
  func impossible() {
    var limiter = RateLimiter(toggl)
    #expect(limiter.request(4, now: 0) == nil)
    #expect(limiter.wait(for: 61, in: .first, now: 0) == nil)
    #expect(limiter.wait(for: 4, in: .first, now: 0) == 0)
  }

  @Test("T1: each of the two windows refuses by itself")
  func eachRefuses() {
    var limiter = RateLimiter(RateGate(.init(slots: 2, span: 10 * second), .init(slots: 1, span: second)))
    #expect(limiter.request(now: 0) == 0)
    #expect(limiter.request(now: 0) == second)
    #expect(limiter.request(now: second) == 0)
    #expect(limiter.request(now: 2 * second) == 8 * second)
  }

  @Test("T1: a log that has been silent for days is empty, and one with a span of days keeps to it")
  func longTimes() {
    let day = 86_400 * second
    var limiter = RateLimiter(toggl)
    #expect(departures(60, through: &limiter).count == 60)
    // 2^32 µs later the kept times would look like new ones.
    #expect(limiter.request(3, now: 1 << 32) == 0)
    var slow = RateLimiter(RateGate(.init(slots: 2, span: 10 * day)))
    #expect(slow.request(2, now: 7) == 0)
    let wait = slow.wait(now: 5 * day) ?? 0
    #expect(wait >= 5 * day + 7 && wait < 5 * day + 7 + 1_000)
  }

  @Test("T1: any time and a clock that goes back are safe, and never let more through")
  func hostileClocks() {
    for now: Int64 in [.min, -1, 0, 1, .max / 2] {
      var limiter = RateLimiter(toggl)
      #expect(limiter.request(3, now: now) == 0)
      #expect(limiter.wait(now: now) == second)
    }
    var last = RateLimiter(toggl)
    #expect(last.request(3, now: .max) == 0)
    #expect(last.wait(now: .max) != nil)
    var limiter = RateLimiter(toggl)
    #expect(limiter.request(3, now: 10 * second) == 0)
    #expect(limiter.request(now: 5 * second) == 6 * second)
  }
}
