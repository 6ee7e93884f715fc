/// Figures as people read them in sentences.
package enum FigureText {
  /// Microseconds as `450 ms`, `3.2 s`, `45 s`, `12 min 05 s`, `2 h 05 min`; nil is `unknown`.
  package static func span(_ microseconds: Int64?) -> String {
    guard let microseconds else { return "unknown" }
    let value = max(0, microseconds)
    let milliseconds = rounded(value, 1_000)
    if milliseconds == 0 { return "0 s" }
    if milliseconds < 1_000 { return "\(milliseconds) ms" }
    let tenths = rounded(value, 100_000)
    if tenths < 100 { return fraction(UInt64(tenths), of: 10) + " s" }
    let seconds = rounded(value, 1_000_000)
    if seconds < 60 { return "\(seconds) s" }
    if seconds < 3_600 { return pair(seconds / 60, "min", seconds % 60, "s") }
    let minutes = rounded(value, 60_000_000)
    return pair(minutes / 60, "h", minutes % 60, "min")
  }

  /// The same of longer and of negative times: `3 d 4 h`, `−1.5 s`.
  package static func duration(_ microseconds: Int64) -> String {
    if microseconds < 0 { return "−" + duration(microseconds == .min ? .max : -microseconds) }
    if microseconds < 86_370_000_000 { return span(microseconds) }
    let hours = rounded(microseconds, 3_600_000_000)
    return hours % 24 == 0 ? "\(hours / 24) d" : "\(hours / 24) d \(hours % 24) h"
  }

  /// A share in whole percent, and a small one as `less than 1 %`.
  package static func percent(_ share: Double) -> String {
    share > 0 && share < 0.005 ? "less than 1 %" : "\(Int64((share * 100).rounded())) %"
  }

  /// `98.7 %`; never `100 %` or `0 %` for what is not quite all or nothing.
  package static func share(_ part: Int64, of whole: Int64) -> String {
    guard whole > 0 else { return "–" }
    let percent = Double(part) / Double(whole) * 100
    if part > 0 && percent < 0.01 { return "< 0.01 %" }
    if part < whole && percent > 99.99 { return "> 99.99 %" }
    return trimmed(percent, decimals: percent < 1 || percent > 99 ? 2 : 1) + " %"
  }

  /// `1:800 of 800,000 devices`; of a fleet that is run whole `20,000 devices`.
  package static func fleet(of devices: Int64, scale: Int64) -> String {
    (scale > 1 ? "1:\(scale) of " : "")
      + (devices < 1_000_000 ? count(devices, "device") : "\(amount(Double(devices))) devices")
  }

  /// A noun behind a number of things: `seed`, `seeds`, `processes`.
  package static func noun<Number: BinaryInteger>(_ singular: String, _ count: Number) -> String {
    count == 1 ? singular : singular + (singular.hasSuffix("s") ? "es" : "s")
  }

  /// A number of things: `1 seed`, `20,000 devices`.
  package static func count<Number: BinaryInteger>(_ count: Number, _ singular: String) -> String {
    "\(grouped(Int64(count))) \(noun(singular, count))"
  }

  private static func pair(_ large: Int64, _ unit: String, _ small: Int64, _ smallUnit: String) -> String {
    small == 0 ? "\(large) \(unit)" : "\(large) \(unit) \(small < 10 ? "0" : "")\(small) \(smallUnit)"
  }

  private static func rounded(_ value: Int64, _ unit: Int64) -> Int64 {
    value / unit + (value % unit >= unit / 2 ? 1 : 0)
  }

  /// A count of a whole fleet, to three digits: `39.5 million`, `412,000`; below 10,000 as it is: `9,484`.
  package static func amount(_ value: Double) -> String {
    for (unit, name) in [(1e9, "billion"), (1e6, "million")] where abs(value) >= unit * 0.9995 {
      return MetricText.plain(value / unit) + " " + name
    }
    let digits = abs(value) >= 1e5 ? 1e3 : abs(value) >= 1e4 ? 1e2 : abs(value) >= 100 ? 1 : 0.1
    return MetricText.plain((value / digits).rounded() * digits)
  }

  /// A figure with the sign of its number.
  static func signed(_ value: Double, _ figure: String) -> String {
    (value > 0 ? "+" : value < 0 ? "-" : "") + figure
  }

  /// A fixed number of decimals, rounded half away from zero.
  package static func decimal(_ value: Double, decimals: Int = 1) -> String {
    guard abs(value) < 1e15 else { return value.isNaN ? "unknown" : value < 0 ? "-infinite" : "infinite" }
    let (scaled, unit) = scaled(value, decimals)
    let (whole, rest) = scaled.magnitude.quotientAndRemainder(dividingBy: unit)
    return (scaled < 0 ? "-" : "") + grouped(Int64(whole)) + "." + String(unit + rest).dropFirst()
  }

  /// With so many decimals at most.
  private static func trimmed(_ value: Double, decimals: Int) -> String {
    let (scaled, unit) = scaled(value, decimals)
    return fraction(scaled.magnitude, of: unit)
  }

  private static func scaled(_ value: Double, _ decimals: Int) -> (Int64, unit: UInt64) {
    let power: UInt64 = [1, 10, 100][decimals]
    return (Int64((value * Double(power)).rounded(.toNearestOrAwayFromZero)), power)
  }

  /// Three significant digits with a unit prefix: `0.25`, `12.5`, `950`, `1.2k`, `3.4M`; trailing zeros are left out.
  package static func compact(_ value: Double) -> String {
    guard value.magnitude < 1e15 else { return "–" }
    if value < 0 { return "−" + compact(-value) }
    var scaled = value
    var prefix = 0
    while scaled >= 999.5 && prefix < 4 {
      scaled /= 1_000
      prefix += 1
    }
    return trimmed(scaled, decimals: scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2)
      + ["", "k", "M", "G", "T"][prefix]
  }

  /// A rate: one decimal below 1,000, whole numbers above.
  package static func rate(_ value: Double) -> String {
    value < 999.95 || value >= 1e15 ? decimal(value) : grouped(Int64(value.rounded()))
  }

  /// `scaled` / `unit`, which is a power of ten, without trailing zeros.
  package static func fraction(_ scaled: UInt64, of unit: UInt64) -> String {
    let (whole, rest) = scaled.quotientAndRemainder(dividingBy: unit)
    // The 1 in front keeps the zeros behind the point.
    var digits = String(unit + rest).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return digits.isEmpty ? "\(whole)" : "\(whole).\(digits)"
  }

  /// With a comma between thousands.
  package static func grouped(_ value: Int64) -> String {
    var digits = String(value.magnitude)
    var index = digits.count - 3
    while index > 0 {
      digits.insert(",", at: digits.index(digits.startIndex, offsetBy: index))
      index -= 3
    }
    return value < 0 ? "-" + digits : digits
  }
}

extension Sequence<String> {
  /// Joins words with a space into lines, each as long as may be.
  /// - Parameter fits: whether a line of more than one word has room; the first line is number 0.
  package func filled(where fits: (_ line: String, _ number: Int) -> Bool) -> [String] {
    reduce(into: []) { lines, word in
      if let last = lines.last, fits("\(last) \(word)", lines.count - 1) {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(word)
      }
    }
  }
}
