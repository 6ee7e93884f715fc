/// A rate that varies in time, with its integral and the inverse of the integral. The inverse, taken at the times of a Poisson
/// process with rate 1, gives the times of one with this rate.
///
/// The rate is linear between the starts of its pieces, and it may jump there. Only + − × ÷ √: the same on every platform.
/// Complexity: both directions O(log pieces).
public struct CumulativeRate: Sendable, Hashable {
  /// A stretch of time with a linear rate.
  public struct Piece: Sendable, Hashable {
    /// Microseconds; where the one before it ends.
    public var start: Int64
    /// Events per microsecond at its start and just before its end. The last piece of a rate that does not repeat goes on with
    /// `atStart` for ever.
    public var atStart: Double
    public var atEnd: Double

    public init(start: Int64, atStart: Double, atEnd: Double) {
      self.start = start
      self.atStart = atStart
      self.atEnd = atEnd
    }
  }

  /// A piece with what follows from it.
  private struct Segment: Sendable, Hashable {
    var piece: Piece
    /// Microseconds; infinite: without an end.
    var length: Double
    /// Events per microsecond and microsecond.
    var slope: Double
    /// The integral up to its start.
    var before: Double
  }

  private let segments: [Segment]
  /// Microseconds; nil: it does not repeat.
  private let period: Int64?
  /// The integral over a period.
  private let perPeriod: Double

  /// - Parameters:
  ///   - pieces: in the order of time, the first at 0; rates that are negative or not finite count as 0.
  ///   - period: after so many microseconds the rate repeats; longer than the last piece's start.
  public init(_ pieces: [Piece], period: Int64? = nil) {
    func sound(_ rate: Double) -> Double { rate > 0 && rate < .infinity ? rate : 0 }
    var sum = 0.0
    segments = pieces.enumerated().map { index, piece in
      let end = index + 1 < pieces.count ? pieces[index + 1].start : period
      let start = sound(piece.atStart)
      let kept = Piece(
        start: piece.start, atStart: start, atEnd: end == nil ? start : sound(piece.atEnd))
      let length = end.map { Double($0 - piece.start) } ?? .infinity
      let segment = Segment(
        piece: kept, length: length, slope: length > 0 ? (kept.atEnd - start) / length : 0, before: sum)
      if end != nil { sum += (start + kept.atEnd) / 2 * length }
      return segment
    }
    self.period = period
    perPeriod = period == nil ? 0 : sum
  }

  /// The rate at a time, events per microsecond.
  public func rate(at time: Int64) -> Double {
    guard !segments.isEmpty else { return 0 }
    let local = localTime(time)
    let segment = segments[index(at: local)]
    let piece = segment.piece
    return piece.atStart + (piece.atEnd - piece.atStart) * Double(local - piece.start) / segment.length
  }

  /// The highest rate there is.
  public var largest: Double { segments.reduce(0) { max($0, $1.piece.atStart, $1.piece.atEnd) } }

  /// Expected events from 0 to a time; 0 for a time before.
  public func count(through time: Int64) -> Double {
    guard !segments.isEmpty, time > 0 else { return 0 }
    let local = localTime(time)
    let segment = segments[index(at: local)]
    let x = Double(local - segment.piece.start)
    var sum = segment.before + segment.piece.atStart * x + segment.slope * x * x / 2
    if let period { sum += Double(time / period) * perPeriod }
    return sum
  }

  /// The time by which so many events are expected, in whole microseconds; `Distribution.longestSample` if that is later, or never.
  public func time(of count: Double) -> Int64 {
    let never = Distribution.longestSample.microseconds
    guard !segments.isEmpty else { return never }
    var (rest, start) = (max(count, 0), 0.0)
    if let period {
      let rounds = (rest / perPeriod).rounded(.down)
      guard rounds * Double(period) < Double(never) else { return never }
      start = rounds * Double(period)
      rest = max(0, rest - rounds * perPeriod)
    }
    // The last piece that begins with at most so many.
    let segment = segments[lastIndex { $0.before <= rest }]
    let missing = max(0, rest - segment.before)
    var x = 0.0
    if missing > 0 {
      let rate = segment.piece.atStart
      let root = max(0, rate * rate + 2 * segment.slope * missing).squareRoot()
      x = 2 * missing / (rate + root)
    }
    x = min(x, segment.length)
    return Distribution.roundedMicroseconds(start + Double(segment.piece.start) + x)
  }

  private func localTime(_ time: Int64) -> Int64 { period.map { time % $0 } ?? time }

  private func index(at local: Int64) -> Int { lastIndex { $0.piece.start <= local } }

  /// The last segment for which `isReached` holds; the first is taken to be reached.
  @inline(__always)
  private func lastIndex(where isReached: (Segment) -> Bool) -> Int {
    max(partitionPoint(of: segments.count) { isReached(segments[$0]) } - 1, 0)
  }
}

extension CumulativeRate {
  /// Returns one period of 1 + amplitude · cos(2π(t − peak) / period), drawn by 96 straight pieces. Element i is the value at i
  /// ninety-sixths of a period after the peak. The pieces lie within 0.06 % of the amplitude of the curve.
  public static func cosine(amplitude: Double) -> [Double] {
    // cos(2π/96) by halving π/3 four times, and from there by the rule for cos((n + 1)x).
    var step = 0.5
    for _ in 0..<4 { step = ((1 + step) / 2).squareRoot() }
    var values = [1.0, step]
    while values.count <= 48 { values.append(2 * step * values[values.count - 1] - values[values.count - 2]) }
    return (0..<96).map { 1 + amplitude * values[$0 <= 48 ? $0 : 96 - $0] }
  }
}
