import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// What an action's keys can say, whatever its kind.
struct ActionValues: Sendable {
  var kind = ""
  var start = Instant.start
  var duration: Span?
  var retryAfter = RetryAfterPolicy.none
  var shedding = Shedding()
  var factor: Int64 = 1_000_000
  /// Of a readmission, and of a restart.
  var length = Span.zero
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
  /// Those at the server first. Rollouts that are actions come with their cohorts (`PublishingActions`).
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

/// A kind of action.
struct ActionKind: TimelineKind {
  let name: String
  let meaning: String
  let record: Record<ActionValues>
  let make: @Sendable (ActionValues) -> ScenarioAction
  /// Fills in what an action of this kind says; false for any other.
  let values: @Sendable (ScenarioAction, inout ActionValues) -> Bool

  /// At the server.
  init(
    _ name: String, _ meaning: String, _ fields: [Field<ActionValues>],
    make: @escaping @Sendable (ActionValues) -> ServerAction,
    values: @escaping @Sendable (ServerAction, inout ActionValues) -> Bool
  ) {
    self.init(
      name, meaning, fields, makeAny: { .server(make($0)) },
      valuesOfAny: { action, found in
        guard case .server(let action) = action else { return false }
        found.start = action.start
        return values(action, &found)
      })
  }

  init(
    _ name: String, _ meaning: String, _ fields: [Field<ActionValues>],
    makeAny: @escaping @Sendable (ActionValues) -> ScenarioAction,
    valuesOfAny: @escaping @Sendable (ScenarioAction, inout ActionValues) -> Bool
  ) {
    self.name = name
    self.meaning = meaning
    record = Record(
      ActionValues(kind: name),
      [
        Self.nameField(name, \.kind, example: "shed"),
        Field("at", \.start, .actionTime, "When: before the end of the run.", example: "\"25m\""),
      ] + fields)
    make = makeAny
    values = valuesOfAny
  }

  private static let duration = Field(
    "for", \ActionValues.duration, Kind<Span>.span(from: Span(microseconds: 1)).orNull,
    "How long it holds.", standard: .said("until the next on the same, or the end of the run"))

  /// Whom a shedding concerns, and what they hear.
  private static let door: [Field<ActionValues>] = [
    Field(
      "key", \.shedding.key, Kind<String>.text.orNull,
      "The writeKey whose requests alone it concerns (a cohort's is its name if it says none).",
      standard: .said("all")),
    Field(
      "by", \.shedding.isByDevice, .word([("request", false), ("device", true)]),
      "Whether each attempt is drawn for itself, or some devices are refused every time."),
    Field(
      "status", \.shedding.status, Kind<Int>.count(400...599).orNull,
      "HTTP status of the refusal; its Retry-After is that of overload.", standard: .said("that of overload")),
  ]

  static let all = [
    ActionKind(
      "retryAfter",
      "The server says how long to wait: where it refuses for want of capacity, and in what incidents and actions make it answer; "
        + "not limits of keys.",
      [Field("retryAfter", \.retryAfter, .retryAfter, "How long.", example: "\"30s\""), duration],
      make: { ServerAction(.retryAfter($0.retryAfter), at: $0.start, for: $0.duration) },
      values: { action, values in
        guard case .retryAfter(let policy) = action.kind else { return false }
        (values.retryAfter, values.duration) = (policy, action.duration)
        return true
      }),
    ActionKind(
      "shed", "A share of the requests is refused at the door, before it costs anything.",
      [
        Field("share", \.shedding.share, .share(1...1_000_000), "Of the requests.", example: "\"50%\"")
      ] + door + [duration],
      make: { ServerAction(.shed($0.shedding), at: $0.start, for: $0.duration) },
      values: { action, values in
        guard case .shed(let shedding) = action.kind else { return false }
        (values.shedding, values.duration) = (shedding, action.duration)
        return true
      }),
    ActionKind(
      "readmit",
      "At first a share of the requests is refused at the door; the share falls evenly to nothing.",
      [
        Field(
          "over", \.length, .span(from: Span(microseconds: 1)), "How long until all is let in.",
          example: "\"30m\""),
        Field("share", \.shedding.share, .share(1...1_000_000), "Of the requests, at first."),
      ] + door,
      make: { ServerAction(.readmit($0.shedding), at: $0.start, for: $0.length) },
      values: { action, values in
        guard case .readmit(let shedding) = action.kind else { return false }
        (values.shedding, values.length) = (shedding, action.duration ?? .zero)
        return true
      }),
    ActionKind(
      "capacity", "The bucket fills faster or slower, or there are more or fewer workers.",
      [
        Field(
          "factor", \.factor, .share(10_000...100_000_000), "Of the configured capacity: 1.5 or \"150%\".",
          example: "\"150%\""), duration,
      ],
      make: { ServerAction(.capacity(factorPartsPerMillion: $0.factor), at: $0.start, for: $0.duration) },
      values: { action, values in
        guard case .capacity(let factor) = action.kind else { return false }
        (values.factor, values.duration) = (factor, action.duration)
        return true
      }),
    ActionKind(
      "restart", "The server starts anew with an empty queue: what waited and what ran is lost.",
      [Field("for", \.length, .span(from: .zero), "How long it gives no answer meanwhile.")],
      make: { ServerAction(.restart, at: $0.start, for: $0.length == .zero ? nil : $0.length) },
      values: { action, values in
        values.length = action.duration ?? .zero
        return action.kind == .restart
      }),
    ActionKind(
      "settings",
      "New Settings are published. A running app picks them up at its next launch, or with fetch at its next fetch.",
      [
        Field(
          "cohort", \.cohort, Kind<String>.text.orNull, "Whose clients find them.", standard: .said("all")),
        Field("share", \.rollout.share, .share(), "Of the devices that get them."),
        Field(
          "fetch", \.rollout.fetch, .fetch,
          "How often a running app fetches Settings, each at times of its own.",
          standard: .said("at launches alone")),
        Field(
          "settings", \.rollout.settings, .ofAction, "The new Settings, whole, or the name of their file.",
          example: "\"settings-new.json\""),
      ],
      makeAny: { values in
        var rollout = values.rollout
        rollout.time = values.start
        return .settings(cohort: values.cohort, rollout)
      },
      valuesOfAny: { action, values in
        guard case .settings(let cohort, let rollout) = action else { return false }
        (values.start, values.cohort, values.rollout) = (rollout.time, cohort, rollout)
        return true
      }),
  ]
}

extension Kind where Value == Instant {
  /// A time before the run ends.
  fileprivate static let actionTime = Kind(
    schema: .reference("span"),
    read: { decoder, node, path in
      if let text = node.text, text.hasPrefix("-") {
        decoder.report(
          "\(quoted(text)) is before the start of the run; an action happens at 0s or later",
          at: node.position, path)
        return nil
      }
      guard let time = decoder.span(node, path, in: .zero...Units.longestSpan) else { return nil }
      if let duration = decoder.duration, time >= duration {
        decoder.report(
          "at \(Units.text(time)) the run of \(Units.text(duration)) is over; an action happens before its end",
          at: node.position, path)
        return nil
      }
      return .start + time
    }, write: { .span($0 - .start) })
}

extension Kind where Value == ScenarioAction {
  fileprivate static let action = Kind(
    shape: .object(ActionKind.allKeys), schema: .reference("action"),
    read: { decoder, node, path in
      let found: (kind: ActionKind, values: ActionValues)? = decoder.timelineKind(node, path)
      return found.map { $0.kind.make($0.values) }
    },
    write: { action in
      var values = ActionValues()
      guard let kind = ActionKind.all.first(where: { $0.values(action, &values) }) else { return .null }
      values.kind = kind.name
      return kind.record.write(values)
    })
}

extension Kind where Value == [ScenarioAction] {
  /// None contradicts another.
  static let actions: Kind = {
    let limit = 1_000
    let list = Kind<ScenarioAction>.action.list(0...limit, named: "actions")
    return Kind(
      shape: list.shape, schema: list.schema,
      read: { decoder, node, path in
        guard let elements = node.elements, elements.count <= limit else {
          return list.read(&decoder, node, path)
        }
        var all: [ScenarioAction] = []
        var found: [(action: ServerAction, index: Int)] = []
        for (index, element) in elements.enumerated() {
          guard
            let action = Kind<ScenarioAction>.action.read(&decoder, element, decoder.join(path, "\(index)"))
          else { continue }
          all.append(action)
          if case .server(let action) = action { found.append((action, index)) }
        }
        let actions = found.map(\.action)
        for (number, other) in actions.contradictions {
          let (index, otherIndex) = (found[number].index, found[other].index)
          decoder.report(
            "contradicts action \(otherIndex)\(elements[otherIndex].position.clause), "
              + "\(actions[other].kind.label) \(actions[other].timeText): both decide on "
              + actions[other].subject.text,
            at: elements[index].position, decoder.join(path, "\(index)"))
        }
        return all
      }, write: list.write)
  }()
}

extension ServerAction {
  /// `from 25m for 10m`
  fileprivate var timeText: String {
    "from \(Units.text(start - .start))" + (duration.map { " for \(Units.text($0))" } ?? "")
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
  /// What actions say of the fleet and of the server.
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
    guard PublishingActions.isWhole(node) else { return }
    let path = "actions.\(index)"
    if let name = node["cohort"], let cohort = name.text,
      !fleet.contains(where: { $0.name == cohort })
    {
      let names = fleet.map(\.name)
      report(
        "no cohort is called \(quoted(cohort))\(Spelling.hint(for: cohort, among: names)) There are: \(list(names))",
        at: name.position, path + ".cohort")
    }
    guard let cohorts = root["fleet"]?.elements else { return }
    for (number, cohort) in cohorts.enumerated() where PublishingActions.concerns(node, cohort) {
      let place = ScenarioPaths.cohort(number, of: cohorts)
      guard let action = publishing?.actions[number] else {
        report(
          "contradicts \(place).rollout\((cohort["rollout"] ?? cohort).position.clause): "
            + "a cohort gets one new version of Settings in a run", at: node.position, path)
        continue
      }
      if action != index, let nodes = root["actions"]?.elements {
        report(
          "contradicts action \(action)\(nodes[action].position.clause), which publishes Settings for \(place) too: "
            + "a cohort gets one new version of Settings in a run", at: node.position, path)
      }
    }
  }
}
