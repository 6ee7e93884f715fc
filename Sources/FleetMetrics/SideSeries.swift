/// What a file beside `timeseries.csv` counts in each interval of a run.
public protocol SideCount: CaseIterable, RawRepresentable<Int>, Sendable, Hashable {
  /// Whether its rows tell how many there are at the interval's end; changes are counted.
  var isLevel: Bool { get }
  /// The file's columns behind the time.
  static var columns: [CSVColumn<SideRow<Self>>] { get }
}

/// The counts of one interval.
public struct SideRow<Count: SideCount>: Sendable, Hashable {
  /// Start of the interval, microseconds.
  public var start: Int64 = 0
  private var counts = [Int64](repeating: 0, count: Count.allCases.count)

  public init() {}

  public subscript(count: Count) -> Int64 {
    get { counts[count.rawValue] }
    set { counts[count.rawValue] = newValue }
  }

  /// The file's columns in order.
  public static var columns: [CSVColumn<SideRow>] {
    [.init("time_s", "s", "Start of the interval, since the start of the run.") { .seconds($0.start) }]
      + Count.columns
  }

  /// The whole file.
  public static func csv(_ rows: [SideRow]) -> [UInt8] { CSVFile.bytes(columns, rows) }
}

/// Rows as far as something has happened in a run.
public struct SideSeries<Count: SideCount>: Sendable, Hashable {
  private var rows: [SideRow<Count>] = []

  public init() {}

  /// How many rows there are.
  public var count: Int { rows.count }

  /// - Complexity: O(1), but for the rows since the latest.
  public subscript(row: Int, count: Count) -> Int64 {
    get { row < rows.count ? rows[row][count] : 0 }
    set {
      while rows.count <= row { rows.append(SideRow()) }
      rows[row][count] = newValue
    }
  }

  /// Adds what others have counted.
  public mutating func merge(_ other: SideSeries) {
    for row in other.rows.indices { for count in Count.allCases { self[row, count] += other[row, count] } }
  }

  /// A row for each interval of a run.
  /// - Parameters:
  ///   - number: of intervals.
  ///   - interval: how long each is, microseconds.
  public func rows(_ number: Int, interval: Int64) -> [SideRow<Count>] {
    var levels = SideRow<Count>()
    return (0..<number).map { index in
      var row = index < rows.count ? rows[index] : SideRow()
      row.start = Int64(index) * interval
      for count in Count.allCases where count.isLevel {
        levels[count] += row[count]
        row[count] = levels[count]
      }
      return row
    }
  }
}

extension CSVColumn {
  fileprivate static func count<Count>(
    _ name: String, _ unit: String, _ definition: String, _ count: Count
  ) -> CSVColumn where Source == SideRow<Count> {
    .init(name, unit, definition) { .integer($0[count]) }
  }
}

/// `settings.csv`, where the scenario has `tapi.settingsEndpoint`: fetches of Settings.
public enum SettingsCount: Int, SideCount {
  case fetches
  /// By when their answers came: with Settings, with another status, or not at all.
  case fetched, refused, unanswered
  case devicesWithout

  public var isLevel: Bool { self == .devicesWithout }

  public static let columns: [CSVColumn<SideRow<SettingsCount>>] = [
    .count("settings_fetches", "requests", "Fetches of Settings begun.", .fetches),
    .count("settings_fetched", "requests", "Fetches that brought Settings.", .fetched),
    .count("settings_refused", "requests", "Fetches answered with another status.", .refused),
    .count(
      "settings_unanswered", "requests", "Fetches without an answer in time, or without a network.",
      .unanswered),
    .count(
      "devices_without_settings", "devices", "Devices whose app runs on what is built in.", .devicesWithout),
  ]
}

/// `connections.csv`, where the scenario has `tapi.connections`: those of the server.
public enum ConnectionCount: Int, SideCount {
  case reused, handshakes, refused
  /// Of the handshakes begun: too slow for their client.
  case late
  case live
  /// Microseconds: the waits of all handshakes begun here together, and the longest.
  case wait, longestWait

  public var isLevel: Bool { self == .live }

  public static let columns: [CSVColumn<SideRow<ConnectionCount>>] = [
    .count("reused_connections", "requests", "Requests on a connection that was alive.", .reused),
    .count("handshakes", "1", "Handshakes begun, or waiting for their turn.", .handshakes),
    .count("refused_handshakes", "1", "Handshakes that found no place, or too many connections.", .refused),
    .count("late_handshakes", "1", "Handshakes begun that end after their client's time-out.", .late),
    .count("live_connections", "connections", "Connections made and not closed.", .live),
    .init("handshake_wait_mean_s", "s", "Wait of the handshakes begun here: mean, empty without one.") {
      .seconds($0[.handshakes] > 0 ? $0[.wait] / $0[.handshakes] : nil)
    },
    .init("handshake_wait_max_s", "s", "Wait of the handshakes begun here: maximum.") {
      .seconds($0[.handshakes] > 0 ? $0[.longestWait] : nil)
    },
  ]
}

/// `proxies.csv`, where the scenario has `tapi.proxies`: what happened at all of them.
public enum ProxyCount: Int, SideCount {
  case requests, retries, refused
  /// Failed requests that had no retry left.
  case exhausted
  case timeouts
  /// 503 where the server lost the try, 504 where it was too slow.
  case answers
  case activeRequests, activeRetries

  public var isLevel: Bool { self == .activeRequests || self == .activeRetries }

  public static let columns: [CSVColumn<SideRow<ProxyCount>>] = [
    .count("proxied_requests", "requests", "Upload attempts that came to a proxy.", .requests),
    .count("proxy_retries", "requests", "Retries that proxies sent to the server.", .retries),
    .count("refused_proxy_retries", "requests", "Retries that the budget did not allow.", .refused),
    .count("exhausted_proxy_retries", "requests", "Requests that failed with no retry left.", .exhausted),
    .count("proxy_try_timeouts", "requests", "Tries that a proxy gave up waiting for.", .timeouts),
    .count("proxy_answers", "answers", "Answers of the proxies' own, 503 or 504.", .answers),
    .count(
      "active_proxied_requests", "requests", "Requests at a proxy whose client still waits.", .activeRequests),
    .count("active_proxy_retries", "requests", "Retries that count against the budget.", .activeRetries),
  ]
}
