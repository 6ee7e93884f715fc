import ScenarioModel
import SimulationKernel
import UploadPipeline
import UploadRetry

/// `fleet`: the cohorts.
extension ScenarioDecoder {
  static let maximumDevices = 4_000_000_000
  static let maximumEventsPerDevice: Int64 = 1_000_000_000

  /// What a cohort takes from the scenario when it does not say so itself.
  struct CohortDefaults {
    var network = Network()
    /// What the scenario's own `policy` says; it goes before the preset of a cohort's client.
    var policy: PolicyChanges
    /// A stand-in after a problem.
    static let builtIn = CohortDefaults(policy: [])
  }

  /// `settings` gives the Settings of the cohort at an index.
  mutating func fleet(
    _ node: PositionedValue, duration: Span?, defaults: CohortDefaults, settings: [CohortSettings]
  ) -> [Cohort] {
    let path = "fleet"
    guard case .array(let elements) = node.content else {
      report("expected a list of cohorts, found \(describe(node))", at: node.position, path)
      return []
    }
    guard !elements.isEmpty else {
      report("a fleet needs at least one cohort", at: node.position, path)
      return []
    }
    guard elements.count <= 10_000 else {
      report("\(elements.count) cohorts; at most 10000 are allowed", at: node.position, path)
      return []
    }
    var cohorts: [Cohort] = []
    var lines: [String: Int32] = [:]
    var total = 0
    for (index, element) in elements.enumerated() {
      let place = ScenarioPaths.cohort(index, of: elements)
      if let name = ScenarioPaths.name(of: element) {
        if let line = lines[name] {
          let position = element["name"]?.position ?? element.position
          report(
            "a second cohort named \(quoted(name)); the first is on line \(line)", at: position,
            place + ".name")
        }
        lines[name] = lines[name] ?? element.position.line
      }
      let own = index < settings.count ? settings[index] : CohortSettings()
      if let cohort = cohort(element, place, duration: duration, defaults: defaults, settings: own) {
        cohorts.append(cohort)
        total += cohort.devices
      }
    }
    if total > Self.maximumDevices {
      report(
        "\(total) devices in all cohorts together; at most \(Self.maximumDevices)", at: node.position, path)
    }
    return cohorts
  }

  private mutating func cohort(
    _ node: PositionedValue, _ path: String, duration: Span?, defaults: CohortDefaults,
    settings: CohortSettings
  ) -> Cohort? {
    guard object(node, path, ScenarioSchema.cohort.keys) != nil else { return nil }
    let name = node["name"].flatMap { cohortName($0, join(path, "name")) }
    let devices = node["devices"].flatMap { count($0, join(path, "devices"), in: 1...Self.maximumDevices) }
    let events = node["events"].flatMap {
      self.events($0, join(path, "events"), duration: duration, devices: devices)
    }
    var cohort = Cohort(
      name: name ?? "", devices: devices ?? 1, events: events?.process ?? .poisson(meanGap: .seconds(1)),
      latency: defaults.network.latency, settings: settings.base.config)
    cohort.eventsAtOnce = events?.atOnce ?? 1
    cohort.link = defaults.network.link
    cohort.take(client(node, path), changedBy: defaults.policy)
    cohort.settingsDialect = settingsDialect(node, path)
    cohort.settingsSource = settings.base.source
    if let node = node["flush"] { cohort.flush = flush(node, join(path, "flush")) }
    if let node = node["queue"] { cohort.queue = queue(node, join(path, "queue"), default: cohort.queue) }
    if let node = node["retries"] {
      cohort.retries =
        word(node, join(path, "retries"), [("gate", .gate), ("timer", .timer)]) ?? cohort.retries
    }
    if let node = node["uploadConcurrency"],
      let limit = Kind.count(1...1_000_000, or: "unlimited").read(
        &self, node, join(path, "uploadConcurrency"))
    {
      cohort.uploadConcurrency = limit ?? .max
    }
    if let node = node["flushWhileUploading"] {
      cohort.flushWhileUploading =
        word(
          node, join(path, "flushWhileUploading"), FlushWhileUploading.allCases.map { ($0.rawValue, $0) })
        ?? cohort.flushWhileUploading
    }
    if let node = node["uploadLoop"] { uploadLoop(node, join(path, "uploadLoop"), &cohort) }
    checkFlushEnd(node, path, &cohort)
    if let node = node["timeout"] {
      cohort.timeouts = Kind<Timeouts>.timeouts.read(&self, node, join(path, "timeout")) ?? cohort.timeouts
    }
    if let node = node["network"] {
      _ = Network.keys.read(&self, node, join(path, "network"), into: &cohort.network)
    }
    if let node = node["policy"] {
      for (change, value) in policy(node, join(path, "policy")) { _ = change.set(value, in: &cohort.policy) }
    }
    if let node = node["classDelays"], !node.isNull {
      cohort.policy.classDelays = classDelays(node, join(path, "classDelays"), cohort.settings.backoff)
    }
    if let node = node["spikes"] {
      cohort.spikes = spikes(node, join(path, "spikes"), duration: duration, atOnce: cohort.eventsAtOnce)
    }
    if let node = node["gates"] {
      cohort.gates = gates(node, join(path, "gates"), default: cohort.gates)
    }
    if let node = node["credentialRefresh"] {
      let place = join(path, "credentialRefresh")
      cohort.credentialRefresh =
        span(node, place, in: .milliseconds(1)...Units.longestSpan) ?? cohort.credentialRefresh
    }
    if let node = node["lifecycle"], !node.isNull {
      cohort.lifecycle = lifecycle(node, join(path, "lifecycle"), duration: duration)
    }
    if let node = node["rollout"], !node.isNull {
      cohort.rollout = rollout(node, join(path, "rollout"), settings.rollout, duration: duration)
    }
    if let node = node["eventSize"] {
      cohort.eventBytes = bytes(node, join(path, "eventSize"), in: 1...100_000_000) ?? cohort.eventBytes
    }
    if let node = node["requestSize"] {
      cohort.requestBytes = bytes(node, join(path, "requestSize"), in: 0...100_000_000) ?? cohort.requestBytes
    }
    if let node = node["writeKey"] { cohort.writeKey = string(node, join(path, "writeKey")) }
    if cohort.writeKey == cohort.name { cohort.writeKey = nil }
    if let node = node["connectivity"], !node.isNull {
      cohort.connectivity = Kind<Connectivity>.connectivity.read(&self, node, join(path, "connectivity"))
    }
    if let node = node["sessions"], !node.isNull {
      cohort.sessions = Kind.object(Sessions.keys).read(&self, node, join(path, "sessions"))
    }
    reportStrictEventsInSessions(cohort, node, path)
    reportLossWithoutTimeOut(cohort, node, path)
    reportSplitInRebatch(cohort, node, path)
    warnIfNothingArrivesInTime(cohort, node, path)
    guard name != nil, devices != nil, events != nil else { return nil }
    return cohort
  }

  private mutating func cohortName(_ node: PositionedValue, _ path: String) -> String? {
    guard let name = string(node, path) else { return nil }
    guard PathText.isName(name) else {
      report(
        "\(quoted(name)) cannot be a name; "
          + "allowed: a letter, then letters, digits, \"-\" and \"_\", at most 64",
        at: node.position, path)
      return nil
    }
    return name
  }

  private mutating func warnIfNothingArrivesInTime(_ cohort: Cohort, _ node: PositionedValue, _ path: String)
  {
    let there = cohort.latency.leastSpan
    guard cohort.timeout <= there + there, let node = node["timeout"] ?? node["network"] else { return }
    warn(
      "every upload times out: the time-out is \(Units.text(cohort.timeout)), "
        + "the way to the server and back takes "
        + "at least \(Units.text(there + there))",
      at: node.position, join(path, "timeout"))
  }

  // MARK: Parts of a cohort

  private mutating func flush(_ node: PositionedValue, _ path: String) -> FlushPolicy {
    var flush = FlushPolicy()
    guard object(node, path, ScenarioSchema.cohort.key("flush").shape.keys) != nil else { return flush }
    if let node = node["count"] {
      flush.count = node.isNull ? nil : count(node, join(path, "count"), in: 1...1_000_000) ?? flush.count
    }
    if let node = node["interval"] {
      let range = Span.milliseconds(1)...Units.longestSpan
      flush.interval = node.isNull ? nil : span(node, join(path, "interval"), in: range) ?? flush.interval
    }
    if let node = node["phase"] {
      let phases = [("random", false), ("synchronised", true)]
      flush.isSynchronised = word(node, join(path, "phase"), phases) ?? flush.isSynchronised
    }
    if flush.count == nil, flush.interval == nil {
      report(
        "neither a count nor an interval: such a device never flushes; keep one", at: node.position, path)
    }
    return flush
  }

  private mutating func queue(
    _ node: PositionedValue, _ path: String, default: QueuePolicy
  ) -> QueuePolicy {
    var queue = `default`
    guard object(node, path, ScenarioSchema.cohort.key("queue").shape.keys) != nil else { return queue }
    if let node = node["mode"] {
      queue.mode = word(node, join(path, "mode"), [("files", .files), ("rebatch", .rebatch)]) ?? queue.mode
    }
    if let node = node["limit"] {
      queue.limit =
        node.isNull ? .max : count(node, join(path, "limit"), in: 1...1_000_000) ?? queue.limit
    }
    if let node = node["maximumBatchEvents"] {
      queue.maximumBatchEvents =
        count(node, join(path, "maximumBatchEvents"), in: 1...65_535) ?? queue.maximumBatchEvents
    }
    if let node = node["maximumBatchSize"] {
      let place = join(path, "maximumBatchSize")
      queue.maximumBatchBytes = node.isNull ? nil : bytes(node, place, in: 1...1_000_000_000)
    }
    if let node = node["splitOn413"] {
      queue.splitsOn413 = bool(node, join(path, "splitOn413")) ?? queue.splitsOn413
    }
    return queue
  }

}

extension ScenarioSchema.Shape {
  /// A key that the table is known to have.
  func key(_ name: String) -> ScenarioSchema.Key {
    keys.first { $0.name == name } ?? .init(name)
  }
}

extension PositionedValue {
  var isNull: Bool { if case .null = content { true } else { false } }
}

extension Distribution {
  /// Nothing shorter comes out.
  package var leastSpan: Span {
    switch self {
    case .constant(let span), .uniform(let span, _), .logNormal(_, _, minimum: let span): span
    case .exponential: .zero
    }
  }
}
