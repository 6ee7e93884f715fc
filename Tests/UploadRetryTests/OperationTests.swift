import ShippedQuirks
import TestClients
import TestSupport
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
    let table = HTTPConfig.offlineFirst(.background).backoff.statuses
    for status in 100...599 where !(200...299).contains(status) && status != 429 {
      #expect((table.classify(status) == .retry) == kind(status).isRetryable, "\(status)")
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

@Suite("X-RateLimit-Reset (O11)")
struct RateLimitResetTests {
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
    func wait(_ policy: ClientPolicy, _ retryAfter: String?, _ reset: String?) -> Int64? {
      policy.wait(retryAfter: retryAfter, rateLimitReset: reset, nowUnixSeconds: 0)
    }
    #expect(wait(.offlineFirst, nil, "9") == seconds(9))
    #expect(wait(.offlineFirst, "3", "9") == seconds(3))
    #expect(wait(.tapiDocument, nil, "9") == nil)
    #expect(wait(.tapiDocument, "3", "9") == seconds(3))
    // Of a date it understands nothing, so it is as if there were none.
    var policy = ClientPolicy.segmentSwift
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
