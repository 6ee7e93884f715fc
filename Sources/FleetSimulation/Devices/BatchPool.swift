import CPrefetch
import SimulationKernel
import UploadRetry

/// One sealed batch: a range of a device's event ordinals. 32 bytes.
struct BatchRecord: BitwiseCopyable {
  /// Creation time of its first event; the others follow from the event process.
  var firstTime: Int64
  var firstOrdinal: UInt32
  var older: UInt32
  var newer: UInt32
  /// The next in the ready list, or the next free record.
  var link: UInt32
  var events: UInt16
  /// Attempts so far; the number of the latest tells a late answer.
  var attempts: UInt16
  /// Counts the record's reuses, so that a stale item is recognised.
  var generation: UInt16
  /// Attempts whose fate at the server is open: the record outlives the batch's place in the queue for them. From 255 on it is
  /// never reused.
  private(set) var outstanding: UInt8
  var flags: Flags

  struct Flags: OptionSet, BitwiseCopyable {
    var rawValue: UInt8
    static let inFlight = Flags(rawValue: 1)
    /// The server has accepted it, whether or not the client knows.
    static let accepted = Flags(rawValue: 2)
    /// Some upload ended without an answer, so the batch keeps its boundaries (*rebatch*).
    static let unknownOutcome = Flags(rawValue: 4)
    /// In the device's queue.
    static let held = Flags(rawValue: 8)
    /// In its device's heap of waiting batches.
    static let waiting = Flags(rawValue: 16)
    /// Legacy (S15): due at triggers only.
    static let atTriggersOnly = Flags(rawValue: 32)
    /// Of one that is dropped: it is kept somewhere with a reason (O3). It is due at no trigger any more.
    static let blocked = atTriggersOnly
    /// The client gave its events up before any acceptance.
    static let dropped = Flags(rawValue: 64)
    /// It has failed: its retry state (*files*) is not fresh.
    static let hasRetryState = Flags(rawValue: 128)
  }

  @inline(__always)
  init(firstOrdinal: UInt32, firstTime: Int64, events: UInt16, generation: UInt16) {
    self.firstTime = firstTime
    self.firstOrdinal = firstOrdinal
    older = 0
    newer = 0
    link = 0
    self.events = events
    attempts = 0
    self.generation = generation
    outstanding = 0
    flags = .held
  }

  /// The number of the attempt that would come next.
  @inline(__always)
  var nextAttempt: UInt16 { attempts == .max ? 2 : attempts &+ 1 }

  @inline(__always)
  mutating func attemptLeaves() { if outstanding != .max { outstanding &+= 1 } }
  @inline(__always)
  mutating func attemptEnds() { if outstanding != .max { outstanding &-= 1 } }

  /// Whether this attempt is under way and nothing else is open or known of the batch.
  @inline(__always)
  func isAwaited(attempt: UInt16, generation: UInt16) -> Bool {
    attempts == attempt && self.generation == generation && outstanding == 1
      && flags.subtracting(.hasRetryState) == [.held, .inFlight]
  }

  /// The record serves another batch from now on, and its own attempts and flags are forgotten.
  @inline(__always)
  mutating func releases() {
    generation &+= 1
    outstanding = 0
    flags = []
  }

  /// Nothing refers to the record any more; a record of zeros serves no batch yet.
  @inline(__always)
  var isDone: Bool { outstanding == 0 && flags.isDisjoint(with: [.held, .waiting]) }
}

/// The batch records of a shard. Index 0 stands for "none".
///
/// The first records belong to the devices, one each, in their order in memory: most devices hold one batch at most, and so
/// a walk over the devices is a walk over their batches. What a device holds beyond that comes from a free list behind them.
struct BatchPool: ~Copyable {
  private(set) var records: UnsafeMutablePointer<BatchRecord>
  /// *files* only: the retry state of batches that have failed.
  private var retryStates: UnsafeMutablePointer<BatchRetryState>?
  /// Where the server deduplicates: when it accepted a batch first, microseconds.
  private(set) var acceptanceTimes: UnsafeMutablePointer<Int64>?
  private var capacity: Int
  private var used: Int
  private var free: UInt32 = 0
  private let devices: UInt32

  init(devices: Int, keepsRetryStates: Bool, keepsAcceptanceTimes: Bool) {
    self.devices = UInt32(devices)
    used = devices + 1
    capacity = devices + 256
    records = PlainMemory.zeroed(byteCount: capacity * MemoryLayout<BatchRecord>.stride)
      .bindMemory(to: BatchRecord.self, capacity: capacity)
    if keepsRetryStates {
      retryStates = PlainMemory.allocate(byteCount: capacity * MemoryLayout<BatchRetryState>.stride)
        .bindMemory(to: BatchRetryState.self, capacity: capacity)
    }
    if keepsAcceptanceTimes {
      acceptanceTimes = PlainMemory.allocate(byteCount: capacity * MemoryLayout<Int64>.stride)
        .bindMemory(to: Int64.self, capacity: capacity)
    }
  }

  deinit {
    PlainMemory.release(records)
    if let retryStates { PlainMemory.release(retryStates) }
    if let acceptanceTimes { PlainMemory.release(acceptanceTimes) }
  }

  @inline(__always)
  subscript(index: UInt32) -> BatchRecord {
    unsafeAddress { UnsafePointer(records + Int(truncatingIfNeeded: index)) }
    nonmutating unsafeMutableAddress { records + Int(truncatingIfNeeded: index) }
  }

  /// *files*: a batch's own retry state.
  @inline(__always)
  func retryState(_ index: UInt32) -> BatchRetryState {
    guard self[index].flags.contains(.hasRetryState), let retryStates else { return BatchRetryState() }
    return retryStates[Int(truncatingIfNeeded: index)]
  }

  @inline(__always)
  func setRetryState(_ state: BatchRetryState, _ index: UInt32) {
    guard let retryStates else { return }
    self[index].flags.insert(.hasRetryState)
    retryStates[Int(truncatingIfNeeded: index)] = state
  }

  /// Asks for what is known of a batch ahead of the time when it is handled.
  @inline(__always)
  func touchAhead(_ index: UInt32) {
    fleetsim_prefetch(records + Int(truncatingIfNeeded: index))
    if let retryStates { fleetsim_prefetch(retryStates + Int(truncatingIfNeeded: index)) }
  }

  /// Asks for a device's own record.
  @inline(__always)
  func touchOwn(ofDevice device: UInt32) {
    fleetsim_prefetch(records + Int(truncatingIfNeeded: device &+ 1))
  }

  /// A fresh record for a device, its own if that is free; records may move.
  @inline(__always)
  mutating func allocate(for device: UInt32, firstOrdinal: UInt32, firstTime: Int64, events: UInt16)
    -> UInt32
  {
    var index = device &+ 1
    if !self[index].isDone { index = takeFree() }
    let record = records + Int(truncatingIfNeeded: index)
    record.initialize(
      to: BatchRecord(
        firstOrdinal: firstOrdinal, firstTime: firstTime, events: events,
        generation: record.pointee.generation))
    return index
  }

  @inline(never)
  private mutating func takeFree() -> UInt32 {
    let index = free
    if index != 0 {
      free = self[index].link
      return index
    }
    if used == capacity { grow() }
    used &+= 1
    self[UInt32(truncatingIfNeeded: used &- 1)].generation = 0
    return UInt32(truncatingIfNeeded: used &- 1)
  }

  /// A device's own record is free again by what it says itself (`isDone`).
  @inline(__always)
  mutating func release(_ index: UInt32) {
    self[index].releases()
    if index > devices {
      self[index].link = free
      free = index
    }
  }

  @inline(never)
  private mutating func grow() {
    precondition(capacity < Int(UInt32.max) / 2, "too many batches in one shard")
    let more = capacity + max(256, capacity / 2)
    records = Self.grown(records, from: capacity, to: more)
    retryStates = retryStates.map { Self.grown($0, from: capacity, to: more) }
    acceptanceTimes = acceptanceTimes.map { Self.grown($0, from: capacity, to: more) }
    capacity = more
  }

  private static func grown<T>(_ table: UnsafeMutablePointer<T>, from capacity: Int, to more: Int)
    -> UnsafeMutablePointer<T>
  {
    let stride = MemoryLayout<T>.stride
    return PlainMemory.grow(table, from: capacity * stride, to: more * stride)
      .bindMemory(to: T.self, capacity: more)
  }
}
