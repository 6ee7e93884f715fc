import SimulationKernel

/// The runners of one member of the team: those that may have something to do in the window at hand, and when the others will.
///
/// A runner with nothing due rests until the first window that may hold something for it. A window then costs what happens in it,
/// however many cohorts there are.
struct Roster: ~Copyable {
  /// Their numbers.
  private(set) var busy = GrowableBuffer<UInt32>()
  /// How often a runner has passed a window.
  var passes = 0
  /// When the others come back: window | runner (16 bits). One that has been brought back before is passed over.
  private var returns = WordHeap()
  /// The window for which the busy ones have prepared their arrivals.
  private var slot: Int
  /// The answers that the runners have given and nobody has counted yet, by piece of a window.
  private(set) var tallies = GrowableBuffer<AnswerTally>(capacity: WindowPieces.most)
  /// Words of all runners, of a slice of the window: on its way into their order.
  var merged = GrowableBuffer<UInt64>()
  private var order = WindowOrder()
  /// Rosters lie one behind another; what one thread writes shares no cache line with what another reads.
  private let distance = InlineArray<16, UInt64>(repeating: 0)

  /// The roster of one of `members`: every `members`-th runner, so that the pieces of each cohort go to different threads.
  init(_ member: Int, of members: Int, runners: Int, slot: Int) {
    self.slot = slot
    for number in stride(from: member, to: runners, by: members) {
      busy.append(UInt32(truncatingIfNeeded: number))
    }
    for _ in 0..<WindowPieces.most { tallies.append(AnswerTally()) }
  }

  private static var runnerBits: UInt64 { 16 }

  /// The first window for which a runner comes back; one behind all windows: none does.
  var nextReturn: Int { Int(clamping: returns.first &>> Self.runnerBits) }

  /// Runs every busy runner, which may say until when it rests.
  @inline(__always)
  mutating func forEachBusy(
    _ runners: UnsafeMutablePointer<ShardRunner>, _ body: (inout ShardRunner) -> Int?
  ) {
    let (numbers, count) = (busy.base, busy.count)
    passes &+= count
    var kept = 0
    for i in 0..<count {
      let number = numbers[i]
      if let slot = body(&runners[Int(number)]) {
        if slot < .max { returns.push(UInt64(slot) &<< Self.runnerBits | UInt64(number)) }
      } else {
        numbers[kept] = number
        kept &+= 1
      }
    }
    if kept < count { busy.resizeUninitialized(to: kept) }
  }

  /// Brings back those that have something to do in a window, before which nobody has.
  @inline(__always)
  mutating func open(slot: Int, _ runners: UnsafeMutablePointer<ShardRunner>, inOrder: Bool) {
    self.slot = slot
    if nextReturn <= slot { bringBackAll(runners, inOrder: inOrder) }
  }

  @inline(never)
  private mutating func bringBackAll(_ runners: UnsafeMutablePointer<ShardRunner>, inOrder: Bool) {
    while nextReturn <= slot {
      let number = Int(truncatingIfNeeded: returns.popFirst() & (1 &<< Self.runnerBits &- 1))
      if runners[number].isResting { bringBack(number, runners, inOrder: inOrder) }
    }
  }

  /// Brings a runner back to the window at hand.
  mutating func bringBack(_ number: Int, _ runners: UnsafeMutablePointer<ShardRunner>, inOrder: Bool) {
    runners[number].comeBack(slot: slot, inOrder: inOrder)
    busy.append(UInt32(truncatingIfNeeded: number))
  }

  /// Sorts words of all runners, of a slice of the window.
  mutating func sortMerged(_ clock: WindowClock) {
    order.sort(&merged, lowBit: ArrivalWord.offsetShift, keyBits: clock.offsetBits)
  }

  mutating func takeTally(_ piece: Int) -> AnswerTally {
    let tally = tallies[piece]
    tallies[piece] = AnswerTally()
    return tally
  }
}
