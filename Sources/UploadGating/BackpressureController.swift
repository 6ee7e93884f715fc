/// A limit on uploads at once and on events in one, by what came back lately (O5): additive increase, multiplicative decrease. A
/// configuration; the state is 8 bytes.
///
/// Concurrency grows by one for as many successes as it counts (a round) and is cut by `decreasePercent` at each sign of
/// overload. A batch grows by `batchStep` events with each success. It is cut likewise at a time-out and at a 413, which say that
/// requests are too large. A 429 or a 5xx leaves it, because smaller batches are more requests.
///
/// With a `targetLatency` an answer that takes longer says the same as a time-out does. With a `longestGap` uploads are paced. At
/// each sign of overload the gap from one upload to the next doubles, from `shortestGap` up to `longestGap`. Each success takes
/// an eighth of it away, until it is below `shortestGap` and gone.
public struct BackpressureController: Sendable, Hashable, BitwiseCopyable {
  /// Uploads at once, at most; 1 … 1,000.
  public package(set) var longestConcurrency: Int
  /// The shortest gap where none is given, microseconds.
  public static var standardGap: Int64 { 100_000 }

  /// Events of a batch, at least and at most; 1 … 65,535.
  public package(set) var smallestBatch: Int
  public package(set) var largestBatch: Int
  public package(set) var batchStep: Int
  /// The percentage that a cut takes away, 1 … 99.
  public package(set) var decreasePercent: Int
  /// An answer that takes longer is a sign of overload, microseconds; nil: the time does not matter.
  public package(set) var targetLatency: Int64?
  /// Between the starts of two uploads, while they are paced. Microseconds, `shortestGap` 1 … `longestGap`; 0 and 0: they never are.
  public package(set) var shortestGap: Int64
  public package(set) var longestGap: Int64

  public init(
    longestConcurrency: Int = 8, smallestBatch: Int = 10, largestBatch: Int = 500, batchStep: Int = 10,
    decreasePercent: Int = 50, targetLatency: Int64? = nil, shortestGap: Int64 = standardGap,
    longestGap: Int64 = 0
  ) {
    self.longestConcurrency = min(max(longestConcurrency, 1), 1_000)
    self.largestBatch = min(max(largestBatch, 1), Int(UInt16.max))
    self.smallestBatch = min(max(smallestBatch, 1), self.largestBatch)
    self.batchStep = max(batchStep, 0)
    self.decreasePercent = min(max(decreasePercent, 1), 99)
    self.targetLatency = targetLatency.map { max($0, 0) }
    self.longestGap = min(max(longestGap, 0), Int64(UInt32.max))
    self.shortestGap = longestGap <= 0 ? 0 : min(max(shortestGap, 1), self.longestGap)
  }

  /// Whether the time that an answer takes has to be known.
  public var needsLatencies: Bool { targetLatency != nil }
  /// Whether uploads are paced.
  public var paces: Bool { longestGap > 0 }

  /// How far both have been cut; a fresh value is at the most.
  @frozen
  public struct State: Sendable, Hashable, BitwiseCopyable {
    /// Thousandths of uploads below `longestConcurrency`.
    public var concurrencyCut: UInt32 = 0
    /// Events below `largestBatch`.
    public var batchCut: UInt32 = 0
    @inlinable public init() {}
  }

  /// The memory of pacing; kept only where there is a `longestGap`.
  @frozen
  public struct Pace: Sendable, Hashable, BitwiseCopyable {
    /// When the latest upload left, microseconds.
    public var latest: Int64 = 0
    /// Before the next, microseconds; 0: none.
    public var gap: Int64 = 0
    @inlinable public init() {}
  }

  /// The sign that an upload came back with.
  public enum Signal: Sendable, Hashable {
    case success
    /// 429, 5xx: fewer at once.
    case overload
    /// 413: smaller ones.
    case tooLarge
    /// No status: fewer and smaller ones.
    case timeOut
    /// A success that took longer than `targetLatency`: the same.
    case tooSlow
    /// Another answer: neither.
    case other
  }

  /// The signal of a status, 0 standing for none.
  ///
  /// - `latency`: how long the answer took, microseconds; nil: not known.
  public func signal(status: Int, latency: Int64?) -> Signal {
    let signal = Self.signal(status: status)
    guard signal == .success, let latency, let targetLatency, latency > targetLatency else { return signal }
    return .tooSlow
  }

  /// The signal of a status, 0 standing for none, however long it took.
  public static func signal(status: Int) -> Signal {
    switch status {
    case 200...299: .success
    case 0: .timeOut
    case 413: .tooLarge
    case 429, 500...599: .overload
    default: .other
    }
  }

  /// Uploads at once, now.
  public func concurrency(_ state: State) -> Int {
    max((longestConcurrency * 1000 - Int(state.concurrencyCut)) / 1000, 1)
  }

  /// Events of a batch at most, now.
  public func batchEvents(_ state: State) -> Int { max(largestBatch - Int(state.batchCut), smallestBatch) }

  public func record(_ signal: Signal, _ state: inout State) {
    switch signal {
    case .success:
      let grown = UInt32(1000 / concurrency(state))
      state.concurrencyCut -= min(state.concurrencyCut, max(grown, 1))
      state.batchCut -= min(state.batchCut, UInt32(clamping: batchStep))
    case .overload: cutConcurrency(&state)
    case .tooLarge: cutBatch(&state)
    case .timeOut, .tooSlow:
      cutConcurrency(&state)
      cutBatch(&state)
    case .other: break
    }
  }

  /// When the next upload may leave, microseconds.
  public func earliest(_ pace: Pace) -> Int64 { pace.gap == 0 ? .min : pace.latest + pace.gap }

  /// The gap after what an upload came back with.
  public func record(_ signal: Signal, _ pace: inout Pace) {
    switch signal {
    case .success:
      pace.gap -= (pace.gap + 7) / 8
      if pace.gap < shortestGap { pace.gap = 0 }
    case .overload, .timeOut, .tooSlow: pace.gap = min(max(2 * pace.gap, shortestGap), longestGap)
    case .tooLarge, .other: break
    }
  }

  private func cutConcurrency(_ state: inout State) {
    let longest = longestConcurrency * 1000
    let left = max((longest - Int(state.concurrencyCut)) * (100 - decreasePercent) / 100, 1000)
    state.concurrencyCut = UInt32(longest - left)
  }

  private func cutBatch(_ state: inout State) {
    let left = max(batchEvents(state) * (100 - decreasePercent) / 100, smallestBatch)
    state.batchCut = UInt32(largestBatch - left)
  }
}
