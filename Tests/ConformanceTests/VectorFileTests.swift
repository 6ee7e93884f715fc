import Conformance
import ScenarioFormat
import Testing

/// Files that are no vectors: all problems at once, each with its line.
@Suite("Vector files")
struct VectorFileTests {
  private func problems(_ text: String) -> [String] {
    do throws(ScenarioProblems) {
      _ = try VectorFile(text: text, name: "f.json")
      return []
    } catch {
      return error.diagnostics.map(\.description)
    }
  }

  @Test("what is wrong is said with file, line and path, all at once")
  func allAtOnce() {
    let text = """
      {"format": 1, "title": "t", "cases": [
        {"id": "x", "requirement": "S1", "says": "x",
         "given": {"batches": ["a", "a"], "waitUntl": 3},
         "steps": [
          {"at": 5, "trigger": "manuel"},
          {"at": 5, "trigger": "manual", "expect": {"sends": ["c"], "drops": {"a": "old"}, "outcome": "gone"}},
          {"at": 4, "answer": {"batch": "a", "status": "soon"}},
          {"at": 6, "trigger": "manual", "restart": "intact"},
          {"at": 0.0000001, "events": 0, "seals": "d"}
         ],
         "deviates": {"segment-swfit": "why"}}
      ]}
      """
    #expect(
      problems(text) == [
        "f.json:2: cases[0] x.requirement: \"S1\" is not a requirement that can be tested; those are "
          + "S2 to S20, K1, K2, O2, O3, O9, T1, D1, D2, D4, D5",
        "f.json:3: cases[0] x.given.waitUntl: unknown key; did you mean \"waitUntil\"?",
        "f.json:3: cases[0] x.given.batches: the batch \"a\" is there twice",
        "f.json:5: cases[0] x.steps[0].trigger: \"manuel\" is not known; did you mean \"manual\"? Allowed: \"count\", "
          + "\"interval\", \"manual\", \"reconnect\", \"foreground\", \"background\", \"wakeUp\", \"disconnect\"",
        "f.json:6: cases[0] x.steps[1].expect.sends: there is no batch \"c\"",
        "f.json:6: cases[0] x.steps[1].expect.drops: \"old\" is not known. Allowed: \"status\", \"retryLimit\", "
          + "\"globalRetryLimit\", \"age\", \"overflow\", \"refused\", \"blocked\", \"unload\"",
        "f.json:6: cases[0] x.steps[1].expect.outcome: expected \"delivered\", \"retryAtNextTrigger\", "
          + "\"refreshCredentials\", {\"retry\": seconds}, {\"pause\": seconds}, {\"drop\": reason} or "
          + "{\"block\": reason}",
        "f.json:7: cases[0] x.steps[2].answer.status: expected a number, found a string; allowed: whole numbers from -1000000 "
          + "to 1000000",
        "f.json:7: cases[0] x.steps[2].at: is before the step on line 6",
        "f.json:8: cases[0] x.steps[3]: a step has one of trigger, events, answer, restart",
        "f.json:9: cases[0] x.steps[4].events: 0 is out of range; allowed: whole numbers from 1 to 100000",
        "f.json:9: cases[0] x.steps[4].at: 0.0000001 is finer than a microsecond; allowed: seconds with at most 6 decimals",
        "f.json:9: cases[0] x.steps[4].at: is before the step on line 7",
        "f.json:11: cases[0] x.deviates.segment-swfit: \"segment-swfit\" is not known; did you mean \"segment-swift\"? Allowed: "
          + "\"tapi-document\", \"segment-swift\", \"segment-kotlin\", \"segment-react-native\", \"segment-kotlin-main\"",
      ])
  }

  @Test(
    "a file that is none says so",
    arguments: [
      ("", "f.json:1:1: the file is empty"), ("{", "f.json:1:2: "),
      ("[]", "f.json:1: expected an object, found a list"),
      ("{}", "f.json:1: format: expected format 1"),
      (#"{"format": 2, "cases": []}"#, "f.json:1: format: expected format 1"),
      (#"{"format": 1}"#, "f.json:1: cases: missing"),
      (#"{"format": 1, "cases": []}"#, "there is no case in it"),
      (#"{"format": 1, "cases": [7]}"#, "cases[0]: expected an object, found a number"),
    ])
  func none(text: String, message: String) {
    #expect(problems(text).contains { $0.contains(message) }, "\(problems(text))")
  }

  @Test("two cases of one id are reported")
  func twins() {
    let one = #"{"id": "x", "requirement": "S4", "says": "x", "steps": []}"#
    #expect(
      problems("{\"format\": 1, \"cases\": [\n\(one),\n\(one)]}") == [
        "f.json:3: cases[1].id: the id \"x\" is on line 2 already"
      ])
  }

  @Test("a file cut off or with any byte changed never traps")
  func mutations() throws {
    let text = Array(
      """
      {"format": 1, "cases": [{"id": "x", "requirement": "S4", "says": "x",
      "given": {"batches": ["a", {"batch": "b", "failures": 3, "firstFailureAt": -3, "dueAt": 1e3}], "waitUntil": 2},
      "steps": [{"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 0}], "dueAt": {"a": [1, 2]}}},
      {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "9"}}, {"at": 2, "restart": "torn"}]}]}
      """.utf8)
    let client = try #require(ConformanceClient(name: "tapi-document"))
    for index in text.indices {
      for replacement in [
        [], [UInt8(ascii: "9")], [UInt8(ascii: "]")], [UInt8(ascii: "\"")], [UInt8(ascii: "-")],
      ] {
        var bytes = text
        bytes.replaceSubrange(index...index, with: replacement)
        let changed = String(decoding: bytes, as: UTF8.self)
        if let file = try? VectorFile(text: changed, name: "f.json") {
          _ = ConformanceRunner(client: client).run([file])
        }
      }
      _ = try? VectorFile(text: String(decoding: text[..<index], as: UTF8.self), name: "f.json")
    }
  }
}
