import ScenarioModel
import ShippedClients
import SimulationKernel
import UploadPipeline
import UploadRetry

/// `client` and `policy`: which client a cohort runs, and the switches that the scenario sets differently.
extension ScenarioDecoder {
  /// Switches with values that they allow.
  typealias PolicyChanges = [(change: RetryPolicy.Switch, value: String)]

  /// The preset of a cohort; the document's where it names none.
  mutating func client(_ cohort: PositionedValue, _ path: String) -> ClientPreset {
    guard let node = cohort["client"] else { return .tapiDocument }
    return word(node, join(path, "client"), ClientPreset.all.map { ($0.name, $0) }) ?? .tapiDocument
  }

  /// How a cohort's clients read Settings: as the preset's do, unless the cohort says otherwise.
  mutating func settingsDialect(_ cohort: PositionedValue, _ path: String) -> SettingsDialect {
    let standard = Self.preset(of: cohort).dialect
    guard let node = cohort["settingsDialect"] else { return standard }
    return word(node, join(path, "settingsDialect"), SettingsDialect.allCases.map { ($0.rawValue, $0) })
      ?? standard
  }

  /// `uploadLoop`: what else an SDK's loop does in its own way.
  mutating func uploadLoop(_ node: PositionedValue, _ path: String, _ cohort: inout Cohort) {
    guard object(node, path, ScenarioSchema.uploadLoop.keys) != nil else { return }
    if let node = node["actsAtFlushEnd"] {
      cohort.actsAtFlushEnd = bool(node, join(path, "actsAtFlushEnd")) ?? cohort.actsAtFlushEnd
    }
    if let node = node["rateLimitEndsLoop"] {
      cohort.rateLimitEndsLoop = bool(node, join(path, "rateLimitEndsLoop")) ?? cohort.rateLimitEndsLoop
    }
    if let node = node["saving"] {
      cohort.saving =
        word(node, join(path, "saving"), Saving.allCases.map { ($0.rawValue, $0) }) ?? cohort.saving
    }
    if let node = node["triggers"] { cohort.triggers = triggers(node, join(path, "triggers")) }
    if let node = node["triggersThatSkipWaits"] {
      cohort.triggersThatSkipWaits = triggers(node, join(path, "triggersThatSkipWaits"))
    }
    if let node = node["countOfAnEvent"] {
      cohort.countOfAnEvent =
        count(node, join(path, "countOfAnEvent"), in: 1...2) ?? cohort.countOfAnEvent
    }
    if let node = node["countsAllEvents"] {
      cohort.countsAllEvents = bool(node, join(path, "countsAllEvents")) ?? cohort.countsAllEvents
    }
  }

  /// Backoffs by the class of the failure; what is not said is that of the Settings.
  mutating func classDelays(_ node: PositionedValue, _ path: String, _ backoff: BackoffConfig) -> ClassDelays
  {
    var delays = ClassDelays()
    let shape = ScenarioSchema.classDelays
    guard object(node, path, shape.keys) != nil else { return delays }
    let range = Span.milliseconds(1)...Units.longestSpan
    for (name, place) in ClassDelays.names {
      guard let node = node[name], !node.isNull else { continue }
      let path = join(path, name)
      guard object(node, path, shape.key(name).shape.keys) != nil else { continue }
      var bounds = DelayBounds(base: backoff.baseBackoffInterval, longest: backoff.maxBackoffInterval)
      for (key, bound) in [("base", \DelayBounds.base), ("longest", \DelayBounds.longest)] {
        guard let node = node[key], let span = span(node, join(path, key), in: range) else { continue }
        bounds[keyPath: bound] = span.microseconds
      }
      if bounds.base > bounds.longest {
        report(
          "the base of \(Units.text(Span(microseconds: bounds.base))) is longer than the longest wait, "
            + Units.text(Span(microseconds: bounds.longest)), at: node.position, path)
      }
      delays[keyPath: place] = bounds
    }
    return delays
  }

  /// A client that acts at the end of a flush has one record, whether the preset says so or the scenario.
  mutating func checkFlushEnd(_ node: PositionedValue, _ path: String, _ cohort: inout Cohort) {
    guard cohort.actsAtFlushEnd, cohort.queue.mode == .files else { return }
    cohort.actsAtFlushEnd = false
    let isSaid = node["uploadLoop"]?["actsAtFlushEnd"] != nil
    let place = isSaid ? node["uploadLoop"]?["actsAtFlushEnd"] : node["queue"]?["mode"]
    report(
      "a client that acts at the end of a flush re-chunks its events; set queue.mode to \"rebatch\", or "
        + "uploadLoop.actsAtFlushEnd to false",
      at: (place ?? node).position,
      isSaid ? join(join(path, "uploadLoop"), "actsAtFlushEnd") : join(join(path, "queue"), "mode"))
  }

  private mutating func triggers(_ node: PositionedValue, _ path: String) -> ClientTriggers {
    let elements: [PositionedValue]
    switch node.content {
    case .array(let list): elements = list
    // As `fleetsim presets` prints them.
    case .string("all"): return .all
    case .string(let text) where text.hasPrefix("[") && text.hasSuffix("]"):
      elements = text.dropFirst().dropLast().split { ", ".contains($0) }.map {
        PositionedValue(.string(String($0)), at: node.position)
      }
    default:
      report("expected \"all\" or a list of triggers, found \(describe(node))", at: node.position, path)
      return .all
    }
    let allowed = ClientTrigger.allCases.map { ($0.rawValue, $0) }
    return ClientTriggers(elements.compactMap { word($0, path, allowed) })
  }

  /// Reads every switch of `RetryPolicy.switches` by that table.
  mutating func policy(_ node: PositionedValue, _ path: String) -> PolicyChanges {
    guard object(node, path, ScenarioSchema.policy.keys) != nil else { return [] }
    return RetryPolicy.switches.compactMap { change in
      guard let node = node[change.name] else { return nil }
      return value(of: change, node, join(path, change.name)).map { (change, $0) }
    }
  }

  private mutating func value(
    of change: RetryPolicy.Switch, _ node: PositionedValue, _ path: String
  ) -> String? {
    if change.isBool { return bool(node, path).map { "\($0)" } }
    if case .string(let text) = node.content {
      var policy = RetryPolicy()
      if change.set(text, in: &policy) { return text }
      // The pattern itself is no value.
      for (suffix, example, range) in [
        (":S", "60", "whole seconds from 0 to 3600"), (":P", "10", "whole percent from 1 to 100"),
      ] {
        guard let pattern = change.values.first(where: { $0.hasSuffix(suffix) }),
          text.hasPrefix(pattern.dropLast())
        else { continue }
        report(
          "\(quoted(text)) is not known; write for example \"\(pattern.dropLast())\(example)\": \(range)",
          at: node.position, path)
        return nil
      }
    }
    return word(node, path, change.values.map { ($0, $0) })
  }

  /// The client of a cohort without a word about what is wrong in it: how its Settings are read depends on it
  /// (S13), and problems are reported once, with the rest of the cohort.
  static func preset(of cohort: PositionedValue) -> ClientPreset {
    var silent = ScenarioDecoder(sources: [])
    return silent.client(cohort, "")
  }

  /// How its Settings are read, likewise without a word.
  static func settingsDialect(of cohort: PositionedValue) -> SettingsDialect {
    var silent = ScenarioDecoder(sources: [])
    return silent.settingsDialect(cohort, "")
  }

  /// The policy of a cohort, likewise without a word.
  static func policy(of cohort: PositionedValue, in root: PositionedValue) -> RetryPolicy {
    var silent = ScenarioDecoder(sources: [])
    var policy = silent.client(cohort, "").policy
    for node in [root["policy"], cohort["policy"]].compactMap(\.self) {
      for (change, value) in silent.policy(node, "") { _ = change.set(value, in: &policy) }
    }
    return policy
  }
}

extension RetryPolicy.Switch {
  /// Written as true or false, without quotes.
  package var isBool: Bool { values == ["true", "false"] }
}

extension Cohort {
  /// Becomes a client of that kind, with the changes to its switches that hold for the whole scenario.
  mutating func take(_ preset: ClientPreset, changedBy changes: ScenarioDecoder.PolicyChanges) {
    take(preset)
    for (change, value) in changes { _ = change.set(value, in: &policy) }
  }
}
