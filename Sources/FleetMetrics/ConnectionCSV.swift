/// The server's connections in one interval.
public struct ConnectionRow: Sendable, Hashable {
  /// Start of the interval, microseconds.
  public var start: Int64
  public var reused: Int64 = 0
  public var handshakes: Int64 = 0
  public var refused: Int64 = 0
  public var late: Int64 = 0
  /// At the interval's end.
  public var live: Int64 = 0
  /// Microseconds: the waits of all handshakes begun here together, and the longest.
  public var wait: Int64 = 0
  public var longestWait: Int64 = 0

  public init(start: Int64) { self.start = start }
}

/// `connections.csv`: one row per interval, where the scenario has `tapi.connections`.
public enum ConnectionCSV {
  /// The file's columns in order.
  public static let columns: [CSVColumn<ConnectionRow>] = [
    .init("time_s", "s", "Start of the interval, since the start of the run.") { .seconds($0.start) },
    .init("reused_connections", "requests", "Requests on a connection that was alive.") {
      .integer($0.reused)
    },
    .init("handshakes", "1", "Handshakes begun, or waiting for their turn.") {
      .integer($0.handshakes)
    },
    .init("refused_handshakes", "1", "Handshakes that found no place, or too many connections.") {
      .integer($0.refused)
    },
    .init("late_handshakes", "1", "Handshakes begun that end after their client's time-out.") {
      .integer($0.late)
    },
    .init("live_connections", "connections", "Connections made and not closed.") {
      .integer($0.live)
    },
    .init(
      "handshake_wait_mean_s", "s",
      "Wait of the handshakes begun here: mean, empty without one."
    ) { .seconds($0.handshakes > 0 ? $0.wait / $0.handshakes : nil) },
    .init("handshake_wait_max_s", "s", "Wait of the handshakes begun here: maximum.") {
      .seconds($0.handshakes > 0 ? $0.longestWait : nil)
    },
  ]

  /// The whole file.
  public static func bytes(of rows: [ConnectionRow]) -> [UInt8] { CSVFile.bytes(columns, rows) }
}
