/// A limit on a client's retries (O3). It allows at most so many in a run of its upload loop, or as many as successes or first
/// attempts have earned, or both. First attempts are free. A configuration; the state is 16 bytes.
public struct RetryBudget: Sendable, Hashable, BitwiseCopyable {
  /// Retries in one run; nil: no such limit.
  public let perRun: Int?
  /// Retries that may be saved up; nil: no bucket. The bucket is full at first.
  public let bucket: Bucket?
  /// Whether a retry that finds it spent is given up, not held until there is more.
  public let refusesWhenSpent: Bool

  /// A token bucket fed by successes, or by first attempts: then retries are a share of requests. A retry takes one token.
  public struct Bucket: Sendable, Hashable, BitwiseCopyable {
    /// Tokens at most, 1 … 60,000.
    public let capacity: Int
    /// Thousandths of a token that a success adds, 0 … 1,000,000.
    public let perSuccess: Int
    /// Microseconds for which a token comes by itself, so that a client that only has retries left is not stuck for
    /// ever; nil: none does.
    public let trickle: Int64?
    /// Thousandths of a token that a first attempt adds, 0 … 1,000,000.
    public let perRequest: Int
    /// Thousandths of a token that the success of a retry adds in place of `perSuccess`, 0 … 1,000,000.
    public let perRetriedSuccess: Int
    /// Thousandths of a token that an upload without an answer takes, beside its retry, 0 … 1,000,000.
    public let perTimeout: Int
    /// Whether each failure takes a token rather than each retry; then a failure is the last with half of the tokens or fewer left.
    public let isTakenByFailures: Bool

    /// Takes a value out of range for the nearest in range; `perRetriedSuccess` nil: as `perSuccess`.
    public init(
      capacity: Int = 10, perSuccess: Int = 100, trickle: Int64? = nil, perRequest: Int = 0,
      perRetriedSuccess: Int? = nil, perTimeout: Int = 0, isTakenByFailures: Bool = false
    ) {
      self.isTakenByFailures = isTakenByFailures
      self.perRequest = min(max(perRequest, 0), 1_000_000)
      self.perRetriedSuccess = min(max(perRetriedSuccess ?? perSuccess, 0), 1_000_000)
      self.perTimeout = min(max(perTimeout, 0), 1_000_000)
      self.capacity = min(max(capacity, 1), 60_000)
      self.perSuccess = min(max(perSuccess, 0), 1_000_000)
      self.trickle = trickle.map { max($0, 1) }
    }
  }

  public init(perRun: Int? = nil, bucket: Bucket? = nil, refusesWhenSpent: Bool = false) {
    self.refusesWhenSpent = refusesWhenSpent
    self.perRun = perRun.map { min(max($0, 0), Int(UInt16.max)) }
    self.bucket = bucket
  }

  /// As gRPC throttles retries (gRFC A6): each failure takes a token, each success adds so many thousandths of one, and with half of
  /// them or fewer left nothing is tried again.
  public init(maxTokens: Int, tokenRatio: Int) {
    self.init(
      bucket: Bucket(capacity: maxTokens, perSuccess: tokenRatio, isTakenByFailures: true),
      refusesWhenSpent: true)
  }

  /// Whether it is decided at a failure that a retry may follow, not when it leaves.
  public var decidesAtFailures: Bool { bucket?.isTakenByFailures ?? false }

  /// The used part of the budget; a fresh value has a full bucket.
  @frozen
  public struct State: Sendable, Hashable, BitwiseCopyable {
    /// When the trickle was last added up, microseconds.
    public var time: Int64 = 0
    /// Thousandths of tokens missing from a full bucket.
    public var missing: UInt32 = 0
    public var usedInRun: UInt16 = 0
    @inlinable public init() {}
  }

  /// The budget's answer to a retry.
  public enum Permission: Sendable, Hashable {
    case allowed
    /// This run has used its retries up.
    case refusedForThisRun
    /// The bucket is empty; by itself a token comes at this time, microseconds; nil: only a success brings one.
    case refused(until: Int64?)
  }

  public func startRun(_ state: inout State) { state.usedInRun = 0 }

  /// Returns the budget's answer to a retry; takes nothing.
  public func permission(_ state: State, now: Int64) -> Permission {
    if let perRun, Int(state.usedInRun) >= perRun { return .refusedForThisRun }
    guard let bucket else { return .allowed }
    let missing = missing(state, bucket, now: now)
    let full = Int64(bucket.capacity) * 1000
    if bucket.isTakenByFailures { return full - missing > full / 2 ? .allowed : .refused(until: nil) }
    if full - missing >= 1000 { return .allowed }
    guard let trickle = bucket.trickle else { return .refused(until: nil) }
    // The token is whole when so many thousandths have come in.
    let lacking = 1000 - (full - missing)
    let (product, overflow) = trickle.multipliedReportingOverflow(by: lacking)
    return .refused(until: sum(now, overflow ? .max : (product + 999) / 1000))
  }

  /// Notes that a retry leaves.
  public func take(_ state: inout State, now: Int64) {
    if state.usedInRun < .max { state.usedInRun += 1 }
    if let bucket, !bucket.isTakenByFailures { add(-1000, to: &state, now: now) }
  }

  /// Notes that an upload has succeeded, which `isRetry` says was a retry.
  public func recordSuccess(_ state: inout State, isRetry: Bool = false, now: Int64) {
    guard let bucket else { return }
    add(isRetry ? bucket.perRetriedSuccess : bucket.perSuccess, to: &state, now: now)
  }

  /// Notes that a first attempt leaves.
  public func recordRequest(_ state: inout State, now: Int64) {
    guard let bucket, bucket.perRequest > 0 else { return }
    add(bucket.perRequest, to: &state, now: now)
  }

  /// Notes that an upload has failed as a host that is down fails: by 429, 5xx or no answer.
  public func recordFailure(_ state: inout State, hasAnswer: Bool, now: Int64) {
    guard let bucket else { return }
    let taken = (bucket.isTakenByFailures ? 1_000 : 0) + (hasAnswer ? 0 : bucket.perTimeout)
    if taken > 0 { add(-taken, to: &state, now: now) }
  }

  private func add(_ thousandths: Int, to state: inout State, now: Int64) {
    guard let bucket else { return }
    let missing = missing(state, bucket, now: now) - Int64(thousandths)
    state.missing = UInt32(clamping: min(max(missing, 0), Int64(bucket.capacity) * 1000))
    state.time = max(now, state.time)
  }

  private func missing(_ state: State, _ bucket: Bucket, now: Int64) -> Int64 {
    guard let trickle = bucket.trickle, state.missing > 0, now > state.time else {
      return Int64(state.missing)
    }
    let (whole, rest) = (now - state.time).quotientAndRemainder(dividingBy: trickle)
    if whole > Int64(bucket.capacity) { return 0 }
    let (part, overflow) = rest.multipliedReportingOverflow(by: 1000)
    let earned = whole * 1000 + (overflow ? rest / (trickle / 1000) : part / trickle)
    return max(Int64(state.missing) - earned, 0)
  }
}
