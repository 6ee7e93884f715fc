import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import Testing

@Suite("Launches by the time of day")
struct LaunchCurveTests {
  private static let hour: Int64 = 3_600_000_000
  /// Nobody at midnight, three times as many as on average at 18 h, straight between.
  private static let evening = RateCurve(
    .points([
      .init(time: .zero, factorPartsPerMillion: 0), .init(time: .hours(18), factorPartsPerMillion: 3_000_000),
    ]), period: .hours(24))

  private static func factor(_ hours: Double) -> Double {
    let hours = hours.truncatingRemainder(dividingBy: 24)
    return hours <= 18 ? hours / 6 : (24 - hours) / 2
  }

  private func fleet(
    devices: Int, minutes: Int64, share: Int64 = 50_000, length: Distribution, inBackground: Bool = false,
    curve: RateCurve = evening
  ) -> WorldFleet {
    var fleet = WorldFleet(devices: devices, minutes: minutes)
    fleet.adjust = {
      $0.events = .poisson(meanGap: .minutes(10))
      $0.flush = FlushPolicy(count: nil, interval: .seconds(30))
      $0.sessions = Sessions(
        sharePartsPerMillion: share, length: length, createsEventsInBackground: inBackground)
      $0.sessions?.curve = curve
    }
    return fleet
  }

  /// The share of devices in the foreground by p' = λ(t)(1 − p) − p / L in steps of a second, its mean in each hour.
  private func openShares(hours: Int, share: Double, length: Double, from first: Double) -> [Double] {
    let rate = share / (1 - share) / length
    var open = first
    return (0..<hours).map { hour in
      var sum = 0.0
      for second in 0..<3_600 {
        let now = Double(hour) + Double(second) / 3_600
        open += rate * Self.factor(now) * (1 - open) - open / length
        sum += open
      }
      return sum / 3_600
    }
  }

  @Test(
    "events that come in sessions follow the differential equation of the share that is open, hour by hour")
  func course() throws {
    let record = try fleet(devices: 1_000, minutes: 1_440, length: .exponential(mean: .minutes(3))).run()
    let expected = openShares(hours: 24, share: 0.05, length: 180, from: 0)
    var total = 0.0
    for hour in 0..<24 {
      let created = record.series.rows[hour * 60..<(hour + 1) * 60].reduce(0) { $0 + $1[.createdEvents] }
      // Six events an hour where a twentieth of the time is in the foreground.
      let mean = 1_000 * 6 * expected[hour] / 0.05
      // A session of three minutes has six events, so that their number varies by some 1 + 2 · 6 times its mean.
      #expect(abs(Double(created) - mean) < 5 * (13 * mean).squareRoot() + 20, "hour \(hour)")
      total += mean
    }
    #expect(abs(Double(record.sum(.createdEvents)) - total) < 5 * (13 * total).squareRoot())
  }

  @Test("a gap ends where the rate has grown by the gap's draw, by adding it up second by second")
  func inversion() throws {
    let fleet = fleet(devices: 4, minutes: 2 * 1_440, length: .constant(.minutes(2)))
    let perSecond = 0.05 / 0.95 / 120
    var gaps = 0
    for device in 0..<4 {
      let draws = RandomKey(seed: 1).child(UInt64(device)).child(.sessions)
      var start: Int64?
      var periods: UInt64 = 0
      for event in try fleet.trace(device: device) {
        guard event.kind == .cameToForeground || event.kind == .wentToBackground else { continue }
        // Nobody is in the foreground at midnight.
        if event.kind == .wentToBackground {
          periods += 1
          start = event.time
          continue
        }
        let draw = start == nil ? draws.child(1) : draws.child(2).child(periods)
        var left = -DeterministicMath.log(draw.unitAboveZero)
        var second = Double(start ?? 0) / 1e6
        while true {
          let step = perSecond * Self.factor((second + 0.5) / 3_600)
          if step >= left {
            second += left / step
            break
          }
          left -= step
          second += 1
        }
        #expect(abs(Double(event.time) / 1e6 - second) < 0.6, "gap \(periods) of device \(device)")
        periods += 1
        gaps += 1
      }
    }
    #expect(gaps > 4 * 40)
  }

  @Test(
    "a curve that is 100 % all day gives the sessions of its absence in law: as many events in every hour")
  func flat() throws {
    let flat = RateCurve(.points([.init(time: .zero, factorPartsPerMillion: 1_000_000)]), period: .hours(24))
    let record = try fleet(devices: 1_000, minutes: 600, length: .exponential(mean: .minutes(3)), curve: flat)
      .run()
    let rows = record.series.rows
    let deviation = (13 * 6_000.0).squareRoot()
    for hour in 0..<10 {
      let created = rows[hour * 60..<(hour + 1) * 60].reduce(0) { $0 + $1[.createdEvents] }
      #expect(abs(Double(created) - 6_000) < 5 * deviation, "hour \(hour)")
    }
  }

  @Test(
    "events of the background do not follow it, and a curve that ends at nothing closes the apps for good")
  func background() throws {
    let record = try fleet(
      devices: 1_000, minutes: 1_440, length: .exponential(mean: .minutes(3)), inBackground: true
    ).run()
    for hour in 0..<24 {
      let created = record.series.rows[hour * 60..<(hour + 1) * 60].reduce(0) { $0 + $1[.createdEvents] }
      #expect(abs(Double(created) - 6_000) < 5 * 6_000.0.squareRoot())
    }
    let ending = RateCurve(
      .points([
        .init(time: .zero, factorPartsPerMillion: 1_000_000),
        .init(time: .hours(1), factorPartsPerMillion: 0),
      ]), period: nil)
    let closed = try fleet(
      devices: 500, minutes: 600, length: .constant(.minutes(3)), curve: ending
    ).run()
    let late = closed.series.rows[64...].reduce(0) { $0 + $1[.createdEvents] }
    #expect(late == 0 && closed.sum(.createdEvents) > 0)
  }

  @Test("the forecast of the mean and of the peak is within a few percent of the run")
  func forecast() throws {
    let fleet = fleet(devices: 1_000, minutes: 1_440, length: .exponential(mean: .minutes(3)))
    let load = NormalLoad(fleet.scenario)
    let record = try fleet.run()
    let created = Double(record.sum(.createdEvents)) / 86_400
    let attempts = Double(record.series.totals.attempts) / 86_400
    #expect(abs(load.eventsPerSecond / created - 1) < 0.03)
    #expect(abs(load.batchesPerSecond / attempts - 1) < 0.03)
    let busiest = record.series.rows[17 * 60..<19 * 60].reduce(0) { $0 + $1.attempts }
    #expect(abs(load.busiestBatchesPerSecond / (Double(busiest) / 7_200) - 1) < 0.05)
    #expect(abs((load.busiestTime?.seconds ?? 0) / 3_600 - 18) < 0.2)
  }
}
