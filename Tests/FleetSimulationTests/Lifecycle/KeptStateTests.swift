import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing
import UploadRetry

/// S18: what a client that keeps its retry state does after a restart, and one that forgets, worked out by hand
/// (see `LifecycleFleet`). One batch, flushed at 0; waits of 8, 16, 32, 64 s.
@Suite struct KeptStateTests {
  private typealias Loss = LifecycleFleet.Loss

  @Test(
    "With persisted state a restart changes no wait and no count",
    arguments: [true, false], [QueuePolicy.Mode.files, .rebatch])
  func persisted(flushesAtLaunch: Bool, mode: QueuePolicy.Mode) throws {
    // 503 until 100. Sent at 0, heard of at 0.2; +8: 8.2, 8.4; +16: 24.4, 24.6; +32: 56.6, 56.8; +64: 120.8. The launch at 30
    // finds nothing due, trigger or not; neither does it matter whether the batch waits or, with one record, the client.
    var fleet = LifecycleFleet(mode: mode, incidents: [.outage(0, until: 100)])
    fleet.lifecycle = .at(30, flushesAtLaunch: flushesAtLaunch)
    let story = try fleet.story()
    #expect(story.sent == [0, 8.2, 24.4, 56.6, 120.8])
    #expect(story.retryCounts == [0, 1, 2, 3, 4])
    #expect(story.delivered == 1)
  }

  @Test(
    "With state in memory a restart makes the batch due, and its waits and counts start over",
    arguments: [QueuePolicy.Mode.files, .rebatch])
  func inMemory(mode: QueuePolicy.Mode) throws {
    // As above until 24.4; the launch at 30 sends: heard of at 30.2; +8: 38.2, 38.4; +16: 54.4, 54.6; +32: 86.6,
    // 86.8; +64: 150.8.
    var fleet = LifecycleFleet(mode: mode, incidents: [.outage(0, until: 100)])
    fleet.lifecycle = .at(30, keepsState: false)
    let story = try fleet.story()
    #expect(story.sent == [0, 8.2, 24.4, 30, 38.2, 54.4, 86.6, 150.8])
    #expect(story.retryCounts == [0, 1, 2, 0, 1, 2, 3, 4])
    #expect(story.delivered == 1)
  }

  @Test(
    "In gate mode a forgotten batch is due at the launch only if that is a trigger, else at the next flush")
  func inMemoryAtTheGate() throws {
    // 503 until 25, flushes at 0, 20, 40: sent at 0 and, its wait of 8 s over, at 20; then it waits until
    // 20.2 + 16 = 36.2. The launch at 30 moves the flushes to 50, 70 ….
    var fleet = LifecycleFleet(duration: 80, retries: .gate, incidents: [.outage(0, until: 25)])
    fleet.flush.interval = .seconds(20)
    fleet.lifecycle = .at(30, keepsState: false, flushesAtLaunch: true)
    #expect(try fleet.story().sent == [0, 20, 30])
    fleet.lifecycle?.flushesAtLaunch = false
    #expect(try fleet.story().sent == [0, 20, 50])
    fleet.lifecycle = .at(30, flushesAtLaunch: true)
    #expect(try fleet.story().sent == [0, 20, 50])
  }

  @Test("The pipeline's wait after a 429 outlives a restart with persisted state only")
  func gate() throws {
    // 429 with Retry-After 60 s until 50. Heard of at 0.2, so nothing leaves before 60.2. Forgetting, the launch
    // at 20 sends, hears at 20.2 and waits until 80.2. X-Retry-Count is the global count, forgotten as well.
    var fleet = LifecycleFleet(
      incidents: [.outage(0, until: 50, status: 429, retryAfter: .fixed(.seconds(60)))])
    fleet.lifecycle = .at(20, flushesAtLaunch: true)
    var story = try fleet.story()
    #expect(story.sent == [0, 60.2])
    #expect(story.retryCounts == [0, 1])
    fleet.lifecycle?.keepsState = false
    story = try fleet.story()
    #expect(story.sent == [0, 20, 80.2])
    #expect(story.retryCounts == [0, 0, 1])
  }

  @Test("The age since the first failure outlives a restart with persisted state only")
  func age() throws {
    // At most 60 s since the first failure, known at 0.2; 503 until 100, a restart at 70. Persisted: 56.4 s at 56.6, sent;
    // 120.6 s at 120.8, dropped. In memory: sent at 70, heard of at 70.2, then 78.2, 94.4, 126.6 (56.4 s old).
    var fleet = LifecycleFleet(incidents: [.outage(0, until: 100)])
    fleet.settings.backoff.maxTotalBackoffDuration = 60_000_000
    fleet.lifecycle = .at(70)
    var story = try fleet.story()
    #expect(story.sent == [0, 8.2, 24.4, 56.6])
    #expect(story.losses == [Loss(time: 120.8, reason: .limit(.age))])
    fleet.lifecycle?.keepsState = false
    story = try fleet.story()
    #expect(story.sent == [0, 8.2, 24.4, 56.6, 70, 78.2, 94.4, 126.6])
    #expect(story.losses == [])
    #expect(story.delivered == 1)
  }

  @Test("A retry that was under way at the kill is due at the launch, with its counts as they were before it")
  func killedRetry() throws {
    // 503 until 20. The second upload leaves at 8.2 and the app is killed at 8.3: it never hears the answer. The launch sends
    // again, still the first retry; the second failure is known at 8.5, its wait is 16 s: 24.5.
    var fleet = LifecycleFleet(incidents: [.outage(0, until: 20)])
    fleet.lifecycle = Lifecycle(
      synchronised: [.init(time: Instant(microseconds: 8_300_000))], flushesAtLaunch: false)
    let story = try fleet.story()
    #expect(story.sent == [0, 8.2, 8.3, 24.5])
    #expect(story.retryCounts == [0, 1, 1, 2])
    #expect(story.delivered == 1 && story.duplicates == 0)
  }

  @Test("A kept wait that is longer than the launch's Settings allow is cut to their cap")
  func clampedWait() throws {
    // First wait 60 s: until 60.2. Settings published meanwhile allow 10 s; a launch at 20 waits until 30, not 60.2.
    var fleet = LifecycleFleet(settings: LifecycleFleet.backoff(from: 60), incidents: [.outage(0, until: 10)])
    var shorter = LifecycleFleet.backoff(from: 1)
    shorter.backoff.maxBackoffInterval = 10_000_000
    fleet.rollout = SettingsRollout(time: .second(5), settings: shorter)
    fleet.lifecycle = .at(20)
    #expect(try fleet.story().sent == [0, 30])
    // The same for the pipeline: 429 with Retry-After 100 s; the new Settings allow 10 s.
    fleet.incidents = [.outage(0, until: 10, status: 429, retryAfter: .fixed(.seconds(100)))]
    shorter.rateLimit.maxRetryInterval = 10_000_000
    fleet.rollout = SettingsRollout(time: .second(5), settings: shorter)
    #expect(try fleet.story().sent == [0, 30])
  }

  @Test("What waits when Settings switch the backoff off is tried at the next trigger, in timer mode too")
  func legacyAtLaunch() throws {
    // Flushes at 0, 20; the first wait ends at 60.2. A launch at 25 finds the backoff off: the flush at 45 sends (S15).
    var fleet = LifecycleFleet(settings: LifecycleFleet.backoff(from: 60), incidents: [.outage(0, until: 10)])
    fleet.flush.interval = .seconds(20)
    var off = fleet.settings
    off.backoff.isEnabled = false
    fleet.rollout = SettingsRollout(time: .second(5), settings: off)
    fleet.lifecycle = .at(25)
    #expect(try fleet.story().sent == [0, 45])
  }
}
