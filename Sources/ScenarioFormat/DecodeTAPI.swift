import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

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
    var header: RetryAfterHeader? = .retryAfter
    if let node = node["retryAfterHeader"] {
      header = word(node, join(path, "retryAfterHeader"), RetryAfterHeader.allCases.map { ($0.rawValue, $0) })
    }
    var form: RetryAfterForm? = .seconds
    if let node = node["retryAfterForm"] {
      form = word(node, join(path, "retryAfterForm"), RetryAfterForm.allCases.map { ($0.rawValue, $0) })
    }
    var incidents: [Incident] = []
    if let node = node["incidents"] {
      incidents = self.incidents(node, join(path, "incidents"), duration: duration)
    }
    let rules = self.rules(node, path)
    guard let server, let overload, let header, let form else { return nil }
    var tapi = TAPIConfiguration(server: server, overload: overload, incidents: incidents, rules: rules)
    tapi.retryAfterHeader = header
    tapi.retryAfterForm = form
    return tapi
  }

  private mutating func bucket(_ node: PositionedValue, _ path: String) -> TokenBucketConfiguration? {
    guard object(node, path, ScenarioSchema.bucket.keys) != nil else { return nil }
    let capacity = node["capacity"].flatMap { self.capacity($0, join(path, "capacity")) }
    // A tenth of a second's worth.
    var burst: Int? = max(Int((capacity ?? 0) / 10_000), 1)
    if let node = node["burst"] { burst = count(node, join(path, "burst"), in: 1...1_000_000_000) }
    var time: Distribution? = .constant(.zero)
    if let node = node["serviceTime"] {
      time = Kind<Distribution>.serviceTime.read(&self, node, join(path, "serviceTime"))
    }
    var cost: Int64? = 0
    if let node = node["costPerEvent"] {
      cost = number(
        node, join(path, "costPerEvent"), in: 0...1_000_000_000, allowed: "numbers from 0 to 1000")
    }
    guard let capacity, let burst, let time, let cost else { return nil }
    return TokenBucketConfiguration(
      capacityMilliRequestsPerSecond: capacity, burst: Int64(burst), serviceTime: time, costPerEvent: cost)
  }

  mutating func capacity(_ node: PositionedValue, _ path: String) -> Int64? {
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
    let time = node["serviceTime"].flatMap {
      Kind<Distribution>.serviceTime.read(&self, $0, join(path, "serviceTime"))
    }
    var perEvent: Span? = .zero
    if let node = node["serviceTimePerEvent"] {
      perEvent = span(node, join(path, "serviceTimePerEvent"), in: .zero...Span.hours(1))
    }
    var queueLimit: Int?? = .some(nil)
    if let node = node["queueLimit"] {
      queueLimit = unlimited(node, join(path, "queueLimit"), in: 0...1_000_000_000)
    }
    var queueTimeout: Span?
    if let node = node["queueTimeout"], !node.isNull {
      queueTimeout = span(node, join(path, "queueTimeout"), in: .milliseconds(1)...Units.longestSpan)
    }
    var congestion: Congestion?
    if let node = node["congestion"], !node.isNull {
      congestion = self.congestion(node, join(path, "congestion"), queueLimit: queueLimit ?? nil)
    }
    guard let workers, let time, let perEvent, let queueLimit else { return nil }
    if perEvent == .zero, time.isAlwaysZero {
      report(
        "a service that takes no time needs no workers; give a serviceTime above 0s, or use a bucket",
        at: (node["serviceTime"] ?? node).position, join(path, "serviceTime"))
      return nil
    }
    return WorkersConfiguration(
      count: workers, serviceTime: time, serviceTimePerEvent: perEvent, queueLimit: queueLimit,
      queueTimeout: queueTimeout, congestion: congestion)
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
    if case .workers(let workers) = server, workers.queueLimit == nil, workers.queueTimeout == nil {
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

  mutating func retryAfter(_ node: PositionedValue, _ path: String) -> RetryAfterPolicy? {
    if case .string("none") = node.content { return RetryAfterPolicy.none }
    guard node.members != nil else { return wholeSeconds(node, path).map(RetryAfterPolicy.fixed) }
    if let backlog = node["backlog"], backlog.members != nil {
      guard object(node, path, ScenarioSchema.retryAfter.keys.map(\.optional)) != nil else { return nil }
      return self.backlog(node, join(path, "backlog"))
    }
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

  mutating func wholeSeconds(_ node: PositionedValue, _ path: String) -> Span? {
    guard let span = span(node, path, in: .zero...Self.longestRetryAfter) else { return nil }
    guard span.microseconds % 1_000_000 == 0 else {
      report("Retry-After is sent in whole seconds, and \(shown(node)) is none", at: node.position, path)
      return nil
    }
    return span
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
