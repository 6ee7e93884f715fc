import SimulationKernel

/// How a rate varies over the day: a factor on it by time.
public struct RateCurve: Sendable, Hashable {
  /// The factor's course over one period.
  public enum Shape: Sendable, Hashable {
    /// Straight from each point to the next, and from the last to the first of the next period. Without a period the first
    /// factor holds before, the last one from then on. At least one, in the order of time, all within the period.
    case points([Point])
    /// 1 + `amplitude` · cos, with its largest value at `peak`. The mean is 1. At most 1,000,000 parts per million.
    case sine(amplitudePartsPerMillion: Int64, peak: Span)
  }
  /// A time with its factor.
  public struct Point: Sendable, Hashable {
    /// Since the start of the run, or of a period.
    public var time: Span
    /// 1,000,000 is the rate itself; at most a hundred times that.
    public var factorPartsPerMillion: Int64

    public init(time: Span, factorPartsPerMillion: Int64) {
      self.time = time
      self.factorPartsPerMillion = factorPartsPerMillion
    }
  }
  public var shape: Shape
  /// The curve repeats; nil: it does not. A sine has one.
  public var period: Span?

  public init(_ shape: Shape, period: Span? = .hours(24)) {
    self.shape = shape
    self.period = period
  }
}

/// Arrival rates as production measured them: events per second of a whole cohort, each from its time to the next.
public struct ArrivalRates: Sendable, Hashable {
  /// A rate from a time on.
  public struct Row: Sendable, Hashable {
    public var time: Instant
    /// Millionths of an event per second.
    public var microEventsPerSecond: Int64

    public init(time: Instant, microEventsPerSecond: Int64) {
      self.time = time
      self.microEventsPerSecond = microEventsPerSecond
    }
  }
  /// In the order of time; nothing is created before the first, the last one holds to the end.
  public var rows: [Row]
  /// The cohort's part of the rates.
  public var sharePartsPerMillion: Int64

  public init(rows: [Row], sharePartsPerMillion: Int64 = 1_000_000) {
    self.rows = rows
    self.sharePartsPerMillion = sharePartsPerMillion
  }
}

/// Many devices do something together: a push notification, the top of the hour.
public struct Spike: Sendable, Hashable {
  public var time: Instant
  /// Each device comes at a time of its own, uniform in so long a span after `time`.
  public var spread: Span
  /// The share of the devices, drawn for each occurrence anew.
  public var sharePartsPerMillion: Int64 = 1_000_000
  /// Events that each of them creates, a microsecond apart. 0 … 1000.
  public var events = 1
  /// Whether they flush then.
  public var flushes = true
  /// Repeats from `time` on; at least a minute and not less than `spread`; nil: once.
  public var every: Span?

  public init(time: Instant, spread: Span = .zero) {
    self.time = time
    self.spread = spread
  }
}

extension EventProcess {
  /// One device's rate in time; nil for events that need no more than a gap.
  package func cumulativeRate(devices: Int) -> CumulativeRate? {
    switch self {
    case .poisson, .periodic: nil
    case .varying(let gap, let curve): curve.cumulative(rate: 1 / Double(max(gap.microseconds, 1)))
    case .replay(let rates): rates.cumulative(devices: devices)
    }
  }
}

extension RateCurve {
  /// `rate` times the curve's factor, with its integral; per microsecond where `rate` is.
  func cumulative(rate: Double) -> CumulativeRate {
    switch shape {
    case .points(let points):
      let known = points.map {
        (time: $0.time.microseconds, value: Double($0.factorPartsPerMillion) / 1e6 * rate)
      }
      return Self.lines(through: known, period: period?.microseconds)
    case .sine(let amplitude, let peak):
      let period = (period ?? .hours(24)).microseconds
      let values = CumulativeRate.cosine(amplitude: Double(amplitude) / 1e6)
      // Points at ninety-sixths of the period after the peak, the first of them behind time 0.
      let points = values.indices.map { index in
        (time: (peak.microseconds + period / 96 * Int64(index)) % period, value: values[index] * rate)
      }.sorted { $0.time < $1.time }
      return Self.lines(through: points, period: period)
    }
  }

  /// Straight lines through points; of a period, if there is one, and over its end to the first of the next.
  private static func lines(
    through points: [(time: Int64, value: Double)], period: Int64?
  ) -> CumulativeRate {
    guard let first = points.first, let last = points.last else { return CumulativeRate([]) }
    var (atStart, atEnd) = (first.value, last.value)
    if let period {
      let gap = Double(first.time + period - last.time)
      if gap > 0 { atEnd += (first.value - last.value) * Double(period - last.time) / gap }
      atStart = atEnd
    }
    var pieces: [CumulativeRate.Piece] = []
    if first.time > 0 { pieces.append(.init(start: 0, atStart: atStart, atEnd: first.value)) }
    for (a, b) in zip(points, points.dropFirst()) where b.time > a.time {
      pieces.append(.init(start: a.time, atStart: a.value, atEnd: b.value))
    }
    pieces.append(.init(start: last.time, atStart: last.value, atEnd: atEnd))
    return CumulativeRate(pieces, period: period)
  }
}

extension ArrivalRates {
  func cumulative(devices: Int) -> CumulativeRate {
    let factor = Double(sharePartsPerMillion) / 1e6 / Double(max(devices, 1)) / 1e12
    var pieces: [CumulativeRate.Piece] = []
    if let first = rows.first, first.time > .start { pieces.append(.init(start: 0, atStart: 0, atEnd: 0)) }
    for row in rows {
      let rate = Double(row.microEventsPerSecond) * factor
      pieces.append(.init(start: row.time.microseconds, atStart: rate, atEnd: rate))
    }
    return CumulativeRate(pieces)
  }
}
