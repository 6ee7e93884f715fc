import FleetExperiments
import FleetSimulation
import UploadRetry

/// One attempt to upload a batch.
struct UploadName: Hashable {
  /// Number of the batch's first event.
  var batch: Int
  var attempt: Int
}

/// Numbers batches in the order in which a reader meets them: `#1`, `#2`.
struct BatchNames {
  private var numbers: [Int: Int] = [:]

  /// - Parameter batch: the number of its first event.
  mutating func number(_ batch: Int) -> Int {
    if let number = numbers[batch] { return number }
    let number = numbers.count + 1
    numbers[batch] = number
    return number
  }

  subscript(batch: Int) -> String {
    mutating get { "#\(number(batch))" }
  }
}

/// How times, counts and reasons are worded.
extension DeviceTimeline {
  /// `0:20:35.120`; what is finer than a millisecond is cut off.
  package static func clock(_ microseconds: Int64) -> String {
    let milliseconds = max(0, microseconds) / 1_000
    let (seconds, rest) = (milliseconds / 1_000, milliseconds % 1_000)
    return "\(seconds / 3_600):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2)).\(padded(rest, 3))"
  }

  /// `0.12 s`, `29.875 s`, `5 min 00.5 s`, to the millisecond.
  package static func seconds(_ microseconds: Int64) -> String {
    let milliseconds = max(0, microseconds) / 1_000 + (max(0, microseconds) % 1_000 >= 500 ? 1 : 0)
    let (seconds, rest) = (milliseconds / 1_000, milliseconds % 1_000)
    var fraction = rest == 0 ? "" : "." + padded(rest, 3)
    while fraction.last == "0" { fraction.removeLast() }
    if seconds < 60 { return "\(seconds)\(fraction) s" }
    let minutes = seconds % 3_600 / 60
    let tail = seconds % 60 == 0 && rest == 0 ? "" : " \(padded(seconds % 60, 2))\(fraction) s"
    if seconds < 3_600 { return "\(minutes) min\(tail)" }
    return "\(seconds / 3_600) h" + (minutes == 0 && tail.isEmpty ? "" : " \(padded(minutes, 2)) min") + tail
  }

  static func events(_ count: Int) -> String { FigureText.count(count, "event") }

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
    case .tooSlow: "too large for this link within the time-out"
    }
  }

  private static func padded(_ value: Int64, _ digits: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }

  static func pad(_ text: String, _ width: Int, right: Bool = false) -> String {
    let spaces = String(repeating: " ", count: max(0, width - text.count))
    return right ? spaces + text : text + spaces
  }

  static func trimmed(_ text: String) -> String {
    var text = text
    while text.last == " " { text.removeLast() }
    return text
  }
}

/// What a device came to over its run.
struct DeviceTally {
  private var delivered = 0
  private var lost = 0
  private var attempts = 0
  private var held = 0

  init(_ trace: DeviceTrace) {
    var sizes: [Int: Int] = [:]
    for event in trace.events {
      switch event.kind {
      case .sent(let batch, let events, _, _):
        attempts += 1
        sizes[batch] = events
      case .decided(let batch, .delivered): delivered += sizes[batch] ?? 0
      case .dropped(_, let events, _): lost += events
      default: break
      }
    }
    held = trace.events.last?.queuedEvents ?? 0
  }

  var sentence: String {
    "\(FigureText.count(attempts, "attempt")); \(DeviceTimeline.events(delivered)) delivered, "
      + "\(lost) given up, \(held) still queued at the end."
  }
}
