import Foundation
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

  private func check(_ text: String, _ client: String, _ more: [String] = []) throws -> Tool.Output {
    let scratch = try Scratch()
    try scratch.write("cdn.json", text)
    return try Tool.run(["validate", "--settings", "cdn.json", "--client", client] + more, in: scratch.url)
  }

  @Test(
    "four bad values of a file are four findings with line, consequence and source, in the order of the file")
  func fourFindings() throws {
    let output = try check(Self.hostile, "segment-swift")
    #expect(output.code == 1)
    let lines = output.standardOutput.split(separator: "\n").map(String.init)
    let expected = [
      ("5", "rateLimitConfig.maxRetryCount", "runs in legacy", "SegmentDestination.swift:82"),
      ("7", "backoffConfig.jitterPercent", "ends the process", "RetryStateMachine.swift:174"),
      ("8", "backoffConfig.retryableStatusCodes", "does not read", "HttpConfig.swift:46-51"),
      (
        "9", "backoffConfig.statusCodeOverrides", "deletes its batch",
        "RetryStateMachine.swift:28-32, :133-142"
      ),
    ]
    #expect(lines.count == 5)
    for (line, (number, key, consequence, source)) in zip(lines, expected) {
      let path = "integrations[\"Segment.io\"].httpConfig.\(key)"
      #expect(line.hasPrefix("cdn.json:\(number): \(path): "), "\(line)")
      #expect(line.contains(consequence), "\(line)")
      #expect(line.hasSuffix(" (analytics-swift c9a0d63, \(source))"), "\(line)")
    }
    #expect(
      lines.last
        == "cdn.json: 4 findings for segment-swift: 1 ends the process, 1 loses data, 1 makes it legacy, 1 is not read"
    )
    #expect(output.standardError == "cdn.json: not for segment-swift: 3 of 4 findings do harm\n")
  }

  @Test(
    "the same file means something else to each client",
    arguments: [
      (
        "segment-kotlin", 1,
        "3 findings for segment-kotlin: 1 resets all values, 1 is read differently, 1 is not read"
      ),
      ("segment-react-native", 0, "2 findings for segment-react-native: 1 is not read, 1 is repaired"),
      ("tapi-document", 0, "1 finding for tapi-document: 1 is repaired"),
      ("datafly", 0, "1 finding for datafly: 1 is repaired"),
    ])
  func otherClients(client: String, code: Int32, summary: String) throws {
    let output = try check(Self.hostile, client)
    #expect(output.code == code, "\(output.standardOutput)")
    #expect(output.standardOutput.split(separator: "\n").last == "cdn.json: \(summary)")
    #expect((output.standardError == "") == (code == 0))
  }

  @Test("a file without anything to say about is 0 and one line, or none with --quiet")
  func nothingToSay() throws {
    let good = #"{ "httpConfig": { "backoffConfig": { "jitterPercent": 10 } } }"#
    for client in ["tapi-document", "segment-swift", "segment-kotlin", "segment-react-native"] {
      let output = try check(good, client)
      #expect(output.code == 0)
      #expect(output.standardOutput == "cdn.json: no finding for \(client)\n")
      #expect(output.standardError == "")
      #expect(try check(good, client, ["-q"]).standardOutput == "")
    }
    let quiet = try check(Self.hostile, "segment-swift", ["--quiet"])
    #expect(quiet.code == 1)
    #expect(quiet.standardOutput.split(separator: "\n").count == 4)
  }

  @Test("a file without httpConfig is said to be one")
  func noSection() throws {
    let swift = try check("{ \"htpConfig\": {} }", "segment-swift")
    #expect(swift.code == 1)
    #expect(
      swift.standardOutput.hasPrefix("cdn.json:1: there is no httpConfig: analytics-swift runs in legacy"))
    #expect(swift.standardOutput.contains("did you mean httpConfig?"))
    let document = try check("{ \"something\": {} }", "tapi-document")
    #expect(document.code == 0)
    #expect(
      document.standardOutput.hasPrefix("cdn.json:1: no retry settings here"), "\(document.standardOutput)")
  }

  @Test("a file that is no JSON object is 65, one that is not there 66")
  func unusable() throws {
    let half = try check("{ \"httpConfig\": ", "segment-swift")
    #expect(half.code == 65)
    #expect(half.standardError.hasPrefix("cdn.json:1:"), "\(half.standardError)")
    #expect(try check("[]", "segment-swift").code == 65)
    let scratch = try Scratch()
    let output = try Tool.run(
      ["validate", "--settings", "no.json", "--client", "segment-swift"], in: scratch.url)
    #expect(output.code == 66)
  }

  @Test(
    "a wrong command line is 64, with the way out",
    arguments: [
      ("validate --client segment-swfit --settings s", "Did you mean 'segment-swift'?"),
      ("validate --client segment-swift", "Missing expected option '--settings <file>'"),
      ("validate s.json5 --client segment-swift --settings s", "leave out 's.json5' or '--client'"),
      ("validate --client segment-swift --settings s --set duration=1h", "'--set' changes a scenario"),
      ("validate", "Missing expected argument '<scenario>'"),
      ("validate --settings s", "'--client <preset>'"),
    ])
  func usage(line: String, message: String) throws {
    let scratch = try Scratch()
    let output = try Tool.run(line.split(separator: " ").map(String.init), in: scratch.url)
    #expect(output.code == 64)
    #expect(output.standardError.contains(message), "\(output.standardError)")
    #expect(output.standardOutput == "")
  }
}
