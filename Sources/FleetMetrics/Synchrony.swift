/// How far the uploads of a fleet keep together: Kuramoto's order parameter of their phases in the flush interval.
///
/// R = |Σ n·e^(2πi·t/T)| / Σ n over the latest interval T, n uploads in the tenth of a second at t. 1: all come at one phase of the
/// interval. 0: they come evenly. N uploads at random phases have 0.89/√N in the mean.
/// Source: Kuramoto, "Self-entrainment of a population of coupled non-linear oscillators", Lecture Notes in Physics 39 (1975).
public enum Synchrony {
  /// The width of a step of `RunRecord.offeredPer100ms`, microseconds.
  private static let step: Int64 = 100_000
  /// Steps in an interval at least: fewer say nothing of phases.
  private static let fewest: Int64 = 4

  /// The order parameter at the end of each row; nil where an interval is not over yet, or nothing came in it. O(tenths of a
  /// second).
  ///
  /// - Parameters:
  ///   - record: a run's.
  ///   - period: the flush interval, microseconds. All values are nil if it is shorter than 0.4 s.
  public static func values(of record: RunRecord, period: Int64) -> [Double?] {
    let (rows, offered) = (record.series.rows, record.offeredPer100ms)
    guard period >= step * fewest else { return Array(repeating: nil, count: rows.count) }
    let width = Int((period + step / 2) / step)
    let turn = unit(at: Double(step) / Double(period))
    var phase = (cos: 1.0, sin: 0.0)
    // Sums over all steps so far.
    var sums = [(n: 0.0, cos: 0.0, sin: 0.0)]
    sums.reserveCapacity(offered.count + 1)
    for (index, count) in offered.enumerated() {
      let (n, last) = (Double(count), sums[index])
      sums.append((last.n + n, last.cos + n * phase.cos, last.sin + n * phase.sin))
      phase = (
        phase.cos * turn.cos - phase.sin * turn.sin, phase.sin * turn.cos + phase.cos * turn.sin
      )
    }
    return rows.map { row in
      let end = min(Int((row.start + row.length) / step), offered.count)
      guard end >= width else { return nil }
      let (first, all) = (sums[end - width], sums[end])
      let (count, x, y) = (all.n - first.n, all.cos - first.cos, all.sin - first.sin)
      return count > 0 ? (x * x + y * y).squareRoot() / count : nil
    }
  }

  /// Cosine and sine of a part of a turn up to a quarter, by the series of the cosine: the same bits on every platform.
  private static func unit(at turns: Double) -> (cos: Double, sin: Double) {
    let square = (2 * Double.pi * turns) * (2 * Double.pi * turns)
    var (cosine, term) = (1.0, 1.0)
    for n in 1...14 {
      let divisor = 2 * n * (2 * n - 1)
      term *= -square / Double(divisor)
      cosine += term
    }
    return (cosine, max(0, 1 - cosine * cosine).squareRoot())
  }
}

extension TimeSeriesCSV {
  /// The column of `Synchrony`.
  static func synchrony(of record: RunRecord) -> CSVColumn<TimeSeries.Row> {
    synchrony(
      of: Synchrony.values(of: record, period: record.synchronyPeriod), every: record.series.interval)
  }

  /// - Parameters:
  ///   - values: one for each row.
  ///   - interval: the width of a row, microseconds.
  static func synchrony(of values: [Double?], every interval: Int64) -> CSVColumn<TimeSeries.Row> {
    .init(
      "synchrony_ratio", "1",
      "Kuramoto's order parameter of the uploads' phases in the latest flush interval, 1 if all come together; where phases change."
    ) { row in values[Int(row.start / interval)].map { .decimal($0) } ?? .empty }
  }
}
