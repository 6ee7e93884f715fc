import FleetExperiments
import FleetMetrics
import Testing

/// Stories in the order of Definitions.md: each says who should win, why, and what the sentence
/// has to admit.
@Suite("The verdict")
struct VerdictTests {
  static let second: Int64 = 1_000_000

  /// A run that recovers after `recovery` seconds, with nothing lost.
  func run(
    _ name: String, recovery: Int64? = 300, lost: Int64 = 0, p99: Int64 = 600, attempts: Double = 100,
    healthy: Bool = true, incidents: Bool = true
  ) -> RunSummary {
    var run = RunSummary(run: name, seed: 1)
    run.hasIncidents = incidents
    run.recoveryTime = recovery.map { $0 * Self.second }
    run[.droppedByRetryLimit] = lost
    run.timeToDeliveryP99 = p99 * Self.second
    run.attemptsPerDeviceDay = attempts
    run.baselineIsHealthy = healthy
    return run
  }

  func sentence(_ runs: RunSummary...) -> String { Verdict.sentence(runs, interval: Self.second) }

  @Test("a fleet that does not hold without incidents is said first, and nothing is ranked")
  func unhealthy() {
    #expect(
      sentence(run("full", healthy: false), run("none", recovery: 1, healthy: false))
        == "This fleet does not hold even without any incident: its backlog or time to delivery grows over the run, "
        + "so there is nothing to bring back and nothing to compare (one seed, 1).")
  }

  @Test("one variant without a healthy twin is named first and ranked behind, however fast it seems")
  func oneUnhealthy() {
    #expect(
      sentence(run("1000/s", recovery: 1, healthy: false), run("4000/s", recovery: 400))
        == "With 1000/s this fleet does not hold even without any incident: its backlog or time to delivery grows over "
        + "the run; 4000/s brings the fleet back best: it alone keeps the fleet healthy without incidents "
        + "(one seed, 1).")
  }

  @Test("who never recovers is behind who does, whatever was lost on the way")
  func recovery() {
    #expect(
      sentence(run("none", recovery: nil), run("full", recovery: 1_845, lost: 12))
        == "full brings the fleet back best: it alone recovers, 30 min 45 s after the last incident (one seed, 1)."
    )
  }

  @Test("losing events is worse than any recovery time: dropping the backlog is not recovering fast")
  func losses() {
    #expect(
      sentence(run("dropper", recovery: 10, lost: 1_234_567), run("full", recovery: 900))
        == "full brings the fleet back best: it loses no events, dropper (next) 1,234,567, and recovers 15 min after "
        + "the last incident (one seed, 1).")
  }

  @Test("the recovery time decides among equals, and who never recovers is still named")
  func recoveryTime() {
    #expect(
      sentence(
        run("none", recovery: nil), run("additive:10", recovery: 500), run("full", recovery: 312, p99: 425))
        == "full brings the fleet back best: it recovers 5 min 12 s after the last incident, additive:10 (next) after "
        + "8 min 20 s; no events lost, p99 time to delivery 7 min 05 s; none never recovers (one seed, 1).")
  }

  @Test("the p99 of time to delivery decides when recovery does not")
  func timeToDelivery() {
    #expect(
      sentence(run("equal", recovery: 301, p99: 700), run("full", recovery: 300, p99: 600))
        == "full brings the fleet back best: its p99 time to delivery is 10 min, equal (next) 11 min 40 s, with nothing "
        + "between them in losses and recovery (one seed, 1).")
  }

  @Test("attempts per device decide last")
  func attempts() {
    #expect(
      sentence(run("equal", attempts: 140), run("full", attempts: 1_100.25))
        == "equal brings the fleet back best: it needs 140.0 attempts per device and day, full (next) 1,100.3, with "
        + "nothing else between them (one seed, 1).")
  }

  @Test("within 2 % everywhere there is no winner: one seed cannot show more")
  func tie() {
    #expect(
      sentence(run("full", recovery: 300), run("equal", recovery: 304), run("decorrelated", recovery: 306))
        == "No difference that one seed can show between full, equal and decorrelated: they recover 5 min to 5 min 06 s "
        + "after the last incident (one seed, 1).")
  }

  @Test(
    "recovery times within one interval are alike, however short they are",
    arguments: [(10, true), (1, false)])
  func interval(intervalSeconds: Int64, isTie: Bool) {
    let runs = [run("full", recovery: 20), run("equal", recovery: 28)]
    let sentence = Verdict.sentence(runs, interval: intervalSeconds * Self.second)
    #expect(sentence.hasPrefix("No difference") == isTie, "\(sentence)")
  }

  @Test("a tie at the top still says who lost events and who is behind")
  func partialTie() {
    #expect(
      sentence(
        run("none", recovery: nil), run("additive:10", lost: 7), run("full", recovery: 100),
        run("equal", recovery: 101), run("decorrelated", recovery: 150))
        == "No difference that one seed can show between full and equal: they recover 1 min 40 s to 1 min 41 s after the "
        + "last incident; decorrelated is behind; none never recovers; additive:10 loses more events (one seed, 1)."
    )
  }

  @Test("if nobody recovers, that is said before who is least bad")
  func nobodyRecovers() {
    #expect(
      sentence(run("none", recovery: nil, lost: 10), run("full", recovery: nil, lost: 2))
        == "No variant recovers within the run; of these full does best: it loses 2 events, none (next) "
        + "10 (one seed, 1).")
  }

  @Test("the herd factor never counts")
  func herdFactor() {
    var idle = run("idle", recovery: 900)
    idle.herdFactor = 0.5
    var busy = run("busy", recovery: 300)
    busy.herdFactor = 9
    #expect(sentence(idle, busy).hasPrefix("busy brings the fleet back best"))
  }

  @Test("events accepted after their client dropped them are not lost")
  func acceptedAfterDrop() {
    var full = run("full", recovery: 300, lost: 5)
    full[.acceptedAfterDropEvents] = 5
    #expect(
      sentence(full, run("none", recovery: 900)).hasPrefix("full brings the fleet back best: it recovers"))
  }

  @Test("without incidents nothing is brought back")
  func noIncidents() {
    #expect(
      sentence(
        run("gate", recovery: nil, p99: 90, incidents: false),
        run("timer", recovery: nil, p99: 30, incidents: false))
        == "timer does best: its p99 time to delivery is 30 s, gate (next) 1 min 30 s, with nothing between them in "
        + "losses (one seed, 1).")
  }

  @Test("a single run says whether it recovers, what it lost and how late events come")
  func single() {
    #expect(
      sentence(run("plain", recovery: 312, lost: 1))
        == "The fleet recovers 5 min 12 s after the last incident; 1 event lost; p99 time to delivery 10 min "
        + "(one seed, 1).")
    var never = run("plain", recovery: nil)
    never[.backlogEvents] = 12_000
    #expect(
      sentence(never)
        == "The fleet never recovers from the last incident within the run; no events lost; p99 time to delivery 10 min, "
        + "12,000 events still undelivered at the end (one seed, 1).")
    #expect(
      sentence(run("plain", recovery: nil, incidents: false))
        == "No incident to recover from; no events lost; p99 time to delivery 10 min (one seed, 1).")
    #expect(
      sentence(run("plain", recovery: 3, healthy: false)).hasPrefix(
        "This fleet does not hold even without any incident"))
  }

  @Test("the order of the variants changes nothing but the order of names in a tie")
  func orderIndependent() {
    let runs = [
      run("a", recovery: nil), run("b", lost: 7), run("c", recovery: 100), run("d", recovery: 180, p99: 1),
    ]
    let expected = Verdict.sentence(runs, interval: Self.second)
    #expect(expected.hasPrefix("c brings the fleet back best"))
    #expect(Verdict.sentence(runs.reversed(), interval: Self.second) == expected)
  }
}
