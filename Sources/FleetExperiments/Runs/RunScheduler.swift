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
    /// Values that are there, nil for each request of the plan; nil: there are none.
    let known: [Value?]?

    /// - Parameter known: the values that are there; nil: none is.
    init(_ scenarios: [Scenario], known: [Value?]? = nil, references: RunPlan.References) {
      self.scenarios = scenarios.indices.filter { known?[$0] == nil }.map { scenarios[$0] }
      plan = RunPlan(self.scenarios, references: references)
      self.known = known
    }
  }

  /// A run of a group.
  private struct Task {
    var group: Int
    /// In the group's plan.
    var position: Int
    var scenario: Scenario
    /// Among the control's runs; nil of a twin for which another may stand.
    var slot: Int?
    /// Among the shared ones.
    var number: Int
    var shared: SharedRuns
    var twins: Twins
  }

  private struct Open {
    let group: Group
    let shared: SharedRuns
    let twins: Twins
    /// The runs to be made that nobody has taken.
    var queue: [Int] = []
    /// As in `Task`.
    let slots: [Int?]
    let numbers: [Int]
    /// Of twins that nobody asked for themselves: those that differ in their clients' reactions alone are a group. The first of a
    /// group that is run stands for the others if no upload failed in it.
    let twinGroups: [Int: RunIdentity]
    /// Whether the first of a group is on its way; nil: nobody has begun.
    var isFirstRunning: [RunIdentity: Bool] = [:]
    var records: [Int: RunRecord] = [:]
    /// By run: the requests without a value that may read it.
    var readers: [Int: Set<Int>] = [:]
    var values: [Value?]
    /// Values that are still missing.
    var missing: Int
    var running = 0

    init(_ group: Group, _ shared: SharedRuns, _ twins: Twins, _ control: ComparisonControl) {
      (self.group, self.shared, self.twins) = (group, shared, twins)
      let plan = group.plan
      missing = plan.own.count
      values = Array(repeating: nil, count: missing)
      let numbers = plan.runs.map(shared.expect)
      self.numbers = numbers
      let alone = Set(plan.twins).subtracting(plan.own)
      slots = plan.runs.enumerated().map { alone.contains($0) ? nil : control.add($1) }
      twinGroups = Dictionary(
        uniqueKeysWithValues: alone.map { ($0, RunIdentity(ignoringReactionsOf: plan.runs[$0])) })
      for request in 0..<missing {
        for run in plan.runs(of: request) { readers[run, default: []].insert(request) }
      }
      // Those that share a beginning stand one after another, so that few beginnings wait at once.
      let families = numbers.enumerated().map { (family: shared.family(of: $1), position: $0) }
      queue = families.sorted { $0 < $1 }.map(\.position)
    }

    /// - Parameter waiting: also a run whose beginning is being run by somebody else.
    mutating func take(as number: Int, waiting: Bool) -> Task? {
      let place = queue.firstIndex { position in
        twinGroups[position].flatMap { isFirstRunning[$0] } != true
          && (waiting || !shared.isWaiting(numbers[position]))
      }
      guard let place else { return nil }
      let position = queue.remove(at: place)
      if let twins = twinGroups[position], isFirstRunning[twins] == nil { isFirstRunning[twins] = true }
      running += 1
      return Task(
        group: number, position: position, scenario: group.plan.runs[position], slot: slots[position],
        number: numbers[position], shared: shared, twins: twins)
    }

    /// The requests that a run completes.
    mutating func finish(_ position: Int, _ record: RunRecord) -> [Complete] {
      if let twins = twinGroups[position] { isFirstRunning[twins] = false }
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
  private typealias Complete = (request: Int, scenario: Scenario, own: RunRecord, references: ReferenceRuns)

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
  private let kept: (ends: SharedEnds, twins: Twins)?
  private let open: @Sendable (Int) throws -> Group
  private let reduce: @Sendable (Scenario, RunRecord, ReferenceRuns) throws -> Value
  private let take: @Sendable ([Value]) -> Void
  private let state = Mutex(State())

  /// - Parameter kept: where twins and their ends are kept; nil: each group keeps its own.
  /// - Parameter reduce: the value of a scenario, from its record and those that it is compared with, on a worker's thread.
  /// - Parameter take: takes the values of a group, in the order of groups, one at a time.
  init(
    count: Int, options: RunOptions, engine: Comparison.Engine?, control: ComparisonControl,
    keeping kept: (ends: SharedEnds, twins: Twins)? = nil,
    open: @escaping @Sendable (Int) throws -> Group,
    reduce: @escaping @Sendable (Scenario, RunRecord, ReferenceRuns) throws -> Value,
    take: @escaping @Sendable ([Value]) -> Void
  ) {
    (self.count, self.options, self.engine, self.control, self.kept) = (count, options, engine, control, kept)
    (self.open, self.reduce, self.take) = (open, reduce, take)
  }

  func run(workers: Int) throws {
    // As many groups are open at a time as there are workers.
    let budget = SharedRuns.memory / Int64(max(1, min(workers, count)))
    let failure = Mutex<(any Error)?>(nil)
    SystemThreads.perform(min(workers, SystemThreads.cores)) { [self] in
      do {
        while failure.withLock({ $0 == nil }), let task = try next(budget) { try perform(task) }
      } catch {
        // A cancellation is what a failure brings on the other runs.
        failure.withLock { if $0 == nil || $0 is CancellationError { $0 = error } }
        control.cancel()
      }
    }
    if let error = failure.withLock({ $0 }) { throw error }
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
          options: options, engine: engine, budget: budget, ends: kept?.ends ?? SharedEnds())
        state.open[number] = Open(try open(number), shared, kept?.twins ?? Twins(), control)
        settle(number, in: &state)
      }
    }
  }

  private func perform(_ task: Task) throws {
    let known = task.slot == nil ? task.twins[task.scenario] : nil
    if known != nil { task.shared.drop(task.number) }
    let record = try known ?? run(task)
    let complete = state.withLock { $0.open[task.group]!.finish(task.position, record) }
    let values = try complete.map { ($0.request, try reduce($0.scenario, $0.own, $0.references)) }
    state.withLock { state in
      for (request, value) in values { state.open[task.group]?.values[request] = value }
      state.open[task.group]?.missing -= values.count
      state.open[task.group]?.running -= 1
      settle(task.group, in: &state)
    }
  }

  private func run(_ task: Task) throws -> RunRecord {
    let slot = task.slot ?? control.add(task.scenario)
    let record = try task.shared.run(task.number, control: control.runControl(slot))
    control.finish(slot)
    if task.slot == nil {
      let bytes = MemoryEstimate(task.scenario, options: options).resultBytes
      task.twins.add(record, of: task.scenario, bytes: bytes)
    }
    return record
  }

  /// Hands over what is done, up to the first group that is not.
  private func settle(_ number: Int, in state: inout State) {
    guard let open = state.open[number], open.queue.isEmpty, open.running + open.missing == 0 else { return }
    state.open[number] = nil
    // In the order of the requests.
    var made = open.values.compactMap(\.self).makeIterator()
    state.waiting[number] = open.group.known?.compactMap { $0 ?? made.next() } ?? Array(made)
    while let next = state.waiting.removeValue(forKey: state.taken) {
      take(next)
      state.taken += 1
    }
  }
}

/// The twins that were made so far: one in which no upload failed stands for all that differ from it in their clients' reactions
/// to a failure alone.
final class Twins: Sendable {
  private struct State {
    var own: [RunIdentity: RunRecord] = [:]
    var ofGroup: [RunIdentity: RunRecord] = [:]
    var bytes: Int64 = 0
  }
  private let state = Mutex(State())
  private static let mostBytes: Int64 = 512 << 20

  subscript(scenario: Scenario) -> RunRecord? {
    state.withLock {
      $0.own[RunIdentity(scenario)] ?? $0.ofGroup[RunIdentity(ignoringReactionsOf: scenario)]
    }
  }

  func add(_ record: RunRecord, of scenario: Scenario, bytes: Int64) {
    state.withLock { state in
      if state.bytes > Self.mostBytes { state = State() }
      state.bytes += bytes
      if record.sawNoFailure {
        state.ofGroup[RunIdentity(ignoringReactionsOf: scenario)] = record
      } else {
        state.own[RunIdentity(scenario)] = record
      }
    }
  }
}

/// The runs that some requests need, each once: a request's own, its twin's and its ideal run, which others may share.
package struct RunPlan: Sendable {
  /// The runs with which a request's own is compared.
  package enum References: Sendable { case none, twin, twinAndIdeal }

  /// Each as the first request that needs it has it. Twins come first: whether one stands for others is then known while there is
  /// other work to do.
  private(set) var runs: [Scenario] = []
  /// The positions in `runs` by request.
  private(set) var own: [Int] = []
  private(set) var twins: [Int] = []
  private(set) var ideals: [Int?] = []

  /// The plan of scenarios, by what their runs depend on.
  /// - Parameter references: what they are compared with.
  init(_ scenarios: [Scenario], references: References = .twinAndIdeal) {
    var positions: [RunIdentity: Int] = [:]
    func position(of run: Scenario, in plan: inout RunPlan) -> Int {
      let position = positions[RunIdentity(run), default: plan.runs.count]
      if position == plan.runs.count {
        positions[RunIdentity(run)] = position
        plan.runs.append(run)
      }
      return position
    }
    if references != .none { twins = scenarios.map { position(of: $0.withoutIncidents, in: &self) } }
    // A request without incidents is its own twin; two equal requests are one run.
    // Beside its ideal run, so that one request after another is done, and kept.
    for scenario in scenarios {
      own.append(position(of: scenario, in: &self))
      let hasIdeal = references == .twinAndIdeal && scenario.hasIncidents
      ideals.append(hasIdeal ? position(of: scenario.ideal, in: &self) : nil)
    }
    if twins.isEmpty { twins = own }
  }

  /// The runs that scenarios need whatever comes of them: one twin of each group.
  static func first(of scenarios: [Scenario], references: References = .twinAndIdeal) -> [Scenario] {
    let plan = RunPlan(scenarios, references: references)
    let alone = Set(plan.twins).subtracting(plan.own)
    var groups: Set<RunIdentity> = []
    return plan.runs.enumerated().filter { position, run in
      !alone.contains(position) || groups.insert(RunIdentity(ignoringReactionsOf: run)).inserted
    }.map(\.element)
  }

  /// The runs that a request may read: its own, its twin and its ideal run.
  func runs(of request: Int) -> Set<Int> {
    Set([own[request], twins[request], ideals[request]].compactMap(\.self))
  }

  /// Returns the records that a request needs, of those that are there; nil: one is missing.
  func records(
    of request: Int, among records: [Int: RunRecord]
  ) -> (own: RunRecord, references: ReferenceRuns)? {
    guard let record = records[own[request]], let twin = records[twins[request]] else { return nil }
    let ideal = ideals[request].flatMap { records[$0] }
    return ideals[request] == nil || ideal != nil ? (record, ReferenceRuns(twin: twin, ideal: ideal)) : nil
  }
}
