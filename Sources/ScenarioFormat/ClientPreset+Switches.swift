import ScenarioModel
import ShippedClients
import UploadGating
import UploadPipeline
import UploadRetry

extension ClientPreset {
  /// One difference between clients, as a table of them prints it: a switch of `RetryPolicy`, or what belongs to
  /// the queue.
  public struct Switch: Sendable {
    /// Its path in a cohort of a scenario: `policy.noStatus`, `queue.mode`.
    public let path: String
    /// What it decides, on one line.
    public let meaning: String
    /// The requirement that it belongs to: `S10`.
    public let requirement: String
    /// The allowed values; a capital letter stands for a number.
    public let values: [String]
    /// The value that a preset has.
    public let value: @Sendable (ClientPreset) -> String

    /// How a table calls it: the name of a switch of `RetryPolicy`, or the path.
    public var name: String {
      for prefix in ["policy.", "gates.", "uploadLoop.", "settings.backoffConfig."]
      where path.hasPrefix(prefix) {
        let name = String(path.dropFirst(prefix.count))
        return name == "enabled" ? "backoff" : name
      }
      return path == "settings.rateLimitConfig.enabled" ? "rateLimit" : path
    }
  }

  /// Every row of the table: what belongs to the queue, then `RetryPolicy.switches`, the Settings' defaults and the gates.
  public static let switches: [Switch] =
    [
      Switch(
        path: "queue.mode",
        meaning: "retry state of each batch file, or one of the client, which re-chunks its events",
        requirement: "S2", values: ["files", "rebatch"],
        value: { $0.queueMode == .files ? "files" : "rebatch" }),
      Switch(
        path: "uploadConcurrency", meaning: "uploads of a device at once", requirement: "S3",
        values: ["N (1 to 1000000)", "unlimited"],
        value: { $0.uploadConcurrency == .max ? "unlimited" : "\($0.uploadConcurrency)" }),
      Switch(
        path: "flushWhileUploading", meaning: "a flush that comes while uploads run", requirement: "S17",
        values: FlushWhileUploading.allCases.map(\.rawValue), value: { $0.flushWhileUploading.rawValue }),
      Switch(
        path: "settingsDialect", meaning: "whose way of reading Settings", requirement: "S13",
        values: SettingsDialect.allCases.map(\.rawValue), value: { $0.dialect.rawValue }),
      Switch(
        path: "uploadLoop.actsAtFlushEnd", meaning: "queue and state stay until a flush is answered",
        requirement: "S17", values: ["true", "false"], value: { "\($0.actsAtFlushEnd)" }),
      Switch(
        path: "uploadLoop.rateLimitEndsLoop", meaning: "a 429 ends the loop even if it asks for no wait",
        requirement: "S3", values: ["true", "false"], value: { "\($0.rateLimitEndsLoop)" }),
      Switch(
        path: "uploadLoop.saving", meaning: "when retry state is saved", requirement: "S18",
        values: Saving.allCases.map(\.rawValue), value: { $0.saving.rawValue }),
      Switch(
        path: "uploadLoop.triggers", meaning: "what makes the client flush", requirement: "S17",
        values: ["all", "[TRIGGER …]"],
        value: { preset in
          preset.triggers == .all
            ? "all" : "[" + preset.triggers.kinds.map(\.rawValue).joined(separator: ", ") + "]"
        }),
      Switch(
        path: "uploadLoop.triggersThatSkipWaits", meaning: "triggers that cut a wait short",
        requirement: "D7",
        values: ["[TRIGGER …]"],
        value: { "[" + $0.triggersThatSkipWaits.kinds.map(\.rawValue).joined(separator: ", ") + "]" }),
      Switch(
        path: "uploadLoop.countOfAnEvent", meaning: "how much an event counts for flush.count",
        requirement: "S17", values: ["1", "2"], value: { "\($0.countOfAnEvent)" }),
      Switch(
        path: "uploadLoop.countsAllEvents", meaning: "the count goes on over other flushes",
        requirement: "S17", values: ["true", "false"], value: { "\($0.countsAllEvents)" }),
      Switch(
        path: "queue.limit", meaning: "sealed events held at most", requirement: "D1",
        values: ["N (1 to 1000000)", "null"], value: { $0.queueLimit.map { "\($0)" } ?? "null" }),
      Switch(
        path: "queue.maximumBatchEvents", meaning: "events in one upload at most", requirement: "D3",
        values: ["N (1 to 65535)"], value: { "\($0.maximumBatchEvents)" }),
      Switch(
        path: "queue.maximumBatchSize", meaning: "bytes of one upload at most", requirement: "D3",
        values: ["SIZE", "null"], value: { $0.maximumBatchBytes.map(Units.text(bytes:)) ?? "null" }),
      Switch(
        path: "retries", meaning: "what brings a batch back whose wait is over", requirement: "S17",
        values: ["gate", "timer"], value: { $0.retries == .gate ? "gate" : "timer" }),
    ]
    + RetryPolicy.switches.map { entry in
      Switch(
        path: "policy." + entry.name, meaning: entry.meaning, requirement: entry.requirement,
        values: entry.values, value: { entry.value(in: $0.policy) })
    } + settingsSwitches + gateSwitches

  /// What Settings mean that leave these values out.
  private static let settingsSwitches: [Switch] = [
    Switch(
      path: "settings.rateLimitConfig.enabled", meaning: "whether a 429 makes the pipeline wait",
      requirement: "S4", values: ["true", "false"], value: { "\($0.settings.rateLimit.isEnabled)" }),
    Switch(
      path: "settings.backoffConfig.enabled", meaning: "whether a failure has a wait of its own",
      requirement: "S10", values: ["true", "false"], value: { "\($0.settings.backoff.isEnabled)" }),
    Switch(
      path: "settings.backoffConfig.maxRetryCount", meaning: "retries of a batch", requirement: "S12",
      values: ["N (0 to 1000)"], value: { "\($0.settings.backoff.maxRetryCount)" }),
    Switch(
      path: "settings.backoffConfig.baseBackoffInterval", meaning: "the first wait, seconds",
      requirement: "S10", values: ["N (0.1 to 60)"],
      value: { Units.seconds(microseconds: $0.settings.backoff.baseBackoffInterval) }),
    Switch(
      path: "settings.backoffConfig.maxBackoffInterval", meaning: "the longest wait, seconds",
      requirement: "S10", values: ["N (1 to 3600)"],
      value: { Units.seconds(microseconds: $0.settings.backoff.maxBackoffInterval) }),
    Switch(
      path: "settings.backoffConfig.jitterStrategy", meaning: "how waits are spread", requirement: "J",
      values: Jitter.names, value: { $0.settings.backoff.jitter.description }),
  ]

  /// As a scenario's `gates` has them: null is none, {} one with its defaults.
  private static let gateSwitches: [Switch] = [
    ("rateWindows", "so many requests in a span, alone or two in series", "T1", "[{slots, span}]"),
    ("wholeRun", "a run waits until there is a slot for each of its requests", "T2", ""),
    ("restartRun", "a run without a slot waits and starts over", "T3", ""),
    ("breaker", "stops requests to a host that is down", "O6", "{requests, window, threshold, openTime …}"),
    ("failureWindow", "so many 4xx block a query", "K1", "{failures, span, whenBlocked, queries, exempt}"),
    ("projectDelay", "everything waits after a 429 or a 503", "K2", "{base, longest}"),
    ("retryBudget", "retries a run, or earned by successes", "O3", "{perRun, capacity, perSuccess, trickle}"),
    ("adaptiveThrottling", "rejects at the client what the server would", "O5", "{k, window, pause}"),
    ("controller", "fewer and smaller uploads after signs of overload", "O5", "{uploads, largestBatch …}"),
    ("reconcile", "asks about an unknown outcome before it sends again", "O4", ""),
  ].map { name, meaning, requirement, form in
    Switch(
      path: "gates." + name, meaning: meaning, requirement: requirement,
      values: form.isEmpty ? ["true", "false"] : ["null", form],
      value: { preset in
        let standard = ClientGates.keys.write(.withEveryPart)[name]
        guard let value = ClientGates.keys.write(preset.gates)[name] else { return "null" }
        return value.shortText(leavingOut: standard)
      })
  }
}

extension ClientGates {
  /// Every part with the values it has in a scenario that says `{}`.
  fileprivate static let withEveryPart: ClientGates = {
    var gates = ClientGates()
    gates.breaker = CircuitBreaker()
    gates.failureWindow = FailureWindow()
    gates.projectDelay = ProjectDelay()
    gates.retryBudget = RetryBudget()
    gates.throttle = AdaptiveThrottle()
    gates.controller = BackpressureController()
    return gates
  }()
}

extension PositionedValue {
  /// JSON5 on one line, without the members that `standard` has alike.
  fileprivate func shortText(leavingOut standard: PositionedValue? = nil) -> String {
    switch content {
    case .null: return "null"
    case .bool(let value): return "\(value)"
    case .number(let text): return text
    case .string(let text): return "\"\(text)\""
    case .array(let elements): return "[" + elements.map { $0.shortText() }.joined(separator: ", ") + "]"
    case .object(let members):
      let told = members.filter { standard?[$0.key]?.shortText() != $0.value.shortText() }
      return "{" + told.map { "\($0.key): \($0.value.shortText())" }.joined(separator: ", ") + "}"
    }
  }
}
