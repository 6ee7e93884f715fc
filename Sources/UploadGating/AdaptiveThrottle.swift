/// Client-side throttling (Beyer et al., Site Reliability Engineering, chapter 21). The client rejects a request with
/// probability max(0, (requests − K · accepts) / (requests + 1)). Both are counted over the last `window`, rejected
/// requests among the requests. A configuration; the state is 40 bytes.
///
/// The window moves in quarters: it covers between three quarters and the whole of `window`.
public struct AdaptiveThrottle: Sendable, Hashable, BitwiseCopyable {
  /// K in thousandths, 1,000 … 1,000,000: 2000 lets twice as many requests through as are accepted.
  public package(set) var factor: Int
  /// Microseconds.
  public package(set) var window: Int64

  /// The book's numbers: K = 2, two minutes.
  public init(factor: Int = 2_000, window: Int64 = 120_000_000) {
    self.factor = min(max(factor, 1_000), 1_000_000)
    self.window = max(window, 4)
  }

  /// Requests and accepts of the last quarters; a fresh value has none.
  @frozen
  public struct State: Sendable, BitwiseCopyable {
    /// The number of the newest quarter since time 0.
    @usableFromInline var quarter: Int64 = 0
    @usableFromInline var requests = Quarters()
    @usableFromInline var accepts = Quarters()
    @inlinable public init() {}
  }

  /// A count for each quarter. An array of fixed length would ask for the newest systems.
  @frozen
  @usableFromInline
  struct Quarters: Sendable, BitwiseCopyable {
    private var counts: (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
    @usableFromInline init() {}

    /// - Parameter i: 0 … 3.
    fileprivate subscript(i: Int) -> UInt32 {
      get {
        switch i {
        case 0: counts.0
        case 1: counts.1
        case 2: counts.2
        default: counts.3
        }
      }
      set {
        switch i {
        case 0: counts.0 = newValue
        case 1: counts.1 = newValue
        case 2: counts.2 = newValue
        default: counts.3 = newValue
        }
      }
    }
  }

  /// Requests and accepts of the window at `now`.
  public func counts(_ state: State, now: Int64) -> (requests: Int, accepts: Int) {
    var state = state
    advance(&state, now: now)
    var (requests, accepts) = (0, 0)
    for i in 0..<4 {
      requests += Int(state.requests[i])
      accepts += Int(state.accepts[i])
    }
    return (requests, accepts)
  }

  /// The probability of a rejection at `now`, in thousandths, rounded down.
  public func rejectionThousandths(_ state: State, now: Int64) -> Int {
    let (wanted, all) = rejection(state, now: now)
    return wanted * 1000 / all
  }

  /// Counts a request and says whether it is rejected at the client.
  ///
  /// - `word`: 64 uniform bits.
  public func rejects(_ state: inout State, now: Int64, word: UInt64) -> Bool {
    let (wanted, all) = rejection(state, now: now)
    advance(&state, now: now)
    let i = place(state.quarter)
    if state.requests[i] < .max { state.requests[i] += 1 }
    return wanted > 0 && Int(UInt64(all).multipliedFullWidth(by: word).high) < wanted
  }

  /// Counts a request that the server has accepted.
  public func recordAccept(_ state: inout State, now: Int64) {
    advance(&state, now: now)
    let i = place(state.quarter)
    if state.accepts[i] < .max { state.accepts[i] += 1 }
  }

  /// The probability as a fraction.
  private func rejection(_ state: State, now: Int64) -> (wanted: Int, all: Int) {
    let (requests, accepts) = counts(state, now: now)
    return (max(requests * 1000 - accepts * factor, 0), (requests + 1) * 1000)
  }

  private func place(_ quarter: Int64) -> Int { Int(quarter & 3) }

  private func advance(_ state: inout State, now: Int64) {
    let quarter = max(now, 0) / (window / 4)
    let passed = quarter - state.quarter
    if passed <= 0 { return }  // A clock that goes back counts as standing still.
    for i in 1...min(passed, 4) {
      state.requests[place(state.quarter + i)] = 0
      state.accepts[place(state.quarter + i)] = 0
    }
    state.quarter = quarter
    if passed > 4 {
      state.requests = Quarters()
      state.accepts = Quarters()
    }
  }
}
