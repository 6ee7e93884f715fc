import FleetMetrics
import PlainEngine
import ScenarioModel
import SimulationKernel
import TAPIModel
import Testing

@Suite("Slow and lossy links")
struct LinkTests {
  /// Patient enough that no batch is given up.
  private func lossy(requests: Int64 = 0, answers: Int64 = 0, connect: Span? = nil) -> WorldFleet {
    var fleet = WorldFleet(devices: 2_000, minutes: 40)
    fleet.adjust = {
      ($0.link.requestLossPartsPerMillion, $0.link.answerLossPartsPerMillion) = (requests, answers)
      $0.connectTimeout = connect
      $0.settings.backoff.baseBackoffInterval = 100_000
      $0.settings.backoff.maxBackoffInterval = 1_000_000
      $0.timeout = .seconds(2)
      // Nothing is flushed in the last ten minutes but what has been created by then.
      $0.flush = FlushPolicy(count: nil, interval: .minutes(30), isSynchronised: true)
    }
    return fleet
  }

  @Test("lost requests cost 1 / (1 − p) attempts a batch, never reach the server, and make no duplicate")
  func lostRequests() throws {
    let record = try lossy(requests: 200_000).run()
    let arrived = record.sum(.firstAttempts) + record.sum(.retries)
    let lost = record.sum(.networkLostRequests)
    #expect(arrived == record.sum(.acceptedBatches))
    #expect(arrived == 2_000 * 1)
    // Geometric: the mean of lost tries is p / (1 − p), their variance p / (1 − p)².
    let deviation = (0.2 / 0.64 / 2_000).squareRoot()
    let mean = Double(lost) / 2_000
    #expect(abs(mean - 0.25) < 4 * deviation)
    #expect(record.sum(.timeouts) == lost)
    #expect(record.sum(.unknownOutcomes) == lost)
    #expect(record.sum(.duplicateBatches) == 0)
  }

  @Test("lost answers make p / (1 − p) duplicates a batch, and their outcome is unknown to the client")
  func lostAnswers() throws {
    let record = try lossy(answers: 250_000).run()
    let duplicates = record.sum(.duplicateBatches)
    #expect(record.sum(.acceptedBatches) == 2_000)
    let deviation = (0.25 / 0.5625 / 2_000).squareRoot()
    let mean = Double(duplicates) / 2_000
    #expect(abs(mean - 1.0 / 3) < 4 * deviation)
    for column in [Measure.networkLostAnswers, .unknownOutcomes, .timeouts] {
      #expect(record.sum(column) == duplicates)
    }
  }

  @Test("workers do the work for lost answers too")
  func workers() throws {
    var fleet = lossy(answers: 250_000)
    fleet.server = .workers(WorkersConfiguration(count: 3_000, serviceTime: .constant(.milliseconds(500))))
    let record = try fleet.run()
    let served = record.sum(.acceptedBatches) + record.sum(.duplicateBatches)
    #expect(record.sum(.busyMicroseconds) == served * 500_000)
    #expect(record.sum(.unknownOutcomes) == record.sum(.duplicateBatches))
  }

  @Test(
    "O4, O7: a client with a time-out for connecting gives up sooner, and knows that the server has got nothing"
  )
  func connecting() throws {
    for connect in [nil, Span.milliseconds(500)] {
      var fleet = WorldFleet(devices: 1)
      fleet.adjust = {
        $0.link.requestLossPartsPerMillion = 1_000_000
        $0.connectTimeout = connect
      }
      let events = try fleet.trace()
      let sent = try #require(
        events.first { if case .sent = $0.kind { true } else { false } })
      let end = try #require(
        events.first { if case .answered(_, _, .noStatus) = $0.kind { true } else { false } })
      #expect(end.time - sent.time == (connect ?? .seconds(10)).microseconds)
      #expect(events.contains { if case .lost(_, 1, .request) = $0.kind { true } else { false } })
      let record = try fleet.run()
      #expect(record.sum(.firstAttempts) == 0)
      #expect((record.sum(.unknownOutcomes) > 0) == (connect == nil))
    }
  }

  @Test("O7: a connection that takes longer than its time-out is none")
  func slowConnection() throws {
    for (connect, arrives) in [(Span.milliseconds(1_999), false), (.seconds(2), true)] {
      var fleet = WorldFleet(devices: 10, latency: .seconds(1))
      fleet.adjust = { $0.connectTimeout = connect }
      let record = try fleet.run()
      #expect((record.sum(.firstAttempts) > 0) == arrives)
      #expect((record.sum(.timeouts) > 0) != arrives)
      #expect(record.sum(.unknownOutcomes) == 0)
    }
  }

  @Test(
    "an upload takes its latency and the time for its bytes; where that is longer than the time-out, the server never gets it"
  )
  func bandwidth() throws {
    // Six events of 1 KB and 500 bytes around them: 5 s.
    for (timeout, arrives) in [(Span.seconds(6), true), (.seconds(4), false)] {
      var fleet = WorldFleet(devices: 10)
      fleet.adjust = {
        $0.link.uploadBytesPerSecond = 1_300
        $0.timeout = timeout
      }
      let uploads = PlainEngine.run(fleet.scenario).sent.filter { $0.events == 6 }
      #expect(uploads.allSatisfy { $0.uplink == 5_100_000 })
      #expect(uploads.isEmpty == !arrives)
      let record = try fleet.run()
      #expect(record.sum(.unknownOutcomes) == 0)
      #expect((record.sum(.timeouts) > 0) != arrives)
    }
  }

  @Test("the k-th attempt of a batch meets the same fate whatever the strategy")
  func commonRandomNumbers() {
    struct Attempt: Hashable { var device: UInt32, ordinal: UInt32, attempt: UInt16 }
    func arrived(_ concurrency: Int) -> Set<Attempt> {
      var fleet = WorldFleet(devices: 50)
      fleet.adjust = {
        $0.link.requestLossPartsPerMillion = 300_000
        $0.uploadConcurrency = concurrency
        if concurrency > 1 { $0.settings.backoff.jitter = .full }
      }
      return Set(
        PlainEngine.run(fleet.scenario).sent.map {
          Attempt(device: $0.device, ordinal: $0.firstOrdinal, attempt: $0.attempt)
        })
    }
    let (one, many) = (arrived(1), arrived(10))
    // First attempts happen under both; those that got lost under one did under the other.
    func first(_ arrived: Set<Attempt>) -> Set<Attempt> {
      arrived.filter { $0.attempt == 1 && $0.ordinal < 150 }
    }
    #expect(first(one) == first(many))
  }
}

@Suite("Batches of a limited size")
struct BatchSizeTests {
  @Test("a batch is sealed within the limit of bytes, and has at least one event")
  func sealing() {
    for (limit, events) in [(3_500, 3), (3_499, 2), (100, 1), (1_000_000, 6)] {
      var fleet = WorldFleet(devices: 5)
      fleet.adjust = { $0.queue.maximumBatchBytes = limit }
      let sizes = fleet.sent().map(\.events)
      #expect(sizes.max() == events, "\(limit)")
      #expect(fleet.scenario.fleet[0].largestBatch == (limit == 1_000_000 ? 500 : events))
    }
  }

  @Test(
    "413 halves a batch until it passes or has one event; the first half goes first, and nothing is counted twice"
  )
  func split() throws {
    var fleet = WorldFleet(devices: 1)
    fleet.incidents = [
      Incident(
        kind: .outage(status: 413, retryAfter: .none, keepsWork: true), start: .minute(9.5),
        duration: .minutes(1))
    ]
    fleet.adjust = { $0.queue.splitsOn413 = true }
    let sizes = fleet.sent().filter { (600..<660).contains($0.time) }.map(\.events)
    #expect(sizes == [6, 3, 2, 1, 1, 1, 3, 2, 1, 1, 1])
    let record = try fleet.run()
    #expect(record.sum(.droppedByStatus) == 6)
    let settled = record.sum(.deliveredEvents) + record.sum(.droppedByStatus)
    #expect(record.sum(.createdEvents) == settled + record.series.totals[.backlogEvents])

    fleet.adjust = { $0.queue.splitsOn413 = false }
    #expect(fleet.sent().filter { (600..<660).contains($0.time) }.map(\.events) == [6])
  }
}
