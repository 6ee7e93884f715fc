import Foundation
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import TAPIModel
import Testing

@Suite("A scenario at a part of its size")
struct ScaleTests {
  private func decode(_ text: String, _ scale: String?) throws -> Scenario {
    let file = try ScenarioFile(text: text, name: "s.json5") { _ in "" }
    var scenario = try file.decode(overrides: scale.map { [Override(path: "scale", value: $0)] } ?? [])
      .scenario
    // What it is a part of is for reports alone; a run does not depend on it.
    if let scale { #expect(scale == "1:\(scenario.scale)") }
    scenario.scale = 1
    return scenario
  }

  private func bucket(_ scenario: Scenario) throws -> TokenBucketConfiguration {
    guard case .bucket(let bucket) = scenario.tapi.server else { throw CancellationError() }
    return bucket
  }

  static let large = """
    { format: 1, duration: "1h", tapi: { bucket: { capacity: "60000/s" },
        keyLimits: [{ key: "a", rate: "1000/s", burst: 400 }, { per: "device", rate: "1/s", burst: 3 },
          { per: "all", window: "1m", requests: 60000 }, { per: "device", window: "1m", requests: 60 }] },
      fleet: [{ name: "a", devices: 3000000, events: "30/h" },
        { name: "b", devices: 10000, events: { csv: "time_s,events_per_s\\n0,500\\n60,250\\n" } }] }
    """

  @Test("devices, capacity, limits and rates of tables are divided; the burst too, but not below 20 tokens")
  func divided() throws {
    let (full, small) = (try decode(Self.large, nil), try decode(Self.large, "1:200"))
    #expect(small.fleet.map(\.devices) == [15_000, 50])
    #expect(try bucket(full).burst == 6_000)
    #expect(try bucket(small).capacityMilliRequestsPerSecond == 300_000)
    #expect(try bucket(small).burst == 30)
    // A tenth of a second's worth would be 15.
    #expect(try bucket(decode(Self.large, "1:400")).burst == 20)
    let limits = small.tapi.rules.keyLimits
    let minute = KeyLimit.Window(.minutes(1))
    #expect(
      limits.map(\.rule) == [
        .bucket(rate: 5_000, burst: 20), .bucket(rate: 1_000, burst: 3), .window(minute, requests: 300),
        .window(minute, requests: 60),
      ])
    guard case .replay(let rates) = small.fleet[1].events else { throw CancellationError() }
    #expect(rates.rows.map(\.microEventsPerSecond) == [2_500_000, 1_250_000])
    // Each device has the events that it had.
    #expect(small.fleet[0].events == full.fleet[0].events)
  }

  @Test("workers and what may wait for them are divided")
  func workers() throws {
    let text = """
      { format: 1, duration: "1h",
        tapi: { workers: { count: 400, serviceTime: "500ms", queueLimit: 8000, congestion: { slowdown: 2 } } },
        fleet: [{ name: "a", devices: 20000, events: "30/h" }] }
      """
    guard case .workers(let workers) = try decode(text, "1:20").tapi.server else { throw CancellationError() }
    #expect(workers.count == 20 && workers.queueLimit == 400 && workers.congestion?.queue == 400)
    #expect(throws: ScenarioProblems.self) { try decode(text, "1:50") }
  }

  @Test(
    "1:1 changes nothing; the key in the file, the override and the division done by hand are the same scenario"
  )
  func same() throws {
    #expect(try decode(Self.large, "1:1") == decode(Self.large, nil))
    let byKey = Self.large.replacing("format: 1,", with: "format: 1, scale: \"1:20\",")
    let byHand = Self.large.replacing("3000000", with: "150000").replacing("10000,", with: "500,")
      .replacing("60000/s\"", with: "3000/s\", burst: 300").replacing(
        "1000/s\", burst: 400", with: "50/s\", burst: 20"
      )
      .replacing("requests: 60000", with: "requests: 3000").replacing("0,500", with: "0,25").replacing(
        "60,250", with: "60,12.5")
    #expect(try decode(byKey, nil) == decode(Self.large, "1:20"))
    #expect(try decode(byHand, nil) == decode(Self.large, "1:20"))
    // What is written down is the small scenario, without the key.
    let file = try ScenarioFile(text: byKey, name: "s.json5") { _ in "" }
    let written = try file.decode().normalisedJSON
    #expect(!written.contains("\"scale\""))
    #expect(try decode(written, nil) == decode(byKey, nil))
  }

  @Test("the burst has room for 20 devices that send up to ten batches at once", arguments: [1, 3, 10, 500])
  func burstOfSeveral(batches: Int) throws {
    let text = Self.large.replacing(
      "devices: 3000000,", with: "devices: 3000000, uploadConcurrency: \(batches),")
    #expect(try bucket(decode(text, "1:400")).burst == 20 * Int64(min(batches, 10)))
    // Not more than the whole server has.
    let small = text.replacing("60000/s\"", with: "60000/s\", burst: 50")
    #expect(try bucket(decode(small, "1:400")).burst == min(50, 20 * Int64(batches)))
  }

  @Test("a burst that was below the floor stays as it is")
  func smallBurst() throws {
    let text = Self.large.replacing("60000/s\"", with: "60000/s\", burst: 5")
    #expect(try bucket(decode(text, "1:200")).burst == 5)
  }

  @Test(
    "what is too small is refused with the reason and the scale that is fine",
    arguments: [
      // 60,000/s are filled by 9,600 devices at 160 ms a request there and back; 8 of them are left at 1:1200.
      (
        "1:3000", "1:3000 of the fleet is too small: a capacity of 20/s is filled by 3.2 devices",
        "1:400 or a larger part keeps its answer"
      ),
      ("1:500", "cohort b has 20 of its 10000 devices left", "1:400 or a larger part keeps its answer"),
      ("20", "expected a scale such as \"1:20\"", "allowed: 1:1 to"),
      ("1:0", "expected a scale such as", "allowed: 1:1 to"),
      ("2:3", "expected a scale such as", "allowed: 1:1 to"),
    ])
  func refused(scale: String, reason: String, remedy: String) throws {
    do {
      _ = try decode(Self.large, scale)
      Issue.record("\(scale) was taken")
    } catch let problems as ScenarioProblems {
      let text = problems.description
      #expect(text.contains("scale: ") && text.contains(reason) && text.contains(remedy), "\(text)")
    }
  }

  @Test("the scale that the message names is taken, the next is not")
  func boundary() throws {
    let text = Self.large.replacing(
      "devices: 10000, events: { csv:", with: "devices: 1000000, events: { csv:")
    #expect(throws: Never.self) { try decode(text, "1:1200") }
    #expect(throws: ScenarioProblems.self) { try decode(text, "1:1201") }
  }

  @Test("workers and places that chance takes are as in Erlang's tables")
  func erlang() {
    // Offered loads at which 1 % of the requests are lost, of published tables: 20 trunks carry 12.03, 100 carry 84.06 erlangs.
    #expect(abs(Discreteness.turnedAway(20, places: 0, at: 12.03 / 20) - 0.01) < 2e-5)
    #expect(abs(Discreteness.turnedAway(100, places: 0, at: 84.06 / 100) - 0.01) < 2e-5)
    // One worker and four places: (1 − ρ) ρ⁵ / (1 − ρ⁶).
    #expect(abs(Discreteness.turnedAway(1, places: 4, at: 0.5) - 0.5 / 32 / (1 - 1 / 64.0)) < 1e-12)
    #expect(Discreteness.turnedAway(10, places: .max - 10, at: 0.99) < 1e-9)
  }

  @Test("a part whose workers are all taken by chance, as the whole's are not, is refused")
  func takenByChance() throws {
    func scenario(places: Int) throws -> Scenario {
      try decode(
        """
        { format: 1, duration: "10m",
          tapi: { workers: { count: 300, serviceTime: { exponential: "1s" }, queueLimit: \(places) }, overload: { status: 503 } },
          fleet: [{ name: "a", devices: 60000, client: "segment-browser", events: "16/h" }] }
        """, nil)
    }
    // 267 of 300 are busy: with 100 places nobody is turned away, of a fifteenth (20 workers, 7 places) 2 % are.
    let (few, many) = (try scenario(places: 100), try scenario(places: 10_000))
    #expect(Discreteness(few).findings.isEmpty)
    #expect(
      Scaling(divisor: 15).refusal(of: few)?.contains("20 workers and 7 places to wait are all taken") == true
    )
    let smallest = Scaling.smallest(of: [few])
    #expect(smallest.divisor > 1 && smallest.divisor < 15)
    #expect(Scaling.smallest(of: [many]).divisor == 30)
  }

  @Test("a scenario says in what it is too small, with and without a scale")
  func notes() throws {
    #expect(Discreteness(try decode(Self.large, "1:400")).notes.isEmpty)
    let small = Self.large.replacing("60000/s", with: "40/s")
    #expect(
      Discreteness(try decode(small, nil)).notes == [
        "tapi.bucket.burst: a bucket of 4 tokens refuses what comes at one moment by chance; 20 tokens are enough",
        "tapi.bucket.capacity: a capacity of 40/s is filled by 6.4 devices that send one request after another (160 ms each): "
          + "single devices decide; from 50/s on it is the fleet's",
      ])
  }
}
