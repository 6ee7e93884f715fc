import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// `lifecycle` and `rollout`: when apps are launched, and which Settings they find then (S18, S19).
extension ScenarioDecoder {
  /// The shortest mean time between two restarts of an app.
  static let shortestRestartGap = Span.seconds(1)
  static let maximumSynchronisedRestarts = 1_000

  mutating func lifecycle(_ node: PositionedValue, _ path: String, duration: Span?) -> Lifecycle? {
    guard object(node, path, ScenarioSchema.lifecycle.keys) != nil else { return nil }
    var lifecycle = Lifecycle()
    if let node = node["restarts"], !node.isNull {
      lifecycle.meanTimeBetweenRestarts = restarts(node, join(path, "restarts"))
    }
    if let node = node["synchronised"] {
      lifecycle.synchronised = synchronised(node, join(path, "synchronised"), duration: duration)
    }
    if let node = node["state"] {
      let states = [("persisted", true), ("inMemory", false)]
      lifecycle.keepsState = word(node, join(path, "state"), states) ?? lifecycle.keepsState
    }
    if let node = node["flushAtLaunch"] {
      lifecycle.flushesAtLaunch = bool(node, join(path, "flushAtLaunch")) ?? lifecycle.flushesAtLaunch
    }
    return lifecycle
  }

  /// `"2/day"` or `{ meanGap: "12h" }`.
  private mutating func restarts(_ node: PositionedValue, _ path: String) -> Span? {
    let range = Self.shortestRestartGap...Units.longestSpan
    if node.members != nil {
      guard object(node, path, ScenarioSchema.restartKeys) != nil else { return nil }
      return node["meanGap"].flatMap { span($0, join(path, "meanGap"), in: range) }
    }
    guard
      let text = unitText(node, path, "a rate", example: "2/day", unit: "/day"),
      let gap = unit(node, path, { () throws(Units.Problem) in try Units.gap(text) })
    else { return nil }
    guard let gap, range.contains(gap) else {
      report(
        "\(quoted(text)) is out of range; allowed: one restart in 366 days to 1/s", at: node.position, path)
      return nil
    }
    return gap
  }

  private mutating func synchronised(
    _ node: PositionedValue, _ path: String, duration: Span?
  ) -> [Lifecycle.SynchronisedRestart] {
    guard case .array(let elements) = node.content else {
      report("expected a list, found \(describe(node))", at: node.position, path)
      return []
    }
    guard elements.count <= Self.maximumSynchronisedRestarts else {
      report(
        "\(elements.count) synchronised restarts; at most \(Self.maximumSynchronisedRestarts) are allowed",
        at: node.position, path)
      return []
    }
    return elements.enumerated().compactMap { index, node in
      let path = join(path, "\(index)")
      guard object(node, path, ScenarioSchema.synchronisedKeys) != nil else { return nil }
      let time = node["at"].flatMap { self.time($0, join(path, "at")) }
      var spread: Span? = .zero
      if let node = node["spread"] {
        spread = span(node, join(path, "spread"), in: .zero...Units.longestSpan)
      }
      guard let time, let spread else { return nil }
      return .init(time: time, spread: spread)
    }
  }

  /// `settings` is what the rollout's Settings were decoded to.
  mutating func rollout(
    _ node: PositionedValue, _ path: String, _ settings: CohortSettings.Version?, duration: Span?
  ) -> SettingsRollout? {
    guard object(node, path, ScenarioSchema.rollout.keys) != nil else { return nil }
    let time = node["at"].flatMap { self.time($0, join(path, "at")) }
    var share: Int64? = 1_000_000
    if let node = node["share"] {
      share = self.share(node, join(path, "share"), in: 0...1_000_000, allowed: "0% to 100%")
    }
    guard let time, let share, let settings else { return nil }
    var rollout = SettingsRollout(time: time, sharePartsPerMillion: share, settings: settings.config)
    rollout.source = settings.source
    return rollout
  }

  /// When something happens; a warning if the run is over by then.
  mutating func time(_ node: PositionedValue, _ path: String) -> Instant? {
    guard let span = span(node, path, in: .zero...Units.longestSpan) else { return nil }
    if let duration, span >= duration {
      warn(
        "at \(Units.text(span)) the run of \(Units.text(duration)) is over: it never happens",
        at: node.position, path)
    }
    return .start + span
  }

  /// `"50%"` or 0.5, in parts per million. `allowed` names the range, `more` is said behind it.
  mutating func share(
    _ node: PositionedValue, _ path: String, in range: ClosedRange<Int64>, allowed: String, more: String = ""
  ) -> Int64? {
    let parts: Int64?
    switch node.content {
    case .string(let text):
      parts = unit(node, path, { () throws(Units.Problem) in try Units.partsPerMillion(text) })
    case .number(let text):
      guard let amount = ExactDecimal(text) else { fallthrough }
      parts = unit(node, path, { () throws(Units.Problem) in try Units.share(amount, 1_000_000, text) })
    default:
      report(
        "expected a share such as \"50%\" or 0.5, found \(describe(node)); allowed: \(allowed)",
        at: node.position, path)
      return nil
    }
    guard let parts else { return nil }
    guard range.contains(parts) else {
      report("\(shown(node)) is out of range; allowed: \(allowed)\(more)", at: node.position, path)
      return nil
    }
    return parts
  }

  // MARK: Launches

  /// Settings are fetched at launch: where no app is launched during the run, nothing that happens to the
  /// Settings then is seen.
  mutating func warnIfNothingIsLaunched(
    _ tapi: TAPIConfiguration, _ fleet: [Cohort], _ root: PositionedValue
  ) {
    let remedy = "give the cohort lifecycle: { restarts: \"2/day\" }, or say at: \"0s\""
    if case .array(let nodes)? = root["fleet"]?.content {
      for (index, node) in nodes.enumerated() {
        guard let name = ScenarioPaths.name(of: node), let rollout = node["rollout"],
          let cohort = fleet.first(where: { $0.name == name }), !cohort.hasRestarts,
          let time = cohort.rollout?.time, time > .start
        else { continue }
        let path = join(ScenarioPaths.cohort(index, of: nodes), "rollout")
        warn(
          "no device picks these Settings up: apps fetch them at launch, and none is launched during the run; "
            + remedy, at: rollout.position, path)
      }
    }
    guard !fleet.contains(where: \.hasRestarts),
      case .array(let nodes)? = root["tapi"]?["incidents"]?.content,
      nodes.count == tapi.incidents.count
    else { return }
    for (index, incident) in tapi.incidents.enumerated()
    where incident.kind == .cdnOutage && incident.start > .start {
      warn(
        "concerns no device: apps fetch Settings at launch, and none is launched during the run; " + remedy,
        at: nodes[index].position, "tapi.incidents.\(index)")
    }
  }
}

extension Cohort {
  /// Whether any app of the cohort can be launched during the run.
  fileprivate var hasRestarts: Bool {
    lifecycle.map { $0.meanTimeBetweenRestarts != nil || !$0.synchronised.isEmpty } ?? false
  }
}
