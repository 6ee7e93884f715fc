import UploadRetry

extension ClientPolicy {
  /// One switch, as a table of clients prints it and a scenario file sets it.
  public struct Switch: Sendable {
    /// The key in a scenario file: the property's name.
    public let name: String
    /// The decision that the switch makes, on one line.
    public let meaning: String
    /// The requirement that it belongs to: `S10`.
    public let requirement: String
    /// The allowed values. In `fixed:S` the letter stands for whole seconds from 0 to 3600; `Jitter.names` has the others.
    public let values: [String]
    fileprivate let read: @Sendable (ClientPolicy) -> String
    fileprivate let write: @Sendable (inout ClientPolicy, String) -> Bool

    /// The value that a policy has.
    public func value(in policy: ClientPolicy) -> String { read(policy) }

    /// Gives a policy a value; false, and no change, if it is not an allowed one.
    public func set(_ value: String, in policy: inout ClientPolicy) -> Bool { write(&policy, value) }
  }

  /// Every switch, in the order of the table.
  public static let switches: [Switch] = [
    bool(\.clampAfterJitter, "clampAfterJitter", "jitter is clamped to the cap again", "S10"),
    Switch(
      name: "missingRetryAfter", meaning: "what a 429 without Retry-After waits", requirement: "S4",
      values: ShippedQuirks.MissingRetryAfter.names, read: { $0.missingRetryAfter.description },
      write: { policy, name in
        guard let value = ShippedQuirks.MissingRetryAfter(name) else { return false }
        policy.missingRetryAfter = value
        return true
      }),
    choice(
      \.retryAfterOnOtherCodes, "retryAfterOnOtherCodes",
      "Retry-After on a retryable status but a 429 that pauses the pipeline",
      "S7"),
    choice(\.retryAfterForms, "retryAfterForms", "forms of Retry-After that are read", "S4"),
    bool(
      \.readsRateLimitReset, "readsRateLimitReset", "X-RateLimit-Reset is read where there is no Retry-After",
      "O11"),
    choice(\.noStatus, "noStatus", "what a failure without an HTTP status does", "S9"),
    choice(\.retryCountHeader, "retryCountHeader", "what X-Retry-Count says", "S2"),
    choice(\.twoWaits, "twoWaits", "which of two waits of the pipeline counts", "S16"),
    choice(\.limitReached, "limitReached", "what happens when a limit is reached", "S12"),
    choice(\.rateLimitingOff, "rateLimitingOff", "a 429 while rate limiting is off", "S15"),
    choice(\.missingSection, "missingSection", "what a missing Settings section means", "S13"),
    choice(\.sendsAtLimit, "sendsAtLimit", "sends that maxRetryCount allows", "S12"),
    choice(\.successEndsWait, "successEndsWait", "when a 2xx ends the pipeline's wait", "S16"),
    choice(\.ageLimit, "ageLimit", "what maxTotalBackoffDuration is compared with", "S11"),
    bool(\.supportsOAuth, "supportsOAuth", "a 511 is retried after authenticating", "S6"),
    choice(\.rateLimited, "rateLimited", "what a 429 makes wait", "O2"),
    choice(\.unauthorized, "unauthorized", "what a 401 leads to", "O9"),
    choice(\.givenUp, "givenUp", "what becomes of a batch that is given up", "O3"),
    choice(\.limitsCheck, "limitsCheck", "limits of batches that still wait", "S12"),
    choice(\.rateLimitRecord, "rateLimitRecord", "what a 429 leaves in its batch's record", "S11"),
    choice(\.backoffOff, "backoffOff", "a retryable failure while backoff is off", "S15"),
    choice(\.withoutSettings, "withoutSettings", "what a client without readable Settings does", "S13"),
    choice(\.overridden429, "overridden429", "a 429 that Settings drop", "S13"),
    choice(\.belowSuccess, "belowSuccess", "an answer below 200", "S8"),
    choice(\.exponent, "exponent", "which failures the exponent counts", "S10"),
    bool(\.waitsInMilliseconds, "waitsInMilliseconds", "waits are whole milliseconds", "S10"),
    choice(\.retryAfterCap, "retryAfterCap", "which limit a Retry-After has", "S4"),
    Switch(
      name: "retryAfterJitter", meaning: "jitter on top of a Retry-After", requirement: "S4",
      values: [Jitter.none.description] + Jitter.lengtheningNames, read: { $0.retryAfterJitter.description },
      write: { policy, name in
        guard let jitter = Jitter(name: name), jitter == .none || jitter.lengthens else { return false }
        policy.retryAfterJitter = jitter
        return true
      }),
    choice(\.backoffHolds, "backoffHolds", "what a backoff makes wait", "S3"),
  ]

  /// The value of the switch of that name; nil if there is none.
  public func value(of name: String) -> String? {
    Self.switches.first { $0.name == name }?.value(in: self)
  }

  /// Sets a switch by name; false, and no change, if the name or the value is not in `switches`.
  public mutating func set(name: String, value: String) -> Bool {
    Self.switches.first { $0.name == name }?.set(value, in: &self) ?? false
  }

  private static func bool(
    _ path: any WritableKeyPath<ClientPolicy, Bool> & Sendable, _ name: String, _ meaning: String,
    _ requirement: String
  ) -> Switch {
    Switch(
      name: name, meaning: meaning, requirement: requirement, values: ["true", "false"],
      read: { $0[keyPath: path] ? "true" : "false" },
      write: { policy, value in
        guard value == "true" || value == "false" else { return false }
        policy[keyPath: path] = value == "true"
        return true
      })
  }

  @_semantics("optimize.sil.specialize.generic.never")
  private static func choice<Value: RawRepresentable<String> & CaseIterable & Sendable>(
    _ path: any WritableKeyPath<ClientPolicy, Value> & Sendable, _ name: String, _ meaning: String,
    _ requirement: String
  ) -> Switch {
    Switch(
      name: name, meaning: meaning, requirement: requirement, values: Value.allCases.map(\.rawValue),
      read: { $0[keyPath: path].rawValue },
      write: { policy, name in
        guard let value = Value(rawValue: name) else { return false }
        policy[keyPath: path] = value
        return true
      })
  }
}

extension ShippedQuirks.MissingRetryAfter: LosslessStringConvertible {
  /// The names that `init(_:)` takes, as patterns: `S` stands for whole seconds.
  public static let names = ["maxRetryInterval", "fixed:S", "exponentialBackoff"]

  /// Reads a name: `maxRetryInterval`, `fixed:S` with S from 0 to 3600 whole seconds, `exponentialBackoff`.
  public init?(_ name: String) {
    switch name {
    case "maxRetryInterval": self = .maxRetryInterval
    case "exponentialBackoff": self = .exponentialBackoff
    default:
      let prefix = "fixed:"
      guard name.hasPrefix(prefix),
        let seconds = wholeNumber(name.utf8.dropFirst(prefix.utf8.count), digits: 4), seconds <= 3600
      else { return nil }
      self = .fixed(microseconds: seconds * 1_000_000)
    }
  }

  /// The name that `init(_:)` reads; seconds are whole, rounded down.
  public var description: String {
    switch self {
    case .maxRetryInterval: "maxRetryInterval"
    case .fixed(let microseconds): "fixed:\(microseconds / 1_000_000)"
    case .exponentialBackoff: "exponentialBackoff"
    }
  }
}
