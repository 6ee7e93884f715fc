import ShippedQuirks
import TestClients
import TestSupport
import Testing
import UploadRetry

@Suite("Snapshot of a client (S18)")
struct RetrySnapshotTests {
  private let now = seconds(1_000_000)

  private func failed(
    since first: Int64, retryAt: Int64 = 0, count: UInt16 = 1,
    _ latest: BatchRetryState.LatestFailure = .transient
  ) -> BatchRetryState {
    var state = BatchRetryState()
    state.firstFailureTime = first
    state.retryAt = retryAt
    state.failureCount = count
    state.latestFailure = latest
    return state
  }

  private func validated(
    _ snapshot: RetrySnapshot, _ config: HTTPConfig = .init(), _ policy: ClientPolicy = .tapiDocument
  ) -> (snapshot: RetrySnapshot, repairs: [SnapshotRepair]) {
    snapshot.validated(now: now, config: config, policy: policy)
  }

  /// One batch's state after validation, and the repairs.
  private func repaired(
    _ state: BatchRetryState, inFlight: Bool = false, _ config: HTTPConfig = .init(),
    _ policy: ClientPolicy = .tapiDocument
  ) -> (state: BatchRetryState, kinds: [SnapshotRepair.Kind]) {
    let result = validated(
      .init(batches: [.init(id: 7, state: state, isInFlight: inFlight)]), config, policy)
    #expect(result.snapshot.batches.map(\.id) == [7] && !result.snapshot.batches[0].isInFlight)
    #expect(result.repairs.allSatisfy { $0.batch == 7 })
    return (result.snapshot.batches[0].state, result.repairs.map(\.kind))
  }

  // MARK: The pipeline's wait

  @Test("A wait in the past or at this instant is READY")
  func waitIsOver() {
    for time in [1, now - 1, now] {
      let result = validated(.init(waitUntil: time))
      #expect(result.snapshot == RetrySnapshot())
      #expect(result.repairs.map(\.kind) == [.waitIsOver])
    }
    #expect(validated(.init()).repairs.isEmpty)
  }

  @Test("A wait within the cap is kept; one further away is clamped to it: 300 s, or 330 s for a backoff")
  func waitClamped() {
    for (isBackoff, cap, policy) in [
      (false, 300.0, ClientPolicy.tapiDocument), (true, 330, .tapiDocument), (true, 300, .segmentKotlin),
    ] {
      let latest = now + seconds(cap)
      let kept = validated(.init(waitUntil: latest, isWaitBackoff: isBackoff), .init(), policy)
      #expect(kept.snapshot.waitUntil == latest && kept.repairs.isEmpty)
      #expect(kept.snapshot.isWaitBackoff == isBackoff)
      for time in [latest + 1, .max] {
        let clamped = validated(.init(waitUntil: time, isWaitBackoff: isBackoff), .init(), policy)
        #expect(clamped.snapshot.waitUntil == latest)
        #expect(clamped.repairs.map(\.kind) == [.waitClamped])
      }
    }
  }

  @Test("Where 429s back off, the cap of their wait has the jitter on top")
  func waitOfBackoffOn429() {
    var policy = ClientPolicy.tapiDocument
    policy.missingRetryAfter = .exponentialBackoff
    #expect(validated(.init(waitUntil: .max), .init(), policy).snapshot.waitUntil == now + seconds(330))
    var config = HTTPConfig()
    config.backoff.maxBackoffInterval = seconds(10)
    #expect(validated(.init(waitUntil: .max), config, policy).snapshot.waitUntil == now + seconds(300))
  }

  @Test("The waits of a section that is off are gone")
  func off() {
    var config = HTTPConfig()
    config.rateLimit.isEnabled = false
    config.backoff.isEnabled = false
    for isBackoff in [false, true] {
      let result = validated(.init(waitUntil: now + 1, isWaitBackoff: isBackoff), config)
      #expect(result.snapshot == RetrySnapshot() && result.repairs.map(\.kind) == [.waitClamped])
    }
    let batch = repaired(failed(since: now, retryAt: now + 1, count: 9_999), config)
    #expect(batch.state == failed(since: now, count: 9_999) && batch.kinds == [.batchWaitClamped])
  }

  // MARK: Batches

  @Test("A wait of the batch's class of failures is kept, however short backoffConfig's are")
  func classWait() {
    var policy = ClientPolicy.tapiDocument
    policy.classDelays.server = DelayBounds(base: seconds(60), longest: seconds(3_600))
    let state = failed(since: now, retryAt: now + seconds(3_600))
    let result = repaired(state, .init(), policy)
    #expect(result.state == state && result.kinds.isEmpty)
  }

  @Test("A batch's wait within the longest backoff is kept, and clamped beyond")
  func batchWait() {
    let latest = now + seconds(330)
    for time in [0, 1, now, latest] {
      let state = failed(since: now, retryAt: time)
      let result = repaired(state)
      #expect(result.state == state && result.kinds.isEmpty)
    }
    let result = repaired(failed(since: now, retryAt: latest + 1))
    #expect(result.state.retryAt == latest && result.kinds == [.batchWaitClamped])
    let clamped = repaired(failed(since: now, retryAt: .max), .init(), .segmentSwift)
    #expect(clamped.state.retryAt == now + seconds(300))
  }

  @Test("A first failure in the future becomes now")
  func firstFailure() {
    #expect(repaired(failed(since: now)).kinds.isEmpty)
    let result = repaired(failed(since: now + 1))
    #expect(result.state.firstFailureTime == now && result.kinds == [.firstFailureInTheFuture])
  }

  @Test("Counts beyond their limits are clamped to what still reaches them")
  func counts() {
    #expect(repaired(failed(since: 0, count: 101)).kinds.isEmpty)
    let result = repaired(failed(since: 0, count: 102))
    #expect(result.state.failureCount == 101 && result.kinds == [.countClamped])
    var pipeline = PipelineRetryState()
    pipeline.retryCount = .max
    let client = validated(.init(pipeline: pipeline))
    #expect(client.snapshot.pipeline.retryCount == 101)
    #expect(client.repairs == [SnapshotRepair(.countClamped)])
    var config = HTTPConfig()
    config.rateLimit.maxRetryCount = .max
    #expect(validated(.init(pipeline: pipeline), config).repairs.isEmpty)
    config.rateLimit.maxRetryCount = .min
    #expect(validated(.init(pipeline: pipeline), config).snapshot.pipeline.retryCount == 1)
  }

  @Test("An upload under way at the kill is due again, with its counts")
  func inFlight() {
    let result = repaired(failed(since: 5, retryAt: now + 5, count: 3), inFlight: true)
    #expect(result.state == failed(since: 5, count: 3) && result.kinds == [.unknownOutcome])
    let first = repaired(BatchRetryState(), inFlight: true)
    #expect(first.state == BatchRetryState() && first.kinds == [.unknownOutcome])
  }

  @Test("State that contradicts itself becomes fresh")
  func inconsistent() {
    var states = [failed(since: .min), failed(since: .min, count: 0), failed(since: .min, .rateLimited)]
    states += [failed(since: 0, retryAt: 5, .rateLimited), failed(since: 0, .none)]
    for state in states {
      let result = repaired(state)
      #expect(result.state == BatchRetryState() && result.kinds == [.inconsistentBatch])
    }
    #expect(repaired(failed(since: 0, .rateLimited)).kinds.isEmpty)
    // O4: what failed was a question, which uses up no attempt.
    #expect(repaired(failed(since: 0, count: 0)).kinds.isEmpty)
  }

  @Test("Of two records of one batch the first counts")
  func duplicates() {
    let first = RetrySnapshot.Batch(id: 1, state: failed(since: 0))
    let result = validated(.init(batches: [first, .init(id: 2), .init(id: 1)]))
    #expect(result.snapshot.batches == [first, .init(id: 2)])
    #expect(result.repairs == [SnapshotRepair(.duplicateBatch, batch: 1)])
  }

  @Test("A clock before 1970 is taken as 1970")
  func clockBefore1970() {
    for now in [Int64.min, -1, 0] {
      let snapshot = RetrySnapshot(waitUntil: .max).validated(now: now, config: .init()).snapshot
      #expect(snapshot.waitUntil == seconds(300))
    }
  }

  @Test("What is valid once is valid again, whatever it was", arguments: 1...50)
  func idempotent(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let times: [Int64] = [.min, -1, 0, 1, now - 1, now, now + 1, now + seconds(331), .max]
    func pick<T>(_ values: [T]) -> T { values[Int(truncatingIfNeeded: random.next() >> 33) % values.count] }
    for _ in 0..<100 {
      var snapshot = RetrySnapshot(waitUntil: pick(times), isWaitBackoff: pick([true, false]))
      snapshot.pipeline.retryCount = pick([0, 1, 100, .max])
      for id in 0..<3 {
        var state = failed(
          since: pick(times), retryAt: pick(times), count: pick([0, 1, .max]),
          pick([.none, .rateLimited, .transient]))
        state.previousDelay = pick([0, .max])
        snapshot.batches.append(.init(id: UInt64(id), state: state, isInFlight: pick([true, false])))
      }
      var config = HTTPConfig()
      config.rateLimit.maxRetryInterval = pick(times)
      config.backoff.maxBackoffInterval = pick(times)
      let policy = pick([ClientPolicy.tapiDocument, .segmentSwift, .segmentKotlin, .segmentReactNative])
      let once = validated(snapshot, config, policy).snapshot
      let twice = validated(once, config, policy)
      #expect(twice.snapshot == once && twice.repairs.isEmpty, "seed \(seed)")
    }
  }

  @Test("Repairs read as sentences about a batch or the client")
  func words() {
    #expect(
      SnapshotRepair(.unreadable(reason: "not a snapshot")).description
        == "the snapshot is not used, state is fresh: not a snapshot")
    #expect(SnapshotRepair(.waitIsOver).description == "the wait is over; ready")
    #expect(SnapshotRepair(.unknownOutcome, batch: 3).description.hasPrefix("batch 3: an upload was under"))
    for kind: SnapshotRepair.Kind in [
      .waitClamped, .batchWaitClamped, .firstFailureInTheFuture, .countClamped, .inconsistentBatch,
      .duplicateBatch,
    ] {
      #expect(SnapshotRepair(kind).description.contains(";"))
    }
  }
}
