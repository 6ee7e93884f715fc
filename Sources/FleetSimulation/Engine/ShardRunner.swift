import SimulationKernel
import UploadPipeline

/// Runs a shard: holds its devices and its calendar side by side, so that both can be used at once. It also holds the items due
/// in the window at hand.
struct ShardRunner: ~Copyable {
  var shard: DeviceShard
  var calendar: ShardCalendar
  private var due = GrowableBuffer<Delivery>()
  private var wakes = GrowableBuffer<DeviceIndex>()
  private var timers = GrowableBuffer<UInt64>()
  /// Items of devices that have several in the window.
  private var contended = GrowableBuffer<UInt64>()
  private var order = WindowOrder()
  /// The device whose interval ends next and when the round through all phases began; for shards that scan for triggers.
  private var scanned = DeviceIndex(0)
  private var round: Int64 = 0
  /// Whether the fast paths of triggers and of retries apply; decided once, at the start.
  private var hasFastTriggers = false
  private var hasFastRetries = false
  private var hasFastFiles = false
  /// The uploads that arrive in the window to come.
  private(set) var arrivals = GrowableBuffer<UploadTicket>()
  /// The arrivals' words in the order of time, once `orderArrivals` has run; otherwise those of the last parts.
  var arrivalWords = GrowableBuffer<UInt64>()
  /// By arrival, whether the server has accepted it; it writes that, and who reads it takes it back.
  private(set) var isAdmitted = GrowableBuffer<Bool>()
  /// Without their order: how many arrive in each part of the window.
  private(set) var arrivalsByPart = GrowableBuffer<UInt32>()
  /// Whether the shard's records lie in the processor's caches, so that nothing needs to be asked for ahead.
  private let isSmall: Bool
  /// Runners lie one behind another; what one thread writes shares no cache line with what another reads.
  private let distance = InlineArray<16, UInt64>(repeating: 0)

  init(shard: consuming DeviceShard, calendar: consuming ShardCalendar) {
    isSmall = shard.count <= 1 << 11
    self.shard = shard
    self.calendar = calendar
    self.shard.gatherDepartures()
  }

  /// A copy between two windows, when all answers have been counted, which goes on by another plan; what is due in one window is scratch.
  init(copying other: borrowing ShardRunner, plan: CohortPlan) {
    self.init(
      shard: DeviceShard(copying: other.shard, plan: plan), calendar: ShardCalendar(copying: other.calendar))
    (scanned, round) = (other.scanned, other.round)
    (hasFastTriggers, hasFastFiles) = (other.hasFastTriggers, other.hasFastFiles)
    hasFastRetries = other.hasFastRetries
    arrivals = other.arrivals.copy()
    arrivalWords = other.arrivalWords.copy()
    isAdmitted = other.isAdmitted.copy()
    arrivalsByPart = other.arrivalsByPart.copy()
  }

  /// Sets every device's first trigger.
  mutating func start() {
    hasFastTriggers = shard.hasFastTriggers
    hasFastRetries = shard.hasFastRetries
    hasFastFiles = shard.hasFastFiles
    for device in shard.indices { shard.start(device: device, &calendar) }
  }

  /// When the scan meets the next trigger; `.max` for shards whose triggers are in a calendar.
  @inline(__always)
  private var nextScanned: Int64 {
    guard shard.plan.pointee.flush.isScanned else { return .max }
    return round &+ Int64(shard[scanned].pointee.phase)
  }

  /// Begins to rest, if there is nothing to do before another window than `slot`. The one before has been passed, and the arrivals
  /// of `slot` are prepared.
  ///
  /// - Returns: that window, `.max` if there is none before `end`; nil: the runner is busy.
  @inline(__always)
  mutating func rest(from slot: Int, until end: Int) -> Int? {
    let next = nextDue(from: slot, limit: end)
    if next <= slot { return nil }
    isResting = true
    return next < end ? next : .max
  }

  /// Passes over the windows from `slot` on in which nothing is due, at most up to `limit`, and prepares the arrivals of the next.
  @inline(__always)
  mutating func passOver(from slot: Int, limit: Int, inOrder: Bool, slotCount: Int) -> Int {
    let next = nextDue(from: slot, limit: limit)
    if next < slotCount { comeBack(slot: next, inOrder: inOrder) }
    return next
  }

  /// The first window from `slot` on in which something may be due; at most `limit`.
  @inline(__always)
  private func nextDue(from slot: Int, limit: Int) -> Int {
    let scan = max(slot, calendar.clock.slot(of: nextScanned))
    return calendar.occupied.first(from: slot, limit: min(limit, scan)) { calendar.waits(for: $0) }
  }

  /// Ends its rest in a window before which nothing has been due.
  @inline(__always)
  mutating func comeBack(slot: Int, inOrder: Bool) {
    isResting = false
    calendar.skip(to: slot)
    prepareArrivals(slot: slot, inOrder: inOrder)
  }

  /// Collects what reaches the server in a window; everything sent before it has been sent.
  ///
  /// - Parameter inOrder: whether the server will most likely ask for their order.
  @inline(__always)
  mutating func prepareArrivals(slot: Int, inOrder: Bool) {
    arrivals.removeAll()
    arrivalWords.removeAll()
    calendar.uploads.take(slot: slot, into: &arrivals)
    if !inOrder { countArrivals() } else if arrivals.count > 0 { orderArrivals() }
  }

  /// Sorts the words of what arrives.
  @inline(never)
  mutating func orderArrivals() {
    let (uploads, count) = (arrivals.base, arrivals.count)
    arrivalWords.resizeUninitialized(to: count)
    let words = arrivalWords.base
    // A few are put in order as they are written.
    let isFew = count <= 24
    for i in 0..<count {
      let word = ArrivalWord.word(offset: uploads[i].offset, shard: shard.number, index: i)
      var j = i
      while isFew, j > 0, words[j &- 1] > word {
        words[j] = words[j &- 1]
        j &-= 1
      }
      words[j] = word
    }
    if !isFew {
      order.sort(&arrivalWords, lowBit: ArrivalWord.offsetShift, keyBits: calendar.clock.offsetBits)
    }
    if isAdmitted.count < count {
      isAdmitted.resizeUninitialized(to: count)
      isAdmitted.base.update(repeating: false, count: count)
    }
  }

  /// How many of the arrivals' words, in order, are less than a word.
  func place(of word: UInt64) -> Int {
    partitionPoint(of: arrivalWords.count) { arrivalWords[$0] < word }
  }

  /// Counts what arrives by part of the window, and notes the words of the last parts, in no order.
  private mutating func countArrivals() {
    let parts = WindowParts(calendar.clock)
    let (uploads, count) = (arrivals.base, arrivals.count)
    arrivalsByPart.resizeUninitialized(to: parts.count)
    arrivalWords.resizeUninitialized(to: count &+ 1)
    let (byPart, words) = (arrivalsByPart.base, arrivalWords.base)
    byPart.update(repeating: 0, count: parts.count)
    let firstLate = UInt32(truncatingIfNeeded: parts.firstLate &* parts.width)
    var late = 0
    for i in 0..<count {
      let offset = uploads[i].offset
      byPart[parts.part(of: Int64(offset))] &+= 1
      words[late] = ArrivalWord.word(offset: offset, shard: shard.number, index: i)
      late &+= offset >= firstLate ? 1 : 0
    }
    arrivalWords.resizeUninitialized(to: late)
  }

  /// Marks one of the words of this runner.
  @inline(__always)
  mutating func admit(_ word: UInt64, _ isAdmitted: Bool = true) {
    self.isAdmitted.base[ArrivalWord.index(word)] = isAdmitted
  }

  /// Whether nothing is due before the window for which it comes back (`Roster`), and so no window asks it.
  private(set) var isResting = false

  /// A window: the answers to its arrivals, if the server has not given them, and what is due for devices until its end.
  @inline(__always)
  mutating func pass(
    _ slot: Int, until end: Int64, _ answers: WindowAnswers?, pieces: UnsafePointer<Int64>,
    _ tallies: UnsafeMutablePointer<AnswerTally>
  ) {
    let start = calendar.clock.start(of: slot)
    if let answers { answerAll(answers, start: start, pieces: pieces, tallies) }
    devicePass(slot: slot, start: start, end: end)
  }

  /// Everything due for this shard's devices in the window.
  ///
  /// Devices don't see one another, so only the items of one device need their order. Nearly every device has one item in a
  /// window: these are handled kind by kind, as they lie. The items of the others are sorted and handled last, together with
  /// what devices plan inside the window.
  mutating func devicePass(slot: Int, start: Int64, end: Int64) {
    due.removeAll()
    wakes.removeAll()
    timers.removeAll()
    contended.removeAll()
    calendar.windowEnd = end
    calendar.deliveries.take(slot: slot, into: &due)
    calendar.wakeUps.take(slot: slot, into: &wakes)
    calendar.timers.take(slot: slot, into: &timers)
    calendar.occupied.remove(slot)
    let scans = nextScanned < end
    if due.count &+ wakes.count &+ timers.count == 0 && !scans { return }
    mark()
    if scans { scanTriggers(start: start, end: end) }
    if due.count > 0 { deliver(start: start) }
    if wakes.count > 0 { wakeUp(start: start) }
    if timers.count > 0 { runTimers(start: start) }
    if contended.count > 0 || calendar.inWindow.first != .max { runContended(start: start) }
    if !shard.departures.isEmpty { shard.departAll(&calendar) }
  }

  /// Notes on each device whether it has one item in this window, or several.
  @inline(__always)
  private mutating func mark() {
    if isSmall {
      for i in 0..<due.count { mark(due[i].device) }
      for i in 0..<wakes.count { mark(wakes[i]) }
    } else {
      markAndFetch()
    }
    for i in 0..<timers.count { mark(ShardCalendar.device(timers[i])) }
  }

  /// This also fetches the batches to which the first records lead: a window of a few items waits for memory once.
  @inline(never)
  private mutating func markAndFetch() {
    let distance = Self.prefetchDistance
    let far = shard.loops == nil ? 0 : distance / 2
    for i in 0..<due.count {
      if i &+ distance < due.count { shard.devices.prefetch(due[i &+ distance].device) }
      mark(due[i].device)
      if i < far {
        shard.batches.prefetch(due[i].batch)
        shard.prefetchBatch(of: due[i].device)
      }
    }
    for i in 0..<wakes.count {
      if i &+ distance < wakes.count { shard.devices.prefetch(wakes[i &+ distance]) }
      mark(wakes[i])
      if i < far { shard.prefetchBatch(of: wakes[i]) }
    }
    if far == 0 { return }
    for i in 0..<min(distance / 4, due.count) { shard.prefetchNextBatches(of: due[i].device) }
    for i in 0..<min(distance / 4, wakes.count) { shard.prefetchNextBatches(of: wakes[i]) }
  }

  /// Asks for what later items lead to: the record, what it leads to, and what that leads to.
  @inline(__always)
  private func prefetch(
    behind i: Int, of count: Int, _ item: (Int) -> (device: DeviceIndex, batch: BatchIndex)
  ) {
    if isSmall { return }
    let distance = Self.prefetchDistance
    if i &+ distance < count {
      let item = item(i &+ distance)
      shard.devices.prefetch(item.device)
      if shard.loops != nil, item.batch != .noBatch { shard.batches.prefetch(item.batch) }
    }
    if shard.loops == nil { return }
    if i &+ distance / 2 < count { shard.prefetchBatch(of: item(i &+ distance / 2).device) }
    if i &+ distance / 4 < count { shard.prefetchNextBatches(of: item(i &+ distance / 4).device) }
  }

  /// How many items ahead a record is asked for.
  private static var prefetchDistance: Int { 16 }

  @inline(__always)
  private func mark(_ device: DeviceIndex) {
    let record = shard[device]
    let flags = record.pointee.flags
    record.pointee.flags = flags.union(flags.contains(.due) ? .contended : .due)
  }

  /// Whether the device has this item alone in the window, which is then forgotten.
  @inline(__always)
  private func isAlone(_ device: DeviceIndex) -> Bool {
    let record = shard[device]
    if record.pointee.flags.contains(.contended) { return false }
    record.pointee.flags.remove(.due)
    return true
  }

  /// The triggers of the interval: the devices lie in the order of their phase.
  private mutating func scanTriggers(start: Int64, end: Int64) {
    let (devices, count) = (shard.devices, shard.count)
    while true {
      let device = scanned
      let record = devices[device]
      let time = round &+ Int64(record.pointee.phase)
      if time >= end { return }
      // Rows lie one behind another, but the processor does not follow them across pages by itself.
      devices.prefetch(device.advanced(by: 12))
      if shard.loops != nil { shard.prefetchQueues(behind: device) }
      scanned = device.advanced(by: 1)
      if scanned.place == count {
        scanned = DeviceIndex(0)
        round &+= shard.plan.pointee.flush.interval
      }
      if hasFastTriggers,
        shard.fastTrigger(
          record, device, at: time, shard.ledger.row(at: time), &calendar)
      {
        continue
      }
      if record.pointee.flags.contains(.due) {
        record.pointee.flags.insert(.contended)
        contended.append(ShardCalendar.word(time &- start, ItemKind.trigger, UInt64(device.rawValue)))
      } else {
        shard.handleTrigger(device, at: time, &calendar)
      }
    }
  }

  private mutating func deliver(start: Int64) {
    let (items, count) = (due.base, due.count)
    for i in 0..<count {
      prefetch(behind: i, of: count) { (items[$0].device, items[$0].batch) }
      let delivery = items[i]
      let now = start &+ delivery.offset
      let row = shard.ledger.row(at: now)
      if shard.fastSuccess(delivery, at: now, row) { continue }
      if hasFastFiles, shard.fastAnswer(delivery, at: now, row, &calendar) { continue }
      if hasFastRetries, shard.fastFailure(delivery, at: now, row, &calendar) { continue }
      deliver(i, start: start)
    }
  }

  @inline(never)
  private mutating func deliver(_ i: Int, start: Int64) {
    let delivery = due[i]
    if isAlone(delivery.device) {
      shard.handle(delivery, at: start &+ delivery.offset, &calendar)
    } else {
      contended.append(
        ShardCalendar.word(delivery.offset, UInt64(delivery.kind.rawValue), UInt64(truncatingIfNeeded: i)))
    }
  }

  private mutating func wakeUp(start: Int64) {
    let width = calendar.windowEnd &- start
    let (items, count) = (wakes.base, wakes.count)
    for i in 0..<count {
      prefetch(behind: i, of: count) { (items[$0], .noBatch) }
      let device = items[i]
      // A wake-up that has been moved out of the window is stale: any time in the window will do for it.
      let offset = min(shard[device].pointee.wakeUpOffset(from: start), width &- 1)
      if hasFastRetries, shard.fastWakeUp(device, at: start &+ offset, &calendar) { continue }
      if isAlone(device) {
        shard.handleWakeUp(device, at: start &+ offset, &calendar)
      } else {
        contended.append(ShardCalendar.word(offset, ItemKind.wakeUp, UInt64(device.rawValue)))
      }
    }
  }

  private mutating func runTimers(start: Int64) {
    for i in 0..<timers.count {
      let word = timers[i]
      if isAlone(ShardCalendar.device(word)) { run(word, start: start) } else { contended.append(word) }
    }
  }

  /// A timer or, of contended items, a delivery.
  private mutating func run(_ word: UInt64, start: Int64) {
    let now = start &+ Int64(truncatingIfNeeded: word &>> ShardCalendar.kindBits)
    let device = ShardCalendar.device(word)
    switch word &>> ShardCalendar.deviceBits & 7 {
    case ItemKind.trigger: shard.handleTrigger(device, at: now, &calendar)
    case ItemKind.restart: shard.handleRestart(device, at: now, &calendar)
    case ItemKind.world: shard.handleWorld(device, at: now, &calendar)
    case ItemKind.wakeUp: shard.handleWakeUp(device, at: now, &calendar)
    default: shard.handle(due[ShardCalendar.item(word)], at: now, &calendar)
    }
  }

  @inline(never)
  private mutating func runContended(start: Int64) {
    order.sort(
      &contended, lowBit: Int(ShardCalendar.deviceBits), keyBits: 3 + calendar.clock.offsetBits)
    orderTiedDeliveries()
    var i = 0
    while true {
      var word = i < contended.count ? contended[i] : .max
      let inWindow = calendar.inWindow.first
      if inWindow &>> ShardCalendar.deviceBits < word &>> ShardCalendar.deviceBits {
        word = calendar.inWindow.popFirst()
      } else if i < contended.count {
        i &+= 1
      } else {
        break
      }
      run(word, start: start)
    }
    for i in 0..<contended.count {
      let word = contended[i]
      let device =
        word &>> ShardCalendar.deviceBits & 7 < ItemKind.wakeUp
        ? due[ShardCalendar.item(word)].device : ShardCalendar.device(word)
      shard[device].pointee.flags.remove([.due, .contended])
    }
  }

  /// Two deliveries of one kind for one device at one instant go by batch.
  private mutating func orderTiedDeliveries() {
    var i = 1
    while i < contended.count {
      let word = contended[i]
      if word &>> ShardCalendar.deviceBits == contended[i &- 1] &>> ShardCalendar.deviceBits,
        word &>> ShardCalendar.deviceBits & 7 < ItemKind.wakeUp
      {
        var j = i
        while j > 0,
          contended[j &- 1] &>> ShardCalendar.deviceBits == word &>> ShardCalendar.deviceBits,
          isBefore(due[ShardCalendar.item(word)], due[ShardCalendar.item(contended[j &- 1])])
        {
          contended[j] = contended[j &- 1]
          j &-= 1
        }
        contended[j] = word
      }
      i &+= 1
    }
  }

  private func isBefore(_ a: Delivery, _ b: Delivery) -> Bool {
    if a.device != b.device { return a.device < b.device }
    let (first, second) = (shard.batches[a.batch].firstOrdinal, shard.batches[b.batch].firstOrdinal)
    if first != second { return first < second }
    return a.attempt < b.attempt
  }
}
