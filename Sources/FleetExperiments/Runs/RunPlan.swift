import FleetMetrics
import FleetSimulation
import ScenarioModel

/// What a run depends on: two scenarios with equal identities give equal records, because a run depends on nothing else.
///
/// It is the scenario itself, so a property added to `Scenario` later counts here without anybody remembering it.
package struct RunIdentity: Hashable, Sendable {
  private let scenario: Scenario

  package init(_ scenario: Scenario) {
    var scenario = scenario
    scenario.question = nil
    scenario.scale = 1
    self.scenario = scenario
  }

  /// The identity of `scenario` but for what its clients do after a failed upload.
  ///
  /// If a run saw no failure, no client ever asked its Settings: waits, statuses and ages are looked up only after one,
  /// and so are counts as long as they allow at least one failure. That is what lets strategies share a healthy twin.
  package init(ignoringReactionsOf scenario: Scenario) { self.init(scenario.withoutReactions) }
}

extension RunRecord {
  /// Whether no upload of the run failed in any way that a client could notice, so that no retry was ever
  /// decided.
  package var sawNoFailure: Bool {
    series.rows.allSatisfy { row in
      row[.answers429] == 0 && row[.answers503] == 0 && row.answersOther == 0 && row[.unanswered] == 0
        && row[.timeouts] == 0 && row.droppedEvents == 0 && row[.retries] == 0
    }
  }
}

/// Which runs some requests need, each once: a request's own, and its twin's, which others may share.
///
/// Twins that differ in their clients' reactions alone are a group. The first of a group is made in any case and stands for the
/// others if no upload failed in it; otherwise they follow it.
struct RunPlan: Sendable {
  /// A run, by the first request that needs it. Runs are known by their positions in `runs`.
  struct Run: Sendable, Hashable {
    var request: Int
    var isTwin: Bool

    func scenario(_ requests: [Scenario]) -> Scenario {
      isTwin ? requests[request].withoutIncidents : requests[request]
    }
  }

  /// What a request needs, by identities of any kind.
  struct Request<Identity: Hashable> {
    var own: Identity
    /// nil: the request needs no twin.
    var twin: (own: Identity, group: Identity)?
  }

  private(set) var runs: [Run] = []
  /// By request.
  private(set) var own: [Int] = []
  private(set) var twins: [Int] = []
  /// What must be made whatever comes of it. Twins come first: whether the rest of a group needs twins of its own is then known
  /// while there is other work to do.
  private(set) var first: [Int] = []
  /// Of a twin for which another may stand: that one.
  private var leaders: [Int: Int] = [:]
  private var followers: [Int: [Int]] = [:]

  init<Identity>(_ requests: [Request<Identity>]) {
    var positions: [Identity: Int] = [:]
    var leaderOfGroup: [Identity: Int] = [:]
    func position(of identity: Identity, _ run: Run, in plan: inout RunPlan) -> (Int, isNew: Bool) {
      if let position = positions[identity] { return (position, false) }
      positions[identity] = plan.runs.count
      plan.runs.append(run)
      return (plan.runs.count - 1, true)
    }
    for (number, request) in requests.enumerated() {
      guard let twin = request.twin else { continue }
      let (position, isNew) = position(of: twin.own, Run(request: number, isTwin: true), in: &self)
      twins.append(position)
      guard isNew else { continue }
      if let leader = leaderOfGroup[twin.group] {
        leaders[position] = leader
        followers[leader, default: []].append(position)
      } else {
        leaderOfGroup[twin.group] = position
        first.append(position)
      }
    }
    for (number, request) in requests.enumerated() {
      // A request without incidents is its own twin; two equal requests are one run.
      let (position, isNew) = position(of: request.own, Run(request: number, isTwin: false), in: &self)
      own.append(position)
      if let leader = leaders.removeValue(forKey: position) {
        followers[leader]?.removeAll { $0 == position }
        first.append(position)
      } else if isNew {
        first.append(position)
      }
    }
    if twins.isEmpty { twins = own }
  }

  /// The plan of scenarios, by what their runs depend on.
  init(_ scenarios: [Scenario], needTwins: Bool = true) {
    self.init(
      scenarios.map { scenario in
        let twin = scenario.withoutIncidents
        return Request(
          own: RunIdentity(scenario),
          twin: needTwins ? (RunIdentity(twin), RunIdentity(ignoringReactionsOf: twin)) : nil)
      })
  }

  /// The runs that scenarios need whatever comes of them.
  static func first(of scenarios: [Scenario]) -> [Scenario] {
    let plan = RunPlan(scenarios)
    return plan.first.map { plan.runs[$0].scenario(scenarios) }
  }

  /// The twins for which that at `position` may stand.
  func followers(of position: Int) -> [Int] { followers[position] ?? [] }

  /// Those that are needed, now that `record` came of it.
  func followers(of position: Int, _ record: RunRecord) -> [Int] {
    let followers = followers(of: position)
    return followers.isEmpty || record.sawNoFailure ? [] : followers
  }

  /// The runs that a request may read: its own, its twin, and the one that may stand for that.
  func runs(of request: Int) -> Set<Int> {
    Set([own[request], twins[request]] + (leaders[twins[request]].map { [$0] } ?? []))
  }

  /// What a request needs, of the runs that are there; nil: something is missing.
  func records(of request: Int, among records: [Int: RunRecord]) -> (own: RunRecord, twin: RunRecord)? {
    guard let record = records[own[request]] else { return nil }
    let leader = leaders[twins[request]].flatMap { records[$0] }
    guard let twin = records[twins[request]] ?? leader.flatMap({ $0.sawNoFailure ? $0 : nil }) else {
      return nil
    }
    return (record, twin)
  }
}
