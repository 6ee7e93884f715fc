/// A JSON value tree, so that this module needs no JSON library.
public indirect enum SettingsValue: Sendable, Hashable {
  case null
  case bool(Bool)
  /// Any double: NaN and infinities are repaired where a number is expected (S14).
  case number(Double)
  case string(String)
  case array([SettingsValue])
  /// Members in document order; duplicates keep the last.
  case object([(key: String, value: SettingsValue)])

  /// Equal trees, with members in the same order; numbers are compared by their bits.
  @inline(never)
  public static func == (a: Self, b: Self) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.number(let a), .number(let b)): a.bitPattern == b.bitPattern
    case (.string(let a), .string(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a.elementsEqual(b, by: ==)
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .number(let value): hasher.combine(value.bitPattern)
    case .string(let value): hasher.combine(value)
    case .array(let values): hasher.combine(values)
    case .object(let members):
      hasher.combine(members.count)
      for (key, value) in members {
        hasher.combine(key)
        hasher.combine(value)
      }
    }
  }
}

/// One repair of a bad Settings value (S14).
public struct SettingsRepair: Sendable, Hashable {
  /// JSON path inside the document given, for example
  /// `integrations["Segment.io"].httpConfig.backoffConfig.jitterPercent`; empty for the document as a whole.
  public var path: String
  /// The fault, the allowed values, and the value that is used instead.
  public var message: String

  public init(path: String, message: String) {
    self.path = path
    self.message = message
  }

  /// How the messages of keys that nobody knows begin.
  static let unknownKey = "unknown key, ignored"
  /// How the messages of sections and keys begin whose place another one takes.
  static let superseded = "ignored, because "

  /// The fault, in words for a caller that rejects unknown keys.
  package var problem: String {
    message.hasPrefix(Self.unknownKey) ? "unknown key" + message.dropFirst(Self.unknownKey.count) : message
  }

  /// Whether it is about a key or a section that is passed over whatever its value, rather than about a value.
  package var isNotRead: Bool {
    message.hasPrefix(Self.unknownKey) || message.hasPrefix(Self.superseded)
  }
}

/// An object inside Settings, and where it stands.
package struct SettingsSection {
  package var path: String
  package var members: [(key: String, value: SettingsValue)]

  /// nil: the value is no object.
  @inline(never)
  package init?(_ value: SettingsValue?, path: String) {
    guard case .object(let members)? = value else { return nil }
    (self.path, self.members) = (path, members)
  }

  /// A member that is an object; nil for any other.
  package func object(_ key: String) -> SettingsSection? {
    SettingsSection(self[key], path: path(of: key))
  }

  /// The last member of that name.
  @inline(never)
  package subscript(key: String) -> SettingsValue? { members.last { $0.key == key }?.value }

  /// The path of a member: `path.key`, or `path["key"]` where the key is not an identifier.
  @inline(never)
  package func path(of key: String) -> String {
    let isIdentifier =
      key.utf8.first.map { digitValue($0) == nil } ?? false
      && key.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || digitValue(byte) != nil
          || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
      }
    if !isIdentifier { return "\(path)[\(quoted(key))]" }
    return path.isEmpty ? key : "\(path).\(key)"
  }
}

/// A key of Settings whose value is a number, and what the document says of it (S13, S14).
package struct NumberKey: Sendable {
  package let name: String
  /// Allowed in Settings, in seconds, percent or as a count.
  package let range: ClosedRange<Double>
  /// Behind a number in messages.
  package let unit: String
  /// Allowed in a client's own code, which may also be without a limit.
  let ownRange: ClosedRange<Double>
  let isLimit: Bool

  private init(
    _ name: String, _ range: ClosedRange<Double>, _ unit: String, own: ClosedRange<Double>, isLimit: Bool
  ) {
    (self.name, self.range, self.unit) = (name, range, unit)
    (ownRange, self.isLimit) = (own, isLimit)
  }

  private static func wait(_ name: String, _ range: ClosedRange<Double>) -> NumberKey {
    NumberKey(name, range, " s", own: 0.001...31_622_400, isLimit: false)
  }
  private static func age(_ name: String) -> NumberKey {
    NumberKey(name, 0...604_800, " s", own: 0...31_622_400, isLimit: true)
  }

  package static let maxRetryCount = NumberKey(
    "maxRetryCount", 0...1000, "", own: 0...Double(UInt16.max - 1), isLimit: true)
  package static let maxRetryInterval = wait("maxRetryInterval", 1...3600)
  package static let maxRateLimitDuration = age("maxRateLimitDuration")
  package static let baseBackoffInterval = wait("baseBackoffInterval", 0.1...60)
  package static let maxBackoffInterval = wait("maxBackoffInterval", 1...3600)
  package static let maxTotalBackoffDuration = age("maxTotalBackoffDuration")
  package static let jitterPercent = NumberKey("jitterPercent", 0...100, " %", own: 0...100, isLimit: false)

  /// `1 to 3600 s`
  package func text(_ range: ClosedRange<Double>) -> String {
    "\(shown(range.lowerBound)) to \(shown(range.upperBound))\(unit)"
  }
}

/// Reads values of an expected kind and notes a repair for each that is not (S14).
struct SettingsReader {
  /// Whether `statusCodeOverrides` may drop a 429.
  var overrides429 = false
  /// Whether numbers have the limits of Settings (S14). Else what they stand for is a client's own code: a count may be of any size
  /// or `"none"`, a wait or an age of any length up to 366 days, an age `"none"`.
  var isBounded = true
  private(set) var repairs: [SettingsRepair] = []

  @inline(never)
  mutating func repair(_ path: String, _ message: String) {
    repairs.append(SettingsRepair(path: path, message: message))
  }

  /// nil, and a repair, if the value is not an object.
  @inline(never)
  mutating func object(_ value: SettingsValue, at path: String, otherwise: String) -> SettingsSection? {
    if let section = SettingsSection(value, path: path) { return section }
    repair(path, "\(described(value)) is not an object; \(otherwise)")
    return nil
  }

  mutating func bool(_ key: String, in section: SettingsSection, default fallback: Bool) -> Bool {
    guard let value = section[key] else { return fallback }
    if case .bool(let bool) = value { return bool }
    repair(
      section.path(of: key), "\(described(value)) is not true or false; the default, \(fallback), is used")
    return fallback
  }

  /// A number in its key's range; one outside is clamped.
  mutating func number(_ key: NumberKey, in section: SettingsSection, default fallback: Double) -> Double {
    guard let value = section[key.name] else { return fallback }
    let path = section.path(of: key.name)
    let range = isBounded ? key.range : key.ownRange
    let allowed = key.text(range)
    guard case .number(let number) = value, number.isFinite else {
      repair(
        path,
        "\(described(value)) is not a number; allowed is \(allowed); the default, "
          + "\(fallback > 9e12 ? Self.none : shown(fallback)), is used"
      )
      return fallback
    }
    let clamped = min(max(number, range.lowerBound), range.upperBound)
    if clamped != number {
      repair(path, "\(shown(number)) is out of range; allowed is \(allowed); \(shown(clamped)) is used")
    }
    return clamped
  }

  /// Whether there is no such limit; `Int.max` and `Int64.max` stand for that.
  private func isUnlimited(_ key: NumberKey, in section: SettingsSection) -> Bool {
    !isBounded && key.isLimit && section[key.name] == .string(Self.none)
  }

  static let none = "none"

  /// A length of time in seconds, as microseconds.
  mutating func seconds(_ key: NumberKey, in section: SettingsSection, default fallback: Int64) -> Int64 {
    if section[key.name] == nil { return fallback }
    if isUnlimited(key, in: section) { return .max }
    let seconds = number(key, in: section, default: Double(fallback) / 1_000_000)
    return Int64(exactly: (seconds * 1_000_000).rounded()) ?? fallback
  }

  /// A whole number; a fraction is cut off.
  mutating func count(_ key: NumberKey, in section: SettingsSection, default fallback: Int) -> Int {
    if section[key.name] == nil { return fallback }
    if isUnlimited(key, in: section) { return .max }
    let number = number(key, in: section, default: Double(fallback))
    let whole = number.rounded(.towardZero)
    if whole != number {
      repair(
        section.path(of: key.name),
        "\(shown(number)) is not a whole number; allowed is \(key.text(key.range)); \(shown(whole)) is used")
    }
    return Int(exactly: whole) ?? fallback
  }

  /// `"retry"` or `"drop"`; nil if absent, and nil with a repair if it is anything else.
  mutating func action(_ value: SettingsValue?, at path: String, otherwise: String) -> StatusAction? {
    guard let value else { return nil }
    if case .string(let name) = value, let action = StatusAction(rawValue: name) { return action }
    repair(path, "\(described(value)) is not \"retry\" or \"drop\"; \(otherwise)")
    return nil
  }

  /// Reports each member that is not in `known`, once a name.
  mutating func reportUnknownKeys(
    in section: SettingsSection, known: [String], elsewhere: [(name: String, keys: [String])]
  ) {
    var reported: Set<String> = []
    for (key, _) in section.members where !known.contains(key) && reported.insert(key).inserted {
      var message = SettingsRepair.unknownKey
      if let owner = elsewhere.last(where: { $0.keys.contains(key) }) {
        message += "; it belongs inside \(owner.name)"
      } else if let nearest = nearest(to: key, among: known) {
        message += "; did you mean \(nearest)?"
      } else {
        message += "; known are \(known.joined(separator: ", "))"
      }
      repair(section.path(of: key), message)
    }
  }
}

// Words for messages. They are here because this module imports nothing, and all others may import it.
//
// Code that reads Settings and writes messages is called in many places and never in a hurry. Inlined there, or specialised for
// each type, it took a third of the optimiser's time on this module and on `ShippedClients`. Hence the `@inline(never)` and
// "specialize.generic.never".

/// A value in a few words, on one line.
@inline(never)
package func described(_ value: SettingsValue) -> String {
  switch value {
  case .null: "null"
  case .bool(let bool): bool ? "true" : "false"
  case .number(let number): shown(number)
  case .string(let string): quoted(string)
  case .array: "an array"
  case .object: "an object"
  }
}

/// A number as a person writes it: no `.0`.
@inline(never)
package func shown(_ number: Double) -> String {
  if number.magnitude < 1e15, let whole = Int64(exactly: number) { return String(whole) }
  return number.description
}

/// Millionths as a decimal number without superfluous zeros: of microseconds, their seconds.
@inline(never)
package func decimal(millionths: Int64) -> String {
  let size = millionths.magnitude
  let whole = (millionths < 0 ? "-" : "") + String(size / 1_000_000)
  var decimals = String(String(size % 1_000_000 + 1_000_000).dropFirst())
  while decimals.last == "0" { decimals.removeLast() }
  return decimals.isEmpty ? whole : whole + "." + decimals
}

private let unprintable: Set<Unicode.GeneralCategory> = [
  .control, .format, .lineSeparator, .paragraphSeparator,
]

/// In quotes, on one line, and not too long.
@inline(never)
package func quoted(_ text: String) -> String {
  var result = "\""
  for (index, scalar) in text.unicodeScalars.enumerated() {
    if index == 60 {
      result += "…"
      break
    }
    switch scalar {
    case "\"", "\\": result += "\\" + String(scalar)
    case _ where unprintable.contains(scalar.properties.generalCategory):
      result += "\\u{" + String(scalar.value, radix: 16) + "}"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result + "\""
}

/// The candidate that `word` is most likely a slip of: the same but for case, or at most a third of its
/// letters away.
@inline(never)
package func nearest(to word: String, among candidates: [String]) -> String? {
  let letters = Array(word.lowercased().utf8.prefix(64))
  let scored = candidates.map {
    (candidate: $0, distance: editDistance(letters, Array($0.lowercased().utf8)))
  }
  guard let best = scored.min(by: { $0.distance < $1.distance }),
    best.distance <= max(1, best.candidate.utf8.count / 3)
  else { return nil }
  return best.candidate
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
private func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
  var beforeLast: [Int] = []
  var last = Array(0...b.count)
  for i in 0..<a.count {
    var row = [i + 1]
    for j in 0..<b.count {
      var best = min(row[j] + 1, last[j + 1] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, beforeLast[j - 1] + 1) }
      row.append(best)
    }
    beforeLast = last
    last = row
  }
  return last[b.count]
}
