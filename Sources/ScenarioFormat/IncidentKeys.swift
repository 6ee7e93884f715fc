import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// The values that an incident's keys can give, whatever its kind.
package struct IncidentValues: Sendable, Equatable {
  var kind = ""
  var start = Instant.start
  var duration = Span.zero
  var status = OutageStatus.code(503)
  var errorStatus = 500
  var retryAfter = RetryAfterPolicy.none
  var keepsWork = false
  var warmUp = Span.zero
  var share: Int64 = 1_000_000
  var afterWork = false
  var added = Distribution.constant(.zero)
  var factor: Int64 = 1_000_000
  var cohorts: [String]?
}

/// What an outage answers.
enum OutageStatus: Sendable, Equatable {
  case none, refused
  case code(Int)
}

/// A kind of incident.
package struct IncidentKind: TimelineKind {
  package let name: String
  let meaning: String
  package let record: ObjectKeys<IncidentValues>
  let make: @Sendable (IncidentValues) -> Incident.Kind
  /// Returns the values of an incident of this kind; nil for any other.
  package let values: @Sendable (Incident.Kind) -> IncidentValues?

  init(
    _ name: String, _ meaning: String, _ fields: [Field<IncidentValues>] = [],
    length: Field<IncidentValues> = .length,
    make: @escaping @Sendable (IncidentValues) -> Incident.Kind,
    values: @escaping @Sendable (Incident.Kind) -> IncidentValues?
  ) {
    self.name = name
    self.meaning = meaning
    record = ObjectKeys(IncidentValues(kind: name), Self.common(name) + [length] + fields)
    self.make = make
    self.values = values
  }

  private static let retryAfter = Field(
    "retryAfter", \IncidentValues.retryAfter, .retryAfter, "How long the server says to wait.")
  private static func share(_ meaning: String) -> Field<IncidentValues> {
    Field("share", \.share, .share(1...1_000_000), meaning, example: "\"10%\"")
  }

  package static let all = [
    IncidentKind(
      "outage", "The server admits nothing.",
      [
        Field(
          "status", \.status, .outageStatus,
          "Of every answer; none: no answer; refused: no connection."),
        retryAfter,
        Field(
          "keepsWork", \.keepsWork, .bool, "Whether queued and running work survives."),
        Field(
          "warmUp", \.warmUp, .span(from: .zero),
          "How long capacity then takes to rise from nothing.",
          writing: .unlessDefault),
        .refusal("retryAfter") { node, values in
          guard values.retryAfter != .none, node["retryAfter"] != nil else { return nil }
          switch values.status {
          case .none: return "no answer (status: \"none\") cannot carry a Retry-After"
          case .refused: return "a refused connection (status: \"refused\") cannot carry a Retry-After"
          case .code: return nil
          }
        },
      ],
      make: {
        switch $0.status {
        case .none: .outage(status: nil, retryAfter: $0.retryAfter, keepsWork: $0.keepsWork)
        case .refused: .refused(keepsWork: $0.keepsWork)
        case .code(let code): .outage(status: code, retryAfter: $0.retryAfter, keepsWork: $0.keepsWork)
        }
      },
      values: {
        switch $0 {
        case .outage(let status, let retryAfter, let keepsWork):
          IncidentValues(
            status: status.map { .code($0) } ?? OutageStatus.none, retryAfter: retryAfter,
            keepsWork: keepsWork)
        case .refused(let keepsWork): IncidentValues(status: .refused, keepsWork: keepsWork)
        default: nil
        }
      }),
    IncidentKind(
      "brownout", "The server is slower.",
      [
        Field(
          "factor", \.factor,
          .share(1_000...1_000_000, more: ". For no capacity at all use kind: \"outage\""),
          "The capacity that is left: 0.5 or \"50%\".", example: "\"50%\"")
      ], make: { .brownout(factorPartsPerMillion: $0.factor) },
      values: { if case .brownout(let parts) = $0 { IncidentValues(factor: parts) } else { nil } }),
    IncidentKind(
      "cdnOutage",
      "The CDN of the Settings is down: apps launched meanwhile run on what is built in.",
      make: { _ in .cdnOutage }, values: { $0 == .cdnOutage ? IncidentValues() : nil }),
    IncidentKind(
      "errors", "A share of requests, drawn for each attempt, is answered with an error.",
      [
        share("Of the requests."), Field("status", \.errorStatus, .count(300...599), "HTTP status."),
        Field(
          "afterWork", \.afterWork, .bool,
          "In place of the 200 when the work is done, not at once."),
        retryAfter,
      ],
      make: {
        .errors(status: $0.errorStatus, share: $0.share, afterWork: $0.afterWork, retryAfter: $0.retryAfter)
      },
      values: {
        guard case .errors(let status, let share, let afterWork, let retryAfter) = $0 else { return nil }
        return IncidentValues(errorStatus: status, retryAfter: retryAfter, share: share, afterWork: afterWork)
      }),
    IncidentKind(
      "lostAnswers", "A share of the batches that the server accepts is never confirmed.",
      [share("Of the accepted requests.")], make: { .lostAnswers(share: $0.share) },
      values: { if case .lostAnswers(let share) = $0 { IncidentValues(share: share) } else { nil } }),
    IncidentKind(
      "latency", "Answers that leave now travel longer.",
      [
        .refusal { node, _ in
          node["added"] != nil || node["factor"] != nil
            ? nil : "slows nothing; write added: \"2s\", factor: 3, or both"
        },
        Field("added", \.added, .serviceTime, "Added to the way back."),
        Field(
          "factor", \.factor, .number(1_000_000...1_000_000_000, allowed: "numbers from 1 to 1000"),
          "The way back takes so many times as long."),
      ], make: { .latency(added: $0.added, factor: $0.factor) },
      values: {
        guard case .latency(let added, let factor) = $0 else { return nil }
        return IncidentValues(added: added, factor: factor)
      }),
    IncidentKind(
      "tokenExpiry",
      "The first request of each device is answered 401.",
      make: { _ in .tokenExpiry }, values: { $0 == .tokenExpiry ? IncidentValues() : nil }),
    IncidentKind(
      "cut", "What devices hold open is cut off; they ask again as after any failure without a status.",
      [
        Field(
          "of", \.cohorts, Kind<String>.text.list(0...10_000, named: "cohorts").orNothing,
          "The cohorts concerned.", defaultValue: .said("all with holdsOpen")),
        Field("share", \.share, .share(1...1_000_000), "Of their devices."),
        .refusal("of") { _, values in
          values.cohorts?.isEmpty ?? false
            ? "no cohort is cut off; name one, or leave of out for every cohort with holdsOpen" : nil
        },
      ],
      length: Field("over", \.duration, .span(from: .zero), "Each at a random time in so long a span."),
      make: { .cut(cohorts: $0.cohorts, share: $0.share) },
      values: {
        guard case .cut(let cohorts, let share) = $0 else { return nil }
        return IncidentValues(share: share, cohorts: cohorts)
      }),
  ]

  // MARK: What all kinds have

  private static func common(_ name: String) -> [Field<IncidentValues>] {
    let time = Kind<Span>.span(from: .zero).mapped({ .start + $0 }, { (time: Instant) in time - .start })
    return [
      nameField(name, \.kind, example: "outage"),
      Field("at", \.start, time, "When it starts.", example: "\"20m\""),
    ]
  }
}

extension Field where Owner == IncidentValues {
  fileprivate static let length = Field(
    "for", \.duration, .span(from: Span(microseconds: 1)), "How long it lasts.", example: "\"10m\"")
}

extension Incident.Kind {
  /// As in a scenario: `outage`. Two of one name cannot be at one time.
  package var name: String {
    IncidentKind.all.first { $0.values(self) != nil }?.name ?? ""
  }
}

extension Kind where Value == OutageStatus {
  fileprivate static let outageStatus = Kind(
    schema: .oneOf([.integer(100...999), .const(.text("none")), .const(.text("refused"))]),
    read: { decoder, node, path in
      if node.text == "none" { return OutageStatus.none }
      if node.text == "refused" { return .refused }
      let code = decoder.count(node, path, in: 100...999, orWord: "none\" or \"refused")
      if let code, (200...299).contains(code) {
        decoder.report(
          "\(code) accepts the upload, which is no outage; allowed: any other status", at: node.position, path
        )
      }
      return code.map { .code($0) }
    },
    write: {
      switch $0 {
      case .none: .text("none")
      case .refused: .text("refused")
      case .code(let code): .number("\(code)")
      }
    })
}

extension Kind where Value == Incident {
  fileprivate static let incident = Kind(
    shape: .object(IncidentKind.allKeys), schema: .reference("incident"),
    read: { $0.incident($1, $2) },
    write: { incident in
      IncidentKind.written { kind in
        guard var values = kind.values(incident.kind) else { return nil }
        (values.kind, values.start) = (kind.name, incident.start)
        (values.duration, values.warmUp) = (incident.duration, incident.warmUp)
        return values
      }
    })
}

extension Kind where Value == [Incident] {
  /// One after another where they are of one kind.
  static let incidents = Kind<Incident>.incident.list(named: "incidents") { $0.reportOverlaps($1, $2, $3) }
}

extension ScenarioDecoder {
  fileprivate mutating func incident(_ node: PositionedValue, _ path: String) -> Incident? {
    guard let (kind, values): (IncidentKind, IncidentValues) = timelineKind(node, path) else { return nil }
    var incident = Incident(kind: kind.make(values), start: values.start, duration: values.duration)
    incident.warmUp = values.warmUp
    return incident
  }

  fileprivate mutating func reportOverlaps(
    _ found: [(index: Int, value: Incident)], _ elements: [PositionedValue], _ path: String
  ) {
    let byKind = Dictionary(grouping: found) { $0.value.kind.name }
    for kind in IncidentKind.all where kind.name != "cut" {
      let sorted = (byKind[kind.name] ?? []).sorted {
        ($0.value.start, $0.index) < ($1.value.start, $1.index)
      }
      var latest: (index: Int, value: Incident)?
      for entry in sorted {
        if let latest, entry.value.start < latest.value.end {
          report(
            "overlaps incident \(latest.index)\(elements[latest.index].position.clause), "
              + "another \(kind.name)", at: elements[entry.index].position, join(path, "\(entry.index)"))
        }
        if latest.map({ entry.value.end > $0.value.end }) ?? true { latest = entry }
      }
    }
  }
}

/// A kind of happening at a time, an incident or an action. Decoding, the normalised scenario, the JSON Schema and the reference
/// read the list of them.
protocol TimelineKind: Sendable {
  associatedtype Values: Sendable
  static var all: [Self] { get }
  var name: String { get }
  /// One sentence.
  var meaning: String { get }
  var record: ObjectKeys<Values> { get }
}

extension TimelineKind {
  /// Every key that some kind has, those that all have first; required where all kinds require it.
  static var allKeys: [ScenarioSchema.Key] {
    let keys = all.map(\.record.keys)
    return keys.joined().reduce(into: []) { found, key in
      if found.contains(where: { $0.name == key.name }) { return }
      let isCommon = keys.allSatisfy { $0.contains { $0.name == key.name && $0.isRequired } }
      found.append(isCommon ? key : key.optional)
    }
  }

  /// Writes the values by the first kind that has any.
  static func written(_ values: (Self) -> Values?) -> PositionedValue {
    for kind in all {
      if let values = values(kind) { return kind.record.write(values) }
    }
    return .null
  }

  /// The forms in the JSON Schema.
  static var schema: PositionedValue {
    .oneOf(
      all.map { kind in
        var schema = kind.record.schema
        schema.setMember("description", to: .text(kind.meaning))
        return schema
      })
  }

  /// `kind` as each of them has it.
  static func nameField(
    _ name: String, _ place: any WritableKeyPath<Values, String> & Sendable, example: String
  ) -> Field<Values> {
    let kind = Kind<String>(
      schema: .const(.text(name)), read: { $0.string($1, $2) }, write: { .text($0) })
    return Field("kind", place, kind, "What happens.", example: quoted(example))
  }
}

extension ScenarioDecoder {
  /// Reads an object of one of the kinds; nil after a problem.
  mutating func timelineKind<Found: TimelineKind>(
    _ node: PositionedValue, _ path: String
  ) -> (kind: Found, values: Found.Values)? {
    let kind = node["kind"].flatMap {
      word($0, join(path, "kind"), Found.all.map { ($0.name, $0) })
    }
    guard let kind else {
      _ = object(node, path, Found.allKeys)
      return nil
    }
    var values = kind.record.defaultValue
    return kind.record.read(&self, node, path, into: &values) ? (kind, values) : nil
  }
}
