import FleetExperiments
import SimulationKernel

/// One direction of a plot: which values it shows, and how they are labelled.
package struct Axis {
  package struct Tick {
    package var value: Double
    package var label: String
  }

  package var range: ClosedRange<Double>
  /// Says at its end what it counts; of a horizontal one.
  package var title = ""
  var isLogarithmic = false
  /// At most about so many, those first that are to stay where there is no room for all.
  package var ticks: (_ most: Int) -> [Tick]
  /// A value under the pointer.
  var format: (Double) -> String = FigureText.compact

  var length: Double { range.upperBound - range.lowerBound }

  /// 0 at the beginning … 1 at the end; values outside are moved to the edge.
  func share(of value: Double) -> Double {
    let share =
      isLogarithmic
      ? DeterministicMath.log(max(value, range.lowerBound) / range.lowerBound)
        / DeterministicMath.log(range.upperBound / range.lowerBound)
      : (value - range.lowerBound) / length
    return share.isFinite ? min(max(share, 0), 1) : 0
  }

  func isBeyond(_ value: Double) -> Bool { value > range.upperBound * 1.000_001 }

  /// From 0 up, in steps of 1, 2 or 5.
  package static func counts(to limit: Double, of things: String = "") -> Axis {
    let limit = limit.isFinite ? max(limit, 1e-9) : 1
    return Axis(
      range: 0...limit, ticks: { Self.ticks(upTo: limit, count: $0) },
      format: { FigureText.compact($0) + " " + things })
  }

  /// Of times in microseconds, as numbers of one unit.
  /// - Parameter meaning: follows the unit: `since the end of the last incident`.
  package static func time(_ range: ClosedRange<Double>, _ meaning: String) -> Axis {
    let length = Int64(exactly: (range.upperBound - range.lowerBound).rounded()) ?? 1
    // How far apart ticks may be, in the unit.
    let (unit, name, steps): (Double, String, [Double]) =
      switch (length + 999_999) / 1_000_000 {
      case ...180: (1e6, "seconds", [1, 2, 5, 10, 15, 20, 30, 60])
      case ...10_800: (60e6, "minutes", [1, 2, 5, 10, 15, 20, 30, 60])
      case ...432_000: (3_600e6, "hours", [0.5, 1, 2, 3, 6, 12, 24])
      default: (86_400e6, "days", [1, 2, 5, 10, 20, 50])
      }
    return Axis(
      range: range, title: "\(name) \(meaning)",
      ticks: { most in
        let most = Int64(max(most, 1))
        let step = steps.map { Int64($0 * unit) }.first { length / $0 <= most } ?? max(length / most, 1)
        let (first, last) = (Int64(range.lowerBound) / step, Int64(range.upperBound) / step)
        guard first <= last, last - first < 100 else { return [] }
        return (first...last).map { place in
          let label = FigureText.compact(Double(abs(place * step)) / unit)
          return Tick(value: Double(place * step), label: (place < 0 ? "−" : "") + label)
        }
      }, format: { FigureText.duration(Int64(exactly: $0.rounded()) ?? 0) })
  }

  /// Of spans in microseconds, in ratios.
  static func spans(from low: Double, to high: Double) -> Axis {
    func text(_ span: Double) -> String { FigureText.duration(Int64(exactly: span.rounded()) ?? 0) }
    let times = [1e3, 1e4, 1e5, 1e6, 1e7, 60e6, 600e6, 3_600e6, 36_000e6, 864_000e6, 8_640_000e6]
    let first = times.last { $0 <= low } ?? times[0]
    return Axis(
      range: first...max(high * 1.15, first * 10), isLogarithmic: true,
      ticks: { _ in times.filter { $0 >= first }.map { Tick(value: $0, label: text($0)) } }, format: text)
  }

  static func ticked(_ range: ClosedRange<Double>, title: String = "", _ ticks: [Tick]) -> Axis {
    Axis(range: range, title: title, ticks: { _ in ticks })
  }

  /// Up to `count` steps of 1, 2 or 5 times a power of ten from 0 to `limit`; 0 included.
  package static func ticks(upTo limit: Double, count: Int) -> [Tick] {
    guard limit.isFinite, limit > 0 else { return [Tick(value: 0, label: "0")] }
    var power = 1.0
    while power * Double(count) < limit && power < 1e300 { power *= 10 }
    while power * Double(count) > limit * 10 && power > 1e-300 { power /= 10 }
    let steps = [0.1, 0.2, 0.5, 1].map { $0 * power }.filter { $0 <= limit }
    let step = steps.first { $0 * Double(count) >= limit } ?? steps.last ?? power
    return (0...count).map { Double($0) * step }.filter { $0 <= limit * 1.000_001 }
      .map { Tick(value: $0, label: FigureText.compact($0)) }
  }
}

/// A series in columns that each keep their smallest and largest value, so that a spike survives being cut to a picture's width.
/// nil where there is no value.
package typealias Envelope = [VariantCurves.Point?]

extension Envelope {
  /// Values that are not finite count as missing.
  package init(finite values: [Double?]) {
    self = values.map { $0.flatMap { $0.isFinite ? VariantCurves.Point(mean: $0, low: $0, high: $0) : nil } }
  }

  /// In at most `limit` columns. O(columns).
  package func cut(to limit: Int) -> Envelope {
    let columns = Swift.min(Swift.max(limit, 1), count)
    return (0..<columns).map { c in
      let own = self[count * c / columns..<count * (c + 1) / columns].compactMap(\.self)
      guard let low = own.map(\.low).min(), let high = own.map(\.high).max() else { return nil }
      let mean = own.reduce(0) { $0 + $1.mean } / Double(own.count)
      return VariantCurves.Point(mean: mean, low: low, high: high)
    }
  }

  package var maximum: Double { reduce(0) { Swift.max($0, $1?.high ?? 0) } }

  /// The value that `share` of the columns' maxima do not exceed; 0 if there is none.
  package func highQuantile(_ share: Double) -> Double {
    let sorted = compactMap { $0?.high }.sorted()
    guard !sorted.isEmpty else { return 0 }
    return sorted[Swift.min(Int(share * Double(sorted.count)), sorted.count - 1)]
  }
}
