import ShippedQuirks
import TestClients
import TestSupport
import Testing
import UploadPipeline
import UploadRetry

@Suite("What a client knows after a restart (S18)")
struct RestartTests {
  /// The process ends; what it has saved.
  private func end(_ desk: Desk) -> RetrySnapshot {
    desk.client.triggered.host.endProcess(.only, at: desk.now)
  }

  @Test(
    "A launched client holds what is stored, with the records that belong to it, and goes on counting events")
  func launch() {
    let desk = Desk(ClientOptions())
    var waiting = BatchRetryState()
    waiting.failureCount = 2
    waiting.firstFailureTime = desk.now - seconds(5)
    waiting.latestFailure = .transient
    waiting.retryAt = desk.now + seconds(5)
    var counted = PipelineRetryState()
    counted.retryCount = 7
    let stored = RetrySnapshot(
      pipeline: counted, batches: [.init(id: 3, state: waiting), .init(id: 5), .init(id: 9, state: waiting)])
    let repairs = desk.client.launch(
      stored,
      holding: [
        (firstEvent: 5, events: 2, createdAt: desk.now - seconds(9)),
        (firstEvent: 9, events: 1, createdAt: desk.now - seconds(8)),
      ], nextEvent: 12, at: desk.now)
    #expect(repairs == [] && desk.held == ["5-6", "9"])
    // A record without events means nothing.
    #expect(desk.client.snapshot.batches.map(\.id) == [5, 9])
    #expect(desk.flush(1) == ["send 5-6 #0"] && desk.held == ["5-6*", "9", "12"])
    #expect(desk.answer("5-6", 200) == ["delivered 5-6", "send 12 #0"])
    #expect(desk.answer("12", 200) == ["delivered 12"])
    desk.pass(5)
    #expect(desk.flush() == ["send 9 #2"])
  }

  @Test("Without a number the next event is the one behind those that are held")
  func numbers() {
    for (next, first) in [(nil, 7), (3, 7), (20, 20)] as [(UInt32?, UInt32)] {
      let desk = Desk(ClientOptions())
      _ = desk.client.launch(
        RetrySnapshot(), holding: [(firstEvent: 5, events: 2, createdAt: 0)], nextEvent: next, at: desk.now)
      _ = desk.flush(1)
      #expect(desk.held == ["5-6*", "\(first)"])
    }
    let empty = Desk(ClientOptions())
    _ = empty.client.launch(RetrySnapshot(), holding: [], nextEvent: 30_000, at: empty.now)
    #expect(empty.flush(2) == ["send 30000-30001 #0"])
  }

  @Test(
    "An upload that was under way is due again; a client that reconciles asks what became of it first (O4)")
  func inFlight() {
    for reconciles in [false, true] {
      var options = ClientOptions()
      options.gates.reconciles = reconciles
      let before = Desk(options)
      _ = before.flush(2)
      let stored = before.client.snapshot
      let desk = Desk(options)
      let repairs = desk.client.launch(
        stored, holding: [(firstEvent: 0, events: 2, createdAt: desk.now)], at: desk.now)
      #expect(repairs == [SnapshotRepair(.unknownOutcome, batch: 0)])
      #expect(desk.flush() == [reconciles ? "ask 0-1 #0" : "send 0-1 #0"])
    }
  }

  // MARK: When it is saved, and what becomes of it

  @Test("A launch repairs a wait that cannot be, or takes it as it is")
  func repairs() {
    for saving in Saving.allCases {
      let desk = Desk(ClientOptions { $0.saving = saving })
      let stored = RetrySnapshot(waitUntil: desk.now + seconds(1_000_000))
      let repairs = desk.client.launch(stored, holding: [], at: desk.now)
      #expect(repairs == (saving == .atOnce ? [SnapshotRepair(.waitClamped)] : []))
      #expect(desk.wait == (saving == .atOnce ? 300 : 1_000_000), "\(saving)")
    }
  }

  @Test("What a loop finds out before a send is saved at once, or with the next answer")
  func savedAfterAnswers() {
    var config = HTTPConfig.withoutJitter
    config.rateLimit.maxRetryCount = 0
    for (saving, count) in [(Saving.atOnce, 0), (.atOnceAsItIs, 0), (.afterAnswers, 1)] {
      let desk = Desk(ClientOptions { ($0.saving, $0.maximumBatchEvents) = (saving, 1) }, config)
      _ = desk.flush(2)
      _ = desk.answer("0", 429, retryAfter: 5)
      desk.pass(5)
      #expect(desk.flush() == ["lost 0 rateLimitRetryLimit", "send 1 #0"])
      #expect(end(desk).pipeline.retryCount == count, "\(saving)")
    }
  }

  @Test("What has changed is saved a second later, at exactly one second")
  func savedLater() {
    for (microseconds, count) in [(0, 0), (999_999, 0), (1_000_000, 1)] as [(Int64, UInt16)] {
      let desk = Desk(ClientOptions { $0.saving = .delayed })
      _ = desk.flush(1)
      _ = desk.answer("0", 429, retryAfter: 60)
      desk.now += microseconds
      let stored = end(desk)
      #expect(stored.pipeline.retryCount == count)
      #expect((stored.waitUntil == 0) == (count == 0))
    }
  }

  @Test("A client that saves nothing starts afresh")
  func neverSaved() {
    let desk = Desk(ClientOptions { $0.saving = .never })
    _ = desk.flush(1)
    _ = desk.answer("0", 429, retryAfter: 60)
    #expect(end(desk) == RetrySnapshot())
  }

  @Test(
    "A client without Settings that keeps no state then forgets what is stored; one that follows no Settings keeps it"
  )
  func withoutSettings() {
    var config = HTTPConfig.withoutJitter
    config.isManaged = false
    for (policy, isKept) in [(ClientPolicy.segmentSwift, false), (.segmentKotlin, true)] {
      let desk = Desk(ClientOptions { $0.saving = .atOnceAsItIs }.with(policy), config)
      var counted = PipelineRetryState()
      counted.retryCount = 3
      let stored = RetrySnapshot(waitUntil: desk.now + seconds(60), pipeline: counted)
      _ = desk.client.launch(stored, holding: [], at: desk.now)
      #expect(desk.client.snapshot == (isKept ? stored : RetrySnapshot()))
    }
  }

  @Test("What was not sealed when the process ended is sealed with the next event, or at the next flush")
  func unsealed() {
    for strands in [true, false] {
      let desk = Desk(ClientOptions())
      _ = desk.add(2)
      desk.client.triggered.forgetMemory(strandingUnsealed: strands)
      #expect(desk.flush() == (strands ? [] : ["send 0-1 #0"]))
      if strands { #expect(desk.flush(1) == ["send 0-2 #0"]) }
    }
  }

  @Test(
    "What comes during a loop whose flushes are queued is one open batch, which a restart strands until the next event"
  )
  func open() {
    let desk = Desk(ClientOptions { $0.flushWhileUploading = .queued })
    #expect(desk.flush(1) == ["send 0 #0"])
    _ = desk.flush(1)
    _ = desk.flush(2)
    #expect(desk.held == ["0*", "1-3"])
    desk.client.triggered.forgetMemory(strandingUnsealed: true)
    let stored = end(desk)
    desk.client.triggered.host.cutOffUploads()
    _ = desk.client.triggered.host.restore(stored, .only, at: desk.now)
    #expect(desk.held == ["0"])
    #expect(desk.flush() == ["send 0 #0"])
    #expect(desk.answer("0", 200) == ["delivered 0"])
    #expect(desk.flush(1) == ["send 1-4 #0"])
  }

  @Test("Loops that were queued, and answers that the flush's end waits for, are gone with the process")
  func memory() {
    let kotlin = Desk(ClientOptions { $0.flushWhileUploading = .queued })
    _ = kotlin.flush(1)
    _ = kotlin.flush(1)
    _ = end(kotlin)
    kotlin.client.triggered.host.cutOffUploads()
    _ = kotlin.client.triggered.host.restore(RetrySnapshot(), .only, at: kotlin.now)
    #expect(kotlin.flush() == ["send 0 #0"])
    #expect(kotlin.answer("0", 429, retryAfter: 0) == [])

    let native = Desk(
      ClientOptions { ($0.uploads, $0.isRebatch, $0.maximumBatchEvents) = (.max, true, 1) }.with(
        .segmentReactNative, actsAtFlushEnd: true))
    _ = native.flush(2)
    #expect(native.answer("0", 200) == [])
    _ = end(native)
    native.client.triggered.host.cutOffUploads()
    _ = native.client.triggered.host.restore(RetrySnapshot(), .only, at: native.now)
    #expect(native.held == ["0", "1"])
    #expect(native.flush() == ["send 0", "send 1"])
  }
}
