import FleetMetrics
import FleetSimulation
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import Synchronization
import UploadRetry

/// One of the scenarios that a comparison sets side by side.
public struct Variant: Sendable {
  public var name: String
  public var scenario: Scenario
  public init(name: String, scenario: Scenario) {
    (self.name, self.scenario) = (name, scenario)
  }
}

/// The result of one variant.
public struct VariantResult: Sendable {
  public var name: String
  public var record: RunRecord
  /// The runs that it is compared with.
  public var references: ReferenceRuns
  public var summary: RunSummary
  /// The same variant without its incidents.
  public var twin: RunRecord { references.twin }

  public init(name: String, record: RunRecord, references: ReferenceRuns, summary: RunSummary) {
    (self.name, self.record, self.references, self.summary) = (name, record, references, summary)
  }

  func named(_ variant: Variant) -> VariantResult {
    var result = self
    (result.name, result.summary.run) = (variant.name, variant.name)
    return result
  }
}

/// Runs variants of a scenario side by side, each with its twin (definitions.md, Recovery).
public enum Comparison {
  /// The function that runs one scenario in place of the engine, in tests.
  package typealias Engine = SharedRuns.Engine

  /// Runs every variant and its twin, as many at a time as `workers`.
  ///
  /// Results come in the order of `variants`. Nothing in them depends on the number of workers or on which run ended first. Runs
  /// that are provably the same are made once: see `RunIdentity`.
  /// - Parameter workers: runs at a time, at least 1; more than there are cores bring nothing.
  /// - Parameter engine: nil: the engine, where what runs have in common at their beginning is run once (`SharedRuns`).
  /// - Throws: `CancellationError` after `control.cancel()`; otherwise the error of the first run that failed.
  package static func run(
    _ variants: [Variant], options: RunOptions = .init(), workers: Int,
    control: ComparisonControl = .init(), engine: Engine? = nil
  ) throws -> [VariantResult] {
    let runs = Runs(
      .result, options: options, workers: min(workers, 2 * variants.count), control: control, engine: engine)
    return zip(variants, try runs.values(of: variants.map(\.scenario))).map { $1.named($0) }
  }
}

/// Lets another thread watch a comparison and stop it.
public final class ComparisonControl: Sendable {
  private struct Run {
    var duration: Span
    var control: RunControl
    var isFinished = false
  }
  private struct State {
    var runs: [Run] = []
    var isCancelled = false
    var expectedRuns = 0
    var expectedDuration: Int64 = 0
  }
  private let state = Mutex(State())

  public init() {}

  /// Asks every run to stop; the comparison throws `CancellationError` within milliseconds.
  public func cancel() {
    state.withLock { state in
      state.isCancelled = true
      for run in state.runs { run.control.cancel() }
    }
  }

  /// How far a comparison has come.
  public struct Progress: Sendable, Hashable {
    /// Runs, twins included; may grow while twins turn out to differ.
    public var runs = 0
    public var finishedRuns = 0
    /// Virtual time done and to do, summed over the runs, microseconds.
    public var virtualTime: Int64 = 0
    public var duration: Int64 = 0
    public var attempts: Int64 = 0
    /// 0 … 1.
    public var share: Double { duration > 0 ? Double(virtualTime) / Double(duration) : 0 }
  }

  public var progress: Progress {
    state.withLock { state in
      var progress = Progress()
      for run in state.runs {
        progress.runs += 1
        progress.finishedRuns += run.isFinished ? 1 : 0
        progress.duration += run.duration.microseconds
        let reached =
          run.isFinished ? run.duration : min(run.control.virtualTime, .start + run.duration) - .start
        progress.virtualTime += reached.microseconds
        progress.attempts += run.control.attempts
      }
      progress.runs = max(progress.runs, state.expectedRuns)
      progress.duration = max(progress.duration, state.expectedDuration)
      return progress
    }
  }

  /// Says how much there is to do before all of it has been added.
  /// - Parameter duration: of all these runs, microseconds.
  package func expect(runs: Int, duration: Int64) {
    state.withLock { state in
      state.expectedRuns = runs
      state.expectedDuration = duration
    }
  }

  /// Says which scenarios are left to run, in place of what it said before.
  /// - Parameter alone: those that are run without an ideal run.
  package func expect(more scenarios: [Scenario], alone: [Scenario] = []) {
    let more = RunPlan.first(of: scenarios) + RunPlan.first(of: alone, references: .twin)
    func total(_ durations: some Sequence<Span>) -> Int64 { durations.reduce(0) { $0 + $1.microseconds } }
    state.withLock { state in
      state.expectedRuns = state.runs.count + more.count
      state.expectedDuration = total(state.runs.lazy.map(\.duration)) + total(more.lazy.map(\.duration))
    }
  }

  /// The number of the run.
  /// - Parameter mostAttempts: after which it stops.
  package func add(_ scenario: Scenario, mostAttempts: Int64 = .max) -> Int {
    state.withLock { state in
      let run = Run(duration: scenario.duration, control: RunControl(mostAttempts: mostAttempts))
      if state.isCancelled { run.control.cancel() }
      state.runs.append(run)
      return state.runs.count - 1
    }
  }

  package func runControl(_ index: Int) -> RunControl { state.withLock { $0.runs[index].control } }

  func finish(_ index: Int) { state.withLock { $0.runs[index].isFinished = true } }
}

/// The memory that a comparison will need, by the number of runs at a time.
public struct ComparisonMemory: Sendable {
  /// The estimate of each run, twins included, the largest first.
  private let estimates: [MemoryEstimate]
  /// The record of every run stays until its replication ends.
  private let results: Int128
  private let replications: Int

  /// - `scenarios`: at least one.
  /// - `seeds`: how often all of them run, with different seeds.
  /// - `isLeft`: whether each run leaves memory when it is done; otherwise their records, and those of the runs that they are
  ///   compared with, stay until all runs of a seed are.
  public init(_ scenarios: [Scenario], seeds: Int = 1, isLeft: Bool = false) {
    replications = max(1, seeds)
    estimates = (isLeft ? scenarios : RunPlan.first(of: scenarios)).map { MemoryEstimate($0) }
      .sorted { $0.expected > $1.expected }
    results = isLeft ? 0 : estimates.reduce(0) { $0 + Int128($1.resultBytes) }
  }

  /// How many runs there are, and so how many can run at once.
  public var runs: Int { estimates.count.multipliedReportingOverflow(by: replications).partialValue }

  /// The run that needs most.
  public var largest: MemoryEstimate { estimates[0] }

  /// Expected bytes with `workers` runs at a time: the largest ones, and what the others leave.
  public func expected(workers: Int) -> Int64 {
    let workers = max(workers, 1)
    // A worker opens another replication when all runs of the open ones are taken.
    let held = Int128(min(replications, workers)) * results
    let bytes = (0..<min(workers, runs)).reduce(held) { sum, worker in
      let estimate = estimates[replications > 1 ? 0 : worker]
      return sum + Int128(estimate.expected - estimate.resultBytes)
    }
    return Int64(clamping: bytes)
  }

  /// The most runs at a time, up to `workers`, that stay within `limit` bytes; nil if not even one does.
  public func workersThatFit(_ limit: Int64, atMost workers: Int) -> Int? {
    (1...max(1, min(workers, runs))).last { expected(workers: $0) <= limit }
  }
}

/// How one variant differs from the scenario it is made from.
public struct VariantChoice: Sendable, Hashable {
  /// Names it in tables, files and folders: the value chosen, or of several keys `retryAfter=30s · full`.
  public var name: String
  public var overrides: [Override]
  /// The name in sentences, where figures stand beside it: the variant's name, or `capacity = 2000/s`.
  public var title: String
  /// Whether its name says all, so that it needs no key before it.
  public var isLabelled: Bool
  /// Whether it changes nothing of the scenario.
  package var isToday = false

  /// Stands behind the name where people read it.
  package var mark: String { isToday ? " (today)" : "" }

  public init(name: String, overrides: [Override], title: String? = nil, isLabelled: Bool = false) {
    (self.name, self.overrides) = (name, overrides)
    self.title = title ?? name
    self.isLabelled = isLabelled
  }

  /// Whether it is somebody's to choose. The fate of the fleet is not: incidents, the network, who opens messages when, and how many
  /// devices make how many events in which hours.
  package var isOption: Bool {
    let conditions =
      /tapi\.incidents.*|network.*|seed|duration|fleet\.[^.]+\.(devices|events|sessions|launches|lifecycle).*/
    let users = /push\.[^.]+\.(opens|delay).*/
    return !overrides.contains {
      $0.path.wholeMatch(of: conditions) != nil || $0.path.wholeMatch(of: users) != nil
    }
  }

  /// One choice of a jitter strategy: `full`, `additive:10`, `additive:10+clamp`.
  public static func jitter(_ name: String) -> VariantChoice {
    VariantChoice(name: name, overrides: Override.choosing(Override.jitterPath, name), isLabelled: true)
  }

  /// The choices along one axis.
  public static func axis(_ axis: ScenarioFile.Axis) -> [VariantChoice] {
    let names = names(axis)
    return zip(axis.values, names).map { value, name in
      let overrides = Override.choosing(axis.path, value)
      let isLabelled =
        [Override.jitterPath, Override.clientPath].contains(axis.path)
        || overrides.last?.settingsFile == value
      return VariantChoice(
        name: name, overrides: overrides, title: isLabelled ? name : title(of: axis.path, name),
        isLabelled: isLabelled)
    }
  }

  /// The values; of files in folders their names, of objects their members, where these differ.
  private static func names(_ axis: ScenarioFile.Axis) -> [String] {
    let values = axis.values
    let objects = values.map { isPlain($0) ? nil : (try? JSON5Parser.parse($0)).map(members) }
    let sets = objects.compactMap { $0.map(Set.init) }
    let common = sets.dropFirst().reduce(sets.first ?? []) { $0.intersection($1) }
    // What all of them have tells none apart, unless one has nothing else.
    let isShort = sets.allSatisfy { !$0.isSubset(of: common) }
    let isFile = [Override.settingsPath, Override.clientPath].contains(axis.path)
    let names = zip(values, objects).map { value, members in
      guard let members else {
        return isFile && isPlain(value) ? String(value.split(separator: "/").last ?? "") : value
      }
      return members.filter { !isShort || !common.contains($0) }.joined(separator: ", ")
    }
    return Set(names).count == names.count && !names.contains("") ? names : values
  }

  private static func isPlain(_ value: String) -> Bool { !value.hasPrefix("{") && !value.hasPrefix("[") }

  /// The members of an object as people say them, `longest 5s`; of a list its elements.
  private static func members(_ value: PositionedValue) -> [String] {
    switch value.content {
    case .null: ["null"]
    case .bool(let isTrue): ["\(isTrue)"]
    case .number(let text), .string(let text): [text]
    case .array(let elements):
      [
        elements.isEmpty
          ? "[]" : elements.map { members($0).joined(separator: ", ") }.joined(separator: " + ")
      ]
    case .object(let own) where own.isEmpty: ["{}"]
    case .object(let own):
      own.flatMap { one in members(one.value).map { one.key + (one.value.members == nil ? " " : ".") + $0 } }
    }
  }

  /// Shares of every cohort that have other Settings from the start.
  /// - Parameter shares: parts per million.
  package static func shares(_ shares: [Int64], of file: String) -> [VariantChoice] {
    shares.map { share in
      let percent = "\(Units.text(partsPerMillion: share).dropLast()) %"
      return VariantChoice(
        name: "\(percent) on \(file)", overrides: Override.rollout(of: file, partsPerMillion: share),
        isLabelled: true)
    }
  }

  /// Returns `capacity = 2000/s`, with as many keys as tell it from the other keys of Settings.
  private static func title(of path: String, _ name: String) -> String {
    let keys = path.split(separator: ".").map(String.init)
    let last = keys.last ?? path
    let isAmbiguous = HTTPConfig.knownKeyPaths.count { $0.hasSuffix("." + last) } > 1
    return (isAmbiguous ? keys.suffix(2).joined(separator: ".") : last) + " = " + name
  }

  /// Every combination of one choice from each axis, the last axis turning fastest; none for no axes.
  ///
  /// With several axes each value is named with its key, `retryAfter=30s · full`; strategies need none.
  public static func combinations(_ axes: [[VariantChoice]]) -> [VariantChoice] {
    guard axes.count > 1 else { return axes.first ?? [] }
    let labels = labels(of: axes.map { $0.first?.overrides.first?.path ?? "" })
    let named = zip(axes, labels).map { axis, label in
      let prefix = axis.allSatisfy(\.isLabelled) ? "" : label + "="
      return axis.map { VariantChoice(name: prefix + $0.name, overrides: $0.overrides) }
    }
    return named.dropFirst().reduce(named[0]) { combined, axis in
      combined.flatMap { left in
        axis.map { right in
          VariantChoice(
            name: left.name + " · " + right.name, overrides: left.overrides + right.overrides)
        }
      }
    }
  }

  /// As much of the end of each path as tells it from the others.
  private static func labels(of paths: [String]) -> [String] {
    paths.map { path in
      let keys = path.split(separator: ".")
      let labels = keys.indices.reversed().map { keys[$0...].joined(separator: ".") }
      return labels.first { label in !paths.contains { $0 != path && ".\($0)".hasSuffix(".\(label)") } }
        ?? path
    }
  }

  /// Splits `a,b,c` at the commas that stand outside quotes and brackets, so that JSON5 values keep theirs;
  /// trims spaces.
  public static func splitList(_ text: String) -> [String] {
    var items = [""]
    var depth = 0
    var quote: Character?
    var isEscaped = false
    for character in text {
      switch character {
      case "\"", "'":
        if quote == nil { quote = character } else if quote == character, !isEscaped { quote = nil }
      case "[", "{", "(": depth += quote == nil ? 1 : 0
      case "]", "}", ")": depth -= quote == nil ? 1 : 0
      case "," where quote == nil && depth <= 0:
        items.append("")
        continue
      default: break
      }
      isEscaped = character == "\\" && quote != nil && !isEscaped
      items[items.count - 1].append(character)
    }
    return items.map { item in
      let text = item.drop(while: \.isWhitespace)
      return String(text.prefix(text.count - text.reversed().prefix(while: \.isWhitespace).count))
    }
  }
}
