/// What happened at the proxies in one interval.
public struct ProxyRow: Sendable, Hashable {
  /// Start of the interval, microseconds.
  public var start: Int64
  public var requests: Int64 = 0
  public var retries: Int64 = 0
  public var refused: Int64 = 0
  public var exhausted: Int64 = 0
  public var timeouts: Int64 = 0
  public var answers: Int64 = 0
  /// At the interval's end.
  public var activeRequests: Int64 = 0
  public var activeRetries: Int64 = 0

  public init(start: Int64) { self.start = start }
}

/// `proxies.csv`: one row per interval, where the scenario has `tapi.proxies`.
public enum ProxyCSV {
  /// The file's columns in order.
  public static let columns: [CSVColumn<ProxyRow>] = [
    .init("time_s", "s", "Start of the interval, since the start of the run.") { .seconds($0.start) },
    .init("proxied_requests", "requests", "Upload attempts that came to a proxy.") {
      .integer($0.requests)
    },
    .init("proxy_retries", "requests", "Retries that proxies sent to the server.") {
      .integer($0.retries)
    },
    .init("refused_proxy_retries", "requests", "Retries that the budget did not allow.") {
      .integer($0.refused)
    },
    .init("exhausted_proxy_retries", "requests", "Requests that failed with no retry left.") {
      .integer($0.exhausted)
    },
    .init("proxy_try_timeouts", "requests", "Tries that a proxy gave up waiting for.") {
      .integer($0.timeouts)
    },
    .init(
      "proxy_answers", "answers",
      "Answers of the proxies' own, 503 or 504."
    ) { .integer($0.answers) },
    .init(
      "active_proxied_requests", "requests",
      "Requests at a proxy whose client still waits."
    ) { .integer($0.activeRequests) },
    .init(
      "active_proxy_retries", "requests",
      "Retries that count against the budget."
    ) { .integer($0.activeRetries) },
  ]

  /// The whole file.
  public static func bytes(of rows: [ProxyRow]) -> [UInt8] { CSVFile.bytes(columns, rows) }
}
