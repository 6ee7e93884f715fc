import ScenarioFormat
import ScenarioModel
import Testing

@Suite("Presets command")
struct PresetsCommandTests {
  private func run(_ arguments: String..., code: Int32? = 0) throws -> Tool.Output {
    try Scratch().run("presets", arguments, code: code)
  }

  // The last table of the requirements, row by row. RetryPolicyTests and ClientDecodingTests have the rest of its first part.
  @Test(
    "named presets stand side by side, with the values of the switches in which they differ",
    arguments: [
      """
      switch | req | tapi-document | segment-swift | segment-kotlin | segment-react-native
      settingsDialect | S13 | document | analytics-swift | analytics-kotlin | analytics-react-native
      settingsFetch | S19 | launch | foreground | launch | launch
      """,
      """
      switch | req | segment-kotlin-main | segment-browser | segment-browser-batching
      page | S16 | null | {strategy: "standard", size: 10, timeout: "5s", retryQueue: true, persistence: true, keepalive: false} \
      | {strategy: "batching", size: 10, timeout: "5s", retryQueue: true, persistence: true, keepalive: false}
      uploadConcurrency | S3 | 1 | unlimited | unlimited
      flushWhileUploading | S17 | queued | joins | joins
      settingsDialect | S13 | analytics-kotlin | analytics-next | analytics-next
      rateLimitEndsLoop | S3 | false | true | true
      saving | S18 | afterAnswers | atOnce | atOnce
      triggers | S17 | [count, interval, manual, reconnect, foreground, background] | all | all
      retries | S17 | gate | timer | timer
      flush.count | S17 | 20 | 1 | 1
      flush.interval | S17 | 30s | null | null
      clampAfterJitter | S10 | true | false | false
      retryAfterOnOtherCodes | S7 | pausesPipeline | ignored | ignored
      retryAfterForms | S4 | secondsOnly | secondsOnly | secondsOnly
      noStatus | S9 | asStatus500 | backoff | backoff
      retryCountHeader | S2 | onlyAboveZeroMaxOfBatchAndGlobal | onlyAboveZeroMaxOfBatchAndGlobal \
      | onlyAboveZeroMaxOfBatchAndGlobal
      rateLimitingOff | S15 | drop | legacy | legacy
      sendsAtLimit | S12 | maxRetryCount | maxRetryCountPlusOne | maxRetryCountPlusOne
      limitsCheck | S12 | beforeDue | whenDue | whenDue
      rateLimitRecord | S11 | untouched | failure | failure
      backoffOff | S15 | forgets | legacy | legacy
      withoutSettings | S13 | drops4xx | legacy | legacy
      belowSuccess | S8 | resets | asTable | asTable
      waitsInMilliseconds | S10 | true | false | false
      timeout | S9 | 30s | 1d | 1d
      rateLimit.maxRetryCount | S12 | 100 | 10 | 10
      maxRetryCount | S12 | 100 | 10 | 10
      maxBackoffInterval | S10 | 300 | 60 | 60
      """,
      """
      switch | req | keen-existing | keen-proposed | offline-first
      uploadConcurrency | S3 | unlimited | unlimited | 4
      queue.maximumBatchEvents | D3 | 1 | 1 | 500
      retries | S17 | gate | timer | timer
      retryAfterOnOtherCodes | S7 | ignored | ignored | delaysBatch
      readsRateLimitReset | O11 | false | false | true
      noStatus | S9 | untouched | untouched | backoff
      rateLimited | O2 | delaysBatch | delaysBatch | delaysBatch
      unauthorized | O9 | asTable | asTable | refreshThenRetryOnce
      givenUp | O3 | dropped | dropped | blocked
      rateLimit | S4 | false | false | true
      backoff | S10 | false | false | true
      maxRetryCount | S12 | 100 | 100 | 9
      maxTotalBackoffDuration | S11 | 43200 | 43200 | 86400
      baseBackoffInterval | S10 | 0.5 | 0.5 | 5
      maxBackoffInterval | S10 | 300 | 300 | 1800
      jitterStrategy | J | additive:10 | additive:10 | full
      breaker | O6 | null | null | {}
      failureWindow | K1 | {queries: 10} | null | null
      projectDelay | K2 | null | {} | null
      retryBudget | O3 | null | null | {perRun: 20}
      controller | O5 | null | null | {uploads: 4}
      reconcile | O4 | false | false | true
      """,
      """
      switch | req | toggl | toggl-push | datafly
      queue.mode | S2 | files | files | rebatch
      uploadConcurrency | S3 | 3 | 1 | 1
      triggers | S17 | all | all | [count, interval, manual, reconnect, foreground, wakeUp]
      triggersThatSkipWaits | D7 | [] | [] | [manual, reconnect]
      queue.limit | D1 | null | null | 1000
      queue.maximumBatchEvents | D3 | 1 | 1 | 500
      queue.maximumBatchSize | D3 | null | null | 512KB
      retries | S17 | timer | timer | timer
      noStatus | S9 | untouched | untouched | backoff
      limitReached | S12 | dropBatch | dropBatch | startOverAtNextTrigger
      rateLimited | O2 | delaysBatch | delaysBatch | delaysBatch
      rateLimit | S4 | false | false | true
      backoff | S10 | false | false | true
      maxRetryCount | S12 | 100 | 100 | 6
      baseBackoffInterval | S10 | 0.5 | 0.5 | 1
      maxBackoffInterval | S10 | 300 | 300 | 32
      jitterStrategy | J | additive:10 | additive:10 | additive:50
      rateWindows | T1 | [{slots: 60, span: "1m"}, {slots: 3, span: "1s"}] | [{slots: 60, span: "1m"}, {slots: 3, span: "1s"}] \
      | null
      wholeRun | T2 | true | false | false
      restartRun | T3 | false | true | false
      """,
    ])
  func table(expected: String) throws {
    let rows = expected.split(separator: "\n").map { $0.components(separatedBy: " | ") }
    let names = Array(rows[0][2...])
    let isWithDocument = names[0] == "tapi-document"
    let document = ClientPreset.tapiDocument
    let output = try run((isWithDocument ? names : ["tapi-document"] + names).joined(separator: ","))
    #expect(output.standardError == "")
    let found = try run(names.joined(separator: ","), "--json").json["presets"]?.elements ?? []
    #expect(found.compactMap { $0["name"]?.text } == names)
    for row in rows.dropFirst() {
      let entry = try #require(ClientPreset.switches.first { $0.name == row[0] })
      #expect(entry.requirement == row[1])
      for (preset, value) in zip(found, row[2...]) {
        let own = preset["switches"]?.elements.first { $0["path"]?.text == entry.path }
        #expect(own?["value"]?.text == value, "\(row[0])")
        #expect(own?["differs"] == .bool(value != entry.value(document)))
      }
    }
    // Where a line begins with a blank, the values above go on.
    let lines = output.standardOutput.split(separator: "\n").filter { !$0.hasPrefix(" ") }
    guard !isWithDocument else { return }
    #expect(lines.dropFirst().map { $0.prefix { $0 != " " } } == rows.dropFirst().map { $0[0][...] })
  }

  @Test("every client stands in the list, with its version and when its own code was run")
  func list() throws {
    #expect(try run("", code: 64).standardError.hasPrefix("Error: The value ''"))
    let lines = try run().lines
    let rows = lines.map { $0.replacing(#/ +/#, with: " ") }
    #expect(rows.count == ClientPreset.all.count + 1 && lines.allSatisfy { $0.count <= 80 })
    #expect(rows[0] == "client differs version published run")
    #expect(rows[1] == "tapi-document 0")
    #expect(
      rows.contains { $0.hasPrefix("amplitude-node ") && $0.hasSuffix(" 1.10.2 2023-06-20 2026-11-24") })
    #expect(rows.contains { $0.hasPrefix("segment-python ") && $0.hasSuffix(" 2.4.0 2026-11-24") })
    // As its own explanation says.
    #expect(rows.contains("segment-swift 21 c9a0d63 2026-11-22"))
    let one = try run("amplitude-node").standardOutput
    let version = "\nVersion 1.10.2 of 2023-06-20, whose own code was run on 2026-11-24.\n"
    #expect(one.contains(version + "What no switch says:\n  - "))
    #expect(one.replacing(#/\s+/#, with: " ").contains("constants.ts:21 (seen): As many as there are waits."))
  }

  @Test(
    "one preset is explained: every switch with its path, meaning and values", arguments: ClientPreset.all)
  func one(preset: ClientPreset) throws {
    let output = try run(preset.name)
    let blocks = output.standardOutput.components(separatedBy: "\n\n")
    let paths = blocks.dropFirst().dropLast().map { $0.prefix { $0 != ":" } }
    #expect(paths == ClientPreset.switches.map { $0.path[...] })
    for line in output.lines { #expect(line.count <= 100, "\(line)") }
    #expect(preset != .tapiDocument || !output.standardOutput.contains("source:"))
    guard preset.name == "segment-swift" else { return }
    #expect(
      blocks[0].hasPrefix(
        "segment-swift: analytics-swift: all batch files of a flush at once.\n"
          + "It differs from the document in 21 of \(ClientPreset.switches.count) switches."))
    #expect(
      blocks.contains(
        """
        policy.noStatus: untouched  (≠ backoff of the document)
          S9: what a failure without an HTTP status does
          allowed: backoff, untouched, asStatus500, clientBackoff
          source: analytics-swift c9a0d63, HTTPClient.swift:156-159
        """))
  }

  @Test("the paths and values of the table are those that a scenario takes", arguments: ClientPreset.all)
  func scenario(preset: ClientPreset) throws {
    // What a client does not read in its Settings, it does not take as an override either.
    let entries = ClientPreset.switches.filter { entry in
      guard entry.path.hasPrefix("settings.") else { return true }
      return preset.settingsDialect.readKeyPaths.contains(String(entry.path.dropFirst("settings.".count)))
    }
    func cohort(_ overrides: [Override]) throws -> Cohort {
      let text = Scenarios.small.replacing(#/compare: .*\n|, retries: "timer"/#, with: "")
      let file = try ScenarioFile(text: text, name: "s") { _ in "" }
      return try file.decode(overrides: overrides).scenario.fleet[0]
    }
    let found = try cohort(
      entries.map { Override(path: "fleet.phones.\($0.path)", value: $0.value(preset)) })
    let expected = try cohort([Override(path: "client", value: preset.name)])
    #expect(found.policy == expected.policy && found.gates == expected.gates)
    for member in expected.everyKey.members ?? [] where !["client", "settings"].contains(member.key) {
      let text = found.everyKey[member.key].map { JSONText.pretty($0) }
      #expect(text == JSONText.pretty(member.value), "\(member.key)")
    }
  }

  @Test(
    "a client file is explained as a preset is, and what is wrong with it is said with file, line and path")
  func file() throws {
    let text = """
      { name: "mine", origin: "sdk 4.2", basedOn: "toggl",
        switches: { policy: { immediateRetries: 2 } }, sources: { "policy.immediateRetries": "Retry.kt:12" } }
      """
    let scratch = try Scratch(["mine.json5": text])
    let lines = try scratch.run("presets mine.json5", code: 0).lines
    let expected: Set<Substring> = [
      "retries: timer  (≠ gate of the document)", "policy.immediateRetries: 2  (≠ 0 of the document)",
      "  source: sdk 4.2, Retry.kt:12",
    ]
    #expect(expected.isSubset(of: lines))
    try scratch.write("mine.json5", text.replacing("immediateRetries: 2", with: "imediateRetries: 2"))
    try scratch.run(
      "presets mine.json5", code: 65,
      says: "mine.json5:2: switches.policy.imediateRetries: unknown key; did you mean \"immediateRetries\"?")
  }
}
