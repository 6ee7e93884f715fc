import Testing
import UploadGating

private let second: Int64 = 1_000_000

@Suite("Failure window (K1) and project delay (K2)")
struct ProjectGateTests {
  @Test("K1: nine failures block nothing, the tenth blocks until an hour after the first")
  func tenFailures() {
    let window = FailureWindow()
    var state = FailureWindow.State()
    for i in 0..<10 {
      #expect(window.blockedUntil(state, now: Int64(i) * 60 * second) == nil)
      window.recordFailure(&state, now: Int64(i) * 60 * second + 5 * second)
    }
    #expect(window.blockedUntil(state, now: 545 * second) == 3605 * second)
    #expect(window.blockedUntil(state, now: 3605 * second - 1) == 3605 * second)
    #expect(window.blockedUntil(state, now: 3605 * second) == nil)
  }

  @Test("K1: when the window has passed the count starts over")
  func startsOver() {
    let window = FailureWindow()
    var state = FailureWindow.State()
    for _ in 0..<10 { window.recordFailure(&state, now: 0) }
    for _ in 0..<9 { window.recordFailure(&state, now: 3600 * second) }
    #expect(window.blockedUntil(state, now: 3600 * second) == nil)
    window.recordFailure(&state, now: 3601 * second)
    #expect(window.blockedUntil(state, now: 3601 * second) == 7200 * second)
  }

  @Test("K1: ten failures spread over more than an hour do not block")
  func spread() {
    let window = FailureWindow()
    var state = FailureWindow.State()
    for i in 0..<30 {
      window.recordFailure(&state, now: Int64(i) * 401 * second)
      #expect(window.blockedUntil(state, now: Int64(i) * 401 * second) == nil)
    }
  }

  @Test("K1: each query has a window of its own, and exempt ones have none")
  func queries() {
    #expect(FailureWindow().window(of: 0) == 0 && FailureWindow().window(of: .max) == 0)
    let ten = FailureWindow(queries: 10)
    #expect(ten.window(of: 0) == 0 && ten.window(of: .max) == 9)
    let tenth = UInt64.max / 10
    for query in 0..<10 { #expect(ten.window(of: UInt64(query) * tenth + tenth / 2) == query) }
    let exempting = FailureWindow(queries: 10, exemptPercent: 25)
    // Exempt is what the lower half of the word says, which query the upper half.
    for upper in [0, UInt64.max >> 32] as [UInt64] {
      let quarter = UInt64(1) << 30
      #expect(exempting.window(of: upper << 32 | (quarter - 1)) == nil)
      #expect(exempting.window(of: upper << 32 | quarter) == (upper == 0 ? 0 : 9))
    }
    #expect(FailureWindow(exemptPercent: 100).window(of: .max) == nil)
  }

  @Test("K2: the wait is uniform up to 30 s after the first failure, 60 s after the second, at most 600 s")
  func delays() {
    let delay = ProjectDelay()
    #expect((1...7).map { delay.bound(failures: $0) / second } == [30, 60, 120, 240, 480, 600, 600])
    #expect(delay.bound(failures: 10_000) == 600 * second)
    var state = ProjectDelay.State()
    delay.recordFailure(&state, status: 429, now: 100 * second)
    #expect(delay.heldUntil(state, now: 100 * second, word: .max) == 130 * second)
    delay.recordFailure(&state, status: 429, now: 200 * second)
    let half = delay.heldUntil(state, now: 200 * second, word: 1 << 63) ?? 0
    #expect(abs(half - 230 * second) <= 1)
    delay.recordFailure(&state, status: 429, now: 300 * second)
    #expect(delay.heldUntil(state, now: 300 * second, word: 0) == nil)
  }

  @Test("K2: of one failure each request makes its own wait")
  func ownWaits() {
    let delay = ProjectDelay()
    var state = ProjectDelay.State()
    delay.recordFailure(&state, status: 503, now: 0)
    let waits = [UInt64.max, 1 << 63, 1 << 62].map { delay.heldUntil(state, now: 1, word: $0) ?? 0 }
    for (wait, expected) in zip(waits, [30, 15, 7.5]) {
      #expect(abs(Double(wait) / Double(second) - expected) < 1e-5)
    }
  }

  @Test("K2: where both were seen the 503s count, not the 429s")
  func both() {
    let delay = ProjectDelay()
    var state = ProjectDelay.State()
    for _ in 0..<3 { delay.recordFailure(&state, status: 429, now: 0) }
    #expect(delay.failures(state) == 3)
    #expect(delay.heldUntil(state, now: 0, word: .max) == 120 * second)
    delay.recordFailure(&state, status: 503, now: 10 * second)
    delay.recordFailure(&state, status: 429, now: 20 * second)
    #expect(delay.failures(state) == 1)
    #expect(delay.heldUntil(state, now: 20 * second, word: .max) == 40 * second)
  }

  @Test("K2: a request inside the wait is held until its end, and may leave from then on")
  func held() {
    let delay = ProjectDelay()
    var state = ProjectDelay.State()
    delay.recordFailure(&state, status: 503, now: 0)
    #expect(delay.heldUntil(state, now: 29 * second, word: .max) == 30 * second)
    #expect(delay.heldUntil(state, now: 30 * second, word: .max) == nil)
    #expect(delay.failures(state) == 1)
  }

  @Test("K2: a success clears the count and the wait")
  func cleared() {
    let delay = ProjectDelay()
    var state = ProjectDelay.State()
    for status in [429, 503, 429, 503, 503] { delay.recordFailure(&state, status: status, now: 0) }
    delay.recordSuccess(&state)
    #expect(state == ProjectDelay.State())
    #expect(delay.heldUntil(state, now: 0, word: .max) == nil)
    delay.recordFailure(&state, status: 429, now: 0)
    #expect(delay.heldUntil(state, now: 0, word: .max) == 30 * second)
  }

  @Test("K2: 429 and 503 count, other statuses do not")
  func statuses() {
    #expect((100...599).filter { ProjectDelay.counts(status: $0) } == [429, 503])
  }
}
