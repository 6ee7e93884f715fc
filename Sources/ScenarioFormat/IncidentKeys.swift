import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// What an incident's keys can say, whatever its kind.
struct IncidentValues: Sendable, Equatable {
  var kind = ""
  var start = Instant.start
  var duration = Span.zero
  var status: Int? = 503
  var errorStatus = 500
  var retryAfter = RetryAfterPolicy.none
  var keepsWork = false
  var warmUp = Span.zero
  var share: Int64 = 0
  var afterWork = false
  var added = Distribution.constant(.zero)
  var factor: Int64 = 1_000_000
}

/// A kind of incident.
struct IncidentKind: TimelineKind {
  let name: String
  let meaning: String
  let record: Record<IncidentValues>
  let make: @Sendable (IncidentValues) -> Incident.Kind
  /// Fills in what an incident of this kind says; false for any other.
  let values: @Sendable (Incident.Kind, inout IncidentValues) -> Bool

  init(
    _ name: String, _ meaning: String, _ fields: [Field<IncidentValues>] = [],
    make: @escaping @Sendable (IncidentValues) -> Incident.Kind,
    values: @escaping @Sendable (Incident.Kind, inout IncidentValues) -> Bool
  ) {
    self.name = name
    self.meaning = meaning
    record = Record(IncidentValues(kind: name), Self.common(name) + fields)
    self.make = make
    self.values = values
  }

  private static let retryAfter = Field(
    "retryAfter", \IncidentValues.retryAfter, .retryAfter, "How long to wait, by the server.")
  private static func share(_ meaning: String) -> Field<IncidentValues> {
    Field("share", \.share, .share(1...1_000_000), meaning, example: "\"10%\"")
  }

  static let all = [
    IncidentKind(
      "outage", "The server admits nothing: every request gets this answer at once, or none.",
      [
        Field(
          "status", \.status, .outageStatus, "HTTP status of every answer, no 2xx; none: no answer at all."),
        retryAfter,
        Field(
          "keepsWork", \.keepsWork, .bool, "Whether queued and running work goes on afterwards or is lost."),
        Field(
          "warmUp", \.warmUp, .span(from: .zero),
          "Afterwards capacity rises linearly from nothing to its full value in this time.",
          writing: .unlessStandard),
        .check { decoder, node, path, values in
          guard values.status == nil, values.retryAfter != .none, let node = node["retryAfter"] else {
            return true
          }
          decoder.report(
            "no answer (status: \"none\") cannot carry a Retry-After", at: node.position,
            decoder.join(path, "retryAfter"))
          return false
        },
      ], make: { .outage(status: $0.status, retryAfter: $0.retryAfter, keepsWork: $0.keepsWork) },
      values: { kind, values in
        guard case .outage(let status, let retryAfter, let keepsWork) = kind else { return false }
        (values.status, values.retryAfter, values.keepsWork) = (status, retryAfter, keepsWork)
        return true
      }),
    IncidentKind(
      "brownout", "The server is slower.",
      [
        Field(
          "factor", \.factor,
          .share(1_000...1_000_000, more: ". For no capacity at all use kind: \"outage\""),
          "The capacity that is left: 0.5 or \"50%\".", example: "\"50%\"")
      ], make: { .brownout(factorPartsPerMillion: $0.factor) },
      values: { kind, values in
        guard case .brownout(let parts) = kind else { return false }
        values.factor = parts
        return true
      }),
    IncidentKind(
      "cdnOutage",
      "The CDN of the Settings is down: apps launched meanwhile run on built-in defaults; the server is not concerned.",
      make: { _ in .cdnOutage }, values: { kind, _ in kind == .cdnOutage }),
    IncidentKind(
      "errors", "A share of requests, drawn for each attempt, is answered with an error.",
      [
        share("Of the requests."), Field("status", \.errorStatus, .count(300...599), "HTTP status."),
        Field(
          "afterWork", \.afterWork, .bool,
          "In place of the 200 when the work is done; else at once, at no cost."),
        retryAfter,
      ],
      make: {
        .errors(
          status: $0.errorStatus, share: $0.share, afterWork: $0.afterWork, retryAfter: $0.retryAfter)
      },
      values: { kind, values in
        guard case .errors(let status, let share, let afterWork, let retryAfter) = kind else { return false }
        (values.errorStatus, values.share) = (status, share)
        (values.afterWork, values.retryAfter) = (afterWork, retryAfter)
        return true
      }),
    IncidentKind(
      "lostAnswers", "A share of the batches that the server accepts is never confirmed.",
      [share("Of the accepted requests.")], make: { .lostAnswers(share: $0.share) },
      values: { kind, values in
        guard case .lostAnswers(let share) = kind else { return false }
        values.share = share
        return true
      }),
    IncidentKind(
      "latency", "Answers that leave now travel longer.",
      [
        .check { decoder, node, path, _ in
          if node["added"] != nil || node["factor"] != nil { return true }
          decoder.report(
            "slows nothing; write added: \"2s\", factor: 3, or both", at: node.position, path)
          return false
        },
        Field("added", \.added, .serviceTime, "Added to the way back."),
        Field(
          "factor", \.factor, .number(1_000_000...1_000_000_000, allowed: "numbers from 1 to 1000"),
          "The way back takes so many times as long."),
      ], make: { .latency(added: $0.added, factor: $0.factor) },
      values: { kind, values in
        guard case .latency(let added, let factor) = kind else { return false }
        (values.added, values.factor) = (added, factor)
        return true
      }),
    IncidentKind(
      "tokenExpiry",
      "The first request of each device is answered 401; its later ones carry a fresh token.",
      make: { _ in .tokenExpiry }, values: { kind, _ in kind == .tokenExpiry }),
  ]

  /// The kind, and in `values` what the incident says.
  static func of(_ incident: Incident.Kind, _ values: inout IncidentValues) -> IncidentKind? {
    all.first { $0.values(incident, &values) }
  }

  // MARK: What all kinds have

  private static func common(_ name: String) -> [Field<IncidentValues>] {
    let time = Kind<Span>.span(from: .zero).mapped({ .start + $0 }, { (time: Instant) in time - .start })
    return [
      nameField(name, \.kind, example: "outage"),
      Field("at", \.start, time, "When it starts.", example: "\"20m\""),
      Field(
        "for", \.duration, .span(from: Span(microseconds: 1)), "How long it lasts.", example: "\"10m\""),
    ]
  }
}

extension AdversaryKind {
  /// What `adversary` may choose.
  package static let all = [
    AdversaryKind("outage", "every request is answered 503", hasRetryAfter: true) {
      .outage(status: 503, retryAfter: $0.retryAfter, keepsWork: false)
    },
    AdversaryKind("silence", "no request is answered") { _ in
      .outage(status: nil, retryAfter: .none, keepsWork: false)
    },
    AdversaryKind("brownout", "a share of the capacity is gone", hasDepth: true) {
      .brownout(factorPartsPerMillion: max(1_000, 1_000_000 - $0.depth))
    },
    AdversaryKind(
      "errors", "a share of the requests is answered 500", hasDepth: true, hasRetryAfter: true
    ) { .errors(status: 500, share: $0.depth, afterWork: false, retryAfter: $0.retryAfter) },
    AdversaryKind(
      "throttle", "a share of the requests is answered 429", hasDepth: true, hasRetryAfter: true
    ) { .errors(status: 429, share: $0.depth, afterWork: false, retryAfter: $0.retryAfter) },
    AdversaryKind("lostAnswers", "a share of the answers gets lost", hasDepth: true) {
      .lostAnswers(share: $0.depth)
    },
    AdversaryKind("latency", "answers come later by a share of the shortest time-out", hasDepth: true) {
      let added = max(1, $0.timeout.microseconds / 1_000 * $0.depth / 1_000)
      return .latency(added: .constant(Span(microseconds: added)), factor: 1_000_000)
    },
    AdversaryKind("tokenExpiry", "every device's token has expired", isStandard: false) { _ in .tokenExpiry },
    AdversaryKind("cdnOutage", "the CDN of the Settings is down", isStandard: false) { _ in .cdnOutage },
  ]
}

extension Incident.Kind {
  /// As in a scenario: `outage`. Two of one name cannot be at one time.
  package var name: String {
    var unused = IncidentValues()
    return IncidentKind.of(self, &unused)?.name ?? ""
  }
}

extension Kind where Value == Int? {
  fileprivate static let outageStatus: Kind = {
    let any = count(100...999, or: "none")
    return Kind(
      schema: any.schema,
      read: { decoder, node, path in
        let status = any.read(&decoder, node, path)
        if let code = status ?? nil, (200...299).contains(code) {
          decoder.report(
            "\(code) accepts the upload, which is no outage; allowed: any other status", at: node.position,
            path)
        }
        return status
      }, write: any.write)
  }()
}

extension Kind where Value == Incident {
  fileprivate static let incident = Kind(
    shape: .object(IncidentKind.allKeys), schema: .reference("incident"),
    read: { $0.incident($1, $2) },
    write: { incident in
      var values = IncidentValues(
        start: incident.start, duration: incident.duration, warmUp: incident.warmUp)
      guard let kind = IncidentKind.of(incident.kind, &values) else { return .null }
      values.kind = kind.name
      return kind.record.write(values)
    })
}

extension Kind where Value == [Incident] {
  /// One after another where they are of one kind.
  static let incidents: Kind = {
    let list = Kind<Incident>.incident.list(named: "incidents")
    return Kind(
      shape: list.shape, schema: list.schema,
      read: { decoder, node, path in
        guard let elements = node.elements, elements.count <= 10_000 else {
          return list.read(&decoder, node, path)
        }
        var found: [(incident: Incident, index: Int)] = []
        for (index, element) in elements.enumerated() {
          guard let incident = decoder.incident(element, decoder.join(path, "\(index)")) else { continue }
          found.append((incident, index))
        }
        decoder.reportOverlaps(found, elements, path)
        return found.map(\.incident)
      }, write: list.write)
  }()
}

extension ScenarioDecoder {
  fileprivate mutating func incident(_ node: PositionedValue, _ path: String) -> Incident? {
    guard let (kind, values): (IncidentKind, IncidentValues) = timelineKind(node, path) else { return nil }
    var incident = Incident(kind: kind.make(values), start: values.start, duration: values.duration)
    incident.warmUp = values.warmUp
    return incident
  }

  fileprivate mutating func reportOverlaps(
    _ found: [(incident: Incident, index: Int)], _ elements: [PositionedValue], _ path: String
  ) {
    let byKind = Dictionary(grouping: found) { $0.incident.kind.name }
    for kind in IncidentKind.all {
      let sorted = (byKind[kind.name] ?? [])
        .sorted { ($0.incident.start, $0.index) < ($1.incident.start, $1.index) }
      var latest: (incident: Incident, index: Int)?
      for entry in sorted {
        if let latest, entry.incident.start < latest.incident.end {
          report(
            "overlaps incident \(latest.index)\(elements[latest.index].position.clause), "
              + "another \(kind.name)",
            at: elements[entry.index].position, join(path, "\(entry.index)"))
        }
        if latest.map({ entry.incident.end > $0.incident.end }) ?? true { latest = entry }
      }
    }
  }
}
