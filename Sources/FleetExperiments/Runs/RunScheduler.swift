import FleetMetrics
import FleetSimulation
import ScenarioModel
import Synchronization

/// Makes the runs that groups of requests need, group after group, on several threads, and keeps no more than it must.
///
/// A worker opens a group only when no run of an open one is left to take. So at most as many groups as there are workers hold
/// records. A request is reduced to its value as soon as its records are there, and a record goes when no request needs it any
/// more. Values are handed over in the order of groups and requests. So nothing that comes out depends on the number of workers.
final class RunScheduler<Value: Sendable>: Sendable {
  /// Some requests, whose runs are planned together.
  struct Group: Sendable {
    let plan: RunPlan
    /// The requests of the plan.
    let scenarios: [Scenario]
    /// Runs that are there.
    var records: [Int: RunRecord] = [:]
    /// Values that are there, nil for each request of the plan; nil: there are none.
    let known: [Value?]?

    /// - Parameter known: the values that are there; nil: none is.
    init(_ scenarios: [Scenario], known: [Value?]? = nil, references: RunPlan.References) {
      self.scenarios = scenarios.indices.filter { known?[$0] == nil }.map { scenarios[$0] }
      plan = RunPlan(self.scenarios, references: references)
      self.known = known
    }
  }

  /// A run of a group, as whoever makes it sees it.
  struct Task: Sendable {
    fileprivate var group: Int
    /// In the group's plan.
    fileprivate var position: Int
    var run: RunPlan.Run
    var scenario: Scenario
    fileprivate var slot: Int
    fileprivate var number: Int
    fileprivate var shared: SharedRuns
  }

  private struct Open {
    let group: Group
    let shared: SharedRuns
    /// The runs to be made; `head` tells how many of them have been taken.
    var queue: [Int] = []
    var head = 0
    /// Among the control's runs and among the shared ones.
    var slots: [Int: Int] = [:]
    var numbers: [Int: Int] = [:]
    var records: [Int: RunRecord]
    /// By run: the requests without a value that may read it.
    var readers: [Int: Set<Int>] = [:]
    var values: [Value?]
    /// Values that are still missing.
    var missing: Int
    var running = 0

    init(_ group: Group, _ shared: SharedRuns, _ control: ComparisonControl) {
      self.group = group
      self.shared = shared
      records = group.records
      let count = group.plan.own.count
      values = Array(repeating: nil, count: count)
      missing = count
      for request in 0..<count {
        for run in group.plan.runs(of: request) { readers[run, default: []].insert(request) }
      }
      let first = group.plan.first
      for position in first + first.flatMap(group.plan.followers) where records[position] == nil {
        number(position)
      }
      enqueue(first, control)
      for (position, record) in group.records { follow(position, record, control) }
    }

    private mutating func number(_ position: Int) {
      if numbers[position] == nil { numbers[position] = shared.expect(scenario(of: position)) }
    }

    /// Those that share a beginning stand one after another, so that few beginnings wait at a time.
    private mutating func enqueue(_ positions: [Int], _ control: ComparisonControl) {
      var ordered: [(family: Int, position: Int)] = []
      for position in positions where records[position] == nil {
        number(position)
        ordered.append((shared.family(of: numbers[position]!), position))
        slots[position] = control.add(scenario(of: position))
      }
      let order = ordered.indices.sorted { (ordered[$0].family, $0) < (ordered[$1].family, $1) }
      queue += order.map { ordered[$0].position }
    }

    var isDone: Bool { head == queue.count && running == 0 && missing == 0 }

    /// In the order of the requests.
    var allValues: [Value] {
      var made = values.compactMap(\.self).makeIterator()
      return group.known?.compactMap { $0 ?? made.next() } ?? Array(made)
    }

    func scenario(of position: Int) -> Scenario { group.plan.runs[position].scenario(group.scenarios) }

    /// - Parameter waiting: also a run whose beginning is being run by somebody else.
    mutating func take(as number: Int, waiting: Bool) -> Task? {
      let place = queue[head...].firstIndex { waiting || !shared.isWaiting(numbers[$0]!) }
      guard let place else { return nil }
      let position = queue[place]
      for earlier in (head..<place).reversed() { queue[earlier + 1] = queue[earlier] }
      head += 1
      running += 1
      return Task(
        group: number, position: position, run: group.plan.runs[position], scenario: scenario(of: position),
        slot: slots[position]!, number: numbers[position]!, shared: shared)
    }

    private mutating func follow(_ position: Int, _ record: RunRecord, _ control: ComparisonControl) {
      let followers = group.plan.followers(of: position)
      if record.sawNoFailure {
        for follower in followers { numbers[follower].map(shared.drop) }
      } else {
        enqueue(followers, control)
      }
    }

    /// The requests that a run completes.
    mutating func finish(
      _ position: Int, _ record: RunRecord, _ control: ComparisonControl
    ) -> [Complete] {
      follow(position, record, control)
      guard let asking = readers[position] else { return [] }
      records[position] = record
      var complete: [Complete] = []
      for request in asking.sorted() {
        guard let found = group.plan.records(of: request, among: records) else { continue }
        complete.append((request, group.scenarios[request], found.own, found.references))
        for run in group.plan.runs(of: request) {
          readers[run]?.remove(request)
          if readers[run]?.isEmpty == true { (readers[run], records[run]) = (nil, nil) }
        }
      }
      return complete
    }
  }

  /// A request whose records are there.
  private typealias Complete = (
    request: Int, scenario: Scenario, own: RunRecord, references: ReferenceRuns
  )

  private struct State {
    var opened = 0
    var open: [Int: Open] = [:]
    /// Done, but a group before them is not.
    var waiting: [Int: [Value]] = [:]
    var taken = 0
  }

  private let count: Int
  private let options: RunOptions
  private let engine: Comparison.Engine?
  private let control: ComparisonControl
  private let ends: SharedEnds?
  private let open: @Sendable (Int) throws -> Group
  private let made: @Sendable (Task, RunRecord) -> Void
  private let reduce: @Sendable (Scenario, RunRecord, ReferenceRuns) throws -> Value
  private let take: @Sendable ([Value]) -> Void
  private let state = Mutex(State())

  /// - Parameter count: how many groups there are.
  /// - Parameter ends: where the ends of twins are kept; nil: each group keeps its own.
  /// - Parameter made: sees each run when it is made, on a worker's thread.
  /// - Parameter reduce: the value of a scenario, from its record and those that it is compared with, on a worker's thread.
  /// - Parameter take: takes the values of a group, in the order of groups, one at a time.
  init(
    count: Int, options: RunOptions, engine: Comparison.Engine?, control: ComparisonControl,
    ends: SharedEnds? = nil,
    open: @escaping @Sendable (Int) throws -> Group,
    made: @escaping @Sendable (Task, RunRecord) -> Void = { _, _ in },
    reduce: @escaping @Sendable (Scenario, RunRecord, ReferenceRuns) throws -> Value,
    take: @escaping @Sendable ([Value]) -> Void
  ) {
    (self.count, self.options, self.engine, self.control, self.ends) = (count, options, engine, control, ends)
    (self.open, self.made, self.reduce, self.take) = (open, made, reduce, take)
  }

  /// - Throws: `CancellationError` after `control.cancel()`; otherwise the error of the first run that failed.
  func run(workers: Int) throws {
    // As many groups are open at a time as there are workers.
    let budget = SharedRuns.memory / Int64(max(1, min(workers, count)))
    try Workers.run(workers, control: control) { [self] in
      guard let task = try next(budget) else { return false }
      try perform(task)
      return true
    }
  }

  private func next(_ budget: Int64) throws -> Task? {
    try state.withLock { state in
      func task(waiting: Bool) -> Task? {
        for number in state.open.keys.sorted() {
          if let task = state.open[number]!.take(as: number, waiting: waiting) { return task }
        }
        return nil
      }
      while true {
        if let task = task(waiting: false) { return task }
        guard state.opened < count else { return task(waiting: true) }
        let number = state.opened
        state.opened += 1
        let shared = SharedRuns(
          options: options, engine: engine, budget: budget, ends: ends ?? SharedEnds())
        state.open[number] = Open(try open(number), shared, control)
        settle(number, in: &state)
      }
    }
  }

  private func perform(_ task: Task) throws {
    let record = try task.shared.run(task.number, control: control.runControl(task.slot))
    made(task, record)
    control.finish(task.slot)
    let complete = state.withLock { $0.open[task.group]!.finish(task.position, record, control) }
    let values = try complete.map { ($0.request, try reduce($0.scenario, $0.own, $0.references)) }
    state.withLock { state in
      for (request, value) in values { state.open[task.group]?.values[request] = value }
      state.open[task.group]?.missing -= values.count
      state.open[task.group]?.running -= 1
      settle(task.group, in: &state)
    }
  }

  /// Hands over what is done, up to the first group that is not.
  private func settle(_ number: Int, in state: inout State) {
    guard let open = state.open[number], open.isDone else { return }
    state.open[number] = nil
    state.waiting[number] = open.allValues
    while let next = state.waiting.removeValue(forKey: state.taken) {
      take(next)
      state.taken += 1
    }
  }
}

/// Threads that share the work of a command.
enum Workers {
  /// Calls `step` again and again on each of `count` threads, at least one, until it says false there or fails anywhere. A
  /// failure stops the control's runs.
  /// - Throws: the first failure. A cancellation only if there was no other, for it is what a failure brings on the other runs.
  static func run(
    _ count: Int, control: ComparisonControl, _ step: @escaping @Sendable () throws -> Bool
  ) throws {
    let failure = Mutex<(any Error)?>(nil)
    SystemThreads.perform(min(count, SystemThreads.cores)) {
      do {
        while failure.withLock({ $0 == nil }), try step() {}
      } catch {
        failure.withLock { if $0 == nil || $0 is CancellationError { $0 = error } }
        control.cancel()
      }
    }
    if let error = failure.withLock({ $0 }) { throw error }
  }
}

/// The runs that some requests need, each once: a request's own, its twin's and its ideal run, which others may share.
///
/// Twins that differ in their clients' reactions alone are a group. The first of a group is made in any case and stands for the
/// others if no upload failed in it; otherwise they follow it.
package struct RunPlan: Sendable {
  /// A run, by the first request that needs it. Runs are known by their positions in `runs`.
  struct Run: Sendable, Hashable {
    var request: Int
    var kind: Kind

    func scenario(_ requests: [Scenario]) -> Scenario {
      switch kind {
      case .own: requests[request]
      case .twin: requests[request].withoutIncidents
      case .ideal: requests[request].ideal
      }
    }
  }

  /// The runs of one request.
  enum Kind: Sendable, Hashable { case own, twin, ideal }

  /// The runs with which a request's own is compared.
  package enum References: Sendable { case none, twin, twinAndIdeal }

  private(set) var runs: [Run] = []
  /// By request.
  private(set) var own: [Int] = []
  private(set) var twins: [Int] = []
  private(set) var ideals: [Int?] = []
  /// The runs that must be made whatever comes of them. Twins come first: whether the rest of a group needs twins of its own is
  /// then known while there is other work to do.
  private(set) var first: [Int] = []
  /// The twin that may stand in for another twin, by the position of the latter.
  private var leaders: [Int: Int] = [:]
  private var followers: [Int: [Int]] = [:]

  /// The plan of scenarios, by what their runs depend on.
  /// - Parameter references: what they are compared with.
  init(_ scenarios: [Scenario], references: References = .twinAndIdeal) {
    var positions: [RunIdentity: Int] = [:]
    var leaderOfGroup: [RunIdentity: Int] = [:]
    func position(_ number: Int, _ kind: Kind, in plan: inout RunPlan) -> (Int, isNew: Bool) {
      let run = Run(request: number, kind: kind)
      let identity = RunIdentity(run.scenario(scenarios))
      if let position = positions[identity] { return (position, false) }
      positions[identity] = plan.runs.count
      plan.runs.append(run)
      return (plan.runs.count - 1, true)
    }
    for (number, scenario) in scenarios.enumerated() where references != .none {
      let (position, isNew) = position(number, .twin, in: &self)
      twins.append(position)
      guard isNew else { continue }
      let group = RunIdentity(ignoringReactionsOf: scenario.withoutIncidents)
      if let leader = leaderOfGroup[group] {
        leaders[position] = leader
        followers[leader, default: []].append(position)
      } else {
        leaderOfGroup[group] = position
        first.append(position)
      }
    }
    for number in scenarios.indices {
      // A request without incidents is its own twin; two equal requests are one run.
      let (position, isNew) = position(number, .own, in: &self)
      own.append(position)
      if let leader = leaders.removeValue(forKey: position) {
        followers[leader]?.removeAll { $0 == position }
        first.append(position)
      } else if isNew {
        first.append(position)
      }
    }
    for (number, scenario) in scenarios.enumerated() {
      guard references == .twinAndIdeal, scenario.hasIncidents else {
        ideals.append(nil)
        continue
      }
      let (position, isNew) = position(number, .ideal, in: &self)
      ideals.append(position)
      if isNew { first.append(position) }
    }
    if twins.isEmpty { twins = own }
  }

  /// The runs that scenarios need whatever comes of them.
  static func first(of scenarios: [Scenario], references: References = .twinAndIdeal) -> [Scenario] {
    let plan = RunPlan(scenarios, references: references)
    return plan.first.map { plan.runs[$0].scenario(scenarios) }
  }

  /// The twins for which that at `position` may stand.
  func followers(of position: Int) -> [Int] { followers[position] ?? [] }

  /// The runs that a request may read: its own, its twin, the one that may stand for that, and its ideal run.
  func runs(of request: Int) -> Set<Int> {
    Set([own[request], twins[request], ideals[request], leaders[twins[request]]].compactMap(\.self))
  }

  /// Returns the records that a request needs, of the runs that are there; nil: something is missing.
  func records(
    of request: Int, among records: [Int: RunRecord]
  ) -> (own: RunRecord, references: ReferenceRuns)? {
    guard let record = records[own[request]] else { return nil }
    let leader = leaders[twins[request]].flatMap { records[$0] }
    guard let twin = records[twins[request]] ?? leader.flatMap({ $0.sawNoFailure ? $0 : nil }) else {
      return nil
    }
    var references = ReferenceRuns(twin: twin)
    if let position = ideals[request] {
      guard let ideal = records[position] else { return nil }
      references.ideal = ideal
    }
    return (record, references)
  }
}
