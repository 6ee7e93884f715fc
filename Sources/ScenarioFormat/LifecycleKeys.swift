import ScenarioModel
import ShippedClients
import SimulationKernel
import TAPIModel
import UploadRetry

/// `lifecycle` and `rollout`: when apps are launched, and which Settings they find then (S18, S19).
extension Lifecycle {
  static let keys = ObjectKeys(
    Lifecycle(), keepsRest: true,
    [
      Field(
        "restarts", \.meanTimeBetweenRestarts, Kind<Span>.restarts.orNull,
        "Kills and launches of each app, a Poisson process.", defaultValue: .said("none")),
      Field(
        "synchronised", \.synchronised,
        Kind.object(SynchronisedRestart.keys).list(0...1_000, named: "synchronised restarts"),
        "Restarts of all apps."),
      Field(
        "state", \.keepsState, .word([("persisted", true), ("inMemory", false)]),
        "Whether retry state outlives the app."),
      Field("flushAtLaunch", \.flushesAtLaunch, .bool, "Whether a launch is a trigger."),
    ])
}

extension Kind where Value == Span {
  /// `"2/day"` or `{ meanGap: "12h" }`.
  fileprivate static let restarts: Kind = {
    let range = Span.seconds(1)...Units.longestSpan
    let rate = gap(range, example: "2/day", allowed: "one restart in 366 days to 1/s")
    let object = single(
      "meanGap", span(range), "The mean time between two restarts.", example: "\"12h\"", .zero)
    return object.or(rate, { $0 }, part: { Units.rateText(gap: $0) != nil ? $0 : nil })
  }()
}

extension Lifecycle.SynchronisedRestart {
  fileprivate static let keys = ObjectKeys(
    Self(time: .start),
    [
      Field("at", \.time, .time, "When.", example: "\"30m\""),
      Field(
        "spread", \.spread, .span(from: .zero), "Each app at a random time in so long a span."),
    ])
}

/// Settings as a client has read them, with what it takes to write them back.
struct PublishedSettings: Sendable, Equatable {
  var config = HTTPConfig()
  /// `Cohort.settingsSource`.
  var source: SettingsValue?
  var dialect = SettingsDialect.document
  var defaults = HTTPConfig()

  /// As the document says them, or for a shipped SDK as they were.
  fileprivate var tree: PositionedValue {
    let encoded = PositionedValue(source ?? config.encoded(defaults: defaults))
    if dialect == .document || source != nil { return encoded }
    return .members([(SettingsTree.sectionName, encoded)])
  }
}

extension Kind where Value == Span? {
  /// How often Settings are fetched.
  static let fetch = Kind<Span>.span(from: .seconds(1)).orNull
}

extension Kind where Value == PublishedSettings {
  /// Settings of the cohort; `SettingsResolution` has read them before anything else.
  static func settings(
    _ place: @escaping @Sendable (CohortSettings) -> PublishedSettings?
  ) -> Kind {
    Kind(
      shape: .settings, schema: .oneOf([.type("string"), .type("object")]),
      read: { decoder, _, _ in place(decoder.settings) }, write: \.tree)
  }

  /// Settings of an action: each cohort that it concerns reads them in its own way (`Publication`).
  static let ofAction = Kind(
    schema: .oneOf([.type("string"), .type("object")]), read: { _, _, _ in PublishedSettings() },
    write: \.tree)
}

/// `rollout` as it is written.
struct RolloutKeys: Sendable, Equatable {
  var time = Instant.start
  var share: Int64 = 1_000_000
  var fetch: Span?
  var settings = PublishedSettings()

  static let keys = ObjectKeys(
    RolloutKeys(),
    [
      Field(
        "at", \.time, .time, "When they are published.",
        example: "\"20m\""),
      Field("share", \.share, .share(), "Of the devices that get them."),
      Field(
        "fetch", \.fetch, .fetch, "How often a running app fetches Settings too.",
        defaultValue: .said("at launches alone"), isLater: true),
      Field(
        "settings", \.settings, .settings { $0.rollout }, "The new Settings, whole.",
        example: "\"settings-new.json\""),
    ])
}

extension Cohort {
  var publishedSettings: PublishedSettings {
    get {
      PublishedSettings(
        config: settings, source: settingsSource, dialect: behaviour.settingsDialect,
        defaults: behaviour.settingsDefaults)
    }
    set { (settings, settingsSource) = (newValue.config, newValue.source) }
  }

  /// As an action writes it.
  var publication: RolloutKeys? { rollout.flatMap { $0.isAction ? keys(of: $0) : nil } }

  private func keys(of rollout: SettingsRollout) -> RolloutKeys {
    var settings = publishedSettings
    (settings.config, settings.source) = (rollout.settings, rollout.source)
    return RolloutKeys(
      time: rollout.time, share: rollout.sharePartsPerMillion, fetch: rollout.fetch, settings: settings)
  }

  var rolloutKeys: RolloutKeys? {
    get { rollout.flatMap { $0.isAction ? nil : keys(of: $0) } }
    set {
      rollout = newValue.map {
        SettingsRollout(time: $0.time, sharePartsPerMillion: $0.share, settings: $0.settings.config)
      }
      rollout?.source = newValue?.settings.source
      rollout?.fetch = newValue?.fetch
    }
  }

  /// Whether any app of the cohort can be launched during the run.
  var hasRestarts: Bool {
    lifecycle.map { $0.meanTimeBetweenRestarts != nil || !$0.synchronised.isEmpty } ?? false
  }
}

extension ScenarioDecoder {
  /// A restart of all apps is in the twin, too: where nothing else happens, no figure tells what it does.
  mutating func warnOfRestarts(_ scenario: Scenario, _ root: PositionedValue) {
    guard !scenario.hasIncidents, let node = root["fleet"],
      let cohort = scenario.fleet.first(where: { !($0.lifecycle?.synchronised ?? []).isEmpty })
    else { return }
    warn(
      "is part of the load, and no incident: no verdict tells what it does; compare the scenario with one without it",
      at: node.position, "fleet.\(cohort.name).lifecycle.synchronised")
  }

  /// Settings are fetched at launch: where no app is launched during the run, nothing that happens to the
  /// Settings then is seen.
  mutating func warnIfNothingIsLaunched(
    _ tapi: TAPIConfiguration, _ fleet: [Cohort], _ root: PositionedValue
  ) {
    let remedy = "give the cohort lifecycle: { restarts: \"2/day\" }, or say at: \"0s\""
    if let nodes = root["fleet"]?.elements {
      var told: Set<Int> = []
      for (index, node) in nodes.enumerated() {
        guard let name = ScenarioPaths.name(of: node),
          let cohort = fleet.first(where: { $0.name == name }), !cohort.hasRestarts,
          let time = cohort.rollout?.time, time > .start, cohort.rollout?.fetch == nil
        else { continue }
        let action = publications[index]
        // One action may be the rollout of many cohorts.
        if let action, !told.insert(action.index).inserted { continue }
        warn(
          "no device picks these Settings up: apps fetch them at launch, and none is launched during the run; "
            + remedy, at: (action?.node ?? node["rollout"] ?? node).position,
          action?.path ?? join(ScenarioPaths.cohort(index, of: nodes), "rollout"))
      }
    }
    guard !fleet.contains(where: { $0.hasRestarts || tapi.settings != nil && $0.hasFetches }),
      let nodes = root["tapi"]?["incidents"]?.elements,
      nodes.count == tapi.incidents.count
    else { return }
    for (index, incident) in tapi.incidents.enumerated()
    where incident.kind == .cdnOutage && incident.start > .start {
      warn(
        "concerns no device: apps fetch Settings at launch, and none is launched during the run; " + remedy,
        at: nodes[index].position, "tapi.incidents.\(index)")
    }
  }
}
