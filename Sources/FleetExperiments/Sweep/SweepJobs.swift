import ScenarioModel

/// The runs of a plan, each once.
struct SweepJobs: Sendable {
  struct Job: Sendable {
    var name: RunName
    var variant: Int
    var seed: UInt64
    var isTwin: Bool

    func scenario(_ scenarios: [Scenario]) -> Scenario {
      var scenario = isTwin ? scenarios[variant].withoutIncidents : scenarios[variant]
      scenario.seed = seed
      return scenario
    }
  }

  /// What must be made whatever comes of it, in the order of the names: an order that mixes cheap variants with dear ones.
  let jobs: [Job]
  private let plan: SweepPlan
  private let names: Set<RunName>

  init(_ plan: SweepPlan) {
    self.plan = plan
    var jobs: [Job] = []
    var names: Set<RunName> = []
    for seed in plan.seeds.all {
      for (index, variant) in plan.variants.enumerated() {
        let run = Job(name: plan.run(index, seed), variant: index, seed: seed, isTwin: false)
        if names.insert(run.name).inserted { jobs.append(run) }
        guard variant.twinGroup == index else { continue }
        let twin = Job(name: plan.twin(index, seed), variant: index, seed: seed, isTwin: true)
        if names.insert(twin.name).inserted { jobs.append(twin) }
      }
    }
    self.jobs = jobs.sorted { $0.name < $1.name }
    self.names = names
  }

  /// The twins that the group of `job` needs of their own if `job` saw a failure.
  func followers(of job: Job) -> [Job] {
    guard plan.twin(job.variant, job.seed) == job.name,
      plan.variants[job.variant].twinGroup == job.variant
    else { return [] }
    var planned = names
    return plan.variants.indices.compactMap { index in
      guard index != job.variant, plan.variants[index].twinGroup == job.variant else { return nil }
      let name = plan.twin(index, job.seed)
      guard planned.insert(name).inserted else { return nil }
      return Job(name: name, variant: index, seed: job.seed, isTwin: true)
    }
  }
}
