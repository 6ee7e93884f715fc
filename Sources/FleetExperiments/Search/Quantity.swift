import ScenarioModel
import SimulationKernel

/// A number with the unit that a scenario writes it in: `200/s`, `5m`, `50%`, `2KB` or `0.5`.
package struct Quantity: Sendable, Hashable {
  package enum Unit: Sendable, Hashable {
    case number
    case percent
    /// A rate per so many microseconds, with the name of that span.
    case rate(per: Int64, name: String)
    case span
    case bytes
  }

  /// In `unit`; spans in microseconds.
  package var value: Double
  package var unit: Unit
  /// Written without a fraction: what lies between two of them is whole too.
  package var isWhole: Bool

  package init(value: Double, unit: Unit, isWhole: Bool = false) {
    (self.value, self.unit, self.isWhole) = (value, unit, isWhole)
  }

  /// nil if the text is no number with or without a unit.
  package init?(_ text: String) {
    if let exact = ExactDecimal(text), let value = Self.double(text) {
      let isWhole = !text.contains { ".eE".contains($0) } && exact.exponent >= 0
      self.init(value: value, unit: .number, isWhole: isWhole)
    } else if text.last == "%", let value = Self.double(String(text.dropLast())) {
      self.init(value: value, unit: .percent)
    } else if let slash = text.firstIndex(of: "/") {
      let name = String(text[text.index(after: slash)...])
      guard let per = Self.rateUnits.first(where: { $0.name == name })?.microseconds,
        let value = Self.double(String(text[..<slash])), value >= 0
      else { return nil }
      self.init(value: value, unit: .rate(per: per, name: name))
    } else if let span = try? Units.span(text) {
      self.init(value: Double(span.microseconds), unit: .span)
    } else if let bytes = try? Units.bytes(text) {
      self.init(value: Double(bytes), unit: .bytes, isWhole: true)
    } else {
      return nil
    }
  }

  private static let rateUnits: [(name: String, microseconds: Int64)] = [
    ("s", 1_000_000), ("min", 60_000_000), ("h", 3_600_000_000), ("day", 86_400_000_000),
  ]

  private static func double(_ text: String) -> Double? {
    guard ExactDecimal(text) != nil, let value = Double(text), value.isFinite else { return nil }
    return value
  }

  /// The same quantity in another unit; nil if the units measure different things.
  package func converted(to other: Unit) -> Quantity? {
    if unit == other { return self }
    guard case .rate(let per, _) = unit, case .rate(let wanted, _) = other else { return nil }
    return Quantity(value: value * Double(wanted) / Double(per), unit: other)
  }

  /// As a plain number: seconds, per second, bytes, a share of 1.
  package var baseValue: Double {
    switch unit {
    case .number, .bytes: value
    case .percent: value / 100
    case .rate(let per, _): value * 1e6 / Double(per)
    case .span: value / 1e6
    }
  }

  /// As a scenario writes it, to `digits` significant digits; spans to the microsecond and whole numbers exactly.
  package func text(digits: Int = 6) -> String {
    switch unit {
    case .number: isWhole ? Self.whole(value) : Self.decimal(value, digits: digits)
    case .percent: Self.decimal(value, digits: digits) + "%"
    case .rate(_, let name): Self.decimal(value, digits: digits) + "/" + name
    case .span: Units.text(Span(microseconds: Int64(max(0, min(value.rounded(), 3e13)))))
    case .bytes: Self.whole(value) + "B"
    }
  }

  /// As people read it.
  package var words: String { unit == .span ? FigureText.span(Int64(value.rounded())) : text(digits: 4) }

  /// About as precise as `words`; a span below 100 ms as it is.
  package var asPrinted: Quantity {
    guard unit == .span else { return rounded(digits: 4) }
    if value < 1e5 { return self }
    // As `FigureText.span` rounds.
    let unit = value < 1e6 ? 1e3 : value < 1e7 ? 1e5 : value < 3.6e9 ? 1e6 : 6e7
    var result = self
    result.value = (value / unit).rounded() * unit
    return result
  }

  /// The same quantity rounded to so many significant digits of the unit that people read it in.
  package func rounded(digits: Int) -> Quantity {
    // Whole milliseconds; a span of a second or more in whole tenths where the digits reach so far.
    let rounded = Self.rounded(unit == .span ? value / 1_000 : value, digits: digits)
    var result = self
    result.value =
      unit == .span ? max(1_000, rounded.rounded() * 1_000) : isWhole ? rounded.rounded() : rounded
    return result
  }

  private static func whole(_ value: Double) -> String {
    Int64(exactly: value.rounded()).map(String.init) ?? "0"
  }

  private static func rounded(_ value: Double, digits: Int) -> Double {
    let decimals = decimals(of: value, digits: digits)
    let power = power(of: abs(decimals))
    return decimals >= 0 ? (value * power).rounded() / power : (value / power).rounded() * power
  }

  private static func power(of exponent: Int) -> Double {
    (0..<exponent).reduce(1) { power, _ in power * 10 }
  }

  /// How many decimals (negative: zeros before the point) leave `digits` significant ones.
  private static func decimals(of value: Double, digits: Int) -> Int {
    var magnitude = abs(value)
    guard magnitude > 0, magnitude.isFinite else { return 0 }
    var exponent = 0
    while magnitude >= 10, exponent < 300 {
      magnitude /= 10
      exponent += 1
    }
    while magnitude < 1, exponent > -300 {
      magnitude *= 10
      exponent -= 1
    }
    return digits - 1 - exponent
  }

  /// Without exponent and trailing zeros, to so many significant digits and at most so many decimals.
  package static func decimal(_ value: Double, digits: Int = 3, most: Int = 15) -> String {
    let power = power(of: max(0, min(decimals(of: value, digits: digits), most)))
    guard let scaled = Int64(exactly: (value * power).rounded()), let unit = Int64(exactly: power) else {
      return whole(value)
    }
    return (scaled < 0 ? "-" : "") + FigureText.fraction(scaled.magnitude, of: unit.magnitude)
  }
}

/// A fault of a range, a search space, an objective or a requirement, and the remedy.
public struct OptionProblem: Error, Sendable, Hashable, CustomStringConvertible {
  public var description: String
  package init(_ description: String) { self.description = description }
}

/// `lo..hi` along a path of a scenario, even in steps or, with `:log`, in ratios.
package struct QuantityRange: Sendable, Hashable {
  package var path: String
  package var low: Quantity
  package var high: Quantity
  package var isLogarithmic: Bool

  /// Reads `path=lo..hi` or `path=lo..hi:log`.
  package init(_ text: String) throws(OptionProblem) {
    guard let (path, range) = Self.assignment(text) else { throw Self.malformed(text) }
    self = try QuantityRange(path: path, range: range)
  }

  /// Splits `path=range`; nil without a path.
  static func assignment(_ text: String) -> (path: String, range: String)? {
    guard let sign = text.firstIndex(of: "="), sign > text.startIndex else { return nil }
    return (String(text[..<sign]), String(text[text.index(after: sign)...]))
  }

  /// - Parameter range: `lo..hi` or `lo..hi:log`.
  package init(path: String, range: String) throws(OptionProblem) {
    var ends = range
    isLogarithmic = range.hasSuffix(":log")
    if isLogarithmic { ends.removeLast(4) }
    let bounds = Self.bounds(ends)
    guard bounds.count == 2 else { throw Self.malformed("\(path)=\(range)") }
    guard let low = Quantity(bounds[0]), let high = Quantity(bounds[1]) else {
      let wrong = Quantity(bounds[0]) == nil ? bounds[0] : bounds[1]
      throw OptionProblem(
        "'\(wrong)' in '\(path)=\(range)' is no number, share, rate, span or size: write 0.5, 50%, 200/s, 5m or 2KB."
      )
    }
    guard let converted = high.converted(to: low.unit) else {
      throw OptionProblem(
        "'\(bounds[0])' and '\(bounds[1])' in '\(path)=\(range)' are not in the same unit.")
    }
    guard low.value < converted.value else {
      throw OptionProblem("'\(path)=\(range)' is empty: the range goes from the smaller to the larger value.")
    }
    guard !isLogarithmic || low.value > 0 else {
      throw OptionProblem("'\(path)=\(range)' cannot be logarithmic: it begins at 0 or below.")
    }
    (self.path, self.low, self.high) = (path, low, converted)
    self.low.isWhole = low.isWhole && converted.isWhole
    self.high.isWhole = self.low.isWhole
  }

  /// Splits at `..`; three dots would leave a stray one.
  static func bounds(_ text: String) -> [String] {
    text.split(separator: "..", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  }

  private static func malformed(_ text: String) -> OptionProblem {
    OptionProblem(
      "'\(text)' is no range: it is written as tapi.bucket.capacity=500/s..2000/s, or with :log behind it.")
  }

  /// From where to where, as people read it.
  package var words: String { "\(low.words) to \(high.words)" }

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

  /// The widest gap between neighbouring values, as a share of the range: 0 where every value is allowed.
  package var widestGap: Double {
    guard low.isWhole, high.value > low.value else { return 0 }
    // In even ratios the lowest values lie farthest apart; `low` is above 0 then.
    return isLogarithmic
      ? DeterministicMath.log((low.value + 1) / low.value) / DeterministicMath.log(high.value / low.value)
      : 1 / (high.value - low.value)
  }

  /// Where between the ends a value lies, 0 … 1; nil outside of them and in another unit.
  package func share(of quantity: Quantity) -> Double? {
    guard let value = quantity.converted(to: low.unit)?.value, (low.value...high.value).contains(value) else {
      return nil
    }
    guard isLogarithmic else { return (value - low.value) / (high.value - low.value) }
    return DeterministicMath.log(value / low.value) / DeterministicMath.log(high.value / low.value)
  }
}
