import FleetExperiments
import FleetMetrics
import Testing

/// Why a fleet does not hold, in the words of the glossary.
@Suite("Why a fleet does not hold")
struct HealthWordingTests {
  /// A twin that created a thousand events and lost so many.
  private func twin(
    grows: Bool = false, lost: Int64 = 0, _ cause: Measure = .droppedByStatus, created: Int64 = 1_000
  ) -> BaselineHealth {
    var counts = MeasureTotals()
    counts[.createdEvents] = created
    counts[cause] = lost
    if Measure.blocks.contains(cause) { counts[.blockedEvents] = lost }
    var twin = BaselineHealth(losses: counts)
    twin.grows = grows
    return twin
  }

  private static let growth = "its backlog or time to delivery grows over the run"

  @Test(
    "Losses stand with their share and what took most of them",
    arguments: [
      (990, .droppedByStatus, "it loses 99 %", "dropped because of the answer's status"),
      (11, .droppedByOverflow, "it loses 1.1 %", "dropped because the device's queue was full"),
      (500, .droppedByAge, "it loses 50 %", "dropped because their batch had been failing for too long"),
      (20, .droppedByRetryLimit, "it loses 2 %", "dropped at the batch's retry limit"),
      (20, .droppedByRateLimitRetryLimit, "it loses 2 %", "dropped at the global (429) retry limit"),
      (20, .refusedByGate, "it loses 2 %", "refused by a gate"),
      (1_000, .blockedByStatus, "it loses 100 %", "blocked because of the answer's status"),
      (333, .blockedByAge, "it loses 33.3 %", "blocked because their batch had been failing for too long"),
      (20, .blockedByRetryLimit, "it loses 2 %", "blocked at the batch's retry limit"),
      (20, .blockedByRateLimitRetryLimit, "it loses 2 %", "blocked at the global (429) retry limit"),
    ] as [(Int64, Measure, String, String)])
  func loss(lost: Int64, cause: Measure, share: String, words: String) {
    #expect(
      HealthWording([twin(lost: lost, cause)]).reason
        == "\(share) of its events (1 % at most is healthy), most of them \(words)")
  }

  @Test("A share that rounds to the limit or to everything is not said to be that")
  func rounding() {
    #expect(
      HealthWording([twin(lost: 10_001, created: 1_000_000)]).reason.hasPrefix("it loses just over 1 % of"))
    #expect(
      HealthWording([twin(lost: 999_999, created: 1_000_000)]).reason.hasPrefix("it loses nearly 100 % of"))
  }

  @Test("Growth and losses stand together; a healthy twin has no say; the seeds' events add up")
  func together() {
    #expect(HealthWording([twin(), twin(lost: 10)]).reason == "")
    #expect(HealthWording([twin(grows: true)]).reason == Self.growth)
    // 100 and 300 of 2,000.
    let text = HealthWording([twin(lost: 100), twin(grows: true, lost: 300, .droppedByAge), twin()]).reason
    #expect(
      text
        == "\(Self.growth), and it loses 20 % of its events (1 % at most is healthy), most of them dropped because their batch had "
        + "been failing for too long")
  }

  @Test("Of several fleets each reason stands once, with what it is of and the least and the largest share")
  func several() {
    let lossy = [[twin(lost: 20)], [twin(lost: 990)]]
    let loss =
      "it loses 2 % to 99 % of its events (1 % at most is healthy), most of them dropped because of the answer's status"
    let (alike, mixed) = (HealthWording(lossy), HealthWording([lossy[0], [twin(grows: true)], lossy[1]]))
    #expect(alike.groups.map(\.places) == [[0, 1]] && alike.reason == loss)
    #expect(mixed.groups.map(\.places) == [[0, 2], [1]])
    #expect(mixed.groups.map(\.reason) == [loss, Self.growth])
    #expect(HealthWording([[twin()]]).groups.isEmpty)
  }
}
