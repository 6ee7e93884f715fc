import UploadGating
import UploadRetry

/// How events become batches, and which of them go when the queue is full.
extension UploadClientHost where Self: ~Copyable {
  /// Events of a batch at most, now.
  @inlinable
  @inline(__always)
  public mutating func maximumBatch(_ client: ClientIndex) -> UInt32 {
    options.pointee.keepsGates ? gatedMaximumBatch(client) : options.pointee.maximumBatchEvents
  }

  /// Makes batches of `n` new events from number `ordinal` on, the first of them created at `time`. `n` > 0.
  @inlinable
  @inline(__always)
  public mutating func seal(
    _ n: UInt32, from ordinal: UInt32, at time: Int64, _ client: ClientIndex, now: Int64
  ) {
    if n <= maximumBatch(client), !options.pointee.isRebatch || newest(of: client) == .noBatch {
      append(n, firstOrdinal: ordinal, firstTime: time, client, at: now)
    } else {
      sealMany(n, from: ordinal, at: time, client, now: now)
    }
  }

  @inlinable
  @inline(never)
  mutating func sealMany(_ n: UInt32, from ordinal: UInt32, at time: Int64, _ client: ClientIndex, now: Int64)
  {
    var left = n
    var (time, ordinal) = (time, ordinal)
    if options.pointee.isRebatch, !losesNew(client, at: now),
      let taken = extendNewest(client, by: left, from: ordinal)
    {
      (time, ordinal) = skip(taken, from: ordinal, at: time, client)
      left &-= taken
    }
    while left > 0 {
      let size = min(left, maximumBatch(client))
      append(size, firstOrdinal: ordinal, firstTime: time, client, at: now)
      left &-= size
      if left > 0 { (time, ordinal) = skip(size, from: ordinal, at: time, client) }
    }
  }

  /// Whether a batch is as it was sent until the running loop, or flush, is done with it.
  @inlinable
  mutating func isTaken(_ batch: BatchIndex) -> Bool {
    isUploading(batch) || options.pointee.actsAtFlushEnd && result(of: batch) != nil
  }

  /// *rebatch*: the newest batch takes what it has room for, unless it is taken or its fate is unknown.
  @inlinable
  mutating func extendNewest(_ client: ClientIndex, by n: UInt32, from ordinal: UInt32) -> UInt32? {
    let newest = newest(of: client)
    if newest == .noBatch || isTaken(newest) || hasUnknownOutcome(newest) { return nil }
    let events = events(of: newest)
    if firstOrdinal(of: newest) &+ events != ordinal { return nil }
    let maximum = maximumBatch(client)
    let taken = min(n, maximum - min(events, maximum))
    if taken == 0 { return nil }
    extend(newest, by: taken, client)
    return taken
  }

  /// Whether new events are lost, because a 429 makes the client wait.
  @inlinable
  @inline(__always)
  mutating func losesNew(_ client: ClientIndex, at now: Int64) -> Bool {
    guard options.pointee.keepsGates, options.pointee.gates.losesWhileRateLimited else { return false }
    let gate = state(of: client).pointee.gate
    return !gate.isReady(at: now) && gate.kind == .rateLimit
  }

  /// The batches from a number on are lost.
  @inlinable
  @inline(never)
  mutating func loseNew(_ client: ClientIndex, from ordinal: UInt32, at now: Int64) {
    var batch = oldest(of: client)
    while batch != .noBatch {
      let next = newer(than: batch)
      if firstOrdinal(of: batch) >= ordinal { giveUp(batch, .refused, client, at: now) }
      batch = next
    }
  }

  /// The queue has its limit again: the oldest events go, never those under way.
  @inlinable
  @inline(never)
  public mutating func keepLimit(_ client: ClientIndex, at now: Int64) {
    if options.pointee.isRebatch { forgetBoundaries(client) }
    var batch = oldest(of: client)
    var held = heldEvents(of: client)
    while batch != .noBatch, held > options.pointee.limit {
      let next = newer(than: batch)
      if !isTaken(batch) {
        let excess = held &- options.pointee.limit
        let events = events(of: batch)
        if options.pointee.isRebatch, excess < events {
          trim(batch, by: excess, .overflow, client, at: now)
          return
        }
        giveUp(batch, .overflow, client, at: now)
        held &-= events
      }
      batch = next
    }
  }
}
