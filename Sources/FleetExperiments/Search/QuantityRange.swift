import SimulationKernel

/// What is wrong with a range or a search space, and what would be right.
package struct RangeProblem: Error, Sendable, Hashable, CustomStringConvertible {
  package var description: String
  package init(_ description: String) { self.description = description }
}

/// `lo..hi` along a path of a scenario, even in steps or, with `:log`, in ratios.
package struct QuantityRange: Sendable, Hashable {
  package var path: String
  package var low: Quantity
  package var high: Quantity
  package var isLogarithmic: Bool

  /// Reads `path=lo..hi` or `path=lo..hi:log`.
  package init(_ text: String) throws(RangeProblem) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, !parts[0].isEmpty else { throw Self.malformed(text) }
    self = try QuantityRange(path: parts[0], range: parts[1])
  }

  /// - Parameter range: `lo..hi` or `lo..hi:log`.
  package init(path: String, range: String) throws(RangeProblem) {
    var ends = range
    isLogarithmic = range.hasSuffix(":log")
    if isLogarithmic { ends.removeLast(4) }
    let bounds = Self.bounds(ends)
    guard bounds.count == 2 else { throw Self.malformed("\(path)=\(range)") }
    guard let low = Quantity(bounds[0]), let high = Quantity(bounds[1]) else {
      let wrong = Quantity(bounds[0]) == nil ? bounds[0] : bounds[1]
      throw RangeProblem(
        "'\(wrong)' in '\(path)=\(range)' is no number, share, rate, span or size: write 0.5, 50%, 200/s, 5m or 2KB."
      )
    }
    guard let converted = high.converted(to: low.unit) else {
      throw RangeProblem(
        "'\(bounds[0])' and '\(bounds[1])' in '\(path)=\(range)' are not in the same unit.")
    }
    guard low.value < converted.value else {
      throw RangeProblem("'\(path)=\(range)' is empty: the range goes from the smaller to the larger value.")
    }
    guard !isLogarithmic || low.value > 0 else {
      throw RangeProblem("'\(path)=\(range)' cannot be logarithmic: it begins at 0 or below.")
    }
    self.path = path
    self.low = low
    self.high = converted
    self.low.isWhole = low.isWhole && converted.isWhole
    self.high.isWhole = self.low.isWhole
  }

  /// Splits at `..`; three dots would leave a stray one.
  static func bounds(_ text: String) -> [String] {
    guard let dots = text.firstRange(of: "..") else { return [text] }
    return [String(text[..<dots.lowerBound]), String(text[dots.upperBound...])]
  }

  private static func malformed(_ text: String) -> RangeProblem {
    RangeProblem(
      "'\(text)' is no range: it is written as tapi.bucket.capacity=500/s..2000/s, or with :log behind it.")
  }

  /// The quantity at `share` of the way, 0 … 1. The ends are exact.
  package func quantity(at share: Double) -> Quantity {
    if share <= 0 { return low }
    if share >= 1 { return high }
    var result = low
    if isLogarithmic {
      let (first, last) = (DeterministicMath.log(low.value), DeterministicMath.log(high.value))
      result.value = DeterministicMath.exp(first + (last - first) * share)
    } else {
      result.value = low.value + (high.value - low.value) * share
    }
    if low.isWhole { result.value = result.value.rounded() }
    return result
  }

  /// The most steps in which no two values are the same.
  package var mostSteps: Int {
    guard low.isWhole else { return .max }
    return Int(exactly: (high.value - low.value).rounded()) ?? .max
  }
}

extension QuantityRange {
  /// Where between the ends a value lies, 0 … 1; nil outside of them and in another unit.
  package func share(of quantity: Quantity) -> Double? {
    guard let value = quantity.converted(to: low.unit)?.value, (low.value...high.value).contains(value) else {
      return nil
    }
    guard isLogarithmic else { return (value - low.value) / (high.value - low.value) }
    return DeterministicMath.log(value / low.value) / DeterministicMath.log(high.value / low.value)
  }

  /// Round values within the range for the marks of an axis, at most about eight.
  package var ticks: [Quantity] {
    func quantity(_ value: Double) -> Quantity {
      Quantity(value: value, unit: low.unit, isWhole: low.isWhole)
    }
    let units = low.unit == .span ? Self.spans : Self.decimals
    if isLogarithmic {
      let within = units.filter { (low.value * 0.999_999...high.value * 1.000_001).contains($0) }
      let every = max(1, (within.count + 7) / 8)
      return within.enumerated().filter { $0.offset % every == 0 }.map { quantity($0.element) }
    }
    guard let step = units.first(where: { (high.value - low.value) / $0 <= 7 && (!low.isWhole || $0 >= 1) })
    else {
      return []
    }
    let first = (low.value / step - 1e-9).rounded(.up)
    return (0...8).map { (first + Double($0)) * step }.filter { $0 <= high.value * 1.000_001 }.map(quantity)
  }

  /// 1, 2 and 5 times the powers of ten.
  private static let decimals: [Double] = (-9...18).flatMap { exponent in
    let power = (0..<abs(exponent)).reduce(1.0) { power, _ in power * 10 }
    return [1.0, 2, 5].map { exponent < 0 ? $0 / power : $0 * power }
  }

  /// Microseconds that people read as round: 1, 2, 5 … ms and s, then parts of minutes, hours and days.
  private static let spans: [Double] = {
    let (second, minute, hour, day) = (1e6, 60e6, 3_600e6, 86_400e6)
    return decimals.filter { (1_000...5 * second).contains($0) } + [10, 15, 20, 30].map { $0 * second }
      + [1, 2, 5, 10, 15, 20, 30].map { $0 * minute } + [1, 2, 3, 6, 12].map { $0 * hour }
      + [1, 2, 5, 10, 20, 50, 100, 200].map { $0 * day }
  }()
}
