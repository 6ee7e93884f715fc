import FleetReports
import Testing

@Suite("Formatting for people")
struct FormattingTests {
  @Test("A wide table shortens names, but never so far that two of them read the same")
  func shortening() {
    func names(_ names: [String]) -> [Substring] {
      let table = TextTable(
        header: ["name", "value"],
        rows: names.map { [$0, String(repeating: "1", count: 30)] })
      return table.terminal(width: 40).split(separator: "\n").dropFirst().map { $0.prefix { $0 != " " } }
    }
    #expect(names(["a-long-name", "another-name"]) == ["a-lo…ame", "anot…ame"])
    let alike = ["gate&50000/s", "gate&10000/s", "time&50000/s", "time&10000/s"]
    #expect(Set(names(alike)).count == 4)
  }

  @Test("Ticks are round numbers that fill the axis", arguments: [0.001, 0.7, 1, 3, 14_000, 1.25e6, 9.99e15])
  func ticks(limit: Double) {
    let ticks = Axis.ticks(upTo: limit, count: 4)
    #expect(ticks[0].value == 0 && ticks.count >= 2 && ticks.count <= 5)
    #expect(ticks.last!.value <= limit * 1.001 && ticks.last!.value > limit * 0.35)
  }

  @Test("Time ticks share a unit that fits the run, which the axis's title names")
  func timeTicks() {
    func axis(_ seconds: Double) -> Axis { .time(0...seconds * 1e6, "of the run") }
    func labels(_ seconds: Double) -> [String] { axis(seconds).ticks(12).map(\.label) }
    #expect(labels(60).prefix(3) == ["0", "5", "10"] && axis(60).title == "seconds of the run")
    #expect(labels(7_200).prefix(3) == ["0", "10", "20"] && axis(7_200).title == "minutes of the run")
    #expect(labels(86_400).suffix(2) == ["22", "24"] && axis(86_400).title == "hours of the run")
    #expect(labels(30 * 86_400).prefix(2) == ["0", "5"] && axis(30 * 86_400).title == "days of the run")
    for seconds in [0, 1, 59, 3_601, 10_801, 432_001, 366 * 86_400] as [Double] {
      #expect(labels(seconds).count <= 13)
    }
    #expect(Axis.time(-60e6...120e6, "").ticks(4).map(\.label) == ["−60", "0", "60", "120"])
  }
}
