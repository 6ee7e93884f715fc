import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import Testing

@Suite("Apps in the background that their system lets send in windows")
struct BackgroundWindowTests {
  private static let minute: Int64 = 60_000_000

  /// Phones with an event each ten minutes that are opened about once in a day, for ten minutes.
  private func fleet(_ os: BackgroundWindows, devices: Int = 1, hours: Int64 = 96, seed: UInt64 = 1)
    -> WorldFleet
  {
    var fleet = WorldFleet(devices: devices, minutes: hours * 60)
    fleet.seed = seed
    fleet.adjust = {
      $0.events = .poisson(meanGap: .minutes(10))
      $0.flush = FlushPolicy(count: nil, interval: .seconds(30))
      $0.sessions = Sessions(
        sharePartsPerMillion: 7_000, length: .constant(.minutes(10)), createsEventsInBackground: true)
      $0.os = os
    }
    return fleet
  }

  /// Of each time in the background that begins in the run: when windows open after it, microseconds.
  private func openings(_ events: [DeviceTrace.Event]) -> [[Int64]] {
    var (all, left): ([[Int64]], Int64?) = ([], nil)
    for event in events {
      switch event.kind {
      case .wentToBackground:
        left = event.time
        all.append([])
      case .cameToForeground: left = nil
      case .windowOpened: if let left { all[all.count - 1].append(event.time - left) }
      default: break
      }
    }
    return all
  }

  @Test(
    "Android's Doze opens 1 h after the app has left, and 2, 4, 6 and 6 h after the close of the window before"
  )
  func doze() throws {
    // By hand: each window is open for 5 min.
    let expected = [60, 185, 430, 795, 1_160, 1_525, 1_890].map { $0 * Self.minute }
    var longest = 0
    for seed in 1...6 as ClosedRange<UInt64> {
      for times in openings(try fleet(BackgroundWindows.System.androidDoze.windows, seed: seed).trace()) {
        #expect(times.prefix(expected.count) == expected.prefix(times.count).prefix(expected.count))
        longest = max(longest, times.count)
      }
    }
    #expect(longest >= 5)
  }

  @Test("WorkManager's windows open once in every quarter of an hour since the app has left, within 5 min")
  func periods() throws {
    for times in openings(try fleet(BackgroundWindows.System.androidWorkManager.windows).trace()) {
      for (index, time) in times.enumerated() {
        let due = Int64(index + 1) * 15 * Self.minute
        #expect(time >= due && time <= due + 5 * Self.minute)
      }
    }
  }

  @Test(
    "Windows that are aligned to the clock open at full hours, those aligned to the device always at one minute of the hour"
  )
  func alignment() throws {
    var windows = BackgroundWindows(first: .hours(1), length: .minutes(2), alignment: .clock)
    let hour = 60 * Self.minute
    func phases(_ device: Int) throws -> Set<Int64> {
      let trace = try fleet(windows, devices: 8).trace(device: device)
      return Set(trace.filter { $0.kind == .windowOpened && $0.time > 2 * hour }.map { $0.time % hour })
    }
    #expect(try phases(0) == [0])
    windows.alignment = .device
    let own = try (0..<8).map(phases)
    #expect(own.allSatisfy { $0.count == 1 })
    #expect(Set(own).count == 8)
  }

  @Test("Nothing leaves in the background outside a window, and what is held leaves as the window opens")
  func held() throws {
    for seed in 1...8 as ClosedRange<UInt64> {
      let trace = try fleet(BackgroundWindows.System.androidDoze.windows, seed: seed).trace()
      var (isOpen, isInForeground): (Bool, Bool?) = (false, nil)
      for event in trace {
        switch event.kind {
        case .wentToBackground: isInForeground = false
        case .cameToForeground: isInForeground = true
        case .windowOpened: isOpen = true
        case .windowClosed: isOpen = false
        case .sent:
          let leaves = trace.contains { $0.kind == .wentToBackground && $0.time == event.time }
          #expect(isOpen || leaves || isInForeground ?? true, "seed \(seed) at \(event.time) µs")
        default: break
        }
        if isOpen { #expect(event.kind == .windowOpened || event.queuedEvents <= 12 * 60) }
      }
    }
  }

  @Test("In the background a device holds its events until a window: half of Doze's first gap in the mean")
  func delay() throws {
    // Phones that are never opened, with windows of a constant gap: an event waits for half of it.
    var fleet = fleet(BackgroundWindows(first: .hours(2), length: .milliseconds(1)), devices: 400, hours: 72)
    let adjust = fleet.adjust
    fleet.adjust = {
      adjust(&$0)
      $0.sessions = Sessions(
        sharePartsPerMillion: 1, length: .constant(.seconds(1)), createsEventsInBackground: true)
    }
    let record = try fleet.run()
    let delay =
      Double(record.sum(.timeToDeliverySum)) / Double(record.sum(.deliveredEvents)) / 3_600e6
    #expect(abs(delay - 1) < 0.03)
    // Devices start somewhere between two windows: as many windows open in each part of the first two hours.
    let firsts = record.series.rows[..<120].map { $0[.firstAttempts] }
    let halves = (firsts[..<60].reduce(0, +), firsts[60...].reduce(0, +))
    #expect(abs(halves.0 - halves.1) < 80)
  }
}
