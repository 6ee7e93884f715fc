/// How many uploads at once and how many events in one, after what came back lately (O5): additive increase,
/// multiplicative decrease. A configuration; the state is 8 bytes.
///
/// Concurrency grows by one for as many successes as it counts (a round) and is cut by `decreasePercent` at each sign of
/// overload. A batch grows by `batchStep` events with each success and is cut likewise at a time-out and at a 413,
/// which say that requests are too large; a 429 or a 5xx leaves it, because smaller batches are more requests.
public struct BackpressureController: Sendable, Hashable, BitwiseCopyable {
  /// Uploads at once, at most; 1 … 1,000.
  public let longestConcurrency: Int
  /// Events of a batch, at least and at most; 1 … 65,535.
  public let smallestBatch: Int
  public let largestBatch: Int
  public let batchStep: Int
  /// What a cut takes away, 1 … 99.
  public let decreasePercent: Int

  public init(
    longestConcurrency: Int = 8, smallestBatch: Int = 10, largestBatch: Int = 500, batchStep: Int = 10,
    decreasePercent: Int = 50
  ) {
    self.longestConcurrency = min(max(longestConcurrency, 1), 1_000)
    self.largestBatch = min(max(largestBatch, 1), Int(UInt16.max))
    self.smallestBatch = min(max(smallestBatch, 1), self.largestBatch)
    self.batchStep = max(batchStep, 0)
    self.decreasePercent = min(max(decreasePercent, 1), 99)
  }

  /// How far both have been cut; a fresh value is at the most.
  @frozen
  public struct State: Sendable, Hashable, BitwiseCopyable {
    /// Thousandths of uploads below `longestConcurrency`.
    public var concurrencyCut: UInt32 = 0
    /// Events below `largestBatch`.
    public var batchCut: UInt32 = 0
    @inlinable public init() {}
  }

  /// What an upload came back with.
  public enum Signal: Sendable, Hashable {
    case success
    /// 429, 5xx: fewer at once.
    case overload
    /// 413: smaller ones.
    case tooLarge
    /// No status: fewer and smaller ones.
    case timeOut
    /// Another answer: neither.
    case other
  }

  /// The signal of a status, 0 standing for none.
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
      state.batchCut -= min(state.batchCut, UInt32(batchStep))
    case .overload: cutConcurrency(&state)
    case .tooLarge: cutBatch(&state)
    case .timeOut:
      cutConcurrency(&state)
      cutBatch(&state)
    case .other: break
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
