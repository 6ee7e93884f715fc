import FleetExperiments

/// Numbers as people read them. Files for machines have their own formatting, in FleetMetrics.
package enum Humanised {
  /// `450 ms`, `3.2 s`, `45 s`, `12 min 30 s`, `2 h 05 min`, `3 d 4 h`.
  package static func duration(_ microseconds: Int64) -> String {
    if microseconds < 0 { return "−" + duration(microseconds == .min ? .max : -microseconds) }
    if microseconds < 86_370_000_000 { return FigureText.span(microseconds) }
    let hours = microseconds / 3_600_000_000 + (microseconds % 3_600_000_000 >= 1_800_000_000 ? 1 : 0)
    return hours % 24 == 0 ? "\(hours / 24) d" : "\(hours / 24) d \(hours % 24) h"
  }

  /// `1,234,567`.
  package static func count(_ value: Int64) -> String {
    let digits = FigureText.grouped(value)
    return value < 0 ? "−" + digits.dropFirst() : digits
  }

  /// Three significant digits with a unit prefix: `0.25`, `12.5`, `950`, `1.2k`, `3.4M`; trailing zeros are
  /// left out.
  package static func compact(_ value: Double) -> String {
    guard value.magnitude < 1e15 else { return "–" }
    if value < 0 { return "−" + compact(-value) }
    var scaled = value
    var prefix = 0
    while scaled >= 999.5 && prefix < 4 {
      scaled /= 1_000
      prefix += 1
    }
    let decimals = scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2
    return trimmed(decimal(scaled, decimals: decimals)) + ["", "k", "M", "G", "T"][prefix]
  }

  /// `3.2×`.
  package static func ratio(_ value: Double) -> String {
    decimal(value, decimals: value < 9.95 ? 2 : 1) + "×"
  }

  /// `98.7 %`; never `100 %` or `0 %` for what is not quite all or nothing.
  package static func share(_ part: Int64, of whole: Int64) -> String {
    guard whole > 0 else { return "–" }
    let percent = Double(part) / Double(whole) * 100
    if part > 0 && percent < 0.01 { return "< 0.01 %" }
    if part < whole && percent > 99.99 { return "> 99.99 %" }
    return trimmed(decimal(percent, decimals: percent < 1 || percent > 99 ? 2 : 1)) + " %"
  }

  /// A fixed number of decimals, grouped; `–` where that is not possible.
  package static func decimal(_ value: Double, decimals: Int) -> String {
    var power = 1.0
    for _ in 0..<decimals { power *= 10 }
    guard let scaled = Int64(exactly: (value * power).rounded(.toNearestOrAwayFromZero)) else { return "–" }
    if decimals == 0 { return count(scaled) }
    let whole = Int64(power)
    let fraction = String((scaled % whole).magnitude)
    return (scaled < 0 && scaled > -whole ? "−" : "") + count(scaled / whole) + "."
      + String(repeating: "0", count: decimals - fraction.count) + fraction
  }

  private static func trimmed(_ text: String) -> String {
    guard text.contains(".") else { return text }
    var text = text
    while text.last == "0" { text.removeLast() }
    if text.last == "." { text.removeLast() }
    return text
  }
}
