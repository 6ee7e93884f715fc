import FleetMetrics

/// Columns for what was varied: one for each key that a variant sets, named by the key's path, behind all other columns.
package struct VariedColumns: Sendable {
  private let paths: [String]
  /// By variant and path.
  private let values: [String: [String: String]]

  package init(_ choices: [VariantChoice]) {
    var paths: [String] = []
    for override in choices.flatMap(\.overrides) where !paths.contains(override.path) {
      paths.append(override.path)
    }
    self.paths = paths
    values = Dictionary(
      choices.map { choice in
        let pairs = choice.overrides.map { ($0.path, $0.value) }
        return (choice.name, Dictionary(pairs, uniquingKeysWith: { _, last in last }))
      }, uniquingKeysWith: { first, _ in first })
  }

  /// The columns of a file that has others; a key that is one of these already, as `seed` is, gets none.
  /// - `variant`: the name of the variant that a row is of.
  package func columns<Row>(
    behind others: [CSVColumn<Row>], variant: @escaping @Sendable (Row) -> String
  ) -> [CSVColumn<Row>] {
    paths.filter { path in !others.contains { $0.name == path } }.map { path in
      CSVColumn(path, "", "As the variant sets it; empty: as the scenario has it.") { [values] row in
        values[variant(row)]?[path].map(CSVValue.text) ?? .empty
      }
    }
  }

  /// `summary.csv` and `replications.csv`.
  package func bytes(of runs: [RunSummary]) -> [UInt8] {
    SummaryCSV.bytes(of: runs, more: columns(behind: SummaryCSV.columns, variant: \.run))
  }

  /// `statistics.csv`.
  package func bytes(of standings: Standings) -> [UInt8] {
    StatisticsCSV.bytes(
      of: standings, more: columns(behind: StatisticsCSV.columns, variant: \.variant))
  }
}
