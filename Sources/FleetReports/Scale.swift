/// Ticks at round values, and logarithms without the platform's mathematics library.
enum Scale {
  struct Tick {
    var value: Double
    var label: String
  }

  /// Up to `count` steps of 1, 2 or 5 times a power of ten from 0 to `limit`; 0 included.
  static func ticks(upTo limit: Double, count: Int, label: (Double) -> String = Humanised.compact) -> [Tick] {
    guard limit.isFinite, limit > 0 else { return [Tick(value: 0, label: label(0))] }
    var power = 1.0
    while power * Double(count) < limit && power < 1e300 { power *= 10 }
    while power * Double(count) > limit * 10 && power > 1e-300 { power /= 10 }
    let step = [0.1, 0.2, 0.5, 1].map { $0 * power }.first { $0 * Double(count) >= limit } ?? power
    return (0...count).map { Double($0) * step }.filter { $0 <= limit * 1.000_001 }
      .map { Tick(value: $0, label: label($0)) }
  }

  /// Ticks of a time axis from 0 to `duration` microseconds: at most 13, all in one unit.
  static func timeTicks(duration: Int64, sign: String = "") -> [Tick] {
    let second: Int64 = 1_000_000
    let (unit, name, steps): (Int64, String, [Int64]) =
      if duration <= 180 * second {
        (second, "s", [1, 2, 5, 10, 15, 20].map { $0 * second })
      } else if duration <= 3 * 3_600 * second {
        (60 * second, "min", [1, 2, 5, 10, 15].map { $0 * 60 * second })
      } else if duration <= 5 * 86_400 * second {
        (3_600 * second, "h", [1, 2, 4, 6, 12, 24, 48].map { $0 * 1_800 * second })
      } else {
        (86_400 * second, "d", [1, 2, 5, 10, 20, 50].map { $0 * 86_400 * second })
      }
    let step = steps.first { duration / $0 <= 12 } ?? max(duration / 12, 1)
    return (0...max(duration / step, 0)).map { i in
      let value = i * step
      return Tick(
        value: Double(value),
        label: (value > 0 ? sign : "") + Humanised.compact(Double(value) / Double(unit)) + " " + name)
    }
  }

  /// Times worth a tick on a logarithmic axis, microseconds.
  static let logarithmicTimes: [Int64] = [
    1_000, 10_000, 100_000, 1_000_000, 10_000_000, 60_000_000, 600_000_000, 3_600_000_000, 36_000_000_000,
    864_000_000_000, 8_640_000_000_000,
  ]

  /// Binary logarithm of a positive finite number to 2^-24, by squaring: the same on every platform.
  static func log2(_ x: Double) -> Double {
    guard x.isFinite, x > 0 else { return 0 }
    var rest = x.significand
    var result = Double(x.exponent)
    var bit = 0.5
    for _ in 0..<24 {
      rest *= rest
      if rest >= 2 {
        rest /= 2
        result += bit
      }
      bit /= 2
    }
    return result
  }
}
