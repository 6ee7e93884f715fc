import FleetExperiments
import ScenarioFormat
import UploadRetry

/// Reads `baseline.json`, which people edit: tolerances are set there.
enum BaselineReader {
  struct Problem: Error {
    var line: Int
    var message: String

    init(_ node: PositionedValue, _ message: String) {
      line = Int(node.position.line)
      self.message = message
    }
    init(_ error: JSON5Error) {
      line = Int(error.position.line)
      message = error.message
    }
  }

  static let notSignificantlyWorse = "notSignificantlyWorse"
  static let informational = "informational"
  /// A time that a run did not live to see.
  static let never = "never"

  static func read(
    _ text: String
  ) throws(Problem) -> (baselines: [Baseline], lines: [String: [String: Int]]) {
    let root: PositionedValue
    do throws(JSON5Error) { root = try JSON5Parser.parse(text) } catch { throw Problem(error) }
    guard case .string("fleetsim")? = root["program"]?.content, case .number("1")? = root["baseline"]?.content
    else {
      throw Problem(
        root, "this is no baseline of fleetsim: one begins with \"program\": \"fleetsim\", \"baseline\": 1")
    }
    var baselines: [Baseline] = []
    var lines: [String: [String: Int]] = [:]
    for node in try list(root, "scenarios") {
      let baseline = try baseline(node)
      guard lines[baseline.scenario] == nil else {
        throw Problem(node, "the scenario '\(baseline.scenario)' is there twice")
      }
      lines[baseline.scenario] = Dictionary(
        node["metrics"]?.members?.map { ($0.key, Int($0.keyPosition.line)) } ?? [],
        uniquingKeysWith: { first, _ in first })
      baselines.append(baseline)
    }
    return (baselines, lines)
  }

  private static func baseline(_ node: PositionedValue) throws(Problem) -> Baseline {
    var overrides: [String] = []
    for element in try list(node, "set") { overrides.append(try string(element)) }
    let range = try member(node, "seeds")
    let seeds = SeedRange(
      first: try whole(range, "first", 0 ... .max),
      count: Int(try whole(range, "count", 2...UInt64(CheckCommand.mostSeeds))))
    let metrics = try member(node, "metrics")
    var entries: [Baseline.Entry] = []
    for metric in metrics.members ?? [] {
      guard MetricCatalogue.metric(named: metric.key) != nil else {
        let names = MetricCatalogue.all.map(\.name)
        let hint = nearest(to: metric.key, among: names).map { "; did you mean '\($0)'?" } ?? ""
        throw Problem(metric.value, "'\(metric.key)' is no metric\(hint)")
      }
      entries.append(try entry(metric.key, metric.value, seeds: seeds.count))
    }
    guard !entries.isEmpty else { throw Problem(metrics, "there is no metric") }
    var baseline = Baseline(
      scenario: try string(try member(node, "scenario")), overrides: overrides, seeds: seeds, entries: entries
    )
    if node["results"] != nil { baseline.results = Int(try whole(node, "results", 0...1_000_000)) }
    return baseline
  }

  private static func entry(
    _ name: String, _ node: PositionedValue, seeds: Int
  ) throws(Problem) -> Baseline.Entry {
    let horizon = try node["horizon"].map { node throws(Problem) in try number(node) }
    let nodes = try list(node, "values")
    guard nodes.count == seeds else {
      throw Problem(
        node,
        "'\(name)' has \(FigureText.count(nodes.count, "value")), one for each of the \(FigureText.count(seeds, "seed")) is expected"
      )
    }
    var values: [MetricValue] = []
    for node in nodes {
      switch (node.content, horizon) {
      case (.null, _): values.append(.none)
      case (.string(never), let horizon?): values.append(.censored(horizon: horizon))
      case (_, let horizon?): values.append(.time(try number(node), horizon: horizon))
      case (_, nil): values.append(.value(try number(node)))
      }
    }
    return Baseline.Entry(
      metric: name, tolerance: try tolerance(try member(node, "tolerance")), values: values)
  }

  private static func tolerance(_ node: PositionedValue) throws(Problem) -> Metric.Tolerance {
    if case .string(notSignificantlyWorse) = node.content { return .notSignificantlyWorse }
    if case .string(informational) = node.content { return .informational }
    if let members = node.members, members.count == 1 {
      let value = try number(members[0].value)
      if value >= 0, members[0].key == "relative" { return .relative(value) }
      if value >= 0, members[0].key == "absolute" { return .absolute(value) }
    }
    throw Problem(
      node,
      "a tolerance is \"\(notSignificantlyWorse)\", { \"relative\": 0.05 }, { \"absolute\": 10 } or \"\(informational)\""
    )
  }

  // MARK: Pieces

  private static func member(_ node: PositionedValue, _ key: String) throws(Problem) -> PositionedValue {
    if let member = node[key] { return member }
    throw Problem(node, "'\(key)' is missing")
  }

  private static func list(_ node: PositionedValue, _ key: String) throws(Problem) -> [PositionedValue] {
    let node = try member(node, key)
    if case .array(let elements) = node.content { return elements }
    throw Problem(node, "'\(key)' is a list; found \(node.kind)")
  }

  private static func string(_ node: PositionedValue) throws(Problem) -> String {
    if case .string(let text) = node.content { return text }
    throw Problem(node, "a string is expected; found \(node.kind)")
  }

  private static func number(_ node: PositionedValue) throws(Problem) -> Double {
    if case .number(let text) = node.content, let value = Double(text), abs(value) < 1e300 { return value }
    throw Problem(node, "a number is expected; found \(node.kind)")
  }

  private static func whole(
    _ node: PositionedValue, _ key: String, _ range: ClosedRange<UInt64>
  ) throws(Problem) -> UInt64 {
    let node = try member(node, key)
    if case .number(let digits) = node.content, let value = UInt64(digits), range.contains(value) {
      return value
    }
    throw Problem(node, "'\(key)' is a whole number from \(range.lowerBound) to \(range.upperBound)")
  }
}
