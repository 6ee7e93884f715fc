extension ReplicatedComparison {
  /// A comparison of runs that were made elsewhere, to which replications are added in the order of their seeds.
  public init(merging variants: [String], seeds: SeedRange) {
    self.init(variants: variants, plan: ReplicationPlan(firstSeed: seeds.first, count: seeds.count))
  }

  /// Adds what every variant gave under the next seed.
  public mutating func add(_ results: [VariantResult]) {
    _ = Replications.add(Replications.reduced(results), to: &self)
  }
}
