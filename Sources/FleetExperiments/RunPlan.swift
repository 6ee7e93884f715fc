import FleetMetrics
import ScenarioModel

/// Which runs a comparison needs, each once.
struct RunPlan: Sendable {
  struct Job: Sendable {
    var identity: RunIdentity
    var scenario: Scenario
    /// For a twin: itself, and the group of twins that differ in their waits alone.
    var twin: TwinRecords.Key?
  }

  /// By variant.
  var runs: [RunIdentity] = []
  var twins: [TwinRecords.Key] = []
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
      let twin = TwinRecords.Key(
        identity: RunIdentity(scenario), group: RunIdentity(ignoringReactionsOf: scenario))
      twins.append(twin)
      guard planned.insert(twin.identity).inserted else { continue }
      let job = Job(identity: twin.identity, scenario: scenario, twin: twin)
      if groups.insert(twin.group).inserted { firstJobs.append(job) } else { conditionalJobs.append(job) }
    }
    for variant in variants {
      let identity = RunIdentity(variant.scenario)
      runs.append(identity)
      // A variant without incidents is its own twin; two equal variants are one run.
      guard planned.insert(identity).inserted || conditionalJobs.contains(where: { $0.identity == identity })
      else { continue }
      conditionalJobs.removeAll { $0.identity == identity }
      firstJobs.append(Job(identity: identity, scenario: variant.scenario, twin: nil))
    }
  }

  /// What is done and what is to do, under the comparison's lock.
  struct State {
    var jobs: [Job]
    private var untaken: [Int]
    private var records: [RunIdentity: RunRecord] = [:]
    private var twins = TwinRecords()

    init(jobs: [Job]) {
      self.jobs = jobs
      untaken = Array(jobs.indices)
    }

    /// Whether there is a run left to take.
    var hasJobs: Bool { !untaken.isEmpty }

    /// The first run left that may be taken.
    mutating func take(where isFree: (Int) -> Bool) -> (Int, Job)? {
      guard let place = untaken.firstIndex(where: isFree) else { return nil }
      let index = untaken.remove(at: place)
      return (index, jobs[index])
    }

    /// Takes a run's record and returns the jobs that it makes necessary.
    mutating func finish(_ job: Job, _ record: RunRecord, plan: RunPlan) -> [Job] {
      records[job.identity] = record
      guard let twin = job.twin else { return [] }
      twins.add(record, as: twin)
      if record.sawNoFailure { return [] }
      let more = plan.conditionalJobs.filter { $0.twin?.group == twin.group }.map { job in
        var job = job
        job.twin = nil
        return job
      }
      untaken += jobs.count..<jobs.count + more.count
      jobs += more
      return more
    }

    func record(of identity: RunIdentity) -> RunRecord? { records[identity] }
    func record(ofTwin twin: TwinRecords.Key) -> RunRecord? { records[twin.identity] ?? twins[twin] }
  }
}
