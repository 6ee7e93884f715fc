import Testing
import UploadRetry

@Suite("Classification of failures (O1)")
struct FailureClassTests {
  private func kind(_ status: Int, _ code: String? = nil) -> FailureClass {
    .classify(.init(status: status, serverCode: code), of: .interactive)
  }

  @Test("O1: the rows of the chapter's table")
  func statuses() {
    for status in [500, 502, 503, 504] { #expect(kind(status).kind == .server && kind(status).isRetryable) }
    #expect(kind(429).kind == .rateLimit && kind(429).isRetryable)
    #expect(kind(401).kind == .authentication && kind(401).requiresAuthRefresh && !kind(401).isRetryable)
    #expect(!kind(403).requiresAuthRefresh && kind(403, "token_expired").requiresAuthRefresh)
    #expect(kind(409).kind == .conflict && !kind(409).isRetryable && kind(409).userActionRequired)
    for status in [400, 404, 422, 501] {
      #expect(kind(status).kind == .permanent && !kind(status).isRetryable && kind(status).userActionRequired)
    }
    #expect(kind(408).kind == .timeout && kind(408).isRetryable)
  }

  @Test(
    "O1: failures of the transport are retried, those of the device itself only if they pass by themselves")
  func withoutStatus() {
    for error in RequestFailure.TransportError.allCases {
      #expect(FailureClass.classify(.init(transport: error), of: .background).isRetryable)
    }
    let retried = RequestFailure.LocalCause.allCases.filter {
      FailureClass.classify(.init(local: $0), of: .background).isRetryable
    }
    #expect(retried == [.databaseLocked])
    #expect(FailureClass.classify(.init(), of: .background).kind == .network)
  }

  @Test(
    "O1: whether the server was reached says what is ambiguous; what is retried has delays, what is refused needs somebody"
  )
  func wholeClass() {
    func meaning(_ failure: RequestFailure) -> FailureClass { .classify(failure, of: .background) }
    #expect(!meaning(.init(transport: .requestTimeout, reachedServer: false)).isAmbiguous)
    #expect(meaning(.init(transport: .refused, reachedServer: true)).isAmbiguous)
    let retried = meaning(.init(status: 503))
    #expect(retried.minDelay == seconds(5) && retried.maxDelay == seconds(1_800))
    #expect(!retried.userActionRequired && !retried.requiresAuthRefresh)
    let refused = meaning(.init(status: 422))
    #expect(refused.minDelay == 0 && refused.maxDelay == 0 && refused.userActionRequired)
  }

  @Test("O4: a request that was sent and not answered is ambiguous, one that never left is not")
  func ambiguity() {
    func isAmbiguous(_ error: RequestFailure.TransportError, _ reached: Bool? = nil) -> Bool {
      FailureClass.classify(.init(transport: error, reachedServer: reached), of: .interactive).isAmbiguous
    }
    #expect(isAmbiguous(.requestTimeout) && isAmbiguous(.reset))
    #expect(!isAmbiguous(.connectTimeout) && !isAmbiguous(.refused) && !isAmbiguous(.offline))
    #expect(!isAmbiguous(.requestTimeout, false) && isAmbiguous(.connectTimeout, true))
  }

  @Test("O1: the status table of the preset is the classification, status by status")
  func tableAgrees() {
    for status in 100...599 where !(200...299).contains(status) && status != 429 {
      #expect((StatusTable.offlineFirst.classify(status) == .retry) == kind(status).isRetryable, "\(status)")
    }
  }

  @Test("O2: 1 s to 300 s where the user waits, 5 s to 1800 s where nobody does")
  func delays() {
    let interactive = FailureClass.classify(.init(status: 503), of: .interactive)
    #expect(interactive.minDelay == seconds(1) && interactive.maxDelay == seconds(300))
    let background = FailureClass.classify(.init(status: 503), of: .background)
    #expect(background.minDelay == seconds(5) && background.maxDelay == seconds(1800))
    #expect(kind(400).maxDelay == 0)
  }
}

@Suite("Operation records (O3, O4, O8–O10)")
struct OperationRecordTests {
  private let machine = RetryStateMachine(config: .offlineFirst(.interactive), policy: .offlineFirst)

  private func fail(
    _ record: inout OperationRecord, _ failure: RequestFailure, retryAfter: Int64? = nil, now: Int64 = 0
  ) -> OperationRecord.Step {
    var random = Constant.high
    record.attempt(now: now)
    return record.fail(
      failure, of: .interactive, by: machine, retryAfter: retryAfter, now: now, random: &random)
  }

  @Test("O8: the record keeps count, last attempt, next attempt and class of the last error")
  func fields() {
    var record = OperationRecord()
    #expect(record.state == .pending && record.isDue(now: 0))
    #expect(fail(&record, .init(status: 503), now: seconds(7)) == .retry(at: seconds(8)))
    #expect(record.attemptCount == 1 && record.lastAttemptAt == seconds(7))
    #expect(record.nextAttemptAt == seconds(8) && record.lastErrorClass == .server)
    #expect(!record.isDue(now: seconds(8) - 1) && record.isDue(now: seconds(8)))
    #expect(record.state == .willRetry)
  }

  @Test("O8: a server that asks for more is waited for")
  func retryAfter() {
    var record = OperationRecord()
    #expect(fail(&record, .init(status: 429), retryAfter: seconds(45)) == .retry(at: seconds(45)))
  }

  @Test("O3: the tenth failed attempt blocks it with the reason, and it is due no more until it is resumed")
  func blockedAtTheLimit() {
    var record = OperationRecord()
    for i in 1...9 {
      guard case .retry = fail(&record, .init(status: 503)) else {
        Issue.record("attempt \(i) was not retried")
        return
      }
    }
    #expect(fail(&record, .init(status: 503)) == .blocked(.retryLimit))
    #expect(!record.isDue(now: .max) && record.state == .blocked(.retryLimit))
    let isResumed = record.resume()
    #expect(isResumed && record.isDue(now: 0))
  }

  @Test("O3: so does a day of failures")
  func blockedByAge() {
    var record = OperationRecord()
    _ = fail(&record, .init(status: 503))
    #expect(fail(&record, .init(status: 503), now: 86_400_000_001) == .blocked(.age))
  }

  @Test("O8: the same permanent failure twice is terminal, another one in between is not")
  func terminal() {
    var record = OperationRecord()
    #expect(fail(&record, .init(status: 422)) == .blocked(.permanent))
    var isResumed = record.resume()
    #expect(isResumed)
    #expect(fail(&record, .init(status: 422)) == .blocked(.terminal))
    isResumed = record.resume()
    #expect(!isResumed)
    var other = OperationRecord()
    _ = fail(&other, .init(status: 422))
    _ = other.resume()
    #expect(fail(&other, .init(status: 409)) == .blocked(.permanent))
  }

  @Test("O9: credentials are refreshed once; then it is blocked until somebody signs in")
  func credentials() {
    var record = OperationRecord()
    #expect(fail(&record, .init(status: 401)) == .refreshCredentials)
    #expect(record.isDue(now: 0))
    var signedOut = record
    #expect(fail(&signedOut, .init(status: 401)) == .blocked(.authentication))
    var expired = OperationRecord()
    #expect(fail(&expired, .init(status: 403)) == .blocked(.authentication))
    record.attempt(now: 0)
    record.succeed()
    #expect(record.state == .done && record.attemptCount == 2)
  }

  @Test("O4: an ambiguous outcome is reconciled before anything is sent again")
  func reconciled() {
    var record = OperationRecord()
    #expect(fail(&record, .init(transport: .requestTimeout)) == .reconcile(at: seconds(1)))
    #expect(record.needsReconciliation)
    record.reconcile(wasApplied: nil)
    #expect(record.needsReconciliation)
    var applied = record
    applied.reconcile(wasApplied: true)
    #expect(applied.state == .done)
    record.reconcile(wasApplied: false)
    #expect(record.state == .willRetry && record.nextAttemptAt == seconds(1))
  }

  @Test("O10: a user sees pending, syncing, will retry, unknown, needs attention and done")
  func visibleState() {
    var record = OperationRecord()
    #expect(record.state == .pending)
    record.attempt(now: 0)
    #expect(record.state == .syncing)
    var random = Constant.high
    _ = record.fail(.init(status: 503), of: .interactive, by: machine, now: 0, random: &random)
    #expect(record.state == .willRetry)
    _ = fail(&record, .init(transport: .requestTimeout), now: seconds(1))
    #expect(record.state == .unknown)
    record.reconcile(wasApplied: false)
    #expect(record.state == .willRetry)
    _ = fail(&record, .init(status: 422), now: seconds(10))
    #expect(record.state == .blocked(.permanent))
    let isResumed = record.resume()
    #expect(isResumed && record.state == .pending)
    record.attempt(now: seconds(20))
    record.succeed()
    #expect(record.state == .done)
  }

  @Test("O8: what the device itself lacks needs attention, a lock passes")
  func local() {
    var record = OperationRecord()
    #expect(fail(&record, .init(local: .diskFull)) == .blocked(.permanent))
    var locked = OperationRecord()
    #expect(fail(&locked, .init(local: .databaseLocked)) == .retry(at: seconds(1)))
  }
}

@Suite("Layered time-outs (O7) and X-RateLimit-Reset (O11)")
struct TimeoutTests {
  @Test("O7: 5 s and 15 s where the user waits, 10 s and 30 s in the background")
  func standard() {
    #expect(OperationTimeouts.standard(.interactive) == .init(connect: seconds(5), request: seconds(15)))
    #expect(OperationTimeouts.standard(.background) == .init(connect: seconds(10), request: seconds(30)))
  }

  @Test("O7: a large upload gets the time that its bytes need on the slowest link")
  func size() {
    let timeouts = OperationTimeouts(connect: seconds(5), request: seconds(15), slowestBytesPerSecond: 10_000)
    #expect(timeouts.request(bytes: 0) == seconds(15))
    #expect(timeouts.request(bytes: 505_000) == seconds(65.5))
    #expect(timeouts.request(bytes: .max) > 0)
    #expect(OperationTimeouts.standard(.interactive).request(bytes: 505_000) == seconds(15))
  }

  @Test("O7: no connection ends at the short one and nothing was applied; a silent server at the long one")
  func layers() {
    let timeouts = OperationTimeouts.standard(.interactive)
    #expect(timeouts.end(isConnected: false, bytes: 1) == (.connect, seconds(5)))
    #expect(timeouts.end(isConnected: true, bytes: 1) == (.request, seconds(15)))
  }

  @Test("O11: X-RateLimit-Reset is seconds to wait, or a time")
  func reset() {
    let now: Int64 = 1_900_000_000
    #expect(RateLimitReset.parse("42", nowUnixSeconds: now) == seconds(42))
    #expect(RateLimitReset.parse("1900000042", nowUnixSeconds: now) == seconds(42))
    #expect(RateLimitReset.parse("1800000000", nowUnixSeconds: now) == 0)
    #expect(RateLimitReset.parse("99999999999999999999", nowUnixSeconds: now) == .max)
    for bad in ["", "x", "1.5", "Sun, 06 Nov 1994 08:49:37 GMT"] {
      #expect(RateLimitReset.parse(bad, nowUnixSeconds: now) == nil)
    }
    for now in [Int64.min, 0, .max] {
      #expect((RateLimitReset.parse("1900000042", nowUnixSeconds: now) ?? -1) >= 0)
    }
  }

  @Test("O11: a client that does not read X-RateLimit-Reset goes by Retry-After alone")
  func policy() {
    func wait(_ policy: RetryPolicy, _ retryAfter: String?, _ reset: String?) -> Int64? {
      policy.wait(retryAfter: retryAfter, rateLimitReset: reset, nowUnixSeconds: 0)
    }
    #expect(wait(.offlineFirst, nil, "9") == seconds(9))
    #expect(wait(.offlineFirst, "3", "9") == seconds(3))
    #expect(wait(.tapiDocument, nil, "9") == nil)
    #expect(wait(.tapiDocument, "3", "9") == seconds(3))
    // Of a date it understands nothing, so it is as if there were none.
    var policy = RetryPolicy.segmentSwift
    #expect(wait(policy, "Thu, 01 Jan 1970 00:00:03 GMT", "9") == nil)
    policy.readsRateLimitReset = true
    #expect(wait(policy, "Thu, 01 Jan 1970 00:00:03 GMT", "9") == seconds(9))
  }

  @Test("O11: Retry-After counts before it")
  func both() {
    #expect(RateLimitReset.wait(retryAfter: "3", rateLimitReset: "9", nowUnixSeconds: 0) == seconds(3))
    #expect(RateLimitReset.wait(retryAfter: "soon", rateLimitReset: "9", nowUnixSeconds: 0) == seconds(9))
    #expect(RateLimitReset.wait(retryAfter: nil, rateLimitReset: nil, nowUnixSeconds: 0) == nil)
  }
}
