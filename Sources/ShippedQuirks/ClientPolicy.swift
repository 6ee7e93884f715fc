import UploadRetry

/// All of a client's decisions, as a scenario's `policy` has them. They are the switches of the machine that every client has and
/// the quirks that one shipped client has. The acts of the owners of its queue, its credentials and its headers are decisions
/// too.
///
/// The switches of each part are its own properties: `policy.limitsCheck`, `policy.exponent`.
@dynamicMemberLookup
public struct ClientPolicy: Sendable, Hashable, BitwiseCopyable {
  /// The switches that an app's client has, too.
  public var retry = RetryPolicy()
  public var quirks = ShippedQuirks()
  /// O11: whether the client reads `X-RateLimit-Reset` where an answer has no usable Retry-After.
  public var readsRateLimitReset = false
  /// O9: what a 401 leads to.
  public var unauthorized = Unauthorized.asTable
  /// O3: what becomes of a batch that is given up; the queue's owner applies it.
  public var givenUp = GivenUp.dropped

  /// The document's own behaviour.
  public init() {}

  public subscript<Value>(dynamicMember path: WritableKeyPath<RetryPolicy, Value>) -> Value {
    get { retry[keyPath: path] }
    set { retry[keyPath: path] = newValue }
  }

  public subscript<Value>(dynamicMember path: WritableKeyPath<ShippedQuirks, Value>) -> Value {
    get { quirks[keyPath: path] }
    set { quirks[keyPath: path] = newValue }
  }

  /// Returns the wait that a server asks of this client, microseconds, by the headers of its answer as received. Nil: no header
  /// that the client reads asks for one (S4, O11). `Retry-After` is the standard one and counts first.
  ///
  /// - `now`: the wall clock, seconds since 1970-01-01T00:00:00Z; any value is safe.
  public func wait(retryAfter: String?, rateLimitReset: String?, nowUnixSeconds now: Int64) -> Int64? {
    RateLimitReset.wait(
      retryAfter: retryAfter, rateLimitReset: readsRateLimitReset ? rateLimitReset : nil, nowUnixSeconds: now,
      forms: retry.retryAfterForms)
  }

  /// The machine that decides so. Without quirks it is an app's.
  public func machine(_ config: HTTPConfig) -> RetryStateMachine {
    RetryStateMachine(config: config, policy: retry, quirks: machineQuirks)
  }

  /// The quirks for a machine; nil: there are none.
  public var machineQuirks: (any RetryQuirks)? { quirks == ShippedQuirks() ? nil : quirks }

  /// The consequence of a 401 (O9).
  public enum Unauthorized: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// As the Settings and the tables say.
    case asTable
    /// Credentials are refreshed and the batch is sent once more; a second 401 is as the tables say.
    case refreshThenRetryOnce
  }

  /// The fate of a batch that is given up (O3).
  public enum GivenUp: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// Its events are lost.
    case dropped
    /// It is kept with the reason and waits for somebody to do something about it.
    case blocked
  }
}

/// The decisions of a single shipped client that differ from the document's.
public struct ShippedQuirks: Sendable, Hashable, BitwiseCopyable {
  /// S4: what a 429 without a usable Retry-After waits.
  public var missingRetryAfter = MissingRetryAfter.maxRetryInterval
  /// S16: what a wait of the pipeline that is announced during another does.
  public var twoWaits = TwoWaits.laterReplaces
  /// S16: when a 2xx ends the pipeline's wait.
  public var successEndsWait = SuccessEndsWait.always
  /// S10: which failures the exponent counts.
  public var exponent = Exponent.ownFailures
  /// S10: waits are whole milliseconds, and the draw is below its upper end.
  public var waitsInMilliseconds = false
  /// S12: retries of a batch whose latest failure had no HTTP status, 0 … 1,000; nil: as many as `maxRetryCount` says.
  public var noStatusRetries: UInt16?

  /// None.
  public init() {}

  /// The wait after a 429 without a usable Retry-After (S4).
  public enum MissingRetryAfter: Sendable, Hashable, BitwiseCopyable {
    /// `maxRetryInterval`: the document as decided, and the shipped Swift and Kotlin clients.
    case maxRetryInterval
    /// So many microseconds, 0 … 1 h, capped at `maxRetryInterval`: 60 s in the shipped React Native client.
    case fixed(microseconds: Int64)
    /// S10 on the global count, by `baseBackoffInterval` and the configured jitter. The wait is capped at the smaller of
    /// `maxBackoffInterval` and `maxRetryInterval`. A ladder (`waits`) goes by its own waits.
    case exponentialBackoff
  }

  /// The effect of a wait of the pipeline that is announced during another (S16).
  public enum TwoWaits: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// It replaces the other, even by an earlier time.
    case laterReplaces
    /// A 429's wait stays or comes before a backoff's; of two of a kind the one that ends first counts.
    case shorterWinsRateLimitBeatsBackoff
  }

  /// When a 2xx ends the pipeline's wait (S16).
  public enum SuccessEndsWait: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    case always
    /// Only if no other batch of its flush has failed.
    case onlyWhenNoOtherBatchOfTheFlushFailed
  }

  /// The failures that the exponent of the backoff counts (S10).
  public enum Exponent: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// Those of the batch that are not 429s.
    case ownFailures
    /// All of the client since its state was fresh, 429s included.
    case allFailures
  }
}

extension ShippedQuirks: RetryQuirks {
  public func waitWithoutRetryAfter(longest: Int64) -> Int64? {
    switch missingRetryAfter {
    case .maxRetryInterval: longest
    case .fixed(let wait): wait
    case .exponentialBackoff: nil
    }
  }

  public func failuresCounted(_ own: UInt16, _ pipeline: PipelineRetryState) -> UInt16 {
    switch exponent {
    case .ownFailures: own
    case .allFailures: UInt16(clamping: Int(own) + Int(pipeline.retryCount))
    }
  }

  public func wait(
    drawn: Int64, unclamped: Int64, backoff: Int64, cap: Int64?, jitter: Jitter
  ) -> Int64 {
    guard waitsInMilliseconds, jitter.lengthens else { return drawn }
    // A draw is below the end of its range, and cut to whole milliseconds.
    if unclamped <= backoff { return drawn }
    return min(backoff + (unclamped - backoff - 1) / 1_000 * 1_000, cap ?? .max)
  }

  public func givesUpWithoutStatus(afterFailures count: UInt16) -> Bool {
    noStatusRetries.map { count > $0 } ?? false
  }

  public var successEndsWaitAfterFailure: Bool { successEndsWait == .always }

  public func keepsWait(
    until: Int64, isBackoff: Bool, announced: Int64, isBackoff announcedIsBackoff: Bool
  ) -> Bool {
    switch twoWaits {
    case .laterReplaces: false
    case .shorterWinsRateLimitBeatsBackoff:
      isBackoff == announcedIsBackoff ? announced >= until : announcedIsBackoff
    }
  }
}

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
