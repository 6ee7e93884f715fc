import CMemory
import FleetMetrics
import ScenarioModel
import ShippedClients
import ShippedQuirks
import SimulationKernel
import TAPIModel
import UploadGating
import UploadPipeline
import UploadRetry

/// Some devices of one cohort, with everything that only they touch.
///
/// Handlers take the time and the calendar for later items as arguments and know no clock. So the windowed engine and the plain
/// engine of the tests run the same devices. Devices never see one another. A device is addressed by its place in the shard's
/// memory, which is not its number: where triggers are found by a scan, devices lie in the order of their phase.
///
/// A shard holds a record a device (`DeviceRecord`, with its loop or its own batch beside it: `DeviceRows`). Beside them are
/// tables for cohorts that need more (`CohortPlan.Tables`), and a pool of further batches (`BatchPool`). For each device it
/// holds the batches that are due (`ReadyBatches`) and those that wait (`WaitingHeaps`).
///
/// Its transitions by file:
/// - `+Flush`: triggers and wake-ups; what has been created becomes batches, and when the next trigger is.
/// - `+Uploads`: an attempt leaves, what the network does to it, how it ends, and how its batch does.
/// - `+Client`: the device as a client of `UploadPipeline`, which decides; checkers. `+Queue`: that client's batches.
/// - `+Pages`: devices that are pages of a browser.
/// - `+World` and `+System`: restarts, spikes, connectivity, sessions and windows in the background.
/// - `+Settings`: the Settings that an app runs on, and the requests that fetch them.
/// - `+FastPath`: guards in front of the same transitions, for what happens most.
/// - `+State`: digests of all that decides on what happens next.
package struct DeviceShard: ~Copyable {
  private let place = InPlace()
  /// Behind a pointer, so that using a part of it never copies the whole.
  let plan: UnsafePointer<CohortPlan>
  /// The retry machines by `DeviceRecord.SettingsVersion`; the plan keeps them alive.
  let machines: UnsafeMutablePointer<Unmanaged<RetryStateMachine>>
  package let number: Int
  /// Number of the first device within its cohort, and how many there are.
  let first: Int
  package let count: Int
  let devices: DeviceRows
  let loops: LoopRows?
  let tables: SideTables
  var ledger: Ledger
  /// The rows of browsers.
  let pages: UnsafeMutablePointer<BrowserDevice>?
  /// Neither gates nor pages stand between a device's loop and the network, and nothing starts at the loop's end.
  let hasPlainLoops: Bool
  var batches: BatchPool
  var waiting = WaitingHeaps()
  var ready = ReadyBatches()
  /// The histories of devices with `ClientFlags.hasHistory`.
  var histories: [DeviceIndex: EventHistory] = [:]
  /// Scratch of `collectDue`.
  var due = GrowableBuffer<ReadyBatches.Entry>()
  /// The uploads that have left in this window, if `departAll` sends them on their way at the window's end.
  var departures = GrowableBuffer<Departure>()
  var departsLater = false
  /// The first broken rule that a checker saw.
  package var violation: String?
  /// The device that `tracer` hears of, by place; `.max`: none.
  var tracedDevice = DeviceIndex.noDevice
  var tracer: DeviceTracer?
  /// Of a device that is driven by hand; its driver keeps it alive.
  var script: Unmanaged<DeviceScript>?

  package init(plan: CohortPlan, interval: Span, number: Int, first: Int, count: Int, rowCount: Int) {
    let stored = UnsafeMutablePointer<CohortPlan>.allocate(capacity: 1)
    stored.initialize(to: plan)
    self.plan = UnsafePointer(stored)
    machines = .allocate(capacity: 3)
    for version in 0..<3 { (machines + version).initialize(to: .passUnretained(plan.machines[version])) }
    self.number = number
    self.first = first
    self.count = count
    ledger = Ledger(
      interval: interval, rowCount: rowCount, end: plan.end, hasLanes: plan.client.hasLanes)
    devices = DeviceRows(count: count)
    loops = plan.tables.loops ? devices.loops : nil
    tables = SideTables(plan, devices: count)
    pages = plan.pages == nil ? nil : .allocate(capacity: max(count, 1))
    pages?.initialize(repeating: BrowserDevice(), count: count)
    hasPlainLoops = !plan.client.keepsGates && plan.pages == nil && plan.flush.rearm != .afterAnswer
    batches = BatchPool(
      devices, haveOwn: !plan.tables.loops,
      keepsAcceptanceTimes: plan.server.deduplicationWindow >= 0,
      looksAtWaiting: plan.client.policy.limitsCheck == .beforeDue,
      keepsDelays: plan.client.gates.projectDelay != nil, checks: plan.checks)
    savedStates?.update(repeating: SavedState(), count: count)
    layOut()
  }

  /// Gives each record its device: in the order of numbers, or where triggers are found by a scan in that of phases.
  private func layOut() {
    let flush = plan.pointee.flush
    if flush.isScanned {
      devices.layOut(phasesThrough: flush.isSynchronised ? flush.phase : flush.interval &- 1) {
        plan.flushPhase(plan.deviceKey(first &+ $0))
      }
    } else {
      for place in 0..<count {
        devices[DeviceIndex(place)].pointee.number = UInt32(truncatingIfNeeded: place)
      }
    }
  }

  deinit {
    UnsafeMutablePointer(mutating: plan).deinitialize(count: 1)
    plan.deallocate()
    machines.deallocate()
    devices.release()
    tables.release()
    if let pages {
      pages.deinitialize(count: count)
      pages.deallocate()
    }
  }

  @inline(__always)
  var pending: UnsafeMutablePointer<PendingEvents>? { tables[.pending] }
  @inline(__always)
  var triggers: UnsafeMutablePointer<TriggerPlan>? { tables[.triggers] }
  @inline(__always)
  var restarts: UnsafeMutablePointer<RestartPlan>? { tables[.restarts] }
  @inline(__always)
  var worlds: UnsafeMutablePointer<WorldPlan>? { tables[.worlds] }
  @inline(__always)
  var systems: UnsafeMutablePointer<SystemPlan>? { tables[.systems] }
  /// Where fetches of Settings are requests.
  @inline(__always)
  var fetches: UnsafeMutablePointer<FetchPlan>? { tables[.fetches] }
  /// Where events come in sessions, two rows a device: the period of the latest event that was drawn ahead, and of the latest
  /// that was drawn again. A draw begins there, not at the start of the run; zeros are no period.
  @inline(__always)
  var periods: UnsafeMutablePointer<SessionPlan.Period>? { tables[.periods] }
  /// The saved states of clients that do not save at once.
  @inline(__always)
  var savedStates: UnsafeMutablePointer<SavedState>? { tables[.savedStates] }
  @inline(__always)
  var gates: UnsafeMutableRawPointer? { tables.gates }

  /// The global number of a device.
  @inline(__always)
  func globalNumber(_ device: DeviceIndex) -> Int {
    plan.pointee.firstDevice &+ first &+ Int(truncatingIfNeeded: self[device].pointee.number)
  }

  package var indices: Range<DeviceIndex> { devices.indices }

  /// The place of a device by its global number; nil if it is not of this shard. O(devices).
  func place(ofGlobal number: Int) -> DeviceIndex? {
    indices.first { globalNumber($0) == number }
  }

  /// Asks for a device's record ahead of the time when it is handled.
  @inline(__always)
  func prefetch(_ device: DeviceIndex) {
    devices.prefetch(device)
  }

  /// Asks for what the record, touched earlier, leads to: the batch a loop will most likely send. For cohorts with
  /// `CohortPlan.Tables.loops`; others find nearly all of their batches beside their records.
  @inline(__always)
  func prefetchBatch(of device: DeviceIndex) {
    let due = loop(device).pointee.ready
    if let address = ready.address(due) {
      fleetsim_prefetch(address)
    } else if due.count > 0 {
      prefetch(batch: ready.entry(0, of: due).batch)
    }
    if options.pointee.isRebatch { return }
    let place = self[device].pointee.waiting
    if place.count > 0 {
      let heap = waiting.address(place)
      fleetsim_prefetch(heap)
      fleetsim_prefetch(heap + Int(place.count))
      // Taking out the first entry reads a child, and putting one in at the end reads a parent.
      fleetsim_prefetch(heap + 4)
      fleetsim_prefetch(heap + Int(place.count) / 4)
    }
  }

  @inline(__always)
  func prefetch(batch: BatchIndex) { batches.prefetch(batch) }

  /// Asks for the batch that the loop will send next and for the one that is due first, in the blocks touched earlier.
  @inline(__always)
  func prefetchNextBatches(of device: DeviceIndex) {
    let due = loop(device).pointee.ready
    if due.count > 1 {
      let next = min(Int(truncatingIfNeeded: due.hint), Int(truncatingIfNeeded: due.count) &- 1)
      prefetch(batch: ready.entry(next, of: due).batch)
    }
    if options.pointee.isRebatch { return }
    let place = self[device].pointee.waiting
    if place.count > 0 { prefetch(batch: waiting.first(place).batch) }
  }

  /// Both for devices that are met one after another. Out of line, so that who has no queues does not pay.
  @inline(never)
  mutating func prefetchQueues(behind device: DeviceIndex) {
    if device.place &+ 6 >= count { return }
    prefetchBatch(of: device.advanced(by: 6))
    prefetchNextBatches(of: device.advanced(by: 3))
  }

  @inline(__always)
  func key(of device: DeviceIndex) -> RandomKey {
    plan.deviceKey(first &+ Int(truncatingIfNeeded: self[device].pointee.number))
  }

  /// The machine of the Settings that a device runs on.
  @inline(__always)
  package func machine(of device: DeviceIndex) -> Unmanaged<RetryStateMachine> {
    machines[self[device].pointee.settingsIndex]
  }

  @inline(__always)
  subscript(device: DeviceIndex) -> UnsafeMutablePointer<DeviceRecord> {
    devices[device]
  }

  /// The running loop and queue of a device; for cohorts with `CohortPlan.Tables.loops`.
  @inline(__always)
  func loop(_ device: DeviceIndex) -> UnsafeMutablePointer<UploadLoopState> {
    loops.unsafelyUnwrapped[device]
  }

  /// Sets a device's phases and its first trigger (O(1) plus the events up to it).
  package mutating func start(device: DeviceIndex, _ sink: UnsafeMutablePointer<ShardCalendar>) {
    let record = self[device]
    let key = key(of: device)
    if let loops { loops[device].pointee = UploadLoopState() }
    let phase =
      plan.pointee.flush.isScanned ? Int64(record.pointee.phase) : plan.flushPhase(key)
    if let triggers {
      triggers[device.place] = TriggerPlan(
        triggerAt: .max, nextInterval: plan.pointee.flush.interval == .max ? .max : phase)
    }
    if let pending {
      let first = plan.firstEvent(EventDraws(key))
      pending[device.place] = PendingEvents(
        unsealedTime: first, aheadTime: first, upcoming: 0)
    }
    run(device, on: settingsAtLaunch(device, at: 0), at: 0)
    planFirstTrigger(device, phase: phase, sink)
    scheduleRestarts(device, sink)
    if plan.pointee.tables.worlds { startWorld(device, sink) }
    if pages != nil, !record.pointee.flags.contains(.suspended) { openPage(device, at: 0, sink) }
  }
}

/// The figures that observers read off the devices; nothing here changes a run.
extension DeviceShard {
  /// After the end of the run: an answer still under way tells of an acceptance that happened in the run.
  package mutating func countLateAcceptance(_ delivery: Delivery, due: Int64, end: Int64) {
    guard batches[delivery.batch].generation == delivery.generation, delivery.kind == .answer,
      delivery.status == 200, !isQuery(delivery),
      !batches[delivery.batch].fetchesSettings
    else { return }
    let accepted = due &- Int64(delivery.downlink)
    if accepted >= end { return }
    if pages != nil {
      acceptLate(delivery, at: accepted)
    } else {
      accept(delivery.batch, delivery.device, at: accepted)
    }
  }

  /// The events that clients hold when the run is over. The server has accepted some of them all the same; the rest waits in the
  /// places of `pending`.
  package struct HeldEvents: Sendable {
    var acceptedUnconfirmed: Int64 = 0
    var pending = EventsByPlace()
    /// Events of `pending` in closed apps that will be given up before they are sent again, by how.
    var doomed: [Measure: Int64] = [:]
  }

  /// O(devices and their batches).
  var heldEvents: HeldEvents {
    var held = HeldEvents()
    let end = plan.pointee.end
    for device in indices {
      var sealed: Int64 = 0
      var isUploading = false
      var batch = self[device].pointee.oldest
      while batch != .noBatch {
        let accepted = acceptedEvents(of: batch, device)
        let open = Int64(batches[batch].events) - accepted
        held.acceptedUnconfirmed += accepted
        if batches[batch].flags.contains(.inFlight) {
          held.pending[.underway] += open
          isUploading = true
        } else {
          sealed += open
        }
        batch = batches[batch].newer
      }
      let unsealed = unsealedEvents(device, before: end)
      if sealed + unsealed == 0 { continue }
      let (flags, gate) = (self[device].pointee.flags, self[device].pointee.gate)
      if flags.contains(.suspended) {
        held.pending[.closedApp] += sealed + unsealed
        addDoomed(device, to: &held.doomed)
      } else if flags.contains(.offline) {
        held.pending[.offline] += sealed + unsealed
      } else if !gate.isReady(at: end) {
        held.pending[gate.kind == .rateLimit ? .rateLimit : .backoff] += sealed + unsealed
      } else {
        let waiting = min(sealed, eventsBehindBackoff(device, at: end))
        held.pending[.backoff] += waiting
        held.pending[isUploading ? .underway : .flush] += sealed - waiting
        held.pending[.flush] += unsealed
      }
    }
    return held
  }

  /// Adds the events of a closed app that its client will give up when it looks at them next, as the limits then are.
  private func addDoomed(_ device: DeviceIndex, to doomed: inout [Measure: Int64]) {
    guard pages == nil, let time = nextLook(device) else { return }
    // Nothing is that old where there is no limit on the age of events.
    let limit = machine(of: device)._withUnsafeGuaranteedRef { $0.maximumEventAge }
    let oldestAllowed = limit.map { time - $0 } ?? .min
    func add(_ events: Int64, _ reason: DropReason) {
      if events > 0 { doomed[counter(of: .limit(reason)), default: 0] += events }
    }
    var pipeline = devices.client(device).pointee.pipeline
    var batch = self[device].pointee.oldest
    while batch != .noBatch {
      let (events, record) = (batches[batch].events, retryState(of: batch, device))
      let open = Int64(events) - acceptedEvents(of: batch, device)
      if case .drop(let reason) = decision(on: record, pipeline: &pipeline, device, at: time), open > 0 {
        add(open, reason)
        // The clients' one record starts anew with the first batch.
        if options.pointee.isRebatch { return }
      } else {
        add(min(eventsCreated(before: oldestAllowed, among: UInt32(events), of: batch, device), open), .age)
      }
      batch = batches[batch].newer
    }
    if limit != nil { add(unsealedEvents(device, before: min(plan.pointee.end, oldestAllowed)), .age) }
  }

  /// When a closed app will next look at what it holds: as its next session begins or at the first flush in it, or in a window of its
  /// operating system.
  private func nextLook(_ device: DeviceIndex) -> Int64? {
    guard let session = worlds?[device.place].session, !session.isForeground else { return nil }
    let interval = plan.pointee.flush.interval
    let waits = !options.pointee.triggers.contains(.foreground) && interval != .max
    var look = session.end &+ (waits ? interval : 0)
    let gate = self[device].pointee.gate
    if !gate.isReady(at: look) { look = max(look, gate.waitUntil) }
    guard let systems, systems[device.place].holds else { return look }
    return min(look, systems[device.place].next)
  }

  /// Returns the events in batches that wait, each until a time of its own, on a device whose client does not wait as a whole.
  private func eventsBehindBackoff(_ device: DeviceIndex, at now: Int64) -> Int64 {
    if pages != nil { return waitingEvents(device) }
    if options.pointee.isRebatch || self[device].pointee.waiting.count == 0 { return 0 }
    return dueTimes(of: device).reduce(0) { sum, entry in
      let (batch, due) = entry
      guard due > now, batches[batch].flags.contains(.held), !batches[batch].flags.contains(.inFlight) else {
        return sum
      }
      return sum + Int64(batches[batch].events) - acceptedEvents(of: batch, device)
    }
  }
}

extension DeviceShard {
  /// Returns all that the server has to know of an upload that arrives. A batch's record stays as it was sent while an attempt
  /// is open.
  package func request(_ upload: UploadTicket, at now: Int64) -> UploadRequest {
    var batch = batches[upload.batch]
    if options.pointee.gates.reconciles, StatusQuery.isQuery(upload.attempt) { batch.events = 0 }
    if pages != nil, !batch.fetchesSettings {
      batch.events = events(ofRequest: upload.id)
    }
    return UploadRequest(
      arrival: Instant(microseconds: now), device: UInt32(truncatingIfNeeded: globalNumber(upload.device)),
      id: upload.id, firstOrdinal: batch.firstOrdinal, uplink: upload.uplink, downlink: upload.downlink,
      events: batch.events, shard: UInt16(truncatingIfNeeded: number))
  }
}

extension ShardRunner {
  /// The run is over; what the server accepted in it is delivered, though the answer is still under way.
  mutating func countLateAcceptances() {
    for i in 0..<calendar.late.count {
      shard.countLateAcceptance(calendar.late[i].delivery, due: calendar.late[i].due, end: calendar.end)
    }
  }
}

/// A shard whose devices go on by themselves, perhaps by another plan.
extension DeviceShard {
  /// A copy between two windows: every property that outlives a window is copied here, also one that has a value by default.
  ///
  /// - Parameter plan: the other's, but for what has not mattered to any device yet (`Scenario.commonBeginning`).
  init(copying other: borrowing DeviceShard, plan: CohortPlan) {
    let stored = UnsafeMutablePointer<CohortPlan>.allocate(capacity: 1)
    stored.initialize(to: plan)
    self.plan = UnsafePointer(stored)
    machines = .allocate(capacity: 3)
    for version in 0..<3 { (machines + version).initialize(to: .passUnretained(plan.machines[version])) }
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
    waiting = WaitingHeaps(copying: other.waiting)
    ready = ReadyBatches(copying: other.ready)
    histories = other.histories.mapValues { EventHistory(copying: $0) }
    violation = other.violation
    departsLater = other.departsLater
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
