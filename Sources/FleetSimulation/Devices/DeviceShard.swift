import ScenarioModel
import SimulationKernel
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
/// holds the batches that are due and those that wait (`BatchQueues`). What is counted is its `Ledger`'s.
///
/// Its transitions by file:
/// - `EventClock`: when events are created, and when the next trigger is.
/// - `+Flush`: triggers and wake-ups; what has been created becomes batches.
/// - `+Uploads`: an attempt leaves, what the network does to it, how it ends, and how its batch does.
/// - `+Client`: the device as a client of `UploadPipeline`, which decides; checkers. `+Queue`: that client's batches.
/// - `+Pages`: devices that are pages of a browser.
/// - `+World` and `+System`: restarts, spikes, connectivity, sessions and windows in the background.
/// - `+Settings`: the Settings that an app runs on, and the requests that fetch them.
/// - `+FastPath`: guards in front of the same transitions, for what happens most.
/// - `+State`: digests of all that decides on what happens next; copies that go on by themselves.
/// - `+Held`: what observers read off the devices.
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
  var queues = BatchQueues()
  /// Of devices with `ClientFlags.hasHistory`.
  var histories: [DeviceIndex: EventHistory] = [:]
  var departures = Departures()
  /// The first broken rule that a checker saw.
  package var violation: String?
  /// Who hears of which device.
  var tracing = (device: DeviceIndex.noDevice, tracer: DeviceTracer?.none)
  /// Of a device that is driven by hand; its driver keeps it alive.
  var script: Unmanaged<DeviceScript>?

  package init(plan: CohortPlan, interval: Span, number: Int, first: Int, count: Int, rowCount: Int) {
    (self.plan, machines) = Self.stored(plan)
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

  /// A plan, and its machines by version, where a shard looks for them.
  static func stored(
    _ plan: CohortPlan
  ) -> (UnsafePointer<CohortPlan>, UnsafeMutablePointer<Unmanaged<RetryStateMachine>>) {
    let stored = UnsafeMutablePointer<CohortPlan>.allocate(capacity: 1)
    stored.initialize(to: plan)
    let machines = UnsafeMutablePointer<Unmanaged<RetryStateMachine>>.allocate(capacity: 3)
    for version in 0..<3 { (machines + version).initialize(to: .passUnretained(plan.machines[version])) }
    return (UnsafePointer(stored), machines)
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
  /// Laid out by `ClientOptions.gateLayout`.
  @inline(__always)
  var gates: UnsafeMutablePointer<UInt8>? { tables[.gates] }

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
}
