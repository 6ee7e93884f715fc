import UploadRetry

extension AnalyticsReactNativeSettings {
  private enum Place {
    static let override429 = "errors.ts:153-168"
    static let overrides = "errors.ts:143-197"
    static let default5xx = "errors.ts:191-193"
  }

  /// Overrides that are given are merged with those built in.
  mutating func statuses(in part: Part) -> StatusTable {
    var rules = StatusRules()
    if let value = part.given["default4xxBehavior"] {
      rules.default4xx = value == .string("retry") ? .retry : .drop
      reportBehaviour(value, "default4xxBehavior", rules.default4xx, by: .drop, in: part)
    }
    if let value = part.given["default5xxBehavior"] {
      rules.default5xx = value == .string("retry") || value == .null ? .retry : .drop
      reportBehaviour(value, "default5xxBehavior", rules.default5xx, by: .retry, in: part)
    }
    var drops429 = false
    if let value = part.given[SettingsName.overrides], let path = part.path(of: SettingsName.overrides) {
      if case .object(let members) = value {
        drops429 = merge(SettingsSection(path: path, members: members), into: &rules)
      } else {
        findings.add(
          .repaired, path,
          "\(described(value)) is not an object: \(findings.sdk) uses the overrides built into it",
          Place.overrides)
      }
    }
    var table = rules.table(heedsRateLimited: false)
    table.dropsRateLimited = drops429
    return table
  }

  /// - Returns: whether a 429 is dropped.
  private mutating func merge(_ given: SettingsSection, into rules: inout StatusRules) -> Bool {
    var drops429 = false
    for (key, value) in given.members {
      let path = given.path(of: key)
      guard let status = Int(key), String(status) == key else {
        findings.add(
          .notRead, path,
          "\(quoted(key)) is not how \(findings.sdk) writes a status: it never matches; a status is 100 to 599",
          Place.overrides)
        continue
      }
      // A null is no override, and takes the place of the one built in all the same.
      rules.overrides[status] = value == .null ? nil : value == .string("retry") ? .retry : .drop
      if status == 429 { drops429 = value != .null && value != .string("retry") }
      reportOverride(status, value, path, rules)
    }
    return drops429
  }

  private mutating func reportOverride(
    _ status: Int, _ value: SettingsValue, _ path: String, _ rules: StatusRules
  ) {
    let sdk = findings.sdk
    let isAction = value == .string("retry") || value == .string("drop")
    if (200...299).contains(status) {
      findings.add(
        .notRead, path, "a \(status) is a success and delivered whatever \(sdk) is told", Place.overrides)
    } else if status == 429 {
      if value == .string("retry") { return }
      if value == .null {
        findings.add(
          .repaired, path, "null is as good as nothing in \(sdk): a 429 waits", Place.override429)
      } else {
        findings.add(
          .losesData, path,
          "with a 429 overridden by \(described(value)), \(sdk) drops every batch that gets one; write \"retry\"",
          Place.override429)
      }
    } else if !(100...599).contains(status) {
      findings.add(
        .readDifferently, path,
        "\(sdk) obeys it for the code \(status); in the document a status is 100 to 599, and the simulation leaves it out",
        Place.overrides)
    } else if !isAction {
      var before = StatusRules()
      (before.default4xx, before.default5xx) = (rules.default4xx, rules.default5xx)
      let (standard, now) = (before.action(for: status), rules.action(for: status))
      let effect: SettingsFinding.Effect =
        now == standard ? .repaired : now == .drop ? .losesData : .readDifferently
      findings.add(
        effect, path,
        "\(described(value)) is not \"retry\" or \"drop\": in \(sdk) a \(status) is \(now == .drop ? "dropped" : "retried"); "
          + "write one of these", Place.overrides)
    }
  }

  /// - Parameter standard: what the default is.
  private mutating func reportBehaviour(
    _ value: SettingsValue, _ key: String, _ action: StatusAction, by standard: StatusAction, in part: Part
  ) {
    guard value != .string("retry"), value != .string("drop"), let path = part.path(of: key) else { return }
    let effect: SettingsFinding.Effect = action == standard ? .repaired : .losesData
    findings.add(
      effect, path,
      "\(described(value)) is not \"retry\" or \"drop\", and means \"\(action.rawValue)\" in \(findings.sdk); write one of these",
      Place.default5xx)
  }
}
