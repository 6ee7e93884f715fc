/// `timeseries.csv`: one row per interval.
public enum TimeSeriesCSV {
  /// The file's columns in order.
  public static let columns: [CSVColumn<TimeSeries.Row>] =
    [.init("time_s", "s", "Start of the interval, since the start of the run.") { .seconds($0.start) }]
    + measures(.capacityMilliRequests, .capacityMilliRequests) + [offered]
    + measures(.firstAttempts, .timeouts) + [utilisation]
    + measures(.serverQueue, .inFlight) + delivery
    + measures(.refusedByGate, .unknownOutcomes) + [delivery95] + measures(.answers401)

  private static func measures(_ first: Measure, _ last: Measure? = nil) -> [CSVColumn<TimeSeries.Row>] {
    Measure.declared(in: .series, first, last).map(\.seriesColumn)
  }

  private static let offered = CSVColumn<TimeSeries.Row>(
    "offered_rps", "requests/s",
    "Upload attempts reaching the server (offered load): first attempts and retries."
  ) { .rate($0.attempts, per: $0.length) }

  private static let utilisation = CSVColumn<TimeSeries.Row>(
    "utilisation_ratio", "1",
    "Share of the server's available time in use; a burst can take a bucket above 1."
  ) {
    DecimalText.rounded($0[.busyMicroseconds], times: 1_000, over: $0[.availableMicroseconds])
      .map { .fixed($0, decimals: 3) } ?? .empty
  }

  private static let delivery: [CSVColumn<TimeSeries.Row>] = [
    .init(
      "time_to_delivery_mean_s", "s",
      "Mean time from creation to first acceptance, of the events accepted here; empty if there are none."
    ) {
      .seconds($0[.deliveredEvents] > 0 ? $0[.timeToDeliverySum] / $0[.deliveredEvents] : nil)
    },
    .init("time_to_delivery_p50_s", "s", "Median of the same.") { .seconds($0.timeToDeliveryP50) },
    .init("time_to_delivery_p99_s", "s", "99th percentile of the same.") { .seconds($0.timeToDeliveryP99) },
  ]

  private static let delivery95 = CSVColumn<TimeSeries.Row>(
    "time_to_delivery_p95_s", "s", "95th percentile of the time to delivery, of the events accepted here."
  ) { .seconds($0.timeToDeliveryP95) }

  /// The whole file.
  public static func bytes(of series: TimeSeries) -> [UInt8] { CSVFile.bytes(columns, series.rows) }

  /// Writes the whole file to `output`.
  public static func write(_ series: TimeSeries, to output: inout some TextOutputStream) {
    output.write(String(decoding: bytes(of: series), as: UTF8.self))
  }
}
