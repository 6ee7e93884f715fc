import FleetMetrics
import FleetStatistics
import SimulationKernel

/// The words of a stability map.
package struct StabilityVerdict: Sendable {
  private let map: StabilityMap
  package init(_ map: StabilityMap) { self.map = map }

  /// The finding of the map, in a few sentences: only what is decided is named.
  package var sentence: String {
    let counts = map.counts
    let count = { (kind: StabilityPoint.Kind) in counts[kind] ?? 0 }
    let (recovers, never, undecided) = (count(.recovers), count(.neverRecovers), count(.undecided))
    var text =
      finding(
        " for \(map.x.path) from \(map.x.words) and \(map.y.path) from \(map.y.words)",
        overload: ": \(overload)") + "."
    if recovers > 0, never > 0, let example { text += " " + example }
    if let escape { text += " " + escape }
    if recovers + never + undecided > 0 { text += " " + classes(recovers, never, undecided) }
    if count(.overloaded) > 0, count(.overloaded) < map.grid.values.count {
      text +=
        " At \(count(.overloaded)) the fleet does not hold its load even without any incident: \(overload)."
    }
    return (map.isFinished ? "" : "Of a part of the map: ") + text + hint
  }

  /// Returns the finding in one line, for the title of a picture, with the cliff's place in one column, if there is
  /// one.
  /// - Parameter x: the first parameter in words.
  /// - Parameter y: the second one.
  package func title(x: String, y: String) -> String {
    guard let cliff else { return finding("", overload: "") }
    return "With \(map.xQuantity(cliff.column).words) (\(x)) the fleet \(Self.verb(cliff.below.kind)) up to "
      + "\(map.yQuantity(cliff.below.last).words) (\(y)) and \(Self.verb(cliff.above.kind)) from "
      + "\(map.yQuantity(cliff.above.first).words) on"
  }

  private static func verb(_ kind: StabilityPoint.Kind) -> String {
    kind == .recovers ? "recovers" : "rarely does"
  }

  /// Without its stop.
  /// - Parameters:
  ///   - range: what the map is over, with the word before it.
  ///   - overload: why the fleet does not hold anywhere.
  private func finding(_ range: String, overload: String) -> String {
    let counts = map.counts
    let has = { (kind: StabilityPoint.Kind) in (counts[kind] ?? 0) > 0 }
    switch (has(.recovers), has(.neverRecovers), has(.undecided)) {
    case (true, false, false):
      return has(.overloaded)
        ? "The fleet recovers wherever it can hold its load: no cliff\(range)"
        : "The fleet recovers everywhere: no cliff\(range)"
    case (false, true, false): return "The fleet rarely recovers within the run, anywhere\(range)"
    case (false, false, false):
      return "The fleet does not hold its load even without any incident, anywhere\(range)\(overload)"
    case (true, true, _): return "There is a cliff\(range)"
    case (true, false, true):
      return "The fleet recovers on a part of the map\(range); whether it does on the rest is undecided"
    case (false, true, true):
      return
        "The fleet rarely recovers on a part of the map\(range); whether it does on the rest is undecided"
    case (false, false, true): return "Nothing is decided\(range)"
    }
  }

  /// Why the fleet does not hold where it does not.
  private var overload: String {
    let points = map.grid.points.compactMap { map.grid.values[$0] }.filter { $0.kind == .overloaded }
    return HealthWording(points.map(\.baselines)).text { "at \($0.count)" }
  }

  /// Returns the points of each class in words, as `At 41 of 70 points it recovers in more than 80 % of the seeds`.
  /// The points below 20 % and the undecided ones follow.
  private func classes(_ recovers: Int, _ never: Int, _ undecided: Int) -> String {
    let risk = FigureText.percent(map.risk.risk)
    let (all, fewest, most) = map.runs
    let seeds = fewest == most ? (most == 1 ? "one seed" : "\(most) seeds") : "\(fewest) to \(most) seeds"
    return
      "With 95 % confidence it recovers in more than \(FigureText.percent(1 - map.risk.risk)) of the seeds at \(recovers) of "
      + "\(map.grid.values.count) points and in less than \(risk) at \(never); \(undecided) are undecided "
      + "(\(seeds) a point, \(FigureText.grouped(Int64(all))) runs)."
  }

  /// The limit of a statement from too few seeds.
  private var hint: String {
    guard map.risk.most < map.risk.deciding else { return "" }
    let seeds = map.risk.most
    let bound = 1 - WilsonInterval(successes: seeds, of: seeds).low
    return
      " \(seeds == 1 ? "One seed" : "\(seeds) seeds") a point: a point that is said to recover by its own runs may still fail in up to "
      + "\(FigureText.percent(bound)) of the seeds; a risk of \(FigureText.percent(map.risk.risk)) takes \(map.risk.deciding)."
  }

  /// Where the cliff is in the column nearest to the middle that has a decided point on either side of it.
  private var cliff: (column: Int, below: StabilityMap.Stretch, above: StabilityMap.Stretch)? {
    let columns = map.grid.coarseColumns.sorted {
      abs(2 * $0 - map.grid.columns) < abs(2 * $1 - map.grid.columns)
    }
    for column in columns {
      let stretches = map.stretches(column: column).filter { $0.kind != .undecided }
      for (a, b) in zip(stretches, stretches.dropFirst())
      where Set([a.kind, b.kind]) == [.recovers, .neverRecovers] {
        return (column, a, b)
      }
    }
    return nil
  }

  private var example: String? {
    cliff.map { cliff in
      let words = { (kind: StabilityPoint.Kind) in
        kind == .recovers
          ? "in more than \(FigureText.percent(1 - map.risk.risk)) of the seeds"
          : "in less than \(FigureText.percent(map.risk.risk))"
      }
      return
        "With \(map.x.path) at \(map.xQuantity(cliff.column).words) it recovers \(words(cliff.below.kind)) up to "
        + "\(map.yQuantity(cliff.below.last).words) and \(words(cliff.above.kind)) from "
        + "\(map.yQuantity(cliff.above.first).words) on."
    }
  }

  /// How an ill fleet comes back by chance, on the stretch of the cliff's column where it rarely recovers; where there is no
  /// cliff, of all points that do not recover.
  private var escape: String? {
    if let cliff {
      return (cliff.below.kind == .neverRecovers ? cliff.below : cliff.above).escapes.sentence(
        "There an ill fleet")
    }
    let ill = map.grid.values.values.filter { $0.kind == .neverRecovers || $0.kind == .undecided }
    return StabilityPoint.escapes(of: ill).sentence("Where it does not surely recover, an ill fleet")
  }

  /// A row for each coarse column: its value, and what the fleet does along y.
  package var rows: [(value: String, outcome: String)] {
    map.grid.coarseColumns.map { column in
      let words = map.stretches(column: column).map { stretch in
        let (low, high) = (map.yQuantity(stretch.first), map.yQuantity(stretch.last))
        let place =
          low == high
          ? "at \(low.words)" : "\(low.words) to \(high.words)"
        let escapes = stretch.escapes.note.map { " (\($0))" } ?? ""
        switch stretch.kind {
        case .recovers:
          return "recovers \(place)"
            + (stretch.longestRecovery.map { " (its slowest run in \(FigureText.span($0)))" } ?? "")
        case .neverRecovers: return "rarely \(place)" + escapes
        case .overloaded: return "overloaded \(place)"
        case .undecided: return "undecided \(place)" + escapes
        }
      }
      return (map.xQuantity(column).words, words.joined(separator: ", "))
    }
  }
}

// MARK: - Table

extension StabilityMap {
  /// A row of `stability.csv`.
  package struct Row: Sendable {
    /// nil of a scenario by itself.
    var x: Quantity?
    var y: Quantity?
    var point: StabilityPoint
  }

  /// A row for each point that was looked at.
  package var table: Table<Row> {
    Table(
      Self.columns,
      grid.points.compactMap { place in
        grid.values[place].map { Row(x: xQuantity(place.x), y: yQuantity(place.y), point: $0) }
      })
  }

  /// The columns of `stability.csv` in order.
  package static let columns: [CSVColumn<Row>] =
    [
      .init("x", "", "Value of the first parameter; empty without one.") {
        $0.x.map { .text($0.text()) } ?? .empty
      },
      .init("y", "", "Value of the second parameter.") { $0.y.map { .text($0.text()) } ?? .empty },
      .init(
        "class", "",
        "`recovers`: the interval is above 1 − risk; `never recovers`: it is below the risk, so that few runs do; "
          + "else `undecided`. `overloaded`: nor does the twin hold."
      ) { .text($0.point.kind.rawValue) },
      .init("seeds", "runs", "Runs of this point.") { .integer(Int64($0.point.seeds)) },
      .init("healthy_seeds", "runs", "Of these: the twin holds its load.") {
        .integer(Int64($0.point.healthySeeds))
      },
      .init("recovered_seeds", "runs", "Of these: recovered within the run.") {
        .integer(Int64($0.point.recoveredSeeds))
      },
      .init(
        "recovered_low_95_ratio", "1", "Lower end of the 95 % interval of the chance to recover (Wilson)."
      ) { .decimal($0.point.chance.low) },
      .init("recovered_high_95_ratio", "1", "Upper end of that interval.") { .decimal($0.point.chance.high) },
      .init(
        "interval_seeds", "runs",
        "Runs that the interval is from: this point's, and where all neighbouring points did the same in every run theirs too."
      ) { .integer(Int64($0.point.chance.count)) },
      .init("recovery_mean_s", "s", "Recovery time, mean over the runs that recovered; empty if none did.") {
        .seconds($0.point.meanRecovery)
      }, .init("recovery_max_s", "s", "The same, the longest.") { .seconds($0.point.longestRecovery) },
      .init("lost_events", "events", "Events lost, mean over the runs.") { .decimal($0.point.lostEvents) },
      .init("peak_offered_ratio", "1", "Peak load, mean over the runs.") {
        .decimal($0.point.peakOfferedRatio)
      },
      .init("time_to_delivery_p99_s", "s", "99th percentile of the time to delivery, mean over the runs.") {
        .decimal($0.point.timeToDeliveryP99.map { $0 / 1_000_000 }, decimals: 6)
      },
      .init(
        "x_value", "parameter's",
        "The first parameter as a number: a span in s, a rate per s, a share of 1, a size in bytes."
      ) { .decimal($0.x?.baseValue, decimals: 6) },
      .init("y_value", "parameter's", "The same of the second.") { .decimal($0.y?.baseValue, decimals: 6) },
    ] + EscapeTimes.columns(\.point.escapes)
}
