import SimulationKernel
import TAPIModel

/// `tapi`: the server, what it says when it has too much to do, and its incidents.
extension ScenarioDecoder {
  static let longestRetryAfter = Span.hours(24 * 7)

  mutating func tapi(_ node: PositionedValue, duration: Span?) -> TAPIConfiguration? {
    let path = "tapi"
    guard object(node, path, ScenarioSchema.tapi.keys) != nil else { return nil }
    var server: TAPIConfiguration.Server?
    let member = onlyMember(node, path, of: ["bucket", "workers"])
    if let member {
      let place = join(path, member.key)
      server =
        member.key == "bucket"
        ? bucket(member.value, place).map(TAPIConfiguration.Server.bucket)
        : workers(member.value, place).map(TAPIConfiguration.Server.workers)
    } else if node["bucket"] == nil, node["workers"] == nil {
      report(
        "no server; write bucket: { capacity: \"4000/s\" } or workers: { count: 200, serviceTime: \"50ms\" }",
        at: node.position, path)
    }
    var overload: Overload? = Overload()
    if let node = node["overload"] { overload = self.overload(node, join(path, "overload"), server: server) }
    var incidents: [Incident] = []
    if let node = node["incidents"] {
      incidents = self.incidents(node, join(path, "incidents"), duration: duration)
    }
    guard let server, let overload else { return nil }
    return TAPIConfiguration(server: server, overload: overload, incidents: incidents)
  }

  private mutating func bucket(_ node: PositionedValue, _ path: String) -> TokenBucketConfiguration? {
    guard object(node, path, ScenarioSchema.bucket.keys) != nil else { return nil }
    let capacity = node["capacity"].flatMap { self.capacity($0, join(path, "capacity")) }
    // A tenth of a second's worth.
    var burst: Int? = max(Int((capacity ?? 0) / 10_000), 1)
    if let node = node["burst"] { burst = count(node, join(path, "burst"), in: 1...1_000_000_000) }
    var time: Distribution? = .constant(.zero)
    if let node = node["serviceTime"] { time = serviceTime(node, join(path, "serviceTime")) }
    guard let capacity, let burst, let time else { return nil }
    return TokenBucketConfiguration(
      capacityMilliRequestsPerSecond: capacity, burst: Int64(burst), serviceTime: time)
  }

  private mutating func capacity(_ node: PositionedValue, _ path: String) -> Int64? {
    guard
      let text = unitText(node, path, "a rate", example: "4000/s", unit: "/s"),
      let milli = unit(node, path, { () throws(Units.Problem) in try Units.milliPerSecond(text) })
    else { return nil }
    guard (1...1_000_000_000_000).contains(milli) else {
      report("\(quoted(text)) is out of range; allowed: 0.001/s to 1000000000/s", at: node.position, path)
      return nil
    }
    return milli
  }

  private mutating func workers(_ node: PositionedValue, _ path: String) -> WorkersConfiguration? {
    guard object(node, path, ScenarioSchema.workers.keys) != nil else { return nil }
    let workers = node["count"].flatMap { count($0, join(path, "count"), in: 1...1_000_000) }
    let time = node["serviceTime"].flatMap { serviceTime($0, join(path, "serviceTime")) }
    var perEvent: Span? = .zero
    if let node = node["serviceTimePerEvent"] {
      perEvent = span(node, join(path, "serviceTimePerEvent"), in: .zero...Span.hours(1))
    }
    var queueLimit: Int?? = .some(nil)
    if let node = node["queueLimit"] {
      queueLimit = unlimited(node, join(path, "queueLimit"), in: 0...1_000_000_000)
    }
    guard let workers, let time, let perEvent, let queueLimit else { return nil }
    if perEvent == .zero, time.isAlwaysZero {
      report(
        "a service that takes no time needs no workers; give a serviceTime above 0s, or use a bucket",
        at: (node["serviceTime"] ?? node).position, join(path, "serviceTime"))
      return nil
    }
    return WorkersConfiguration(
      count: workers, serviceTime: time, serviceTimePerEvent: perEvent, queueLimit: queueLimit)
  }

  /// A whole number, or `"unlimited"`, which is `.some(nil)`; nil when neither.
  mutating func unlimited(_ node: PositionedValue, _ path: String, in range: ClosedRange<Int>) -> Int?? {
    if case .string("unlimited") = node.content { return .some(nil) }
    return count(node, path, in: range, orWord: "unlimited").map { .some($0) }
  }

  // MARK: Overload

  private mutating func overload(
    _ node: PositionedValue, _ path: String, server: TAPIConfiguration.Server?
  ) -> Overload? {
    if case .string(let text) = node.content {
      guard text == "queue" else {
        report(
          "\(quoted(text)) is not known; write \"queue\" or { status: 429, retryAfter: \"5s\" }",
          at: node.position,
          path)
        return nil
      }
      switch server {
      case .bucket:
        report(
          "a bucket admits or refuses at once and has no queue; use workers, or write { status: 429 }",
          at: node.position, path)
        return nil
      case .workers(let workers) where workers.queueLimit != nil:
        report(
          "\"queue\" means that all requests wait, but queueLimit is \(workers.queueLimit ?? 0); "
            + "leave queueLimit out, or say what a request beyond it is answered: { status: 503 }",
          at: node.position, path)
        return nil
      case .workers, nil: return Overload()
      }
    }
    guard object(node, path, ScenarioSchema.overload.keys, shortForm: "\"queue\"") != nil else { return nil }
    if case .workers(let workers) = server, workers.queueLimit == nil {
      warn(
        "never answered: the queue is unlimited. Give workers.queueLimit, or write overload: \"queue\"",
        at: node.position, path)
    }
    var status: Int? = Overload().status
    if let node = node["status"] { status = count(node, join(path, "status"), in: 400...599) }
    var policy: RetryAfterPolicy? = RetryAfterPolicy.none
    if let node = node["retryAfter"] { policy = retryAfter(node, join(path, "retryAfter")) }
    guard let status, let policy else { return nil }
    return Overload(status: status, retryAfter: policy)
  }

  private mutating func retryAfter(_ node: PositionedValue, _ path: String) -> RetryAfterPolicy? {
    if case .string("none") = node.content { return RetryAfterPolicy.none }
    guard node.members != nil else { return wholeSeconds(node, path).map(RetryAfterPolicy.fixed) }
    guard object(node, path, ScenarioSchema.retryAfter.keys) != nil else { return nil }
    let from = node["from"].flatMap { wholeSeconds($0, join(path, "from")) }
    let to = node["to"].flatMap { wholeSeconds($0, join(path, "to")) }
    guard let from, let to else { return nil }
    guard from <= to else {
      report("from \(Units.text(from)) is above to, \(Units.text(to))", at: node.position, path)
      return nil
    }
    return .spread(from: from, to: to)
  }

  private mutating func wholeSeconds(_ node: PositionedValue, _ path: String) -> Span? {
    guard let span = span(node, path, in: .zero...Self.longestRetryAfter) else { return nil }
    guard span.microseconds % 1_000_000 == 0 else {
      report("Retry-After is sent in whole seconds, and \(shown(node)) is none", at: node.position, path)
      return nil
    }
    return span
  }

  // MARK: Incidents

  private mutating func incidents(_ node: PositionedValue, _ path: String, duration: Span?) -> [Incident] {
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
      case .cdnOutage: []
      case nil: ScenarioSchema.outageKeys + ScenarioSchema.brownoutKeys.map(\.optional)
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
    case nil: break
    }
    guard let start, let length, let kind else { return nil }
    let incident = Incident(kind: kind, start: .start + start, duration: length)
    if let duration {
      if start >= duration {
        warn(
          "starts at \(Units.text(start)), when the run of \(Units.text(duration)) is over: it never happens",
          at: node.position, path)
      } else if start + length > duration {
        warn(
          "ends at \(Units.text(start + length)), after the run of \(Units.text(duration))",
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
}

/// `kind` as a scenario writes it.
enum IncidentName: String, CaseIterable {
  case outage, brownout, cdnOutage
}

extension Incident.Kind {
  var name: IncidentName {
    switch self {
    case .outage: .outage
    case .brownout: .brownout
    case .cdnOutage: .cdnOutage
    }
  }
}

extension Distribution {
  /// Whether nothing but zero can come out.
  fileprivate var isAlwaysZero: Bool {
    switch self {
    case .constant(let span), .exponential(mean: let span): span == .zero
    case .uniform(_, let high): high == .zero
    case .logNormal: false
    }
  }
}
