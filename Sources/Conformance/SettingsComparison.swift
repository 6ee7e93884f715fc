import ShippedClients
import UploadRetry

/// Compares decoded Settings with what a case expects of them (S13, S14).
enum SettingsComparison {
  /// How the files name the document as a whole.
  private static let whole = "$"

  static func mismatches(
    _ vector: VectorCase, _ config: HTTPConfig, _ findings: [SettingsFinding], _ client: ConformanceClient
  ) -> [Mismatch] {
    var found: [Mismatch] = []
    // No shipped SDK reports what it repairs.
    if client.preset.dialect == .document {
      let paths = Array(Set(findings.map { $0.path.isEmpty ? whole : $0.path })).sorted()
      found += Mismatch.check("repairs", vector.repairs, list, got: list(paths)) { $0 == paths }
    }
    // What a case about Settings is about: a value that ends the process keeps no promise.
    if let trap = findings.first(where: { $0.effect == .endsProcess }), let line = lineOfSettings(vector) {
      found.append(Mismatch(line: line, message: "\(trap.path): \(trap.message)"))
    }
    if !client.tellsEffectiveSettings { return found }
    let encoded = config.encoded()
    for (path, expected) in vector.effective {
      // A limit that the client does not have.
      if path == "rateLimitConfig.maxTotalBackoffDuration", config.rateLimit.maxTotalBackoffDuration == .max {
        continue
      }
      var value = member(path.split(separator: ".").map(String.init)[...], of: encoded)
      if path.hasSuffix(".jitterPercent"), value == nil, config.backoff.jitter == .none { value = .number(0) }
      found += Mismatch.check("effective \(path)", expected, text, got: value.map(text) ?? "nothing") {
        $0 == value
      }
    }
    return found
  }

  /// Of a case that says what becomes of Settings; nil: it is about something else.
  private static func lineOfSettings(_ vector: VectorCase) -> Int? {
    vector.requirement == "S14"
      ? vector.repairs?.line ?? vector.effective.first?.value.line ?? vector.line : nil
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
