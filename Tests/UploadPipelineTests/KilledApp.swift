import TestSupport
import UploadPipeline
import UploadRetry

/// An app around an `UploadClient`, as `RetrySnapshot` describes one, with a store that fails, a clock that jumps and a fuse that
/// kills it between any two steps.
struct KilledApp: ~Copyable {
  struct Killed: Error {}

  /// What survives a kill: the events that are stored, where a batch of them begins, and the snapshot.
  private var events: [(number: UInt32, createdAt: Int64)] = []
  private var batchStarts: Set<UInt32> = []
  private var nextEvent: UInt32 = 0
  private var stored: [UInt8]?
  private var storedBefore: [UInt8]?

  /// What does not.
  private var client: UploadClient
  private var inFlight: [BatchIndex] = []

  /// Time as it passes, and what the wall clock is ahead of it.
  private var time: Int64 = 1_700_000_000_000_000
  private var offset: Int64 = 0
  private var now: Int64 { time + offset }
  /// The wait that this launch's latest save put on record, on the wall clock; nil: it has not saved.
  private var savedWait: Int64?
  /// The latest attempt or start.
  private var latestSign: Int64 = 0
  private var fuse = Int.max
  private var settled: Set<UInt32> = []
  private var random: SeededGenerator
  private let options: ClientOptions
  private let config: HTTPConfig
  private let cap: Int64

  /// What must not happen, in words.
  private(set) var violations: [String] = []
  private(set) var tally = Tally()

  /// How often each fault was met.
  struct Tally {
    var killsInFlight = 0
    var unusable = 0
    var clamped = 0
    var keptWaits = 0
    var settled = 0
    var outdated = 0
  }

  /// - Parameter cap: the longest wait that there may be, microseconds.
  init(seed: UInt64, options: ClientOptions, config: HTTPConfig, cap: Int64) {
    random = SeededGenerator(seed: seed)
    self.options = options
    self.config = config
    self.cap = cap
    client = UploadClient(
      options: options, config: config, flushCount: FlushCount(nil), random: SeededGenerator(seed: seed ^ 1))
    latestSign = time
  }

  /// Lives through some launches, each ended by a kill.
  mutating func live(launches: Int) {
    for _ in 0..<launches {
      fuse = 1 + below(40)
      do {
        try run()
      } catch {
        die()
      }
    }
  }

  private mutating func run() throws(Killed) {
    while true {
      try step()
      if events.count < 6, below(2) == 0 { try track() }
      time += Int64(below(90_000_000))
      try trigger()
      while let batch = inFlight.first {
        try step()
        time += Int64(below(2_000_000))
        // Another one while uploads run.
        if below(4) == 0 { try trigger() }
        try answer(batch)
      }
    }
  }

  /// An event is stored, and then the client hears of it.
  private mutating func track() throws(Killed) {
    events.append((nextEvent, now))
    nextEvent += 1
    try step()
    client.add(1, at: now)
  }

  private mutating func trigger() throws(Killed) {
    let before = latestSign
    client.trigger(.interval, at: now)
    // Which events a batch has is stored before anything else happens to it.
    for batch in client.held { batchStarts.insert(batch.events.lowerBound) }
    try act()
    // A trigger that sent nothing.
    if latestSign == before, inFlight.isEmpty, !client.held.isEmpty, time - latestSign > cap {
      violations.append("nothing was sent for \(time - latestSign) µs, and there is something to send")
    }
  }

  private mutating func answer(_ batch: BatchIndex) throws(Killed) {
    inFlight.removeAll { $0 == batch }
    latestSign = time
    let answer = response()
    client.answered(batch, answer, at: now)
    try act()
  }

  /// Does what the client says, saving before an upload and after everything.
  private mutating func act() throws(Killed) {
    for action in client.takeActions() {
      switch action {
      case .send(let batch, let numbers, _, _):
        inFlight.append(batch)
        try save()
        try step()
        latestSign = time
        for number in numbers where settled.contains(number) {
          violations.append("settled event \(number) was uploaded again")
        }
        try step()
      case .delivered(let numbers), .lost(let numbers, _): try settle(numbers)
      case .wake, .step: break
      }
    }
    try save()
  }

  /// Deletes the events, one after another, and saves then.
  private mutating func settle(_ numbers: Range<UInt32>) throws(Killed) {
    for number in numbers {
      try step()
      events.removeAll { $0.number == number }
      settled.insert(number)
      tally.settled += 1
    }
    try save()
  }

  private mutating func save() throws(Killed) {
    try step()
    storedBefore = stored
    let snapshot = client.snapshot
    stored = snapshot.encoded()
    savedWait = snapshot.waitUntil
    try step()
  }

  // MARK: Death and life

  private mutating func die() {
    if !inFlight.isEmpty { tally.killsInFlight += 1 }
    inFlight = []
    let fault = below(8)
    switch fault {
    case 0: stored = stored.map { Array($0.prefix(below($0.count + 1))) }
    case 1:
      if var bytes = stored, !bytes.isEmpty {
        bytes[below(bytes.count)] ^= UInt8(1 << below(8))
        stored = bytes
      }
    case 2: stored = nil
    case 3:
      stored = storedBefore
      tally.outdated += 1
    default: break
    }
    time += Int64(below(600_000_000))
    let jump = below(4)
    if jump == 0 { offset += Int64(below(200_000_000_000)) - 100_000_000_000 }

    var found = RetrySnapshot()
    switch stored.map({ StoredRetrySnapshot(bytes: $0) }) ?? .none {
    case .none: break
    case .snapshot(let snapshot): found = snapshot
    case .unusable: tally.unusable += 1
    }
    client = UploadClient(
      options: options, config: config, flushCount: FlushCount(nil),
      random: SeededGenerator(seed: random.next()))
    let repairs = client.launch(found, holding: storedBatches, nextEvent: nextEvent, at: now)
    latestSign = time
    checkStart(repairs, isFaultless: fault > 3 && jump != 0 && savedWait != nil)
    savedWait = nil
  }

  /// The stored events, as they were cut; those that no flush had sealed are one more.
  private var storedBatches: [(firstEvent: UInt32, events: UInt32, createdAt: Int64)] {
    var batches: [(firstEvent: UInt32, events: UInt32, createdAt: Int64)] = []
    for event in events {
      if let last = batches.last, last.firstEvent + last.events == event.number,
        !batchStarts.contains(event.number), last.events < options.maximumBatchEvents
      {
        batches[batches.count - 1].events += 1
      } else {
        batches.append((event.number, 1, event.createdAt))
      }
    }
    return batches
  }

  private mutating func checkStart(_ repairs: [SnapshotRepair], isFaultless: Bool) {
    if repairs.contains(where: { $0.kind == .waitClamped || $0.kind == .batchWaitClamped }) {
      tally.clamped += 1
      if isFaultless { violations.append("a wait was clamped without a fault") }
    }
    let state = client.snapshot
    if state.waitUntil > now + cap { violations.append("the gate waits beyond the cap") }
    for batch in state.batches where batch.state.retryAt > now + cap {
      violations.append("batch \(batch.id) waits beyond the cap")
    }
    if client.held.map({ Int($0.events.count) }).reduce(0, +) != events.count {
      violations.append("the client holds other events than are stored")
    }
    if isFaultless, let savedWait, savedWait > now {
      tally.keptWaits += 1
      if state.waitUntil != savedWait { violations.append("a wait was lost without a fault") }
    }
  }

  private mutating func step() throws(Killed) {
    fuse -= 1
    if fuse <= 0 { throw Killed() }
  }

  private mutating func response() -> UploadResponse {
    let wait: Int64? = below(3) == 0 ? nil : Int64(below(1_000)) * 1_000_000
    switch below(8) {
    case 0, 1: return .status(200, retryAfter: nil)
    case 2, 3: return .status(429, retryAfter: wait)
    case 4: return .status(503, retryAfter: nil)
    case 5: return .status(503, retryAfter: wait)
    case 6: return below(4) == 0 ? .status(400, retryAfter: nil) : .status(500, retryAfter: nil)
    default: return .noStatus
    }
  }

  private mutating func below(_ limit: Int) -> Int { Int(random.next() >> 33) % limit }
}
