import FleetMetrics
import TestSupport
import Testing

@Suite("Stored summaries")
struct StoredSummaryTests {
  private static func text(_ summary: RunSummary) -> [UInt8] {
    var writer = StoredLines.Writer()
    StoredSummary.write(summary, to: &writer)
    return writer.bytes
  }

  private static func summary(_ text: [UInt8]) throws(StoredRecord.Problem) -> RunSummary {
    var reader = StoredLines.Reader(text[...])
    let summary = try StoredSummary.read(&reader)
    try reader.end()
    return summary
  }

  /// One with a value for everything that may have none.
  private static let full: RunSummary = {
    var summary = RunSummary(run: "", seed: 5)
    summary.devices = 10
    (summary.amplification, summary.peakOfferedRatio, summary.herdFactor) = (1.25, 3, 2.5)
    (summary.excessLoadSeconds, summary.idleWhileBackloggedSeconds) = (0.1, 7)
    (summary.recoveryTime, summary.drainedTime, summary.healthyTime, summary.possibleTime) = (1, 2, 3, 4)
    (summary.hasIncidents, summary.recoveryHorizon) = (true, 9)
    (summary.affectedDeliveryP50, summary.affectedDeliveryP90, summary.affectedDeliveryP99) = (1, 2, 3)
    (summary.idealDeliveryP50, summary.idealDeliveryP90, summary.idealDeliveryP99) = (1, 2, 3)
    (summary.timeToDeliveryMean, summary.timeToDeliveryP50, summary.timeToDeliveryP90) = (1.5, 1, 2)
    (summary.timeToDeliveryP95, summary.timeToDeliveryP99, summary.timeToDeliveryP999) = (3, 4, 5)
    summary.timeToDeliveryMax = 6
    summary.baseline.givenUp = [.droppedByAge: 3]
    summary.cohorts = [CohortLosses(), CohortLosses()]
    summary.cohorts[1].givenUp = [.droppedByOverflow: 4]
    return summary
  }()

  @Test("a summary of any numbers comes back as it was")
  func roundTrip() throws {
    #expect(try Self.summary(Self.text(Self.full)) == Self.full)
    let empty = RunSummary(run: "", seed: .max)
    #expect(try Self.summary(Self.text(empty)) == empty)
    let lines = String(decoding: Self.text(Self.full), as: UTF8.self).split(separator: "\n")
    for seed in 1...50 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      var text = ""
      for line in lines {
        let words = line.split(separator: " ")
        // Flags, and what says how long the rest is.
        let isFixed = words.count != 2 || words[1].contains("*") || words[0] == "hasIncidents"
        let value = [Int64.min, .max, -1, .random(in: -1_000...1_000_000, using: &random)]
          .randomElement(using: &random)!
        text += isFixed || words[0] == "baseline.grows" ? line + "\n" : "\(words[0]) \(value)\n"
      }
      #expect(Self.text(try Self.summary(Array(text.utf8))) == Array(text.utf8), "seed \(seed)")
    }
  }

  /// A property that the text does not hold would be lost in a journal, and no other test would see it.
  @Test("every stored property of a summary is written")
  func completeness() {
    func properties(_ value: Any) -> Set<String> {
      Set(Mirror(reflecting: value).children.compactMap(\.label))
    }
    let text = String(decoding: Self.text(Self.full), as: UTF8.self)
    let names = Set(text.split(separator: "\n").map { String($0.prefix { $0 != " " && $0 != "." }) })
    // Whoever asks knows the variant's name and the scale.
    #expect(names == properties(Self.full).subtracting(["run", "scale"]))
    #expect(
      text.split(separator: "\n").count { $0.hasPrefix("cost.") }
        == DeviceFigure.allCases.reduce(0) { $0 + ($1.isShare ? 1 : 2) })
    #expect(properties(Self.full.cost).count == 2)
    #expect(properties(BaselineHealth()) == ["grows", "createdEvents", "lostEvents", "givenUp"])
    #expect(properties(CohortLosses()) == ["createdEvents", "lostEvents", "givenUp", "late"])
    #expect(properties(IncidentSpan(label: "", isOutage: false, start: 0, end: 0)).count == 4)
  }

  @Test("a line of equal numbers costs a few bytes however long it is")
  func compactness() {
    func bytes(_ count: Int) -> Int {
      var writer = StoredLines.Writer()
      writer.line("retries", repeatElement(0, count: count))
      return writer.bytes.count
    }
    #expect(bytes(100_000) - bytes(10) < 5)
  }

  @Test("text that is cut or changed anywhere is refused or is another summary, and never traps")
  func damage() {
    var random = SeededGenerator(seed: 7)
    let bytes = Self.text(Self.full)
    for _ in 0..<400 {
      var damaged = bytes
      let place = Int.random(in: damaged.indices, using: &random)
      if Bool.random(using: &random) {
        damaged = Array(damaged[..<place])
      } else {
        damaged[place] = UInt8.random(in: .min ... .max, using: &random)
      }
      if damaged != bytes { #expect((try? Self.summary(damaged)) != Self.full) }
    }
  }

  @Test(
    "a problem names the line that is wrong",
    arguments: [
      ("devices 10", "devices 99999999999999999999", "'devices' has a broken number"),
      ("devices 10", "devices", "'devices' has values that there cannot be"),
      ("devices 10", "gadgets 10", "'devices' is expected, 'gadgets' is there"),
      ("hasIncidents 1", "hasIncidents 2", "'hasIncidents' has values that there cannot be"),
      (
        "duration 0", "duration 0*1000001",
        "'duration' has more than 1000000 values, or one that is no whole number"
      ),
      ("duration 0", "duration -", "'duration' has a broken number"),
      (
        "duration 0", "duration 0*-2",
        "'duration' has more than 1000000 values, or one that is no whole number"
      ),
      ("duration 0", "duration 0\nmore 1", "'totals' is expected, 'more' is there"),
    ])
  func problems(line: String, replacement: String, message: String) throws {
    let text = String(decoding: Self.text(Self.full), as: UTF8.self)
    #expect(text.contains("\n\(line)\n"))
    let changed = Array(text.replacing("\n\(line)\n", with: "\n\(replacement)\n").utf8)
    #expect(throws: StoredRecord.Problem(description: message)) { try Self.summary(changed) }
    #expect(throws: StoredRecord.Problem(description: "there is something behind the last line")) {
      try Self.summary(Array((text + "more 1\n").utf8))
    }
  }
}
