import SimulationKernel

/// The words of a stability map.
package struct StabilityVerdict: Sendable {
  private let map: StabilityMap
  package init(_ map: StabilityMap) { self.map = map }

  /// What the map shows, in a sentence or two.
  package var sentence: String {
    let (kinds, boundary) = map.shares
    let present = Set(map.grid.points.compactMap { map.grid.values[$0]?.kind })
    let range =
      "\(map.x.path) from \(Self.text(map.x.low)) to \(Self.text(map.x.high)) and "
      + "\(map.y.path) from \(Self.text(map.y.low)) to \(Self.text(map.y.high))"
    var text: String
    switch (present.contains(.recovers), present.contains(.neverRecovers)) {
    case (true, false):
      text = "The fleet recovers wherever it can hold its load: no cliff for \(range)."
      if present == [.recovers] { text = "The fleet recovers everywhere: no cliff for \(range)." }
    case (false, true): text = "The fleet never recovers within the run, anywhere for \(range)."
    case (false, false):
      text = "The fleet does not hold its load even without any incident, anywhere for \(range)."
    case (true, true):
      text =
        "There is a cliff: the fleet recovers on \(Self.percent(kinds[.recovers])) of the map and never recovers within "
        + "the run on \(Self.percent(kinds[.neverRecovers])); the boundary lies in the remaining "
        + "\(Self.percent(boundary))."
      if let example { text += " " + example }
    }
    if present.contains(.overloaded), present.count > 1 {
      text +=
        " On \(Self.percent(kinds[.overloaded])) the fleet does not hold its load even without any incident."
    }
    return text + " (\(map.seeds == 1 ? "One seed" : "\(map.seeds) seeds") a point.)"
  }

  /// Where the cliff is in the column nearest to the middle that has one.
  private var example: String? {
    let columns = map.grid.coarseColumns.sorted {
      abs(2 * $0 - map.grid.columns) < abs(2 * $1 - map.grid.columns)
    }
    for column in columns {
      let stretches = map.stretches(column: column)
      for (a, b) in zip(stretches, stretches.dropFirst())
      where Set([a.kind, b.kind]) == [.recovers, .neverRecovers] {
        return "With \(map.x.path) at \(Self.text(map.xQuantity(column))) it lies between "
          + "\(Self.text(map.yQuantity(a.last))) and \(Self.text(map.yQuantity(b.first)))."
      }
    }
    return nil
  }

  /// A row for each coarse column: its value, and what the fleet does along y.
  package var rows: [(value: String, outcome: String)] {
    map.grid.coarseColumns.map { column in
      let words = map.stretches(column: column).map { stretch in
        let (low, high) = (map.yQuantity(stretch.first), map.yQuantity(stretch.last))
        let place = low == high ? "at \(Self.text(low))" : "\(Self.text(low)) to \(Self.text(high))"
        switch stretch.kind {
        case .recovers:
          return "recovers \(place)"
            + (stretch.longestRecovery.map { " (in at most \(FigureText.span($0)))" } ?? "")
        case .neverRecovers: return "never \(place)"
        case .overloaded: return "overloaded \(place)"
        }
      }
      return (Self.text(map.xQuantity(column)), words.joined(separator: ", "))
    }
  }

  /// A quantity as people read it.
  package static func text(_ quantity: Quantity) -> String {
    quantity.unit == .span ? FigureText.span(Int64(quantity.value.rounded())) : quantity.text(digits: 4)
  }

  private static func percent(_ share: Double?) -> String {
    let share = share ?? 0
    return share > 0 && share < 0.005 ? "less than 1 %" : "\(Int64((share * 100).rounded())) %"
  }
}
