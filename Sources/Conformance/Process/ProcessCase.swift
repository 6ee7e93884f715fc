/// A case for a real SDK in a process of its own: what it is given, how it is answered, and what must be seen.
package struct ProcessCase: Sendable {
  /// The id of the vector that says the same, if there is one.
  package var id: String
  package var requirement: String
  /// In one sentence.
  package var says: String
  package var sequences = [Sequence(events: ["a"])]
  package var flushAt = 1
  /// Seconds.
  package var flushInterval = 1
  package var maxRetries: Int?
  /// Seconds.
  package var timeout: Int?
  /// The Settings that it may fetch, as JSON.
  package var settings: String?
  /// How uploads with an event are answered, one after another, the last again and again.
  package var answers: [String: [ScriptedAnswer]] = [:]
  /// How all others are.
  package var otherAnswers: [ScriptedAnswer] = [.status(200)]
  package var conditions: [Condition] = []
  /// The case ends so long after the first upload, microseconds.
  package var limit: Int64 = 8_000_000
  /// Keys of `config` that the case is about: a command that ignores one can't be judged.
  package var needs: Set<String> = []

  /// One event, answered 200.
  package init(_ id: String, _ requirement: String, _ says: String) {
    (self.id, self.requirement, self.says) = (id, requirement, says)
  }

  package struct Sequence: Sendable {
    package var delayMilliseconds: Int
    package var events: [String]

    package init(delayMilliseconds: Int = 0, events: [String]) {
      (self.delayMilliseconds, self.events) = (delayMilliseconds, events)
    }
  }

  /// A condition on what is seen of the process.
  package enum Condition: Sendable {
    /// So many uploads. One too many fails; one too few does when the process has ended by itself.
    case uploads(ClosedRange<Int>)
    /// After the end of an upload (from 0), so long until the next one begins. One of the windows has to fit.
    case wait(after: Int, [WaitWindow])
    /// X-Retry-Count of an upload.
    case retryCount(UploadReference, Int, orAbsent: Bool)
    /// The write key is in every upload's Authorization.
    case writeKey
    /// No upload begins before the one before has ended.
    case noOverlap
    /// The second event is sent before the first one is sent this many times.
    case movesOn(from: String, to: String, before: Int)
    /// An event and another are never in the same upload.
    case apart(String, String)
    /// No event is sent again once an upload with it was answered 2xx.
    case acceptedOnce
    /// The process's word on its success, and its exit status.
    case success(Bool)
    /// Settings are asked for before the first upload.
    case fetchesSettings
  }

  /// One of the uploads.
  package enum UploadReference: Sendable {
    /// From 0, as they came.
    case number(Int)
    /// The first one with an event.
    case of(String)
  }

  /// `--input` of the command.
  package func input(port: Int, isMilliseconds: Bool) -> String {
    let host = "http://127.0.0.1:\(port)"
    let lists = sequences.map { sequence in
      let events = sequence.events.map {
        #"{"type":"track","event":"\#(name(of: $0))","userId":"fleetsim-user","#
          + #""messageId":"\#(name(of: $0))","properties":{"name":"\#(name(of: $0))"}}"#
      }
      return #"{"delayMs":\#(sequence.delayMilliseconds),"events":[\#(events.joined(separator: ","))]}"#
    }
    var config = [
      #""flushAt":\#(flushAt)"#, #""flushInterval":\#(flushInterval * (isMilliseconds ? 1_000 : 1))"#,
    ]
    if let maxRetries { config.append(#""maxRetries":\#(maxRetries)"#) }
    if let timeout { config.append(#""timeout":\#(timeout)"#) }
    return #"{"writeKey":"\#(Self.writeKey)","apiHost":"\#(host)","cdnHost":"\#(host)","#
      + #""sequences":[\#(lists.joined(separator: ","))],"config":{\#(config.joined(separator: ","))}}"#
  }

  package static let writeKey = "fleetsim-key"
  /// Its twelve bytes are sixteen characters, whatever follows them.
  static let writeKeyInBase64 = "ZmxlZXRzaW0ta2V5"

  /// An event as it stands in a body: no name is a part of another.
  package func name(of event: String) -> String { "fleetsim_\(event)_event" }

  /// All its events.
  package var events: [String] { sequences.flatMap(\.events) }

  /// The answer to an upload that has some of the events.
  /// - Parameter earlier: how many uploads with the same answers there were.
  package func answer(to events: [String], earlier: (String?) -> Int) -> ScriptedAnswer {
    let key = events.first { answers[$0] != nil }
    let list = key.flatMap { answers[$0] } ?? otherAnswers
    let number = earlier(key)
    return list.isEmpty ? .status(200) : list[min(number, list.count - 1)]
  }

  /// More uploads than this are a failure, whatever else comes.
  package var mostUploads: Int? {
    for case .uploads(let range) in conditions where range.upperBound < .max { return range.upperBound }
    return nil
  }
}

/// Between which times a wait has to lie, microseconds.
package struct WaitWindow: Sendable, Hashable {
  /// A name of the wait: `the backoff of 0.5 s`.
  package var name: String
  package var lower: Int64
  /// nil: as long as it likes.
  package var upper: Int64?

  package init(_ name: String, _ lower: Double, _ upper: Double?) {
    self.name = name
    self.lower = Int64((lower * 1e6).rounded())
    self.upper = upper.map { Int64(($0 * 1e6).rounded()) }
  }
}
