extension HTTPConfig {
  /// The normalised Settings, `{rateLimitConfig, backoffConfig}`, that `decode` turns back into this value
  /// without a repair, provided that every field is within its range.
  ///
  /// Statuses are written as the shortest `default4xxBehavior`, `default5xxBehavior`, `unknownCodeBehavior`
  /// and `statusCodeOverrides` that mean the same, and not at all where they are the tables'. Additive jitter
  /// is written as `jitterPercent`, the others as `jitterStrategy`. Since overrides come before lists (S13),
  /// someone who wants to change one key of Settings changes the original, not this.
  ///
  /// - Parameter defaults: those that it will be decoded with.
  public func encoded(defaults: HTTPConfig = HTTPConfig()) -> SettingsValue {
    .object([
      ("rateLimitConfig", .object(rateLimit.encodedMembers())),
      ("backoffConfig", .object(backoff.encodedMembers(defaults.backoff.statuses))),
    ])
  }
}

extension RateLimitConfig {
  fileprivate func encodedMembers() -> [(key: String, value: SettingsValue)] {
    [
      ("enabled", .bool(isEnabled)),
      ("maxRetryCount", .number(Double(maxRetryCount))),
      ("maxRetryInterval", seconds(maxRetryInterval)),
      ("maxTotalBackoffDuration", seconds(maxTotalBackoffDuration)),
    ]
  }
}

extension BackoffConfig {
  fileprivate func encodedMembers(_ standard: StatusTable) -> [(key: String, value: SettingsValue)] {
    var members: [(key: String, value: SettingsValue)] = [
      ("enabled", .bool(isEnabled)),
      ("maxRetryCount", .number(Double(maxRetryCount))),
      ("baseBackoffInterval", seconds(baseBackoffInterval)),
      ("maxBackoffInterval", seconds(maxBackoffInterval)),
      ("maxTotalBackoffDuration", seconds(maxTotalBackoffDuration)),
    ]
    if case .additive(let percent) = jitter {
      members.append(("jitterPercent", .number(percent)))
    } else {
      members.append(("jitterStrategy", .string(jitter.description)))
    }
    return members + statuses.encodedMembers(comparedWith: standard)
  }
}

private func seconds(_ microseconds: Int64) -> SettingsValue { .number(Double(microseconds) / 1_000_000) }

// MARK: - Statuses

extension StatusTable {
  fileprivate func encodedMembers(comparedWith table: StatusTable) -> [(key: String, value: SettingsValue)] {
    var members: [(key: String, value: SettingsValue)] = []
    var overrides: [(key: String, value: SettingsValue)] = []

    func encode(_ key: String, _ statuses: [Int], candidates: [StatusAction?]) {
      let choices = candidates.map { (default: $0, differing: differing(among: statuses, from: $0, table)) }
      if let best = choices.min(by: { $0.differing.count < $1.differing.count }) {
        if let action = best.default { members.append((key, .string(action.rawValue))) }
        overrides += best.differing.map { (String($0), .string(action(for: $0).rawValue)) }
      }
    }

    encode(
      "unknownCodeBehavior", Array(100...199) + Array(300...399),
      candidates: outsideAction == table.outsideAction ? [nil, outsideAction] : [outsideAction])
    encode(
      "default4xxBehavior", (400...499).filter { $0 != 429 }, candidates: [nil, .retry, .drop])
    encode(
      "default5xxBehavior", Array(500...599),
      candidates: isAuthenticationLeftToPolicy ? [nil] : [nil, .retry, .drop])
    if dropsRateLimited != table.dropsRateLimited {
      overrides.append(("429", .string((dropsRateLimited ? StatusAction.drop : .retry).rawValue)))
    }
    if !overrides.isEmpty { members.append(("statusCodeOverrides", .object(overrides))) }
    return members
  }

  /// The statuses that `standard`, or with nil the table, would get wrong.
  private func differing(
    among statuses: [Int], from standard: StatusAction?, _ table: StatusTable
  ) -> [Int] {
    statuses.filter { status in
      guard let standard else {
        let bothLeaveIt =
          status != 511 || isAuthenticationLeftToPolicy == table.isAuthenticationLeftToPolicy
        return !bothLeaveIt || action(for: status) != table.action(for: status)
      }
      return action(for: status) != standard
    }
  }
}
