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
    self.value = value
    self.unit = unit
    self.isWhole = isWhole
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

  /// The same quantity rounded to so many significant digits of the unit that people read it in.
  package func rounded(digits: Int) -> Quantity {
    var result = self
    if unit == .span {
      // Whole milliseconds; a span of a second or more in whole tenths where the digits reach so far.
      result.value = max(1_000, Self.rounded(value / 1_000, digits: digits).rounded() * 1_000)
    } else {
      result.value = Self.rounded(value, digits: digits)
      if isWhole { result.value = result.value.rounded() }
    }
    return result
  }

  private static func whole(_ value: Double) -> String {
    Int64(exactly: value.rounded()).map(String.init) ?? "0"
  }

  private static func rounded(_ value: Double, digits: Int) -> Double {
    let decimals = decimals(of: value, digits: digits)
    var power = 1.0
    for _ in 0..<abs(decimals) { power *= 10 }
    return decimals >= 0 ? (value * power).rounded() / power : (value / power).rounded() * power
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

  /// A decimal number without exponent and trailing zeros.
  static func decimal(_ value: Double, digits: Int) -> String {
    let decimals = max(0, min(decimals(of: value, digits: digits), 15))
    var power = 1.0
    for _ in 0..<decimals { power *= 10 }
    guard let scaled = Int64(exactly: (value * power).rounded()), let unit = Int64(exactly: power) else {
      return whole(value)
    }
    let sign = scaled < 0 ? "-" : ""
    let (head, rest) = scaled.magnitude.quotientAndRemainder(dividingBy: unit.magnitude)
    if rest == 0 { return "\(sign)\(head)" }
    var fraction = String(rest)
    fraction = String(repeating: "0", count: decimals - fraction.count) + fraction
    while fraction.last == "0" { fraction.removeLast() }
    return "\(sign)\(head).\(fraction)"
  }
}
