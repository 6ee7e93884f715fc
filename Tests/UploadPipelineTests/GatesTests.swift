import ShippedQuirks
import TestClients
import TestSupport
import Testing
import UploadGating
import UploadPipeline
import UploadRetry

@Suite("Gates between a client and the network")
struct GatesTests {
  /// A client without retry state of its own and with batches of one event, so that only the gates hold it back.
  private func desk(
    uploads: UInt32 = 1, wakes: Bool = true, random: any RandomNumberGenerator = Constant.low,
    _ change: (inout ClientGates) -> Void
  ) -> Desk {
    var config = HTTPConfig()
    config.rateLimit.isEnabled = false
    config.backoff.isEnabled = false
    var options = ClientOptions { ($0.uploads, $0.wakesByTimer, $0.maximumBatchEvents) = (uploads, wakes, 1) }
      .with(.withoutRetryState)
    change(&options.gates)
    return Desk(options, config, random: random)
  }

  @Test(
    "A window lets so many leave in a span, and the held run goes on when it may, without a timer too (T1)")
  func window() {
    let desk = desk(uploads: .max, wakes: false) {
      $0.rateGate = RateGate(RateWindow(slots: 2, span: seconds(10)))
    }
    #expect(desk.flush(3) == ["send 0 #0", "send 1 #0", "wake 1010.0"])
    desk.pass(4)
    // What comes meanwhile waits for its turn.
    #expect(desk.flush(1) == ["wake 1010.0"])
    #expect(desk.answer("0", 200) == ["delivered 0", "wake 1010.0"])
    desk.pass(6)
    #expect(desk.wakeUp() == ["send 2 #0", "send 3 #0"])
  }

  @Test("A whole run waits until there is a slot for each of its requests (T2)")
  func wholeRun() {
    let desk = desk(uploads: .max) {
      $0.rateGate = RateGate(RateWindow(slots: 3, span: seconds(10)))
      $0.reservesWholeRun = true
    }
    #expect(desk.flush(2) == ["send 0 #0", "send 1 #0"])
    _ = desk.answer("0", 200)
    _ = desk.answer("1", 200)
    desk.pass(4)
    // One slot is free; the run needs two.
    #expect(desk.flush(2) == ["wake 1010.0"])
    desk.pass(6)
    #expect(desk.wakeUp() == ["send 2 #0", "send 3 #0"])
  }

  @Test("A trigger between two waves of a whole run leaves it as it is: it has its slots (T2)")
  func triggerAmidWholeRun() {
    let desk = desk(uploads: .max) {
      $0.rateGate = RateGate(
        RateWindow(slots: 4, span: seconds(60)), RateWindow(slots: 2, span: seconds(1)))
      $0.reservesWholeRun = true
    }
    #expect(desk.flush(6) == ["send 0 #0", "send 1 #0", "wake 1001.0"])
    desk.pass(0.5)
    // Two of the four slots are left; a run that started over would wait until all are free.
    #expect(desk.flush() == ["wake 1001.0"])
    desk.pass(0.5)
    #expect(desk.wakeUp() == ["send 2 #0", "send 3 #0", "wake 1060.0"])
  }

  /// The events that leave one after the other, of those that a flush has sealed; each is answered 200.
  private func order(_ n: Int, oneBelowAfter: Int?) throws -> [Int] {
    let desk = desk(random: SeededGenerator(seed: 4)) {
      $0.lanes = PriorityLanes(interactivePartsPerMillion: 400_000, oneBelowAfter: oneBelowAfter)
    }
    var (log, sent) = (desk.flush(n), [Int]())
    while let line = log.first(where: { $0.hasPrefix("send ") }) {
      let event = try #require(Int(line.split(separator: " ")[1]))
      sent.append(event)
      log = desk.answer("\(event)", 200)
    }
    return sent
  }

  @Test("One queue in two lanes: each from its oldest to its newest, what users wait for first (O8)")
  func lanes() throws {
    let strict = try order(40, oneBelowAfter: nil)
    #expect(strict.sorted() == Array(0..<40))
    let turn = try #require(strict.indices.dropFirst().first { strict[$0] < strict[$0 - 1] })
    let (interactive, background) = (Array(strict[..<turn]), Array(strict[turn...]))
    #expect(interactive == interactive.sorted() && background == background.sorted())
    #expect((8...24).contains(interactive.count))
    // The same lanes, and after each two of the one, one of the other.
    var (left, right) = (interactive[...], background[...])
    var fair: [Int] = []
    while !left.isEmpty || !right.isEmpty {
      fair += left.prefix(2)
      left = left.dropFirst(2)
      fair += left.isEmpty ? Array(right) : Array(right.prefix(1))
      right = left.isEmpty ? [] : right.dropFirst()
    }
    #expect(try order(40, oneBelowAfter: 2) == fair)
  }

  @Test("What is sealed while the background leaves goes before the rest of it (O8)")
  func lanesWhileLooping() throws {
    let strict = try order(40, oneBelowAfter: nil)
    let turn = try #require(strict.indices.dropFirst().first { strict[$0] < strict[$0 - 1] })
    let interactive = Set(strict[..<turn])
    let desk = desk(random: SeededGenerator(seed: 4)) {
      $0.lanes = PriorityLanes(interactivePartsPerMillion: 400_000)
    }
    // Up to a background upload; then all the others are sealed.
    let first = try #require((0..<40).first { !interactive.contains($0) })
    var log: [String] = []
    for n in 0...first {
      log = desk.flush(1)
      #expect(log == ["send \(n) #0"])
      if n < first { _ = desk.answer("\(n)", 200) }
    }
    #expect(desk.flush(39 - first) == [])
    let next = try #require(interactive.sorted().first { $0 > first })
    #expect(desk.answer("\(first)", 200) == ["delivered \(first)", "send \(next) #0"])
  }

  @Test("After enough failures the breaker lets nothing leave, then one probe; its success closes it (O6)")
  func breaker() {
    let desk = desk(uploads: 2) {
      $0.breaker = CircuitBreaker(requests: 4, minimumFailures: 2, openTime: seconds(30))
    }
    #expect(desk.flush(4) == ["send 0 #0", "send 1 #0"])
    #expect(desk.answer("0", 503) == ["send 2 #0"])
    #expect(desk.answer("1", 503) == ["wake 1030.0"])
    // The answer of an upload that was under way changes nothing.
    #expect(desk.answer("2", 200) == ["delivered 2", "wake 1030.0"])
    desk.pass(10)
    #expect(desk.flush() == ["wake 1030.0"])
    desk.pass(20)
    #expect(desk.flush() == ["send 0 #1"])
    #expect(desk.flush() == [])
    #expect(desk.answer("0", 200) == ["delivered 0", "send 1 #1", "send 3 #0"])
  }

  @Test("What an open breaker stops fails at once, and while a probe is out (O6)")
  func breakerFails() {
    let desk = desk(uploads: 2) {
      $0.breaker = CircuitBreaker(requests: 4, minimumFailures: 2, openTime: seconds(30), failsWhenOpen: true)
    }
    #expect(desk.flush(2) == ["send 0 #0", "send 1 #0"])
    #expect(desk.answer("0", 503) == [])
    #expect(desk.answer("1", 503) == [])
    desk.pass(10)
    #expect(desk.flush(1) == ["lost 0 refused", "lost 1 refused", "lost 2 refused"])
    desk.pass(20)
    #expect(desk.flush(2) == ["send 3 #0", "lost 4 refused"])
    #expect(desk.answer("3", 200) == ["delivered 3"])
    #expect(desk.flush(1) == ["send 5 #0"])
  }

  @Test("A retry that an open breaker stops fails, first tries leave (O6)")
  func breakerOfRetriesFails() {
    let desk = desk(uploads: 2) {
      $0.breaker = CircuitBreaker(
        requests: 4, minimumFailures: 2, openTime: seconds(30), retriesOnly: true, failsWhenOpen: true)
    }
    #expect(desk.flush(2) == ["send 0 #0", "send 1 #0"])
    #expect(desk.answer("0", 503) == [])
    #expect(desk.answer("1", 503) == [])
    #expect(desk.flush(1) == ["lost 0 refused", "lost 1 refused", "send 2 #0"])
  }

  // The tokens are counted as gRFC A6 says: a failure takes one, a success gives a tenth; with five of ten or fewer no retry.
  @Test(
    "gRPC's throttling of retries sends and loses what a count of its tokens says, call by call",
    arguments: [0.05, 0.1, 0.2, 0.5])
  func retryThrottling(failing share: Double) {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxRetryCount = 3
    var options = ClientOptions { ($0.uploads, $0.wakesByTimer, $0.maximumBatchEvents) = (1, true, 1) }
    options.policy.immediateRetries = 10
    options.gates.retryBudget = RetryBudget(maxTokens: 10, tokenRatio: 100)
    let desk = Desk(options, config, random: Constant.low)
    var random = SeededGenerator(seed: 12)
    var (tokens, sent, refused) = (10_000, 0, 0)
    var (expected, seen): ([String], [String]) = ([], [])
    for call in 0..<1_500 {
      var log = desk.flush(1)
      for attempt in 0...3 {
        sent += 1
        expected.append("send \(call) #\(attempt)")
        seen += log
        if Double(random.next() >> 11) / 0x1p53 >= share {
          tokens = min(tokens + 100, 10_000)
          expected.append("delivered \(call)")
          seen += desk.answer("\(call)", 200)
          break
        }
        tokens = max(tokens - 1_000, 0)
        let failed = desk.answer("\(call)", 503)
        log = desk.wakeUp()
        guard tokens <= 5_000 || attempt == 3 else { continue }
        expected.append("lost \(call) \(attempt == 3 ? "retryLimit" : "refused")")
        refused += attempt == 3 ? 0 : 1
        seen += failed
        break
      }
    }
    let difference = zip(seen, expected).first { $0 != $1 }
    #expect(difference == nil && seen.count == expected.count)
    #expect(refused > 0 || share < 0.1)
    #expect(share < 0.2 || Double(sent) < 1_500 * 1.01, "\(sent) calls")
  }

  @Test("A breaker of retries alone lets first tries leave while it is open, and a retry is its probe (O6)")
  func breakerOfRetries() {
    let desk = desk(uploads: 2) {
      $0.breaker = CircuitBreaker(
        requests: 4, minimumFailures: 2, openTime: seconds(30), retriesOnly: true)
    }
    #expect(desk.flush(2) == ["send 0 #0", "send 1 #0"])
    #expect(desk.answer("0", 503) == [])
    #expect(desk.answer("1", 503) == [])
    desk.pass(10)
    #expect(desk.flush(1) == ["send 2 #0", "wake 1030.0"])
    // It stays open whatever first tries say.
    #expect(desk.answer("2", 200) == ["delivered 2", "wake 1030.0"])
    desk.pass(20)
    #expect(desk.flush() == ["send 0 #1"])
    #expect(desk.answer("0", 200) == ["delivered 0"])
    #expect(desk.flush() == ["send 1 #1"])
  }

  @Test("A query that has failed too often is refused and lost, or held until its window is over (K1)")
  func failureWindow() {
    let refusing = desk { $0.failureWindow = FailureWindow(failures: 2, span: seconds(60)) }
    #expect(refusing.flush(3) == ["send 0 #0"])
    #expect(refusing.answer("0", 404) == ["lost 0 status", "send 1 #0"])
    #expect(refusing.answer("1", 404) == ["lost 1 status", "lost 2 refused"])
    let holding = desk {
      $0.failureWindow = FailureWindow(failures: 2, span: seconds(60))
      $0.failureWindow?.refuses = false
    }
    #expect(holding.flush(3) == ["send 0 #0"])
    #expect(holding.answer("0", 404) == ["lost 0 status", "send 1 #0"])
    #expect(holding.answer("1", 404) == ["lost 1 status", "wake 1060.0"])
    holding.pass(60)
    #expect(holding.wakeUp() == ["send 2 #0"])
  }

  @Test(
    "What is flushed while a 429 makes the client wait is lost, what was there before stays",
    arguments: [false, true])
  func losesWhileRateLimited(isRebatch: Bool) {
    var options = ClientOptions {
      ($0.isRebatch, $0.wakesByTimer, $0.maximumBatchEvents) = (isRebatch, true, isRebatch ? 5 : 1)
    }
    options.gates.losesWhileRateLimited = true
    let desk = Desk(options, HTTPConfig(), random: Constant.low)
    #expect(desk.flush(1) == ["send 0 #0"])
    #expect(desk.answer("0", 429, retryAfter: 10) == ["wake 1010.0"])
    #expect(desk.flush(isRebatch ? 2 : 1).contains { $0.hasPrefix("lost 1") && $0.hasSuffix("refused") })
    desk.pass(10)
    #expect(desk.wakeUp() == ["send 0 #1"])
    #expect(desk.answer("0", 200) == ["delivered 0"])
    #expect(desk.flush(1).count == 1)
  }

  @Test("After a 429 or a 503 each request draws its own wait, once, and a success clears it (K2)")
  func projectDelay() {
    let desk = desk(uploads: 4, wakes: false, random: SeededGenerator(seed: 1)) {
      $0.projectDelay = ProjectDelay(base: seconds(1_000), longest: seconds(1_000))
    }
    #expect(desk.flush(4).count == 4)
    for event in 0..<4 { #expect(desk.answer("\(event)", 503) == []) }
    /// When each leaves, looked at every second: nobody's wait is drawn anew at each look.
    var left: [String: Int] = [:]
    for second in 1...1_000 {
      desk.pass(1)
      for line in desk.flush() {
        let event = "\(line.split(separator: " ")[1])"
        if left[event] == nil { left[event] = second }
        _ = desk.answer(event, 404)
      }
    }
    #expect(left.count == 4 && Set(left.values).count == 4)
    // The smallest of hundreds of draws from up to 1,000 s would be next to nothing.
    #expect(left.values.max()! > 100, "\(left)")
  }

  @Test("A request draws its wait when it is made: a failure that comes later leaves it alone (K2)")
  func drawnOnce() {
    let desk = desk(uploads: 4, wakes: false, random: SeededGenerator(seed: 1)) {
      $0.projectDelay = ProjectDelay(base: seconds(100), longest: seconds(1_000))
    }
    #expect(desk.flush(4).count == 4)
    for event in 0..<4 { #expect(desk.answer("\(event)", 503) == []) }
    desk.pass(1)
    /// When each may leave, as each of the four is made anew.
    var ends: [Int64] = []
    desk.client.trigger(.interval, at: desk.now)
    for case .step(.heldByGate(let until?)) in desk.client.takeActions() { ends.append(until) }
    #expect(ends.count == 4)
    var left: [UInt32: Int64] = [:]
    while left.count < 4, desk.now < seconds(3_000) {
      desk.pass(1)
      desk.client.trigger(.interval, at: desk.now)
      for case .send(let batch, let events, _, _) in desk.client.takeActions() {
        if left[events.lowerBound] == nil { left[events.lowerBound] = desk.now }
        // One more failure, from which a new wait would begin.
        desk.client.answered(batch, .status(503, retryAfter: nil), at: desk.now)
      }
    }
    for (event, end) in ends.enumerated() {
      let time = left[UInt32(event)] ?? 0
      #expect(time >= end && time < end + seconds(1), "\(event): \(time) for \(end)")
    }
  }

  @Test("A run sends so many retries; others wait for the next one, first tries don't (O3)")
  func retryBudget() {
    let desk = desk(wakes: false) { $0.retryBudget = RetryBudget(perRun: 1) }
    #expect(desk.flush(2) == ["send 0 #0"])
    #expect(desk.answer("0", 503) == ["send 1 #0"])
    #expect(desk.answer("1", 503) == [])
    #expect(desk.flush(1) == ["send 0 #1"])
    #expect(desk.answer("0", 404) == ["lost 0 status", "send 2 #0"])
    #expect(desk.answer("2", 200) == ["delivered 2"])
    #expect(desk.flush() == ["send 1 #1"])
  }

  @Test(
    "A client that refuses what finds its budget spent gives that retry up, and goes on with first tries (O3)"
  )
  func refusingBudget() {
    let desk = desk(wakes: false) { $0.retryBudget = RetryBudget(perRun: 1, refusesWhenSpent: true) }
    #expect(desk.flush(2) == ["send 0 #0"])
    #expect(desk.answer("0", 503) == ["send 1 #0"])
    #expect(desk.answer("1", 503) == [])
    #expect(desk.flush(1) == ["send 0 #1"])
    #expect(desk.answer("0", 404) == ["lost 0 status", "lost 1 refused", "send 2 #0"])
    #expect(desk.answer("2", 200) == ["delivered 2"])
  }

  @Test("The success of a retry after a 429 gives back what a retry's success is worth (O3)")
  func retriedSuccess() {
    var options = ClientOptions { ($0.wakesByTimer, $0.maximumBatchEvents) = (true, 1) }
    options.gates.retryBudget = RetryBudget(
      bucket: .init(capacity: 1, perSuccess: 0, perRetriedSuccess: 1_000))
    let desk = Desk(options, HTTPConfig(), random: Constant.low)
    for event in 0...2 {
      #expect(desk.flush(1) == ["send \(event) #0"])
      _ = desk.answer("\(event)", 429)
      desk.pass(301)
      #expect(desk.wakeUp().contains { $0.hasPrefix("send \(event) ") }, "\(event)")
      #expect(desk.answer("\(event)", 200) == ["delivered \(event)"])
    }
  }

  @Test("After signs of overload fewer uploads run at once, and batches are smaller (O5)")
  func controller() {
    let desk = desk(uploads: .max, wakes: false) {
      $0.controller = BackpressureController(longestConcurrency: 4)
    }
    #expect(desk.flush(5).count == 4)
    #expect(desk.answer("0", 503) == [])
    // Three of two are under way.
    #expect(desk.answer("1", 404) == ["lost 1 status"])
    #expect(desk.answer("2", 404) == ["lost 2 status", "send 4 #0"])

    var options = ClientOptions().with(.withoutRetryState)
    options.gates.controller = BackpressureController(smallestBatch: 1, largestBatch: 8, batchStep: 0)
    let sizes = Desk(options)
    #expect(sizes.flush(8) == ["send 0-7 #0"])
    #expect(sizes.answer("0-7", 413) == ["lost 0-7 status"])
    #expect(sizes.flush(8) == ["send 8-11 #0"])
  }

  @Test("A slow answer halves the batches to come, a quick one does not (O5)")
  func slowAnswers() {
    var options = ClientOptions().with(.withoutRetryState)
    options.gates.controller = BackpressureController(
      smallestBatch: 1, largestBatch: 8, batchStep: 0, targetLatency: seconds(2))
    let desk = Desk(options)
    #expect(desk.flush(8) == ["send 0-7 #0"])
    desk.pass(2)
    #expect(desk.answer("0-7", 200) == ["delivered 0-7"])
    #expect(desk.flush(8) == ["send 8-15 #0"])
    desk.pass(2.5)
    #expect(desk.answer("8-15", 200) == ["delivered 8-15"])
    #expect(desk.flush(8) == ["send 16-19 #0"])
  }

  @Test("After a sign of overload the next upload leaves a gap later, and the run goes on by itself (O5)")
  func pacing() {
    let desk = desk(wakes: false) {
      $0.controller = BackpressureController(shortestGap: seconds(4), longestGap: seconds(60))
    }
    #expect(desk.flush(3) == ["send 0 #0"])
    desk.pass(1)
    #expect(desk.answer("0", 503) == ["wake 1004.0"])
    #expect(desk.flush() == ["wake 1004.0"])
    desk.pass(3)
    #expect(desk.wakeUp() == ["send 0 #1"])
    #expect(desk.answer("0", 503) == ["wake 1012.0"])
    desk.pass(8)
    #expect(desk.wakeUp().first?.hasPrefix("send") == true)
  }

  @Test("What the server would reject is rejected at the client, and looked at again after a pause")
  func throttle() {
    let desk = desk(random: SeededGenerator(seed: 1)) {
      $0.throttle = AdaptiveThrottle(factor: 1_000)
      $0.throttle?.pause = seconds(3)
    }
    #expect(desk.flush(1) == ["send 0 #0"])
    #expect(desk.loseAnswer("0") == [])
    // Of one request none was accepted: half of the next are rejected, whichever the words say.
    var rejected = 0
    for _ in 0..<40 {
      let lines = desk.flush()
      if lines == ["wake \(Double(desk.now) / 1_000_000 + 3)"] {
        rejected += 1
      } else {
        _ = desk.loseAnswer("0")
      }
      desk.pass(4)
    }
    #expect((5...39).contains(rejected), "\(rejected)")
  }

  @Test("After a rejection answers do not ask again before the pause is over, and a flush does")
  func throttlePause() {
    let desk = desk(uploads: 4) {
      $0.throttle = AdaptiveThrottle()
      $0.throttle?.pause = seconds(3)
    }
    func holds() -> Int {
      desk.client.takeActions().count {
        if case .step(.heldByGate) = $0 { true } else { false }
      }
    }
    #expect(desk.flush(1) == ["send 0 #0"])
    #expect(desk.answer("0", 200) == ["delivered 0"])
    // Of three requests one was accepted: twice as many are let through, and the lowest word finds the fourth too many.
    #expect(desk.flush(3) == ["send 1 #0", "send 2 #0", "wake 1003.0"])
    let sent = desk.client.held.filter(\.isUploading).map(\.id)
    #expect(sent.count == 2)
    desk.pass(1)
    for batch in sent {
      desk.client.answered(batch, .status(404, retryAfter: nil), at: desk.now)
      #expect(holds() == 0)
    }
    desk.client.trigger(.interval, at: desk.now)
    #expect(holds() == 1)
    desk.pass(3)
    desk.client.trigger(.wakeUp, at: desk.now)
    #expect(holds() == 1)
    #expect(desk.held == ["3"])
  }

  @Test("An upload of unknown outcome is asked about before it is sent again (O4)")
  func reconcile() {
    for wasApplied in [true, false] {
      var options = ClientOptions()
      options.gates.reconciles = true
      let desk = Desk(options)
      #expect(desk.flush(1) == ["send 0 #0"])
      #expect(desk.loseAnswer("0") == [])
      desk.pass(1)
      #expect(desk.flush() == ["ask 0 #1"])
      let batch = desk.client.held[0].id
      desk.client.answered(batch, wasApplied: wasApplied, at: desk.now)
      #expect(desk.lines() == (wasApplied ? ["delivered 0"] : ["send 0 #1"]))
      // It has been told.
      desk.client.answered(batch, wasApplied: wasApplied, at: desk.now)
      #expect(desk.lines() == [])
    }
  }

  @Test("An upload leaves when every gate lets it, and one that holds takes nothing from the others")
  func composition() {
    let desk = desk(uploads: .max) {
      $0.rateGate = RateGate(RateWindow(slots: 2, span: seconds(10)))
      $0.breaker = CircuitBreaker(requests: 4, minimumFailures: 1, openTime: seconds(15))
    }
    #expect(desk.flush(2) == ["send 0 #0", "send 1 #0"])
    // The first failure opens the breaker: until 1015, though the window has slots from 1010 on.
    #expect(desk.answer("0", 503) == [])
    #expect(desk.answer("1", 404) == ["lost 1 status"])
    desk.pass(11)
    #expect(desk.flush(3) == ["wake 1015.0"])
    desk.pass(4)
    // One probe, which takes one slot; its success lets one more leave, and the window holds the rest.
    #expect(desk.wakeUp() == ["send 0 #1"])
    #expect(desk.answer("0", 200) == ["delivered 0", "send 2 #0", "wake 1025.0"])
    desk.pass(10)
    #expect(desk.wakeUp() == ["send 3 #0", "send 4 #0"])
  }

  @Test("The client's own wait comes before the gates")
  func ownWait() {
    var options = ClientOptions { ($0.uploads, $0.wakesByTimer, $0.maximumBatchEvents) = (.max, true, 1) }
    options.gates.rateGate = RateGate(RateWindow(slots: 1, span: seconds(10)))
    let desk = Desk(options)
    #expect(desk.flush(2) == ["send 0 #0", "wake 1010.0"])
    #expect(desk.answer("0", 429, retryAfter: 30) == ["wake 1030.0"])
    desk.pass(10)
    #expect(desk.wakeUp() == ["wake 1030.0"])
    desk.pass(20)
    // The run that the window held goes on where it was.
    #expect(desk.wakeUp() == ["send 1 #0"])
    #expect(desk.answer("1", 200) == ["delivered 1", "wake 1030.0"])
    #expect(desk.wakeUp() == ["wake 1040.0"])
    desk.pass(10)
    #expect(desk.wakeUp() == ["send 0 #0"])
  }
}
