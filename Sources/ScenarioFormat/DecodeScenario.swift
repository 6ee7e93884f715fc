import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// The top level of a scenario.
extension ScenarioDecoder {
  static let maximumRows: Int64 = 100_000
  /// Every cohort counts into a table of its own: some gigabytes of counters at this limit.
  static let maximumRowsOfAllCohorts: Int64 = 10_000_000

  /// - Returns: nil only when a problem was reported; a scenario may come back beside problems too.
  mutating func scenario(_ root: PositionedValue, settings: [CohortSettings]) -> Scenario? {
    guard object(root, "", ScenarioSchema.root.keys) != nil else { return nil }
    if let node = root["format"] { _ = format(node) }
    let question = root["question"].flatMap { string($0, "question") }
    let seed = root["seed"].flatMap { self.seed($0, "seed") } ?? 1
    let duration = root["duration"].flatMap {
      span($0, "duration", in: Span(microseconds: 1_000)...Units.longestSpan)
    }
    self.duration = duration
    let interval = self.interval(root, duration: duration)
    let tapi = root["tapi"].flatMap { Kind.object(TAPIConfiguration.keys).read(&self, $0, "tapi") }
    var defaults = CohortDefaults.builtIn
    if let node = root["network"] { _ = Network.keys.read(&self, node, "network", into: &defaults.network) }
    if let node = root["policy"] { defaults.policy = policy(node, "policy") }
    let fleet = root["fleet"].map {
      self.fleet($0, duration: duration, defaults: defaults, settings: settings)
    }
    if let tapi, let fleet {
      warnIfNothingIsLaunched(tapi, fleet, root)
      warnOfUnknownKeys(tapi.rules.keyLimits, fleet, root)
    }
    guard let duration, let interval, let tapi, let fleet else { return nil }
    reportTooManyRows(root, duration: duration, interval: interval, cohorts: fleet.count)
    return Scenario(
      question: question, seed: seed, duration: duration, interval: interval, tapi: tapi, fleet: fleet)
  }

  private mutating func reportTooManyRows(
    _ root: PositionedValue, duration: Span, interval: Span, cohorts: Int
  ) {
    let rows = (duration.microseconds - 1) / interval.microseconds + 1
    guard rows * Int64(cohorts) > Self.maximumRowsOfAllCohorts else { return }
    report(
      "\(rows) rows for each of \(cohorts) cohorts are more than \(Self.maximumRowsOfAllCohorts) together; "
        + "take a longer interval", at: (root["interval"] ?? root["duration"] ?? root).position, "interval")
  }

  private mutating func format(_ node: PositionedValue) -> Bool {
    if case .number(let text) = node.content, ExactDecimal(text)?.times(1) == .exact(1) { return true }
    report("this program reads format 1, found \(describe(node))", at: node.position, "format")
    return false
  }

  private mutating func interval(_ root: PositionedValue, duration: Span?) -> Span? {
    var interval: Span? = Span.seconds(1)
    if let node = root["interval"] {
      interval = span(node, "interval", in: .milliseconds(1)...Units.longestSpan)
    }
    guard let interval, let duration else { return interval }
    let position = (root["interval"] ?? root["duration"] ?? root).position
    let origin = root["interval"] == nil ? " (the default)" : ""
    if interval > duration {
      report(
        "\(Units.text(interval))\(origin) is longer than the duration, \(Units.text(duration))", at: position,
        "interval")
      return nil
    }
    let rows = (duration.microseconds - 1) / interval.microseconds + 1
    if rows > Self.maximumRows {
      let least = (duration.microseconds - 1) / Self.maximumRows + 1
      let seconds = (least - 1) / 1_000_000 + 1
      let enough = least < 1_000_000 ? Span.milliseconds((least - 1) / 1_000 + 1) : Span.seconds(seconds)
      report(
        "\(Units.text(interval))\(origin) makes \(rows) rows of a run of \(Units.text(duration)); at most "
          + "\(Self.maximumRows) are allowed, so at least \(Units.text(enough))",
        at: position, "interval")
      return nil
    }
    return interval
  }
}
