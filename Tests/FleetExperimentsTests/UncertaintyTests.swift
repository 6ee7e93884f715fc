import FleetExperiments
import Testing

@Suite("What is not known")
struct UncertaintyTests {
  private func values(_ text: String, _ draws: Int = 200) throws -> [Double] {
    var uncertainty = Uncertainty()
    try uncertainty.add(text)
    return uncertainty.draws([draws], seed: 7).compactMap { Quantity($0.values[0])?.value }
  }

  @Test("every equal part of a distribution is drawn once, in an order of its own")
  func hypercube() throws {
    var uncertainty = Uncertainty()
    try uncertainty.add("tapi.bucket.capacity=1000/s..1600/s")
    try uncertainty.add("tapi.incidents.0.for=60s..120s")
    let draws = uncertainty.draws([3, 50, 50], seed: 1)
    #expect(draws.count == 103 && uncertainty.paths == ["tapi.bucket.capacity", "tapi.incidents.0.for"])
    for (column, low, width) in [(0, 1_000.0, 600.0), (1, 60e6, 60e6)] {
      for block in [0..<3, 3..<53, 53..<103] {
        let shares = draws[block].compactMap { Quantity($0.values[column]) }.map { ($0.value - low) / width }
        #expect(Set(shares.map { Int($0 * Double(block.count)) }).count == block.count)
        if block.count > 3 { #expect(shares != shares.sorted()) }
      }
    }
    #expect(draws[3].values != draws[53].values)
    #expect(uncertainty.draws([3, 50, 50], seed: 1) == draws)
    #expect(uncertainty.draws([3, 50, 50], seed: 2) != draws)
  }

  @Test(
    "a triangle has its mean at the mean of its corners, a range by ratios its median at the geometric mean")
  func shapes() throws {
    let triangle = try values("a.b=10/s..20/s..60/s")
    let mean = triangle.reduce(0, +) / 200
    #expect(abs(mean - 30) < 0.2)
    #expect(triangle.allSatisfy { (10...60).contains($0) })
    // Of a triangle's area, 1 / 5 lies before a mode that is at a fifth of the way.
    #expect(abs(triangle.count { $0 < 20 } - 40) <= 2)
    let logarithmic = try values("a.b=1/s..100/s:log")
    #expect(abs(logarithmic.sorted()[100] - 10) < 1)
    let whole = try values("a.b=1..4", 400)
    #expect((1...4).allSatisfy { value in whole.count { $0 == Double(value) } == 100 })
  }

  @Test("rows of a table are drawn whole, each as often as any other")
  func table() throws {
    var uncertainty = Uncertainty()
    try uncertainty.add(
      table: "tapi.bucket.capacity,\"tapi.incidents.0.for\"\r\n1200/s,30s\r\n 1300/s , 40s\n\n1400/s,50s\n",
      name: "draws.csv")
    let draws = uncertainty.draws([9], seed: 3).map(\.values)
    for row in [["1200/s", "30s"], ["1300/s", "40s"], ["1400/s", "50s"]] {
      #expect(draws.count { $0 == row } == 3)
    }
    #expect(uncertainty.extremes.count == 3)
  }

  @Test(
    "what is no distribution is refused with what would be right",
    arguments: [
      ("a.b", "is no distribution"), ("=1..2", "is no distribution"), ("a.b=5", "is no range"),
      ("a.b=5..3", "is empty"), ("a.b=1s..5/s", "not in the same unit"), ("a.b=1..9..5", "is no mode"),
      ("a.b=1..2..9:log", "leave one of them out"), ("a.b=1..x..9", "is no mode"),
    ])
  func refused(text: String, message: String) {
    var uncertainty = Uncertainty()
    let problem = #expect(throws: RangeProblem.self) { try uncertainty.add(text) }
    #expect(problem?.description.contains(message) == true, "\(problem?.description ?? "")")
  }

  @Test(
    "a table that is none is refused with its line",
    arguments: [
      ("", "draws.csv: a header of paths"), ("a.b,c.d\n", "draws.csv: a header of paths"),
      ("a.b,c.d\n1,2\n3\n", "draws.csv:3: 1 value in a table of 2 columns"),
      ("a.b,\n1,2\n", "draws.csv:1: column 2 has no path"),
      ("a.b,c.d\n1,\n", "draws.csv:2: there is no value of c.d"),
      ("a.b,a.b\n1,2\n", "'a.b' is given twice"),
    ])
  func refusedTable(text: String, message: String) {
    var uncertainty = Uncertainty()
    let problem = #expect(throws: RangeProblem.self) { try uncertainty.add(table: text, name: "draws.csv") }
    #expect(problem?.description.contains(message) == true, "\(problem?.description ?? "")")
  }
}
