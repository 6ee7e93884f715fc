import SimulationKernel
import TAPIModel
import UploadGating
import UploadPipeline

/// The state of a shard's devices between two windows: all that decides on what they do from then on, and nothing of what has been
/// counted, but what closed apps hold, or of where things lie in memory (engine.md, Runs that share an end).
extension DeviceShard {
  /// Devices whose digests are one.
  static var devicesOfDigest: Int { 256 }

  /// Whether a digest says all. Pages keep queues of their own, and a device that is driven by hand has its driver.
  var canTellState: Bool { pages == nil && script == nil && fetches == nil && !options.pointee.hasLanes }

  /// Returns the digest of some devices that lie side by side.
  ///
  /// - Parameters:
  ///   - chunk: their number among those of `devicesOfDigest`.
  ///   - oldest: becomes the time of their earliest event that is held, if that is earlier.
  func state(ofChunk chunk: Int, at now: Int64, oldest: inout Int64) -> StateDigest {
    var digest = StateDigest()
    for place in chunk * Self.devicesOfDigest..<min((chunk + 1) * Self.devicesOfDigest, count) {
      addState(of: DeviceIndex(place), to: &digest, at: now, oldest: &oldest)
    }
    return digest
  }

  private func addState(
    of device: DeviceIndex, to digest: inout StateDigest, at now: Int64, oldest: inout Int64
  ) {
    let record = self[device]
    let isRebatch = options.pointee.isRebatch
    record.pointee.addState(to: &digest, isRebatch: isRebatch, at: now)
    var batch = record.pointee.oldest
    if batch != .noBatch { oldest = min(oldest, batches[batch].firstTime) }
    while batch != .noBatch {
      digest.add(batches.state(batch))
      batch = batches[batch].newer
    }
    addQueues(of: device, to: &digest)
    let unsealed = unsealedTime(device)
    if unsealed < now { oldest = min(oldest, unsealed) }
    tables.addState(of: device, to: &digest)
    if !histories.isEmpty { histories[device]?.addState(to: &digest) }
  }

  /// Returns the digest of a batch that something on its way names.
  func state(of id: AttemptID) -> StateDigest {
    // What was under way for a batch that has gone means nothing to its successor.
    batches[id.batch].generation == id.generation ? batches.state(id.batch) : .nothing
  }
}

extension ShardRunner {
  /// Returns the digest of what is due for the devices or on its way to the server, in no order.
  func stateOfCalendar(slot: Int) -> StateDigest {
    var sum = StateDigest.nothing
    for i in 0..<arrivals.count { sum.add(unordered: state(of: arrivals[i], slot: slot)) }
    calendar.uploads.visit { sum.add(unordered: state(of: $1, slot: $0)) }
    calendar.deliveries.visit { slot, delivery in
      var digest = StateDigest()
      digest.add(slot)
      digest.add(delivery.offset)
      digest.add(
        UInt64(delivery.status) &<< 8 | UInt64(delivery.kind.rawValue) &<< 1 | (delivery.resolves ? 1 : 0))
      digest.add(UInt64(delivery.device.rawValue) &<< 32 | UInt64(delivery.retryAfter))
      digest.add(UInt64(delivery.downlink) &<< 16 | UInt64(delivery.attempt))
      digest.add(shard.state(of: delivery.id))
      sum.add(unordered: digest)
    }
    // A device's record tells the wake-up that is planned, and its row of triggers the trigger; others do nothing.
    let isTold = shard.triggers != nil
    calendar.timers.visit { slot, word in
      if isTold, word &>> ShardCalendar.deviceBits & 7 == ItemKind.trigger { return }
      var digest = StateDigest()
      digest.add(slot)
      digest.add(word)
      sum.add(unordered: digest)
    }
    return sum
  }

  private func state(of upload: UploadTicket, slot: Int) -> StateDigest {
    var digest = StateDigest()
    digest.add(slot)
    digest.add(UInt64(upload.offset) &<< 32 | UInt64(upload.device.rawValue))
    digest.add(UInt64(upload.uplink) &<< 32 | UInt64(upload.downlink))
    digest.add(UInt64(upload.attempt) &<< 16 | UInt64(upload.retryCount))
    digest.add(shard.state(of: upload.id))
    return digest
  }
}

/// A shard whose devices go on by themselves, perhaps by another plan.
extension DeviceShard {
  /// A copy between two windows: every property that outlives a window is copied here, also one that has a value by default.
  ///
  /// - Parameter plan: the other's, but for what has not mattered to any device yet (`Scenario.commonBeginning`).
  init(copying other: borrowing DeviceShard, plan: CohortPlan) {
    (self.plan, machines) = Self.stored(plan)
    (number, first, count) = (other.number, other.first, other.count)
    devices = DeviceRows(copying: other.devices)
    loops = other.loops == nil ? nil : devices.loops
    tables = SideTables(copying: other.tables, devices: other.count)
    ledger = Ledger(copying: other.ledger)
    if let others = other.pages {
      let copies = UnsafeMutablePointer<BrowserDevice>.allocate(capacity: max(other.count, 1))
      copies.initialize(from: others, count: other.count)
      pages = copies
    } else {
      pages = nil
    }
    hasPlainLoops = other.hasPlainLoops
    batches = BatchPool(copying: other.batches, devices)
    queues = BatchQueues(copying: other.queues)
    histories = other.histories.mapValues { EventHistory(copying: $0) }
    violation = other.violation
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
  private mutating func follow(_ plan: CohortPlan, instead past: CohortPlan) {
    precondition(
      past.oldBefore != .min || plan.oldBefore == .min, "nobody knows which events were old before")
    if plan.oldBefore == .min { ledger.forgetSettledOldEvents() }
  }
}
