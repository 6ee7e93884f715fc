import ScenarioFormat
import ScenarioModel
import Testing

/// `fleetsim presets` through the real process.
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
    let text = try run().standardOutput
    let rows = text.split(separator: "\n").map { $0.replacing(#/ +/#, with: " ") }
    #expect(rows.count == ClientPreset.all.count + 1)
    #expect(rows[0] == "client differs version published run")
    #expect(rows[1] == "tapi-document 0")
    #expect(
      rows.contains { $0.hasPrefix("amplitude-node ") && $0.hasSuffix(" 1.10.2 2023-06-20 2026-11-24") })
    #expect(rows.contains { $0.hasPrefix("segment-python ") && $0.hasSuffix(" 2.4.0 2026-11-24") })
    // As its own explanation says.
    #expect(rows.contains("segment-swift 21 c9a0d63 2026-11-22"))
    for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    let one = try run("amplitude-node").standardOutput
    let version = "\nVersion 1.10.2 of 2023-06-20, whose own code was run on 2026-11-24.\n"
    #expect(one.contains(version + "What no switch says:\n  - "))
    #expect(one.replacing(#/\s+/#, with: " ").contains("constants.ts:21 (seen): As many as there are waits."))
  }

  @Test("one preset is explained: every switch with its path, meaning and values")
  func one() throws {
    for preset in ClientPreset.all {
      let output = try run(preset.name)
      let blocks = output.standardOutput.split(separator: "\n\n").map(String.init)
      #expect(blocks.count == ClientPreset.switches.count + 2)
      #expect(
        blocks[1...].dropLast().map { $0.prefix { $0 != ":" } } == ClientPreset.switches.map { $0.path[...] })
      for line in output.standardOutput.split(separator: "\n") { #expect(line.count <= 100, "\(line)") }
    }
    let swift = try run("segment-swift").standardOutput
    #expect(
      swift.hasPrefix(
        "segment-swift: analytics-swift: all batch files of a flush at once.\n"
          + "It differs from the document in 21 of \(ClientPreset.switches.count) switches.\n"))
    #expect(
      swift.contains(
        """

        policy.noStatus: untouched  (≠ backoff of the document)
          S9: what a failure without an HTTP status does
          allowed: backoff, untouched, asStatus500, clientBackoff
          source: analytics-swift c9a0d63, HTTPClient.swift:156-159

        """))
    #expect(
      swift.contains(
        """
          allowed: secondsOrDate, secondsOnly
          source: analytics-swift c9a0d63, HTTPClient.swift:152

        """))
    let document = try run("tapi-document").standardOutput
    #expect(!document.contains("source:"))
    #expect(document.hasPrefix("tapi-document: the design document's own client.\n"))
  }

  @Test("the paths and values of the table are those that a scenario takes")
  func scenario() throws {
    for preset in ClientPreset.all {
      // What a client does not read in its Settings, it does not take as an override either.
      let entries = ClientPreset.switches.filter { entry in
        guard entry.path.hasPrefix("settings.") else { return true }
        return preset.settingsDialect.readKeyPaths.contains(String(entry.path.dropFirst("settings.".count)))
      }
      let overrides = entries.map { entry in
        Override(path: "fleet.phones.\(entry.path)", value: entry.value(preset))
      }
      let text = Scenarios.small.replacing(/compare: .*\n/, with: "")
      let cohort = try ScenarioFile(text: text, name: "s") { _ in "" }.decode(overrides: overrides)
        .scenario.fleet[0]
      #expect(cohort.policy == preset.policy)
      #expect(cohort.settingsDialect == preset.settingsDialect)
      #expect(cohort.queue.mode == preset.queue.mode)
      #expect(cohort.uploadConcurrency == preset.uploadConcurrency)
      #expect(cohort.flushWhileUploading == preset.flushWhileUploading)
      #expect(cohort.actsAtFlushEnd == preset.actsAtFlushEnd)
      #expect(cohort.rateLimitEndsLoop == preset.rateLimitEndsLoop)
      #expect(cohort.saving == preset.saving)
      #expect(cohort.triggers == preset.triggers)
      #expect(cohort.countOfAnEvent == preset.countOfAnEvent)
      #expect(cohort.countsAllEvents == preset.countsAllEvents)
      #expect(cohort.queue.limit == preset.queue.limit)
      #expect(cohort.retries == preset.retries)
      #expect(cohort.queue.maximumBatchEvents == preset.queue.maximumBatchEvents)
      #expect(cohort.gates == preset.gates)
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
    let output = try scratch.run("presets mine.json5", code: 0)
    #expect(output.standardOutput.contains("\nretries: timer  (≠ gate of the document)\n"))
    #expect(output.standardOutput.contains("\npolicy.immediateRetries: 2  (≠ 0 of the document)\n"))
    #expect(output.standardOutput.contains("\n  source: sdk 4.2, Retry.kt:12\n"))
    try scratch.write("mine.json5", text.replacing("immediateRetries: 2", with: "imediateRetries: 2"))
    try scratch.run(
      "presets mine.json5", code: 65,
      says: "mine.json5:2: switches.policy.imediateRetries: unknown key; did you mean \"immediateRetries\"?")
  }
}
