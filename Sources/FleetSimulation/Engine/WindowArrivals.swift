import FleetMetrics
import SimulationKernel
import TAPIModel

/// The arrivals of a window, of all shards together.
///
/// The order of arrivals across shards is made only where it can matter. It matters neither where all requests get one answer,
/// nor for the part of a window before the bucket was last full.
struct WindowArrivals: ~Copyable {
  /// In the order of time, once gathered.
  private(set) var words = GrowableBuffer<UInt64>()
  /// How the runners prepare the arrivals of the next window, and have prepared those of the window at hand.
  var areOrdered = false
  private var order = WindowOrder()
  private var byPart = GrowableBuffer<UInt32>()
  private var ties = GrowableBuffer<ArrivalTie>()
  private let clock: WindowClock
  private let orderKey: RandomKey

  init(_ clock: WindowClock, key: RandomKey) {
    self.clock = clock
    orderKey = key
  }

  /// Fewer arrivals are put in order in any case: it costs no more than counting them by part.
  private static var fewest: Int { 64 }
  /// Fewer are answered as they are admitted, by one thread.
  static var few: Int { 12 }

  @inline(__always)
  func count(_ runners: borrowing WindowedEngine.Runners) -> Int {
    if runners.isLone { return runners[0].arrivals.count }
    var count = 0
    runners.forEachBusy { count &+= $0.pointee.arrivals.count }
    return count
  }

  // MARK: Without an order

  /// The answer that all get, if it is the same whatever their order, and then it has been given.
  mutating func commonAnswer(
    _ count: Int, from start: Int64, until end: Int64, _ server: inout TAPIServer,
    _ runners: borrowing WindowedEngine.Runners
  ) -> TAPIServer.FastAnswer? {
    let (from, until) = (Instant(microseconds: start), Instant(microseconds: end))
    if let answer = server.commonAnswer(count, from: from, until: until) {
      areOrdered = count < Self.fewest
      return answer
    }
    if areOrdered || count < Self.fewest { return nil }
    let parts = WindowParts(clock)
    addParts(parts, runners)
    guard
      let passed = server.bucket.giveAll(
        count, in: UnsafeBufferPointer(start: byPart.base, count: parts.count), width: parts.width,
        atLeast: Int(parts.firstLate), from: from)
    else { return nil }
    gatherLate(from: UInt64(passed) &* UInt64(parts.width), runners)
    var bucket = server.bucket
    for i in 0..<words.count {
      let isThere = bucket.take(at: Instant(microseconds: start &+ ArrivalWord.offset(words[i])))
      assert(isThere, "a token that was certain to be there is not")
    }
    server.bucket = bucket
    return .accepted
  }

  private mutating func addParts(_ parts: WindowParts, _ runners: borrowing WindowedEngine.Runners) {
    byPart.resizeUninitialized(to: parts.count)
    let sums = byPart.base
    sums.update(repeating: 0, count: parts.count)
    runners.forEachBusy {
      let more = $0.pointee.arrivalsByPart.base
      for part in 0..<parts.count { sums[part] &+= more[part] }
    }
  }

  /// The words from an offset on, in the order of time.
  private mutating func gatherLate(from offset: UInt64, _ runners: borrowing WindowedEngine.Runners) {
    let first = offset &<< UInt64(ArrivalWord.offsetShift)
    words.removeAll()
    runners.forEachBusy {
      let (late, count) = ($0.pointee.arrivalWords.base, $0.pointee.arrivalWords.count)
      for j in 0..<count where late[j] >= first { words.append(late[j]) }
    }
    sort()
  }

  private mutating func sort() {
    order.sort(&words, lowBit: ArrivalWord.offsetShift, keyBits: clock.offsetBits)
  }

  // MARK: In order

  /// Whether several threads merge what the runners have put in order, each a slice of the window.
  ///
  /// Two runs are merged fast enough; more are sorted again, because that takes fewer instructions than a merge of so many.
  func isSortedInSlices(_ count: Int, _ runners: borrowing WindowedEngine.Runners, threads: Int) -> Bool {
    runners.count > 2 && threads > 1 && runners.count >= threads && count >= Self.fewest * threads
  }

  /// Where so many words in order go.
  mutating func makeRoom(for count: Int) -> UnsafeMutablePointer<UInt64> {
    words.resizeUninitialized(to: count)
    return words.base
  }

  /// Merges what the runners have put in order.
  @inline(__always)
  mutating func gather(_ runners: borrowing WindowedEngine.Runners) {
    // A runner that rests, for which nobody prepares anything, must not get old words back.
    words.removeAll()
    if runners.isLone { return words.swapStorage(with: &runners[0].arrivalWords) }
    if runners.count == 2 {
      merge(runners.base, runners.base + 1)
      return
    }
    runners.forEachBusy {
      words.append(from: $0.pointee.arrivalWords.base, count: $0.pointee.arrivalWords.count)
    }
    sort()
  }

  private mutating func merge(_ a: UnsafeMutablePointer<ShardRunner>, _ b: UnsafeMutablePointer<ShardRunner>)
  {
    let (first, second) = (a.pointee.arrivalWords.base, b.pointee.arrivalWords.base)
    let (n, m) = (a.pointee.arrivalWords.count, b.pointee.arrivalWords.count)
    words.resizeUninitialized(to: n &+ m)
    let out = words.base
    var (i, j) = (0, 0)
    while i < n, j < m {
      let takesFirst = first[i] <= second[j]
      out[i &+ j] = takesFirst ? first[i] : second[j]
      i &+= takesFirst ? 1 : 0
      j &+= takesFirst ? 0 : 1
    }
    (out + (i &+ j)).update(from: first + i, count: n &- i)
    (out + (n &+ j)).update(from: second + j, count: m &- j)
  }

  /// Has the bucket admit what has been gathered, and the runners told: whoever finds a token.
  mutating func admit(
    from start: Int64, until end: Int64, _ server: inout TAPIServer,
    _ runners: borrowing WindowedEngine.Runners
  ) {
    var bucket = server.bucket
    let (words, count, runners) = (words.base, words.count, runners.base)
    var i = 0
    while i < count {
      let offset = ArrivalWord.offset(words[i])
      if bucket.take(at: Instant(microseconds: start &+ offset)) {
        runners[ArrivalWord.shard(words[i])].admit(words[i])
        i &+= 1
        continue
      }
      // The first arrivals of one instant find tokens: only now it matters who they are.
      if i > 0, ArrivalWord.offset(words[i &- 1]) == offset {
        admitTied(before: i, at: start &+ offset, runners)
      }
      let next = bucket.nextToken.microseconds &- start
      if next >= clock.width { break }
      let limit = UInt64(next) &<< UInt64(ArrivalWord.offsetShift)
      while i < count, words[i] < limit { i &+= 1 }
    }
    server.bucket = bucket
    areOrdered =
      count < Self.fewest || !bucket.holds(count, at: Instant(microseconds: end))
  }

  /// Answers what has been gathered, one request after another.
  mutating func answerFew(
    from start: Int64, _ front: inout ServerFront, _ runners: borrowing WindowedEngine.Runners
  ) {
    if words.count > 1 { orderTies(start: start, runners) }
    let (words, runners) = (words.base, runners.base)
    let (down, refusal) = (front.server.downAnswer, front.server.refusalAnswer)
    let refused = ServerFront.counter(of: front.server.refusedStatus)
    areOrdered = true
    var bucket = front.server.bucket
    for i in 0..<self.words.count {
      let now = start &+ ArrivalWord.offset(words[i])
      let answer =
        down ?? (bucket.take(at: Instant(microseconds: now)) ? .accepted : refusal)
      let (runner, index) = (runners + ArrivalWord.shard(words[i]), ArrivalWord.index(words[i]))
      let isUnheard = runner.pointee.answer(index, answer, start: start)
      front.count(
        answer, isFirst: runner.pointee.arrivals.base[index].attempt == 1, isUnheard: isUnheard,
        refused: refused, at: now)
    }
    front.server.bucket = bucket
  }

  /// The words before `end`, of its instant, have been admitted as they lay; now as many of that instant by its order.
  @inline(never)
  private mutating func admitTied(
    before end: Int, at now: Int64, _ runners: UnsafeMutablePointer<ShardRunner>
  ) {
    let offset = ArrivalWord.offset(words[end])
    var (first, last) = (end, end)
    while first > 0, ArrivalWord.offset(words[first &- 1]) == offset { first &-= 1 }
    while last < words.count, ArrivalWord.offset(words[last]) == offset { last &+= 1 }
    for i in first..<end { runners[ArrivalWord.shard(words[i])].admit(words[i], false) }
    orderTied(first..<last, at: now, runners)
    for i in first..<end { runners[ArrivalWord.shard(words[i])].admit(words[i]) }
  }

  /// Arrivals of one instant go by a hash of (device, batch, attempt), then device, so that no device is always first in line.
  mutating func orderTies(start: Int64, _ runners: borrowing WindowedEngine.Runners) {
    var i = 1
    while i < words.count {
      if ArrivalWord.offset(words[i]) != ArrivalWord.offset(words[i &- 1]) {
        i &+= 1
        continue
      }
      let first = i &- 1
      while i < words.count, ArrivalWord.offset(words[i]) == ArrivalWord.offset(words[first]) { i &+= 1 }
      orderTied(first..<i, at: start &+ ArrivalWord.offset(words[first]), runners.base)
      i &+= 1
    }
  }

  private mutating func orderTied(
    _ range: Range<Int>, at now: Int64, _ runners: UnsafeMutablePointer<ShardRunner>
  ) {
    let key = orderKey
    func tie(_ word: UInt64) -> ArrivalTie {
      let runner = runners + ArrivalWord.shard(word)
      let request = runner.pointee.shard.request(runner.pointee.arrivals[ArrivalWord.index(word)], at: now)
      return ArrivalTie(word: word, request: request, key: key)
    }
    if range.count > 32 {
      let sorted = range.map { tie(words[$0]) }.sorted { $0 < $1 }
      for i in range { words[i] = sorted[i - range.lowerBound].word }
      return
    }
    // Insertion by what decides, computed once each.
    ties.removeAll()
    for i in range {
      let tie = tie(words[i])
      ties.append(tie)
      var j = ties.count &- 1
      while j > 0, tie < ties[j &- 1] {
        ties[j] = ties[j &- 1]
        j &-= 1
      }
      ties[j] = tie
    }
    for i in range { words[i] = ties[i &- range.lowerBound].word }
  }
}

/// An arrival in a window, in one word: offset within the window | shard (16 bits) | index among the shard's arrivals (28 bits).
package enum ArrivalWord {
  static var offsetShift: Int { 44 }
  static var mostShards: Int { 1 << 16 }
  private static var shardShift: UInt64 { 28 }

  @inline(__always)
  package static func word(offset: UInt32, shard: Int, index: Int) -> UInt64 {
    precondition(index < 1 &<< 28, "too many arrivals in one window")
    return UInt64(offset) &<< UInt64(offsetShift) | UInt64(truncatingIfNeeded: shard) &<< shardShift
      | UInt64(truncatingIfNeeded: index)
  }

  @inline(__always)
  package static func offset(_ word: UInt64) -> Int64 {
    Int64(truncatingIfNeeded: word &>> UInt64(offsetShift))
  }
  @inline(__always)
  package static func shard(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word &>> shardShift & 0xffff) }
  @inline(__always)
  package static func index(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word & (1 &<< shardShift &- 1)) }
}

/// A window in parts of equal width, by which arrivals are counted where their order does not matter.
struct WindowParts {
  private let shift: Int64
  /// At most 64.
  let count: Int

  init(_ clock: WindowClock) {
    let bits = min(clock.offsetBits, 6)
    shift = Int64(clock.offsetBits &- bits)
    count = 1 &<< bits
  }

  /// Microseconds.
  var width: Int64 { 1 &<< shift }
  /// From here on the order may still matter; most often that is so in the last two or three alone.
  var firstLate: Int64 { Int64(count &- count / 4) }
  @inline(__always)
  func part(of offset: Int64) -> Int { Int(truncatingIfNeeded: offset &>> shift) }
}

/// The order between an arrival and others of its instant; the tests' plain engine has it, too.
package struct ArrivalTie: BitwiseCopyable {
  package var word: UInt64
  private var hash: UInt64
  private var device: UInt32
  private var firstOrdinal: UInt32
  private var attempt: UInt16

  package init(word: UInt64, request: UploadRequest, key: RandomKey) {
    self.word = word
    hash = request.key(key).bits
    device = request.device
    firstOrdinal = request.firstOrdinal
    attempt = request.attempt
  }

  package static func < (a: ArrivalTie, b: ArrivalTie) -> Bool {
    if a.hash != b.hash { return a.hash < b.hash }
    if a.device != b.device { return a.device < b.device }
    if a.firstOrdinal != b.firstOrdinal { return a.firstOrdinal < b.firstOrdinal }
    return a.attempt < b.attempt
  }
}
