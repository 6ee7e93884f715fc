import ScenarioModel
import SimulationKernel

/// Distributions of spans: `"50ms"`, `{ uniform: ["1ms", "5ms"] }`, `{ exponential: "50ms" }`,
/// `{ logNormal: { median, p99, minimum } }`; a latency also `{ median, p99, minimum }`.
extension ScenarioDecoder {
  static let longestServiceTime = Span.hours(24)
  static let longestLatency = Span.hours(1)
  /// The look-ahead of the engine (Design.md, Windows): nothing crosses the network faster.
  static let shortestLatency = Span.milliseconds(1)
  static let defaultMinimumLatency = Span.milliseconds(5)

  mutating func serviceTime(_ node: PositionedValue, _ path: String) -> Distribution? {
    distribution(
      node, path, in: .zero...Self.longestServiceTime, keys: ScenarioSchema.distributionKeys,
      defaultMinimum: .zero)
  }

  mutating func latency(_ node: PositionedValue, _ path: String) -> Distribution? {
    let range = Self.shortestLatency...Self.longestLatency
    guard let members = node.members else {
      return distribution(
        node, path, in: range, keys: ScenarioSchema.distributionKeys,
        defaultMinimum: Self.defaultMinimumLatency)
    }
    let forms = ScenarioSchema.distributionKeys.map(\.name)
    if !members.isEmpty, !members.contains(where: { forms.contains($0.key) }) {
      return logNormal(node, path, in: range, defaultMinimum: Self.defaultMinimumLatency)
    }
    if node["exponential"] != nil {
      report(
        "an exponential latency comes arbitrarily close to 0; the shortest is 1ms. "
          + "Use { median, p99, minimum } instead",
        at: node.position, join(path, "exponential"))
      return nil
    }
    return distribution(
      node, path, in: range, keys: ScenarioSchema.distributionKeys, defaultMinimum: Self.defaultMinimumLatency
    )
  }

  private mutating func distribution(
    _ node: PositionedValue, _ path: String, in range: ClosedRange<Span>, keys: [ScenarioSchema.Key],
    defaultMinimum: Span
  ) -> Distribution? {
    guard node.members != nil else { return span(node, path, in: range).map(Distribution.constant) }
    guard object(node, path, keys) != nil else { return nil }
    let names = keys.map(\.name)
    guard let member = onlyMember(node, path, of: names) else {
      if node.members?.isEmpty ?? false {
        report(
          "an empty distribution; write a span like \"50ms\" or one of \(names.joined(separator: ", "))",
          at: node.position, path)
      }
      return nil
    }
    let value = member.value
    let place = join(path, member.key)
    switch member.key {
    case "constant": return span(value, place, in: range).map(Distribution.constant)
    case "exponential": return span(value, place, in: range).map(Distribution.exponential(mean:))
    case "uniform": return uniform(value, place, in: range)
    default: return logNormal(value, place, in: range, defaultMinimum: defaultMinimum)
    }
  }

  private mutating func uniform(
    _ node: PositionedValue, _ path: String, in range: ClosedRange<Span>
  ) -> Distribution? {
    guard case .array(let bounds) = node.content, bounds.count == 2 else {
      report(
        "expected the two ends, like [\"1ms\", \"5ms\"], found \(describe(node))", at: node.position, path)
      return nil
    }
    let low = span(bounds[0], join(path, "0"), in: range)
    let high = span(bounds[1], join(path, "1"), in: range)
    guard let low, let high else { return nil }
    guard low <= high else {
      report(
        "the first end \(Units.text(low)) is above the second, \(Units.text(high))", at: bounds[0].position,
        path)
      return nil
    }
    return .uniform(low, high)
  }

  private mutating func logNormal(
    _ node: PositionedValue, _ path: String, in range: ClosedRange<Span>, defaultMinimum: Span
  ) -> Distribution? {
    guard object(node, path, ScenarioSchema.logNormalKeys) != nil else { return nil }
    var minimum: Span? = defaultMinimum
    if let node = node["minimum"] { minimum = span(node, join(path, "minimum"), in: range) }
    let median = node["median"].flatMap { span($0, join(path, "median"), in: range) }
    let p99 = node["p99"].flatMap { span($0, join(path, "p99"), in: range) }
    if let minimum, let median, minimum >= median {
      let origin = node["minimum"] == nil ? " (the default)" : ""
      report(
        "minimum \(Units.text(minimum))\(origin) is not below the median \(Units.text(median))",
        at: (node["minimum"] ?? node).position, join(path, "minimum"))
    }
    if let median, let p99, p99 < median {
      report(
        "p99 \(Units.text(p99)) is below the median \(Units.text(median))",
        at: (node["p99"] ?? node).position,
        join(path, "p99"))
    }
    guard let minimum, let median, let p99 else { return nil }
    return .logNormal(median: median, p99: p99, minimum: minimum)
  }
}
