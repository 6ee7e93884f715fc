import Foundation
import ShippedClients
import UploadRetry

/// JSON text as Settings, by Foundation's decoder.
func settings(_ json: String) throws -> SettingsValue {
  try JSONDecoder().decode(AnyJSON.self, from: Data(json.utf8)).value
}

private struct AnyJSON: Decodable {
  var value: SettingsValue

  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: Key.self) {
      value = .object(
        try container.allKeys.sorted { $0.stringValue < $1.stringValue }.map {
          ($0.stringValue, try container.decode(AnyJSON.self, forKey: $0).value)
        })
    } else if var container = try? decoder.unkeyedContainer() {
      var elements: [SettingsValue] = []
      while !container.isAtEnd { elements.append(try container.decode(AnyJSON.self).value) }
      value = .array(elements)
    } else {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        value = .null
      } else if let bool = try? container.decode(Bool.self) {
        value = .bool(bool)
      } else if let number = try? container.decode(Double.self) {
        value = .number(number)
      } else {
        value = .string(try container.decode(String.self))
      }
    }
  }
}

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
