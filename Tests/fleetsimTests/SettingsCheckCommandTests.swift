import Testing

/// `fleetsim validate --client`: a Settings file as a client reads it.
@Suite("Settings of a client")
struct SettingsCheckCommandTests {
  private static let hostile = """
    {
      "integrations": {
        "Segment.io": {
          "httpConfig": {
            "rateLimitConfig": { "maxRetryCount": 10.5 },
            "backoffConfig": {
              "jitterPercent": 0,
              "retryableStatusCodes": [500, 503],
              "statusCodeOverrides": {}
            }
          }
        }
      }
    }
    """

  @discardableResult
  private func check(
    _ text: String, _ client: String, _ more: [String] = [], code: Int32? = nil
  ) throws -> Tool.Output {
    try Scratch(["cdn.json": text]).run("validate --settings cdn.json --client \(client)", more, code: code)
  }

  @Test("what Settings change in a client of a file is what they name")
  func changesOfOwnClient() throws {
    let scratch = try Scratch()
    func changes(_ settings: String) throws -> [String] {
      try scratch.write(
        "s.json5",
        """
        { format: 1, duration: "3h", tapi: { bucket: { capacity: "100/s" } }, settings: \(settings),
          fleet: [{ name: "p", devices: 100, events: { every: "10m" }, client: { name: "x", meaning: "y",
            basedOn: "segment-kotlin", switches: { settings: { backoffConfig: { maxRetryCount: 5 } } } } }] }
        """)
      return try scratch.run("validate s.json5 --json", code: 0).json["settingsChanges"]?.texts ?? []
    }
    #expect(try changes("{ rateLimitConfig: { enabled: true }, backoffConfig: {} }") == [])
    #expect(
      try changes("{ backoffConfig: { maxRetryCount: 7 } }")
        == ["the Settings change x: backoffConfig.maxRetryCount 5 → 7"])
  }

  @Test("a finding has line, key, consequence and source, in the order of the file")
  func fourFindings() throws {
    let words = try check(Self.hostile, "segment-swift", code: 1).standardOutput.split(separator: "\n")
    let findings = try check(Self.hostile, "segment-swift", ["--json"]).json["findings"]?.elements ?? []
    let source = "RetryStateMachine.swift"
    for (place, (line, key, effect, source)) in [
      (5, "rateLimitConfig.maxRetryCount", "legacy", "SegmentDestination.swift:82"),
      (7, "backoffConfig.jitterPercent", "endsProcess", "\(source):174"),
      (8, "backoffConfig.retryableStatusCodes", "notRead", "HttpConfig.swift:46-51"),
      (9, "backoffConfig.statusCodeOverrides", "losesData", "\(source):28-32, :133-142"),
    ].enumerated() {
      let (finding, path) = (findings[place], "integrations[\"Segment.io\"].httpConfig.\(key)")
      #expect(finding["line"]?.number == Double(line) && finding["path"]?.text == path)
      #expect(finding["effect"]?.text == effect)
      #expect(words[place].hasPrefix("cdn.json:\(line): \(path): "))
      #expect(words[place].hasSuffix(" (analytics-swift c9a0d63, \(source))"))
    }
    #expect(findings.count == 4)
  }

  @Test(
    "a file means something else to each client; without anything to say it is one line, or none with --quiet",
    arguments: [
      (
        "segment-swift", 3,
        "4 findings for segment-swift: 1 ends the process, 1 loses data, 1 makes it legacy, 1 is not read"
      ),
      (
        "segment-kotlin", 1,
        "3 findings for segment-kotlin: 1 resets all values, 1 is read differently, 1 is not read"
      ),
      ("segment-react-native", 0, "2 findings for segment-react-native: 1 is not read, 1 is repaired"),
      ("tapi-document", 0, "1 finding for tapi-document: 1 is repaired"),
      ("datafly", 0, "1 finding for datafly: 1 is repaired"),
    ])
  func summary(client: String, harmful: Int, summary: String) throws {
    let output = try check(Self.hostile, client, code: harmful > 0 ? 1 : 0)
    let lines = output.standardOutput.split(separator: "\n")
    #expect(lines.last == "cdn.json: \(summary)")
    #expect(output.standardError.isEmpty == (harmful == 0))
    #expect(harmful == 0 || output.standardError.hasPrefix("cdn.json: not for \(client): \(harmful) of "))
    let quiet = try check(Self.hostile, client, ["--quiet"]).standardOutput.split(separator: "\n")
    #expect(quiet == lines.dropLast())
    let good = try check(Self.harmless, client, code: 0)
    #expect(good.standardOutput == "cdn.json: no finding for \(client)\n" && good.standardError == "")
    #expect(try check(Self.harmless, client, ["-q"]).standardOutput == "")
  }

  @Test("a file without httpConfig is said to be one")
  func noSection() throws {
    let swift = try check("{ \"htpConfig\": {} }", "segment-swift", code: 1).standardOutput
    #expect(swift.hasPrefix("cdn.json:1: there is no httpConfig: "))
    #expect(swift.contains("did you mean httpConfig?"))
    let document = try check("{ \"something\": {} }", "tapi-document", code: 0).standardOutput
    #expect(document.hasPrefix("cdn.json:1: no retry settings here"))
  }

  private static func settings(backoff: String, rateLimit: String = "") -> String {
    #"{ "httpConfig": { "rateLimitConfig": { \#(rateLimit) }, "backoffConfig": { \#(backoff) } } }"#
  }
  private static let harmless = settings(backoff: #""jitterPercent": 10"#)
  private static let baseAboveCap = settings(
    backoff: #""baseBackoffInterval": 60, "maxBackoffInterval": 20"#)
  private static let withoutRetries = settings(
    backoff: #""maxRetryCount": 0"#, rateLimit: #""maxRetryCount": 0"#)

  /// Every client that ships and goes by `backoffConfig` waits for min(cap, base · 2^n), which is the cap.
  @Test(
    "a base above the cap is a finding for every client that it hurts",
    arguments: ["tapi-document", "segment-swift", "segment-kotlin", "segment-react-native", "datafly"])
  func baseAboveCap(client: String) throws {
    let output = try check(Self.baseAboveCap, client, code: 1).standardOutput
    let expected =
      "cdn.json:1: httpConfig.backoffConfig.baseBackoffInterval: a base of 60 s is above the cap of 20 s: "
      + "every backoff of \(client) is 20 s"
    #expect(output.contains(expected) && output.contains("for \(client): 1 works against another"))
    try check(Self.baseAboveCap.replacing("60", with: "6"), client, code: 0)
  }

  private static let oneRetry = settings(backoff: #""maxRetryCount": 1"#)

  /// Clients that count sends have no retry at 1.
  @Test(
    "no retries are a finding for every client that they hurt, of each section",
    arguments: [
      (withoutRetries, "tapi-document", ["after a single 429", "at its first failure"]),
      (withoutRetries, "segment-swift", ["before its first send", "at its first failure"]),
      (withoutRetries, "segment-kotlin", ["before its first send", "at its first failure"]),
      (withoutRetries, "datafly", ["never backs off"]),
      (oneRetry, "segment-swift", ["segment-swift gives up"]), (oneRetry, "tapi-document", []),
    ])
  func noRetries(settings: String, client: String, expected: [String]) throws {
    let output = try check(settings, client, code: expected.isEmpty ? 0 : 1)
    let lines = output.standardOutput.split(separator: "\n").dropLast().map(String.init)
    #expect(lines.count == expected.count, "\(output.standardOutput)")
    for (line, words) in zip(lines, expected) {
      let limit = settings == Self.oneRetry ? 1 : 0
      #expect(line.contains("maxRetryCount: with \(limit), ") && line.contains(words), "\(line)")
    }
  }

  @Test("analytics-react-native takes 1 for 0")
  func clamped() throws { try check(Self.withoutRetries, "segment-react-native", code: 0) }

  @Test("several clients, and client files, are looked at in one go; the code is 1 if one is hurt")
  func severalClients() throws {
    let scratch = try Scratch(["cdn.json": Self.withoutRetries])
    try scratch.write(
      "mine.json5", "{ name: 'mine', meaning: 'ours', origin: 'here', basedOn: 'segment-react-native' }")
    let line = "validate --settings cdn.json --client mine.json5,segment-kotlin --client datafly"
    let output = try scratch.run(line, code: 1)
    let verdicts = output.standardOutput.matches(of: /(?m)^cdn.json: .* findings? for ([^:\n]+)/)
    #expect(verdicts.map(\.output.1) == ["mine", "segment-kotlin", "datafly"], "\(output)")
    #expect(
      output.standardError
        == "cdn.json: not for segment-kotlin: 2 of 2 findings do harm; not for datafly: 1 of 1 finding does harm\n"
    )
    let found = try scratch.run(line + " --json").json
    #expect(found["clients"]?.elements.compactMap(\.text) == ["mine", "segment-kotlin", "datafly"])
    #expect(Set(found["findings"]?.elements.compactMap { $0["client"]?.text } ?? []).count == 3)
  }

  @Test("in a scenario they are warnings, one for each client that is hurt")
  func warningsOfScenario() throws {
    let scenario = """
      { format: 1, seed: 1, duration: "1h", interval: "10s", settings: "cdn.json",
        tapi: { bucket: { capacity: "100/s" } }, network: { latency: "50ms" },
        fleet: [{ name: "a", devices: 10, events: "6/min", client: "segment-swift" },
                { name: "b", devices: 10, events: "6/min", client: "segment-kotlin" }] }
      """
    let output = try Scratch.with(scenario, and: ["cdn.json": Self.baseAboveCap])
      .run("validate s.json5 -q", code: 0)
    let warnings = output.standardError.split(separator: "\n")
    #expect(
      warnings.count == 2 && warnings.allSatisfy { $0.hasPrefix("cdn.json:1: warning: ") }, "\(warnings)")
  }
}
