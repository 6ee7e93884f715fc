import Conformance

/// The table of `fleetsim conformance`: one row per requirement.
public enum ConformanceTable {
  /// Aligned text, lines end in `\n`.
  public static func render(_ rows: [ConformanceReport.Row], width: Int = 100) -> String {
    TextTable(
      columns: [
        .init(title: "requirement", isNumber: false), .init(title: "what it says", isNumber: false),
        .init(title: "passed"), .init(title: "failed"), .init(title: "deviates"),
      ],
      rows: rows.map { row in
        [row.requirement, row.title, "\(row.passed)", "\(row.failed)", "\(row.deviates)"]
      }
    ).terminal(width: width)
  }
}
