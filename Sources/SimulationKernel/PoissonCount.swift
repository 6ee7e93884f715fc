/// Poisson-distributed counts without libm: the same on every platform.
public enum PoissonCount {
  /// The largest mean; larger ones count as this one. Up to it every count near the mean is exact in a `Double`.
  public static var largestMean: Double { 1e15 }

  /// A count from the Poisson distribution with this mean; 0 for a mean not above zero.
  ///
  /// Means below 10: inversion by sequential search, O(mean), one draw (the key's own), so that the count grows with the mean under
  /// one key. From 10 on: transformed rejection, O(1), about two draws a try, the key's children.
  /// Source: Hörmann, "The transformed rejection method for generating Poisson random variables", 1993 (PTRS).
  @inlinable public static func sample(mean: Double, key: RandomKey) -> Int {
    guard mean > 0 else { return 0 }
    return mean < 10 ? inversion(mean: mean, key: key) : rejection(mean: min(mean, largestMean), key: key)
  }

  @inlinable static func inversion(mean: Double, key: RandomKey) -> Int {
    let u = key.unitAboveZero
    var count = 0
    var probability = DeterministicMath.exp(-mean)
    var sum = probability
    while u > sum {
      count += 1
      probability *= mean / Double(count)
      let next = sum + probability
      if next == sum { break }  // beyond the last bit: rounding left the sum a little below u
      sum = next
    }
    return count
  }

  @usableFromInline static func rejection(mean: Double, key: RandomKey) -> Int {
    let b = 0.931 + 2.53 * mean.squareRoot()
    let a = -0.059 + 0.02483 * b
    let inverseAlpha = 1.1239 + 1.1328 / (b - 3.4)
    let vr = 0.9277 - 3.6224 / (b - 2)
    var next: UInt64 = 0
    while true {
      let u = key.child(next).unitOpen - 0.5
      let v = key.child(next &+ 1).unitAboveZero
      next &+= 2
      let us = 0.5 - u.magnitude
      let x = (2 * a / us + b) * u + mean + 0.43
      guard x >= 0, x < 9e15 else { continue }
      let count = Int(x)
      if us >= 0.07 && v <= vr { return count }
      if us < 0.013 && v > us { continue }
      let bound = DeterministicMath.log(v * inverseAlpha / (a / (us * us) + b))
      if bound <= logProbability(of: count, mean: mean) { return count }
    }
  }

  /// ln of the probability of a count, accurate for large means too, where k ln µ − µ − ln k! would cancel.
  /// Source: Loader, "Fast and accurate computation of binomial probabilities", 2000 (saddle-point form).
  static func logProbability(of count: Int, mean: Double) -> Double {
    let k = Double(count)
    if count < 16 {
      var factorial = 1.0
      for n in 0..<count { factorial *= Double(n + 1) }
      return k * DeterministicMath.log(mean) - mean - DeterministicMath.log(factorial)
    }
    let square = 1 / (k * k)
    let stirling = (1 / k) * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680)))
    return -stirling - deviance(k, mean) - 0.5 * DeterministicMath.log(2 * Double.pi * k)
  }

  /// x ln(x / mean) + mean − x, by a series where x is near the mean.
  static func deviance(_ x: Double, _ mean: Double) -> Double {
    let difference = x - mean
    guard difference.magnitude < 0.1 * (x + mean) else {
      return x * DeterministicMath.log(x / mean) + mean - x
    }
    let v = difference / (x + mean)
    var sum = difference * v
    var power = 2 * x * v
    for odd in stride(from: 3.0, through: 41.0, by: 2.0) {
      power *= v * v
      let next = sum + power / odd
      if next == sum { break }
      sum = next
    }
    return sum
  }
}
