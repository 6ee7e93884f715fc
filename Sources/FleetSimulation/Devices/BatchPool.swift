import UploadRetry

/// One sealed batch: a range of a device's event ordinals, and its retry state.
struct BatchRecord {
  /// Creation time of its first event; the others follow from the event process.
  var firstTime: Int64
  var retry: BatchRetryState
  var flags: Flags
  var firstOrdinal: UInt32
  var events: UInt16
  /// Attempts so far; the number of the latest tells a late answer.
  var attempts: UInt16
  /// Attempts whose fate at the server is open: the record outlives the batch's place in the queue for them.
  var outstanding: UInt16
  /// Counts the record's reuses, so that a stale item is recognised.
  var generation: UInt16
  var older: UInt32
  var newer: UInt32
  /// The next in the ready list, or the next free record.
  var link: UInt32

  struct Flags: OptionSet {
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
    /// The client gave its events up before any acceptance.
    static let dropped = Flags(rawValue: 64)
  }
}

/// The batch records of a shard with a free list. Index 0 stands for "none".
struct BatchPool: ~Copyable {
  private(set) var records: UnsafeMutablePointer<BatchRecord>
  private var capacity: Int
  private var used = 1
  private var free: UInt32 = 0

  init() {
    capacity = 256
    records = .allocate(capacity: capacity)
  }

  deinit { records.deallocate() }

  @inline(__always)
  subscript(index: UInt32) -> BatchRecord {
    unsafeAddress { UnsafePointer(records + Int(truncatingIfNeeded: index)) }
    nonmutating unsafeMutableAddress { records + Int(truncatingIfNeeded: index) }
  }

  /// A fresh record; records may move.
  mutating func allocate(firstOrdinal: UInt32, firstTime: Int64, events: UInt16) -> UInt32 {
    var index = free
    var generation: UInt16 = 0
    if index != 0 {
      free = self[index].link
      generation = self[index].generation
    } else {
      if used == capacity { grow() }
      index = UInt32(truncatingIfNeeded: used)
      used &+= 1
    }
    (records + Int(truncatingIfNeeded: index)).initialize(
      to: BatchRecord(
        firstTime: firstTime, retry: BatchRetryState(), flags: .held, firstOrdinal: firstOrdinal,
        events: events,
        attempts: 0, outstanding: 0, generation: generation, older: 0, newer: 0, link: 0))
    return index
  }

  mutating func release(_ index: UInt32) {
    self[index].generation &+= 1
    self[index].link = free
    free = index
  }

  @inline(never)
  private mutating func grow() {
    precondition(capacity < Int(UInt32.max) / 2, "too many batches in one shard")
    let larger = UnsafeMutablePointer<BatchRecord>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: records, count: used)
    records.deallocate()
    records = larger
    capacity *= 2
  }
}
