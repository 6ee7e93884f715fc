import UploadRetry

/// Compares decoded Settings with what a case expects of them (S13, S14).
enum SettingsComparison {
  /// How the files name the document as a whole.
  private static let whole = "$"

  static func mismatches(
    _ vector: VectorCase, _ config: HTTPConfig, _ repairs: [SettingsRepair]
  ) -> [Mismatch] {
    var found: [Mismatch] = []
    if let expected = vector.repairs {
      let paths = Array(Set(repairs.map { $0.path.isEmpty ? whole : $0.path })).sorted()
      if paths != expected.value {
        found.append(
          Mismatch(expected.line, "repairs", expected: list(expected.value), got: list(paths)))
      }
    }
    let encoded = config.encoded()
    for (path, expected) in vector.effective {
      let value = member(path.split(separator: ".").map(String.init)[...], of: encoded)
      if value != expected.value {
        found.append(
          Mismatch(
            expected.line, "effective \(path)", expected: text(expected.value),
            got: value.map(text) ?? "nothing"))
      }
    }
    return found
  }

  private static func member(_ path: ArraySlice<String>, of value: SettingsValue) -> SettingsValue? {
    guard let key = path.first else { return value }
    guard case .object(let members) = value, let inner = members.last(where: { $0.key == key }) else {
      return nil
    }
    return member(path.dropFirst(), of: inner.value)
  }

  private static func list(_ paths: [String]) -> String {
    paths.isEmpty ? "none" : paths.joined(separator: ", ")
  }

  private static func text(_ value: SettingsValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .number(let number): Int64(exactly: number).map(String.init) ?? "\(number)"
    case .string(let text): "\"\(text)\""
    case .array, .object: "a structure"
    }
  }
}
