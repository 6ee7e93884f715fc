import ShippedQuirks
import TestClients
import TestSupport
import Testing
import UploadGating
import UploadPipeline
import UploadRetry

@Suite("Two waits of a client (S16)")
struct TwoWaitsTests {
  private typealias Wait = UploadGate.WaitKind

  private func gate(_ policy: ClientPolicy, _ waits: [(Wait, until: Int64, at: Int64)]) -> UploadGate {
    let desk = Desk(ClientOptions().with(policy))
    for wait in waits { desk.client.triggered.host.pause(.only, until: wait.until, wait.0, at: wait.at) }
    return desk.client.triggered.state.gate
  }

  private var shorterWins: ClientPolicy {
    var policy = ClientPolicy()
    policy.twoWaits = .shorterWinsRateLimitBeatsBackoff
    return policy
  }

  @Test(
    "The shorter of two waits of a kind counts, and a rate limit's before a backoff's",
    arguments: [
      (UploadGate.WaitKind.rateLimit, 100, UploadGate.WaitKind.rateLimit, 50, 50),
      (.rateLimit, 100, .rateLimit, 150, 100),
      (.backoff, 100, .backoff, 50, 50),
      (.backoff, 100, .backoff, 150, 100),
      (.rateLimit, 100, .backoff, 50, 100),
      (.rateLimit, 100, .backoff, 150, 100),
      (.backoff, 100, .rateLimit, 50, 50),
      (.backoff, 100, .rateLimit, 150, 150),
    ] as [(UploadGate.WaitKind, Int64, UploadGate.WaitKind, Int64, Int64)])
  func shorterWins(
    first: UploadGate.WaitKind, until: Int64, second: UploadGate.WaitKind, then: Int64, expected: Int64
  ) {
    let quirk = gate(shorterWins, [(first, until, 0), (second, then, 10)])
    #expect(quirk.waitUntil == expected && quirk.kind == (expected == then ? second : first))
    let document = gate(.tapiDocument, [(first, until, 0), (second, then, 10)])
    #expect(document.waitUntil == then && document.kind == second)
  }

  @Test("A wait that is over does not stand in the way of a longer one, of either kind")
  func afterTheWait() {
    for first in [Wait.rateLimit, .backoff] {
      for second in [Wait.rateLimit, .backoff] {
        let gate = gate(shorterWins, [(first, 100, 0), (second, 500, 100)])
        #expect(gate.waitUntil == 500 && gate.kind == second)
      }
    }
  }
}
