import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

struct ActionValues: Sendable, Equatable {
  var start = Instant.start
  var duration: Span?
  var retryAfter = RetryAfterPolicy.none
  var shedding = Shedding()
  var factor: Int64 = 1_000_000
  /// The length of a readmission, and of a restart, which has none where it is zero.
  var length: Span {
    get { duration ?? .zero }
    set { duration = newValue == .zero ? nil : newValue }
  }
  /// nil: all.
  var cohort: String?
  var rollout = RolloutKeys()
}

/// An action as it is written: at the server, or a version of Settings for a cohort, which is its rollout.
enum ScenarioAction: Sendable, Equatable {
  case server(ServerAction)
  case settings(cohort: String?, RolloutKeys)
}

extension ScenarioDocument {
  /// Server actions come first. Rollouts that are actions come with their cohorts (`Publication`).
  var actions: [ScenarioAction] {
    get {
      scenario.tapi.actions.map(ScenarioAction.server)
        + scenario.fleet.compactMap { cohort in
          cohort.publication.map { .settings(cohort: cohort.name, $0) }
        }
    }
    set {
      scenario.tapi.actions = newValue.compactMap { if case .server(let action) = $0 { action } else { nil } }
    }
  }
}

extension Form<ScenarioAction> {
  private static func action(
    _ name: String, _ meaning: String, _ fields: [Field<ActionValues>],
    makeAny: @escaping @Sendable (ActionValues) -> ScenarioAction,
    valuesOfAny: @escaping @Sendable (ScenarioAction) -> ActionValues?
  ) -> Form {
    let common = [
      .kind(name, example: "shed"),
      Field("at", \ActionValues.start, .actionTime, "When: before the end of the run.", example: "\"25m\""),
    ]
    return Form(
      name, .object(ObjectKeys(ActionValues(), common + fields)), meaning, make: makeAny, part: valuesOfAny)
  }

  /// At the server, until the next on the same or for some time.
  private static func action(
    _ name: String, _ meaning: String, _ fields: [Field<ActionValues>],
    make: @escaping @Sendable (ActionValues) -> ServerAction.Kind,
    values: @escaping @Sendable (ServerAction.Kind) -> ActionValues?
  ) -> Form {
    action(name, meaning, fields) {
      .server(ServerAction(make($0), at: $0.start, for: $0.duration))
    } valuesOfAny: { action in
      guard case .server(let action) = action, var found = values(action.kind) else { return nil }
      (found.start, found.duration) = (action.start, action.duration)
      return found
    }
  }

  private static let duration = Field(
    "for", \ActionValues.duration, Kind<Span>.span(from: Span(microseconds: 1)).orNull, "How long it holds.",
    defaultValue: .said("until the next on the same"))

  /// The requests that a shedding concerns, and the answer that they hear.
  private static let door: [Field<ActionValues>] = [
    Field(
      "key", \.shedding.key, Kind<String>.text.orNull,
      "The writeKey whose requests alone it concerns.",
      defaultValue: .said("all")),
    Field(
      "by", \.shedding.isByDevice, .word([("request", false), ("device", true)]),
      "Whether attempts are drawn, or devices."),
    Field(
      "status", \.shedding.status, Kind<Int>.count(400...599).orNull,
      "Of the refusal.",
      defaultValue: .said("that of overload")),
  ]

  static let actions: [Form] = [
    action(
      "retryAfter",
      "How long the server says to wait where it refuses for want of capacity, and in incidents and actions.",
      [Field("retryAfter", \.retryAfter, .retryAfter, "How long.", example: "\"30s\""), duration],
      make: { .retryAfter($0.retryAfter) },
      values: { if case .retryAfter(let policy) = $0 { ActionValues(retryAfter: policy) } else { nil } }),
    action(
      "shed", "A share of the requests is refused at the door, at no cost.",
      [
        Field("share", \.shedding.share, .share(1...1_000_000), "Of the requests.", example: "\"50%\"")
      ] + door + [duration],
      make: { .shed($0.shedding) },
      values: { if case .shed(let shedding) = $0 { ActionValues(shedding: shedding) } else { nil } }),
    action(
      "readmit",
      "As shed, but the share falls evenly to nothing.",
      [
        Field(
          "over", \.length, .span(from: Span(microseconds: 1)), "How long until all is let in.",
          example: "\"30m\""),
        Field("share", \.shedding.share, .share(1...1_000_000), "Of the requests, at first."),
      ] + door,
      make: { .readmit($0.shedding) },
      values: { if case .readmit(let shedding) = $0 { ActionValues(shedding: shedding) } else { nil } }),
    action(
      "capacity", "The bucket fills faster or slower, or there are more or fewer workers.",
      [
        Field(
          "factor", \.factor, .share(10_000...100_000_000), "Of the configured capacity: 1.5 or \"150%\".",
          example: "\"150%\""), duration,
      ],
      make: { .capacity(factorPartsPerMillion: $0.factor) },
      values: { if case .capacity(let factor) = $0 { ActionValues(factor: factor) } else { nil } }),
    action(
      "restart", "The server starts anew with an empty queue: what waited and what ran is lost.",
      [Field("for", \.length, .span(from: .zero), "How long it gives no answer meanwhile.")],
      make: { _ in .restart }, values: { $0 == .restart ? ActionValues() : nil }),
    action(
      "settings",
      "New Settings are published. A running app picks them up at its next launch, or with fetch at its next fetch.",
      [
        Field(
          "cohort", \.cohort, Kind<String>.text.orNull, "Whose clients find them.", defaultValue: .said("all")
        ),
        Field("share", \.rollout.share, .share(), "Of the devices that get them."),
        Field(
          "fetch", \.rollout.fetch, .fetch,
          "How often a running app fetches Settings.",
          defaultValue: .said("at launches alone")),
        Field(
          "settings", \.rollout.settings, .ofAction, "The new Settings, whole, or the name of their file.",
          example: "\"settings-new.json\""),
      ],
      makeAny: { values in
        var rollout = values.rollout
        rollout.time = values.start
        return .settings(cohort: values.cohort, rollout)
      },
      valuesOfAny: {
        guard case .settings(let cohort, let rollout) = $0 else { return nil }
        return ActionValues(start: rollout.time, cohort: cohort, rollout: rollout)
      }),
  ]
}

extension Kind where Value == ScenarioAction {
  fileprivate static let action = kinds(Form<ScenarioAction>.actions).named("action")
}

extension Kind where Value == [ScenarioAction] {
  static let actions = Kind<ScenarioAction>.action.list(0...1_000, named: "actions") {
    decoder, found, elements, path in
    let server = found.compactMap { index, action in
      if case .server(let action) = action { (index: index, action: action) } else { nil }
    }
    for (number, other) in server.map(\.action).contradictions {
      let (index, other) = (server[number].index, server[other])
      let duration = other.action.duration.map { " for \(Units.text($0))" } ?? ""
      decoder.report(
        "contradicts action \(other.index)\(elements[other.index].position.clause), \(other.action.kind.wording.label) "
          + "from \(Units.text(other.action.start - .start))\(duration): both decide on \(other.action.subject.text)",
        at: elements[index].position, decoder.join(path, "\(index)"))
    }
  }
}

extension ServerAction.Subject {
  fileprivate var text: String {
    switch self {
    case .retryAfter: "how long to wait"
    case .admission(nil): "who is let in"
    case .admission(let key?): "who of \(quoted(key)) is let in"
    case .capacity: "the capacity"
    case .process: "when the server runs"
    }
  }
}

extension ScenarioDecoder {
  /// Checks actions against the fleet and the server.
  mutating func checkActions(on tapi: TAPIConfiguration, _ fleet: [Cohort], _ root: PositionedValue) {
    guard let nodes = root["actions"]?.elements else { return }
    let keys = fleet.map(\.effectiveWriteKey)
    for (index, node) in nodes.enumerated() {
      checkPublication(index, node, fleet, root)
      if let name = node["key"], let key = name.text, !keys.contains(key) {
        report(
          "no cohort has the writeKey \(quoted(key))\(Spelling.hint(for: key, among: keys)) There are: \(list(keys))",
          at: name.position, "actions.\(index).key")
      }
      if case .string("restart")? = node["kind"]?.content, node["for"] == nil, case .bucket = tapi.server {
        warn(
          "changes nothing: a bucket has no queue, and without for: \"30s\" it answers all the time",
          at: node.position, "actions.\(index)")
      }
    }
  }

  /// A cohort gets one new version of Settings in a run.
  private mutating func checkPublication(
    _ index: Int, _ node: PositionedValue, _ fleet: [Cohort], _ root: PositionedValue
  ) {
    guard Publication.isWhole(node) else { return }
    let path = "actions.\(index)"
    if let name = node["cohort"], let cohort = name.text,
      !fleet.contains(where: { $0.name == cohort })
    {
      report(
        ScenarioPaths.noCohort(cohort, among: fleet.map(\.name)), at: name.position, path + ".cohort")
    }
    guard let cohorts = root["fleet"]?.elements else { return }
    for (number, cohort) in cohorts.enumerated() where Publication.concerns(node, cohort) {
      let place = ScenarioPaths.cohort(number, of: cohorts)
      guard let action = publications[number] else {
        report(
          "contradicts \(place).rollout\((cohort["rollout"] ?? cohort).position.clause): "
            + "a cohort gets one new version of Settings in a run", at: node.position, path)
        continue
      }
      if action.index != index {
        report(
          "contradicts action \(action.index)\(action.node.position.clause), which publishes Settings for \(place) too: "
            + "a cohort gets one new version of Settings in a run", at: node.position, path)
      }
    }
  }
}

/// An action that publishes Settings: the rollout of each cohort that it concerns and that has none of its own (S19).
struct Publication {
  /// Its place in the list.
  var index: Int
  var node: PositionedValue

  var path: String { "actions.\(index)" }

  /// The first for each cohort, by the cohort's number.
  static func all(in root: PositionedValue) -> [Int: Publication] {
    var found: [Int: Publication] = [:]
    for (index, node) in (root["actions"]?.elements ?? []).enumerated() where isWhole(node) {
      for (number, cohort) in (root["fleet"]?.elements ?? []).enumerated()
      where found[number] == nil && concerns(node, cohort) && cohort["rollout"]?.isNull ?? true {
        found[number] = Publication(index: index, node: node)
      }
    }
    return found
  }

  /// Whether a value is an action that publishes Settings, and says which and when.
  static func isWhole(_ action: PositionedValue) -> Bool {
    action["kind"]?.text == "settings" && action["at"] != nil && action["settings"] != nil
  }

  static func concerns(_ action: PositionedValue, _ cohort: PositionedValue) -> Bool {
    guard cohort.members != nil else { return false }
    guard let wanted = action["cohort"], !wanted.isNull else { return true }
    return wanted.text != nil && wanted.text == cohort["name"]?.text
  }

  /// The rollout, with Settings as the cohort's client reads them; nil after a problem, which is told where actions are read.
  func rollout(_ settings: PublishedSettings?) -> RolloutKeys? {
    var silent = ScenarioDecoder(sources: [])
    guard let settings,
      case .settings(_, var keys)? = Kind<ScenarioAction>.action.read(&silent, node, "")
    else { return nil }
    keys.settings = settings
    return keys
  }
}
