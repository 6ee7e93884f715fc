import ShippedQuirks
import TestSupport
import Testing
import UploadRetry

@Suite("Backoffs by the class of a failure (O2)")
struct ClassDelayTests {
  private static func machine(_ change: (inout ClientPolicy) -> Void) -> RetryStateMachine {
    var policy = ClientPolicy()
    policy.rateLimited = .delaysBatch
    policy.retryAfterOnOtherCodes = .delaysBatch
    policy.classDelays.rateLimit = DelayBounds(base: seconds(10), longest: seconds(15))
    policy.classDelays.timeout = DelayBounds(base: seconds(2), longest: seconds(1_000))
    change(&policy)
    return RetryStateMachine(config: .withoutJitter, of: policy)
  }

  /// The waits after failures one behind the other, seconds.
  private func waits(_ responses: [UploadResponse], _ machine: RetryStateMachine) -> [Double] {
    var (batch, pipeline, random) = (BatchRetryState(), PipelineRetryState(), Constant.low)
    return responses.map { response in
      let outcome = machine.afterResponse(
        response, batch: &batch, pipeline: &pipeline, now: 0, random: &random)
      switch outcome {
      case .retry(let time), .pause(let time): return Double(time) / 1_000_000
      default: return -1
      }
    }
  }

  @Test("each class has its own base and its own longest wait, doubled by all failures of the batch")
  func classes() {
    let machine = Self.machine { _ in }
    let limited = UploadResponse.status(429, retryAfter: nil)
    let failed = UploadResponse.status(503, retryAfter: nil)
    #expect(waits([limited, limited], machine) == [10, 15])
    // The Settings' own: 0.5 s, at most 300 s.
    #expect(waits([failed, failed, .noStatus, .status(408, retryAfter: nil)], machine) == [0.5, 1, 8, 16])
    #expect(waits(Array(repeating: .noStatus, count: 12), machine).last == 1_000)
    #expect(waits(Array(repeating: failed, count: 12), machine).last == 300)
  }

  @Test("O2: a Retry-After is a floor under them")
  func retryAfter() {
    let machine = Self.machine { _ in }
    #expect(waits([.status(429, retryAfter: seconds(400))], machine) == [400])
    #expect(waits([.status(429, retryAfter: seconds(4))], machine) == [10])
  }

  @Test("S4: a 429 that the pipeline waits for by backoff goes by its class, capped at maxRetryInterval")
  func pipeline() {
    let machine = Self.machine {
      $0.rateLimited = .pausesPipeline
      $0.missingRetryAfter = .exponentialBackoff
      $0.classDelays.rateLimit = DelayBounds(base: seconds(100), longest: seconds(1_000))
    }
    let limited = UploadResponse.status(429, retryAfter: nil)
    #expect(waits([limited, limited, limited], machine) == [100, 200, 300])
  }
}
