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
  /// What was wrong, what is allowed, and what is used instead.
  public var message: String

  public init(path: String, message: String) {
    self.path = path
    self.message = message
  }

  /// How the messages of keys that nobody knows begin.
  static let unknownKey = "unknown key, ignored"
  /// How the messages of sections and keys begin whose place another one takes.
  static let superseded = "ignored, because "

  /// What is wrong, for whoever does not pass over what nobody knows.
  package var problem: String {
    message.hasPrefix(Self.unknownKey) ? "unknown key" + message.dropFirst(Self.unknownKey.count) : message
  }

  /// Whether it is about a key or a section that is passed over whatever its value, rather than about a value.
  package var isNotRead: Bool {
    message.hasPrefix(Self.unknownKey) || message.hasPrefix(Self.superseded)
  }
}
