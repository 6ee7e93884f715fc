import SimulationKernel
import Testing

/// `RankSearch` against sorting.
@Suite("Rank search")
struct RankSearchTests {
  private static func search(_ values: [Int64], rank: Int) -> (value: Int64, passes: Int) {
    var search = RankSearch(rank: Int64(rank), largest: values.max() ?? 0)
    var passes = 0
    while search.result == nil {
      for value in values { search.see(value) }
      search.endPass()
      passes += 1
    }
    return (search.result ?? -1, passes)
  }

  @Test(
    "every rank of a few hundred values is the one that sorting finds, however large they are",
    arguments: [1, 6, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63])
  func equalsSorting(bits: UInt64) {
    let key = RandomKey(seed: bits)
    let mask = bits == 63 ? UInt64(Int64.max) : 1 << bits - 1
    let values = (0..<300).map { Int64(key.child(UInt64($0)).bits & mask) } + [0, Int64(mask), Int64(mask)]
    let sorted = values.sorted()
    for rank in 1...values.count { #expect(Self.search(values, rank: rank).value == sorted[rank - 1]) }
  }

  @Test("values that are all alike, and a single one, are found")
  func alike() {
    for value: Int64 in [0, 1, 65_535, 65_536, 1 << 40, .max] {
      #expect(Self.search([value], rank: 1).value == value)
      #expect(Self.search([value, value, value], rank: 2).value == value)
    }
  }

  @Test("values below 2^16 take one pass, below 2^32 two, and zeros none")
  func passes() {
    #expect(Self.search([0, 0], rank: 1).passes == 0)
    #expect(Self.search([0, 65_535], rank: 2).passes == 1)
    #expect(Self.search([0, 65_536], rank: 2).passes == 2)
    #expect(Self.search([0, 1 << 32 - 1], rank: 1).passes == 2)
    #expect(Self.search([0, .max], rank: 2).passes == 4)
  }
}
