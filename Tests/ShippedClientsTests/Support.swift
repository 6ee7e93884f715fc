import ShippedClients
import TestSupport
import UploadRetry

extension HTTPConfig {
  /// The statuses of a summary, in its order.
  static let summarisedStatuses = [302, 400, 408, 410, 460, 500, 501, 503, 505, 511]

  /// Everything in a line: `on 100 300 max | on 100 0.5 300 43200 10 ddrrrrdrdr drop`: rateLimitConfig, backoffConfig with its jitter
  /// in percent, what happens to `summarisedStatuses` and to codes outside 100…599.
  var summary: String {
    guard isManaged else { return "unmanaged" }
    func state(_ isOn: Bool, _ isNeither: Bool) -> String { isOn ? "on" : isNeither ? "neither" : "off" }
    func shown(_ microseconds: Int64) -> String {
      if microseconds == .max { return "max" }
      let seconds = Double(microseconds) / 1_000_000
      return Int64(exactly: seconds).map(String.init) ?? String(seconds)
    }
    func shown(_ count: Int) -> String { count == .max ? "max" : String(count) }
    var percent = 0.0
    if let value = backoff.jitter.additivePercent { percent = value }
    let statuses = Self.summarisedStatuses.map { backoff.statuses.classify($0) == .retry ? "r" : "d" }
      .joined()
    let rate =
      "\(state(rateLimit.isEnabled, rateLimit.keepsWhenOff)) \(shown(rateLimit.maxRetryCount)) "
      + "\(shown(rateLimit.maxRetryInterval)) \(shown(rateLimit.maxTotalBackoffDuration))"
    let own =
      "\(state(backoff.isEnabled, backoff.keepsWhenOff)) \(shown(backoff.maxRetryCount)) "
      + "\(shown(backoff.baseBackoffInterval)) \(shown(backoff.maxBackoffInterval)) "
      + "\(shown(backoff.maxTotalBackoffDuration)) \(Int64(exactly: percent).map(String.init) ?? String(percent))"
    return "\(rate) | \(own) \(statuses) \(backoff.statuses.outsideAction)"
      + (backoff.statuses.dropsRateLimited ? " drops 429" : "")
  }
}

extension SettingsDialect {
  /// The findings of one `httpConfig`, as `effect path`, paths from there.
  func effects(_ section: String) throws -> [String] {
    try decode(settings("{\"httpConfig\": \(section)}")).findings.map {
      "\($0.effect) \($0.path.replacing("httpConfig.", with: ""))"
    }
  }

  /// What they make of `backoffConfig`.
  func config(backoff section: String) throws -> HTTPConfig {
    try decode(settings("{\"httpConfig\": {\"backoffConfig\": \(section)}}")).config
  }

  /// What they make of `rateLimitConfig`.
  func config(rateLimit section: String) throws -> HTTPConfig {
    try decode(settings("{\"httpConfig\": {\"rateLimitConfig\": \(section)}}")).config
  }
}
