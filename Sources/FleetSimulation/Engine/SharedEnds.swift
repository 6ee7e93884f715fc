import FleetMetrics
import ScenarioModel
import SimulationKernel
import Synchronization
import TAPIModel
import UploadPipeline

/// The identity of a run: two scenarios with equal identities give equal records, because a run depends on nothing else.
///
/// The scenario itself is the identity, so a property added to `Scenario` later counts here without anybody remembering it.
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
  /// If a run saw no failure, no client ever asked its Settings. Clients look up waits, statuses and ages only after one. The
  /// same holds for counts as long as they allow at least one failure. Strategies can therefore share a healthy twin.
  package init(ignoringReactionsOf scenario: Scenario) { self.init(scenario.withoutReactions) }
}

/// The ends of runs without any incident, for runs that come to stand as one of them did (engine.md, Runs that share an end).
package final class SharedEnds: Sendable {
  private struct State {
    var ends: [RunIdentity: RunEnd] = [:]
    /// The oldest first.
    var order: [RunIdentity] = []
    var bytes = 0
  }

  private let state = Mutex(State())
  private let budget: Int

  /// - Parameter budget: bytes that the ends may take; the oldest are forgotten.
  package init(budget: Int = 256 << 20) { self.budget = budget }

  /// Keeps the end of a twin. One in which no upload failed serves clients with other reactions to a failure, too.
  func add(_ end: RunEnd, of twin: Scenario, sawNoFailure: Bool) {
    let key = sawNoFailure ? RunIdentity(ignoringReactionsOf: twin) : RunIdentity(twin)
    state.withLock { state in
      if state.ends[key] != nil || end.bytes > budget { return }
      state.ends[key] = end
      state.order.append(key)
      state.bytes += end.bytes
      while state.bytes > budget {
        state.bytes -= state.ends.removeValue(forKey: state.order.removeFirst())?.bytes ?? 0
      }
    }
  }

  /// Returns the end of a scenario's twin, as far as it is known.
  ///
  /// - Parameter noFailure: only one in which no upload failed.
  func end(ofTwinOf scenario: Scenario, noFailure: Bool) -> RunEnd? {
    // Who knows of an incident of its own has other tables than its twin.
    if !scenario.clientIncidents.isEmpty { return nil }
    let twin = scenario.withoutIncidents
    let (own, ofGroup) = (RunIdentity(twin), RunIdentity(ignoringReactionsOf: twin))
    return state.withLock { $0.ends[ofGroup] ?? (noFailure ? nil : $0.ends[own]) }
  }
}

/// What a run has counted from some of its moments on, each with a digest of how it stood.
final class RunEnd: Sendable {
  struct Moment: Sendable {
    var slot: Int
    var server: StateDigest
    var shards: [ShardMoment]
    fileprivate var counts: CountsUntil<ServerSide>
    /// Requests in the tenths of a second from `firstTenth` on.
    fileprivate var firstTenth: Int
    fileprivate var offered: [UInt32]
  }

  struct ShardMoment: Sendable {
    var calendar: StateDigest
    /// By `DeviceShard.devicesOfDigest`.
    var devices: [StateDigest]
    fileprivate var counts: Ledger.Until
    fileprivate var cost: [(attempts: UInt32, cost: UInt64)]
    /// Until the next moment.
    fileprivate var longestDelivery: Int64
  }

  /// What a shard has counted in all.
  fileprivate struct ShardEnd: Sendable {
    var counts: Ledger.Whole
    var cost: [(attempts: UInt32, cost: UInt64)]
    var longestDelivery: Int64
    var held: DeviceShard.HeldEvents
    /// By device, how many moments had been noted when it lost events for the last time, plus one; 0: it lost none.
    var lost: [UInt8]
    var reachedLimit: UInt8
  }

  let moments: [Moment]
  fileprivate let shards: [ShardEnd]
  fileprivate let counts: [Int64]
  fileprivate let offered: [UInt32]
  let bytes: Int

  fileprivate init(_ moments: [Moment], _ shards: [ShardEnd], _ counts: [Int64], _ offered: [UInt32]) {
    (self.moments, self.shards, self.counts, self.offered) = (moments, shards, counts, offered)
    let whole = shards.reduce(counts.count * 8 + offered.count * 4) { $0 + $1.counts.byteCount }
    bytes = moments.reduce(whole) { sum, moment in
      moment.shards.reduce(sum + moment.counts.byteCount) {
        $0 + $1.counts.byteCount + $1.cost.count * 16 + $1.devices.count * 16
      }
    }
  }
}

/// The moments at which runs may be compared.
enum EndMoments {
  private static var most: Int { 32 }
  private static var bytes: Int { 64 << 20 }
  /// What a moment takes of a cohort beside its devices: counters of rows, an array for each table.
  static var bytesPerCohort: Int { 6_000 }

  /// Microseconds, in their order: fewer for large fleets, whose moments take more memory; none for the largest.
  static func times(of scenario: Scenario) -> [Int64] {
    let devices = scenario.fleet.reduce(0) { $0 + $1.devices }
    let moment = devices * 20 + scenario.fleet.count * bytesPerCohort
    let count = min(most, bytes / max(moment, 1))
    if count < 4 { return [] }
    let duration = scenario.duration.microseconds
    return (1..<count).map { duration / Int64(count) * Int64($0) }
  }
}

/// Notes the moments of a run without incidents.
struct EndRecorder {
  fileprivate var moments: [RunEnd.Moment] = []
  /// By shard and device, and by shard, as in `RunEnd.ShardEnd`.
  fileprivate var lost: [[UInt8]] = []
  fileprivate var reachedLimit: [UInt8] = []
  fileprivate var longest: [Int64] = []
}

extension WindowedEngine {
  /// The digest of the server, with all that is said in `TAPIServer.state`; nil: this run has more state than is looked at.
  private var stateOfServer: StateDigest? {
    guard front.proxies == nil, front.line == nil else { return nil }
    for i in 0..<runners.count where !runners[i].shard.canTellState || runners[i].calendar.late.count > 0 {
      return nil
    }
    return front.server.state(at: Instant(microseconds: time.reached)) { request in
      var digest = StateDigest()
      digest.add(request.arrival.microseconds)
      digest.add(UInt64(request.device) &<< 32 | UInt64(request.firstOrdinal))
      digest.add(UInt64(request.uplink) &<< 32 | UInt64(request.downlink))
      digest.add(UInt64(request.events) &<< 32 | UInt64(request.attempt) &<< 16 | UInt64(request.shard))
      digest.add(runners[Int(request.shard)].shard.state(of: request.id))
      return digest
    }
  }

  /// Notes how the run stands, and what it has counted so far.
  mutating func note(_ recorder: inout EndRecorder) {
    guard let server = stateOfServer else { return }
    // Rows before are kept no more: a reply that takes longer than this to arrive is hardly ever counted so far back.
    let first = max(0, Int(time.reached / scenario.interval.microseconds) - 16)
    if recorder.lost.isEmpty {
      recorder.lost = layout.map { [UInt8](repeating: 0, count: $0.count) }
      recorder.reachedLimit = layout.map { _ in 0 }
      recorder.longest = layout.map { _ in 0 }
    }
    takeMarks(&recorder)
    let firstTenth = max(0, Int(time.reached / 100_000) - 16)
    let offered = front.offeredPer100ms[min(firstTenth, front.offeredPer100ms.count)...]
    recorder.moments.append(
      RunEnd.Moment(
        slot: slot, server: server, shards: layout.indices.map { shardMoment($0, firstRow: first) },
        counts: front.counters.counts(keptFrom: first),
        firstTenth: firstTenth, offered: Array(offered.prefix(64))))
  }

  /// Takes what does not add up: the marks of devices that lost events, and the longest delivery.
  private mutating func takeMarks(_ recorder: inout EndRecorder) {
    let number = UInt8(recorder.moments.count)
    for index in layout.indices {
      for device in runners[index].shard.indices
      where runners[index].shard[device].pointee.flags.contains(.lostEvents) {
        runners[index].shard[device].pointee.flags.remove(.lostEvents)
        recorder.lost[index][device.place] = number + 1
      }
      let (reachedLimit, longest) = runners[index].shard.ledger.takeMarks()
      if reachedLimit { recorder.reachedLimit[index] = number + 1 }
      recorder.longest[index] = max(recorder.longest[index], longest)
      if number > 0 { recorder.moments[Int(number) - 1].shards[index].longestDelivery = longest }
    }
  }

  private func shardMoment(_ index: Int, firstRow: Int) -> RunEnd.ShardMoment {
    let chunks = (layout[index].count + DeviceShard.devicesOfDigest - 1) / DeviceShard.devicesOfDigest
    var oldest = Int64.max
    var devices: [StateDigest] = []
    for chunk in 0..<chunks {
      devices.append(runners[index].shard.state(ofChunk: chunk, at: time.reached, oldest: &oldest))
    }
    return RunEnd.ShardMoment(
      calendar: runners[index].stateOfCalendar(slot: slot), devices: devices,
      counts: runners[index].shard.ledger.until(keptFrom: firstRow), cost: cost(index), longestDelivery: 0)
  }

  private func cost(_ index: Int) -> [(attempts: UInt32, cost: UInt64)] {
    runners[index].shard.indices.map { runners[index].shard[$0].pointee.costSoFar }
  }

  /// Returns the end of a run that has ended, and puts back what the recorder took.
  mutating func end(_ recorder: consuming EndRecorder) -> RunEnd? {
    if recorder.moments.isEmpty { return nil }
    var recorder = recorder
    takeMarks(&recorder)
    let shards = layout.indices.map { index in
      RunEnd.ShardEnd(
        counts: runners[index].shard.ledger.whole, cost: cost(index),
        longestDelivery: recorder.longest[index], held: runners[index].shard.heldEvents,
        lost: recorder.lost[index], reachedLimit: recorder.reachedLimit[index])
    }
    for (index, shard) in shards.enumerated() {
      for device in runners[index].shard.indices where shard.lost[device.place] > 0 {
        runners[index].shard[device].pointee.flags.insert(.lostEvents)
      }
      runners[index].shard.ledger.putBack(
        reachedRetryLimit: shard.reachedLimit > 0, longestDelivery: shard.longestDelivery)
    }
    let moments = recorder.moments.filter { moment in
      front.counters.areWhole(since: moment.counts)
        && layout.indices.allSatisfy { index in
          runners[index].shard.ledger.isWhole(since: moment.shards[index].counts)
        }
    }
    // The marks are numbered by the moments: all of them are good, or none is used.
    if moments.count < recorder.moments.count { return nil }
    return RunEnd(moments, shards, front.counters.allCells, front.offeredPer100ms)
  }

  /// Whether the run stands as another one did at a moment, with no event left that was created before its last incident ended:
  /// how such events end is counted apart.
  private func stands(as moment: RunEnd.Moment) -> Bool {
    guard moment.slot == slot, moment.shards.count == layout.count, stateOfServer == moment.server
    else { return false }
    let now = time.reached
    for index in layout.indices {
      var oldest = Int64.max
      for (chunk, digest) in moment.shards[index].devices.enumerated() {
        if runners[index].shard.state(ofChunk: chunk, at: now, oldest: &oldest) != digest { return false }
      }
      if oldest < runners[index].shard.plan.pointee.oldBefore { return false }
      if runners[index].stateOfCalendar(slot: slot) != moment.shards[index].calendar { return false }
    }
    return true
  }

  /// Ends as another run did, if this one stands as that one did at one of its moments.
  ///
  /// - Returns: the attempts that need not be made; nil: it goes on by itself.
  mutating func join(_ end: RunEnd) -> Int64? {
    guard let number = end.moments.firstIndex(where: { $0.slot == slot }),
      stands(as: end.moments[number])
    else { return nil }
    let moment = end.moments[number]
    var saved: Int64 = 0
    for (index, (shard, past)) in zip(end.shards, moment.shards).enumerated() {
      let longest = end.moments[number...].map { $0.shards[index].longestDelivery }.max() ?? 0
      saved += runners[index].shard.ledger.add(shard.counts, since: past.counts, longestDelivery: longest)
      if shard.reachedLimit > number + 1 { runners[index].shard.ledger.noteRetryLimit() }
      for device in runners[index].shard.indices {
        let (whole, before) = (shard.cost[device.place], past.cost[device.place])
        runners[index].shard[device].pointee.add(
          attempts: whole.attempts - before.attempts, cost: whole.cost - before.cost,
          lostEvents: shard.lost[device.place] > number + 1)
      }
    }
    front.counters.add(end.counts, since: moment.counts)
    front.add(end.offered, since: moment.offered, from: moment.firstTenth)
    heldAtEnd = end.shards.map(\.held)
    return saved
  }
}

extension ServerFront {
  /// Adds the requests that another run offered from a moment on.
  fileprivate mutating func add(_ end: [UInt32], since past: [UInt32], from first: Int) {
    for tenth in first..<end.count {
      let before = tenth - first < past.count ? past[tenth - first] : 0
      offered[tenth] &+= end[tenth] &- before
    }
  }
}
