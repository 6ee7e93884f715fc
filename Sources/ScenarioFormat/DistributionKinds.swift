import ScenarioModel
import SimulationKernel

/// Distributions of spans: `"50ms"`, `{ uniform: ["1ms", "5ms"] }`, `{ exponential: "50ms" }`,
/// `{ logNormal: { median, p99, minimum } }`; a latency also `{ median, p99, minimum }`.
extension Kind where Value == Distribution {
  /// How long a piece of work takes.
  static let serviceTime = serviceTimeForms.named("serviceTime")
  static let serviceTimeForms = distribution(in: .zero...Span.hours(24), minimum: .zero)

  /// How long something goes on.
  static let period = periodForms.named("period")
  static let periodForms = forms(
    spans(in: .milliseconds(1)...Units.longestSpan),
    short: spans(in: .milliseconds(1)...Units.longestSpan)[0],
    ofNone: { _ in "empty; write a span like \"1h\" or { exponential: \"1h\" }" }
  )

  /// One way over the network. Nothing crosses it faster than the look-ahead of the engine.
  static let latency: Kind = {
    let range = Span.milliseconds(1)...Span.hours(1)
    let minimum = Span.milliseconds(5)
    let general = distribution(in: range, minimum: minimum)
    let logNormal = Kind<LogNormal>.object(LogNormal.keys(in: range, minimum: minimum))
    let forms = general.shape.keys.map(\.name)
    return Kind(
      shape: .object(logNormal.shape.keys + general.shape.keys),
      schema: .oneOf([logNormal.schema, general.schema]), range: general.range,
      read: { decoder, node, path in
        if let members = node.members, !members.isEmpty,
          !members.contains(where: { forms.contains($0.key) })
        {
          return logNormal.read(&decoder, node, path)?.distribution
        }
        if node["exponential"] != nil {
          decoder.report(
            "an exponential latency comes arbitrarily close to 0; the shortest is 1ms. "
              + "Use { median, p99, minimum } instead", at: node.position, decoder.join(path, "exponential"))
          return nil
        }
        return general.read(&decoder, node, path)
      }, write: general.write)
  }()

  /// `minimum` is that of a log-normal one which does not say it.
  private static func distribution(in range: ClosedRange<Span>, minimum: Span) -> Kind {
    let spans = spans(in: range)
    let rest = [
      Form<Distribution>(
        "uniform", .ends(in: range), "Any value between the two ends alike.",
        make: { .uniform($0[0], $0[1]) },
        part: { if case .uniform(let low, let high) = $0 { [low, high] } else { nil } }),
      spans[1],
      Form(
        "logNormal", .object(LogNormal.keys(in: range, minimum: minimum)), "Log-normal above a minimum.",
        make: \.distribution, part: { LogNormal($0) }),
    ]
    return forms(
      [spans[0]] + rest, short: spans[0],
      ofNone: {
        "an empty distribution; write a span like \"50ms\" or one of \($0.joined(separator: ", "))"
      })
  }

  private static func spans(in range: ClosedRange<Span>) -> [Form<Distribution>] {
    [
      Form(
        "constant", .span(range), "Always the same.", make: { .constant($0) },
        part: { if case .constant(let span) = $0 { span } else { nil } }),
      Form(
        "exponential", .span(range), "The mean.", make: { .exponential(mean: $0) },
        part: { if case .exponential(let mean) = $0 { mean } else { nil } }),
    ]
  }
}

extension Kind where Value == [Span] {
  /// `["1ms", "5ms"]`.
  fileprivate static func ends(in range: ClosedRange<Span>) -> Kind {
    Kind(
      schema: .array(of: .reference("span"), 2...2),
      read: { [span = Kind<Span>.span(range)] decoder, node, path in
        guard let bounds = node.elements, bounds.count == 2 else {
          decoder.unexpected(node, "the two ends, like [\"1ms\", \"5ms\"]", path)
          return nil
        }
        let low = span.read(&decoder, bounds[0], decoder.join(path, "0"))
        let high = span.read(&decoder, bounds[1], decoder.join(path, "1"))
        guard let low, let high else { return nil }
        guard low <= high else {
          decoder.report(
            "the first end \(Units.text(low)) is above the second, \(Units.text(high))",
            at: bounds[0].position, path)
          return nil
        }
        return [low, high]
      }, write: { .list($0.map { .span($0) }) })
  }
}

/// A log-normal distribution as a scenario writes it.
struct LogNormal: Sendable, Equatable {
  var median = Span.zero
  var p99 = Span.zero
  var minimum: Span

  var distribution: Distribution { .logNormal(median: median, p99: p99, minimum: minimum) }

  static func keys(in range: ClosedRange<Span>, minimum: Span) -> ObjectKeys<LogNormal> {
    ObjectKeys(
      LogNormal(minimum: minimum),
      [
        Field("median", \.median, .span(range), "Half of the values are below.", example: "\"80ms\""),
        Field(
          "p99", \.p99, .span(range), "99 of 100 values are below; not below the median.",
          example: "\"600ms\""),
        Field("minimum", \.minimum, .span(range), "Nothing is below; it must be below the median."),
        .order("minimum", \.minimum, "median", \.median, isBelow: true),
        .order("median", \.median, "p99", \.p99),
      ])
  }
}

extension LogNormal {
  fileprivate init?(_ distribution: Distribution) {
    guard case .logNormal(let median, let p99, let minimum) = distribution else { return nil }
    self.init(median: median, p99: p99, minimum: minimum)
  }
}
