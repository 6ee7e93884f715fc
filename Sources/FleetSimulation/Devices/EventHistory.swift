import FleetMetrics
import SimulationKernel
import UploadPipeline
import UploadRetry

/// The events of one device that the server has, after uploads ended without an answer and were chunked anew (*rebatch*). The
/// batches that were sent are gone, their fate is not.
///
/// A batch that an attempt is still open of leaves its record behind, in no queue, until the fate is known.
///
/// A class, so that who changes a part of it neither copies the others nor looks the device up twice. Its shard alone refers to it.
final class EventHistory {
  /// Event numbers that the server has accepted, in order and apart.
  private var accepted: [Range<UInt32>] = []
  /// Events that the client has given up before, and events that it has blocked (O3).
  private var dropped: [Range<UInt32>] = []
  private var blocked: [(events: Range<UInt32>, reason: DropReason)] = []
  /// Records left behind.
  fileprivate var openRecords = 0
  /// The newest event whose delivery has been counted, and when it was created; event 0: perhaps none. A walk over later events
  /// begins there instead of at the first of its batch. It tells nothing else, and is no part of the state.
  fileprivate var latestDelivery: (event: UInt32, createdAt: Int64) = (0, 0)

  init() {}

  init(copying other: EventHistory) {
    (accepted, dropped, blocked) = (other.accepted, other.dropped, other.blocked)
    (openRecords, latestDelivery) = (other.openRecords, other.latestDelivery)
  }

  func accept(_ events: Range<UInt32>) { Self.insert(events, into: &accepted) }
  func drop(_ events: Range<UInt32>) { Self.insert(events, into: &dropped) }
  func block(_ events: Range<UInt32>, _ reason: DropReason) { blocked.append((events, reason)) }

  /// Returns the oldest of some events that the server does not have yet, up to the next that it has; nil: it has all of them.
  func firstMissing(of events: Range<UInt32>) -> Range<UInt32>? {
    var (first, end) = (events.lowerBound, events.upperBound)
    for known in accepted where known.upperBound > first {
      if known.lowerBound > first {
        end = min(end, known.lowerBound)
        break
      }
      first = known.upperBound
    }
    return first < end ? first..<end : nil
  }

  /// Returns how many of some events the server has.
  func acceptedCount(of events: Range<UInt32>) -> Int {
    accepted.reduce(0) { $0 + $1.clamped(to: events).count }
  }

  func addState(to digest: inout StateDigest) {
    for ranges in [accepted, dropped] {
      for range in ranges { digest.add(UInt64(range.lowerBound) &<< 32 | UInt64(range.upperBound)) }
    }
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
    // Nearly all lie behind the others, or continue the last ones.
    guard let last = ranges.last, events.lowerBound < last.lowerBound else {
      if let last = ranges.last, events.lowerBound <= last.upperBound {
        ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, events.upperBound)
      } else {
        ranges.append(events)
      }
      return
    }
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
    if !self[device].pointee.flags.contains(.hasHistory) {
      histories[device] = EventHistory()
      self[device].pointee.flags.insert(.hasHistory)
    }
    let old = batches[batch]
    if old.flags.contains(.accepted) { histories[device]?.accept(range(of: batch)) }
    if old.outstanding > 0 {
      // The record stays for what is still open of it, outside the queue; another one takes its place.
      histories[device]?.openRecords += 1
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
  }

  /// In the queue, and among the due ones or those that wait.
  private mutating func replace(_ batch: BatchIndex, by other: BatchIndex, _ device: DeviceIndex) {
    let old = batches[batch]
    batches[other].flags = old.flags.subtracting([.unknownOutcome, .accepted])
    batches.copyRetryState(of: batch, to: other)
    batches[other].older = old.older
    batches[other].newer = old.newer
    if old.older == .noBatch { self[device].pointee.oldest = other } else { batches[old.older].newer = other }
    if old.newer == .noBatch { self[device].pointee.newest = other } else { batches[old.newer].older = other }
    replaceQueued(batch, by: other, device)
  }

  /// The server accepts a batch of a device with a history.
  @inline(never)
  mutating func acceptWithHistory(_ batch: BatchIndex, _ device: DeviceIndex, at time: Int64) {
    guard let history = histories[device] else { return }
    let row = ledger.deliveryRow(at: time)
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
    let known = history.acceptedCount(of: events)
    row.count(Int64(known), .duplicateEvents)
    if plan.pointee.server.deduplicationWindow >= 0 {
      row.count(Int64(known), .deduplicatedEvents)
    }
    if known == events.count {
      row.count(1, .duplicateBatches)
    } else {
      row.count(1, .acceptedBatches)
      row.count(Int64(events.count - known), .deliveredEvents)
      countDeliveries(of: events, createdFrom: batches[batch].firstTime, history, device, at: time, row)
      history.accept(events)
    }
    // The history may be forgotten before the last attempt of a batch that had gone before it.
    if batches[batch].flags.isDisjoint(with: [.held, .unknownOutcome]) {
      batches[batch].flags.insert(.accepted)
    }
  }

  /// Counts the deliveries of those of a batch's events that the server did not have.
  private mutating func countDeliveries(
    of events: Range<UInt32>, createdFrom firstTime: Int64, _ history: EventHistory, _ device: DeviceIndex,
    at time: Int64, _ row: Ledger.DeliveryRow
  ) {
    let draws = drawsAgain(of: device)
    var (created, ordinal) = (firstTime, events.lowerBound)
    var (sum, old) = (Int64(0), Int64(0))
    var rest = events
    while let part = history.firstMissing(of: rest) {
      let latest = history.latestDelivery
      if latest.event > ordinal, latest.event < part.lowerBound {
        (created, ordinal) = (latest.createdAt, latest.event)
      }
      (created, ordinal) = skip(part.lowerBound &- ordinal, from: ordinal, at: created, device)
      while true {
        sum &+= ledger.recordDelivery(ofCreated: created, at: time, row)
        if let reason = history.blockReason(of: ordinal) {
          countBlocked(-1, reason, at: time)
        } else if history.wasDropped(ordinal) {
          row.count(1, .acceptedAfterDropEvents)
        } else if created < plan.pointee.oldBefore {
          old &+= 1
        }
        if ordinal &+ 1 == part.upperBound { break }
        ordinal &+= 1
        created = plan.next(after: created, before: ordinal, draws)
      }
      if ordinal > latest.event { history.latestDelivery = (ordinal, created) }
      rest = part.upperBound..<events.upperBound
    }
    row.count(sum, .timeToDeliverySum)
    row.count(old, .settledOldEvents)
  }

  /// The `n` oldest events of a batch are given up; what the server has is not lost.
  @inline(never)
  mutating func countDroppedWithHistory(
    _ batch: BatchIndex, events n: UInt32, _ reason: Measure, _ device: DeviceIndex, at now: Int64
  ) {
    guard let history = histories[device] else { return }
    let events = batches[batch].firstOrdinal..<batches[batch].firstOrdinal &+ n
    // A batch whose upload began before there was a history tells its fate by its own flags.
    if batches[batch].flags.contains(.accepted) { history.accept(range(of: batch)) }
    if let block = reason.blockReason {
      history.block(events, block)
    } else {
      history.drop(events)
    }
    let lost = events.count - history.acceptedCount(of: events)
    if lost == 0 { return }
    count(lost: Int64(lost), reason, device, at: now)
    let draws = drawsAgain(of: device)
    var (created, ordinal) = (batches[batch].firstTime, events.lowerBound)
    var old: Int64 = 0
    var rest = events
    while created < plan.pointee.oldBefore, let part = history.firstMissing(of: rest) {
      (created, ordinal) = skip(part.lowerBound &- ordinal, from: ordinal, at: created, device)
      while ordinal < part.upperBound, created < plan.pointee.oldBefore {
        old &+= 1
        ordinal &+= 1
        created = plan.next(after: created, before: ordinal, draws)
      }
      rest = part.upperBound..<events.upperBound
    }
    ledger.count(old, .settledOldEvents, at: now)
  }

  /// Returns how many of the `n` oldest events of a batch the server has; nil: of all.
  func acceptedEvents(of batch: BatchIndex, oldest n: UInt32? = nil, _ device: DeviceIndex) -> Int64 {
    let n = n ?? UInt32(batches[batch].events)
    if batches[batch].flags.contains(.accepted) { return Int64(n) }
    guard self[device].pointee.flags.contains(.hasHistory), let history = histories[device] else { return 0 }
    let first = batches[batch].firstOrdinal
    return Int64(history.acceptedCount(of: first..<first &+ n))
  }

  /// Settles a batch of a device with a history that has left the queue. While an upload of it is open, its record is one that
  /// was left behind.
  @inline(never)
  mutating func settleWithHistory(_ batch: BatchIndex, _ device: DeviceIndex) {
    if batches[batch].outstanding > 0 {
      // *files*: it may have left an entry in the heap of those that wait.
      let entry: BatchRecord.Flags = options.pointee.isRebatch ? [] : .waiting
      batches[batch].flags = batches[batch].flags.intersection(entry).union(.unknownOutcome)
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
