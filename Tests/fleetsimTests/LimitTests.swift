import CommandLineInterface
import FleetExperiments
import FleetMetrics
import ScenarioFormat
import Testing

/// The least or greatest value of a key that keeps a limit.
@Suite("Limits of keys")
struct LimitTests {
  private static let scenario = Result {
    try ScenarioFile(text: Scenarios.small, name: "s") { _ in "" }.decode().scenario.with(seed: 1)
  }

  /// Searches a range; `run` says what a run with a value, spans in seconds, and a seed comes to.
  private func search(
    _ range: String, _ requirement: String = "lost = 0",
    meaning: @escaping @Sendable (Quantity) -> String? = { _ in nil },
    run: @escaping (_ value: Int, inout RunSummary) throws -> Void
  ) throws -> LimitSearch {
    var search = try LimitSearch(
      QuantityRange(range), requirements: [Requirement(requirement)], seeds: LimitSearch.defaultSeeds)
    search.meaning = meaning
    try search.run(
      { text in
        var scenario = try Self.scenario.get()
        scenario.fleet[0].devices = Int(Quantity(text)!.baseValue)
        return scenario
      },
      { scenarios in
        try scenarios.map { scenario in
          var summary = RunSummary(run: "", seed: scenario.seed)
          try run(scenario.fleet[0].devices, &summary)
          return summary
        }
      })
    return search
  }

  /// Of whole numbers with which a seed keeps the limit or not, as `isMet` says.
  private func search(
    _ range: ClosedRange<Int>, isMet: @escaping (_ value: Int, _ seed: UInt64) -> Bool
  ) throws -> LimitSearch {
    try search("key=\(range.lowerBound)..\(range.upperBound)") { value, run in
      run.cohorts = [CohortLosses()]
      if isMet(value, run.seed) { return }
      (run[.droppedByAge], run.cohorts[0].givenUp) = (1, [.droppedByAge: 1])
    }
  }

  @Test(
    "finds what brute force finds where each value fails in a share of its runs that falls along the range")
  func bruteForce() throws {
    for problem in 0..<200 {
      let (width, threshold) = (10 + problem % 50, 1 + (problem * 7) % (9 + problem % 50))
      let isRising = problem % 2 == 0
      func meets(_ value: Int, _ seed: UInt64) -> Bool {
        // A seed needs the threshold or up to three steps more.
        let needed = threshold + Int((seed &* 0x9E37_79B9_7F4A_7C15) >> 62)
        return isRising ? value >= needed : width - value >= needed
      }
      let found = try search(0...width) { meets($0, $1) }
      let good = (0...width).filter { value in (1...59).allSatisfy { meets(value, UInt64($0)) } }
      let best = isRising ? good.min() : good.max()
      #expect(found.answer.map { Int($0.value.value) } == best, "problem \(problem)")
      #expect(found.answer == nil || (found.isLeast == isRising && found.answer!.seeds == 59))
      #expect(found.beyond == nil || (!found.beyond!.holds && found.beyond!.seeds == 59))
    }
  }

  @Test("no value that is printed alike is looked at twice; a run that ends too soon is no limit")
  func printedAlike() throws {
    let spans = try search("key=1s..60s") { value, run in
      (run.hasIncidents, run.recoveryHorizon) = (true, value >= 31 ? nil : 1)
      run.recoveryTime = 1
    }
    #expect(Set(spans.points.map { $0.value.text() }).count == spans.points.count)
    #expect(
      spans.story.finding
        == "30 s is the greatest key of which so short a run shows that it keeps lost = 0")
  }

  @Test("a range in which all values do is confirmed at both ends; where none does, that is said")
  func noEdge() throws {
    let all = try search(10...40) { _, _ in true }
    #expect(all.allHold && all.answer == nil && all.points.first!.seeds == 59 && all.points.last!.seeds == 59)
    #expect(all.story[.reason] == ["40: all 59 runs keep it; up to 5 % of such may not (95 % confidence)"])
    let none = try search(10...40) { value, seed in value >= 30 && seed % 2 == 0 }
    #expect(
      none.answer == nil && !none.allHold && none.story.finding == "No key from 10 to 40 keeps lost = 0")
  }

  @Test(
    "where only the middle of the range does, the least value is the answer and what is too much is named")
  func middle() throws {
    let found = try search(0...64) { value, _ in (20...40).contains(value) }
    #expect(found.answer?.value.value == 20 && found.isLeast)
    #expect(found.story[.fails].count == 2)
    #expect(found.story[.fails].allSatisfy { $0.hasSuffix("maxTotalBackoffDuration reached)") })
  }

  @Test("the answer and its neighbour that fails lie at most a hundredth of the answer apart")
  func precision() throws {
    for threshold in [1, 7, 100, 999, 5_000] {
      let found = try search(0...10_000) { value, _ in value >= threshold }
      let (answer, beyond) = (try #require(found.answer), try #require(found.beyond))
      let step = 10_000.0 / 1_024
      #expect(answer.value.value >= Double(threshold) && beyond.value.value < Double(threshold))
      #expect(answer.value.value - beyond.value.value <= max(answer.value.value / 100, step + 1))
    }
    // Spans are tried as they are printed.
    let spans = try search("key=1s..60s") { seconds, run in
      if seconds > 20 { (run[.droppedByAge], run.cohorts) = (1, [CohortLosses()]) }
    }
    #expect(spans.answer?.value.words == "20 s" && spans.beyond?.value.words == "21 s")
  }

  @Test("the verdict names the reason for which the neighbour fails, and a campaign's pace")
  func reasonAndPace() throws {
    let found = try search(
      "push.0.over=0s..60m", "peak_offered_ratio <= 100%",
      meaning: { "\(Int(6_000 / ($0.value / 60e6))) a minute" },
      run: { $1.peakOfferedRatio = $0 >= 1_800 ? 0.9 : 1.25 })
    #expect(found.answer?.value.words == "30 min" && found.isLeast)
    let story = found.story
    #expect(story.finding == "30 min is the least push.0.over that keeps peak_offered_ratio <= 100%")
    #expect(story[.note].contains("200 a minute"))
    #expect(story[.fails].first?.hasSuffix("59 of 59 runs do not (peak_offered_ratio 1.25)") ?? false)
  }

  @Test("stopped before its first run is there it says nothing")
  func stopped() {
    #expect(LimitSearch.defaultSeeds == 59)
    #expect(throws: CancellationError.self) { try search("key=0..64") { _, _ in throw CancellationError() } }
  }

  // MARK: As a user runs it

  @Test("the longest incident that is stood is that of single runs, with one worker or two")
  func incident() throws {
    // Clients that give up soon.
    let scratch = try Scratch.with(
      Scenarios.scenario(devices: 20).replacing(
        "retries:", with: #"settings: { backoffConfig: { maxRetryCount: 6 } }, timeout: "10s", retries:"#))
    let command = ["limit", "s.json5", "--incident", "silence", "--require", "lost = 0", "--seeds", "2"]
    for jobs in ["1", "2"] {
      try scratch.run(command + ["--jobs", jobs, "--out", "out" + jobs], code: 0, says: "")
    }
    #expect(try scratch.text("out1/limit.csv") == scratch.text("out2/limit.csv"))
    let rows = try scratch.records("out1/limit.csv")
    let answer = try #require(rows.first { $0["is_answer"] == "true" })
    #expect(answer["key"] == "length of silence" && answer["met_seeds"] == "2")
    let beyond = try #require(rows.first { $0["met_seeds"] != $0["seeds"] })
    // The fleet's rate does not vary, so that an incident begins behind a warm-up of 15 min.
    for (row, loses) in [(answer, false), (beyond, true)] {
      let incident =
        "tapi.incidents=[{ kind: \"outage\", at: \"15m\", for: \"\(row["value"]!)\", status: \"none\" }]"
      let codes = try ["1", "2"].map { seed in
        try scratch.run(
          "run s.json5 --set duration=8h --seed \(seed)", ["--set", incident, "--require", "lost = 0"]
        ).code
      }
      #expect(codes.contains(1) == loses, "\(row)")
    }
  }

  @Test("an action is a key as any other")
  func action() throws {
    let action = "actions=[{ kind: \"capacity\", at: \"7m\", for: \"10m\", factor: \"100%\" }]"
    let output = try Scratch.with().run(
      "limit s.json5 --key actions.0.factor=100%..800% --seeds 2",
      ["--require", "recovery <= 10m", "--set", action], code: 0)
    #expect(output.standardOutput.contains(" is the least actions.0.factor "), "\(output)")
  }
}
