import FleetExperiments
import FleetSimulation
import UploadRetry

/// The story of one device as aligned lines of text: when, how much it holds, what happens to which batch.
package struct DeviceTimeline {
  /// One line of the story.
  private struct Line {
    /// Microseconds.
    var time: Int64
    /// Events held after it; nil where it does not matter.
    var queue: Int?
    var what: String
    /// `#3`, or empty.
    var batch = ""
    var details: String
  }

  private let trace: DeviceTrace
  private var lines: [Line] = []
  /// The number of each batch by that of its first event, as a reader meets them.
  private var numbers: [Int: Int] = [:]
  private struct Upload: Hashable {
    var batch: Int
    var attempt: Int
  }
  /// When those were sent that are still open to the client.
  private var uploads: [Upload: Int64] = [:]
  /// The server's incidents that have not begun or ended yet.
  private var incidents: [Line] = []
  /// Batches that wait for a backoff, and until when.
  private var backoffs: [Int: Int64] = [:]
  private var waitUntil: Int64 = 0
  private var isOffline = false
  /// Until when a gate holds what is due.
  private var heldUntil: Int64 = 0
  /// The upload whose connection was refused, and those that the network has cut off.
  private var refused: Upload?
  private var cut: Set<Upload> = []
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

  private init(_ trace: DeviceTrace) {
    self.trace = trace
    fates = trace.fates()
    tell()
  }

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
      "fleetsim trace: device \(trace.device), \(trace.cohort.name) (\(trace.cohort.client))\(number); seed \(trace.seed); "
      + "flushes at \(flushes); retries by \(trace.cohort.retries == .timer ? "timer" : "gate, at a flush")"
  }

  // MARK: The story

  /// Stands in the place of a time.
  private static let gapMark = "⋮"

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

  /// Time passes: a wait that ends on the way, and long waits.
  private mutating func move(to time: Int64) {
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
    if let open = uploads.keys.map(\.batch).min() {
      waits = "waits for the answer to \(name(open))"
    } else if isOffline {
      waits = "offline"
    } else if waitUntil > start {
      waits = "the pipeline waits"
    } else if let due = backoffs.values.min(), due > start {
      waits = backoffs.count == 1 ? "a batch backs off" : "\(backoffs.count) batches back off"
    } else if heldUntil > start {
      waits = "held by a gate"
    } else {
      waits = "waits for the next flush"
    }
    lines.append(Line(time: start, what: Self.gapMark, details: "\(length): \(waits)"))
  }

  /// The gate after an event, if it has changed.
  private mutating func follow(_ event: DeviceTrace.Event) {
    guard event.waitUntil != waitUntil else { return }
    let before = waitUntil
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
    if heldUntil == .max { heldUntil = 0 }
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
    return backoffs[batch].map { $0 <= now } ?? (waitUntil == now)
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
      heldUntil = until ?? .max
      add(event, "held", "", "by a gate, until \(until.map(Self.clock) ?? "the next flush")")
    case .asked(let batch): add(event, "question", name(batch), "was it applied?")
    case .sent(let batch, let count, let attempt, let retryCount):
      (backoffs[batch], heldUntil) = (nil, 0)
      (attempts, sizes[batch]) = (attempts + 1, count)
      uploads[Upload(batch: batch, attempt: attempt)] = event.time
      let header = retryCount.map { "X-Retry-Count \($0)" } ?? "no X-Retry-Count"
      add(event, "send", name(batch), "try \(attempt), \(header), \(Self.events(count))")
    case .answered(let batch, let attempt, let response):
      var (words, wait) = ("no answer", "")
      if case .status(let code, let asked) = response {
        words = "\(code)"
        wait = asked.map { ", \(trace.waitHeader) \(Self.seconds($0))," } ?? ""
      }
      let upload = Upload(batch: batch, attempt: attempt)
      let isRefused = refused == upload
      if isRefused { words = cut.contains(upload) ? "no connection" : "connection refused" }
      let sent = uploads.removeValue(forKey: upload)
      let latency = sent.map { " after \(Self.seconds(event.time - $0))" } ?? ""
      let what = response == .noStatus ? isRefused ? "refused" : "time-out" : "answer"
      add(event, what, name(batch), words + wait + latency)
    case .refused(let batch, let attempt): refused = Upload(batch: batch, attempt: attempt)
    case .decided(let batch, let outcome):
      if case .delivered = outcome { delivered += sizes[batch] ?? 0 }
      if case .retry = outcome, isGivenUpAtOnce(batch, after: index) { break }
      if case .retry(let time) = outcome, trace.cohort.queue.mode == .files {
        backoffs[batch] = time
      }
      if let decision = decision(outcome, at: event.time) { append(decision, of: event, name(batch)) }
    case .dropped(let batch, let count, let accepted, let loss):
      backoffs[batch] = nil
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
      if place == .cut { cut.insert(Upload(batch: batch, attempt: attempt)) }
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
      heldUntil = 0
      uploads = [:]
      if trace.cohort.lifecycle?.keepsState == false { backoffs = [:] }
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

  // MARK: Times, counts and reasons

  /// `0:20:35.120`; what is finer than a millisecond is cut off.
  private static func clock(_ microseconds: Int64) -> String {
    let milliseconds = max(0, microseconds) / 1_000
    let (seconds, rest) = (milliseconds / 1_000, milliseconds % 1_000)
    return "\(seconds / 3_600):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2)).\(padded(rest, 3))"
  }

  /// `0.12 s`, `29.875 s`, `5 min 00.5 s`, to the millisecond.
  private static func seconds(_ microseconds: Int64) -> String {
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
  private static func fate(_ count: Int, accepted: Int, later: Bool, isKept: Bool) -> String {
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
