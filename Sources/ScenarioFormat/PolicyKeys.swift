import ScenarioModel
import ShippedQuirks
import SimulationKernel
import TAPIModel
import UploadRetry

extension ClientPolicy {
  /// The first ones are written always, as scenarios of the first version have them.
  package static let keys = ObjectKeys(
    ClientPolicy(), keepsRest: true,
    [
      .ofClient("clampAfterJitter", \.clampAfterJitter, .bool, "jitter is clamped to the cap again", "S10"),
      .ofClient(
        "missingRetryAfter", \.missingRetryAfter, .missingRetryAfter,
        "what a 429 without Retry-After waits", "S4", form: ShippedQuirks.MissingRetryAfter.names),
      .ofClient(
        "retryAfterOnOtherCodes", \.retryAfterOnOtherCodes, .choice,
        "Retry-After on a retryable status but a 429 that pauses the pipeline", "S7"),
      .ofClient("retryAfterForms", \.retryAfterForms, .choice, "forms of Retry-After that are read", "S4"),
      .ofClient(
        "readsRateLimitReset", \.readsRateLimitReset, .bool,
        "X-RateLimit-Reset is read where there is no Retry-After", "O11", isLater: true),
      .ofClient("noStatus", \.noStatus, .choice, "what a failure without an HTTP status does", "S9"),
      .ofClient("retryCountHeader", \.retryCountHeader, .choice, "what X-Retry-Count says", "S2"),
      .ofClient("twoWaits", \.twoWaits, .choice, "which of two waits of the pipeline counts", "S16"),
      .ofClient("limitReached", \.limitReached, .choice, "what happens when a limit is reached", "S12"),
      .ofClient("rateLimitingOff", \.rateLimitingOff, .choice, "a 429 while rate limiting is off", "S15"),
      .ofClient("missingSection", \.missingSection, .choice, "what a missing Settings section means", "S13"),
      .ofClient("sendsAtLimit", \.sendsAtLimit, .choice, "sends that maxRetryCount allows", "S12"),
      .ofClient("successEndsWait", \.successEndsWait, .choice, "when a 2xx ends the pipeline's wait", "S16"),
      .ofClient(
        "ageLimit", \.ageLimit, .choice,
        "what maxTotalBackoffDuration limits: the time since a batch's first failure, the age of its events, or the "
          + "time to its next retry", "S11"),
      .ofClient("supportsOAuth", \.supportsOAuth, .bool, "a 511 is retried after authenticating", "S6"),
      .ofClient("rateLimited", \.rateLimited, .choice, "what a 429 makes wait", "O2"),
      .ofClient("unauthorized", \.unauthorized, .choice, "what a 401 leads to", "O9"),
      .ofClient("givenUp", \.givenUp, .choice, "what becomes of a batch that is given up", "O3"),
      .ofClient(
        "limitsCheck", \.limitsCheck, .choice, "limits of batches that still wait", "S12", isLater: true),
      .ofClient(
        "rateLimitRecord", \.rateLimitRecord, .choice, "what a 429 leaves in its batch's record", "S11",
        isLater: true),
      .ofClient(
        "backoffOff", \.backoffOff, .choice, "a retryable failure while backoff is off", "S15", isLater: true),
      .ofClient(
        "withoutSettings", \.withoutSettings, .choice, "what a client without readable Settings does", "S13",
        isLater: true),
      .ofClient(
        "overridden429", \.overridden429, .choice, "a 429 that Settings drop", "S13", isLater: true),
      .ofClient("belowSuccess", \.belowSuccess, .choice, "an answer below 200", "S8", isLater: true),
      .ofClient(
        "exponent", \.exponent, .choice, "which failures the exponent counts", "S10", isLater: true),
      .ofClient(
        "waitsInMilliseconds", \.waitsInMilliseconds, .bool, "waits are whole milliseconds", "S10",
        isLater: true),
      .ofClient(
        "retryAfterCap", \.retryAfterCap, .choice, "which limit a Retry-After has", "S4", isLater: true),
      .ofClient(
        "retryAfterJitter", \.retryAfterJitter, .jitter(lengtheningJitters),
        "jitter on top of a Retry-After", "S4", form: lengtheningJitters),
      .ofClient("backoffHolds", \.backoffHolds, .choice, "what a backoff makes wait", "S3", isLater: true),
      .ofClient(
        "multiplier", \.multiplierInMillionths, .number(1_000_000...10_000_000, allowed: "1 to 10"),
        "what a backoff is multiplied by at each failure", "S10", isLater: true),
      .ofClient(
        "waits", \.waits, .ladder, "waits one after another, in place of base, multiplier and cap", "S10",
        isLater: true, form: ["[SPAN …]"]),
      .refusal("waits") { node, _ in
        node["waits"]?.elements?.isEmpty ?? false ? "a ladder has at least one wait; null: none" : nil
      },
      .refusal("multiplier") { node, policy in
        node["multiplier"] != nil && !policy.waits.isEmpty && policy.multiplier != 2
          ? "has no effect: policy.waits stand in its place; leave one of the two out, or write waits: null"
          : nil
      },
      Field(
        "jitterDraw", \.jitterDraw, .choice, "How long a device keeps its place in a jitter's range.",
        isLater: true, requirement: "J"),
      .ofClient(
        "immediateRetries", \.immediateRetries, Kind<Int>.count(0...100).mapped({ UInt8($0) }, { Int($0) }),
        "retries without a wait, before the first backoff; with retries \"timer\" at once", "S10",
        isLater: true
      ),
      .ofClient(
        "longestRetryAfter", \.longestRetryAfter,
        Kind<Span>.span(from: .milliseconds(1)).orNull.mapped(
          { $0?.microseconds ?? .max }, { $0 == .max ? nil : Span(microseconds: $0) }),
        "what a longer Retry-After counts as", "S4", isLater: true),
    ])

  private static let lengtheningJitters = [Jitter.none.description] + Jitter.lengtheningNames

  private var multiplierInMillionths: Int64 {
    get { Int64((retry.multiplier * 1_000_000).rounded()) }
    set { retry.multiplier = Double(newValue) / 1_000_000 }
  }
}

extension Kind where Value == DelayLadder {
  fileprivate static let ladder: Kind = {
    let waits = Kind<Span>.span(.milliseconds(1)...Span.hours(49 * 24)).list(
      0...DelayLadder.longest, of: " of waits, for example [\"1s\", \"8s\", \"32s\"]", named: "waits"
    ) { decoder, found, elements, path in
      for (index, span) in found where span.microseconds % 1_000 != 0 {
        decoder.report("\(Units.text(span)) is finer than a millisecond", at: elements[index].position, path)
      }
    }
    var kind = waits.orNull.mapped(
      { DelayLadder(milliseconds: ($0 ?? []).map { UInt32($0.microseconds / 1_000) }) ?? DelayLadder() },
      { $0.isEmpty ? nil : $0.milliseconds.map { .milliseconds(Int64($0)) } })
    kind.range = "1ms to 49d each"
    return kind
  }()
}

extension Kind where Value == ShippedQuirks.MissingRetryAfter {
  fileprivate static let missingRetryAfter: Kind = {
    let names = Value.names
    return Kind(
      schema: .oneOf([.words(names.filter { !$0.hasSuffix(":S") }), .pattern("^fixed:[0-9]{1,4}$")]),
      read: { decoder, node, path in
        if let value = node.text.flatMap({ Value($0) }) { return value }
        // The pattern itself is no value.
        if let text = node.text, text.hasPrefix("fixed:") {
          decoder.report(
            "\(quoted(text)) is not known; write for example \"fixed:60\": whole seconds from 0 to 3600",
            at: node.position, path)
          return nil
        }
        return decoder.word(node, path, names.map { ($0, .maxRetryInterval) })
      }, write: { .text($0.description) })
  }()
}

extension Kind where Value == Jitter {
  /// One of these strategies: its name, or an object of its parts.
  static func jitter(_ names: [String] = Jitter.names) -> Kind {
    let words = names.filter { !$0.contains(":") }
    let part = PositionedValue.type("string")
    let parts: [(String, PositionedValue)] = [
      ("additive", part), ("atMost", part), ("symmetric", part), ("between", .array(of: part, 2...2)),
    ]
    return Kind(
      schema: .oneOf([
        .words(words), .pattern("^[a-z]+:[^ ]+$"),
        .members([("type", .text("object")), ("properties", .members(parts))]),
      ]), range: Jitter.examples(of: names).joined(separator: ", "),
      read: { decoder, node, path in
        let jitter = Jitter(SettingsTree.settingsValue(node))
        if let jitter, jitter == .none || jitter.lengthens || names == Jitter.names { return jitter }
        let found = node.members == nil ? decoder.describe(node) : JSONText.compact(node)
        decoder.report("\(found) is not known; allowed are \(Jitter.allowed(names))", at: node.position, path)
        return nil
      }, write: { .text($0.description) })
  }
}

extension DelayBounds {
  /// In place of 0 stands what the Settings say.
  fileprivate static let keys = ObjectKeys(
    DelayBounds(base: 0, longest: 0), keepsRest: true,
    [("base", \DelayBounds.base, "The first wait."), ("longest", \.longest, "The longest wait.")].map {
      Field(
        $0, $1, .time(), $2, defaultValue: .said("that of the Settings"))
    } + [
      .order("base", { Span(microseconds: $0.base) }, "longest", { Span(microseconds: $0.longest) })
    ])
}

extension Kind where Value == ClassDelays {
  /// Backoffs by the class of the failure; what is not said is that of the Settings.
  static let classDelays: Kind = {
    let object = Kind<DelayBounds>.object(DelayBounds.keys)
    var bounds = object
    bounds.read = { decoder, node, path in
      let backoff = decoder.settings.base.config.backoff
      let base = DelayBounds(base: backoff.baseBackoffInterval, longest: backoff.maxBackoffInterval)
      return object.layering?.read(&decoder, node, path, base)
    }
    let meanings = [
      "After a 429, where no wait that the server asked for decides.", "After no answer, and after a 408.",
      "After every other status that is retried.",
    ]
    let keys = ObjectKeys(
      ClassDelays(), keepsRest: true,
      zip(ClassDelays.names, meanings).map {
        Field($0.name, $0.path, bounds.orNull, $1, isLater: true)
      })
    return Kind<ClassDelays>.object(keys).orNull.mapped({ $0 ?? ClassDelays() }, { $0 })
  }()
}

extension ClassDelays {
  /// The classes by the names that a scenario gives them.
  package static var names: [(name: String, path: any WritableKeyPath<ClassDelays, DelayBounds?> & Sendable)]
  {
    [("rateLimit", \.rateLimit), ("timeout", \.timeout), ("server", \.server)]
  }
}

extension TAPIConfiguration {
  /// Whether some 429 tells clients how long to wait.
  fileprivate var asksForWaits: Bool {
    overload.status == 429 && overload.retryAfter != .none
      || incidents.contains { incident in
        guard let answer = incident.kind.answer else { return false }
        return answer.status == 429 && answer.retryAfter != .none
      }
      || rules.keyLimits.contains { $0.answers != .none }
  }
}

extension ScenarioDecoder {
  /// Warns where a file makes a 429 a status as all others, says nothing of the Retry-After on those, and the server sends one. A
  /// client that ships ignores it as its publisher's does.
  mutating func warnOfIgnoredRetryAfter(
    _ tapi: TAPIConfiguration, _ fleet: [Cohort], _ root: PositionedValue
  ) {
    guard tapi.asksForWaits, let nodes = root["fleet"]?.elements, nodes.count == fleet.count else { return }
    func said(_ node: PositionedValue?) -> PositionedValue? {
      guard let node else { return nil }
      let file = node.text.flatMap { clientFiles[$0] } ?? node
      return file["switches"]?["policy"]
    }
    for (index, cohort) in fleet.enumerated()
    where cohort.policy.rateLimited == .delaysBatch && cohort.policy.retryAfterOnOtherCodes == .ignored {
      let policies = [
        nodes[index]["policy"], root["policy"], said(nodes[index]["client"] ?? root["client"]),
      ].compactMap(\.self)
      guard !policies.contains(where: { $0["retryAfterOnOtherCodes"] != nil }),
        let place = policies.lazy.compactMap({ $0["rateLimited"] }).first
      else { continue }
      warn(
        "\"delaysBatch\" makes a 429 a status as all others, and \(cohort.client) ignores the Retry-After that this server sends; "
          + "write retryAfterOnOtherCodes: \"delaysBatch\" to obey it, or \"ignored\" to say so",
        at: place.position, ScenarioPaths.cohort(index, of: nodes) + ".policy.rateLimited")
    }
  }
}
