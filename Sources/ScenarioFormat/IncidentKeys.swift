import ScenarioModel
import SimulationKernel
import TAPIModel

/// The values that an incident's keys can give, whatever its kind.
struct IncidentValues: Sendable, Equatable {
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

extension Form<Incident> {
  /// A kind of incident.
  private static func incident(
    _ name: String, _ meaning: String, _ fields: [Field<IncidentValues>] = [],
    length: Field<IncidentValues> = .length,
    make: @escaping @Sendable (IncidentValues) -> Incident.Kind,
    values: @escaping @Sendable (Incident.Kind) -> IncidentValues?
  ) -> Form {
    let time = Kind<Span>.span(from: .zero).mapped({ .start + $0 }, { (time: Instant) in time - .start })
    let common = [
      .kind(name, example: "outage"),
      Field("at", \IncidentValues.start, time, "When it starts.", example: "\"20m\""), length,
    ]
    return Form(name, .object(ObjectKeys(IncidentValues(), common + fields)), meaning) {
      var incident = Incident(kind: make($0), start: $0.start, duration: $0.duration)
      incident.warmUp = $0.warmUp
      return incident
    } part: { incident in
      guard var found = values(incident.kind) else { return nil }
      (found.start, found.duration, found.warmUp) = (incident.start, incident.duration, incident.warmUp)
      return found
    }
  }

  private static let retryAfter = Field(
    "retryAfter", \IncidentValues.retryAfter, .retryAfter, "How long the server says to wait.")
  private static func share(_ meaning: String) -> Field<IncidentValues> {
    Field("share", \.share, .share(1...1_000_000), meaning, example: "\"10%\"")
  }

  package static let incidents: [Form] = [
    incident(
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
          isLater: true),
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
    incident(
      "brownout", "The server is slower.",
      [
        Field(
          "factor", \.factor,
          .share(1_000...1_000_000, more: ". For no capacity at all use kind: \"outage\""),
          "The capacity that is left: 0.5 or \"50%\".", example: "\"50%\"")
      ], make: { .brownout(factorPartsPerMillion: $0.factor) },
      values: { if case .brownout(let parts) = $0 { IncidentValues(factor: parts) } else { nil } }),
    incident(
      "cdnOutage",
      "The CDN of the Settings is down: apps launched meanwhile run on what is built in.",
      make: { _ in .cdnOutage }, values: { $0 == .cdnOutage ? IncidentValues() : nil }),
    incident(
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
    incident(
      "lostAnswers", "A share of the batches that the server accepts is never confirmed.",
      [share("Of the accepted requests.")], make: { .lostAnswers(share: $0.share) },
      values: { if case .lostAnswers(let share) = $0 { IncidentValues(share: share) } else { nil } }),
    incident(
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
    incident(
      "tokenExpiry",
      "The first request of each device is answered 401.",
      make: { _ in .tokenExpiry }, values: { $0 == .tokenExpiry ? IncidentValues() : nil }),
    incident(
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
}

extension Field where Owner == IncidentValues {
  fileprivate static let length = Field(
    "for", \.duration, .span(from: Span(microseconds: 1)), "How long it lasts.", example: "\"10m\"")
}

extension Incident.Kind {
  /// As in a scenario: `outage`. Two of one name cannot be at one time.
  package var name: String {
    let incident = Incident(kind: self, start: .start, duration: .zero)
    return Form<Incident>.incidents.first { $0.holds(incident) }?.key.name ?? ""
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

extension Kind where Value == [Incident] {
  /// One after another where they are of one kind.
  static let incidents = Kind<Incident>.kinds(Form<Incident>.incidents).named("incident").list(
    named: "incidents"
  ) {
    $0.reportOverlaps($1, $2, $3)
  }
}

extension ScenarioDecoder {
  fileprivate mutating func reportOverlaps(
    _ found: [(index: Int, value: Incident)], _ elements: [PositionedValue], _ path: String
  ) {
    let byKind = Dictionary(grouping: found) { $0.value.kind.name }
    for kind in Form<Incident>.incidents.map(\.key.name) where kind != "cut" {
      let sorted = (byKind[kind] ?? []).sorted {
        ($0.value.start, $0.index) < ($1.value.start, $1.index)
      }
      var latest: (index: Int, value: Incident)?
      for entry in sorted {
        if let latest, entry.value.start < latest.value.end {
          report(
            "overlaps incident \(latest.index)\(elements[latest.index].position.clause), "
              + "another \(kind)", at: elements[entry.index].position, join(path, "\(entry.index)"))
        }
        if latest.map({ entry.value.end > $0.value.end }) ?? true { latest = entry }
      }
    }
  }
}
