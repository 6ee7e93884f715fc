import FleetMetrics
import ScenarioModel
import ShippedClients
import ShippedQuirks
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

/// A device that is a browser: the page that is open in it, and the store and requests that pages leave behind.
///
/// The client is `BrowserPage`, not the upload loop. To the shard each event is a batch of its own, whatever request it goes
/// with. So all counts of batches hold: events that the server has accepted before, losses, and how long delivery took.
struct BrowserDevice {
  /// nil: none is open.
  var page: BrowserPage?
  /// The events that the next page finds in store.
  var stored: [SavedEvent] = []
  /// The store is no JSON: no page can load or save any more.
  var isStoreBroken = false
  /// Pages opened so far: each draws by its number.
  var pagesOpened: UInt64 = 0
  /// Polls of the pages that have gone.
  var earlierPolls: UInt64 = 0
  /// Requests whose end the page or the server does not know yet.
  var requests = PageRequests()
  /// The page waits for its Settings; events made since it began to.
  var isLoading = false
  var early: [UInt32] = []
  /// The batches of the events that are held.
  var batches: [UInt32: BatchIndex] = [:]
  /// The actions of its pages, on a device that is driven by hand.
  var log: [BrowserAction] = []

  var polls: UInt64 { earlierPolls &+ (page?.polls ?? 0) }
}

/// A request on its way. The record of its first event stands for it in the calendar.
struct PageRequest {
  /// The carrier's: how deliveries name it.
  let id: AttemptID
  /// The others.
  let riders: [BatchIndex]
  let isCopy: Bool
  /// No event is in it; the carrier only stands for it.
  let isEmpty: Bool
  /// The page's number for it; nil: the page has gone, or has learned how it ended.
  var upload: UInt32?
  /// How often the server may still accept it: more than once where a proxy has tried again.
  fileprivate(set) var open = 1
  var isOpen: Bool { open > 0 }

  var batches: [BatchIndex] { isEmpty ? [] : records }
  /// Batches whose records count the attempt.
  fileprivate var records: [BatchIndex] { [id.batch] + riders }
}

/// Requests of a page, found by their delivery and by their upload at the cost of one lookup: a slow server leaves thousands open.
struct PageRequests {
  private var requests: [AttemptID: PageRequest] = [:]
  private var ids: [UInt32: AttemptID] = [:]

  /// Uploads that the page waits for, in the order of their sending.
  var awaited: [UInt32] { ids.keys.sorted() }

  mutating func append(_ request: PageRequest) {
    requests[request.id] = request
    if let upload = request.upload { ids[upload] = request.id }
  }

  func request(_ id: AttemptID) -> PageRequest? { requests[id] }

  func request(ofUpload upload: UInt32) -> PageRequest? { ids[upload].flatMap { requests[$0] } }

  /// The server will not accept it any more, or once less.
  mutating func close(_ request: PageRequest) {
    requests[request.id]?.open -= 1
    if request.open <= 1, requests[request.id]?.upload == nil { requests[request.id] = nil }
  }

  /// The server may accept it once more.
  mutating func open(_ request: PageRequest) { requests[request.id]?.open += 1 }

  /// The page waits for an upload no more; nil: it did not.
  mutating func forget(_ upload: UInt32) -> PageRequest? {
    guard let id = ids.removeValue(forKey: upload), let request = requests[id] else { return nil }
    requests[id] = request.isOpen ? request : nil
    requests[id]?.upload = nil
    return request
  }
}

extension CohortPlan {
  /// The plan of a cohort of browsers, in place of an upload loop.
  struct Pages {
    var options: BrowserOptions
    /// By `SettingsVersion`; nil: the page could not fetch any.
    var settings: [BrowserSettings?]
  }
}

extension Cohort {
  /// A cohort of browsers as a shard has it: each event is told at once, as a batch of its own. Any other cohort stays as it is.
  var withoutLoop: Cohort {
    guard behaviour.page != nil else { return self }
    var cohort = self
    let standard = ClientPreset()
    cohort.preset = standard
    cohort.take(standard)
    cohort.behaviour.policy.retry.retryAfterForms = behaviour.policy.retry.retryAfterForms
    cohort.behaviour.policy.readsRateLimitReset = behaviour.policy.readsRateLimitReset
    (cohort.behaviour.page, cohort.timeout) = (behaviour.page, timeout)
    cohort.flush = FlushPolicy()
    (cohort.flush.count, cohort.flush.interval) = (1, nil)
    (cohort.behaviour.queue.mode, cohort.behaviour.queue.maximumBatchEvents) = (.files, 1)
    (cohort.behaviour.queue.maximumBatchBytes, cohort.behaviour.queue.limit) = (nil, .max)
    cohort.behaviour.uploadConcurrency = .max
    return cohort
  }
}

/// Pages of a browser on the devices of a shard (`CohortPlan.pages`).
extension DeviceShard {
  private func browser(_ device: DeviceIndex) -> UnsafeMutablePointer<BrowserDevice> {
    pages.unsafelyUnwrapped + device.place
  }

  // MARK: A page's life

  /// A page is to be loaded. It waits for its Settings, where a fetch of them is a request.
  mutating func loadPage(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    browser(device).pointee.isLoading = fetches != nil
    fetchAtLaunch(device, at: now, sink)
    if fetches == nil { openPage(device, at: now, sink) }
  }

  /// The page has its Settings, or will get none; the events made before then are tracked now.
  mutating func finishLoading(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    let browser = browser(device)
    guard browser.pointee.isLoading else { return }
    let early = browser.pointee.early
    (browser.pointee.isLoading, browser.pointee.early) = (false, [])
    openPage(device, at: now, sink)
    for event in early { browser.pointee.page?.track(event, at: now) }
    act(device, at: now, sink)
  }

  /// A page is loaded, and takes what is in store. Without Settings it does nothing.
  mutating func openPage(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    let browser = browser(device)
    guard let plan = plan.pointee.pages else { return }
    var options = plan.options
    if browser.pointee.isStoreBroken { options.savesEvents = false }
    let script = script?.takeUnretainedValue()
    let settings = script?.settings ?? plan.settings[self[device].pointee.settingsIndex]
    let number = browser.pointee.pagesOpened
    browser.pointee.pagesOpened &+= 1
    let key = key(of: device).child(RandomPurpose.pages).child(number)
    let word = script?.pageWord
    browser.pointee.page = BrowserPage(
      options, settings, saved: settings == nil ? [] : browser.pointee.stored,
      isOnline: !self[device].pointee.flags.contains(.offline),
      draws: BrowserDraws(
        leaps: word == nil,
        poll: { loop, n in word ?? Self.word(key.child(0).child(UInt64(loop)).child(n)) },
        wait: { event, n in word ?? Self.word(key.child(1).child(UInt64(event)).child(UInt64(n))) }),
      at: now)
    if settings != nil { browser.pointee.stored = [] }
    act(device, at: now, sink)
  }

  private static func word(_ key: RandomKey) -> UInt64 {
    var stream = RandomStream(key)
    return stream.next()
  }

  /// The page goes: with `pagehide`, or because it is killed.
  mutating func closePage(_ device: DeviceIndex, isKilled: Bool, at now: Int64, _ sink: Sink) {
    let browser = browser(device)
    forgetFetch(device)
    for event in browser.pointee.early { lose(event, .lostWithPage, device, at: now) }
    (browser.pointee.isLoading, browser.pointee.early) = (false, [])
    guard browser.pointee.page != nil else { return }
    browser.pointee.page?.run(until: now)
    let saved = isKilled ? [] : browser.pointee.page?.hide(at: now) ?? []
    act(device, at: now, sink)
    let kept = Set(saved.map { $0.number })
    for event in browser.pointee.page?.held ?? [] where !kept.contains(event) {
      lose(event, .lostWithPage, device, at: now)
    }
    for upload in browser.pointee.requests.awaited {
      guard let request = browser.pointee.requests.forget(upload) else { continue }
      endForPage(request, .other, device, at: now)
      for batch in request.batches where !request.isCopy {
        noteUnknownOutcome(batch, at: now)
      }
    }
    browser.pointee.stored += saved
    browser.pointee.earlierPolls &+= browser.pointee.page?.polls ?? 0
    browser.pointee.page = nil
    self[device].pointee.flags.remove(.wakes)
  }

  /// Makes the store no JSON any more.
  mutating func breakStore(_ device: DeviceIndex, at now: Int64) {
    let browser = browser(device)
    browser.pointee.isStoreBroken = plan.pointee.pages?.options.savesEvents ?? false
    for event in browser.pointee.stored { lose(event.number, .lostWithPage, device, at: now) }
    browser.pointee.stored = []
  }

  // MARK: What happens to it

  /// New events are tracked. Without a page they are lost.
  mutating func track(
    _ created: CreatedEvents, user: UInt32 = 0, _ device: DeviceIndex, at now: Int64, _ sink: Sink
  ) {
    let browser = browser(device)
    var (time, ordinal) = (created.firstTime, self[device].pointee.nextOrdinal)
    browser.pointee.page?.run(until: now)
    for _ in 0..<created.count {
      willSeal(1, through: ordinal &+ 1, device)
      append(1, firstOrdinal: ordinal, firstTime: time, device, at: now)
      removeReady(at: ordinal, device)
      browser.pointee.batches[ordinal] = self[device].pointee.newest
      if browser.pointee.isLoading {
        browser.pointee.early.append(ordinal)
      } else if browser.pointee.page == nil {
        lose(ordinal, .lostWithPage, device, at: now)
      } else {
        browser.pointee.page?.track(ordinal, user: user, at: now)
      }
      (time, ordinal) = skip(1, from: ordinal, at: time, device)
    }
    act(device, at: now, sink)
  }

  /// The network has gone, or is there again. Requests under way fail by themselves.
  mutating func setPageOnline(_ isOnline: Bool, _ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    let browser = browser(device)
    browser.pointee.page?.run(until: now)
    browser.pointee.page?.setOnline(isOnline, at: now)
    if !isOnline {
      for upload in browser.pointee.requests.awaited {
        guard let request = browser.pointee.requests.request(ofUpload: upload) else { continue }
        for batch in request.batches { noteUnknownOutcome(batch, at: now) }
        hear(upload, .noStatus, device, at: now, sink)
      }
    }
    act(device, at: now, sink)
  }

  /// Something has become of a request.
  @inline(never)
  mutating func hearPage(_ delivery: Delivery, at now: Int64, _ sink: Sink) {
    let device = delivery.device
    let browser = browser(device)
    guard let request = browser.pointee.requests.request(delivery.id) else { return }
    if delivery.kind == .acceptance, delivery.status == Delivery.opening {
      for batch in request.batches { openAgain(batch) }
      browser.pointee.requests.open(request)
      return
    }
    let generations = request.records.map { batches[$0].generation }
    if delivery.kind != .timeOut || delivery.resolves {
      for batch in request.records { batches[batch].attemptEnds() }
      browser.pointee.requests.close(request)
    }
    var response: UploadResponse?
    switch delivery.kind {
    case .answer:
      self[device].pointee.noteReception(at: now)
      if delivery.status == 200 {
        for batch in request.batches {
          accept(batch, device, at: now &- Int64(delivery.downlink))
        }
      }
      response = plan.response(status: delivery.status, retryAfter: delivery.retryAfter)
    case .acceptance:
      for batch in request.batches { accept(batch, device, at: now) }
    case .loss: break
    case .timeOut:
      if request.upload != nil {
        noteTimeOut(delivery, ledger.row(at: now))
        if delivery.status == 0 {
          for batch in request.batches { noteUnknownOutcome(batch, at: now) }
        }
      }
      response = .noStatus
    }
    if let upload = request.upload, let response {
      browser.pointee.page?.run(until: now)
      let timedOut = delivery.kind == .timeOut && delivery.status != Delivery.refused
      hear(upload, response, timedOut: timedOut, device, at: now, sink)
      act(device, at: now, sink)
    }
    for (batch, generation) in zip(request.records, generations) where batches[batch].generation == generation
    {
      releaseIfDone(batch, device)
    }
  }

  /// The page learns how an upload of it ended.
  private mutating func hear(
    _ upload: UInt32, _ response: UploadResponse, timedOut: Bool = false, _ device: DeviceIndex,
    at now: Int64, _ sink: Sink
  ) {
    switch response {
    case .noStatus: answer(upload, status: nil, retryAfter: nil, timedOut: timedOut, device, at: now, sink)
    case .status(let status, let wait):
      answer(upload, status: status, retryAfter: wait.map { Double($0 / 1_000_000) }, device, at: now, sink)
    }
  }

  /// An upload of the page ends.
  ///
  /// - Parameter retryAfter: seconds; nil: none.
  mutating func answer(
    _ upload: UInt32, status: Int?, retryAfter: Double?, body: AnswerBody? = nil, timedOut: Bool = false,
    _ device: DeviceIndex, at now: Int64, _ sink: Sink
  ) {
    let browser = browser(device)
    guard let request = browser.pointee.requests.forget(upload) else { return }
    let failure = status.map { AttemptFailure(status: UInt16(clamping: $0)) } ?? .noAnswer
    endForPage(request, (status ?? 0) == 200 ? nil : failure, device, at: now)
    let heard = timedOut ? browser.pointee.page?.statusOfTimeOut : status
    browser.pointee.page?.answered(upload, status: heard, retryAfter: retryAfter, body: body, at: now)
  }

  /// The page waits no more for a request.
  private mutating func endForPage(
    _ request: PageRequest, _ failure: AttemptFailure?, _ device: DeviceIndex, at now: Int64
  ) {
    ledger.count(-1, .inFlight, at: now)
    for batch in request.batches {
      if !request.isCopy {
        batches[batch].flags.remove(.inFlight)
        setUploads(uploads(of: device) &- 1, of: device)
      }
      if let failure { noteFailure(failure, of: batches.address(batch), device) }
    }
  }

  // MARK: What it does

  /// The page runs to a time, what it has done is done, and its next timer is set.
  mutating func act(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    let browser = browser(device)
    browser.pointee.page?.run(until: now)
    while true {
      let failed = perform(device, at: now, sink)
      if failed.isEmpty { break }
      for upload in failed { browser.pointee.page?.answered(upload, status: nil, retryAfter: nil, at: now) }
    }
    if let next = browser.pointee.page?.nextTimer { wake(device, at: max(next, now), sink) }
  }

  /// Does what the page has decided; returns the uploads that fail at once, without a network.
  private mutating func perform(_ device: DeviceIndex, at now: Int64, _ sink: Sink) -> [UInt32] {
    let browser = browser(device)
    let actions = browser.pointee.page?.actions ?? []
    if !actions.isEmpty { browser.pointee.page?.actions = [] }
    var failed: [UInt32] = []
    for action in actions {
      switch action {
      case .send(let upload, _, _, _, _) where sendsInVain(device): failed.append(upload)
      case .send(let upload, let events, let retryCount, _, let isCopy):
        send(
          upload, events, retryCount: UInt16(clamping: retryCount ?? 0), isCopy: isCopy, device, at: now, sink
        )
      case .delivered(let events):
        for event in events {
          guard let batch = browser.pointee.batches.removeValue(forKey: event) else { continue }
          settle(batch, device, at: now)
        }
      case .lost(let event, let loss): lose(event, counter(of: loss), device, at: now)
      case .decided(let event, let outcome):
        observe(.decided(batch: event, outcome), device, at: now)
        switch outcome {
        case .retry(let time), .pause(let time):
          if time > now { count(time &- now, .backoffMicroseconds, device, at: now) }
        default: break
        }
      }
    }
    if script != nil { browser.pointee.log += actions }
    return failed
  }

  /// Whether nothing that it sends reaches the network: it is offline, and its client does not ask.
  private func sendsInVain(_ device: DeviceIndex) -> Bool {
    script == nil && self[device].pointee.flags.contains(.offline)
      && browser(device).pointee.page?.options.strategy.isInMemory ?? false
  }

  private mutating func send(
    _ upload: UInt32, _ events: [UInt32], retryCount: UInt16, isCopy: Bool, _ device: DeviceIndex,
    at now: Int64, _ sink: Sink
  ) {
    let browser = browser(device)
    let held = events.compactMap { browser.pointee.batches[$0] }
    // An upload without events is sent by a client that holds some.
    let stand = events.isEmpty ? browser.pointee.batches.max { $0.key < $1.key }?.value : held.first
    guard let carrier = stand, held.count == events.count else {
      report("a page has sent what it does not hold", device, at: now)
      return
    }
    let riders = Array(held.dropFirst())
    let isCopy = isCopy || events.isEmpty
    let id = AttemptID(
      device, carrier, number: batches[carrier].nextAttempt, generation: batches[carrier].generation)
    browser.pointee.requests.append(
      PageRequest(id: id, riders: riders, isCopy: isCopy, isEmpty: events.isEmpty, upload: upload))
    for rider in riders { batches[rider].attemptLeaves(number: batches[rider].nextAttempt) }
    trace(tracedSend(carrier, retryCount), device, at: now)
    transmit(
      carrier, device, retryCount: retryCount, asQuery: false, events: UInt16(clamping: events.count),
      at: now, sink)
    setUploads(uploads(of: device) &+ UInt32(riders.count), of: device)
    guard isCopy else { return }
    // Nobody waits for it.
    for batch in [carrier] + riders { batches[batch].flags.remove(.inFlight) }
    setUploads(uploads(of: device) &- UInt32(riders.count + 1), of: device)
  }

  private mutating func lose(_ event: UInt32, _ reason: Measure, _ device: DeviceIndex, at now: Int64) {
    guard let batch = browser(device).pointee.batches.removeValue(forKey: event) else { return }
    if reason == .droppedByRetryLimit { ledger.noteRetryLimit() }
    drop(batch, reason, device, at: now)
  }

  // MARK: What observers read

  func events(ofRequest id: AttemptID) -> UInt16 {
    UInt16(clamping: browser(id.device).pointee.requests.request(id)?.batches.count ?? 1)
  }

  /// Returns the events that a device's page has under way and those that it lets wait; the rest is queued, or in store.
  func waitingEvents(_ device: DeviceIndex) -> Int64 {
    Int64(browser(device).pointee.page?.waitingEvents ?? 0)
  }

  /// The server has accepted an upload whose answer is under way when the run ends.
  mutating func acceptLate(_ delivery: Delivery, at time: Int64) {
    let browser = browser(delivery.device)
    let request = browser.pointee.requests.request(delivery.id)
    for batch in request?.batches ?? [] { accept(batch, delivery.device, at: time) }
  }
}
