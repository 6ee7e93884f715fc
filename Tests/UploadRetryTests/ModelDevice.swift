import UploadGating
import UploadRetry

/// A client as `RetrySnapshot` describes one, with a store that fails, a clock that jumps and a fuse that kills
/// it between any two steps.
struct ModelDevice {
  struct Killed: Error {}

  /// What survives a kill.
  private(set) var events: [UInt64] = []
  private var stored: [UInt8]?
  private var storedBefore: [UInt8]?

  /// What does not.
  private var gate = UploadGate()
  private var pipeline = PipelineRetryState()
  private var records: [UInt64: BatchRetryState] = [:]
  private var inFlight: UInt64?

  /// Time as it passes, and what the wall clock is ahead of it.
  private var time: Int64 = 1_700_000_000_000_000
  private var offset: Int64 = 0
  private var now: Int64 { time + offset }
  /// The wait that this launch's latest save put on record, on the wall clock; nil: it has not saved.
  private var savedWait: Int64?
  /// The latest attempt or start.
  private var latestSign: Int64 = 0
  private var fuse = Int.max
  private var nextBatch: UInt64 = 1
  private var settled: Set<UInt64> = []
  private var random: SplitMix64
  private let machine: RetryStateMachine
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
  init(seed: UInt64, machine: RetryStateMachine, cap: Int64) {
    random = SplitMix64(seed: seed)
    self.machine = machine
    self.cap = cap
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
      if events.count < 6, below(2) == 0 {
        events.append(nextBatch)
        nextBatch += 1
      }
      time += Int64(below(90_000_000))
      try loop()
    }
  }

  /// A trigger: one loop over what is due, from the oldest to the newest.
  private mutating func loop() throws(Killed) {
    let before = latestSign
    try sendDue()
    // A trigger that sent nothing.
    if latestSign == before, !events.isEmpty, time - latestSign > cap {
      violations.append("nothing was sent for \(time - latestSign) µs, and there is something to send")
    }
  }

  private mutating func sendDue() throws(Killed) {
    for batch in events {
      guard gate.isReady(at: now) else { return }
      let record = records[batch] ?? BatchRetryState()
      switch machine.beforeSend(batch: record, pipeline: &pipeline, now: now) {
      case .notDue: continue
      case .send: try upload(batch)
      case .drop: try settle([batch])
      case .dropFlush:
        gate.reset()
        records = [:]
        return try settle(events)
      }
    }
  }

  private mutating func upload(_ batch: UInt64) throws(Killed) {
    inFlight = batch
    try save()
    try step()
    latestSign = time
    if settled.contains(batch) { violations.append("settled batch \(batch) was uploaded again") }
    try step()
    time += Int64(below(2_000_000))
    inFlight = nil
    var record = records[batch] ?? BatchRetryState()
    let answer = answer()
    latestSign = time
    let outcome = machine.afterResponse(
      answer, batch: &record, pipeline: &pipeline, now: now, random: &random)
    records[batch] = record
    switch outcome {
    case .delivered:
      gate.reset()
      return try settle([batch])
    case .drop: return try settle([batch])
    case .pause(let until): gate.pause(until: until)
    case .backOff(let until): gate.pause(until: until, kind: .backoff)
    case .retry, .retryAtNextTrigger, .refreshCredentials: break
    }
    try save()
  }

  /// Deletes the events, one batch at a time, and saves then.
  private mutating func settle(_ batches: [UInt64]) throws(Killed) {
    for batch in batches {
      try step()
      events.removeAll { $0 == batch }
      settled.insert(batch)
      tally.settled += 1
      records[batch] = nil
    }
    try save()
  }

  private mutating func save() throws(Killed) {
    try step()
    storedBefore = stored
    var snapshot = RetrySnapshot(
      waitUntil: gate.waitUntil, isWaitBackoff: gate.kind == .backoff, pipeline: pipeline)
    for (batch, record) in records.sorted(by: { $0.key < $1.key }) {
      snapshot.batches.append(.init(id: batch, state: record, isInFlight: batch == inFlight))
    }
    if let inFlight, records[inFlight] == nil {
      snapshot.batches.append(.init(id: inFlight, isInFlight: true))
    }
    stored = snapshot.encoded()
    savedWait = gate.waitUntil
    try step()
  }

  // MARK: Death and life

  private mutating func die() {
    if inFlight != nil { tally.killsInFlight += 1 }
    inFlight = nil
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

    let found = stored.map { StoredRetrySnapshot(bytes: $0) } ?? .none
    let (snapshot, repairs) = FixedStore(found: found).restore(
      now: now, config: machine.config, policy: machine.policy)
    gate = UploadGate()
    gate.pause(until: snapshot.waitUntil, kind: snapshot.isWaitBackoff ? .backoff : .rateLimit)
    pipeline = snapshot.pipeline
    records = [:]
    for batch in snapshot.batches where events.contains(batch.id) { records[batch.id] = batch.state }
    latestSign = time
    checkStart(repairs, isFaultless: fault > 3 && jump != 0 && savedWait != nil)
    savedWait = nil
  }

  private mutating func checkStart(_ repairs: [SnapshotRepair], isFaultless: Bool) {
    if repairs.contains(where: { if case .unreadable = $0.kind { true } else { false } }) {
      tally.unusable += 1
    }
    if repairs.contains(where: { $0.kind == .waitClamped || $0.kind == .batchWaitClamped }) {
      tally.clamped += 1
      if isFaultless { violations.append("a wait was clamped without a fault") }
    }
    if gate.waitUntil > now + cap { violations.append("the gate waits beyond the cap") }
    for (batch, record) in records where record.retryAt > now + cap {
      violations.append("batch \(batch) waits beyond the cap")
    }
    if isFaultless, let savedWait, savedWait > now {
      tally.keptWaits += 1
      if gate.waitUntil != savedWait { violations.append("a wait was lost without a fault") }
    }
  }

  private mutating func step() throws(Killed) {
    fuse -= 1
    if fuse <= 0 { throw Killed() }
  }

  private mutating func answer() -> UploadResponse {
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

/// A store with what a kill has left of it.
private struct FixedStore: RetrySnapshotStore {
  var found: StoredRetrySnapshot
  func load() -> StoredRetrySnapshot { found }
  mutating func save(_ snapshot: RetrySnapshot) { found = .snapshot(snapshot) }
}
