import SimulationKernel

extension TAPIServer {
  /// An answer that leaves at once and does not depend on who asked.
  @frozen
  public struct FastAnswer: Sendable, Hashable, BitwiseCopyable {
    public var status: UInt16
    /// Microseconds, at most 4,294 s; `UInt32.max`: no header.
    public var retryAfter: UInt32
    @inlinable public init(status: UInt16, retryAfter: UInt32 = .max) {
      self.status = status
      self.retryAfter = retryAfter
    }
  }

  /// The server's part that gives fast answers, taken out to be asked in a tight loop and given back by `resume`.
  @frozen
  public struct FastAnswers: BitwiseCopyable {
    @usableFromInline var bucket: TokenBucket
    @usableFromInline let isDown: Bool
    @usableFromInline let down: FastAnswer
    @usableFromInline let refusal: FastAnswer

    /// Decides on a request that arrives now without looking at it.
    @inlinable @inline(__always)
    public mutating func answer(at now: Instant) -> FastAnswer {
      if isDown { return down }
      return bucket.take(at: now) ? FastAnswer(status: 200) : refusal
    }

    /// Of every answer that is not 200.
    public var refusedStatus: UInt16 { isDown ? down.status : refusal.status }

    @usableFromInline init(bucket: TokenBucket, isDown: Bool, down: FastAnswer, refusal: FastAnswer) {
      self.bucket = bucket
      self.isDown = isDown
      self.down = down
      self.refusal = refusal
    }
  }

  /// With `hasFastAnswers` only: whether so many requests from `now` on get the same answer in any order, if nothing happens to the
  /// server meanwhile.
  public func hasCommonAnswer(_ requests: Int, at now: Instant) -> Bool {
    isDown || bucket.holds(requests, at: now)
  }

  /// With `hasFastAnswers` only; until `resume` the server must not be asked anything else.
  public func fastAnswers() -> FastAnswers {
    FastAnswers(bucket: bucket, isDown: isDown, down: downAnswer, refusal: refusalAnswer)
  }

  public mutating func resume(_ answers: FastAnswers) { bucket = answers.bucket }

  mutating func noteFastAnswers() {
    func plain(_ status: Int, _ policy: RetryAfterPolicy) -> FastAnswer? {
      switch policy {
      case .none: FastAnswer(status: UInt16(truncatingIfNeeded: status))
      case .fixed(let span):
        FastAnswer(
          status: UInt16(truncatingIfNeeded: status),
          retryAfter: UInt32(clamping: min(span.microseconds, Self.longestRetryAfter)))
      case .spread, .backlog: nil
      }
    }
    hasFastAnswers = false
    guard isBucket, bucketServiceTime == Sampler(.constant(.zero)), rules?.areIdle ?? true,
      let refused = plain(overload.status, overload.retryAfter)
    else { return }
    refusalAnswer = refused
    isDown = false
    if let outage {
      guard let status = outage.status, let answer = plain(status, outage.retryAfter) else { return }
      isDown = true
      downAnswer = answer
    }
    hasFastAnswers = true
  }
}
