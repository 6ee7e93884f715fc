/// The lines of a CSV file that others wrote, one after the other; blank ones are left out. O(bytes).
///
/// A line ends at LF, CR or CR LF, and no field goes over several lines. Fields are trimmed; quotes may be round each.
package struct CSVLines: Sequence, IteratorProtocol {
  private let bytes: [UInt8]
  private var offset = 0
  /// Lines so far, blank ones among them.
  package private(set) var number = 0
  private var line = 0..<0

  package init(_ text: String) {
    bytes = Array(text.utf8)
    // Spreadsheets put a mark of byte order in front.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
  }

  package mutating func next() -> (number: Int, fields: [String])? {
    while offset < bytes.count {
      let start = offset
      while offset < bytes.count, bytes[offset] != Ascii.lineFeed, bytes[offset] != Ascii.carriageReturn {
        offset += 1
      }
      line = start..<offset
      if offset + 1 < bytes.count, bytes[offset] == Ascii.carriageReturn, bytes[offset + 1] == Ascii.lineFeed
      {
        offset += 1
      }
      offset += 1
      number += 1
      if !bytes[line].allSatisfy(Self.isBlank) { return (number, fields(line)) }
    }
    return nil
  }

  /// The latest line, as it stands there.
  package var text: String { String(decoding: bytes[line], as: UTF8.self) }

  private func fields(_ line: Range<Int>) -> [String] {
    var fields: [String] = []
    var start = line.lowerBound
    var (isQuoted, hasQuotes) = (false, false)
    for index in line {
      switch bytes[index] {
      case Ascii.doubleQuote:
        isQuoted.toggle()
        hasQuotes = true
      case Ascii.comma where !isQuoted:
        fields.append(field(start..<index, hasQuotes))
        (start, hasQuotes) = (index + 1, false)
      default: break
      }
    }
    fields.append(field(start..<line.upperBound, hasQuotes))
    return fields
  }

  private func field(_ range: Range<Int>, _ hasQuotes: Bool) -> String {
    if hasQuotes { return Self.trimmed(bytes[range].filter { $0 != Ascii.doubleQuote }[...]) }
    return Self.trimmed(bytes[range])
  }

  private static func trimmed(_ field: ArraySlice<UInt8>) -> String {
    var field = field
    while let first = field.first, isBlank(first) { field.removeFirst() }
    while let last = field.last, isBlank(last) { field.removeLast() }
    return String(decoding: field, as: UTF8.self)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 }

  /// A field for a message: nobody reads a long one to its end.
  package static func shown(_ field: String) -> String {
    let head = field.prefix(40)
    return head.endIndex == field.endIndex ? field : head + "…"
  }
}
