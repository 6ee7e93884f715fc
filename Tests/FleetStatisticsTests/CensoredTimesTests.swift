import FleetStatistics
import Testing

@Suite("Censored times")
struct CensoredTimesTests {
  /// Freireich and others, Blood 21 (1963): weeks of remission under 6-MP; negative: still in remission.
  private static let remission = CensoredTimes(
    [6, 6, 6, -6, 7, -9, 10, -10, -11, 13, 16, -17, -19, -20, 22, 23, -25, -32, -32, -34, -35].map {
      CensoredTimes.Watch(length: abs($0), cameAbout: $0 > 0)
    })

  @Test("the textbook's curve by Kaplan and Meier comes out as printed")
  func curve() {
    // Cox and Oakes, *Analysis of Survival Data* (1984), and Klein and Moeschberger, table 4.1A.
    let printed = [
      (6, 21, 0.857), (7, 17, 0.807), (10, 15, 0.753), (13, 12, 0.690), (16, 11, 0.627), (22, 7, 0.538),
      (23, 6, 0.448),
    ]
    let steps = Self.remission.steps
    #expect(steps.count == printed.count)
    for (step, row) in zip(steps, printed) {
      #expect(step.time == Double(row.0) && step.watched == row.1 && abs(step.left - row.2) < 0.000_5)
    }
    #expect(Self.remission.quantile(0.5) == 23)
    // From 34.9 % on fewer have relapsed than asked for, at 55.2 % at most.
    #expect(Self.remission.quantile(0.75) == nil && Self.remission.quantile(0.1) == 6)
  }

  @Test("the exponential estimate is time at risk over relapses, its interval that of the χ² table")
  func mean() throws {
    // 359 weeks, 9 relapses. χ² of 20 degrees of freedom at 97.5 %: 34.170; of 18 at 2.5 %: 8.231.
    let times = Self.remission
    let interval = try #require(times.interval())
    #expect(times.timeAtRisk == 359 && times.occurrences == 9 && times.count == 21)
    #expect(abs((times.mean ?? 0) - 359.0 / 9) < 1e-9)
    #expect(abs(interval.low - 718 / 34.170) < 0.001)
    #expect(abs((interval.high ?? 0) - 718 / 8.231) < 0.01)
  }

  @Test("without any occurrence the mean is only known to be long: time at risk over 3.689 at 97.5 %")
  func none() throws {
    let times = CensoredTimes([60, 40].map { .init(length: $0, cameAbout: false) })
    let interval = try #require(times.interval())
    // ln 40 = 3.688879.
    #expect(abs(interval.low - 100 / 3.688_879) < 1e-4 && interval.high == nil)
    #expect(times.mean == nil && times.trend == nil && times.steps.isEmpty && times.quantile(0.1) == nil)
    #expect(CensoredTimes().interval() == nil && CensoredTimes().mean == nil)
    #expect(CensoredTimes([.init(length: -3, cameAbout: false)]).interval() == nil)
  }

  @Test("of many occurrences the interval goes on where that of few ends")
  func many() throws {
    // χ² by tables of 100 degrees of freedom stands for 50; here 500 and 501 are one step apart.
    let times = [500, 501].map { count in
      CensoredTimes((0..<count).map { _ in .init(length: 1, cameAbout: true) })
    }
    let few = try #require(times[0].interval())
    let many = try #require(times[1].interval())
    #expect(abs(few.low - many.low) < 2e-4 && abs((few.high ?? 0) - (many.high ?? 0)) < 3e-4)
    // 1.96 standard errors of 1 in √500.
    #expect(abs(few.low - 0.917) < 0.002 && abs((few.high ?? 0) - 1.094) < 0.002)
  }

  @Test("the trend is the mean place of the occurrences in the time at risk, in its standard deviations")
  func trend() throws {
    // Watches of 1 and 2 (came about) and 3 (did not): the whole is 6, and before them lie 3 and 5.
    let times = CensoredTimes([
      .init(length: 1, cameAbout: true), .init(length: 2, cameAbout: true),
      .init(length: 3, cameAbout: false),
    ])
    let trend = try #require(times.trend)
    let place = (3.0 / 6 + 5.0 / 6) / 2
    #expect(abs(trend - (place - 0.5) * 24.0.squareRoot()) < 1e-12)
    // All at the same time: late by any measure. One early among long watches: soon.
    let clock = CensoredTimes((0..<20).map { .init(length: 100 + Double($0), cameAbout: true) })
    #expect((clock.trend ?? 0) > 3)
    let early = (1...20).map { CensoredTimes.Watch(length: Double($0), cameAbout: true) }
    let soon = CensoredTimes(early + Array(repeating: .init(length: 1_000, cameAbout: false), count: 20))
    #expect((soon.trend ?? 0) < -3)
  }
}
