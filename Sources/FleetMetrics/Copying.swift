/// Copies of what a run counts into, so that runs which begin alike need to be begun only once.
extension IntervalCounters {
  package func copy() -> IntervalCounters {
    let copy = IntervalCounters(rows: rows)
    merge(into: copy)
    return copy
  }

  /// Counts nothing of a measure so far.
  package func clear(_ measure: Measure) {
    for row in 0..<rows { self[row][measure] = 0 }
  }
}

extension IntervalDeliveries {
  package func copy() -> IntervalDeliveries {
    let copy = IntervalDeliveries(rows: rows)
    merge(into: copy)
    return copy
  }
}

extension DeliveryRecorder {
  package func copy() -> DeliveryRecorder {
    var copy = DeliveryRecorder()
    copy.counts.update(from: counts, count: Histogram.bucketCount)
    copy.maximum = maximum
    return copy
  }
}
