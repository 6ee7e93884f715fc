import FleetMetrics
import ScenarioModel

/// Which runs a comparison needs, each once.
struct RunPlan: Sendable {
  struct Job: Sendable {
    var identity: RunIdentity
    var scenario: Scenario
    /// For a twin: the group of twins that differ in their waits alone.
    var group: RunIdentity?
  }
  struct Twin: Sendable {
    var identity: RunIdentity
    var group: RunIdentity
  }

  /// By variant.
  var runs: [RunIdentity] = []
  var twins: [Twin] = []
  /// Twins first: whether the rest of a group needs twins of its own is then known while there is other work
  /// to do.
  var firstJobs: [Job] = []
  /// Twins needed only if the first of their group saw a failure.
  var conditionalJobs: [Job] = []

  init(_ variants: [Variant]) {
    var planned: Set<RunIdentity> = []
    var groups: Set<RunIdentity> = []
    for variant in variants {
      let scenario = variant.scenario.withoutIncidents
      let twin = Twin(identity: RunIdentity(scenario), group: RunIdentity(ignoringWaitsOf: scenario))
      twins.append(twin)
      guard planned.insert(twin.identity).inserted else { continue }
      let job = Job(identity: twin.identity, scenario: scenario, group: twin.group)
      if groups.insert(twin.group).inserted { firstJobs.append(job) } else { conditionalJobs.append(job) }
    }
    for variant in variants {
      let identity = RunIdentity(variant.scenario)
      runs.append(identity)
      // A variant without incidents is its own twin; two equal variants are one run.
      guard planned.insert(identity).inserted || conditionalJobs.contains(where: { $0.identity == identity })
      else { continue }
      conditionalJobs.removeAll { $0.identity == identity }
      firstJobs.append(Job(identity: identity, scenario: variant.scenario, group: nil))
    }
  }

  /// What is done and what is to do, under the comparison's lock.
  struct State {
    var jobs: [Job]
    private var next = 0
    private var records: [RunIdentity: RunRecord] = [:]
    /// The first twin of each group, if it saw no failure: it stands for the whole group.
    private var sharedTwins: [RunIdentity: RunRecord] = [:]
    /// The first failure; a cancellation counts only if there is nothing else to report, for it is what a
    /// failure brings on the other runs.
    private(set) var failure: (any Error)?

    init(jobs: [Job]) { self.jobs = jobs }

    /// Whether there is a run left to take.
    var hasJobs: Bool { next < jobs.count }

    mutating func take() -> (Int, Job)? {
      guard failure == nil, next < jobs.count else { return nil }
      defer { next += 1 }
      return (next, jobs[next])
    }

    /// Takes a run's outcome and returns the jobs that it makes necessary.
    mutating func finish(_ job: Job, _ outcome: Result<RunRecord, any Error>, plan: RunPlan) -> [Job] {
      switch outcome {
      case .failure(let error):
        if failure == nil || failure is CancellationError { failure = error }
        return []
      case .success(let record):
        records[job.identity] = record
        guard let group = job.group else { return [] }
        if record.sawNoFailure {
          sharedTwins[group] = record
          return []
        }
        let more = plan.conditionalJobs.filter { $0.group == group }.map { job in
          var job = job
          job.group = nil
          return job
        }
        jobs += more
        return more
      }
    }

    func record(of identity: RunIdentity) -> RunRecord? { records[identity] }
    func record(ofTwin twin: Twin) -> RunRecord? { records[twin.identity] ?? sharedTwins[twin.group] }
  }
}
