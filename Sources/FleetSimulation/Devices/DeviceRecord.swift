import CMemory
import SimulationKernel
import UploadGating
import UploadPipeline
import UploadRetry

/// One device: 64 flat bytes, no reference, nothing that a strategy could not be asked about.
///
/// State that only some cohorts need lies in tables beside it (`UploadLoopState`, `PendingEvents`, `TriggerPlan`, `RestartPlan`),
/// which the others do not have. All zeros is a device before its start. Events are numbered per device in the order of their
/// creation; `nextOrdinal` is the first that no flush has sealed yet.
package struct DeviceRecord {
  /// The first field: `DeviceRows.client` is its address.
  private var client: ClientState
  /// *rebatch*: the client's one retry record. *files*: the batches that wait for their backoff.
  private var shared: (UInt32, UInt32, UInt32)
  /// Its number within the shard's devices; records may be laid out in another order.
  package var number: UInt32
  /// Offset of its flush interval, microseconds, where the shard scans for triggers.
  package var phase: UInt32
  var nextOrdinal: UInt32
  /// The device's batches in the order of their events; 0: none.
  var oldest: BatchIndex
  var newest: BatchIndex
  /// The lowest bits of the pending wake-up's time, with `Flags.wakes`. A wake-up that comes at another time is stale; one
  /// that is 71.6 min old to the microsecond would pass, and find nothing to do.
  private var wakeBits: UInt32
  /// The time of the latest transmission and the number of attempts. The time is its lowest 38 bits, in the highest place: a
  /// silence is known modulo three days. Attempts have 26 bits, saturating: a year at two a second.
  private var activity: UInt64
  /// Events sent, once for every attempt (42 bits), and radio wake-ups (22 bits: a year of one each 8 s).
  private var cost: UInt64
  /// The Settings on which the device runs since its last launch (S19).
  typealias SettingsVersion = DeviceTrace.LaunchSettings
  typealias Flags = ClientFlags

  var gate: UploadGate {
    @inline(__always) get { client.gate }
    @inline(__always) set { client.gate = newValue }
  }
  var pipeline: PipelineRetryState {
    @inline(__always) get { client.pipeline }
    @inline(__always) set { client.pipeline = newValue }
  }
  var flags: Flags {
    @inline(__always) get { client.flags }
    @inline(__always) set { client.flags = newValue }
  }

  var settings: SettingsVersion {
    get { SettingsVersion(rawValue: flags.rawValue >> Flags.settingsShift) ?? .base }
    set {
      flags.remove(.settings)
      flags.rawValue |= newValue.rawValue << Flags.settingsShift
    }
  }

  /// Index of the device's retry machine.
  @inline(__always)
  var settingsIndex: Int { Int(truncatingIfNeeded: flags.rawValue &>> Flags.settingsShift) }
}

extension ClientFlags {
  static var lostEvents: ClientFlags { ClientFlags(rawValue: 16) }
  /// A wake-up is pending.
  static var wakes: ClientFlags { ClientFlags(rawValue: 128) }
  /// An upload is under way, where there is at most one.
  static var uploading: ClientFlags { ClientFlags(rawValue: 256) }
  /// The window has an item for this device; it has several. Neither outlives the window.
  static var due: ClientFlags { ClientFlags(rawValue: 512) }
  static var contended: ClientFlags { ClientFlags(rawValue: 1_024) }
  /// Events of it were chunked anew while the fate of an upload was open (`EventHistory`).
  static var hasHistory: ClientFlags { ClientFlags(rawValue: 4_096) }
  /// Flags that tell of the past, of where things lie in memory, or of the window.
  fileprivate static var ofTheRecord: ClientFlags { [.lostEvents, .due, .contended] }
  fileprivate static var settingsShift: UInt16 { 14 }
  fileprivate static var settings: ClientFlags { ClientFlags(rawValue: 3 << settingsShift) }
}

// MARK: - Cost to the device

extension DeviceRecord {
  private static var attemptBits: UInt64 { 26 }
  private static var attemptMask: UInt64 { 1 &<< attemptBits &- 1 }
  private static var sentBits: UInt64 { 42 }

  var attempts: Int64 { Int64(activity & Self.attemptMask) }
  var sentEvents: Int64 { Int64(cost & (1 << Self.sentBits - 1)) }
  var radioWakeUps: Int64 { Int64(cost >> Self.sentBits) }

  /// Counts an attempt; after 10 s of silence it wakes the radio up.
  @inline(__always)
  mutating func noteAttempt(events: UInt16, at now: Int64) {
    let time = UInt64(truncatingIfNeeded: now) &<< Self.attemptBits
    let attempts = activity & Self.attemptMask
    let wakes = attempts == 0 || time &- (activity ^ attempts) >= 10_000_000 &<< Self.attemptBits
    // Neither field of `cost` can reach the other: 2^22 wake-ups take a year and a third.
    cost &+= UInt64(events) &+ (wakes ? 1 &<< Self.sentBits : 0)
    activity = time | min(attempts &+ 1, Self.attemptMask)
  }

  /// Something came in.
  @inline(__always)
  mutating func noteReception(at now: Int64) {
    activity =
      UInt64(truncatingIfNeeded: now) &<< Self.attemptBits | activity & Self.attemptMask
  }
}

// MARK: - Wake-ups

extension DeviceRecord {
  @inline(__always)
  func wakes(at time: Int64) -> Bool {
    flags.contains(.wakes) && wakeBits == UInt32(truncatingIfNeeded: time)
  }

  @inline(__always)
  mutating func planWakeUp(at time: Int64) {
    flags.insert(.wakes)
    wakeBits = UInt32(truncatingIfNeeded: time)
  }

  /// How long after `start` the pending wake-up comes, if it comes within 71 min of it.
  @inline(__always)
  func wakeUpOffset(from start: Int64) -> Int64 {
    Int64(wakeBits &- UInt32(truncatingIfNeeded: start))
  }
}

// MARK: - State

extension DeviceRecord {
  /// Adds all that decides on what the device does from `now` on, but for its batches. What it has cost so far is not of it.
  func addState(to digest: inout StateDigest, isRebatch: Bool, at now: Int64) {
    // A wait that is over is none.
    let isReady = gate.isReady(at: now)
    digest.add(isReady ? 0 : gate.waitUntil << 1 | (gate.kind == .backoff ? 1 : 0))
    digest.add(pipeline.retryCount)
    digest.add(flags.subtracting(.ofTheRecord).rawValue)
    digest.add(nextOrdinal)
    if flags.contains(.wakes) { digest.add(wakeBits) }
    // The time of the latest transmission: the radio's next one wakes it up or not.
    digest.add(attempts == 0 ? 0 : activity >> Self.attemptBits)
    if isRebatch {
      digest.add(shared.0)
      digest.add(shared.1)
      digest.add(shared.2)
    }
  }

  /// The figures that add up over a run. Each lies in bits of its own, so that a difference of two is one of the figures.
  var costSoFar: (attempts: UInt32, cost: UInt64) { (UInt32(truncatingIfNeeded: attempts), cost) }

  mutating func add(attempts: UInt32, cost: UInt64, lostEvents: Bool) {
    let sum = min(activity & Self.attemptMask &+ UInt64(attempts), Self.attemptMask)
    activity = activity & ~Self.attemptMask | sum
    self.cost &+= cost
    if lostEvents { flags.insert(.lostEvents) }
  }
}

// MARK: - What the queue mode decides

extension DeviceRecord {
  /// *files* only.
  var waiting: WaitingHeaps.Place {
    @inline(__always) get { WaitingHeaps.Place(shared) }
    @inline(__always) set { shared = newValue.words }
  }

  /// *rebatch* only: the client's retry record.
  var clientRetry: BatchRetryState {
    @inline(__always) get { PackedRetryState(words: shared).state }
    @inline(__always) set { shared = PackedRetryState(newValue).words }
  }
}

/// A device's place in its shard: the client's place among those of the host.
package typealias DeviceIndex = ClientIndex

extension DeviceIndex {
  /// No device of any shard.
  static var noDevice: DeviceIndex { DeviceIndex(rawValue: .max) }
}

/// The devices of a shard, each with the state that it needs most behind its record. This is its running loop and queue, or a
/// batch record of its own where a cohort needs none. State that is handled together lies together, in two cache lines and nearly
/// always one page.
///
/// Batch records are numbered from 1 on, so row 0 stands for "no batch" and belongs to no device.
package struct DeviceRows {
  private let base: UnsafeMutableRawPointer
  package let count: Int

  private static var deviceBytes: Int { MemoryLayout<DeviceRecord>.stride }
  static var rowBytes: Int { deviceBytes + behindBytes }
  /// A batch record, or a loop.
  private static var behindBytes: Int { 32 }

  package init(count: Int) {
    precondition(
      max(MemoryLayout<BatchRecord>.stride, MemoryLayout<UploadLoopState>.stride) <= Self.behindBytes,
      "what lies behind a device's record has outgrown its place")
    self.count = count
    base = PlainMemory.zeroed(byteCount: (count + 1) * Self.rowBytes)
  }

  init(copying other: DeviceRows) {
    count = other.count
    base = PlainMemory.copy(of: other.base, byteCount: (count + 1) * Self.rowBytes)
  }

  package func release() { PlainMemory.release(base) }

  package var indices: Range<DeviceIndex> { DeviceIndex(0)..<DeviceIndex(count) }

  @inline(__always)
  private func row(_ n: Int) -> UnsafeMutableRawPointer { base + n &* Self.rowBytes }

  @inline(__always)
  package subscript(device: DeviceIndex) -> UnsafeMutablePointer<DeviceRecord> {
    row(device.place &+ 1).assumingMemoryBound(to: DeviceRecord.self)
  }

  @inline(__always)
  func client(_ device: DeviceIndex) -> UnsafeMutablePointer<ClientState> {
    row(device.place &+ 1).assumingMemoryBound(to: ClientState.self)
  }

  /// The running loops and queues, of a cohort with `CohortPlan.Tables.loops`.
  var loops: LoopRows { LoopRows(first: row(1) + Self.deviceBytes) }

  /// Returns the record of batch `index`, at most `count`, of a cohort without loops; it belongs to device `index` − 1.
  @inline(__always)
  func batch(_ index: BatchIndex) -> UnsafeMutablePointer<BatchRecord> {
    (row(index.place) + Self.deviceBytes).assumingMemoryBound(to: BatchRecord.self)
  }

  /// Asks for a device and what lies behind it ahead of the time when they are handled; a number behind the last is harmless.
  @inline(__always)
  func prefetch(_ device: DeviceIndex) {
    let row = row(device.place &+ 1)
    fleetsim_prefetch(row)
    fleetsim_prefetch(row + Self.deviceBytes)
  }

  /// Devices that are put in order at a time by `layOut`, at most and about.
  static var devicesOfSlice: Int { 1 &<< 17 }

  /// Gives the records their devices in the order of their phases, those of one phase in the order of their numbers.
  ///
  /// This goes slice by slice of the phases, each with some ten thousand devices. Sorting them all at once would take a sixth of
  /// the records' own memory, more than anything that such a fleet's run needs later.
  package func layOut(phasesThrough last: Int64, phase: (Int) -> Int64) {
    var shift: Int64 = 0
    while last &>> shift >= max(1, Int64(count / Self.devicesOfSlice) &* 2) { shift &+= 1 }
    // Where each slice begins; where it ends, once its devices have been put there.
    var places = [Int](repeating: 0, count: Int(last &>> shift) + 1)
    for number in 0..<count { places[Int(phase(number) &>> shift)] += 1 }
    var sum = 0
    for slice in places.indices { (places[slice], sum) = (sum, sum + places[slice]) }
    for number in 0..<count {
      let phase = phase(number)
      let place = places[Int(phase &>> shift)]
      places[Int(phase &>> shift)] += 1
      self[DeviceIndex(place)].pointee.number = UInt32(truncatingIfNeeded: number)
      self[DeviceIndex(place)].pointee.phase = UInt32(truncatingIfNeeded: phase)
    }
    var words = GrowableBuffer<UInt64>()
    var order = WindowOrder()
    var first = 0
    for end in places {
      words.removeAll()
      for place in first..<end {
        let device = self[DeviceIndex(place)]
        words.append(UInt64(device.pointee.phase) &<< 32 | UInt64(device.pointee.number))
      }
      order.sort(&words, lowBit: 32, keyBits: 32)
      for place in first..<end {
        let device = self[DeviceIndex(place)]
        device.pointee.number = UInt32(truncatingIfNeeded: words[place &- first])
        device.pointee.phase = UInt32(truncatingIfNeeded: words[place &- first] &>> 32)
      }
      first = end
    }
  }
}

/// The running loops and queues of a shard's devices, each behind its device's record.
struct LoopRows {
  fileprivate let first: UnsafeMutableRawPointer

  @inline(__always)
  subscript(device: DeviceIndex) -> UnsafeMutablePointer<UploadLoopState> {
    (first + device.place &* DeviceRows.rowBytes).assumingMemoryBound(to: UploadLoopState.self)
  }
}

/// A retry record in 12 bytes, but for `retryAt`: who waits, the client's gate or the heap of waiting batches, knows until when.
///
/// Failure time plus one (45 bits: a year and a month), whether credentials were refreshed (1), latest failure (2), failure count
/// (16), previous delay (32). All zeros is a record without failures.
struct PackedRetryState: BitwiseCopyable {
  /// As they lie in a record that holds something else in the other queue mode.
  let words: (UInt32, UInt32, UInt32)

  private static var timeBits: UInt64 { 45 }

  @inline(__always)
  init(words: (UInt32, UInt32, UInt32)) { self.words = words }

  @inline(__always)
  init(_ state: BatchRetryState) {
    let failed =
      state.firstFailureTime == .min ? 0 : UInt64(truncatingIfNeeded: state.firstFailureTime &+ 1)
    let word =
      failed | (state.hasRefreshedCredentials ? 1 &<< Self.timeBits : 0)
      | UInt64(state.latestFailure.rawValue) &<< 46 | UInt64(state.failureCount) &<< 48
    words = (
      UInt32(truncatingIfNeeded: word), UInt32(truncatingIfNeeded: word &>> 32),
      word == 0 ? 0 : state.previousDelay
    )
  }

  /// With `retryAt` 0: due.
  @inline(__always)
  var state: BatchRetryState {
    var state = BatchRetryState()
    let word = UInt64(words.0) | UInt64(words.1) &<< 32
    if word == 0 { return state }
    let failed = Int64(truncatingIfNeeded: word & (1 &<< Self.timeBits &- 1))
    if failed != 0 { state.firstFailureTime = failed &- 1 }
    state.hasRefreshedCredentials = word &>> Self.timeBits & 1 != 0
    state.latestFailure =
      BatchRetryState.LatestFailure(rawValue: UInt8(truncatingIfNeeded: word &>> 46 & 3)) ?? .none
    state.failureCount = UInt16(truncatingIfNeeded: word &>> 48)
    state.previousDelay = words.2
    return state
  }
}
