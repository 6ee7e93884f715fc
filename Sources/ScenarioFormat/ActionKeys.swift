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
}

/// A kind of action.
struct ActionKind: TimelineKind {
  let name: String
  let meaning: String
  let record: Record<ActionValues>
  let make: @Sendable (ActionValues) -> ServerAction
  /// Fills in what an action of this kind says; false for any other.
  let values: @Sendable (ServerAction, inout ActionValues) -> Bool

  init(
    _ name: String, _ meaning: String, _ fields: [Field<ActionValues>],
    make: @escaping @Sendable (ActionValues) -> ServerAction,
    values: @escaping @Sendable (ServerAction, inout ActionValues) -> Bool
  ) {
    self.name = name
    self.meaning = meaning
    record = Record(
      ActionValues(kind: name),
      [
        Self.nameField(name, \.kind, example: "shed"),
        Field("at", \.start, .actionTime, "When: before the end of the run.", example: "\"25m\""),
      ] + fields)
    self.make = make
    self.values = values
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
  ]
}

extension Kind where Value == Instant {
  /// A time before the run ends.
  fileprivate static let actionTime = Kind(
    schema: .reference("span"),
    read: { decoder, node, path in
      if case .string(let text) = node.content, text.hasPrefix("-") {
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

extension Kind where Value == ServerAction {
  fileprivate static let action = Kind(
    shape: .object(ActionKind.allKeys), schema: .reference("action"),
    read: { decoder, node, path in
      let found: (kind: ActionKind, values: ActionValues)? = decoder.timelineKind(node, path)
      return found.map { $0.kind.make($0.values) }
    },
    write: { action in
      var values = ActionValues(start: action.start)
      guard let kind = ActionKind.all.first(where: { $0.values(action, &values) }) else { return .null }
      values.kind = kind.name
      return kind.record.write(values)
    })
}

extension Kind where Value == [ServerAction] {
  /// None contradicts another.
  static let actions: Kind = {
    let limit = 1_000
    let list = Kind<ServerAction>.action.list(0...limit, named: "actions")
    return Kind(
      shape: list.shape, schema: list.schema,
      read: { decoder, node, path in
        guard case .array(let elements) = node.content, elements.count <= limit else {
          return list.read(&decoder, node, path)
        }
        var found: [(action: ServerAction, index: Int)] = []
        for (index, element) in elements.enumerated() {
          guard let action = Kind<ServerAction>.action.read(&decoder, element, decoder.join(path, "\(index)"))
          else { continue }
          found.append((action, index))
        }
        let actions = found.map(\.action)
        for (number, other) in actions.contradictions {
          let (index, otherIndex) = (found[number].index, found[other].index)
          decoder.report(
            "contradicts action \(otherIndex) on line \(elements[otherIndex].position.line), "
              + "\(actions[other].kind.label) \(actions[other].timeText): both decide on \(actions[other].subject.text)",
            at: elements[index].position, decoder.join(path, "\(index)"))
        }
        return actions
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
    guard case .array(let nodes)? = root["actions"]?.content else { return }
    let keys = fleet.map { $0.writeKey ?? $0.name }
    for (index, node) in nodes.enumerated() {
      if let name = node["key"], case .string(let key) = name.content, !keys.contains(key) {
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
}
