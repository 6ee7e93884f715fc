import TestSupport
import Testing

/// What `--json` prints, against the schema that is printed and the files that the same command writes.
@Suite("JSON documents")
struct JSONDocumentTests {
  private static let settings = """
    { "integrations": { "Segment.io": { "httpConfig": { "backoffConfig": { "maxBackoffInterval": 300, "jitterStrategy": "full" } } } } }
    """

  private func scratch() throws -> Scratch {
    let scratch = try Scratch.with(and: ["cdn.json": Self.settings])
    let rows = (0..<12).map { "\($0 * 10),\(4 + $0 % 3)\n" }
    try scratch.write("observed.csv", "time,requests\n" + rows.joined())
    return scratch
  }

  /// Read once for all tests.
  static let schema = Result {
    try JSON(text: Tool.run(["help", "schema", "json"], in: Tool.repository).standardOutput)
  }

  private func document(_ arguments: [String], _ scratch: Scratch, code: Int32 = 0) throws -> JSON {
    try scratch.run(arguments + ["--json"], code: code).json
  }

  private func expectSame(_ rows: [JSON], _ records: [[String: String]]) {
    #expect(!rows.isEmpty && rows.count == records.count)
    for (row, record) in zip(rows, records) {
      #expect(Set(row.keys).isSubset(of: Set(record.keys)))
      for key in row.keys {
        let cell = record[key] ?? "none"
        switch row[key] {
        case .null: #expect(cell == "", "\(key)")
        case .number(let number): #expect(Double(cell) == number, "\(key)")
        case .bool(let flag): #expect(cell == "\(flag)", "\(key)")
        case .string(let text): #expect(cell == text, "\(key)")
        default: Issue.record("\(key)")
        }
      }
    }
  }

  static let commands: [[String]] = [
    ["run", "s.json5", "--budget", "60k"], ["compare", "s.json5", "--budget", "60k"],
    ["compare", "s.json5", "--seeds", "3"],
    [
      "tune", "s.json5", "--settings", "cdn.json", "--search",
      "settings.backoffConfig.maxBackoffInterval=5,60,300", "--seeds", "2",
    ],
    [
      "calibrate", "s.json5", "--observed", "observed.csv", "--fit", "tapi.bucket.capacity=3/s..6/s",
      "--budget", "200", "--set", "fleet.phones.devices=10",
    ],
    ["limit", "s.json5", "--key", "tapi.bucket.capacity=2/s..8/s", "--seeds", "1"],
    ["validate", "s.json5"], ["validate", "--settings", "cdn.json", "--client", "tapi-document"],
    ["presets"], ["presets", "toggl"], ["conformance", "--client", "segment-swift"],
  ]

  @Test("every command's document is what the schema says, and nothing more", arguments: commands)
  func valid(command: [String]) throws { try expectValid(command) }

  @Test("so is that of a live run")
  func live() throws {
    let server = try SocketServer { _ in SocketServer.status("200 OK") }
    try expectValid([
      "live", "s.json5", "--server", server.url, "--speed", "1000", "--predictions", "2", "--set",
      "duration=8m",
    ])
  }

  private func expectValid(_ command: [String]) throws {
    let scratch = try scratch()
    let (schema, document) = (try Self.schema.get(), try document(command, scratch))
    #expect(document.violations(of: schema) == [])
    let own = try #require(
      schema["oneOf"]?.elements.first { document.violations(of: $0).isEmpty })
    let undeclared = document.undeclared(in: own).filter {
      schema["properties"]?[String($0.dropFirst(2))] == nil
    }
    #expect(undeclared == [])
    #expect(document["format"] == .number(2) && document["command"] == .string(command[0]))
  }

  @Test("the schema refuses a document with a member missing, of another type or command")
  func refused() throws {
    let scratch = try scratch()
    let schema = try Self.schema.get()
    guard case .object(let members) = try document(["run", "s.json5", "--seed", "5"], scratch) else {
      Issue.record("no object")
      return
    }
    for (key, value) in [
      ("verdict", nil), ("verdict", JSON.number(1)), ("story", nil), ("story", .array([.object([:])])),
      ("command", .string("report")), ("format", .number(1)), ("variants", .array([.object([:])])),
    ] {
      var others = members
      others[key] = value
      #expect(!JSON.object(others).violations(of: schema).isEmpty, "\(key)")
    }
  }

  @Test("a comparison's runs are the rows of summary.csv; best and verdict name one variant")
  func comparison() throws {
    let scratch = try scratch()
    let command = ["compare", "s.json5", "--seed", "5"]
    let document = try document(command + ["--out", "o"], scratch)
    let variants = document["variants"]?.elements ?? []
    #expect(variants.map { $0["name"]?.text } == ["none", "full"])
    expectSame(variants.flatMap { $0["runs"]?.elements ?? [] }, try scratch.records("o/summary.csv"))
    #expect(document["output"] == .string("o"))
    let override = ["path": "settings.backoffConfig.jitterStrategy", "value": "full"].mapValues(JSON.string)
    #expect(variants[1]["overrides"] == .array([.object(override)]))
    let verdict = try scratch.run(command + ["-q"]).standardOutput
    #expect(document["verdict"]?.text.map { $0 + " (seed 5, 60 devices)\n" } == verdict)
    let printed = try scratch.run(command + ["--verbose"])
    let story = document["story"]?.elements ?? []
    #expect(!story.isEmpty)
    for line in story {
      let (subject, text) = (line["subject"]?.text ?? "", line["text"]?.text ?? "")
      #expect(printed.story(subject).contains(text), "\(line)")
    }
    let best = document["best"]?.texts ?? []
    #expect(!best.isEmpty && best.allSatisfy(verdict.contains))
    #expect(variants.filter { $0["isBest"] == .bool(true) }.compactMap { $0["name"]?.text } == best)
  }

  @Test("several seeds: the rows of replications.csv, statistics.csv and differences.csv")
  func replications() throws {
    let scratch = try scratch()
    let document = try document(["compare", "s.json5", "--seeds", "3", "--out", "o"], scratch)
    #expect(document["seeds"] == .array([.number(5), .number(6), .number(7)]))
    let variants = document["variants"]?.elements ?? []
    let records = try scratch.records("o/replications.csv")
    for variant in variants {
      expectSame(variant["runs"]?.elements ?? [], records.filter { $0["run"] == variant["name"]?.text })
    }
    expectSame(
      variants.flatMap { $0["statistics"]?.elements ?? [] }, try scratch.records("o/statistics.csv"))
    expectSame(document["differences"]?.elements ?? [], try scratch.records("o/differences.csv"))
  }

  @Test("a search's candidates are the rows of pareto.csv")
  func searches() throws {
    let scratch = try scratch()
    let search = try document(Self.commands[3] + ["--out", "t"], scratch)
    expectSame(search["candidates"]?.elements ?? [], try scratch.records("t/pareto.csv"))
    #expect((search["isRecommended"] == .bool(true)) == scratch.contents.contains("t/settings.json"))
    #expect((search["settings"] == .null) == (search["isRecommended"] == .bool(false)))
  }

  @Test("a check's document names what became worse, and the exit code and the message stay")
  func check() throws {
    let scratch = try scratch()
    try scratch.run("check s.json5 --record --seeds 3", code: 0)
    func check(_ more: [String], code: Int32) throws -> (document: JSON, message: String) {
      let output = try scratch.run("check s.json5 --json", more, code: code)
      #expect(try output.json.violations(of: Self.schema.get()) == [])
      #expect(try output.json["isWorse"] == .bool(code == 1))
      return (try output.json, output.standardError)
    }
    _ = try check([], code: 0)
    let (document, message) = try check(["--set", "tapi.incidents.0.for=6m"], code: 1)
    let scenario = document["scenarios"]?.elements.first
    let changed = scenario?["changedKeys"]?.elements ?? []
    #expect(changed.map { $0["change"]?.text } == ["tapi.incidents.0.for 3m → 6m"])
    let names = scenario?["worse"]?.texts ?? []
    #expect(!names.isEmpty && message.contains("s: \(names.joined(separator: ", "))."))
    for metric in scenario?["metrics"]?.elements ?? [] where metric["unit"] == .string("events") {
      guard let then = metric["recordedMean"]?.number, let now = metric["presentMean"]?.number,
        let difference = metric["difference"]?.number, metric["appearances"] == .number(0)
      else { continue }
      #expect(abs(now - then - difference) <= 2e-6 * max(1, abs(now)), "\(metric)")
    }
  }

  @Test("what validate and conformance say is in their documents")
  func inputs() throws {
    let scratch = try scratch()
    let load = try document(["validate", "s.json5"], scratch)["load"]
    // 60 devices with 6 events a minute each, and a capacity of 4 requests a second.
    #expect(load?["events_per_second"] == .number(6) && load?["capacity_rps"] == .number(4))
    let report = try document(["conformance"], scratch)["clients"]?.elements.first
    let cases = report?["cases"]?.elements ?? []
    for level in ["passed", "failed", "deviates"] {
      #expect(report?[level]?.number == Double(cases.count { $0["level"] == .string(level) }))
    }
  }
}
