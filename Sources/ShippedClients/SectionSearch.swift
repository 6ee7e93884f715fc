import UploadRetry

/// Names that all dialects know.
enum SettingsName {
  static let section = "httpConfig"
  static let rateLimit = "rateLimitConfig"
  static let backoff = "backoffConfig"
  static let overrides = "statusCodeOverrides"
}

extension FindingCollector {
  /// The client's `httpConfig` and its path, and findings for whatever looks like it and is not read.
  ///
  /// - Parameters:
  ///   - topFirst: which one counts if it is at the top and under `integrations["Segment.io"]`.
  ///   - skipsNull: whether a null is as good as none.
  ///   - place: where the SDK's source looks for it.
  mutating func httpConfig(
    in root: SettingsSection, topFirst: Bool, skipsNull: Bool, place: String
  ) -> (value: SettingsValue, path: String)? {
    var places = [root]
    if let segment = root.object("integrations")?.object("Segment.io") { places.append(segment) }
    var found: (value: SettingsValue, path: String)?
    for section in topFirst ? places : places.reversed() {
      guard let value = section[SettingsName.section], !(skipsNull && value == .null) else { continue }
      let path = section.path(of: SettingsName.section)
      if let found {
        add(.notRead, path, "\(sdk) does not read it, because \(found.path) is there too", place)
      } else {
        found = (value, path)
      }
    }
    var isNamed = false
    for section in places where section["retryConfig"] != nil {
      isNamed = true
      add(
        .notRead, section.path(of: "retryConfig"), "\(sdk) does not read retryConfig; name it httpConfig",
        place)
    }
    for key in [SettingsName.rateLimit, SettingsName.backoff] where root[key] != nil {
      isNamed = true
      add(
        .notRead, root.path(of: key),
        "\(sdk) does not read \(key) outside httpConfig; put it inside httpConfig", place)
    }
    if found == nil, !isNamed {
      for section in places {
        for (key, _) in section.members where key != SettingsName.section {
          guard nearest(to: key, among: [SettingsName.section]) != nil else { continue }
          add(
            .notRead, section.path(of: key), "unknown key, \(sdk) does not read it; did you mean httpConfig?",
            place)
        }
      }
    }
    return found
  }

  /// Reports each member of a section that the client does not read.
  ///
  /// - Parameter name: of the section, nil for `httpConfig` itself.
  /// - Parameter place: where the SDK's source lists the keys.
  mutating func reportUnreadKeys(in section: SettingsSection, named name: String?, place: String) {
    let read = dialect.readKeyPaths
    let prefix = name.map { $0 + "." } ?? ""
    let known = read.filter { $0.hasPrefix(prefix) && !$0.dropFirst(prefix.count).contains(".") }
      .map { String($0.dropFirst(prefix.count)) }
    var reported: Set<String> = []
    for (key, value) in section.members where !known.contains(key) && reported.insert(key).inserted {
      let path = section.path(of: key)
      if let unread = dialect.unreadKeys[prefix + key] {
        // A client without the switch is always on.
        if key == "enabled", value == .bool(true) { continue }
        add(.notRead, path, "\(sdk) does not read \(key): \(unread.reason)", unread.place)
        continue
      }
      var message = "unknown key, \(sdk) does not read it; "
      if let owner = read.first(where: { $0.hasSuffix("." + key) }) {
        message += "it belongs inside \(owner.dropLast(key.count + 1))"
      } else if let nearest = nearest(to: key, among: known) {
        message += "did you mean \(nearest)?"
      } else {
        message += "it reads \(known.joined(separator: ", "))"
      }
      add(.notRead, path, message, place)
    }
  }
}

/// What the document says of a number.
extension NumberKey {
  package func reading(of value: SettingsValue, default standard: Double) -> Double {
    guard case .number(let number) = value, number.isFinite else { return standard }
    let clamped = min(max(number, range.lowerBound), range.upperBound)
    return unit.isEmpty ? clamped.rounded(.towardZero) : clamped
  }

  var allowed: String { text(range) }

  func text(_ value: Double) -> String { shown(value) + unit }
}

extension FindingCollector {
  /// Reports a number that is not what is written, or not what the document would make of it.
  ///
  /// - Parameters:
  ///   - inForce: what the client works with.
  ///   - standard: the value of a key that is missing.
  ///   - reason: how the client comes by it, behind a comma; empty: that need not be said.
  mutating func compare(
    _ value: SettingsValue, _ key: NumberKey, at path: String, inForce: Double, default standard: Double,
    _ reason: String, _ place: String
  ) {
    let document = key.reading(of: value, default: standard)
    let because = reason.isEmpty ? "" : ", \(reason)"
    if inForce == document {
      if value == .number(document) { return }
      add(
        .repaired, path,
        "\(described(value)) is \(key.text(inForce)) in \(sdk)\(because); allowed is \(key.allowed)", place)
    } else {
      add(
        .readDifferently, path,
        "\(described(value)) is \(key.text(inForce)) in \(sdk)\(because), and \(key.text(document)) by the document; "
          + "allowed is \(key.allowed)", place)
    }
  }
}

/// A limit on a time, seconds, in microseconds; nothing is longer than NaN.
func limit(_ seconds: Double) -> Int64 { seconds.isNaN ? .max : microseconds(seconds) }

/// Seconds as whole microseconds, the nearest there are; NaN is 0: such a wait is over at once.
func microseconds(_ seconds: Double) -> Int64 {
  let scaled = (seconds * 1_000_000).rounded()
  if let exact = Int64(exactly: scaled) { return exact }
  return scaled > 0 ? .max : scaled < 0 ? .min : 0
}

package func seconds(_ microseconds: Int64) -> Double { Double(microseconds) / 1_000_000 }

extension Jitter {
  /// A share of the wait added to it, as all shipped SDKs have it; nothing if it is not positive.
  init(shippedPercent percent: Double) {
    self = percent > 0 ? .additive(percent: percent) : .none
  }
}

extension HTTPConfig {
  /// The client has found no Settings that it can read.
  var unmanaged: HTTPConfig {
    var config = self
    config.isManaged = false
    config.rateLimit.isEnabled = false
    config.backoff.isEnabled = false
    return config
  }
}
