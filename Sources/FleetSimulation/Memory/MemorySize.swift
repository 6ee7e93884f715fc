import ScenarioModel

/// Amounts of memory as people write and read them.
package enum MemorySize {
  private static let units: [(name: String, bytes: UInt64)] = [
    ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("KB", 1_000),
    ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
  ]

  /// The unit names of `bytes(_:)`.
  package static var unitNames: String { units.map(\.name).joined(separator: ", ") }

  /// `20GiB`, `1.5 GB`, `500MiB` in bytes; nil for anything else, nothing and fractions of a byte included.
  package static func bytes(_ text: String) -> Int64? {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let name = text.dropFirst(digits.count).drop { $0 == " " }
    guard let amount = ExactDecimal(digits), let unit = units.first(where: { $0.name == name }),
      case .exact(let bytes) = amount.times(unit.bytes), bytes > 0
    else { return nil }
    return bytes
  }

  /// One decimal in the largest unit that fits: `276.5 MiB`.
  package static func text(_ bytes: Int64) -> String {
    if bytes < 1 << 10 { return "\(bytes) B" }
    let names = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    var index = 0
    while index < names.count - 1, bytes >> (10 * Int64(index + 2)) > 0 { index += 1 }
    let tenths = Int64((Double(bytes) / Double(UInt64(1) << UInt64(10 * (index + 1))) * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) \(names[index])"
  }
}
