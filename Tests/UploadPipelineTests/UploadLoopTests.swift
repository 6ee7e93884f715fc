import ShippedQuirks
import TestClients
import TestSupport
import Testing
import UploadPipeline
import UploadRetry

@Suite("The upload loop of a client (S3, S16, S17)")
struct UploadLoopTests {
  private func options(_ change: (inout ClientOptions) -> Void = { _ in }) -> ClientOptions {
    var options = ClientOptions()
    change(&options)
    return options
  }

  /// Backoff off: what fails is due at once, at triggers.
  private var withoutBackoff: HTTPConfig {
    var config = HTTPConfig.withoutJitter
    config.backoff.isEnabled = false
    return config
  }

  // MARK: A flush while uploads run

  @Test("A flush that comes while uploads run joins: the running loop goes on with what it seals")
  func joins() {
    let one = Desk(options())
    #expect(one.flush(1) == ["send 0 #0"])
    #expect(one.flush(1) == [] && one.held == ["0*", "1"])
    #expect(one.answer("0", 200) == ["delivered 0", "send 1 #0"])
    // A second upload may leave at once.
    let two = Desk(options { $0.uploads = 2 })
    #expect(two.flush(1) == ["send 0 #0"])
    #expect(two.flush(1) == ["send 1 #0"])
    // What the loop has passed waits for the next.
    let failing = Desk(options(), withoutBackoff)
    #expect(failing.flush(1) == ["send 0 #0"])
    #expect(failing.flush(1) == [])
    #expect(failing.answer("0", 503) == ["send 1 #0"])
    #expect(failing.answer("1", 200) == ["delivered 1"])
    #expect(failing.flush() == ["send 0 #1"])
  }

  @Test("With a timer a batch is tried again when its wait is over, though others are under way")
  func goesBack() {
    for uploads in [2, UInt32.max] {
      let desk = Desk(options { ($0.uploads, $0.wakesByTimer) = (uploads, true) })
      #expect(desk.flush(1) == ["send 0 #0"])
      #expect(desk.flush(1) == ["send 1 #0"])
      let wakes = desk.answer("0", 503)
      #expect(wakes.count == 1 && wakes[0].hasPrefix("wake"))
      desk.pass(0.1)
      _ = desk.flush(1)
      desk.pass(10)
      // With two at once the third has the free place.
      if uploads == 2 {
        #expect(desk.wakeUp() == [])
        #expect(desk.answer("1", 200) == ["delivered 1", "send 0 #1"])
      } else {
        #expect(desk.wakeUp() == ["send 0 #1"])
      }
      #expect(desk.answer("0", 200).first == "delivered 0")
    }
    // Tried again at triggers only, it waits for the next loop.
    let gate = Desk(options { $0.uploads = 2 })
    _ = (gate.flush(1), gate.flush(1))
    #expect(gate.answer("0", 503) == [])
    gate.pass(10)
    #expect(gate.flush(1) == ["send 2 #0"])
  }

  @Test("A flush that comes while uploads run is ignored: it does not even seal")
  func ignored() {
    let desk = Desk(options { $0.flushWhileUploading = .ignored })
    #expect(desk.flush(1) == ["send 0 #0"])
    #expect(desk.flush(1) == [] && desk.held == ["0*"])
    #expect(desk.answer("0", 200) == ["delivered 0"])
    #expect(desk.held == [])
    #expect(desk.flush() == ["send 1 #0"])
  }

  @Test("A flush that comes while uploads run queues a loop: it seals, and each has a whole loop of its own")
  func queued() {
    let desk = Desk(options { $0.flushWhileUploading = .queued }, withoutBackoff)
    #expect(desk.flush(1) == ["send 0 #0"])
    #expect(desk.flush(1) == [] && desk.held == ["0*", "1"])
    #expect(desk.flush() == [])
    // The running loop goes over what was there at its start; each queued one over all, from the oldest.
    #expect(desk.answer("0", 503) == ["send 0 #1"])
    #expect(desk.answer("0", 503) == ["send 1 #0"])
    #expect(desk.answer("1", 503) == ["send 0 #2"])
    #expect(desk.answer("0", 200) == ["delivered 0", "send 1 #1"])
    #expect(desk.answer("1", 503) == [])
    #expect(desk.held == ["1"])
  }

  @Test("Queued loops that find the pipeline waiting end without a send")
  func queuedWhileWaiting() {
    let desk = Desk(options { $0.flushWhileUploading = .queued })
    _ = desk.flush(1)
    for _ in 0..<3 { #expect(desk.flush(1) == []) }
    #expect(desk.answer("0", 429, retryAfter: 10) == [])
    desk.pass(10)
    // They are over; this is one of its own.
    #expect(desk.flush() == ["send 0 #1"])
    #expect(desk.answer("0", 200) == ["delivered 0", "send 1-3 #0"])
  }

  // MARK: What a loop does

  @Test("A loop sends the due batches from the oldest to the newest, as many at once as it may")
  func order() {
    let desk = Desk(options { ($0.uploads, $0.maximumBatchEvents) = (2, 2) })
    #expect(desk.flush(7) == ["send 0-1 #0", "send 2-3 #0"])
    #expect(desk.answer("2-3", 200) == ["delivered 2-3", "send 4-5 #0"])
    #expect(desk.answer("0-1", 503) == ["send 6 #0"])
    #expect(desk.answer("6", 200) == ["delivered 6"])
    #expect(desk.answer("4-5", 200) == ["delivered 4-5"])
    #expect(desk.held == ["0-1"])
    #expect(desk.flush(1) == ["send 7 #0"])
    _ = desk.answer("7", 200)
    desk.pass(0.5)
    #expect(desk.flush() == ["send 0-1 #1"])
  }

  @Test(
    "A 429 ends the loop, even with Retry-After 0, or the same loop goes on when the wait is over at once")
  func rateLimitEndsLoop() {
    for (ends, after) in [(true, []), (false, ["send 1 #0"])] as [(Bool, [String])] {
      let desk = Desk(options { ($0.maximumBatchEvents, $0.rateLimitEndsLoop) = (1, ends) })
      #expect(desk.flush(2) == ["send 0 #0"])
      #expect(desk.answer("0", 429, retryAfter: 0) == after)
      let waiting = Desk(options { ($0.maximumBatchEvents, $0.rateLimitEndsLoop) = (1, ends) })
      _ = waiting.flush(2)
      #expect(waiting.answer("0", 429, retryAfter: 5) == [] && waiting.wait == 5)
      #expect(waiting.flush() == [])
      waiting.pass(5)
      #expect(waiting.flush() == ["send 0 #1"])
    }
  }

  @Test(
    "A client that looks at limits early drops what still waits; the global limit takes the next batch of all"
  )
  func limitsBeforeDue() {
    var config = HTTPConfig.withoutJitter
    config.backoff.baseBackoffInterval = seconds(60)
    config.rateLimit.maxRetryCount = 0
    for (check, after) in [
      (RetryPolicy.LimitsCheck.whenDue, ["lost 1 rateLimitRetryLimit"]),
      (.beforeDue, ["lost 0 rateLimitRetryLimit", "send 1 #0"]),
    ] {
      let desk = Desk(
        options {
          $0.policy.limitsCheck = check
          ($0.uploads, $0.maximumBatchEvents) = (.max, 1)
        }, config)
      #expect(desk.flush(2) == ["send 0 #0", "send 1 #0"])
      #expect(desk.answer("0", 503) == [])
      #expect(desk.answer("1", 429, retryAfter: 5) == [])
      desk.pass(5)
      #expect(desk.flush() == after)
    }
  }

  @Test("A batch that is too old while it still waits goes at the next loop of a client that looks early")
  func ageBeforeDue() {
    var config = HTTPConfig.withoutJitter
    config.backoff.baseBackoffInterval = seconds(60)
    config.backoff.maxTotalBackoffDuration = seconds(20)
    for (check, lost) in [(.whenDue, []), (.beforeDue, ["lost 0 age"])]
      as [(RetryPolicy.LimitsCheck, [String])]
    {
      let desk = Desk(options { $0.policy.limitsCheck = check }, config)
      _ = desk.flush(1)
      _ = desk.answer("0", 503)
      desk.pass(20)
      #expect(desk.flush() == [])
      desk.now += 1
      #expect(desk.flush() == lost)
    }
  }

  @Test("Answers for uploads that are not under way are ignored")
  func lateAnswers() {
    let desk = Desk(options())
    _ = desk.flush(1)
    #expect(desk.loseAnswer("0") == [])
    #expect(desk.answer("0", 200) == [] && desk.held == ["0"])
    desk.pass(0.5)
    #expect(desk.flush() == ["send 0 #1"])
    #expect(desk.answer("0", 200) == ["delivered 0"])
    #expect(desk.answer("0", 200) == [])
  }

  @Test("Without a network nothing leaves; what comes meanwhile is sealed and goes when it is back")
  func offline() {
    let desk = Desk(options())
    desk.client.setOnline(false)
    #expect(desk.flush(2) == [] && desk.held == ["0-1"])
    desk.client.setOnline(true)
    #expect(desk.flush(0, .reconnect) == ["send 0-1 #0"])
  }

  @Test("Nor does the next batch leave when an upload ends that was under way as the network went")
  func offlineMeanwhile() {
    let desk = Desk(options())
    desk.client.setOnline(false)
    _ = desk.flush(1)
    _ = desk.flush(1)
    desk.client.setOnline(true)
    #expect(desk.flush() == ["send 0 #0"])
    desk.client.setOnline(false)
    #expect(desk.answer("0", 200) == ["delivered 0"] && desk.held == ["1"])
    desk.client.setOnline(true)
    #expect(desk.flush(0, .reconnect) == ["send 1 #0"])
  }

  @Test("Options that make no sense are the nearest that do")
  func clampedOptions() {
    let desk = Desk(
      ClientOptions { ($0.uploads, $0.maximumBatchEvents) = (0, 0) },
      count: FlushCount(0, countsAllEvents: true))
    #expect(desk.add(2) == ["send 0 #0"])
    #expect(desk.answer("0", 200) == ["delivered 0", "send 1 #0"])
  }

  @Test("A batch that is too large is cut in two, which go at once, the older first")
  func tooLarge() {
    let desk = Desk(options { $0.splitsOn413 = true })
    #expect(desk.flush(3) == ["send 0-2 #0"])
    #expect(desk.answer("0-2", 413) == ["send 0-1 #0"])
    #expect(desk.answer("0-1", 413) == ["send 0 #0"])
    #expect(desk.answer("0", 413) == ["lost 0 status", "send 1 #0"])
    #expect(desk.answer("1", 200) == ["delivered 1", "send 2 #0"])
  }

  @Test("A batch takes new events until it fails, where clients say so, and then stays as it is")
  func growsUntilFailure() {
    let desk = Desk(
      options { ($0.growsUntilFailure, $0.policy.backoffHolds, $0.maximumBatchEvents) = (true, .client, 3) })
    #expect(desk.flush(1) == ["send 0 #0"])
    #expect(desk.answer("0", 503) == [])
    // It waits, and so does the client: three make a batch, the fourth begins another.
    _ = (desk.flush(2), desk.flush(1), desk.flush(1))
    #expect(desk.held == ["0", "1-3", "4"])
    desk.pass(1_000)
    #expect(desk.flush(1) == ["send 0 #1"])
    #expect(desk.answer("0", 200) == ["delivered 0", "send 1-3 #0"])
    // Under way it stays as it is; what is behind it grows.
    #expect(desk.flush(1) == [] && desk.held == ["1-3*", "4-6"])
    #expect(desk.answer("1-3", 200) == ["delivered 1-3", "send 4-6 #0"])
    // A 429 is the client's, not the batch's: what comes meanwhile goes along.
    #expect(desk.answer("4-6", 200) == ["delivered 4-6"])
    #expect(desk.flush(1) == ["send 7 #0"])
    #expect(desk.answer("7", 429, retryAfter: 10) == [])
    _ = desk.flush(1)
    #expect(desk.held == ["7-8"])
  }

  @Test("After a 401 the batch is due when the credentials are there, and others go on (O9)")
  func credentials() {
    let desk = Desk(
      options {
        $0 = $0.with(.offlineFirst)
        ($0.maximumBatchEvents, $0.wakesByTimer, $0.credentialRefresh) = (1, true, seconds(2))
      })
    #expect(desk.flush(2) == ["send 0 #0"])
    #expect(desk.answer("0", 401) == ["send 1 #0"])
    #expect(desk.answer("1", 200) == ["delivered 1", "wake 1002.0"])
    desk.pass(2)
    #expect(desk.wakeUp() == ["send 0 #0"])
    #expect(desk.answer("0", 401) == ["lost 0 status"])
  }

  @Test("After a 511 the batch waits for its backoff or for the credentials, whichever takes longer (S6)")
  func authentication() {
    for (refresh, wake) in [(2.0, "wake 1002.0"), (0.1, "wake 1000.5")] {
      let desk = Desk(
        options {
          $0.policy.supportsOAuth = true
          ($0.wakesByTimer, $0.credentialRefresh) = (true, seconds(refresh))
        })
      _ = desk.flush(1)
      #expect(desk.answer("0", 511) == [wake])
    }
  }

  // MARK: Sealing and the queue's limit

  @Test("An overflow never deletes a batch in flight")
  func overflow() {
    let files = Desk(options { $0.limit = 2 })
    #expect(files.flush(1) == ["send 0 #0"])
    #expect(files.flush(1) == [] && files.held == ["0*", "1"])
    #expect(files.flush(1) == ["lost 1 overflow"] && files.held == ["0*", "2"])
    #expect(files.answer("0", 200) == ["delivered 0", "send 2 #0"])
    // Where events are chunked anew, single events go.
    let rebatch = Desk(options { ($0.isRebatch, $0.limit) = (true, 3) })
    #expect(rebatch.flush(2) == ["send 0-1 #0"])
    #expect(rebatch.flush(3) == ["lost 2-3 overflow"] && rebatch.held == ["0-1*", "4"])
    #expect(rebatch.flush(4) == ["lost 4-7 overflow"] && rebatch.held == ["0-1*", "8"])
    #expect(rebatch.answer("0-1", 200) == ["delivered 0-1", "send 8 #0"])
  }

  @Test("A wake-up seals nothing")
  func wakeUpSealsNothing() {
    for isRebatch in [false, true] {
      let desk = Desk(options { ($0.wakesByTimer, $0.isRebatch) = (true, isRebatch) })
      #expect(desk.flush(1) == ["send 0 #0"])
      #expect(desk.answer("0", 503) == ["wake 1000.5"])
      #expect(desk.add(1) == [])
      desk.pass(0.5)
      #expect(desk.wakeUp() == ["send 0 #1"] && desk.held == ["0*"])
      #expect(desk.answer("0", 200) == ["delivered 0"])
      #expect(desk.flush() == ["send 1 #0"])
    }
  }

  @Test("Without a timer no wake-up is asked for, and a wait ends at a trigger")
  func withoutTimer() {
    let desk = Desk(options())
    _ = desk.flush(1)
    #expect(desk.answer("0", 503) == [])
    desk.pass(0.5)
    #expect(desk.flush() == ["send 0 #1"])
  }

  // MARK: Triggers

  @Test("Only the triggers that a client has make it flush")
  func triggers() {
    for kind in ClientTrigger.allCases {
      for others in [false, true] {
        let listed = others ? ClientTrigger.allCases.filter { $0 != kind } : [kind]
        let desk = Desk(options { $0.triggers = ClientTriggers(listed) }, count: FlushCount(3))
        let lines = kind == .count ? desk.add(3) : desk.flush(1, kind)
        // A wake-up is no flush: it has nothing to send here.
        #expect(lines.isEmpty == (others || kind == .wakeUp), "\(kind)")
      }
    }
  }

  @Test("A trigger may cut the client's wait short; its counts stay (D7)")
  func skippedWait() {
    let desk = Desk(options { $0.triggersThatSkipWaits = ClientTriggers([.manual]) })
    _ = desk.flush(1)
    _ = desk.answer("0", 429, retryAfter: 60)
    #expect(desk.flush(0, .interval) == [])
    #expect(desk.flush(0, .manual) == ["send 0 #1"])
  }

  @Test("So many events make a flush; the count starts over at each, whether something leaves or not")
  func count() {
    let desk = Desk(options(), count: FlushCount(3))
    #expect(desk.add(2) == [])
    #expect(desk.add(1) == ["send 0-2 #0"])
    _ = desk.answer("0-2", 200)
    #expect(desk.add(2) == [])
    #expect(desk.flush(0, .manual) == ["send 3-4 #0"])
    _ = desk.answer("3-4", 429, retryAfter: 60)
    #expect(desk.add(2) == [] && desk.held == ["3-4"])
    #expect(desk.flush() == [] && desk.held == ["3-4", "5-6"])
    #expect(desk.add(2) == [] && desk.held == ["3-4", "5-6"])
    #expect(desk.add(1) == [] && desk.held == ["3-4", "5-6", "7-9"])
  }

  @Test(
    "An event that counts twice: of 20 events 10 make a flush, of 10 five, of 2 one; odd counts are met, not passed",
    arguments: [(20, 10), (10, 5), (2, 1), (5, 5), (3, 3), (1, 1)])
  func countingTwice(count: Int, events: Int) {
    var all = FlushCount(count, countOfAnEvent: 2, countsAllEvents: true)
    let told = (1...60).filter { _ in all.add(1) }
    #expect(told == (1...60).filter { $0 % events == 0 })
    // A flush for another reason leaves the count where it is.
    var again = FlushCount(count, countOfAnEvent: 2, countsAllEvents: true)
    let flushed = (1...60).filter { _ in
      again.flushed()
      return again.add(1)
    }
    #expect(flushed == told)
    again.restart()
    #expect((1...events).filter { _ in again.add(1) } == [events])
  }

  @Test("A count that starts over is reached by what passes it, and lost with the process")
  func countReached() {
    var twice = FlushCount(5, countOfAnEvent: 2)
    #expect((1...3).map { _ in twice.add(1) } == [false, false, true])
    var count = FlushCount(20)
    #expect(count.add(19) == false)
    count.flushed()
    #expect([19, 1].map { count.add($0) } == [false, true])
    count.restart()
    #expect([19, 7].map { count.add($0) } == [false, true])
    var none = FlushCount(nil)
    #expect(none.add(1_000_000) == false)
  }
}
