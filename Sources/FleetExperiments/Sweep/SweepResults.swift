import FleetMetrics

/// The results of a sweep, seed by seed, from the runs that are kept.
public struct SweepResults<Store: SweepStore> {
  /// A run that is not there.
  public struct Missing: Sendable, Hashable {
    public var name: RunName
    public var variant: String
    public var seed: UInt64
    public var isTwin: Bool
  }

  private let plan: SweepPlan
  private let store: Store

  public init(_ plan: SweepPlan, in store: Store) {
    self.plan = plan
    self.store = store
  }

  /// What every variant gave under a seed, in the plan's order, or what is missing.
  public func results(of seed: UInt64) throws -> Result<[VariantResult], MissingRuns> {
    var results: [VariantResult] = []
    var missing: [Missing] = []
    // The twins that stand for a group.
    var shared: [Int: RunRecord] = [:]
    for (index, variant) in plan.variants.enumerated() {
      let record = try store.record(plan.run(index, seed))
      if record == nil {
        missing.append(
          Missing(name: plan.run(index, seed), variant: variant.name, seed: seed, isTwin: false))
      }
      if shared[variant.twinGroup] == nil {
        shared[variant.twinGroup] = try store.record(plan.twin(variant.twinGroup, seed))
      }
      let twin = try twin(of: index, seed, shared[variant.twinGroup])
      if twin == nil {
        let name = shared[variant.twinGroup] == nil ? variant.twinGroup : index
        let absent = Missing(
          name: plan.twin(name, seed), variant: plan.variants[name].name, seed: seed, isTwin: true)
        if !missing.contains(where: { $0.name == absent.name }) { missing.append(absent) }
      }
      guard let record, let twin, missing.isEmpty else { continue }
      results.append(
        VariantResult(
          name: variant.name, record: record, twin: twin,
          summary: RunAnalysis.summary(of: record, twin: twin, name: variant.name, seed: seed)))
    }
    return missing.isEmpty ? .success(results) : .failure(MissingRuns(runs: missing))
  }

  private func twin(of variant: Int, _ seed: UInt64, _ shared: RunRecord?) throws -> RunRecord? {
    guard let shared else { return nil }
    if plan.variants[variant].twinGroup == variant || shared.sawNoFailure { return shared }
    return try store.record(plan.twin(variant, seed))
  }

  /// The runs of a seed that are not there; never empty.
  public struct MissingRuns: Error {
    public var runs: [Missing]
  }
}
