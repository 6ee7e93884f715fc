import ShippedClients
import TestSupport
import Testing
import UploadRetry

/// A page whose server answers at once, or after a while, with one status. Times are seconds.
///
/// What is expected is in `Tests/ConformanceTests/Recordings/analytics-next/probes.json`: single questions to the SDK's own code.
private struct Visit {
  var page: BrowserPage
  private(set) var sends: [(at: Double, names: [UInt32], retryCount: UInt32?, keepsAlive: Bool)] = []
  private(set) var lost: [UInt32] = []
  private(set) var delivered: [UInt32] = []
  /// The latest loss.
  private(set) var endedAt = 0.0
  private var answers: [(at: Int64, upload: UInt32)] = []
  private let answer: (status: Int?, retryAfter: Double?)
  private let delay: Int64
  private var now: Int64 = 0
  /// Answers from then on are 200.
  var outageEnds = Int64.max

  init(
    _ strategy: BrowserOptions.Strategy = .standard, status: Int? = 503, retryAfter: Double? = nil,
    after delay: Double = 0, settings: String = "{}", word: UInt64 = 0, saved: [SavedEvent] = [],
    _ change: (inout BrowserOptions) -> Void = { _ in }
  ) throws {
    var options = BrowserOptions()
    options.strategy = strategy
    change(&options)
    page = BrowserPage(
      options, BrowserSettings(published: try TestSupport.settings(settings)), saved: saved,
      draws: BrowserDraws(leaps: false, poll: { _, _ in word }, wait: { _, _ in word }), at: 0)
    answer = (status, retryAfter)
    self.delay = Int64(delay * 1_000_000)
  }

  mutating func track(_ events: Range<UInt32>, at time: Double = 0) {
    run(until: time)
    for event in events {
      page.track(event, at: now)
      take()
    }
  }

  /// Timers fire and answers come, until nothing more does before `time`.
  mutating func run(until time: Double) {
    let end = Int64((time * 1_000_000).rounded())
    while true {
      let next = [page.nextTimer, answers.map(\.at).min()].compactMap(\.self).min() ?? .max
      if next > end { break }
      now = max(now, next)
      page.run(until: now)
      take()
      if let index = answers.firstIndex(where: { $0.at <= now }) {
        let upload = answers.remove(at: index).upload
        page.answered(
          upload, status: now < outageEnds ? answer.status : 200, retryAfter: answer.retryAfter, at: now)
        page.run(until: now)
        take()
      }
    }
    now = max(now, end)
    page.run(until: now)
    take()
  }

  mutating func setOnline(_ isOnline: Bool) { page.setOnline(isOnline, at: now) }

  mutating func setVisible(_ isVisible: Bool) {
    page.setVisible(isVisible, at: now)
    take()
  }

  mutating func hide() -> [SavedEvent] {
    let saved = page.hide(at: now)
    take()
    return saved
  }

  private mutating func take() {
    for action in page.actions {
      switch action {
      case .send(let upload, let events, let retryCount, let keepsAlive, _):
        sends.append((Double(now) / 1e6, events, retryCount, keepsAlive))
        answers.append((now + delay, upload))
      case .delivered(let events): delivered += events
      case .lost(let event, _):
        lost.append(event)
        endedAt = Double(now) / 1e6
      case .decided: break
      }
    }
    page.actions = []
  }

  var times: [Double] { sends.map(\.at) }
}

@Suite("A page with analytics-next")
struct BrowserPageTests {
  // MARK: One event

  @Test("under 503 an event is sent ten times, waits without a cap, and polls ten thousand times")
  func alwaysUnavailable() throws {
    var visit = try Visit()
    visit.track(0..<1)
    visit.run(until: 600)
    #expect(visit.times == [0, 0.1, 1.1, 3.1, 7.1, 15.1, 31.1, 63.1, 127.1, 255.1])
    #expect(visit.sends.map(\.retryCount) == [nil, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    // The recording counts 10,231 timers: nine waits and that of the load among them.
    #expect(visit.endedAt == 511.1 && visit.page.polls == 10_231 - 10)
  }

  @Test("the highest draws make each wait twice as long and each poll six times as rare")
  func highest() throws {
    var visit = try Visit(status: nil, word: .max)
    visit.track(0..<1)
    visit.run(until: 1_100)
    #expect(visit.times == [0, 0.6, 3, 7.2, 15.6, 31.8, 64.2, 128.4, 256.8, 513])
    #expect(visit.endedAt == 1025.4 && visit.page.polls == 3_427 - 10)
  }

  @Test("a 429 with Retry-After stops nothing but its event, which waits that long and counts as any failure")
  func rateLimited() throws {
    var visit = try Visit(status: 429, retryAfter: 1)
    visit.track(0..<1)
    visit.run(until: 60)
    #expect(visit.times == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    #expect(visit.endedAt == 10 && visit.page.polls == 201 - 11)
  }

  @Test("the count of 429s has a limit of its own, behind that of the event")
  func rateLimitCount() throws {
    let settings = #"{"httpConfig": {"backoffConfig": {"maxRetryCount": 100}}}"#
    var visit = try Visit(status: 429, retryAfter: 1, settings: settings)
    visit.track(0..<1)
    visit.run(until: 100)
    #expect(visit.sends.count == 11 && visit.lost == [0])
  }

  @Test(
    "with maxRetryCount 0 no event is ever sent", arguments: [BrowserOptions.Strategy.standard, .batching])
  func noRetries(strategy: BrowserOptions.Strategy) throws {
    var visit = try Visit(strategy, settings: #"{"httpConfig": {"backoffConfig": {"maxRetryCount": 0}}}"#)
    visit.track(0..<1)
    #expect(visit.sends.isEmpty && visit.lost == [0])
  }

  @Test("without a retry queue an event is sent once, and lost where the page is offline")
  func noRetryQueue() throws {
    var visit = try Visit { $0.retriesEvents = false }
    visit.track(0..<1)
    visit.run(until: 1)
    #expect(visit.times == [0] && visit.lost == [0] && visit.endedAt == 0.1)
    visit.setOnline(false)
    visit.track(1..<2, at: 2)
    #expect(visit.lost == [0, 1] && visit.sends.count == 1)
  }

  // MARK: Many events

  @Test("twelve events are twelve requests at once, and again at the first polls")
  func manyAtOnce() throws {
    var visit = try Visit()
    visit.track(0..<12)
    #expect(visit.sends.count == 12)
    visit.run(until: 0.1)
    #expect(visit.sends.suffix(12).map(\.names) == (0..<12).map { [$0] })
    #expect(visit.sends.suffix(12).allSatisfy { $0.at == 0.1 && $0.retryCount == 1 })
  }

  @Test("each failure of five events adds a polling loop")
  func loops() throws {
    var visit = try Visit()
    visit.track(0..<5)
    visit.run(until: 0.15)
    #expect(visit.page.pollingTimers == 10)
  }

  @Test("thirty events in an outage of 300 s poll about 900 times a second at its end")
  func thirtyEvents() throws {
    var visit = try Visit()
    for event in 0..<30 as Range<UInt32> { visit.track(event..<event + 1, at: Double(event) * 10) }
    visit.run(until: 299)
    let before = visit.page.polls
    visit.run(until: 300)
    #expect((800...2_500).contains(visit.page.polls - before))
  }

  @Test("an event each ten seconds, 503 for 300 s: 308 uploads, and the first five are lost")
  func outage() throws {
    var visit = try Visit()
    visit.outageEnds = 300_000_000
    for event in 0..<60 as Range<UInt32> { visit.track(event..<event + 1, at: Double(event) * 10) }
    visit.run(until: 1_200)
    #expect(visit.sends.count == 308 && visit.delivered.count == 55)
    #expect(visit.lost == [0, 1, 2, 3, 4])
  }

  @Test("many polls in vain that are drawn at once are as many as those drawn one by one")
  func leaps() {
    func polls(leaping: Bool) -> (polls: Double, firsts: [Int64]) {
      let mix: @Sendable (UInt64) -> UInt64 = { n in
        var z = n &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
      }
      var (sum, firsts): (UInt64, [Int64]) = (0, [])
      for seed in 0..<300 as Range<UInt64> {
        var page = BrowserPage(
          BrowserOptions(), BrowserSettings(published: .object([])),
          draws: BrowserDraws(
            leaps: leaping, poll: { mix(seed << 32 | UInt64($0) << 20 | $1) }, wait: { _, _ in 0 }), at: 0)
        page.track(0, at: 0)
        page.answered(1, status: 429, retryAfter: 100, at: 0)
        page.run(until: 100_000_000)
        firsts.append(page.nextTimer.map { $0 - 100_000_000 } ?? 0)
        sum += page.polls
      }
      return (Double(sum) / 300, firsts)
    }
    let (one, other) = (polls(leaping: false), polls(leaping: true))
    // 100 s are 285.7 delays of 350 ms in the mean.
    #expect(abs(one.polls - 285.7) < 2 && abs(other.polls - one.polls) < 2)
    // The rest of a delay that is met at a random time: 205 ms in the mean.
    for firsts in [one.firsts, other.firsts] {
      let mean = Double(firsts.reduce(0, +)) / 300_000
      #expect(abs(mean - 204.8) < 25, "\(mean)")
    }
  }

  // MARK: Offline, and other pages

  @Test("what is tracked offline counts as queued once and goes within 0.6 s of coming back")
  func offline() throws {
    var visit = try Visit(status: 200)
    visit.setOnline(false)
    visit.track(0..<2)
    visit.run(until: 60)
    #expect(visit.sends.isEmpty)
    visit.setOnline(true)
    visit.run(until: 61)
    #expect(visit.times == [60.1, 60.1] && visit.sends.map(\.retryCount) == [1, 1])
  }

  @Test("a page saves what is in flight, once more counted, and the next sends it one after another")
  func reload() throws {
    var visit = try Visit(after: 10)
    visit.track(0..<6)
    let saved = visit.hide()
    #expect(saved == (0..<6).map { SavedEvent(number: $0, attempts: 1) })
    var next = try Visit(status: 200, after: 0.2, saved: saved)
    next.run(until: 2)
    #expect(next.times == [0.1, 0.3, 0.5, 0.7, 0.9, 1.1])
    #expect(next.sends.allSatisfy { $0.retryCount == 1 })
  }

  @Test("a reload ends a wait that a 429 asked for")
  func reloadEndsWait() throws {
    var visit = try Visit(status: 429, retryAfter: 300)
    visit.track(0..<1)
    visit.run(until: 5)
    var next = try Visit(status: 200, saved: visit.hide())
    next.run(until: 1)
    #expect(next.times == [0.1] && next.sends[0].retryCount == 1)
  }

  @Test("a page without persistence saves nothing, nor does one that has delivered all")
  func savesNothing() throws {
    var visit = try Visit { $0.savesEvents = false }
    visit.track(0..<1)
    #expect(visit.hide() == [])
    var delivered = try Visit(status: 200)
    delivered.track(0..<1)
    delivered.run(until: 1)
    #expect(delivered.hide() == [])
  }

  @Test("a page that can't fetch its Settings sends nothing, and what it holds goes with it")
  func withoutSettings() {
    var page = BrowserPage(
      BrowserOptions(), nil, draws: BrowserDraws(leaps: false, poll: { _, _ in 0 }, wait: { _, _ in 0 }),
      at: 0)
    page.track(0, at: 0)
    page.run(until: 100_000_000)
    #expect(page.actions.isEmpty && page.held == [0] && page.hide(at: 100_000_000) == [])
  }
}

@Suite("A page with analytics-next, by batches")
struct BrowserBatchingTests {
  @Test("under 503 a buffer is sent eleven times and lost whole")
  func alwaysUnavailable() throws {
    var visit = try Visit(.batching)
    visit.track(0..<1)
    visit.run(until: 300)
    #expect(visit.times == [5, 5.45, 6.35, 8.15, 11.75, 18.95, 33.35, 62.15, 116.15, 170.15, 224.15])
    #expect(visit.endedAt == 224.15)
  }

  @Test("an event each ten seconds, 503 for 300 s: the first 23 are lost at once")
  func outage() throws {
    var visit = try Visit(.batching)
    visit.outageEnds = 300_000_000
    for event in 0..<60 as Range<UInt32> { visit.track(event..<event + 1, at: Double(event) * 10) }
    visit.run(until: 700)
    #expect(visit.lost == Array(0..<23) && visit.sends.count == 45 && visit.delivered.count == 37)
  }

  @Test("the size makes a flush, and is no limit: of 23 events ten go at once and 13 by the timer")
  func size() throws {
    var visit = try Visit(.batching, status: 200, after: 0.1)
    visit.track(0..<23)
    visit.run(until: 10)
    #expect(visit.times == [0, 5] && visit.sends.map(\.names.count) == [10, 13])
  }

  @Test("a hidden tab sends what is in its buffer, and its timer sends it once more")
  func hidden() throws {
    var visit = try Visit(.batching, status: 200)
    visit.track(0..<3)
    visit.setVisible(false)
    visit.run(until: 10)
    #expect(visit.times == [0, 5] && visit.sends.allSatisfy { $0.names == [0, 1, 2] && $0.keepsAlive })
  }

  @Test("of a flush that is under way when the page goes, the event that made it is sent twice")
  func flushingEvent() throws {
    var visit = try Visit(.batching, after: 10) { $0.size = 3 }
    visit.track(0..<3)
    let saved = visit.hide()
    #expect(saved == [SavedEvent(number: 2, attempts: 1)])
    var next = try Visit(.batching, status: 200, saved: saved) { $0.size = 3 }
    next.run(until: 10)
    #expect(next.times == [5.1] && next.sends[0].names == [2])
  }

  @Test("a timer that runs is not replaced by a Retry-After, which is used for a later failure")
  func leftOver() throws {
    var visit = try Visit(.batching, status: 429, retryAfter: 300, after: 1) { $0.size = 2 }
    visit.track(0..<2)
    visit.run(until: 5.5)
    #expect(visit.times == [0, 5] && visit.sends[1].retryCount == 1)
  }

  @Test("the sum of the waits has a limit: total 130 s, waits of 60 s, three uploads")
  func sumOfWaits() throws {
    let settings = """
      {"httpConfig": {"backoffConfig": {"baseBackoffInterval": 60, "maxBackoffInterval": 60,
        "maxTotalBackoffDuration": 130, "jitterPercent": 0, "maxRetryCount": 6}}}
      """
    var visit = try Visit(.batching, settings: settings) { $0.size = 1 }
    visit.track(0..<1)
    visit.run(until: 1_000)
    #expect(visit.times.count == 3 && visit.lost == [0])
  }
}

@Suite("Settings of analytics-next")
struct BrowserSettingsTests {
  @Test(
    "a count is whatever JavaScript makes of it, between 0 and 100",
    arguments: [
      ("0", 0.0), ("101", 100), ("-1", 0), ("2.5", 2.5), (#""3""#, 3), (#""""#, 0), (#""x""#, .nan),
      ("null", 10), ("true", 1), ("[]", 0), ("[4]", 4), ("{}", .nan),
    ])
  func count(json: String, count: Double) throws {
    let published = try settings(#"{"httpConfig": {"backoffConfig": {"maxRetryCount": \#(json)}}}"#)
    let read = BrowserSettings(published: published).retryCount
    #expect(read == count || read.isNaN && count.isNaN)
  }

  @Test("the CDN's fields go before the page's, which count only where the CDN names the integration")
  func layers() throws {
    let page = try settings(#"{"rateLimitConfig": {"maxRetryCount": 4, "maxRetryInterval": 7}}"#)
    let named = try settings(
      #"{"integrations": {"Segment.io": {"httpConfig": {"rateLimitConfig": {"maxRetryInterval": 9}}}}}"#)
    let both = BrowserSettings(published: named, page: page)
    #expect(both.rateLimitRetryCount == 4 && both.maxRetryInterval == 9)
    let other = BrowserSettings(published: try settings(#"{"integrations": {}}"#), page: page)
    #expect(other.rateLimitRetryCount == 10 && other.maxRetryInterval == 300)
  }

  @Test(
    "Retry-After is what parseInt makes of it, between 0 and the longest, at a 429 only",
    arguments: [
      ("0", 0.0), ("7", 7), ("301", 300), ("007", 7), ("+30", 30), ("-5", 0), (" 7 ", 7), ("1.5", 1),
      ("1e2", 1), ("0x10", 0), ("30s", 30), ("5, 10", 5), ("99999999999999999999", 300),
      ("2026-01-01T00:01:40Z", 300),
    ])
  func retryAfter(header: String, seconds: Double) {
    let settings = BrowserSettings(published: .object([]))
    let read = BrowserSettings.seconds(ofRetryAfter: header)
    #expect(settings.verdict(status: 429, retryAfter: read) == .wait(seconds))
    #expect(settings.verdict(status: 503, retryAfter: read) == .retry)
  }

  @Test(
    "what begins with no number is no Retry-After",
    arguments: ["", ".5", "soon", "Thu, 01 Jan 2026 00:01:40 GMT", "Infinity"])
  func noRetryAfter(header: String) {
    #expect(BrowserSettings.seconds(ofRetryAfter: header) == nil)
  }

  @Test("every status leads to what was recorded")
  func statuses() {
    let settings = BrowserSettings(published: .object([]))
    let retried = Set([408, 410, 429, 460, 500, 502, 503, 504] + Array(506...510) + Array(512...600) + [700])
    for status in [100] + Array(199...600) + [700] {
      let verdict = settings.verdict(status: status, retryAfter: nil)
      #expect(verdict == (status < 400 ? .delivered : retried.contains(status) ? .retry : .drop), "\(status)")
    }
  }

  @Test("an HTTPConfig of these Settings leads back to the same answers")
  func config() throws {
    let published = try settings(
      #"{"httpConfig": {"backoffConfig": {"maxRetryCount": 3, "statusCodeOverrides": {"503": "drop", "413": "retry"}}}}"#
    )
    let config = SettingsDialect.analyticsNext.decode(published).config
    let (before, after) = (BrowserSettings(published: published), BrowserSettings(config))
    for status in 100...599 {
      #expect(
        before.verdict(status: status, retryAfter: nil) == after.verdict(status: status, retryAfter: nil))
    }
    #expect(after.retryCount == 3 && after.maxRetryInterval == 300)
  }
}
