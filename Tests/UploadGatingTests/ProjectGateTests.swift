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

  @Test("K2: the wait is uniform up to 30 s after the first failure, 60 s after the second, at most 600 s")
  func delays() {
    let delay = ProjectDelay()
    #expect((1...7).map { delay.bound(failures: $0) / second } == [30, 60, 120, 240, 480, 600, 600])
    #expect(delay.bound(failures: 10_000) == 600 * second)
    var state = ProjectDelay.State()
    delay.recordFailure(&state, now: 100 * second, word: .max)
    #expect(state.heldUntil == 130 * second)
    delay.recordFailure(&state, now: 200 * second, word: 1 << 63)
    #expect(abs(state.heldUntil - 230 * second) <= 1)
    delay.recordFailure(&state, now: 300 * second, word: 0)
    #expect(delay.heldUntil(state, now: 300 * second) == nil)
  }

  @Test("K2: a request inside the wait is held until its end, and may leave from then on")
  func held() {
    let delay = ProjectDelay()
    var state = ProjectDelay.State()
    delay.recordFailure(&state, now: 0, word: .max)
    #expect(delay.heldUntil(state, now: 29 * second) == 30 * second)
    #expect(delay.heldUntil(state, now: 30 * second) == nil)
    #expect(state.failures == 1)
  }

  @Test("K2: a success clears the count and the wait")
  func cleared() {
    let delay = ProjectDelay()
    var state = ProjectDelay.State()
    for _ in 0..<5 { delay.recordFailure(&state, now: 0, word: .max) }
    delay.recordSuccess(&state)
    #expect(state == ProjectDelay.State())
    delay.recordFailure(&state, now: 0, word: .max)
    #expect(state.heldUntil == 30 * second)
  }

  @Test("K2: 429 and 503 count, other statuses do not")
  func statuses() {
    #expect((100...599).filter { ProjectDelay.counts(status: $0) } == [429, 503])
  }
}
