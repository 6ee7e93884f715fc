import Foundation
import SimulationKernel
import Testing

@Suite("A rate that varies in time")
struct CumulativeRateTests {
  private let day: Int64 = 86_400_000_000

  /// Straight up from 1 to 3 events a second in 10 s, then a jump to 0 until 20 s, then 5 a second.
  private let ramp = CumulativeRate([
    .init(start: 0, atStart: 1e-6, atEnd: 3e-6), .init(start: 10_000_000, atStart: 0, atEnd: 0),
    .init(start: 20_000_000, atStart: 5e-6, atEnd: 0),
  ])

  @Test("is integrated exactly: trapezes, nothing where it is 0, and on for ever behind the last piece")
  func integral() {
    for (time, count) in [
      (-5.0, 0.0), (0, 0), (5, 7.5), (10, 20), (15, 20), (20, 20), (21, 25), (1_000, 4_920),
    ] {
      #expect(abs(ramp.count(through: Int64(time * 1e6)) - count) < 1e-9, "\(time) s")
    }
    #expect(abs(ramp.rate(at: 5_000_000) * 1e6 - 2) < 1e-12)
    #expect(ramp.rate(at: 15_000_000) == 0)
    #expect(ramp.largest == 5e-6)
  }

  @Test("is inverted: the time of the count through a time is that time, to the microsecond")
  func inverse() {
    for time in stride(from: Int64(0), through: 40_000_000, by: 123_457)
    where !(10_000_000...20_000_000).contains(time) {
      #expect(abs(ramp.time(of: ramp.count(through: time)) - time) <= 1, "\(time)")
    }
    #expect(ramp.time(of: 20.000_005) == 20_000_001)
  }

  @Test("repeats by its period, far into a year")
  func period() {
    let rate = CumulativeRate(
      [.init(start: 0, atStart: 2e-6, atEnd: 0), .init(start: day / 2, atStart: 0, atEnd: 2e-6)], period: day)
    #expect(abs(rate.count(through: day) - 86_400) < 1e-6)
    for time in stride(from: Int64(1), through: 365 * day, by: Int(17 * day / 3 + 7)) {
      // Near the rate's zero at noon a microsecond changes the count by less than the last bit of a year's.
      #expect(abs(rate.time(of: rate.count(through: time)) - time) <= 20, "\(time)")
    }
  }

  @Test("that is nothing, negative or not finite never traps: nothing is expected, and its time is never")
  func degenerate() {
    let never = Distribution.longestSample.microseconds
    for rate in [
      CumulativeRate([]), CumulativeRate([.init(start: 0, atStart: -1, atEnd: .nan)]),
      CumulativeRate([.init(start: 0, atStart: .infinity, atEnd: 1)], period: 10),
      CumulativeRate([.init(start: 0, atStart: 0, atEnd: 0)], period: 10),
    ] {
      _ = rate.time(of: 0)
      #expect(rate.count(through: .max) >= 0)
    }
    #expect(CumulativeRate([]).time(of: 1) == never)
    #expect(CumulativeRate([.init(start: 0, atStart: 0, atEnd: 0)], period: 10).time(of: 1) == never)
    #expect(ramp.time(of: 1e300) == never)
    #expect(ramp.time(of: .infinity) == never)
  }

  @Test("as a sine is a cosine of 96 pieces, within 0.06 % of its amplitude between them too")
  func cosine() {
    let values = CumulativeRate.cosine(amplitude: 0.6)
    #expect(values.count == 96)
    for step in 0..<960 {
      let (i, f) = (step / 10, Double(step % 10) / 10)
      let straight = values[i] * (1 - f) + values[(i + 1) % 96] * f
      let exact = 1 + 0.6 * cos(2 * Double.pi * Double(step) / 960)
      #expect(abs(straight - exact) < 0.0006 * 0.6, "\(step)")
    }
  }

  @Test("makes a Poisson process of one of rate 1: counts in equal spans of time are those of its integral")
  func poisson() {
    let rate = CumulativeRate(
      [.init(start: 0, atStart: 1e-5, atEnd: 5e-5), .init(start: 30_000_000, atStart: 2e-5, atEnd: 0)],
      period: 60_000_000)
    let bins = 120
    var observed = [Int](repeating: 0, count: bins)
    for device in 0..<400 as Range<UInt64> {
      let key = RandomKey(seed: 7).child(device)
      var (time, ordinal): (Int64, UInt64) = (0, 0)
      while true {
        let gap = -DeterministicMath.log(key.child(ordinal).unitAboveZero)
        time = rate.time(of: rate.count(through: time) + gap)
        ordinal += 1
        if time >= 120_000_000 { break }
        observed[Int(time / 1_000_000)] += 1
      }
    }
    let expected = (0..<bins).map {
      400 * (rate.count(through: Int64($0 + 1) * 1_000_000) - rate.count(through: Int64($0) * 1_000_000))
    }
    #expect(abs(chiSquareScore(observed: observed, expected: expected)) < chiSquareLimit)
  }
}
