/// Texts that are numbers in one of the SDKs' senses.
enum DecimalText {
  /// ASCII digits, with a point and an exponent or without, and a sign or none; nil for anything else. More than fits is infinite.
  static func double(_ text: some StringProtocol) -> Double? {
    var rest = Array(text.utf8)[...]
    skip("+-", in: &rest)
    var count = digits(in: &rest)
    if skip(".", in: &rest) { count += digits(in: &rest) }
    guard count > 0 else { return nil }
    if skip("eE", in: &rest) {
      skip("+-", in: &rest)
      guard digits(in: &rest) > 0 else { return nil }
    }
    return rest.isEmpty ? Double(String(text)) : nil
  }

  /// Without the spaces and tabs around it.
  static func trimmed(_ text: String) -> Substring {
    var bytes = Substring(text).utf8
    while let first = bytes.first, isBlank(first) { bytes.removeFirst() }
    while let last = bytes.last, isBlank(last) { bytes.removeLast() }
    return Substring(bytes)
  }

  /// Takes one of the bytes of `characters` off the front; whether there was one.
  @discardableResult
  private static func skip(_ characters: String, in rest: inout ArraySlice<UInt8>) -> Bool {
    guard let first = rest.first, characters.utf8.contains(first) else { return false }
    rest.removeFirst()
    return true
  }

  /// Takes digits off the front; how many.
  private static func digits(in rest: inout ArraySlice<UInt8>) -> Int {
    let count = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
    rest.removeFirst(count)
    return count
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }
}
