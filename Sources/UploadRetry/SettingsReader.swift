/// An object inside Settings, and where it stands.
package struct SettingsSection {
  package var path: String
  package var members: [(key: String, value: SettingsValue)]

  package init(path: String, members: [(key: String, value: SettingsValue)]) {
    self.path = path
    self.members = members
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

/// Reads values of an expected kind and notes a repair for each that is not (S14).
struct SettingsReader {
  /// Whether `statusCodeOverrides` may drop a 429.
  var overrides429 = false
  private(set) var repairs: [SettingsRepair] = []

  @inline(never)
  mutating func repair(_ path: String, _ message: String) {
    repairs.append(SettingsRepair(path: path, message: message))
  }

  /// nil, and a repair, if the value is not an object.
  @inline(never)
  mutating func object(_ value: SettingsValue, at path: String, otherwise: String) -> SettingsSection? {
    if case .object(let members) = value { return SettingsSection(path: path, members: members) }
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

  /// A number in a range; one outside is clamped. `unit` is for the messages.
  mutating func number(
    _ key: String, in section: SettingsSection, range: ClosedRange<Double>, default fallback: Double,
    unit: String = ""
  ) -> Double {
    guard let value = section[key] else { return fallback }
    let path = section.path(of: key)
    let allowed = "\(shown(range.lowerBound)) to \(shown(range.upperBound))\(unit)"
    guard case .number(let number) = value, number.isFinite else {
      repair(
        path,
        "\(described(value)) is not a number; allowed is \(allowed); the default, \(shown(fallback)), is used"
      )
      return fallback
    }
    let clamped = min(max(number, range.lowerBound), range.upperBound)
    if clamped != number {
      repair(path, "\(shown(number)) is out of range; allowed is \(allowed); \(shown(clamped)) is used")
    }
    return clamped
  }

  /// A length of time in seconds, as microseconds.
  mutating func seconds(
    _ key: String, in section: SettingsSection, range: ClosedRange<Double>, default fallback: Int64
  ) -> Int64 {
    let seconds = number(key, in: section, range: range, default: Double(fallback) / 1_000_000, unit: " s")
    return Int64((seconds * 1_000_000).rounded())
  }

  /// A whole number; a fraction is cut off.
  mutating func count(
    _ key: String, in section: SettingsSection, range: ClosedRange<Double>, default fallback: Int
  ) -> Int {
    let number = number(key, in: section, range: range, default: Double(fallback))
    let whole = number.rounded(.towardZero)
    if whole != number {
      repair(
        section.path(of: key),
        "\(shown(number)) is not a whole number; allowed is \(shown(range.lowerBound)) to "
          + "\(shown(range.upperBound)); \(shown(whole)) is used")
    }
    return Int(whole)
  }

  /// `"retry"` or `"drop"`; nil if absent, and nil with a repair if it is anything else.
  mutating func action(_ value: SettingsValue?, at path: String, otherwise: String) -> StatusAction? {
    guard let value else { return nil }
    if case .string(let name) = value, let action = StatusAction(rawValue: name) { return action }
    repair(path, "\(described(value)) is not \"retry\" or \"drop\"; \(otherwise)")
    return nil
  }

  /// Reports each member that is not in `known`, once a name.
  mutating func reportUnknownKeys(in section: SettingsSection, known: [String], elsewhere: [String: [String]])
  {
    var reported: Set<String> = []
    for (key, _) in section.members where !known.contains(key) && reported.insert(key).inserted {
      var message = SettingsRepair.unknownKey
      if let owner = elsewhere.keys.sorted().first(where: { elsewhere[$0]!.contains(key) }) {
        message += "; it belongs inside \(owner)"
      } else if let nearest = nearest(to: key, among: known) {
        message += "; did you mean \(nearest)?"
      } else {
        message += "; known are \(known.joined(separator: ", "))"
      }
      repair(section.path(of: key), message)
    }
  }
}
