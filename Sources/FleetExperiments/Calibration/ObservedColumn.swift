import FleetMetrics

/// What of a server's measurements can be compared with a run, interval by interval.
package enum ObservedColumn: String, Sendable, CaseIterable {
  case requests
  case answers2xx = "2xx"
  case answers429 = "429"
  case answers5xx = "5xx"
  case answers4xx = "4xx"
  case unanswered

  /// Those that a fit rests on where the file has them and nothing else is asked.
  package static let standard: [ObservedColumn] = [.requests, .answers2xx, .answers429, .answers5xx]

  package var meaning: String {
    switch self {
    case .requests: "Requests that reached the server."
    case .answers2xx: "Answers with a 2xx status."
    case .answers429: "Answers with status 429."
    case .answers5xx: "Answers with a 5xx status."
    case .answers4xx: "Answers with another 4xx status."
    case .unanswered: "Requests that the server never answered."
    }
  }

  package var title: String { self == .requests || self == .unanswered ? rawValue : "\(rawValue) answers" }

  /// Of an interval of a run.
  func count(_ row: TimeSeries.Row) -> Int64 {
    switch self {
    case .requests: row.attempts
    case .answers2xx: row[.answers2xx]
    case .answers429: row[.answers429]
    case .answers5xx: row[.answers503] + row[.answers5xxOther]
    case .answers4xx: row[.answers401] + row[.answers4xxOther]
    case .unanswered: row[.unanswered]
    }
  }

  /// The columns of `timeseries.csv` that add up to it.
  var ownNames: [String] {
    switch self {
    case .requests: ["offered_rps"]
    case .answers2xx: ["answers_2xx"]
    case .answers429: ["answers_429"]
    case .answers5xx: ["answers_503", "answers_5xx_other"]
    case .answers4xx: ["answers_401", "answers_4xx_other"]
    case .unanswered: ["unanswered_requests"]
    }
  }
}
