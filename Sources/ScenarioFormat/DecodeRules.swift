import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// What `tapi` can do beyond admission: limits, deduplication, autoscaling, congestion.
extension ScenarioDecoder {
  static let maximumKeyLimits = 10_000

  mutating func rules(_ node: PositionedValue, _ path: String) -> ServerRules {
    var rules = ServerRules()
    if let node = node["keyLimits"] { rules.keyLimits = keyLimits(node, join(path, "keyLimits")) }
    if let node = node["retryCountLimit"], !node.isNull {
      rules.retryCountLimit = count(node, join(path, "retryCountLimit"), in: 1...8_191)
    }
    if let node = node["requestSizeLimit"], !node.isNull {
      rules.requestSizeLimit = bytes(node, join(path, "requestSizeLimit"), in: 1...1_000_000_000)
    }
    if let node = node["deduplication"], !node.isNull {
      let path = join(path, "deduplication")
      if object(node, path, ScenarioSchema.deduplicationKeys) != nil {
        rules.deduplicationWindow = node["window"].flatMap {
          span($0, join(path, "window"), in: .zero...Units.longestSpan)
        }
      }
    }
    if let node = node["autoscaling"], !node.isNull {
      rules.autoscaling = autoscaling(node, join(path, "autoscaling"))
    }
    return rules
  }

  private mutating func keyLimits(_ node: PositionedValue, _ path: String) -> [KeyLimit] {
    guard case .array(let elements) = node.content else {
      report("expected a list of limits, found \(describe(node))", at: node.position, path)
      return []
    }
    guard elements.count <= Self.maximumKeyLimits else {
      report(
        "\(elements.count) limits; at most \(Self.maximumKeyLimits) are allowed", at: node.position, path)
      return []
    }
    return elements.enumerated().compactMap { keyLimit($1, join(path, "\($0)")) }
  }

  private mutating func keyLimit(_ node: PositionedValue, _ path: String) -> KeyLimit? {
    guard object(node, path, ScenarioSchema.keyLimitKeys) != nil else { return nil }
    var key: String?
    if let node = node["key"], !node.isNull { key = string(node, join(path, "key")) }
    var isPerDevice = false
    if let node = node["per"] {
      isPerDevice = word(node, join(path, "per"), [("key", false), ("device", true)]) ?? false
    }
    let rate = node["rate"].flatMap { capacity($0, join(path, "rate")) }
    var burst: Int? = 1
    if let node = node["burst"] { burst = count(node, join(path, "burst"), in: 1...1_000_000_000) }
    var policy: RetryAfterPolicy? = RetryAfterPolicy.none
    if let node = node["retryAfter"] { policy = retryAfter(node, join(path, "retryAfter")) }
    guard let rate, let burst, let policy else { return nil }
    return KeyLimit(
      key: key, isPerDevice: isPerDevice, rateMilliRequestsPerSecond: rate, burst: Int64(burst),
      retryAfter: policy)
  }

  /// A limit of a key that no cohort has concerns nobody.
  mutating func warnOfUnknownKeys(_ limits: [KeyLimit], _ fleet: [Cohort], _ root: PositionedValue) {
    guard case .array(let nodes)? = root["tapi"]?["keyLimits"]?.content else { return }
    let keys = Set(fleet.map { $0.writeKey ?? $0.name })
    for (index, node) in nodes.enumerated() {
      guard let name = node["key"], case .string(let key) = name.content, !keys.contains(key) else {
        continue
      }
      warn(
        "no cohort has the writeKey \(quoted(key)): the limit never applies", at: name.position,
        "tapi.keyLimits.\(index).key")
    }
  }

  private mutating func autoscaling(_ node: PositionedValue, _ path: String) -> Autoscaling? {
    guard object(node, path, ScenarioSchema.autoscalingKeys) != nil else { return nil }
    var found = Autoscaling()
    if let node = node["target"] {
      found.target =
        share(node, join(path, "target"), in: 10_000...1_000_000, allowed: "1% to 100%") ?? found.target
    }
    if let node = node["interval"] {
      found.interval = span(node, join(path, "interval"), in: .seconds(1)...Span.hours(24)) ?? found.interval
    }
    if let node = node["delay"] {
      found.delay = span(node, join(path, "delay"), in: .zero...Span.hours(24)) ?? found.delay
    }
    let bounds: ClosedRange<Int64> = 10_000...100_000_000
    if let node = node["minimum"] {
      found.minimum =
        share(node, join(path, "minimum"), in: bounds, allowed: "1% to 10000%") ?? found.minimum
    }
    if let node = node["maximum"] {
      found.maximum =
        share(node, join(path, "maximum"), in: bounds, allowed: "1% to 10000%") ?? found.maximum
    }
    guard found.minimum <= found.maximum else {
      report(
        "minimum \(Units.text(partsPerMillion: found.minimum)) is above maximum, "
          + Units.text(partsPerMillion: found.maximum), at: node.position, path)
      return nil
    }
    return found
  }

  mutating func congestion(_ node: PositionedValue, _ path: String, queueLimit: Int?) -> Congestion? {
    guard object(node, path, ScenarioSchema.congestionKeys) != nil else { return nil }
    let slowdown = node["slowdown"].flatMap {
      number($0, join(path, "slowdown"), in: 1...1_000_000_000, allowed: "numbers above 0 up to 1000")
    }
    var queue = queueLimit
    if let node = node["queue"] { queue = count(node, join(path, "queue"), in: 1...1_000_000_000) }
    guard let queue, queue > 0 else {
      if node["queue"] == nil {
        report(
          "needs the length of queue that slows work down so much; write queue: 1000, or give workers a queueLimit",
          at: node.position, join(path, "queue"))
      }
      return nil
    }
    return slowdown.map { Congestion(slowdown: $0, queue: queue) }
  }

  /// The `retryAfter` that stands in `node` under `backlog`.
  mutating func backlog(_ node: PositionedValue, _ path: String) -> RetryAfterPolicy? {
    if let other = node.members?.first(where: { $0.key != "backlog" }) {
      report("\(other.key) and backlog exclude each other; keep one", at: other.keyPosition, path)
      return nil
    }
    guard let node = node["backlog"], object(node, path, ScenarioSchema.backlog.keys) != nil else {
      return nil
    }
    var (atLeast, atMost): (Span?, Span?) = (.seconds(1), .seconds(300))
    if let node = node["atLeast"] { atLeast = wholeSeconds(node, join(path, "atLeast")) }
    if let node = node["atMost"] { atMost = wholeSeconds(node, join(path, "atMost")) }
    guard let atLeast, let atMost else { return nil }
    guard atLeast <= atMost else {
      report(
        "atLeast \(Units.text(atLeast)) is above atMost, \(Units.text(atMost))", at: node.position, path)
      return nil
    }
    return .backlog(atLeast: atLeast, atMost: atMost)
  }

  /// A decimal number in millionths.
  mutating func number(
    _ node: PositionedValue, _ path: String, in range: ClosedRange<Int64>, allowed: String
  ) -> Int64? {
    guard case .number(let text) = node.content, let amount = ExactDecimal(text) else {
      report("expected a number, found \(describe(node)); allowed: \(allowed)", at: node.position, path)
      return nil
    }
    switch amount.times(1_000_000) {
    case .exact(let value) where range.contains(value): return value
    case .fraction:
      report("\(text.prefix(40)) is finer than a millionth; allowed: \(allowed)", at: node.position, path)
    case .exact, .tooLarge:
      report("\(text.prefix(40)) is out of range; allowed: \(allowed)", at: node.position, path)
    }
    return nil
  }
}
