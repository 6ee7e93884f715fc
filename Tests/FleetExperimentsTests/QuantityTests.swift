import FleetExperiments
import Testing

@Suite("Quantities and ranges")
struct QuantityTests {
  @Test(
    "a quantity is written as it is read",
    arguments: [
      ("0.5", "0.5"), ("12", "12"), ("50%", "50%"), ("200/s", "200/s"), ("6/min", "6/min"), ("1h30m", "90m"),
      ("250ms", "250ms"), ("2KB", "2000B"), ("-3", "-3"),
    ])
  func roundTrip(text: String, written: String) throws {
    #expect(try #require(Quantity(text)).text() == written)
  }

  @Test("what is no quantity is none", arguments: ["", "full", "1..2", "s", "3/", "3/week", "nan", "1e999"])
  func none(text: String) {
    #expect(Quantity(text) == nil)
  }

  @Test(
    "a range is even, a logarithmic one in ratios, both keep their ends, and whole ends all between them whole",
    arguments: [
      ("tapi.bucket.capacity=100/s..300/s", ["100/s", "200/s", "300/s"]),
      ("tapi.incidents.0.for=1m..100m:log", ["1m", "10m", "100m"]),
      // Rates in different units meet in the first one's.
      ("x=60/min..2/s", ["60/min", "90/min", "120/min"]),
      ("tapi.workers.count=3..8", ["3", "4", "5", "6", "7", "8"]), ("x=3..8.0", ["3", "5.5", "8"]),
    ])
  func positions(text: String, places: [String]) throws {
    let range = try QuantityRange(text)
    let last = Double(places.count - 1)
    #expect(places.indices.map { range.quantity(at: Double($0) / last).text() } == places)
  }

  @Test("a value knows its place between the ends, and none beyond them; whole ends have as many steps")
  func place() throws {
    #expect(try QuantityRange("tapi.workers.count=3..8").mostSteps == 5)
    let even = try QuantityRange("a.b=100/s..300/s")
    #expect(even.share(of: Quantity("150/s")!) == 0.25)
    #expect(even.share(of: Quantity("12000/min")!) == 0.5)
    #expect(even.share(of: Quantity("301/s")!) == nil && even.share(of: Quantity("200")!) == nil)
    let share = try QuantityRange("a.b=1s..100s:log").share(of: Quantity("10s")!)
    #expect(abs((share ?? 0) - 0.5) < 1e-12)
  }
}

@Suite("A search space")
struct SearchSpaceTests {
  @Test("ranges have round values, steps are kept, names stay in their order")
  func values() throws {
    #expect(try SearchParameter("a=0.1..0.5:0.1").values == ["0.1", "0.2", "0.3", "0.4", "0.5"])
    #expect(try SearchParameter("a=10..30:10").values == ["10", "20", "30"])
    #expect(try SearchParameter("a=none,full").isOrdered == false)
    #expect(try SearchParameter("a=100,20,3").values == ["3", "20", "100"])
    let ratios = try SearchParameter("a=1.0..100.0:log").values
    #expect(ratios.count == 21 && ratios[10] == "10" && ratios[1] == "1.3")
  }

  @Test(
    "a spread of candidates leaves no value of any parameter out, whatever the seed", arguments: [1, 2, 99])
  func spread(seed: UInt64) throws {
    let space = try SearchSpace([
      SearchParameter("a=1..10:1"), SearchParameter("b=1..7:1"), SearchParameter("c=x,y,z"),
    ])
    #expect(space.size == 210)
    let candidates = (0..<60).map { space.spread($0, seed: seed) }
    for (i, parameter) in space.parameters.enumerated() {
      #expect(Set(candidates.map { $0.choices[i]! }).count == parameter.values.count)
    }
  }

  @Test("neighbours of numbers are a stride away, of names all the others")
  func neighbours() throws {
    let space = try SearchSpace([SearchParameter("a=1..5:1"), SearchParameter("b=x,y,z")])
    let neighbours = space.neighbours(of: SearchCandidate(choices: [0, 1]), stride: [2, 2])
    #expect(neighbours.map(\.choices) == [[2, 1], [0, 0], [0, 2]])
  }
}
