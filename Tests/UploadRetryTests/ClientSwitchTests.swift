import ShippedQuirks
import TestClients
import TestSupport
import Testing
import UploadRetry

/// The switches with which the clients of the other documents are composed.
@Suite("The switches of Datafly, Keen, Toggl and the offline-first client")
struct ClientSwitchTests {
  private let unavailable = UploadResponse.status(503, retryAfter: nil)
  private let success = UploadResponse.status(200, retryAfter: nil)

  private func lines(
    _ policy: ClientPolicy, _ config: HTTPConfig, _ answers: [UploadResponse], random: Constant = .low
  ) -> [String] {
    var story = Story(config, policy: policy)
    story.random = random
    for answer in answers { story.send(answer) }
    return story.lines
  }

  private func with(_ change: (inout ClientPolicy) -> Void) -> ClientPolicy {
    var policy = ClientPolicy.tapiDocument
    change(&policy)
    return policy
  }

  // MARK: Datafly

  /// The waits after so many failures, in microseconds.
  private func dataflyWaits(_ random: Constant) -> [Int64?] {
    var (batch, pipeline, random) = (BatchRetryState(), PipelineRetryState(), random)
    let machine = RetryStateMachine(config: .datafly, of: .datafly)
    return (0..<7).map { _ in
      let outcome = machine.afterResponse(
        .status(503, retryAfter: nil), batch: &batch, pipeline: &pipeline, now: 0, random: &random)
      if case .retry(let time) = outcome { return time }
      #expect(outcome == .retryAtNextTrigger)
      return nil
    }
  }

  @Test("D4: six retries, after 1–1.5, 2–3, 4–6, 8–12, 16–24 and 32–48 s")
  func dataflySchedule() {
    #expect(dataflyWaits(.low) == [1, 2, 4, 8, 16, 32].map { seconds($0) } + [nil])
    #expect(dataflyWaits(.high) == [1.5, 3, 6, 12, 24, 48].map { seconds($0) } + [nil])
  }

  @Test("D4: the seventh failure loses nothing: the schedule starts over at the next trigger")
  func dataflyStartsOver() {
    let outcomes = lines(.datafly, .datafly, Array(repeating: unavailable, count: 8))
    #expect(outcomes[6] == "63 s #6 503 > next trigger")
    #expect(outcomes[7] == "63 s #0 503 > retry 1")
    let dropping = lines(.tapiDocument, .datafly, Array(repeating: unavailable, count: 8))
    #expect(dropping[7].hasSuffix("drop retryLimit"))
  }

  @Test(
    "D5: 400, 401 and 403 are dropped; every other status but 2xx is retried, 404, 413, 429, 501 and 302 too")
  func dataflyStatuses() {
    for status in [100, 302] + Array(400...599) + [0, 999] {
      let line = lines(.datafly, .datafly, [.status(status, retryAfter: nil)])[0]
      let isDropped = [400, 401, 403].contains(status)
      #expect(line.hasSuffix(isDropped ? "> drop status" : "> retry 1"), "\(line)")
    }
  }

  @Test("D5: a 429 is a failure like others: no Retry-After is read, the pipeline goes on")
  func dataflyRateLimit() {
    #expect(lines(.datafly, .datafly, [.status(429, retryAfter: seconds(90))]) == ["0 s #0 429/90 > retry 1"])
  }

  // MARK: Keen and Toggl

  @Test("K1: no failure is delayed, and 503 is not handled")
  func keenIsNotDelayed() {
    for status in [429, 500, 503] {
      let line = lines(.withoutRetryState, .withoutWaits, [.status(status, retryAfter: seconds(9))])[0]
      #expect(line == "0 s #0 \(status)/9 > next trigger")
    }
    #expect(lines(.withoutRetryState, .withoutWaits, [.noStatus]) == ["0 s #0 - > next trigger"])
  }

  // MARK: Offline-first

  @Test(
    "O2: a wait is no shorter than the Retry-After of a 429 or a 503, and no other operation waits for it")
  func atLeastRetryAfter() {
    for status in [429, 503] {
      let asked = UploadResponse.status(status, retryAfter: seconds(20))
      #expect(
        lines(.offlineFirst, .offlineFirst(.interactive), [asked]) == ["0 s #0 \(status)/20 > retry 20"])
      var config = HTTPConfig.offlineFirst(.background)
      config.backoff.jitter = .none
      config.backoff.baseBackoffInterval = seconds(40)
      #expect(lines(.offlineFirst, config, [asked]) == ["0 s #0 \(status)/20 > retry 40"])
      // No cap of rateLimitConfig holds for it.
      let far = UploadResponse.status(status, retryAfter: seconds(7_200))
      #expect(lines(.offlineFirst, config, [far]) == ["0 s #0 \(status)/7200 > retry 7200"])
    }
  }

  @Test("O2: full jitter from nothing to 1 s, 2 s, 4 s … 300 s, or 5 s … 1800 s in the background")
  func offlineFirstDelays() {
    for (kind, base, longest) in [(OperationKind.interactive, 1.0, 300.0), (.background, 5, 1800)] {
      var (batch, pipeline) = (BatchRetryState(), PipelineRetryState())
      let machine = RetryStateMachine(config: .offlineFirst(kind), of: .offlineFirst)
      for i in 0..<12 {
        for isLow in [true, false] {
          var (copy, source) = (batch, isLow ? Constant.low : .high)
          let outcome = machine.afterResponse(
            unavailable, batch: &copy, pipeline: &pipeline, now: 0, random: &source)
          let longest = seconds(min(base * Double(1 << i), longest))
          #expect(outcome == .retry(at: isLow ? 0 : longest))
          if !isLow { batch = copy }
        }
      }
    }
  }

  @Test("O3: ten attempts or 24 hours, then it is given up, which here means blocked")
  func offlineFirstLimits() {
    let answers = Array(repeating: unavailable, count: 11)
    let told = lines(.offlineFirst, .offlineFirst(.interactive), answers)
    #expect(told[9].contains("503 > retry"))
    #expect(told[10].hasSuffix("drop retryLimit"))
    var story = Story(.offlineFirst(.background), policy: .offlineFirst)
    story.send(unavailable)
    story.now = 86_400_000_001
    story.send(unavailable)
    #expect(story.lines[1].hasSuffix("drop age"))
    #expect(ClientPolicy.offlineFirst.givenUp == .blocked && ClientPolicy.datafly.givenUp == .dropped)
  }

  @Test("O9: that credentials were refreshed is kept over a restart")
  func refreshIsKept() throws {
    var story = Story(.offlineFirst(.interactive), policy: .offlineFirst)
    story.batches[0].hasRefreshedCredentials = true
    let stored = RetrySnapshot(batches: [.init(id: 1, state: story.batches[0])])
    let loaded = try RetrySnapshot.decode(stored.encoded())
    let (snapshot, repairs) = loaded.validated(now: 5, config: story.machine.config, policy: .offlineFirst)
    #expect(repairs.isEmpty && snapshot.batches[0].state.hasRefreshedCredentials)
  }

  @Test("O2: a wait for a Retry-After that is longer than any backoff survives a restart")
  func longWaitIsKept() {
    var story = Story(.datafly, policy: .offlineFirst)
    story.send(.status(503, retryAfter: seconds(7_200)))
    let stored = RetrySnapshot(batches: [.init(id: 1, state: story.batches[0])])
    let (snapshot, repairs) = stored.validated(now: 0, config: .datafly, policy: .offlineFirst)
    #expect(repairs.isEmpty && snapshot.batches[0].state.retryAt == seconds(7_200))
  }

  // MARK: Jitter on Retry-After

  @Test("Jitter on Retry-After: what was asked for, plus up to so much of it, after the cap")
  func retryAfterJitter() {
    let asked = UploadResponse.status(429, retryAfter: seconds(100))
    let spread = with { $0.retryAfterJitter = .additive(percent: 20) }
    #expect(lines(spread, .withoutJitter, [asked]) == ["0 s #0 429/100 > pause 100"])
    #expect(lines(spread, .withoutJitter, [asked], random: .high) == ["0 s #0 429/100 > pause 120"])
    #expect(
      lines(spread, .withoutJitter, [.status(429, retryAfter: seconds(900))], random: .high)
        == ["0 s #0 429/900 > pause 360"])
    #expect(lines(.tapiDocument, .withoutJitter, [asked], random: .high) == ["0 s #0 429/100 > pause 100"])
  }
}
