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
    if case .object(let members)? = root["integrations"] {
      let integrations = SettingsSection(path: "integrations", members: members)
      if case .object(let members)? = integrations["Segment.io"] {
        places.append(SettingsSection(path: integrations.path(of: "Segment.io"), members: members))
      }
    }
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
        .notRead, section.path(of: "retryConfig"),
        "\(sdk) does not read retryConfig; name it httpConfig", place)
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
            .notRead, section.path(of: key),
            "unknown key, \(sdk) does not read it; did you mean httpConfig?", place)
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
    for (key, _) in section.members where !known.contains(key) && reported.insert(key).inserted {
      let path = section.path(of: key)
      if let unread = dialect.unreadKeys[prefix + key] {
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
