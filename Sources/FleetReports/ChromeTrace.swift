import FleetMetrics
import FleetSimulation
import UploadRetry

/// One device as Chrome trace events (JSON), which trace viewers such as Perfetto open.
///
/// Tracks: the gate (READY and WAITING as spans), triggers (instants), one per upload slot (a span per attempt), the server's
/// incidents, and a counter of queued events. Each backoff of a batch is an asynchronous span of its own. Times are virtual
/// microseconds. One event a line; the same trace gives the same bytes.
package struct ChromeTrace {
  private enum Track {
    static let gate = 1
    static let triggers = 2
    static let server = 3
    /// The first upload slot; the others follow.
    static let uploads = 10
  }

  private struct Upload {
    var slot: Int
    var sentAt: Int64
    var arguments: [(String, String)]
  }

  private let trace: DeviceTrace
  private var lines: [String] = []
  private var names = BatchNames()
  private var uploads: [UploadName: Upload] = [:]
  private var slots = 0
  /// Backoffs that have begun: batch → when, and until when.
  private var backoffs: [Int: Range<Int64>] = [:]
  private var gateSince: Int64 = 0
  private var waitUntil: Int64 = 0
  private var queue = -1

  private init(_ trace: DeviceTrace) { self.trace = trace }

  /// How every such file begins.
  package static let opening = "{\"displayTimeUnit\":\"ms\""

  package static func text(_ trace: DeviceTrace) -> String {
    var writer = ChromeTrace(trace)
    writer.write()
    let heading = [
      ("device", "\(trace.device)"), ("cohort", trace.cohort.name.asJSON), ("seed", "\(trace.seed)".asJSON),
    ]
    return "\(opening),\"otherData\":\(object(heading)),\"traceEvents\":[\n"
      + writer.lines.joined(separator: ",\n") + "\n]}\n"
  }

  private mutating func write() {
    metadata("process_name", nil, "device \(trace.device) (\(trace.cohort.name))")
    track(Track.gate, "pipeline")
    track(Track.triggers, "triggers")
    if !trace.incidents.isEmpty { track(Track.server, "server incidents") }
    for incident in trace.incidents where incident.start < trace.duration {
      span(incident.label, Track.server, incident.start, min(incident.end, trace.duration), "server", [])
    }
    counter(0, at: 0)
    for event in trace.events {
      passGate(to: event.time)
      write(event)
      followGate(event)
      counter(event.queuedEvents, at: event.time)
    }
    close(at: trace.duration)
  }

  private mutating func write(_ event: DeviceTrace.Event) {
    let now = event.time
    switch event.kind {
    case .trigger(let trigger, let newEvents):
      let name =
        switch trigger {
        case .count: "flush: count"
        case .interval: "flush: interval"
        case .launch: "flush: launch"
        case .spike: "flush: spike"
        case .reconnect: "flush: online again"
        case .foreground: "flush: foreground"
        case .background: "flush: background"
        case .wakeUp: "timer"
        }
      instant(name, Track.triggers, now, [("new_events", "\(newEvents)")])
    case .sealed(let batch, let count):
      instant("seal \(names[batch])", Track.triggers, now, [("events", "\(count)")])
    case .heldBack: instant("held back", Track.triggers, now, [])
    case .heldByGate: instant("held by a gate", Track.triggers, now, [])
    case .heldBackOffline: instant("held back: offline", Track.triggers, now, [])
    case .wentOffline(let cutOff): instant("offline", Track.triggers, now, [("uploads_cut_off", "\(cutOff)")])
    case .cameOnline: instant("online", Track.triggers, now, [])
    case .cameToForeground: instant("foreground", Track.triggers, now, [])
    case .wentToBackground: instant("background", Track.triggers, now, [])
    case .lost(let batch, let attempt, let place):
      instant(
        "lost: \(DeviceTimeline.words(place))", Track.triggers, now,
        [("batch", names[batch].asJSON), ("attempt", "\(attempt)")])
    case .asked(let batch): instant("asks about \(names[batch])", Track.triggers, now, [])
    case .split(let batch, let count, let other):
      instant(
        "split \(names[batch])", Track.triggers, now, [("events", "\(count)"), ("into", names[other].asJSON)])
    case .alreadyUploading(let joins):
      instant(joins ? "joins the running loop" : "ignored", Track.triggers, now, [])
    case .sent(let batch, let count, let attempt, let retryCount):
      endBackoff(batch, at: now)
      let taken = Set(uploads.values.map(\.slot))
      let slot = (0...).first { !taken.contains($0) }!
      while slots <= slot {
        track(Track.uploads + slots, "upload \(slots + 1)")
        slots += 1
      }
      uploads[UploadName(batch: batch, attempt: attempt)] = Upload(
        slot: slot, sentAt: now,
        arguments: [
          ("batch", names[batch].asJSON), ("attempt", "\(attempt)"), ("events", "\(count)"),
          ("x_retry_count", retryCount.map(String.init) ?? "null"),
        ])
    case .answered(let batch, let attempt, let response):
      endUpload(UploadName(batch: batch, attempt: attempt), response, at: now)
    case .decided(let batch, .retry(let until)) where trace.cohort.queue.mode == .files:
      if until > now { backoffs[batch] = now..<until }
    case .decided: break
    case .dropped(let batch, let count, let loss):
      endBackoff(batch, at: now)
      instant(
        "drop \(names[batch])", Track.triggers, now,
        [("events", "\(count)"), ("reason", DeviceTimeline.reason(loss).asJSON)])
    case .acceptedUnheard(let batch, let attempt):
      instant("server accepts \(names[batch])", Track.triggers, now, [("attempt", "\(attempt)")])
    case .stateReset: instant("reset", Track.triggers, now, [])
    case .launched:
      for upload in uploads.keys.sorted(by: { ($0.batch, $0.attempt) < ($1.batch, $1.attempt) }) {
        endUpload(upload, nil, at: now)
      }
      if trace.cohort.lifecycle?.keepsState == false {
        for batch in backoffs.keys.sorted() { endBackoff(batch, at: now) }
      }
      instant("launch", Track.triggers, now, [])
    case .fetchedSettings: instant("new Settings", Track.triggers, now, [])
    }
  }

  // MARK: Spans

  /// - Parameter response: nil if the client did not live to see one.
  private mutating func endUpload(_ name: UploadName, _ response: UploadResponse?, at now: Int64) {
    guard let upload = uploads.removeValue(forKey: name) else { return }
    var arguments = upload.arguments
    var answer = "cut off"
    switch response {
    case .status(let code, let retryAfter):
      answer = "\(code)"
      arguments.append(("status", "\(code)"))
      if let retryAfter { arguments.append(("retry_after", DeviceTimeline.seconds(retryAfter).asJSON)) }
    case .noStatus: answer = "no answer"
    case nil: break
    }
    let title = "\(names[name.batch]) try \(name.attempt): \(answer)"
    span(title, Track.uploads + upload.slot, upload.sentAt, now, "upload", arguments)
  }

  /// A backoff ends when it is over, however long the batch then still waits for a flush.
  private mutating func endBackoff(_ batch: Int, at now: Int64) {
    guard let backoff = backoffs.removeValue(forKey: batch) else { return }
    let name = "\(names[batch]) backoff"
    let identity = [("cat", "backoff".asJSON), ("id", "\(names.number(batch))")]
    let seconds = DeviceTimeline.seconds(backoff.upperBound - backoff.lowerBound)
    let drawn = [("drawn", seconds.asJSON)]
    event("b", name, Track.gate, backoff.lowerBound, identity + [("args", Self.object(drawn))])
    event("e", name, Track.gate, min(backoff.upperBound, now), identity)
  }

  /// A wait that is over by itself makes the pipeline READY at that time.
  private mutating func passGate(to now: Int64) {
    guard gateSince < waitUntil, waitUntil <= now else { return }
    span("WAITING", Track.gate, gateSince, waitUntil, "gate", [])
    gateSince = waitUntil
  }

  private mutating func followGate(_ event: DeviceTrace.Event) {
    guard event.waitUntil != waitUntil else { return }
    let wasWaiting = waitUntil > event.time
    let isWaiting = event.waitUntil > event.time
    if wasWaiting || isWaiting {
      span(wasWaiting ? "WAITING" : "READY", Track.gate, gateSince, event.time, "gate", [])
      gateSince = event.time
    }
    waitUntil = event.waitUntil
  }

  private mutating func close(at end: Int64) {
    passGate(to: end)
    span(waitUntil > gateSince ? "WAITING" : "READY", Track.gate, gateSince, end, "gate", [])
    for upload in uploads.keys.sorted(by: { ($0.batch, $0.attempt) < ($1.batch, $1.attempt) }) {
      let open = uploads[upload]!
      let title = "\(names[upload.batch]) try \(upload.attempt): under way at the end"
      span(title, Track.uploads + open.slot, open.sentAt, end, "upload", open.arguments)
    }
    for batch in backoffs.keys.sorted() { endBackoff(batch, at: end) }
  }

  // MARK: Events

  private mutating func event(
    _ phase: String, _ name: String, _ track: Int?, _ time: Int64, _ more: [(String, String)]
  ) {
    var members = [("ph", phase.asJSON), ("name", name.asJSON), ("pid", "1")]
    if let track { members.append(("tid", "\(track)")) }
    members.append(("ts", "\(time)"))
    lines.append(Self.object(members + more))
  }

  private mutating func span(
    _ name: String, _ track: Int, _ start: Int64, _ end: Int64, _ category: String,
    _ arguments: [(String, String)]
  ) {
    if end <= start { return }
    event(
      "X", name, track, start,
      [("dur", "\(end - start)"), ("cat", category.asJSON), ("args", Self.object(arguments))])
  }

  private mutating func instant(_ name: String, _ track: Int, _ time: Int64, _ arguments: [(String, String)])
  {
    event("i", name, track, time, [("s", "t".asJSON), ("args", Self.object(arguments))])
  }

  private mutating func counter(_ value: Int, at time: Int64) {
    if value == queue { return }
    queue = value
    event("C", "queued events", nil, time, [("args", Self.object([("events", "\(value)")]))])
  }

  private mutating func track(_ number: Int, _ name: String) {
    metadata("thread_name", number, name)
    let order = Self.object([("sort_index", "\(number)")])
    event("M", "thread_sort_index", number, 0, [("args", order)])
  }

  private mutating func metadata(_ kind: String, _ track: Int?, _ name: String) {
    event("M", kind, track, 0, [("args", Self.object([("name", name.asJSON)]))])
  }

  // MARK: JSON

  private static func object(_ members: [(String, String)]) -> String {
    "{" + members.map { "\($0.0.asJSON):\($0.1)" }.joined(separator: ",") + "}"
  }
}
