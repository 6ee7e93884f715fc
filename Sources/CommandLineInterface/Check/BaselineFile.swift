import FleetExperiments
import FleetStatistics
import ScenarioFormat

/// `baseline.json`: what scenarios gave when they were recorded.
struct BaselineFile {
  static let name = "baseline.json"

  var path: String
  var baselines: [Baseline] = []

  init(path: String) { self.path = path }

  func baseline(of scenario: String) -> Baseline? { baselines.first { $0.scenario == scenario } }

  mutating func replace(_ baseline: Baseline) {
    if let index = baselines.firstIndex(where: { $0.scenario == baseline.scenario }) {
      baselines[index] = baseline
    } else {
      baselines.append(baseline)
    }
  }

  // MARK: Writing

  /// One line a metric, so that version control shows what a new recording moved.
  var text: String {
    let scenarios = baselines.map { baseline -> JSONValue in
      [
        "scenario": baseline.scenario, "results": baseline.results, "set": baseline.overrides,
        "seeds": JSONValue.raw("{ \"first\": \(baseline.seeds.first), \"count\": \(baseline.seeds.count) }"),
        "unhealthyTwins": baseline.unhealthyTwins,
        "failedSeeds": JSONValue.raw("[\(baseline.failedSeeds.map(\.description).joined(separator: ", "))]"),
        "metrics": JSONValue.object(baseline.entries.map { ($0.metric, .raw(Self.line($0))) }),
        "scenarioValues": JSONValue.object(baseline.values.map { ($0.path, .raw($0.text)) }),
      ]
    }
    return JSONValue.text([
      "program": "fleetsim", "baseline": Self.format, "version": CommandLineTool.version,
      "scenarios": scenarios,
    ]) + "\n"
  }

  private static let format = 2

  /// How every baseline begins.
  static let opening = "{\n  \"program\": \"fleetsim\",\n  \"baseline\": \(format),"

  private static func line(_ entry: Baseline.Entry) -> String {
    var parts: [String] = []
    let sample = SampleStatistics(entry.values.compactMap(\.restricted))
    if sample.count > 0 { parts.append("\"mean\": \(rounded(sample.mean))") }
    if let interval = ConfidenceInterval(sample) {
      parts.append("\"interval95\": [\(rounded(interval.low)), \(rounded(interval.high))]")
    }
    parts.append("\"tolerance\": \(text(entry.tolerance))")
    if let horizon = entry.values.compactMap(\.horizon).first {
      parts.append("\"horizon\": \(text(horizon))")
    }
    parts.append("\"values\": [\(entry.values.map(text).joined(separator: ", "))]")
    return "{ \(parts.joined(separator: ", ")) }"
  }

  static func text(_ tolerance: Metric.Tolerance) -> String {
    switch tolerance {
    case .relative(let share): "{ \"relative\": \(text(share)) }"
    case .absolute(let limit): "{ \"absolute\": \(text(limit)) }"
    case .notSignificantlyWorse: notSignificantlyWorse.asJSON
    case .informational: informational.asJSON
    }
  }

  private static func text(_ value: MetricValue) -> String {
    switch value {
    case .none: "null"
    case .value(let number), .time(let number, _): text(number)
    case .censored: never.asJSON
    }
  }

  private static func text(_ number: Double) -> String {
    let text = "\(number)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// For readers; the values are what counts.
  private static func rounded(_ number: Double) -> String {
    abs(number) < 1e12 ? text((number * 1_000).rounded() / 1_000) : text(number)
  }

  // MARK: Reading: people edit it, and set tolerances there

  private static let notSignificantlyWorse = "notSignificantlyWorse"
  private static let informational = "informational"
  /// A time that a run did not live to see.
  private static let never = "never"

  /// - Throws: `CommandFailure` 66, 65.
  init(contentsOf path: String, _ files: Files) throws(CommandFailure) {
    let text = try files.text(path)
    do throws(ScenarioProblems) {
      self = try Self.record.read(text: text, name: path, Self.wording)
    } catch {
      throw CommandFailure(.data, error.first)
    }
    self.path = path
  }

  private static let wording: Wording = {
    var wording = Wording()
    wording.missing = { "'\($0.name)' is missing" }
    wording.unknownKey = nil
    wording.unexpected = { expected, key, found in
      expected == "a list" ? "'\(key)' is a list; found \(found)" : "\(expected) is expected; found \(found)"
    }
    (wording.showsValues, wording.tellsFirst) = (false, true)
    return wording
  }()

  private static let record = ObjectKeys(
    BaselineFile(path: ""),
    [
      .refusal { node, _ in
        if case .string("fleetsim")? = node["program"]?.content,
          case .number("\(format)")? = node["baseline"]?.content
        {
          return nil
        }
        return
          "this is no baseline of fleetsim: one begins with \"program\": \"fleetsim\", \"baseline\": \(format)"
      },
      Field(reading: "scenarios", \.baselines, Kind.object(baseline).list(0 ... .max), isRequired: true),
      .refusal("scenarios") { _, file in
        file.baselines.map(\.scenario).firstRepeated.map { "the scenario '\($0)' is there twice" }
      },
    ])

  private static let baseline = ObjectKeys(
    Baseline(scenario: "", overrides: [], seeds: SeedRange(first: 0, count: 2), entries: []),
    [
      Field(reading: "set", \.overrides, Kind<String>.text.list(0 ... .max), isRequired: true),
      Field(reading: "seeds", \.seeds, .object(seeds), isRequired: true),
      .check { decoder, node, path, baseline in
        for metric in node["metrics"]?.members ?? [] {
          guard let values = metric.value["values"]?.elements, values.count != baseline.seeds.count else {
            continue
          }
          decoder.report(
            "'\(metric.key)' has \(FigureText.count(values.count, "value")), one for each of the "
              + "\(FigureText.count(baseline.seeds.count, "seed")) is expected", at: metric.value.position,
            path)
          return false
        }
        return true
      },
      Field(reading: "metrics", \.entries, metrics, isRequired: true),
      Field(reading: "scenario", \.scenario, .text, isRequired: true),
      Field(reading: "results", \.results, .digits(0...1_000_000)),
      Field(reading: "unhealthyTwins", \.unhealthyTwins, .digits(0...CheckCommand.mostSeeds)),
      Field(reading: "failedSeeds", \.failedSeeds, Kind<UInt64>.seed.list(0...CheckCommand.mostSeeds)),
      Field(
        reading: "scenarioValues", \.values,
        Kind { _, node, _ in (node.members ?? []).map { ($0.key, JSONText.pretty($0.value)) } }),
    ])

  private static let seeds = ObjectKeys(
    SeedRange(first: 0, count: 1),
    [
      Field(reading: "first", \.first, .digits(0 ... .max), isRequired: true),
      Field(reading: "count", \.count, .digits(2...CheckCommand.mostSeeds), isRequired: true),
    ])

  private static let metrics = Kind<[Baseline.Entry]> { decoder, node, path in
    var entries: [Baseline.Entry] = []
    for member in node.members ?? [] {
      guard MetricCatalogue.metric(named: member.key) != nil else {
        let hint = InvalidValue.hint(member.key, MetricCatalogue.all.map(\.name))
        decoder.report("'\(member.key)' is no metric\(hint)", at: member.value.position, path)
        return nil
      }
      guard var read = entry.read(&decoder, member.value, path) else { return nil }
      (read.metric, read.line) = (member.key, Int(member.keyPosition.line))
      entries.append(read)
    }
    if !entries.isEmpty { return entries }
    decoder.report("there is no metric", at: node.position, path)
    return nil
  }

  private static let entry = Kind<Baseline.Entry> { decoder, node, path in
    let horizon = node["horizon"].flatMap { number.read(&decoder, $0, path) }
    let value = Kind<MetricValue> { decoder, node, path in
      if node.isNull { return MetricValue.none }
      if let horizon, node.text == never { return .censored(horizon: horizon) }
      return number.read(&decoder, node, path)
        .map { value in horizon.map { .time(value, horizon: $0) } ?? .value(value) }
    }
    var entry = Baseline.Entry(metric: "", tolerance: .informational, values: [])
    let record = ObjectKeys(
      entry,
      [
        Field(reading: "values", \.values, value.list(0 ... .max), isRequired: true),
        Field(reading: "tolerance", \.tolerance, tolerance, isRequired: true),
      ])
    return record.read(&decoder, node, path, into: &entry) ? entry : nil
  }

  private static let number = Kind<Double> { decoder, node, path in
    if case .number(let text) = node.content, let value = Double(text), abs(value) < 1e300 { return value }
    decoder.unexpected(node, "a number", path)
    return nil
  }

  private static let tolerance = Kind<Metric.Tolerance> { decoder, node, path in
    if case .string(notSignificantlyWorse) = node.content { return .notSignificantlyWorse }
    if case .string(informational) = node.content { return .informational }
    if let members = node.members, members.count == 1 {
      guard let value = number.read(&decoder, members[0].value, path) else { return nil }
      if value >= 0, members[0].key == "relative" { return .relative(value) }
      if value >= 0, members[0].key == "absolute" { return .absolute(value) }
    }
    decoder.report(
      "a tolerance is \"\(notSignificantlyWorse)\", { \"relative\": 0.05 }, { \"absolute\": 10 } or "
        + "\"\(informational)\"", at: node.position, path)
    return nil
  }
}

extension ScenarioProblems {
  /// The first problem with its line.
  var first: String { diagnostics.first.map { "\($0.file):\($0.line ?? 1): \($0.message)" } ?? "" }
}
