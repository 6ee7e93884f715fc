import CMemory
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

/// One sealed batch: a range of a device's event ordinals. 32 bytes.
package struct BatchRecord: BitwiseCopyable {
  /// Creation time of its first event; the others follow from the event process.
  package var firstTime: Int64
  package var firstOrdinal: UInt32
  var older: BatchIndex
  var newer: BatchIndex
  /// The next free record of a free one; the result of the upload (`result`) of a batch that is answered.
  fileprivate var link: BatchIndex
  var events: UInt16
  /// Attempts so far; the number of the latest tells a late answer.
  package var attempts: UInt16
  /// Counts the record's reuses, so that a stale item is recognised.
  package var generation: UInt16
  /// `outstanding` (6 bits) | `mark` (2 bits).
  private var bits: UInt8
  package var flags: Flags

  package struct Flags: OptionSet, BitwiseCopyable {
    package var rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    static let inFlight = Flags(rawValue: 1)
    /// The server has accepted it, whether or not the client knows.
    static let accepted = Flags(rawValue: 2)
    /// Some upload ended without an answer, so the batch keeps its boundaries (*rebatch*).
    static let unknownOutcome = Flags(rawValue: 4)
    /// In the device's queue.
    package static let held = Flags(rawValue: 8)
    /// *files*: in its device's heap of waiting batches. *rebatch*: answered (`isAnswered`).
    static let waiting = Flags(rawValue: 16)
    /// A held batch is due at triggers only (S15); a dropped one is kept with a reason (`isBlocked`).
    static let atTriggersOnly = Flags(rawValue: 32)
    /// The client gave its events up before any acceptance.
    static let dropped = Flags(rawValue: 64)
    /// The batch has failed: its retry state (*files*) is not fresh.
    static let hasRetryState = Flags(rawValue: 128)
  }

  @inline(__always)
  init(firstOrdinal: UInt32, firstTime: Int64, events: UInt16, generation: UInt16) {
    self.firstTime = firstTime
    self.firstOrdinal = firstOrdinal
    older = .noBatch
    newer = .noBatch
    link = .noBatch
    self.events = events
    attempts = 0
    self.generation = generation
    bits = 0
    flags = .held
  }

  /// *rebatch*: whether it has been answered, while its flush is not over.
  @inline(__always)
  var isAnswered: Bool { flags.contains(.waiting) }

  /// Whether the client gave its events up and keeps it somewhere with a reason (O3).
  @inline(__always)
  var isBlocked: Bool { flags.contains(.dropped.union(.atTriggersOnly)) }

  /// The client gives its events up before any acceptance.
  ///
  /// - Parameter blockReason: why it is kept somewhere; nil: it is not.
  mutating func drop(blockReason: DropReason?) {
    flags.insert(.dropped)
    flags.remove(.atTriggersOnly)
    guard let blockReason else { return }
    flags.insert(.atTriggersOnly)
    self.blockReason = blockReason
  }

  /// *rebatch*: how its upload ended, while its flush is not over; nil: it has not been answered.
  @inline(__always)
  var result: UploadResult? {
    get { isAnswered ? FlushAnswer.unpacked(link.rawValue) : nil }
    set {
      if let newValue {
        flags.insert(.waiting)
        link.rawValue = FlushAnswer.packed(newValue)
      } else {
        flags.remove(.waiting)
        link = .noBatch
      }
    }
  }

  /// Attempts whose fate at the server is open: the record outlives the batch's place in the queue for them. From 63 on it is
  /// never reused.
  @inline(__always)
  var outstanding: UInt8 { bits &>> 2 }

  /// 0 … 3. A held batch says how its latest failed attempt ended (`AttemptFailure`), a blocked one why (`DropReason`).
  @inline(__always)
  private(set) var mark: UInt8 {
    get { bits & 3 }
    set { bits = bits & ~3 | newValue & 3 }
  }

  @inline(__always)
  var latestFailure: AttemptFailure {
    get { AttemptFailure(rawValue: mark).unsafelyUnwrapped }
    set { mark = newValue.rawValue }
  }

  var blockReason: DropReason {
    get { DropReason(rawValue: mark).unsafelyUnwrapped }
    set { mark = newValue.rawValue }
  }

  /// Whether it stands for a request for Settings, and is no batch.
  @inline(__always)
  var fetchesSettings: Bool { firstOrdinal == UploadRequest.settingsFetch }

  /// The number of the attempt that would come next.
  @inline(__always)
  var nextAttempt: UInt16 { attempts == .max ? 2 : attempts &+ 1 }

  @inline(__always)
  mutating func attemptLeaves(number: UInt16) {
    attempts = number
    flags.insert(.inFlight)
    attemptOpens()
  }
  /// The server may accept an attempt, or accept it once more.
  @inline(__always)
  mutating func attemptOpens() { if outstanding != 63 { bits &+= 4 } }
  @inline(__always)
  mutating func attemptEnds() { if outstanding != 63 { bits &-= 4 } }

  /// Whether this attempt is under way and nothing else is open or known of the batch.
  @inline(__always)
  func isAwaited(_ id: AttemptID) -> Bool {
    attempts == id.number && generation == id.generation && outstanding == 1
      && flags.subtracting(.hasRetryState) == [.held, .inFlight]
  }

  /// Adds all but its place among the others.
  func addState(to digest: inout StateDigest) {
    digest.add(firstTime)
    digest.add(UInt64(firstOrdinal) &<< 32 | UInt64(events) &<< 16 | UInt64(attempts))
    digest.add(UInt64(bits) &<< 8 | UInt64(flags.rawValue))
    if isAnswered { digest.add(link.rawValue) }
  }

  /// The record serves another batch from now on, and its own attempts and flags are forgotten.
  @inline(__always)
  mutating func releases() {
    generation &+= 1
    bits = 0
    flags = []
  }

  /// Nothing refers to the record any more; a record of zeros serves no batch yet.
  @inline(__always)
  var isDone: Bool { outstanding == 0 && flags.isDisjoint(with: .held.union(.waiting)) }
}

/// How an upload ended whose flush is not over, in the word that links free records; this record is not free. The word holds the
/// kind of its end (2 bits) and the wait that the server asked for. The wait is in tenths of a millisecond plus one (30 bits; a
/// day and a quarter, saturating).
private enum FlushAnswer {
  private static var unit: Int64 { 100 }
  private static var waitBits: UInt32 { 30 }
  private static var waitMask: UInt32 { 1 &<< waitBits &- 1 }

  static func packed(_ result: UploadResult) -> UInt32 {
    switch result {
    case .delivered: return 0
    case .dropped: return 1 &<< waitBits
    case .failed(let wait, let isRateLimit):
      let kind: UInt32 = (isRateLimit ? 3 : 2) &<< waitBits
      guard let wait else { return kind }
      return kind | UInt32(min(max(0, wait) / unit, Int64(waitMask) - 1) + 1)
    }
  }

  static func unpacked(_ word: UInt32) -> UploadResult {
    switch word &>> waitBits {
    case 0: return .delivered
    case 1: return .dropped
    default:
      let ticks = word & waitMask
      return .failed(
        wait: ticks == 0 ? nil : Int64(ticks - 1) * unit, isRateLimit: word &>> waitBits == 3)
    }
  }
}

/// How long one request is held (K2).
private struct RequestDelay: BitwiseCopyable {
  /// Of no request: what stands in a table from the start, since any request's number may stand in memory that was used before.
  static var empty: RequestDelay { RequestDelay(end: 0, request: 0) }

  /// Microseconds.
  var end: Int64
  /// The record's request that it belongs to.
  var request: UInt64
}

/// The batch records of a shard. Index 0 stands for "none".
///
/// Where devices have no loops, the first records belong to them, one each, and lie beside them (`DeviceRows`): most hold one batch
/// at most. The others come from a table with a free list, and have a retry state each beside them.
package struct BatchPool: ~Copyable {
  private let rows: DeviceRows
  private struct Pooled: BitwiseCopyable {
    /// The first field: `address` goes by that.
    var record: BatchRecord
    /// *files* only: of a batch that has failed.
    var retryState: PackedRetryState
  }

  /// The bytes of a batch that is no device's own.
  static var pooledBytes: Int { MemoryLayout<Pooled>.stride }
  /// The bytes of how long a batch's next request is held.
  static var delayBytes: Int { MemoryLayout<RequestDelay>.stride }

  /// Records from index `devices` + 1 on, at 1.
  private var more: UnsafeMutablePointer<Pooled>
  /// The due time of each batch, by its retry record. Checkers use it, and clients that look at batches that still wait
  /// (`RetryPolicy.limitsCheck`).
  private var dueTimes: UnsafeMutablePointer<Int64>?
  /// Where the server deduplicates: when it accepted a batch first, microseconds.
  private(set) var acceptanceTimes: UnsafeMutablePointer<Int64>?
  /// With `ClientGates.projectDelay`: until when the request is held that each batch makes next.
  private var delays: UnsafeMutablePointer<RequestDelay>?
  /// The capacity of `more`.
  private var capacity = 256
  private var used = 1
  private var free = BatchIndex.noBatch
  private let devices: UInt32
  private let looksAtWaiting: Bool

  /// - Parameters:
  ///   - haveOwn: each device has a record of its own in `rows`, and no batch a retry state.
  ///   - looksAtWaiting: the client looks at batches that still wait, and has to know until when.
  ///   - keepsDelays: a gate holds requests, each until a time of its own.
  package init(
    _ rows: DeviceRows, haveOwn: Bool, keepsAcceptanceTimes: Bool, looksAtWaiting: Bool,
    keepsDelays: Bool = false, checks: Bool
  ) {
    self.rows = rows
    devices = haveOwn ? UInt32(rows.count) : 0
    self.looksAtWaiting = looksAtWaiting
    more = Self.table(capacity)
    let all = Int(devices) + capacity
    if !haveOwn, checks || looksAtWaiting { dueTimes = Self.table(all) }
    if keepsAcceptanceTimes { acceptanceTimes = Self.table(all) }
    if keepsDelays {
      delays = Self.table(all)
      delays?.initialize(repeating: .empty, count: all)
    }
  }

  /// - Parameter rows: a copy of the other's.
  init(copying other: borrowing BatchPool, _ rows: DeviceRows) {
    self.rows = rows
    devices = other.devices
    looksAtWaiting = other.looksAtWaiting
    (capacity, used, free) = (other.capacity, other.used, other.free)
    let (all, room) = (Int(devices) + other.used, Int(devices) + other.capacity)
    more = PlainMemory.copy(of: other.more, count: other.used, capacity: other.capacity)
    dueTimes = other.dueTimes.map { PlainMemory.copy(of: $0, count: all, capacity: room) }
    acceptanceTimes = other.acceptanceTimes.map { PlainMemory.copy(of: $0, count: all, capacity: room) }
    delays = other.delays.map { PlainMemory.copy(of: $0, count: room, capacity: room) }
  }

  deinit {
    PlainMemory.release(more)
    if let dueTimes { PlainMemory.release(dueTimes) }
    if let acceptanceTimes { PlainMemory.release(acceptanceTimes) }
    if let delays { PlainMemory.release(delays) }
  }

  /// Returns the record of a batch that is no device's own.
  @inline(__always)
  private func pooled(_ index: BatchIndex) -> UnsafeMutablePointer<Pooled> {
    more + Int(truncatingIfNeeded: index.rawValue &- devices)
  }

  /// The address of a record, until more are allocated.
  @inline(__always)
  func address(_ index: BatchIndex) -> UnsafeMutablePointer<BatchRecord> {
    index.rawValue <= devices
      ? rows.batch(index) : UnsafeMutableRawPointer(pooled(index)).assumingMemoryBound(to: BatchRecord.self)
  }

  @inline(__always)
  package subscript(index: BatchIndex) -> BatchRecord {
    unsafeAddress { UnsafePointer(address(index)) }
    nonmutating unsafeMutableAddress { address(index) }
  }

  /// *files*: a pooled batch's own retry state; but for `retryAt`, if the client doesn't look at batches that still wait.
  @inline(__always)
  package func retryState(_ index: BatchIndex) -> BatchRetryState {
    let batch = pooled(index)
    guard batch.pointee.record.flags.contains(.hasRetryState) else { return BatchRetryState() }
    var state = batch.pointee.retryState.state
    if looksAtWaiting { state.retryAt = dueTime(index) }
    return state
  }

  @inline(__always)
  package func setRetryState(_ state: BatchRetryState, _ index: BatchIndex) {
    let batch = pooled(index)
    batch.pointee.record.flags.insert(.hasRetryState)
    batch.pointee.retryState = PackedRetryState(state)
    if let dueTimes { dueTimes[index.place] = state.retryAt }
  }

  /// The retry state of a batch becomes that of another, which has its flags already.
  func copyRetryState(of index: BatchIndex, to other: BatchIndex) {
    guard self[index].flags.contains(.hasRetryState) else { return }
    pooled(other).pointee.retryState = pooled(index).pointee.retryState
    if let dueTimes { dueTimes[other.place] = dueTimes[index.place] }
  }

  /// Returns a digest of all that is known of a batch.
  package func state(_ index: BatchIndex) -> StateDigest {
    var digest = StateDigest()
    let record = self[index]
    record.addState(to: &digest)
    if index.rawValue > devices, record.flags.contains(.hasRetryState) {
      let words = pooled(index).pointee.retryState.words
      digest.add(UInt64(words.0) | UInt64(words.1) &<< 32)
      digest.add(words.2)
      if let dueTimes { digest.add(dueTimes[index.place]) }
    }
    if let acceptanceTimes, record.flags.contains(.accepted) { digest.add(acceptanceTimes[index.place]) }
    if delays != nil { digest.add(delayEnd(of: index) ?? -1) }
    return digest
  }

  /// From when on a batch is due, by its retry record; 0: at once, or nobody checks.
  @inline(__always)
  package func dueTime(_ index: BatchIndex) -> Int64 {
    guard self[index].flags.contains(.hasRetryState), let dueTimes else { return 0 }
    return dueTimes[index.place]
  }

  /// Until when the request that a batch makes next is held (K2); nil: it has not drawn.
  func delayEnd(of index: BatchIndex) -> Int64? {
    guard let delay = delays?[index.place], delay.request == request(of: index) else { return nil }
    return delay.end
  }

  package func setDelayEnd(_ end: Int64?, of index: BatchIndex) {
    delays?[index.place] = end.map { RequestDelay(end: $0, request: request(of: index)) } ?? .empty
  }

  /// Tells requests of a record from one another, those of its former batches included; not 0.
  private func request(of index: BatchIndex) -> UInt64 {
    let record = self[index]
    return 1 &<< 32 | UInt64(record.generation) &<< 16 | UInt64(record.attempts)
  }

  /// Asks for what is known of a batch ahead of the time when it is handled.
  @inline(__always)
  func prefetch(_ index: BatchIndex) {
    let record = address(index)
    fleetsim_prefetch(record)
    // A pooled batch may end in the next line.
    fleetsim_prefetch(UnsafeRawPointer(record) + MemoryLayout<BatchRecord>.stride)
  }

  /// A fresh record for a device, its own if that is free; records may move.
  @inline(__always)
  package mutating func allocate(
    for device: DeviceIndex, firstOrdinal: UInt32, firstTime: Int64, events: UInt16
  )
    -> BatchIndex
  {
    var index = BatchIndex(rawValue: device.rawValue &+ 1)
    var record = rows.batch(index)
    if devices == 0 || !record.pointee.isDone {
      index = takeFree()
      record = address(index)
    }
    record.initialize(
      to: BatchRecord(
        firstOrdinal: firstOrdinal, firstTime: firstTime, events: events,
        generation: record.pointee.generation))
    return index
  }

  @inline(never)
  private mutating func takeFree() -> BatchIndex {
    let index = free
    if index != .noBatch {
      free = self[index].link
      return index
    }
    if used == capacity { grow() }
    let fresh = BatchIndex(rawValue: devices &+ UInt32(truncatingIfNeeded: used))
    used &+= 1
    self[fresh].generation = 0
    return fresh
  }

  /// A device's own record is free again by what it says itself (`isDone`).
  @inline(__always)
  package mutating func release(_ index: BatchIndex) { release(index, address(index)) }

  /// - Parameter record: its record.
  @inline(__always)
  mutating func release(_ index: BatchIndex, _ record: UnsafeMutablePointer<BatchRecord>) {
    record.pointee.releases()
    if index.rawValue > devices {
      record.pointee.link = free
      free = index
    }
  }

  @inline(never)
  private mutating func grow() {
    let own = Int(devices)
    let larger = capacity + max(256, capacity / 2)
    // Queues have 31 bits for an index.
    precondition(Int64(own) + Int64(larger) < 1 << 31, "too many batches in one shard")
    more = Self.grown(more, from: capacity, to: larger)
    dueTimes = dueTimes.map { Self.grown($0, from: own + capacity, to: own + larger) }
    acceptanceTimes = acceptanceTimes.map { Self.grown($0, from: own + capacity, to: own + larger) }
    delays = delays.map {
      let table = Self.grown($0, from: own + capacity, to: own + larger)
      (table + own + capacity).initialize(repeating: .empty, count: larger - capacity)
      return table
    }
    capacity = larger
  }

  private static func table<T>(_ capacity: Int) -> UnsafeMutablePointer<T> {
    PlainMemory.allocate(byteCount: capacity * MemoryLayout<T>.stride).bindMemory(
      to: T.self, capacity: capacity)
  }

  private static func grown<T>(_ table: UnsafeMutablePointer<T>, from capacity: Int, to more: Int)
    -> UnsafeMutablePointer<T>
  {
    let stride = MemoryLayout<T>.stride
    return PlainMemory.grow(table, from: capacity * stride, to: more * stride)
      .bindMemory(to: T.self, capacity: more)
  }
}
