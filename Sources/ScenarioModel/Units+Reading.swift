import SimulationKernel
import UploadRetry

/// How values with units are read.
extension Units {
  /// Why a text is not the value wanted: the message says what would be right.
  package struct Problem: Error, Sendable, Hashable {
    package var message: String

    package init(message: String) { self.message = message }
  }

  // MARK: Spans

  /// `"30s"`, `"250ms"`, `"80us"`, `"1.5h"`, `"1h30m"`: units from the largest to the smallest, each once.
  package static func span(_ text: String) throws(Problem) -> Span {
    var rest = Substring(text)
    var total: UInt64 = 0
    var lastUnit = -1
    repeat {
      let (number, unit, after) = split(rest)
      guard let amount = ExactDecimal(number), !amount.isNegative || rest.startIndex == text.startIndex else {
        throw Problem(
          message: "\(quoted(text)) is not a span; write a number and a unit, like \"30s\" or \"1h30m\"")
      }
      guard !unit.isEmpty else {
        throw Problem(message: "missing unit: write \(quoted(text + "s"))")
      }
      guard let index = spanUnits.firstIndex(where: { $0.name == unit || ($0.name == "us" && unit == "µs") })
      else {
        throw Problem(
          message: unknownUnit(unit, of: text, "a span", spanUnits.reversed().map(\.name), spanAliases))
      }
      guard index > lastUnit else {
        throw Problem(
          message: "\(quoted(text)): units go from the largest to the smallest, each once, like \"1h30m\"")
      }
      lastUnit = index
      guard !amount.isNegative else { throw Problem(message: "\(quoted(text)) is negative") }
      switch amount.times(spanUnits[index].microseconds) {
      case .exact(let microseconds):
        let (sum, overflow) = total.addingReportingOverflow(UInt64(microseconds))
        total = overflow ? .max : sum
      case .tooLarge: total = .max
      case .fraction:
        throw Problem(message: "\(quoted(text)) is finer than a microsecond, the smallest step of time")
      }
      rest = after
    } while !rest.isEmpty
    guard total <= UInt64(longestSpan.microseconds) else {
      throw Problem(message: "\(quoted(text)) is longer than 366d, the longest span")
    }
    return Span(microseconds: Int64(total))
  }

  // MARK: Rates

  /// `"4000/s"` in thousandths per second: 4,000,000. Rounded to the nearest thousandth.
  package static func milliPerSecond(_ text: String) throws(Problem) -> Int64 {
    let (amount, unit) = try rate(text)
    return amount.times(1_000_000_000, dividedBy: unit) ?? .max
  }

  /// Returns the gap between two events of a rate, rounded to the nearest microsecond. `nil`: the rate is 0
  /// or the gap is too long to tell.
  package static func gap(_ text: String) throws(Problem) -> Span? {
    let (amount, unit) = try rate(text)
    return amount.dividing(unit).map(Span.init(microseconds:))
  }

  private static func rate(_ text: String) throws(Problem) -> (ExactDecimal, unit: UInt64) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let amount = ExactDecimal(parts[0]) else {
      throw Problem(
        message:
          "\(quoted(text)) is not a rate; write a number, \"/\" and s, min, h or day, like \"4000/s\""
      )
    }
    guard parts.count == 2, !parts[1].isEmpty else {
      throw Problem(message: "missing unit: write \(quoted(parts[0] + "/s"))")
    }
    guard let unit = rateUnits.first(where: { $0.name == parts[1] }) else {
      throw Problem(
        message: unknownUnit("/" + parts[1], of: text, "a rate", rateUnits.map { "/" + $0.name }, rateAliases)
      )
    }
    guard !amount.isNegative else { throw Problem(message: "\(quoted(text)) is negative") }
    return (amount, unit.microseconds)
  }

  // MARK: Sizes and shares

  /// `"500KB"` in bytes; KB, MB and GB are powers of 1000.
  package static func bytes(_ text: String) throws(Problem) -> Int64 {
    let (number, unit, rest) = split(Substring(text))
    guard let amount = ExactDecimal(number), rest.isEmpty else {
      throw Problem(
        message: "\(quoted(text)) is not a size; write a number and B, KB, MB or GB, like \"500KB\"")
    }
    guard !unit.isEmpty else { throw Problem(message: "missing unit: write \(quoted(text + "B"))") }
    guard let factor = sizeUnits.first(where: { $0.name == unit })?.bytes else {
      throw Problem(message: unknownUnit(unit, of: text, "a size", sizeUnits.map(\.name), sizeAliases))
    }
    switch amount.times(factor) {
    case .exact(let bytes): return bytes
    case .tooLarge: return amount.isNegative ? .min : .max
    case .fraction: throw Problem(message: "\(quoted(text)) is not a whole number of bytes")
    }
  }

  /// `"50%"` in parts per million: 500,000.
  package static func partsPerMillion(_ text: String) throws(Problem) -> Int64 {
    guard text.last == "%" else {
      throw Problem(
        message: ExactDecimal(text) == nil
          ? "\(quoted(text)) is not a share; write a percentage like \"50%\" or a number like 0.5"
          : "missing unit: write \(quoted(text + "%")), or the number 0.5 for a half")
    }
    guard let amount = ExactDecimal(text.dropLast()) else {
      throw Problem(message: "\(quoted(text)) is not a percentage; write one like \"50%\"")
    }
    return try share(amount, 10_000, text)
  }

  package static func share(_ amount: ExactDecimal, _ factor: UInt64, _ text: String) throws(Problem) -> Int64
  {
    switch amount.times(factor) {
    case .exact(let parts): return parts
    case .tooLarge: return amount.isNegative ? .min : .max
    case .fraction: throw Problem(message: "\(quoted(text)) is finer than a millionth")
    }
  }

  // MARK: Numbers and their units

  /// Cuts a number, the unit behind it, and what comes after that.
  private static func split(_ text: Substring) -> (number: Substring, unit: Substring, rest: Substring) {
    func isNumeric(_ c: Character) -> Bool { c.isASCII && (c.isNumber || c == "." || c == "+" || c == "-") }
    let number = text.prefix(while: isNumeric)
    let tail = text[number.endIndex...]
    let unit = tail.prefix { !isNumeric($0) }
    return (number, unit, tail[unit.endIndex...])
  }

  private static let spanAliases = [
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m",
    "minutes": "m",
    "hour": "h", "hours": "h", "hr": "h", "day": "d", "days": "d", "msec": "ms", "millis": "ms", "usec": "us",
    "μs": "us", "S": "s", "M": "m", "H": "h", "D": "d", "MS": "ms",
  ]
  private static let rateAliases = [
    "/sec": "/s", "/second": "/s", "/m": "/min", "/minute": "/min", "/hour": "/h", "/d": "/day", "/S": "/s",
  ]
  private static let sizeAliases = [
    "b": "B", "kb": "KB", "kB": "KB", "K": "KB", "k": "KB", "KiB": "KB", "mb": "MB", "M": "MB", "MiB": "MB",
    "bytes": "B", "gb": "GB", "G": "GB", "GiB": "GB",
  ]

  private static func unknownUnit(
    _ unit: Substring, of text: String, _ what: String, _ allowed: [String],
    _ aliases: [String: String]
  ) -> String {
    let hint = aliases[String(unit)].map { "; did you mean \(quoted($0))?" } ?? "."
    return "\(quoted(text)): unknown unit \(quoted(String(unit)))\(hint) The units of \(what) are "
      + allowed.joined(separator: ", ")
  }
}
