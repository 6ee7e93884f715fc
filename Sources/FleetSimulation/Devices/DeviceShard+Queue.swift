import CMemory
import SimulationKernel
import UploadGating
import UploadPipeline
import UploadRetry

/// The due and the waiting batches of a shard's devices. Nobody but this file sees them.
struct BatchQueues: ~Copyable {
  fileprivate var ready: ReadyBatches
  fileprivate var waiting: WaitingHeaps
  /// Scratch of `collectDue`.
  fileprivate var due = GrowableBuffer<ReadyBatches.Entry>()

  init() {
    ready = ReadyBatches()
    waiting = WaitingHeaps()
  }

  init(copying other: borrowing BatchQueues) {
    ready = ReadyBatches(copying: other.ready)
    waiting = WaitingHeaps(copying: other.waiting)
  }
}

/// The queue and the running loop of a device that keeps its batches apart (*files*) or has several uploads at once.
struct UploadLoopState: BitwiseCopyable {
  /// The batches that are due.
  fileprivate(set) var ready = ReadyBatches.Place()
  /// `FlushWhileUploading.queued`.
  fileprivate(set) var queuedLoops: UInt16 = 0
  /// The running loop goes on with batches from this ordinal on.
  fileprivate(set) var cursor: UInt32 = 0
  /// With `ignoresFlushWhileUploading`: the running loop ends at batches from this ordinal on.
  fileprivate(set) var loopEnd: UInt32 = .max
  /// Sealed events that the device holds.
  fileprivate(set) var heldEvents: UInt32 = 0
  fileprivate(set) var inFlight: UInt32 = 0
}

/// A device's queue: all batches in the order of their events. Where several may be under way or wait apart (`UploadLoopState`),
/// fifty batches cost no scan. The due ones are a sorted block (`ReadyBatches`), and the waiting ones a heap by due time
/// (`WaitingHeaps`). Without that state, a batch that is not under way is due.
///
/// Complexity: O(log n) but for moving the words of a sorted block. A loop of a client whose held requests lie apart
/// (`CohortPlan.keepsHeldApart`) looks over the device's heap for each batch that it takes: O(n), 16 bytes each.
extension DeviceShard {
  // MARK: The running loop

  @inline(__always)
  package func queue(of client: ClientIndex) -> ClientQueue {
    let record = self[client]
    let uploads: UInt32 =
      if let loops { loops[client].pointee.inFlight } else {
        record.pointee.flags.contains(.uploading) ? 1 : 0
      }
    return ClientQueue(
      oldest: record.pointee.oldest, newest: record.pointee.newest, nextOrdinal: record.pointee.nextOrdinal,
      uploads: uploads)
  }

  @inline(__always)
  func setUploads(_ n: UInt32, of client: ClientIndex) {
    if let loops {
      loops[client].pointee.inFlight = n
    } else if n == 0 {
      self[client].pointee.flags.remove(.uploading)
    } else {
      self[client].pointee.flags.insert(.uploading)
    }
  }

  @inline(__always)
  package func cursor(of client: ClientIndex, behind ordinal: UInt32) -> UInt32 {
    if let loops { return loops[client].pointee.cursor }
    return ordinal &+ 1
  }

  @inline(__always)
  package func setCursor(_ cursor: UInt32, of client: ClientIndex) {
    if let loops { loops[client].pointee.cursor = cursor }
  }

  @inline(__always)
  package func startLoop(of client: ClientIndex, cursor: UInt32, end: UInt32) {
    guard let loops else { return }
    let loop = loops[client]
    loop.pointee.loopEnd = end
    loop.pointee.cursor = cursor
  }

  package func loopEnd(of client: ClientIndex) -> UInt32 { loop(client).pointee.loopEnd }

  package func queuedLoops(of client: ClientIndex) -> UnsafeMutablePointer<UInt16> {
    withUnsafeMutablePointer(to: &loop(client).pointee.queuedLoops) { $0 }
  }

  // MARK: All batches

  /// The device holds so many events more; negative: fewer.
  @inline(__always)
  func count(heldEvents n: Int, of device: DeviceIndex) {
    if let loops { loops[device].pointee.heldEvents &+= UInt32(truncatingIfNeeded: n) }
  }

  /// Nothing is held any more, and nothing under way.
  @inline(__always)
  func emptyLoop(of device: DeviceIndex) {
    guard let loops else { return }
    (loops[device].pointee.inFlight, loops[device].pointee.heldEvents) = (0, 0)
  }

  /// For cohorts with loops, whose clients upload one batch after the other: the upload ends, and its batch leaves.
  @inline(__always)
  func endUpload(of device: DeviceIndex) { loop(device).pointee.inFlight = 0 }
  @inline(__always)
  func leave(_ events: UInt16, of device: DeviceIndex) { loop(device).pointee.heldEvents &-= UInt32(events) }

  /// Sealed events that the device holds.
  @inline(__always)
  package func heldEvents(of device: DeviceIndex) -> UInt32 {
    if let loops { return loops[device].pointee.heldEvents }
    var sum: UInt32 = 0
    var batch = self[device].pointee.oldest
    while batch != .noBatch {
      sum &+= UInt32(batches[batch].events)
      batch = batches[batch].newer
    }
    return sum
  }

  /// Each of them is under way, due or waits.
  package func heldBatches(of device: DeviceIndex) -> UInt32 {
    guard let loops else { return 0 }
    let place = self[device].pointee.waiting
    return loops[device].pointee.inFlight &+ loops[device].pointee.ready.count &+ place.count &- place.stale
  }

  package mutating func waitingBatches(of device: DeviceIndex, at now: Int64) -> UInt32 {
    collectDue(device, at: now)
    let place = self[device].pointee.waiting
    return place.count &- place.stale
  }

  package mutating func firstWait(of device: DeviceIndex) -> Int64? { firstWaiting(device)?.due }

  @inline(__always)
  mutating func appendNewest(_ batch: BatchIndex, _ device: DeviceIndex) {
    let record = self[device]
    batches[batch].older = record.pointee.newest
    batches[batch].newer = .noBatch
    if record.pointee.newest == .noBatch {
      record.pointee.oldest = batch
    } else {
      batches[record.pointee.newest].newer = batch
    }
    record.pointee.newest = batch
  }

  @inline(__always)
  mutating func removeHeld(_ batch: BatchIndex, _ device: DeviceIndex) {
    let record = self[device]
    let (older, newer) = (batches[batch].older, batches[batch].newer)
    if older == .noBatch { record.pointee.oldest = newer } else { batches[older].newer = newer }
    if newer == .noBatch { record.pointee.newest = older } else { batches[newer].older = older }
    batches[batch].flags.remove(.held)
  }

  // MARK: Due batches

  @inline(__always)
  package mutating func schedule(_ batch: BatchIndex, _ schedule: BatchSchedule, _ device: DeviceIndex) {
    switch schedule {
    case .due: insertDue(batch, device)
    case .dueLast: appendDue(batch, device)
    case .held:
      if plan.pointee.keepsHeldApart, let end = delayEnd(of: batch) {
        wait(batch, until: end, isHeld: true, device)
      } else {
        insertDue(batch, device)
      }
    case .waiting(let due): wait(batch, until: due, device)
    case .taken: take(batch, device)
    }
  }

  @inline(__always)
  mutating func appendDue(_ batch: BatchIndex, _ device: DeviceIndex) {
    guard let loops else { return }
    queues.ready.append(readyEntry(batch), to: &loops[device].pointee.ready)
  }

  /// Into its place by ordinal.
  @inline(__always)
  mutating func insertDue(_ batch: BatchIndex, _ device: DeviceIndex) {
    guard let loops else { return }
    queues.ready.insert(readyEntry(batch), into: &loops[device].pointee.ready)
  }

  @inline(__always)
  private func readyEntry(_ batch: BatchIndex) -> ReadyBatches.Entry {
    let record = batches.address(batch)
    return ReadyBatches.Entry(
      firstOrdinal: record.pointee.firstOrdinal, batch: batch,
      atTriggersOnly: record.pointee.flags.contains(.atTriggersOnly))
  }

  /// A batch that begins at `ordinal` is due no more, if it was.
  mutating func removeReady(at ordinal: UInt32, _ device: DeviceIndex) {
    guard let loops else { return }
    let loop = loops[device]
    if let index = queues.ready.index(ofBatchAt: ordinal, in: loop.pointee.ready) {
      queues.ready.remove(at: index, from: &loop.pointee.ready)
    }
  }

  /// Another batch, which begins with the same event, takes the place of one that is due or waits.
  mutating func replaceQueued(_ batch: BatchIndex, by other: BatchIndex, _ device: DeviceIndex) {
    if !options.pointee.isRebatch, batches[batch].flags.contains(.waiting) {
      queues.waiting.replace(batch, by: other, in: self[device].pointee.waiting)
    } else {
      replaceReady(at: batches[batch].firstOrdinal, with: other, device)
    }
  }

  /// Replaces the due batch that began at `ordinal` by `batch`, as it is now.
  mutating func replaceReady(at ordinal: UInt32, with batch: BatchIndex, _ device: DeviceIndex) {
    guard let loops else { return }
    let loop = loops[device]
    if let index = queues.ready.index(ofBatchAt: ordinal, in: loop.pointee.ready) {
      queues.ready.replace(at: index, of: &loop.pointee.ready, with: readyEntry(batch))
    }
  }

  /// Moves the waiting batches that have become due among the due ones.
  ///
  /// Many come at once after an outage: they are put in order among themselves first, and then merged in one walk.
  @inline(always)
  mutating func collectDue(_ device: DeviceIndex, at now: Int64) {
    guard let first = firstWaiting(device), first.due <= now else { return }
    popWaiting(first.batch, device)
    if let second = firstWaiting(device), second.due <= now {
      collectMany(from: first, device, at: now)
    } else {
      insertDue(first.batch, device)
    }
  }

  @inline(never)
  private mutating func collectMany(from first: WaitingHeaps.Entry, _ device: DeviceIndex, at now: Int64) {
    queues.due.removeAll()
    queues.due.append(readyEntry(first.batch))
    while let next = firstWaiting(device), next.due <= now {
      popWaiting(next.batch, device)
      let entry = readyEntry(next.batch)
      queues.due.append(entry)
      if queues.due.count > 64 { continue }
      // Insertion from the back.
      var i = queues.due.count &- 1
      while i > 0, queues.due[i &- 1].word > entry.word {
        queues.due[i] = queues.due[i &- 1]
        i &-= 1
      }
      queues.due[i] = entry
    }
    var entries = UnsafeMutableBufferPointer(start: queues.due.base, count: queues.due.count)
    if queues.due.count > 64 {
      // Insertion would take quadratic time: a device may hold a million batches.
      entries.sort { $0.word < $1.word }
    }
    queues.ready.merge(UnsafeBufferPointer(entries), into: &loop(device).pointee.ready)
  }

  /// The first due batch at or behind the loop's cursor, taken out of the due list; 0: none.
  @inline(__always)
  package mutating func takeNextDue(_ device: DeviceIndex, from cursor: UInt32, at now: Int64) -> BatchIndex {
    let expected = plan.pointee.checks ? watchedNextDue(device, from: cursor, at: now) : nil
    let batch = takeNext(device, from: cursor, at: now)
    if let expected, batch != expected { report("the loop took the wrong batch", device, at: now) }
    return batch
  }

  @inline(__always)
  private mutating func takeNext(_ device: DeviceIndex, from cursor: UInt32, at now: Int64) -> BatchIndex {
    if loops != nil { return takeNextReady(device, at: now) }
    let record = self[device]
    var batch = record.pointee.oldest
    while batch != .noBatch {
      if batches[batch].firstOrdinal >= cursor, !batches[batch].flags.contains(.inFlight),
        !batches[batch].flags.contains(.atTriggersOnly) || record.pointee.flags.contains(.byTrigger)
      {
        batches[batch].flags.remove(.atTriggersOnly)
        return batch
      }
      batch = batches[batch].newer
    }
    return .noBatch
  }

  private mutating func takeNextReady(_ device: DeviceIndex, at now: Int64) -> BatchIndex {
    let loop = loop(device)
    if loop.pointee.ready.count == 0 {
      guard let first = firstWaiting(device), first.due <= now else { return .noBatch }
      if queues.waiting.isSecondLater(than: now, self[device].pointee.waiting),
        isForLoop(readyEntry(first.batch), from: loop.pointee.cursor, device)
      {
        popWaiting(first.batch, device)
        batches[first.batch].flags.remove(.atTriggersOnly)
        return first.batch
      }
    }
    collectDue(device, at: now)
    var index = queues.ready.firstIndex(from: loop.pointee.cursor, in: loop.pointee.ready)
    while index < Int(truncatingIfNeeded: loop.pointee.ready.count) {
      let entry = queues.ready.entry(index, of: loop.pointee.ready)
      if isForLoop(entry, from: loop.pointee.cursor, device) {
        queues.ready.remove(at: index, from: &loop.pointee.ready)
        // A gate may hold this one, and then the next is asked about at once.
        if index < Int(truncatingIfNeeded: loop.pointee.ready.count) {
          batches.prefetch(queues.ready.entry(index, of: loop.pointee.ready).batch)
        }
        batches[entry.batch].flags.remove(.atTriggersOnly)
        return entry.batch
      }
      index &+= 1
    }
    return .noBatch
  }

  // MARK: Held batches

  @inline(__always)
  package mutating func passHeld(
    _ device: DeviceIndex, from cursor: UInt32, to end: UInt32, at now: Int64
  ) -> UInt32 {
    guard plan.pointee.keepsHeldApart, self[device].pointee.waiting.count > 0 else { return cursor }
    return passHeldApart(device, from: cursor, to: end, at: now)
  }

  @inline(never)
  private mutating func passHeldApart(
    _ device: DeviceIndex, from cursor: UInt32, to end: UInt32, at now: Int64
  ) -> UInt32 {
    // None lies behind the loop's end: an earlier loop has met them.
    var (count, until, next) = (Int64(0), Int64.max, cursor)
    forEachHeld(device, from: cursor, to: end) { entry in
      count &+= 1
      until = min(until, entry.due)
      next = max(next, entry.firstOrdinal &+ 1)
    }
    if count == 0 { return cursor }
    if isTraced(device) {
      var entries: [WaitingHeaps.Entry] = []
      forEachHeld(device, from: cursor, to: end) { entries.append($0) }
      entries.sort { $0.firstOrdinal < $1.firstOrdinal }
      for entry in entries { noteHeld(until: entry.due, device, at: now) }
    } else {
      noteHeld(count, until: until, device, at: now)
    }
    setCursor(next, of: device)
    return next
  }

  /// Visits the batches that `CohortPlan.keepsHeldApart` keeps in the heap, in any order.
  @inline(__always)
  private func forEachHeld(
    _ device: DeviceIndex, from cursor: UInt32, to end: UInt32, _ body: (WaitingHeaps.Entry) -> Void
  ) {
    let place = self[device].pointee.waiting
    let heap = queues.waiting.address(place)
    for i in 0..<Int(truncatingIfNeeded: place.count) {
      let entry = heap[i]
      if entry.firstOrdinal >= cursor, entry.firstOrdinal < end, isHeldApart(entry, in: place) { body(entry) }
    }
  }

  @inline(__always)
  private func isHeldApart(_ entry: WaitingHeaps.Entry, in place: WaitingHeaps.Place) -> Bool {
    entry.isHeld && (place.stale == 0 || !hasLeft(entry.batch))
  }

  @inline(never)
  private func hasHeldApart(_ device: DeviceIndex) -> Bool {
    let place = self[device].pointee.waiting
    let heap = queues.waiting.address(place)
    return (0..<Int(place.count)).contains { isHeldApart(heap[$0], in: place) }
  }

  package mutating func next(
    _ scan: QueueScan, _ device: DeviceIndex, from cursor: UInt32, at now: Int64
  ) -> BatchIndex {
    switch scan {
    case .due(let lane): nextDue(device, in: lane, from: cursor, at: now)
    case .held: nextHeld(device, from: cursor)
    }
  }

  private mutating func nextDue(
    _ device: DeviceIndex, in lane: PriorityLanes.Lane, from cursor: UInt32, at now: Int64
  ) -> BatchIndex {
    collectDue(device, at: now)
    let loop = loop(device)
    var index = queues.ready.firstIndex(from: cursor, in: loop.pointee.ready)
    while index < Int(truncatingIfNeeded: loop.pointee.ready.count) {
      let entry = queues.ready.entry(index, of: loop.pointee.ready)
      if isForLoop(entry, from: cursor, device), self.lane(of: entry.batch, device) == lane {
        return entry.batch
      }
      index &+= 1
    }
    return .noBatch
  }

  private mutating func take(_ batch: BatchIndex, _ device: DeviceIndex) {
    removeReady(at: batches[batch].firstOrdinal, device)
    batches[batch].flags.remove(.atTriggersOnly)
  }

  /// Whether the running loop may send a batch that is due.
  @inline(__always)
  private func isForLoop(_ entry: ReadyBatches.Entry, from cursor: UInt32, _ device: DeviceIndex) -> Bool {
    let loop = loop(device)
    return entry.firstOrdinal >= cursor && entry.firstOrdinal < loop.pointee.loopEnd
      && (!entry.atTriggersOnly || self[device].pointee.flags.contains(.byTrigger))
  }

  private mutating func nextHeld(_ device: DeviceIndex, from cursor: UInt32) -> BatchIndex {
    let end = loops?[device].pointee.loopEnd ?? .max
    var batch = self[device].pointee.oldest
    while batch != .noBatch {
      let first = batches[batch].firstOrdinal
      if first >= end { return .noBatch }
      if first >= cursor, !batches[batch].flags.contains(.inFlight) { return batch }
      batch = batches[batch].newer
    }
    return .noBatch
  }

  /// A batch that has not been taken leaves the due ones, or the heap.
  mutating func leaveQueue(_ batch: BatchIndex, _ device: DeviceIndex) {
    guard loops != nil, !options.pointee.isRebatch || !batches[batch].isAnswered else {
      return
    }
    if !options.pointee.isRebatch, batches[batch].flags.contains(.waiting) {
      if self[device].pointee.waiting.isHalfStale { removeStaleEntries(device) }
      self[device].pointee.waiting.leavesEntry()
      return
    }
    removeReady(at: batches[batch].firstOrdinal, device)
  }

  package mutating func countDue(_ device: DeviceIndex, byTrigger: Bool, at now: Int64) -> Int {
    collectDue(device, at: now)
    let place = loop(device).pointee.ready
    return (0..<Int(place.count)).count { byTrigger || !queues.ready.entry($0, of: place).atTriggersOnly }
  }

  @inline(__always)
  private mutating func hasDue(_ device: DeviceIndex) -> Bool {
    if let loops {
      let place = loops[device].pointee.ready
      var index = 0
      while index < Int(truncatingIfNeeded: place.count), queues.ready.entry(index, of: place).atTriggersOnly
      {
        index &+= 1
      }
      return index < Int(truncatingIfNeeded: place.count)
    }
    var batch = self[device].pointee.oldest
    while batch != .noBatch, !batches[batch].flags.isDisjoint(with: .atTriggersOnly.union(.inFlight)) {
      batch = batches[batch].newer
    }
    return batch != .noBatch
  }

  // MARK: Waiting batches

  @inline(__always)
  package mutating func firstDue(_ device: DeviceIndex) -> Int64? {
    hasDue(device) || plan.pointee.keepsHeldApart && hasHeldApart(device) ? 0 : firstWaiting(device)?.due
  }

  package mutating func forgetDueTimes(_ device: DeviceIndex) {
    while let entry = firstWaiting(device) { popWaiting(entry.batch, device) }
    if let loops { queues.ready.removeAll(from: &loops[device].pointee.ready) }
  }

  /// Batches that have left the queue meanwhile may be among them.
  package func dueTimes(of device: DeviceIndex) -> [BatchIndex: Int64] {
    if options.pointee.policy.limitsCheck != .beforeDue { return lookTimes(device) }
    // A batch may be looked at before it is due.
    var times: [BatchIndex: Int64] = [:]
    var batch = self[device].pointee.oldest
    while batch != .noBatch {
      times[batch] = batches.dueTime(batch)
      batch = batches[batch].newer
    }
    return times
  }

  mutating func wait(_ batch: BatchIndex, until due: Int64, isHeld: Bool = false, _ device: DeviceIndex) {
    let entry = WaitingHeaps.Entry(
      due: due, firstOrdinal: batches[batch].firstOrdinal, batch: batch, isHeld: isHeld)
    batches[batch].flags.insert(.waiting)
    let record = self[device]
    queues.waiting.push(entry, &record.pointee.waiting)
  }

  /// Whether the batch of a heap's entry has left the queue, and the entry is stale.
  @inline(__always)
  func hasLeft(_ batch: BatchIndex) -> Bool { !batches[batch].flags.contains(.held) }

  /// The waiting batch that is due first; entries of batches that have gone are freed on the way.
  @inline(__always)
  mutating func firstWaiting(_ device: DeviceIndex) -> WaitingHeaps.Entry? {
    if options.pointee.isRebatch { return nil }
    let record = self[device]
    while record.pointee.waiting.count > 0 {
      let entry = queues.waiting.first(record.pointee.waiting)
      if record.pointee.waiting.stale == 0 || !hasLeft(entry.batch) { return entry }
      popWaiting(entry.batch, isStale: true, device)
      releaseIfDone(entry.batch, device)
    }
    return nil
  }

  mutating func popWaiting(_ batch: BatchIndex, isStale: Bool = false, _ device: DeviceIndex) {
    batches[batch].flags.remove(.waiting)
    let record = self[device]
    queues.waiting.popFirst(&record.pointee.waiting, isStale: isStale)
  }

  @inline(never)
  private mutating func removeStaleEntries(_ device: DeviceIndex) {
    let record = self[device]
    let kept = queues.waiting.moveStaleToEnd(of: record.pointee.waiting) { hasLeft($0) }
    let heap = queues.waiting.address(record.pointee.waiting)
    for i in kept..<Int(record.pointee.waiting.count) {
      batches[heap[i].batch].flags.remove(.waiting)
      releaseIfDone(heap[i].batch, device)
    }
    queues.waiting.keepFirst(kept, of: &record.pointee.waiting)
  }

  /// Frees a record that nothing refers to any more.
  @inline(__always)
  mutating func releaseIfDone(_ batch: BatchIndex, _ device: DeviceIndex) {
    guard batches[batch].isDone else { return }
    let wasLeftBehind = batches[batch].flags == .unknownOutcome
    batches.release(batch)
    if wasLeftBehind, options.pointee.isRebatch { openRecordEnds(device) }
  }

  // MARK: Digests and checkers

  /// Adds a device's running loop, and what is due and what waits.
  func addQueues(of device: DeviceIndex, to digest: inout StateDigest) {
    if let loop = loops?[device].pointee {
      digest.add(UInt64(loop.queuedLoops) &<< 32 | UInt64(loop.cursor))
      digest.add(UInt64(loop.loopEnd) &<< 32 | UInt64(loop.heldEvents))
      digest.add(loop.inFlight)
      for index in 0..<Int(loop.ready.count) {
        let entry = queues.ready.entry(index, of: loop.ready)
        digest.add(UInt64(entry.firstOrdinal) &<< 1 | (entry.atTriggersOnly ? 1 : 0))
      }
    }
    if options.pointee.isRebatch { return }
    digest.add(queues.waiting.state(self[device].pointee.waiting) { hasLeft($0) })
  }

  /// *files*: when waiting batches are looked at next: when they are due, unless a limit brings that forward.
  func lookTimes(_ device: DeviceIndex) -> [BatchIndex: Int64] {
    let place = self[device].pointee.waiting
    let heap = queues.waiting.address(place)
    var times: [BatchIndex: Int64] = [:]
    for index in (0..<Int(place.count)).reversed() where !heap[index].isHeld {
      times[heap[index].batch] = heap[index].due
    }
    return times
  }

  /// *files*: whether a device's heap names each batch that waits, or has left while it waited, once.
  func isHeapRight(_ device: DeviceIndex) -> Bool {
    if options.pointee.isRebatch || pages != nil { return true }
    let place = self[device].pointee.waiting
    let heap = queues.waiting.address(place)
    var (left, waits, named) = (0, 0, Set<BatchIndex>())
    for i in 0..<Int(place.count) {
      let record = batches[heap[i].batch]
      guard record.flags.contains(.waiting), record.firstOrdinal == heap[i].firstOrdinal,
        named.insert(heap[i].batch).inserted
      else { return false }
      if hasLeft(heap[i].batch) { left += 1 }
    }
    var batch = self[device].pointee.oldest
    while batch != .noBatch {
      if batches[batch].flags.contains(.waiting) { waits += 1 }
      batch = batches[batch].newer
    }
    return left == Int(place.stale) && left + waits == Int(place.count)
  }
}

/// Memory that a device will touch is asked for ahead of the time when it is handled.
extension DeviceShard {
  /// Asks for what the record, touched earlier, leads to: the batch a loop will most likely send. For cohorts with
  /// `CohortPlan.Tables.loops`; others find nearly all of their batches beside their records.
  @inline(__always)
  func prefetchBatch(of device: DeviceIndex) {
    let due = loop(device).pointee.ready
    if let address = queues.ready.address(due) {
      fleetsim_prefetch(address)
    } else if due.count > 0 {
      batches.prefetch(queues.ready.entry(0, of: due).batch)
    }
    if options.pointee.isRebatch { return }
    let place = self[device].pointee.waiting
    if place.count > 0 {
      let heap = queues.waiting.address(place)
      fleetsim_prefetch(heap)
      fleetsim_prefetch(heap + Int(place.count))
      // Taking out the first entry reads a child, and putting one in at the end reads a parent.
      fleetsim_prefetch(heap + 4)
      fleetsim_prefetch(heap + Int(place.count) / 4)
    }
  }

  /// Asks for the batch that the loop will send next and for the one that is due first, in the blocks touched earlier.
  @inline(__always)
  func prefetchNextBatches(of device: DeviceIndex) {
    let due = loop(device).pointee.ready
    if due.count > 1 {
      let next = min(Int(truncatingIfNeeded: due.hint), Int(truncatingIfNeeded: due.count) &- 1)
      batches.prefetch(queues.ready.entry(next, of: due).batch)
    }
    if options.pointee.isRebatch { return }
    let place = self[device].pointee.waiting
    if place.count > 0 { batches.prefetch(queues.waiting.first(place).batch) }
  }

  /// Both for devices that are met one after another. Out of line, so that who has no queues does not pay.
  @inline(never)
  mutating func prefetchQueues(behind device: DeviceIndex) {
    if device.place &+ 6 >= count { return }
    prefetchBatch(of: device.advanced(by: 6))
    prefetchNextBatches(of: device.advanced(by: 3))
  }
}
