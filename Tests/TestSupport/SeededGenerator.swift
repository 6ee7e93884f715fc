/// SplitMix64, for tests that draw at random from a seed that they name.
///
/// Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA (2014).
public struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  /// Words given out so far.
  public private(set) var draws = 0

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    draws += 1
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
