import SimulationKernel
import Testing

@Suite struct RandomKeyTests {
  /// Recorded because every committed result depends on these numbers: a change of the generator, however small, has to
  /// show up here first. They come from a separate implementation (Python integers), not from this one.
  @Test("The generator gives the recorded draws")
  func recordedDraws() {
    let one = RandomKey(seed: 1)
    #expect(RandomKey(seed: 0).bits == 0xe220_a839_7b1d_cdaf)
    #expect(one.bits == 0x910a_2dec_8902_5cc1)
    #expect(one.child(0).bits == 0x5e41_ab08_7439_611e)
    #expect(one.child(.max).bits == 0xdce4_23fc_82c0_d5b8)
    #expect(one.child(7).child(.networkUp).child(3).bits == 0xd1f7_2a3d_dd9d_9fcf)
  }

  @Test("The numbers are those published for SplitMix64 with seed 1234567")
  func publishedSplitMix64() {
    let published: [UInt64] = [
      6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
      4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
    ]
    let increment: UInt64 = 0x9e37_79b9_7f4a_7c15
    for (i, expected) in published.enumerated() {
      #expect(RandomKey(seed: 1_234_567 &+ UInt64(i) &* increment).bits == expected)
    }
  }

  @Test("Purposes keep the numbers that recorded results were made with")
  func purposeNumbers() {
    let purposes: [RandomPurpose] = [
      .events, .flushPhase, .eventPhase, .networkUp, .networkDown, .service, .jitter, .retryAfter, .order,
      .lifecycle, .rollout, .spike, .connectivity, .sessions, .system, .serverError, .lostAnswer,
      .answerLatency, .dependency, .handshake, .push, .cut, .gates, .pages, .shedding, .proxy,
    ]
    #expect(
      purposes.map(\.rawValue)
        == Array(1...11) + [20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 40, 41, 60, 61])
    #expect(purposes == RandomPurpose.allCases)
    let key = RandomKey(seed: 3)
    #expect(key.child(.service) == key.child(6))
  }

  @Test("A draw depends on its path alone, and the order of the path counts")
  func pathsNameDraws() {
    let root = RandomKey(seed: 9)
    #expect(root.child(1).child(2) == root.child(1).child(2))
    #expect(root.child(1).child(2) != root.child(2).child(1))
    #expect(root.child(3) != root.child(0).child(3))
    #expect(RandomKey(seed: 1) != RandomKey(seed: 2))
  }

  @Test("A stream gives the children of its key in order")
  func streamIsTheChildren() {
    let key = RandomKey(seed: 77).child(5)
    var stream = RandomStream(key)
    for n in 0..<1000 { #expect(stream.next() == key.child(UInt64(n)).bits) }
  }

  @Test("Bounded draws stay inside their bounds, also the widest and the empty ones")
  func boundedDraws() {
    let root = RandomKey(seed: 4)
    for n in 0..<2000 {
      let key = root.child(UInt64(n))
      #expect(key.uniform(below: 0) == 0)
      #expect(key.uniform(below: 1) == 0)
      #expect(key.uniform(below: .max) < .max)
      #expect((-3...3).contains(key.uniform(-3, through: 3)))
      #expect(key.uniform(5, through: 5) == 5)
      #expect(key.uniform(5, through: -5) == 5)
      #expect(key.uniform(.max - 1, through: .max) >= .max - 1)
      let whole = key.uniform(.min, through: .max)
      #expect(UInt64(bitPattern: whole) == key.bits &+ (1 << 63))
      #expect(key.unitAboveZero > 0 && key.unitAboveZero <= 1)
      #expect(key.unitOpen > 0 && key.unitOpen < 1)
    }
    let ends = Set((0..<200).map { root.child($0).uniform(-3, through: 3) })
    #expect(ends == Set(-3...3))
  }

  @Test("Draws below n are equally likely", arguments: [2, 3, 6, 10, 1000] as [UInt64])
  func equallyLikely(n: UInt64) {
    let root = RandomKey(seed: 21)
    let draws = 60_000
    var counts = [Int](repeating: 0, count: Int(n))
    for i in 0..<draws { counts[Int(root.child(UInt64(i)).uniform(below: n))] += 1 }
    let expected = [Double](repeating: Double(draws) / Double(n), count: Int(n))
    #expect(chiSquareScore(observed: counts, expected: expected) < chiSquareLimit)
  }
}

/// Whether keys that lie next to each other (seeds, devices, ordinals, purposes) give unrelated draws.
@Suite struct RandomKeyIndependenceTests {
  struct Neighbours: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var pair: @Sendable (UInt64) -> (RandomKey, RandomKey)
  }

  static let root = RandomKey(seed: 1)
  static let neighbours: [Neighbours] = [
    Neighbours(testDescription: "seed n and seed n + 1") { (RandomKey(seed: $0), RandomKey(seed: $0 + 1)) },
    Neighbours(testDescription: "child n and child n + 1") { (root.child($0), root.child($0 + 1)) },
    Neighbours(testDescription: "a key and its first child") { (root.child($0), root.child($0).child(0)) },
    Neighbours(testDescription: "the same attempt of neighbouring devices") {
      (root.child($0).child(.networkUp).child(1), root.child($0 + 1).child(.networkUp).child(1))
    },
    Neighbours(testDescription: "two purposes of one device") {
      (root.child($0).child(.networkUp), root.child($0).child(.networkDown))
    },
    Neighbours(testDescription: "the path (n, n + 1) and the path (n + 1, n)") {
      (root.child($0).child($0 + 1), root.child($0 + 1).child($0))
    },
    Neighbours(testDescription: "the same device under neighbouring seeds") {
      (RandomKey(seed: 1).child($0), RandomKey(seed: 2).child($0))
    },
  ]

  @Test("Neighbouring keys are uncorrelated and fill the square evenly", arguments: neighbours)
  func uncorrelated(neighbours: Neighbours) {
    let count = 30_000
    let side = 16
    var a: [Double] = []
    var b: [Double] = []
    var cells = [Int](repeating: 0, count: side * side)
    var lowCells = [Int](repeating: 0, count: side * side)
    for n in 0..<count {
      let (first, second) = neighbours.pair(UInt64(n))
      a.append(first.unitOpen)
      b.append(second.unitOpen)
      cells[Int(first.bits >> 60) * side + Int(second.bits >> 60)] += 1
      lowCells[Int(first.bits & 15) * side + Int(second.bits & 15)] += 1
    }
    let expected = [Double](repeating: Double(count) / Double(side * side), count: side * side)
    #expect(abs(correlationScore(a, b)) < 4)
    #expect(chiSquareScore(observed: cells, expected: expected) < chiSquareLimit)
    #expect(chiSquareScore(observed: lowCells, expected: expected) < chiSquareLimit)
  }

  struct Flip: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var draw: @Sendable (UInt64) -> UInt64
  }

  static let flips: [Flip] = [
    Flip(testDescription: "of a seed") { RandomKey(seed: $0).bits },
    Flip(testDescription: "of a child's number") { root.child($0).bits },
    Flip(testDescription: "of a device number, two levels up") {
      root.child($0).child(.jitter).child(2).bits
    },
  ]

  /// 4,096 frequencies of standard deviation 0.5 / √n: six of them is far out for the largest.
  @Test("Flipping one bit flips every bit of the draw half the time", arguments: flips)
  func avalanche(flip: Flip) {
    let inputs = 1_000
    var flipped = [Int](repeating: 0, count: 64 * 64)
    var random = RandomStream(RandomKey(seed: 99))
    for n in 0..<inputs {
      let input = n % 2 == 0 ? random.next() : UInt64(n)  // sparse inputs are the usual ones
      let before = flip.draw(input)
      for bit in 0..<64 {
        let change = before ^ flip.draw(input ^ (1 << UInt64(bit)))
        for out in 0..<64 { flipped[bit * 64 + out] += Int((change >> UInt64(out)) & 1) }
      }
    }
    let frequencies = flipped.map { Double($0) / Double(inputs) }
    let limit = 6 * 0.5 / Double(inputs).squareRoot()
    #expect(frequencies.allSatisfy { abs($0 - 0.5) < limit })
    #expect(abs(mean(frequencies) - 0.5) < 0.002)
  }

  @Test("A hundred thousand draws of a small fleet are all different")
  func noCollisions() {
    var seen = Set<UInt64>()
    for device in 0..<100 as Range<UInt64> {
      for purpose in RandomPurpose.allCases {
        let key = Self.root.child(device).child(purpose)
        for ordinal in 0..<111 as Range<UInt64> { seen.insert(key.child(ordinal).bits) }
      }
    }
    #expect(seen.count == 100 * RandomPurpose.allCases.count * 111)
  }
}
