import FleetExperiments
import FleetStatistics
import UploadRetry

/// What `compare --seeds` and `--precision` ask for.
struct ReplicationRequest: Sendable {
  var count: Int
  var precision: [ReplicationPlan.Precision]
  var risk: Double

  /// Replications of a sequential comparison at most, unless `--max-seeds` says otherwise.
  static let defaultMaximum = 200
  static let limit = 100_000

  /// nil if neither option is there.
  /// - Throws: `UsageError`.
  init?(_ parsed: ParsedArguments) throws {
    let seeds = try Self.count(parsed, "seeds", from: 2)
    let maximum = try Self.count(parsed, "max-seeds", from: 10)
    precision = try parsed.values("precision").flatMap(Self.precision)
    var seen: Set<String> = []
    for target in precision where !seen.insert(target.metric).inserted {
      throw UsageError("'--precision' is there twice for \(target.metric).")
    }
    if seeds != nil, !precision.isEmpty {
      throw UsageError("'--seeds' and '--precision' exclude each other; --max-seeds bounds --precision.")
    }
    risk = try parsed.value("risk").map(Self.risk) ?? ReplicationPlan.defaultRisk
    if parsed.value("risk") != nil, precision.isEmpty { throw UsageError("'--risk' needs '--precision'.") }
    if maximum != nil, precision.isEmpty { throw UsageError("'--max-seeds' needs '--precision'.") }
    guard let count = precision.isEmpty ? seeds : maximum ?? Self.defaultMaximum else { return nil }
    self.count = count
  }

  private static func count(_ parsed: ParsedArguments, _ option: String, from least: Int) throws -> Int? {
    guard let text = parsed.value(option) else { return nil }
    guard let count = Int(text), (least...limit).contains(count) else {
      throw UsageError(
        "The value '\(text)' is invalid for '--\(option) <n>': a whole number from \(least) to \(limit).")
    }
    return count
  }

  /// `2%` of the default metrics, `recovery_s=2%` or `recovery_s=10` of one.
  private static func precision(_ text: String) throws -> [ReplicationPlan.Precision] {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let metrics = parts.count == 2 ? [parts[0]] : ReplicationPlan.defaultMetrics
    if parts.count == 2, MetricCatalogue.metric(named: parts[0]) == nil {
      let names = MetricCatalogue.all.map(\.name)
      let hint = nearest(to: parts[0], among: names).map { " Did you mean '\($0)'?" } ?? ""
      throw UsageError(
        "There is no metric '\(parts[0])' for '--precision'.\(hint) Metrics are the numeric columns of summary.csv."
      )
    }
    guard let target = target(parts.last ?? "", isNamed: parts.count == 2) else {
      throw UsageError(
        "The value '\(text)' is invalid for '--precision <p>': a share as 2%, or of one metric a share or a half "
          + "width in its unit as recovery_s=2% or recovery_s=10.")
    }
    return metrics.map { .init(metric: $0, target: target) }
  }

  private static func risk(_ text: String) throws -> Double {
    guard case .relative(let share)? = target(text, isNamed: false) else {
      throw UsageError("The value '\(text)' is invalid for '--risk <share>': a share as 5%, at most 100%.")
    }
    return share
  }

  private static func target(_ text: String, isNamed: Bool) -> SequentialStoppingRule.Target? {
    let isShare = text.hasSuffix("%")
    let digits = isShare ? String(text.dropLast()) : text
    guard digits.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 }), let value = Double(digits),
      value > 0, value.isFinite
    else { return nil }
    if isShare { return value <= 100 ? .relative(value / 100) : nil }
    return isNamed ? .absolute(value) : nil
  }
}
