import ShippedQuirks
import TestClients
import TestSupport
import Testing
import UploadPipeline
import UploadRetry

@Suite("A client that re-chunks its events")
struct RebatchTests {
  /// analytics-react-native's loop, with chunks of two events.
  private func shipped(_ change: (inout ClientOptions) -> Void = { _ in }) -> ClientOptions {
    var options = ClientOptions { ($0.uploads, $0.isRebatch, $0.maximumBatchEvents) = (.max, true, 2) }.with(
      .segmentReactNative, actsAtFlushEnd: true)
    change(&options)
    return options
  }

  @Test("Events of a client that re-chunks are cut anew at each flush")
  func cutAnew() {
    let desk = Desk(ClientOptions { ($0.isRebatch, $0.maximumBatchEvents) = (true, 3) })
    #expect(desk.flush(2) == ["send 0-1 #0"])
    #expect(desk.answer("0-1", 503) == [])
    desk.pass(1)
    #expect(desk.flush(2) == ["send 0-2 #1"])
    #expect(desk.answer("0-2", 200) == ["delivered 0-2", "send 3 #0"])
    // One whose fate is unknown, too.
    #expect(desk.loseAnswer("3") == [])
    desk.pass(1)
    #expect(desk.flush(1) == ["send 3-4 #1"])
  }

  @Test("One record is the client's: its wait holds everything back, and all chunks say the same count")
  func oneRecord() {
    let desk = Desk(ClientOptions { ($0.uploads, $0.isRebatch, $0.maximumBatchEvents) = (.max, true, 2) })
    #expect(desk.flush(3) == ["send 0-1 #0", "send 2 #0"])
    #expect(desk.answer("2", 503) == [])
    #expect(desk.wait == 0.5)
    #expect(desk.answer("0-1", 503) == [])
    desk.pass(0.5)
    #expect(desk.flush() == [])
    desk.pass(0.5)
    #expect(desk.flush() == ["send 0-1 #2", "send 2 #2"])
  }

  @Test("A client that acts at the end of its flush keeps queue and state until the last answer")
  func actsAtTheEnd() {
    let desk = Desk(shipped())
    #expect(desk.flush(3) == ["send 0-1", "send 2"])
    #expect(desk.answer("0-1", 503) == [])
    #expect(desk.held == ["0-1", "2*"] && desk.wait == 0)
    #expect(desk.client.snapshot.batches[0].state == BatchRetryState())
    #expect(desk.answer("2", 503) == [])
    // One failure, however many chunks.
    #expect(desk.wait == 0.5)
    desk.pass(1)
    #expect(desk.flush(1) == ["send 0-1 #1", "send 2-3 #1"])
    #expect(desk.answer("2-3", 400) == [])
    #expect(desk.held == ["0-1*", "2-3"])
    #expect(desk.answer("0-1", 200) == ["delivered 0-1", "lost 2-3 status"])
    #expect(desk.client.snapshot.batches[0].state == BatchRetryState())
  }

  @Test("A flush during its flush seals, and sends nothing")
  func flushWhileFlushing() {
    let desk = Desk(shipped())
    #expect(desk.flush(2) == ["send 0-1"])
    #expect(desk.flush(1) == [] && desk.held == ["0-1*", "2"])
    #expect(desk.answer("0-1", 200) == ["delivered 0-1"])
    #expect(desk.flush() == ["send 2"])
  }

  @Test("At a limit what has failed in the flush is lost, never-failed events among it, and all is fresh")
  func limit() {
    var config = HTTPConfig.withoutJitter
    config.rateLimit.maxRetryCount = 1
    let desk = Desk(shipped(), config)
    _ = desk.flush(2)
    #expect(desk.answer("0-1", 429, retryAfter: 5) == [])
    desk.pass(5)
    #expect(desk.flush(3) == ["send 0-1 #1", "send 2-3 #1", "send 4 #1"])
    #expect(desk.answer("4", 200) == [])
    #expect(desk.answer("2-3", 503) == [])
    #expect(
      desk.answer("0-1", 429, retryAfter: 5) == [
        "lost 0-1 rateLimitRetryLimit", "lost 2-3 rateLimitRetryLimit", "delivered 4",
      ])
    #expect(desk.wait == 0 && desk.client.snapshot.pipeline.retryCount == 0)
    #expect(desk.flush(1) == ["send 5"])
  }

  // MARK: Age

  private var aging: HTTPConfig {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxTotalBackoffDuration = seconds(100)
    return config
  }

  @Test("Events that are too old are dropped alone, one by one, during a wait too; the count stays")
  func eventAge() {
    let desk = Desk(shipped(), aging)
    #expect(desk.flush(1) == ["send 0"])
    #expect(desk.loseAnswer("0") == [])
    desk.pass(50)
    #expect(desk.flush(1) == ["send 0-1 #1"])
    #expect(desk.answer("0-1", 503) == [])
    // The limit is strict.
    desk.pass(50)
    #expect(desk.flush() == ["send 0-1 #2"])
    #expect(desk.answer("0-1", 503) == [] && desk.wait == 2)
    desk.now += 1
    #expect(desk.flush() == ["lost 0 age"])
    #expect(desk.held == ["1"] && desk.wait > 1.9)
    desk.pass(2)
    #expect(desk.flush() == ["send 1 #3"])
  }

  @Test("An event that is too old is never sent, however fresh the client is")
  func oldAtFirstTry() {
    let desk = Desk(shipped(), aging)
    _ = desk.add(2)
    desk.pass(60)
    _ = desk.add(1)
    desk.pass(41)
    #expect(desk.flush() == ["lost 0-1 age", "send 2"])
  }

  @Test("A flush that finds nothing makes all retry state fresh, in a wait too")
  func emptyQueue() {
    let desk = Desk(shipped(), aging)
    _ = desk.flush(1)
    #expect(desk.answer("0", 429, retryAfter: 300) == [] && desk.wait == 300)
    desk.pass(100)
    #expect(desk.flush() == [])
    desk.now += 1
    #expect(desk.flush() == ["lost 0 age"])
    #expect(desk.wait == 0 && desk.client.snapshot.pipeline.retryCount == 0)
    #expect(desk.flush(1) == ["send 1"])
  }

  @Test("A wait that cannot be is over at the next flush, and the count with it")
  func impossibleWait() {
    var config = HTTPConfig.withoutJitter
    config.rateLimit.maxRetryInterval = seconds(20)
    for (back, sent) in [(2, []), (2.000001, ["send 0"])] as [(Double, [String])] {
      let desk = Desk(shipped(), config)
      _ = desk.flush(1)
      _ = desk.answer("0", 429, retryAfter: 20)
      desk.pass(1)
      _ = desk.flush()
      // The first failure is not in the future: it has been an hour ago.
      var stored = desk.client.snapshot
      stored.batches[0].state.firstFailureTime -= seconds(3_600)
      let launched = Desk(shipped { $0.saving = .atOnceAsItIs }, config)
      launched.now = desk.now - seconds(1 + back)
      _ = launched.client.launch(
        stored, holding: [(firstEvent: 0, events: 1, createdAt: launched.now)], at: launched.now)
      #expect(launched.flush() == sent)
    }
    // A clock that was set back before the first failure.
    let desk = Desk(shipped(), config)
    _ = desk.flush(1)
    _ = desk.answer("0", 429, retryAfter: 20)
    desk.now -= 1
    #expect(desk.flush() == ["send 0"])
  }
}
