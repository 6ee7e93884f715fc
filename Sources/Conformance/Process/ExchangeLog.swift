import UploadRetry

/// The server's answer to an upload, as a case scripts it.
package enum ScriptedAnswer: Sendable, Hashable {
  /// Answers, with a Retry-After if there is one, so many microseconds after the whole upload is there.
  case status(Int, RetryAfterField? = nil, after: Int64 = 0)
  /// Says nothing until the client hangs up.
  case silence
  /// Resets the connection when the upload is there.
  case reset
  /// Begins an answer and closes the connection.
  case half
}

/// A Retry-After, as text or as a date in one of the three forms of RFC 9110 §5.6.7.
package enum RetryAfterField: Sendable, Hashable {
  case text(String)
  case date(secondsAhead: Int64, DateForm)

  package enum DateForm: Sendable, Hashable { case imfFixdate, rfc850, asctime }

  /// The field's value at a time of the wall clock.
  package func value(unixSeconds: Int64) -> String {
    switch self {
    case .text(let text): text
    case .date(let ahead, let form): form.text(unixSeconds + ahead)
    }
  }
}

extension RetryAfterField.DateForm {
  /// A time in this form, in UTC.
  func text(_ unixSeconds: Int64) -> String {
    let date = HTTPDate.civilDate(unixSeconds: unixSeconds)
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    // The day of 1970-01-01 was a Thursday.
    let name = HTTPDate.days[Int((unixSeconds / 86_400 + 3) % 7)]
    let (day, month) = (date.day, HTTPDate.months[Int(date.month) - 1])
    let time = "\(two(date.time / 3_600)):\(two(date.time / 60 % 60)):\(two(date.time % 60))"
    return switch self {
    case .imfFixdate: "\(name.prefix(3)), \(two(day)) \(month) \(date.year) \(time) GMT"
    case .rfc850: "\(name), \(two(day))-\(month)-\(two(date.year % 100)) \(time) GMT"
    case .asctime: "\(name.prefix(3)) \(month) \(day < 10 ? " " : "")\(day) \(time) \(date.year)"
    }
  }
}

/// All that was seen of one run of a command: what came over the network, and how its process ended.
///
/// Times are microseconds since the process was started.
package struct ExchangeLog: Sendable {
  package var uploads: [ObservedUpload] = []
  package var connections = 0
  /// When it asked for Settings.
  package var settingsFetches: [Int64] = []
  /// A connection whose first bytes were those of TLS, or no HTTP.
  package var spokeTLS = false
  package var spokeNoHTTP = false
  package var child = ChildReport()
  /// When the last was seen of it.
  package var endedAt: Int64 = 0

  package init() {}
}

/// An upload, and what became of it.
package struct ObservedUpload: Sendable {
  /// When its first byte came.
  package var arrivedAt: Int64
  /// Just before the answer was given, or when the connection ended; nil: it was still open at the end.
  package var endedAt: Int64?
  /// The status of the answer; nil: there was no answer.
  package var status: Int?
  package var retryAfter: String?
  package var target = ""
  package var headers: [(name: String, value: String)] = []
  package var bodyBytes = 0
  /// The names of the case's events in its body.
  package var events: [String] = []
  /// The client hung up before it was answered, which the script does not ask for.
  package var wasGivenUp = false

  package init(arrivedAt: Int64) { self.arrivedAt = arrivedAt }

  /// The first value of a header, whatever the case of its name.
  package func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}

/// How a process ended and what it said.
package struct ChildReport: Sendable {
  package enum End: Sendable, Hashable {
    case exited(Int32)
    case signalled(Int32)
    /// The client still ran, and was ended.
    case stopped
    /// No process could be made.
    case unstartable(String)
  }
  package var end = End.stopped
  /// The last line of its standard output.
  package var lastLine = ""
  /// `success` of that line; nil: the line is no JSON object that has it.
  package var success: Bool?
  /// The client wrote more than it may and was ended.
  package var flooded = false
  /// The last line of its standard error.
  package var lastComplaint = ""

  package init() {}
}
