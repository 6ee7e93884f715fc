import ScenarioModel
import SimulationKernel
import UploadRetry

/// A table of arrival rates as production exports it: `time_s,events_per_s` and a row for each change.
///
/// Anything wrong is a problem with its line; nothing traps.
struct ArrivalRateTable {
  /// Something wrong in a line, counted from 1.
  struct Problem: Sendable, Hashable {
    var line: Int
    var message: String
  }

  static let header = "time_s,events_per_s"
  static let maximumRows = 100_000
  static let maximumProblems = 20
  /// Events a second, of a whole cohort.
  static let largestRate: Int64 = 1_000_000_000

  private(set) var rows: [ArrivalRates.Row] = []
  private(set) var problems: [Problem] = []

  init(_ text: String) {
    var number = 0
    var hasHeader = false
    for line in Self.lines(text) {
      number += 1
      let fields = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map(
        Self.trimmed)
      if fields.count == 1, fields[0].isEmpty { continue }
      if !hasHeader {
        hasHeader = true
        if fields.map({ $0.lowercased() }).joined(separator: ",") == Self.header { continue }
        add(number, "expected the header \(Self.header), found \(quoted(Self.shown(line)))")
        return
      }
      read(fields, line, number)
      if problems.count >= Self.maximumProblems {
        add(number, "and perhaps more: reading stopped here")
        return
      }
      if rows.count > Self.maximumRows {
        add(number, "more than \(Self.maximumRows) rows; take longer steps")
        return
      }
    }
    if problems.isEmpty, rows.isEmpty {
      add(
        max(number, 1),
        hasHeader
          ? "no row below the header; write at least one, like 0,1200" : "empty; expected \(Self.header)")
    } else if problems.isEmpty, rows.allSatisfy({ $0.microEventsPerSecond == 0 }) {
      add(number, "every rate is 0: nothing would ever be created")
    }
  }

  /// The table in a scenario itself: text with a line feed is no file name.
  static func isTable(_ node: PositionedValue) -> Bool {
    if let text = node.text { text.utf8.contains(UInt8(ascii: "\n")) } else { false }
  }

  private mutating func add(_ line: Int, _ message: String) {
    problems.append(Problem(line: line, message: message))
  }

  private mutating func read(_ fields: [String], _ line: ArraySlice<UInt8>, _ number: Int) {
    guard fields.count == 2 else {
      add(number, "expected two values, \(Self.header), found \(quoted(Self.shown(line)))")
      return
    }
    let time = value(
      fields[0], "time_s", number, most: Units.longestSpan.microseconds / 1_000_000, "366 days")
    let rate = value(fields[1], "events_per_s", number, most: Self.largestRate, "\(Self.largestRate)")
    guard let time, let rate else { return }
    if let last = rows.last, time <= last.time.microseconds {
      add(number, "time_s is \(fields[0]), not after the row before it (\(Self.seconds(last.time)))")
      return
    }
    rows.append(.init(time: Instant(microseconds: time), microEventsPerSecond: rate))
  }

  /// In millionths.
  private mutating func value(
    _ text: String, _ name: String, _ line: Int, most: Int64, _ limit: String
  ) -> Int64? {
    let shown = quoted(String(text.prefix(40)))
    guard let number = ExactDecimal(Self.rounded(text)) else {
      add(line, text.isEmpty ? "\(name) is missing" : "\(name) is \(shown), which is not a number")
      return nil
    }
    if number.isNegative {
      add(line, "\(name) is \(shown), which is negative")
      return nil
    }
    guard let millionths = number.times(1_000_000, dividedBy: 1), millionths <= most * 1_000_000 else {
      add(line, "\(name) is \(shown), more than \(limit)")
      return nil
    }
    return millionths
  }

  /// Exports of floating-point numbers may have more digits than count: decimals beyond the twelfth go.
  private static func rounded(_ text: String) -> String {
    guard let dot = text.firstIndex(of: "."), text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") })
    else { return text }
    return String(text[..<dot] + text[dot...].prefix(13))
  }

  // MARK: Text

  /// Without a byte order mark; lines end with a line feed, a carriage return or both.
  private static func lines(_ text: String) -> [ArraySlice<UInt8>] {
    var bytes = Array(text.utf8)[...]
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes = bytes.dropFirst(3) }
    var lines: [ArraySlice<UInt8>] = []
    var start = bytes.startIndex
    var i = bytes.startIndex
    while i < bytes.endIndex {
      let isReturn = bytes[i] == UInt8(ascii: "\r")
      if isReturn || bytes[i] == UInt8(ascii: "\n") {
        lines.append(bytes[start..<i])
        if isReturn, i + 1 < bytes.endIndex, bytes[i + 1] == UInt8(ascii: "\n") { i += 1 }
        start = i + 1
      }
      i += 1
    }
    if start < bytes.endIndex { lines.append(bytes[start...]) }
    return lines
  }

  private static func trimmed(_ field: ArraySlice<UInt8>) -> String {
    func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    var field = field.drop(while: isSpace)
    while let last = field.last, isSpace(last) { field.removeLast() }
    return String(decoding: field, as: UTF8.self)
  }

  private static func shown(_ line: ArraySlice<UInt8>) -> String {
    String(String(decoding: line, as: UTF8.self).prefix(60))
  }

  private static func seconds(_ time: Instant) -> String { Units.seconds(microseconds: time.microseconds) }
}

extension ArrivalRates {
  /// As `ArrivalRateTable` reads it.
  var table: String {
    rows.reduce(into: ArrivalRateTable.header + "\n") { text, row in
      text += Units.seconds(microseconds: row.time.microseconds) + ","
      text += Units.millionths(row.microEventsPerSecond) + "\n"
    }
  }
}
