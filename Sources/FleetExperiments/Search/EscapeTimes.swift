import FleetMetrics
import FleetStatistics

/// How long ill runs take to come back by chance.
///
/// A run is *ill* from the moment on at which it has taken twice as long as is possible, at least two minutes, and has
/// not recovered. What came back before had only to work off its backlog. From then on a run that is kept ill by its own load
/// comes back by a rare chance, whose rate does not change with time. The mean time to it is therefore the same from any moment
/// of the illness, and runs that are still ill at their end tell as much as the others.
///
/// Source of the question: P. Alvaro, R. Isaacs, R. Majumdar, K.-K. Muniswamy-Reddy, M. Salamati and S. Soudjani, "Formal Analysis
/// of Metastable Failures in Software Systems", arXiv 2510.03551 (2025), who compute the expected time from a Markov chain.
package struct EscapeTimes: Sendable, Hashable {
  /// How long each ill run was ill, microseconds.
  package let times: CensoredTimes
  /// From the last incident's end to the recovery of every run, microseconds.
  package let recoveries: CensoredTimes
  /// From the last incident's end to the moment from which the ill runs are ill, microseconds, in the mean; 0 without any.
  package let meanOnset: Double

  /// No run is ill before twice this, microseconds: nothing shorter can be told from an instant.
  private static let resolution: Int64 = 60_000_000
  /// How much longer than its floor a run takes that is called ill.
  private static let factor: Int64 = 2

  /// - Parameter runs: those without an end that a recovery could be watched to, and without a recovery, do not count.
  package init(_ runs: [RunSummary]) {
    var (ill, all): ([CensoredTimes.Watch], [CensoredTimes.Watch]) = ([], [])
    var onsets = 0.0
    for run in runs {
      guard let length = run.recoveryTime ?? run.recoveryHorizon else { continue }
      let recovered = run.recoveryTime != nil
      all.append(.init(length: Double(length), cameAbout: recovered))
      let onset = Self.factor * max(run.possibleTime ?? 0, Self.resolution)
      guard length > onset else { continue }
      ill.append(.init(length: Double(length - onset), cameAbout: recovered))
      onsets += Double(onset)
    }
    (times, recoveries) = (CensoredTimes(ill), CensoredTimes(all))
    meanOnset = ill.isEmpty ? 0 : onsets / Double(ill.count)
  }

  package var illRuns: Int { times.count }
  package var escapedRuns: Int { times.occurrences }
  /// Microseconds.
  package var mean: Double? { times.mean }
  /// The two-sided 95 % interval of the mean, microseconds; nil where no run was ill.
  package var interval: (low: Double, high: Double?)? { times.interval() }

  /// Whether it takes longer to come back than a run may take that is not ill: else it is the spread of ordinary recoveries.
  private var isRare: Bool { mean.map { $0 >= meanOnset } ?? true }

  /// The mean with its interval as people read it; nil where no run was ill, or none for long.
  ///
  /// - Parameter subject: who comes back: `An ill fleet`.
  package func sentence(_ subject: String) -> String? {
    guard let interval, isRare else { return nil }
    let longest = FigureText.span(times.watches.last.map { Int64($0.length) })
    guard let mean, let high = interval.high else {
      let runs = illRuns == 1 ? "the only ill run did not come back" : "none of \(illRuns) ill runs came back"
      if interval.low < meanOnset {
        return
          "The runs are too short to tell how long it takes to come back by chance: \(runs) in up to \(longest)."
      }
      return
        "\(subject) takes at least \(Self.span(interval.low)) in the mean to come back by chance (95 %: \(runs) in up to "
        + "\(longest))."
    }
    return
      "\(subject) comes back by chance after \(Self.span(mean)) in the mean (95 %: \(Self.span(interval.low)) to "
      + "\(Self.span(high)); \(escapedRuns) of \(FigureText.count(illRuns, "ill run")) did in up to \(longest))."
      + remark
  }

  /// The mean without its interval, for a row of a table; nil as above.
  package var note: String? {
    guard illRuns > 0, isRare else { return nil }
    guard let mean else { return "none of \(FigureText.count(illRuns, "ill run")) came back" }
    return "ill runs back after \(Self.span(mean)) in the mean, \(escapedRuns) of \(illRuns)"
  }

  /// Where the escapes do not look like chance: beyond 2.58 standard deviations, 1 %.
  private var remark: String {
    guard let trend = times.trend, abs(trend) > 2.576 else { return "" }
    return trend > 0
      ? " They come later than one constant chance would have them, as where a backlog has to drain: see the quartiles."
      : " They come sooner than one constant chance would have them: some of the runs were less ill than others."
  }

  private static func span(_ microseconds: Double) -> String {
    FigureText.span(Int64(exactly: microseconds.rounded()) ?? .max)
  }
}

// MARK: - Columns

extension EscapeTimes {
  /// The columns of a point of a map; empty where the source has none.
  static func columns<Row>(_ escapes: @escaping @Sendable (Row) -> EscapeTimes?) -> [CSVColumn<Row>] {
    [
      .init(
        "ill_seeds", "runs",
        "Runs that had not recovered after twice the time that is possible, at least 2 min; empty where the twin does not hold."
      ) { escapes($0).map { .integer(Int64($0.illRuns)) } ?? .empty },
      .init("escaped_seeds", "runs", "Of these: recovered later, within the run.") {
        escapes($0).map { .integer(Int64($0.escapedRuns)) } ?? .empty
      },
      .init("ill_s", "s", "How long all of these runs were ill together, each up to its recovery or its end.")
      {
        seconds(escapes($0)?.times.timeAtRisk)
      },
      .init(
        "escape_mean_s", "s",
        "Mean time that an ill run takes to come back by chance, from any moment of its illness (`ill_s` by `escaped_seeds`); "
          + "empty if none did."
      ) { seconds(escapes($0)?.mean) },
      .init("escape_low_95_s", "s", "Lower end of its 95 % interval (Garwood).") {
        seconds(escapes($0)?.interval?.low)
      },
      .init("escape_high_95_s", "s", "Upper end of that interval; empty if none came back.") {
        seconds(escapes($0)?.interval?.high)
      },
      .init(
        "escape_trend", "standard deviations",
        "How far the escapes stand from one constant chance (Laplace's test): above 2 later, below -2 sooner; empty if none came back."
      ) { .decimal(escapes($0)?.times.trend) },
    ]
  }

  private static func seconds(_ microseconds: Double?) -> CSVValue {
    .decimal(microseconds.map { $0 / 1_000_000 }, decimals: 6)
  }

  /// The rows of `escape.csv`: a step down of the share of runs that had not recovered.
  package var table: Table<CensoredTimes.Step> { Table(Self.columns, recoveries.steps) }

  /// The columns of `escape.csv` in order.
  package static let columns: [CSVColumn<CensoredTimes.Step>] = [
    .init("time_s", "s", "Time from the last incident's end at which runs recovered.") { seconds($0.time) },
    .init("watched_seeds", "runs", "Runs that had not recovered before and were still watched.") {
      .integer(Int64($0.watched))
    },
    .init("recovered_seeds", "runs", "Runs that recovered then.") { .integer(Int64($0.occurrences)) },
    .init("left_ratio", "1", "Share of the runs that take longer (Kaplan and Meier).") {
      .decimal($0.left, decimals: 6)
    },
  ]
}
