import FleetExperiments
import FleetMetrics
import ScenarioModel
import SimulationKernel
import TAPIModel
import Testing

@Suite("A stability map")
struct StabilityGridTests {
  typealias Grid = StabilityGrid<Bool>
  static let kind: @Sendable (Bool) -> Int = { $0 ? 1 : 0 }

  /// A map of a region given in shares of the two axes.
  func grid(_ steps: Int, coarse: Int = 4, _ recovers: (Double, Double) -> Bool) -> Grid {
    Grid(
      columns: steps, rows: steps, coarseColumns: coarse, coarseRows: coarse, kind: Self.kind,
      evaluate: { points in
        points.map { recovers(Double($0.x) / Double(steps), Double($0.y) / Double(steps)) }
      })
  }

  static let regions: [@Sendable (Double, Double) -> Bool] = [
    { x, y in y < 0.2 + 0.6 * x },
    { x, y in x * x + y * y < 0.55 },
    { x, y in (x - 0.5) * (x - 0.5) + (y - 0.5) * (y - 0.5) > 0.11 },
    { x, y in y < 0.501 },
    { _, _ in true },
  ]

  @Test("a denser grid moves the boundary by less than one cell", arguments: regions.indices)
  func denser(region: Int) {
    let (coarse, dense) = (grid(16, Self.regions[region]), grid(64, Self.regions[region]))
    let boundary = coarse.cells.filter { coarse.isMixed($0, Self.kind) }
    // Every cell of the dense boundary lies on a cell of the coarse boundary or touches one.
    for cell in dense.cells where dense.isMixed(cell, Self.kind) {
      let (x, y) = (Double(cell.x) / 4, Double(cell.y) / 4)
      #expect(
        boundary.contains {
          x >= Double($0.x) - 1 && x <= Double($0.x + $0.width) + 1 && y >= Double($0.y) - 1
            && y <= Double($0.y + $0.height) + 1
        })
    }
  }

  @Test(
    "only the boundary is refined: far fewer points than a full grid, and none of its cells longer than a step"
  )
  func economy() {
    let map = grid(64, coarse: 8) { x, y in y < 0.2 + 0.6 * x }
    #expect(map.points.count < 65 * 65 / 5)
    for cell in map.cells where map.isMixed(cell, Self.kind) {
      #expect(cell.width == 1 && cell.height == 1)
    }
    #expect(map.cells.reduce(0) { $0 + $1.width * $1.height } == 64 * 64)
  }

  @Test("every point is evaluated once, and a map of one kind is left coarse")
  func once() {
    var asked: [Grid.Point] = []
    let map = Grid(
      columns: 30, rows: 30, coarseColumns: 7, coarseRows: 7, kind: Self.kind,
      evaluate: { points in
        asked += points
        return points.map { $0.x > $0.y }
      })
    #expect(Set(asked).count == asked.count && asked.count == map.values.count)
    #expect(grid(32) { _, _ in true }.points.count == 25)
  }

  /// A fleet whose time-outs keep a small server busy with requests that nobody waits for any more.
  func fleet(devices: Int) -> Scenario {
    var cohort = Cohort(
      name: "phones", devices: devices, events: .poisson(meanGap: .seconds(20)),
      flush: FlushPolicy(count: 20, interval: .seconds(20)), retries: .timer, timeout: .seconds(4),
      latency: .constant(.milliseconds(200)))
    cohort.settings.backoff.maxBackoffInterval = 2_000_000
    cohort.uploadConcurrency = .max
    return Scenario(
      duration: .minutes(9), interval: .seconds(10),
      tapi: TAPIConfiguration(
        server: .workers(
          WorkersConfiguration(count: 1, serviceTime: .constant(.milliseconds(100)), queueLimit: 400)),
        incidents: [
          Incident(
            kind: .outage(status: nil, retryAfter: .none, keepsWork: false), start: .start + .minutes(2),
            duration: .seconds(10))
        ]),
      fleet: [cohort])
  }

  func map(fine: Int, workers: Int, in store: MemoryStore? = nil) throws -> StabilityMap {
    let runner = Runs(.summary, in: store, workers: workers)
    return try StabilityMap(
      x: QuantityRange("fleet.phones.devices=20..120"), y: QuantityRange("tapi.incidents.0.for=5s..160s:log"),
      resolution: .init(coarse: 4, fine: fine), risk: .init(risk: 0.5, most: 4),
      scenario: { x, y in
        var scenario = fleet(devices: Int(x)!)
        scenario.tapi.incidents[0].duration = try Units.span(y)
        return scenario
      }, run: { try runner.values(of: $0) })
  }

  @Test(
    "of a real fleet, too, a grid twice as dense moves the boundary by less than one cell; workers change nothing"
  )
  func real() throws {
    // Every second point of the dense map is one of the coarse map.
    let store = MemoryStore()
    let coarse = try map(fine: 8, workers: 1, in: store)
    let dense = try map(fine: 16, workers: 1, in: store)
    let again = try map(fine: 8, workers: 2)
    #expect(coarse.grid.values == again.grid.values && coarse.grid.cells == again.grid.cells)
    let boundary = coarse.grid.cells.filter { coarse.grid.isMixed($0, \.tendency) }
    #expect(!boundary.isEmpty)
    #expect(
      coarse.shares.kinds[.recovers, default: 0] > 0.05
        && coarse.shares.kinds[.neverRecovers, default: 0] > 0.05)
    for cell in dense.grid.cells where dense.grid.isMixed(cell, \.tendency) {
      let (x, y) = (Double(cell.x) / 2, Double(cell.y) / 2)
      #expect(
        boundary.contains {
          x >= Double($0.x) - 1 && x <= Double($0.x + $0.width) + 1 && y >= Double($0.y) - 1
            && y <= Double($0.y + $0.height) + 1
        })
    }
  }
}
