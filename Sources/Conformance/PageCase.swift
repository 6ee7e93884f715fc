import FleetSimulation
import ScenarioModel
import ShippedClients
import UploadPipeline
import UploadRetry

/// A case about a page of a browser: run on the module's page alone, and on a device of the engine.
struct PageCase {
  private let vector: VectorCase
  private let steps: [VectorStep]
  private let options: BrowserOptions
  /// Settings of a client that fetches none; nil: a case says what it fetches.
  private let ownSettings: BrowserSettings?

  /// - Parameter settings: the preset's.
  init(_ vector: VectorCase, _ steps: [VectorStep], _ page: BrowserOptions, _ settings: HTTPConfig) {
    (self.vector, self.steps) = (vector, steps)
    ownSettings = page.strategy.isInMemory ? BrowserSettings(settings) : nil
    var options = page
    let client = vector.client
    options.retriesEvents = client.retriesEvents
    options.savesEvents = client.isPersistent ?? true
    options.size = page.strategy.isInMemory ? client.maximumBatchEvents ?? page.size : client.flushAt
    if let interval = client.flushInterval { options.timeout = (interval * 1_000).rounded() }
    if let retries = client.maximumRetries { options.maxRetries = retries }
    options.keepsAlive = client.keepsAlive
    self.options = options
  }

  /// - Parameter draws: the case has to hold where every draw is one of these.
  func mismatches(draws: [UInt64]) -> [Mismatch] {
    let fromSettings = SettingsComparison.effective(
      vector.effective, in: settings(vector.settings).encoded())
    if !fromSettings.isEmpty { return fromSettings }
    return Mismatch.first(of: draws, vector.line) {
      mismatches(ModulePage(options, word: $0))
    } device: { word in
      var cohort = Cohort(name: "vector", devices: 1, events: .poisson(meanGap: .hours(1)))
      cohort.page = options
      let draws = Draws(word: word, increment: 0)
      return mismatches(ScriptedDevice(cohort, flushCount: FlushCount(1), draws: draws, word: word))
    }
  }

  private func settings(_ published: SettingsValue) -> BrowserSettings {
    ownSettings ?? BrowserSettings(published: published, page: vector.client.pageConfig)
  }

  // MARK: Steps

  private func mismatches(_ subject: any PageSubject) -> [Mismatch] {
    var run = Run(subject: subject)
    for batch in vector.given.batches {
      run.names.append(batch.name)
      subject.store(UInt32(run.names.count - 1), failures: UInt32(batch.failures))
    }
    subject.open(settings(vector.settings), at: 0)
    _ = subject.takeActions()
    for step in steps {
      var found = perform(step, &run)
      if let violation = subject.violation { found.append(Mismatch(line: step.line, message: violation)) }
      if !found.isEmpty { return found }
    }
    return []
  }

  /// The state that a case's run keeps from step to step.
  private struct Run {
    let subject: any PageSubject
    /// By the number of the event.
    var names: [String] = []
    /// In the order of their first events; the first is nobody.
    var users = [""]
    var pollingTimers = 0

    func name(_ events: [UInt32]) -> String { events.map { names[Int($0)] }.joined(separator: "+") }

    mutating func number(ofUser name: String) -> UInt32 {
      if !users.contains(name) { users.append(name) }
      return UInt32(users.firstIndex(of: name) ?? 0)
    }
  }

  private func perform(_ step: VectorStep, _ run: inout Run) -> [Mismatch] {
    let subject = run.subject
    func wrong(_ message: String) -> [Mismatch] { [Mismatch(line: step.line, message: message)] }
    subject.run(until: step.at)
    var answered: [UInt32] = []
    var unloaded: [UInt32] = []
    var fromSettings: [Mismatch] = []
    if case .trigger(.wakeUp) = step.action {
    } else if subject.takeActions().contains(where: \.isSeen) {
      return wrong("a timer before this step has sent or dropped something")
    }
    switch step.action {
    case .trigger(.disconnect): subject.setOnline(false, at: step.at)
    case .trigger(.reconnect): subject.setOnline(true, at: step.at)
    case .trigger(.background): subject.setVisible(false, at: step.at)
    case .trigger(.foreground): subject.setVisible(true, at: step.at)
    case .trigger(.manual): subject.flush(at: step.at)
    case .trigger: break
    case .events(_, let name):
      run.names.append(name)
      subject.track(UInt32(run.names.count - 1), user: run.number(ofUser: step.user), at: step.at)
    case .answer(let name, let status, let retryAfter, _):
      guard let upload = subject.page.uploads.first(where: { run.name($0.events) == name }) else {
        return wrong("an answer for \(name), which is not being uploaded")
      }
      answered = upload.events
      subject.answer(
        upload.number, status: status,
        retryAfter: retryAfter.flatMap(BrowserSettings.seconds(ofRetryAfter:)),
        body: step.body.map { AnswerBody($0) { run.number(ofUser: $0) } }, at: step.at)
    case .restart(let saved, let published):
      let (held, earlier) = (subject.heldEvents, subject.page.settings)
      subject.close(
        isKilled: saved == .missing, breaksStore: saved == .corrupt || saved == .torn, at: step.at)
      let kept = Set(subject.heldEvents)
      unloaded = held.filter { !kept.contains($0) }
      let fetched = published.map(settings) ?? earlier ?? settings(vector.settings)
      fromSettings = SettingsComparison.effective(step.expect.effective, in: fetched.encoded())
      subject.open(fetched, at: step.at)
    }
    subject.run(until: step.at)
    let actions = subject.takeActions()
    let comparison = StepComparison(step: step, origin: subject.origin, resolution: 0)
    return fromSettings + comparison.done(seen(actions, answered, unloaded, run))
      + state(comparison, &run)
  }

  /// What the page did in a step, whose answer was for the events `answered`.
  private func seen(
    _ actions: [BrowserAction], _ answered: [UInt32], _ unloaded: [UInt32], _ run: Run
  ) -> ClientScript.Observation {
    var seen = ClientScript.Observation()
    seen.drops = unloaded.map { NamedDrop(batch: run.name([$0]), reason: DropName.unload) }
    for action in actions {
      switch action {
      case .send(_, let events, let count, let keepsAlive, _):
        seen.sends.append((run.name(events), count.map { Int($0) }))
        if keepsAlive { seen.keepAlive.append(run.name(events)) }
      case .lost(let event, let loss):
        seen.drops.append(NamedDrop(batch: run.name([event]), reason: DropName.name(of: loss)))
      case .decided(let first, let decided) where first == answered.first: seen.outcome = decided
      case .decided, .delivered: break
      }
    }
    // The answer's outcome stands for the events that the answer gives up.
    if case .drop = seen.outcome {
      let gone = Set(answered.map { run.name([$0]) })
      seen.drops.removeAll { gone.contains($0.batch) }
    }
    return seen
  }

  /// Returns the mismatches of the page's state after a step.
  private func state(_ comparison: StepComparison, _ run: inout Run) -> [Mismatch] {
    let (page, origin, expected) = (run.subject.page, run.subject.origin, comparison.step.expect)
    func text(_ timer: Int64?) -> String { timer.map { decimal(millionths: $0) + " s" } ?? "none" }
    let (names, counts, due) = (run.names, page.retryCounts, page.dueTimes)
    func number(_ name: String) -> UInt32? { names.firstIndex(of: name).map { UInt32($0) } }
    var found = comparison.batches(run.subject.heldEvents.map { names[Int($0)] }) {
      number($0).flatMap { counts[$0] }.map { Int($0) }
    } dueAt: {
      number($0).flatMap { due[$0] }.map { $0 - origin }
    }
    if let timers = expected.pollingTimers { run.pollingTimers = timers.value }
    found += Mismatch.check(
      "flushTimers", expected.pollingTimers ?? Located(value: run.pollingTimers, line: comparison.step.line),
      String.init,
      got: "\(page.pollingTimers)"
    ) { $0 == page.pollingTimers }
    if options.strategy == .oneTimer, expected.flushTimer == nil { return found }
    guard options.strategy == .batching || options.strategy == .oneTimer else { return found }
    func name(_ isReady: Bool) -> String { isReady ? "READY" : "WAITING" }
    found += Mismatch.check("state", expected.isReady, name, got: name(!page.isFlushRetry)) {
      $0 == !page.isFlushRetry
    }
    let timer =
      expected.waitUntil.map { Located(value: Optional($0.value.lowerBound), line: $0.line) }
      ?? Located(value: expected.flushTimer?.value, line: expected.flushTimer?.line ?? comparison.step.line)
    let got = page.flushTimer.map { $0 - origin }
    return found + Mismatch.check("the buffer's timer", timer, text, got: text(got)) { $0 == got }
  }
}

extension BrowserAction {
  /// Whether who looks at a page from outside sees it.
  fileprivate var isSeen: Bool {
    switch self {
    case .send, .lost: true
    case .delivered, .decided: false
    }
  }
}

// MARK: - What runs a case

/// A browser whose pages go through a case. Times are microseconds since the case began.
private protocol PageSubject: AnyObject {
  /// The page that is open; its own times begin at `origin`.
  var page: BrowserPage { get }
  var origin: Int64 { get }
  /// The events that are neither delivered nor lost, those in store among them.
  var heldEvents: [UInt32] { get }
  var violation: String? { get }

  /// An event that the first page finds in store.
  func store(_ number: UInt32, failures: UInt32)
  func open(_ settings: BrowserSettings, at now: Int64)
  func close(isKilled: Bool, breaksStore: Bool, at now: Int64)
  func run(until now: Int64)
  func track(_ number: UInt32, user: UInt32, at now: Int64)
  func answer(_ upload: UInt32, status: Int?, retryAfter: Double?, body: AnswerBody?, at now: Int64)
  func flush(at now: Int64)
  func setOnline(_ isOnline: Bool, at now: Int64)
  func setVisible(_ isVisible: Bool, at now: Int64)
  func takeActions() -> [BrowserAction]
}

/// The module alone.
private final class ModulePage: PageSubject {
  private var options: BrowserOptions
  private let draws: BrowserDraws
  private var current: BrowserPage?
  private var stored: [SavedEvent] = []
  private var left: [BrowserAction] = []
  private var isOnline = true

  init(_ options: BrowserOptions, word: UInt64) {
    self.options = options
    draws = BrowserDraws(leaps: false, poll: { _, _ in word }, wait: { _, _ in word })
  }

  var page: BrowserPage { current! }
  var origin: Int64 { 0 }
  var heldEvents: [UInt32] { current?.held ?? stored.map(\.number).sorted() }
  var violation: String? { nil }

  func store(_ number: UInt32, failures: UInt32) {
    stored.append(SavedEvent(number: number, attempts: failures))
  }
  func open(_ settings: BrowserSettings, at now: Int64) {
    current = BrowserPage(options, settings, saved: stored, isOnline: isOnline, draws: draws, at: now)
    stored = []
  }
  func close(isKilled: Bool, breaksStore: Bool, at now: Int64) {
    if !isKilled { stored = current?.hide(at: now) ?? [] }
    left += current?.actions ?? []
    current = nil
    if breaksStore {
      stored = []
      options.savesEvents = false
    }
  }
  func run(until now: Int64) { current?.run(until: now) }
  func track(_ number: UInt32, user: UInt32, at now: Int64) { current?.track(number, user: user, at: now) }
  func answer(_ upload: UInt32, status: Int?, retryAfter: Double?, body: AnswerBody?, at now: Int64) {
    current?.answered(upload, status: status, retryAfter: retryAfter, body: body, at: now)
  }
  func flush(at now: Int64) { current?.flush(at: now) }
  func setOnline(_ isOnline: Bool, at now: Int64) {
    self.isOnline = isOnline
    current?.setOnline(isOnline, at: now)
  }
  func setVisible(_ isVisible: Bool, at now: Int64) { current?.setVisible(isVisible, at: now) }
  func takeActions() -> [BrowserAction] {
    let all = left + (current?.actions ?? [])
    left = []
    current?.actions = []
    return all
  }
}

/// A device of the engine.
extension ScriptedDevice: PageSubject {
  fileprivate var heldEvents: [UInt32] { held.map(\.events.lowerBound) }
}
