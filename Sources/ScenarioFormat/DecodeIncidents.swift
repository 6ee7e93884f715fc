import ScenarioModel
import SimulationKernel
import TAPIModel

/// `tapi.incidents`: what happens to the server on the timeline.
extension ScenarioDecoder {
  mutating func incidents(_ node: PositionedValue, _ path: String, duration: Span?) -> [Incident] {
    guard case .array(let elements) = node.content else {
      report("expected a list, found \(describe(node))", at: node.position, path)
      return []
    }
    guard elements.count <= 10_000 else {
      report("\(elements.count) incidents; at most 10000 are allowed", at: node.position, path)
      return []
    }
    var found: [(incident: Incident, index: Int)] = []
    for (index, element) in elements.enumerated() {
      if let incident = incident(element, join(path, "\(index)"), duration: duration) {
        found.append((incident, index))
      }
    }
    reportOverlaps(found, elements, path)
    return found.map(\.incident)
  }

  private mutating func incident(_ node: PositionedValue, _ path: String, duration: Span?) -> Incident? {
    let common = ScenarioSchema.commonIncidentKeys
    let name = node["kind"].flatMap {
      word($0, join(path, "kind"), IncidentName.allCases.map { ($0.rawValue, $0) })
    }
    let own: [ScenarioSchema.Key] =
      switch name {
      case .outage: ScenarioSchema.outageKeys
      case .brownout: ScenarioSchema.brownoutKeys
      case .cdnOutage, .tokenExpiry: []
      case .errors: ScenarioSchema.errorsKeys
      case .lostAnswers: ScenarioSchema.lostAnswersKeys
      case .latency: ScenarioSchema.latencyKeys
      case nil:
        ScenarioSchema.incidentKeys.filter { key in !common.contains { $0.name == key.name } }.map(\.optional)
      }
    guard object(node, path, common + own) != nil else { return nil }
    let start = node["at"].flatMap { span($0, join(path, "at"), in: .zero...Units.longestSpan) }
    let length = node["for"].flatMap {
      span($0, join(path, "for"), in: Span(microseconds: 1)...Units.longestSpan)
    }
    var kind: Incident.Kind?
    switch name {
    case .outage: kind = outage(node, path)
    case .brownout: kind = brownout(node, path)
    case .cdnOutage: kind = .cdnOutage
    case .errors: kind = errors(node, path)
    case .lostAnswers:
      kind = node["share"].flatMap { drawnShare($0, join(path, "share")) }.map { .lostAnswers(share: $0) }
    case .latency: kind = slowAnswers(node, path)
    case .tokenExpiry: kind = .tokenExpiry
    case nil: break
    }
    var warmUp: Span? = .zero
    if name == .outage, let node = node["warmUp"] {
      warmUp = span(node, join(path, "warmUp"), in: .zero...Units.longestSpan)
    }
    guard let start, let length, let kind, let warmUp else { return nil }
    var incident = Incident(kind: kind, start: .start + start, duration: length)
    incident.warmUp = warmUp
    if let duration {
      if start >= duration {
        warn(
          "starts at \(Units.text(start)), when the run of \(Units.text(duration)) is over: it never happens",
          at: node.position, path)
      } else if start + length >= duration {
        let place = start + length == duration ? "with" : "after"
        warn(
          "ends at \(Units.text(start + length)), \(place) the run of \(Units.text(duration)): no recovery can be seen",
          at: node.position, path)
      }
    }
    return incident
  }

  private mutating func outage(_ node: PositionedValue, _ path: String) -> Incident.Kind? {
    var status: Int?? = .some(503)
    if let node = node["status"] {
      let place = join(path, "status")
      if case .string("none") = node.content {
        status = .some(nil)
      } else {
        status = count(node, place, in: 100...999, orWord: "none").map { .some($0) }
        if let code = status ?? nil, (200...299).contains(code) {
          report(
            "\(code) accepts the upload, which is no outage; allowed: any other status", at: node.position,
            place)
        }
      }
    }
    var policy: RetryAfterPolicy? = RetryAfterPolicy.none
    if let node = node["retryAfter"] { policy = retryAfter(node, join(path, "retryAfter")) }
    var keepsWork: Bool? = false
    if let node = node["keepsWork"] { keepsWork = bool(node, join(path, "keepsWork")) }
    guard let status, let policy, let keepsWork else { return nil }
    if status == nil, policy != RetryAfterPolicy.none, let node = node["retryAfter"] {
      report(
        "no answer (status: \"none\") cannot carry a Retry-After", at: node.position, join(path, "retryAfter")
      )
      return nil
    }
    return .outage(status: status, retryAfter: policy, keepsWork: keepsWork)
  }

  private mutating func brownout(_ node: PositionedValue, _ path: String) -> Incident.Kind? {
    guard let node = node["factor"] else { return nil }
    let path = join(path, "factor")
    guard
      let parts = share(
        node, path, in: 1_000...1_000_000, allowed: "0.1% to 100%",
        more: ". For no capacity at all use kind: \"outage\"")
    else { return nil }
    return .brownout(factorPartsPerMillion: parts)
  }

  private mutating func reportOverlaps(
    _ found: [(incident: Incident, index: Int)], _ elements: [PositionedValue], _ path: String
  ) {
    for name in IncidentName.allCases {
      let sorted = found.filter { $0.incident.kind.name == name }
        .sorted { ($0.incident.start, $0.index) < ($1.incident.start, $1.index) }
      var latest: (incident: Incident, index: Int)?
      for entry in sorted {
        if let latest, entry.incident.start < latest.incident.end {
          report(
            "overlaps incident \(latest.index) on line \(elements[latest.index].position.line), "
              + "another \(name.rawValue)",
            at: elements[entry.index].position, join(path, "\(entry.index)"))
        }
        if latest.map({ entry.incident.end > $0.incident.end }) ?? true { latest = entry }
      }
    }
  }

  // MARK: Single requests

  private mutating func errors(_ node: PositionedValue, _ path: String) -> Incident.Kind? {
    let share = node["share"].flatMap { drawnShare($0, join(path, "share")) }
    var status: Int? = 500
    if let node = node["status"] { status = count(node, join(path, "status"), in: 300...599) }
    var afterWork: Bool? = false
    if let node = node["afterWork"] { afterWork = bool(node, join(path, "afterWork")) }
    var policy: RetryAfterPolicy? = RetryAfterPolicy.none
    if let node = node["retryAfter"] { policy = retryAfter(node, join(path, "retryAfter")) }
    guard let share, let status, let afterWork, let policy else { return nil }
    return .errors(status: status, share: share, afterWork: afterWork, retryAfter: policy)
  }

  private mutating func drawnShare(_ node: PositionedValue, _ path: String) -> Int64? {
    share(node, path, in: 1...1_000_000, allowed: "0.0001% to 100%")
  }

  private mutating func slowAnswers(_ node: PositionedValue, _ path: String) -> Incident.Kind? {
    guard node["added"] != nil || node["factor"] != nil else {
      report(
        "slows nothing; write added: \"2s\", factor: 3, or both", at: node.position, path)
      return nil
    }
    var added: Distribution? = .constant(.zero)
    if let node = node["added"] {
      added = Kind<Distribution>.serviceTime.read(&self, node, join(path, "added"))
    }
    var factor: Int64? = 1_000_000
    if let node = node["factor"] {
      factor = number(
        node, join(path, "factor"), in: 1_000_000...1_000_000_000, allowed: "numbers from 1 to 1000")
    }
    guard let added, let factor else { return nil }
    return .latency(added: added, factor: factor)
  }
}

/// `kind` as a scenario writes it.
enum IncidentName: String, CaseIterable {
  case outage, brownout, cdnOutage, errors, lostAnswers, latency, tokenExpiry
}

extension Incident.Kind {
  var name: IncidentName {
    switch self {
    case .outage: .outage
    case .brownout: .brownout
    case .cdnOutage: .cdnOutage
    case .errors: .errors
    case .lostAnswers: .lostAnswers
    case .latency: .latency
    case .tokenExpiry: .tokenExpiry
    }
  }
}
