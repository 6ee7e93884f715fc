import UploadRetry

/// analytics-next 0c4fa881, the browser SDK: `BrowserSettings` in the terms of an `HTTPConfig`.
///
/// A value that an `HTTPConfig` cannot hold becomes the nearest that it can. A count that is no whole number is rounded up, which
/// allows as many sends.
struct AnalyticsNextSettings: ShippedSettings {
  let defaults: HTTPConfig
  var findings = FindingCollector(dialect: .analyticsNext)

  private static let place = "S/shared-dispatcher.ts:140-183, :253-312"

  let unread: [String: (reason: String, place: String)] = [
    "rateLimitConfig.enabled": ("it has no such switch", place),
    "rateLimitConfig.maxTotalBackoffDuration": ("its name for it is maxRateLimitDuration; write that", place),
    "backoffConfig.enabled": ("it has no such switch", place),
    "backoffConfig.jitterStrategy": (
      "its jitter is its own: up to 100 % more, or jitterPercent either way where it sends batches",
      "C/priority-queue/backoff.ts:15-24, S/shared-dispatcher.ts:237-247"
    ),
    "backoffConfig.retryableStatusCodes": (
      "it decides by statusCodeOverrides and the behaviours for 4xx and 5xx; write the statuses there", place
    ),
    "backoffConfig.unknownCodeBehavior": ("everything below 400 is delivered, all from 500 on a 5xx", place),
  ]

  mutating func read(_ settings: SettingsValue) -> HTTPConfig {
    if let root = SettingsSection(settings, path: ""),
      let found = findings.httpConfig(in: root, topFirst: false, skipsNull: true, place: Self.place),
      let section = SettingsSection(found.value, path: found.path)
    {
      findings.reportUnreadKeys(in: section, named: nil, place: Self.place)
      for name in [SettingsName.rateLimit, SettingsName.backoff] {
        guard let part = section.object(name) else { continue }
        findings.reportUnreadKeys(in: part, named: name, place: Self.place)
      }
    }
    let read = BrowserSettings(published: settings, defaults: defaults)
    var config = read.config
    if !read.hasOwnJitter { config.backoff.jitter = defaults.backoff.jitter }
    return config
  }

  func retryAfter(_ header: String, nowUnixMicroseconds now: Int64) -> Int64? {
    BrowserSettings.seconds(ofRetryAfter: header).map { $0 >= 9e12 ? .max : Int64(max(0, $0) * 1_000_000) }
  }
}

extension BrowserSettings {
  /// The Settings in the terms of other clients.
  var config: HTTPConfig {
    var config = HTTPConfig()
    config.rateLimit.maxRetryCount = Self.count(rateLimitRetryCount)
    config.rateLimit.maxRetryInterval = microseconds(maxRetryInterval)
    config.rateLimit.maxTotalBackoffDuration = limit(maxRateLimitDuration)
    config.backoff.maxRetryCount = Self.count(retryCount)
    config.backoff.baseBackoffInterval = microseconds(baseBackoffInterval)
    config.backoff.maxBackoffInterval = microseconds(maxBackoffInterval)
    config.backoff.maxTotalBackoffDuration = limit(maxTotalBackoffDuration)
    config.backoff.jitter = Jitter(shippedPercent: jitterPercent.isNaN ? 0 : jitterPercent)
    var statuses = StatusTable(everything: .retry)
    for status in 100...599 {
      statuses.set(verdict(status: status, retryAfter: nil) == .drop ? .drop : .retry, for: status)
    }
    statuses.dropsRateLimited = verdict(status: 429, retryAfter: 0) == .drop
    config.backoff.statuses = statuses
    return config
  }

  private static func count(_ n: Double) -> Int { n.isNaN ? .max : Int(n.rounded(.up)) }
}
