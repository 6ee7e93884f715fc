import Conformance
import Testing

/// What a server saw of a process, judged without processes and clocks.
@Suite("Judge of a process")
struct ProcessJudgeTests {
  /// An upload as a case has it: when it came, how long it was open, what it was answered.
  private func upload(
    _ arrivedAt: Double, open: Double? = 0.01, _ status: Int? = 200, retryCount: Int? = nil,
    events: [String] = ["a"], authorization: String? = "Basic ZmxlZXRzaW0ta2V5Og=="
  ) -> ObservedUpload {
    var upload = ObservedUpload(arrivedAt: Int64(arrivedAt * 1e6))
    upload.endedAt = open.map { Int64((arrivedAt + $0) * 1e6) }
    upload.status = status
    upload.events = events
    if let retryCount { upload.headers.append(("x-retry-count", "\(retryCount)")) }
    if let authorization { upload.headers.append(("Authorization", authorization)) }
    return upload
  }

  private func verdict(
    _ uploads: [ObservedUpload], _ conditions: [ProcessCase.Condition],
    end: ChildReport.End = .exited(0), success: Bool? = true, exitStatusCounts: Bool = true
  ) -> ProcessVerdict {
    var vector = ProcessCase("mine", "S4", "mine")
    vector.conditions = conditions
    var log = ExchangeLog()
    log.uploads = uploads
    log.endedAt = 9_000_000
    log.child.end = end
    log.child.success = success
    log.child.lastLine = "words"
    return ProcessJudge(exitStatusCounts: exitStatusCounts).verdict(on: vector, log)
  }

  private func isInconclusive(_ verdict: ProcessVerdict) -> Bool {
    if case .inconclusive = verdict { true } else { false }
  }

  private func fails(_ verdict: ProcessVerdict) -> Bool {
    if case .fails = verdict { true } else { false }
  }

  @Test(
    "a wait that is too short fails, one that is too long says nothing",
    arguments: [
      (1.985, "fails"), (1.989, "fails"), (1.99, "holds"), (2, "holds"), (2.1, "holds"), (2.101, "open"),
      (60, "open"),
    ])
  func waits(wait: Double, expected: String) {
    let uploads = [upload(1, 429), upload(1.01 + wait)]
    let found = verdict(uploads, [.wait(after: 0, [WaitWindow("the Retry-After", 2, 2)])])
    switch expected {
    case "holds": #expect(found == .holds(nil))
    case "fails": #expect(fails(found))
    default: #expect(isInconclusive(found))
    }
  }

  @Test("one of two windows is enough, and is named; between them nothing is known")
  func alternatives() {
    let windows = [WaitWindow("the backoff", 0.5, 0.55), WaitWindow("the Retry-After", 3, 3)]
    func found(_ wait: Double) -> ProcessVerdict {
      verdict([upload(1, 503), upload(1.01 + wait)], [.wait(after: 0, windows)])
    }
    #expect(found(0.52) == .holds("as the backoff"))
    #expect(found(3.05) == .holds("as the Retry-After"))
    #expect(isInconclusive(found(1.5)))
    #expect(fails(found(0.2)))
  }

  @Test("one upload too many fails however the process ended, one too few only when it ended by itself")
  func counts() {
    let three = [upload(1), upload(2), upload(3)]
    #expect(fails(verdict(three, [.uploads(2...2)], end: .stopped)))
    #expect(fails(verdict([upload(8)], [.uploads(2...2)])))
    #expect(isInconclusive(verdict([upload(1)], [.uploads(2...2)], end: .stopped)))
    #expect(isInconclusive(verdict([upload(1)], [.uploads(1...1)], end: .stopped)))
    #expect(verdict([upload(1)], [.uploads(1...Int.max)], end: .stopped) == .holds(nil))
    #expect(verdict([upload(1)], [.uploads(1...1)]) == .holds(nil))
  }

  @Test("X-Retry-Count: the number, another one, none, and none where that is allowed")
  func retryCount() {
    func found(_ count: Int?, orAbsent: Bool = false, _ expected: Int) -> ProcessVerdict {
      verdict([upload(1, retryCount: count)], [.retryCount(.number(0), expected, orAbsent: orAbsent)])
    }
    #expect(found(1, 1) == .holds(nil))
    #expect(fails(found(2, 1)))
    #expect(fails(found(nil, 0)))
    #expect(found(nil, orAbsent: true, 0) == .holds(nil))
    #expect(fails(found(1, orAbsent: true, 0)))
    #expect(isInconclusive(verdict([upload(1)], [.retryCount(.of("b"), 0, orAbsent: true)])))
  }

  @Test("the write key: as Basic, as Bearer, another one, none")
  func writeKey() {
    func found(_ field: String?) -> ProcessVerdict { verdict([upload(1, authorization: field)], [.writeKey]) }
    #expect(found("Basic ZmxlZXRzaW0ta2V5Og==") == .holds(nil))
    #expect(found("Bearer fleetsim-key") == .holds(nil))
    // `other:` in Base64.
    #expect(fails(found("Basic b3RoZXI6")))
    #expect(fails(found("Basic")))
    #expect(fails(found(nil)))
  }

  @Test("uploads at once fail; one that ends as the next begins does not")
  func overlap() {
    #expect(fails(verdict([upload(1, open: 0.3), upload(1.2)], [.noOverlap])))
    #expect(fails(verdict([upload(1, open: nil), upload(9)], [.noOverlap])))
    #expect(verdict([upload(1, open: 0.25), upload(1.25)], [.noOverlap]) == .holds(nil))
    #expect(isInconclusive(verdict([upload(1)], [.noOverlap])))
  }

  @Test("a batch that fails lets the next one pass")
  func movesOn() {
    let condition = [ProcessCase.Condition.movesOn(from: "a", to: "b", before: 3)]
    let a = upload(1, 503, events: ["a"])
    #expect(verdict([a, upload(2, events: ["b"]), a], condition) == .holds(nil))
    #expect(verdict([a, a, upload(2, events: ["b"])], condition) == .holds(nil))
    #expect(fails(verdict([a, a, a, upload(2, events: ["b"])], condition)))
    #expect(isInconclusive(verdict([upload(1, events: [])], condition)))
    // Both in one upload: nothing can pass.
    #expect(isInconclusive(verdict([upload(1, events: ["a", "b"])], condition)))
  }

  @Test("what was accepted is not sent again, and two flushes share no upload")
  func events() {
    #expect(fails(verdict([upload(1, events: ["a", "b"]), upload(2, events: ["b"])], [.acceptedOnce])))
    #expect(verdict([upload(1, 503), upload(2), upload(3, events: ["b"])], [.acceptedOnce]) == .holds(nil))
    #expect(isInconclusive(verdict([upload(1, events: [])], [.acceptedOnce])))
    #expect(fails(verdict([upload(1, events: ["a", "b"])], [.apart("a", "b")])))
    #expect(verdict([upload(1), upload(2, events: ["b"])], [.apart("a", "b")]) == .holds(nil))
    #expect(isInconclusive(verdict([upload(1)], [.apart("a", "b")])))
  }

  @Test("what the process says: success, exit status, a last line that is no JSON")
  func success() {
    #expect(verdict([upload(1)], [.success(true)]) == .holds(nil))
    #expect(fails(verdict([upload(1)], [.success(false)])))
    #expect(fails(verdict([upload(1)], [.success(true)], end: .exited(3))))
    #expect(verdict([upload(1)], [.success(true)], end: .exited(3), exitStatusCounts: false) == .holds(nil))
    #expect(verdict([upload(1)], [.success(false)], end: .exited(1), success: false) == .holds(nil))
    #expect(fails(verdict([upload(1)], [.success(true)], success: nil)))
    #expect(isInconclusive(verdict([upload(1)], [.success(true)], end: .stopped)))
  }

  @Test("a process that ends by a signal fails, one that is killed or never sends says nothing")
  func signals() {
    #expect(fails(verdict([upload(1)], [], end: .signalled(11))))
    #expect(isInconclusive(verdict([upload(1)], [], end: .signalled(9))))
    #expect(isInconclusive(verdict([], [.uploads(1...1)], end: .stopped)))
  }

  @Test("an upload that the client gave up, and a command that lost its patience, say nothing")
  func slowness() {
    var late = upload(1, nil)
    late.wasGivenUp = true
    #expect(isInconclusive(verdict([late, upload(2), upload(3)], [.uploads(2...2)])))
    // The process ends at 9 s.
    #expect(isInconclusive(verdict([upload(3)], [.uploads(2...2)])))
    #expect(fails(verdict([upload(5)], [.uploads(2...2)])))
  }

  @Test("Settings are asked for before the first upload")
  func settings() {
    var vector = ProcessCase("mine", "S19", "mine")
    vector.conditions = [.fetchesSettings]
    var log = ExchangeLog()
    log.uploads = [upload(1)]
    #expect(fails(ProcessJudge().verdict(on: vector, log)))
    log.settingsFetches = [1_500_000]
    #expect(fails(ProcessJudge().verdict(on: vector, log)))
    log.settingsFetches = [500_000]
    #expect(ProcessJudge().verdict(on: vector, log) == .holds(nil))
  }

  /// RFC 9110 §5.6.7 has these three for the same second; 784111777 is that second.
  @Test("dates in the three forms of the standard, and a leap day")
  func dates() {
    func text(_ form: RetryAfterField.DateForm, _ time: Int64 = 784_111_770) -> String {
      RetryAfterField.date(secondsAhead: 7, form).value(unixSeconds: time)
    }
    #expect(text(.imfFixdate) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(text(.rfc850) == "Sunday, 06-Nov-94 08:49:37 GMT")
    #expect(text(.asctime) == "Sun Nov  6 08:49:37 1994")
    // 2024-02-29T00:00:00Z, a Thursday.
    #expect(text(.imfFixdate, 1_709_164_793) == "Thu, 29 Feb 2024 00:00:00 GMT")
  }

  @Test("each requirement has a case or a reason, and each vector of the document a case or a reason")
  func complete() throws {
    let files = try VectorFile.builtIn()
    for fetchesSettings in [false, true] {
      let all = ProcessCases(files, fetchesSettings: fetchesSettings)
      for (id, _) in ProcessCases.requirements {
        let hasCase = all.cases.contains { $0.requirement == id }
        #expect(hasCase == (ProcessCases.obstacle(id, fetchesSettings: fetchesSettings) == nil), "\(id)")
      }
      #expect(Set(all.cases.map(\.id)).count == all.cases.count)
      for vector in all.cases {
        #expect(!vector.says.isEmpty, "\(vector.id)")
        #expect(!vector.conditions.isEmpty, "\(vector.id)")
      }
      // 400, 408, 460, 501, 502 and 600 stand for the statuses of S5, S6 and S8.
      for id in [
        "status-400-drops", "status-460-retries", "status-501-drops", "status-502-retries",
        "status-600-drops",
      ] {
        #expect(all.cases.contains { $0.id == id }, "\(id)")
      }
    }
  }

  @Test("answers go by event, the last again and again")
  func answers() {
    var vector = ProcessCase("mine", "S3", "mine")
    vector.answers = ["a": [.status(503), .status(200)]]
    vector.otherAnswers = [.status(429), .silence]
    #expect(vector.answer(to: ["b", "a"]) { _ in 0 } == .status(503))
    #expect(vector.answer(to: ["a"]) { _ in 7 } == .status(200))
    #expect(vector.answer(to: ["b"]) { _ in 0 } == .status(429))
    #expect(vector.answer(to: []) { _ in 1 } == .silence)
  }

  @Test("the input is as the contract has it, with the interval in either unit")
  func input() {
    var vector = ProcessCase("mine", "S3", "mine")
    vector.sequences = [.init(events: ["a"]), .init(delayMilliseconds: 70, events: [])]
    (vector.maxRetries, vector.timeout, vector.flushInterval) = (2, 4, 3)
    let event =
      #"{"type":"track","event":"fleetsim_a_event","userId":"fleetsim-user","messageId":"fleetsim_a_event","#
      + #""properties":{"name":"fleetsim_a_event"}}"#
    let start =
      #"{"writeKey":"fleetsim-key","apiHost":"http://127.0.0.1:81","cdnHost":"http://127.0.0.1:81","#
      + #""sequences":[{"delayMs":0,"events":[\#(event)]},{"delayMs":70,"events":[]}],"config":{"flushAt":1,"#
    #expect(
      vector.input(port: 81, isMilliseconds: false) == start
        + #""flushInterval":3,"maxRetries":2,"timeout":4}}"#)
    #expect(
      vector.input(port: 81, isMilliseconds: true) == start
        + #""flushInterval":3000,"maxRetries":2,"timeout":4}}"#)
  }

  @Test(
    "waits that are too long and of one length in three runs are the client's; a busy machine makes others",
    arguments: [
      ([1.0, 1.01, 1.02], true), ([1.0, 1.0], false), ([1.0, 1.0, 1.06], false), ([0.75, 0.76, 0.77], false),
      ([0.52, 0.52, 0.52], false),
    ])
  func steadilyLate(waits: [Double], isSteady: Bool) {
    var vector = ProcessCase("mine", "S10", "mine")
    vector.conditions = [.wait(after: 0, [WaitWindow("the backoff", 0.5, 0.55)])]
    let logs = waits.map { wait in
      var log = ExchangeLog()
      log.uploads = [upload(1, 503), upload(1.01 + wait)]
      return log
    }
    #expect(ProcessJudge().steadilyLate(vector, logs).isEmpty != isSteady)
  }
}
