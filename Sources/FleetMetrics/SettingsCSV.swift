/// The fetches of Settings in one interval.
public struct SettingsRow: Sendable, Hashable {
  /// Start of the interval, microseconds.
  public var start: Int64 = 0
  /// Fetches begun.
  public var fetches: Int64 = 0
  /// By when their answers came: with Settings, with another status, or not at all.
  public var fetched: Int64 = 0
  public var refused: Int64 = 0
  public var unanswered: Int64 = 0
  /// Devices whose app runs on what is built in, at the interval's end.
  public var devicesWithout: Int64 = 0

  public init() {}
}

/// Counts the fetches of some devices by interval.
public struct SettingsTraffic: Sendable, Hashable {
  /// As far as something has happened. `devicesWithout` is by how many there are more at a row's end than at its start.
  private var changes: [SettingsRow] = []

  public init() {}

  /// - Complexity: O(1), but for the rows since the latest.
  public mutating func count(row: Int, _ change: (inout SettingsRow) -> Void) {
    while changes.count <= row { changes.append(SettingsRow()) }
    change(&changes[row])
  }

  /// Adds what other devices have done.
  public mutating func merge(_ other: SettingsTraffic) {
    for (index, row) in other.changes.enumerated() {
      count(row: index) {
        $0.fetches += row.fetches
        $0.fetched += row.fetched
        $0.refused += row.refused
        $0.unanswered += row.unanswered
        $0.devicesWithout += row.devicesWithout
      }
    }
  }

  /// A row for each interval of a run.
  public func rows(_ number: Int, interval: Int64) -> [SettingsRow] {
    var without: Int64 = 0
    return (0..<number).map { index in
      var row = index < changes.count ? changes[index] : SettingsRow()
      row.start = Int64(index) * interval
      without += row.devicesWithout
      row.devicesWithout = without
      return row
    }
  }
}

/// `settings.csv`: one row per interval, where the scenario has `tapi.settingsEndpoint`.
public enum SettingsCSV {
  /// The file's columns in order.
  public static let columns: [CSVColumn<SettingsRow>] = [
    .init("time_s", "s", "Start of the interval, since the start of the run.") { .seconds($0.start) },
    .init("settings_fetches", "requests", "Fetches of Settings begun.") {
      .integer($0.fetches)
    },
    .init("settings_fetched", "requests", "Fetches that brought Settings.") {
      .integer($0.fetched)
    },
    .init("settings_refused", "requests", "Fetches answered with another status.") { .integer($0.refused) },
    .init("settings_unanswered", "requests", "Fetches without an answer in time, or without a network.") {
      .integer($0.unanswered)
    },
    .init(
      "devices_without_settings", "devices",
      "Devices whose app runs on what is built in."
    ) { .integer($0.devicesWithout) },
  ]

  /// The whole file.
  public static func bytes(of rows: [SettingsRow]) -> [UInt8] { CSVFile.bytes(columns, rows) }
}
