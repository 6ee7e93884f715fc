import SimulationKernel
import Testing

@Suite("The order of a window, against the standard library")
struct WindowOrderTests {
  /// Draws of one seed, one after another.
  private struct Draws {
    let key: RandomKey
    var count: UInt64 = 0

    init(seed: UInt64) { key = RandomKey(seed: seed) }

    mutating func next() -> UInt64 {
      count += 1
      return key.child(count).bits
    }

    mutating func below(_ n: Int) -> Int { Int(next() % UInt64(n)) }
  }

  @Test(
    "Words are sorted by their key bits, and equal keys keep their order",
    arguments: 1...80 as ClosedRange<UInt64>)
  func sorts(seed: UInt64) {
    var draws = Draws(seed: seed)
    let lowBit = draws.below(45)
    let keyBits = 1 + draws.below(64 - lowBit > 24 ? 24 : 64 - lowBit)
    let count = [0, 1, 2, 24, 25, 300, 5_000][draws.below(7)] + draws.below(3)
    let distinct = 1 + draws.below(1 << min(keyBits, 16))
    let keys = (0..<count).map { _ in UInt64(draws.below(distinct)) }
    // The place stands in the low bits as far as there are any, so that an exchange of equal keys shows.
    let places = lowBit == 0 ? 1 : UInt64(1) << UInt64(lowBit)
    var words = GrowableBuffer<UInt64>()
    var order = WindowOrder()
    let isSortedAlready = draws.below(5) == 0
    let given = (isSortedAlready ? keys.sorted() : keys).enumerated().map {
      $0.element << UInt64(lowBit) | UInt64($0.offset) % places
    }
    for word in given { words.append(word) }
    order.sort(&words, lowBit: lowBit, keyBits: keyBits)
    let expected = given.enumerated().sorted {
      let (a, b) = ($0.element >> UInt64(lowBit), $1.element >> UInt64(lowBit))
      return a != b ? a < b : $0.offset < $1.offset
    }.map(\.element)
    #expect((0..<words.count).map { words[$0] } == expected, "seed \(seed)")
  }

  @Test(
    "A heap gives its words back in ascending order, whenever they came",
    arguments: 1...40 as ClosedRange<UInt64>)
  func heap(seed: UInt64) {
    var draws = Draws(seed: seed)
    var heap = WordHeap()
    var model: [UInt64] = []
    for _ in 0..<600 {
      if model.isEmpty || draws.below(5) < 3 {
        let word = draws.next() >> UInt64(draws.below(60))
        heap.push(word)
        model.append(word)
      } else {
        let least = model.min()!
        #expect(heap.popFirst() == least, "seed \(seed)")
        model.remove(at: model.firstIndex(of: least)!)
      }
      #expect(heap.first == model.min() ?? .max, "seed \(seed)")
    }
  }

  @Test("The divider divides as the processor does", arguments: 1...40 as ClosedRange<UInt64>)
  func divider(seed: UInt64) {
    var draws = Draws(seed: seed)
    for _ in 0..<500 {
      let divisor = max(1, Int64(draws.next() >> UInt64(13 + draws.below(49))))
      let divider = FastDivider(divisor)
      let dividend = Int64(draws.next() >> UInt64(13 + draws.below(49)))
      // Multiples and their neighbours are where a product may be off by one.
      let multiple = dividend / divisor * divisor
      for n in [dividend, multiple, max(0, multiple - 1), min(multiple + divisor, (1 << 51) - 1)] {
        #expect(divider.quotient(n) == n / divisor, "\(n) / \(divisor)")
      }
    }
  }

  @Test("A window's clock parts time into slots and offsets without a gap")
  func clock() {
    var draws = Draws(seed: 7)
    for width in [1, 3, 999, 4_096, 100_000, 1 << 19] as [Int64] {
      let clock = WindowClock(notLongerThan: Span(microseconds: width))
      #expect(clock.width <= width)
      for _ in 0..<300 {
        let time = Int64(draws.next() >> UInt64(14 + draws.below(40)))
        let start = clock.start(of: clock.slot(of: time))
        #expect(start + clock.offset(of: time) == time)
        #expect((0..<clock.width).contains(clock.offset(of: time)))
      }
    }
  }
}
