/// The purpose of a draw: fixed constants keep the draws of one entity apart.
///
/// The raw values are part of every recorded result; a new purpose takes a new number, an old one keeps its own.
@frozen
public enum RandomPurpose: UInt64, Sendable, Hashable, CaseIterable {
  /// Creation times of a device's events, by block of events.
  case events = 1
  /// Offset of a device's flush interval.
  case flushPhase = 2
  /// Offset of a device's strictly periodic events.
  case eventPhase = 3
  /// One-way latency and loss from device to server.
  case networkUp = 4
  /// One-way latency and loss from server to device.
  case networkDown = 5
  /// Service time of one attempt at the server.
  case service = 6
  /// Jitter of one retry.
  case jitter = 7
  /// Spread of the Retry-After that the server answers to one attempt.
  case retryAfter = 8
  /// Order of arrivals that meet at one instant.
  case order = 9
  /// Kills and launches of the app.
  case lifecycle = 10
  /// Whether a device is in the share that a rollout reaches.
  case rollout = 11
  /// Whether and when a device takes part in a spike.
  case spike = 20
  /// When a device is offline.
  case connectivity = 21
  /// When an app is in the foreground.
  case sessions = 22
  /// When an operating system lets a device send in the background.
  case system = 23
  /// Whether an incident makes the server answer one attempt with an error.
  case serverError = 24
  /// Whether the answer to one accepted attempt gets lost.
  case lostAnswer = 25
  /// The latency that an incident adds to the way of one answer.
  case answerLatency = 26
  /// Service time at the server's dependency of the calls for one attempt.
  case dependency = 27
  /// The ways to and fro of the handshake before one attempt.
  case handshake = 28
  /// When a device gets a push message, and whether and when its user opens it.
  case push = 29
  /// Whether and when an incident cuts off what a device holds open.
  case cut = 30
  /// The draws of a client's gates.
  case gates = 40
  /// The draws of a page of a browser.
  case pages = 41
  /// Whether operators refuse one attempt, or a device, at the door.
  case shedding = 60
  /// The proxy of a device; the wait before a proxy's retry of one attempt, and what becomes of that retry.
  case proxy = 61
}

/// The name of a draw: a draw is a hash of its entity, never the next number of a shared stream.
///
/// Start from a seed, then go down: `RandomKey(seed: 1).child(device).child(.jitter).child(retry)`. Equal paths give equal
/// draws, whatever else was drawn before, between or on other threads. So two strategies under one seed meet the same events
/// and the same network (engine.md, Randomness).
///
/// `child(n)` is the (n+1)-th output of SplitMix64 started at this key's state. So the children of a key are as independent
/// as the numbers of that generator. Distinct n never collide, and a child costs one finaliser. A key's draw is its state;
/// reading it costs nothing, and a key may be drawn from and have children as well.
///
/// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
@frozen
public struct RandomKey: Sendable, Hashable, BitwiseCopyable {
  @usableFromInline var state: UInt64

  @inlinable package init(state: UInt64) { self.state = state }

  /// The root key of a seed. Every seed is good, neighbouring ones too: the seed is mixed.
  @inlinable public init(seed: UInt64) {
    state = RandomKey.mix(seed &+ RandomKey.increment)
  }

  /// The key of a sub-entity (device, purpose, ordinal, attempt …). One finaliser.
  @inlinable public func child(_ n: UInt64) -> RandomKey {
    RandomKey(state: RandomKey.mix(state &+ (n &+ 1) &* RandomKey.increment))
  }

  /// The key of this entity's draws for one purpose.
  @inlinable public func child(_ purpose: RandomPurpose) -> RandomKey { child(purpose.rawValue) }

  /// The draw of this key: 64 uniform bits.
  @inlinable public var bits: UInt64 { state }

  /// The draw of this key as a number in 0 ..< n; 0 for n = 0. Grows with `bits`.
  ///
  /// Multiply-high; the bias against exact uniformity is below n / 2⁶⁴.
  @inlinable public func uniform(below n: UInt64) -> UInt64 {
    bits.multipliedFullWidth(by: n).high
  }

  /// The draw of this key as a number in `low ... high`; `low` when the range is empty. Grows with `bits`.
  @inlinable public func uniform(_ low: Int64, through high: Int64) -> Int64 {
    guard low < high else { return low }
    let count = UInt64(bitPattern: high &- low) &+ 1
    let offset = count == 0 ? bits : uniform(below: count)
    return low &+ Int64(bitPattern: offset)
  }

  /// The draw of this key as a number in (0, 1], in steps of 2⁻⁵³: safe to take the logarithm of.
  @inlinable public var unitAboveZero: Double {
    Double(Int64(bitPattern: bits &>> 11) &+ 1) * 0x1p-53
  }

  /// The draw of this key as a number in the open interval (0, 1), in steps of 2⁻⁵², symmetric about ½.
  @inlinable public var unitOpen: Double {
    (Double(Int64(bitPattern: bits &>> 12)) + 0.5) * 0x1p-52
  }

  /// 2⁶⁴ divided by the golden ratio, made odd.
  @inlinable static var increment: UInt64 { 0x9e37_79b9_7f4a_7c15 }

  /// The 64-bit finaliser of SplitMix64: Stafford's variant 13 of the murmur3 finaliser. A bijection.
  @inlinable static func mix(_ bits: UInt64) -> UInt64 {
    var z = bits
    z = (z ^ (z &>> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z &>> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z &>> 31)
  }
}

/// The children of a key in order, for code that asks for a generator: `child(0).bits`, then `child(1).bits`, and so on.
///
/// The stream is SplitMix64 from the key's state on; use it for the draws of one entity only.
@frozen
public struct RandomStream: RandomNumberGenerator, Sendable {
  @usableFromInline var state: UInt64

  @inlinable public init(_ key: RandomKey) { state = key.state }

  @inlinable public mutating func next() -> UInt64 {
    state &+= RandomKey.increment
    return RandomKey.mix(state)
  }
}
