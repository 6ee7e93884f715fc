import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// `network`, `timeout` and `connectivity`: the way between a device and the server.
extension ScenarioDecoder {
  static let maximumInterruptions = 100
  /// A lost answer is noticed by the time-out.
  static let longestTimeoutWithLoss = Span.hours(1)
  private static let shares = "0% to 100%"

  /// What is not said stays as it is.
  mutating func network(
    _ node: PositionedValue, _ path: String, _ latency: inout Distribution, _ link: inout Link
  ) {
    guard object(node, path, ScenarioSchema.network.keys) != nil else { return }
    if let node = node["latency"] { latency = self.latency(node, join(path, "latency")) ?? latency }
    if let node = node["bandwidth"] {
      link.uploadBytesPerSecond = node.isNull ? nil : bandwidth(node, join(path, "bandwidth"))
    }
    if let node = node["loss"] { loss(node, join(path, "loss"), &link) }
  }

  /// `"50KB/s"`.
  private mutating func bandwidth(_ node: PositionedValue, _ path: String) -> Int? {
    guard let text = unitText(node, path, "a bandwidth", example: "50KB/s", unit: "B/s") else { return nil }
    guard text.hasSuffix("/s") else {
      report(
        "\(quoted(text)) is not a bandwidth; write a size a second, like \"50KB/s\"", at: node.position, path)
      return nil
    }
    let size = PositionedValue(.string(String(text.dropLast(2))), at: node.position)
    return bytes(size, path, in: 1...1_000_000_000_000)
  }

  /// `"1%"` each way, or `{ request, answer }`.
  private mutating func loss(_ node: PositionedValue, _ path: String, _ link: inout Link) {
    guard node.members != nil else {
      guard let share = share(node, path, in: 0...1_000_000, allowed: Self.shares) else { return }
      link.requestLossPartsPerMillion = share
      link.answerLossPartsPerMillion = share
      return
    }
    guard object(node, path, ScenarioSchema.lossKeys) != nil else { return }
    func read(_ key: String, _ decoder: inout ScenarioDecoder) -> Int64? {
      node[key].flatMap {
        decoder.share($0, decoder.join(path, key), in: 0...1_000_000, allowed: Self.shares)
      }
    }
    link.requestLossPartsPerMillion = read("request", &self) ?? 0
    link.answerLossPartsPerMillion = read("answer", &self) ?? 0
  }

  /// `"30s"` or `{ connect: "5s", request: "30s" }`.
  mutating func timeouts(_ node: PositionedValue, _ path: String, _ cohort: inout Cohort) {
    let range = Span.milliseconds(1)...Units.longestSpan
    guard node.members != nil else {
      cohort.timeout = span(node, path, in: range) ?? cohort.timeout
      cohort.connectTimeout = nil
      return
    }
    guard object(node, path, ScenarioSchema.timeoutKeys) != nil else { return }
    if let node = node["request"] {
      cohort.timeout = span(node, join(path, "request"), in: range) ?? cohort.timeout
    }
    guard let connect = node["connect"], !connect.isNull else { return }
    cohort.connectTimeout = span(connect, join(path, "connect"), in: range)
    if let span = cohort.connectTimeout, span > cohort.timeout {
      report(
        "\(Units.text(span)) is longer than the time-out of the request, \(Units.text(cohort.timeout))",
        at: connect.position, join(path, "connect"))
    }
  }

  mutating func reportLossWithoutTimeOut(_ cohort: Cohort, _ node: PositionedValue, _ path: String) {
    guard cohort.link.answerLossPartsPerMillion > 0, cohort.timeout > Self.longestTimeoutWithLoss else {
      return
    }
    report(
      "\(Units.text(cohort.timeout)) is too long where answers get lost; at most "
        + Units.text(Self.longestTimeoutWithLoss), at: (node["timeout"] ?? node).position,
      join(path, "timeout"))
  }

  mutating func reportSplitInRebatch(_ cohort: Cohort, _ node: PositionedValue, _ path: String) {
    guard cohort.queue.splitsOn413, cohort.queue.mode == .rebatch else { return }
    report(
      "batches are cut for good, so that the queue's mode must be \"files\"",
      at: (node["queue"]?["splitOn413"] ?? node).position, join(join(path, "queue"), "splitOn413"))
  }

  // MARK: Online and offline

  mutating func connectivity(_ node: PositionedValue, _ path: String, duration: Span?) -> Connectivity? {
    guard object(node, path, ScenarioSchema.connectivity.keys) != nil else { return nil }
    var connectivity = Connectivity()
    let online = node["online"].flatMap { period($0, join(path, "online")) }
    let offline = node["offline"].flatMap { period($0, join(path, "offline")) }
    var share: Int64? = 1_000_000
    if let node = node["share"] {
      share = self.share(node, join(path, "share"), in: 0...1_000_000, allowed: Self.shares)
    }
    for (key, other) in [("online", "offline"), ("offline", "online")]
    where node[key] == nil && node[other] != nil {
      report(
        "missing beside \(other); write for example \(key): { exponential: \"1h\" }", at: node.position,
        join(path, key))
    }
    if let online, let offline, let share {
      connectivity.periods = .init(online: online, offline: offline, sharePartsPerMillion: share)
    }
    if let node = node["interruptions"] {
      connectivity.interruptions = interruptions(node, join(path, "interruptions"), duration: duration)
    }
    if let node = node["flushOnReconnect"] {
      connectivity.flushesOnReconnect = bool(node, join(path, "flushOnReconnect")) ?? true
    }
    return connectivity
  }

  // MARK: In the foreground and closed

  mutating func sessions(_ node: PositionedValue, _ path: String, events: EventProcess) -> Sessions? {
    guard object(node, path, ScenarioSchema.sessions.keys) != nil else { return nil }
    let share = node["share"].flatMap {
      self.share($0, join(path, "share"), in: 1...999_999, allowed: "0.0001% to 99.9999%")
    }
    let length = node["length"].flatMap { period($0, join(path, "length")) }
    let inBackground =
      node["eventsInBackground"].flatMap { bool($0, join(path, "eventsInBackground")) } ?? false
    if case .periodic = events, !inBackground {
      report(
        "strictly periodic events don't wait for a session; set sessions.eventsInBackground to true, or give "
          + "events a rate such as \"30/h\"", at: node.position, path)
    }
    guard let share, let length else { return nil }
    let sessions = Sessions(
      sharePartsPerMillion: share, length: length, createsEventsInBackground: inBackground)
    guard sessions.meanGap <= Units.longestSpan else {
      report(
        "with sessions so long and a share so small the app is closed for more than "
          + Units.text(Units.longestSpan) + " at a time", at: node.position, path)
      return nil
    }
    return sessions
  }

  /// A span or `{ exponential: mean }`.
  private mutating func period(_ node: PositionedValue, _ path: String) -> Distribution? {
    let range = Span.milliseconds(1)...Units.longestSpan
    guard node.members != nil else { return span(node, path, in: range).map(Distribution.constant) }
    guard object(node, path, ScenarioSchema.period.keys) != nil else { return nil }
    guard let member = onlyMember(node, path, of: ["constant", "exponential"]) else {
      if node.members?.isEmpty ?? false {
        report("empty; write a span like \"1h\" or { exponential: \"1h\" }", at: node.position, path)
      }
      return nil
    }
    let span = span(member.value, join(path, member.key), in: range)
    return span.map { member.key == "constant" ? .constant($0) : .exponential(mean: $0) }
  }

  private mutating func interruptions(
    _ node: PositionedValue, _ path: String, duration: Span?
  ) -> [Connectivity.Interruption] {
    guard case .array(let elements) = node.content else {
      report("expected a list, found \(describe(node))", at: node.position, path)
      return []
    }
    guard elements.count <= Self.maximumInterruptions else {
      report(
        "\(elements.count) interruptions; at most \(Self.maximumInterruptions) are allowed",
        at: node.position,
        path)
      return []
    }
    return elements.enumerated().compactMap { index, node in
      let path = join(path, "\(index)")
      guard object(node, path, ScenarioSchema.interruptionKeys) != nil else { return nil }
      let start = node["at"].flatMap { time($0, join(path, "at"), duration: duration) }
      let length = node["for"].flatMap {
        span($0, join(path, "for"), in: Span(microseconds: 1)...Units.longestSpan)
      }
      var share: Int64? = 1_000_000
      if let node = node["share"] {
        share = self.share(node, join(path, "share"), in: 0...1_000_000, allowed: Self.shares)
      }
      guard let start, let length, let share else { return nil }
      return .init(start: start, duration: length, sharePartsPerMillion: share)
    }
  }
}
