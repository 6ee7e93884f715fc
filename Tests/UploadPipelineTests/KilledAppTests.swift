import ShippedQuirks
import TestClients
import TestSupport
import Testing
import UploadPipeline
import UploadRetry

@Suite("An app that is killed and started again (S18)")
struct KilledAppTests {
  /// Each client's own loop, with the document's way of saving.
  enum Client: CaseIterable, CustomTestStringConvertible {
    case document, swift, kotlin, reactNative

    var testDescription: String { "\(self)" }

    /// The longest wait that there may be, seconds.
    var cap: Double {
      switch self {
      case .document, .reactNative: 330
      case .swift, .kotlin: 300
      }
    }

    var options: ClientOptions {
      switch self {
      case .document: ClientOptions { $0.maximumBatchEvents = 2 }
      case .swift:
        ClientOptions { ($0.uploads, $0.flushWhileUploading, $0.maximumBatchEvents) = (.max, .ignored, 2) }
          .with(.segmentSwift)
      case .kotlin:
        ClientOptions {
          $0.flushWhileUploading = .queued
          $0.rateLimitEndsLoop = false
          $0.maximumBatchEvents = 2
        }.with(.segmentKotlin)
      case .reactNative:
        ClientOptions { ($0.uploads, $0.isRebatch, $0.maximumBatchEvents) = (.max, true, 2) }.with(
          .segmentReactNative, actsAtFlushEnd: true)
      }
    }
  }

  @Test(
    "It never uploads a settled event twice and never waits beyond the cap: 600 histories a client, exhaustively 2,500",
    arguments: Client.allCases)
  func histories(client: Client) {
    var total = KilledApp.Tally()
    var violations: [String] = []
    let histories = TestDepth.cases(600, exhaustively: 2_500)
    for seed in 1...histories {
      var config = HTTPConfig()
      if seed % 3 == 0 {
        config.rateLimit.maxRetryCount = 3
        config.backoff.maxRetryCount = 2
      }
      if seed % 5 == 0 { config.backoff.baseBackoffInterval = seconds(60) }
      var app = KilledApp(
        seed: UInt64(seed), options: client.options, config: config, cap: seconds(client.cap))
      app.live(launches: 8)
      violations += app.violations.map { "seed \(seed): \($0)" }
      total.killsInFlight += app.tally.killsInFlight
      total.unusable += app.tally.unusable
      total.clamped += app.tally.clamped
      total.keptWaits += app.tally.keptWaits
      total.settled += app.tally.settled
      total.outdated += app.tally.outdated
    }
    #expect(violations.isEmpty, "\(violations.prefix(5))")
    // The histories have met what they are about.
    for count in [
      total.killsInFlight, total.unusable, total.clamped, total.keptWaits, total.settled, total.outdated,
    ] {
      #expect(count * 10 > histories, "\(total)")
    }
  }
}
