import FleetExperiments
import FleetStatistics
import ScenarioFormat

/// `baseline.json`: what scenarios gave when they were recorded.
struct BaselineFile {
  static let name = "baseline.json"

  /// As the user named it.
  var path: String
  var baselines: [Baseline] = []
  /// Where each metric stands in the file, by scenario and metric.
  private(set) var lines: [String: [String: Int]] = [:]

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
    let scenarios = baselines.map { baseline in
      JSONValue.object([
        ("scenario", .string(baseline.scenario)),
        ("results", .integer(Int64(baseline.results))),
        ("set", .array(baseline.overrides.map { .string($0) })),
        (
          "seeds",
          .raw("{ \"first\": \(baseline.seeds.first), \"count\": \(baseline.seeds.count) }")
        ),
        ("metrics", .object(baseline.entries.map { ($0.metric, .raw(Self.line($0))) })),
      ])
    }
    return JSONValue.text(
      .object([
        ("program", .string("fleetsim")), ("baseline", .integer(1)),
        ("version", .string(CommandLineTool.version)), ("scenarios", .array(scenarios)),
      ])) + "\n"
  }

  /// How every baseline begins.
  static let opening = "{\n  \"program\": \"fleetsim\",\n  \"baseline\": 1,"

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
    case .notSignificantlyWorse: BaselineReader.notSignificantlyWorse.asJSON
    case .informational: BaselineReader.informational.asJSON
    }
  }

  private static func text(_ value: MetricValue) -> String {
    switch value {
    case .none: "null"
    case .value(let number), .time(let number, _): text(number)
    case .censored: BaselineReader.never.asJSON
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

  // MARK: Reading

  /// - Throws: `CommandFailure` 66, 65.
  init(contentsOf path: String) throws(CommandFailure) {
    self.path = path
    let text = try InputFile.text(path)
    do throws(BaselineReader.Problem) {
      (baselines, lines) = try BaselineReader.read(text)
    } catch {
      throw CommandFailure(.data, "\(path):\(error.line): \(error.message)")
    }
  }
}
