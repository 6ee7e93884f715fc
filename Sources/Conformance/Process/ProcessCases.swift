import UploadRetry

/// The cases that a command can be judged by, and what cannot be.
package struct ProcessCases: Sendable {
  package var cases: [ProcessCase]
  /// Vectors without a case, with the reason: most ask for what no process can be asked for.
  package var inexpressible: [(vector: VectorCase, reason: String)]

  /// S1 to S21, in order, with what each says.
  package static let requirements: [(id: String, title: String)] =
    [("S1", "the write key is in the Authorization header")] + Requirement.all.filter { $0.id.hasPrefix("S") }
    + [("S21", "a test set that any SDK can adopt")]

  /// Why a requirement has no case; nil: it has some.
  package static func obstacle(_ requirement: String, fetchesSettings: Bool) -> String? {
    switch requirement {
    case "S11": "its limit is 12 hours"
    case "S13", "S14", "S19":
      fetchesSettings ? nil : "the SDK is not said to fetch Settings (--fetches-settings)"
    case "S15": "it needs flushes that only an app can ask for"
    case "S18": "it needs a restart with what was saved"
    case "S21": "it is about tests, not about an SDK"
    default: nil
    }
  }

  /// - Parameters:
  ///   - files: the vectors; those about a client other than the document's own are left out.
  ///   - fetchesSettings: whether the SDK asks for Settings when it starts.
  package init(_ files: [VectorFile], fetchesSettings: Bool) {
    let vectors = files.filter { $0.client == nil }.flatMap(\.cases)
    let own = Self.own + (fetchesSettings ? Self.aboutSettings : [])
    let derived = vectors.compactMap(\.statusCase)
    var all = own + derived
    for index in all.indices where all[index].says.isEmpty {
      all[index].says = vectors.first { $0.id == all[index].id }?.says ?? ""
    }
    let order = Dictionary(
      uniqueKeysWithValues: Self.requirements.enumerated().map { ($1.id, $0) })
    cases = all.enumerated().sorted {
      (order[$0.element.requirement] ?? 0, $0.offset) < (order[$1.element.requirement] ?? 0, $1.offset)
    }.map(\.element)
    let known = Set(all.map(\.id))
    inexpressible = vectors.filter { !known.contains($0.id) }.map {
      ($0, $0.obstacle(fetchesSettings: fetchesSettings))
    }
  }

  // MARK: Cases

  private static let backoff = WaitWindow("the backoff of the document", 0.5, 0.55)
  private static let notBefore = WaitWindow("the shortest wait that the document allows", 0.5, nil)

  // Inlined into each entry of the table, it took a third of the module's build.
  /// A case that says what the vector of its name says where `says` is left out.
  @inline(never)
  private static func made(
    _ id: String, _ requirement: String, says: String = "", _ answers: [ScriptedAnswer],
    _ conditions: ProcessCase.Condition..., change: (inout ProcessCase) -> Void = { _ in }
  ) -> ProcessCase {
    var vector = ProcessCase(id, requirement, says)
    vector.otherAnswers = answers
    vector.conditions = conditions
    change(&vector)
    return vector
  }

  private static func after429(_ field: String) -> [ScriptedAnswer] {
    [.status(429, .text(field)), .status(200)]
  }

  private static func dated(_ id: String, _ form: RetryAfterField.DateForm) -> ProcessCase {
    // The date is between 3 and 4 s ahead. It has whole seconds, so a client may leave out the fraction and come up to one earlier.
    made(
      id, "S4", [.status(429, .date(secondsAhead: 4, form)), .status(200)], .uploads(2...2),
      .wait(after: 0, [WaitWindow("the date, in whole seconds", 2, 4)]))
  }

  private static let own: [ProcessCase] = [
    made(
      "write-key", "S1", says: "Each upload has the write key in Authorization, a retry too",
      [.status(503), .status(200)], .uploads(2...2), .writeKey),
    made("first-try-says-0", "S2", [.status(200)], .retryCount(.number(0), 0, orAbsent: false)),
    made(
      "retries-count-up", "S2", [.status(503), .status(503), .status(503), .status(200)], .uploads(4...4),
      .retryCount(.number(1), 1, orAbsent: false), .retryCount(.number(2), 2, orAbsent: false),
      .retryCount(.number(3), 3, orAbsent: false)
    ) { ($0.limit, $0.maxRetries) = (14_000_000, 10) },
    made(
      "global-count-after-429", "S2",
      [.status(429, .text("1")), .status(429, .text("1")), .status(200)], .uploads(3...3),
      .retryCount(.number(1), 1, orAbsent: false), .retryCount(.number(2), 2, orAbsent: false)),
    made(
      "success-clears-the-count", "S2",
      says: "The first try of a batch after another one's retries says 0 again",
      [.status(200)],
      .retryCount(.of("b"), 0, orAbsent: true)
    ) {
      $0.sequences = [.init(events: ["a"]), .init(delayMilliseconds: 2_500, events: ["b"])]
      $0.answers = ["a": [.status(503), .status(200)]]
    },
    made("one-after-another", "S3", [.status(200, after: 300_000)], .noOverlap, .acceptedOnce) {
      $0.sequences = [.init(events: ["a", "b", "c"])]
      $0.needs = ["flushAt"]
    },
    made(
      "429-ends-the-loop", "S3", [.status(200)],
      .wait(after: 0, [WaitWindow("the Retry-After", 2, 2)])
    ) {
      $0.sequences = [.init(events: ["a", "b"])]
      $0.answers = ["a": [.status(429, .text("2"), after: 500_000), .status(200)]]
      $0.needs = ["flushAt"]
    },
    made("5xx-moves-on", "S3", [.status(200)], .movesOn(from: "a", to: "b", before: 4)) {
      $0.sequences = [.init(events: ["a", "b"])]
      let failure = ScriptedAnswer.status(503, after: 500_000)
      $0.answers = ["a": [failure, failure, failure, failure, .status(200)]]
      $0.limit = 12_000_000
      $0.needs = ["flushAt"]
    },
    made(
      "seconds", "S4", after429("2"), .uploads(2...2), .wait(after: 0, [WaitWindow("the Retry-After", 2, 2)])),
    made("zero", "S4", after429("0"), .uploads(2...2)),
    made("negative", "S4", after429("-5"), .uploads(2...2)),
    dated("imf-fixdate", .imfFixdate), dated("rfc-850", .rfc850), dated("asctime", .asctime),
    made(
      "date-past", "S4", [.status(429, .date(secondsAhead: -60, .imfFixdate)), .status(200)], .uploads(2...2)),
    made(
      "missing", "S4", [.status(429), .status(200)], .uploads(1...Int.max), .wait(after: 0, [notBefore])
    ) { $0.limit = 4_000_000 },
    made("words", "S4", after429("soon"), .uploads(1...Int.max), .wait(after: 0, [notBefore])) {
      $0.limit = 4_000_000
    },
    made(
      "an-hour", "S4", after429("3600"), .uploads(1...Int.max),
      .wait(after: 0, [WaitWindow("the longest Retry-After that counts", 300, nil)])
    ) { $0.limit = 4_000_000 },
    made(
      "huge", "S4", after429("99999999999999999999"), .uploads(1...Int.max),
      .wait(after: 0, [WaitWindow("the longest Retry-After that counts", 300, nil)])
    ) { $0.limit = 4_000_000 },
    elsewhere("on-503", 503), elsewhere("on-408", 408), elsewhere("on-529", 529),
    made(
      "on-400", "S7", [.status(400, .text("1")), .status(200)], .uploads(1...1)),
    made("no-status-backs-off", "S9", [.reset, .status(200)], .uploads(2...2), .wait(after: 0, [backoff])),
    made(
      "half-an-answer", "S9", says: "Half an answer is tried again", [.half, .status(200)], .uploads(2...2)),
    made(
      "silence", "S9", says: "An upload that is not answered in time is tried again",
      [.silence, .status(200)],
      .uploads(2...Int.max)
    ) {
      $0.timeout = 1
      $0.limit = 12_000_000
      $0.needs = ["timeout"]
    },
    made("wait-after-0", "S10", [.status(503), .status(200)], .uploads(2...2), .wait(after: 0, [backoff])),
    made(
      "waits-double", "S10", says: "The second to fourth waits are 1, 2 and 4 s, and a tenth more at most",
      [.status(503), .status(503), .status(503), .status(503), .status(200)], .uploads(5...5),
      .wait(after: 1, [WaitWindow("the second backoff", 1, 1.1)]),
      .wait(after: 2, [WaitWindow("the third backoff", 2, 2.2)]),
      .wait(after: 3, [WaitWindow("the fourth backoff", 4, 4.4)])
    ) { ($0.limit, $0.maxRetries) = (14_000_000, 10) },
    limited("two-retries", 2), limited("no-retry", 0),
    made(
      "two-rate-limits", "S12", says: "With two retries a batch that always gets a 429 is sent three times",
      [.status(429, .text("1"))], .uploads(3...3)
    ) {
      $0.maxRetries = 2
      $0.limit = 10_000_000
      $0.needs = ["maxRetries"]
    },
    made(
      "new-events-wait", "S16",
      says: "Events that come while the pipeline waits are not sent before its time",
      [.status(200)],
      .wait(after: 0, [WaitWindow("the Retry-After", 3, 3)])
    ) {
      $0.sequences = [.init(events: ["a"]), .init(delayMilliseconds: 800, events: ["b"])]
      $0.answers = ["a": [.status(429, .text("3")), .status(200)]]
    },
    made("ready-2xx", "S16", [.status(200)], .uploads(2...2), .acceptedOnce) {
      $0.sequences = [.init(events: ["a"]), .init(delayMilliseconds: 1_500, events: ["b"])]
      $0.needs = ["flushAt"]
    },
    made("ready-other-2xx", "S16", [.status(204)], .uploads(1...1)),
    made("trigger-count", "S17", [.status(200)], .apart("a", "c")) {
      $0.sequences = [.init(events: ["a", "b"]), .init(delayMilliseconds: 3_000, events: ["c"])]
      ($0.flushAt, $0.flushInterval) = (2, 6)
      $0.limit = 14_000_000
      $0.needs = ["flushAt"]
    },
    made("trigger-interval", "S17", [.status(200)], .apart("a", "b")) {
      $0.sequences = [.init(events: ["a"]), .init(delayMilliseconds: 4_000, events: ["b"])]
      $0.flushAt = 20
      $0.limit = 10_000_000
      $0.needs = ["flushInterval"]
    },
    made("accepted-once", "S17", says: "What was accepted is not sent again", [.status(200)], .acceptedOnce) {
      $0.sequences = [.init(events: ["a", "b", "c"])]
    },
    made(
      "success-is-said", "S20", says: "The command says that all was sent", [.status(200)], .success(true)),
    made("reports-drop", "S20", [.status(400)], .success(false)),
  ]

  private static func elsewhere(_ id: String, _ status: Int) -> ProcessCase {
    made(
      id, "S7",
      says: "A Retry-After with a \(status) does not count, or, as shipped since 2026, is waited for",
      [.status(status, .text("3")), .status(200)], .uploads(2...2),
      .wait(
        after: 0,
        [backoff, WaitWindow("shipped since 2026: the Retry-After is waited for", 3, 3)]))
  }

  private static func limited(_ id: String, _ retries: Int) -> ProcessCase {
    made(
      id, "S12", says: "With maxRetries \(retries) a batch is sent \(retries + 1) times",
      [.status(503)], .uploads((retries + 1)...(retries + 1))
    ) {
      $0.maxRetries = retries
      $0.limit = 10_000_000
      $0.needs = ["maxRetries"]
    }
  }

  // MARK: With Settings

  /// The document's shape and that of the CDN in one.
  package static func settings(_ config: String) -> String {
    #"{"integrations":{"Segment.io":{"apiKey":"\#(ProcessCase.writeKey)","httpConfig":\#(config)}},"httpConfig":\#(config)}"#
  }

  private static let aboutSettings: [ProcessCase] = [
    made(
      "own-base", "S13", says: "A base of 1 s is the first wait",
      [.status(503), .status(200)], .uploads(2...2),
      .wait(after: 0, [WaitWindow("the base of the Settings", 1, 1.1)])
    ) { $0.settings = settings(#"{"backoffConfig":{"enabled":true,"baseBackoffInterval":1}}"#) },
    made(
      "own-override", "S13", says: "A 503 that the Settings drop is dropped", [.status(503)],
      .uploads(1...1)
    ) { $0.settings = settings(#"{"backoffConfig":{"enabled":true,"statusCodeOverrides":{"503":"drop"}}}"#) },
    made(
      "own-limit", "S13", says: "Two retries of the Settings are three sends", [.status(503)], .uploads(3...3)
    ) { $0.settings = settings(#"{"backoffConfig":{"enabled":true,"maxRetryCount":2}}"#) },
    made(
      "bad-base", "S14", says: "A base of -5 s stops nothing, and is 0.1 s",
      [.status(503), .status(200)], .uploads(2...2),
      .wait(after: 0, [WaitWindow("the shortest base", 0.1, nil)])
    ) { $0.settings = settings(#"{"backoffConfig":{"enabled":true,"baseBackoffInterval":-5}}"#) },
    made(
      "bad-section", "S14", says: "A section that is a list stops nothing",
      [.status(503), .status(200)], .uploads(2...2)
    ) { $0.settings = settings(#"{"backoffConfig":[1,2]}"#) },
    made(
      "settings-first", "S19", says: "Settings are asked for before the first upload", [.status(200)],
      .fetchesSettings
    ) { $0.settings = settings("{}") },
  ]
}

extension VectorCase {
  private static let longest: Int64 = 30_000_000

  /// The case for a process that a vector with a flush of one fresh batch and one status makes.
  fileprivate var statusCase: ProcessCase? {
    guard ["S5", "S6", "S8"].contains(requirement), isFresh, hasPlainSettings, client.supportsOAuth == nil,
      steps.count > 1,
      case .answer(_, let status?, nil, nil) = steps[1].action, (200...999).contains(status),
      given.batches.count == 1, let outcome = steps[1].expect.outcome?.value
    else { return nil }
    var vector = ProcessCase(id, requirement, says)
    switch outcome {
    case .drop:
      vector.otherAnswers = [.status(status)]
      vector.conditions = [.uploads(1...1)]
    case .retry:
      vector.otherAnswers = [.status(status), .status(200)]
      vector.conditions = [.uploads(2...2)]
    default: return nil
    }
    return vector
  }

  /// Whether the Settings say what there is without them, but for the jitter, which no case about a status asks for.
  private var hasPlainSettings: Bool {
    func members(_ value: SettingsValue) -> [(key: String, value: SettingsValue)]? {
      if case .object(let members) = value { members } else { nil }
    }
    guard let sections = members(settings) else { return false }
    return sections.flatMap { members($0.value) ?? [("", .null)] }.allSatisfy { section in
      section.key.hasSuffix("Config")
        && members(section.value)?.allSatisfy { $0.key == "jitterPercent" } ?? false
    }
  }

  private var isFresh: Bool {
    given.globalRetryCount == 0 && given.waitUntil == nil
      && given.batches.allSatisfy {
        $0.failures == 0 && $0.firstFailureAt == nil && $0.dueAt == nil && $0.queuedAt == nil
      }
  }

  /// Why no case is made of it.
  fileprivate func obstacle(fetchesSettings: Bool) -> String {
    for step in steps {
      switch step.action {
      case .restart: return "it restarts the app"
      case .trigger(let trigger):
        if trigger != .manual, trigger != .interval { return "it needs a trigger of the app" }
      case .answer(_, let status?, _, _):
        if status < 200 || status > 999 { return "no HTTP answer ends with this status" }
      default: break
      }
    }
    if !isFresh { return "it begins from a given state" }
    if client.supportsOAuth == true { return "it needs OAuth" }
    if !hasPlainSettings || ["S13", "S14", "S15"].contains(requirement) {
      return fetchesSettings
        ? "it asks for what only the SDK itself can see" : "it needs Settings, and the SDK fetches none"
    }
    if let last = steps.last, last.at > Self.longest { return "it takes longer than 30 s" }
    if steps.contains(where: { if case .some = $0.expect.isReady { true } else { false } }) {
      return "it asks for a state inside the SDK"
    }
    return "no case is made of it: it needs flushes at given times, or asks for more than a server sees"
  }
}
