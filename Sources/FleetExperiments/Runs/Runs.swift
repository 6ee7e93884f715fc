import FleetMetrics
import FleetSimulation
import ScenarioModel
import Synchronization

/// The part of each run that a study keeps.
package struct Recording<Value: Sendable>: Sendable {
  /// How it is written down, so that a store can keep it.
  package struct Text: Sendable {
    /// Tells it from whatever else is kept of the same run.
    var name: String
    /// Another text that begins with this one.
    var isPartOf: String?
    var write: @Sendable (Value, inout StoredLines.Writer) -> Void
    /// A run does not know what part of a larger fleet it is, so the scenario that is asked for says it.
    var read: @Sendable (inout StoredLines.Reader, Scenario) throws(StoredRecord.Problem) -> Value
  }

  /// The other runs of whose records it is made.
  let references: RunPlan.References
  /// nil: no store keeps it.
  package let text: Text?
  let value: @Sendable (Scenario, _ record: RunRecord, ReferenceRuns) throws -> Value

  package init(
    references: RunPlan.References = .twinAndIdeal, text: Text? = nil,
    value: @escaping @Sendable (Scenario, _ record: RunRecord, ReferenceRuns) throws -> Value
  ) {
    (self.references, self.text, self.value) = (references, text, value)
  }
}

/// Runs of scenarios with their twins: whoever asks for one gets the part that a study keeps, from memory, from a store, or by
/// running. Results do not depend on the number of workers, nor on what was there before. Example:
///
/// ```swift
/// let runs = Runs(.summary, in: store, workers: 4)
/// let summaries = try runs.values(of: seeds.map { scenario.with(seed: $0) })
/// ```
package final class Runs<Value: Sendable>: Sendable {
  private let recording: Recording<Value>
  private let store: (any RunStore)?
  private let options: RunOptions
  private let workers: Int
  private let control: ComparisonControl
  private let engine: Comparison.Engine?
  private let memory = Mutex(Memory())
  /// For what is asked for later.
  private let kept = (ends: SharedEnds(), twins: Twins())

  /// The values that `values(of:)` may be asked for again.
  private struct Memory {
    var values: [Scenario: Value] = [:]
    /// By scenarios without their limits on retries.
    var similar: [Scenario: [Similar]] = [:]
    var readBack: Set<Scenario> = []
    /// By scenarios without their seeds: SHA-256 of all that a run depends on but for its seed.
    var digests: [Scenario: String] = [:]

    /// Returns the value of another scenario that comes to the same. The two differ in Settings that no client asked for, such as
    /// waits for 429s where the server sends none. A higher limit on retries is such a difference, too, where a lower one was
    /// never reached.
    func similar(to scenario: Scenario) -> Value? {
      let (key, counts) = scenario.withoutRetryCounts
      return similar[key]?.first { entry in
        entry.counts == counts || !entry.reachedLimit && zip(counts, entry.counts).allSatisfy { $0 >= $1 }
      }?.value
    }
  }
  private struct Similar {
    var counts: [Int]
    var reachedLimit: Bool
    var value: Value
  }

  /// - Parameter store: nil: memory alone.
  /// - Parameter options: those of each run; with several workers a run has one thread unless it says otherwise.
  package init(
    _ recording: Recording<Value>, in store: (any RunStore)? = nil, options: RunOptions = .init(),
    workers: Int, control: ComparisonControl = .init(), engine: Comparison.Engine? = nil
  ) {
    var options = options
    if workers > 1, options.threads == nil { options.threads = 1 }
    (self.recording, self.store, self.options) = (recording, store, options)
    self.workers = max(1, workers)
    (self.control, self.engine) = (control, engine)
  }

  /// Values made anew and values found in the store, each once.
  package var counts: (made: Int, readBack: Int) {
    memory.withLock { ($0.values.count - $0.readBack.count, $0.readBack.count) }
  }

  /// Returns what is kept of each of `scenarios`, in their order.
  /// - Throws: `CancellationError` after the control's `cancel()`; otherwise the first error of a run or of the store.
  package func values(of scenarios: [Scenario]) throws -> [Value] {
    let scenarios = scenarios.map(\.withoutQuestion)
    var left: [Scenario] = []
    var seen: Set<Scenario> = []
    for scenario in scenarios where seen.insert(scenario).inserted {
      if memory.withLock({ $0.values[scenario] != nil }) { continue }
      if let value = try read(scenario) {
        memory.withLock { memory in
          memory.values[scenario] = value
          memory.readBack.insert(scenario)
        }
      } else if let value = memory.withLock({ $0.similar(to: scenario) }) {
        try remember(value, of: scenario)
      } else {
        left.append(scenario)
      }
    }
    if !left.isEmpty { try make(left) }
    return memory.withLock { memory in scenarios.compactMap { memory.values[$0] } }
  }

  /// The same, with nil for those that were not there yet when `cancel()` came.
  package func valuesUntilCancelled(of scenarios: [Scenario]) throws -> [Value?] {
    do {
      return try values(of: scenarios)
    } catch is CancellationError {
      return memory.withLock { memory in scenarios.map { memory.values[$0.withoutQuestion] } }
    }
  }

  private func make(_ scenarios: [Scenario]) throws {
    let scheduler = RunScheduler<Void>(
      count: 1, options: options, engine: engine, control: control, keeping: kept,
      open: { _ in .init(scenarios, references: self.recording.references) },
      reduce: { scenario, record, references in
        let value = try self.recording.value(scenario, record, references)
        let (key, counts) = scenario.withoutRetryCounts
        let reachedLimit = record.reachedRetryLimit || references.twin.reachedRetryLimit
        self.memory.withLock {
          $0.similar[key, default: []].append(
            Similar(counts: counts, reachedLimit: reachedLimit, value: value))
        }
        try self.remember(value, of: scenario)
      },
      take: { _ in })
    try scheduler.run(workers: workers)
  }

  /// Makes one group of scenarios after another. Nothing of them stays in memory.
  /// - Parameter take: takes what is kept of each, in the order of groups.
  package func groups(
    _ count: Int, of scenarios: @escaping @Sendable (Int) -> [Scenario],
    take: @escaping @Sendable ([Value]) -> Void
  ) throws {
    let scheduler = RunScheduler<Value>(
      count: count, options: options, engine: engine, control: control,
      open: { number in
        let scenarios = scenarios(number)
        let known = try scenarios.map { try self.read($0) }
        return .init(scenarios, known: known, references: self.recording.references)
      },
      reduce: { scenario, record, references in
        let value = try self.recording.value(scenario, record, references)
        try self.write(value, of: scenario)
        return value
      }, take: take)
    try scheduler.run(workers: workers)
  }

  // MARK: The store

  private func read(_ scenario: Scenario) throws -> Value? {
    guard let store, let text = recording.text else { return nil }
    let digest = digest(scenario)
    for kept in [text.name, text.isPartOf].compactMap(\.self) {
      let name = RunName(digest: digest, seed: scenario.seed, results: store.results, kept: kept)
      guard let bytes = try store.read(name.file) else { continue }
      do throws(StoredRecord.Problem) {
        var reader = StoredLines.Reader(try name.body(of: bytes))
        let value = try text.read(&reader, scenario)
        if kept == text.name { try reader.end() }
        return value
      } catch {
        store.warn(name.file, error)
      }
    }
    return nil
  }

  private func write(_ value: Value, of scenario: Scenario) throws {
    guard let store, let text = recording.text else { return }
    let name = RunName(
      digest: digest(scenario), seed: scenario.seed, results: store.results, kept: text.name)
    var writer = StoredLines.Writer()
    text.write(value, &writer)
    try store.write(name.file, name.text(of: writer.bytes))
  }

  private func digest(_ scenario: Scenario) -> String {
    let scenario = scenario.withoutQuestion.with(seed: 0)
    if let known = memory.withLock({ $0.digests[scenario] }) { return known }
    let text = scenario.normalisedJSON + (scenario.isIdeal ? "ideal" : "")
    let digest = SHA256.hexadecimal(Array(text.utf8))
    memory.withLock { $0.digests[scenario] = digest }
    return digest
  }

  private func remember(_ value: Value, of scenario: Scenario) throws {
    try write(value, of: scenario)
    memory.withLock { $0.values[scenario] = value }
  }
}

extension RunSummary {
  fileprivate init(_ scenario: Scenario, _ record: RunRecord, _ references: ReferenceRuns) {
    self = RunAnalysis.summary(of: record, references, name: "", seed: scenario.seed).scaled(as: scenario)
  }

  fileprivate func scaled(as scenario: Scenario) -> RunSummary {
    var summary = self
    summary.scale = Int64(scenario.scale)
    return summary
  }
}

extension Recording where Value == RunSummary {
  /// A row of `summary.csv`, without its name.
  package static let summary = summary("summary", isPartOf: ReplicationSample.name, .twinAndIdeal)

  /// A row of which `fails` alone may be asked, and what was lost. Held against the twin alone, a run that does not fail does not
  /// fail against an ideal run either: no client is ahead of that, and no fewer events are affected.
  package static let failure = summary("failure", isPartOf: nil, .twin)

  private static func summary(
    _ name: String, isPartOf whole: String?, _ references: RunPlan.References
  ) -> Recording {
    Recording(
      references: references,
      text: Text(
        name: name, isPartOf: whole, write: { StoredSummary.write($0, to: &$1) },
        read: { reader, scenario throws(StoredRecord.Problem) in
          try StoredSummary.read(&reader).scaled(as: scenario)
        })
    ) { scenario, record, references in RunSummary(scenario, record, references) }
  }
}

/// The part of a run that replications keep.
package struct ReplicationSample: Sendable {
  var summary: RunSummary
  var curves: CurveSample

  static let name = "replication"
}

extension Recording where Value == ReplicationSample {
  /// A row of `summary.csv` without its name, and the curves of a report.
  package static let replication = Recording(
    text: Text(
      name: ReplicationSample.name,
      write: { sample, writer in
        StoredSummary.write(sample.summary, to: &writer)
        sample.curves.write(to: &writer)
      },
      read: { reader, scenario throws(StoredRecord.Problem) in
        ReplicationSample(
          summary: try StoredSummary.read(&reader).scaled(as: scenario), curves: try CurveSample(&reader))
      })
  ) { scenario, record, references in
    ReplicationSample(
      summary: RunSummary(scenario, record, references),
      curves: CurveSample(record, twin: references.twin))
  }
}

extension Recording where Value == VariantResult {
  /// Everything, which no store keeps.
  package static let result = Recording { scenario, record, references in
    VariantResult(
      name: "", record: record, references: references, summary: RunSummary(scenario, record, references))
  }
}

extension Recording where Value == CalibrationStudy.Counts {
  /// Returns the recording of the counts that can be compared with the observed series of a study.
  package static func counts(of study: CalibrationStudy) -> Recording {
    let columns = study.observed.columns.map(\.kind.rawValue).joined(separator: ",")
    let rows = study.observed.rows.count
    return Recording(
      references: .none,
      text: Text(
        name: "counts " + columns + " " + study.observed.rows.map(String.init).joined(separator: ","),
        write: { counts, writer in
          for column in counts { writer.line("column", column.lazy.map { Int64($0) }) }
        },
        read: { reader, _ throws(StoredRecord.Problem) in
          var counts: CalibrationStudy.Counts = []
          for _ in study.observed.columns {
            counts.append(try reader.values("column", count: rows).map(Double.init))
          }
          return counts
        })
    ) { _, record, _ in study.counts(of: record.series) }
  }
}

/// Where finished runs are kept by name, so that what was stopped goes on where it stood and studies share their runs.
///
/// Any number of processes may fill one store at once: nothing in it is ever changed.
public protocol RunStore: Sendable {
  /// The version of the results (`CommandLineTool.resultsVersion`) that is kept here.
  var results: Int { get }
  /// nil if it is not there.
  func read(_ file: String) throws -> [UInt8]?
  /// Keeps a file whole or not at all.
  func write(_ file: String, _ bytes: [UInt8]) throws
  /// Says that a file is damaged and will be made again.
  func warn(_ file: String, _ problem: StoredRecord.Problem)
}

/// The name of a run in a store: the SHA-256 of all it depends on and of what is kept of it. The text of a run is what it is,
/// what came of it, and a digest of both.
struct RunName {
  private let identity: String
  private let opening: String
  private static let ending = "sha256 "

  /// - Parameters:
  ///   - digest: of the scenario, whatever its seed.
  ///   - kept: what is kept of the run.
  init(digest: String, seed: UInt64, results: Int, kept: String) {
    let text = "fleetsim results \(results)\nscenario \(digest)\nseed \(seed)\nkept \(kept)\n"
    identity = SHA256.hexadecimal(Array(text.utf8))
    opening = "fleetsim run of results version \(results)\nidentity \(identity)\n"
  }

  var file: String { "\(identity.prefix(24)).run" }

  func text(of body: [UInt8]) -> [UInt8] {
    let text = Array(opening.utf8) + body
    return text + Array("\(Self.ending)\(SHA256.hexadecimal(text))\n".utf8)
  }

  func body(of text: [UInt8]) throws(StoredRecord.Problem) -> ArraySlice<UInt8> {
    guard text.starts(with: opening.utf8) else {
      throw StoredRecord.Problem(description: "it does not begin as this run does")
    }
    let (start, end) = (opening.utf8.count, text.count - (Self.ending.utf8.count + 64 + 1))
    guard end >= start else { throw StoredRecord.Problem(description: "it is cut off") }
    guard text == self.text(of: Array(text[start..<end])) else {
      throw StoredRecord.Problem(description: "its SHA-256 is not the one in its last line")
    }
    return text[start..<end]
  }
}

extension Scenario {
  package func with(seed: UInt64) -> Scenario {
    var scenario = self
    scenario.seed = seed
    return scenario
  }

  /// The scenario without its question, on which runs do not depend.
  var withoutQuestion: Scenario {
    var scenario = self
    scenario.question = nil
    return scenario
  }
}
