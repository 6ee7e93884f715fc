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

    @inlinable public static var accepted: FastAnswer { FastAnswer(status: 200) }
    /// None, ever.
    @inlinable public static var silence: FastAnswer { FastAnswer(status: 0) }
  }

  /// The status of every fast answer that is not 200; 0: no answer at all.
  public var refusedStatus: UInt16 { downAnswer?.status ?? refusalAnswer.status }

  /// Gives each of so many requests between two times the same answer, with `hasFastAnswers` only. Returns that answer if it is
  /// the same in any order of the requests. Nil: nothing has happened.
  public mutating func commonAnswer(_ requests: Int, from start: Instant, until end: Instant) -> FastAnswer? {
    if let downAnswer { return downAnswer }
    return bucket.giveAll(requests, from: start, until: end) ? .accepted : nil
  }

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
    guard isBucket, connections == nil, settings == nil, !isBehindProxies,
      bucketServiceTime == Sampler(.constant(.zero)),
      rules?.areIdle ?? true,
      let refused = plain(overload.status, overload.retryAfter)
    else { return }
    refusalAnswer = refused
    downAnswer = nil
    if let outage {
      if outage.refuses { return }
      var answer: FastAnswer? = .silence
      if let status = outage.status { answer = plain(status, outage.retryAfter) }
      guard let answer else { return }
      downAnswer = answer
    }
    hasFastAnswers = true
  }
}
