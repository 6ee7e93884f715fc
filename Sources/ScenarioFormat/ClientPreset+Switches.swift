import ScenarioModel
import ShippedClients
import SimulationKernel
import UploadPipeline
import UploadRetry

extension ClientPreset {
  /// One difference between clients, as a table of them prints it: a switch of its policy, or what belongs to
  /// the queue.
  public struct Switch: Sendable {
    /// Its path in a cohort of a scenario: `policy.noStatus`, `queue.mode`.
    public let path: String
    /// The decision that the switch makes, on one line.
    public let meaning: String
    /// The requirement that it belongs to: `S10`.
    public let requirement: String
    /// The allowed values; a capital letter stands for a number.
    public let values: [String]
    /// The value that a preset has.
    public let value: @Sendable (ClientPreset) -> String

    /// How a table calls it: the name of a switch of the policy, or the path.
    public var name: String {
      for prefix in ["policy.", "gates.", "uploadLoop.", "settings.backoffConfig."]
      where path.hasPrefix(prefix) {
        let name = String(path.dropFirst(prefix.count))
        return name == "enabled" ? "backoff" : name
      }
      let section = "settings.rateLimitConfig."
      guard path.hasPrefix(section) else { return path }
      let key = path.dropFirst(section.count)
      return key == "enabled" ? "rateLimit" : "rateLimit.\(key)"
    }
  }

  /// Every row of the table: what belongs to the queue, then the policy, the Settings' defaults and the gates.
  public static let switches: [Switch] =
    [row(Cohort.keys.keys.first { $0.name == "page" }!, ["page"])]
    + rows(
      "queue.mode", "uploadConcurrency", "uploads", "flushWhileUploading", "settingsDialect", "settingsFetch",
      "uploadLoop",
      "queue.limit", "queue.batches", "queue.overflow", "queue.splitOn413", "queue.growsUntilFailure",
      "queue.maximumBatchEvents",
      "queue.maximumBatchSize", "retries",
      "flush.count", "flush.interval", "policy", "classDelays")
    + settingsSwitches + rows("gates")

  /// The meaning of Settings that leave these values out.
  private static let settingsSwitches =
    [
      Switch(
        path: "timeout", meaning: "when an upload is given up", requirement: "S9", values: ["SPAN"],
        value: { Units.text($0.timeout ?? Cohort.standIn.timeout) })
    ]
    + [
      ("rateLimitConfig.enabled", "whether a 429 makes the pipeline wait", "S4", ["true", "false"]),
      ("rateLimitConfig.maxRetryCount", "429s in a row", "S12", ["N (0 to 1000)", "none"]),
      ("rateLimitConfig.maxRetryInterval", "the longest Retry-After, seconds", "S4", ["N (1 to 3600)"]),
      (
        "rateLimitConfig.maxTotalBackoffDuration", "how long a batch may meet 429s, seconds", "S11",
        ["N (0 to 604800)"]
      ),
      ("backoffConfig.enabled", "whether a failure has a wait of its own", "S10", ["true", "false"]),
      ("backoffConfig.maxRetryCount", "retries of a batch", "S12", ["N (0 to 1000)", "none"]),
      (
        "backoffConfig.maxTotalBackoffDuration", "how long a batch may fail, seconds", "S11",
        ["N (0 to 604800)"]
      ),
      ("backoffConfig.baseBackoffInterval", "the first wait, seconds", "S10", ["N (0.1 to 60)"]),
      ("backoffConfig.maxBackoffInterval", "the longest wait, seconds", "S10", ["N (1 to 3600)"]),
      ("backoffConfig.jitterStrategy", "how waits are spread", "J", Jitter.names),
    ].map { key, meaning, requirement, values in
      let path = SearchableSettings.prefix + key
      return Switch(
        path: path, meaning: meaning, requirement: requirement, values: values,
        value: { SearchableSettings.value(of: path, in: $0.settingsDefaults) ?? "" })
    }

  /// Returns where a switch has its value from, on one line; nil: nothing is said. It names the client's origin, the place in it,
  /// and the reason.
  public func source(of path: String) -> String? {
    guard let source = sources[path] else { return nil }
    let place = origin.isEmpty ? source.place : "\(origin), \(source.place)"
    let known = source.evidence.map { place + " (\($0.rawValue))" } ?? place
    return source.why.isEmpty ? known : "\(known): \(source.why)"
  }

  /// The rows of a cohort's keys; of an object's key, those of all of its keys.
  private static func rows(_ paths: String...) -> [Switch] {
    paths.flatMap { path -> [Switch] in
      let parts = path.split(separator: ".").map(String.init)
      var keys = Cohort.keys.keys
      var key: ScenarioSchema.Key?
      for part in parts {
        key = keys.first { $0.name == part }
        keys = key?.shape.keys ?? []
      }
      guard let key else { return [] }
      if keys.isEmpty { return [row(key, parts)] }
      return keys.map { part in
        var part = part
        if part.requirement.isEmpty { part.requirement = key.requirement }
        return row(part, parts + [part.name])
      }
    }
  }

  /// The row of a key, whose object stays whole.
  private static func row(_ key: ScenarioSchema.Key, _ parts: [String]) -> Switch {
    Switch(
      path: parts.joined(separator: "."), meaning: key.meaning, requirement: key.requirement,
      values: key.choices,
      value: { preset in
        let tree = preset.isBuiltIn ? written[preset.name]! : preset.cohort.everyKey
        return tree[path: parts].map(key.text) ?? "null"
      })
  }

  private static let written = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0.cohort.everyKey) })
}

extension ScenarioSchema.Key {
  /// The allowed values, as a table of switches has them.
  fileprivate var choices: [String] {
    let choices = Self.choices(schema)
    let forms =
      form.isEmpty && !shape.keys.isEmpty ? ["{\(shape.keys.map(\.name).joined(separator: ", "))}"] : form
    return forms.isEmpty ? choices : choices.filter { ["null", "all"].contains($0) } + forms
  }

  private static func choices(_ schema: PositionedValue) -> [String] {
    if let forms = schema["oneOf"]?.elements { return forms.flatMap(choices) }
    if let words = schema["enum"]?.elements { return words.map { $0.shortText() } }
    if let word = schema["const"] { return [word.shortText()] }
    if case .string(let reference)? = schema["$ref"]?.content {
      return [reference.dropFirst("#/$defs/".count).uppercased()]
    }
    if let least = schema["minimum"]?.shortText(), let most = schema["maximum"]?.shortText() {
      return most == "2" ? [least, most] : ["N (\(least) to \(most))"]
    }
    guard let type = schema["type"]?.text else { return [] }
    return type == "boolean" ? ["true", "false"] : [type]
  }

  /// A value in one line: of an object, what is not as it is by default.
  func text(_ value: PositionedValue) -> String {
    switch value.content {
    case .object(let members):
      let told = members.filter { member in
        let key = shape.keys.first { $0.name == member.key }
        if case .value(let defaultValue)? = key?.defaultValue {
          return defaultValue.shortText() != member.value.shortText()
        }
        return !member.value.isNull
      }
      return PositionedValue(.object(told), at: value.position).shortText(isInside: true)
    case .array(let elements) where schema["oneOf"] != nil && elements.count == ClientTrigger.allCases.count:
      return "all"
    default: return value.shortText()
    }
  }
}

extension PositionedValue {
  private var isWord: Bool {
    if case .string(let text) = content { text.allSatisfy(\.isLetter) } else { true }
  }

  /// JSON5 on one line; words without quotes, but for those in an object, and for what is no word in a list.
  fileprivate func shortText(isInside: Bool = false) -> String {
    switch content {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .number(let text): text
    case .string(let text): isInside ? "\"\(text)\"" : text
    case .array(let elements):
      "[" + elements.map { $0.shortText(isInside: isInside || !$0.isWord) }.joined(separator: ", ") + "]"
    case .object(let members):
      "{" + members.map { "\($0.key): \($0.value.shortText(isInside: true))" }.joined(separator: ", ") + "}"
    }
  }
}

/// A key of a cohort that is not as the cohort's client preset has it.
public struct PresetDifference: Sendable, Hashable {
  /// Its path in the cohort: `retries`, `queue.mode`, `policy.noStatus`.
  public var path: String
  /// As the scenario has it, in one line.
  public var value: String
  /// As the preset has it.
  public var preset: String
  /// The decision that the key makes.
  public var meaning: String
}

extension Cohort {
  /// The differences between the scenario and the client preset that it names, in the order of the keys.
  ///
  /// A preset decides everything that `take(_:)` sets. The other side is therefore the cohort with its preset taken anew, and
  /// both are written out in full. So a key that a preset begins to decide is compared without being named here.
  public var differencesFromPreset: [PresetDifference] {
    var taken = self
    taken.take(preset)
    if taken == self { return [] }
    return Self.keys.shape.differences(
      Self.keys.write(self, defaultValue: nil), Self.keys.write(taken, defaultValue: nil), at: "")
  }
}

extension ScenarioSchema.Shape {
  fileprivate func differences(
    _ scenario: PositionedValue, _ preset: PositionedValue, at path: String
  ) -> [PresetDifference] {
    keys.flatMap { key -> [PresetDifference] in
      let (mine, other) = (scenario[key.name] ?? .null, preset[key.name] ?? .null)
      if JSONText.compact(mine) == JSONText.compact(other) { return [] }
      let place = path.isEmpty ? key.name : path + "." + key.name
      if !key.shape.keys.isEmpty, mine.members != nil, other.members != nil {
        return key.shape.differences(mine, other, at: place)
      }
      return [
        PresetDifference(path: place, value: key.text(mine), preset: key.text(other), meaning: key.meaning)
      ]
    }
  }
}
