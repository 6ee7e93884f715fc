import FleetMetrics
import ScenarioFormat
import ScenarioModel

/// A full-factorial grid of variants and seeds, as independent runs whose names say what they depend on.
public struct SweepPlan: Sendable, Hashable {
  /// One cell of the grid, for every seed.
  public struct Variant: Sendable, Hashable {
    public var name: String
    public var overrides: [Override]
    /// What the variant depends on but for the seed, and the same of its twin: SHA-256, hexadecimal.
    public var digest: String
    public var twinDigest: String
    /// The first variant whose twin differs from this one's in its clients' reactions alone: its twin, if it sees no failure, is
    /// this one's too (`RunPlan`).
    public var twinGroup: Int

    public init(name: String, overrides: [Override], digest: String, twinDigest: String, twinGroup: Int) {
      self.name = name
      self.overrides = overrides
      self.digest = digest
      self.twinDigest = twinDigest
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
    var groups: [RunIdentity: Int] = [:]
    self.results = results
    self.seeds = seeds
    self.variants = variants.enumerated().map { index, variant in
      let twin = variant.scenario.withoutIncidents
      let group = RunIdentity(ignoringReactionsOf: twin)
      let first = groups[group] ?? index
      groups[group] = first
      return Variant(
        name: variant.choice.name, overrides: variant.choice.overrides,
        digest: RunName.digest(variant.scenario), twinDigest: RunName.digest(twin), twinGroup: first)
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

  /// What all variants need under some seeds, request by request: seed after seed, and under each variant after variant.
  func runs(_ seeds: [UInt64]) -> RunPlan {
    RunPlan(
      seeds.flatMap { seed in
        variants.indices.map { index in
          RunPlan.Request(
            own: run(index, seed), twin: (twin(index, seed), twin(variants[index].twinGroup, seed)))
        }
      })
  }

  func name(_ run: RunPlan.Run, _ seeds: [UInt64]) -> RunName {
    let (variant, seed) = (run.request % variants.count, seeds[run.request / variants.count])
    return run.isTwin ? twin(variant, seed) : self.run(variant, seed)
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
