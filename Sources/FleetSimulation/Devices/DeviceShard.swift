import CPrefetch
import FleetMetrics
import SimulationKernel
import TAPIModel
import UploadGating
import UploadRetry

/// Some devices of one cohort, with everything that only they touch.
///
/// Handlers take the time and the sink of consequences as arguments and know neither clock nor queue, so that the windowed
/// engine and the plain engine of the tests run the same devices. Devices never see one another.
package struct DeviceShard: ~Copyable {
  /// Behind a pointer, so that using a part of it never copies the whole.
  let plan: UnsafePointer<CohortPlan>
  /// The retry machines by `DeviceRecord.SettingsVersion`.
  let machines: UnsafeMutablePointer<RetryStateMachine>
  package let number: Int
  /// When the Settings CDN is down.
  let cdnOutages: [Range<Int64>]
  let synchronisedRestarts: [Lifecycle.SynchronisedRestart]
  /// Number of the first device within its cohort, and how many there are.
  let first: Int
  package let count: Int
  let devices: UnsafeMutablePointer<DeviceRecord>
  /// The client's one retry record (*rebatch* only).
  let clientRetry: UnsafeMutablePointer<BatchRetryState>?
  var batches = BatchPool()
  var waiting = WaitingHeaps()
  /// Scratch of `collectDue`.
  var due = GrowableBuffer<WaitingHeaps.Entry>()
  let rows: FastDivider
  let counters: IntervalCounters<DeviceCounter>
  let intervalDeliveries: IntervalDeliveries
  var deliveries = DeliveryRecorder()
  /// The first broken rule that a checker saw.
  package var violation: String?
  package var attempts: Int64 = 0
  /// The device that `tracer` hears of, local; `.max`: none.
  var tracedDevice: UInt32 = .max
  var tracer: DeviceTracer?

  package init(
    plan: CohortPlan, _ cohort: Cohort, in scenario: Scenario, number: Int, first: Int, count: Int,
    rows: FastDivider, rowCount: Int
  ) {
    cdnOutages = scenario.tapi.incidents.filter { $0.kind == .cdnOutage }
      .map { $0.start.microseconds..<$0.end.microseconds }
    synchronisedRestarts = cohort.lifecycle?.synchronised ?? []
    let stored = UnsafeMutablePointer<CohortPlan>.allocate(capacity: 1)
    stored.initialize(to: plan)
    self.plan = UnsafePointer(stored)
    machines = .allocate(capacity: 3)
    for version in 0..<3 { (machines + version).initialize(to: plan.machines[version]) }
    self.number = number
    self.first = first
    self.count = count
    self.rows = rows
    devices = .allocate(capacity: max(count, 1))
    devices.initialize(repeating: DeviceRecord(), count: count)
    if plan.isRebatch {
      clientRetry = .allocate(capacity: max(count, 1))
      clientRetry!.initialize(repeating: BatchRetryState(), count: count)
    } else {
      clientRetry = nil
    }
    counters = IntervalCounters(rows: rowCount)
    intervalDeliveries = IntervalDeliveries(rows: rowCount)
  }

  deinit {
    plan.deallocate()
    machines.deallocate()
    devices.deallocate()
    clientRetry?.deallocate()
  }

  /// The global number of a local device, and back.
  package var firstGlobal: Int { plan.pointee.firstDevice + first }

  /// Asks for a device's record ahead of the time when it is handled.
  @inline(__always)
  func touchAhead(_ device: UInt32) {
    let record = UnsafeRawPointer(self[device])
    fleetsim_prefetch(record)
    fleetsim_prefetch(record + 64)
  }

  /// Asks for what the record, touched earlier, leads to: the batch a timer will most likely send.
  @inline(__always)
  func touchBatchAhead(of device: UInt32) {
    let record = self[device]
    if record.pointee.waiting.count > 0 { fleetsim_prefetch(waiting.address(record.pointee.waiting)) }
    fleetsim_prefetch(batches.records + Int(truncatingIfNeeded: record.pointee.ready))
  }

  /// Asks for the batch that is due first, in the heap touched earlier.
  @inline(__always)
  func touchFirstWaitingAhead(of device: UInt32) {
    let place = self[device].pointee.waiting
    if place.count > 0 { touchAhead(batch: waiting.first(place).batch) }
  }

  @inline(__always)
  func touchAhead(batch: UInt32) { fleetsim_prefetch(batches.records + Int(truncatingIfNeeded: batch)) }

  @inline(__always)
  func key(of device: UInt32) -> RandomKey {
    plan.pointee.deviceKey(first &+ Int(truncatingIfNeeded: device))
  }

  /// The machine of the Settings that a device runs on.
  @inline(__always)
  func machine(of device: UInt32) -> UnsafePointer<RetryStateMachine> {
    UnsafePointer(machines + Int(self[device].pointee.settings.rawValue))
  }

  @inline(__always)
  subscript(device: UInt32) -> UnsafeMutablePointer<DeviceRecord> {
    devices + Int(truncatingIfNeeded: device)
  }

  @inline(__always)
  func count(_ n: Int64, _ counter: DeviceCounter, at now: Instant) {
    counters.add(n, to: counter, row: Int(truncatingIfNeeded: rows.quotient(now.microseconds)))
  }

  /// Sets a device's phases and its first trigger (O(1) plus the events up to it).
  package mutating func start(device: UInt32, _ sink: inout some DeviceSink & ~Copyable) {
    let record = self[device]
    let key = key(of: device)
    var phase: Int64 = 0
    if plan.pointee.flushInterval != .max {
      phase =
        plan.pointee.isSynchronised
        ? 0 : key.child(RandomPurpose.flushPhase).uniform(0, through: plan.pointee.flushInterval - 1)
      record.pointee.nextInterval = phase
    }
    if plan.pointee.isPeriodic {
      record.pointee.unsealedTime =
        plan.pointee.phaseIsFlush
        ? phase : key.child(RandomPurpose.eventPhase).uniform(0, through: plan.pointee.period - 1)
    } else {
      record.pointee.unsealedTime = plan.pointee.gap(before: 0, key.child(RandomPurpose.events))
    }
    record.pointee.aheadTime = record.pointee.unsealedTime
    record.pointee.settings = settingsAtLaunch(device, at: .start)
    scheduleNextTrigger(device, &sink)
    scheduleRestarts(device, &sink)
  }
}
