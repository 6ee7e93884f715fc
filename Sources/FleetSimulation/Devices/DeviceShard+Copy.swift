import FleetMetrics
import SimulationKernel

/// A shard whose devices go on by themselves, perhaps by another plan.
extension DeviceShard {
  /// A copy between two windows: every property that outlives a window is copied here, also one that has a value by default.
  ///
  /// - Parameter plan: the other's, but for what has not mattered to any device yet (`Scenario.commonBeginning`).
  init(copying other: borrowing DeviceShard, plan: CohortPlan) {
    func copy<Row: BitwiseCopyable>(_ table: UnsafeMutablePointer<Row>?) -> UnsafeMutablePointer<Row>? {
      table.map { PlainMemory.copy(of: $0, count: other.count) }
    }
    let stored = UnsafeMutablePointer<CohortPlan>.allocate(capacity: 1)
    stored.initialize(to: plan)
    self.plan = UnsafePointer(stored)
    machines = .allocate(capacity: 3)
    for version in 0..<3 { (machines + version).initialize(to: .passUnretained(plan.machines[version])) }
    (number, first, count) = (other.number, other.first, other.count)
    devices = DeviceRows(copying: other.devices)
    loops = other.loops == nil ? nil : devices.loops
    pending = copy(other.pending)
    triggers = copy(other.triggers)
    restarts = copy(other.restarts)
    worlds = copy(other.worlds)
    savedStates = copy(other.savedStates)
    gates = other.gates.map {
      PlainMemory.copy(of: $0, byteCount: other.count * plan.client.gateLayout.stride)
    }
    batches = BatchPool(copying: other.batches, devices)
    waiting = WaitingHeaps(copying: other.waiting)
    ready = ReadyBatches(copying: other.ready)
    histories = other.histories
    (rows, creationRows) = (other.rows, other.creationRows)
    counters = other.counters.copy()
    intervalDeliveries = other.intervalDeliveries.copy()
    deliveries = other.deliveries.copy()
    laneDeliveries = other.laneDeliveries
    (violation, attempts) = (other.violation, other.attempts)
    departsLater = other.departsLater
    reachedRetryLimit = other.reachedRetryLimit
    follow(plan, instead: other.plan.pointee)
  }

  /// Goes on by another plan.
  mutating func follow(_ plan: CohortPlan) {
    let past = self.plan.pointee
    UnsafeMutablePointer(mutating: self.plan).pointee = plan
    for version in 0..<3 { machines[version] = .passUnretained(plan.machines[version]) }
    follow(plan, instead: past)
  }

  /// Without any incident no event is old. Nothing else that is counted depends on what may differ.
  private func follow(_ plan: CohortPlan, instead past: CohortPlan) {
    precondition(
      past.oldBefore != .min || plan.oldBefore == .min, "nobody knows which events were old before")
    if plan.oldBefore == .min { counters.clear(.settledOldEvents) }
  }
}

/// What a device hears that a client may react to.
enum Heard: Int, Comparable {
  case nothing
  /// An answer other than 200, or none.
  case failure
  /// A 429, or a wait that the server asks for.
  case rateLimit

  static func < (a: Heard, b: Heard) -> Bool { a.rawValue < b.rawValue }
}

extension ShardRunner {
  /// What the devices are to hear in the window that comes next, at most: what is due for them by now, and time-outs of uploads
  /// that arrive when their clients are about to give up. Nothing else that the server decides reaches them in the same window.
  func hearing(slot: Int) -> Heard {
    var heard = Heard.nothing
    calendar.deliveries.forEach(inSlot: slot) { delivery in
      guard delivery.kind == .timeOut || delivery.isFailure,
        case let batch = shard.batches[delivery.batch], batch.generation == delivery.generation,
        batch.attempts == delivery.attempt, batch.flags.contains(.inFlight)
      else { return }
      let isRateLimit =
        delivery.kind == .answer && (delivery.status == 429 || delivery.retryAfter != .max)
      heard = max(heard, isRateLimit ? .rateLimit : .failure)
    }
    let latest = shard.plan.pointee.network.timeout &- calendar.clock.width
    for i in 0..<arrivals.count where Int64(arrivals[i].uplink) >= latest { heard = max(heard, .failure) }
    return heard
  }
}
