import FleetMetrics
import UploadRetry

/// A limit that every run has to keep, on a criterion of the verdict or a column of `summary.csv`. Example:
///
///     let requirement = try Requirement("recovery <= 20m")
///     requirement.outcome(of: rows).text    // ✓ recovery <= 20m: 13 min at worst of 10 runs
public struct Requirement: Sendable {
  public enum Comparison: String, Sendable, Hashable, CaseIterable {
    case atMost = "<="
    case atLeast = ">="
    case less = "<"
    case more = ">"
    case equal = "="
  }

  /// `recovery <= 20m`
  public let text: String
  /// `recovery`
  package let name: String
  public let comparison: Comparison
  /// nil: how many of the runs fail.
  private let column: CSVColumn<RunSummary>?
  /// In the column's unit, of a count that of the whole fleet; of a share, of 1.
  private let limit: Double
  /// Whether the limit is a share: of the events created, or of the runs.
  private let isShare: Bool

  /// Whether it lets some of the runs fail, so that one run alone can't break it.
  package var allowsFailures: Bool {
    isOfFailures && !(limit == 0 && comparison != .more) && !(limit == 1 && comparison == .less)
  }

  /// Every name that is shorter than its column.
  private static let criteria: [(name: String, column: String?)] =
    [
      ("failures", nil), ("health", "baseline_is_healthy"), ("lost", MetricCatalogue.lost),
      ("endpoint-well", MetricCatalogue.healthy), ("recovery", MetricCatalogue.recovery),
      ("late", MetricCatalogue.late), ("affected-p99", MetricCatalogue.affectedDelivery),
      ("extra-attempts", MetricCatalogue.attemptsAboveTwin),
    ]

  /// `failures, health, lost, …`
  public static var criteriaNames: String { criteria.map(\.name).joined(separator: ", ") }

  private static let columns = SummaryCSV.columns.filter {
    !$0.unit.isEmpty || ["has_incidents", "baseline_is_healthy"].contains($0.name)
  }

  /// Names that there are, the verdict's criteria first.
  public static var names: [String] { criteria.map(\.name) + columns.map(\.name) }

  /// - Throws: `OptionProblem`.
  public init(_ text: String) throws(OptionProblem) {
    let isFlag = (try? Self.column(text))??.unit.isEmpty ?? false
    let plain = (isFlag ? text + " = true" : text)
      .replacing("≤", with: "<=").replacing("≥", with: ">=").replacing("==", with: "=")
    let found = Comparison.allCases.compactMap { comparison in
      plain.firstRange(of: comparison.rawValue).map { (range: $0, comparison: comparison) }
    }.min { $0.range.lowerBound < $1.range.lowerBound }
    guard let found else {
      throw OptionProblem("a name, one of <= >= < > = and a limit, as in 'recovery <= 20m'")
    }
    func trimmed(_ part: Substring) -> String {
      String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
    let name = trimmed(plain[..<found.range.lowerBound])
    let value = trimmed(plain[found.range.upperBound...])
    column = try Self.column(name)
    comparison = found.comparison
    (limit, isShare) = try Self.limit(value, of: column, name)
    self.name = name
    self.text = "\(name) \(comparison.rawValue) \(value)"
  }

  private static func column(_ name: String) throws(OptionProblem) -> CSVColumn<RunSummary>? {
    let plain = String(name.lowercased().map { " _".contains($0) ? "-" : $0 })
    let criterion = criteria.first { $0.name == plain }
    if let criterion, criterion.column == nil { return nil }
    // A heading of a table is understood, too.
    let titled = MetricCatalogue.headline.first { $0.title == name.lowercased() }?.name
    if let column = columns.first(where: { $0.name == criterion?.column ?? titled ?? name }) {
      return column
    }
    if SummaryCSV.columns.contains(where: { $0.name == name }) {
      throw OptionProblem("'\(name)' is a text, which has no limit")
    }
    let hint = nearest(to: name, among: names).map { "; did you mean '\($0)'?" } ?? ""
    throw OptionProblem(
      "'\(name)' is neither a criterion (\(criteriaNames)) nor a column of summary.csv\(hint)")
  }

  private static func limit(
    _ text: String, of column: CSVColumn<RunSummary>?, _ name: String
  ) throws(OptionProblem) -> (limit: Double, isShare: Bool) {
    let unit = column?.unit ?? "runs"
    let quantity = Quantity(text)
    switch (unit, quantity?.unit) {
    case ("", _):
      if let flag = ["true": 1.0, "false": 0][text] { return (flag, false) }
      throw OptionProblem("'\(name)' is true or false, not '\(text)'")
    // A column's name has the unit, a criterion's has not.
    case ("s", .number?) where name.hasSuffix("_s") || quantity?.value == 0,
      ("s", .span?), ("1", .number?), ("1", .percent?):
      return (quantity?.baseValue ?? 0, false)
    case ("events", .percent?), ("runs", .percent?): return (quantity?.baseValue ?? 0, true)
    case (_, .number?) where unit != "s": return (quantity?.value ?? 0, false)
    default:
      let right =
        switch unit {
        case "s": "is a time: write 20m or 90s"
        case "1": "is a ratio: write 1.5 or 150%"
        case "events": "counts events: write 0, or 0.1% of the events created"
        case "runs": "counts runs: write 0, or 5% of the runs"
        default: "is in \(unit): write a number"
        }
      throw OptionProblem("'\(text)' is no limit of '\(name)', which \(right)")
    }
  }

  /// Whether runs keep it, and by how much.
  public struct Outcome: Sendable, Hashable {
    /// `recovery <= 20m`
    public let requirement: String
    /// `recovery`
    package let name: String
    public let isMet: Bool
    /// The worst of the runs in the column's unit, of a count that of the whole fleet. `nil`: a run has no value, or never got
    /// there.
    public let worst: Double?
    /// The worst of the runs, as people read it.
    public let measured: String
    /// Runs that do not keep it.
    public let failing: Int
    public let runs: Int

    /// `✗ lost = 0: 31 at worst, not met in 7 of 10 runs`
    public var text: String {
      let mark = isMet ? "✓" : "✗"
      let rest =
        runs == 1
        ? "" : isMet ? " at worst of \(runs) runs" : " at worst, not met in \(failing) of \(runs) runs"
      return "\(mark) \(requirement): \(measured)\(rest)"
    }
  }

  /// What one run came to.
  package struct Reading: Sendable, Hashable {
    package var isKept: Bool
    /// The larger, the further from keeping it.
    package var badness: Double
    /// In the column's unit, of a count that of the whole fleet; nil: it never came.
    package var value: Double?
    /// As people read it.
    package var text: String
  }

  /// Returns what a run came to; nil where it has no value.
  package func reading(of run: RunSummary) -> Reading? {
    guard let column else {
      let number = run.fails ? 1.0 : 0
      return Reading(
        isKept: isKept(number), badness: number, value: number, text: run.fails ? "a failure" : "none")
    }
    if run.affectedEvents == 0, column.name.hasPrefix("affected_delivery") {
      return Reading(isKept: true, badness: -.infinity, text: "no event is affected")
    }
    let metric = MetricCatalogue.metric(named: column.name)
    let scale = metric?.isCount == true ? Double(run.scale) : 1
    var value = metric?.value(of: run) ?? Self.value(column.value(run))
    if case .value(let count) = value { value = .value(count * scale) }
    let created = Double(run[.createdEvents]) * scale
    let share: Double? = !isShare ? nil : created > 0 ? (value.restricted ?? 0) / created : 0
    // A time that never came is longer than any.
    guard value != .none, let number = value.isCensored ? Double.infinity : share ?? value.restricted else {
      return nil
    }
    return Reading(
      isKept: isKept(number), badness: badness(number), value: value.isCensored ? nil : value.restricted,
      text: text(value, share, column))
  }

  /// Whether a run keeps it, or has no value: without an incident there is no recovery.
  func isKept(by run: RunSummary) -> Bool { reading(of: run)?.isKept ?? true }

  /// What the run comes to that is furthest from keeping it; nil where no run has a value.
  func worst(_ runs: [[RunSummary]]) -> Reading? {
    runs.joined().compactMap(reading).max { $0.badness < $1.badness }
  }

  /// Returns the share of the runs that break it, the mean over the scenarios.
  func broken(_ runs: [[RunSummary]]) -> Double {
    runs.map { runs in Double(runs.count { !isKept(by: $0) }) / Double(max(runs.count, 1)) }.mean ?? 0
  }

  /// The columns of what the server never gets.
  private static let losses = Set(
    [MetricCatalogue.lost, MetricCatalogue.undelivered, "lost_events", "blocked_events", "doomed_events"]
      + ["devices_that_lost_events_ratio"] + (Measure.drops + Measure.blocks).map(\.summaryColumn))

  /// Whether it is on lost events, or on the devices that lose them.
  package var isOfLosses: Bool {
    column.map { Self.losses.contains($0.name) } ?? false
  }

  /// Whether it is on failed runs.
  package var isOfFailures: Bool { column == nil }

  /// How the events were given up that it is on.
  package var lossReasons: [Measure] {
    let all = Measure.drops + Measure.blocks
    switch column?.name {
    case "lost_events": return Measure.drops
    case "blocked_events": return Measure.blocks
    case "doomed_events": return [.droppedByAge, .blockedByAge]
    default: return all.first { $0.summaryColumn == column?.name }.map { [$0] } ?? all
    }
  }

  /// Whether losses are what keeps some of these runs from keeping it.
  package func isBrokenByLosses(_ runs: [RunSummary]) -> Bool {
    isOfFailures ? runs.contains { $0.fails && !$0.neverRecovers } : isOfLosses
  }

  /// Returns the outcome of runs of one scenario: all of them have to keep the requirement.
  public func outcome(of rows: [RunSummary]) -> Outcome {
    guard let column else { return failures(rows) }
    let missing = Reading(isKept: false, badness: .infinity, text: text(.none, nil, column))
    let readings = rows.map { reading(of: $0) ?? missing }
    let failing = readings.count { !$0.isKept }
    let worst = readings.max { $0.badness < $1.badness }
    return Outcome(
      requirement: text, name: name, isMet: failing == 0 && !rows.isEmpty, worst: worst?.value,
      measured: worst?.text ?? "no run", failing: failing, runs: rows.count)
  }

  private static func value(_ cell: CSVValue) -> MetricValue {
    if case .flag(let flag) = cell { return .value(flag ? 1 : 0) }
    return cell.number.map(MetricValue.value) ?? .none
  }

  private func isKept(_ number: Double) -> Bool {
    switch comparison {
    case .atMost: number <= limit
    case .atLeast: number >= limit
    case .less: number < limit
    case .more: number > limit
    case .equal: number == limit
    }
  }

  private func badness(_ number: Double) -> Double {
    switch comparison {
    case .atMost, .less: number
    case .atLeast, .more: -number
    case .equal: abs(number - limit)
    }
  }

  private func text(_ value: MetricValue, _ share: Double?, _ column: CSVColumn<RunSummary>) -> String {
    switch value {
    case .none: return "no value"
    case .censored(let horizon): return "not within \(MetricText.span(seconds: horizon))"
    case .value(let value) where column.unit.isEmpty: return value == 0 ? "false" : "true"
    case .value(let value), .time(let value, _):
      guard let share else {
        return told(value, column.unit == "s" ? MetricText.span(seconds:) : MetricText.plain)
      }
      return MetricText.plain(value) + " (\(told(share) { MetricText.plain($0 * 100) }) % of all events)"
    }
  }

  /// `over 1`: where digits do not tell a number from the limit, a word does.
  private func told(_ number: Double, _ text: (Double) -> String) -> String {
    let isUnclear = number != limit && text(number) == text(limit)
    return (isUnclear ? number > limit ? "over " : "under " : "") + text(number)
  }

  private func failures(_ rows: [RunSummary]) -> Outcome {
    let failing = rows.count(where: \.fails)
    let number = isShare ? Double(failing) / Double(max(rows.count, 1)) : Double(failing)
    let isMet = !rows.isEmpty && isKept(number)
    return Outcome(
      requirement: text, name: name, isMet: isMet, worst: Double(failing),
      measured: "\(failing) of \(FigureText.count(rows.count, "run"))", failing: isMet ? 0 : failing, runs: 1)
  }
}
