import Foundation
import ScenarioModel
import Testing

@testable import CommandLineInterface

@Suite("init")
struct InitTests {
  static let options = ["--devices", "3M", "--capacity", "60000/s", "--events", "30/h"]

  @Test(
    "what it writes is valid for every client, without a warning, small and the same fleet at full size",
    arguments: ClientPreset.all.map(\.name))
  func valid(client: String) throws {
    let scratch = try Scratch()
    let made = try Tool.run(["init", "mine/my.json5", "--client", client] + Self.options, in: scratch.url)
    #expect(made.code == 0 && made.standardError.isEmpty, "\(made.standardError)")
    #expect(made.standardOutput.contains("fleetsim compare mine/my.json5 --out out/compare"))
    let checked = try Tool.run(["validate", "mine/my.json5"], in: scratch.url)
    #expect(checked.code == 0 && checked.standardError.isEmpty, "\(checked.standardError)")
    #expect(checked.standardOutput.contains("\(client) as the preset has it"), "\(checked.standardOutput)")
    #expect(checked.standardOutput.contains(" variants: "))
    #expect(!checked.standardOutput.contains("chance"), "\(checked.standardOutput)")
    #expect(checked.standardOutput.contains(" of 3,000,000): phones "), "\(checked.standardOutput)")
    let full = try Tool.run(["validate", "mine/my.json5", "--scale", "1:1"], in: scratch.url)
    #expect(full.standardOutput.contains("3,000,000 devices"))
    #expect(full.standardOutput.contains("capacity  60,000.0 requests/s"))
    // 3 million devices with 30 events an hour.
    #expect(
      full.standardOutput.contains(" with 39,6") || full.standardOutput.contains(" with 25,000.0 events/s"))
  }

  @Test("files that are there stay as they are, and the message says which")
  func existing() throws {
    for name in ["scenario.json5", "settings.json"] {
      let scratch = try Scratch()
      try scratch.write(name, "mine")
      let made = try Tool.run(["init", "--client", "segment-swift"] + Self.options, in: scratch.url)
      #expect(made.code == 73 && made.standardError.contains("\(name): is there already"), "\(made)")
      #expect(try scratch.text(name) == "mine")
      #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path) == [name])
    }
  }

  @Test("without a terminal it names every option that is missing, and asks nothing")
  func missing() throws {
    let scratch = try Scratch()
    let made = try Tool.run(["init", "--devices", "200k"], in: scratch.url)
    #expect(made.code == 64)
    for option in ["--client <preset>", "--events <rate>", "--capacity <rate>"] {
      #expect(made.standardError.contains("'\(option)'"))
    }
    #expect(!made.standardError.contains("'--devices <n>'"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path).isEmpty)
  }

  @Test(
    "numbers are read as people write them, and what is none is refused with what would be right",
    arguments: [
      ("20000", 20_000), ("20_000", 20_000), ("200k", 200_000), ("3M", 3_000_000), ("1.5M", 1_500_000),
      ("1", 1),
      ("0", nil), ("-5", nil), ("5G", nil), ("1e9", nil), ("4001M", nil), ("", nil), ("k", nil), ("0.2", nil),
    ])
  func counts(text: String, count: Int?) {
    var answers = InitCommand.Answers()
    let problem = answers.take(text, as: .devices)
    #expect(answers.devices == count && (problem == nil) == (count != nil))
    #expect(problem?.contains("20000, 200k or 3M") ?? true)
  }

  @Test("every answer that it suggests is one that it takes, and the suggested capacity holds the peak")
  func suggestions() throws {
    var answers = InitCommand.Answers()
    for option in InitCommand.Question.allCases {
      #expect(answers.take(answers.suggestion(for: option), as: option) == nil, "\(option)")
      #expect(answers.has(option))
    }
    for (option, text) in [
      (InitCommand.Question.events, "30"), (.events, "0/h"), (.capacity, "fast"), (.capacity, "5m"),
      (.outage, "3/s"),
      (.outage, "25h"), (.client, "segment-swfit"),
    ] {
      #expect(answers.take(text, as: option) != nil, "\(option) \(text)")
    }
  }

  @Test("validate says where a Retry-After makes clients wait for one flush more")
  func resonance() throws {
    let scratch = try Scratch()
    _ = try Tool.run(["init", "s.json5", "--client", "segment-kotlin"] + Self.options, in: scratch.url)
    func note(_ settings: String...) throws -> Bool {
      let sets = settings.flatMap { ["--set", $0] }
      return try Tool.run(["validate", "s.json5"] + sets, in: scratch.url).standardOutput.contains(
        "waits for the next")
    }
    #expect(try !note())
    #expect(try note("tapi.overload.retryAfter=30s") && note("tapi.overload.retryAfter=60s"))
    #expect(try !note("tapi.overload.retryAfter=29s") && !note("tapi.overload.retryAfter=none"))
    #expect(try !note("tapi.overload.retryAfter=30s", "fleet.phones.retries=timer"))
  }
}
