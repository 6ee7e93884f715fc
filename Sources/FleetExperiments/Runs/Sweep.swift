import FleetMetrics
import FleetSimulation
import ScenarioFormat
import ScenarioModel
import Synchronization

/// Makes the runs of a sweep that are not there yet.
public enum Sweep {
  public struct Outcome: Sendable, Hashable {
    /// Runs of the shard, twins included.
    public var planned = 0
    /// The planned runs that were not made because they were there.
    public var foundComplete = 0

    package init(planned: Int = 0, foundComplete: Int = 0) {
      self.planned = planned
      self.foundComplete = foundComplete
    }
  }

  /// Makes the runs of `shard`, as many at a time as `workers`, and keeps each as soon as it is done.
  ///
  /// The plan alone decides which runs make a shard, and every run belongs to exactly one shard, twins included. A twin that
  /// stands for a group is made with those that it turns out not to stand for.
  /// - Parameter scenarios: of the plan's variants.
  /// - Throws: `CancellationError` after `control.cancel()`; otherwise the error of the first run that failed.
  package static func run(
    _ plan: SweepPlan, scenarios: [Scenario], shard: SweepShard, options: RunOptions = .init(), workers: Int,
    store: any RunStore, control: ComparisonControl = .init(), engine: Comparison.Engine? = nil
  ) throws -> Outcome {
    let seeds = plan.seeds.all
    let runs = plan.runs(seeds)
    // In the order of the names, which mixes cheap variants with dear ones.
    let all = runs.first.map { (position: $0, name: plan.name(runs.runs[$0], seeds)) }
    let mine = shard.part(of: all.sorted { $0.name < $1.name }).map(\.position)
    let outcome = Mutex(Outcome())
    let scheduler = RunScheduler<Void>(
      count: 1, options: options, engine: engine, control: control,
      open: { _ in
        var group = RunScheduler<Void>.Group(plan: runs) { run in
          let scenario = scenarios[run.request % scenarios.count]
          return run.kind.scenario(of: scenario)
            .with(seed: seeds[run.request / scenarios.count])
        }
        (group.first, group.hasValues) = (mine, false)
        return group
      },
      make: { task in
        let name = plan.name(task.run, seeds)
        let found = try store.record(name)
        if found != nil { task.drop() }
        let record = try found ?? task.record(control)
        if found == nil { try store.keep(StoredRecord.bytes(of: record), as: name) }
        outcome.withLock { outcome in
          outcome.planned += 1
          outcome.foundComplete += found == nil ? 0 : 1
        }
        return record
      },
      reduce: { _, _, _ in }, take: { _ in })
    try scheduler.run(workers: min(workers, mine.count))
    return outcome.withLock { $0 }
  }
}

/// The results of a sweep, seed by seed, from the runs that are kept.
public struct SweepResults {
  /// A run that is not there.
  public struct Missing: Sendable, Hashable {
    public var name: RunName
    public var variant: String
    public var seed: UInt64
    /// Whose reference run it is, before the variant's name: `twin of `; empty: its own run.
    public var role: String
  }

  private let plan: SweepPlan
  private let store: any RunStore

  public init(_ plan: SweepPlan, in store: any RunStore) {
    self.plan = plan
    self.store = store
  }

  /// Returns the results of every variant under a seed, in the plan's order, or the missing runs.
  public func results(of seed: UInt64) throws -> Result<[VariantResult], MissingRuns> {
    let runs = plan.runs([seed])
    var (records, missing): ([Int: RunRecord], [RunPlan.Run]) = ([:], [])
    var left = runs.first
    while let position = left.popLast() {
      if let record = try store.record(plan.name(runs.runs[position], [seed])) {
        records[position] = record
        left += runs.followers(of: position, record)
      } else {
        missing.append(runs.runs[position])
      }
    }
    if !missing.isEmpty {
      missing.sort { ($0.request, $0.kind) < ($1.request, $1.kind) }
      return .failure(
        MissingRuns(
          runs: missing.map { run in
            Missing(
              name: plan.name(run, [seed]), variant: plan.variants[run.request].name, seed: seed,
              role: run.kind.role)
          }))
    }
    return .success(
      plan.variants.enumerated().compactMap { index, variant in
        runs.records(of: index, among: records).map { record, references in
          var summary = RunAnalysis.summary(of: record, references, name: variant.name, seed: seed)
          summary.scale = Int64(variant.scale)
          return VariantResult(name: variant.name, record: record, references: references, summary: summary)
        }
      })
  }

  /// The runs of a seed that are not there; never empty.
  public struct MissingRuns: Error {
    public var runs: [Missing]
  }
}

/// A full-factorial grid of variants and seeds, as independent runs whose names say what they depend on.
public struct SweepPlan: Sendable, Hashable {
  /// One cell of the grid, for every seed.
  public struct Variant: Sendable, Hashable {
    public var name: String
    public var overrides: [Override]
    /// The SHA-256, in hexadecimal, of all that the variant and its twin depend on but for the seed.
    public var digest: String
    public var twinDigest: String
    /// Its ideal run's; empty: it has no incident, and needs none.
    public var idealDigest: String
    /// The first variant whose twin differs from this one's in its clients' reactions alone. If that twin sees no failure, it is
    /// this one's too (`RunPlan`).
    public var twinGroup: Int
    /// `Scenario.scale`.
    public var scale: Int

    public init(
      name: String, overrides: [Override], digest: String, twinDigest: String, idealDigest: String,
      twinGroup: Int, scale: Int = 1
    ) {
      self.scale = scale
      self.name = name
      self.overrides = overrides
      self.digest = digest
      self.twinDigest = twinDigest
      self.idealDigest = idealDigest
      self.twinGroup = twinGroup
    }
  }

  /// The version of the results (`CommandLineTool.resultsVersion`): runs of two versions do not mix.
  public var results: Int
  public var variants: [Variant]
  public var seeds: SeedRange

  public init(results: Int, variants: [Variant], seeds: SeedRange) {
    self.results = results
    self.variants = variants
    self.seeds = seeds
  }

  /// - `variants`: with the overrides that make them; their own seeds do not matter.
  public init(results: Int, variants: [(choice: VariantChoice, scenario: Scenario)], seeds: SeedRange) {
    var (groups, digests) = ([RunIdentity: Int](), ScenarioDigests())
    self.results = results
    self.seeds = seeds
    self.variants = variants.enumerated().map { index, variant in
      let twin = variant.scenario.withoutIncidents
      let group = RunIdentity(ignoringReactionsOf: twin)
      let first = groups[group] ?? index
      groups[group] = first
      let digest = digests.digest(of: variant.scenario)
      return Variant(
        name: variant.choice.name, overrides: variant.choice.overrides, digest: digest,
        twinDigest: variant.scenario.isItsOwnTwin ? digest : digests.digest(of: twin),
        idealDigest: variant.scenario.hasIncidents ? digests.digest(of: variant.scenario.ideal) : "",
        twinGroup: first, scale: variant.scenario.scale)
    }
  }

  // MARK: Names

  /// The run of a variant, or its twin, under a seed.
  public func run(_ variant: Int, _ seed: UInt64) -> RunName {
    RunName(digest: variants[variant].digest, seed: seed, results: results)
  }

  public func twin(_ variant: Int, _ seed: UInt64) -> RunName {
    RunName(digest: variants[variant].twinDigest, seed: seed, results: results)
  }

  func ideal(_ variant: Int, _ seed: UInt64) -> RunName? {
    let digest = variants[variant].idealDigest
    return digest.isEmpty ? nil : RunName(digest: digest, seed: seed, results: results)
  }

  /// Returns the runs that all variants need under some seeds, request by request: seed after seed, and under each variant after
  /// variant.
  func runs(_ seeds: [UInt64]) -> RunPlan {
    RunPlan(
      seeds.flatMap { seed in
        variants.indices.map { index in
          RunPlan.Request(
            own: run(index, seed), twin: (twin(index, seed), twin(variants[index].twinGroup, seed)),
            ideal: ideal(index, seed))
        }
      })
  }

  func name(_ run: RunPlan.Run, _ seeds: [UInt64]) -> RunName {
    let (variant, seed) = (run.request % variants.count, seeds[run.request / variants.count])
    return switch run.kind {
    case .own: self.run(variant, seed)
    case .twin: twin(variant, seed)
    case .ideal: ideal(variant, seed) ?? self.run(variant, seed)
    }
  }

  /// Whether everything that `other` asks for is part of this plan too.
  public func includes(_ other: SweepPlan) -> Bool {
    guard results == other.results, seeds.includes(other.seeds) else { return false }
    let mine = Dictionary(variants.map { ($0.name, $0.digest) }, uniquingKeysWith: { first, _ in first })
    return other.variants.allSatisfy { mine[$0.name] == $0.digest }
  }
}

/// `count` seeds in a row, from `first`; behind the largest comes 0.
public struct SeedRange: Sendable, Hashable {
  public var first: UInt64
  /// At least 1.
  public var count: Int

  public init(first: UInt64, count: Int) {
    self.first = first
    self.count = count
  }

  public var all: [UInt64] { (0..<UInt64(count)).map { first &+ $0 } }

  func includes(_ other: SeedRange) -> Bool {
    let offset = other.first &- first
    return offset < UInt64(count) && UInt64(other.count) <= UInt64(count) - offset
  }
}

/// A part of a sweep that one process makes: number `index`, from 0, of `count`.
public struct SweepShard: Sendable, Hashable {
  public let index: Int
  public let count: Int

  /// - Returns: nil unless 0 ≤ `index` < `count` ≤ `maximumCount`.
  public init?(index: Int, count: Int) {
    guard (1...Self.maximumCount).contains(count), (0..<count).contains(index) else { return nil }
    self.index = index
    self.count = count
  }

  public static let maximumCount = 1_000_000
  public static let whole = SweepShard(index: 0, count: 1)!

  /// `2/4`, as people count.
  public var text: String { "\(index + 1)/\(count)" }

  /// Its part of `items`: every `count`-th, so that no two parts differ by more than one in number.
  public func part<Item>(of items: [Item]) -> [Item] {
    stride(from: index, to: items.count, by: count).map { items[$0] }
  }
}

/// The shard that the command line or a job scheduler asks for.
extension SweepShard {
  /// A fault of a text: what is wrong, where, and what would be right.
  public struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
    public var description: String
    package init(description: String) { self.description = description }
  }

  /// `i/N` with 1 ≤ i ≤ N.
  public static func parse(_ text: String) throws(Problem) -> SweepShard {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    if parts.count == 2, let number = whole(parts[0]), let count = whole(parts[1]) {
      if let shard = SweepShard(index: number - 1, count: count) { return shard }
      if (1...SweepShard.maximumCount).contains(count) {
        throw Problem(
          description:
            "The value '\(text)' is invalid for '--shard <i/N>': there is no part \(number) of \(count); the first is 1/\(count), "
            + "the last \(count)/\(count).")
      }
    }
    throw Problem(
      description:
        "The value '\(text)' is invalid for '--shard <i/N>': the number of the part and of all parts, from 1/1 to "
        + "N/N with N at most \(SweepShard.maximumCount), as 2/4.")
  }

  /// The shard that a job scheduler asks for, and the variable that said so; nil if no scheduler is there.
  ///
  /// Slurm and AWS Batch say how many there are. Kubernetes does not, unless the manifest sets `JOB_COMPLETIONS`, and GNU
  /// parallel never: there `count` says it. GNU parallel counts only with `count`, since it also runs whole sweeps.
  public static func from(
    environment: [String: String], count: Int?
  ) throws(Problem) -> (shard: SweepShard, source: String)? {
    var found: [(shard: SweepShard, source: String)] = []
    for scheduler in schedulers where environment[scheduler.index] != nil {
      if scheduler.count == nil, count == nil { continue }
      found.append((try scheduler.shard(environment, given: count), scheduler.index))
    }
    guard found.count <= 1 else {
      throw Problem(
        description:
          "Two job schedulers say which shard this is, \(found.map(\.source).joined(separator: " and ")): "
          + "say it with '--shard <i/N>'.")
    }
    if found.isEmpty, let count {
      throw Problem(
        description:
          "'--shards \(count)' says how many shards there are, but nothing says which one this is: "
          + "run it under Slurm, Kubernetes, AWS Batch or GNU parallel (\(schedulers.map(\.index).joined(separator: ", "))), "
          + "or give '--shard <i/\(count)>'.")
    }
    return found.first
  }

  private static let schedulers = [
    Scheduler(
      index: "SLURM_ARRAY_TASK_ID", count: "SLURM_ARRAY_TASK_COUNT", least: "SLURM_ARRAY_TASK_MIN",
      step: "SLURM_ARRAY_TASK_STEP"),
    Scheduler(index: "JOB_COMPLETION_INDEX", count: "JOB_COMPLETIONS"),
    Scheduler(index: "AWS_BATCH_JOB_ARRAY_INDEX", count: "AWS_BATCH_JOB_ARRAY_SIZE"),
    Scheduler(index: "PARALLEL_SEQ", first: 1),
  ]

  /// The variables in which a job scheduler says which part this is.
  private struct Scheduler {
    var index: String
    /// How many parts there are.
    var count: String?
    /// The number of the first part, where the user chooses it, and how far apart the numbers are.
    var least: String?
    var step: String?
    /// The number of the first part, where nobody chooses it.
    var first = 0

    func shard(_ environment: [String: String], given: Int?) throws(Problem) -> SweepShard {
      func value(_ name: String?, _ range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let name, let text = environment[name] else { return nil }
        return try number(text, name, range)
      }
      let count = try agreed(try value(count, 1...SweepShard.maximumCount), given)
      let ids = 0...Int(UInt32.max)
      guard least != nil else {
        let number = try value(index, first...(first + count - 1)) ?? first
        return SweepShard(index: number - first, count: count) ?? .whole
      }
      // Numbers run from the least in steps; an array given as a list (`1,3,7`) has no place for its gaps.
      let (id, first) = (try value(index, ids) ?? 0, try value(least, ids) ?? 0)
      let step = try value(step, 1...Int(UInt32.max)) ?? 1
      let (steps, rest) = (id - first).quotientAndRemainder(dividingBy: step)
      if rest == 0, let shard = SweepShard(index: steps, count: count) { return shard }
      throw Problem(
        description: "\(index)=\(id) is no task of an array of \(count) from \(first) in steps of \(step): "
          + "submit it as --array=0-\(count - 1), or say the shard with '--shard <i/N>'.")
    }

    /// How many parts there are, by the scheduler or by `--shards`.
    private func agreed(_ known: Int?, _ given: Int?) throws(Problem) -> Int {
      if let known, let given, known != given {
        throw Problem(
          description:
            "\(count ?? "") says that there \(known == 1 ? "is" : "are") \(FigureText.count(known, "shard")), "
            + "'--shards \(given)' that there \(given == 1 ? "is" : "are") \(given): "
            + "leave '--shards' out, or say the shard with '--shard <i/N>'.")
      }
      if let count = known ?? given { return count }
      throw Problem(
        description: "\(index) says which shard this is, but nothing says how many there are: "
          + "give '--shards <N>', or '--shard 1/1' for the whole sweep.")
    }
  }

  private static func number(
    _ text: String, _ name: String, _ range: ClosedRange<Int>
  ) throws(Problem) -> Int {
    if let value = whole(text), range.contains(value) { return value }
    throw Problem(
      description:
        "\(name)='\(text)' is wrong: a whole number from \(range.lowerBound) to \(range.upperBound) "
        + "is expected; '--shard <i/N>' says it without the environment.")
  }

  /// Digits alone.
  private static func whole(_ text: some StringProtocol) -> Int? {
    text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
  }
}

extension RunPlan.Kind {
  /// Before a variant's name.
  fileprivate var role: String {
    switch self {
    case .own: ""
    case .twin: "twin of "
    case .ideal: "ideal run of "
    }
  }
}
