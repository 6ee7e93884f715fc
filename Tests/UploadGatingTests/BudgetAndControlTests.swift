import TestSupport
import Testing
import UploadGating

private let second: Int64 = 1_000_000

@Suite("Retry budgets (O3)")
struct RetryBudgetTests {
  @Test("O3: a run has so many retries, the next run has them again")
  func perRun() {
    let budget = RetryBudget(perRun: 2)
    var state = RetryBudget.State()
    for _ in 0..<2 {
      #expect(budget.permission(state, now: 0) == .allowed)
      budget.take(&state, now: 0)
    }
    #expect(budget.permission(state, now: 0) == .refusedForThisRun)
    budget.startRun(&state)
    #expect(budget.permission(state, now: 0) == .allowed)
  }

  @Test("O3: ten successes earn one retry once the saved ones are gone")
  func bucket() {
    let budget = RetryBudget(bucket: .init(capacity: 3, perSuccess: 100))
    var state = RetryBudget.State()
    for _ in 0..<3 {
      #expect(budget.permission(state, now: 0) == .allowed)
      budget.take(&state, now: 0)
    }
    for _ in 0..<9 {
      budget.recordSuccess(&state, now: 0)
      #expect(budget.permission(state, now: 0) == .refused(until: nil))
    }
    budget.recordSuccess(&state, now: 0)
    #expect(budget.permission(state, now: 0) == .allowed)
    for _ in 0..<1_000 { budget.recordSuccess(&state, now: 0) }
    #expect(state.missing == 0)
  }

  // SRE book, chapter 21: with a retry budget of 10 % an overload grows to 1.1 times, not to three times.
  @Test(
    "with 10 % of a token for each first attempt retries are a tenth of them, once the saved ones are gone")
  func perRequest() {
    let budget = RetryBudget(bucket: .init(capacity: 10, perSuccess: 0, perRequest: 100))
    var state = RetryBudget.State()
    var retries = 0
    for _ in 0..<10_000 {
      budget.recordRequest(&state, now: 0)
      if budget.permission(state, now: 0) == .allowed {
        budget.take(&state, now: 0)
        retries += 1
      }
    }
    #expect((1_000...1_010).contains(retries))
  }

  // aws-sdk-cpp's RetryStrategy.cpp: 500 tokens, a retry takes 5 and one after a time-out 10, a success returns what it took, or 1.
  @Test(
    "AWS's bucket: a hundred retries after answers, fifty after time-outs, five first successes for one retry"
  )
  func aws() {
    let budget = RetryBudget(
      bucket: .init(capacity: 100, perSuccess: 200, perRetriedSuccess: 1_000, perTimeout: 1_000))
    func retries(timedOut: Bool) -> (Int, RetryBudget.State) {
      var state = RetryBudget.State()
      var count = 0
      while budget.permission(state, now: 0) == .allowed {
        budget.take(&state, now: 0)
        budget.recordFailure(&state, hasAnswer: !timedOut, now: 0)
        count += 1
      }
      return (count, state)
    }
    #expect(retries(timedOut: true).0 == 50)
    var (count, state) = retries(timedOut: false)
    #expect(count == 100)
    for _ in 0..<5 {
      #expect(budget.permission(state, now: 0) != .allowed)
      budget.recordSuccess(&state, now: 0)
    }
    #expect(budget.permission(state, now: 0) == .allowed)
    budget.take(&state, now: 0)
    budget.recordSuccess(&state, isRetry: true, now: 0)
    #expect(budget.permission(state, now: 0) == .allowed)
  }

  @Test("O3: with a trickle the next token's time is known, to the microsecond")
  func trickle() {
    let budget = RetryBudget(bucket: .init(capacity: 1, perSuccess: 250, trickle: 60 * second))
    var state = RetryBudget.State()
    budget.take(&state, now: 5 * second)
    #expect(budget.permission(state, now: 5 * second) == .refused(until: 65 * second))
    budget.recordSuccess(&state, now: 5 * second)
    #expect(budget.permission(state, now: 5 * second) == .refused(until: 50 * second))
    #expect(budget.permission(state, now: 50 * second - 1) != .allowed)
    #expect(budget.permission(state, now: 50 * second) == .allowed)
  }

  @Test("O3: whatever the trickle says about the next token, a token is there then")
  func trickleKeepsItsWord() {
    for trickle in [1, 7, 999, 1_001, 60_000_001, Int64.max] {
      let budget = RetryBudget(bucket: .init(capacity: 2, perSuccess: 1, trickle: trickle))
      var state = RetryBudget.State()
      budget.take(&state, now: 3)
      budget.take(&state, now: 3)
      guard case .refused(let until?) = budget.permission(state, now: 3) else {
        Issue.record("no time at a trickle of \(trickle)")
        continue
      }
      #expect(budget.permission(state, now: until) == .allowed)
    }
  }
}

@Suite("Backpressure controller (O5)")
struct BackpressureControllerTests {
  private let controller = BackpressureController(longestConcurrency: 8, smallestBatch: 10, largestBatch: 500)

  @Test("O5: a 429 or a 5xx halves the uploads at once, down to one, and leaves the batch size")
  func overload() {
    var state = BackpressureController.State()
    #expect(controller.concurrency(state) == 8)
    for expected in [4, 2, 1, 1] {
      controller.record(.overload, &state)
      #expect(controller.concurrency(state) == expected)
    }
    #expect(controller.batchEvents(state) == 500)
  }

  @Test("O5: successes bring one more upload a round")
  func additiveIncrease() {
    var state = BackpressureController.State()
    for _ in 0..<4 { controller.record(.overload, &state) }
    controller.record(.success, &state)
    #expect(controller.concurrency(state) == 2)
    controller.record(.success, &state)
    #expect(controller.concurrency(state) == 2)
    controller.record(.success, &state)
    #expect(controller.concurrency(state) == 3)
    for _ in 0..<1_000 { controller.record(.success, &state) }
    #expect(controller.concurrency(state) == 8)
  }

  @Test("O5: a time-out and a 413 halve the batch, a success adds a step")
  func batchSize() {
    var state = BackpressureController.State()
    controller.record(.tooLarge, &state)
    #expect(controller.batchEvents(state) == 250)
    #expect(controller.concurrency(state) == 8)
    controller.record(.timeOut, &state)
    #expect(controller.batchEvents(state) == 125)
    #expect(controller.concurrency(state) == 4)
    controller.record(.success, &state)
    #expect(controller.batchEvents(state) == 135)
    for _ in 0..<10 { controller.record(.tooLarge, &state) }
    #expect(controller.batchEvents(state) == 10)
  }

  @Test("O5: an answer slower than the target halves both, one that is not leaves them to grow")
  func latency() {
    let controller = BackpressureController(
      longestConcurrency: 8, smallestBatch: 10, largestBatch: 500, batchStep: 10, targetLatency: 2_000_000)
    var state = BackpressureController.State()
    controller.record(controller.signal(status: 200, latency: 2_000_001), &state)
    #expect(controller.concurrency(state) == 4 && controller.batchEvents(state) == 250)
    controller.record(controller.signal(status: 200, latency: 2_000_000), &state)
    #expect(controller.batchEvents(state) == 260)
    #expect(controller.signal(status: 200, latency: nil) == .success)
    #expect(controller.signal(status: 503, latency: 5_000_000) == .overload)
    #expect(BackpressureController().signal(status: 200, latency: .max) == .success)
  }

  @Test("O5: the gap between uploads doubles at each sign of overload and shrinks with each success")
  func pace() {
    let controller = BackpressureController(shortestGap: 100_000, longestGap: 1_000_000)
    var pace = BackpressureController.Pace()
    var gaps: [Int64] = []
    for _ in 0..<6 {
      controller.record(.overload, &pace)
      gaps.append(pace.gap)
    }
    #expect(gaps == [100_000, 200_000, 400_000, 800_000, 1_000_000, 1_000_000])
    pace.latest = 7_000_000
    #expect(controller.earliest(pace) == 8_000_000)
    controller.record(.success, &pace)
    #expect(pace.gap == 875_000)
    // 0.875^n falls below a tenth after 18 of them.
    for _ in 0..<17 { controller.record(.success, &pace) }
    #expect(pace.gap == 0)
    #expect(controller.earliest(pace) < 0)
    #expect(!BackpressureController().paces)
  }

  @Test("O5: what each status says")
  func signals() {
    #expect(BackpressureController.signal(status: 204) == .success)
    #expect(BackpressureController.signal(status: 429) == .overload)
    #expect(BackpressureController.signal(status: 503) == .overload)
    #expect(BackpressureController.signal(status: 413) == .tooLarge)
    #expect(BackpressureController.signal(status: 0) == .timeOut)
    #expect(BackpressureController.signal(status: 404) == .other)
  }
}

@Suite("Client-side throttling")
struct AdaptiveThrottleTests {
  private func state(requests: Int, accepts: Int, _ throttle: AdaptiveThrottle) -> AdaptiveThrottle.State {
    var state = AdaptiveThrottle.State()
    for _ in 0..<requests { _ = throttle.rejects(&state, now: 0, word: .max) }
    for _ in 0..<accepts { throttle.recordAccept(&state, now: 0) }
    return state
  }

  @Test(
    "So many words out of all are rejected as (requests − K · accepts) / (requests + 1); none while at least half are accepted",
    arguments: [
      (0, 0, 2_000, 0.0), (10, 5, 2_000, 0), (10, 1, 2_000, 8 / 11.0), (99, 0, 2_000, 0.99),
      (10, 5, 1_100, 4.5 / 11),
    ])
  func share(requests: Int, accepts: Int, factor: Int, probability: Double) {
    let throttle = AdaptiveThrottle(factor: factor)
    let state = state(requests: requests, accepts: accepts, throttle)
    let rejected = (0..<1_100).filter { i in
      var copy = state
      return throttle.rejects(&copy, now: 0, word: UInt64(i) * (.max / 1_100))
    }
    // The word at the edge is one of them.
    #expect(rejected.count == (probability == 0 ? 0 : Int((probability * 1_100).rounded()) + 1))
    #expect(rejected == Array(0..<rejected.count))
  }

  @Test(
    "Rejected requests count among the requests, and after two minutes they fade within a twelfth of that")
  func window() {
    let throttle = AdaptiveThrottle()
    var state = state(requests: 19, accepts: 0, throttle)
    #expect(throttle.rejects(&state, now: 0, word: 0))
    for (time, requests) in [(0, 20), (120, 20), (125, 10), (129, 2), (130, 0), (1_000_000, 0)] {
      #expect(throttle.counts(state, now: Int64(time) * second).requests == requests, "\(time) s")
    }
    #expect(!throttle.rejects(&state, now: 130 * second, word: 0))
  }

  @Test("The window is cut where the client's own first request was, at no time of all clients")
  func ownCuts() {
    let throttle = AdaptiveThrottle()
    for first in [0, 7, 29, 31, 59] as [Int64] {
      var state = AdaptiveThrottle.State()
      for _ in 0..<20 { _ = throttle.rejects(&state, now: first * second, word: .max) }
      #expect(throttle.counts(state, now: (first + 120) * second).requests == 20, "\(first) s")
      #expect(throttle.counts(state, now: (first + 125) * second).requests == 10, "\(first) s")
      #expect(throttle.counts(state, now: (first + 130) * second).requests == 0, "\(first) s")
    }
  }

  @Test(
    "The window has two minutes: its counts are those of a list of times, but for what comes unevenly in ten seconds"
  )
  func bruteForce() {
    let throttle = AdaptiveThrottle()
    var random = SeededGenerator(seed: 5)
    var (state, times, now) = (AdaptiveThrottle.State(), [Int64](), Int64(0))
    var (sum, expected) = (0, 0)
    for _ in 0..<20_000 {
      now += Int64(random.next() % 400_000)
      _ = throttle.rejects(&state, now: now, word: .max)
      if times.count % 3 == 0 { throttle.recordAccept(&state, now: now) }
      times.append(now)
      let (counted, accepts) = throttle.counts(state, now: now)
      let inside = times.suffix(1_000).count { $0 > now - 120 * second }
      // Some 50 requests are in the oldest part. Of those that it takes for gone or for there, others may be.
      #expect(abs(counted - inside) <= 25, "\(now): \(counted), \(inside)")
      #expect(abs(accepts * 3 - counted) <= 30)
      (sum, expected) = (sum + counted, expected + inside)
    }
    // Nothing remains of that in the mean.
    #expect(abs(Double(sum) / Double(expected) - 1) < 0.002)
  }

  @Test("Any clock and any window are safe")
  func extremes() {
    for window in [0, 1, 13, 1_000, .max] as [Int64] {
      let throttle = AdaptiveThrottle(factor: 1_000_000, window: window)
      var state = AdaptiveThrottle.State()
      for now in [.min, -1, 0, 5, .max, 3, .max - 1, .max] as [Int64] {
        _ = throttle.rejects(&state, now: now, word: .max)
        throttle.recordAccept(&state, now: now)
        let (requests, accepts) = throttle.counts(state, now: now)
        #expect((1...8).contains(requests) && requests == accepts)
      }
    }
  }
}

@Suite("Priority lanes (O8)")
struct PriorityLanesTests {
  @Test("O8: what the user waits for goes first, then the background")
  func strict() {
    let lanes = PriorityLanes()
    var state = PriorityLanes.State()
    for _ in 0..<1_000 {
      #expect(lanes.next(&state, interactiveDue: true, backgroundDue: true) == .interactive)
    }
    #expect(lanes.next(&state, interactiveDue: false, backgroundDue: true) == .background)
    #expect(lanes.next(&state, interactiveDue: false, backgroundDue: false) == nil)
  }

  @Test("O8: with oneBelowAfter the background is not starved")
  func fair() {
    let lanes = PriorityLanes(oneBelowAfter: 3)
    var state = PriorityLanes.State()
    let taken = (0..<8).map { _ in lanes.next(&state, interactiveDue: true, backgroundDue: true) }
    let four: [PriorityLanes.Lane?] = [.interactive, .interactive, .interactive, .background]
    #expect(taken == four + four)
  }

  @Test("O8: as large a share of words is interactive as is said")
  func share() {
    for share in [0, 1, 300_000, 999_999, 1_000_000] {
      let lanes = PriorityLanes(interactivePartsPerMillion: share)
      var word: UInt64 = 5
      let found = (0..<100_000).count { _ in
        // Knuth's linear congruential generator.
        word = word &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return lanes.lane(word: word) == .interactive
      }
      // Five standard deviations of a binomial count.
      let (n, p) = (100_000.0, Double(share) / 1e6)
      #expect(abs(Double(found) - n * p) <= 5 * (n * p * (1 - p)).squareRoot() + (share == 1 ? 2 : 0))
    }
  }
}
