import FleetExperiments
import FleetSimulation
import UploadRetry

/// The story of one device as aligned lines of text: when, how much it holds, what happens to which batch.
package struct DeviceTimeline {
  /// One line of the story.
  fileprivate struct Line {
    /// Microseconds.
    var time: Int64
    /// Events held after it; nil where it does not matter.
    var queue: Int?
    var what: String
    /// `#3`, or empty.
    var batch = ""
    var details: String
  }

  /// What lasts, for a trace viewer.
  fileprivate struct Span {
    enum Kind: String { case server, gate, upload, backoff }
    var kind: Kind
    var name: String
    var time: Range<Int64>
  }

  private let trace: DeviceTrace
  fileprivate private(set) var lines: [Line] = []
  fileprivate private(set) var spans: [Span] = []
  /// The number of each batch by that of its first event, in the order in which a reader meets them.
  private var numbers: [Int: Int] = [:]
  /// Uploads that are still open to the client, by batch and attempt.
  private var uploads: [(batch: Int, attempt: Int, sentAt: Int64)] = []
  /// The server's incidents that have not begun or ended yet.
  private var incidents: [Line] = []
  /// Batches that wait for a backoff, from when until when.
  private var backoffs: [Int: Range<Int64>] = [:]
  private var waitUntil: Int64 = 0
  private var gateSince: Int64 = 0
  private var isOffline = false
  /// The upload whose connection was refused, and those that the network has cut off.
  private var refused: (batch: Int, attempt: Int)?
  private var cut: [(batch: Int, attempt: Int)] = []
  private var queue = 0
  /// Without what no flush has made a batch of.
  private var sealed = 0
  private let fates: (acceptedLater: Set<Int>, accepted: Int)
  private var attempts = 0
  /// Events of each batch when it was sent last.
  private var sizes: [Int: Int] = [:]
  private var delivered = 0
  private var givenUp = 0

  /// A wait is told in a line of its own from this length on, microseconds.
  private static let longWait: Int64 = 5_000_000

  fileprivate init(_ trace: DeviceTrace) {
    self.trace = trace
    fates = trace.fates()
    tell()
  }

  /// How every text begins.
  package static let opening = "fleetsim trace"

  /// Heading, a table of the lines within `range` (microseconds), and what the device came to.
  package static func text(_ trace: DeviceTrace, range: Range<Int64> = 0..<Int64.max) -> String {
    let story = DeviceTimeline(trace)
    let shown = story.lines.filter { range.contains($0.time) }
    var text = heading(trace) + "\n\n"
    // Columns are as wide as those of most devices: traces beside one another are read so.
    let columns = [
      TextTable.Column(title: "       time"), .init(title: " queue"), .init(title: "what", isNumber: false),
      .init(title: "batch", isNumber: false), .init(title: "details", isNumber: false),
    ]
    let rows = shown.map { line in
      [
        line.what == gapMark ? "" : clock(line.time), line.queue.map(String.init) ?? "", line.what,
        line.batch, line.details,
      ]
    }
    text += TextTable(columns: columns, rows: rows).terminal(width: .max)
    if shown.isEmpty { text += "Nothing happens in this stretch of time.\n" }
    let scope = range == 0..<Int64.max ? "" : "In the whole run: "
    return text + "\n" + scope + story.tally + "\n"
  }

  private var tally: String {
    let known = fates.accepted == 0 ? "" : " (the server has \(fates.accepted) of them)"
    return
      "\(FigureText.count(attempts, "attempt")); \(Self.events(delivered)) delivered, \(givenUp) given up\(known), "
      + "\(trace.queuedAtEnd) still queued at the end."
  }

  private static func heading(_ trace: DeviceTrace) -> String {
    let flush = trace.cohort.flush
    let flushes = [
      flush.count.map { FigureText.count($0, "event") }, flush.interval.map { seconds($0.microseconds) },
    ]
    .compactMap(\.self).joined(separator: " or ")
    let number = trace.numberInCohort == trace.device ? "" : ", number \(trace.numberInCohort) of its cohort"
    return
      "\(opening): device \(trace.device), \(trace.cohort.name) (\(trace.cohort.client))\(number); seed \(trace.seed); "
      + "flushes at \(flushes); retries by \(trace.cohort.retries == .timer ? "timer" : "gate, at a flush")"
  }
}

// MARK: - The story

extension DeviceTimeline {
  /// Stands in the place of a time.
  fileprivate static let gapMark = "⋮"

  private mutating func tell() {
    incidents = trace.incidents.flatMap { incident in
      [(incident.start, "begins"), (incident.end, "ends")].map {
        Line(time: $0, what: "server", details: "\(incident.label) \($1)")
      }
    }
    .filter { $0.time < trace.duration }
    .sorted { $0.time < $1.time }
    var rest = trace.events[...]
    while let event = rest.first {
      advance(to: event.time)
      var last = event
      if case .trigger(let trigger, let newEvents) = event.kind {
        let group = rest.dropFirst().prefix { next in
          guard next.time == event.time else { return false }
          if case .sealed = next.kind { return true }
          return whyNot(next) != nil
        }
        last = group.last ?? event
        tell(trigger, newEvents, group, last)
        rest = rest.dropFirst(group.count)
      } else {
        tell(event, rest.startIndex)
      }
      rest = rest.dropFirst()
      (queue, sealed) = (last.queuedEvents, last.sealedEvents)
      follow(last)
    }
    advance(to: trace.duration)
    for incident in trace.incidents {
      span(.server, incident.label, incident.start, min(incident.end, trace.duration))
    }
    spanGate(to: trace.duration)
    endUploads("under way at the end", at: trace.duration)
    for batch in backoffs.keys.sorted() { endBackoff(batch, at: trace.duration) }
  }

  /// Time passes, with what happens to the server on the way.
  private mutating func advance(to time: Int64) {
    while let incident = incidents.first, incident.time <= time {
      move(to: incident.time)
      lines.append(incidents.removeFirst())
    }
    move(to: time)
  }

  /// `#1`, `#2`.
  private mutating func name(_ batch: Int) -> String {
    let number = numbers[batch] ?? numbers.count + 1
    numbers[batch] = number
    return "#\(number)"
  }

  private mutating func span(_ kind: Span.Kind, _ name: String, _ start: Int64, _ end: Int64) {
    if start < end { spans.append(Span(kind: kind, name: name, time: start..<end)) }
  }

  private mutating func spanGate(to time: Int64) {
    span(.gate, waitUntil > gateSince ? "WAITING" : "READY", gateSince, time)
    gateSince = time
  }

  /// Those that the client hears no more of.
  private mutating func endUploads(_ words: String, at time: Int64) {
    for upload in uploads { _ = endUpload(upload.batch, upload.attempt, words, at: time) }
  }

  /// Returns how long it took; nil: no such upload was open.
  private mutating func endUpload(
    _ batch: Int, _ attempt: Int, _ words: String, at time: Int64
  ) -> Int64? {
    guard let index = uploads.firstIndex(where: { ($0.batch, $0.attempt) == (batch, attempt) }) else {
      return nil
    }
    let start = uploads.remove(at: index).sentAt
    span(.upload, "\(name(batch)) try \(attempt): \(words)", start, time)
    return time - start
  }

  /// A backoff is over in time, however long the batch then still waits for a flush.
  private mutating func endBackoff(_ batch: Int, at time: Int64) {
    guard let backoff = backoffs.removeValue(forKey: batch) else { return }
    span(.backoff, "\(name(batch)) backoff", backoff.lowerBound, min(backoff.upperBound, time))
  }

  /// Time passes: a wait that ends on the way, and long waits.
  private mutating func move(to time: Int64) {
    if gateSince < waitUntil, waitUntil <= time { spanGate(to: waitUntil) }
    var last = lines.last?.time ?? 0
    if waitUntil > last, waitUntil <= time, waitUntil < trace.duration {
      gap(from: last, to: waitUntil)
      let transition = RetryTransition.pipeline(waitUntil: waitUntil, lastLookedAt: last, now: waitUntil)
      let details = "\(transition.map(Self.states) ?? "READY"): the wait is over"
      lines.append(Line(time: waitUntil, queue: queue, what: "gate", details: details))
      last = waitUntil
    }
    gap(from: last, to: time)
  }

  private mutating func gap(from start: Int64, to end: Int64) {
    guard end - start >= Self.longWait, sealed > 0, !lines.isEmpty else { return }
    let length = Self.seconds(end - start)
    let waits: String
    if let open = uploads.first {
      waits = "waits for the answer to \(name(open.batch))"
    } else if isOffline {
      waits = "offline"
    } else if waitUntil > start {
      waits = "the pipeline waits"
    } else if let due = backoffs.values.map(\.upperBound).min(), due > start {
      waits = backoffs.count == 1 ? "a batch backs off" : "\(backoffs.count) batches back off"
    } else {
      waits = "waits for the next flush"
    }
    lines.append(Line(time: start, what: Self.gapMark, details: "\(length): \(waits)"))
  }

  /// The gate after an event, if it has changed.
  private mutating func follow(_ event: DeviceTrace.Event) {
    guard event.waitUntil != waitUntil else { return }
    let before = waitUntil
    if max(before, event.waitUntil) > event.time { spanGate(to: event.time) }
    waitUntil = event.waitUntil
    let transition = RetryTransition.pipeline(
      waitUntil: before, after: waitUntil, response: .noStatus, now: event.time)
    if transition.from == .ready, transition.to == .ready { return }
    var details = Self.states(transition)
    if transition.wait > 0 { details += " (\(Self.seconds(transition.wait)))" }
    if transition.to == .ready {
      if case .decided(_, .delivered) = event.kind { details += ": a delivery ends the wait" }
    }
    lines.append(Line(time: event.time, queue: queue, what: "gate", details: details))
  }

  private static func states(_ transition: RetryTransition) -> String {
    func name(_ state: RetryTransition.State, isLong: Bool) -> String {
      guard case .waiting(let until) = state else { return "\(state)" }
      return isLong ? "WAITING until \(clock(until))" : "WAITING"
    }
    return "\(name(transition.from, isLong: false)) > \(name(transition.to, isLong: true))"
  }

  private mutating func tell(
    _ trigger: DeviceTrace.Trigger, _ newEvents: Int, _ events: ArraySlice<DeviceTrace.Event>,
    _ last: DeviceTrace.Event
  ) {
    let more = newEvents == 0 ? "" : ", \(Self.events(newEvents))"
    let first =
      switch trigger {
      case .count: "\(Self.events(newEvents)) make a flush"
      case .interval:
        "interval\(trace.cohort.flush.interval.map { " of \(Self.seconds($0.microseconds))" } ?? ""), "
          + (newEvents == 0 ? "nothing new" : Self.events(newEvents))
      case .launch: "at the launch" + more
      case .window: "window" + more
      case .spike: "with the others" + more
      case .reconnect: "online again" + more
      case .foreground: "in the foreground" + more
      case .background: "to the background" + more
      case .wakeUp: endsWait(events, at: last.time) ? "a wait is over" : "a limit is reached"
      }
    var parts = [first]
    var sealed: [String] = []
    for event in events {
      if case .sealed(let batch, let count) = event.kind {
        let numbers = count == 1 ? "event \(batch + 1)" : "events \(batch + 1) to \(batch + count)"
        sealed.append("\(name(batch)) (\(numbers))")
      } else if let reason = whyNot(event) {
        parts.append(reason)
      }
    }
    if !sealed.isEmpty { parts[0] += ": seals " + sealed.joined(separator: ", ") }
    add(last, trigger == .wakeUp ? "timer" : "flush", "", parts.joined(separator: "; "))
  }

  /// Whether a limit gives a batch up in the moment of its decision: there is no wait (`RetryPolicy.limitsCheck`).
  private func isGivenUpAtOnce(_ batch: Int, after index: Int) -> Bool {
    let time = trace.events[index].time
    for event in trace.events[(index + 1)...] {
      if event.time > time { return false }
      switch event.kind {
      case .dropped(batch, _, _, .limit): return true
      case .sent(batch, _, _, _): return false
      default: break
      }
    }
    return false
  }

  /// Whether a wake-up, and what it brought, comes at the end of a wait. Otherwise a limit has ended it earlier, or there was none.
  private func endsWait(_ brought: ArraySlice<DeviceTrace.Event>, at now: Int64) -> Bool {
    guard trace.cohort.queue.mode == .files, brought.endIndex < trace.events.count,
      case .dropped(let batch, _, _, .limit) = trace.events[brought.endIndex].kind,
      trace.events[brought.endIndex].time == now
    else { return true }
    return backoffs[batch].map { $0.upperBound <= now } ?? (waitUntil == now)
  }

  /// Why a trigger sends nothing of its own; nil: the event says nothing of that.
  private func whyNot(_ event: DeviceTrace.Event) -> String? {
    switch event.kind {
    case .alreadyUploading(joins: true): "an upload loop runs already"
    case .alreadyUploading(joins: false): "ignored, uploads run already"
    case .heldBackOffline: "held back: offline"
    case .heldBackBySystem: "held back: in the background, no window is open"
    case .heldBack: "held back: the pipeline is WAITING until \(Self.clock(event.waitUntil))"
    default: nil
    }
  }

  /// - Parameter index: of the event in the trace.
  private mutating func tell(_ event: DeviceTrace.Event, _ index: Int) {
    switch event.kind {
    case .trigger, .sealed: break
    case .heldBack, .heldBackOffline, .heldBackBySystem, .alreadyUploading:
      add(event, "flush", "", whyNot(event) ?? "")
    case .heldByGate(let until):
      add(event, "held", "", "by a gate, until \(until.map(Self.clock) ?? "the next flush")")
    case .asked(let batch): add(event, "question", name(batch), "was it applied?")
    case .sent(let batch, let count, let attempt, let retryCount):
      endBackoff(batch, at: event.time)
      (attempts, sizes[batch]) = (attempts + 1, count)
      uploads.removeAll { ($0.batch, $0.attempt) == (batch, attempt) }
      uploads.append((batch, attempt, event.time))
      uploads.sort { ($0.batch, $0.attempt) < ($1.batch, $1.attempt) }
      let header = retryCount.map { "X-Retry-Count \($0)" } ?? "no X-Retry-Count"
      add(event, "send", name(batch), "try \(attempt), \(header), \(Self.events(count))")
    case .answered(let batch, let attempt, let response):
      var (words, wait) = ("no answer", "")
      if case .status(let code, let asked) = response {
        words = "\(code)"
        wait = asked.map { ", \(trace.waitHeader) \(Self.seconds($0))," } ?? ""
      }
      let isRefused = refused.map { $0 == (batch, attempt) } ?? false
      if isRefused {
        words = cut.contains { $0 == (batch, attempt) } ? "no connection" : "connection refused"
      }
      let latency =
        endUpload(batch, attempt, words, at: event.time).map { " after \(Self.seconds($0))" } ?? ""
      let what = response == .noStatus ? isRefused ? "refused" : "time-out" : "answer"
      add(event, what, name(batch), words + wait + latency)
    case .refused(let batch, let attempt): refused = (batch, attempt)
    case .decided(let batch, let outcome):
      if case .delivered = outcome { delivered += sizes[batch] ?? 0 }
      if case .retry = outcome, isGivenUpAtOnce(batch, after: index) { break }
      if case .retry(let time) = outcome, trace.cohort.queue.mode == .files {
        backoffs[batch] = event.time..<max(time, event.time)
      }
      if let decision = decision(outcome, at: event.time) { append(decision, of: event, name(batch)) }
    case .dropped(let batch, let count, let accepted, let loss):
      endBackoff(batch, at: event.time)
      givenUp += count
      let fate = Self.fate(
        count, accepted: accepted, later: fates.acceptedLater.contains(index), isKept: loss == .blocked)
      add(event, "drop", name(batch), "\(Self.events(count)) \(fate): \(Self.reason(loss))")
    case .acceptedUnheard(let batch, let attempt):
      add(event, "server", name(batch), "accepts try \(attempt); the client does not learn of it")
    case .wentOffline(let count):
      add(event, "offline", "", "the network is gone" + (count == 0 ? "" : "; " + Self.cutOff(count)))
      isOffline = true
    case .cameOnline:
      add(event, "online", "", "the network is back")
      isOffline = false
    case .cameToForeground: add(event, "open", "", "the app comes to the foreground")
    case .wentToBackground: add(event, "close", "", "the app goes to the background")
    case .windowOpened: add(event, "window", "", "the system lets the app send in the background")
    case .windowClosed: add(event, "window", "", "the system lets it send no longer")
    case .lost(let batch, let attempt, let place):
      if place == .cut { cut.append((batch, attempt)) }
      add(event, "network", name(batch), "try \(attempt): \(Self.words(place))")
    case .split(let batch, let count, let other):
      add(event, "split", name(batch), "too large: its last \(Self.events(count)) become \(name(other))")
    case .stateReset: add(event, "reset", "", "a limit is reached: all retry state is fresh")
    case .fetchedSettings:
      let words =
        trace.fetchesSettings ? "the app has got Settings" : "the app fetches Settings, and has the new ones"
      add(event, "fetch", "", words)
    case .askedForSettings: add(event, "fetch", "", "the app asks for Settings")
    case .gotNoSettings(.noStatus): add(event, "fetch", "", "no answer: the app goes on without new Settings")
    case .gotNoSettings(.status(let status, _)):
      add(event, "fetch", "", "answered \(status): the app goes on without new Settings")
    case .launched(let settings, let cutOff):
      endUploads("cut off", at: event.time)
      if trace.cohort.lifecycle?.keepsState == false {
        for batch in backoffs.keys.sorted() { endBackoff(batch, at: event.time) }
      }
      add(event, "launch", "", launch(settings, cutOff))
    }
  }

  private static func cutOff(_ count: Int) -> String {
    "\(count == 1 ? "an upload is" : "\(count) uploads are") cut off"
  }

  private func launch(_ settings: DeviceTrace.LaunchSettings, _ cutOff: Int) -> String {
    let keeps = trace.cohort.lifecycle?.keepsState ?? true
    var text = "the app restarts, its retry state is \(keeps ? "restored" : "forgotten")"
    if cutOff > 0 { text += ", " + Self.cutOff(cutOff) }
    switch settings {
    case .base: return text
    case .rollout: return text + "; it has the new Settings"
    case .builtIn where trace.fetchesSettings:
      return text + "; built-in Settings until it has fetched its own"
    case .builtIn: return text + "; the CDN is down: built-in Settings"
    }
  }

  private func decision(_ outcome: RetryOutcome, at now: Int64) -> String? {
    switch outcome {
    case .delivered: "delivered"
    case .backOff(let time),
      .retry(let time) where trace.cohort.queue.mode == .rebatch:
      "the whole client backs off \(Self.seconds(time - now))"
    case .retry(let time): "backs off \(Self.seconds(time - now)), until \(Self.clock(time))"
    case .pause(let time), .dropAndPause(_, let time):
      "the pipeline waits \(Self.seconds(time - now)), until \(Self.clock(time))"
    case .retryAtNextTrigger: "tried again at the next flush"
    case .refreshThenRetry(let time): "refreshes its credentials and backs off, until \(Self.clock(time))"
    case .refreshCredentials: "refreshes its credentials and tries once more"
    case .drop: nil
    case .discarded: "takes it for delivered"
    }
  }

  private mutating func add(
    _ event: DeviceTrace.Event, _ what: String, _ batch: String, _ details: String
  ) {
    lines.append(
      Line(time: event.time, queue: event.queuedEvents, what: what, batch: batch, details: details))
  }

  /// A decision belongs to the line of its answer.
  private mutating func append(_ words: String, of event: DeviceTrace.Event, _ batch: String) {
    guard let last = lines.last, last.time == event.time, last.batch == batch else {
      return add(event, "decision", batch, words)
    }
    lines[lines.count - 1].details += ": " + words
    lines[lines.count - 1].queue = event.queuedEvents
  }
}

/// How times, counts and reasons are worded.
extension DeviceTimeline {
  /// `0:20:35.120`; what is finer than a millisecond is cut off.
  fileprivate static func clock(_ microseconds: Int64) -> String {
    let milliseconds = max(0, microseconds) / 1_000
    let (seconds, rest) = (milliseconds / 1_000, milliseconds % 1_000)
    return "\(seconds / 3_600):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2)).\(padded(rest, 3))"
  }

  /// `0.12 s`, `29.875 s`, `5 min 00.5 s`, to the millisecond.
  fileprivate static func seconds(_ microseconds: Int64) -> String {
    let milliseconds = max(0, microseconds) / 1_000 + (max(0, microseconds) % 1_000 >= 500 ? 1 : 0)
    let (minutes, rest) = (milliseconds / 60_000, milliseconds % 60_000)
    let seconds = FigureText.fraction(UInt64(rest), of: 1_000) + " s"
    if minutes == 0 { return seconds }
    let tail = rest == 0 ? "" : rest < 10_000 ? " 0" + seconds : " " + seconds
    if minutes < 60 { return "\(minutes) min\(tail)" }
    let hours = "\(minutes / 60) h"
    return minutes % 60 == 0 && rest == 0 ? hours : hours + " \(padded(minutes % 60, 2)) min" + tail
  }

  static func events(_ count: Int) -> String { FigureText.count(count, "event") }

  /// What becomes of events that a client gives up: they are lost only if the server never has them.
  ///
  /// - Parameters:
  ///   - accepted: so many of them the server has.
  ///   - later: it accepts the others later.
  fileprivate static func fate(_ count: Int, accepted: Int, later: Bool, isKept: Bool) -> String {
    let act = isKept ? "kept" : "given up"
    let them = count == 1 ? "it" : "them"
    if accepted == count { return "\(act), though the server has \(them)" }
    if later { return "\(act), though the server accepts \(them) later" }
    if accepted > 0 { return "\(act), of which the server has \(accepted)" }
    return isKept ? "kept" : "lost"
  }

  static func reason(_ loss: DeviceTrace.Loss) -> String {
    switch loss {
    case .limit(.status): "this status is not retried"
    case .limit(.retryLimit): "the batch's retries are used up"
    case .limit(.rateLimitRetryLimit): "the client's retries after 429 are used up"
    case .limit(.age): "its retries have gone on for too long"
    case .overflow: "the queue was full"
    case .refused: "a gate refuses it"
    case .blocked: "blocked, waiting for somebody to do something about it"
    }
  }

  static func words(_ place: DeviceTrace.LossOnTheWay) -> String {
    switch place {
    case .request: "the request gets lost"
    case .answer: "the answer will get lost"
    case .noConnection: "no connection in time"
    case .cut: "cut off"
    case .tooSlow: "too large for this link within the time-out"
    }
  }

  private static func padded(_ value: Int64, _ digits: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}

extension DeviceTrace {
  /// Returns what the server has, in the end, of the events that the device gave up: the places in the trace of drops whose events
  /// it accepts afterwards, and how many of all.
  fileprivate func fates() -> (acceptedLater: Set<Int>, accepted: Int) {
    var (places, sum) = (Set<Int>(), 0)
    var unheard: Set<Int> = []
    for index in events.indices.reversed() {
      switch events[index].kind {
      case .acceptedUnheard(let batch, _): unheard.insert(batch)
      case .dropped(let batch, let events, let accepted, _):
        let isLater = accepted < events && unheard.contains(batch)
        if isLater { places.insert(index) }
        sum += isLater ? events : accepted
      default: break
      }
    }
    return (places, sum)
  }
}

/// One device as Chrome trace events (JSON), which trace viewers such as Perfetto open.
///
/// Each line of the story is an instant, with what happens as its argument. Spans are the pipeline's READY and WAITING, the server's
/// incidents, and each attempt in one of as many upload tracks as it takes. Each backoff of a batch is an asynchronous span of its
/// own, and queued events are a counter. Times are virtual microseconds. One event a line; the same trace gives the same bytes.
package enum ChromeTrace {
  /// The numbers of tracks; upload slots follow the first one.
  private static let (gate, story, server, uploads) = (1, 2, 3, 10)

  /// How every such file begins.
  package static let opening = "{\"displayTimeUnit\":\"ms\""

  package static func text(_ trace: DeviceTrace) -> String {
    let timeline = DeviceTimeline(trace)
    let spans = timeline.spans.sorted { $0.time.lowerBound < $1.time.lowerBound }
    let process = "device \(trace.device) (\(trace.cohort.name))"
    var lines = [event("M", "process_name", nil, 0, [arguments("name", process.asJSON)])]
    lines += track(gate, "pipeline") + track(story, "story")
    if !trace.incidents.isEmpty { lines += track(server, "server incidents") }
    var busyUntil: [Int64] = []
    for span in spans where span.kind == .upload {
      let slot = busyUntil.firstIndex { $0 <= span.time.lowerBound } ?? busyUntil.count
      if slot == busyUntil.count {
        busyUntil.append(0)
        lines += track(uploads + slot, "upload \(slot + 1)")
      }
      busyUntil[slot] = span.time.upperBound
      lines.append(complete(span, uploads + slot))
    }
    for (number, span) in spans.enumerated() {
      switch span.kind {
      case .gate: lines.append(complete(span, gate))
      case .server: lines.append(complete(span, server))
      case .upload: break
      case .backoff:
        let identity = [("cat", "backoff".asJSON), ("id", "\(number)")]
        lines.append(event("b", span.name, gate, span.time.lowerBound, identity))
        lines.append(event("e", span.name, gate, span.time.upperBound, identity))
      }
    }
    var queue = 0
    lines.append(counter(queue, at: 0))
    for line in timeline.lines where line.what != DeviceTimeline.gapMark {
      let name = line.batch.isEmpty ? line.what : "\(line.what) \(line.batch)"
      let details = arguments("details", line.details.asJSON)
      lines.append(event("i", name, story, line.time, [("s", "t".asJSON), details]))
      guard let held = line.queue, held != queue else { continue }
      queue = held
      lines.append(counter(queue, at: line.time))
    }
    let heading = [
      ("device", "\(trace.device)"), ("cohort", trace.cohort.name.asJSON), ("seed", "\(trace.seed)".asJSON),
    ]
    return "\(opening),\"otherData\":\(object(heading)),\"traceEvents\":[\n"
      + lines.joined(separator: ",\n") + "\n]}\n"
  }

  private static func event(
    _ phase: String, _ name: String, _ track: Int?, _ time: Int64, _ more: [(String, String)]
  ) -> String {
    let thread = track.map { [("tid", "\($0)")] } ?? []
    return object(
      [("ph", phase.asJSON), ("name", name.asJSON), ("pid", "1")] + thread + [("ts", "\(time)")] + more)
  }

  private static func complete(_ span: DeviceTimeline.Span, _ track: Int) -> String {
    event(
      "X", span.name, track, span.time.lowerBound,
      [("dur", "\(span.time.upperBound - span.time.lowerBound)"), ("cat", span.kind.rawValue.asJSON)])
  }

  private static func counter(_ value: Int, at time: Int64) -> String {
    event("C", "queued events", nil, time, [arguments("events", "\(value)")])
  }

  private static func track(_ number: Int, _ name: String) -> [String] {
    [
      event("M", "thread_name", number, 0, [arguments("name", name.asJSON)]),
      event("M", "thread_sort_index", number, 0, [arguments("sort_index", "\(number)")]),
    ]
  }

  private static func arguments(_ name: String, _ value: String) -> (String, String) {
    ("args", object([(name, value)]))
  }

  private static func object(_ members: [(String, String)]) -> String {
    "{" + members.map { "\($0.0.asJSON):\($0.1)" }.joined(separator: ",") + "}"
  }
}
