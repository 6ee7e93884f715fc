import FleetMetrics
import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// Runs of many scenarios that run the beginning which several share only once (engine.md, Runs that share a beginning).
///
/// The thread that comes first runs the beginning for all. Where they part it leaves a copy for the others and goes on by itself.
/// Each record is the one that a run by itself gives, to the byte. A thread that comes while a beginning is run waits for it.
package final class SharedRuns: @unchecked Sendable {
  /// Runs one scenario: a stand-in for the engine in tests, which shares nothing.
  package typealias Engine = @Sendable (Scenario, RunOptions, RunControl) throws -> RunRecord

  /// The upload attempts that have been run, and those that have not because they were shared.
  package struct Savings: Sendable, Hashable {
    package var attempts: Int64 = 0
    package var savedAttempts: Int64 = 0

    package init() {}
  }

  private let options: RunOptions
  private let engine: Engine?
  /// Bytes that beginnings may take which wait for somebody to go on with them.
  private let budget: Int64
  /// The ends of twins.
  private let ends: SharedEnds
  /// Guards everything below.
  private let condition = SystemCondition()
  private var members: [Int: Member] = [:]
  private var families: [Int: Set<Int>] = [:]
  private var keys: [Scenario: Int] = [:]
  private var expected = 0
  private var bytes: Int64 = 0
  private var counted = Savings()

  private struct Member {
    let scenario: Scenario
    /// The keys of `Scenario.commonBeginning`, by the feedback heard.
    let keys: [Int]
    var state = State.free
    /// The family shares beginnings under the first of the keys.
    var family: Int { keys[0] }
  }

  private enum State {
    case free
    /// Somebody runs its beginning.
    case promised
    case ready(Beginning)
    case done(RunRecord)
  }

  /// A run that stands, and those that may go on with it.
  private final class Beginning {
    let part: RunInParts
    let bytes: Int64
    var members: Set<Int>
    /// Threads that copy it.
    var readers = 0
    init(part: RunInParts, bytes: Int64, members: Set<Int>) {
      self.part = part
      self.bytes = bytes
      self.members = members
    }
  }

  /// - Parameters:
  ///   - engine: nil: the engine.
  ///   - budget: bytes that beginnings may take; what does not fit is run again.
  ///   - ends: where the ends of twins are kept.
  package init(
    options: RunOptions, engine: Engine? = nil, budget: Int64 = SharedRuns.memory,
    ends: SharedEnds = SharedEnds()
  ) {
    self.options = options
    self.ends = ends
    self.engine = engine
    self.budget = budget
  }

  /// Bytes that beginnings may take by default.
  package static let memory: Int64 = 512 << 20

  package var savings: Savings { locked { counted } }

  /// Says that a scenario will be run, so that others leave their beginning for it. Returns its number for `run`, once each.
  package func expect(_ scenario: Scenario) -> Int {
    locked {
      let kinds: [Feedback] = engine == nil ? [.nothing, .failure, .rateLimit] : []
      let keys = kinds.map { feedback in
        let common = scenario.commonBeginning(after: feedback)
        let key = self.keys[common] ?? self.keys.count
        self.keys[common] = key
        return key
      }
      let number = expected
      expected += 1
      members[number] = Member(scenario: scenario, keys: keys.isEmpty ? [number] : keys)
      families[members[number]!.family, default: []].insert(number)
      return number
    }
  }

  /// Returns the family with which it shares beginnings: members of one are best run one after another.
  package func family(of number: Int) -> Int { locked { members[number]?.family ?? 0 } }

  /// Whether `run` would wait for somebody else.
  package func isWaiting(_ number: Int) -> Bool {
    locked { if case .promised = members[number]?.state { true } else { false } }
  }

  /// Says that a scenario will not be run after all.
  package func drop(_ number: Int) { locked { leave(number) } }

  /// Runs a scenario to its end, from where it parts with others.
  package func run(_ number: Int, control: RunControl) throws -> RunRecord {
    if let engine {
      defer { drop(number) }
      return try engine(locked { members[number]!.scenario }, options, control)
    }
    switch claim(number) {
    case .record(let record):
      return record
    case .part(var convoy, let beginning):
      do {
        let part = beginning.map { copy($0, for: convoy) } ?? RunInParts(convoy.lead, options: options)
        return try run(&convoy, part, control)
      } catch {
        locked {
          for other in convoy.companions.keys { members[other]?.state = .free }
          condition.broadcast()
        }
        throw error
      }
    }
  }

  // MARK: - Who goes with whom

  private enum Claim {
    case record(RunRecord)
    /// From a beginning, or from the start.
    case part(Convoy, from: Beginning?)
  }

  /// A run with those that go with it.
  private struct Convoy {
    var number: Int
    var scenario: Scenario
    var keys: [Int]
    var companions: [Int: Member] = [:]
    /// Nobody else goes on with the beginning.
    var isLast = false

    /// The scenario whose plans the run follows. It has incidents, since the marks of old events can be forgotten, but not found
    /// out later.
    var lead: Scenario {
      scenario.hasIncidents
        ? scenario : companions.values.lazy.map(\.scenario).first(where: \.hasIncidents) ?? scenario
    }

    /// When they part.
    var halt: WindowedEngine.Halt {
      var halt = WindowedEngine.Halt()
      for member in companions.values { halt.time = min(halt.time, scenario.commonUntil(member.scenario)) }
      halt.feedback = [Feedback.failure, .rateLimit].first { feedback in
        companions.values.contains { $0.keys[feedback.rawValue] != keys[feedback.rawValue] }
      }
      return halt
    }

    /// Whether the same happens to those that are still together.
    var hasOneTimeline: Bool { companions.values.allSatisfy { $0.scenario.happensAs(scenario) } }

    /// Whether another goes on with this one from where a run stands.
    func agrees(with other: Member, from part: RunInParts) -> Bool {
      keys[part.feedback.rawValue] == other.keys[part.feedback.rawValue]
        && scenario.commonUntil(other.scenario) >= part.engine.time.nextEnd
    }
  }

  private func claim(_ number: Int) -> Claim {
    locked {
      while case .promised = members[number]!.state { condition.wait() }
      let member = members[number]!
      var convoy = Convoy(number: number, scenario: member.scenario, keys: member.keys)
      var beginning: Beginning?
      var others: [Int] = []
      switch member.state {
      case .done(let record):
        leave(number)
        count(saved: record.cost.total[.attempts])
        return .record(record)
      case .ready(let ready):
        ready.members.remove(number)
        others = ready.members.filter { convoy.agrees(with: members[$0]!, from: ready.part) }
        ready.members.subtract(others)
        ready.readers += 1
        convoy.isLast = ready.members.isEmpty && ready.readers == 1
        beginning = ready
      case .free, .promised:
        others = families[member.family, default: []].filter {
          if case .free = members[$0]!.state { $0 != number } else { false }
        }
        // A scenario that differs from the start on shares no beginning; a copy of a large fleet would have no room.
        others.removeAll { member.scenario.commonUntil(members[$0]!.scenario) <= 0 }
        if others.isEmpty || copyBytes(of: member.scenario) > budget {
          others = []
        }
      }
      leave(number)
      for other in others {
        members[other]!.state = .promised
        convoy.companions[other] = members[other]
      }
      return .part(convoy, from: beginning)
    }
  }

  private func copy(_ beginning: Beginning, for convoy: Convoy) -> RunInParts {
    let part = convoy.isLast ? beginning.part : RunInParts(copying: beginning.part, as: convoy.lead)
    part.follow(convoy.lead)
    locked {
      beginning.readers -= 1
      freeIfIdle(beginning)
      count(saved: part.engine.runners.attempts)
    }
    return part
  }

  // MARK: - Running

  private func run(_ convoy: inout Convoy, _ part: RunInParts, _ control: RunControl) throws -> RunRecord {
    var attempts = part.engine.runners.attempts
    while try !part.run(
      control: control, until: convoy.halt, ends: convoy.hasOneTimeline ? ends : nil,
      isAlone: convoy.companions.isEmpty)
    {
      let staying = convoy.companions.filter { convoy.agrees(with: $0.value, from: part) }
      let worth = part.engine.time.reached >= convoy.scenario.duration.microseconds / Self.fewest
      let bytes = copyBytes(of: part.engine.scenario)
      let fits = locked {
        let fits = worth && self.bytes + bytes <= budget
        if fits { self.bytes += bytes }
        count(attempts: part.engine.runners.attempts - attempts)
        return fits
      }
      attempts = part.engine.runners.attempts
      let beginning =
        fits
        ? Beginning(part: RunInParts(copying: part, as: part.engine.scenario), bytes: bytes, members: [])
        : nil
      locked {
        for other in convoy.companions.keys where staying[other] == nil && members[other] != nil {
          beginning?.members.insert(other)
          members[other]?.state = beginning.map { .ready($0) } ?? .free
        }
        if let beginning { freeIfIdle(beginning) }
        condition.broadcast()
      }
      convoy.companions = staying
      part.follow(convoy.lead)
    }
    // Incidents and actions may differ behind the end only.
    part.follow(convoy.scenario)
    let record = part.engine.record(as: convoy.scenario)
    let scenario = convoy.scenario
    if let end = part.end { ends.add(end, of: scenario, sawNoFailure: record.sawNoFailure) }
    locked {
      count(attempts: part.engine.runners.attempts - attempts - part.savedAttempts, saved: part.savedAttempts)
      for (other, member) in convoy.companions where members[other] != nil {
        members[other]?.state = member.scenario.happensAs(scenario) ? .done(record) : .free
      }
      condition.broadcast()
    }
    return record
  }

  /// A beginning is kept if it is at least this part of the run: a copy takes time too.
  private static let fewest: Int64 = 50

  // MARK: - Under the lock

  private func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
    condition.lock()
    defer { condition.unlock() }
    return try body()
  }

  private func leave(_ number: Int) {
    guard let member = members.removeValue(forKey: number) else { return }
    families[member.family]?.remove(number)
    if families[member.family]?.isEmpty == true { families[member.family] = nil }
    if case .ready(let beginning) = member.state, beginning.members.remove(number) != nil {
      freeIfIdle(beginning)
    }
  }

  private func freeIfIdle(_ beginning: Beginning) {
    if beginning.members.isEmpty, beginning.readers == 0 { bytes -= beginning.bytes }
  }

  private func count(attempts: Int64 = 0, saved: Int64 = 0) {
    counted.attempts += attempts
    counted.savedAttempts += saved
  }

  private func copyBytes(of scenario: Scenario) -> Int64 {
    let estimate = MemoryEstimate(scenario, options: options)
    return estimate.expected - estimate.resultBytes
  }
}

/// A run that may stand between two windows.
private final class RunInParts {
  var engine: WindowedEngine
  /// The feedback that its devices have heard or are about to, as far as anybody has looked.
  var feedback = Feedback.nothing
  /// Attempts that need not be made, because the run ended as another one did.
  private(set) var savedAttempts: Int64 = 0
  /// The moments that lie ahead.
  private var moments: ArraySlice<Int64>
  private var recorder = EndRecorder()
  /// Of a twin that has ended.
  private(set) var end: RunEnd?

  init(_ scenario: Scenario, options: RunOptions) {
    engine = WindowedEngine(scenario, options: options)
    moments = EndMoments.times(of: scenario)[...]
  }

  init(copying other: RunInParts, as scenario: Scenario) {
    engine = WindowedEngine(copying: other.engine, as: scenario)
    feedback = other.feedback
    moments = other.moments
    // A recorder has taken marks of devices, which it puts back at the end.
    recorder = other.recorder
  }

  func follow(_ scenario: Scenario) { if engine.scenario != scenario { engine.follow(scenario) } }

  /// Returns whether the run has ended.
  ///
  /// - Parameters:
  ///   - ends: the ends of twins: a twin leaves its own, another run may end as its twin did. Nil while incidents may still part those
  ///     that go together.
  ///   - isAlone: whether nobody else goes with it.
  func run(
    control: RunControl, until halt: WindowedEngine.Halt, ends: SharedEnds?, isAlone: Bool
  ) throws -> Bool {
    while true {
      var next = halt
      moments = moments.drop { $0 < engine.time.nextEnd }
      let moment = ends == nil ? nil : moments.first
      if let moment { next.time = min(next.time, moment) }
      do {
        if try engine.run(control: control, until: next) {
          end = engine.end(recorder)
          return true
        }
      } catch { throw error.cause }
      let heard = engine.feedback
      if engine.time.nextEnd > halt.time || halt.feedback.map({ heard >= $0 }) ?? false {
        feedback = max(feedback, heard)
        return false
      }
      moments = moments.dropFirst()
      guard let ends else { continue }
      if engine.scenario.isItsOwnTwin {
        engine.note(&recorder)
      } else if let end = ends.end(ofTwinOf: engine.scenario, noFailure: !isAlone),
        let saved = engine.join(end)
      {
        savedAttempts = saved
        return true
      }
    }
  }
}

/// The differences that two runs may have that begin the same, and until when they are the same. Anything that is not named here
/// may matter from the first event on.
extension Scenario {
  /// Returns the common part of scenarios whose runs are the same until their incidents or actions differ (`commonUntil`). It
  /// holds if their devices have heard no more than `feedback`. How clients react to a failure matters to nobody before there is
  /// one. How they react to a 429 or a Retry-After does not matter before one comes.
  ///
  /// Limits that allow a failure are the same before the first, but one that allows none keeps a first try from leaving. A client
  /// that goes offline fails by itself, and one that asks what became of an upload may learn that it failed. Such clients share
  /// nothing.
  func commonBeginning(after feedback: Feedback) -> Scenario {
    var common = withoutIncidents
    // A gap ends when a message is opened, which devices know from its beginning on; so it is with their own incidents.
    common.push = push
    for i in fleet.indices {
      common.fleet[i].spikes = fleet[i].spikes
      common.fleet[i].connectivity = fleet[i].connectivity
    }
    common.question = nil
    common.scale = 1
    for i in fleet.indices
    where fleet[i].connectivity == nil && !fleet[i].gates.reconciles && fleet[i].page == nil {
      common.fleet[i].settingsSource = nil
      // A launch looks at waits of either kind.
      let isLaunched = fleet[i].lifecycle != nil
      if feedback == .nothing || !isLaunched && (feedback == .failure || !tapi.asksToWait) {
        common.fleet[i].settings.rateLimit.forgetReactions()
      }
      if feedback == .nothing {
        common.fleet[i].settings.backoff.forgetReactions(
          butAge: fleet[i].policy.ageLimit == .eventAgeSinceQueued)
        common.fleet[i].policy.clampAfterJitter = false
      }
    }
    return common
  }

  /// The scenario without Settings that nobody asks for (those for 429s, if the server sends none) and without the limits on
  /// retries. A limit that does more than give a batch up stays.
  ///
  /// Two scenarios may differ in these limits alone. Then the one with the higher limits has the run of the other if that one's
  /// run reached none (`RunRecord.reachedRetryLimit`).
  package var withoutRetryCounts: (scenario: Scenario, counts: [Int]) {
    var common = commonBeginning(after: .rateLimit)
    common.takeIncidents(of: self)
    var counts: [Int] = []
    for i in fleet.indices where fleet[i].givesUpAtLimitsOnly {
      counts += [
        common.fleet[i].settings.backoff.maxRetryCount, common.fleet[i].settings.rateLimit.maxRetryCount,
      ]
      common.fleet[i].settings.backoff.maxRetryCount = 0
      common.fleet[i].settings.rateLimit.maxRetryCount = 0
    }
    return (common, counts)
  }

  /// The scenario without its clients' reactions to a failure. If two scenarios are equal in this part, and no client saw a
  /// failure, their runs are the same.
  package var withoutReactions: Scenario {
    var common = commonBeginning(after: .nothing)
    common.takeIncidents(of: self)
    return common
  }

  /// Puts back what its twin has not.
  private mutating func takeIncidents(of other: Scenario) {
    (tapi.incidents, tapi.actions) = (other.tapi.incidents, other.tapi.actions)
    for i in fleet.indices { fleet[i].rollout = other.fleet[i].rollout }
  }

  /// Returns the time until which two runs are the same that differ in their incidents and actions alone; microseconds, `.max`:
  /// always.
  ///
  /// The mark of old events (`CohortPlan.oldBefore`) does not count here if one of the two has no incidents: then no event is
  /// old.
  func commonUntil(_ other: Scenario) -> Int64 {
    let (mine, its) = (tapi.incidents, other.tapi.incidents)
    var time = Int64.max
    for (mine, its) in zip(fleet.map(\.publication), other.fleet.map(\.publication)) where mine != its {
      // A device that fetches has other tables from the start on.
      if [mine, its].contains(where: { $0?.fetch != nil }) { return 0 }
      time = [mine, its].reduce(time) { min($0, $1?.time.microseconds ?? .max) }
    }
    if mine == its, tapi.actions == other.tapi.actions { return time }
    // Devices know when they are cut off from the start on.
    for (cohort, another) in zip(fleet, other.fleet) where cuts(of: cohort) != other.cuts(of: another) {
      return 0
    }
    time = min(time, IncidentTimeline(tapi).commonUntil(IncidentTimeline(other.tapi)).microseconds)
    if let end = lastIncidentEnd, let other = other.lastIncidentEnd, end != other {
      time = min(time, min(end, other).microseconds)
    }
    // The CDN's state, which a launch finds.
    func isDown(_ incidents: [Incident], at instant: Instant) -> Bool {
      incidents.contains { $0.kind == .cdnOutage && $0.start <= instant && instant < $0.end }
    }
    for instant in (mine + its).flatMap({ [$0.start, $0.end] })
    where isDown(mine, at: instant) != isDown(its, at: instant) {
      time = min(time, instant.microseconds)
    }
    return time
  }

  /// Whether incidents and actions are the same.
  fileprivate func happensAs(_ other: Scenario) -> Bool {
    tapi.incidents == other.tapi.incidents && tapi.actions == other.tapi.actions
      && fleet.map(\.publication) == other.fleet.map(\.publication)
  }
}

extension TAPIConfiguration {
  /// Whether any answer may be a 429 or say how long to wait.
  fileprivate var asksToWait: Bool {
    let answers =
      [(overload.status, overload.retryAfter)] + incidents.compactMap(\.kind.answer)
      + actions.compactMap(\.kind.answer)
    return !rules.keyLimits.isEmpty || answers.contains { $0.status == 429 || $0.retryAfter != .none }
  }
}

extension Cohort {
  /// Whether a limit on retries does nothing before a batch is due that has reached it, and gives that batch up then.
  fileprivate var givesUpAtLimitsOnly: Bool {
    behaviour.policy.limitReached == .dropBatch && behaviour.policy.limitsCheck == .whenDue
      && !behaviour.actsAtFlushEnd
      && lifecycle == nil && behaviour.gates.isEmpty && behaviour.page == nil
      && settings.backoff.maxRetryCount > 0
      && settings.rateLimit.maxRetryCount > 0
  }
}

extension RateLimitConfig {
  fileprivate mutating func forgetReactions() {
    maxTotalBackoffDuration = 0
    maxRetryInterval = 0
    maxRetryCount = min(maxRetryCount, 1)
  }
}

extension BackoffConfig {
  /// - Parameter butAge: the client looks at the age of events that have never failed.
  fileprivate mutating func forgetReactions(butAge: Bool) {
    if !butAge { maxTotalBackoffDuration = 0 }
    maxRetryCount = min(maxRetryCount, 1)
    baseBackoffInterval = 0
    maxBackoffInterval = 0
    jitter = .none
    statuses = .document
  }
}
