/// G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA (2014).
struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    z ^= z >> 31
    return z
  }

  mutating func next(below count: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(count)).high)
  }

  /// Standard normal, one of 4,096 values of equal probability.
  mutating func nextNormal() -> Double { Self.normals[Int(next() >> 52)] }

  private static let normals: [Double] = (0..<4_096).map {
    NormalDistribution.quantile((Double($0) + 0.5) / 4_096)
  }
}
