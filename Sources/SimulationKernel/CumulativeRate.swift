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

  private let pieces: [Piece]
  /// The integral up to the start of each piece.
  private let before: [Double]
  /// Microseconds; nil: it does not repeat.
  private let period: Int64?
  /// The integral over a period.
  private let perPeriod: Double

  /// - Parameters:
  ///   - pieces: in the order of time, the first at 0; rates that are negative or not finite count as 0.
  ///   - period: after so many microseconds the rate repeats; longer than the last piece's start.
  public init(_ pieces: [Piece], period: Int64? = nil) {
    func sound(_ rate: Double) -> Double { rate > 0 && rate < .infinity ? rate : 0 }
    var kept: [Piece] = []
    var sums: [Double] = []
    var sum = 0.0
    for (index, piece) in pieces.enumerated() {
      let end = index + 1 < pieces.count ? pieces[index + 1].start : period
      let start = sound(piece.atStart)
      kept.append(Piece(start: piece.start, atStart: start, atEnd: end == nil ? start : sound(piece.atEnd)))
      sums.append(sum)
      if let end { sum += (start + kept[index].atEnd) / 2 * Double(end - piece.start) }
    }
    self.pieces = kept
    before = sums
    self.period = period
    perPeriod = period == nil ? 0 : sum
  }

  /// The rate at a time, events per microsecond.
  public func rate(at time: Int64) -> Double {
    guard !pieces.isEmpty else { return 0 }
    let local = localTime(time)
    let index = pieceIndex(at: local)
    guard let length = length(of: index) else { return pieces[index].atStart }
    let piece = pieces[index]
    return piece.atStart + (piece.atEnd - piece.atStart) * Double(local - piece.start) / length
  }

  /// The highest rate there is.
  public var largest: Double { pieces.reduce(0) { max($0, $1.atStart, $1.atEnd) } }

  /// Expected events from 0 to a time; 0 for a time before.
  public func count(through time: Int64) -> Double {
    guard !pieces.isEmpty, time > 0 else { return 0 }
    let local = localTime(time)
    let index = pieceIndex(at: local)
    let piece = pieces[index]
    let x = Double(local - piece.start)
    var sum = before[index] + piece.atStart * x
    if let length = length(of: index) { sum += (piece.atEnd - piece.atStart) / length * x * x / 2 }
    if let period { sum += Double(time / period) * perPeriod }
    return sum
  }

  /// The time by which so many events are expected, in whole microseconds; `Distribution.longestSample` if that is later, or never.
  public func time(of count: Double) -> Int64 {
    let never = Distribution.longestSample.microseconds
    guard !pieces.isEmpty else { return never }
    var (rest, start) = (max(count, 0), 0.0)
    if let period {
      let rounds = (rest / perPeriod).rounded(.down)
      guard rounds * Double(period) < Double(never) else { return never }
      start = rounds * Double(period)
      rest = max(0, rest - rounds * perPeriod)
    }
    // The last piece that begins with at most so many.
    var (low, high) = (0, pieces.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if before[middle] <= rest { low = middle } else { high = middle }
    }
    let piece = pieces[low]
    let missing = max(0, rest - before[low])
    let length = length(of: low)
    let slope = length.map { (piece.atEnd - piece.atStart) / $0 } ?? 0
    var x = 0.0
    if missing > 0 {
      let root = max(0, piece.atStart * piece.atStart + 2 * slope * missing).squareRoot()
      x = 2 * missing / (piece.atStart + root)
    }
    if let length { x = min(x, length) }
    return Distribution.roundedMicroseconds(start + Double(piece.start) + x)
  }

  private func localTime(_ time: Int64) -> Int64 { period.map { time % $0 } ?? time }

  private func pieceIndex(at local: Int64) -> Int {
    var (low, high) = (0, pieces.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if pieces[middle].start <= local { low = middle } else { high = middle }
    }
    return low
  }

  /// nil: without an end.
  private func length(of index: Int) -> Double? {
    if index + 1 < pieces.count { return Double(pieces[index + 1].start - pieces[index].start) }
    return period.map { Double($0 - pieces[index].start) }
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
