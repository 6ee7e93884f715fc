import Testing
import UploadRetry

@Suite("A device that is killed and started again (S18)")
struct KilledDeviceTests {
  @Test(
    "It never uploads a settled batch twice and never waits beyond the cap: 2,500 histories a client",
    arguments: [
      (RetryPolicy.tapiDocument, 330.0), (.segmentSwift, 300), (.segmentKotlin, 300),
      (.segmentReactNative, 330),
    ])
  func histories(policy: RetryPolicy, cap: Double) {
    var total = ModelDevice.Tally()
    var violations: [String] = []
    for seed in 1...2_500 {
      var config = HTTPConfig()
      if seed % 3 == 0 {
        config.rateLimit.maxRetryCount = 3
        config.backoff.maxRetryCount = 2
      }
      if seed % 5 == 0 { config.backoff.baseBackoffInterval = seconds(60) }
      var device = ModelDevice(
        seed: UInt64(seed), machine: .init(config: config, policy: policy), cap: seconds(cap))
      device.live(launches: 8)
      violations += device.violations.map { "seed \(seed): \($0)" }
      total.killsInFlight += device.tally.killsInFlight
      total.unusable += device.tally.unusable
      total.clamped += device.tally.clamped
      total.keptWaits += device.tally.keptWaits
      total.settled += device.tally.settled
      total.outdated += device.tally.outdated
    }
    #expect(violations.isEmpty, "\(violations.prefix(5))")
    // The histories have met what they are about.
    for count in [
      total.killsInFlight, total.unusable, total.clamped, total.keptWaits, total.settled, total.outdated,
    ] {
      #expect(count > 250, "\(total)")
    }
  }
}
