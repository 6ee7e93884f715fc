/// Values with units: `"30s"`, `"4000/s"`, `"500KB"`, `"10%"`. Everything exact, in integers.
package enum Units {
  /// No span is longer, so that sums of spans cannot overflow.
  package static let longestSpan = Span(microseconds: 366 * 86_400_000_000)

  package static let spanUnits: [(name: String, microseconds: UInt64)] = [
    ("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1_000),
    ("us", 1),
  ]
  package static let rateUnits: [(name: String, microseconds: UInt64)] = [
    ("s", 1_000_000), ("min", 60_000_000), ("h", 3_600_000_000), ("day", 86_400_000_000),
  ]
  package static let sizeUnits: [(name: String, bytes: UInt64)] = [
    ("B", 1), ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000),
  ]

  // MARK: Writing

  /// The shortest exact text of a span: `"90m"`, `"1500ms"`.
  package static func text(_ span: Span) -> String {
    if span == .zero { return "0s" }
    for unit in spanUnits where span.microseconds % Int64(unit.microseconds) == 0 {
      return "\(span.microseconds / Int64(unit.microseconds))\(unit.name)"
    }
    return "\(span.microseconds)us"
  }

  /// `"4000/s"`, `"66.667/s"`.
  package static func text(milliPerSecond milli: Int64) -> String { thousandths(milli) + "/s" }

  /// A gap as a rate if that says it exactly, `"6/min"`; else nil.
  package static func rateText(gap: Span) -> String? {
    guard gap > .zero else { return nil }
    for unit in rateUnits where Int64(unit.microseconds) % gap.microseconds == 0 {
      return "\(Int64(unit.microseconds) / gap.microseconds)/\(unit.name)"
    }
    return nil
  }

  package static func text(bytes: Int) -> String {
    for unit in sizeUnits.reversed() where bytes != 0 && bytes % Int(unit.bytes) == 0 {
      return "\(bytes / Int(unit.bytes))\(unit.name)"
    }
    return "\(bytes)B"
  }

  /// `"50%"`, `"12.5%"`.
  package static func text(partsPerMillion parts: Int64) -> String { decimal(parts, in: 10_000) + "%" }

  /// Thousandths as a decimal number without trailing zeros.
  package static func thousandths(_ value: Int64) -> String { decimal(value, in: 1_000) }

  /// Millionths as a decimal number without trailing zeros.
  package static func millionths(_ value: Int64) -> String { decimal(value, in: 1_000_000) }

  /// Microseconds as seconds, a decimal number without trailing zeros.
  package static func seconds(microseconds: Int64) -> String { millionths(microseconds) }

  private static func decimal(_ value: Int64, in parts: Int64) -> String {
    let (whole, rest) = value.quotientAndRemainder(dividingBy: parts)
    if rest == 0 { return "\(whole)" }
    var digits = "\(rest + parts)".dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(whole)." + String(digits)
  }
}
