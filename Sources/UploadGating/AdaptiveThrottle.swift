/// Client-side throttling (Beyer et al., Site Reliability Engineering, chapter 21). The client rejects a request with
/// probability max(0, (requests − K · accepts) / (requests + 1)). Both are counted over the last `window`, rejected
/// requests among the requests. A configuration; the state is 120 bytes.
///
/// The window slides. It is counted in twelfths from the client's own first request on, so that no two clients need to cut theirs at
/// the same times. The oldest twelfth counts by the share of it that the window still covers. Where requests come evenly within a
/// twelfth, that is the count of the whole window.
public struct AdaptiveThrottle: Sendable, Hashable, BitwiseCopyable {
  /// K in thousandths, 1,000 … 1,000,000: 2000 lets twice as many requests through as are accepted.
  public package(set) var factor: Int
  /// Microseconds.
  public package(set) var window: Int64
  /// How long a client sends nothing after a rejection, unless a trigger comes before, microseconds.
  public var pause: Int64 = 1_000_000

  /// The book's numbers: K = 2, two minutes.
  public init(factor: Int = 2_000, window: Int64 = 120_000_000) {
    self.factor = min(max(factor, 1_000), 1_000_000)
    self.window = max(window, Self.parts)
  }

  /// The window is counted in so many parts.
  private static var parts: Int64 { 12 }

  /// Requests and accepts of the last parts; a fresh value, or zeros, has none.
  @frozen
  public struct State: Sendable, BitwiseCopyable {
    /// When the newest part began, microseconds, plus one; 0: nothing has been counted.
    @usableFromInline var begin: Int64 = 0
    @usableFromInline var requests = Parts()
    @usableFromInline var accepts = Parts()
    /// The place of the newest part.
    @usableFromInline var newest: UInt8 = 0
    @inlinable public init() {}
  }

  /// A count for each part of the window, and one for the part that the window is leaving. An array of fixed length would ask for the
  /// newest systems.
  @frozen
  @usableFromInline
  struct Parts: Sendable, BitwiseCopyable {
    private var first: (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
    private var second: (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
    private var third: (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
    private var last: UInt32 = 0
    @usableFromInline init() {}

    fileprivate static var count: Int { MemoryLayout<Self>.size / MemoryLayout<UInt32>.stride }

    /// - Parameter i: 0 … `count` − 1.
    fileprivate subscript(i: Int) -> UInt32 {
      get { withUnsafeBytes(of: self) { $0.load(fromByteOffset: i &* 4, as: UInt32.self) } }
      set {
        withUnsafeMutableBytes(of: &self) {
          $0.storeBytes(of: newValue, toByteOffset: i &* 4, as: UInt32.self)
        }
      }
    }

    /// Far beyond any client's requests, so that products of counts stay whole numbers.
    fileprivate mutating func add(at i: Int) { if self[i] < UInt32(Int32.max) { self[i] += 1 } }

    /// All of the window, in 256ths, where the oldest count has so many 256ths.
    fileprivate func sum(oldest: Int, weight: Int) -> Int {
      (0..<Self.count).reduce(0) { $0 + Int(self[$1]) * ($1 == oldest ? weight : 256) }
    }
  }

  /// Requests and accepts of the window at `now`, to the nearest whole one.
  public func counts(_ state: State, now: Int64) -> (requests: Int, accepts: Int) {
    let (requests, accepts) = sums(state, now: now)
    return ((requests + 128) / 256, (accepts + 128) / 256)
  }

  /// Counts a request and says whether it is rejected at the client.
  ///
  /// - `word`: 64 uniform bits.
  public func rejects(_ state: inout State, now: Int64, word: UInt64) -> Bool {
    let (requests, accepts) = sums(state, now: now)
    let (wanted, all) = (max(requests * 1000 - accepts * factor, 0), (requests + 256) * 1000)
    advance(&state, now: now)
    state.requests.add(at: Int(state.newest))
    return wanted > 0 && Int(UInt64(all).multipliedFullWidth(by: word).high) < wanted
  }

  /// Counts a request that the server has accepted.
  public func recordAccept(_ state: inout State, now: Int64) {
    advance(&state, now: now)
    state.accepts.add(at: Int(state.newest))
  }

  /// Requests and accepts of the window at `now`, in 256ths.
  private func sums(_ state: State, now: Int64) -> (requests: Int, accepts: Int) {
    var state = state
    advance(&state, now: now)
    // A clock that goes back counts as standing still.
    let passed = UInt64(max(max(now, 0) - (state.begin - 1), 0))
    let weight = 256 - Int(UInt64(length).dividingFullWidth(passed.multipliedFullWidth(by: 256)).quotient)
    let oldest = (Int(state.newest) + 1) % Parts.count
    return (
      state.requests.sum(oldest: oldest, weight: weight), state.accepts.sum(oldest: oldest, weight: weight)
    )
  }

  /// Of one part, microseconds.
  private var length: Int64 { window / Self.parts }

  private func advance(_ state: inout State, now: Int64) {
    let now = max(now, 0)
    let passed = state.begin == 0 ? .max : (now - (state.begin - 1)) / length
    if passed > Self.parts {
      // Nothing is left: the parts begin anew with what is counted now.
      state = State()
      state.begin = now == .max ? .max : now + 1
      return
    }
    if passed <= 0 { return }
    for _ in 0..<passed {
      state.newest = (state.newest + 1) % UInt8(Parts.count)
      state.requests[Int(state.newest)] = 0
      state.accepts[Int(state.newest)] = 0
    }
    state.begin = sum(state.begin, passed * length)
  }
}
