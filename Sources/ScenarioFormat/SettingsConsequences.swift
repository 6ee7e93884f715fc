import ScenarioModel
import ShippedClients
import ShippedQuirks
import SimulationKernel
import UploadRetry

/// The consequences for a client of values that are allowed one by one: two that work against each other, and limits that leave
/// no retry.
struct SettingsConsequences {
  let preset: ClientPreset
  private var client: String { preset.name }
  private var policy: ClientPolicy { preset.policy }
  private var dialect: SettingsDialect { preset.settingsDialect }

  /// - Parameters:
  ///   - config: what the client has read out of `tree`.
  ///   - tree: the Settings as they were written: nothing is said of a value that is not in them.
  func findings(of config: HTTPConfig, in tree: PositionedValue) -> [SettingsFinding] {
    guard config.isManaged else { return [] }
    let section = SettingsTree.section(of: tree, in: dialect).reduce(Part(path: "", node: tree)) { $0?[$1] }
    let (rate, backoff) = (section?["rateLimitConfig"], section?["backoffConfig"])
    return [
      rate.flatMap { rateLimitRetries(config.rateLimit, $0) },
      backoff.flatMap { backoffRetries(config.backoff, $0) },
      backoff.flatMap { baseAboveCap(config.backoff, $0) },
    ].compactMap(\.self)
  }

  /// A value inside the Settings, and its path.
  private struct Part {
    var path: String
    var node: PositionedValue

    subscript(key: String) -> Part? { node[key].map { Part(path: path(of: key), node: $0) } }
    func path(of key: String) -> String { SettingsSection(.object([]), path: path)!.path(of: key) }
    func has(_ key: String) -> Bool { node[key] != nil }
    /// In microseconds; nil if there is no such number.
    func seconds(_ key: String) -> Int64? {
      guard case .number(let number)? = node[key].map(SettingsTree.settingsValue) else { return nil }
      return Int64(exactly: (number * 1_000_000).rounded())
    }
  }

  /// How many retries are none: a client that compares the sends with the limit has none left at 1 (S12).
  private var noRetries: Int {
    policy.limitReached == .dropBatch && policy.sendsAtLimit == .maxRetryCount ? 1 : 0
  }

  private var remedy: String { "allow as many retries as the longest incident takes" }
  private var givenUp: String {
    policy.givenUp == .blocked ? "the client sets it aside" : "its events are lost"
  }

  private func rateLimitRetries(_ limits: RateLimitConfig, _ part: Part) -> SettingsFinding? {
    let key = "maxRetryCount"
    guard limits.isEnabled, part.has(key), limits.maxRetryCount <= noRetries,
      policy.limitReached != .startOverAtNextTrigger
    else { return nil }
    if policy.limitReached == .dropBatch, policy.sendsAtLimit == .maxRetryCount, limits.maxRetryCount <= 0 {
      // The shipped dialects say this of themselves.
      guard dialect == .document else { return nil }
      return finding(
        .losesData, part.path(of: key),
        "with \(limits.maxRetryCount), \(client) drops every batch before its first send; \(remedy)")
    }
    guard policy.rateLimited == .pausesPipeline else { return nil }
    return finding(
      .losesData, part.path(of: key),
      "with \(limits.maxRetryCount), \(client) gives up a batch after a single 429: \(givenUp); \(remedy)")
  }

  private func backoffRetries(_ limits: BackoffConfig, _ part: Part) -> SettingsFinding? {
    let key = "maxRetryCount"
    guard limits.isEnabled, part.has(key), limits.maxRetryCount <= noRetries else { return nil }
    if policy.limitReached == .startOverAtNextTrigger {
      return finding(
        .contradicts, part.path(of: key),
        "with \(limits.maxRetryCount), \(client) never backs off: what fails is sent again at the next flush; \(remedy)"
      )
    }
    return finding(
      .losesData, part.path(of: key),
      "with \(limits.maxRetryCount), \(client) gives up a batch at its first failure: \(givenUp); \(remedy)")
  }

  private func baseAboveCap(_ backoff: BackoffConfig, _ part: Part) -> SettingsFinding? {
    let (baseKey, capKey) = ("baseBackoffInterval", "maxBackoffInterval")
    let (base, cap) = (
      part.seconds(baseKey) ?? backoff.baseBackoffInterval, part.seconds(capKey) ?? backoff.maxBackoffInterval
    )
    // A client may have clamped one of them, so that the other no longer matters.
    guard backoff.isEnabled, policy.waits.isEmpty, base > cap, cap > 0,
      backoff.baseBackoffInterval >= backoff.maxBackoffInterval, part.has(baseKey) || part.has(capKey)
    else { return nil }
    func text(_ microseconds: Int64) -> String { Units.seconds(microseconds: microseconds) + " s" }
    var spread = "before jitter"
    if [.decorrelated, .none].contains(backoff.jitter) { spread = "without any jitter" }
    let wait = text(backoff.maxBackoffInterval)
    return finding(
      .contradicts, part.path(of: part.has(baseKey) ? baseKey : capKey),
      "a base of \(text(base)) is above the cap of \(text(cap)): every backoff of \(client) is \(wait) \(spread), from the first on; "
        + "write a base below maxBackoffInterval")
  }

  private func finding(_ effect: SettingsFinding.Effect, _ path: String, _ message: String) -> SettingsFinding
  {
    var source: String?
    if effect == .losesData, let limit = preset.sources["policy.sendsAtLimit"], let commit = dialect.commit {
      source = "\(dialect.rawValue) \(commit), \(limit.place)"
    }
    return SettingsFinding(path: path, effect: effect, message: message, source: source)
  }
}
