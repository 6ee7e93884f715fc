/// A device's queue: all batches in the order of their events; the due ones as a list in that order; the waiting ones as a
/// pairing heap by due time, so that fifty waiting batches cost no scan.
///
/// Complexity: push O(1), next due batch amortised O(log n), removal from the middle O(1) (a heap entry is left behind
/// and freed when it comes up).
extension DeviceShard {
  // MARK: All batches

  func appendNewest(_ batch: UInt32, _ device: UInt32) {
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

  func removeHeld(_ batch: UInt32, _ device: UInt32) {
    let record = self[device]
    let (older, newer) = (batches[batch].older, batches[batch].newer)
    if older == 0 { record.pointee.oldest = newer } else { batches[older].newer = newer }
    if newer == 0 { record.pointee.newest = older } else { batches[newer].older = older }
    batches[batch].flags.remove(.held)
  }

  // MARK: Due batches

  func appendReady(_ batch: UInt32, _ device: UInt32) {
    let record = self[device]
    batches[batch].link = 0
    if record.pointee.ready == 0 {
      record.pointee.ready = batch
    } else {
      batches[record.pointee.lastReady].link = batch
    }
    record.pointee.lastReady = batch
  }

  /// Into its place by ordinal: near the head, as what becomes due again is old.
  func insertReady(_ batch: UInt32, _ device: UInt32) {
    let record = self[device]
    let ordinal = batches[batch].firstOrdinal
    var previous: UInt32 = 0
    var next = record.pointee.ready
    while next != 0, batches[next].firstOrdinal < ordinal {
      previous = next
      next = batches[next].link
    }
    batches[batch].link = next
    if previous == 0 { record.pointee.ready = batch } else { batches[previous].link = batch }
    if next == 0 { record.pointee.lastReady = batch }
  }

  func removeReady(_ batch: UInt32, _ device: UInt32) {
    var previous: UInt32 = 0
    var next = self[device].pointee.ready
    while next != batch {
      previous = next
      next = batches[next].link
    }
    removeReady(batch, after: previous, device)
  }

  func removeReady(_ batch: UInt32, after previous: UInt32, _ device: UInt32) {
    let record = self[device]
    let next = batches[batch].link
    if previous == 0 { record.pointee.ready = next } else { batches[previous].link = next }
    if next == 0 { record.pointee.lastReady = previous }
    batches[batch].link = 0
  }

  // MARK: Waiting batches

  func pushWaiting(_ batch: UInt32, _ device: UInt32) {
    let record = self[device]
    batches[batch].link = 0
    batches[batch].child = 0
    batches[batch].flags.insert(.inHeap)
    record.pointee.waiting = meld(record.pointee.waiting, batch)
  }

  /// The waiting batch that is due first; entries of batches that have gone are freed on the way. 0: none.
  mutating func firstWaiting(_ device: UInt32) -> UInt32 {
    let record = self[device]
    while record.pointee.waiting != 0 {
      let top = record.pointee.waiting
      if batches[top].flags.contains(.held) { return top }
      popWaiting(device)
      releaseIfDone(top)
    }
    return 0
  }

  func popWaiting(_ device: UInt32) {
    let record = self[device]
    let top = record.pointee.waiting
    batches[top].flags.remove(.inHeap)
    // Children are melded in pairs from the left, the pairs from the right (Fredman et al. 1986).
    var pairs: UInt32 = 0
    var child = batches[top].child
    while child != 0 {
      let second = batches[child].link
      if second == 0 {
        batches[child].link = pairs
        pairs = child
        break
      }
      let rest = batches[second].link
      batches[child].link = 0
      batches[second].link = 0
      let pair = meld(child, second)
      batches[pair].link = pairs
      pairs = pair
      child = rest
    }
    var root: UInt32 = 0
    while pairs != 0 {
      let rest = batches[pairs].link
      batches[pairs].link = 0
      root = meld(root, pairs)
      pairs = rest
    }
    record.pointee.waiting = root
    batches[top].child = 0
  }

  private func meld(_ a: UInt32, _ b: UInt32) -> UInt32 {
    if a == 0 { return b }
    if b == 0 { return a }
    let aFirst =
      batches[a].retry.retryAt != batches[b].retry.retryAt
      ? batches[a].retry.retryAt < batches[b].retry.retryAt : batches[a].firstOrdinal < batches[b].firstOrdinal
    let (winner, loser) = aFirst ? (a, b) : (b, a)
    batches[loser].link = batches[winner].child
    batches[winner].child = loser
    return winner
  }

  /// Frees a record that nothing refers to any more.
  mutating func releaseIfDone(_ batch: UInt32) {
    if batches[batch].outstanding == 0, batches[batch].flags.isDisjoint(with: [.held, .inHeap]) {
      batches.release(batch)
    }
  }
}
