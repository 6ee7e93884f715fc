import ScenarioFormat
import Testing

@Suite("What a bad scenario is told")
struct MessageTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var input: String
    var expected: [String]
    var testDescription: String { input }
  }

  static func cases(_ text: String) -> [Case] {
    text.split(separator: "\n").reduce(into: []) { cases, line in
      if line.hasPrefix("  ") {
        cases[cases.count - 1].expected.append(String(line.dropFirst(2)))
      } else {
        cases.append(Case(input: String(line), expected: []))
      }
    }
  }

  private func check(_ test: Case) {
    let parts = test.input.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(
      String.init)
    var text = ScenarioText()
    var overrides: [Override] = []
    switch parts[0] {
    case "server": text.bucket = parts[1]
    case "tapi": text.tapi = parts[1]
    case "duration": text.duration = parts[1]
    case "top": text.top = parts[1]
    case "cohort":
      text.cohort = parts[1].hasPrefix("+") ? "\(text.cohort), \(parts[1].dropFirst())" : parts[1]
    case "--set":
      let pair = parts[1].split(separator: "=", maxSplits: 1).map(String.init)
      overrides = [Override(path: pair[0], value: pair[1])]
    default: Issue.record("what is \(parts[0])?")
    }
    let files = ["a.json": "{}", "b.json": "[1]", "c.json": "{\n \"a\":"]
    let messages = text.messages(overrides: overrides, files: files)
    #expect(messages.map { $0.replacing("s.json5:", with: "") } == test.expected)
  }

  @Test("about the server", arguments: cases(MessageGoldens.server))
  func server(_ test: Case) { check(test) }

  @Test("about the server's rules", arguments: cases(MessageGoldens.rules))
  func rules(_ test: Case) { check(test) }

  @Test("about workers and their queue", arguments: cases(MessageGoldens.workers))
  func workers(_ test: Case) { check(test) }

  @Test("about what operators do", arguments: cases(MessageGoldens.actions))
  func actions(_ test: Case) { check(test) }

  @Test("about a cohort", arguments: cases(MessageGoldens.cohort))
  func cohort(_ test: Case) { check(test) }

  @Test("about a workload", arguments: cases(MessageGoldens.workload))
  func workload(_ test: Case) { check(test) }

  @Test("about the world", arguments: cases(MessageGoldens.world))
  func world(_ test: Case) { check(test) }

  @Test("about the top level", arguments: cases(MessageGoldens.top))
  func top(_ test: Case) { check(test) }

  @Test("about an override", arguments: cases(MessageGoldens.overrides))
  func overrides(_ test: Case) { check(test) }

  @Test("a limit of connections that what devices hold open does not count for")
  func openConnections() {
    var text = ScenarioText()
    text.tapi = "connections: { handshakes: { count: 4, time: '5ms' }, limit: 50 }"
    #expect(text.messages() == [])
    text.cohort += ", holdsOpen: true"
    #expect(
      text.messages() == [
        "s.json5:2: warning: tapi.connections.limit: what devices hold open (holdsOpen) takes no connection: the limit is one "
          + "of their requests alone"
      ])
  }

  @Test("missing parts, a wrong format and an empty fleet are all reported at once")
  func allAtOnce() {
    let text = """
      {
        format: 2,
        seed: -1, durations: '1h',
        tapi: { bucket: { capacity: '0/s' }, incidents: [
          { kind: 'outage', at: 5, for: '10m' },
        ] },
        fleet: [
          { name: 'a', devices: 0, events: '6/min', settings: 'none.json' },
          { name: 'a', devices: 1, events: '6' },
        ],
        compare: { 'tapi.bucket.burst': [0] },
      }
      """
    let problems = #expect(throws: ScenarioProblems.self) {
      _ = try ScenarioFile(text: text, name: "s") { _ in throw ScenarioText.NoFile() }.decode()
    }
    #expect(
      problems?.diagnostics.map { "\($0.line ?? 0) \($0.path)" } == [
        "8 fleet.a.settings", "3 durations", "1 duration", "2 format", "3 seed", "4 tapi.bucket.capacity",
        "5 tapi.incidents.0.at", "9 fleet.a.name", "8 fleet.a.devices", "9 fleet.a.events",
        "11 compare[\"tapi.bucket.burst\"][0]",
      ])
    #expect(
      problems?.description.hasPrefix("s:8: fleet.a.settings: cannot read \"none.json\": No such file\ns:3: ")
        ?? false)
  }

  @Test("rows times cohorts beyond what memory bears are refused, just below is not")
  func tooManyRows() {
    let others = (2...300).map { "{ name: 'c\($0)', devices: 1, events: '6/min' }" }.joined(separator: ", ")
    func messages(_ interval: String) -> [String] {
      ScenarioText(
        duration: "'100s'", cohort: "name: 'c1', devices: 1, events: '6/min' }, " + others.dropLast(2),
        top: "interval: '\(interval)'"
      ).messages()
    }
    #expect(messages("4ms") == [])
    #expect(
      messages("3ms").first?.contains(
        "interval: 33334 rows for each of 300 cohorts are more than 10000000 together; take a longer interval"
      )
        ?? false)
  }

  @Test("more than a thousand problems are counted, not listed")
  func tooMany() {
    let keys = (0..<2_000).map { "k\($0): 1" }.joined(separator: ", ")
    let messages = ScenarioText(top: keys).messages()
    #expect(messages.count == 1_001)
    #expect(messages.last?.hasSuffix("and 1000 more problems") ?? false)
  }

  @Test(
    "a text that is no JSON5 object is refused with line and column",
    arguments: [
      ("", "s:1:1: the file is empty; expected a value such as { … }"),
      ("[1]", "s:1:1: a scenario is an object, { format: 1, … }; found a list"),
      (
        "{\n  format: 1\n  seed: 2 }",
        "s:2:12: expected \",\" or \"}\" after a member of an object, found \"seed\" on line 3"
      ),
    ])
  func noObject(_ text: String, _ message: String) {
    let problems = #expect(throws: ScenarioProblems.self) {
      _ = try ScenarioFile(text: text, name: "s") { _ in "" }
    }
    #expect(problems?.description == message)
  }
}
