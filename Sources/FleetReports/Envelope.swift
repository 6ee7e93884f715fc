/// A long series cut into a few columns that each keep their smallest and largest value, so that a spike
/// survives.
struct Envelope {
  struct Column: Hashable {
    var low: Double
    var high: Double
    var mean: Double
  }
  /// nil where no row of the column has a value.
  var columns: [Column?]
  /// Rows that went in; column c stands for rows c · rows / columns ..< (c + 1) · rows / columns.
  var rows: Int

  /// Columns that were made before.
  init(columns: [Column?], rows: Int) {
    self.columns = columns
    self.rows = rows
  }

  /// Cuts `values` into at most `limit` columns. Values that are not finite count as missing. O(rows).
  init(_ values: [Double?], columns limit: Int) {
    rows = values.count
    let count = min(max(limit, 1), values.count)
    columns = (0..<count).map { c in
      var column: Column?
      var sum = 0.0
      var n = 0.0
      for case let value? in values[values.count * c / count..<values.count * (c + 1) / count]
      where value.isFinite {
        sum += value
        n += 1
        column = Column(
          low: min(column?.low ?? value, value), high: max(column?.high ?? value, value), mean: sum / n)
      }
      return column
    }
  }

  var highestMean: Double { columns.reduce(0) { max($0, $1?.mean ?? 0) } }

  var maximum: Double { columns.reduce(0) { max($0, $1?.high ?? 0) } }

  /// The middle of column `index` as a share of the rows, 0 … 1.
  func position(of index: Int) -> Double { (Double(index) + 0.5) / Double(columns.count) }

  /// The value that `share` of the columns' maxima do not exceed; 0 if there is none.
  func highQuantile(_ share: Double) -> Double {
    let sorted = columns.compactMap { $0?.high }.sorted()
    guard !sorted.isEmpty else { return 0 }
    return sorted[min(Int(share * Double(sorted.count)), sorted.count - 1)]
  }
}
