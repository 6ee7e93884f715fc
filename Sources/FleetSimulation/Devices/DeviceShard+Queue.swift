import SimulationKernel

/// A device's queue: all batches in the order of their events; and, where several may be under way or wait apart
/// (`UploadLoopState`), the due ones as a list in that order and the waiting ones as a heap by due time (`WaitingHeaps`), so that
/// fifty waiting batches cost no scan. Without that state, what is not under way is due.
///
/// Complexity: push O(log n), next due batch amortised O(log n), removal from the middle O(1) (a heap entry is left behind
/// and freed when it comes up).
extension DeviceShard {
  // MARK: All batches

  /// Sealed events that the device holds.
  @inline(__always)
  package func heldEvents(of device: UInt32) -> UInt32 {
    if let loops { return loops[Int(truncatingIfNeeded: device)].heldEvents }
    var sum: UInt32 = 0
    var batch = self[device].pointee.oldest
    while batch != 0 {
      sum &+= UInt32(batches[batch].events)
      batch = batches[batch].newer
    }
    return sum
  }

  @inline(__always)
  mutating func appendNewest(_ batch: UInt32, _ device: UInt32) {
    let record = self[device]
    batches[batch].older = record.pointee.newest
    batches[batch].newer = 0
    if record.pointee.newest == 0 {
      record.pointee.oldest = batch
    } else {
      batches[record.pointee.newest].newer = batch
    }
    record.pointee.newest = batch
  }

  @inline(__always)
  mutating func removeHeld(_ batch: UInt32, _ device: UInt32) {
    let record = self[device]
    let (older, newer) = (batches[batch].older, batches[batch].newer)
    if older == 0 { record.pointee.oldest = newer } else { batches[older].newer = newer }
    if newer == 0 { record.pointee.newest = older } else { batches[newer].older = older }
    batches[batch].flags.remove(.held)
  }

  // MARK: Due batches

  package mutating func putLast(_ batch: UInt32, _ device: UInt32) {
    if loops == nil { return }
    let loop = loop(device)
    batches[batch].link = 0
    if loop.pointee.ready == 0 {
      loop.pointee.ready = batch
    } else {
      batches[loop.pointee.lastReady].link = batch
    }
    loop.pointee.lastReady = batch
  }

  /// Into its place by ordinal: near the head, as what becomes due again is old.
  package mutating func putBack(_ batch: UInt32, _ device: UInt32) {
    if loops == nil { return }
    var (previous, next) = readyPlace(before: batches[batch].firstOrdinal, device)
    linkReady(batch, &previous, next, device)
    if next == 0 { loop(device).pointee.lastReady = batch }
  }

  /// Where to start looking for the place of `ordinal` in the ready list: the batch before it and the one there.
  private mutating func readyPlace(before ordinal: UInt32, _ device: UInt32) -> (
    previous: UInt32, next: UInt32
  ) {
    let loop = loop(device)
    var previous = loop.pointee.passed
    if previous != 0, batches[previous].firstOrdinal > ordinal { previous = 0 }
    var next = previous == 0 ? loop.pointee.ready : batches[previous].link
    while next != 0, batches[next].firstOrdinal < ordinal {
      previous = next
      next = batches[next].link
    }
    return (previous, next)
  }

  /// Links a batch between two neighbours; it becomes `previous`.
  private mutating func linkReady(_ batch: UInt32, _ previous: inout UInt32, _ next: UInt32, _ device: UInt32)
  {
    let loop = loop(device)
    batches[batch].link = next
    if previous == 0 { loop.pointee.ready = batch } else { batches[previous].link = batch }
    if batches[batch].firstOrdinal < loop.pointee.cursor { loop.pointee.passed = batch }
    previous = batch
  }

  mutating func removeReady(_ batch: UInt32, _ device: UInt32) {
    if loops == nil { return }
    var previous: UInt32 = 0
    var next = loop(device).pointee.ready
    while next != batch {
      previous = next
      next = batches[next].link
    }
    removeReady(batch, after: previous, device)
  }

  mutating func removeReady(_ batch: UInt32, after previous: UInt32, _ device: UInt32) {
    if loops == nil { return }
    let loop = loop(device)
    let next = batches[batch].link
    if previous == 0 { loop.pointee.ready = next } else { batches[previous].link = next }
    if next == 0 { loop.pointee.lastReady = previous }
    batches[batch].link = 0
    if loop.pointee.passed == batch { loop.pointee.passed = previous }
  }

  /// Moves the waiting batches that have become due into the ready list.
  ///
  /// Many come at once after an outage: they are put in order among themselves first, by what the heap's entries say, and
  /// then merged in one walk, so that each record is touched once.
  @inline(__always)
  mutating func collectDue(_ device: UInt32, at now: Int64) {
    guard let first = firstWaiting(device), first.due <= now else { return }
    popWaiting(first.batch, device)
    if let second = firstWaiting(device), second.due <= now {
      collectMany(from: first, device, at: now)
    } else {
      putBack(first.batch, device)
    }
  }

  @inline(never)
  private mutating func collectMany(from first: WaitingHeaps.Entry, _ device: UInt32, at now: Int64) {
    due.removeAll()
    due.append(first)
    while let next = firstWaiting(device), next.due <= now {
      popWaiting(next.batch, device)
      prefetch(batch: next.batch)
      due.append(next)
      if due.count > 64 { continue }
      // Insertion from the back, by ordinal.
      var i = due.count &- 1
      while i > 0, due[i &- 1].firstOrdinal > next.firstOrdinal {
        due[i] = due[i &- 1]
        i &-= 1
      }
      due[i] = next
    }
    if due.count > 64 {
      // Insertion would take quadratic time: a device may hold a million batches.
      var entries = UnsafeMutableBufferPointer(start: due.base, count: due.count)
      entries.sort { $0.firstOrdinal < $1.firstOrdinal }
    }
    var (previous, next) = readyPlace(before: due[0].firstOrdinal, device)
    for i in 0..<due.count {
      while next != 0, batches[next].firstOrdinal < due[i].firstOrdinal {
        previous = next
        next = batches[next].link
      }
      linkReady(due[i].batch, &previous, next, device)
    }
    if next == 0 { loop(device).pointee.lastReady = previous }
  }

  /// The first due batch at or behind the loop's cursor, taken out of the due list; 0: none.
  @inline(__always)
  package mutating func takeNextDue(_ device: UInt32, from cursor: UInt32, at now: Int64) -> UInt32 {
    let expected = plan.pointee.checks ? watchedNextDue(device, from: cursor, at: now) : nil
    let batch = takeNext(device, from: cursor, at: now)
    if let expected, batch != expected { report("the loop took the wrong batch", device, at: now) }
    return batch
  }

  @inline(__always)
  private mutating func takeNext(_ device: UInt32, from cursor: UInt32, at now: Int64) -> UInt32 {
    if loops != nil { return takeNextReady(device, at: now) }
    let record = self[device]
    var batch = record.pointee.oldest
    while batch != 0 {
      if batches[batch].firstOrdinal >= cursor, !batches[batch].flags.contains(.inFlight),
        !batches[batch].flags.contains(.atTriggersOnly) || record.pointee.flags.contains(.byTrigger)
      {
        batches[batch].flags.remove(.atTriggersOnly)
        return batch
      }
      batch = batches[batch].newer
    }
    return 0
  }

  private mutating func takeNextReady(_ device: UInt32, at now: Int64) -> UInt32 {
    let (record, loop) = (self[device], loop(device))
    collectDue(device, at: now)
    var previous = loop.pointee.passed
    var batch = previous == 0 ? loop.pointee.ready : batches[previous].link
    while batch != 0 {
      let isLegacy = batches[batch].flags.contains(.atTriggersOnly)
      if batches[batch].firstOrdinal >= loop.pointee.cursor,
        batches[batch].firstOrdinal < loop.pointee.loopEnd,
        !isLegacy || record.pointee.flags.contains(.byTrigger)
      {
        removeReady(batch, after: previous, device)
        batches[batch].flags.remove(.atTriggersOnly)
        return batch
      }
      previous = batch
      batch = batches[batch].link
    }
    return 0
  }

  package mutating func nextHeld(_ device: UInt32, from cursor: UInt32) -> UInt32 {
    let end = loops?[Int(truncatingIfNeeded: device)].loopEnd ?? .max
    var batch = self[device].pointee.oldest
    while batch != 0 {
      let first = batches[batch].firstOrdinal
      if first >= end { return 0 }
      if first >= cursor, !batches[batch].flags.contains(.inFlight) { return batch }
      batch = batches[batch].newer
    }
    return 0
  }

  /// A batch that has not been taken leaves the due ones, or the heap.
  mutating func leaveQueue(_ batch: UInt32, _ device: UInt32) {
    guard let loops, !options.pointee.isRebatch || !batches[batch].flags.contains(.answered) else { return }
    if !options.pointee.isRebatch, batches[batch].flags.contains(.waiting) {
      self[device].pointee.flags.insert(.hasStaleEntries)
      return
    }
    var next = loops[Int(truncatingIfNeeded: device)].ready
    var previous: UInt32 = 0
    while next != 0, batches[next].firstOrdinal <= batches[batch].firstOrdinal {
      if next == batch {
        removeReady(batch, after: previous, device)
        return
      }
      previous = next
      next = batches[next].link
    }
  }

  package mutating func countEvents(of device: UInt32, before time: Int64) -> UInt32 {
    var n: UInt32 = 0
    let draws = EventDraws(key(of: device))
    var batch = self[device].pointee.oldest
    while batch != 0 {
      var (created, ordinal) = (batches[batch].firstTime, batches[batch].firstOrdinal)
      for _ in 0..<batches[batch].events {
        if created >= time { return n }
        n &+= 1
        ordinal &+= 1
        created = plan.next(after: created, before: ordinal, draws)
      }
      batch = batches[batch].newer
    }
    return n
  }

  package mutating func countDue(_ device: UInt32, byTrigger: Bool, at now: Int64) -> Int {
    collectDue(device, at: now)
    var n = 0
    var batch = loop(device).pointee.ready
    while batch != 0 {
      if byTrigger || !batches[batch].flags.contains(.atTriggersOnly) { n += 1 }
      batch = batches[batch].link
    }
    return n
  }

  @inline(__always)
  package mutating func hasDue(_ device: UInt32) -> Bool {
    var batch: UInt32
    if loops == nil {
      batch = self[device].pointee.oldest
      while batch != 0, !batches[batch].flags.isDisjoint(with: [.atTriggersOnly, .inFlight]) {
        batch = batches[batch].newer
      }
    } else {
      batch = loop(device).pointee.ready
      while batch != 0, batches[batch].flags.contains(.atTriggersOnly) { batch = batches[batch].link }
    }
    return batch != 0
  }

  // MARK: Waiting batches

  @inline(__always)
  package mutating func firstDue(_ device: UInt32) -> Int64? { firstWaiting(device)?.due }

  package mutating func forgetDueTimes(_ device: UInt32) {
    while let entry = firstWaiting(device) { popWaiting(entry.batch, device) }
    guard let loops else { return }
    let loop = loops + Int(truncatingIfNeeded: device)
    loop.pointee.ready = 0
    loop.pointee.lastReady = 0
    loop.pointee.passed = 0
  }

  /// Batches that have left the queue meanwhile may be among them.
  package func dueTimes(of device: UInt32) -> [UInt32: Int64] {
    let place = self[device].pointee.waiting
    if options.pointee.policy.limitsCheck == .beforeDue {
      // A batch may be looked at before it is due.
      return knownDueTimes(of: device)
    }
    let heap = waiting.address(place)
    return Dictionary(
      (0..<Int(place.count)).map { (heap[$0].batch, heap[$0].due) }.filter {
        batches[$0.0].flags.contains(.waiting)
      }
    ) { first, _ in first }
  }

  package mutating func putOff(_ batch: UInt32, until due: Int64, _ device: UInt32) {
    let entry = WaitingHeaps.Entry(due: due, firstOrdinal: batches[batch].firstOrdinal, batch: batch)
    batches[batch].flags.insert(.waiting)
    let record = self[device]
    waiting.push(entry, &record.pointee.waiting)
  }

  /// The waiting batch that is due first; entries of batches that have gone are freed on the way.
  @inline(__always)
  mutating func firstWaiting(_ device: UInt32) -> WaitingHeaps.Entry? {
    if options.pointee.isRebatch { return nil }
    let record = self[device]
    while record.pointee.waiting.count > 0 {
      let entry = waiting.first(record.pointee.waiting)
      if !record.pointee.flags.contains(.hasStaleEntries) || batches[entry.batch].flags.contains(.held) {
        return entry
      }
      popWaiting(entry.batch, device)
      releaseIfDone(entry.batch, device)
    }
    record.pointee.flags.remove(.hasStaleEntries)
    return nil
  }

  mutating func popWaiting(_ batch: UInt32, _ device: UInt32) {
    batches[batch].flags.remove(.waiting)
    let record = self[device]
    waiting.popFirst(&record.pointee.waiting)
  }

  private func knownDueTimes(of device: UInt32) -> [UInt32: Int64] {
    var times: [UInt32: Int64] = [:]
    var batch = self[device].pointee.oldest
    while batch != 0 {
      times[batch] = batches.dueTime(batch)
      batch = batches[batch].newer
    }
    return times
  }

  /// Frees a record that nothing refers to any more.
  @inline(__always)
  mutating func releaseIfDone(_ batch: UInt32, _ device: UInt32) {
    guard batches[batch].isDone else { return }
    let wasLeftBehind = batches[batch].flags == .unknownOutcome
    batches.release(batch)
    if wasLeftBehind, options.pointee.isRebatch { openRecordEnds(device) }
  }
}
