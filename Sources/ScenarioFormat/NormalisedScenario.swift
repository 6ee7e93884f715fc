import ScenarioModel
import ShippedClients
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

extension Scenario {
  /// The whole scenario as JSON, every default written out, Settings inline; `ScenarioFile` reads it back
  /// into an equal scenario. Pretty-printed with two spaces, a line feed at the end.
  public var normalisedJSON: String {
    var members: [(String, PositionedValue)] = [("format", .number("1"))]
    if let question { members.append(("question", .text(question))) }
    members += [
      ("seed", .number("\(seed)")), ("duration", .span(duration)), ("interval", .span(interval)),
      ("tapi", TAPIConfiguration.keys.write(tapi)), ("fleet", .list(fleet.map(\.normalised))),
    ]
    return JSONText.pretty(.members(members)) + "\n"
  }
}

/// What a normalised scenario is made of.
extension PositionedValue {
  static func number(_ text: String) -> Self { Self(.number(text), at: .commandLine) }
  static func text(_ text: String) -> Self { Self(.string(text), at: .commandLine) }
  static func bool(_ value: Bool) -> Self { Self(.bool(value), at: .commandLine) }
  static func span(_ span: Span) -> Self { .text(Units.text(span)) }
  /// A decimal number.
  static func millionths(_ value: Int64) -> Self { .number(Units.seconds(microseconds: value)) }
  static func list(_ elements: [Self]) -> Self { Self(.array(elements), at: .commandLine) }
  static var null: Self { Self(.null, at: .commandLine) }
  static func members(_ members: [(String, Self)]) -> Self {
    Self(.object(members.map { .init(key: $0, keyPosition: .commandLine, value: $1) }), at: .commandLine)
  }

  init(_ value: SettingsValue) {
    switch value {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .number(let value):
      let infinite = value < 0 ? "-1e999" : "1e999"
      self = .number(value.isInfinite ? infinite : Int(exactly: value).map { "\($0)" } ?? "\(value)")
    case .string(let text): self = .text(text)
    case .array(let elements): self = .list(elements.map(Self.init))
    case .object(let members): self = .members(members.map { ($0.key, Self($0.value)) })
    }
  }
}

extension Cohort {
  fileprivate typealias Members = [(String, PositionedValue)]

  fileprivate var normalised: PositionedValue {
    let concurrency: PositionedValue =
      uploadConcurrency == .max ? .text("unlimited") : .number("\(uploadConcurrency)")
    let workload: Members = [
      ("name", .text(name)), ("devices", .number("\(devices)")), ("client", .text(client)),
      ("events", events.normalised(atOnce: eventsAtOnce)), ("spikes", .list(spikes.map(\.normalised))),
      ("flush", flush.normalised), ("queue", queue.normalised),
    ]
    let uploads: Members = [
      ("retries", .text(retries == .gate ? "gate" : "timer")), ("uploadConcurrency", concurrency),
      ("flushWhileUploading", .text(flushWhileUploading.rawValue)),
      ("timeout", Kind<Timeouts>.timeouts.write(timeouts)), ("network", Network.keys.write(network)),
      ("connectivity", Kind<Connectivity>.connectivity.orNull.write(connectivity)),
    ]
    let loop = normalisedUploadLoop
    var ofSessions: Members = sessions.map { [("sessions", Sessions.keys.write($0))] } ?? []
    if policy.classDelays != ClassDelays() {
      ofSessions.append(("classDelays", policy.classDelays.normalised))
    }
    var ofLoop: Members = loop.isEmpty ? [] : [("uploadLoop", .members(loop))]
    if settingsDialect != preset.dialect {
      ofLoop.append(("settingsDialect", .text(settingsDialect.rawValue)))
    }
    let client: Members = [
      ("settings", normalised(settings, settingsSource)),
      ("policy", policy.normalised(of: client)),
      ("gates", gates.normalised), ("credentialRefresh", .span(credentialRefresh)),
      ("lifecycle", lifecycle?.normalised ?? .null),
      ("rollout", normalisedRollout),
      ("eventSize", .text(Units.text(bytes: eventBytes))),
      ("requestSize", .text(Units.text(bytes: requestBytes))),
    ]
    let tenant: Members = writeKey.map { [("writeKey", .text($0))] } ?? []
    return .members(workload + uploads + ofSessions + ofLoop + client + tenant)
  }
}

extension Cohort {
  private var preset: ClientPreset { ClientPreset.all.first { $0.name == client } ?? .tapiDocument }

  /// The Settings as the document says them, or for a shipped SDK as they were: see `settingsSource`.
  private func normalised(_ config: HTTPConfig, _ source: SettingsValue?) -> PositionedValue {
    let encoded = PositionedValue(source ?? config.encoded(defaults: settingsDefaults))
    if settingsDialect == .document || source != nil { return encoded }
    return .members([(SettingsTree.sectionName, encoded)])
  }

  private var normalisedRollout: PositionedValue {
    guard let rollout else { return .null }
    return .members([
      ("at", .span(rollout.time - .start)),
      ("share", .text(Units.text(partsPerMillion: rollout.sharePartsPerMillion))),
      ("settings", normalised(rollout.settings, rollout.source)),
    ])
  }

  /// Where the cohort differs from its preset.
  fileprivate var normalisedUploadLoop: Members {
    let preset = preset
    var members: Members = []
    if actsAtFlushEnd != preset.actsAtFlushEnd { members.append(("actsAtFlushEnd", .bool(actsAtFlushEnd))) }
    if rateLimitEndsLoop != preset.rateLimitEndsLoop {
      members.append(("rateLimitEndsLoop", .bool(rateLimitEndsLoop)))
    }
    if saving != preset.saving { members.append(("saving", .text(saving.rawValue))) }
    if triggers != preset.triggers {
      members.append(("triggers", .list(triggers.kinds.map { .text($0.rawValue) })))
    }
    if triggersThatSkipWaits != preset.triggersThatSkipWaits {
      members.append(("triggersThatSkipWaits", .list(triggersThatSkipWaits.kinds.map { .text($0.rawValue) })))
    }
    if countOfAnEvent != preset.countOfAnEvent {
      members.append(("countOfAnEvent", .number("\(countOfAnEvent)")))
    }
    if countsAllEvents != preset.countsAllEvents {
      members.append(("countsAllEvents", .bool(countsAllEvents)))
    }
    return members
  }
}

extension FlushPolicy {
  fileprivate var normalised: PositionedValue {
    .members([
      ("count", count.map { .number("\($0)") } ?? .null), ("interval", interval.map { .span($0) } ?? .null),
      ("phase", .text(isSynchronised ? "synchronised" : "random")),
    ])
  }
}

extension QueuePolicy {
  fileprivate var normalised: PositionedValue {
    .members([
      ("mode", .text(mode == .files ? "files" : "rebatch")),
      ("limit", limit == .max ? .null : .number("\(limit)")),
      ("maximumBatchEvents", .number("\(maximumBatchEvents)")),
      ("maximumBatchSize", maximumBatchBytes.map { .text(Units.text(bytes: $0)) } ?? .null),
      ("splitOn413", .bool(splitsOn413)),
    ])
  }
}

extension RetryPolicy {
  /// Every switch; a later one only where the client's preset has it otherwise, so that a normalised scenario stays as it is.
  fileprivate func normalised(of client: String) -> PositionedValue {
    let preset = ClientPreset.all.first { $0.name == client }?.policy ?? RetryPolicy()
    let laterSwitches: Set = [
      "readsRateLimitReset", "limitsCheck", "rateLimitRecord", "backoffOff", "withoutSettings",
      "overridden429",
      "belowSuccess", "exponent", "waitsInMilliseconds",
    ]
    return .members(
      Self.switches.compactMap { entry in
        let value = entry.value(in: self)
        if laterSwitches.contains(entry.name), value == entry.value(in: preset) { return nil }
        return (entry.name, entry.isBool ? .bool(value == "true") : .text(value))
      })
  }
}

extension Lifecycle {
  fileprivate var normalised: PositionedValue {
    let restarts = meanTimeBetweenRestarts.map { gap in
      Units.rateText(gap: gap).map { .text($0) } ?? PositionedValue.members([("meanGap", .span(gap))])
    }
    return .members([
      ("restarts", restarts ?? .null),
      (
        "synchronised",
        .list(
          synchronised.map { .members([("at", .span($0.time - .start)), ("spread", .span($0.spread))]) })
      ),
      ("state", .text(keepsState ? "persisted" : "inMemory")), ("flushAtLaunch", .bool(flushesAtLaunch)),
    ])
  }
}
