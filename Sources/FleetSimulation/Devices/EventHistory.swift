import FleetMetrics
import SimulationKernel
import UploadPipeline
import UploadRetry

/// The events of one device that the server has, after uploads ended without an answer and were chunked anew (*rebatch*). The
/// batches that were sent are gone, their fate is not.
///
/// A batch that an attempt is still open of leaves its record behind, in no queue, until the fate is known.
struct EventHistory {
  /// Event numbers that the server has accepted, in order and apart.
  private(set) var accepted: [Range<UInt32>] = []
  /// Those that the client has given up before, and those that it has blocked (O3).
  private var dropped: [Range<UInt32>] = []
  private var blocked: [(events: Range<UInt32>, reason: DropReason)] = []
  /// Records left behind.
  var openRecords = 0

  mutating func accept(_ events: Range<UInt32>) { Self.insert(events, into: &accepted) }
  mutating func drop(_ events: Range<UInt32>) { Self.insert(events, into: &dropped) }
  mutating func block(_ events: Range<UInt32>, _ reason: DropReason) { blocked.append((events, reason)) }

  /// Returns those of some events that the server does not have yet.
  func missing(of events: Range<UInt32>) -> [Range<UInt32>] {
    var missing: [Range<UInt32>] = []
    var next = events.lowerBound
    for known in accepted where known.upperBound > events.lowerBound && known.lowerBound < events.upperBound {
      if known.lowerBound > next { missing.append(next..<known.lowerBound) }
      next = max(next, known.upperBound)
    }
    if next < events.upperBound { missing.append(next..<events.upperBound) }
    return missing
  }

  func addState(to digest: inout StateDigest) {
    for range in accepted + dropped { digest.add(UInt64(range.lowerBound) &<< 32 | UInt64(range.upperBound)) }
    for (range, reason) in blocked {
      digest.add(UInt64(range.lowerBound) &<< 32 | UInt64(range.upperBound))
      digest.add(reason.rawValue)
    }
    digest.add(UInt64(accepted.count) &<< 40 | UInt64(dropped.count) &<< 20 | UInt64(openRecords))
  }

  func wasDropped(_ event: UInt32) -> Bool { dropped.contains { $0.contains(event) } }
  func blockReason(of event: UInt32) -> DropReason? { blocked.first { $0.events.contains(event) }?.reason }

  private static func insert(_ events: Range<UInt32>, into ranges: inout [Range<UInt32>]) {
    if events.isEmpty { return }
    var merged = events
    ranges.removeAll { range in
      guard range.upperBound >= merged.lowerBound, range.lowerBound <= merged.upperBound else { return false }
      merged = min(range.lowerBound, merged.lowerBound)..<max(range.upperBound, merged.upperBound)
      return true
    }
    let place = ranges.firstIndex { $0.lowerBound > merged.lowerBound } ?? ranges.count
    ranges.insert(merged, at: place)
  }
}

extension DeviceShard {
  private func range(of batch: BatchIndex) -> Range<UInt32> {
    let first = batches[batch].firstOrdinal
    return first..<first &+ UInt32(batches[batch].events)
  }

  /// Batches of unknown outcome may be cut anew: what is known of them goes into the device's history.
  @inline(never)
  mutating func forgetBoundaries(_ device: DeviceIndex) {
    var batch = self[device].pointee.oldest
    while batch != .noBatch {
      let next = batches[batch].newer
      if hasPast(batch), !batches[batch].flags.contains(.inFlight), !batches[batch].isAnswered {
        forgetBoundaries(of: batch, device)
      }
      batch = next
    }
  }

  /// Whether the server may have a held batch, or get it, with the events that it has now. A client that asked may not know.
  private func hasPast(_ batch: BatchIndex) -> Bool {
    !batches[batch].flags.isDisjoint(with: [.unknownOutcome, .accepted]) || batches[batch].outstanding > 0
  }

  /// Returns the newest batch of a device as one that may get more events: another one where `batch` has a past.
  @inline(never)
  mutating func newest(_ device: DeviceIndex, behind batch: BatchIndex) -> BatchIndex {
    if hasPast(batch) { forgetBoundaries(of: batch, device) }
    return self[device].pointee.newest
  }

  private mutating func forgetBoundaries(of batch: BatchIndex, _ device: DeviceIndex) {
    var history = histories[device] ?? EventHistory()
    let old = batches[batch]
    if old.flags.contains(.accepted) { history.accept(range(of: batch)) }
    if old.outstanding > 0 {
      // The record stays for what is still open of it, outside the queue; another one takes its place.
      history.openRecords += 1
      let other = batches.allocate(
        for: device, firstOrdinal: old.firstOrdinal, firstTime: old.firstTime, events: old.events)
      batches[other].attempts = old.attempts
      batches[other].latestFailure = old.latestFailure
      if let end = batches.delayEnd(of: batch) { batches.setDelayEnd(end, of: other) }
      replace(batch, by: other, device)
      batches[batch].flags = .unknownOutcome
    } else {
      batches[batch].flags.subtract([.unknownOutcome, .accepted])
    }
    histories[device] = history
    self[device].pointee.flags.insert(.hasHistory)
  }

  /// In the queue and among the due ones.
  private mutating func replace(_ batch: BatchIndex, by other: BatchIndex, _ device: DeviceIndex) {
    let old = batches[batch]
    batches[other].flags = old.flags.subtracting([.unknownOutcome, .accepted])
    batches[other].older = old.older
    batches[other].newer = old.newer
    if old.older == .noBatch { self[device].pointee.oldest = other } else { batches[old.older].newer = other }
    if old.newer == .noBatch { self[device].pointee.newest = other } else { batches[old.newer].older = other }
    replaceReady(at: old.firstOrdinal, with: other, device)
  }

  /// The server accepts a batch of a device with a history.
  @inline(never)
  mutating func acceptWithHistory(_ batch: BatchIndex, _ device: DeviceIndex, at time: Instant) {
    guard var history = histories[device] else { return }
    let row = rows.row(at: time.microseconds)
    let events = range(of: batch)
    // A batch from before there was a history tells its fate by its own flags.
    if batches[batch].flags.contains(.accepted) { history.accept(events) }
    if batches[batch].flags.contains(.dropped) {
      if batches[batch].isBlocked {
        history.block(events, batches[batch].blockReason)
      } else {
        history.drop(events)
      }
    }
    let missing = history.missing(of: events)
    let new = missing.reduce(0) { $0 + $1.count }
    counters.add(Int64(events.count - new), to: .duplicateEvents, row: row)
    if plan.pointee.server.deduplicationWindow >= 0 {
      counters.add(Int64(events.count - new), to: .deduplicatedEvents, row: row)
    }
    counters.add(1, to: new == 0 ? .duplicateBatches : .acceptedBatches, row: row)
    counters.add(Int64(new), to: .deliveredEvents, row: row)
    var (sum, old) = (Int64(0), Int64(0))
    for part in missing {
      let first = batches[batch].firstOrdinal
      var (created, ordinal) = skip(
        part.lowerBound &- first, from: first, at: batches[batch].firstTime, device)
      let draws = drawsAgain(of: device)
      while ordinal < part.upperBound {
        sum &+= recordDelivery(after: time.microseconds &- created, row: row)
        if let reason = history.blockReason(of: ordinal) {
          countBlocked(-1, reason, row: row)
        } else if history.wasDropped(ordinal) {
          counters.add(1, to: .acceptedAfterDropEvents, row: row)
        } else if created < plan.pointee.oldBefore {
          old &+= 1
        }
        ordinal &+= 1
        created = plan.next(after: created, before: ordinal, draws)
      }
    }
    counters.add(sum, to: .timeToDeliverySum, row: row)
    counters.add(old, to: .settledOldEvents, row: row)
    history.accept(events)
    histories[device] = history
    // The history may be forgotten before the last attempt of a batch that had gone before it.
    if batches[batch].flags.isDisjoint(with: [.held, .unknownOutcome]) {
      batches[batch].flags.insert(.accepted)
    }
  }

  /// The `n` oldest events of a batch are given up; what the server has is not lost.
  @inline(never)
  mutating func countDroppedWithHistory(
    _ batch: BatchIndex, events n: UInt32, _ reason: Measure, _ device: DeviceIndex, at now: Instant
  ) {
    guard var history = histories[device] else { return }
    let first = batches[batch].firstOrdinal
    // A batch whose upload began before there was a history tells its fate by its own flags.
    if batches[batch].flags.contains(.accepted) { history.accept(range(of: batch)) }
    let missing = history.missing(of: first..<first &+ n)
    let lost = missing.reduce(0) { $0 + $1.count }
    if let block = reason.blockReason {
      history.block(first..<first &+ n, block)
    } else {
      history.drop(first..<first &+ n)
    }
    histories[device] = history
    if lost == 0 { return }
    count(lost: Int64(lost), reason, device, at: now)
    var old: Int64 = 0
    for part in missing {
      var (created, ordinal) = skip(
        part.lowerBound &- first, from: first, at: batches[batch].firstTime, device)
      let draws = drawsAgain(of: device)
      while ordinal < part.upperBound, created < plan.pointee.oldBefore {
        old &+= 1
        ordinal &+= 1
        created = plan.next(after: created, before: ordinal, draws)
      }
    }
    count(old, .settledOldEvents, at: now)
  }

  /// Returns how many events of a batch the server has.
  func acceptedEvents(of batch: BatchIndex, _ device: DeviceIndex) -> Int64 {
    acceptedEvents(of: batch, oldest: UInt32(batches[batch].events), device)
  }

  /// Returns how many of the `n` oldest events of a batch the server has.
  func acceptedEvents(of batch: BatchIndex, oldest n: UInt32, _ device: DeviceIndex) -> Int64 {
    if batches[batch].flags.contains(.accepted) { return Int64(n) }
    guard self[device].pointee.flags.contains(.hasHistory), let history = histories[device] else { return 0 }
    let first = batches[batch].firstOrdinal
    let missing = history.missing(of: first..<first &+ n).reduce(0) { $0 + $1.count }
    return Int64(n) - Int64(missing)
  }

  /// Settles a batch of a device with a history that has left the queue. While an upload of it is open, its record is one that
  /// was left behind.
  @inline(never)
  mutating func settleWithHistory(_ batch: BatchIndex, _ device: DeviceIndex) {
    if batches[batch].outstanding > 0 {
      batches[batch].flags = .unknownOutcome
      histories[device]?.openRecords += 1
      return
    }
    batches[batch].flags.remove(.unknownOutcome)
    releaseIfDone(batch, device)
    forgetHistoryIfEmpty(device)
  }

  /// A record that was left behind is free.
  @inline(never)
  mutating func openRecordEnds(_ device: DeviceIndex) {
    histories[device]?.openRecords -= 1
    forgetHistoryIfEmpty(device)
  }

  /// Nothing is held, and nothing is open any more.
  @inline(never)
  mutating func forgetHistoryIfEmpty(_ device: DeviceIndex) {
    guard self[device].pointee.oldest == .noBatch, histories[device]?.openRecords ?? 0 == 0 else { return }
    histories[device] = nil
    self[device].pointee.flags.remove(.hasHistory)
  }
}
